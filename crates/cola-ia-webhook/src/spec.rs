//! A source as its configuration gives it.

use serde::Deserialize;

use crate::content::Content;
use crate::pointer::Pointer;
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
    /// Anyone may send: nothing is verified.
    pub unsigned: bool,
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
///
/// | code | what is wrong |
/// | --- | --- |
/// | `scheme_unknown` | the catalogue has no such name |
/// | `only_generic` | the scheme says itself how it signs |
/// | `template` | `content` has a name that is not known, or a brace without its partner |
/// | `one_place` | none or several of `header`, `key` and `pointer` |
/// | `separator` | nothing separates `key=value` from the next |
/// | `signed_id` | `{id}` without `signed_id`, or `signed_id` without `{id}` |
/// | `timestamp` | `{ts}` without `timestamp` |
/// | `time_not_signed` | `timestamp` is not part of what is signed: anyone could set it |
/// | `no_signed_time` | `tolerance_s` without a signed time |
/// | `id_needed` | the sender has no id of its own: `id` or `fallback_id`; the detail has the documented one |
/// | `no_fallback` | nothing is documented as a substitute |
/// | `fallback_unneeded` | there is an id |
/// | `place`, `pointer`, `empty` | a place cannot be read; `each` ends in `/*` |
/// | `id_of_several` | `*` in an id; several events are what `each` is for |
/// | `secret_needed` | neither a secret nor `unsigned` |
/// | `unsigned_by_name_only` | the scheme signs nothing and the source does not say `unsigned` |
/// | `nothing_pending` | `pending` with a scheme that has no such handshake |
/// | `status` | no HTTP status |
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
    /// An unknown scheme, a value that cannot be, or what is lacking.
    pub fn resolve(&self) -> Result<Scheme, SpecFault> {
        let Some(scheme) = crate::scheme::find(&self.scheme) else {
            return Err(fault("scheme_unknown", "scheme", &self.scheme));
        };
        let mut scheme = scheme.clone();
        self.sign(&mut scheme)?;
        self.extract(&mut scheme)?;
        check(&scheme)?;
        Ok(scheme)
    }

    /// How requests are signed.
    fn sign(&self, scheme: &mut Scheme) -> Result<(), SpecFault> {
        let own = [
            ("algorithm", self.algorithm.is_some()),
            ("key", self.key.is_some()),
            ("content", self.content.is_some()),
            ("signature", self.signature.is_some()),
            ("encoding", self.encoding.is_some()),
            ("signed_id", self.signed_id.is_some()),
            ("timestamp", self.timestamp.is_some()),
        ];
        if let Some((field, _)) = own.iter().find(|(_, given)| *given && !scheme.generic) {
            return Err(fault("only_generic", field, &scheme.name));
        }
        set(&mut scheme.algorithm, self.algorithm);
        set(&mut scheme.key, self.key);
        set(&mut scheme.content, self.content.clone());
        set(&mut scheme.signature, self.signature.clone());
        set(&mut scheme.encoding, self.encoding);
        if self.signed_id.is_some() {
            scheme.signed_id.clone_from(&self.signed_id);
        }
        if self.timestamp.is_some() {
            scheme.timestamp.clone_from(&self.timestamp);
            scheme.tolerance_s = scheme.tolerance_s.or(Some(300));
        }
        if let Some(header) = &self.header {
            scheme.signature.header = Some(header.clone());
            scheme.signature.pointer = None;
        }
        set(&mut scheme.signature.prefix, self.prefix.clone());
        if self.tolerance_s.is_some() {
            if scheme.timestamp.is_none() {
                return Err(fault("no_signed_time", "tolerance_s", &scheme.name));
            }
            scheme.tolerance_s = self.tolerance_s;
        }
        if self.unsigned {
            scheme.algorithm = Algorithm::None;
        } else if scheme.algorithm == Algorithm::None {
            return Err(fault("unsigned_by_name_only", "unsigned", &scheme.name));
        }
        Ok(())
    }

    /// Where the parts of events are.
    fn extract(&self, scheme: &mut Scheme) -> Result<(), SpecFault> {
        let cloud_events = self.format == Some(Format::CloudEvents);
        if cloud_events {
            scheme.accepts = vec![Accepts::Json, Accepts::Text];
            scheme.form_payload = None;
            scheme.each = Places::None;
            scheme.id = Places::One("{ce:source}#{ce:id}".into());
            scheme.event_type = Places::One("ce:type".into());
            scheme.time = Places::One("ce:time".into());
            scheme.time_unit = TimeUnit::Rfc3339;
            scheme.text = Places::One("ce:data".into());
            scheme.ignore = Vec::new();
        }
        set(&mut scheme.accepts, self.accepts.clone());
        set(&mut scheme.each, self.each.clone());
        set(&mut scheme.event_type, self.event_type.clone());
        set(&mut scheme.text, self.text.clone());
        set(&mut scheme.ignore, self.ignore.clone());
        if let Some(time) = &self.time {
            scheme.time = time.clone();
            scheme.time_unit = TimeUnit::Rfc3339;
        }
        set(&mut scheme.time_unit, self.time_unit);
        set(&mut scheme.max_body_bytes, self.max_body_bytes);
        if let Some(id) = &self.id {
            scheme.id = id.clone();
        } else if scheme.generic && !cloud_events && self.fallback_id.is_some() {
            // The id of a generic scheme is only a guess, which gives way to what the source says.
            scheme.id = Places::None;
        }
        if scheme.id.as_slice().is_empty() {
            scheme.id = match self.fallback_id {
                Some(Fallback::BodySha256) => Places::One("sha256:body".into()),
                Some(Fallback::Documented) if !scheme.fallback.as_slice().is_empty() => scheme.fallback.clone(),
                Some(Fallback::Documented) => return Err(fault("no_fallback", "fallback_id", &scheme.name)),
                None => {
                    // The sender has no id of its own; which substitute is good enough is the operator's decision.
                    let documented = scheme.fallback.as_slice().join(", ");
                    return Err(fault("id_needed", "id", &documented));
                }
            };
        } else if self.fallback_id.is_some() {
            return Err(fault("fallback_unneeded", "fallback_id", &scheme.id.as_slice().join(", ")));
        }
        if self.conflict_status.is_some_and(|status| !(200..=599).contains(&status)) {
            return Err(fault("status", "conflict_status", &self.conflict_status.unwrap_or_default().to_string()));
        }
        Ok(())
    }
}

