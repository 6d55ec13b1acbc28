//! The worker's private folder: sockets and result files of its jobs.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use nix::fcntl::{Flock, FlockArg};
use tempfile::TempDir;

const PREFIX: &str = "cola-ia-work-";
/// Held by the worker as long as it lives: what nobody holds was left by one that was killed.
const LOCK: &str = "lock";
/// A socket's path has room for 107 bytes; what we add to the folder for temporary files is shorter than the rest.
const BASE_MAX_BYTES: usize = 64;

/// The folder, mode 0700.
#[derive(Debug)]
pub(crate) struct Folder {
    base: PathBuf,
    made: Mutex<Made>,
    next: AtomicU64,
}

#[derive(Debug)]
struct Made {
    folder: TempDir,
    _lock: Flock<File>,
}

impl Folder {
    pub(crate) fn new() -> io::Result<Self> {
        let mut base = std::env::temp_dir();
        if base.as_os_str().len() > BASE_MAX_BYTES {
            base = PathBuf::from("/tmp");
        }
        clear_away(&base);
        let made = Mutex::new(Made::new(&base)?);
        Ok(Self { base, made, next: AtomicU64::new(0) })
    }

    /// A path for one job's socket and one for its result file. Neither exists.
    pub(crate) fn paths(&self) -> io::Result<(PathBuf, PathBuf)> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        // Folders for temporary files are cleared of what is old, and a worker lives long.
        if !made.folder.path().is_dir() {
            *made = Made::new(&self.base)?;
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = |ending: &str| made.folder.path().join(format!("{number}.{ending}"));
        Ok((path("sock"), path("json")))
    }
}

impl Made {
    fn new(base: &Path) -> io::Result<Self> {
        let mode = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix(PREFIX).permissions(mode).tempdir_in(base)?;
        let lock = File::create_new(folder.path().join(LOCK))?;
        let lock = Flock::lock(lock, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| io::Error::from(errno))?;
        Ok(Self { folder, _lock: lock })
    }
}

/// Removes what our workers that were killed left. Whatever cannot be removed stays: the next one tries again.
fn clear_away(base: &Path) {
    let own = nix::unistd::geteuid().as_raw();
    let entries = fs::read_dir(base).into_iter().flatten().flatten();
    for path in entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes())) {
        let path = path.path();
        let is_ours = fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir() && found.uid() == own);
        let Ok(lock) = File::open(path.join(LOCK)) else { continue };
        if is_ours && Flock::lock(lock, FlockArg::LockExclusiveNonblock).is_ok() {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_worker_left_is_cleared_away_and_what_is_in_use_is_not() {
        let base = tempfile::tempdir().unwrap();
        let alive = Made::new(base.path()).unwrap();
        let dead = Made::new(base.path()).unwrap().folder.keep();
        let foreign = base.path().join(format!("{PREFIX}without-a-lock"));
        fs::create_dir(&foreign).unwrap();
        clear_away(base.path());
        assert!(alive.folder.path().is_dir() && foreign.is_dir() && !dead.exists());
        assert_eq!(fs::metadata(alive.folder.path()).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_folder_that_was_removed_is_made_again() {
        let folder = Folder::new().unwrap();
        let (first, _) = folder.paths().unwrap();
        fs::remove_dir_all(first.parent().unwrap()).unwrap();
        let (second, result) = folder.paths().unwrap();
        assert!(second.parent().unwrap().is_dir() && second != first && second.parent() == result.parent());
    }
}
