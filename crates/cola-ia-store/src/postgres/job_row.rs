//! Jobs as the moves of the core see them, in their rows.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use cola_ia_core::clock::Timestamp;
use cola_ia_core::job::{Job, JobState, Lease, LeaseToken, Outcome};
use cola_ia_core::store::{
    ERROR_CLASS_MAX_BYTES, ERROR_MAX_BYTES, Ended, RESOURCE_ID_MAX_BYTES, RESULT_MAX_BYTES, Report,
};
use tokio_postgres::Row;

use super::counters::Tally;
use super::error::Fault;
use super::row::{Columns as _, unexpected};
use super::sources::Signs;
use super::sql::{micros, params};
use super::sums::Sums;
use super::tx::Tx;
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
///
/// In a statement that waited for a lock they are the newest, but for the last one: that is as it was when the statement began.
/// Whoever locks reads it again ([`find_many`]).
pub(super) const COLUMNS: &str = "j.event, j.state, j.run, j.attempts, j.crashes, j.due_at, j.lease, j.lease_until, j.reason, j.leases, \
     j.source, EXISTS (SELECT 1 FROM effects x WHERE x.event = j.event)";

/// Number of [`COLUMNS`].
pub(super) const COLUMNS_LEN: usize = 12;

impl JobRow {
    /// From [`COLUMNS`], the first of which is at `first`.
    pub(super) fn of(row: &Row, first: usize) -> Result<Self, Fault> {
        let word: &str = row.read(first + 1)?;
        let state = JobState::from_word(word).ok_or_else(|| unexpected("state", word))?;
        let token = row.read::<Option<&[u8]>>(first + 6)?.map(token).transpose()?;
        let until = row.maybe_time(first + 7)?;
        let lease = token.zip(until).map(|(token, until)| Lease { token, until });
        let due_at = row.maybe_time(first + 5)?.filter(|_| state == JobState::Pending);
        let reason = match row.read::<&str>(first + 8)? {
            "" => Cow::Borrowed(""),
            reason => Cow::Owned(reason.to_owned()),
        };
        let (run, attempts, crashes) = (row.count(first + 2)?, row.count(first + 3)?, row.count(first + 4)?);
        let job = Job { state, run, attempts, crashes, due_at, lease, reason };
        Ok(Self {
            event: row.read(first)?,
            source: row.read(first + 10)?,
            job,
            leases: row.count(first + 9)?,
            has_effects: row.read(first + 11)?,
        })
    }
}

/// A lease as it is stored.
pub(super) fn token(bytes: &[u8]) -> Result<LeaseToken, Fault> {
    bytes.try_into().map(LeaseToken).map_err(|_| unexpected("lease", &bytes.len().to_string()))
}

/// Locks the job and reads it.
pub(super) async fn find(tx: &Tx, event: i64) -> Result<Option<JobRow>, Fault> {
    Ok(find_many(tx, &[event]).await?.remove(&event))
}

/// Locks these jobs in the order of their events, and reads them. Those that are not there are left out.
pub(super) async fn find_many(tx: &Tx, events: &[i64]) -> Result<HashMap<i64, JobRow>, Fault> {
    if events.is_empty() {
        return Ok(HashMap::new());
    }
    let lock = format!("SELECT {COLUMNS} FROM jobs j WHERE j.event = ANY($1) ORDER BY j.event FOR UPDATE");
    let locking = params![events];
    // Both go to the server at once; the second one looks when the first has its locks.
    let (rows, with_effects) = tokio::try_join!(tx.query(&lock, locking), with_effects(tx, events))?;
    let mut jobs = HashMap::with_capacity(rows.len());
    for row in rows {
        let mut job = JobRow::of(&row, 0)?;
        job.has_effects = with_effects.contains(&job.event);
        jobs.insert(job.event, job);
    }
    Ok(jobs)
}

/// Which of these jobs have effects.
async fn with_effects(tx: &Tx, events: &[i64]) -> Result<HashSet<i64>, Fault> {
    let rows = tx.query("SELECT DISTINCT event FROM effects WHERE event = ANY($1)", params![events]).await?;
    rows.iter().map(|row| row.read(0)).collect()
}

/// Jobs that move and attempts that end, in one transaction. Nothing is written before [`Moves::write`], and then everything in
/// few statements.
pub(super) struct Moves<'a> {
    pub(super) at: Timestamp,
    /// By their events: a job that moves twice is written once.
    jobs: BTreeMap<i64, Moved>,
    attempts: Vec<EndedAttempt<'a>>,
    /// Attempts of leases that their jobs no longer have, and that their workers do not tell of.
    lost: Vec<(LeaseToken, Outcome, Ended)>,
    pub(super) tally: Tally,
    /// Money that is told or held.
    pub(super) sums: Sums,
    /// What ends of attempts say about their sources.
    pub(super) signs: Signs,
}

