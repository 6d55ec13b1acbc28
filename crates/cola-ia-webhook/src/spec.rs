//! A source as its configuration gives it.

use serde::Deserialize;

use crate::scheme::{Accepts, Algorithm, Encoding, KeyForm, Places, Scheme, SignaturePlace, TimePlace, TimeUnit};
use crate::secret::Secret;

/// What a source says of itself. All but `scheme` is optional and stands for what the scheme has.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Spec {
    /// A name of the catalogue.
    pub scheme: String,
    /// How a signature is made; this and the ones to `timestamp` only with the generic schemes.
    pub algorithm: Option<Algorithm>,
    /// How the secret is written.
    pub key: Option<KeyForm>,
    /// What is signed.
    pub content: Option<String>,
    /// Where the signatures are.
    pub signature: Option<SignaturePlace>,
    /// How a signature is written.
    pub encoding: Option<Encoding>,
    /// The header of `{id}`.
    pub signed_id: Option<String>,
    /// Where the signed time is.
    pub timestamp: Option<TimePlace>,
    /// The header of the signature or token, where only that differs.
    pub header: Option<String>,
    /// What stands before it.
    pub prefix: Option<String>,
    /// How far the signed time may be from the server's clock, in seconds.
    pub tolerance_s: Option<u64>,
    /// What body is taken.
    pub accepts: Option<Vec<Accepts>>,
    /// CloudEvents, or what the scheme says.
    pub format: Option<Format>,
    /// Arrays whose elements are the events.
    pub each: Option<Places>,
    /// The id.
    pub id: Option<Places>,
    /// An id for senders that have none.
    pub fallback_id: Option<Fallback>,
    /// The type.
    #[serde(rename = "type")]
    pub event_type: Option<Places>,
    /// When it happened.
    pub time: Option<Places>,
    /// How `time` is written.
    pub time_unit: Option<TimeUnit>,
    /// The text.
    pub text: Option<Places>,
    /// What is left out of a text that is canonical JSON.
    pub ignore: Option<Vec<String>>,
    /// The largest body, in bytes.
    pub max_body_bytes: Option<usize>,
    /// The status of the answer to a conflict; 200 where nothing is said, or the provider would send it again for days.
    pub conflict_status: Option<u16>,
    /// What the same signed bytes under another id are, where the id is not signed.
    pub replays: Replays,
    /// The source waits for the handshake that brings its secret (Notion).
    pub pending: bool,
    /// The second secret of a handshake (Meta). Not read from the configuration's text.
    #[serde(skip)]
    pub verify_token: Option<Secret>,
}

/// How events are wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// CloudEvents 1.0, in binary, structured or batched mode.
    CloudEvents,
}

/// An id for senders that have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fallback {
    /// The one that the catalogue documents for the scheme.
    Documented,
    /// The SHA-256 of the raw body, or of an element's canonical JSON: two equal bodies are one event.
    BodySha256,
}

/// What the same signed bytes under another id are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Replays {
    /// The same event again.
    #[default]
    Duplicate,
    /// An event of its own.
    Enter,
}

/// Why a source cannot be set up so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecFault {
    /// The fault as a word, stable.
    pub code: &'static str,
    /// The key of the configuration that it is about.
    pub field: &'static str,
    /// The value concerned, or what would be needed; never a secret.
    pub detail: String,
}

impl std::fmt::Display for SpecFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}): {}", self.field, self.code, self.detail)
    }
}

impl std::error::Error for SpecFault {}

impl Spec {
    /// A source that is what its scheme is.
    pub fn of(scheme: &str) -> Self {
        Self { scheme: scheme.to_owned(), ..Self::default() }
    }

    /// The scheme, with what this source wants otherwise.
    ///
    /// # Errors
    /// An unknown scheme, or what it lacks.
    pub fn resolve(&self) -> Result<Scheme, SpecFault> {
        let unknown = SpecFault { code: "scheme_unknown", field: "scheme", detail: self.scheme.clone() };
        crate::scheme::find(&self.scheme).cloned().ok_or(unknown)
    }
}
