//! Whether anybody uses a store's file, and keeping everybody out of it for a moment.
//!
//! SQLite locks bytes of the file from 1 GiB on (<https://www.sqlite.org/lockingv3.html>). Where there is a write-ahead log,
//! every connection that has read anything keeps its shared lock for as long as it is open, so idle ones are seen too. What
//! is not seen: a connection that has been opened and has read nothing yet. Ours look again whether their file still
//! stands at its path once they have read (`SqliteStore::open`).

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;

/// Where SQLite's locks begin, and how many bytes they take: one pending, one reserved, 510 shared.
const FIRST: libc::off_t = 0x4000_0000;
const BYTES: libc::off_t = 512;

/// Nobody else has a lock on the file, and nobody gets one while this lives.
#[derive(Debug)]
pub(super) struct Exclusive {
    _file: File,
}

/// Takes the file for this process alone. `None`: somebody has it open.
///
/// # Errors
/// It cannot be opened for writing, or the system has no such locks there.
pub(super) fn exclude(path: &Path) -> io::Result<Option<Exclusive>> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let lock = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: FIRST,
        l_len: BYTES,
        l_pid: 0,
    };
    match set(&file, &lock) {
        Ok(_) => Ok(Some(Exclusive { _file: file })),
        Err(Errno::EAGAIN | Errno::EACCES) => Ok(None),
        Err(other) => Err(other.into()),
    }
}

/// Of the open file, not of the process: it also shuts out connections of this very process, and does not end when another
/// descriptor of the file is closed.
#[cfg(target_os = "linux")]
fn set(file: impl AsFd, lock: &libc::flock) -> nix::Result<libc::c_int> {
    fcntl(file, FcntlArg::F_OFD_SETLK(lock))
}

#[cfg(not(target_os = "linux"))]
fn set(file: impl AsFd, lock: &libc::flock) -> nix::Result<libc::c_int> {
    fcntl(file, FcntlArg::F_SETLK(lock))
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn an_idle_reader_is_seen_and_kept_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        let first = Connection::open(&path).unwrap();
        first.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x)").unwrap();
        assert!(exclude(&path).unwrap().is_none(), "one that has written is open");
        drop(first);
        let idle = Connection::open(&path).unwrap();
        let count = || idle.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0));
        let taken = exclude(&path).unwrap();
        assert!(taken.is_some(), "one that has read nothing is not seen");
        idle.busy_timeout(std::time::Duration::ZERO).unwrap();
        assert!(count().is_err(), "and gets nothing meanwhile");
        drop(taken);
        assert_eq!(count().unwrap(), 0);
        assert!(exclude(&path).unwrap().is_none(), "one that has read is seen, though it does nothing now");
    }
}