/// A job where it is from now on.
struct Moved {
    job: Job,
    leases: u32,
    worker: Option<String>,
    resource_id: Option<String>,
    result: Option<String>,
}

impl<'a> Moves<'a> {
    pub(super) fn new(at: Timestamp) -> Self {
        let (tally, sums, signs) = (Tally::default(), Sums::default(), Signs::default());
        Self { at, jobs: BTreeMap::new(), attempts: Vec::new(), lost: Vec::new(), tally, sums, signs }
    }

    /// The job is `to` from now on, in the hands of this worker if it runs.
    pub(super) fn job(&mut self, from: JobState, to: &JobRow, worker: Option<&str>, report: Option<&Report>) {
        let told = |text: fn(&Report) -> &Option<String>, max_bytes| {
            report.and_then(|report| cut(text(report).as_deref(), max_bytes))
        };
        let resource_id = told(|report| &report.resource_id, RESOURCE_ID_MAX_BYTES);
        let result = told(|report| &report.result, RESULT_MAX_BYTES);
        let before = self.jobs.remove(&to.event);
        let (known_id, known_result) = before.map(|moved| (moved.resource_id, moved.result)).unwrap_or_default();
        let moved = Moved {
            job: to.job.clone(),
            leases: to.leases,
            worker: worker.map(str::to_owned),
            resource_id: resource_id.or(known_id),
            result: result.or(known_result),
        };
        self.jobs.insert(to.event, moved);
        self.tally.job_moves(to.source, from, to.job.state);
    }

    /// The attempt of a lease that its job no longer has.
    pub(super) fn attempt(&mut self, over: EndedAttempt<'a>) {
        self.attempts.push(over);
    }

    /// The attempt of a lease that its job no longer has, and that its worker does not tell of. A job may run without one:
    /// that of the article's own database.
    pub(super) fn lose(&mut self, token: LeaseToken, outcome: Outcome, ended: Ended) {
        self.lost.push((token, outcome, ended));
    }

    /// Moves a job otherwise than its worker says. One that holds it has lost its lease, and its attempt ends so.
    pub(super) fn put(&mut self, row: &JobRow, job: Job, outcome: Outcome) -> Ended {
        let ended = ended(&job);
        let leases = if job.run == row.job.run { row.leases } else { 0 };
        self.job(row.job.state, &JobRow { job, leases, ..*row }, None, None);
        if let Some(lease) = row.job.lease {
            self.lose(lease.token, outcome, ended);
        }
        ended
    }

    /// Writes all of it and counts what moved. The statements go to the server together, and it runs them in this order: money
    /// comes behind the signs, and everybody meets there last.
    pub(super) async fn write(self, tx: &Tx, pause_after: Option<u32>) -> Result<(), Fault> {
        let sources = async {
            self.signs.write(tx, pause_after).await?;
            self.sums.write(tx).await
        };
        tokio::try_join!(
            write_jobs(tx, self.at, &self.jobs),
            write_attempts(tx, self.at, &self.attempts),
            write_lost(tx, self.at, &self.lost),
            sources,
            self.tally.write(tx),
        )?;
        Ok(())
    }
}

async fn write_jobs(tx: &Tx, at: Timestamp, jobs: &BTreeMap<i64, Moved>) -> Result<(), Fault> {
    if jobs.is_empty() {
        return Ok(());
    }
    let events: Vec<i64> = jobs.keys().copied().collect();
    let number = |of: fn(&Moved) -> i64| jobs.values().map(of).collect::<Vec<i64>>();
    let maybe = |of: fn(&Moved) -> Option<i64>| jobs.values().map(of).collect::<Vec<Option<i64>>>();
    let states: Vec<&str> = jobs.values().map(|moved| moved.job.state.as_str()).collect();
    let reasons: Vec<&str> = jobs.values().map(|moved| &*moved.job.reason).collect();
    let text = |of: fn(&Moved) -> Option<&str>| jobs.values().map(of).collect::<Vec<Option<&str>>>();
    let leases: Vec<Option<&[u8]>> =
        jobs.values().map(|moved| moved.job.lease.as_ref().map(|lease| &lease.token.0[..])).collect();
    tx.execute(
        "UPDATE jobs SET state = u.state, run = u.run, attempts = u.attempts, crashes = u.crashes, due_at = u.due_at,
             lease = u.lease, lease_until = u.lease_until, reason = u.reason, leases = u.leases, worker = u.worker,
             resource_id = coalesce(u.resource_id, jobs.resource_id), result = coalesce(u.result, jobs.result),
             changed_at = $1
         FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) AS u
             (event, state, run, attempts, crashes, due_at, lease, lease_until, reason, leases, worker, resource_id, result)
         WHERE jobs.event = u.event",
        params![
            at.as_micros(),
            events,
            states,
            number(|moved| i64::from(moved.job.run)),
            number(|moved| i64::from(moved.job.attempts)),
            number(|moved| i64::from(moved.job.crashes)),
            maybe(|moved| micros(moved.job.due_at)),
            leases,
            maybe(|moved| micros(moved.job.lease.as_ref().map(|lease| lease.until))),
            reasons,
            number(|moved| i64::from(moved.leases)),
            text(|moved| moved.worker.as_deref()),
            text(|moved| moved.resource_id.as_deref()),
            text(|moved| moved.result.as_deref()),
        ],
    )
    .await
    .map(drop)
}

