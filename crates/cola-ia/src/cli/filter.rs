//! The filter of a list, from `--filter` and from the flags that are its keys.

use std::ffi::OsString;

use clap::ArgMatches;
use cola_ia_core::clock::Timestamp;
use cola_ia_core::filter::{Filter, FilterError, Key};
use cola_ia_core::intake::RefusalCode;

use super::Problem;
use crate::config::nearest;
use crate::lang::Message;

/// Reads `--filter` and the flags of the keys that this list takes. Ages are before `now`.
///
/// # Errors
/// A usage mistake that names the key or the value and what is known.
pub(super) fn read(matches: &ArgMatches, taken: &[Key], now: Timestamp) -> Result<Filter, Problem> {
    let mut filter = Filter::default();
    for text in texts(matches, "filter")? {
        filter.add_text(&text, taken, now).map_err(|error| explain(&error, "--filter", taken))?;
    }
    for key in taken {
        let option = format!("--{}", key.as_str());
        match flag_of(*key) {
            Flag::Values => {
                for text in texts(matches, key.as_str())? {
                    filter.add_values(*key, &text, taken, now).map_err(|error| explain(&error, &option, taken))?;
                }
            }
            Flag::Yes if matches.get_flag(key.as_str()) => {
                filter.add_values(*key, "yes", taken, now).map_err(|error| explain(&error, &option, taken))?;
            }
            Flag::Yes | Flag::None => {}
        }
    }
    Ok(filter)
}

/// As [`read`], for a list whose reasons are the codes of refusals, which are all known.
///
/// # Errors
/// As [`read`]; also a code that there is not.
pub(super) fn read_with_codes(matches: &ArgMatches, taken: &[Key], now: Timestamp) -> Result<Filter, Problem> {
    let filter = read(matches, taken, now)?;
    match filter.reasons.iter().find(|reason| RefusalCode::from_word(reason).is_none()) {
        Some(unknown) => {
            let message =
                Message::new("usage-unknown-word").with("option", Key::Reason.as_str()).with("value", unknown);
            let problem = Problem::usage(message).hint(Message::new("usage-codes-hint"));
            Err(match nearest(unknown, RefusalCode::ALL.iter().map(|code| code.as_str())) {
                Some(meant) => problem.hint(Message::new("did-you-mean").with("meant", meant)),
                None => problem,
            })
        }
        None => Ok(filter),
    }
}

/// The flag that a key has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flag {
    /// It takes the key's values and may stand several times.
    Values,
    /// It stands for `yes`.
    Yes,
    /// The key is for `--filter` only.
    None,
}

/// The flag of a key.
pub(super) const fn flag_of(key: Key) -> Flag {
    match key {
        Key::Reason => Flag::None,
        Key::Undecided => Flag::Yes,
        Key::Source | Key::State | Key::Verdict | Key::Type | Key::Since | Key::Until => Flag::Values,
    }
}

fn texts(matches: &ArgMatches, name: &str) -> Result<Vec<String>, Problem> {
    let utf8 = |value: &OsString| {
        value.to_str().map(str::to_owned).ok_or_else(|| {
            let message = Message::new("usage-not-utf8").with("option", format!("--{name}"));
            Problem::usage(message.with("value", value.to_string_lossy()))
        })
    };
    matches.get_many::<OsString>(name).into_iter().flatten().map(utf8).collect()
}

fn explain(error: &FilterError, option: &str, taken: &[Key]) -> Problem {
    let keys = || {
        let names = taken.iter().map(|key| format!("{} ({})", key.as_str(), key.in_spanish()));
        Message::new("usage-filter-keys").with("known", names.collect::<Vec<_>>().join(", "))
    };
    match error {
        FilterError::NotAPair { word } => {
            let message = Message::new("usage-filter-pair").with("option", option).with("value", word);
            Problem::usage(message).hint(Message::new("usage-filter-pair-hint")).hint(keys())
        }
        FilterError::Quotes { word } => {
            Problem::usage(Message::new("usage-filter-quotes").with("option", option).with("value", word))
        }
        FilterError::UnknownKey { key } => {
            let problem = Problem::usage(Message::new("usage-filter-key").with("option", option).with("key", key));
            let names = taken.iter().flat_map(|key| [key.as_str(), key.in_spanish()]);
            match nearest(key, names) {
                Some(meant) => problem.hint(keys()).hint(Message::new("did-you-mean").with("meant", meant)),
                None => problem.hint(keys()),
            }
        }
        FilterError::KeyNotTaken { key } => {
            let message = Message::new("usage-filter-key-not-taken").with("option", option).with("key", key.as_str());
            Problem::usage(message).hint(keys())
        }
        FilterError::Twice { key } => Problem::usage(Message::new("usage-filter-twice").with("key", key.as_str())),
        FilterError::Value { key, value } => value_problem(*key, value, option),
    }
}

/// A key does not take a value: which it takes.
fn value_problem(key: Key, value: &str, option: &str) -> Problem {
    let place = if option == "--filter" { key.as_str().to_owned() } else { option.to_owned() };
    if key == Key::Source {
        let fault = Message::new("fault-source").with("value", value);
        let message = Message::new("setting-value").with("place", place).message("fault", fault);
        return Problem::usage(message).hint(Message::new("fault-source-hint"));
    }
    let problem = Problem::usage(Message::new("usage-unknown-word").with("option", place).with("value", value));
    let known = key.known_values();
    if known.is_empty() {
        return problem.hint(Message::new(match key {
            Key::Since | Key::Until => "usage-moment-hint",
            Key::Type => "usage-type-hint",
            _ => "usage-reason-hint",
        }));
    }
    let problem = problem.hint(Message::new("usage-known-words").with("known", known.join(", ")));
    match nearest(value, known) {
        Some(meant) => problem.hint(Message::new("did-you-mean").with("meant", meant)),
        None => problem,
    }
}
