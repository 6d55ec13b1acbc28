//! How a kind of sender signs and where its events have their parts: data, read from `catalogue.toml` and from configurations.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// How a signature is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// HMAC with SHA-1: only for providers that know no other.
    HmacSha1,
    /// HMAC with SHA-256.
    HmacSha256,
    /// HMAC with SHA-512.
    HmacSha512,
    /// Ed25519 (RFC 8032).
    Ed25519,
    /// ECDSA over P-256 with SHA-256, the signature in DER.
    EcdsaP256,
    /// A token that is sent as it is: it proves who sends, and nothing about the body.
    Token,
    /// Nothing: anyone may send. Only where the source says so by name.
    None,
}

impl Algorithm {
    /// The word in configurations.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HmacSha1 => "hmac-sha1",
            Self::HmacSha256 => "hmac-sha256",
            Self::HmacSha512 => "hmac-sha512",
            Self::Ed25519 => "ed25519",
            Self::EcdsaP256 => "ecdsa-p256",
            Self::Token => "token",
            Self::None => "none",
        }
    }

    /// Whether the receiver has a public key only, and so cannot sign.
    pub const fn is_asymmetric(self) -> bool {
        matches!(self, Self::Ed25519 | Self::EcdsaP256)
    }
}

/// How a secret is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyForm {
    /// Its bytes are the key, prefixes such as `whsec_` too.
    Utf8,
    /// Standard base64 of the key.
    Base64,
    /// `whsec_` and base64, with or without the prefix; consoles that show `v1,whsec_…` are understood.
    WhsecBase64,
    /// `whpk_` and the base64 of a public key.
    WhpkBase64,
    /// Hexadecimal digits.
    Hex,
    /// Base64 of a DER `SubjectPublicKeyInfo`, or the same as PEM.
    SpkiBase64,
}

/// How a signature is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// Hexadecimal digits, all lower-case or all upper-case.
    Hex,
    /// Standard base64 with padding.
    Base64,
    /// Base64 for URLs, without padding.
    Base64url,
    /// As it is: tokens.
    Plain,
}

/// Where the signatures are.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignaturePlace {
    /// A header. One of `header` and `pointer` is given.
    pub header: Option<String>,
    /// A JSON pointer into the body.
    pub pointer: Option<String>,
    /// What stands between several; with none, the whole header is one.
    pub separator: Option<String>,
    /// What stands before each; an item without it is of a version that is not ours and ignored.
    #[serde(default)]
    pub prefix: String,
    /// The header is a list of `key=value`, and signatures are under this key.
    pub key: Option<String>,
}

/// Where the signed time is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimePlace {
    /// A header. One of `header`, `key` and `pointer` is given.
    pub header: Option<String>,
    /// A key in the signature's header.
    pub key: Option<String>,
    /// A JSON pointer into the body.
    pub pointer: Option<String>,
    /// How it is written.
    pub unit: TimeUnit,
}

/// How an instant is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeUnit {
    /// Seconds since 1970, with a fraction or not.
    S,
    /// Milliseconds since 1970.
    Ms,
    /// A date-time with its offset.
    #[default]
    Rfc3339,
    /// A date-time without an offset, in UTC.
    Utc,
    /// Discord's ids: milliseconds since 2015, shifted by 22 bits.
    Snowflake,
}

/// One place or several, of which the first that holds something is taken. A place is
///
/// - `/a/b`: a JSON pointer (RFC 6901) into the event; of a form, `/field`;
/// - `number:/a/b`: the same, where the value is a whole number;
/// - `root:/a/b`: into the whole body, where the event is an element of an array;
/// - `header:NAME`, `form:FIELD`, `query:FIELD`, `ce:ATTRIBUTE` (of a CloudEvent);
/// - `body`: the whole event, as canonical JSON, or the plain text;
/// - `sha256:/a/b`, `sha256:body`, `sha256:signed`: the hash of a value's canonical JSON, of the raw body, of the signed bytes;
/// - `received`: when it came;
/// - a template with some of these in braces, `{/event}:{number:/event_ts}`. Values are escaped with `\` so that two different
///   lists of values never make one id.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(untagged)]
pub enum Places {
    /// None.
    #[default]
    None,
    /// One.
    One(String),
    /// Several, the first that holds something.
    Several(Vec<String>),
}

