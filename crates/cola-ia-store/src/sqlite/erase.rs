//! A person's right to be forgotten: what an event said goes, that it was there stays.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::intake::{DeliveryNumber, EventNumber};
use cola_ia_core::job::{JobState, Outcome, RetryPolicy};
use cola_ia_core::store::{EraseRequest, Erased, ErrorKind, OpId, StoreError, erased_id, names};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::effects::case::{Cases, Records};
use super::job_row::{JobRow, Moves};
use super::ops::{Call, digest};
use super::reader::Sight;
use super::writer::Scope;
use super::{preview, row, take_over};
use crate::common::erased::{answer_from, answer_of};

/// Deliveries that one step goes through.
const STEP: usize = 20_000;

/// The reason of a job that was cancelled because its event was erased.
const REASON: &str = "erased";

/// What stands in the place of the id of an event that was erased.
pub(super) fn hash(connection: &Connection, source: &str, id: &str) -> rusqlite::Result<String> {
    let namespace: Vec<u8> =
        connection.prepare_cached("SELECT namespace FROM store")?.query_row([], |row| row.get(0))?;
    Ok(erased_id(&namespace, source, id))
}

/// Notes what stands for the id of an event that is erased now, or was in another store.
pub(super) fn remember(connection: &Connection, event: i64, elsewhere: bool) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO erased (elsewhere, source, id, event) SELECT ?2, source, id, seq FROM events WHERE seq = ?1
             ON CONFLICT DO NOTHING",
        )?
        .execute(params![event, elsewhere])?;
    Ok(())
}

/// Whether the store has events that were erased in another one: no slot leads from their ids to them.
pub(super) fn has_elsewhere(connection: &Connection) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM erased WHERE elsewhere = 1 LIMIT 1")?.exists([])
}

/// The event of this identity, of those that were erased in another store. `source`: the row.
pub(super) fn find_elsewhere(
    connection: &Connection,
    source: i64,
    name: &str,
    id: &str,
) -> rusqlite::Result<Option<i64>> {
    find_hash(connection, true, source, &hash(connection, name, id)?)
}

/// The event that was erased, here or in another store, and has this in the place of its id.
pub(super) fn find_hash(
    connection: &Connection,
    elsewhere: bool,
    source: i64,
    hash: &str,
) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT event FROM erased WHERE elsewhere = ?1 AND source = ?2 AND id = ?3")?
        .query_row(params![elsewhere, source, hash], |row| row.get(0))
        .optional()
}

/// See [`Store::erase`](cola_ia_core::store::Store::erase). Whether the bytes are gone is for the caller to find out.
pub(super) fn erase(scope: &Scope<'_>, op: OpId, request: &EraseRequest) -> Result<Option<Erased>, StoreError> {
    let sqlite = |cause: rusqlite::Error| scope.error(&cause);
    let parts: [&[u8]; 3] = [
        request.source.as_str().as_bytes(),
        request.id.as_bytes(),
        &request.after.map_or(-1, |number| number.0).to_le_bytes(),
    ];
    let call = Call { op, verb: "erase", request: digest(&parts) };
    if let Some(first) = call.first_answer(scope)? {
        let answer = answer_from(&first.rest());
        return answer.ok_or_else(|| sqlite(row::unexpected("answer", "not of an erasure"))).map(Some);
    }
    let sight = Sight { connection: scope.connection, slots: scope.slots };
    let Some(event) = preview::find(&sight, request.source.as_str(), &request.id).map_err(sqlite)? else {
        return Ok(None);
    };
    let now = scope.clock.now();
    let mut cancelled = false;
    if request.after.is_none() {
        let unfinished = unfinished(scope, event, now)?;
        forget(scope, event, now, request).map_err(sqlite)?;
        cancelled = unfinished.map_or(Ok(false), |row| cancel(scope, row, now)).map_err(sqlite)?;
    }
    let next = forget_deliveries(scope.connection, event, request).map_err(sqlite)?;
    let erased_at: i64 = scope
        .connection
        .prepare_cached("SELECT erased_at FROM events WHERE seq = ?1")
        .and_then(|mut select| select.query_row([event], |row| row.get(0)))
        .map_err(sqlite)?;
    let erased = Erased {
        event: EventNumber(event),
        erased_at: Timestamp::from_micros(erased_at),
        cancelled,
        gone: false,
        next,
    };
    call.record(scope, now, &answer_of(&erased))?;
    Ok(Some(erased))
}

