//! The value of a setting, read from text or from TOML.

use std::ffi::OsStr;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cola_ia_core::age::parse_age;
use cola_ia_core::event::Source;
use cola_ia_store::postgres::Address;
use toml::Spanned;
use toml::de::{DeArray, DeValue};

use super::redact::REDACTED;
use super::{Kind, Secret, ServerUrl, is_token, redact_url, size};
use crate::cli::{Exit, Problem};
use crate::lang::Message;

/// The age of what is kept for good.
pub(super) const NEVER: &str = "never";

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A path, or the address of a database where a store may be in one.
    Path(PathBuf),
    /// The address of a server, if there is one.
    Server(Option<ServerUrl>),
    /// A secret, if there is one.
    Secret(Option<Secret>),
    /// The path of a file, if there is one.
    File(Option<PathBuf>),
    /// The name of a source.
    Source(Source),
    /// A size.
    Bytes(u64),
    /// A whole number.
    Count(u32),
    /// A length of time.
    Duration(Duration),
    /// An age; `None` is never.
    Age(Option<Duration>),
    /// Yes or no.
    Bool(bool),
    /// Where a server listens.
    Listen(SocketAddr),
    /// An address of the web without a slash at its end; empty: none.
    Url(String),
    /// Names of hosts, in lower case.
    Hosts(Vec<String>),
    /// The name of a schema in a database.
    Schema(String),
    /// IP addresses.
    Addresses(Vec<IpAddr>),
}

impl Value {
    /// The path, where it is one.
    pub fn as_path(&self) -> Option<&Path> {
        if let Self::Path(path) = self { Some(path) } else { None }
    }

    /// The secret, where it is one.
    pub fn as_secret(&self) -> Option<Secret> {
        if let Self::Secret(secret) = self { secret.clone() } else { None }
    }

    /// The path of a file, where it is one.
    pub fn as_file(&self) -> Option<PathBuf> {
        if let Self::File(path) = self { path.clone() } else { None }
    }

    /// A path as people see it; empty for what is none.
    pub(super) fn shown(&self) -> String {
        self.as_path().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The source, where it is one.
    pub fn as_source(&self) -> Option<Source> {
        if let Self::Source(source) = self { Some(source.clone()) } else { None }
    }

    /// The size, where it is one.
    pub fn as_bytes(&self) -> Option<usize> {
        if let Self::Bytes(bytes) = self { usize::try_from(*bytes).ok() } else { None }
    }

    /// The number, where it is one.
    pub const fn as_count(&self) -> Option<u32> {
        if let Self::Count(count) = self { Some(*count) } else { None }
    }

    /// The length of time, where it is one.
    pub const fn as_duration(&self) -> Option<Duration> {
        if let Self::Duration(duration) = self { Some(*duration) } else { None }
    }

    /// The age, where it is one and not never.
    pub const fn as_age(&self) -> Option<Duration> {
        if let Self::Age(age) = self { *age } else { None }
    }

    /// Where a server listens, where it is that.
    pub const fn as_listen(&self) -> Option<SocketAddr> {
        if let Self::Listen(address) = self { Some(*address) } else { None }
    }

    /// The address, where it is one and not nothing.
    pub fn as_url(&self) -> Option<&str> {
        if let Self::Url(url) = self { Some(url.as_str()).filter(|url| !url.is_empty()) } else { None }
    }

    /// The hosts, where it is a list of them.
    pub fn as_hosts(&self) -> Option<&[String]> {
        if let Self::Hosts(hosts) = self { Some(hosts) } else { None }
    }

    /// The schema, where it is one.
    pub fn as_schema(&self) -> Option<&str> {
        if let Self::Schema(name) = self { Some(name) } else { None }
    }

    /// The addresses, where it is a list of them.
    pub fn as_addresses(&self) -> Option<&[IpAddr]> {
        if let Self::Addresses(addresses) = self { Some(addresses) } else { None }
    }

    /// Yes or no, where it is that.
    pub const fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }
}

/// Why a value is not what its setting takes.
#[derive(Debug)]
pub(super) struct Fault {
    message: Message,
    hint: Option<Message>,
}

impl Fault {
    pub(super) fn new(key: &'static str, value: &str) -> Self {
        Self { message: Message::new(key).with("value", value), hint: None }
    }

