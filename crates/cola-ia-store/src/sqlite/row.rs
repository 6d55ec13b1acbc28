//! Columns in the types of the core. A value that we never wrote is damage, and is said so.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{EventType, Source};
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::JobState;
use cola_ia_core::store::JobSummary;
use rusqlite::Row;
use rusqlite::types::Type;

/// A value that no version of ours writes.
pub(super) fn unexpected(column: &str, value: &str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, format!("unexpected {column}: {value:?}").into())
}

/// Microseconds.
pub(super) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    row.get(column).map(Timestamp::from_micros)
}

/// Microseconds, or nothing.
pub(super) fn maybe_time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp::from_micros))
}

/// The columns of [`job`], for a query over `events e JOIN jobs j JOIN sources s`.
pub(super) const JOB_COLUMNS: &str = "e.seq, s.name, e.id, e.type, e.time, e.received_at, \
     j.state, j.reason, j.run, j.attempts, j.resource_id, CASE j.state WHEN 'pending' THEN j.due_at END, e.erased_at, \
     CASE j.state WHEN 'running' THEN j.lease_until END";

/// Number of [`JOB_COLUMNS`].
pub(super) const JOB_COLUMNS_LEN: usize = 14;

/// What is joined to `jobs j` for [`JOB_COLUMNS`]. Outer joins: where damage took an event or a source, its job is an error
/// and not left out.
pub(super) const JOB_JOINS: &str = "LEFT JOIN events e ON e.seq = j.event LEFT JOIN sources s ON s.source = e.source";

/// The name of a source.
pub(super) fn source(name: &str) -> rusqlite::Result<Source> {
    Source::new(name).map_err(|_| unexpected("source", name))
}

/// A job from the first columns of a row.
pub(super) fn job(row: &Row<'_>) -> rusqlite::Result<JobSummary> {
    let state: String = row.get(6)?;
    Ok(JobSummary {
        event: EventNumber(row.get(0)?),
        source: source(row.get_ref(1)?.as_str()?)?,
        id: row.get(2)?,
        erased_at: maybe_time(row, 12)?,
        event_type: row.get::<_, Option<String>>(3)?.and_then(|name| EventType::new(name).ok()),
        time: maybe_time(row, 4)?,
        received_at: time(row, 5)?,
        state: JobState::from_word(&state).ok_or_else(|| unexpected("state", &state))?,
        reason: row.get(7)?,
        run: row.get(8)?,
        attempts: row.get(9)?,
        resource_id: row.get(10)?,
        due_at: maybe_time(row, 11)?,
        lease_until: maybe_time(row, 13)?,
    })
}
