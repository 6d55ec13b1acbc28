//! Noticing that a store's file is a copy that was not made by `backup`.
//!
//! A copy of a file in use lacks what is in its log, and nothing in it says so. But a copy is another file, with another
//! number (inode); the store writes down its own. A file that was renamed keeps it; one that was copied, restored from an
//! archive or moved to another filesystem does not.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use cola_ia_core::clock::Timestamp;
use rusqlite::Connection;

use super::{check, file, filesystem};

/// The file's number. `None`: it is gone, or its filesystem may give it another one at any time.
fn number(path: &Path) -> Option<i64> {
    if !filesystem::keeps_inodes(file::folder_of(path)) {
        return None;
    }
    fs::metadata(path).ok().map(|metadata| metadata.ino() as i64)
}

/// Writes down that the store is at home in this file, inside the caller's transaction.
pub(super) fn settle(connection: &Connection, path: &Path) -> rusqlite::Result<()> {
    connection.execute("UPDATE store SET inode = ?1, copied_at = NULL", [number(path)]).map(|_| ())
}

/// Whether the store was at home in another file when it was last opened for intake.
pub(super) fn is_copy(connection: &Connection, path: &Path) -> rusqlite::Result<bool> {
    if !check::has_column(connection, "store", "inode")? {
        return Ok(false);
    }
    let home: Option<i64> = connection.query_row("SELECT inode FROM store", [], |row| row.get(0))?;
    Ok(home.is_some_and(|home| number(path).is_some_and(|here| here != home)))
}

/// Writes down where the store is, at most once a place. Answers whether it was found to be a copy.
pub(super) fn notice(connection: &Connection, path: &Path, now: Timestamp) -> rusqlite::Result<bool> {
    let Some(here) = number(path) else { return Ok(false) };
    if !check::has_column(connection, "store", "inode")? {
        return Ok(false);
    }
    // A statement of its own is a transaction; of two processes that notice at once, one changes the row.
    let home: Option<i64> = connection.query_row("SELECT inode FROM store", [], |row| row.get(0))?;
    if home == Some(here) {
        return Ok(false);
    }
    let copied_at = home.map(|_| now.as_micros());
    let changed = connection.execute(
        "UPDATE store SET inode = ?1, copied_at = coalesce(?2, copied_at) WHERE inode IS NOT ?1",
        (here, copied_at),
    )?;
    Ok(changed > 0 && copied_at.is_some())
}
