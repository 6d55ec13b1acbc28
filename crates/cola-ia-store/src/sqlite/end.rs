//! What holders of leases say: longer, and the ends.

use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::job::{Draw, Ending, JobState, LeaseToken, Outcome, RetryPolicy, Sign};
use cola_ia_core::store::{End, EndRefused, Ended, ErrorKind, LEASES_MAX, LeaseLost, StoreError};
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Row};

use super::job_row::{self, EndedAttempt, JobRow, Moves};
use super::row;
use super::writer::Scope;

/// Refuses a call about more leases than one transaction takes.
pub(super) fn bounded(count: usize) -> Result<(), StoreError> {
    if count > LEASES_MAX {
        return Err(StoreError::new(ErrorKind::Invalid, "too_many_leases").with("limit", LEASES_MAX));
    }
    Ok(())
}

/// See [`Store::extend`](cola_ia_core::store::Store::extend).
pub(super) fn extend(
    scope: &Scope<'_>,
    leases: &[LeaseToken],
    length: Duration,
) -> Result<Vec<Result<Timestamp, LeaseLost>>, StoreError> {
    let at = scope.clock.now();
    let connection = scope.connection;
    let mut find = Find::new(connection).map_err(|cause| scope.error(&cause))?;
    let mut one = |token: &LeaseToken| -> rusqlite::Result<Result<Timestamp, LeaseLost>> {
        let Some(attempt) = find.attempt(*token)? else { return Ok(Err(UNKNOWN)) };
        let Some(lease) = attempt.job.job.extend(at, *token, length).ok().and_then(|job| job.lease) else {
            return attempt.late(connection, "extend").map(Err);
        };
        connection
            .prepare_cached("UPDATE jobs SET lease_until = ?2 WHERE event = ?1")?
            .execute((attempt.job.event, lease.until.as_micros()))?;
        Ok(Ok(lease.until))
    };
    leases.iter().map(&mut one).collect::<rusqlite::Result<_>>().map_err(|cause| scope.error(&cause))
}

/// See [`Store::end`](cola_ia_core::store::Store::end).
pub(super) fn end(
    scope: &Scope<'_>,
    ends: &[End],
    policy: &RetryPolicy,
) -> Result<Vec<Result<Ended, EndRefused>>, StoreError> {
    let at = scope.clock.now();
    let ended = || -> rusqlite::Result<Vec<Result<Ended, EndRefused>>> {
        let mut find = Find::new(scope.connection)?;
        let mut moves = Moves::new(scope, at)?;
        let answers = ends
            .iter()
            .map(|end| end_one(scope.connection, &mut find, &mut moves, end, policy))
            .collect::<Result<_, _>>()?;
        moves.count(policy.pause_after)?;
        Ok(answers)
    };
    ended().map_err(|cause| scope.error(&cause))
}

fn end_one(
    connection: &Connection,
    find: &mut Find<'_>,
    moves: &mut Moves<'_>,
    End { token, ending, report }: &End,
    policy: &RetryPolicy,
) -> rusqlite::Result<Result<Ended, EndRefused>> {
    let Some(attempt) = find.attempt(*token)? else { return Ok(Err(EndRefused::LeaseLost(UNKNOWN))) };
    if let Some((outcome, ended)) = attempt.ended
        && outcome == ending.outcome()
    {
        return Ok(Ok(ended));
    }
    let Ok((job, outcome)) = attempt.job.job.end(moves.at, *token, *ending, policy, Draw::of(*token)) else {
        return attempt.late(connection, word(*ending)).map(EndRefused::LeaseLost).map(Err);
    };
    let ended = job_row::ended(&job);
    let sign = Sign::of(*ending, report.error_class.as_deref());
    moves.signs.hear(attempt.job.source, attempt.job.event, sign);
    moves.job(JobState::Running, &JobRow { job, ..attempt.job }, None, Some(report))?;
    moves.attempt(EndedAttempt { attempt: attempt.row, outcome, ended, report: Some(report) })?;
    Ok(Ok(ended))
}

/// What it tried to say, for the record.
fn word(ending: Ending) -> &'static str {
    match ending {
        Ending::Done => "complete",
        Ending::Failed { .. } => "fail",
        Ending::Later { .. } | Ending::Released => "release",
    }
}

/// The answer to a lease that nobody gave.
const UNKNOWN: LeaseLost = LeaseLost { superseded_by: None };

/// The attempt that a lease belongs to, and its job.
struct Attempt {
    row: i64,
    run: u32,
    number: u32,
    ended: Option<(Outcome, Ended)>,
    job: JobRow,
}

/// Finds attempts by their leases.
struct Find<'c>(CachedStatement<'c>);

impl<'c> Find<'c> {
    fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        let sql = format!(
            "SELECT a.attempt, a.run, a.number, a.outcome, a.to_state, a.to_due, {}
             FROM attempts a LEFT JOIN jobs j ON j.event = a.event WHERE a.lease = ?1",
            job_row::COLUMNS
        );
        connection.prepare_cached(&sql).map(Self)
    }

    /// `None` for a lease that nobody gave.
    fn attempt(&mut self, token: LeaseToken) -> rusqlite::Result<Option<Attempt>> {
        let read = |row: &Row<'_>| {
            let (outcome, state): (Option<String>, Option<String>) = (row.get(3)?, row.get(4)?);
            let ended = match (outcome.as_deref(), state.as_deref()) {
                (Some(outcome), Some(state)) => Some((
                    Outcome::from_word(outcome).ok_or_else(|| row::unexpected("outcome", outcome))?,
                    Ended {
                        state: JobState::from_word(state).ok_or_else(|| row::unexpected("state", state))?,
                        due_at: row::maybe_time(row, 5)?,
                    },
                )),
                _ => None,
            };
            let job = JobRow::of(row, 6)?;
            Ok(Attempt { row: row.get(0)?, run: row.get(1)?, number: row.get(2)?, ended, job })
        };
        self.0.query_row([token.0], read).optional()
    }
}

impl Attempt {
    /// Records that it spoke when its lease was lost. The first word counts, and any word more than a heartbeat.
    fn late(&self, connection: &Connection, said: &str) -> rusqlite::Result<LeaseLost> {
        connection
            .prepare_cached("UPDATE attempts SET late = ?2 WHERE attempt = ?1 AND (late IS NULL OR late = 'extend')")?
            .execute((self.row, said))?;
        let superseded = self.job.job.run == self.run && self.job.leases != self.number;
        Ok(LeaseLost { superseded_by: superseded.then_some(self.job.leases) })
    }
}
