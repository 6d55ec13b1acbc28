//! Steps of erasing as they are recorded.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::intake::{DeliveryNumber, EventNumber};
use cola_ia_core::store::Erased;

pub(crate) fn answer_of(erased: &Erased) -> [i64; 4] {
    let next = erased.next.map_or(-1, |next| next.0);
    [erased.event.0, erased.erased_at.as_micros(), erased.cancelled.into(), next]
}

/// What [`answer_of`] wrote.
pub(crate) fn answer_from(numbers: &[i64]) -> Option<Erased> {
    let [event, erased_at, cancelled, next] = *numbers else { return None };
    Some(Erased {
        event: EventNumber(event),
        erased_at: Timestamp::from_micros(erased_at),
        cancelled: cancelled != 0,
        gone: false,
        next: (next >= 0).then_some(DeliveryNumber(next)),
    })
}
