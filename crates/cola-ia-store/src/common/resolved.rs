//! Decisions about conflicts as they are recorded.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::JobState;
use cola_ia_core::store::{Decision, ResolveRequest, Resolved};
use cola_ia_core::verdict::Verdict;

use super::digest::digest;

pub(crate) fn digest_of(request: &ResolveRequest) -> i64 {
    let (run, id) = match &request.decision {
        Decision::Keep => (0, ""),
        Decision::Accept { run } => (u8::from(*run), ""),
        Decision::As(id) => (0, id.as_str()),
    };
    let conflicts: Vec<u8> = request.conflicts.iter().flat_map(|number| number.to_le_bytes()).collect();
    digest(&[
        &request.event.0.to_le_bytes(),
        &conflicts,
        request.decision.kind().as_str().as_bytes(),
        &[run],
        id.as_bytes(),
        request.note.as_deref().unwrap_or_default().as_bytes(),
    ])
}

/// The state as its place in [`JobState::ALL`]; conflicts last, because they are many.
pub(crate) fn answer_of(resolved: &Resolved) -> Vec<i64> {
    let (verdict, event) = resolved.entered.map_or((-1, 0), |(verdict, event)| (verdict as i64, event.0));
    let state = JobState::ALL.iter().position(|state| *state == resolved.state).unwrap_or_default() as i64;
    let mut numbers = vec![
        resolved.decided_at.as_micros(),
        resolved.revision.into(),
        state,
        resolved.run.into(),
        resolved.rerun.into(),
        verdict,
        event,
    ];
    numbers.extend(resolved.conflicts.iter().map(|number| i64::from(*number)));
    numbers
}

/// What [`answer_of`] wrote.
pub(crate) fn answer_from(numbers: &[i64]) -> Option<Resolved> {
    let ([decided_at, revision, state, run, rerun, verdict, event], conflicts) = numbers.split_first_chunk()?;
    let entered = Verdict::ALL.into_iter().find(|known| *known as i64 == *verdict);
    Some(Resolved {
        decided_at: Timestamp::from_micros(*decided_at),
        conflicts: conflicts.iter().map(|number| *number as u32).collect(),
        revision: *revision as u32,
        state: *JobState::ALL.get(*state as usize)?,
        run: *run as u32,
        rerun: *rerun != 0,
        entered: entered.map(|verdict| (verdict, EventNumber(*event))),
    })
}
