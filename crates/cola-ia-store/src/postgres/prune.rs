//! Letting go of what is no longer needed, step by step.
//!
//! A step looks at a bounded range of one table by its key, from where the last one ended, and changes a bounded part of it: others
//! come in between. What is found by looking alone is found without the lock.

use std::time::Duration;

use cola_ia_core::intake::{DeliveryNumber, EventNumber};
use cola_ia_core::store::{OPS_KEPT, OpId, PruneCursor, PruneRequest, Pruned};

use super::error::Fault;
use super::ops::Call;
use super::row::{Columns as _, unexpected};
use super::sql::params;
use super::tx::Tx;
use crate::common::pruned::{answer_from, answer_of, digest_of, micros};

/// Rows that one step looks at.
const LOOKED_AT: i64 = 10_000;
/// Rows of deliveries, or of calls, that one step removes.
const REMOVED: usize = 2_000;
/// Notes of arrivals that one step removes.
const ARRIVALS: i64 = 20_000;
/// Events whose texts one step removes, and bytes of texts after which it takes no more.
const EVENTS: usize = 500;
const TEXT_BYTES: i64 = 8 << 20;

/// See [`Store::prune`](cola_ia_core::store::Store::prune).
pub(super) async fn prune(tx: &Tx, op: OpId, request: &PruneRequest) -> Result<Pruned, Fault> {
    let call = Call { op, verb: "prune", request: digest_of(request) };
    if let Some(first) = call.first_answer(tx).await? {
        return answer_from(&first.rest()).ok_or_else(|| unexpected("answer", "not of a pruning"));
    }
    let pruned = step(tx, request, Doing::Remove).await?;
    call.record(tx, &answer_of(&pruned)).await?;
    Ok(pruned)
}

/// See [`Store::prunable`](cola_ia_core::store::Store::prunable).
pub(super) async fn prunable(tx: &Tx, request: &PruneRequest) -> Result<Pruned, Fault> {
    step(tx, request, Doing::Look).await
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Doing {
    Look,
    Remove,
}

async fn step(tx: &Tx, request: &PruneRequest, doing: Doing) -> Result<Pruned, Fault> {
    let before = |age: Duration| tx.now.as_micros().saturating_sub(micros(age));
    let deliveries_start = request.deliveries.map(|_| PruneCursor::Deliveries(DeliveryNumber(0)));
    let events_start = request.texts.map(|_| PruneCursor::Events(EventNumber(0)));
    match (request.after, request.deliveries, request.texts) {
        (None, ..) => ops(tx, None, before(OPS_KEPT), doing, deliveries_start.or(events_start)).await,
        (Some(PruneCursor::Ops(op)), ..) => {
            ops(tx, Some(op), before(OPS_KEPT), doing, deliveries_start.or(events_start)).await
        }
        (Some(PruneCursor::Deliveries(number)), Some(age), _) => {
            deliveries(tx, number, before(age.max(OPS_KEPT)), doing, events_start).await
        }
        (Some(PruneCursor::Events(number)), _, Some(age)) => events(tx, number, before(age), doing).await,
        (Some(PruneCursor::Deliveries(_)), None, _) => Ok(Pruned { next: events_start, ..Pruned::default() }),
        (Some(PruneCursor::Events(_)), _, None) => Ok(Pruned::default()),
    }
}

async fn ops(
    tx: &Tx,
    after: Option<OpId>,
    before: i64,
    doing: Doing,
    then: Option<PruneCursor>,
) -> Result<Pruned, Fault> {
    // No bytes are below every op.
    let from = after.map_or(Vec::new(), |OpId(op)| op.to_vec());
    let rows = tx.query("SELECT op, at FROM ops WHERE op > $1 ORDER BY op LIMIT $2", params![from, LOOKED_AT]).await?;
    let (mut old, mut next) = (Vec::new(), then);
    for (seen, row) in rows.iter().enumerate() {
        let op: [u8; 16] = row.bytes(0)?;
        if row.read::<i64>(1)? <= before {
            old.push(op.to_vec());
        }
        if seen as i64 == LOOKED_AT - 1 || old.len() == REMOVED {
            next = Some(PruneCursor::Ops(OpId(op)));
            break;
        }
    }
    let count = old.len() as u64;
    if doing == Doing::Remove {
        tx.execute("DELETE FROM ops WHERE op = ANY($1)", params![old]).await?;
        forget_arrivals(tx, before).await?;
    }
    Ok(Pruned { ops: count, next, ..Pruned::default() })
}

/// Who follows the store and was away for longer begins anew.
async fn forget_arrivals(tx: &Tx, before: i64) -> Result<(), Fault> {
    tx.execute(
        "WITH gone AS (
             DELETE FROM arrivals WHERE (tx, first) IN (
                 SELECT tx, first FROM (SELECT tx, first, at FROM arrivals ORDER BY tx, first LIMIT $2) a WHERE a.at <= $1)
             RETURNING tx)
         UPDATE store SET arrivals_until = greatest(arrivals_until, (SELECT max(tx) FROM gone))",
        params![before, ARRIVALS],
    )
    .await
    .map(drop)
}

