//! What arrives, in the order in which it is committed.
//!
//! Numbers do not tell: a lower one can be committed later. Each batch notes the transaction that wrote it (`arrivals`), and told
//! is only what was written by transactions older than the oldest one of this store that still runs: nothing can come before it
//! any more. What others do on the server keeps nobody waiting.

use std::collections::HashMap;

use cola_ia_core::filter::Filter;
use cola_ia_core::intake::RefusalCode;
use cola_ia_core::store::{Cursor, DeliverySummary, ErrorKind, FOLLOW_MAX, Followed, StoreError};

use super::deliveries::{NEW_COLUMNS, NEW_JOINS, OTHER_COLUMNS, OTHER_JOINS, deliveries, delivery};
use super::error::Fault;
use super::row::Columns as _;
use super::shared::lock_of;
use super::sql::params;
use super::tx::Tx;
use crate::common::stretch::ROWS_MAX;

/// A place: the store's incarnation, a transaction, and a number that it wrote; all up to there was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    incarnation: u32,
    at: At,
}

/// A transaction and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct At {
    tx: i64,
    number: i64,
}

impl Place {
    /// # Errors
    /// `cursor_unknown`.
    pub(super) fn read(cursor: &Cursor) -> Result<Self, StoreError> {
        let parts: Vec<&str> = cursor.0.split('.').collect();
        let place = || {
            let [incarnation, tx, number] = parts[..] else { return None };
            let at = At { tx: tx.parse().ok()?, number: number.parse().ok()? };
            Some(Self { incarnation: u32::from_str_radix(incarnation, 16).ok()?, at })
        };
        place().ok_or_else(|| StoreError::new(ErrorKind::Invalid, "cursor_unknown").with("cursor", &cursor.0))
    }

    fn written(self) -> Cursor {
        Cursor(format!("{:08x}.{}.{}", self.incarnation, self.at.tx, self.at.number))
    }
}

/// How far a store is.
struct Present {
    incarnation: u32,
    /// The last number of the last batch that can be told. It was committed: a server that fell gives numbers of transactions again
    /// that wrote nothing.
    end: At,
}

impl Present {
    /// In this order: what was finished before the horizon was read, and only that, is seen by what is read after it.
    async fn read(tx: &Tx) -> Result<Self, Fault> {
        let horizon: i64 = tx.one(HORIZON, params![lock_of(&tx.shared.address.schema)]).await?.read(0)?;
        let row = tx
            .one(
                "SELECT s.incarnation, coalesce(a.tx, s.arrivals_until), coalesce(a.last, 0)
                 FROM store s LEFT JOIN LATERAL (
                     SELECT tx, last FROM arrivals WHERE tx < $1 ORDER BY tx DESC, first DESC LIMIT 1) a ON true",
                params![horizon],
            )
            .await?;
        let [a, b, c, d, ..] = row.bytes::<16>(0)?;
        let end = At { tx: row.read(1)?, number: row.read(2)? };
        Ok(Self { incarnation: u32::from_be_bytes([a, b, c, d]), end })
    }

    /// Whether this store gave a place, and still knows what came after it: it has the batch in which it lies, or forgot no later one.
    async fn gave(&self, tx: &Tx, place: Place) -> Result<bool, Fault> {
        if place.incarnation != self.incarnation {
            return Ok(false);
        }
        tx.one(
            "SELECT arrivals_until = $1 OR arrivals_until < $1
                 AND EXISTS (SELECT 1 FROM arrivals WHERE tx = $1 AND first <= $2 AND last >= $2) FROM store",
            params![place.at.tx, place.at.number],
        )
        .await?
        .read(0)
    }

    /// A place in this store.
    fn place(&self, at: At) -> Cursor {
        Place { incarnation: self.incarnation, at }.written()
    }
}

