//! Answers to orders, as they are kept with their ops.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::job::JobState;
use cola_ia_core::store::{Ended, OrderRefused};

/// Numbers of one answer: what kind, the state's place in [`JobState::ALL`], when due.
const ANSWER: usize = 3;

pub(crate) fn packed(answers: &[Result<Ended, OrderRefused>]) -> Vec<i64> {
    answers.iter().flat_map(pack).collect()
}

/// `None`: we did not write them.
pub(crate) fn unpacked(numbers: &[i64]) -> Option<Vec<Result<Ended, OrderRefused>>> {
    numbers.chunks_exact(ANSWER).map(unpack).collect()
}

fn pack(answer: &Result<Ended, OrderRefused>) -> [i64; ANSWER] {
    let place = |state: JobState| JobState::ALL.iter().position(|known| *known == state).unwrap_or_default() as i64;
    match answer {
        Ok(Ended { state, due_at: None }) => [0, place(*state), 0],
        Ok(Ended { state, due_at: Some(due) }) => [1, place(*state), due.as_micros()],
        Err(OrderRefused::State(state)) => [2, place(*state), 0],
        Err(OrderRefused::Missing) => [3, 0, 0],
        Err(OrderRefused::ContentGone) => [4, 0, 0],
        Err(OrderRefused::EffectsOpen) => [5, 0, 0],
        Err(OrderRefused::EffectAbandoned) => [6, 0, 0],
    }
}

fn unpack(numbers: &[i64]) -> Option<Result<Ended, OrderRefused>> {
    let state = *JobState::ALL.get(numbers[1] as usize)?;
    Some(match numbers[0] {
        0 => Ok(Ended { state, due_at: None }),
        1 => Ok(Ended { state, due_at: Some(Timestamp::from_micros(numbers[2])) }),
        2 => Err(OrderRefused::State(state)),
        3 => Err(OrderRefused::Missing),
        4 => Err(OrderRefused::ContentGone),
        5 => Err(OrderRefused::EffectsOpen),
        6 => Err(OrderRefused::EffectAbandoned),
        _ => return None,
    })
}
