//! What holders of leases say: longer, and the ends.

use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::job::{Draw, Ending, JobState, LeaseToken, Outcome, RetryPolicy, Setback};
use cola_ia_core::store::{
    ERROR_CLASS_MAX_BYTES, ERROR_MAX_BYTES, End, Ended, ErrorKind, LEASES_MAX, LeaseLost, RESOURCE_ID_MAX_BYTES,
    RESULT_MAX_BYTES, Report, StoreError, fitting, last_bytes,
};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::job_row::{self, JobRow};
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
    let one = |token: &LeaseToken| -> rusqlite::Result<Result<Timestamp, LeaseLost>> {
        let Some(attempt) = Attempt::find(scope.connection, *token)? else {
            return Ok(Err(LeaseLost { superseded_by: None }));
        };
        let JobRow { job, leases } = JobRow::read(scope.connection, attempt.event)?;
        let Some(lease) = job.extend(at, *token, length).ok().and_then(|job| job.lease) else {
            return attempt.late(scope.connection, "extend", leases).map(Err);
        };
        scope
            .connection
            .prepare_cached("UPDATE jobs SET lease_until = ?2 WHERE event = ?1")?
            .execute((attempt.event, lease.until.as_micros()))?;
        Ok(Ok(lease.until))
    };
    leases.iter().map(one).collect::<rusqlite::Result<_>>().map_err(|cause| scope.error(&cause))
}

/// See [`Store::end`](cola_ia_core::store::Store::end).
pub(super) fn end(
    scope: &Scope<'_>,
    ends: &[End],
    policy: &RetryPolicy,
) -> Result<Vec<Result<Ended, LeaseLost>>, StoreError> {
    let at = scope.clock.now();
    ends.iter()
        .map(|end| one(scope.connection, at, end, policy))
        .collect::<rusqlite::Result<_>>()
        .map_err(|cause| scope.error(&cause))
}

fn one(
    connection: &Connection,
    at: Timestamp,
    end: &End,
    policy: &RetryPolicy,
) -> rusqlite::Result<Result<Ended, LeaseLost>> {
    let Some(attempt) = Attempt::find(connection, end.token)? else {
        return Ok(Err(LeaseLost { superseded_by: None }));
    };
    if let Some((outcome, ended)) = attempt.ended
        && outcome == outcome_of(end.ending)
    {
        return Ok(Ok(ended));
    }
    let JobRow { job, leases } = JobRow::read(connection, attempt.event)?;
    let moved = job.end(at, end.token, end.ending, policy, Draw::of(end.token));
    let Ok((job, outcome)) = moved else {
        return attempt.late(connection, word(end.ending), leases).map(Err);
    };
    let ended = job_row::ended(&job);
    job_row::write(connection, attempt.event, &JobRow { job, leases }, "", at)?;
    job_row::end_attempt(connection, end.token, outcome, ended, at)?;
    report(connection, &attempt, &end.report)?;
    Ok(Ok(ended))
}

fn outcome_of(ending: Ending) -> Outcome {
    match ending {
        Ending::Done => Outcome::Done,
        Ending::Failed { setback: Setback::TimedOut, .. } => Outcome::TimedOut,
        Ending::Failed { .. } => Outcome::Error,
        Ending::Later { .. } | Ending::Released => Outcome::Released,
    }
}

/// What it tried to say, for the record.
fn word(ending: Ending) -> &'static str {
    match ending {
        Ending::Done => "complete",
        Ending::Failed { .. } => "fail",
        Ending::Later { .. } | Ending::Released => "release",
    }
}

/// Keeps what the worker tells of its attempt, and of the job what the job made.
fn report(connection: &Connection, attempt: &Attempt, report: &Report) -> rusqlite::Result<()> {
    if *report == Report::default() {
        return Ok(());
    }
    let cut = |text: &Option<String>, max| text.as_deref().map(|text| fitting(text, max));
    let output = |bytes: &[u8]| (!bytes.is_empty()).then(|| last_bytes(bytes).to_owned());
    connection
        .prepare_cached(
            "UPDATE attempts SET exit_code = ?2, signal = ?3, error_class = ?4, error = ?5, cost_micros = ?6,
             tokens_in = ?7, tokens_out = ?8, model = ?9, stdout = ?10, stderr = ?11 WHERE attempt = ?1",
        )?
        .execute(params![
            attempt.row,
            report.exit_code,
            report.signal,
            cut(&report.error_class, ERROR_CLASS_MAX_BYTES),
            cut(&report.error, ERROR_MAX_BYTES),
            report.cost_micros,
            report.tokens_in,
            report.tokens_out,
            cut(&report.model, ERROR_CLASS_MAX_BYTES),
            output(&report.stdout),
            output(&report.stderr),
        ])?;
    if report.resource_id.is_some() || report.result.is_some() {
        connection
            .prepare_cached(
                "UPDATE jobs SET resource_id = coalesce(?2, resource_id), result = coalesce(?3, result)
                 WHERE event = ?1",
            )?
            .execute(params![
                attempt.event,
                cut(&report.resource_id, RESOURCE_ID_MAX_BYTES),
                cut(&report.result, RESULT_MAX_BYTES)
            ])?;
    }
    Ok(())
}

/// The attempt that a lease belongs to.
struct Attempt {
    row: i64,
    event: i64,
    run: u32,
    number: u32,
    ended: Option<(Outcome, Ended)>,
}

impl Attempt {
    fn find(connection: &Connection, token: LeaseToken) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(
                "SELECT attempt, event, run, number, outcome, to_state, to_due FROM attempts WHERE lease = ?1",
            )?
            .query_row([token.0], |row| {
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
                Ok(Self { row: row.get(0)?, event: row.get(1)?, run: row.get(2)?, number: row.get(3)?, ended })
            })
            .optional()
    }

    /// Records that it spoke when its lease was lost. The first time counts, with what it wanted.
    fn late(&self, connection: &Connection, said: &str, newest: u32) -> rusqlite::Result<LeaseLost> {
        connection
            .prepare_cached("UPDATE attempts SET late = ?2 WHERE attempt = ?1 AND (late IS NULL OR late = 'extend')")?
            .execute((self.row, said))?;
        let run: u32 = connection
            .prepare_cached("SELECT run FROM jobs WHERE event = ?1")?
            .query_row([self.event], |row| row.get(0))?;
        let superseded = run == self.run && newest != self.number;
        Ok(LeaseLost { superseded_by: superseded.then_some(newest) })
    }
}
