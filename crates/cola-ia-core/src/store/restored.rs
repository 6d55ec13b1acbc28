//! Marking a store as restored.

use crate::clock::Timestamp;

/// What a person says of a store that was put back from an older state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoredMark {
    /// It was restored at this instant: what happened between the state that was put back and this instant is not in it.
    At(Timestamp),
    /// All that may have happened meanwhile has been looked into.
    Cleared,
}

/// The answer to [`Store::restored`](super::Store::restored).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// The mark that the store bears now; `None`: it bears none.
    pub restored_at: Option<Timestamp>,
    /// Jobs whose lease ended with this call.
    pub leases_voided: u64,
}
