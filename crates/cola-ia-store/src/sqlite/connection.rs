//! Connections, and how long a lock is waited for.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cola_ia_core::store::{ErrorKind, StoreError};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::error;

/// Bytes of a page of a new store, in its file and in its log. SQLite's own 4,096 make a quarter more system calls of a large
/// intake; 16,384 make a quarter less of single commits (measured, see docs/decisions/0004).
const PAGE_BYTES: u32 = 8_192;
/// Pages of the write-ahead log after which they are moved into the file: 64 MiB. Large enough that a batch of random ids is
/// not moved twice (measured: +27 % over 1,000 pages), small enough to be moved in a moment.
pub(super) const WAL_PAGES: u32 = (64 << 20) / PAGE_BYTES;
/// Pages at which the writer itself moves what is left: 128 MiB bound the log while it is written to without a pause, where
/// nobody reads; `checkpoint.rs` says what bounds it where somebody does.
pub(super) const WAL_PAGES_MAX: u32 = 2 * WAL_PAGES;
/// The page cache of the writer. A batch goes through the tables in key order, so a larger one gained nothing.
const WRITER_CACHE_KIB: u32 = 16_384;

/// Told while a lock is waited for, and asked whether to go on.
pub trait Patience: Send + Sync {
    /// Somebody else has held the lock for so long. Called now and then.
    fn waiting(&self, waited: Duration) {
        let _ = waited;
    }

    /// Whether to stop waiting.
    fn is_over(&self) -> bool {
        false
    }
}

/// Waits quietly.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Patience for Quiet {}

/// How long a lock is waited for, and who is told.
#[derive(Clone)]
pub(super) struct Wait {
    pub(super) limit: Duration,
    pub(super) patience: Arc<dyn Patience>,
}

/// SQLite's own steps of waiting end here, so that an interrupt is noticed soon.
pub(super) const STEP: Duration = Duration::from_millis(100);

