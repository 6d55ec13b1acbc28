//! Identity and content of an event, each a type that cannot hold a wrong value.
//!
//! Identity is (source, id), byte for byte: never trimmed, case-folded or normalised. Content is the text.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::clock::Timestamp;
use crate::intake::RefusalCode;
use crate::limits::{ID_MAX_BYTES, SOURCE_MAX_BYTES, TYPE_MAX_BYTES};

/// Who sends: `[a-z0-9][a-z0-9._-]{0,63}`. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source(Arc<str>);

impl Source {
    /// The source of events that name none.
    pub const DEFAULT: &'static str = "default";

    /// Checks the form.
    ///
    /// # Errors
    /// [`RefusalCode::SourceInvalid`].
    pub fn new(name: &str) -> Result<Self, RefusalCode> {
        let bytes = name.as_bytes();
        let inner =
            |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | b'-');
        let well_formed = bytes.len() <= SOURCE_MAX_BYTES
            && bytes.first().is_some_and(|first| first.is_ascii_lowercase() || first.is_ascii_digit())
            && bytes.iter().all(inner);
        if well_formed { Ok(Self(name.into())) } else { Err(RefusalCode::SourceInvalid) }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Source {
    fn default() -> Self {
        Self(Self::DEFAULT.into())
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The sender's name for an event: not blank, at most 1,024 bytes, no U+0000–U+001F and no U+007F.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(Box<str>);

impl EventId {
    /// Checks the form.
    ///
    /// # Errors
    /// [`RefusalCode::IdBlank`] (empty, or white space only), [`RefusalCode::IdTooLong`], [`RefusalCode::IdControl`].
    pub fn new(id: impl Into<Box<str>>) -> Result<Self, RefusalCode> {
        let id = id.into();
        if id.len() > ID_MAX_BYTES {
            Err(RefusalCode::IdTooLong)
        } else if id.bytes().any(|byte| byte.is_ascii_control()) {
            Err(RefusalCode::IdControl)
        } else if id.trim().is_empty() {
            Err(RefusalCode::IdBlank)
        } else {
            Ok(Self(id))
        }
    }

    /// The id, as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What kind of event the sender says it is: not blank, at most 256 bytes, no control characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventType(Box<str>);

impl EventType {
    /// Checks the form.
    ///
    /// # Errors
    /// [`RefusalCode::TypeInvalid`].
    pub fn new(name: impl Into<Box<str>>) -> Result<Self, RefusalCode> {
        let name = name.into();
        let well_formed = name.len() <= TYPE_MAX_BYTES
            && !name.trim().is_empty()
            && !name.bytes().any(|byte| byte.is_ascii_control());
        if well_formed { Ok(Self(name)) } else { Err(RefusalCode::TypeInvalid) }
    }

    /// The type, as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// SHA-256 of a text's UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// The fingerprint of this text.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }
}

/// Lower-case hex, 64 characters.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A text and its fingerprint, which always belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    text: String,
    fingerprint: Fingerprint,
}

impl Content {
    /// Checks a text and takes its fingerprint. `max_bytes` is the configured bound.
    ///
    /// # Errors
    /// [`RefusalCode::TextTooLong`], [`RefusalCode::TextNul`] (U+0000, which PostgreSQL cannot hold), [`RefusalCode::TextBlank`].
    pub fn new(text: String, max_bytes: usize) -> Result<Self, RefusalCode> {
        if text.len() > max_bytes {
            Err(RefusalCode::TextTooLong)
        } else if text.as_bytes().contains(&0) {
            Err(RefusalCode::TextNul)
        } else if text.trim().is_empty() {
            Err(RefusalCode::TextBlank)
        } else {
            let fingerprint = Fingerprint::of(&text);
            Ok(Self { text, fingerprint })
        }
    }

    /// The text, as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// SHA-256 of the text.
    pub const fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }
}

/// One handing-over of an event to the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Who sends.
    pub source: Source,
    /// The sender's name for the event.
    pub id: EventId,
    /// What it says.
    pub content: Content,
    /// What kind of event the sender says it is.
    pub event_type: Option<EventType>,
    /// When it happened at the provider, as the provider says.
    pub time: Option<Timestamp>,
    /// Where it was read.
    pub origin: Origin,
    /// SHA-256 of the signed bytes that it came in, where its id stands outside of them: the same bytes under another id are a
    /// delivery of the same event again. `None`: its id alone tells.
    pub body: Option<Fingerprint>,
}

impl Delivery {
    /// Bytes of id, text and type: what a batch counts against its bound.
    pub fn weight(&self) -> usize {
        let event_type = self.event_type.as_ref().map_or(0, |name| name.as_str().len());
        self.id.as_str().len() + self.content.text().len() + event_type
    }
}

/// Where a delivery or a refusal was read: an input's name (a path, `-`, later a request) and a line from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The input's name as people gave it.
    pub input: Arc<str>,
    /// The line, counted from 1, blank ones too.
    pub line: u64,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.input, self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_has_one_form() {
        for good in ["default", "0", "a.b_c-d", "github", &"a".repeat(64)] {
            assert!(Source::new(good).is_ok(), "{good}");
        }
        for bad in ["", ".a", "-a", "_a", "A", "a b", "ñ", "a/b", "a\n", &"a".repeat(65)] {
            assert_eq!(Source::new(bad), Err(RefusalCode::SourceInvalid), "{bad:?}");
        }
    }

    #[test]
    fn an_id_is_kept_byte_for_byte() {
        for good in ["a", " a ", "caf\u{e9}", "cafe\u{301}", "A\u{200b}", "\u{85}x", &"x".repeat(1024)] {
            assert_eq!(EventId::new(good).unwrap().as_str(), good);
        }
    }

    #[test]
    fn an_id_that_could_be_mistaken_for_none_is_refused() {
        let cases = [
            ("", RefusalCode::IdBlank),
            ("  ", RefusalCode::IdBlank),
            ("\u{a0}\u{3000}", RefusalCode::IdBlank),
            ("a\0", RefusalCode::IdControl),
            ("a\n", RefusalCode::IdControl),
            ("\t", RefusalCode::IdControl),
            ("a\u{7f}", RefusalCode::IdControl),
        ];
        for (id, code) in cases {
            assert_eq!(EventId::new(id), Err(code), "{id:?}");
        }
        assert_eq!(EventId::new("x".repeat(1025)), Err(RefusalCode::IdTooLong));
        // 342 characters of 3 bytes: the bound is in bytes.
        assert_eq!(EventId::new("€".repeat(342)), Err(RefusalCode::IdTooLong));
    }

    #[test]
    fn a_text_is_bounded_and_not_blank() {
        let code = |text: &str| Content::new(text.to_owned(), 8).map(|content| content.text().to_owned());
        assert_eq!(code("12345678"), Ok("12345678".to_owned()));
        assert_eq!(code("123456789"), Err(RefusalCode::TextTooLong));
        assert_eq!(code(" \n\t"), Err(RefusalCode::TextBlank));
        assert_eq!(code("a\0b"), Err(RefusalCode::TextNul));
        assert_eq!(code("a\u{1b}[0m"), Ok("a\u{1b}[0m".to_owned()));
    }

    #[test]
    fn the_fingerprint_is_sha256_in_lower_case_hex() {
        // The digest of "abc" from FIPS 180-2, appendix B.1.
        assert_eq!(
            Fingerprint::of("abc").to_string(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
