//! Other contents under known identities, as they are listed.

use cola_ia_core::store::{BothTexts, ConflictSummary};

use super::event::ConflictDecision;
use super::shape::shape;
use super::values::{FingerprintHex, Instant, SourceName, TypeName};

shape! {
    /// Another content under a known identity.
    pub struct Conflict of ConflictSummary {
        /// The event's number.
        event: i64,
        /// The event's source.
        source: SourceName,
        /// The event's id.
        id: String,
        /// The conflict's number within the event, from 1.
        conflict = number: u32,
        /// SHA-256 of the other content.
        fingerprint: FingerprintHex,
        /// The type, as the first delivery of this content says.
        r#type = event_type: Option<TypeName>,
        /// When it happened at the provider, as the first delivery of this content says.
        time: Option<Instant>,
        /// How often it came.
        count: u64,
        /// When it came first. The list is ordered by it, newest first.
        first_at: Instant,
        /// When it came last.
        last_at: Instant,
        /// What a person decided about it last.
        decision: Option<ConflictDecision>,
        /// Both contents, where they were asked for.
        texts: Option<ConflictTexts>,
    }
}

shape! {
    /// The content that a conflict is compared with, and its own.
    pub struct ConflictTexts of BothTexts {
        /// The event's; `null` once pruned or erased.
        event: Option<String>,
        /// The conflict's; `null` once pruned or erased.
        conflict: Option<String>,
    }
}
