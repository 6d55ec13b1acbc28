//! A job and the identity of its event.

use cola_ia_core::store::JobSummary;

use super::shape::shape;
use super::values::{Instant, SourceName, StateWord, Told, TypeName};

shape! {
    /// A job and the identity of its event, without its text.
    pub struct Job of JobSummary {
        /// The event's number; the job has the same.
        event: i64,
        /// The event's source.
        source: SourceName,
        /// The event's id; once the event is erased, a hash of it in hex.
        id: String,
        /// When a person had the event erased.
        erased_at: Option<Instant>,
        /// What kind of event the sender says it is.
        r#type = event_type: Option<TypeName>,
        /// Where the job stands.
        state: StateWord,
        /// Why the job is held, failed or cancelled, a stable code.
        #[serde(default = "Told::nothing")]
        reason: Told,
        /// The run, from 1.
        run: u32,
        /// Attempts of this run so far.
        attempts: u32,
        /// The resource that the job made.
        resource_id: Option<String>,
        /// When the event happened at the provider, as the provider says.
        time: Option<Instant>,
        /// When the event entered.
        received_at: Instant,
        /// When a pending job may be claimed.
        due_at: Option<Instant>,
        /// While the job is running: when its lease ends, unless it is extended.
        lease_until: Option<Instant>,
    }
}
