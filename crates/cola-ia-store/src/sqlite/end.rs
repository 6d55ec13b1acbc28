//! What holders of leases say: longer, and the ends.

use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{self, EndAnswer};
use cola_ia_core::job::{Ending, JobState, LeaseToken, RetryPolicy, Sign};
use cola_ia_core::store::{End, EndRefused, Ended, ErrorKind, LEASES_MAX, LeaseLost, Report, StoreError};
use rusqlite::Connection;

use super::effects::case::{Cases, Records};
use super::job_row::{self, EndedAttempt, JobRow, Moves};
use super::lease::{Find, UNKNOWN, cost_told_late};
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
        let mut cases = Cases::new(scope.connection);
        let mut moves = Moves::new(scope, at)?;
        let answers = ends
            .iter()
            .map(|end| end_one(scope.connection, &mut find, &mut cases, &mut moves, end, policy))
            .collect::<Result<_, _>>()?;
        moves.count(policy.pause_after)?;
        Ok(answers)
    };
    ended().map_err(|cause| scope.error(&cause))
}

fn end_one(
    connection: &Connection,
    find: &mut Find<'_>,
    cases: &mut Cases<'_>,
    moves: &mut Moves<'_>,
    End { token, ending, report }: &End,
    policy: &RetryPolicy,
) -> rusqlite::Result<Result<Ended, EndRefused>> {
    let Some(attempt) = find.attempt(*token)? else { return Ok(Err(EndRefused::LeaseLost(UNKNOWN))) };
    let before = attempt.ended;
    if before.is_none_or(|(outcome, _)| outcome != ending.outcome()) && !attempt.job.job.is_held_by(*token) {
        let lost = attempt.late(connection, word(*ending))?;
        count_late(connection, moves, attempt.row, attempt.job.source, report)?;
        return Ok(Err(EndRefused::LeaseLost(lost)));
    }
    let row = attempt.row;
    let mut read = cases.of_run(attempt.job, Records::Leave)?;
    let ledger = cases.ledger_of(&read, moves.at, policy)?;
    let answer = ledger.end(&mut read.case, *token, *ending, before.map(|(outcome, _)| outcome));
    read.write_effects(moves.at, &mut moves.sums, None)?;
    let outcome = match (answer, before) {
        (Ok(EndAnswer::Now(outcome)), _) => outcome,
        (Ok(EndAnswer::Before), Some((_, ended))) => {
            // The ledger ends an attempt that it holds: what it cost is told afterwards.
            count_late(connection, moves, row, read.row.source, report)?;
            return Ok(Ok(ended));
        }
        (Ok(EndAnswer::Before) | Err(effect::EndRefused::LeaseLost), _) => {
            return Ok(Err(EndRefused::LeaseLost(UNKNOWN)));
        }
        (Err(effect::EndRefused::Unresolved), _) => {
            return Ok(Err(EndRefused::Unresolved(read.case.open().map(|effect| effect.name.clone()).collect())));
        }
    };
    let job = read.case.job;
    let ended = job_row::ended(&job);
    let JobRow { event, source, .. } = read.row;
    moves.signs.hear(source, event, Sign::of(*ending, report.error_class.as_deref()));
    moves.job(JobState::Running, &JobRow { job, ..read.row }, None, Some(report))?;
    moves.sums.attempt(moves.at, source, report);
    moves.attempt(EndedAttempt { attempt: row, outcome, ended, report: Some(report) })?;
    Ok(Ok(ended))
}

/// Counts what an attempt that has ended before cost: it was paid all the same. In the day of its end, as any other.
fn count_late(
    connection: &Connection,
    moves: &mut Moves<'_>,
    attempt: i64,
    source: i64,
    report: &Report,
) -> rusqlite::Result<()> {
    if let Some((late, ended_at)) = cost_told_late(connection, attempt, report)? {
        moves.sums.attempt(ended_at.unwrap_or(moves.at), source, &late);
    }
    Ok(())
}

/// What it tried to say, for the record.
fn word(ending: Ending) -> &'static str {
    match ending {
        Ending::Done => "complete",
        Ending::Failed { .. } => "fail",
        Ending::Later { .. } | Ending::Released => "release",
    }
}
