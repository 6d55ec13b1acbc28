//! The folder of one pair of servers: locked while they run, cleared of what an earlier run left, gone when they are.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::{Attempt, Failure};

use super::account::Account;
use super::running;

/// How long an earlier keeper may take to stop its servers.
const LOCK_WITHIN: Duration = Duration::from_secs(5);
/// A folder elsewhere starts with this.
const PREFIX: &str = "cola-ia-postgres-";

/// `target/postgres/NAME` keeps the lock, and of the last run the logs and the authority's certificate; `place` has all else and goes when this is dropped.
pub(super) struct Folder {
    kept: PathBuf,
    place: PathBuf,
    _lock: File,
}

impl Folder {
    /// Takes the folder of this name.
    ///
    /// # Errors
    /// If servers of this name are running, or the account has no place to write.
    pub(super) fn take(target: &Path, name: &str, account: Account) -> Result<Self, Failure> {
        let kept = target.join("postgres").join(name);
        fs::create_dir_all(&kept).attempt(|| format!("make {}", kept.display()))?;
        let lock = lock(&kept.join("lock"), name)?;
        clear(&kept)?;
        let place = place(&kept, name, account)?;
        Ok(Self { kept, place, _lock: lock })
    }

    /// Where the servers' files are.
    pub(super) fn path(&self) -> &Path {
        &self.place
    }

    /// The log of a server, which outlives it, so that one can see what went wrong.
    pub(super) fn log(&self, name: &str) -> PathBuf {
        self.kept.join(format!("{name}.log"))
    }

    /// Where the authority's certificate is for those who connect: not all of them get into `place`.
    pub(super) fn authority(&self) -> PathBuf {
        self.kept.join("ca.pem")
    }

    /// Where the number of a server's process is written, for a later run that must stop it.
    pub(super) fn pid(&self, name: &str) -> PathBuf {
        pid_file(&self.kept, name)
    }

    /// Writes a file that is the servers' own.
    pub(super) fn write(&self, account: Account, name: &str, text: &str) -> Result<PathBuf, Failure> {
        let path = self.place.join(name);
        fs::write(&path, text).attempt(|| format!("write {}", path.display()))?;
        account.own(&path)?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed now is in the way of nobody: the next run clears it.
        let _cleared = clear(&self.kept);
    }
}

/// Waits for the lock: an earlier keeper may still be stopping what it started.
fn lock(path: &Path, name: &str) -> Result<File, Failure> {
    let open = OpenOptions::new().create(true).truncate(false).write(true).open(path);
    let lock = open.attempt(|| format!("open {}", path.display()))?;
    let started = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::WouldBlock) if started.elapsed() < LOCK_WITHIN => {
                thread::sleep(Duration::from_millis(50));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::new(format!("the servers named `{name}` are running already"))
                    .hint("end the other run, or take another --name"));
            }
            Err(TryLockError::Error(cause)) => return Err(Failure::new(format!("lock {}: {cause}", path.display()))),
        }
    }
}

fn pid_file(kept: &Path, name: &str) -> PathBuf {
    kept.join(format!("{name}.pid"))
}

/// Stops what runs in the place that was last taken here, and removes it.
fn clear(kept: &Path) -> Result<(), Failure> {
    let told = kept.join("place");
    let Ok(place) = fs::read_to_string(&told).map(PathBuf::from) else { return Ok(()) };
    for server in running::SERVERS {
        let pid = pid_file(kept, server.name);
        if let Ok(number) = fs::read_to_string(&pid) {
            running::stop_leftover(server, number.trim(), &place)?;
            fs::remove_file(&pid).attempt(|| format!("remove {}", pid.display()))?;
        }
    }
    // Only what this made: the file could have been written by a hand.
    let ours =
        place.starts_with(kept) || place.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
    if ours && place.exists() {
        fs::remove_dir_all(&place).attempt(|| format!("remove {}", place.display()))?;
    }
    fs::remove_file(&told).attempt(|| format!("remove {}", told.display()))
}

/// A new folder of the account's own: here, or with temporary files where the account does not get as far as this.
fn place(kept: &Path, name: &str, account: Account) -> Result<PathBuf, Failure> {
    let word = running::random_word()?;
    let elsewhere = std::env::temp_dir().join(format!("{PREFIX}{name}-{word}"));
    for place in [kept.join("run"), elsewhere] {
        // First, so that it is cleared even if this ends between the two.
        fs::write(kept.join("place"), place.as_os_str().as_encoded_bytes())
            .attempt(|| format!("write to {}", kept.display()))?;
        DirBuilder::new().mode(0o700).create(&place).attempt(|| format!("make {}", place.display()))?;
        account.own(&place)?;
        if account.can_use(&place) {
            return Ok(place);
        }
        clear(kept)?;
    }
    Err(Failure::new(format!(
        "the account that PostgreSQL would run as can write neither in {} nor in {}",
        kept.display(),
        std::env::temp_dir().display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("cola-ia-xtask-{name}-{}", running::random_word().unwrap()));
        fs::create_dir(&folder).unwrap();
        folder
    }

    #[test]
    fn what_an_earlier_run_left_is_cleared_and_what_is_not_ours_is_not() {
        let kept = scratch("clear");
        let (ours, foreign) = (kept.join("run"), scratch("foreign"));
        fs::create_dir(&ours).unwrap();
        for place in [&ours, &foreign] {
            fs::write(kept.join("place"), place.to_str().unwrap()).unwrap();
            clear(&kept).unwrap();
            assert!(!kept.join("place").exists());
        }
        assert!(!ours.exists());
        assert!(foreign.exists());
        fs::remove_dir_all(kept).unwrap();
        fs::remove_dir_all(foreign).unwrap();
    }

    #[test]
    fn a_taken_folder_goes_and_its_logs_stay() {
        let target = scratch("take");
        let account = Account::of_servers().unwrap();
        let folder = Folder::take(&target, "name", account).unwrap();
        let (place, log) = (folder.path().to_owned(), folder.log("postgres"));
        folder.write(account, "file", "text").unwrap();
        fs::write(&log, "said").unwrap();
        assert!(place.join("file").exists());
        drop(folder);
        assert!(!place.exists());
        assert!(log.exists());
        fs::remove_dir_all(target).unwrap();
    }
}
