//! Single values as `/v1` writes them. Reading checks them, so that what was read needs no second look.

use std::borrow::Cow;
use std::fmt;
use std::fmt::Write as _;
use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{Alarm, EffectName, EffectState, Micros, Otherwise, Reason, TryOutcome, UtcDay, Witness};
use cola_ia_core::event::{EventType, Fingerprint, Source};
use cola_ia_core::intake::RefusalCode;
use cola_ia_core::job::{JobState, LeaseToken};
use cola_ia_core::store::{DecisionKind, TokenHash, TokenScope};
use cola_ia_core::verdict::Verdict;
use serde::de::{Error as _, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

use super::Carry;
use super::shape::{words, wrapped};

words! {
    /// What the gate said.
    VerdictWord of Verdict = ["new", "duplicate", "conflict", "invalid"];
    /// Where a job stands.
    StateWord of JobState = ["pending", "running", "done", "failed", "held", "cancelled"];
    /// What was decided about a conflict.
    DecisionWord of DecisionKind = ["keep", "accept", "as"];
    /// Where an effect stands.
    EffectStateWord of EffectState = ["intended", "done", "failed", "unknown", "held", "abandoned"];
    /// Why an effect's outcome is open.
    ReasonWord of Reason = [
        "reported", "lease_ended", "begun_again", "other_try_open", "restored", "nobody_can_tell", "job_ends"
    ];
    /// What a person must look at.
    AlarmWord of Alarm = ["late_evidence", "double_effect"];
    /// How a try ended.
    TryOutcomeWord of TryOutcome = ["done", "rejected", "not_sent", "absent"];
    /// Who told what an effect made.
    WitnessWord of Witness = ["sender", "lookup", "person"];
    /// Where the outcome is unknown and nothing else helps: a person decides, or it is tried again.
    OtherwiseWord of Otherwise = ["hold", "retry"];
    /// What a token allows.
    ScopeWord of TokenScope = ["ingest", "work", "read", "operate", "admin"];
}

/// A text that is read back to one value of the core.
macro_rules! texts {
    ($($(#[$meta:meta])* $name:ident of $core:ty = $expected:literal, $read:expr, $shown:expr, $schema:expr;)+) => {
        $($(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(pub $core);

        $crate::v1::shape::wrapped!($name($core));

        impl $name {
            /// Reads the text; `None` where it is none.
            pub fn read(text: &str) -> Option<Self> {
                let read: fn(&str) -> Option<$core> = $read;
                read(text).map(Self)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let shown: fn(&$core) -> std::borrow::Cow<'_, str> = $shown;
                f.write_str(&shown(&self.0))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                let value = Self::read(&text);
                value.ok_or_else(|| {
                    serde::de::Error::invalid_value(serde::de::Unexpected::Str(&text), &$expected)
                })
            }
        }

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                let schema: utoipa::openapi::schema::ObjectBuilder = $schema;
                schema.schema_type(utoipa::openapi::schema::Type::String).into()
            }
        }

        impl utoipa::ToSchema for $name {})+
    };
}

pub(crate) use texts;

texts! {
    /// The name of a source: `[a-z0-9][a-z0-9._-]{0,63}`.
    SourceName of Source = "the name of a source", |text| Source::new(text).ok(), |source| source.as_str().into(),
        ObjectBuilder::new().pattern(Some("^[a-z0-9][a-z0-9._-]{0,63}$"));
    /// What kind of event the sender says it is: not blank, at most 256 bytes, no control characters.
    TypeName of EventType = "the type of an event", |text| EventType::new(text).ok(), |name| name.as_str().into(),
        ObjectBuilder::new().min_length(Some(1)).max_length(Some(256));
    /// The name of an effect: `[a-z0-9][a-z0-9._-]{0,63}`.
    EffectNameText of EffectName = "the name of an effect", EffectName::new, |name| name.as_str().into(),
        ObjectBuilder::new().pattern(Some("^[a-z0-9][a-z0-9._-]{0,63}$"));
    /// SHA-256 in lower-case hex.
    FingerprintHex of Fingerprint = "64 hexadecimal digits in lower case", |text| unhex(text).map(Fingerprint),
        |fingerprint| fingerprint.to_string().into(), ObjectBuilder::new().pattern(Some("^[0-9a-f]{64}$"));
    /// A lease: 36 hexadecimal digits in lower case.
    LeaseHex of LeaseToken = "36 hexadecimal digits in lower case", LeaseToken::parse,
        |lease| lease.to_string().into(), ObjectBuilder::new().pattern(Some("^[0-9a-f]{36}$"));
    /// A day of UTC, `2026-11-30`.
    DayText of UtcDay = "a day such as 2026-11-30", read_day, |day| shown_day(*day).into(),
        ObjectBuilder::new().format(Some(SchemaFormat::KnownFormat(KnownFormat::Date)));
    /// Why a delivery was refused. The list is open.
    RefusalWord of RefusalCode = "the code of a refusal", RefusalCode::from_word, |code| code.as_str().into(),
        ObjectBuilder::new();
    /// SHA-256 of a token, in lower-case hex.
    TokenHashHex of TokenHash = "64 hexadecimal digits in lower case", |text| unhex(text).map(TokenHash),
        |hash| hex(&hash.0).into(), ObjectBuilder::new().pattern(Some("^[0-9a-f]{64}$"));
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Reads lower-case hex of exactly so many bytes: each value has one form.
pub fn unhex<const LENGTH: usize>(text: &str) -> Option<[u8; LENGTH]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    if text.len() != 2 * LENGTH {
        return None;
    }
    let mut bytes = [0; LENGTH];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

/// A day that no calendar of ours reaches is its number.
fn shown_day(day: UtcDay) -> String {
    let text = day.to_string();
    if read_date(&text) == Some(day) { text } else { day.0.to_string() }
}

pub(crate) fn read_day(text: &str) -> Option<UtcDay> {
    read_date(text).or_else(|| {
        let day = UtcDay(text.parse().ok()?);
        (shown_day(day) == text).then_some(day)
    })
}

fn read_date(text: &str) -> Option<UtcDay> {
    Timestamp::parse_rfc3339(&format!("{text}T00:00:00Z")).map(UtcDay::of)
}

/// Bytes in lower-case hex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hex<const LENGTH: usize>(pub [u8; LENGTH]);

impl<const LENGTH: usize> Serialize for Hex<LENGTH> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(&self.0))
    }
}

