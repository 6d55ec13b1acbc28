//! Stopping: at the first signal in order, at the second one now.
//!
//! The handlers are set explicitly, so that signals mean the same where the worker is the first process of a container,
//! which the system's default actions leave alone.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGXFSZ};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::child::Stop;
use crate::cli::Problem;

/// How far stopping is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Stopping {
    #[default]
    No,
    /// Nothing new is begun, commands have their grace, what is not finished is given back.
    InOrder,
    /// Commands are killed.
    Now,
}

impl Stopping {
    /// What a command is told.
    pub(crate) const fn of_child(self) -> Stop {
        match self {
            Self::No => Stop::Run,
            Self::InOrder => Stop::Terminate,
            Self::Now => Stop::Kill,
        }
    }
}

/// Who asks the worker to stop, and who wants to know.
#[derive(Debug)]
pub(crate) struct Stopper {
    state: watch::Sender<Stopping>,
    interrupted: AtomicBool,
    /// Why it stops of itself, where it could not go on.
    because: OnceLock<Problem>,
}

impl Stopper {
    pub(crate) fn new() -> Arc<Self> {
        let state = watch::Sender::new(Stopping::No);
        Arc::new(Self { state, interrupted: AtomicBool::new(false), because: OnceLock::new() })
    }

    /// Listens for signals from now on, on the runtime that it is called in.
    pub(crate) fn listen(self: &Arc<Self>) -> io::Result<()> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        // Who started it with `nohup` wants it to go on.
        let mut hangup = if is_ignored(SIGHUP) { None } else { Some(signal(SignalKind::hangup())?) };
        // Beyond a limit on file sizes a write is to fail, with a message, and not to kill.
        signal_hook::flag::register(SIGXFSZ, Arc::default())?;
        let stopper = Arc::clone(self);
        tokio::spawn(async move {
            loop {
                let hung_up = async {
                    match &mut hangup {
                        Some(hangup) => hangup.recv().await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => stopper.interrupted.store(true, Ordering::SeqCst),
                    _ = hung_up => {}
                }
                stopper.more();
            }
        });
        Ok(())
    }

    fn more(&self) {
        self.state.send_modify(|state| {
            *state = if *state == Stopping::No { Stopping::InOrder } else { Stopping::Now };
        });
    }

    /// Stops in order because it cannot go on. The first reason is the one that is told.
    pub(crate) fn because(&self, problem: Problem) {
        // A second reason is the consequence of the first.
        let _ = self.because.set(problem);
        self.state.send_if_modified(|state| {
            let is_first = *state == Stopping::No;
            if is_first {
                *state = Stopping::InOrder;
            }
            is_first
        });
    }

    pub(crate) fn state(&self) -> Stopping {
        *self.state.borrow()
    }

    /// Waits until it is at least so far.
    pub(crate) async fn reaches(&self, stage: Stopping) {
        // The sender lives as long as this does, so that no error comes.
        let _ = self.state.subscribe().wait_for(|state| *state >= stage).await;
    }

    pub(crate) fn reason(&self) -> Option<Problem> {
        self.because.get().cloned()
    }

    /// Whether a person interrupted it, or a second signal ended it.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst) || self.state() == Stopping::Now
    }
}

/// Whether this process was started with the signal ignored. Where the system does not tell, it was not.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).map(str::trim);
    mask.and_then(|mask| u64::from_str_radix(mask, 16).ok()).is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