async fn deliveries(
    tx: &Tx,
    after: DeliveryNumber,
    before: i64,
    doing: Doing,
    then: Option<PruneCursor>,
) -> Result<Pruned, Fault> {
    let rows = tx
        .query(
            "SELECT seq, verdict = 'duplicate' AND received_at <= $3, event, received_at FROM deliveries
             WHERE seq > $1 ORDER BY seq LIMIT $2",
            params![after.0, LOOKED_AT, before],
        )
        .await?;
    let (mut numbers, mut events, mut times, mut next) = (Vec::new(), Vec::new(), Vec::new(), then);
    for (seen, row) in rows.iter().enumerate() {
        let number: i64 = row.read(0)?;
        if row.read(1)? {
            numbers.push(number);
            events.push(row.read::<i64>(2)?);
            times.push(row.read::<i64>(3)?);
        }
        if seen as i64 == LOOKED_AT - 1 || numbers.len() == REMOVED {
            next = Some(PruneCursor::Deliveries(DeliveryNumber(number)));
            break;
        }
    }
    let count = numbers.len() as u64;
    if doing == Doing::Remove && count > 0 {
        tx.execute(
            "INSERT INTO pruned_deliveries (event, count, first_at, last_at)
             SELECT event, count(*), min(at), max(at) FROM unnest($1, $2) u(event, at) GROUP BY event
             ON CONFLICT (event) DO UPDATE SET count = pruned_deliveries.count + excluded.count,
                 first_at = least(pruned_deliveries.first_at, excluded.first_at),
                 last_at = greatest(pruned_deliveries.last_at, excluded.last_at)",
            params![events, times],
        )
        .await?;
        tx.execute("DELETE FROM deliveries WHERE seq = ANY($1)", params![numbers]).await?;
    }
    Ok(Pruned { deliveries: count, next, ..Pruned::default() })
}

/// An event goes where its job has been over for long enough, nothing waits for a person or for the world, and something
/// happened since it went last.
const FINISHED: &str =
    "SELECT j.event, coalesce(octet_length(e.text), 0)::bigint FROM jobs j JOIN events e ON e.seq = j.event
     WHERE j.event > $1 AND j.event <= $2 AND j.state IN ('done', 'cancelled')
       AND coalesce(j.changed_at, e.received_at) <= $3
       AND e.erased_at IS NULL AND (e.pruned_at IS NULL OR e.pruned_at < j.changed_at)
       AND NOT EXISTS (SELECT 1 FROM conflicts c WHERE c.event = j.event AND (c.decision IS NULL OR c.decided_at > $3))
       AND NOT EXISTS (SELECT 1 FROM effects f WHERE f.event = j.event AND f.state IN ('intended', 'unknown', 'held'))
     ORDER BY j.event LIMIT $4";

/// What goes with the text of an event. The rows stay, with fingerprints, times, costs, outcomes and resource ids.
const HISTORY: [&str; 6] = [
    "UPDATE conflicts SET text = NULL WHERE event = ANY($1) AND text IS NOT NULL",
    "UPDATE revisions SET text = NULL WHERE event = ANY($1) AND text IS NOT NULL",
    "UPDATE attempts SET stdout = NULL, stderr = NULL, late = NULL, error = NULL WHERE event = ANY($1)",
    "UPDATE effects SET note = NULL WHERE event = ANY($1) AND note IS NOT NULL",
    "UPDATE effect_records SET result = NULL
     WHERE effect IN (SELECT effect FROM effects WHERE event = ANY($1)) AND result IS NOT NULL",
    "UPDATE jobs SET result = NULL WHERE event = ANY($1) AND result IS NOT NULL",
];

async fn events(tx: &Tx, after: EventNumber, before: i64, doing: Doing) -> Result<Pruned, Fault> {
    // The last event of those that a step looks at.
    let end = tx
        .maybe(
            "SELECT event FROM jobs WHERE event > $1 ORDER BY event LIMIT 1 OFFSET $2",
            params![after.0, LOOKED_AT - 1],
        )
        .await?
        .map(|row| row.read::<i64>(0))
        .transpose()?;
    let mut next = end.map(|end| PruneCursor::Events(EventNumber(end)));
    let rows = tx.query(FINISHED, params![after.0, end.unwrap_or(i64::MAX), before, EVENTS as i64]).await?;
    let (mut old, mut bytes) = (Vec::new(), 0);
    for row in &rows {
        let event: i64 = row.read(0)?;
        old.push(event);
        bytes += row.read::<i64>(1)?;
        if old.len() == EVENTS || bytes >= TEXT_BYTES {
            next = Some(PruneCursor::Events(EventNumber(event)));
            break;
        }
    }
    if doing == Doing::Remove && !old.is_empty() {
        tx.execute(
            "UPDATE events SET text = NULL, pruned_at = $2 WHERE seq = ANY($1)",
            params![old, tx.now.as_micros()],
        )
        .await?;
        for sql in HISTORY {
            tx.execute(sql, params![old]).await?;
        }
    }
    Ok(Pruned { events: old.len() as u64, next, ..Pruned::default() })
}
