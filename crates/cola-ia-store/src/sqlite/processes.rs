//! Which processes have a store's files open, as far as the system tells: on Linux, and of this user's processes only unless
//! it is root who asks.

use std::fmt;
use std::path::Path;

/// A process that is not this one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its program's name, cut by the system after 15 bytes.
    pub name: String,
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.is_empty() { write!(f, "{}", self.pid) } else { write!(f, "{} ({})", self.pid, self.name) }
    }
}

/// Numbers and names in a row.
pub(super) fn listed(processes: &[Process]) -> String {
    processes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The other processes that have the file at `path` or its log open.
#[cfg(target_os = "linux")]
pub(super) fn with_open(path: &Path) -> Vec<Process> {
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;

    let files: Vec<(u64, u64)> = ["", "-wal", "-shm", "-journal"]
        .iter()
        .filter_map(|ending| super::file::identity(&super::file::beside(path, ending)))
        .collect();
    let numbered = |entry: &fs::DirEntry| entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let has_one = |pid: u32| {
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        descriptors
            .filter_map(|descriptor| fs::metadata(descriptor.path()).ok())
            .any(|open| files.contains(&(open.dev(), open.ino())))
    };
    let mut found: Vec<Process> = entries
        .flatten()
        .filter_map(|entry| numbered(&entry))
        .filter(|pid| *pid != std::process::id() && has_one(*pid))
        .map(named)
        .collect();
    found.sort_unstable();
    found
}

#[cfg(target_os = "linux")]
fn named(pid: u32) -> Process {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Process { pid, name: name.trim_end().to_owned() }
}

/// Elsewhere nothing is told.
#[cfg(not(target_os = "linux"))]
pub(super) fn with_open(_path: &Path) -> Vec<Process> {
    Vec::new()
}

/// Other processes that read an old state of the store just now: from what the log's index says of its readers' marks
/// (<https://www.sqlite.org/walformat.html>), and who holds their locks. With how many pages were written since.
#[cfg(target_os = "linux")]
pub(super) fn readers_of_old_states(path: &Path) -> Vec<(Process, u64)> {
    use std::os::unix::fs::MetadataExt as _;

    /// Bytes of the index: where the newest frame's number stands and that of the last one in the file, where the marks do,
    /// and where they are locked.
    const NEWEST: usize = 16;
    const MOVED: usize = 96;
    const MARKS: usize = 100;
    const LOCKS: u64 = 123;

    let index = super::file::beside(path, "-shm");
    let Ok(metadata) = std::fs::metadata(&index) else { return Vec::new() };
    let Ok(Some(bytes)) = super::file::start_of::<136>(&index, &metadata) else { return Vec::new() };
    let number = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let newest = number(NEWEST);
    let mut found = Vec::new();
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    for line in locks.lines() {
        // `12: POSIX  ADVISORY  READ 4711 fd:00:262146 123 123`
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, _, _, "READ", pid, file, first, last] = words[..] else { continue };
        let (Ok(pid), Ok(first), Ok(last)) = (pid.parse::<u32>(), first.parse::<u64>(), last.parse::<u64>()) else {
            continue;
        };
        let inode = file.rsplit(':').next().and_then(|inode| inode.parse::<u64>().ok());
        if inode != Some(metadata.ino()) || pid == std::process::id() {
            continue;
        }
        for mark in (0..5_u64).filter(|mark| (first..=last).contains(&(LOCKS + mark))) {
            // Mark 0 is of those who read the file alone: what had been moved into it is as far as they see, and no more is
            // moved while they read.
            let at = if mark == 0 { MOVED } else { MARKS + 4 * mark as usize };
            let behind = newest.saturating_sub(number(at));
            found.push((named(pid), behind.into()));
        }
    }
    found
}

/// Elsewhere nothing is told.
#[cfg(not(target_os = "linux"))]
pub(super) fn readers_of_old_states(_path: &Path) -> Vec<(Process, u64)> {
    Vec::new()
}
