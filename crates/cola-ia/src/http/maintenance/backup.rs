//! Backups that the server makes: every so often, and of these the last few are kept.
//!
//! The names say when each was made, so that a server that is started again, or another one on the same store, goes on where
//! the last one was. Only files with such a name are ever removed.

use std::convert::Infallible;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::store::{ErrorKind, StoreError};
use cola_ia_store::sqlite::{self, BackedUp, Options, Patience};
use tokio::sync::watch;
use tokio::time::sleep;

use super::{App, failed};

/// After one that failed.
const AGAIN: Duration = Duration::from_mins(10);
/// The longest that is slept at once: a clock that is set right is noticed.
const LOOK: Duration = Duration::from_mins(1);
/// In names, before the time.
const MARK: &str = ".backup-";
/// In names, after it.
const END: &str = ".sqlite3";

/// Makes backups for ever.
pub(super) async fn keep(app: Arc<App>, store: PathBuf, every: Duration) -> Infallible {
    let folder = Folder::of(&app.settings.backup_folder, store);
    loop {
        let wait = match turn(&app, &folder, every).await {
            Ok(wait) => wait.min(LOOK),
            Err(error) => {
                failed(&app, "backup", &error);
                AGAIN.min(every)
            }
        };
        sleep(wait).await;
    }
}

/// Makes one if it is time, and gives how long to wait for the next.
async fn turn(app: &Arc<App>, folder: &Folder, every: Duration) -> Result<Duration, StoreError> {
    let now = app.now();
    let newest = folder.made().map_err(|cause| folder.error("backup_io", &cause))?.pop();
    if let Some((made, _)) = newest {
        // One from the future says that the clock was wrong: then it is time.
        let age = now.as_micros().saturating_sub(made.as_micros());
        let age = u64::try_from(age).map_or(every, Duration::from_micros);
        if age < every {
            return Ok(every.saturating_sub(age));
        }
    }
    let to = folder.path(now);
    let made = {
        let (app, folder, to) = (Arc::clone(app), folder.clone(), to.clone());
        let made = tokio::task::spawn_blocking(move || make(&app, &folder, &to)).await;
        made.unwrap_or_else(|_| Err(StoreError::new(ErrorKind::Unavailable, "server_failed")))
    };
    match made {
        Ok(BackedUp { bytes, events, .. }) => {
            app.metrics.maintained("backup", 1);
            tracing::info!(path = %to.display(), bytes, events, "a backup was made and checked");
        }
        // Another server was faster, or this one is to stop.
        Err(error) if error.code == "backup_exists" || error.code == "interrupted" => {}
        Err(error) => return Err(error),
    }
    let keep = app.settings.backup_keep.max(1) as usize;
    folder.thin(keep).map_err(|cause| folder.error("backup_io", &cause))?;
    Ok(every)
}

fn make(app: &App, folder: &Folder, to: &Path) -> Result<BackedUp, StoreError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(&folder.path).map_err(|cause| folder.error("backup_io", &cause))?;
    let patience = Arc::new(UntilStopped(app.stopping.clone()));
    let options = Options { patience, ..crate::store::options(&app.settings) };
    sqlite::backup(&folder.store, to, &options, &|_| ())
}

/// A backup ends without a file once the server is to stop.
struct UntilStopped(watch::Receiver<bool>);

impl Patience for UntilStopped {
    fn is_over(&self) -> bool {
        *self.0.borrow()
    }
}

/// Where the backups of a store are, and how they are named.
#[derive(Debug, Clone)]
struct Folder {
    /// The store that they are of.
    store: PathBuf,
    path: PathBuf,
    stem: String,
}

impl Folder {
    fn of(path: &Path, store: PathBuf) -> Self {
        let stem = store.file_stem().map_or_else(|| "store".into(), |stem| stem.to_string_lossy());
        let stem = stem.into_owned();
        Self { store, path: path.to_path_buf(), stem }
    }

    /// `FOLDER/STEM.backup-20261201T034700Z.sqlite3`
    fn path(&self, at: Timestamp) -> PathBuf {
        let time: String = at.to_rfc3339().chars().take(19).filter(|c| !matches!(c, '-' | ':')).collect();
        self.path.join(format!("{}{MARK}{time}Z{END}", self.stem))
    }

