//! Who speaks: the attempt of a lease, its job locked.

use cola_ia_core::job::LeaseToken;

use super::super::error::Fault;
use super::super::job_row::{self, JobRow};
use super::super::row::Columns as _;
use super::super::sql::params;
use super::super::tx::Tx;

/// The attempt of a lease, and its job.
pub(super) struct Holder {
    /// The attempt's row.
    pub(super) attempt: i64,
    pub(super) run: u32,
    pub(super) job: JobRow,
}

/// Locks the job of this lease's attempt; `None` for a lease that nobody gave. What an attempt is never changes, so that one
/// statement finds and locks. Only whether there are effects was looked at before it waited: they are always read.
pub(super) async fn lock(tx: &Tx, lease: LeaseToken) -> Result<Option<Holder>, Fault> {
    let sql = format!(
        "SELECT a.attempt, a.run, {} FROM attempts a JOIN jobs j ON j.event = a.event WHERE a.lease = $1 FOR UPDATE OF j",
        job_row::COLUMNS,
    );
    let Some(row) = tx.maybe(&sql, params![&lease.0[..]]).await? else { return Ok(None) };
    let job = JobRow { has_effects: true, ..JobRow::of(&row, 2)? };
    Ok(Some(Holder { attempt: row.read(0)?, run: row.count(1)?, job }))
}

impl Holder {
    /// Records that it spoke when its lease was lost. The first word counts, and any word more than a heartbeat.
    pub(super) async fn late(&self, tx: &Tx, said: &str) -> Result<(), Fault> {
        tx.execute(
            "UPDATE attempts SET late = $2 WHERE attempt = $1 AND (late IS NULL OR late = 'extend')",
            params![self.attempt, said],
        )
        .await
        .map(drop)
    }
}
