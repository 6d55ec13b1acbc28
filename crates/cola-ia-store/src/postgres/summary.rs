//! Jobs as lines of lists.

use cola_ia_core::event::EventType;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::JobState;
use cola_ia_core::store::JobSummary;
use tokio_postgres::Row;

use super::error::Fault;
use super::row::{Columns as _, unexpected};

/// The columns of [`of`], for a query over `jobs j` and [`JOINS`].
pub(super) const COLUMNS: &str = "e.seq, s.name, e.id, e.type, e.time, e.received_at, \
     j.state, j.reason, j.run, j.attempts, j.resource_id, CASE j.state WHEN 'pending' THEN j.due_at END, e.erased_at, \
     CASE j.state WHEN 'running' THEN j.lease_until END";

/// Number of [`COLUMNS`].
pub(super) const COLUMNS_LEN: usize = 14;

/// What is joined to `jobs j` for [`COLUMNS`]. Outer joins: where damage took an event or a source, its job is an error and not
/// left out.
pub(super) const JOINS: &str = "LEFT JOIN events e ON e.seq = j.event LEFT JOIN sources s ON s.source = e.source";

/// A job from the first columns of a row.
pub(super) fn of(row: &Row) -> Result<JobSummary, Fault> {
    let state: &str = row.read(6)?;
    Ok(JobSummary {
        event: EventNumber(row.read(0)?),
        source: row.source(1)?,
        id: row.read(2)?,
        erased_at: row.maybe_time(12)?,
        event_type: event_type(row, 3)?,
        time: row.maybe_time(4)?,
        received_at: row.time(5)?,
        state: JobState::from_word(state).ok_or_else(|| unexpected("state", state))?,
        reason: row.read(7)?,
        run: row.count(8)?,
        attempts: row.count(9)?,
        resource_id: row.read(10)?,
        due_at: row.maybe_time(11)?,
        lease_until: row.maybe_time(13)?,
    })
}

/// A type. One that no longer would enter, of an older store that was moved here, is left out.
pub(super) fn event_type(row: &Row, column: usize) -> Result<Option<EventType>, Fault> {
    Ok(row.read::<Option<String>>(column)?.and_then(|name| EventType::new(name).ok()))
}
