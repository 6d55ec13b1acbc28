//! What workers say of a try, and whom they speak for.

use cola_ia_core::effect::{Case, Evidence, Ledger, ReportAnswer, TryRef};
use cola_ia_core::job::{Outcome, RetryPolicy};
use cola_ia_core::store::{EffectRef, StoreError};
use rusqlite::Connection;

use super::super::job_row::{JobRow, Moves};
use super::super::lease::Find;
use super::super::preview;
use super::super::reader::Sight;
use super::super::writer::Scope;
use super::case::{Cases, Records};
use crate::common::effect::{kept_evidence, kept_note};

/// Evidence counts from any lease; where the lease is not known, the job that its worker names leads there.
pub(super) fn evidence(
    scope: &Scope<'_>,
    of: &EffectRef,
    evidence: &Evidence,
    policy: &RetryPolicy,
    record: fn(&Ledger, &mut Case, &TryRef, &Evidence) -> ReportAnswer,
) -> Result<ReportAnswer, StoreError> {
    let told = || -> rusqlite::Result<ReportAnswer> {
        let at = scope.clock.now();
        let connection = scope.connection;
        let (job, run, attempt) = match Find::new(connection)?.attempt(of.lease)? {
            Some(attempt) => (attempt.job, attempt.run, Some((of.lease, attempt.row))),
            None => match named(scope, of)? {
                Some((job, run)) => (job, run, None),
                None => return Ok(ReportAnswer::LeaseLost),
            },
        };
        let evidence = kept_evidence(evidence, is_erased(connection, job.event)?);
        let mut cases = Cases::new(connection);
        let mut read = cases.of_run_and(job, run, Records::Of(&of.name))?;
        let one = TryRef { lease: of.lease, run, name: of.name.clone(), number: of.number };
        let answer = record(&cases.ledger(at, policy)?, &mut read.case, &one, &evidence);
        let mut moves = Moves::new(scope, at)?;
        read.write(&mut moves, attempt, Outcome::Released)?;
        moves.count(policy.pause_after)?;
        Ok(answer)
    };
    told().map_err(|cause| scope.error(&cause))
}

/// Any other word counts only from the lease that holds; from another one it stays with its attempt.
pub(super) fn word(
    scope: &Scope<'_>,
    of: &EffectRef,
    note: Option<&str>,
    policy: &RetryPolicy,
    word: &str,
    change: impl Fn(&Ledger, &mut Case, &TryRef) -> ReportAnswer,
) -> Result<ReportAnswer, StoreError> {
    let told = || -> rusqlite::Result<ReportAnswer> {
        let at = scope.clock.now();
        let connection = scope.connection;
        let Some(attempt) = Find::new(connection)?.attempt(of.lease)? else { return Ok(ReportAnswer::LeaseLost) };
        if !attempt.job.job.is_held_by(of.lease) {
            attempt.late(connection, word)?;
            return Ok(ReportAnswer::LeaseLost);
        }
        let (row, run) = (attempt.row, attempt.run);
        let mut cases = Cases::new(connection);
        let mut read = cases.of_run(attempt.job, Records::Leave)?;
        let one = TryRef { lease: of.lease, run, name: of.name.clone(), number: of.number };
        let answer = change(&cases.ledger_of(&read, at, policy)?, &mut read.case, &one);
        let mut moves = Moves::new(scope, at)?;
        read.write(&mut moves, Some((of.lease, row)), Outcome::Released)?;
        if answer == ReportAnswer::Recorded {
            read.put_note(run, &of.name, kept_note(note).as_deref())?;
        }
        moves.count(policy.pause_after)?;
        Ok(answer)
    };
    told().map_err(|cause| scope.error(&cause))
}

/// The job that a worker names, and the run.
fn named(scope: &Scope<'_>, of: &EffectRef) -> rusqlite::Result<Option<(JobRow, u32)>> {
    let Some(job) = &of.job else { return Ok(None) };
    let sight = Sight { connection: scope.connection, slots: scope.slots };
    let Some(event) = preview::find(&sight, job.source.as_str(), &job.id)? else { return Ok(None) };
    Ok(JobRow::find(scope.connection, event)?.map(|row| (row, job.run)))
}

/// Whether nothing that is said of this event is kept any more.
pub(super) fn is_erased(connection: &Connection, event: i64) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM events WHERE seq = ?1 AND erased_at IS NOT NULL")?.exists([event])
}
