//! Senders, `[source.NAME]`: how they sign, where their secrets are, where their events have their parts.

use std::num::NonZeroU32;
use std::time::Duration;

use cola_ia_core::event::Source;
use cola_ia_core::limits::TEXT_MAX_BYTES_CEILING;
use cola_ia_webhook::{Receiver, Secret, Spec, SpecFault, catalogue};

use super::tables::{InFile, Item, Key, Table, TableLine, bare, name};
use super::{Environment, Kind, Origin, SecretPlace, Value, nearest};
use crate::cli::Problem;
use crate::lang::Message;

/// The table's name. Beside the sources it holds settings, as `source.pause_after`.
pub(super) const TABLE: &str = "source";
/// The scheme of a form that names none.
const FORM_SCHEME: &str = "form";
/// The largest body that a source may take.
const BODY_MAX_BYTES: u64 = 64 << 20;
/// The longest that a signed time may be away.
const TOLERANCE_MAX: Duration = Duration::from_hours(7 * 24);

/// Keys that are read here; what is said of them in docs/WEBHOOKS.md is the reference.
const OWN_KEYS: [&str; 10] = [
    "conflict_status",
    "form",
    "max_body",
    "rate_limit",
    "secret_env",
    "secret_file",
    "tolerance",
    "unsigned",
    "verify_token_env",
    "verify_token_file",
];
/// Keys that go to the scheme as they are.
const SPEC_KEYS: [&str; 22] = [
    "accepts",
    "algorithm",
    "content",
    "each",
    "encoding",
    "fallback_id",
    "format",
    "header",
    "id",
    "ignore",
    "key",
    "pending",
    "prefix",
    "replays",
    "scheme",
    "signature",
    "signed_id",
    "text",
    "time",
    "time_unit",
    "timestamp",
    "type",
];
/// Those of them that are one place or several.
const PLACE_KEYS: [&str; 5] = ["each", "id", "text", "time", "type"];
const FORM_KEYS: [&str; 3] = ["allowed_origins", "honeypot", "thanks"];

/// A source as the file has it.
#[derive(Debug, Clone)]
pub struct SourceConfig {
    /// Its name.
    pub name: Source,
    /// How it sends; the verify token is not in it yet.
    pub spec: Spec,
    /// Where its secrets are: a request that any of them signed is taken. Empty with `unsigned`.
    pub secrets: Vec<SecretPlace>,
    /// Where the second secret of a handshake is.
    pub verify_token: Option<SecretPlace>,
    /// Whether it is taken without any signature.
    pub unsigned: bool,
    /// How much of it is taken; `None`: all.
    pub rate_limit: Option<Rate>,
    /// Whether browsers send it from a form.
    pub form: Option<FormConfig>,
    /// What the file says, for `config show`.
    pub lines: Vec<TableLine>,
    /// Where it stands.
    pub origin: Origin,
}

/// The lines are all that the file says; the rest is made of them.
impl PartialEq for SourceConfig {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.lines, &self.origin) == (&other.name, &other.lines, &other.origin)
    }
}

// A float in a file has no other value than itself, or the scheme's reader refuses it.
impl Eq for SourceConfig {}

/// So many in such a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many.
    pub count: NonZeroU32,
    /// In how long.
    pub per: Duration,
}

/// A form that browsers send.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormConfig {
    /// `Origin`s of the pages that have it, `https://example.org`; empty: of any page.
    pub allowed_origins: Vec<String>,
    /// A field that people do not see: where it is filled in, a machine did.
    pub honeypot: Option<String>,
    /// Where the browser goes afterwards (303); `None`: a short page says that it arrived.
    pub thanks: Option<String>,
}

/// A source that is ready to receive.
#[derive(Debug)]
pub struct Opened {
    /// Judges its requests.
    pub receiver: Receiver,
    /// Its secrets, in the order of the file; the first signs samples.
    pub secrets: Vec<Secret>,
    /// What people are told: a final line end that was taken away.
    pub notes: Vec<Message>,
}

