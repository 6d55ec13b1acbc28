//! One run of a command, from its start until nothing of it is left. Knows nothing of jobs, leases or the store.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::adopted::reap_adopted;
use super::ended::Ended;
use super::group::{Leader, Mark, code_and_signal};
use super::pump::Pump;
use super::start::start;

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
    /// Other variables that are left out: those that hold secrets of sources.
    pub withheld: Arc<[String]>,
    /// What it reads on its standard input.
    pub stdin: String,
    /// It has our own standard input, where that is no terminal, and nothing is fed to it. What it writes to its standard error
    /// output goes here too as it comes, or is left out where nobody takes it.
    pub inherit: Option<SyncSender<Vec<u8>>>,
    /// A variable of `env` whose value no other run has. Whoever still has it when the group had to be ended is ended too, in
    /// whatever group: a command inside may have started others in groups of their own, and cannot end them any more. Linux only.
    pub mark: Option<&'static str>,
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
    /// It is neither a binary of this machine nor a script whose first line names an interpreter.
    NoFormat,
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

/// How long what is left of a group has to end of itself when its leader has (the `tee` of a script that writes a log), if its grace is not shorter.
const LINGER: Duration = Duration::from_millis(100);
/// How long it has after that to end when asked, if its grace is not shorter.
const LEFT_BEHIND: Duration = Duration::from_secs(1);
/// How long is waited for the end of the outputs when the group is gone: whoever holds them is outside of it.
const OUTPUT_END: Duration = Duration::from_millis(200);
/// How long is waited for the end of somebody who was killed; only what hangs in the system or belongs to another user takes that long.
const KILL_WAIT: Duration = Duration::from_secs(2);
/// How often is looked whether a group is gone: at first, and at last.
const LOOK_FIRST: Duration = Duration::from_millis(1);
const LOOK_LAST: Duration = Duration::from_millis(50);

/// Runs a command until it has ended, and with it every process of its group. Needs a tokio runtime with its drivers on.
///
/// What the command leaves behind in its group has a tenth of a second, is asked to end, has another second, and is killed; each wait is as long as the
/// grace at most. Dropped before it is done, the group is killed at once.
///
/// # Errors
/// [`NotStarted`]: nothing ran.
pub async fn run(spec: Spec, mut stop: watch::Receiver<Stop>) -> Result<Exit, NotStarted> {
    if *stop.borrow_and_update() != Stop::Run {
        return Err(NotStarted::Stopped);
    }
    let (time_limit, grace) = (spec.time_limit, spec.grace);
    let mark = spec.mark.and_then(|name| {
        let (_, value) = spec.env.iter().find(|(known, _)| known == name)?;
        Some(Mark::new(name, value))
    });
    let (leader, pump) = start(spec)?;
    let ended = Ended::of(&leader);
    let until = time_limit.and_then(after);
    Ok(Run { leader, mark, ended, pump, stop, grace, until, phase: Phase::Working, cause: Cause::Itself }
        .finish()
        .await)
}

/// How far the end of a group has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Working,
    Asked,
    Killed,
}

/// A command that runs.
struct Run {
    leader: Leader,
    mark: Option<Mark>,
    ended: Ended,
    pump: Pump,
    stop: watch::Receiver<Stop>,
    grace: Duration,
    /// When the phase is over.
    until: Option<Instant>,
    phase: Phase,
    cause: Cause,
}

/// What a run waits for.
enum Event {
    Ended,
    Stop(Stop),
    TimeOver,
}

impl Run {
    async fn finish(mut self) -> Exit {
        let has_ended = self.leader_ends().await;
        let gone = has_ended && self.others_end().await;
        if self.phase != Phase::Working {
            self.sweep().await;
        }
        // Not reaped where it lives on; then letting go of it sees to that.
        let (code, signal) = if has_ended { code_and_signal(self.leader.reap()) } else { (None, None) };
        reap_adopted();
        let emptied = tokio::time::timeout(OUTPUT_END, self.pump.empty()).await.is_ok();
        let Pump { stdout, stderr, .. } = self.pump;
        Exit {
            code,
            signal,
            cause: self.cause,
            stdout: stdout.finish(),
            stderr: stderr.finish(),
            escaped: !gone || !emptied,
        }
    }

