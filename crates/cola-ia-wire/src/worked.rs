//! What `work` says of each job.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// A command that ended, and where that left its job: a line of `work --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worked<'a> {
    /// [`VERSION`](crate::VERSION).
    pub v: u32,
    /// The event's number; the job has the same.
    pub event: i64,
    /// The event's source.
    #[serde(borrow)]
    pub source: Cow<'a, str>,
    /// The event's id.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// The run, from 1.
    pub run: u32,
    /// The attempt's number within the run, from 1.
    pub attempt: u32,
    /// How the attempt ended: `done`, `error`, `timed_out` or `released`; `lease_lost` where the job was somebody else's by
    /// then and nothing of it counts.
    #[serde(borrow)]
    pub outcome: Cow<'a, str>,
    /// The job's state from then on; `null` where the lease was lost.
    #[serde(borrow)]
    pub state: Option<Cow<'a, str>>,
    /// When the job is due again, where it is.
    pub due_at: Option<String>,
    /// The command's exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended the command.
    pub signal: Option<i32>,
    /// What kind of error it was, a stable code.
    #[serde(borrow)]
    pub error_class: Option<Cow<'a, str>>,
    /// What was said of the error.
    #[serde(borrow)]
    pub error: Option<Cow<'a, str>>,
    /// The resource that the job made.
    #[serde(borrow)]
    pub resource_id: Option<Cow<'a, str>>,
    /// What it cost, in millionths of the currency's unit.
    pub cost_micros: Option<i64>,
    /// How long the command ran, in milliseconds.
    pub took_ms: u64,
}