impl<'de, const LENGTH: usize> Deserialize<'de> for Hex<LENGTH> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <Cow<'de, str>>::deserialize(deserializer)?;
        let bytes = unhex(&text).map(Self);
        bytes.ok_or_else(|| D::Error::invalid_value(Unexpected::Str(&text), &"hexadecimal digits in lower case"))
    }
}

impl<const LENGTH: usize> PartialSchema for Hex<LENGTH> {
    fn schema() -> RefOr<Schema> {
        let pattern = format!("^[0-9a-f]{{{}}}$", 2 * LENGTH);
        ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern)).into()
    }
}

impl<const LENGTH: usize> ToSchema for Hex<LENGTH> {
    fn name() -> Cow<'static, str> {
        format!("Hex{LENGTH}").into()
    }
}

impl<const LENGTH: usize> Carry<[u8; LENGTH]> for Hex<LENGTH> {
    fn carry(self) -> [u8; LENGTH] {
        self.0
    }
}

impl<const LENGTH: usize> Carry<Hex<LENGTH>> for [u8; LENGTH] {
    fn carry(self) -> Hex<LENGTH> {
        Hex(self)
    }
}

/// An instant: RFC 3339 in UTC with six digits. One that no calendar of ours reaches is its number of microseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub Timestamp);

wrapped!(Instant(Timestamp));

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.0.to_rfc3339();
        if Timestamp::parse_rfc3339(&text) == Some(self.0) {
            serializer.serialize_str(&text)
        } else {
            serializer.serialize_i64(self.0.as_micros())
        }
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Take;
        impl Visitor<'_> for Take {
            type Value = Instant;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an instant as RFC 3339 writes it")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Instant, E> {
                let instant = Timestamp::parse_rfc3339(text).map(Instant);
                instant.ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }
            fn visit_i64<E: serde::de::Error>(self, micros: i64) -> Result<Instant, E> {
                Ok(Instant(Timestamp::from_micros(micros)))
            }
            fn visit_u64<E: serde::de::Error>(self, micros: u64) -> Result<Instant, E> {
                let micros =
                    i64::try_from(micros).map_err(|_| E::invalid_value(Unexpected::Unsigned(micros), &self))?;
                self.visit_i64(micros)
            }
        }
        deserializer.deserialize_any(Take)
    }
}

