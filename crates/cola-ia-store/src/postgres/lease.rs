//! Attempts by their leases.

use std::collections::HashMap;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::job::{JobState, LeaseToken, Outcome};
use cola_ia_core::store::{ERROR_CLASS_MAX_BYTES, Ended, LeaseLost, Report};
use tokio_postgres::Row;

use super::error::Fault;
use super::job_row::{self, JobRow};
use super::row::{Columns as _, unexpected};
use super::sql::params;
use super::tx::Tx;
use crate::common::attempt::{beyond, cut};

/// The answer to a lease that nobody gave.
pub(super) const UNKNOWN: LeaseLost = LeaseLost { superseded_by: None };

/// The attempt that a lease belongs to.
pub(super) struct Attempt {
    pub(super) row: i64,
    pub(super) event: i64,
    run: u32,
    number: u32,
    /// How it ended, and where that left its job.
    pub(super) ended: Option<(Outcome, Ended)>,
    ended_at: Option<Timestamp>,
    /// What it cost, as far as is known.
    cost: Report,
    /// The last that it said after it had lost its lease.
    late: Option<String>,
    is_changed: bool,
}

/// Attempts, and their jobs, which are locked: nobody else says anything of them meanwhile. What calls of one transaction say of
/// them is kept here until it is written, and the next call sees it.
pub(super) struct Held {
    attempts: HashMap<LeaseToken, Attempt>,
    pub(super) jobs: HashMap<i64, JobRow>,
}

/// Finds the attempts of these leases. Those that nobody gave are left out.
pub(super) async fn find(tx: &Tx, leases: &[LeaseToken]) -> Result<Held, Fault> {
    if leases.is_empty() {
        return Ok(Held { attempts: HashMap::new(), jobs: HashMap::new() });
    }
    let leases: Vec<&[u8]> = leases.iter().map(|token| &token.0[..]).collect();
    let lock = format!(
        "SELECT {} FROM jobs j WHERE j.event = ANY (ARRAY(SELECT a.event FROM attempts a WHERE a.lease = ANY($1)))
         ORDER BY j.event FOR UPDATE",
        job_row::COLUMNS
    );
    let select = "SELECT a.attempt, a.event, a.run, a.number, a.outcome, a.to_state, a.to_due, a.ended_at, a.cost_micros,
             a.tokens_in, a.tokens_out, a.model, a.late, a.lease, EXISTS (SELECT 1 FROM effects x WHERE x.event = a.event)
         FROM attempts a WHERE a.lease = ANY($1)";
    let leases = params![leases];
    // Both go to the server at once; the second one looks when the first has its locks.
    let (locked, rows) = tokio::try_join!(tx.query(&lock, leases), tx.query(select, leases))?;
    let mut jobs = HashMap::with_capacity(locked.len());
    for row in locked {
        let job = JobRow::of(&row, 0)?;
        jobs.insert(job.event, job);
    }
    let mut attempts = HashMap::with_capacity(rows.len());
    for row in rows {
        let attempt = Attempt::of(&row)?;
        let job = jobs.get_mut(&attempt.event).ok_or_else(|| unexpected("job", "none"))?;
        job.has_effects = row.read(14)?;
        attempts.insert(job_row::token(row.read(13)?)?, attempt);
    }
    Ok(Held { attempts, jobs })
}

impl Attempt {
    fn of(row: &Row) -> Result<Self, Fault> {
        let (outcome, state): (Option<&str>, Option<&str>) = (row.read(4)?, row.read(5)?);
        let ended = match (outcome, state) {
            (Some(outcome), Some(state)) => Some((
                Outcome::from_word(outcome).ok_or_else(|| unexpected("outcome", outcome))?,
                Ended {
                    state: JobState::from_word(state).ok_or_else(|| unexpected("state", state))?,
                    due_at: row.maybe_time(6)?,
                },
            )),
            _ => None,
        };
        let (cost_micros, tokens_in, tokens_out) = (row.read(8)?, row.read(9)?, row.read(10)?);
        Ok(Self {
            row: row.read(0)?,
            event: row.read(1)?,
            run: row.count(2)?,
            number: row.count(3)?,
            ended,
            ended_at: row.maybe_time(7)?,
            cost: Report { cost_micros, tokens_in, tokens_out, model: row.read(11)?, ..Report::default() },
            late: row.read(12)?,
            is_changed: false,
        })
    }
}

