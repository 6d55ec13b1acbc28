//! SQLite's errors in the words of the store.

use std::fmt::Display;
use std::path::Path;

use cola_ia_core::store::{ErrorKind, StoreError};
use rusqlite::ErrorCode;

/// An error about the file at `path`.
pub(super) fn at(path: &Path, kind: ErrorKind, code: &'static str) -> StoreError {
    StoreError::new(kind, code).with("path", path.display())
}

/// What an error of the operating system means for the file at `path`.
pub(super) fn io(path: &Path, error: &std::io::Error) -> StoreError {
    use std::io::ErrorKind as Io;
    let code = match error.kind() {
        Io::PermissionDenied | Io::ReadOnlyFilesystem => "store_not_writable",
        Io::StorageFull | Io::QuotaExceeded | Io::FileTooLarge => "store_full",
        _ => "store_io",
    };
    at(path, ErrorKind::Unavailable, code).with("cause", error)
}

/// What an error of the operating system means that came while the file at `path` was only looked at.
pub(super) fn read(path: &Path, error: &std::io::Error) -> StoreError {
    if error.kind() == std::io::ErrorKind::PermissionDenied {
        return at(path, ErrorKind::Unavailable, "store_not_readable").with("cause", error);
    }
    io(path, error)
}

/// What an error of SQLite means for the file at `path`. By code, never by message.
pub(super) fn sqlite(path: &Path, error: &rusqlite::Error) -> StoreError {
    // No other trigger of ours refuses anything.
    let refused =
        error.sqlite_error().map(|failure| failure.extended_code) == Some(rusqlite::ffi::SQLITE_CONSTRAINT_TRIGGER);
    if refused {
        return at(path, ErrorKind::Conflict, "store_moved");
    }
    let (kind, code) = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => (ErrorKind::Unavailable, "store_full"),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            (ErrorKind::Unavailable, "store_not_writable")
        }
        Some(ErrorCode::NotADatabase) => (ErrorKind::Corrupt, "store_not_sqlite"),
        // A broken constraint cannot come from a caller: the statements leave no room for one. What is not SQLite's is a value
        // of a type that we never wrote, or a row that must be there and is not.
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::ConstraintViolation) | None => {
            (ErrorKind::Corrupt, "store_damaged")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (ErrorKind::Unavailable, "store_locked"),
        Some(_) => (ErrorKind::Unavailable, "store_io"),
    };
    at(path, kind, code).with("cause", cause(error))
}

/// SQLite's message with its extended code, by which its manual is searched.
fn cause(error: &rusqlite::Error) -> impl Display {
    match error {
        rusqlite::Error::SqliteFailure(failure, message) => {
            format!("{} (SQLite {})", message.clone().unwrap_or_else(|| failure.to_string()), failure.extended_code)
        }
        other => other.to_string(),
    }
}

/// Whether SQLite says that somebody else holds the lock.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

/// Whether SQLite says that it would have to write: here, to roll back what a killed process left.
pub(super) fn is_read_only(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}
