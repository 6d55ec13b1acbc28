//! What workers and a store say to each other.

use std::time::Duration;

use super::{EffectView, JobSummary};
use crate::clock::Timestamp;
use crate::effect::EffectName;
use crate::event::Source;
use crate::intake::EventNumber;
use crate::job::{Ending, JobState, LeaseToken, STREAK_WORTH_A_WARNING, Streak};

/// Most jobs in one claim, and most leases in one call.
pub const LEASES_MAX: usize = 1_000;
/// Bytes of a worker's name.
pub const WORKER_NAME_MAX_BYTES: usize = 128;
/// Bytes of what is kept of an attempt's error.
pub const ERROR_MAX_BYTES: usize = 4 * 1024;
/// Bytes of a class of errors.
pub const ERROR_CLASS_MAX_BYTES: usize = 64;
/// Bytes of a job's result, JSON.
pub const RESULT_MAX_BYTES: usize = 64 * 1024;
/// Bytes of a resource's id.
pub const RESOURCE_ID_MAX_BYTES: usize = 1_024;
/// Bytes of the last output that is kept of each of an attempt's two streams.
pub const OUTPUT_MAX_BYTES: usize = 64 * 1024;

/// Who claims, what and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimRequest {
    /// For people: it is recorded with each attempt and decides nothing. Cut to [`WORKER_NAME_MAX_BYTES`].
    pub worker: String,
    /// How long each lease lasts, unless it is extended.
    pub lease: Duration,
    /// At most so many jobs; taken as 1 to [`LEASES_MAX`].
    pub limit: u32,
    /// Only of this source.
    pub source: Option<Source>,
}

/// The answer to a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The store's clock.
    pub at: Timestamp,
    /// The jobs, the one that was due first first. It may be fewer than were asked for, and are due.
    pub leases: Vec<Leased>,
    /// When the next job becomes due, where none is now.
    pub next_due: Option<Timestamp>,
}

/// A job in the hands of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leased {
    /// To be sent with everything that is said of the job.
    pub token: LeaseToken,
    /// The lease's end, by the store's clock.
    pub until: Timestamp,
    /// The attempt's number within the run, from 1.
    pub attempt: u32,
    /// Attempts of the run that were lost with their workers, before this one.
    pub crashes: u32,
    /// The job.
    pub job: JobSummary,
    /// The text to work on.
    pub text: String,
    /// The effects of the job's run so far, by name.
    pub effects: Vec<EffectView>,
}

/// A lease was not the job's any more. The store changed nothing but the attempt's record, which tells that it answered late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseLost {
    /// The newest attempt of the job, where it is another one.
    pub superseded_by: Option<u32>,
}

/// Why an attempt does not end as its worker says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndRefused {
    /// The lease was lost.
    LeaseLost(LeaseLost),
    /// The job is not done while the outcome of these effects is open. Nothing changed; the lease still holds.
    Unresolved(Vec<EffectName>),
}

/// What a worker says at the end of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// The lease.
    pub token: LeaseToken,
    /// How it ended.
    pub ending: Ending,
    /// What is kept of it.
    pub report: Report,
}

/// What is kept of an attempt. Everything may be missing; what is too long is cut.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The command's exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended the command.
    pub signal: Option<i32>,
    /// A stable word for the kind of error.
    pub error_class: Option<String>,
    /// What went wrong, for people.
    pub error: Option<String>,
    /// The resource that the job made.
    pub resource_id: Option<String>,
    /// The job's result, JSON.
    pub result: Option<String>,
    /// What it cost, in millionths of the store's currency.
    pub cost_micros: Option<i64>,
    /// Tokens that went into a model.
    pub tokens_in: Option<i64>,
    /// Tokens that came out of it.
    pub tokens_out: Option<i64>,
    /// The model.
    pub model: Option<String>,
    /// The end of the command's output.
    pub stdout: Vec<u8>,
    /// The end of the command's error output.
    pub stderr: Vec<u8>,
}

/// Where an ended attempt left its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// The job's state from then on.
    pub state: JobState,
    /// When it is due again.
    pub due_at: Option<Timestamp>,
}

/// What [`Store::recover`](super::Store::recover) did, or would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The jobs whose workers are lost, and where each is now.
    pub jobs: Vec<(EventNumber, Ended)>,
    /// There were more.
    pub more: bool,
}

/// What a person orders of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// Stop it for good.
    Cancel,
    /// Try it again, with all its attempts before it.
    Retry,
    /// Work on it once more, as a new run.
    Replay,
}

impl Order {
    /// The word in code, JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Retry => "retry",
            Self::Replay => "replay",
        }
    }
}

/// Why an order was not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderRefused {
    /// There is no such job.
    Missing,
    /// It is in a state that does not take this order.
    State(JobState),
    /// Its text was pruned or erased: there is nothing to work on.
    ContentGone,
    /// It would be a new run, while the outcome of an effect of this one is open; or an effect waits for a person.
    EffectsOpen,
    /// An effect of it was given up: it cannot be done any more, but worked on as a new run.
    EffectAbandoned,
}

/// How a source stands with those who work on its jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceView {
    /// The source.
    pub source: Source,
    /// Its jobs that fail one after the other, if the last one did.
    pub streak: Option<Streak>,
    /// Since when no job of it is leased; a person ends that with [`Store::resume`](super::Store::resume).
    pub paused_at: Option<Timestamp>,
    /// Jobs whose leases have run out, and which nobody has recovered yet. They count as running.
    pub expired: u64,
    /// When the first of its pending jobs is due, or has been since.
    pub due_at: Option<Timestamp>,
}

impl SourceView {
    /// The view of this source among those that are sorted by name.
    pub fn find<'a>(views: &'a [Self], source: &Source) -> Option<&'a Self> {
        views.binary_search_by(|view| view.source.cmp(source)).ok().map(|at| &views[at])
    }

    /// The failures in a row, where they are so many that somebody should look.
    pub fn worth_a_warning(&self) -> Option<&Streak> {
        self.streak.as_ref().filter(|streak| streak.count >= STREAK_WORTH_A_WARNING)
    }
}

/// The last bytes of an output that are kept.
pub fn last_bytes(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.len().saturating_sub(OUTPUT_MAX_BYTES)..]
}

/// A text that fits, cut at a character, with U+0000 made visible: no engine of ours must refuse what a worker says.
pub fn fitting(text: &str, max_bytes: usize) -> String {
    text[..text.floor_char_boundary(max_bytes)].replace('\0', "\u{2400}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_cut() {
        assert_eq!(fitting("ñandú", 2), "ñ");
        assert_eq!(fitting("a\0b", 9), "a␀b");
        assert_eq!(last_bytes(&vec![7; OUTPUT_MAX_BYTES + 1]).len(), OUTPUT_MAX_BYTES);
    }
}
