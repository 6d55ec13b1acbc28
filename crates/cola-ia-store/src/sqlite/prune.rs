//! Letting go of what is no longer needed, step by step.
//!
//! A step looks at a bounded range of one table by its key, from where the last one ended, and changes a bounded part of it:
//! the write lock is held for a moment, and others come in between. What is found by looking alone is found without the lock.

use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::intake::{DeliveryNumber, EventNumber};
use cola_ia_core::store::{OPS_KEPT, OpId, PruneCursor, PruneRequest, Pruned, StoreError};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::ops::Call;
use super::row;
use super::writer::Scope;
use crate::common::pruned::{answer_from, answer_of, digest_of, micros};

/// Rows that one step looks at.
const LOOKED_AT: usize = 10_000;
/// Rows of deliveries, or of calls, that one step removes.
const REMOVED: usize = 2_000;
/// Events whose texts one step removes, and bytes of texts after which it takes no more.
const EVENTS: usize = 500;
const TEXT_BYTES: i64 = 8 << 20;

/// See [`Store::prune`](cola_ia_core::store::Store::prune).
pub(super) fn prune(scope: &Scope<'_>, op: OpId, request: &PruneRequest) -> Result<Pruned, StoreError> {
    let sqlite = |cause: rusqlite::Error| scope.error(&cause);
    let call = Call { op, verb: "prune", request: digest_of(request) };
    if let Some(first) = call.first_answer(scope)? {
        return answer_from(&first.rest()).ok_or_else(|| sqlite(row::unexpected("answer", "not of a pruning")));
    }
    let now = scope.clock.now();
    let pruned = step(scope.connection, now, request, Doing::Remove).map_err(sqlite)?;
    call.record(scope, now, &answer_of(&pruned))?;
    Ok(pruned)
}

/// See [`Store::prunable`](cola_ia_core::store::Store::prunable).
pub(super) fn prunable(connection: &Connection, now: Timestamp, request: &PruneRequest) -> rusqlite::Result<Pruned> {
    step(connection, now, request, Doing::Look)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Doing {
    Look,
    Remove,
}

fn step(connection: &Connection, now: Timestamp, request: &PruneRequest, doing: Doing) -> rusqlite::Result<Pruned> {
    let before = |age: Duration| now.as_micros().saturating_sub(micros(age));
    let deliveries_start = request.deliveries.map(|_| PruneCursor::Deliveries(DeliveryNumber(0)));
    let events_start = request.texts.map(|_| PruneCursor::Events(EventNumber(0)));
    match (request.after, request.deliveries, request.texts) {
        (None, ..) => ops(connection, None, before(OPS_KEPT), doing, deliveries_start.or(events_start)),
        (Some(PruneCursor::Ops(op)), ..) => {
            ops(connection, Some(op), before(OPS_KEPT), doing, deliveries_start.or(events_start))
        }
        (Some(PruneCursor::Deliveries(number)), Some(age), _) => {
            deliveries(connection, number, before(age.max(OPS_KEPT)), doing, events_start)
        }
        (Some(PruneCursor::Events(number)), _, Some(age)) => events(connection, number, before(age), now, doing),
        (Some(PruneCursor::Deliveries(_)), None, _) => Ok(Pruned { next: events_start, ..Pruned::default() }),
        (Some(PruneCursor::Events(_)), _, None) => Ok(Pruned::default()),
    }
}

const OPS: &str = "SELECT op, at FROM ops WHERE op > ?1 ORDER BY op LIMIT ?2";

fn ops(
    connection: &Connection,
    after: Option<OpId>,
    before: i64,
    doing: Doing,
    then: Option<PruneCursor>,
) -> rusqlite::Result<Pruned> {
    // An empty blob is below every op.
    let from = after.map_or(Vec::new(), |OpId(op)| op.to_vec());
    let mut select = connection.prepare_cached(OPS)?;
    let mut rows = select.query(params![from, LOOKED_AT as i64])?;
    let (mut seen, mut old, mut next) = (0, Vec::new(), then);
    while let Some(row) = rows.next()? {
        let op: [u8; 16] = row.get(0)?;
        if row.get::<_, i64>(1)? <= before {
            old.push(op);
        }
        seen += 1;
        if seen == LOOKED_AT || old.len() == REMOVED {
            next = Some(PruneCursor::Ops(OpId(op)));
            break;
        }
    }
    drop(rows);
    if doing == Doing::Remove {
        let mut delete = connection.prepare_cached("DELETE FROM ops WHERE op = ?1")?;
        for op in &old {
            delete.execute([op])?;
        }
    }
    Ok(Pruned { ops: old.len() as u64, next, ..Pruned::default() })
}

const DELIVERIES: &str = "SELECT seq, verdict = 'duplicate' AND received_at <= ?3, event, received_at FROM deliveries
     WHERE seq > ?1 ORDER BY seq LIMIT ?2";

fn deliveries(
    connection: &Connection,
    after: DeliveryNumber,
    before: i64,
    doing: Doing,
    then: Option<PruneCursor>,
) -> rusqlite::Result<Pruned> {
    // The next number is one more than the highest that is stored: that one stays, or it would be given twice.
    let highest: i64 = connection
        .prepare_cached(
            "SELECT max((SELECT coalesce(max(seq), 0) FROM events), (SELECT coalesce(max(seq), 0) FROM deliveries))",
        )?
        .query_row([], |row| row.get(0))?;
    let mut select = connection.prepare_cached(DELIVERIES)?;
    let mut rows = select.query(params![after.0, LOOKED_AT as i64, before])?;
    let (mut seen, mut old, mut next) = (0, Vec::new(), then);
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(0)?;
        if number < highest && row.get(1)? {
            old.push((number, row.get::<_, i64>(2)?, row.get::<_, i64>(3)?));
        }
        seen += 1;
        if seen == LOOKED_AT || old.len() == REMOVED {
            next = Some(PruneCursor::Deliveries(DeliveryNumber(number)));
            break;
        }
    }
    drop(rows);
    if doing == Doing::Remove {
        let mut count = connection.prepare_cached(
            "INSERT INTO pruned_deliveries (event, count, first_at, last_at) VALUES (?1, 1, ?2, ?2)
             ON CONFLICT (event) DO UPDATE SET count = count + 1,
                 first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at)",
        )?;
        let mut delete = connection.prepare_cached("DELETE FROM deliveries WHERE seq = ?1")?;
        for (number, event, received_at) in &old {
            count.execute([event, received_at])?;
            delete.execute([number])?;
        }
    }
    Ok(Pruned { deliveries: old.len() as u64, next, ..Pruned::default() })
}

