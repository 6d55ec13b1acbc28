//! Making a new store: whole, under another name, then linked into place.
//!
//! A store that appears under its name is complete and on the disk. A process killed midway leaves a file with another name
//! and no store; of several processes that start at once one links first, and the others use what it made.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cola_ia_core::store::StoreError;
use rusqlite::Connection;

use super::connection::{self, Wait};
use super::{Options, error, file, migrate};

/// Makes a store at `path` unless one appears there first. Answers whether it was this call that made it.
pub(super) fn create(path: &Path, options: &Options, wait: &Wait) -> Result<bool, StoreError> {
    clear_abandoned(path);
    let temporary = Temporary::new(path, options)?;
    let connection = connection::open_writer(&temporary.0, wait)?;
    initialise(&connection, options).map_err(|cause| error::sqlite(path, &cause))?;
    // Closing the only connection moves the log into the file and removes it.
    connection.close().map_err(|(_, cause)| error::sqlite(path, &cause))?;
    publish(&temporary.0, path).map_err(|cause| error::io(path, &cause))
}

fn initialise(connection: &Connection, options: &Options) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    for step in options.migrations {
        migrate::apply(connection, step)?;
    }
    sign(connection, options)?;
    connection.execute_batch("COMMIT")
}

/// Writes what the store is: its row, and the file's signature.
pub(super) fn sign(connection: &Connection, options: &Options) -> rusqlite::Result<()> {
    let (mut namespace, mut slot_key) = ([0_u8; 16], [0_u8; 16]);
    options.entropy.fill(&mut namespace);
    options.entropy.fill(&mut slot_key);
    connection.execute(
        "INSERT INTO store (one, namespace, slot_key, slot_bits, created_at, created_by) VALUES (1, ?1, ?2, ?3, ?4, ?5)",
        (namespace, slot_key, options.slot_bits, options.clock.now().as_micros(), env!("CARGO_PKG_VERSION")),
    )?;
    connection.pragma_update(None, "application_id", file::APPLICATION_ID)
}

fn publish(temporary: &Path, path: &Path) -> io::Result<bool> {
    File::open(temporary)?.sync_all()?;
    let linked = match fs::hard_link(temporary, path) {
        Ok(()) => Ok(true),
        Err(exists) if exists.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        // Some filesystems have no hard links; most of these can rename without replacing.
        Err(_) => rename_without_replacing(temporary, path),
    };
    File::open(file::folder_of(path))?.sync_all()?;
    linked
}

#[cfg(target_os = "linux")]
fn rename_without_replacing(from: &Path, to: &Path) -> io::Result<bool> {
    use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
    match renameat2(AT_FDCWD, from, AT_FDCWD, to, RenameFlags::RENAME_NOREPLACE) {
        Ok(()) => Ok(true),
        Err(nix::Error::EEXIST) => Ok(false),
        Err(other) => Err(other.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn rename_without_replacing(_from: &Path, _to: &Path) -> io::Result<bool> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

/// How old a file of this kind must be to be nobody's: making a store takes a moment.
const ABANDONED_AFTER: Duration = Duration::from_mins(10);

/// Removes what processes left that were killed while they made a store here.
fn clear_abandoned(path: &Path) {
    let Ok(entries) = fs::read_dir(file::folder_of(path)) else { return };
    let prefix = temporary_prefix(path);
    for entry in entries.flatten() {
        let ours = entry.file_name().as_encoded_bytes().starts_with(prefix.as_encoded_bytes());
        let age = entry.metadata().ok().and_then(|metadata| metadata.modified().ok()?.elapsed().ok());
        if ours && age.is_some_and(|age| age > ABANDONED_AFTER) {
            // Whatever stands in the way stands there the next time too.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn temporary_prefix(path: &Path) -> OsString {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or(path.as_os_str()));
    name.push(".new-");
    name
}

/// A file beside the store, removed when dropped.
struct Temporary(PathBuf);

impl Temporary {
    fn new(path: &Path, options: &Options) -> Result<Self, StoreError> {
        let mut random = [0_u8; 8];
        options.entropy.fill(&mut random);
        let mut name = temporary_prefix(path);
        name.push(format!("{:016x}", u64::from_ne_bytes(random)));
        let temporary = Self(file::folder_of(path).join(name));
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary.0);
        made.map_err(|cause| error::io(path, &cause))?;
        Ok(temporary)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        for ending in ["", "-wal", "-shm"] {
            // Missing ones are the rule.
            let _ = fs::remove_file(file::beside(&self.0, ending));
        }
    }
}