    /// Waits for the end of the leader, and brings it about when it is time. Whether it has ended.
    async fn leader_ends(&mut self) -> bool {
        loop {
            let event = async {
                tokio::select! {
                    biased;
                    () = self.ended.wait(&self.leader) => Event::Ended,
                    () = at(self.until) => Event::TimeOver,
                    stop = said(&mut self.stop) => Event::Stop(stop),
                }
            };
            match (self.pump.until(event).await, self.phase) {
                (Event::Ended, _) => return true,
                // The last to be told may be the first that happened.
                (Event::TimeOver, _) if self.leader.has_ended() => return true,
                (Event::TimeOver, Phase::Working) => self.ask(Cause::TimedOut, self.grace),
                (Event::TimeOver, Phase::Asked) => self.kill(),
                (Event::TimeOver, Phase::Killed) => return false,
                (Event::Stop(_), Phase::Killed) | (Event::Stop(Stop::Run), _) => {}
                (Event::Stop(Stop::Kill), _) => {
                    self.cause = Cause::Stopped;
                    self.kill();
                }
                (Event::Stop(Stop::Terminate), Phase::Working) => self.ask(Cause::Stopped, self.grace),
                (Event::Stop(Stop::Terminate), Phase::Asked) => self.cause = Cause::Stopped,
            }
        }
    }

    /// Waits until nobody but the leader is left in the group, and brings it about when it is time. Whether they are gone.
    async fn others_end(&mut self) -> bool {
        if self.phase == Phase::Working {
            self.until = after(self.grace.min(LINGER));
        }
        let mut look = LOOK_FIRST;
        while self.leader.has_others() {
            if self.until.is_some_and(|until| until <= Instant::now()) {
                match self.phase {
                    Phase::Working => self.ask(self.cause, self.grace.min(LEFT_BEHIND)),
                    Phase::Asked => self.kill(),
                    Phase::Killed => return false,
                }
            }
            let stop = async {
                tokio::select! {
                    stop = said(&mut self.stop) => Some(stop),
                    () = tokio::time::sleep(look) => None,
                }
            };
            if self.pump.until(stop).await == Some(Stop::Kill) && self.phase != Phase::Killed {
                self.kill();
            }
            look = LOOK_LAST.min(look * 2);
        }
        // In any case, since somebody may have been born while we looked; most of the time there is nobody and nothing happens.
        self.leader.kill();
        true
    }

    fn ask(&mut self, cause: Cause, grace: Duration) {
        self.cause = cause;
        self.phase = Phase::Asked;
        self.until = after(grace);
        self.leader.ask();
    }

    fn kill(&mut self) {
        self.phase = Phase::Killed;
        self.until = after(KILL_WAIT);
        self.leader.kill();
        if let Some(mark) = &self.mark {
            mark.kill();
        }
    }

    /// Ends whoever has the mark, until nobody is left or it takes too long.
    async fn sweep(&self) {
        let Some(mark) = &self.mark else { return };
        let until = Instant::now() + KILL_WAIT;
        while mark.kill() > 0 && Instant::now() < until {
            tokio::time::sleep(LOOK_FIRST).await;
        }
    }
}

/// The instant after `duration`; `None` where there is none that far.
fn after(duration: Duration) -> Option<Instant> {
    Instant::now().checked_add(duration)
}

/// Waits until `instant`, for ever where there is none.
async fn at(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// Waits for the next thing that is said.
async fn said(stop: &mut watch::Receiver<Stop>) -> Stop {
    match stop.changed().await {
        Ok(()) => *stop.borrow_and_update(),
        Err(_) => std::future::pending().await,
    }
}
