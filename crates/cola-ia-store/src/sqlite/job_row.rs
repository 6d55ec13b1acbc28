//! Jobs as the moves of the core see them, in their rows.

use std::borrow::Cow;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::job::{Job, JobState, Lease, LeaseToken, Outcome};
use cola_ia_core::store::{
    ERROR_CLASS_MAX_BYTES, ERROR_MAX_BYTES, Ended, RESOURCE_ID_MAX_BYTES, RESULT_MAX_BYTES, Report, fitting, last_bytes,
};
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::counters::Tally;
use super::row;
use super::rows::Rows;
use super::writer::Scope;

/// What of a job's row its moves read and write.
#[derive(Debug, Clone)]
pub(super) struct JobRow {
    pub(super) event: i64,
    /// The row of its source.
    pub(super) source: i64,
    pub(super) job: Job,
    /// Leases of its run so far, counted or not: the newest attempt's number.
    pub(super) leases: u32,
}

/// The columns of [`JobRow::of`], of `jobs j`.
pub(super) const COLUMNS: &str =
    "j.event, j.state, j.run, j.attempts, j.crashes, j.due_at, j.lease, j.lease_until, j.reason, j.leases, \
     j.source";

impl JobRow {
    /// From [`COLUMNS`], the first of which is at `first`.
    pub(super) fn of(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        let word = row.get_ref(first + 1)?.as_str()?;
        let state = JobState::from_word(word).ok_or_else(|| row::unexpected("state", word))?;
        let token: Option<[u8; 18]> = row.get(first + 6)?;
        let until = row::maybe_time(row, first + 7)?;
        let lease = token.zip(until).map(|(token, until)| Lease { token: LeaseToken(token), until });
        let due_at = row::maybe_time(row, first + 5)?.filter(|_| state == JobState::Pending);
        let reason = match row.get_ref(first + 8)?.as_str()? {
            "" => Cow::Borrowed(""),
            reason => Cow::Owned(reason.to_owned()),
        };
        let (run, attempts, crashes) = (row.get(first + 2)?, row.get(first + 3)?, row.get(first + 4)?);
        let job = Job { state, run, attempts, crashes, due_at, lease, reason };
        Ok(Self { event: row.get(first)?, source: row.get(first + 10)?, job, leases: row.get(first + 9)? })
    }

    pub(super) fn find(connection: &Connection, event: i64) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM jobs j WHERE j.event = ?1"))?
            .query_row([event], |row| Self::of(row, 0))
            .optional()
    }
}

/// A job that moved.
#[derive(Debug)]
pub(super) struct Moved<'a> {
    pub(super) from: JobState,
    pub(super) to: JobRow,
    /// Who holds it now.
    pub(super) worker: &'a str,
    /// What its worker tells of it.
    pub(super) report: Option<&'a Report>,
}

/// Writes jobs that moved, and counts them.
pub(super) fn write(scope: &Scope<'_>, moved: &[Moved<'_>], at: Timestamp) -> rusqlite::Result<()> {
    let head = "WITH moved (event, state, run, attempts, crashes, due_at, lease, lease_until, reason, leases, worker,
                changed_at, resource_id, result) AS (VALUES ";
    let tail = ") UPDATE OR FAIL jobs SET state = m.state, run = m.run, attempts = m.attempts, crashes = m.crashes,
                due_at = m.due_at, lease = m.lease, lease_until = m.lease_until, reason = m.reason, leases = m.leases,
                worker = m.worker, changed_at = m.changed_at, resource_id = coalesce(m.resource_id, jobs.resource_id),
                result = coalesce(m.result, jobs.result) FROM moved m WHERE jobs.event = m.event";
    let mut update = Rows::new(scope.connection, head, "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", tail)?;
    update.execute(moved, |row, Moved { to: JobRow { event, job, leases, .. }, worker, report, .. }| {
        row.bind(*event)?;
        row.bind(job.state.as_str())?;
        row.bind(job.run)?;
        row.bind(job.attempts)?;
        row.bind(job.crashes)?;
        row.bind(job.due_at.map(Timestamp::as_micros))?;
        row.bind(job.lease.map(|lease| lease.token.0))?;
        row.bind(job.lease.map(|lease| lease.until.as_micros()))?;
        row.bind(&*job.reason)?;
        row.bind(*leases)?;
        row.bind((!worker.is_empty()).then_some(*worker))?;
        row.bind(at.as_micros())?;
        row.bind(report.and_then(|report| cut(report.resource_id.as_deref(), RESOURCE_ID_MAX_BYTES)))?;
        row.bind(report.and_then(|report| cut(report.result.as_deref(), RESULT_MAX_BYTES)))
    })?;
    let mut tally = Tally::default();
    for Moved { from, to, .. } in moved {
        tally.job_moves(to.source, *from, to.job.state);
    }
    tally.write(scope.connection, at, scope.fold_after)
}

/// An attempt that ended.
#[derive(Debug)]
pub(super) struct EndedAttempt<'a> {
    pub(super) token: LeaseToken,
    pub(super) outcome: Outcome,
    /// Where it left its job.
    pub(super) ended: Ended,
    /// What its worker tells of it.
    pub(super) report: Option<&'a Report>,
}

/// Ends attempts whose leases their jobs no longer have.
pub(super) fn end_attempts(
    connection: &Connection,
    attempts: &[EndedAttempt<'_>],
    at: Timestamp,
) -> rusqlite::Result<()> {
    let head =
        "WITH ended (lease, ended_at, outcome, to_state, to_due, exit_code, signal, error_class, error, cost_micros,
                tokens_in, tokens_out, model, stdout, stderr) AS (VALUES ";
    let tail = ") UPDATE OR FAIL attempts SET ended_at = e.ended_at, outcome = e.outcome, to_state = e.to_state,
                to_due = e.to_due, exit_code = e.exit_code, signal = e.signal, error_class = e.error_class,
                error = e.error, cost_micros = e.cost_micros, tokens_in = e.tokens_in, tokens_out = e.tokens_out,
                model = e.model, stdout = e.stdout, stderr = e.stderr FROM ended e WHERE attempts.lease = e.lease";
    let mut update = Rows::new(connection, head, "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", tail)?;
    let silent = Report::default();
    update.execute(attempts, |row, attempt| {
        let report = attempt.report.unwrap_or(&silent);
        row.bind(attempt.token.0)?;
        row.bind(at.as_micros())?;
        row.bind(attempt.outcome.as_str())?;
        row.bind(attempt.ended.state.as_str())?;
        row.bind(attempt.ended.due_at.map(Timestamp::as_micros))?;
        row.bind(report.exit_code)?;
        row.bind(report.signal)?;
        row.bind(cut(report.error_class.as_deref(), ERROR_CLASS_MAX_BYTES))?;
        row.bind(cut(report.error.as_deref(), ERROR_MAX_BYTES))?;
        row.bind(report.cost_micros)?;
        row.bind(report.tokens_in)?;
        row.bind(report.tokens_out)?;
        row.bind(cut(report.model.as_deref(), ERROR_CLASS_MAX_BYTES))?;
        row.bind(output(&report.stdout))?;
        row.bind(output(&report.stderr))
    })?;
    Ok(())
}

fn cut(text: Option<&str>, max_bytes: usize) -> Option<String> {
    text.map(|text| fitting(text, max_bytes))
}

fn output(bytes: &[u8]) -> Option<&[u8]> {
    (!bytes.is_empty()).then(|| last_bytes(bytes))
}

/// What is answered of a job that moved.
pub(super) fn ended(job: &Job) -> Ended {
    Ended { state: job.state, due_at: job.due_at }
}