impl PartialSchema for Instant {
    fn schema() -> RefOr<Schema> {
        let format = Some(SchemaFormat::KnownFormat(KnownFormat::DateTime));
        ObjectBuilder::new().schema_type(Type::String).format(format).into()
    }
}

impl ToSchema for Instant {}

/// A length of time in whole microseconds; one that does not fit is the longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(pub u64);

impl Carry<Span> for Duration {
    fn carry(self) -> Span {
        Span(u64::try_from(self.as_micros()).unwrap_or(u64::MAX))
    }
}

impl Carry<Duration> for Span {
    fn carry(self) -> Duration {
        Duration::from_micros(self.0)
    }
}

impl PartialSchema for Span {
    fn schema() -> RefOr<Schema> {
        whole_number().minimum(Some(0)).into()
    }
}

impl ToSchema for Span {}

/// An amount of money in millionths of the store's currency: from 0 to a thousand million units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Amount(pub Micros);

wrapped!(Amount(Micros));

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0.get())
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let micros = i64::deserialize(deserializer)?;
        let amount = Micros::new(micros).map(Self);
        amount.ok_or_else(|| D::Error::invalid_value(Unexpected::Signed(micros), &"an amount in millionths"))
    }
}

impl PartialSchema for Amount {
    fn schema() -> RefOr<Schema> {
        whole_number().minimum(Some(0)).maximum(Some(cola_ia_core::effect::COST_MAX_MICROS)).into()
    }
}

impl ToSchema for Amount {}

/// A text that is `null` where it is empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Told(pub String);

wrapped!(Told(String));

impl Told {
    /// Nothing to say.
    pub const fn nothing() -> Self {
        Self(String::new())
    }
}

impl Serialize for Told {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Some(&self.0).filter(|text| !text.is_empty()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Told {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Option::deserialize(deserializer)?.unwrap_or_default()))
    }
}

impl PartialSchema for Told {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::String, Type::Null])).into()
    }
}

impl ToSchema for Told {}

fn whole_number() -> ObjectBuilder {
    let format = Some(SchemaFormat::KnownFormat(KnownFormat::Int64));
    ObjectBuilder::new().schema_type(SchemaType::Type(Type::Integer)).format(format)
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;

    use super::*;

    fn read<T: DeserializeOwned>(json: &str) -> Option<T> {
        serde_json::from_str(json).ok()
    }

    #[test]
    fn every_instant_is_read_as_it_was_written() {
        for micros in
            [0, -1, 1_769_860_800_000_001, -62_167_219_200_000_001, 253_402_300_800_000_000, i64::MIN, i64::MAX]
        {
            let instant = Instant(Timestamp::from_micros(micros));
            let json = serde_json::to_string(&instant).unwrap();
            assert_eq!(read(&json), Some(instant), "{json}");
        }
        assert_eq!(
            serde_json::to_string(&Instant(Timestamp::from_micros(5))).unwrap(),
            r#""1970-01-01T00:00:00.000005Z""#
        );
        for wrong in [r#""2026-01-01""#, "1.5", "null", "18446744073709551615"] {
            assert_eq!(read::<Instant>(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_day_is_read_as_it_was_written() {
        for day in [0, 20_787, -719_529, 2_932_897, i64::MIN, i64::MAX] {
            let day = DayText(UtcDay(day));
            let json = serde_json::to_string(&day).unwrap();
            assert_eq!(read(&json), Some(day), "{json}");
        }
    }

    #[test]
    fn what_is_no_such_value_is_refused() {
        assert_eq!(read::<SourceName>(r#""Web""#), None);
        assert_eq!(read::<StateWord>(r#""waiting""#), None);
        assert_eq!(read::<Amount>("-1"), None);
        assert_eq!(read::<Hex<2>>(r#""00f""#), None);
        assert_eq!(read::<Hex<2>>(r#""00FF""#), None);
        assert_eq!(read::<Hex<2>>(r#""00ff""#), Some(Hex([0, 255])));
        // An escape makes the text one that cannot be borrowed.
        assert!(read::<SourceName>(r#""\u0077eb""#).is_some());
    }
}