impl SourceConfig {
    /// Reads the secrets and makes the receiver.
    ///
    /// # Errors
    /// A secret is missing, empty or not of the scheme; the scheme and the source's keys cannot be together.
    pub fn open(&self, environment: &Environment, max_text_bytes: usize) -> Result<Opened, Problem> {
        let key = format!("{TABLE}.{}", bare(self.name.as_str()));
        let fault = |message: Message| {
            let place = match &self.origin {
                Origin::File(path, line) => format!("{}:{line}: {key}", path.display()),
                _ => key.clone(),
            };
            Problem::usage(Message::new("setting-value").with("place", place).message("fault", message))
        };
        let mut spec = self.spec.clone();
        let scheme = spec.resolve().map_err(|error| fault(spec_fault(&error)))?;
        let mut notes = Vec::new();
        let mut read = |place: &SecretPlace, scheme| {
            let secret = place.read(scheme, environment).map_err(&fault)?;
            if secret.trimmed() {
                notes.push(Message::new("secret-trimmed").with("place", place.shown()));
            }
            Ok::<_, Problem>(secret)
        };
        let secrets = self.secrets.iter().map(|place| read(place, Some(&scheme))).collect::<Result<Vec<_>, _>>()?;
        spec.verify_token = self.verify_token.as_ref().map(|place| read(place, None)).transpose()?;
        // A source whose text is its whole body takes bodies as large as it says.
        let max_text_bytes = max_text_bytes.max(scheme.max_body_bytes.min(TEXT_MAX_BYTES_CEILING));
        let receiver =
            Receiver::new(&spec, secrets.clone(), max_text_bytes).map_err(|error| fault(spec_fault(&error)))?;
        Ok(Opened { receiver, secrets, notes })
    }
}

/// A fault of a scheme in words.
fn spec_fault(fault: &SpecFault) -> Message {
    let key = match fault.code {
        "empty" => "source-empty-name",
        "fallback_unneeded" => "source-fallback-unneeded",
        "id_needed" if fault.detail.is_empty() => "source-id-needed",
        "id_needed" => "source-id-documented",
        "id_of_several" => "source-id-of-several",
        "no_fallback" => "source-no-fallback",
        "no_signed_time" => "source-no-signed-time",
        "nothing_pending" => "source-nothing-pending",
        "only_generic" => "source-only-generic",
        "place" => "source-not-a-place",
        "pointer" => "source-not-a-pointer",
        "secret_needed" => "source-no-secret",
        "signed_id" => "source-signed-id",
        "template" => "source-not-a-template",
        "time_not_signed" => "source-time-not-signed",
        "timestamp" => "source-no-timestamp",
        "unsigned_by_name_only" => "source-by-name-only",
        _ => "source-spec-fault",
    };
    Message::new(key).with("field", field(fault)).with("code", fault.code).with("detail", fault.detail.as_str())
}

/// The key of the file that a fault is about.
fn field(fault: &SpecFault) -> &'static str {
    match fault.field {
        "tolerance_s" => "tolerance",
        "max_body_bytes" => "max_body",
        "secret" => "secret_env",
        other => other,
    }
}

/// The variables that hold secrets of these sources.
pub(crate) fn variables(sources: &[SourceConfig]) -> Vec<&str> {
    let places = sources.iter().flat_map(|source| source.secrets.iter().chain(&source.verify_token));
    places
        .filter_map(|place| if let SecretPlace::Variable(name) = place { Some(name.as_str()) } else { None })
        .collect()
}

