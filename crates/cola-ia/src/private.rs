//! Files that hold secrets.

use std::fs::{OpenOptions, remove_file};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The place beside a store, whose file's name comes first: `cola_ia.sqlite3.admin-token`.
pub fn beside(store: &Path, what: &str) -> PathBuf {
    let mut name = store.file_name().unwrap_or_default().to_os_string();
    name.push(".");
    name.push(what);
    store.with_file_name(name)
}

/// Writes a line into a new file that its owner alone can read. One that is there gives place.
///
/// # Errors
/// The system's.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    // A link there is removed, not followed.
    match remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_secret_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = beside(&folder.path().join("s.sqlite3"), "admin-token");
        assert!(path.ends_with("s.sqlite3.admin-token"));
        std::fs::write(&path, "old").unwrap();
        write(&path, "new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new\n");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