impl Places {
    /// The places, in their order.
    pub fn as_slice(&self) -> &[String] {
        match self {
            Self::None => &[],
            Self::One(place) => std::slice::from_ref(place),
            Self::Several(places) => places,
        }
    }
}

/// What a sender asks before, or between, its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Handshake {
    /// Slack: a signed `url_verification`, whose challenge is echoed.
    UrlVerification,
    /// Meta: `GET` with `hub.challenge` and the verify token, which is a secret of its own.
    HubChallenge,
    /// Dropbox: `GET` with `challenge`.
    Challenge,
    /// Zoom: a signed `endpoint.url_validation`, answered with an HMAC of its token.
    UrlValidation,
    /// Discord's interactions: a signed `{"type":1}` is answered with the same.
    Ping1,
    /// Discord's webhook events: a signed `{"type":0}` is answered 204.
    Ping0,
    /// Notion: one unsigned `{"verification_token":…}`, only while the source is configured as pending.
    VerificationToken,
    /// WooCommerce: an unsigned form `webhook_id=N`.
    WebhookId,
}

impl Handshake {
    /// The word in configurations and in steps.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UrlVerification => "url-verification",
            Self::HubChallenge => "hub-challenge",
            Self::Challenge => "challenge",
            Self::UrlValidation => "url-validation",
            Self::Ping1 => "ping1",
            Self::Ping0 => "ping0",
            Self::VerificationToken => "verification-token",
            Self::WebhookId => "webhook-id",
        }
    }
}

/// What body a source may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Accepts {
    /// `application/json`, `…+json`, or no type at all.
    Json,
    /// `application/x-www-form-urlencoded`.
    Form,
    /// `multipart/form-data`; files in it are not kept.
    Multipart,
    /// `text/plain`.
    Text,
}

/// The answer to events, where a provider wants another than `{"result":…}`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplyShape {
    /// HTTP status.
    pub status: u16,
    /// `Content-Type`.
    #[serde(rename = "type")]
    pub content_type: Option<ReplyType>,
    /// The body.
    #[serde(default)]
    pub body: String,
}

/// The type of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReplyType {
    /// `application/json`.
    Json,
    /// `text/plain`.
    Text,
    /// `text/xml`.
    Xml,
}

impl ReplyType {
    /// The value of `Content-Type`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Text => "text/plain; charset=utf-8",
            Self::Xml => "text/xml; charset=utf-8",
        }
    }
}

