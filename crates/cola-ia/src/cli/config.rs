//! `config show` and `config check`.

use std::borrow::Cow;
use std::fmt::Write as _;

use cola_ia_core::clock::{Clock as _, SystemClock, Timestamp};
use cola_ia_core::cost::decimal;
use cola_ia_wire::{SettingLine, VERSION};

use super::add::push_json;
use super::{Exit, Problem, Session, print};
use crate::config::{Origin, PriceLine, Resolved, Settings, TableLine, pasteable_line, redact_url};
use crate::lang::{Lang, Message};
use crate::print::safe_line;

/// Prints the settings in force: TOML that can be pasted back, or one [`SettingLine`] a line.
///
/// # Errors
/// stdout cannot be written.
pub fn show(settings: &Settings, lang: &Lang, origin: bool, json: bool) -> Result<Exit, Problem> {
    let mut out = String::new();
    let lines = settings.resolved.iter().map(pasteable_line);
    let lines = lines.chain(settings.price_lines.iter().map(PriceLine::pasteable));
    let lines = lines.chain(settings.table_lines().map(TableLine::pasteable));
    let width = lines.map(|line| line.chars().count()).max().unwrap_or_default();
    for resolved in &settings.resolved {
        if json {
            push_json(&mut out, &json_line(resolved));
        } else if origin {
            let line = pasteable_line(resolved);
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{line:<width$}  # {}", origin_in_prose(lang, &resolved.origin));
        } else {
            out.push_str(&pasteable_line(resolved));
            out.push('\n');
        }
    }
    for price in &settings.price_lines {
        if json {
            push_json(&mut out, &price_as_json(price));
        } else if origin {
            let line = price.pasteable();
            let _ = writeln!(out, "{line:<width$}  # {}", origin_in_prose(lang, &price.origin));
        } else {
            out.push_str(&price.pasteable());
            out.push('\n');
        }
    }
    for line in settings.table_lines() {
        if json {
            push_json(&mut out, &setting_line(line.key.as_str().into(), as_json(&line.value), &line.origin));
        } else if origin {
            let _ = writeln!(out, "{:<width$}  # {}", line.pasteable(), origin_in_prose(lang, &line.origin));
        } else {
            out.push_str(&line.pasteable());
            out.push('\n');
        }
    }
    print(&out)
}

/// Says that the settings are ok, and which file they came from: they were read to get here. Of sources, the secrets are read and
/// the receivers made.
///
/// # Errors
/// A source that cannot receive; stdout cannot be written.
pub fn check(session: &Session, settings: &Settings) -> Result<Exit, Problem> {
    let key = if settings.file.is_some() { "config-read" } else { "config-read-no-file" };
    let file = settings.file.as_deref().unwrap_or(std::path::Path::new(crate::config::DEFAULT_FILE));
    session.note(&Message::new(key).with("file", file.display()));
    for source in &settings.sources {
        source.open(&session.environment, settings.max_text_bytes)?.notes.iter().for_each(|note| session.note(note));
    }
    if !settings.sources.is_empty() {
        session.note(&Message::new("config-sources-ready").number("count", settings.sources.len() as u64));
    }
    for schedule in &settings.schedules {
        let next = schedule.plan.next(SystemClock.now()).map_or_else(String::new, Timestamp::to_rfc3339);
        session.note(&Message::new("config-schedule").with("name", &schedule.name).with("next", next));
    }
    print("ok\n")
}

/// Numbers, texts, lists and tables have their form in JSON; a date is its text.
fn as_json(value: &toml::Value) -> serde_json::Value {
    match value {
        toml::Value::Datetime(date) => date.to_string().into(),
        toml::Value::Array(list) => list.iter().map(as_json).collect(),
        toml::Value::Table(table) => table.iter().map(|(key, value)| (key.clone(), as_json(value))).collect(),
        other => serde_json::to_value(other).unwrap_or_default(),
    }
}

fn origin_in_prose(lang: &Lang, origin: &Origin) -> String {
    match origin {
        Origin::Flag(flag) => format!("--{flag}"),
        Origin::Environment(variable) => (*variable).to_owned(),
        Origin::File(path, line) => format!("{}:{line}", safe_line(&path.to_string_lossy())),
        Origin::Default => lang.t("origin-default", &[]),
    }
}

fn json_line(resolved: &Resolved) -> SettingLine<'_, serde_json::Value> {
    use crate::config::Value as V;
    let value = match &resolved.value {
        V::Secret(None) => "".into(),
        _ if resolved.setting.secret => "***".into(),
        V::Server(_) | V::Secret(_) | V::File(_) => pasteable(&resolved.value).into(),
        V::Path(path) => redact_url(&path.to_string_lossy()).into(),
        V::Source(source) => source.as_str().into(),
        V::Bytes(bytes) => (*bytes).into(),
        V::Duration(_) | V::Age(_) => crate::config::toml_literal(&resolved.value).trim_matches('"').into(),
        V::Bool(value) => (*value).into(),
        V::Count(count) => (*count).into(),
        V::Listen(address) => address.to_string().into(),
        V::Url(url) => url.as_str().into(),
        V::Schema(name) => name.as_str().into(),
        V::Hosts(hosts) => hosts.clone().into(),
        V::Addresses(addresses) => addresses.iter().map(ToString::to_string).collect::<Vec<_>>().into(),
    };
    setting_line(resolved.setting.name.into(), value, &resolved.origin)
}

/// The text of a value that is one.
fn pasteable(value: &crate::config::Value) -> String {
    use crate::config::Value as V;
    match value {
        V::Server(Some(url)) => url.to_string(),
        V::File(Some(path)) => path.to_string_lossy().into_owned(),
        _ => String::new(),
    }
}

/// The amount is a string: a decimal number that must not go through floating point.
fn price_as_json(price: &PriceLine) -> SettingLine<'_, serde_json::Value> {
    setting_line(price.key().into(), decimal(price.amount.get()).into(), &price.origin)
}

fn setting_line<'a>(
    setting: Cow<'a, str>,
    value: serde_json::Value,
    origin: &'a Origin,
) -> SettingLine<'a, serde_json::Value> {
    let (origin, place, line) = match origin {
        Origin::Flag(flag) => ("flag", Some(Cow::Owned(format!("--{flag}"))), None),
        Origin::Environment(variable) => ("environment", Some(Cow::Borrowed(*variable)), None),
        Origin::File(path, line) => ("file", Some(path.to_string_lossy()), Some(*line as u64)),
        Origin::Default => ("default", None, None),
    };
    SettingLine { v: VERSION, setting, value, origin: origin.into(), place, line }
}