impl Held {
    /// The attempt of this lease, and its job. `None` for a lease that nobody gave.
    pub(super) fn attempt(&self, token: LeaseToken) -> Result<Option<(&Attempt, &JobRow)>, Fault> {
        let Some(attempt) = self.attempts.get(&token) else { return Ok(None) };
        let job = self.jobs.get(&attempt.event).ok_or_else(|| unexpected("job", "none"))?;
        Ok(Some((attempt, job)))
    }

    /// The attempt has ended, as its worker says.
    pub(super) fn end(&mut self, token: LeaseToken, at: Timestamp, outcome: Outcome, to: JobRow, report: &Report) {
        if let Some(attempt) = self.attempts.get_mut(&token) {
            attempt.ended = Some((outcome, job_row::ended(&to.job)));
            attempt.ended_at = Some(at);
            let Report { cost_micros, tokens_in, tokens_out, .. } = *report;
            let model = cut(report.model.as_deref(), ERROR_CLASS_MAX_BYTES);
            attempt.cost = Report { cost_micros, tokens_in, tokens_out, model, ..Report::default() };
        }
        self.jobs.insert(to.event, to);
    }

    /// Keeps that the attempt spoke when its lease was lost. The first word counts, and any word more than a heartbeat.
    pub(super) fn late(&mut self, token: LeaseToken, said: &str) -> LeaseLost {
        let Some(attempt) = self.attempts.get_mut(&token) else { return UNKNOWN };
        let silent = attempt.late.is_none() || (attempt.late.as_deref() == Some("extend") && said != "extend");
        if silent {
            attempt.late = Some(said.to_owned());
            attempt.is_changed = true;
        }
        let job = self.jobs.get(&attempt.event);
        let newest = job.filter(|job| job.job.run == attempt.run && job.leases != attempt.number);
        LeaseLost { superseded_by: newest.map(|job| job.leases) }
    }

    /// Keeps what an attempt cost, told after its end: what was told before stays. Answers what is to be counted, and when it
    /// ended.
    pub(super) fn cost_told_late(&mut self, token: LeaseToken, report: &Report) -> Option<(Report, Option<Timestamp>)> {
        let attempt = self.attempts.get_mut(&token)?;
        let late = beyond(&attempt.cost, report)?;
        let known = &mut attempt.cost;
        known.cost_micros = known.cost_micros.or(late.cost_micros);
        known.tokens_in = known.tokens_in.or(late.tokens_in);
        known.tokens_out = known.tokens_out.or(late.tokens_out);
        known.model.clone_from(&late.model);
        attempt.is_changed = true;
        Some((late, attempt.ended_at))
    }

    /// Writes what was said late. It is sent behind the attempts that end.
    pub(super) async fn write(&self, tx: &Tx) -> Result<(), Fault> {
        let changed: Vec<&Attempt> = self.attempts.values().filter(|attempt| attempt.is_changed).collect();
        if changed.is_empty() {
            return Ok(());
        }
        let number =
            |of: fn(&Report) -> Option<i64>| changed.iter().map(|attempt| of(&attempt.cost)).collect::<Vec<_>>();
        tx.execute(
            "UPDATE attempts SET late = u.late, cost_micros = u.cost_micros, tokens_in = u.tokens_in,
                 tokens_out = u.tokens_out, model = u.model
             FROM unnest($1, $2, $3, $4, $5, $6) AS u (attempt, late, cost_micros, tokens_in, tokens_out, model)
             WHERE attempts.attempt = u.attempt",
            params![
                changed.iter().map(|attempt| attempt.row).collect::<Vec<_>>(),
                changed.iter().map(|attempt| attempt.late.as_deref()).collect::<Vec<_>>(),
                number(|cost| cost.cost_micros),
                number(|cost| cost.tokens_in),
                number(|cost| cost.tokens_out),
                changed.iter().map(|attempt| attempt.cost.model.as_deref()).collect::<Vec<_>>(),
            ],
        )
        .await
        .map(drop)
    }
}
