//! Marking a store as restored.

use cola_ia_core::store;
use cola_ia_core::store::RestoredMark;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::shape::shape;
use super::values::Instant;

/// What a person says of a store that was put back from an older state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MarkSaid {
    /// The mark.
    pub mark: Mark,
}

/// The mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// The store was restored at this instant.
    At(Instant),
    /// All that may have happened meanwhile has been looked into.
    Cleared,
}

impl From<RestoredMark> for MarkSaid {
    fn from(mark: RestoredMark) -> Self {
        let mark = match mark {
            RestoredMark::At(at) => Mark::At(Instant(at)),
            RestoredMark::Cleared => Mark::Cleared,
        };
        Self { mark }
    }
}

impl From<MarkSaid> for RestoredMark {
    fn from(said: MarkSaid) -> Self {
        match said.mark {
            Mark::At(Instant(at)) => Self::At(at),
            Mark::Cleared => Self::Cleared,
        }
    }
}

shape! {
    /// What became of it.
    #[derive(Copy)]
    pub struct Restored of store::Restored {
        /// The mark that the store bears now; `null`: none.
        restored_at: Option<Instant>,
        /// Jobs whose lease ended with this call.
        leases_voided: u64,
    }
}

/// The mark that the store bears.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RestoredAt {
    /// When the store was restored; `null`: it bears no mark.
    pub restored_at: Option<Instant>,
}
