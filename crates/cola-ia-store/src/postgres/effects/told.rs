//! What workers say of a try, and whom they speak for.

use cola_ia_core::effect::{Case, Evidence, Ledger, ReportAnswer, TryRef};
use cola_ia_core::job::{Outcome, RetryPolicy};
use cola_ia_core::store::EffectRef;

use super::super::error::Fault;
use super::super::job_row::{self, JobRow, Moves};
use super::super::sql::params;
use super::super::tx::Tx;
use super::super::{preview, restored};
use super::case::{self, Records};
use super::holder;
use crate::common::effect::{kept_evidence, kept_note};

/// Evidence counts from any lease; where the lease is not known, the job that its worker names leads there.
pub(super) async fn evidence(
    tx: &Tx,
    of: &EffectRef,
    evidence: &Evidence,
    policy: &RetryPolicy,
    record: fn(&Ledger, &mut Case, &TryRef, &Evidence) -> ReportAnswer,
) -> Result<ReportAnswer, Fault> {
    let (job, run, attempt) = match holder::lock(tx, of.lease).await? {
        Some(holder) => (holder.job, holder.run, Some((of.lease, holder.attempt))),
        None => match named(tx, of).await? {
            Some((job, run)) => (job, run, None),
            None => return Ok(ReportAnswer::LeaseLost),
        },
    };
    let event = job.event;
    let (mut read, erased, restored_at) = tokio::try_join!(
        case::of_run_and(tx, job, run, Records::Of(&of.name)),
        is_erased(tx, event),
        restored::restored_at(tx),
    )?;
    let evidence = kept_evidence(evidence, erased);
    let one = TryRef { lease: of.lease, run, name: of.name.clone(), number: of.number };
    let answer = record(&Ledger::new(tx.now, restored_at, *policy), &mut read.case, &one, &evidence);
    let mut moves = Moves::new(tx.now);
    read.write(tx, &mut moves, attempt, Outcome::Released).await?;
    moves.write(tx, policy.pause_after).await?;
    Ok(answer)
}

/// Any other word counts only from the lease that holds; from another one it stays with its attempt.
pub(super) async fn word(
    tx: &Tx,
    of: &EffectRef,
    note: Option<&str>,
    policy: &RetryPolicy,
    word: &str,
    change: impl Fn(&Ledger, &mut Case, &TryRef) -> ReportAnswer,
) -> Result<ReportAnswer, Fault> {
    let Some(holder) = holder::lock(tx, of.lease).await? else { return Ok(ReportAnswer::LeaseLost) };
    if !holder.job.job.is_held_by(of.lease) {
        holder.late(tx, word).await?;
        return Ok(ReportAnswer::LeaseLost);
    }
    let (attempt, run) = (holder.attempt, holder.run);
    let mut read = case::of_run_and(tx, holder.job, run, Records::Leave).await?;
    let ledger = case::ledger_of(tx, std::slice::from_ref(&read), tx.now, policy).await?;
    let one = TryRef { lease: of.lease, run, name: of.name.clone(), number: of.number };
    let answer = change(&ledger, &mut read.case, &one);
    let mut moves = Moves::new(tx.now);
    read.write(tx, &mut moves, Some((of.lease, attempt)), Outcome::Released).await?;
    if answer == ReportAnswer::Recorded {
        read.put_note(tx, run, &of.name, kept_note(note).as_deref()).await?;
    }
    moves.write(tx, policy.pause_after).await?;
    Ok(answer)
}

/// The job that a worker names, locked, and the run.
async fn named(tx: &Tx, of: &EffectRef) -> Result<Option<(JobRow, u32)>, Fault> {
    let Some(job) = &of.job else { return Ok(None) };
    let Some(event) = preview::find(tx, job.source.as_str(), &job.id).await? else { return Ok(None) };
    Ok(job_row::find(tx, event).await?.map(|row| (row, job.run)))
}

/// Whether nothing that is said of this event is kept any more.
pub(super) async fn is_erased(tx: &Tx, event: i64) -> Result<bool, Fault> {
    let found = tx.maybe("SELECT 1 FROM events WHERE seq = $1 AND erased_at IS NOT NULL", params![event]).await?;
    Ok(found.is_some())
}
