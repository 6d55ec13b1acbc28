//! Handings-over of events, as they are listed and followed.

use cola_ia_core::store::{DeliverySummary, Followed as FollowedDeliveries};

use super::shape::shape;
use super::values::{Instant, RefusalWord, SourceName, TypeName, VerdictWord};

shape! {
    /// One handing-over of an event: what entered, was repeated, in conflict, or refused.
    pub struct Delivery of DeliverySummary {
        /// Its number.
        delivery = number: i64,
        /// What the gate said.
        verdict: VerdictWord,
        /// When it was received.
        received_at: Instant,
        /// Its event's number; `null` for a refused one.
        event: Option<i64>,
        /// Who sent it; `null` for a refused one that named nobody.
        source: Option<SourceName>,
        /// The event's id; `null` for a refused one.
        id: Option<String>,
        /// The type, as this delivery says.
        r#type = event_type: Option<TypeName>,
        /// When it happened at the provider, as this delivery says.
        time: Option<Instant>,
        /// The number of the conflict that it belongs to.
        conflict: Option<u32>,
        /// Whether it was a duplicate by its signed bytes, under another id.
        replayed: bool,
        /// Why it was refused.
        code: Option<RefusalWord>,
        /// What the refusal is about.
        detail: Option<String>,
        /// Where it was read, for a conflict or a refused one.
        origin: Option<String>,
        /// How many it stands for: 1, or more for refused ones that are only counted.
        count: u64,
    }
}

shape! {
    /// What arrived, in the order in which it was committed.
    pub struct Followed of FollowedDeliveries {
        /// The deliveries, oldest first.
        items: Vec<Delivery>,
        /// Where to go on.
        cursor: String,
        /// Whether more is there already: ask again at once.
        more: bool,
        /// The store is behind the cursor: it was replaced by an older one. It is followed from its present end.
        rewound: bool,
    }
}