/// Reads `[source.NAME]`.
///
/// # Errors
/// The first thing in it that cannot be so.
pub(super) fn read(file: &InFile<'_>, key: &Key<'_>, value: &Item<'_>) -> Result<SourceConfig, Problem> {
    let name = name(file, TABLE, key)?;
    let table = Table::open(file, format!("{TABLE}.{}", bare(name.as_str())), value)?;
    if table.get("secret").is_some() || table.get("secrets").is_some() {
        return Err(table.fault("", Message::new("source-secret-inside")).hint(Message::new("source-secret-hint")));
    }
    let known = [OWN_KEYS.as_slice(), &SPEC_KEYS].concat();
    table.only(&known, &Message::new("source-keys-hint"))?;
    for place in PLACE_KEYS {
        table.texts(place)?;
    }
    let mut spec: Spec = table.read_as(&SPEC_KEYS)?;
    let form = form(&table)?;
    if spec.scheme.is_empty() && form.is_some() {
        FORM_SCHEME.clone_into(&mut spec.scheme);
    }
    known_scheme(&table, &spec.scheme)?;
    let tolerance = Kind::Duration { min: Duration::from_secs(1), max: TOLERANCE_MAX };
    spec.tolerance_s =
        table.value("tolerance", tolerance)?.and_then(|value| value.as_duration()).map(|long| long.as_secs());
    let max_body = Kind::Bytes { min: 1, max: BODY_MAX_BYTES };
    spec.max_body_bytes = table.value("max_body", max_body)?.as_ref().and_then(Value::as_bytes);
    let status = table.value("conflict_status", Kind::Count { min: 200, max: 599 })?;
    spec.conflict_status = status.and_then(|value| value.as_count()).map(|status| status as u16);
    if spec.conflict_status.is_some_and(|status| !(200..300).contains(&status) && !(400..600).contains(&status)) {
        return Err(table.fault("conflict_status", Message::new("source-conflict-status")));
    }
    let unsigned = table.yes("unsigned")?;
    spec.unsigned = unsigned;
    let secrets = secrets(&table, "secret_env", "secret_file")?;
    match (unsigned, secrets.is_empty()) {
        (false, _) if form.is_some() => {
            let problem = table.fault("", Message::new("source-form-unsigned"));
            return Err(problem.hint(Message::new("source-form-unsigned-hint")));
        }
        // Where a handshake brings the secret, the source begins without.
        (false, true) if !spec.pending => {
            return Err(table.fault("", Message::new("source-no-secret")).hint(Message::new("source-secret-hint")));
        }
        (true, false) => return Err(table.fault("unsigned", Message::new("source-unsigned-secret"))),
        _ => {}
    }
    if let Some(trap) = form.as_ref().and_then(|form| form.honeypot.as_deref())
        && spec.ignore.is_none()
    {
        // It is empty in what people send; that is no part of what they say.
        let escaped = trap.replace('~', "~0").replace('/', "~1");
        spec.ignore = Some(vec!["/id".to_owned(), format!("/{escaped}")]);
    }
    spec.resolve().map_err(|fault| table.fault(field(&fault), spec_fault(&fault)))?;
    let mut tokens = secrets_of(&table, "verify_token_env", "verify_token_file")?;
    if tokens.len() > 1 {
        return Err(table.fault("", Message::new("source-one-verify-token")));
    }
    Ok(SourceConfig {
        spec,
        secrets,
        verify_token: tokens.pop(),
        unsigned,
        rate_limit: rate(&table)?,
        form,
        lines: table.lines(),
        origin: table.origin(),
        name,
    })
}

fn known_scheme(table: &Table<'_, '_>, scheme: &str) -> Result<(), Problem> {
    if scheme.is_empty() {
        return Err(table.fault("", Message::new("source-no-scheme")).hint(Message::new("source-schemes-hint")));
    }
    if cola_ia_webhook::find(scheme).is_some() {
        return Ok(());
    }
    let problem = table.fault("scheme", Message::new("source-unknown-scheme").with("scheme", scheme));
    Err(match nearest(scheme, catalogue().iter().map(|known| known.name.as_str())) {
        Some(meant) => problem.hint(Message::new("did-you-mean").with("meant", meant)),
        None => problem.hint(Message::new("source-schemes-hint")),
    })
}

