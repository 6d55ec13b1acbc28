//! A backup: one file with all that was committed at one moment, made beside intake and workers.
//!
//! The pages are copied within one read transaction, so that no writer can make the copying start again (SQLite's backup
//! starts anew whenever somebody writes between two of its steps). While that transaction lasts the log cannot start anew,
//! and grows with what is written; once it has grown by [`LOG_GROWTH_MAX`], writers are made to wait, [`TURN`] at a time,
//! so that the log stays bounded however large the store is. See docs/decisions/0011.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cola_ia_core::clock::Timestamp;
use cola_ia_core::store::{ErrorKind, StoreError};
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::check::{self, Sound};
use super::create::{self, BACKUP, Temporary};
use super::file::Found;
use super::{Options, connection, error, file, known_version, settled, take_over};

/// Pages copied at a time: 8 MiB where a page has 8 KiB.
const PAGES: i32 = 1_024;
/// How far the log may grow while a backup is made before writers are made to wait.
const LOG_GROWTH_MAX: u64 = 256 << 20;
/// How long writers then wait at a time: well below any time limit of theirs.
const TURN: Duration = Duration::from_secs(3);
/// How long they may write between: a writer that waits looks again every tenth of a second.
const BETWEEN_TURNS: Duration = Duration::from_millis(250);

/// What a backup or a restore is doing, told to whoever shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Bytes are copied.
    Copy {
        /// So many are.
        done: u64,
        /// Of so many.
        of: u64,
    },
    /// The copy is read and checked, all of it.
    Check,
    /// The copy is made ready to be a store: brought up to date, marked as restored.
    Prepare,
    /// A restore keeps the store that it replaces.
    Keep,
    /// A restore puts a whole copy of the old store, log included, in its place, so that its log can be taken away.
    Fold,
    /// A restore takes the old store's log away.
    Clear,
    /// The new file gets its name.
    Place,
    /// It has it.
    Placed,
}

/// A backup that was made and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackedUp {
    /// Its file.
    pub path: PathBuf,
    /// Bytes of the file.
    pub bytes: u64,
    /// All that was answered before this instant is in it.
    pub taken_at: Timestamp,
    /// The schema's version.
    pub schema: u32,
    /// Events in it.
    pub events: u64,
    /// How far the store's log grew meanwhile, in bytes.
    pub log_growth: u64,
    /// How long writers were made to wait, so that it did not grow further.
    pub writers_waited: Duration,
}

/// Makes a backup of the store at `path`, in use or not, of this schema or an older one, as the new file `to`, with mode 0600.
///
/// It is made under another name, flushed, read back and checked to its last page, and then linked into place: what has the
/// name is whole. `stage` is told how far it is. The store is only read; its schema stays as it is.
///
/// # Errors
/// `backup_exists`, `backup_is_store`; why the store cannot be read (`store_…`) or the backup not written (`backup_…`);
/// `backup_unsound` where what was copied is damaged; `interrupted`. Nothing is left then.
pub fn backup(path: &Path, to: &Path, options: &Options, stage: &dyn Fn(Stage)) -> Result<BackedUp, StoreError> {
    let wait = options.wait();
    let found = file::inspect(path)?;
    if found == Found::Absent {
        return Err(error::at(path, ErrorKind::Invalid, "store_missing"));
    }
    refuse_place(path, to)?;
    if settled(path, found, &wait)? != Found::Store && take_over::recognise(path, &wait)?.is_some() {
        return Err(error::at(path, ErrorKind::Invalid, "store_article"));
    }
    known_version(path, options, &wait)?;
    let source = connection::open_reader(path, &wait)?;
    create::clear_abandoned(to, BACKUP);
    let temporary = Temporary::new(to, BACKUP, options).map_err(|cause| write_failed(to, &cause))?;
    let taken_at = options.clock.now();
    let copied = copy(path, &source, &temporary.path, to, options, stage)?;
    date(&temporary.path, taken_at).map_err(|cause| as_backup(to, error::sqlite(to, &cause)))?;
    stage(Stage::Check);
    forget_cached(&temporary.path).map_err(|cause| write_failed(to, &cause))?;
    let sound = check::whole(&temporary.path, &options.patience).map_err(|failed| as_backup(to, failed))?;
    plausible(to, sound, copied)?;
    let bytes = fs::metadata(&temporary.path).map_err(|cause| write_failed(to, &cause))?.len();
    stage(Stage::Place);
    if !create::publish(&temporary.path, to).map_err(|cause| write_failed(to, &cause))? {
        return Err(error::at(to, ErrorKind::Invalid, "backup_exists"));
    }
    stage(Stage::Placed);
    Ok(BackedUp {
        path: to.to_owned(),
        bytes,
        taken_at,
        schema: sound.version,
        events: sound.events,
        log_growth: copied.log_growth,
        writers_waited: copied.writers_waited,
    })
}

