//! What a job can be, and how it moves.
//!
//! The moves are pure functions of what a job is and what happened; every store makes them by this code.

mod machine;
mod retry;
mod streak;

pub use machine::{Denied, Ending, Job, LEASE_MAX, Lease, LeaseToken, Outcome, Setback};
pub use retry::{Draw, RetryPolicy, retry_after};
pub use streak::{STREAK_WORTH_A_WARNING, Sign, Streak};

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobState {
    /// Waits, also until a later time.
    Pending,
    /// Leased to one worker.
    Running,
    /// Finished, result and resource id recorded.
    Done,
    /// Attempts used up, or a permanent error: needs a person.
    Failed,
    /// An effect's outcome is unknown: needs a lookup or a person.
    Held,
    /// Stopped by a person.
    Cancelled,
}

impl JobState {
    /// All states, in the order of a job's life.
    pub const ALL: [Self; 6] = [Self::Pending, Self::Running, Self::Done, Self::Failed, Self::Held, Self::Cancelled];

    /// The word in code, JSON, SQL and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Held => "held",
            Self::Cancelled => "cancelled",
        }
    }

    /// The word that people read and write in Spanish.
    pub const fn in_spanish(self) -> &'static str {
        match self {
            Self::Pending => "pendiente",
            Self::Running => "en_proceso",
            Self::Done => "terminado",
            Self::Failed => "fallido",
            Self::Held => "retenido",
            Self::Cancelled => "cancelado",
        }
    }

    /// The state that [`as_str`](Self::as_str) gives this word for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}
