//! Steps of pruning as they are recorded.

use std::time::Duration;

use cola_ia_core::intake::{DeliveryNumber, EventNumber};
use cola_ia_core::store::{OpId, PruneCursor, PruneRequest, Pruned};

use super::digest::digest;

pub(crate) fn micros(age: Duration) -> i64 {
    i64::try_from(age.as_micros()).unwrap_or(i64::MAX)
}

pub(crate) fn digest_of(request: &PruneRequest) -> i64 {
    let age = |age: Option<Duration>| age.map_or(-1, micros).to_le_bytes();
    digest(&[&age(request.texts), &age(request.deliveries), &cursor_bytes(request.after)])
}

fn cursor_bytes(cursor: Option<PruneCursor>) -> Vec<u8> {
    match cursor {
        None => Vec::new(),
        Some(PruneCursor::Ops(OpId(op))) => [&[1], op.as_slice()].concat(),
        Some(PruneCursor::Deliveries(number)) => [&[2], number.0.to_le_bytes().as_slice()].concat(),
        Some(PruneCursor::Events(number)) => [&[3], number.0.to_le_bytes().as_slice()].concat(),
    }
}

pub(crate) fn answer_of(pruned: &Pruned) -> [i64; 6] {
    let (stage, first, second) = match pruned.next {
        None => (0, 0, 0),
        Some(PruneCursor::Ops(OpId(op))) => {
            let [first, second] = *op.as_chunks::<8>().0 else { unreachable!("an op has 16 bytes") };
            (1, i64::from_le_bytes(first), i64::from_le_bytes(second))
        }
        Some(PruneCursor::Deliveries(number)) => (2, number.0, 0),
        Some(PruneCursor::Events(number)) => (3, number.0, 0),
    };
    [pruned.events as i64, pruned.deliveries as i64, pruned.ops as i64, stage, first, second]
}

/// What [`answer_of`] wrote.
pub(crate) fn answer_from(numbers: &[i64]) -> Option<Pruned> {
    let [events, deliveries, ops, stage, first, second] = *numbers else { return None };
    let next = match stage {
        1 => {
            let mut op = [0; 16];
            op[..8].copy_from_slice(&first.to_le_bytes());
            op[8..].copy_from_slice(&second.to_le_bytes());
            Some(PruneCursor::Ops(OpId(op)))
        }
        2 => Some(PruneCursor::Deliveries(DeliveryNumber(first))),
        3 => Some(PruneCursor::Events(EventNumber(first))),
        _ => None,
    };
    Some(Pruned { events: events as u64, deliveries: deliveries as u64, ops: ops as u64, next })
}
