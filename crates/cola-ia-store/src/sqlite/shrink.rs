//! What was removed leaves the file: the log, which has pages from before, is emptied; the file is written anew on request.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cola_ia_core::store::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::connection::{self, Wait};
use super::{error, file, writer};

/// Longest wait for whoever reads an older state of the store.
const READERS: Duration = Duration::from_secs(5);

/// What [`SqliteStore::shrink`](super::SqliteStore::shrink) did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shrunk {
    /// Bytes of the file and its log before.
    pub from: u64,
    /// And now. As many as before where somebody reads an older state: the log is then emptied later.
    pub to: u64,
}

/// Moves the log into the file and empties it. `false`: somebody is reading an older state of the store.
pub(super) async fn empty_log(path: PathBuf, wait: Wait) -> Result<bool, StoreError> {
    let (reply, answer) = oneshot::channel();
    // The caller's thread must not wait for a disk.
    std::thread::Builder::new()
        .name("store-empty-log".into())
        .spawn(move || {
            let opened = connection::open_plain(&path).map_err(|cause| error::sqlite(&path, &cause));
            // Who no longer waits wants no answer.
            let _ = reply.send(opened.and_then(|connection| empty(&connection, &path, &wait)));
        })
        .expect("the operating system gives a thread");
    answer.await.unwrap_or_else(|_| Err(writer::closed()))
}

fn empty(connection: &Connection, path: &Path, wait: &Wait) -> Result<bool, StoreError> {
    let start = Instant::now();
    loop {
        let is_empty = connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| Ok(row.get::<_, i64>(0)? == 0))
            .or_else(|cause| if error::is_busy(&cause) { Ok(false) } else { Err(cause) })
            .map_err(|cause| error::sqlite(path, &cause))?;
        if is_empty || start.elapsed() >= READERS.min(wait.limit) || wait.patience.is_over() {
            return Ok(is_empty);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Writes the file anew without its free pages.
pub(super) fn shrink(path: &Path, wait: &Wait) -> Result<Shrunk, StoreError> {
    let from = size(path);
    let connection = connection::open_plain(path).map_err(|cause| error::sqlite(path, &cause))?;
    wait.for_lock(path, || connection.execute_batch("VACUUM"))?;
    empty(&connection, path, wait)?;
    Ok(Shrunk { from, to: size(path) })
}

fn size(path: &Path) -> u64 {
    // SQLite follows links: the log stands beside the real file.
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
    bytes(&real) + bytes(&file::beside(&real, "-wal"))
}
