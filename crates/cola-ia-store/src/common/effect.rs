//! What stores keep of effects besides what the ledger sees, and how they are shown.

use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{Case, Decision, Effect, Evidence, Ledger, Micros, Policy, SettleAnswer};
use cola_ia_core::job::{LeaseToken, RetryPolicy};
use cola_ia_core::store::{
    EFFECT_NOTE_MAX_BYTES, ERROR_CLASS_MAX_BYTES, EffectDecision, EffectView, RESOURCE_ID_MAX_BYTES, RESULT_MAX_BYTES,
    fitting,
};

use super::digest::digest;

/// What of an effect's row the ledger does not see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) row: i64,
    pub(crate) key: String,
    pub(crate) changed_at: Timestamp,
    pub(crate) note: Option<String>,
    pub(crate) replays: u32,
    /// Whose lease got its recorded result last.
    pub(crate) replayed_to: Option<LeaseToken>,
}

/// Makes of a case what is shown of it.
pub(crate) fn see(case: &mut Case, restored_at: Option<Timestamp>) {
    if let Some(restored_at) = restored_at {
        // Neither the instant nor how often jobs are tried matters to what is seen.
        Ledger::new(restored_at, Some(restored_at), RetryPolicy::default()).seen(case);
    }
}

/// An effect as it is shown.
pub(crate) fn view((kept, effect): (Kept, Effect)) -> EffectView {
    let Kept { key, changed_at, note, replays, .. } = kept;
    EffectView { key, changed_at, note, replays, effect }
}

/// Bytes of the results in an effect's records: what a page of effects is bounded by.
pub(crate) fn weight(effect: &Effect) -> usize {
    effect.records.iter().map(|record| record.evidence.result.as_ref().map_or(0, String::len)).sum()
}

/// Whether the effect's own row is another one.
pub(crate) fn moved(before: &Effect, effect: &Effect) -> bool {
    let row = |effect: &Effect| (effect.state, effect.reason, effect.look_first, effect.alarm);
    row(before) != row(effect)
}

/// A length of time from a column.
pub(crate) fn span(micros: i64) -> Duration {
    Duration::from_micros(micros.unsigned_abs())
}

/// A length of time as it is kept: whole microseconds, and not more than a column holds.
pub(crate) fn kept_span(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

/// A policy as it is kept, so that the same one asked for again is the same one.
pub(crate) fn kept_policy(policy: &Policy) -> Policy {
    let whole = |length| span(kept_span(length));
    Policy { key_ttl: policy.key_ttl.map(whole), settle: whole(policy.settle), ..policy.clone() }
}

/// Evidence with texts that fit. Of an event that was erased nothing is kept but that it happened, and what it cost.
pub(crate) fn kept_evidence(evidence: &Evidence, erased: bool) -> Evidence {
    let cut = |text: &Option<String>, most| text.as_deref().map(|text| fitting(text, most));
    let told = |text: &Option<String>, most| if erased { None } else { cut(text, most) };
    Evidence {
        resource_id: told(&evidence.resource_id, RESOURCE_ID_MAX_BYTES),
        result: told(&evidence.result, RESULT_MAX_BYTES),
        model: cut(&evidence.model, ERROR_CLASS_MAX_BYTES),
        cost: evidence.cost,
        tokens_in: evidence.tokens_in,
        tokens_out: evidence.tokens_out,
    }
}

/// What is kept of a decision of an event that was erased or not.
pub(crate) fn kept_decision(decision: &Decision, erased: bool) -> Decision {
    match decision {
        Decision::Found(found) => Decision::Found(found.iter().map(|one| kept_evidence(one, erased)).collect()),
        word @ (Decision::Absent | Decision::Abandon) => word.clone(),
    }
}

/// A note that fits.
pub(crate) fn kept_note(note: Option<&str>) -> Option<String> {
    note.map(|note| fitting(note, EFFECT_NOTE_MAX_BYTES))
}

/// The digest of a decision, for its op.
pub(crate) fn digest_of(decision: &EffectDecision) -> i64 {
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

/// The answer to a decision, for its op.
pub(crate) fn packed(answer: SettleAnswer) -> [i64; 2] {
    match answer {
        SettleAnswer::Recorded => [0, 0],
        SettleAnswer::Wait { until } => [1, until.as_micros()],
        SettleAnswer::Void => [2, 0],
        SettleAnswer::Missing => [3, 0],
    }
}

/// The answer that was [`packed`]; `None` for what never was.
pub(crate) fn unpacked(kind: i64, until: i64) -> Option<SettleAnswer> {
    match kind {
        0 => Some(SettleAnswer::Recorded),
        1 => Some(SettleAnswer::Wait { until: Timestamp::from_micros(until) }),
        2 => Some(SettleAnswer::Void),
        3 => Some(SettleAnswer::Missing),
        _ => None,
    }
}
