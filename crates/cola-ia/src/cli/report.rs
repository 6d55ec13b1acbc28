//! What is kept of an attempt, from a file and from flags: what `complete` and `fail` share.

use std::io::Read as _;
use std::path::Path;

use cola_ia_core::store::{RESULT_MAX_BYTES, Report};

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
        let Some(input) = &self.result else { return Ok(ResultFile::default()) };
        ResultFile::read(&read(input)?).map_err(|fault| {
            let message = match fault {
                ResultFault::TooLong => return too_long(input),
                ResultFault::NotAnObject => Message::new("report-not-an-object"),
                ResultFault::Field(name) => Message::new("report-field").with("field", name),
            };
            Problem::usage(message.with("file", name(input))).hint(Message::new("report-hint"))
        })
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

/// A text as a job's result: a JSON string.
///
/// # Errors
/// It cannot be read, is too long, or is no UTF-8.
pub(super) fn text_as_result(input: &Input) -> Result<String, Problem> {
    let not_utf8 = |_| Problem::usage(Message::new("report-not-utf8").with("file", name(input)));
    let text = String::from_utf8(read(input)?).map_err(not_utf8)?;
    let json = serde_json::Value::from(text).to_string();
    if json.len() > RESULT_MAX_BYTES { Err(too_long(input)) } else { Ok(json) }
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
        Ok(_) if bytes.len() > RESULT_MAX_BYTES => Err(too_long(input)),
        Ok(_) => Ok(bytes),
        Err(cause) => {
            Err(Problem::failed(Message::new("report-unreadable").with("file", name(input)).caused_by(&cause)))
        }
    }
}

fn too_long(input: &Input) -> Problem {
    let message = Message::new("report-too-long").with("file", name(input)).number("limit", RESULT_MAX_BYTES as u64);
    Problem::usage(message).hint(Message::new("report-too-long-hint"))
}

fn name(input: &Input) -> String {
    match input {
        Input::Stdin => "-".to_owned(),
        Input::File(path) => Path::display(path).to_string(),
    }
}