/// Refuses a place that has something, or that belongs to the store.
fn refuse_place(path: &Path, to: &Path) -> Result<(), StoreError> {
    let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
    let real = |path: &Path| -> PathBuf {
        let folder = fs::canonicalize(file::folder_of(path)).unwrap_or_else(|_| file::folder_of(path).to_owned());
        folder.join(path.file_name().unwrap_or(path.as_os_str()))
    };
    let store = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let belongs = ["", "-wal", "-shm", "-journal"].iter().any(|ending| file::beside(&store, ending) == real(to));
    if belongs || (file::identity(to).is_some() && file::identity(to) == file::identity(path)) {
        return Err(error::at(to, ErrorKind::Invalid, "backup_is_store"));
    }
    // A log beside it would one day be taken for its own.
    for ending in ["", "-wal", "-journal"] {
        let place = file::beside(to, ending);
        if is_there(&place) {
            return Err(error::at(&place, ErrorKind::Invalid, "backup_exists"));
        }
    }
    Ok(())
}

#[derive(Debug, Clone, Copy)]
struct Copied {
    newest: i64,
    log_growth: u64,
    writers_waited: Duration,
}

/// Copies one state of the store.
fn copy(
    path: &Path,
    source: &Connection,
    temporary: &Path,
    to: &Path,
    options: &Options,
    stage: &dyn Fn(Stage),
) -> Result<Copied, StoreError> {
    let from = |cause: rusqlite::Error| error::sqlite(path, &cause);
    let into = |cause: rusqlite::Error| as_backup(to, error::sqlite(to, &cause));
    source.execute_batch("BEGIN").map_err(from)?;
    // The first look fixes the state that is read from here on.
    let (newest, _) = check::newest(source).map_err(from)?;
    let page_bytes: u64 =
        source.query_row("PRAGMA page_size", [], |row| row.get::<_, i64>(0)).map_err(from)?.unsigned_abs();
    let mut target = connection::open_plain(temporary).map_err(into)?;
    // It is flushed as a whole before it counts.
    target.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").map_err(into)?;
    let mut brake = Brake::new(path, Bounds { growth: LOG_GROWTH_MAX, turn: TURN, between: BETWEEN_TURNS });
    {
        let backup = Backup::new(source, &mut target).map_err(into)?;
        loop {
            let step = backup.step(PAGES).map_err(into)?;
            let progress = backup.progress();
            let pages = |count: i32| u64::from(count.unsigned_abs()) * page_bytes;
            stage(Stage::Copy { done: pages(progress.pagecount - progress.remaining), of: pages(progress.pagecount) });
            if options.patience.is_over() {
                return Err(StoreError::new(ErrorKind::Unavailable, "interrupted"));
            }
            match step {
                StepResult::Done => break,
                StepResult::More => brake.look(),
                // Nothing that is ours locks either side: somebody has the temporary file.
                _ => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }
    source.execute_batch("COMMIT").map_err(from)?;
    target.close().map_err(|(_, cause)| into(cause))?;
    Ok(Copied { newest, log_growth: brake.grown, writers_waited: brake.waited() })
}

/// When writers are made to wait, and how long.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    growth: u64,
    turn: Duration,
    between: Duration,
}

/// Keeps the log of a store from growing without bound while one of its states is read for long.
struct Brake {
    bounds: Bounds,
    log: PathBuf,
    before: u64,
    grown: u64,
    /// `None` where the store cannot be written: then nobody of this user writes it either.
    connection: Option<Connection>,
    /// Since when writers wait.
    held: Option<Instant>,
    released: Option<Instant>,
    waited: Duration,
}

impl Brake {
    fn new(path: &Path, bounds: Bounds) -> Self {
        // SQLite follows links: the log stands beside the real file.
        let log = file::beside(&fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()), "-wal");
        let before = length(&log);
        let connection = connection::open_plain(path).ok();
        Self { bounds, log, before, grown: 0, connection, held: None, released: None, waited: Duration::ZERO }
    }

    /// Makes writers wait, or lets them go on for a moment.
    fn look(&mut self) {
        self.grown = self.grown.max(length(&self.log).saturating_sub(self.before));
        match self.held {
            Some(since) if since.elapsed() >= self.bounds.turn => self.release(),
            None if self.grown >= self.bounds.growth => self.hold(),
            _ => {}
        }
    }

    fn hold(&mut self) {
        let rested = self.released.is_none_or(|released| released.elapsed() >= self.bounds.between);
        // One that is busy is tried again after the next pages.
        if rested
            && let Some(connection) = &self.connection
            && connection.execute_batch("BEGIN IMMEDIATE").is_ok()
        {
            self.held = Some(Instant::now());
        }
    }

    fn release(&mut self) {
        if let (Some(since), Some(connection)) = (self.held.take(), &self.connection) {
            // It has written nothing; where this fails the lock ends with the connection.
            let _ = connection.execute_batch("ROLLBACK");
            self.waited += since.elapsed();
            self.released = Some(Instant::now());
        }
    }

    fn waited(mut self) -> Duration {
        self.release();
        self.waited
    }
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// Writes into the copy when it was taken. A schema that has no place for that goes without.
fn date(copy: &Path, taken_at: Timestamp) -> rusqlite::Result<()> {
    let connection = connection::open_plain(copy)?;
    if check::has_column(&connection, "store", "backed_up_at")? {
        connection.execute("UPDATE store SET backed_up_at = ?1", [taken_at.as_micros()])?;
    }
    // As the only one it moves the log into the file and removes it.
    connection.close().map_err(|(_, cause)| cause)
}

/// Flushes the file and lets the system forget what it has of it in memory: what is checked is what the disk holds.
pub(super) fn forget_cached(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    file.sync_all()?;
    #[cfg(target_os = "linux")]
    {
        use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
        // Only an advice: where it is not taken, the check reads memory.
        let _ = posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
    }
    Ok(())
}

/// What the copy holds must be what the store held.
fn plausible(to: &Path, sound: Sound, copied: Copied) -> Result<(), StoreError> {
    if sound.newest == copied.newest {
        return Ok(());
    }
    let cause = format!("max(seq): {}, not {}", sound.newest, copied.newest);
    Err(error::at(to, ErrorKind::Corrupt, "backup_unsound").with("cause", cause))
}

/// The system's refusal to write a backup.
fn write_failed(to: &Path, cause: &io::Error) -> StoreError {
    as_backup(to, error::io(to, cause))
}

/// An error about the backup's file, which is not the store.
pub(super) fn as_backup(to: &Path, failed: StoreError) -> StoreError {
    let code = match failed.code {
        "store_full" => "backup_full",
        "store_damaged" | "store_not_sqlite" => "backup_unsound",
        "interrupted" => return failed,
        _ => "backup_io",
    };
    let cause = failed.fact("cause").unwrap_or(failed.code).to_owned();
    error::at(to, failed.kind, code).with("cause", cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_wait_in_turns_once_the_log_has_grown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x)").unwrap();
        writer.busy_timeout(Duration::ZERO).unwrap();
        let write = || writer.execute("INSERT INTO t VALUES (zeroblob(20000))", []).is_ok();
        let moment = Duration::from_millis(20);
        let mut brake = Brake::new(&path, Bounds { growth: 50_000, turn: moment, between: moment });
        brake.look();
        assert!(write(), "nothing has grown yet");
        brake.look();
        assert!(write() && write());
        brake.look();
        assert!(brake.grown >= 50_000 && !write(), "it has grown enough");
        std::thread::sleep(moment);
        brake.look();
        brake.look();
        assert!(write(), "the turn is over, and the next one has not begun");
        std::thread::sleep(moment);
        brake.look();
        assert!(!write(), "the next turn");
        assert!(brake.waited() >= moment);
        assert!(write(), "at the end nobody waits");
    }
}