impl Wait {
    /// Repeats `call` while SQLite says that the lock is held.
    pub(super) fn for_lock<T>(
        &self,
        path: &Path,
        mut call: impl FnMut() -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let start = Instant::now();
        loop {
            let busy = match call() {
                Ok(value) => return Ok(value),
                Err(busy) if error::is_busy(&busy) => busy,
                Err(other) => return Err(error::sqlite(path, &other)),
            };
            let waited = start.elapsed();
            if self.patience.is_over() {
                return Err(StoreError::new(ErrorKind::Unavailable, "interrupted"));
            }
            if waited >= self.limit {
                return Err(error::sqlite(path, &busy).with("seconds", format!("{:.1}", waited.as_secs_f64())));
            }
            self.patience.waiting(waited);
            // Some answers of "busy" come at once (while another process recovers the log), without SQLite's own wait.
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// SQLite reads some names as its own (`:memory:`, the empty one); an absolute path is always a file.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn open(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(absolute(path), flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(STEP)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // A plan never depends on the values that are bound. Otherwise SQLite may look at them where there are partial indices,
    // and then prepares such a statement anew each time one of them changes.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(128);
    Ok(connection)
}

/// A connection to a file that exists and is not yet known to be a store.
pub(super) fn open_plain(path: &Path) -> rusqlite::Result<Connection> {
    open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

/// A connection that writes. The file must exist.
///
/// An answer is given only after its commit is on the disk: `synchronous = FULL` makes each commit flush the log.
///
/// What is freed is overwritten with zeros, always and not only while something is erased: a row that grows by a count or a
/// decision is moved, and would leave its text behind where nobody finds it any more.
pub(super) fn open_writer(path: &Path, wait: &Wait) -> Result<Connection, StoreError> {
    let connection = open_plain(path).map_err(|cause| error::sqlite(path, &cause))?;
    // Means something to a file that is still empty.
    connection.pragma_update(None, "page_size", PAGE_BYTES).map_err(|cause| error::sqlite(path, &cause))?;
    let mode: String =
        wait.for_lock(path, || connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)))?;
    if mode != "wal" {
        let cause = format!("the write-ahead log cannot be used here: journal_mode is {mode}");
        return Err(error::at(path, ErrorKind::Unavailable, "store_io").with("cause", cause));
    }
    connection
        .execute_batch(&format!(
            "PRAGMA synchronous = FULL;
             PRAGMA wal_autocheckpoint = {WAL_PAGES_MAX};
             PRAGMA journal_size_limit = {};
             PRAGMA cache_size = -{WRITER_CACHE_KIB};
             PRAGMA cell_size_check = ON;
             PRAGMA secure_delete = ON;
             PRAGMA temp_store = MEMORY;",
            u64::from(WAL_PAGES_MAX) * u64::from(PAGE_BYTES),
        ))
        .map_err(|cause| error::sqlite(path, &cause))?;
    Ok(connection)
}

/// A connection for views. Works on a folder that cannot be written, as far as SQLite can.
pub(super) fn open_reader(path: &Path, wait: &Wait) -> Result<Connection, StoreError> {
    // Read-write where possible: the last connection then clears the log away; a read-only one would leave it lying about.
    let connection = open_plain(path).map_err(|cause| error::sqlite(path, &cause))?;
    let tried = wait.for_lock(path, || connection.query_row("PRAGMA schema_version", [], |row| row.get::<_, i64>(0)));
    let connection = match tried {
        Ok(_) => connection,
        Err(failed) if failed.code == "store_not_writable" && !has_log(path) => open_frozen(path)?,
        Err(failed) => return Err(failed),
    };
    connection
        .execute_batch("PRAGMA query_only = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192;")
        .map_err(|cause| error::sqlite(path, &cause))?;
    connection.busy_timeout(wait.limit).map_err(|cause| error::sqlite(path, &cause))?;
    Ok(connection)
}

/// Whether the write-ahead log has something that the file has not.
fn has_log(path: &Path) -> bool {
    // SQLite follows links: the log stands beside the real file.
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    std::fs::metadata(super::file::beside(&real, "-wal")).is_ok_and(|log| log.len() > 0)
}

/// A connection to look at what may not be touched, somebody else's or of a newer program: nothing is recovered or written,
/// not even on closing.
pub(super) fn open_untouched(path: &Path) -> Result<Connection, StoreError> {
    if !has_log(path) {
        if super::file::has_log_mode(path) {
            // Nothing is in a log, so the file is whole; whoever has it open writes to a log first.
            return open_frozen(path);
        }
        // Somebody may be writing: the locks are needed. A connection that only reads cannot roll anything back.
        let connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(|cause| error::sqlite(path, &cause))?;
        return match connection.query_row("PRAGMA schema_version", [], |_| Ok(())) {
            Err(hot) if error::is_read_only(&hot) => open_frozen(path),
            _ => Ok(connection),
        };
    }
    // What counts may be in the log only.
    let connection = open_plain(path).map_err(|cause| error::sqlite(path, &cause))?;
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .map_err(|cause| error::sqlite(path, &cause))?;
    Ok(connection)
}

/// A connection to look at a store that may be in use, or damaged: nothing is written, and what a killed process left in
/// the log is not moved into the file.
pub(super) fn open_to_look(path: &Path, wait: &Wait) -> Result<Connection, StoreError> {
    let sqlite = |cause: rusqlite::Error| error::sqlite(path, &cause);
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if super::file::length_of_side(&real, "-journal") > 0 {
        // Any other connection would roll it back.
        return open_frozen(path);
    }
    let has_log = has_log(path);
    let connection = open_plain(path).map_err(sqlite)?;
    if has_log {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(sqlite)?;
    }
    let looked = wait.for_lock(path, || connection.query_row("PRAGMA schema_version", [], |row| row.get::<_, i64>(0)));
    let connection = match looked {
        Ok(_) => connection,
        Err(failed) if failed.code == "store_not_writable" && !has_log => open_frozen(path)?,
        Err(failed) => return Err(failed),
    };
    connection
        .execute_batch("PRAGMA query_only = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -65536; PRAGMA cell_size_check = ON")
        .map_err(sqlite)?;
    Ok(connection)
}

/// Where not even the log's index can be made, nobody writes: the file is read as it stands.
pub(super) fn open_frozen(path: &Path) -> Result<Connection, StoreError> {
    let path_in_uri: String = absolute(path)
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .map(|byte| match byte {
            b'/' | b'.' | b'_' | b'-' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => char::from(*byte).to_string(),
            other => format!("%{other:02x}"),
        })
        .collect();
    let uri = format!("file:{path_in_uri}?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(uri, flags).map_err(|cause| error::sqlite(path, &cause))
}