    fn caused(key: &'static str, value: &str, cause: &str) -> Self {
        Self { message: Message::new(key).with("value", value).with("cause", cause), hint: None }
    }

    fn hint(mut self, key: &'static str) -> Self {
        self.hint = Some(Message::new(key));
        self
    }

    fn bounds(key: &'static str, value: &str, min: &str, max: &str) -> Self {
        Self { message: Message::new(key).with("value", value).with("min", min).with("max", max), hint: None }
    }

    /// The problem to report, for a value that stands at this place.
    pub(super) fn at(self, place: &str) -> Problem {
        let problem = Problem::new(
            Exit::Usage,
            Message::new("setting-value").with("place", place).message("fault", self.message),
        );
        match self.hint {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    }
}

impl Kind {
    /// Reads the text of a flag that is no setting.
    ///
    /// # Errors
    /// It is not what this kind takes.
    pub fn parse_flag(self, flag: &str, text: &OsStr) -> Result<Value, Problem> {
        self.parse_text(text).map_err(|fault| fault.at(flag))
    }

    /// Reads a flag's or a variable's text.
    pub(super) fn parse_text(self, text: &OsStr) -> Result<Value, Fault> {
        match self {
            Self::Store => return store_path(text),
            Self::File => return file_path(text),
            _ => {}
        }
        let Some(text) = text.to_str() else {
            // What is secret is not shown, however it is spelled.
            let shown = if self == Self::Secret { REDACTED.into() } else { text.to_string_lossy() };
            return Err(Fault::new("fault-not-utf8", &shown));
        };
        match self {
            Self::Store => store_path(text.as_ref()),
            Self::File => file_path(text.as_ref()),
            Self::Server => server(text),
            Self::Secret => secret(text),
            Self::Source => source(text),
            Self::Bytes { min, max } => bytes(text, min, max),
            Self::Count { min, max } => count(text, min, max),
            Self::Duration { min, max } => duration(text, min, max),
            Self::Age => age(text),
            Self::Bool => match text {
                "true" | "1" => Ok(Value::Bool(true)),
                "false" | "0" => Ok(Value::Bool(false)),
                _ => Err(Fault::new("fault-not-bool", text)),
            },
            Self::Listen => listen(text),
            Self::Url => url(text),
            Self::Hosts => hosts(between_commas(text)),
            Self::Addresses => addresses(between_commas(text)),
            Self::Folder => folder(text),
            Self::Schema => schema(text),
        }
    }

