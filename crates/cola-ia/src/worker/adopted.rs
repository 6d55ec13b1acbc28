//! Orphans that come to us.
//!
//! Where this process is the first of a container, or was told to adopt, whoever loses its parent becomes a child of ours, and when it has ended it stays
//! in the table of processes until we reap it. What escaped from a command's group comes so. The commands' own processes are reaped by their runs, which
//! need their exit status: those that are running are kept in a list, and nothing on it is taken here.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, ExitStatus};
use std::sync::{Mutex, PoisonError, RwLock};

/// The processes that were started here and are not reaped.
static OWN: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
/// Held by many while a process is one of ours and not on the list, or on the list and not ours any more; by one while others are reaped.
static CHANGING: RwLock<()> = RwLock::new(());

/// Starts a process and keeps it from [`reap_adopted`].
pub(super) fn start(start: impl FnOnce() -> io::Result<Child>) -> io::Result<Child> {
    let _changing = CHANGING.read().unwrap_or_else(PoisonError::into_inner);
    let child = start()?;
    OWN.lock().unwrap_or_else(PoisonError::into_inner).insert(child.id());
    Ok(child)
}

/// Reaps a process that [`start`] started and that has ended.
pub(super) fn reap(mut child: Child) -> io::Result<ExitStatus> {
    let _changing = CHANGING.read().unwrap_or_else(PoisonError::into_inner);
    // Before its number is free for another of ours.
    OWN.lock().unwrap_or_else(PoisonError::into_inner).remove(&child.id());
    child.wait()
}

/// Reaps those adopted children that have ended, or leaves some for the next time. Costs next to nothing where nobody is adopted.
///
/// No other part of this process may start children while commands run: they would be taken for adopted ones.
#[cfg(target_os = "linux")]
pub(super) fn reap_adopted() {
    use nix::sys::wait::{Id, WaitPidFlag, waitid};

    if std::process::id() != 1 && !nix::sys::prctl::get_child_subreaper().unwrap_or(false) {
        return;
    }
    // Somebody starts a command right now: whoever ends next tries again.
    let Ok(_alone) = CHANGING.try_write() else { return };
    let own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    let ended = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG;
    while let Some(pid) = waitid(Id::All, ended | WaitPidFlag::WNOWAIT).ok().and_then(|status| status.pid()) {
        // One of ours is in front, and its run is about to reap it.
        if own.contains(&pid.as_raw().cast_unsigned()) || waitid(Id::Pid(pid), ended).is_err() {
            return;
        }
    }
}

/// Reaps adopted children; elsewhere nobody is adopted.
#[cfg(not(target_os = "linux"))]
pub(super) fn reap_adopted() {}