    /// When the one of this name was made.
    fn time(&self, name: &str) -> Option<Timestamp> {
        let time = name.strip_prefix(&self.stem)?.strip_prefix(MARK)?.strip_suffix(END)?;
        let is_time = time.len() == 16
            && time.bytes().enumerate().all(|(at, byte)| match at {
                8 => byte == b'T',
                15 => byte == b'Z',
                _ => byte.is_ascii_digit(),
            });
        let part = |from: usize, to: usize| &time[from..to];
        is_time.then(|| {
            let (date, clock) = ([part(0, 4), part(4, 6), part(6, 8)], [part(9, 11), part(11, 13), part(13, 15)]);
            Timestamp::parse_rfc3339(&format!("{}T{}Z", date.join("-"), clock.join(":")))
        })?
    }

    /// Those that are there, the oldest first. A folder that is not there has none.
    fn made(&self) -> io::Result<Vec<(Timestamp, PathBuf)>> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(cause) => return Err(cause),
        };
        let mut made = Vec::new();
        for entry in entries {
            let entry = entry?;
            let time = entry.file_name().to_str().and_then(|name| self.time(name));
            if let Some(time) = time.filter(|_| entry.file_type().is_ok_and(|kind| kind.is_file())) {
                made.push((time, entry.path()));
            }
        }
        made.sort();
        Ok(made)
    }

    /// Removes all but the newest.
    fn thin(&self, keep: usize) -> io::Result<()> {
        let made = self.made()?;
        let over = made.len().saturating_sub(keep);
        for (_, path) in &made[..over] {
            match fs::remove_file(path) {
                Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
                _ => tracing::info!(path = %path.display(), "an old backup is gone"),
            }
        }
        Ok(())
    }

    fn error(&self, code: &'static str, cause: &io::Error) -> StoreError {
        StoreError::new(ErrorKind::Unavailable, code).with("path", self.path.display()).with("cause", cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000;

    #[test]
    fn a_name_says_when_its_backup_was_made() {
        let folder = Folder::of(Path::new("/b"), "x/cola_ia.sqlite3".into());
        let at = Timestamp::parse_rfc3339("2026-12-01T03:47:09Z").unwrap();
        let path = folder.path(at.after(Duration::from_millis(900)));
        assert_eq!(path, Path::new("/b/cola_ia.backup-20261201T034709Z.sqlite3"));
        assert_eq!(folder.time(path.file_name().unwrap().to_str().unwrap()), Some(at));
        for other in [
            "cola_ia.sqlite3",
            "cola_ia.backup-20261201T034709Z.sqlite3-wal",
            "cola_ia.backup-20261201T034709.sqlite3",
            "cola_ia.backup-2026120éT03470Z.sqlite3",
            "cola_ia.backup-20269901T034709Z.sqlite3",
            "other.backup-20261201T034709Z.sqlite3",
            "cola_ia.backup-mine.sqlite3",
        ] {
            assert_eq!(folder.time(other), None, "{other}");
        }
    }

    #[test]
    fn only_its_own_oldest_go() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = Folder::of(scratch.path(), "s.sqlite3".into());
        let paths: Vec<_> = (0..5).map(|n| folder.path(Timestamp::from_micros(n * SECOND))).collect();
        let others = ["s.sqlite3", "s.backup-mine.sqlite3", "t.backup-19700101T000000Z.sqlite3"];
        let others = others.map(|name| scratch.path().join(name));
        for path in paths.iter().chain(&others) {
            fs::write(path, "").unwrap();
        }
        folder.thin(2).unwrap();
        let left: Vec<_> = folder.made().unwrap().into_iter().map(|(_, path)| path).collect();
        assert_eq!(left, paths[3..]);
        assert!(others.iter().all(|path| path.exists()));
    }

    #[test]
    fn no_folder_has_no_backups() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = Folder::of(&scratch.path().join("none"), "s.sqlite3".into());
        assert_eq!(folder.made().unwrap(), []);
        folder.thin(1).unwrap();
    }
}
