//! Waiting for the end of a process without reaping it.

#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::sync::{Arc, Once};
use std::time::Duration;

#[cfg(target_os = "linux")]
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::group::Leader;

/// How often is looked where nothing is sure to wake us.
const LOOK: Duration = Duration::from_millis(250);

/// What tells the end of one process.
#[derive(Debug)]
pub(super) enum Ended {
    /// A descriptor of the process, readable when it has ended.
    #[cfg(target_os = "linux")]
    Descriptor(AsyncFd<OwnedFd>),
    /// The signal that a child has ended, any child.
    Signal(Signal),
    /// Nothing: one looks again and again.
    Look,
}

impl Ended {
    /// What tells the end of `leader`.
    pub(super) fn of(leader: &Leader) -> Self {
        #[cfg(target_os = "linux")]
        if let Some(ended) = Self::by_descriptor(leader) {
            return ended;
        }
        let _ = leader;
        Self::by_signal()
    }

    /// `None` where the system has none (Linux before 5.3) or none left.
    #[cfg(target_os = "linux")]
    fn by_descriptor(leader: &Leader) -> Option<Self> {
        let pid = rustix::process::Pid::from_raw(leader.pid().as_raw())?;
        // Not reaped, so the number is still its own.
        let descriptor = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()?;
        #[allow(
            deprecated,
            reason = "its successor is `unsafe`, for types that change their descriptor; an `OwnedFd` keeps its own until it is dropped"
        )]
        AsyncFd::with_interest(descriptor, tokio::io::Interest::READABLE).ok().map(Self::Descriptor)
    }

    fn by_signal() -> Self {
        signal(SignalKind::child()).map_or(Self::Look, Self::Signal)
    }

    /// Waits until `leader` has ended.
    pub(super) async fn wait(&mut self, leader: &Leader) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descriptor(descriptor) => {
                if descriptor.readable().await.is_ok() {
                    return;
                }
                *self = Self::Look;
            }
            Self::Signal(_) | Self::Look => {}
        }
        while !leader.has_ended() {
            let look = tokio::time::sleep(LOOK);
            if let Self::Signal(signal) = self {
                // The signal may be blocked or swallowed by whoever started us.
                tokio::select! {
                    _ = signal.recv() => {}
                    () = look => {}
                }
            } else {
                look.await;
            }
        }
    }
}

/// Where we were started with the end of children ignored, the system reaps them itself, exit status and all, and a number is free while we still think
/// it ours. A handler ends that; a child that we start has the default again.
pub(super) fn keep_the_ended() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // It fails for signals that cannot be handled; this one can.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGCHLD, Arc::default());
    });
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn each_way_sees_the_end_and_leaves_the_status() {
        for way in [Ended::of as fn(&Leader) -> Ended, |_| Ended::by_signal(), |_| Ended::Look] {
            let leader =
                Leader::start(|| Command::new("sh").args(["-c", "sleep 0.05; exit 7"]).process_group(0).spawn())
                    .unwrap();
            let mut ended = way(&leader);
            assert!(!leader.has_ended());
            tokio::time::timeout(Duration::from_secs(5), ended.wait(&leader)).await.unwrap();
            assert!(leader.has_ended());
            assert_eq!(leader.reap().unwrap().code(), Some(7));
        }
    }
}
