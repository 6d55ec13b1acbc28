//! What stands at a path, found out without letting SQLite touch it.
//!
//! SQLite makes an empty database of a file that is missing, and replays or deletes side files that it finds. A store that
//! is lost, cut off or somebody else's must not be answered with an empty one, so the path is looked at first.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use cola_ia_core::store::{ErrorKind, StoreError};

use super::error;

/// "COLA" in the header's field for it (<https://www.sqlite.org/fileformat2.html#application_id>).
pub(super) const APPLICATION_ID: u32 = 0x434F_4C41;

/// What stands at the path of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing, and no sign that something stood there.
    Absent,
    /// A store of ours, of whatever version.
    Store,
    /// Signed as ours, but without a write-ahead log: a take-over has just ended, is under way, or was killed while it wrote.
    /// Only SQLite, which knows the locks and the rollback journal, can tell.
    Claimed,
    /// A database that no program has signed: the article's, or somebody's.
    Unsigned,
}

/// Looks at the path.
///
/// # Errors
/// Whatever else stands there, each by its own code; nothing is changed.
pub(super) fn inspect(path: &Path) -> Result<Found, StoreError> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => return absent(path),
        Err(other) => return Err(error::read(path, &other)),
    };
    if !metadata.is_file() {
        return Err(error::at(path, ErrorKind::Invalid, "store_not_a_file"));
    }
    if metadata.len() == 0 {
        return Err(error::at(path, ErrorKind::Corrupt, "store_empty_file"));
    }
    let Some(header) = header(path, &metadata).map_err(|cause| error::read(path, &cause))? else {
        return Err(error::at(path, ErrorKind::Corrupt, "store_not_sqlite"));
    };
    match (header.application_id, header.user_version) {
        (APPLICATION_ID, _) if header.has_log => Ok(Found::Store),
        (APPLICATION_ID, _) => Ok(Found::Claimed),
        (0, 0) => Ok(Found::Unsigned),
        (application_id, user_version) => {
            let what = format!("application_id {application_id:#010x}, user_version {user_version}");
            Err(error::at(path, ErrorKind::Corrupt, "store_foreign").with("what", what))
        }
    }
}

/// A missing file whose side files are still there is a lost store, not a new one.
fn absent(path: &Path) -> Result<Found, StoreError> {
    if let Ok(link) = fs::symlink_metadata(path)
        && link.is_symlink()
    {
        let cause = "a symbolic link to nothing";
        return Err(error::at(path, ErrorKind::Invalid, "store_io").with("cause", cause));
    }
    for ending in ["-wal", "-journal"] {
        let side = beside(path, ending);
        if fs::symlink_metadata(&side).is_ok() {
            return Err(error::at(path, ErrorKind::Corrupt, "store_wal_orphan").with("wal", side.display()));
        }
    }
    let folder = folder_of(path);
    match fs::metadata(folder) {
        Ok(metadata) if metadata.is_dir() => Ok(Found::Absent),
        Ok(_) => Err(error::at(path, ErrorKind::Invalid, "store_parent_missing")),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => {
            Err(error::at(path, ErrorKind::Invalid, "store_parent_missing"))
        }
        Err(other) => Err(error::io(path, &other)),
    }
}

/// Which file it is, links followed: its device and its number there. Another one under the same name was put in its place.
pub(super) fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Bytes of a side file; 0 where there is none.
pub(super) fn length_of_side(path: &Path, ending: &str) -> u64 {
    fs::metadata(beside(path, ending)).map_or(0, |metadata| metadata.len())
}

/// The path with an ending, as SQLite names its side files.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// The folder that holds the file.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Whether the header says that the file goes with a write-ahead log. `false` where it cannot be read.
pub(super) fn has_log_mode(path: &Path) -> bool {
    let read = || header(path, &fs::metadata(path)?);
    read().is_ok_and(|header: Option<Header>| header.is_some_and(|header| header.has_log))
}

/// Fields of a database's header.
pub(super) struct Header {
    pub(super) has_log: bool,
    pub(super) user_version: u32,
    pub(super) application_id: u32,
    pub(super) page_bytes: u64,
    /// Pages of the file, as it says.
    pub(super) pages: u64,
}

