//! Jobs as the moves of the core see them, in their rows.

use std::borrow::Cow;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::job::{Job, JobState, Lease, LeaseToken, Outcome};
use cola_ia_core::store::{
    ERROR_CLASS_MAX_BYTES, ERROR_MAX_BYTES, Ended, RESOURCE_ID_MAX_BYTES, RESULT_MAX_BYTES, Report,
};
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Row, params};

use super::counters::{Append as _, Tally};
use super::row;
use super::sources::{Append as _, Signs};
use super::sums::{self, Sums};
use super::writer::Scope;
pub(super) use crate::common::attempt::{EndedAttempt, ended};
use crate::common::attempt::{cut, output};

/// What of a job's row its moves read and write.
#[derive(Debug, Clone)]
pub(super) struct JobRow {
    pub(super) event: i64,
    /// The row of its source.
    pub(super) source: i64,
    pub(super) job: Job,
    /// Leases of its run so far, counted or not: the newest attempt's number.
    pub(super) leases: u32,
    /// Whether it has effects, of whatever run: most jobs have none, and need not be asked for them.
    pub(super) has_effects: bool,
}

/// The columns of [`JobRow::of`], of `jobs j`.
pub(super) const COLUMNS: &str = "j.event, j.state, j.run, j.attempts, j.crashes, j.due_at, j.lease, j.lease_until, j.reason, j.leases, \
     j.source, EXISTS (SELECT 1 FROM effects x WHERE x.event = j.event)";

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
        Ok(Self {
            event: row.get(first)?,
            source: row.get(first + 10)?,
            job,
            leases: row.get(first + 9)?,
            has_effects: row.get(first + 11)?,
        })
    }

    pub(super) fn find(connection: &Connection, event: i64) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM jobs j WHERE j.event = ?1"))?
            .query_row([event], |row| Self::of(row, 0))
            .optional()
    }
}

/// Writes jobs that move and attempts that end, in one transaction, and counts the jobs.
pub(super) struct Moves<'a> {
    connection: &'a Connection,
    fold_after: u32,
    pub(super) at: Timestamp,
    tally: Tally,
    /// Money that is told or held.
    pub(super) sums: Sums,
    /// What ends of attempts say about their sources.
    pub(super) signs: Signs,
    job: CachedStatement<'a>,
    attempt: Option<CachedStatement<'a>>,
}

impl<'a> Moves<'a> {
    pub(super) fn new(scope: &Scope<'a>, at: Timestamp) -> rusqlite::Result<Self> {
        Self::on(scope.connection, scope.fold_after, at)
    }

    /// For what is written without a call.
    pub(super) fn on(connection: &'a Connection, fold_after: u32, at: Timestamp) -> rusqlite::Result<Self> {
        let job = connection.prepare_cached(
            "UPDATE jobs SET state = ?2, run = ?3, attempts = ?4, crashes = ?5, due_at = ?6, lease = ?7,
                 lease_until = ?8, reason = ?9, leases = ?10, worker = ?11, changed_at = ?12 WHERE event = ?1",
        )?;
        let (tally, sums, signs) = (Tally::default(), Sums::default(), Signs::default());
        Ok(Self { connection, fold_after, at, tally, sums, signs, job, attempt: None })
    }

    /// The job is `to` from now on, in the hands of this worker if it runs.
    pub(super) fn job(
        &mut self,
        from: JobState,
        to: &JobRow,
        worker: Option<&str>,
        report: Option<&Report>,
    ) -> rusqlite::Result<()> {
        let JobRow { event, source, job, leases, .. } = to;
        self.job.execute(params![
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
            self.at.as_micros(),
        ])?;
        // Apart: most moves tell neither, and the index of resources is left alone.
        if let Some(report) = report
            && (report.resource_id.is_some() || report.result.is_some())
        {
            self.connection
                .prepare_cached(
                    "UPDATE jobs SET resource_id = coalesce(?2, resource_id), result = coalesce(?3, result)
                     WHERE event = ?1",
                )?
                .execute(params![
                    event,
                    cut(report.resource_id.as_deref(), RESOURCE_ID_MAX_BYTES),
                    cut(report.result.as_deref(), RESULT_MAX_BYTES),
                ])?;
        }
        self.tally.job_moves(*source, from, job.state);
        Ok(())
    }

    /// The attempt of a lease that its job no longer has.
    pub(super) fn attempt(&mut self, over: EndedAttempt<'_>) -> rusqlite::Result<()> {
        let statement = match &mut self.attempt {
            Some(statement) => statement,
            none => none.insert(self.connection.prepare_cached(
                "UPDATE attempts SET ended_at = ?2, outcome = ?3, to_state = ?4, to_due = ?5, exit_code = ?6,
                     signal = ?7, error_class = ?8, error = ?9, cost_micros = ?10, tokens_in = ?11, tokens_out = ?12,
                     model = ?13, stdout = ?14, stderr = ?15 WHERE attempt = ?1",
            )?),
        };
        let silent = Report::default();
        let report = over.report.unwrap_or(&silent);
        statement.execute(params![
            over.attempt,
            self.at.as_micros(),
            over.outcome.as_str(),
            over.ended.state.as_str(),
            over.ended.due_at.map(Timestamp::as_micros),
            report.exit_code,
            report.signal,
            cut(report.error_class.as_deref(), ERROR_CLASS_MAX_BYTES),
            cut(report.error.as_deref(), ERROR_MAX_BYTES),
            report.cost_micros,
            report.tokens_in,
            report.tokens_out,
            cut(report.model.as_deref(), ERROR_CLASS_MAX_BYTES),
            output(&report.stdout),
            output(&report.stderr),
        ])?;
        Ok(())
    }

    /// The attempt of a lease that its job no longer has, and that its worker does not tell of. A job may run without one:
    /// that of the article's own database.
    pub(super) fn lose(&mut self, token: LeaseToken, outcome: Outcome, ended: Ended) -> rusqlite::Result<()> {
        let attempt = self
            .connection
            .prepare_cached("SELECT attempt FROM attempts WHERE lease = ?1")?
            .query_row([token.0], |row| row.get(0))
            .optional()?;
        match attempt {
            Some(attempt) => self.attempt(EndedAttempt { attempt, outcome, ended, report: None }),
            None => Ok(()),
        }
    }

    /// Moves a job otherwise than its worker says. One that holds it has lost its lease, and its attempt ends so.
    pub(super) fn put(&mut self, row: &JobRow, job: Job, outcome: Outcome) -> rusqlite::Result<Ended> {
        let ended = ended(&job);
        let leases = if job.run == row.job.run { row.leases } else { 0 };
        self.job(row.job.state, &JobRow { job, leases, ..*row }, None, None)?;
        if let Some(lease) = row.job.lease {
            self.lose(lease.token, outcome, ended)?;
        }
        Ok(ended)
    }

    /// Counts what moved; nothing is counted without it.
    pub(super) fn count(self, pause_after: Option<u32>) -> rusqlite::Result<()> {
        self.signs.write(self.connection, self.at, pause_after)?;
        sums::write(&self.sums, self.connection)?;
        self.tally.write(self.connection, self.at, self.fold_after)
    }
}
