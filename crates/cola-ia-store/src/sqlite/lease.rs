//! Attempts by their leases.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::job::{JobState, LeaseToken, Outcome};
use cola_ia_core::store::{Ended, LeaseLost, Report};
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Row};

use super::job_row::{self, JobRow};
use super::row;
use crate::common::attempt::beyond;

/// The answer to a lease that nobody gave.
pub(super) const UNKNOWN: LeaseLost = LeaseLost { superseded_by: None };

/// The attempt that a lease belongs to, and its job.
pub(super) struct Attempt {
    pub(super) row: i64,
    pub(super) run: u32,
    number: u32,
    pub(super) ended: Option<(Outcome, Ended)>,
    pub(super) job: JobRow,
}

/// Finds attempts by their leases.
pub(super) struct Find<'c>(CachedStatement<'c>);

impl<'c> Find<'c> {
    pub(super) fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        let sql = format!(
            "SELECT a.attempt, a.run, a.number, a.outcome, a.to_state, a.to_due, {}
             FROM attempts a LEFT JOIN jobs j ON j.event = a.event WHERE a.lease = ?1",
            job_row::COLUMNS
        );
        connection.prepare_cached(&sql).map(Self)
    }

    /// `None` for a lease that nobody gave.
    pub(super) fn attempt(&mut self, token: LeaseToken) -> rusqlite::Result<Option<Attempt>> {
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
    pub(super) fn late(&self, connection: &Connection, said: &str) -> rusqlite::Result<LeaseLost> {
        connection
            .prepare_cached("UPDATE attempts SET late = ?2 WHERE attempt = ?1 AND (late IS NULL OR late = 'extend')")?
            .execute((self.row, said))?;
        let superseded = self.job.job.run == self.run && self.job.leases != self.number;
        Ok(LeaseLost { superseded_by: superseded.then_some(self.job.leases) })
    }
}

/// Keeps what an attempt cost, told after its end: what was told before stays. Answers what is to be counted, and when it ended.
pub(super) fn cost_told_late(
    connection: &Connection,
    attempt: i64,
    report: &Report,
) -> rusqlite::Result<Option<(Report, Option<Timestamp>)>> {
    let Report { cost_micros, tokens_in, tokens_out, .. } = *report;
    if (cost_micros, tokens_in, tokens_out) == (None, None, None) {
        return Ok(None);
    }
    let (known, ended_at) = connection
        .prepare_cached("SELECT cost_micros, tokens_in, tokens_out, model, ended_at FROM attempts WHERE attempt = ?1")?
        .query_row([attempt], |row| {
            let (cost_micros, tokens_in, tokens_out, model) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            let known = Report { cost_micros, tokens_in, tokens_out, model, ..Report::default() };
            Ok((known, row::maybe_time(row, 4)?))
        })?;
    let Some(late) = beyond(&known, report) else { return Ok(None) };
    connection
        .prepare_cached(
            "UPDATE attempts SET cost_micros = coalesce(cost_micros, ?2), tokens_in = coalesce(tokens_in, ?3),
                 tokens_out = coalesce(tokens_out, ?4), model = ?5 WHERE attempt = ?1",
        )?
        .execute((attempt, late.cost_micros, late.tokens_in, late.tokens_out, &late.model))?;
    Ok(Some((late, ended_at)))
}
