//! `config show` and `config check`.

use std::borrow::Cow;
use std::fmt::Write as _;

use cola_ia_core::cost::decimal;
use cola_ia_wire::{SettingLine, VERSION};

use super::add::push_json;
use super::{Exit, Problem, Session, print};
use crate::config::{Origin, PriceLine, Resolved, Settings, pasteable_line, redact_url};
use crate::lang::{Lang, Message};
use crate::print::safe_line;

/// Prints the settings in force: TOML that can be pasted back, or one [`SettingLine`] a line.
///
/// # Errors
/// stdout cannot be written.
pub fn show(settings: &Settings, lang: &Lang, origin: bool, json: bool) -> Result<Exit, Problem> {
    let mut out = String::new();
    let lines =
        settings.resolved.iter().map(pasteable_line).chain(settings.price_lines.iter().map(PriceLine::pasteable));
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
    print(&out)
}

/// Says that the settings are ok, and which file they came from: they were read to get here.
///
/// # Errors
/// stdout cannot be written.
pub fn check(session: &Session, settings: &Settings) -> Result<Exit, Problem> {
    let key = if settings.file.is_some() { "config-read" } else { "config-read-no-file" };
    let file = settings.file.as_deref().unwrap_or(std::path::Path::new(crate::config::DEFAULT_FILE));
    session.note(&Message::new(key).with("file", file.display()));
    print("ok\n")
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