fn set<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}

pub(crate) fn fault(code: &'static str, field: &'static str, detail: &str) -> SpecFault {
    SpecFault { code, field, detail: detail.to_owned() }
}

/// Whether the parts of a scheme fit together.
fn check(scheme: &Scheme) -> Result<(), SpecFault> {
    if scheme.algorithm == Algorithm::None {
        return Ok(());
    }
    let content = Content::parse(&scheme.content).map_err(|name| fault("template", "content", &name))?;
    let place = &scheme.signature;
    if place.header.is_some() == place.pointer.is_some() || (place.pointer.is_some() && place.key.is_some()) {
        return Err(fault("one_place", "signature", "header or pointer"));
    }
    if place.header.as_deref().is_some_and(|header| header.trim().is_empty()) {
        return Err(fault("empty", "header", ""));
    }
    if place.separator.as_deref() == Some("") || (place.key.is_some() && place.separator.is_none()) {
        return Err(fault("separator", "signature", place.key.as_deref().unwrap_or_default()));
    }
    if scheme.algorithm != Algorithm::Token && scheme.content.is_empty() {
        return Err(fault("empty", "content", ""));
    }
    if content.has_id() != scheme.signed_id.is_some() {
        return Err(fault("signed_id", "signed_id", &scheme.content));
    }
    match &scheme.timestamp {
        None if content.has_time() => return Err(fault("timestamp", "timestamp", &scheme.content)),
        None => {}
        Some(time) => {
            let places = [time.header.is_some(), time.key.is_some(), time.pointer.is_some()];
            if places.iter().filter(|given| **given).count() != 1 || (time.key.is_some() && place.key.is_none()) {
                return Err(fault("one_place", "timestamp", "header, key or pointer"));
            }
            // A time that is not signed proves nothing.
            let signed = match &time.pointer {
                None => content.has_time(),
                Some(path) => {
                    content.covers_body()
                        || content.pointers().any(|signed| Pointer::parse(path).as_ref() == Some(signed))
                }
            };
            if !signed {
                return Err(fault("time_not_signed", "timestamp", &scheme.content));
            }
            if content.has_time() && time.pointer.is_some() {
                return Err(fault("one_place", "timestamp", "a pointer is signed as {ptr:…}"));
            }
        }
    }
    let pointers = [place.pointer.as_ref(), scheme.timestamp.as_ref().and_then(|time| time.pointer.as_ref())];
    for path in pointers.into_iter().flatten() {
        if Pointer::parse(path).is_none_or(|path| path.has_star()) {
            return Err(fault("pointer", "signature", path));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(toml: &str) -> Result<Scheme, &'static str> {
        toml::from_str::<Spec>(toml).unwrap().resolve().map_err(|fault| fault.code)
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_code() {
        let cases = [
            ("scheme = 'githup'", "scheme_unknown"),
            ("scheme = 'github'\ncontent = '{body}'", "only_generic"),
            ("scheme = 'github'\ntolerance_s = 5", "no_signed_time"),
            ("scheme = 'calcom'", "id_needed"),
            ("scheme = 'github'\nfallback_id = 'body-sha256'", "fallback_unneeded"),
            ("scheme = 'hmac'\nfallback_id = 'documented'", "no_fallback"),
            ("scheme = 'unsigned'\nid = '/id'", "unsigned_by_name_only"),
            ("scheme = 'hmac'\nid = '/id'\ncontent = '{bdy}'", "template"),
            ("scheme = 'hmac'\nid = '/id'\ncontent = '{id}.{body}'", "signed_id"),
            ("scheme = 'hmac'\nid = '/id'\ncontent = '{ts}.{body}'", "timestamp"),
            ("scheme = 'hmac'\nid = '/id'\ntimestamp = { header = 'X-T', unit = 's' }", "time_not_signed"),
            ("scheme = 'hmac'\nid = '/id'\nsignature = { header = 'X-S', key = 'v1' }", "separator"),
            ("scheme = 'hmac'\nid = '/id'\nsignature = { }", "one_place"),
            ("scheme = 'github'\nconflict_status = 99", "status"),
        ];
        for (toml, expected) in cases {
            assert_eq!(code(toml).unwrap_err(), expected, "{toml}");
        }
    }

    #[test]
    fn a_source_may_want_it_otherwise() {
        let scheme = code(
            "scheme = 'hmac'\nid = '/n'\ncontent = '{ts}:{body}'\nsignature = { header = 'X-Sig', separator = ',', key = 'h' }\n\
             timestamp = { key = 't', unit = 'ms' }\ntext = ['/a', '/b']\nalgorithm = 'hmac-sha512'",
        )
        .unwrap();
        assert_eq!(scheme.algorithm, Algorithm::HmacSha512);
        assert_eq!(scheme.text.as_slice(), ["/a", "/b"]);
        assert_eq!(scheme.tolerance_s, Some(300), "a signed time is looked at");
        assert!(code("scheme = 'unsigned'\nunsigned = true\nid = '/id'").is_ok());
        assert!(code("scheme = 'calcom'\nfallback_id = 'documented'").is_ok());
        assert!(toml::from_str::<Spec>("scheme = 'github'\nidd = '/x'").is_err());
    }
}
