//! A consistent copy of a database as one file.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use cola_ia_core::store::StoreError;
use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags};

use super::{connection, error, file};

/// Pages copied at a time.
const PAGES: i32 = 1_000;

/// Copies the database at `from` to `to`: all that was committed, on the disk before this returns, readable by the owner
/// only. The source may be in use, also by a transaction of the caller on another connection.
///
/// It is made under another name, so that half a copy is never mistaken for a whole one. The caller sees to it that only one
/// process copies to `to` at a time.
///
/// # Errors
/// Whatever SQLite or the operating system says; nothing is left then.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), StoreError> {
    let partial = file::beside(to, ".partial");
    // Left by a process that was killed.
    let _ = fs::remove_file(&partial);
    let made = make(from, &partial).and_then(|()| publish(&partial, to).map_err(|cause| error::io(to, &cause)));
    if made.is_err() {
        let _ = fs::remove_file(&partial);
    }
    made
}

fn publish(partial: &Path, to: &Path) -> io::Result<()> {
    File::open(partial)?.sync_all()?;
    fs::rename(partial, to)?;
    File::open(file::folder_of(to))?.sync_all()
}

fn make(from: &Path, to: &Path) -> Result<(), StoreError> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(to).map_err(|cause| error::io(to, &cause))?;
    let source = connection::open_plain(from).map_err(|cause| error::sqlite(from, &cause))?;
    let mut target = Connection::open_with_flags(to, OpenFlags::SQLITE_OPEN_READ_WRITE)
        .map_err(|cause| error::sqlite(to, &cause))?;
    {
        let backup = Backup::new(&source, &mut target).map_err(|cause| error::sqlite(to, &cause))?;
        backup.run_to_completion(PAGES, std::time::Duration::ZERO, None).map_err(|cause| error::sqlite(to, &cause))?;
    }
    target.close().map_err(|(_, cause)| error::sqlite(to, &cause))
}