/// Files whose headers were read, kept open for ever: closing any descriptor of a file drops all of the process's POSIX
/// locks on it (<https://www.sqlite.org/howtocorrupt.html>, section 2.2), those of an open connection too.
static READ_ONCE: LazyLock<Mutex<HashMap<(u64, u64), File>>> = LazyLock::new(Mutex::default);

/// The header's fields, `None` where the file has no SQLite header.
/// Offsets: <https://www.sqlite.org/fileformat2.html#the_database_header>.
fn header(path: &Path, metadata: &fs::Metadata) -> io::Result<Option<Header>> {
    let Some(bytes) = start_of::<100>(path, metadata)? else { return Ok(None) };
    let number = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let is_sqlite = bytes.starts_with(b"SQLite format 3\0");
    // 65,536 does not fit: 1 stands for it.
    let page_bytes = match u16::from_be_bytes([bytes[16], bytes[17]]) {
        1 => 65_536,
        bytes => u64::from(bytes),
    };
    Ok(is_sqlite.then(|| Header {
        has_log: bytes[18] == 2,
        user_version: number(60),
        application_id: number(68),
        page_bytes,
        pages: number(28).into(),
    }))
}

/// The header of the file at the path, `None` where it has none.
///
/// # Errors
/// What the operating system says.
pub(super) fn read_header(path: &Path) -> io::Result<Option<Header>> {
    header(path, &fs::metadata(path)?)
}

/// The first bytes of a file, `None` where it is shorter.
pub(super) fn start_of<const N: usize>(path: &Path, metadata: &fs::Metadata) -> io::Result<Option<[u8; N]>> {
    let mut files = READ_ONCE.lock().unwrap_or_else(PoisonError::into_inner);
    let file = match files.entry((metadata.dev(), metadata.ino())) {
        std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
        std::collections::hash_map::Entry::Vacant(place) => place.insert(File::open(path)?),
    };
    let mut bytes = [0; N];
    match file.read_exact_at(&mut bytes, 0) {
        Ok(()) => Ok(Some(bytes)),
        Err(short) if short.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(other) => Err(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_for(prepare: impl FnOnce(&Path)) -> Result<Found, &'static str> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        prepare(&path);
        inspect(&path).map_err(|error| error.code)
    }

    #[test]
    fn nothing_is_absent() {
        assert_eq!(code_for(|_| ()), Ok(Found::Absent));
    }

    #[test]
    fn what_is_not_a_store_is_named() {
        assert_eq!(code_for(|path| fs::write(path, "").unwrap()), Err("store_empty_file"));
        assert_eq!(code_for(|path| fs::write(path, "a text").unwrap()), Err("store_not_sqlite"));
        assert_eq!(code_for(|path| fs::write(path, "x".repeat(5000)).unwrap()), Err("store_not_sqlite"));
        assert_eq!(code_for(|path| fs::write(path, "SQLite format 3\0").unwrap()), Err("store_not_sqlite"));
        assert_eq!(code_for(|path| fs::create_dir(path).unwrap()), Err("store_not_a_file"));
        assert_eq!(code_for(|path| fs::write(beside(path, "-wal"), "").unwrap()), Err("store_wal_orphan"));
        assert_eq!(code_for(|path| fs::write(beside(path, "-journal"), "x").unwrap()), Err("store_wal_orphan"));
        assert_eq!(code_for(|path| std::os::unix::fs::symlink("nowhere", path).unwrap()), Err("store_io"));
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(inspect(&folder.path().join("no/store")).unwrap_err().code, "store_parent_missing");
    }

    #[test]
    fn another_programs_database_is_foreign() {
        let signed = |pragma: &'static str| {
            code_for(|path| {
                let other = rusqlite::Connection::open(path).unwrap();
                other.execute_batch(&format!("CREATE TABLE t(x); PRAGMA {pragma};")).unwrap();
            })
        };
        assert_eq!(signed("application_id = 7"), Err("store_foreign"));
        assert_eq!(signed("user_version = 7"), Err("store_foreign"));
        assert_eq!(signed("user_version = 0"), Ok(Found::Unsigned));
    }
}
