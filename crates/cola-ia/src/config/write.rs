//! Settings as TOML that can be pasted back.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use super::redact::REDACTED;
use super::value::NEVER;
use super::{Resolved, SETTINGS, ServerUrl, Setting, Value, redact_url};
use crate::lang::Lang;

/// Longest line of a comment in the file that `init` writes.
const COMMENT_WIDTH: usize = 96;

/// `name = value`, secrets redacted.
pub fn pasteable_line(resolved: &Resolved) -> String {
    format!("{} = {}", resolved.setting.name, shown(resolved.setting, &resolved.value))
}

fn shown(setting: &Setting, value: &Value) -> String {
    match value {
        // That there is none is no secret.
        Value::Secret(None) => quoted(""),
        _ if setting.secret => quoted(REDACTED),
        value => toml_literal(value),
    }
}

/// The value as TOML. A password in a path that is a URL is redacted.
pub fn toml_literal(value: &Value) -> String {
    match value {
        Value::Path(path) => quoted(&redact_url(&path.to_string_lossy())),
        Value::Server(server) => quoted(server.as_ref().map_or("", ServerUrl::as_str)),
        Value::Secret(secret) => quoted(if secret.is_some() { REDACTED } else { "" }),
        Value::File(path) => quoted(&path.as_deref().map(Path::to_string_lossy).unwrap_or_default()),
        Value::Source(source) => quoted(source.as_str()),
        Value::Bytes(bytes) => {
            let size = size(*bytes);
            if size.ends_with('B') { quoted(&size) } else { size }
        }
        Value::Count(count) => count.to_string(),
        Value::Duration(duration) => {
            let millis = duration.as_millis();
            if millis.is_multiple_of(1000) { format!("\"{}s\"", millis / 1000) } else { format!("\"{millis}ms\"") }
        }
        Value::Age(age) => quoted(&age.map_or_else(|| NEVER.to_owned(), in_largest_unit)),
        Value::Bool(value) => value.to_string(),
        Value::Listen(address) => quoted(&address.to_string()),
        Value::Url(url) => quoted(url),
        Value::Schema(name) => quoted(name),
        Value::Hosts(hosts) => format!("[{}]", hosts.iter().map(|host| quoted(host)).collect::<Vec<_>>().join(", ")),
        Value::Addresses(addresses) => {
            let quoted: Vec<_> = addresses.iter().map(|address| quoted(&address.to_string())).collect();
            format!("[{}]", quoted.join(", "))
        }
    }
}

/// The size in the largest unit of which it is a whole number, as `8MiB`; a number alone where that is the byte.
pub fn size(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{}{name}", bytes / unit),
        None => bytes.to_string(),
    }
}

/// The age in the largest unit of which it is a whole number, as `90d`.
fn in_largest_unit(age: Duration) -> String {
    let seconds = age.as_secs();
    let units = [(86_400, "d"), (3_600, "h"), (60, "m")];
    match units.into_iter().find(|(unit, _)| seconds >= *unit && seconds.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{}{name}", seconds / unit),
        None => format!("{seconds}s"),
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// The file that `init` writes: every setting explained, all commented out but those in `active`.
pub fn commented_file(lang: &Lang, active: &[(&str, Value)]) -> String {
    let mut out = String::new();
    push_comment(&mut out, &lang.t("config-file-head", &[]));
    for setting in &SETTINGS {
        out.push('\n');
        push_comment(&mut out, &lang.t(setting.about, &[]));
        push_comment(&mut out, &lang.t("config-file-variable", &[("variable", setting.env.into())]));
        match active.iter().find(|(name, _)| *name == setting.name) {
            // Writing to a string cannot fail, here and below.
            Some((name, value)) => {
                let _ = writeln!(out, "{name} = {}", toml_literal(value));
            }
            None => {
                let _ = writeln!(out, "# {} = {}", setting.name, default_literal(setting));
            }
        }
    }
    out.push('\n');
    push_comment(&mut out, &lang.t("config-file-prices", &[]));
    for line in ["[prices.\"model-1\"]", "input = 2.5", "output = 10", "request = 0.01"] {
        let _ = writeln!(out, "# {line}");
    }
    out
}

/// The default as one would write it: `"8MiB"` says more than 8388608.
fn default_literal(setting: &Setting) -> String {
    match setting.kind {
        super::Kind::Bool | super::Kind::Count { .. } => setting.default.to_owned(),
        super::Kind::Hosts | super::Kind::Addresses => "[]".to_owned(),
        _ => quoted(setting.default),
    }
}

/// Adds the text as comments, in lines that are not too long.
pub fn push_comment(out: &mut String, text: &str) {
    for paragraph in text.lines() {
        let mut width = 0;
        for word in paragraph.split(' ') {
            let length = word.chars().count();
            if width == 0 {
                out.push('#');
                width = 1;
            } else if width + 1 + length > COMMENT_WIDTH {
                out.push_str("\n#");
                width = 1;
            }
            if !word.is_empty() {
                out.push(' ');
                out.push_str(word);
                width += 1 + length;
            }
        }
        out.push('\n');
    }
}
