//! A person's right to be forgotten.

use cola_ia_core::store;
use cola_ia_core::store::EraseRequest;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::shape::shape;
use super::values::{Instant, SourceName};

shape! {
    /// One step of erasing an event.
    pub struct EraseStep of EraseRequest {
        /// The event's source.
        source: SourceName,
        /// The event's id, byte for byte.
        id: String,
        /// The `next` of the step before; `null`: from the beginning.
        after: Option<i64>,
    }
}

shape! {
    /// What a step of erasing did.
    pub struct Erased of store::Erased {
        /// The event.
        event: i64,
        /// When its texts, results and id went.
        erased_at: Instant,
        /// Whether this call cancelled its job, which had not finished.
        cancelled: bool,
        /// With the last step: whether the store's own files hold no byte of it any more.
        gone: bool,
        /// Where the next step goes on; `null`: this was the last.
        next: Option<i64>,
    }
}

/// The answer to a step of erasing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EraseAnswer {
    /// What it did; `null`: there is no such event.
    pub erased: Option<Erased>,
}
