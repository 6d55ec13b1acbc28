//! The file in which a command leaves its result.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::cost::cost_micros;
use cola_ia_core::job::retry_after;
use cola_ia_core::store::RESULT_MAX_BYTES;
use serde_json::value::RawValue;

/// What the file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ResultFile {
    pub(super) resource_id: Option<String>,
    pub(super) cost_micros: Option<i64>,
    pub(super) tokens_in: Option<i64>,
    pub(super) tokens_out: Option<i64>,
    pub(super) model: Option<String>,
    pub(super) retry_after: Option<Timestamp>,
    pub(super) error_class: Option<String>,
    pub(super) error: Option<String>,
    /// Everything else, a JSON object.
    pub(super) rest: Option<String>,
    /// What of it could not be used.
    pub(super) faults: Vec<Fault>,
}

/// Why something in the file was not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is no JSON object; this is its beginning.
    NotAnObject(String),
    /// It is longer than may be.
    TooLong,
    /// The system's reason.
    Unreadable(String),
    /// A field that has not the value it should have. It is kept with everything else.
    Field(&'static str),
}

/// Characters of a file that is no JSON object which are kept.
const TEXT_MAX_CHARS: usize = 1_000;

/// Reads the file at `path`. One that is missing or empty says nothing.
pub(super) fn read(path: &Path, now: Timestamp) -> ResultFile {
    let bytes = match read_bytes(path) {
        Ok(bytes) => bytes,
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => return ResultFile::default(),
        Err(error) => return ResultFile::of_fault(Fault::Unreadable(error.to_string())),
    };
    parse(&bytes, now)
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

fn parse(bytes: &[u8], now: Timestamp) -> ResultFile {
    if bytes.len() > RESULT_MAX_BYTES {
        return ResultFile::of_fault(Fault::TooLong);
    }
    if bytes.trim_ascii().is_empty() {
        return ResultFile::default();
    }
    // Values stay as they were written: no number goes through floating point.
    let Ok(mut fields) = serde_json::from_slice::<BTreeMap<String, Box<RawValue>>>(bytes) else {
        let text: String = String::from_utf8_lossy(bytes).trim().chars().take(TEXT_MAX_CHARS).collect();
        return ResultFile::of_fault(Fault::NotAnObject(text));
    };
    let mut faults = Vec::new();
    let mut take = Taker { fields: &mut fields, faults: &mut faults };
    let mut result = ResultFile {
        resource_id: take.field("resource_id", |value| text(value).or_else(|| number(value))),
        cost_micros: take.field("cost", |value| cost_micros(&text(value).or_else(|| number(value))?)),
        tokens_in: take.field("tokens_in", count),
        tokens_out: take.field("tokens_out", count),
        model: take.field("model", text),
        retry_after: take.field("retry_after", |value| retry_after(&text(value).or_else(|| number(value))?, now)),
        error_class: take.field("error_class", text),
        error: take.field("error", text),
        ..ResultFile::default()
    };
    result.faults = faults;
    // What was read from JSON can be written as JSON.
    result.rest = (!fields.is_empty()).then(|| serde_json::to_string(&fields).unwrap_or_default());
    result
}

impl ResultFile {
    fn of_fault(fault: Fault) -> Self {
        Self { faults: vec![fault], ..Self::default() }
    }
}

struct Taker<'a> {
    fields: &'a mut BTreeMap<String, Box<RawValue>>,
    faults: &'a mut Vec<Fault>,
}

impl Taker<'_> {
    /// The field's value, where it has one; `null` is none. What cannot be read stays.
    fn field<T>(&mut self, name: &'static str, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let value = self.fields.remove(name)?;
        if value.get() == "null" {
            return None;
        }
        let read = read(value.get());
        if read.is_none() {
            self.faults.push(Fault::Field(name));
            self.fields.insert(name.to_owned(), value);
        }
        read
    }
}

fn text(json: &str) -> Option<String> {
    serde_json::from_str(json).ok()
}

/// A number as it is written.
fn number(json: &str) -> Option<String> {
    json.starts_with(|first: char| first == '-' || first.is_ascii_digit()).then(|| json.to_owned())
}

fn count(json: &str) -> Option<i64> {
    json.parse().ok().filter(|count| *count >= 0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_000_000);

    fn of(text: &str) -> ResultFile {
        parse(text.as_bytes(), NOW)
    }

    #[test]
    fn every_field_is_taken_and_everything_else_is_kept() {
        let file = of(r#" {"resource_id":"post-7","cost":0.00000123,"currency":"EUR","tokens_in":12,"tokens_out":0,
            "model":"m","retry_after":30,"error_class":"busy","error":"later","z":[1.10,{"a":1e400}],"big":12345678901234567890123}"#);
        let expected = ResultFile {
            resource_id: Some("post-7".to_owned()),
            cost_micros: Some(2),
            tokens_in: Some(12),
            tokens_out: Some(0),
            model: Some("m".to_owned()),
            retry_after: Some(NOW.after(Duration::from_secs(30))),
            error_class: Some("busy".to_owned()),
            error: Some("later".to_owned()),
            rest: Some(r#"{"big":12345678901234567890123,"currency":"EUR","z":[1.10,{"a":1e400}]}"#.to_owned()),
            faults: Vec::new(),
        };
        assert_eq!(file, expected);
    }

    #[test]
    fn nothing_says_nothing() {
        for text in ["", " \n", "{}", r#"{"cost":null}"#] {
            assert_eq!(of(text), ResultFile::default(), "{text:?}");
        }
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(&folder.path().join("none"), NOW), ResultFile::default());
    }

    #[test]
    fn a_cost_is_a_number_or_a_text_and_never_less_than_it_was() {
        for (cost, micros) in [("0.1", 100_000), ("\"0.1\"", 100_000), ("1.2e-05", 12), ("\"0.0000001\"", 1)] {
            assert_eq!(of(&format!(r#"{{"cost":{cost}}}"#)).cost_micros, Some(micros), "{cost}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_a_fault_and_kept() {
        for (field, value) in [
            ("cost", "-1"),
            ("cost", "1e30"),
            ("cost", "true"),
            ("tokens_in", "-1"),
            ("tokens_in", "1.5"),
            ("retry_after", "\"soon\""),
            ("model", "7"),
            ("error", "[]"),
            ("resource_id", "{}"),
        ] {
            let json = format!(r#"{{"{field}":{value}}}"#);
            let file = of(&json);
            assert_eq!((file.rest, file.faults), (Some(json.clone()), vec![Fault::Field(field)]), "{json}");
        }
    }

    #[test]
    fn what_is_no_object_is_kept_as_text() {
        for text in ["null", "[1]", "done!", "{\"a\":1} {}", "{\"a\":"] {
            assert_eq!(of(text).faults, [Fault::NotAnObject(text.to_owned())]);
        }
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(RESULT_MAX_BYTES));
        assert_eq!(of(&long).faults, [Fault::TooLong]);
    }

    #[test]
    fn whatever_stands_at_the_path_makes_nobody_wait() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        for path in [folder.path(), &pipe, Path::new("/dev/zero")] {
            assert!(matches!(read(path, NOW).faults.as_slice(), [Fault::Unreadable(_)]), "{}", path.display());
        }
    }
}