/// The oldest transaction of this store that may still run, or the next one of the server. Ours hold the store's lock before they
/// get a number and as long as they run; one whose locks are not there is about to take them or has ended since.
const HORIZON: &str = "
    WITH running AS MATERIALIZED (SELECT pg_snapshot_xip(pg_current_snapshot()) AS x),
    locks AS MATERIALIZED (
        SELECT locktype, transactionid, virtualtransaction FROM pg_locks
        WHERE EXISTS (SELECT 1 FROM running) AND granted AND (
            locktype = 'transactionid' AND mode = 'ExclusiveLock'
            OR locktype = 'advisory' AND objsubid = 1 AND (classid::bigint << 32 | objid::bigint) = $1
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())))
    SELECT coalesce(
        (SELECT min(r.x::text::bigint) FROM running r
             LEFT JOIN locks t ON t.locktype = 'transactionid' AND t.transactionid = r.x::xid
         WHERE CASE WHEN t.locktype IS NULL THEN pg_xact_status(r.x) = 'in progress'
                    ELSE EXISTS (SELECT 1 FROM locks a
                                 WHERE a.locktype = 'advisory' AND a.virtualtransaction = t.virtualtransaction) END),
        pg_snapshot_xmax(pg_current_snapshot())::text::bigint)";

/// The latest so many, oldest first, and the place behind them.
pub(super) async fn latest(tx: &Tx, filter: &Filter, count: u32) -> Result<Followed, Fault> {
    let present = Present::read(tx).await?;
    let count = count.min(FOLLOW_MAX as u32) as usize;
    let mut items: Vec<DeliverySummary> = Vec::new();
    let (mut below, mut looked) = (At { number: i64::MAX, ..present.end }, 0);
    while items.len() < count && looked < ROWS_MAX as usize {
        let part = if *filter == Filter::default() { count - items.len() } else { FOLLOW_MAX };
        let numbers = before(tx, &mut below, part).await?;
        if numbers.is_empty() {
            break;
        }
        looked += numbers.len();
        items.extend(told(tx, &numbers).await?.into_iter().filter(|delivery| takes(filter, delivery)));
        items.truncate(count);
    }
    if items.len() < count && looked >= ROWS_MAX as usize {
        // Further back there is no newcomer: there the order of numbers will do, and what is rare has its index.
        let unfinished = unfinished(tx, present.end.tx).await?;
        let older = deliveries(tx, filter, None, FOLLOW_MAX as u32).await?.items;
        let is_new = |delivery: &DeliverySummary| items.iter().all(|known| known.number != delivery.number);
        let older: Vec<DeliverySummary> =
            older.into_iter().filter(|older| older.number.0 < unfinished && is_new(older)).collect();
        items.extend(older);
        items.truncate(count);
    }
    items.reverse();
    Ok(Followed { items, cursor: present.place(present.end), more: false, rewound: false })
}

/// What came after a place.
pub(super) async fn follow(tx: &Tx, filter: &Filter, after: Place) -> Result<Followed, Fault> {
    let present = Present::read(tx).await?;
    let end = present.end;
    if !present.gave(tx, after).await? {
        return Ok(Followed { items: Vec::new(), cursor: present.place(end), more: false, rewound: true });
    }
    let (numbers, at) = between(tx, after.at, end).await?;
    let mut items = told(tx, &numbers).await?;
    items.retain(|delivery| takes(filter, delivery));
    Ok(Followed { items, cursor: present.place(at), more: at < end, rewound: false })
}

/// The numbers after a place and up to the end, at most [`FOLLOW_MAX`], in their order, and the place behind them. Some may be
/// gone: repeated deliveries are pruned.
async fn between(tx: &Tx, after: At, end: At) -> Result<(Vec<i64>, At), Fault> {
    // The batch in which the place lies, if it was not told to its end, and those after it.
    let batches = tx
        .query(
            "SELECT tx, first, last FROM arrivals
             WHERE tx >= $1 AND tx <= $3 AND (tx > $1 OR last > $2) ORDER BY tx, first LIMIT $4",
            params![after.tx, after.number, end.tx, FOLLOW_MAX as i64],
        )
        .await?;
    let (mut numbers, mut at) = (Vec::new(), after);
    for batch in batches {
        let (transaction, first, last): (i64, i64, i64) = (batch.read(0)?, batch.read(1)?, batch.read(2)?);
        let first = if transaction == after.tx { first.max(after.number.saturating_add(1)) } else { first };
        numbers.extend((first..=last).take(FOLLOW_MAX - numbers.len()));
        at = At { tx: transaction, number: numbers.last().copied().unwrap_or(last) };
        if numbers.len() == FOLLOW_MAX {
            break;
        }
    }
    Ok((numbers, at))
}