    /// Reads a value of the file in `folder`.
    pub(super) fn parse_toml(self, value: &DeValue<'_>, folder: &Path) -> Result<Value, Fault> {
        match (self, value) {
            (Self::Bool, DeValue::Boolean(value)) => Ok(Value::Bool(*value)),
            (Self::Bytes { min, max }, DeValue::Integer(number)) => {
                let shown = number.to_string();
                let parsed = u64::from_str_radix(number.as_str(), number.radix()).ok();
                in_bounds(parsed, &shown, min, max)
            }
            (Self::Count { min, max }, DeValue::Integer(number)) if number.radix() == 10 => {
                count(number.as_str(), min, max)
            }
            (
                Self::Bytes { .. }
                | Self::Duration { .. }
                | Self::Age
                | Self::Source
                | Self::Listen
                | Self::Url
                | Self::Hosts
                | Self::Addresses
                | Self::Server
                | Self::Schema
                | Self::Secret,
                DeValue::String(text),
            ) => self.parse_text(text.as_ref().as_ref()),
            (Self::Hosts, DeValue::Array(list)) => hosts(texts(list, "fault-type-hosts")?.into_iter()),
            (Self::Addresses, DeValue::Array(list)) => addresses(texts(list, "fault-type-addresses")?.into_iter()),
            (Self::File, DeValue::String(text)) => match self.parse_text(text.as_ref().as_ref())? {
                Value::File(Some(path)) if path.is_relative() && !folder.as_os_str().is_empty() => {
                    Ok(Value::File(Some(folder.join(path))))
                }
                value => Ok(value),
            },
            (Self::Store | Self::Folder, DeValue::String(text)) => match self.parse_text(text.as_ref().as_ref())? {
                // An empty folder is the working one: joining it would add nothing but a changed spelling.
                Value::Path(path)
                    if path.is_relative() && !folder.as_os_str().is_empty() && !Address::is_one(text.as_ref()) =>
                {
                    Ok(Value::Path(folder.join(path)))
                }
                value => Ok(value),
            },
            _ => {
                let wanted = match self {
                    Self::Bool => "fault-type-bool",
                    Self::Bytes { .. } => "fault-type-bytes",
                    Self::Count { .. } => "fault-type-count",
                    Self::Duration { .. } => "fault-type-duration",
                    Self::Age => "fault-type-age",
                    Self::Hosts => "fault-type-hosts",
                    Self::Addresses => "fault-type-addresses",
                    Self::Source
                    | Self::Store
                    | Self::Listen
                    | Self::Url
                    | Self::Folder
                    | Self::Server
                    | Self::Schema
                    | Self::Secret
                    | Self::File => "fault-type-string",
                };
                Err(Fault::new(wanted, value.type_str()))
            }
        }
    }
}

fn store_path(text: &OsStr) -> Result<Value, Fault> {
    let shown = text.to_string_lossy();
    if text.is_empty() {
        return Err(Fault::new("fault-empty-path", &shown));
    }
    if text.as_encoded_bytes().contains(&0) {
        return Err(Fault::new("fault-path-nul", &shown));
    }
    if Address::is_one(&shown) {
        return match Address::parse(&shown, None) {
            Ok(_) => Ok(Value::Path(PathBuf::from(text))),
            Err(error) => {
                Err(Fault::caused("fault-postgres", &redact_url(&shown), error.fact("cause").unwrap_or_default())
                    .hint("fault-postgres-hint"))
            }
        };
    }
    if shown.contains("://") {
        return Err(Fault::new("fault-store-url", &redact_url(&shown)).hint("fault-store-url-hint"));
    }
    Ok(Value::Path(PathBuf::from(text)))
}

fn file_path(text: &OsStr) -> Result<Value, Fault> {
    if text.as_encoded_bytes().contains(&0) {
        return Err(Fault::new("fault-path-nul", &text.to_string_lossy()));
    }
    Ok(Value::File((!text.is_empty()).then(|| PathBuf::from(text))))
}

fn server(text: &str) -> Result<Value, Fault> {
    if text.is_empty() {
        return Ok(Value::Server(None));
    }
    let url = ServerUrl::parse(text).map_err(|key| Fault::new(key, &redact_url(text)).hint("fault-server-url-hint"))?;
    Ok(Value::Server(Some(url)))
}

fn secret(text: &str) -> Result<Value, Fault> {
    // A final line end comes with `$(cat FILE)` of some shells and is no part of it.
    let text = text.trim();
    if !text.is_empty() && !is_token(text) {
        return Err(Fault::new("fault-token", REDACTED).hint("fault-token-hint"));
    }
    Ok(Value::Secret((!text.is_empty()).then(|| Secret::new(text))))
}

fn folder(text: &str) -> Result<Value, Fault> {
    match text {
        "" => Err(Fault::new("fault-empty-path", text)),
        _ if text.contains('\0') => Err(Fault::new("fault-path-nul", text)),
        _ => Ok(Value::Path(PathBuf::from(text))),
    }
}

/// As PostgreSQL takes a name: what is longer would be cut.
fn schema(text: &str) -> Result<Value, Fault> {
    if text.is_empty() || text.len() > 63 || text.contains('\0') || text.starts_with("pg_") {
        return Err(Fault::new("fault-schema", text).hint("fault-schema-hint"));
    }
    Ok(Value::Schema(text.to_owned()))
}

/// `127.0.0.1:8787`, `[::1]:8787`, `localhost:8787`: a name is not looked up.
fn listen(text: &str) -> Result<Value, Fault> {
    let plain = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let address = plain.as_deref().unwrap_or(text).parse();
    address.map(Value::Listen).map_err(|_| Fault::new("fault-not-listen", text).hint("fault-not-listen-hint"))
}

/// `https://cola.example`, `http://192.0.2.1:8787/cola`; a slash at the end does not count.
fn url(text: &str) -> Result<Value, Fault> {
    let bare = text.trim_end_matches('/');
    let authority = bare.strip_prefix("https://").or_else(|| bare.strip_prefix("http://"));
    let plain = |place: &str| {
        let odd = |character: char| character.is_whitespace() || character.is_control() || "?#@\\".contains(character);
        !place.is_empty() && !place.starts_with(['/', ':']) && !place.contains(odd)
    };
    match authority {
        None if text.is_empty() => Ok(Value::Url(String::new())),
        Some(place) if plain(place) => Ok(Value::Url(bare.to_owned())),
        _ => Err(Fault::new("fault-not-url", &redact_url(text)).hint("fault-not-url-hint")),
    }
}

/// What a list holds, where all of it is text.
fn texts<'a>(list: &'a DeArray<'_>, wanted: &'static str) -> Result<Vec<&'a str>, Fault> {
    let text = |one: &'a Spanned<DeValue<'_>>| match one.get_ref() {
        DeValue::String(text) => Ok(text.as_ref()),
        other => Err(Fault::new(wanted, other.type_str())),
    };
    list.iter().map(text).collect()
}

