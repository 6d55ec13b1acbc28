//! How one lease of a job by one worker went.

use cola_ia_core::store::AttemptView;

use super::shape::shape;
use super::values::{Instant, SourceName};

shape! {
    /// How one lease of a job by one worker went.
    pub struct Attempt of AttemptView {
        /// Its number in the store.
        attempt: i64,
        /// The job's event.
        event: i64,
        /// The event's source.
        source: SourceName,
        /// The event's id.
        id: String,
        /// The job's run.
        run: u32,
        /// Its number within the run, from 1.
        number: u32,
        /// Who held the lease.
        worker: String,
        /// When it began.
        started_at: Instant,
        /// When it ended; `null` while it goes on.
        ended_at: Option<Instant>,
        /// `done`, `error`, `crashed`, `timed_out`, `released` or `lease_lost`; `null` while it goes on.
        outcome: Option<String>,
        /// The command's exit code.
        exit_code: Option<i64>,
        /// The signal that ended the command.
        signal: Option<i64>,
        /// What kind of error it was, a stable code.
        error_class: Option<String>,
        /// What was said of the error.
        error: Option<String>,
        /// What it cost, in millionths of the currency's unit.
        cost_micros: Option<i64>,
        /// Tokens that went into a model.
        tokens_in: Option<i64>,
        /// Tokens that came out of it.
        tokens_out: Option<i64>,
        /// The model that was used.
        model: Option<String>,
        /// What the worker reported after it had lost its lease.
        late: Option<String>,
        /// The last part of what it wrote to stdout; only with an event's history.
        stdout: Option<String>,
        /// The last part of what it wrote to stderr; only with an event's history.
        stderr: Option<String>,
    }
}
