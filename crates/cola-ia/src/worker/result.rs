//! The file in which a command leaves its result.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::job::retry_after;
use cola_ia_core::store::RESULT_MAX_BYTES;

use crate::result_file::{ResultFault, ResultFile};

/// What a command left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LeftResult {
    /// What the file says.
    pub(crate) file: ResultFile,
    /// Its `retry_after`.
    pub(crate) retry_after: Option<Timestamp>,
    /// What of it could not be used.
    pub(crate) fault: Option<Fault>,
}

/// Why something in the file was not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is no JSON object; this is its beginning.
    NotAnObject(String),
    /// It is longer than may be.
    TooLong,
    /// The system's reason.
    Unreadable(String),
    /// A field that has not the value it should have. It is kept with the rest.
    Field(String),
}

/// Characters of a file that is no JSON object which are kept.
const TEXT_MAX_CHARS: usize = 1_000;

/// Reads the file at `path`. One that is missing or empty says nothing.
pub(crate) fn read(path: &Path, now: Timestamp) -> LeftResult {
    match read_bytes(path) {
        Ok(bytes) => parse(&bytes, now),
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => LeftResult::default(),
        Err(error) => LeftResult { fault: Some(Fault::Unreadable(error.to_string())), ..LeftResult::default() },
    }
}

fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    // The command may have put anything there; a pipe must not make the worker wait.
    let file = OpenOptions::new().read(true).custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(RESULT_MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn parse(bytes: &[u8], now: Timestamp) -> LeftResult {
    if bytes.trim_ascii().is_empty() {
        return LeftResult::default();
    }
    match ResultFile::read_what_can_be(bytes) {
        Ok((file, field)) => {
            let told = file.retry_after.as_deref();
            let retry_after = told.and_then(|told| retry_after(told, now));
            let unread = told.is_some() && retry_after.is_none();
            let field = field.or_else(|| unread.then(|| "retry_after".to_owned()));
            LeftResult { file, retry_after, fault: field.map(Fault::Field) }
        }
        Err(ResultFault::TooLong) => LeftResult { fault: Some(Fault::TooLong), ..LeftResult::default() },
        Err(ResultFault::NotAnObject | ResultFault::Field(_)) => {
            let text = String::from_utf8_lossy(bytes).trim().chars().take(TEXT_MAX_CHARS).collect();
            LeftResult { fault: Some(Fault::NotAnObject(text)), ..LeftResult::default() }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_000_000);

    fn of(text: &str) -> LeftResult {
        parse(text.as_bytes(), NOW)
    }

    #[test]
    fn what_can_be_used_is_used() {
        let left = of(r#" {"resource_id":"post-7","cost":-1,"retry_after":30,"z":1.10} "#);
        assert_eq!(left.file.resource_id.as_deref(), Some("post-7"));
        assert_eq!(left.file.rest.as_deref(), Some(r#"{"cost":-1,"z":1.10}"#));
        assert_eq!(left.retry_after, Some(NOW.after(Duration::from_secs(30))));
        assert_eq!(left.fault, Some(Fault::Field("cost".to_owned())));
        assert_eq!(of(r#"{"retry_after":"soon"}"#).fault, Some(Fault::Field("retry_after".to_owned())));
    }

    #[test]
    fn nothing_says_nothing() {
        for text in ["", " \n", "{}", r#"{"cost":null}"#] {
            assert_eq!(of(text), LeftResult::default(), "{text:?}");
        }
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(&folder.path().join("none"), NOW), LeftResult::default());
    }

    #[test]
    fn what_is_no_object_is_kept_as_text() {
        for text in ["null", "[1]", "done!", "{\"a\":1} {}", "{\"a\":"] {
            assert_eq!(of(text).fault, Some(Fault::NotAnObject(text.to_owned())));
        }
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(RESULT_MAX_BYTES));
        assert_eq!(of(&long).fault, Some(Fault::TooLong));
    }

    #[test]
    fn whatever_stands_at_the_path_makes_nobody_wait() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        for path in [folder.path(), &pipe, Path::new("/dev/zero")] {
            assert!(matches!(read(path, NOW).fault, Some(Fault::Unreadable(_))), "{}", path.display());
        }
    }
}
