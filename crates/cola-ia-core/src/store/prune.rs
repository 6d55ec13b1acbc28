//! Letting go of what is no longer needed, in small steps. Identity, fingerprints and counts stay for ever.

use std::time::Duration;

use super::OpId;
use crate::clock::Timestamp;
use crate::intake::{DeliveryNumber, EventNumber};

/// How long a call can be repeated under its [`OpId`] and gets its first answer: after that a store may forget it. What the
/// answer is rebuilt from is kept as long.
pub const OPS_KEPT: Duration = Duration::from_hours(7 * 24);

/// One step of pruning: what may go, and where to go on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PruneRequest {
    /// Texts and history (outputs of attempts, results) of events whose job has been `done` or `cancelled` for longer than
    /// this; `None`: none. An event that has an undecided conflict or an open effect keeps all.
    pub texts: Option<Duration>,
    /// Repeated deliveries that were received longer ago than this, and never ones younger than [`OPS_KEPT`]; `None`: none.
    /// One that has the highest number of all stays, so that no number is given twice.
    pub deliveries: Option<Duration>,
    /// The `next` of the step before; `None`: from the beginning.
    pub after: Option<PruneCursor>,
}

/// How far pruning has come. It goes through the calls that can no longer be repeated, then through deliveries, then through
/// events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PruneCursor {
    /// After this call.
    Ops(OpId),
    /// After this delivery.
    Deliveries(DeliveryNumber),
    /// After this event.
    Events(EventNumber),
}

/// What one step let go of, or would.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Events whose texts and history went.
    pub events: u64,
    /// Repeated deliveries that went; they stay counted.
    pub deliveries: u64,
    /// Records of calls that went.
    pub ops: u64,
    /// Where the next step goes on; `None`: this was the last.
    pub next: Option<PruneCursor>,
}

impl Pruned {
    /// Whether anything went.
    pub const fn is_empty(&self) -> bool {
        self.events == 0 && self.deliveries == 0 && self.ops == 0
    }
}

/// Repeated deliveries of an event that were pruned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrunedDeliveries {
    /// So many.
    pub count: u64,
    /// When the first of them came.
    pub first_at: Timestamp,
    /// When the last of them came.
    pub last_at: Timestamp,
}
