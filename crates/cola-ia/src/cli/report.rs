//! What is kept of an attempt, from a file and from flags: what `complete` and `fail` share.

use std::io::Read;
use std::path::Path;

use cola_ia_core::store::{OUTPUT_MAX_BYTES, RESULT_MAX_BYTES, Report};

use super::Problem;
use super::add::Input;
use crate::lang::Message;
use crate::result_file::{ResultFault, ResultFile};

/// What an attempt used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportOptions {
    /// `--result`: what the worker says in a JSON object.
    pub result: Option<Input>,
    /// `--cost`, in millionths
    pub cost_micros: Option<i64>,
    /// `--tokens-in`
    pub tokens_in: Option<i64>,
    /// `--tokens-out`
    pub tokens_out: Option<i64>,
    /// `--model`
    pub model: Option<String>,
}

impl ReportOptions {
    /// What `--result` says; nothing where it is not given.
    ///
    /// # Errors
    /// It cannot be read, or is not as it must be.
    pub(super) fn file(&self) -> Result<ResultFile, Problem> {
        self.result.as_ref().map_or_else(|| Ok(ResultFile::default()), file_of)
    }

    /// The currency of the cost that is kept: the one beside it in the file.
    pub(super) fn currency(&self, file: &ResultFile) -> Option<String> {
        file.currency.clone().filter(|_| self.cost_micros.is_none())
    }

    /// What is kept of an attempt: flags over what the file says.
    pub(super) fn over(&self, file: ResultFile) -> Report {
        Report {
            resource_id: file.resource_id,
            result: file.rest,
            cost_micros: self.cost_micros.or(file.cost_micros),
            tokens_in: self.tokens_in.or(file.tokens_in),
            tokens_out: self.tokens_out.or(file.tokens_out),
            model: self.model.clone().or(file.model),
            error_class: file.error_class,
            error: file.error,
            ..Report::default()
        }
    }
}

/// The object in a file or on stdin.
///
/// # Errors
/// It cannot be read, or is not as it must be.
pub(super) fn file_of(input: &Input) -> Result<ResultFile, Problem> {
    read_result(&read(input)?, &name(input))
}

/// The object in these bytes, which came from this place.
///
/// # Errors
/// It is not as it must be.
pub(super) fn read_result(bytes: &[u8], place: &str) -> Result<ResultFile, Problem> {
    ResultFile::read(bytes).map_err(|fault| {
        let message = match fault {
            ResultFault::TooLong => return too_long(place),
            ResultFault::NotAnObject => Message::new("report-not-an-object"),
            ResultFault::Field(name) => Message::new("report-field").with("field", name),
        };
        Problem::usage(message.with("file", place)).hint(Message::new("report-hint"))
    })
}

/// A text as a job's result: a JSON string.
///
/// # Errors
/// It cannot be read, is too long, or is no UTF-8.
pub(super) fn text_as_result(input: &Input) -> Result<String, Problem> {
    let not_utf8 = |_| Problem::usage(Message::new("report-not-utf8").with("file", name(input)));
    let text = String::from_utf8(read(input)?).map_err(not_utf8)?;
    let json = serde_json::Value::from(text).to_string();
    if json.len() > RESULT_MAX_BYTES { Err(too_long(&name(input))) } else { Ok(json) }
}

/// The bytes of an input, at most one more than a result may have.
fn read(input: &Input) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    let most = RESULT_MAX_BYTES as u64 + 1;
    let done = match input {
        Input::Stdin => std::io::stdin().lock().take(most).read_to_end(&mut bytes),
        Input::File(path) => std::fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)),
    };
    match done {
        Ok(_) if bytes.len() > RESULT_MAX_BYTES => Err(too_long(&name(input))),
        Ok(_) => Ok(bytes),
        Err(cause) => {
            Err(Problem::failed(Message::new("report-unreadable").with("file", name(input)).caused_by(&cause)))
        }
    }
}

/// The end of an output, at most [`OUTPUT_MAX_BYTES`] of it, with a mark where it was cut.
///
/// # Errors
/// It cannot be read.
pub(super) fn end_of_output(input: &Input) -> Result<Vec<u8>, Problem> {
    let opened: std::io::Result<Box<dyn Read>> = match input {
        Input::Stdin => Ok(Box::new(std::io::stdin().lock())),
        Input::File(path) => std::fs::File::open(path).map(|file| Box::new(file) as _),
    };
    opened.and_then(last_of).map_err(|cause| {
        Problem::failed(Message::new("report-output-unreadable").with("file", name(input)).caused_by(&cause))
    })
}

fn last_of(mut from: impl Read) -> std::io::Result<Vec<u8>> {
    let (mut held, mut dropped) = (Vec::new(), 0);
    while (&mut from).take(OUTPUT_MAX_BYTES as u64).read_to_end(&mut held)? > 0 {
        let more = held.len().saturating_sub(OUTPUT_MAX_BYTES);
        held.drain(..more);
        dropped += more;
    }
    if dropped == 0 {
        return Ok(held);
    }
    // The mark takes the place of some more.
    let mark = |bytes: usize| format!("[… {bytes} bytes before this were cut]\n");
    let longest = mark(dropped + held.len()).len();
    let mut marked = mark(dropped + longest).into_bytes();
    marked.extend(held.drain(longest..));
    Ok(marked)
}

/// The last line of an output that is not blank.
pub(super) fn last_line(output: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(output);
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

fn too_long(place: &str) -> Problem {
    let message = Message::new("report-too-long").with("file", place).number("limit", RESULT_MAX_BYTES as u64);
    Problem::usage(message).hint(Message::new("report-too-long-hint"))
}

fn name(input: &Input) -> String {
    match input {
        Input::Stdin => "-".to_owned(),
        Input::File(path) => Path::display(path).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_output_is_kept_and_marked_where_it_was_cut() {
        for length in [0, 1, OUTPUT_MAX_BYTES, OUTPUT_MAX_BYTES + 1, 3 * OUTPUT_MAX_BYTES + 7] {
            let all: Vec<u8> = (0..length).map(|at| b'a' + (at % 26) as u8).collect();
            let kept = last_of(all.as_slice()).unwrap();
            assert!(kept.len() <= OUTPUT_MAX_BYTES, "{length}");
            if length <= OUTPUT_MAX_BYTES {
                assert_eq!(kept, all);
                continue;
            }
            let text = String::from_utf8(kept).unwrap();
            let (mark, rest) = text.split_once('\n').unwrap();
            assert_eq!(mark, format!("[… {} bytes before this were cut]", length - rest.len()));
            assert!(all.ends_with(rest.as_bytes()) && rest.len() > OUTPUT_MAX_BYTES - 100);
        }
    }

    #[test]
    fn the_last_line_is_one_that_says_something() {
        assert_eq!(last_line(b"Traceback\n  ValueError: no\r\n\n  \n").as_deref(), Some("ValueError: no"));
        assert_eq!(last_line(b"caf\xe9").as_deref(), Some("caf\u{fffd}"));
        assert_eq!((last_line(b""), last_line(b" \n")), (None, None));
    }
}
