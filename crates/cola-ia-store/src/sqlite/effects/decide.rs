//! What a person says of an effect that is held.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::SettleAnswer;
use cola_ia_core::job::{Outcome, RetryPolicy};
use cola_ia_core::store::{EffectDecision, OpId, StoreError};

use super::super::job_row::{JobRow, Moves};
use super::super::ops::{Call, Numbers};
use super::super::row;
use super::super::writer::Scope;
use super::case::{Cases, Records};
use super::told;
use crate::common::effect::{self, digest_of, kept_decision, kept_note, packed};

/// See [`Store::effect_decide`](cola_ia_core::store::Store::effect_decide).
pub(in super::super) fn decide(
    scope: &Scope<'_>,
    op: OpId,
    decision: &EffectDecision,
    policy: &RetryPolicy,
) -> Result<Option<SettleAnswer>, StoreError> {
    let sqlite = |cause: rusqlite::Error| scope.error(&cause);
    let call = Call { op, verb: "effect_decide", request: digest_of(decision) };
    if let Some(first) = call.first_answer(scope)? {
        return unpacked(first).map(Some).map_err(sqlite);
    }
    let at = scope.clock.now();
    let Some(answer) = settle(scope, at, decision, policy).map_err(sqlite)? else { return Ok(None) };
    call.record(scope, at, &packed(answer))?;
    Ok(Some(answer))
}

fn settle(
    scope: &Scope<'_>,
    at: Timestamp,
    decision: &EffectDecision,
    policy: &RetryPolicy,
) -> rusqlite::Result<Option<SettleAnswer>> {
    let connection = scope.connection;
    let Some(job) = JobRow::find(connection, decision.event.0)? else { return Ok(None) };
    let erased = told::is_erased(connection, job.event)?;
    let word = kept_decision(&decision.decision, erased);
    let mut cases = Cases::new(connection);
    let mut read = cases.of_run(job, Records::Of(&decision.name))?;
    let answer = cases.ledger(at, policy)?.settle(&mut read.case, &decision.name, decision.number, &word);
    let mut moves = Moves::new(scope, at)?;
    read.write(&mut moves, None, Outcome::Released)?;
    if answer == SettleAnswer::Recorded && !erased {
        let note = kept_note(decision.note.as_deref());
        read.put_note(read.row.job.run, &decision.name, note.as_deref())?;
    }
    moves.count(policy.pause_after)?;
    Ok(Some(answer))
}

fn unpacked(mut numbers: Numbers) -> rusqlite::Result<SettleAnswer> {
    let (kind, until) = (numbers.take()?, numbers.take()?);
    effect::unpacked(kind, until).ok_or_else(|| row::unexpected("answer", &kind.to_string()))
}
