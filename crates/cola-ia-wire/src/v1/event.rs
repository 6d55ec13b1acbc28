//! One event with all that happened to its identity.

use cola_ia_core::store::{
    ConflictView, DecisionView, DeliveryView, EventHistory, PrunedDeliveries as PrunedOfEvent, RevisionView,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::attempt::Attempt;
use super::effect::Effect;
use super::job::Job;
use super::shape::shape;
use super::values::{DecisionWord, FingerprintHex, Instant, VerdictWord};

shape! {
    /// One event with all that happened to its identity. It has the fields of its job and these.
    pub struct Event of EventHistory {
        /// The job and the identity.
        #[serde(flatten)]
        job: Job,
        /// The content that workers get, the newest revision; `null` once pruned or erased.
        text: Option<String>,
        /// SHA-256 of that content.
        fingerprint: FingerprintHex,
        /// When the job changed last; `null` while it is as it was born.
        changed_at: Option<Instant>,
        /// While the job is running: who holds its lease.
        worker: Option<String>,
        /// What the job gave, JSON as text.
        result: Option<String>,
        /// The number of the newest revision: 1 is what entered, and each accepted content is one more.
        revision: u32,
        /// The revisions before it, by number; at most 100.
        revisions: Vec<Revision>,
        /// How often an accepted content was delivered again, pruned deliveries included.
        duplicates: u64,
        /// Those of them that were pruned.
        pruned: Option<PrunedDeliveries>,
        /// The other contents that came under this identity, by number; at most 100.
        conflicts: Vec<ConflictOfEvent>,
        /// The latest deliveries after the first, newest first; at most 100.
        deliveries: Vec<DeliveryOfEvent>,
        /// The latest attempts of the job, newest first; at most 100.
        attempt_log = attempts: Vec<Attempt>,
        /// The latest effects of the job, newest first; at most 100.
        effects: Vec<Effect>,
    }
}

/// The events that were found, sorted by source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Events {
    /// The events.
    pub events: Vec<Event>,
}

shape! {
    /// A content of an event that a newer revision has replaced.
    pub struct Revision of RevisionView {
        /// 1 is the content that entered; accepted ones follow.
        number: u32,
        /// SHA-256 of the content.
        fingerprint: FingerprintHex,
        /// When it was accepted; when the event entered for revision 1.
        accepted_at: Instant,
        /// The conflict that it was; `null` for revision 1.
        conflict: Option<u32>,
        /// The content; `null` once pruned or erased.
        text: Option<String>,
    }
}

shape! {
    /// Repeated deliveries of an event that were pruned.
    pub struct PrunedDeliveries of PrunedOfEvent {
        /// So many.
        count: u64,
        /// When the first of them came.
        first_at: Instant,
        /// When the last of them came.
        last_at: Instant,
    }
}

shape! {
    /// Another content under a known identity.
    pub struct ConflictOfEvent of ConflictView {
        /// From 1 within the event.
        number: u32,
        /// SHA-256 of the other content.
        fingerprint: FingerprintHex,
        /// The other content; `null` once pruned or erased.
        text: Option<String>,
        /// How often it came.
        count: u64,
        /// When it came first.
        first_at: Instant,
        /// When it came last.
        last_at: Instant,
        /// What was decided about it, oldest first; empty: nothing yet.
        decisions: Vec<ConflictDecision>,
    }
}

shape! {
    /// A decision about a conflict as it was recorded.
    pub struct ConflictDecision of DecisionView {
        /// What was decided.
        decision = kind: DecisionWord,
        /// When.
        decided_at: Instant,
        /// Why, in a person's words.
        note: Option<String>,
        /// The event that the content became; only for `as`.
        entered: Option<i64>,
    }
}

shape! {
    /// One delivery that did not make its event.
    pub struct DeliveryOfEvent of DeliveryView {
        /// Its number.
        number: i64,
        /// What the gate said.
        verdict: VerdictWord,
        /// When it was received.
        received_at: Instant,
        /// When it happened at the provider, as this delivery says.
        time: Option<Instant>,
        /// The number of the conflict that it belongs to.
        conflict: Option<u32>,
        /// Whether it was a duplicate by its signed bytes, under another id.
        replayed: bool,
        /// Where it was read, for a conflict.
        origin: Option<String>,
    }
}