/// The job, where it is to be cancelled. A worker that has it, with a lease that still holds, may be about to write what is
/// to go.
fn unfinished(scope: &Scope<'_>, event: i64, now: Timestamp) -> Result<Option<JobRow>, StoreError> {
    let row = JobRow::find(scope.connection, event).map_err(|cause| scope.error(&cause))?;
    let Some(row) = row else { return Ok(None) };
    if row.job.state == JobState::Running && !row.job.is_expired(now) {
        return Err(StoreError::new(ErrorKind::Conflict, "job_running").with("event", event));
    }
    Ok(Some(row).filter(|row| !matches!(row.job.state, JobState::Done | JobState::Cancelled)))
}

/// What goes with the text. The rows stay, with fingerprints, times, costs and outcomes.
pub(super) const CONTENT: [&str; 7] = [
    "UPDATE conflicts SET text = NULL, type = NULL, note = NULL WHERE event = ?1",
    "UPDATE revisions SET text = NULL WHERE event = ?1",
    "UPDATE decisions SET note = NULL WHERE event = ?1",
    "UPDATE attempts SET stdout = NULL, stderr = NULL, late = NULL, error = NULL WHERE event = ?1",
    "UPDATE effects SET note = NULL WHERE event = ?1",
    "UPDATE effect_records SET result = NULL, resource_id = NULL
     WHERE effect IN (SELECT effect FROM effects WHERE event = ?1)",
    "UPDATE jobs SET result = NULL, resource_id = NULL WHERE event = ?1",
];

fn forget(scope: &Scope<'_>, event: i64, now: Timestamp, request: &EraseRequest) -> rusqlite::Result<()> {
    let connection = scope.connection;
    let hash = hash(connection, request.source.as_str(), &request.id)?;
    connection
        .prepare_cached(
            "UPDATE events SET id = ?2, text = NULL, type = NULL, erased_at = coalesce(erased_at, ?3) WHERE seq = ?1",
        )?
        .execute(params![event, hash, now.as_micros()])?;
    remember(connection, event, false)?;
    for sql in CONTENT {
        connection.prepare_cached(sql)?.execute([event])?;
    }
    take_over::forget_row(connection, request.source.as_str(), &request.id)
}

/// Cancels the job; whether it is so now. With the outcome of an effect open it is held until that is settled: what may have
/// been paid or published, and its money, is still there for a person to see.
fn cancel(scope: &Scope<'_>, row: JobRow, now: Timestamp) -> rusqlite::Result<bool> {
    let mut cases = Cases::new(scope.connection);
    let mut read = cases.of_run(row, Records::Leave)?;
    if cases.ledger_of(&read, now, &RetryPolicy::default())?.cancel(&mut read.case).is_err() {
        return Ok(false);
    }
    let cancelled = read.case.job.state == JobState::Cancelled;
    if cancelled {
        read.case.job.reason = REASON.into();
    }
    let mut moves = Moves::new(scope, now)?;
    read.write(&mut moves, None, Outcome::Crashed)?;
    moves.count(None)?;
    Ok(cancelled)
}

/// Goes through deliveries from where the last step ended: those of the event lose what they say, and refused ones their
/// detail where it names the id. Answers where the next step goes on.
fn forget_deliveries(
    connection: &Connection,
    event: i64,
    request: &EraseRequest,
) -> rusqlite::Result<Option<DeliveryNumber>> {
    let mut select = connection.prepare_cached(
        "SELECT seq, event IS ?3, CASE WHEN verdict = 'invalid' THEN detail END FROM deliveries
         WHERE seq > ?1 ORDER BY seq LIMIT ?2",
    )?;
    let mut rows = select.query(params![request.after.map_or(0, |number| number.0), STEP as i64, event])?;
    let (mut seen, mut last, mut own, mut naming) = (0, 0, Vec::new(), Vec::new());
    while let Some(row) = rows.next()? {
        (seen, last) = (seen + 1, row.get::<_, i64>(0)?);
        if row.get(1)? {
            own.push(last);
        } else if row.get_ref(2)?.as_str_or_null()?.is_some_and(|detail| names(detail, &request.id)) {
            naming.push(last);
        }
    }
    drop(rows);
    let mut forget = connection.prepare_cached(
        "UPDATE deliveries SET type = NULL, origin = NULL WHERE seq = ?1 AND (type IS NOT NULL OR origin IS NOT NULL)",
    )?;
    for number in &own {
        forget.execute([number])?;
    }
    let mut forget = connection.prepare_cached("UPDATE deliveries SET detail = '' WHERE seq = ?1")?;
    for number in &naming {
        forget.execute([number])?;
    }
    Ok((seen == STEP).then_some(DeliveryNumber(last)))
}
