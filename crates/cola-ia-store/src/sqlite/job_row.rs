//! A job as the moves of the core see it, in its row.

use std::borrow::Cow;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::job::{Job, JobState, Lease, LeaseToken, Outcome};
use cola_ia_core::store::Ended;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::row;

/// What of a job's row its moves read and write.
#[derive(Debug, Clone)]
pub(super) struct JobRow {
    pub(super) job: Job,
    /// Leases of its run so far, counted or not: the newest attempt's number.
    pub(super) leases: u32,
}

impl JobRow {
    /// A job that must be there.
    pub(super) fn read(connection: &Connection, event: i64) -> rusqlite::Result<Self> {
        Self::find(connection, event)?.ok_or_else(|| row::unexpected("job of a missing event", &event.to_string()))
    }

    pub(super) fn find(connection: &Connection, event: i64) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(
                "SELECT state, run, attempts, crashes, due_at, lease, lease_until, reason, leases FROM jobs
                 WHERE event = ?1",
            )?
            .query_row([event], |row| {
                let word = row.get_ref(0)?.as_str()?;
                let state = JobState::from_word(word).ok_or_else(|| row::unexpected("state", word))?;
                let token: Option<[u8; 18]> = row.get(5)?;
                let until = row::maybe_time(row, 6)?;
                let lease = token.zip(until).map(|(token, until)| Lease { token: LeaseToken(token), until });
                let due_at = row::maybe_time(row, 4)?.filter(|_| state == JobState::Pending);
                let reason = match row.get_ref(7)?.as_str()? {
                    "" => Cow::Borrowed(""),
                    reason => Cow::Owned(reason.to_owned()),
                };
                let job =
                    Job { state, run: row.get(1)?, attempts: row.get(2)?, crashes: row.get(3)?, due_at, lease, reason };
                Ok(Self { job, leases: row.get(8)? })
            })
            .optional()
    }
}

/// Writes a job that moved.
pub(super) fn write(
    connection: &Connection,
    event: i64,
    JobRow { job, leases }: &JobRow,
    worker: &str,
    at: Timestamp,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE jobs SET state = ?2, run = ?3, attempts = ?4, crashes = ?5, due_at = ?6, lease = ?7,
             lease_until = ?8, reason = ?9, leases = ?10, worker = nullif(?11, ''), changed_at = ?12 WHERE event = ?1",
        )?
        .execute(params![
            event,
            job.state.as_str(),
            job.run,
            job.attempts,
            job.crashes,
            job.due_at.map(Timestamp::as_micros),
            job.lease.map(|lease| lease.token.0),
            job.lease.map(|lease| lease.until.as_micros()),
            job.reason,
            leases,
            worker,
            at.as_micros(),
        ])?;
    Ok(())
}

/// Ends the attempt that holds a job's lease, which the job no longer has.
pub(super) fn end_attempt(
    connection: &Connection,
    token: LeaseToken,
    outcome: Outcome,
    ended: Ended,
    at: Timestamp,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE attempts SET ended_at = ?2, outcome = ?3, to_state = ?4, to_due = ?5
             WHERE lease = ?1 AND ended_at IS NULL",
        )?
        .execute(params![
            token.0,
            at.as_micros(),
            outcome.as_str(),
            ended.state.as_str(),
            ended.due_at.map(Timestamp::as_micros)
        ])?;
    Ok(())
}

/// What is answered of a job that moved.
pub(super) fn ended(job: &Job) -> Ended {
    Ended { state: job.state, due_at: job.due_at }
}
