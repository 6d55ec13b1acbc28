//! Letting go of what is no longer needed.

use cola_ia_core::intake::{DeliveryNumber, EventNumber};
use cola_ia_core::store;
use cola_ia_core::store::{OpId, PruneCursor, PruneRequest};

use super::shape::shape;
use super::values::{Span, hex, texts, unhex};

texts! {
    /// How far pruning has come, as the answer before said it.
    PrunePlace of PruneCursor = "a place of the answer before", read_place, |place| shown(*place).into(),
        utoipa::openapi::schema::ObjectBuilder::new();
}

fn shown(place: PruneCursor) -> String {
    match place {
        PruneCursor::Ops(OpId(op)) => format!("ops.{}", hex(&op)),
        PruneCursor::Deliveries(DeliveryNumber(number)) => format!("deliveries.{number}"),
        PruneCursor::Events(EventNumber(number)) => format!("events.{number}"),
    }
}

fn read_place(text: &str) -> Option<PruneCursor> {
    let (stage, place) = text.split_once('.')?;
    match stage {
        "ops" => unhex(place).map(OpId).map(PruneCursor::Ops),
        "deliveries" => place.parse().ok().map(DeliveryNumber).map(PruneCursor::Deliveries),
        "events" => place.parse().ok().map(EventNumber).map(PruneCursor::Events),
        _ => None,
    }
}

shape! {
    /// One step of pruning: what may go, and where to go on.
    pub struct PruneStep of PruneRequest {
        /// Texts and history of events whose job has been `done` or `cancelled` for longer than this, in microseconds; `null`:
        /// none.
        texts_micros = texts: Option<Span>,
        /// Repeated deliveries that were received longer ago than this, in microseconds; `null`: none.
        deliveries_micros = deliveries: Option<Span>,
        /// The `next` of the step before; `null`: from the beginning.
        after: Option<PrunePlace>,
    }
}

shape! {
    /// What one step let go of, or would.
    pub struct Pruned of store::Pruned {
        /// Events whose texts and history went.
        events: u64,
        /// Repeated deliveries that went; they stay counted.
        deliveries: u64,
        /// Records of calls that went.
        ops: u64,
        /// Where the next step goes on; `null`: this was the last.
        next: Option<PrunePlace>,
    }
}