fn secrets(table: &Table<'_, '_>, variables: &'static str, files: &'static str) -> Result<Vec<SecretPlace>, Problem> {
    if table.get(variables).is_some() && table.get(files).is_some() {
        return Err(table.fault(files, Message::new("source-secret-twice")));
    }
    secrets_of(table, variables, files)
}

fn secrets_of(
    table: &Table<'_, '_>,
    variables: &'static str,
    files: &'static str,
) -> Result<Vec<SecretPlace>, Problem> {
    let mut places = Vec::new();
    for variable in table.texts(variables)? {
        let odd = variable.is_empty() || variable.contains(['=', '\0']) || variable.contains(char::is_whitespace);
        if odd {
            // The value is not shown: a secret may stand where its variable's name is wanted.
            return Err(table.fault(variables, Message::new("source-secret-env-name")));
        }
        places.push(SecretPlace::Variable(variable));
    }
    for file in table.texts(files)? {
        if file.is_empty() || file.contains('\0') {
            return Err(table.fault(files, Message::new("fault-empty-path")));
        }
        places.push(SecretPlace::File(table.beside(&file)));
    }
    let given = [variables, files].into_iter().find(|name| table.get(name).is_some());
    match given {
        Some(name) if places.is_empty() => Err(table.fault(name, Message::new("source-secret-none"))),
        _ => Ok(places),
    }
}

/// `60/m`: so many a second, a minute, an hour or a day.
fn rate(table: &Table<'_, '_>) -> Result<Option<Rate>, Problem> {
    let Some(text) = table.text("rate_limit")? else { return Ok(None) };
    let parsed = || {
        let (count, unit) = text.split_once('/')?;
        let per = match unit.trim() {
            "s" => 1,
            "m" | "min" => 60,
            "h" => 3_600,
            "d" => 86_400,
            _ => return None,
        };
        Some(Rate { count: count.trim().parse().ok()?, per: Duration::from_secs(per) })
    };
    match parsed() {
        Some(rate) => Ok(Some(rate)),
        None => Err(table.fault("rate_limit", Message::new("source-not-a-rate").with("value", &text))),
    }
}

/// `form = true`, or a table with what is special about it.
fn form(table: &Table<'_, '_>) -> Result<Option<FormConfig>, Problem> {
    let Some(value) = table.get("form") else { return Ok(None) };
    if value.get_ref().is_bool() {
        return Ok(table.yes("form")?.then(FormConfig::default));
    }
    let form = table.inner("form", value)?;
    form.only(&FORM_KEYS, &Message::new("source-form-keys-hint").with("keys", FORM_KEYS.join(", ")))?;
    let mut allowed_origins = Vec::new();
    for origin in form.texts("allowed_origins")? {
        allowed_origins.push(web_origin(&origin).ok_or_else(|| {
            form.fault("allowed_origins", Message::new("source-not-an-origin").with("value", &origin))
        })?);
    }
    let thanks = form.text("thanks")?;
    let is_address = |text: &str| {
        let whole =
            text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).is_some_and(|rest| !rest.is_empty());
        (whole || (text.starts_with('/') && !text.starts_with("//")))
            && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
    };
    if let Some(address) = thanks.as_deref().filter(|address| !is_address(address)) {
        return Err(form.fault("thanks", Message::new("source-not-a-thanks").with("value", address)));
    }
    let honeypot = form.text("honeypot")?;
    if honeypot.as_deref().is_some_and(|name| name.trim().is_empty()) {
        return Err(form.fault("honeypot", Message::new("source-empty-name")));
    }
    Ok(Some(FormConfig { allowed_origins, honeypot, thanks }))
}

/// An origin as browsers write it: scheme, host and port, in lower case, nothing behind them.
fn web_origin(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?.trim_end_matches('/');
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    let plain = !host.is_empty() && host.bytes().all(known);
    plain.then(|| text.trim_end_matches('/').to_owned())
}