/// An event goes where its job has been over for long enough, nothing waits for a person or for the world, and something
/// happened since it went last.
const FINISHED: &str =
    "SELECT j.event, coalesce(octet_length(e.text), 0) FROM jobs j CROSS JOIN events e ON e.seq = j.event
     WHERE j.event > ?1 AND j.event <= ?2 AND j.state IN ('done', 'cancelled')
       AND coalesce(j.changed_at, e.received_at) <= ?3
       AND e.erased_at IS NULL AND (e.pruned_at IS NULL OR e.pruned_at < j.changed_at)
       AND NOT EXISTS (SELECT 1 FROM conflicts c WHERE c.event = j.event AND (c.decision IS NULL OR c.decided_at > ?3))
       AND NOT EXISTS (SELECT 1 FROM effects f WHERE f.event = j.event AND f.state IN ('intended', 'unknown', 'held'))
     ORDER BY j.event";

/// The last event of those that a step looks at.
const END: &str = "SELECT event FROM jobs WHERE event > ?1 ORDER BY event LIMIT 1 OFFSET ?2";

/// What goes with the text of an event. The rows stay, with fingerprints, times, costs, outcomes and resource ids.
const HISTORY: [&str; 6] = [
    "UPDATE conflicts SET text = NULL WHERE event = ?1 AND text IS NOT NULL",
    "UPDATE revisions SET text = NULL WHERE event = ?1 AND text IS NOT NULL",
    "UPDATE attempts SET stdout = NULL, stderr = NULL, late = NULL, error = NULL WHERE event = ?1",
    "UPDATE effects SET note = NULL WHERE event = ?1 AND note IS NOT NULL",
    "UPDATE effect_records SET result = NULL
     WHERE effect IN (SELECT effect FROM effects WHERE event = ?1) AND result IS NOT NULL",
    "UPDATE jobs SET result = NULL WHERE event = ?1 AND result IS NOT NULL",
];

fn events(
    connection: &Connection,
    after: EventNumber,
    before: i64,
    now: Timestamp,
    doing: Doing,
) -> rusqlite::Result<Pruned> {
    let mut end = connection.prepare_cached(END)?;
    let end: Option<i64> = end.query_row(params![after.0, LOOKED_AT as i64 - 1], |row| row.get(0)).optional()?;
    let mut next = end.map(|end| PruneCursor::Events(EventNumber(end)));
    let mut select = connection.prepare_cached(FINISHED)?;
    let mut rows = select.query([after.0, end.unwrap_or(i64::MAX), before])?;
    let (mut old, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let event: i64 = row.get(0)?;
        old.push(event);
        bytes += row.get::<_, i64>(1)?;
        if old.len() == EVENTS || bytes >= TEXT_BYTES {
            next = Some(PruneCursor::Events(EventNumber(event)));
            break;
        }
    }
    drop(rows);
    if doing == Doing::Remove {
        let mut forget = connection.prepare_cached("UPDATE events SET text = NULL, pruned_at = ?2 WHERE seq = ?1")?;
        for event in &old {
            forget.execute([*event, now.as_micros()])?;
            for sql in HISTORY {
                connection.prepare_cached(sql)?.execute([event])?;
            }
        }
    }
    Ok(Pruned { events: old.len() as u64, next, ..Pruned::default() })
}

#[cfg(test)]
mod tests {
    use super::super::erase;
    use super::*;

    /// A statement that reads a table from end to end would hold the lock for as long as the store has been in use.
    #[test]
    fn every_statement_goes_by_a_key() {
        let connection = Connection::open_in_memory().unwrap();
        for migration in super::super::migrate::MIGRATIONS {
            connection.execute_batch(migration.sql).unwrap();
        }
        for sql in [OPS, DELIVERIES, END, FINISHED].into_iter().chain(HISTORY).chain(erase::CONTENT) {
            let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let steps: Vec<String> =
                explain.raw_query().mapped(|row| row.get(3)).collect::<rusqlite::Result<_>>().unwrap();
            assert!(!steps.is_empty() && steps.iter().all(|step| !step.contains("SCAN")), "{sql}: {steps:?}");
        }
    }
}
