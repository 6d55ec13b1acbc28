//! What holders of leases say: longer, and the ends.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::job::{Draw, Ending, JobState, LeaseToken, Outcome, RetryPolicy};
use cola_ia_core::store::{End, Ended, ErrorKind, LEASES_MAX, LeaseLost, StoreError};
use rusqlite::Connection;

use super::job_row::{self, EndedAttempt, JobRow, Moved};
use super::row;
use super::rows::Rows;
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
    let extended = || -> rusqlite::Result<Vec<Result<Timestamp, LeaseLost>>> {
        let attempts = attempts(connection, leases.iter().copied())?;
        let one = |token: &LeaseToken| -> rusqlite::Result<Result<Timestamp, LeaseLost>> {
            let Some(attempt) = attempts.get(token) else { return Ok(Err(UNKNOWN)) };
            let Some(lease) = attempt.job.job.extend(at, *token, length).ok().and_then(|job| job.lease) else {
                return attempt.late(connection, "extend").map(Err);
            };
            connection
                .prepare_cached("UPDATE jobs SET lease_until = ?2 WHERE event = ?1")?
                .execute((attempt.job.event, lease.until.as_micros()))?;
            Ok(Ok(lease.until))
        };
        leases.iter().map(one).collect()
    };
    extended().map_err(|cause| scope.error(&cause))
}

/// See [`Store::end`](cola_ia_core::store::Store::end).
pub(super) fn end(
    scope: &Scope<'_>,
    ends: &[End],
    policy: &RetryPolicy,
) -> Result<Vec<Result<Ended, LeaseLost>>, StoreError> {
    let at = scope.clock.now();
    let ended = || -> rusqlite::Result<Vec<Result<Ended, LeaseLost>>> {
        let mut answers = Vec::with_capacity(ends.len());
        // A lease that is named twice is heard twice, the second time with what the first one did.
        let mut rest = ends;
        while !rest.is_empty() {
            let mut named = HashSet::new();
            let once = rest.iter().take_while(|end| named.insert(end.token)).count();
            let (now, later) = rest.split_at(once);
            answers.extend(end_each_once(scope, now, policy, at)?);
            rest = later;
        }
        Ok(answers)
    };
    ended().map_err(|cause| scope.error(&cause))
}

fn end_each_once(
    scope: &Scope<'_>,
    ends: &[End],
    policy: &RetryPolicy,
    at: Timestamp,
) -> rusqlite::Result<Vec<Result<Ended, LeaseLost>>> {
    let connection = scope.connection;
    let attempts = attempts(connection, ends.iter().map(|end| end.token))?;
    let mut answers = Vec::with_capacity(ends.len());
    let (mut moved, mut over) = (Vec::new(), Vec::new());
    for End { token, ending, report } in ends {
        let Some(attempt) = attempts.get(token) else {
            answers.push(Err(UNKNOWN));
            continue;
        };
        if let Some((outcome, ended)) = attempt.ended
            && outcome == ending.outcome()
        {
            answers.push(Ok(ended));
            continue;
        }
        let JobRow { event, source, job, leases } = &attempt.job;
        let Ok((job, outcome)) = job.end(at, *token, *ending, policy, Draw::of(*token)) else {
            answers.push(Err(attempt.late(connection, word(*ending))?));
            continue;
        };
        let ended = job_row::ended(&job);
        answers.push(Ok(ended));
        let to = JobRow { event: *event, source: *source, job, leases: *leases };
        moved.push(Moved { from: JobState::Running, to, worker: "", report: Some(report) });
        over.push(EndedAttempt { token: *token, outcome, ended, report: Some(report) });
    }
    job_row::write(scope, &moved, at)?;
    job_row::end_attempts(connection, &over, at)?;
    Ok(answers)
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

/// The attempts of leases; what nobody gave is missing.
fn attempts(
    connection: &Connection,
    tokens: impl ExactSizeIterator<Item = LeaseToken>,
) -> rusqlite::Result<HashMap<LeaseToken, Attempt>> {
    let tokens: Vec<LeaseToken> = tokens.collect();
    let mut found = HashMap::with_capacity(tokens.len());
    let head = format!(
        "SELECT a.lease, a.attempt, a.run, a.number, a.outcome, a.to_state, a.to_due, {}
         FROM attempts a LEFT JOIN jobs j ON j.event = a.event WHERE a.lease IN (VALUES ",
        job_row::COLUMNS
    );
    let mut select = Rows::new(connection, &head, "(?)", ")")?;
    select.query(
        &tokens,
        |row, token| row.bind(token.0),
        |row| {
            let (outcome, state): (Option<String>, Option<String>) = (row.get(4)?, row.get(5)?);
            let ended = match (outcome.as_deref(), state.as_deref()) {
                (Some(outcome), Some(state)) => Some((
                    Outcome::from_word(outcome).ok_or_else(|| row::unexpected("outcome", outcome))?,
                    Ended {
                        state: JobState::from_word(state).ok_or_else(|| row::unexpected("state", state))?,
                        due_at: row::maybe_time(row, 6)?,
                    },
                )),
                _ => None,
            };
            let job = JobRow::of(row, 7)?;
            let attempt = Attempt { row: row.get(1)?, run: row.get(2)?, number: row.get(3)?, ended, job };
            found.insert(LeaseToken(row.get(0)?), attempt);
            Ok(())
        },
    )?;
    Ok(found)
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
