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

use super::{check, file, filesystem, restored};

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

/// What is to be written down with the first thing that is written to a store: not before, so that one that turns out to
/// be damaged stays as it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Arrival {
    /// It is a backup that was put in place without `restore`.
    pub(super) backup_in_place: bool,
    /// It was at home in another file.
    pub(super) copied: bool,
    /// It is not known where it was at home.
    pub(super) unknown: bool,
}

impl Arrival {
    pub(super) const fn is_news(self) -> bool {
        self.backup_in_place || self.copied || self.unknown
    }
}

/// Looks where the store is and what it is.
pub(super) fn arrival(connection: &Connection, path: &Path) -> rusqlite::Result<Arrival> {
    if !check::has_column(connection, "store", "inode")? {
        return Ok(Arrival::default());
    }
    let (home, backup_in_place): (Option<i64>, bool) = connection.query_row(
        "SELECT inode, backed_up_at IS NOT NULL AND coalesce(restored_at < backed_up_at, true) FROM store",
        [],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let here = number(path);
    let elsewhere = here.is_some() && home.is_some() && here != home;
    Ok(Arrival { backup_in_place, copied: elsewhere && !backup_in_place, unknown: home.is_none() && here.is_some() })
}

/// Writes down what [`arrival`] finds, inside the caller's transaction: a backup is marked, as `restore` would have marked
/// it.
pub(super) fn arrive(connection: &Connection, path: &Path, now: Timestamp, fold_after: u32) -> rusqlite::Result<()> {
    // Another process may have done it meanwhile.
    let arrival = arrival(connection, path)?;
    if arrival.backup_in_place {
        restored::set(connection, now, now, fold_after)?;
    }
    if arrival.is_news() {
        settle(connection, path)?;
    }
    if arrival.copied {
        connection.execute("UPDATE store SET copied_at = ?1", [now.as_micros()])?;
    }
    Ok(())
}