/// An entry of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scheme {
    /// The name in configurations, such as `github`.
    #[serde(default)]
    pub name: String,
    /// The name for people.
    pub title: String,
    /// Where this was read.
    pub docs: String,
    /// What of this entry was not read in a source: `signature`, `id`, `type`, `time`, `text`, …; `all` where none was.
    #[serde(default)]
    pub unverified: Vec<String>,
    /// How a signature is made.
    pub algorithm: Algorithm,
    /// How the secret is written.
    pub key: KeyForm,
    /// What is signed: literal text with `{id}`, `{ts}`, `{body}`, `{url}`, `{method}`, `{ptr:/a/b}`, `{header:NAME}`, `{params}` (the
    /// fields of a form, sorted).
    #[serde(default)]
    pub content: String,
    /// Where the signatures are.
    pub signature: SignaturePlace,
    /// How a signature is written.
    pub encoding: Encoding,
    /// The header of `{id}`.
    pub signed_id: Option<String>,
    /// Where the signed time is.
    pub timestamp: Option<TimePlace>,
    /// How far the signed time may be from the server's clock, before and after, in seconds; not looked at where there is none.
    pub tolerance_s: Option<u64>,
    /// `[a, b]`: where no signature is under its header's name, names that begin with `a` are looked for as beginning with `b`.
    pub alias: Option<[String; 2]>,
    /// The address is also tried with and without the port that its scheme has by default.
    #[serde(default)]
    pub url_ports: bool,
    /// The address is also tried with these characters decoded where they stand percent-encoded.
    #[serde(default)]
    pub url_decoded: String,
    /// A body that is no form is signed through this field of the query, the hexadecimal SHA-256 of the body.
    pub body_hash: Option<String>,
    /// What body it may send.
    #[serde(default = "only_json")]
    pub accepts: Vec<Accepts>,
    /// A form whose body is JSON in this field.
    pub form_payload: Option<String>,
    /// Arrays whose elements are the events, as pointers that end in `/*`.
    #[serde(default)]
    pub each: Places,
    /// The id.
    #[serde(default)]
    pub id: Places,
    /// The documented id of senders that have none of their own; used where the source says so.
    #[serde(default)]
    pub fallback: Places,
    /// The type.
    #[serde(default, rename = "type")]
    pub event_type: Places,
    /// When it happened at the provider.
    #[serde(default)]
    pub time: Places,
    /// How `time` is written.
    #[serde(default)]
    pub time_unit: TimeUnit,
    /// The text.
    #[serde(default = "whole_body")]
    pub text: Places,
    /// What is left out of a text that is canonical JSON, because it differs from try to try: pointers into the event.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// What it asks before its events.
    #[serde(default)]
    pub handshakes: Vec<Handshake>,
    /// The answer.
    pub reply: Option<ReplyShape>,
    /// The largest body, in bytes, where the source says nothing else: 5 MiB, GitHub's and GitLab's 25 MiB.
    #[serde(default = "five_megabytes")]
    pub max_body_bytes: usize,
    /// Whether a source may and must say itself how it signs.
    #[serde(default)]
    pub generic: bool,
}

fn only_json() -> Vec<Accepts> {
    vec![Accepts::Json]
}

fn whole_body() -> Places {
    Places::One("body".into())
}

fn five_megabytes() -> usize {
    5 << 20
}

impl Scheme {
    /// Whether nothing of it that matters for taking an event, signature or id, is from memory only.
    pub fn is_verified(&self) -> bool {
        !self.unverified.iter().any(|part| matches!(part.as_str(), "all" | "signature" | "id"))
    }
}

/// All schemes, sorted by name, as `catalogue.toml` has them.
pub fn catalogue() -> &'static [Scheme] {
    static CATALOGUE: LazyLock<Vec<Scheme>> = LazyLock::new(|| {
        read(include_str!("catalogue.toml")).expect("the crate's own catalogue is well-formed; a test reads it")
    });
    &CATALOGUE
}

/// The scheme of this name.
pub fn find(name: &str) -> Option<&'static Scheme> {
    catalogue().iter().find(|scheme| scheme.name == name)
}

/// Reads a catalogue. An entry with `like` has what it does not say itself from the entry of that name.
fn read(text: &str) -> Result<Vec<Scheme>, String> {
    let tables: BTreeMap<String, toml::Table> = toml::from_str(text).map_err(|error| error.to_string())?;
    let scheme = |name: &String| {
        let mut table = whole(&tables, name, 0)?;
        table.insert("name".to_owned(), name.clone().into());
        Scheme::deserialize(toml::Value::Table(table)).map_err(|error| format!("{name}: {error}"))
    };
    tables.keys().map(scheme).collect()
}

/// An entry with what it has from those that it is like.
fn whole(tables: &BTreeMap<String, toml::Table>, name: &str, depth: usize) -> Result<toml::Table, String> {
    let table = tables.get(name).filter(|_| depth < 8).ok_or_else(|| format!("nothing can be like {name}"))?;
    let mut whole = match table.get("like").and_then(toml::Value::as_str) {
        Some(base) => self::whole(tables, base, depth + 1)?,
        None => toml::Table::new(),
    };
    // What is not verified is said of each entry by itself.
    whole.remove("unverified");
    whole.extend(table.clone());
    whole.remove("like");
    Ok(whole)
}
