//! What a person says of an effect that is held.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{Decision, Evidence, Micros, SettleAnswer};
use cola_ia_core::job::{Outcome, RetryPolicy};
use cola_ia_core::store::{EffectDecision, OpId, StoreError};

use super::super::job_row::{JobRow, Moves};
use super::super::ops::{Call, Numbers, digest};
use super::super::row;
use super::super::writer::Scope;
use super::case::{Cases, Records};
use super::told;

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
    let word = match &decision.decision {
        Decision::Found(found) => Decision::Found(found.iter().map(|one| told::kept(one, erased)).collect()),
        word @ (Decision::Absent | Decision::Abandon) => word.clone(),
    };
    let mut cases = Cases::new(connection);
    let mut read = cases.of_run(job, Records::Of(&decision.name))?;
    let answer = cases.ledger(at, policy)?.settle(&mut read.case, &decision.name, decision.number, &word);
    let mut moves = Moves::new(scope, at)?;
    read.write(&mut moves, None, Outcome::Released)?;
    if answer == SettleAnswer::Recorded && !erased {
        let note = told::kept_note(decision.note.as_deref());
        read.put_note(read.row.job.run, &decision.name, note.as_deref())?;
    }
    moves.count(policy.pause_after)?;
    Ok(Some(answer))
}

fn digest_of(decision: &EffectDecision) -> i64 {
    let (kind, found) = match &decision.decision {
        Decision::Found(found) => ("found", found.as_slice()),
        Decision::Absent => ("absent", &[][..]),
        Decision::Abandon => ("abandon", &[][..]),
    };
    let found: Vec<u8> = found.iter().flat_map(|one| digest_of_evidence(one).to_le_bytes()).collect();
    digest(&[
        &decision.event.0.to_le_bytes(),
        decision.name.as_str().as_bytes(),
        &decision.number.to_le_bytes(),
        kind.as_bytes(),
        &found,
        decision.note.as_deref().unwrap_or_default().as_bytes(),
    ])
}

/// What is missing is no byte, and what is there one byte at least.
fn digest_of_evidence(evidence: &Evidence) -> i64 {
    let text = |text: &Option<String>| text.as_ref().map_or_else(Vec::new, |text| [b"=", text.as_bytes()].concat());
    let number = |number: Option<i64>| number.map_or_else(Vec::new, |number| number.to_le_bytes().to_vec());
    digest(&[
        &text(&evidence.resource_id),
        &text(&evidence.result),
        &number(evidence.cost.map(Micros::get)),
        &number(evidence.tokens_in),
        &number(evidence.tokens_out),
        &text(&evidence.model),
    ])
}

fn packed(answer: SettleAnswer) -> [i64; 2] {
    match answer {
        SettleAnswer::Recorded => [0, 0],
        SettleAnswer::Wait { until } => [1, until.as_micros()],
        SettleAnswer::Void => [2, 0],
        SettleAnswer::Missing => [3, 0],
    }
}

fn unpacked(mut numbers: Numbers) -> rusqlite::Result<SettleAnswer> {
    let (kind, until) = (numbers.take()?, numbers.take()?);
    Ok(match kind {
        0 => SettleAnswer::Recorded,
        1 => SettleAnswer::Wait { until: Timestamp::from_micros(until) },
        2 => SettleAnswer::Void,
        3 => SettleAnswer::Missing,
        other => return Err(row::unexpected("answer", &other.to_string())),
    })
}