/// At most so many numbers before a place, the last first; the place moves before them.
async fn before(tx: &Tx, below: &mut At, limit: usize) -> Result<Vec<i64>, Fault> {
    let batches = tx
        .query(
            "SELECT tx, first, last FROM arrivals
             WHERE tx <= $1 AND (tx < $1 OR first < $2) ORDER BY tx DESC, first DESC LIMIT $3",
            params![below.tx, below.number, limit as i64],
        )
        .await?;
    let (mut numbers, from) = (Vec::new(), *below);
    for batch in batches {
        let (transaction, first, last): (i64, i64, i64) = (batch.read(0)?, batch.read(1)?, batch.read(2)?);
        let last = if transaction == from.tx { last.min(from.number.saturating_sub(1)) } else { last };
        numbers.extend((first..=last).rev().take(limit - numbers.len()));
        *below = At { tx: transaction, number: numbers.last().copied().unwrap_or(first) };
        if numbers.len() == limit {
            break;
        }
    }
    Ok(numbers)
}

/// The deliveries with these numbers, in this order.
async fn told(tx: &Tx, numbers: &[i64]) -> Result<Vec<DeliverySummary>, Fault> {
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT {NEW_COLUMNS} FROM events e {NEW_JOINS} WHERE e.seq = ANY($1)
         UNION ALL SELECT {OTHER_COLUMNS} FROM deliveries d {OTHER_JOINS} WHERE d.seq = ANY($1)"
    );
    let mut found = HashMap::new();
    for row in tx.query(&sql, params![numbers]).await? {
        found.insert(row.read::<i64>(0)?, delivery(&row)?);
    }
    Ok(numbers.iter().filter_map(|number| found.remove(number)).collect())
}

/// The lowest number of the batches that were committed after one that still runs began: they are told later.
async fn unfinished(tx: &Tx, end: i64) -> Result<i64, Fault> {
    tx.one("SELECT coalesce(min(first), $2) FROM arrivals WHERE tx > $1", params![end, i64::MAX]).await?.read(0)
}

/// Where a database was loaded into another server, whose transactions are counted anew: batches of transactions that are still
/// to come would be told when these have passed, and new ones would be taken for old. They become this transaction's own, and
/// places that were given before are another store's.
pub(super) async fn settle(tx: &Tx) -> Result<(), Fault> {
    const AHEAD: &str = ">= pg_snapshot_xmax(pg_current_snapshot())::text::bigint";
    let moved = tx
        .execute(&format!("UPDATE arrivals SET tx = pg_current_xact_id()::text::bigint WHERE tx {AHEAD}"), params![])
        .await?;
    let forgotten =
        tx.execute(&format!("UPDATE store SET arrivals_until = 0 WHERE arrivals_until {AHEAD}"), params![]).await?;
    if moved + forgotten > 0 {
        let mut incarnation = [0_u8; 16];
        tx.shared.entropy.fill(&mut incarnation);
        tx.execute("UPDATE store SET incarnation = $1", params![&incarnation[..]]).await?;
    }
    Ok(())
}

fn takes(filter: &Filter, delivery: &DeliverySummary) -> bool {
    filter.takes_verdict(delivery.verdict)
        && filter.takes_source(delivery.source.as_ref())
        && filter.takes_type(delivery.event_type.as_ref())
        && filter.takes_time(delivery.received_at)
        && filter.takes_reason(delivery.code.map(RefusalCode::as_str))
}
