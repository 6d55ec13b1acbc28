//! The process group of one command.
//!
//! A process that has ended keeps its number until somebody reaps it, and a group keeps its number as long as a process, ended or not, is in it.
//! So as long as the process that leads the group is not reaped, its number means this group and no other: every signal is sent before [`Leader::reap`],
//! and to see whether it has ended it is asked without reaping it. Nothing is ever sent to a number that only was ours once.

use std::ffi::OsStr;
use std::io;
#[cfg(target_os = "linux")]
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
#[cfg(target_os = "linux")]
use std::sync::OnceLock;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use rustix::process::{WaitId, WaitIdOptions, waitid};

use super::adopted;

/// The process that leads a group, not reaped yet. Dropped, it is ended with its group and reaped by a thread.
#[derive(Debug)]
pub(super) struct Leader {
    child: Option<Child>,
    pid: Pid,
}

impl Leader {
    /// Starts a process that leads a group of its own.
    pub(super) fn start(start: impl FnOnce() -> io::Result<Child>) -> io::Result<Self> {
        let child = adopted::start(start)?;
        let pid = Pid::from_raw(child.id().cast_signed());
        Ok(Self { child: Some(child), pid })
    }

    /// Its number, and the number of its group.
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Whether it has ended. It stays unreaped.
    pub(super) fn has_ended(&self) -> bool {
        look(self.pid, WaitIdOptions::NOHANG)
    }

    /// Asks the whole group to end. Who is stopped is woken to hear it.
    pub(super) fn ask(&self) {
        self.signal(Signal::SIGTERM);
        self.signal(Signal::SIGCONT);
    }

    /// Ends the whole group, also whoever is stopped or does not listen.
    pub(super) fn kill(&self) {
        self.signal(Signal::SIGKILL);
    }

    fn signal(&self, signal: Signal) {
        // Nobody there, or none whom we may signal: the waits that follow have a bound.
        let _ = killpg(self.pid, signal);
    }

    /// Whether others than the leader live in the group. Those that have ended and that nobody reaped yet do not count.
    ///
    /// Who is born while we look may be missed: the answer says whether there is somebody to be patient with, not whether a signal is needed.
    #[cfg(target_os = "linux")]
    pub(super) fn has_others(&self) -> bool {
        let mut found = false;
        let look = |pid: i32| {
            let pid = Pid::from_raw(pid);
            if pid != self.pid && nix::unistd::getpgid(Some(pid)) == Ok(self.pid) {
                found |= lives(pid);
            }
        };
        match born_since(self.pid.as_raw()) {
            Some(pids) => pids.for_each(look),
            None => all_processes().for_each(look),
        }
        found
    }

    /// Whether others than the leader live in the group.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn has_others(&self) -> bool {
        // Elsewhere a process that has ended cannot be signalled, so that only the living answer.
        killpg(self.pid, None).is_ok()
    }

    /// Takes the exit status; the number may be anybody's from now on. `None` where another part of this process took it.
    ///
    /// It must have ended: this waits.
    pub(super) fn reap(mut self) -> Option<ExitStatus> {
        adopted::reap(self.child.take()?).ok()
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        let Some(child) = self.child.take() else { return };
        self.kill();
        // It may take its time to die (a file system that does not answer), and nobody is to wait for that.
        let pid = self.pid;
        let reaper = std::thread::Builder::new().name("reaper".into()).spawn(move || {
            while !look(pid, WaitIdOptions::empty()) {}
            adopted::reap(child)
        });
        drop(reaper);
    }
}

/// What processes of one run have in their environment, and no others.
#[derive(Debug)]
pub(super) struct Mark(Vec<u8>);

impl Mark {
    pub(super) fn new(name: &str, value: &OsStr) -> Self {
        Self([name.as_bytes(), b"=", value.as_encoded_bytes()].concat())
    }

    /// Ends those that have it, and tells how many there were. Who has ended and is not reaped has no environment any more.
    #[cfg(target_os = "linux")]
    pub(super) fn kill(&self) -> usize {
        let has_it = |pid: &i32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == self.0)
        };
        let own = std::process::id().cast_signed();
        let marked: Vec<i32> = all_processes().filter(|pid| *pid != own).filter(has_it).collect();
        for pid in &marked {
            // One that has ended meanwhile, or that is another user's: whoever waits for them has a bound.
            let _ = nix::sys::signal::kill(Pid::from_raw(*pid), Signal::SIGKILL);
        }
        marked.len()
    }

    /// Elsewhere nobody tells what others have in their environment.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn kill(&self) -> usize {
        0
    }
}

/// Whether a child of ours has ended; it stays unreaped. Without `NOHANG` it is waited for, if no signal comes first.
fn look(pid: Pid, how: WaitIdOptions) -> bool {
    let Some(pid) = rustix::process::Pid::from_raw(pid.as_raw()) else { return true };
    let ended = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | how);
    // Another error cannot be but for a process that is no child any more.
    !matches!(ended, Ok(None) | Err(rustix::io::Errno::INTR))
}

/// The numbers given away since `pid` was, where they are few: what a short command leaves behind has one of them, since numbers are given away in a
/// circle. `None` where they are many or the circle was closed. To look at all processes takes as long as to run a short command.
#[cfg(target_os = "linux")]
fn born_since(pid: i32) -> Option<std::ops::RangeInclusive<i32>> {
    const FEW: i32 = 500;
    // Read anew each time, and opened once.
    static LOAD: OnceLock<Option<std::fs::File>> = OnceLock::new();
    let load = LOAD.get_or_init(|| std::fs::File::open("/proc/loadavg").ok()).as_ref()?;
    let mut text = [0; 128];
    let length = load.read_at(&mut text, 0).ok()?;
    let last: i32 = std::str::from_utf8(&text[..length]).ok()?.split_ascii_whitespace().next_back()?.parse().ok()?;
    (0..FEW).contains(&last.checked_sub(pid)?).then_some(pid..=last)
}

#[cfg(target_os = "linux")]
fn all_processes() -> impl Iterator<Item = i32> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|process| process.file_name().to_str()?.parse().ok())
}

/// Whether a process of the group has not ended.
#[cfg(target_os = "linux")]
fn lives(pid: Pid) -> bool {
    let Ok(stat) = std::fs::read(format!("/proc/{pid}/stat")) else { return false };
    // The name before the state is in brackets and may have brackets in it.
    let state = stat.iter().rposition(|byte| *byte == b')').and_then(|end| stat.get(end + 2));
    !matches!(state, Some(b'Z' | b'X') | None)
}

/// Exit code and signal.
pub(super) fn code_and_signal(status: Option<ExitStatus>) -> (Option<i32>, Option<i32>) {
    (status.and_then(|status| status.code()), status.and_then(|status| status.signal()))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn others_are_seen_among_the_newest_and_among_all() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 60 & echo $!"]).process_group(0).stdout(Stdio::piped());
        let mut leader = Leader::start(|| command.spawn()).unwrap();
        let output = leader.child.as_mut().unwrap().stdout.take().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).unwrap();
        let other = line.trim().parse().unwrap();
        assert!(all_processes().any(|pid| pid == other));
        assert!(born_since(leader.pid().as_raw()).is_none_or(|pids| pids.contains(&other)));
        assert_eq!(born_since(i32::MAX), None);
        assert!(leader.has_others());
        leader.kill();
        let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while leader.has_others() {
            assert!(std::time::Instant::now() < until);
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(leader.reap().is_some());
    }
}
