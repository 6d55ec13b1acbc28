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
    clear_abandoned(path, NEW);
    let temporary = Temporary::new(path, NEW, options).map_err(|cause| error::io(path, &cause))?;
    let connection = connection::open_writer(&temporary.path, wait)?;
    initialise(&connection, options).map_err(|cause| error::sqlite(path, &cause))?;
    // Closing the only connection moves the log into the file and removes it.
    connection.close().map_err(|(_, cause)| error::sqlite(path, &cause))?;
    publish(&temporary.path, path).map_err(|cause| error::io(path, &cause))
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

/// Gives a file its name, unless something has it: `false`. It is on the disk then.
pub(super) fn publish(temporary: &Path, path: &Path) -> io::Result<bool> {
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

/// The kinds of files that are made beside their place, by what stands in their names: `.NAME.new-0123456789abcdef`.
pub(super) const NEW: &str = ".new-";
pub(super) const BACKUP: &str = ".backup-";
pub(super) const RESTORE: &str = ".restore-";
pub(super) const FOLDED: &str = ".folded-";

/// How old a file of these kinds must be to be nobody's: whoever makes one locks it a moment later.
pub(super) const ABANDONED_AFTER: Duration = Duration::from_mins(10);

/// Removes what processes left that were killed while they made a file of this kind for this place.
pub(super) fn clear_abandoned(path: &Path, kind: &str) {
    for left in abandoned(path, kind) {
        remove_with_sides(&left);
    }
}

/// What processes left that were killed while they made a file of this kind for this place.
pub(super) fn abandoned(path: &Path, kind: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(file::folder_of(path)) else { return Vec::new() };
    let prefix = temporary_prefix(path, kind);
    let is_random = |name: &[u8]| name.len() == 16 && name.iter().all(u8::is_ascii_hexdigit);
    let is_ours = |name: &[u8]| name.strip_prefix(prefix.as_encoded_bytes()).is_some_and(is_random);
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| is_ours(entry.file_name().as_encoded_bytes()))
        .map(|entry| entry.path())
        .filter(|path| is_abandoned(path))
        .collect();
    found.sort_unstable();
    found
}

fn is_abandoned(path: &Path) -> bool {
    let age = fs::metadata(path).ok().and_then(|metadata| metadata.modified().ok()?.elapsed().ok());
    age.is_some_and(|age| age > ABANDONED_AFTER) && File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

fn temporary_prefix(path: &Path, kind: &str) -> OsString {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or(path.as_os_str()));
    name.push(kind);
    name
}

/// A file beside its place, with mode 0600, removed when dropped. While it lives nobody takes it for abandoned.
pub(super) struct Temporary {
    pub(super) path: PathBuf,
    _lock: File,
}

impl Temporary {
    pub(super) fn new(path: &Path, kind: &str, options: &Options) -> io::Result<Self> {
        let mut random = [0_u8; 8];
        options.entropy.fill(&mut random);
        let mut name = temporary_prefix(path, kind);
        name.push(format!("{:016x}", u64::from_ne_bytes(random)));
        let place = file::folder_of(path).join(name);
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&place)?;
        // Where there are no locks, the age alone must do.
        let _ = made.try_lock();
        Ok(Self { path: place, _lock: made })
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        remove_with_sides(&self.path);
    }
}

fn remove_with_sides(path: &Path) {
    for ending in ["", "-wal", "-shm", "-journal"] {
        // Missing ones are the rule; whatever stands in the way stands there the next time too.
        let _ = fs::remove_file(file::beside(path, ending));
    }
}