async fn write_attempts(tx: &Tx, at: Timestamp, attempts: &[EndedAttempt<'_>]) -> Result<(), Fault> {
    if attempts.is_empty() {
        return Ok(());
    }
    let silent = Report::default();
    let reports: Vec<&Report> = attempts.iter().map(|over| over.report.unwrap_or(&silent)).collect();
    let rows: Vec<i64> = attempts.iter().map(|over| over.attempt).collect();
    let outcomes: Vec<&str> = attempts.iter().map(|over| over.outcome.as_str()).collect();
    let states: Vec<&str> = attempts.iter().map(|over| over.ended.state.as_str()).collect();
    let dues: Vec<Option<i64>> = attempts.iter().map(|over| micros(over.ended.due_at)).collect();
    let number = |of: fn(&Report) -> Option<i64>| reports.iter().map(|report| of(report)).collect::<Vec<_>>();
    let text = |of: fn(&Report) -> &Option<String>, max_bytes: usize| {
        reports.iter().map(|report| cut(of(report).as_deref(), max_bytes)).collect::<Vec<_>>()
    };
    let bytes = |of: fn(&Report) -> &[u8]| reports.iter().map(|report| output(of(report))).collect::<Vec<_>>();
    tx.execute(
        "UPDATE attempts SET ended_at = $1, outcome = u.outcome, to_state = u.to_state, to_due = u.to_due,
             exit_code = u.exit_code, signal = u.signal, error_class = u.error_class, error = u.error,
             cost_micros = u.cost_micros, tokens_in = u.tokens_in, tokens_out = u.tokens_out, model = u.model,
             stdout = u.stdout, stderr = u.stderr
         FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) AS u
             (attempt, outcome, to_state, to_due, exit_code, signal, error_class, error, cost_micros, tokens_in,
              tokens_out, model, stdout, stderr)
         WHERE attempts.attempt = u.attempt",
        params![
            at.as_micros(),
            rows,
            outcomes,
            states,
            dues,
            number(|report| report.exit_code.map(i64::from)),
            number(|report| report.signal.map(i64::from)),
            text(|report| &report.error_class, ERROR_CLASS_MAX_BYTES),
            text(|report| &report.error, ERROR_MAX_BYTES),
            number(|report| report.cost_micros),
            number(|report| report.tokens_in),
            number(|report| report.tokens_out),
            text(|report| &report.model, ERROR_CLASS_MAX_BYTES),
            bytes(|report| &report.stdout),
            bytes(|report| &report.stderr),
        ],
    )
    .await
    .map(drop)
}

async fn write_lost(tx: &Tx, at: Timestamp, lost: &[(LeaseToken, Outcome, Ended)]) -> Result<(), Fault> {
    if lost.is_empty() {
        return Ok(());
    }
    let leases: Vec<&[u8]> = lost.iter().map(|(token, ..)| &token.0[..]).collect();
    let outcomes: Vec<&str> = lost.iter().map(|(_, outcome, _)| outcome.as_str()).collect();
    let states: Vec<&str> = lost.iter().map(|(.., ended)| ended.state.as_str()).collect();
    let dues: Vec<Option<i64>> = lost.iter().map(|(.., ended)| micros(ended.due_at)).collect();
    tx.execute(
        "UPDATE attempts SET ended_at = $1, outcome = u.outcome, to_state = u.to_state, to_due = u.to_due
         FROM unnest($2, $3, $4, $5) AS u (lease, outcome, to_state, to_due) WHERE attempts.lease = u.lease",
        params![at.as_micros(), leases, outcomes, states, dues],
    )
    .await
    .map(drop)
}