fn between_commas(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|one| !one.is_empty())
}

fn addresses<'a>(texts: impl Iterator<Item = &'a str>) -> Result<Value, Fault> {
    let one = |text: &str| text.parse().map_err(|_| Fault::new("fault-not-address", text));
    texts.map(one).collect::<Result<_, _>>().map(Value::Addresses)
}

fn hosts<'a>(texts: impl Iterator<Item = &'a str>) -> Result<Value, Fault> {
    let one = |text: &str| {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
        let plain = !text.is_empty() && text.bytes().all(known);
        if plain { Ok(text.to_ascii_lowercase()) } else { Err(Fault::new("fault-not-host", text)) }
    };
    texts.map(one).collect::<Result<_, _>>().map(Value::Hosts)
}

fn source(text: &str) -> Result<Value, Fault> {
    Source::new(text).map(Value::Source).map_err(|_| Fault::new("fault-source", text).hint("fault-source-hint"))
}

/// `1048576`, `8MiB`, `64 KiB`, `10 MB`; case of the unit does not matter.
fn bytes(text: &str, min: u64, max: u64) -> Result<Value, Fault> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit: u64 = match unit.trim_start_matches(' ').to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => return Err(Fault::new("fault-not-bytes", text).hint("fault-not-bytes-hint")),
    };
    if number.is_empty() {
        return Err(Fault::new("fault-not-bytes", text).hint("fault-not-bytes-hint"));
    }
    in_bounds(number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)), text, min, max)
}

fn in_bounds(bytes: Option<u64>, shown: &str, min: u64, max: u64) -> Result<Value, Fault> {
    match bytes {
        Some(bytes) if (min..=max).contains(&bytes) => Ok(Value::Bytes(bytes)),
        _ => Err(Fault::bounds("fault-bytes-bounds", shown, &size(min), &size(max))),
    }
}

/// `5`.
fn count(text: &str, min: u32, max: u32) -> Result<Value, Fault> {
    let number = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u32>().ok()).flatten();
    match number {
        Some(number) if (min..=max).contains(&number) => Ok(Value::Count(number)),
        _ => Err(Fault::bounds("fault-count-bounds", text, &min.to_string(), &max.to_string())),
    }
}

/// `90d`, `12h`, `never`.
fn age(text: &str) -> Result<Value, Fault> {
    match (text, parse_age(text)) {
        (NEVER, _) => Ok(Value::Age(None)),
        (_, Some(age)) => Ok(Value::Age(Some(age))),
        _ => Err(Fault::new("fault-not-age", text).hint("fault-not-age-hint")),
    }
}

/// `500ms`, `60s`, `2m`, `1h`.
fn duration(text: &str, min: Duration, max: Duration) -> Result<Value, Fault> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit_ms: u64 = match unit.trim_start_matches(' ') {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(Fault::new("fault-not-duration", text).hint("fault-not-duration-hint")),
    };
    if number.is_empty() {
        return Err(Fault::new("fault-not-duration", text).hint("fault-not-duration-hint"));
    }
    let wait = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit_ms)).map(Duration::from_millis);
    match wait {
        Some(wait) if (min..=max).contains(&wait) => Ok(Value::Duration(wait)),
        _ => {
            let (min, max) = (format!("{}s", min.as_secs()), format!("{}h", max.as_secs() / 3_600));
            Err(Fault::bounds("fault-duration-bounds", text, &min, &max))
        }
    }
}
