//! The parser's errors, in our words.

use std::path::Path;

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::Problem;
use crate::lang::Message;

/// The same mistake as a [`Problem`] with its hints. `takes_names`: the command takes ids or files.
pub(super) fn explain(error: &Error, takes_names: bool) -> Problem {
    let arg = fact(error, ContextKind::InvalidArg).unwrap_or_default();
    let problem = match error.kind() {
        ErrorKind::UnknownArgument if arg.starts_with('-') => {
            Problem::usage(Message::new("usage-unknown-option").with("option", &arg))
        }
        ErrorKind::UnknownArgument => Problem::usage(Message::new("usage-extra-argument").with("value", &arg)),
        ErrorKind::InvalidSubcommand => {
            let command = fact(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            let problem = Problem::usage(Message::new("usage-unknown-command").with("command", &command));
            // `cola-ia eventos.jsonl`: the article's script is called so.
            if Path::new(&command).is_file() {
                return problem.hint(Message::new("usage-file-as-command").with("path", command));
            }
            problem
        }
        ErrorKind::MissingRequiredArgument => Problem::usage(Message::new("usage-missing").with("argument", &arg)),
        ErrorKind::MissingSubcommand => Problem::usage(Message::new("usage-no-command")),
        ErrorKind::InvalidValue | ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues | ErrorKind::NoEquals => {
            Problem::usage(Message::new("usage-no-value").with("option", &arg))
        }
        ErrorKind::TooManyValues => Problem::usage(Message::new("usage-value-not-taken").with("option", &arg)),
        ErrorKind::ArgumentConflict => Problem::usage(Message::new("usage-option-twice").with("option", &arg)),
        ErrorKind::InvalidUtf8 => Problem::usage(Message::new("usage-argument-not-utf8")),
        _ => {
            let said = error.render().to_string();
            let first = said.lines().next().unwrap_or_default().trim_start_matches("error: ");
            Problem::usage(Message::new("usage-other").with("cause", first))
        }
    };
    let meant = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue]
        .into_iter()
        .find_map(|kind| fact(error, kind));
    let may_be_a_name = takes_names && error.kind() == ErrorKind::UnknownArgument && arg.starts_with('-');
    match meant {
        Some(meant) => problem.hint(Message::new("did-you-mean").with("meant", meant)),
        None if may_be_a_name => problem.hint(Message::new("usage-after-dashes")),
        None => problem.hint(Message::new("usage-see-help")),
    }
}

fn fact(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join(" ")),
        _ => None,
    }
}
