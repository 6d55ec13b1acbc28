//! What a person says of an effect that is held.

use cola_ia_core::effect::SettleAnswer;
use cola_ia_core::job::{Outcome, RetryPolicy};
use cola_ia_core::store::{EffectDecision, OpId};

use super::super::error::Fault;
use super::super::job_row::{self, Moves};
use super::super::ops::Call;
use super::super::row::unexpected;
use super::super::tx::Tx;
use super::case::{self, Records};
use super::told;
use crate::common::effect::{digest_of, kept_decision, kept_note, packed, unpacked};

/// See [`Store::effect_decide`](cola_ia_core::store::Store::effect_decide).
pub(in super::super) async fn decide(
    tx: &Tx,
    op: OpId,
    decision: &EffectDecision,
    policy: &RetryPolicy,
) -> Result<Option<SettleAnswer>, Fault> {
    let call = Call { op, verb: "effect_decide", request: digest_of(decision) };
    if let Some(mut first) = call.first_answer(tx).await? {
        let (kind, until) = (first.take()?, first.take()?);
        let answer = unpacked(kind, until).ok_or_else(|| unexpected("answer", &kind.to_string()))?;
        return Ok(Some(answer));
    }
    let Some(answer) = settle(tx, decision, policy).await? else { return Ok(None) };
    call.record(tx, &packed(answer)).await?;
    Ok(Some(answer))
}

async fn settle(tx: &Tx, decision: &EffectDecision, policy: &RetryPolicy) -> Result<Option<SettleAnswer>, Fault> {
    let Some(job) = job_row::find(tx, decision.event.0).await? else { return Ok(None) };
    let (run, erased) = (job.job.run, told::is_erased(tx, job.event).await?);
    let word = kept_decision(&decision.decision, erased);
    let mut read = case::of_run_and(tx, job, run, Records::Of(&decision.name)).await?;
    let ledger = case::ledger(tx, tx.now, policy).await?;
    let answer = ledger.settle(&mut read.case, &decision.name, decision.number, &word);
    let mut moves = Moves::new(tx.now);
    read.write(tx, &mut moves, None, Outcome::Released).await?;
    if answer == SettleAnswer::Recorded && !erased {
        let note = kept_note(decision.note.as_deref());
        read.put_note(tx, run, &decision.name, note.as_deref()).await?;
    }
    moves.write(tx, policy.pause_after).await?;
    Ok(Some(answer))
}
