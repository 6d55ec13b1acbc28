//! What comes to the gate: deliveries, and refusals of what could not become one.

use crate::event::{Delivery, Origin, Source};
use crate::limits::REFUSAL_DETAIL_MAX_BYTES;

/// One thing that an input handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intake {
    /// An event, well-formed.
    Delivery(Delivery),
    /// Something that could not become an event; it is recorded and nothing enters.
    Refusal(Refusal),
}

impl Intake {
    /// What it counts against the byte bound of a batch.
    pub fn weight(&self) -> usize {
        match self {
            Self::Delivery(delivery) => delivery.weight(),
            Self::Refusal(refusal) => refusal.detail.len(),
        }
    }
}

/// Why something could not become an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The reason, stable.
    pub code: RefusalCode,
    /// Where: the line, or the first line of several.
    pub origin: Origin,
    /// The byte of the line at which the reason shows, counted from 1; `None` where it is about the whole line.
    pub column: Option<u64>,
    /// What it is about: a key, a value, a found length. At most 200 bytes, empty where there is nothing to say.
    pub detail: String,
    /// How many this stands for: 1, or more where an input had so many that they are only counted.
    pub count: u64,
    /// Who sent it, where the place that it came to says so.
    pub source: Option<Source>,
}

impl Refusal {
    /// One refusal of one line.
    pub fn new(code: RefusalCode, origin: Origin) -> Self {
        Self { code, origin, column: None, detail: String::new(), count: 1, source: None }
    }

    /// From this source.
    #[must_use]
    pub fn of(mut self, source: Source) -> Self {
        self.source = Some(source);
        self
    }

    /// With the byte of the line, from 1.
    #[must_use]
    pub fn at_column(mut self, column: u64) -> Self {
        self.column = Some(column);
        self
    }

    /// With what it is about, cut to its bound at a character.
    #[must_use]
    pub fn about(mut self, detail: &str) -> Self {
        self.detail = cut(detail, REFUSAL_DETAIL_MAX_BYTES);
        self
    }
}

fn cut(text: &str, max_bytes: usize) -> String {
    const MARK: &str = "…";
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let mut kept = text[..text.floor_char_boundary(max_bytes - MARK.len())].to_owned();
    kept.push_str(MARK);
    kept
}

macro_rules! refusal_codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal,)+) => {
        /// Why something was refused. The codes are stable and explained in `docs/ERRORS.md`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum RefusalCode {
            $($(#[doc = $doc])+ $name,)+
        }

        impl RefusalCode {
            /// All codes.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The code in JSON, SQL and documentation.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)+ }
            }
        }
    };
}

refusal_codes! {
    /// The line is not JSON.
    JsonSyntax = "json_syntax",
    /// A value is complete and more follows it on the line.
    JsonTrailing = "json_trailing",
    /// `NaN` or `Infinity`, which JSON does not have.
    JsonNotANumber = "json_not_a_number",
    /// A key stands twice in one object, at any depth.
    JsonDuplicateKey = "json_duplicate_key",
    /// Arrays and objects nested deeper than 64.
    JsonTooDeep = "json_too_deep",
    /// Half of a surrogate pair in a `\u` escape.
    JsonLoneSurrogate = "json_lone_surrogate",
    /// The line is JSON and not an object.
    JsonNotObject = "json_not_object",
    /// The lines are one JSON document over several lines, not JSON Lines.
    JsonDocument = "json_document",
    /// The bytes are not UTF-8.
    Utf8Invalid = "utf8_invalid",
    /// The input is UTF-16.
    Utf16 = "utf16",
    /// The input is compressed or packed in a form that is not read.
    FormatUnsupported = "format_unsupported",
    /// The line is longer than the configured bound.
    LineTooLong = "line_too_long",
    /// There is no `id`.
    IdMissing = "id_missing",
    /// The `id` is a number; ids are strings.
    IdNumber = "id_number",
    /// The `id` is neither a string nor a number.
    IdNotString = "id_not_string",
    /// The `id` is empty or white space.
    IdBlank = "id_blank",
    /// The `id` is longer than 1,024 bytes.
    IdTooLong = "id_too_long",
    /// The `id` has a control character.
    IdControl = "id_control",
    /// There is no `texto`.
    TextMissing = "text_missing",
    /// The `texto` is not a string.
    TextNotString = "text_not_string",
    /// The `texto` is empty or white space.
    TextBlank = "text_blank",
    /// The `texto` is longer than the configured bound.
    TextTooLong = "text_too_long",
    /// The `texto` has U+0000.
    TextNul = "text_nul",
    /// The `tipo` is not a string, blank, longer than 256 bytes or has a control character.
    TypeInvalid = "type_invalid",
    /// The `fecha` is not an RFC 3339 date-time with its offset.
    TimeInvalid = "time_invalid",
    /// The `origen` has not the form of a source.
    SourceInvalid = "source_invalid",
    /// The `origen` is not the source that the whole input was given with.
    SourceMismatch = "source_mismatch",
    /// One field stands in both its spellings.
    FieldTwice = "field_twice",
    /// The request bears no signature or token, or one that cannot be read.
    SignatureMissing = "signature_missing",
    /// The signature or token is not one that the source's secrets make.
    SignatureInvalid = "signature_invalid",
    /// The signed time is missing or is none.
    TimestampInvalid = "timestamp_invalid",
    /// The signed time is too far from the server's clock, before or after.
    TimestampOutside = "timestamp_outside",
    /// The body is larger than the source's bound.
    BodyTooLarge = "body_too_large",
    /// The body came too slowly.
    BodyTooSlow = "body_too_slow",
    /// The body is of a type or an encoding that the source does not take.
    MediaTypeUnsupported = "media_type_unsupported",
    /// The body is not what its type says.
    BodyMalformed = "body_malformed",
    /// One body has more events than a batch takes.
    TooManyEvents = "too_many_events",
    /// The form was sent from a page that is not one of the source's.
    OriginNotAllowed = "origin_not_allowed",
    /// The field that people do not see is filled in.
    Honeypot = "honeypot",
    /// More came than the source or the token may send.
    RateLimited = "rate_limited",
}

impl RefusalCode {
    /// The code that [`as_str`](Self::as_str) gives this word for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == word)
    }
}

/// The number of a delivery. Unique in a store, positive, and rising in the order of a batch. There are gaps, and between
/// batches it says nothing of the order in which they were committed: it is not a count and not a cursor to follow by.
///
/// A new event has the number of the delivery that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryNumber(pub i64);

/// The number of an event: that of the delivery that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventNumber(pub i64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detail_is_cut_at_a_character() {
        let origin = Origin { input: "-".into(), line: 1 };
        let refusal = Refusal::new(RefusalCode::IdBlank, origin).about(&"ñ".repeat(150));
        assert!(refusal.detail.len() <= REFUSAL_DETAIL_MAX_BYTES);
        assert!(refusal.detail.ends_with('…'));
    }

    #[test]
    fn every_code_is_told_apart() {
        for code in RefusalCode::ALL {
            assert_eq!(RefusalCode::from_word(code.as_str()), Some(*code));
        }
    }
}
