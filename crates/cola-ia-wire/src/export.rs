//! The lines of an export: a header, a record a line, and a last line that counts them.
//!
//! The shapes are the core's (`cola_ia_core::store::export`); here is only how their values are written. They are described
//! with examples in `docs/EXPORT.md`.

use std::fmt;
use std::fmt::Write as _;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::UtcDay;
use cola_ia_core::event::Fingerprint;
use cola_ia_core::store::export::{EXPORT_VERSION, Field, Kind, Record, Shape, Value};
use cola_ia_core::store::names_currency;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap as _, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// What an export calls itself.
pub const EXPORT_FORMAT: &str = "cola-ia-export";

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportHeader {
    /// The version of the shapes.
    pub version: u32,
    /// The store's 16 bytes that are part of every effect's key.
    pub namespace: [u8; 16],
    /// What wrote it, for people.
    pub program: String,
    /// The version of the store's schema, for people.
    pub schema: u32,
    /// When it began.
    pub at: Timestamp,
    /// The currency of all amounts, if the store has one.
    pub currency: Option<String>,
}

/// How many records of each kind, in the order of [`Kind::ALL`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExportCounts(pub [u64; Kind::ALL.len()]);

impl ExportCounts {
    /// Counts one more.
    pub const fn add(&mut self, kind: Kind) {
        self.0[kind as usize] += 1;
    }
}

/// A line of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportLine {
    /// The first.
    Header(ExportHeader),
    /// One of many.
    Record(Record),
    /// The last.
    End(ExportCounts),
}

/// Why a line is no line of an export. The codes are stable and explained in `docs/EXPORT.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineFault {
    /// The reason.
    pub code: &'static str,
    /// The field or the word that it is about, or the byte of the line at which it ends to be JSON; may be empty.
    pub detail: String,
}

/// Every code of a [`LineFault`].
pub const LINE_FAULTS: [&str; 8] = [
    "export_json",
    "export_kind",
    "export_field_missing",
    "export_field_twice",
    "export_field_unknown",
    "export_fingerprint",
    "export_format",
    "export_value",
];

fn fault(code: &'static str, detail: impl Into<String>) -> LineFault {
    LineFault { code, detail: detail.into() }
}

/// Writes a line with its line end.
pub fn push_export_line(out: &mut String, line: &ExportLine) {
    let json = serde_json::to_string(line).expect("strings, numbers and maps of them are always JSON");
    out.push_str(&json);
    out.push('\n');
}

impl Serialize for ExportLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Header(header) => {
                map.serialize_entry("kind", "header")?;
                map.serialize_entry("format", EXPORT_FORMAT)?;
                map.serialize_entry("version", &header.version)?;
                map.serialize_entry("namespace", &hex(&header.namespace))?;
                map.serialize_entry("program", &header.program)?;
                map.serialize_entry("schema", &header.schema)?;
                map.serialize_entry("at", &header.at.to_rfc3339())?;
                map.serialize_entry("currency", &header.currency)?;
            }
            Self::Record(record) => {
                map.serialize_entry("kind", record.kind().as_str())?;
                for (field, value) in record.kind().fields().iter().zip(record.values()) {
                    map.serialize_entry(field.name, &Shown(field.shape, value))?;
                }
            }
            Self::End(counts) => {
                map.serialize_entry("kind", "end")?;
                map.serialize_entry("counts", &Counted(counts))?;
            }
        }
        map.end()
    }
}

struct Counted<'a>(&'a ExportCounts);

impl Serialize for Counted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Kind::ALL.iter().map(|kind| (kind.as_str(), self.0.0[*kind as usize])))
    }
}

/// A value in the form of its field.
struct Shown<'a>(Shape, &'a Value);

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.1, self.0) {
            (Value::Null, _) => serializer.serialize_unit(),
            (Value::Number(number), Shape::Flag) => serializer.serialize_bool(*number != 0),
            (Value::Number(number), Shape::Instant) => match instant(*number) {
                Some(text) => serializer.serialize_str(&text),
                None => serializer.serialize_i64(*number),
            },
            (Value::Number(number), Shape::Day) => match day(*number) {
                Some(text) => serializer.serialize_str(&text),
                None => serializer.serialize_i64(*number),
            },
            (Value::Number(number), _) => serializer.serialize_i64(*number),
            (Value::Text(text), _) => serializer.serialize_str(text),
            (Value::Bytes(bytes), Shape::Output) => match std::str::from_utf8(bytes) {
                Ok(text) => serializer.serialize_str(text),
                Err(_) => serializer.collect_map([("hex", hex(bytes))]),
            },
            (Value::Bytes(bytes), _) => serializer.serialize_str(&hex(bytes)),
        }
    }
}

/// RFC 3339, where that says the same instant: not outside of the years 0 to 9999.
fn instant(micros: i64) -> Option<String> {
    let text = Timestamp::from_micros(micros).to_rfc3339();
    (Timestamp::parse_rfc3339(&text) == Some(Timestamp::from_micros(micros))).then_some(text)
}

/// `2026-11-30`, where that says the same day.
fn day(days: i64) -> Option<String> {
    let text = UtcDay(days).to_string();
    (read_day(&text) == Some(days)).then_some(text)
}

fn read_day(text: &str) -> Option<i64> {
    let start = Timestamp::parse_rfc3339(&format!("{text}T00:00:00Z"))?;
    Some(UtcDay::of(start).0)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Lower-case only, so that bytes have one form.
fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?)).collect()
}

/// The members of an object in their order; one that stands twice is seen.
struct Members(Vec<(String, Json)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Take;
        impl<'de> Visitor<'de> for Take {
            type Value = Members;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Take)
    }
}

impl Members {
    fn take(&mut self, name: &str) -> Option<Json> {
        let place = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(place).1)
    }
}

/// Reads a line without its end.
///
/// # Errors
/// What is wrong with it.
pub fn read_export_line(line: &[u8]) -> Result<ExportLine, LineFault> {
    let line = read_line(line)?;
    if let ExportLine::Record(record) = &line
        && has_fingerprint(record.kind())
        && let (Some(text), Value::Bytes(fingerprint)) = (record.text("text"), record.get("fingerprint"))
        && Fingerprint::of(text).0[..] != fingerprint[..]
    {
        return Err(fault("export_fingerprint", ""));
    }
    Ok(line)
}

/// As [`read_export_line`], of a line that comes from a store and not from a file: that its fingerprint is its text's is the
/// store's to say.
pub(crate) fn read_line(line: &[u8]) -> Result<ExportLine, LineFault> {
    let mut members: Members =
        serde_json::from_slice(line).map_err(|cause| fault("export_json", cause.column().to_string()))?;
    let mut names: Vec<&str> = members.0.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(fault("export_field_twice", twice[0]));
    }
    let kind = match members.take("kind") {
        Some(Json::String(kind)) => kind,
        Some(_) => return Err(fault("export_kind", "")),
        None => return Err(fault("export_field_missing", "kind")),
    };
    match kind.as_str() {
        "header" => header(members).map(ExportLine::Header),
        "end" => end(&mut members).map(ExportLine::End),
        word => match Kind::from_word(word) {
            Some(kind) => record(kind, members).map(ExportLine::Record),
            None => Err(fault("export_kind", word)),
        },
    }
}

fn header(mut members: Members) -> Result<ExportHeader, LineFault> {
    let mut taken = |name: &str| members.take(name).ok_or_else(|| fault("export_field_missing", name));
    let wrong = |name: &str| fault("export_value", name);
    if taken("format")?.as_str() != Some(EXPORT_FORMAT) {
        return Err(fault("export_format", ""));
    }
    // Of a newer version nothing else is known.
    let version = taken("version")?.as_u64().and_then(|version| u32::try_from(version).ok());
    let version = version.filter(|version| *version > 0).ok_or_else(|| wrong("version"))?;
    if version > EXPORT_VERSION {
        let at = Timestamp::from_micros(0);
        return Ok(ExportHeader { version, namespace: [0; 16], program: String::new(), schema: 0, at, currency: None });
    }
    let namespace = taken("namespace")?.as_str().and_then(unhex).and_then(|bytes| bytes.try_into().ok());
    let program = taken("program")?.as_str().map(str::to_owned);
    let schema = taken("schema")?.as_u64().and_then(|schema| u32::try_from(schema).ok());
    let at = taken("at")?.as_str().and_then(Timestamp::parse_rfc3339);
    // An older program's store had no amounts.
    let currency = match members.take("currency") {
        None | Some(Json::Null) => None,
        Some(Json::String(currency)) if names_currency(&currency) => Some(currency),
        Some(_) => return Err(wrong("currency")),
    };
    Ok(ExportHeader {
        version,
        namespace: namespace.ok_or_else(|| wrong("namespace"))?,
        program: program.ok_or_else(|| wrong("program"))?,
        schema: schema.ok_or_else(|| wrong("schema"))?,
        at: at.ok_or_else(|| wrong("at"))?,
        currency,
    })
}

fn end(members: &mut Members) -> Result<ExportCounts, LineFault> {
    let counts = members.take("counts").ok_or_else(|| fault("export_field_missing", "counts"))?;
    let mut found = ExportCounts::default();
    let Json::Object(counts) = counts else { return Err(fault("export_value", "counts")) };
    for (word, count) in counts {
        let kind = Kind::from_word(&word).ok_or_else(|| fault("export_kind", word))?;
        found.0[kind as usize] = count.as_u64().ok_or_else(|| fault("export_value", kind.as_str()))?;
    }
    Ok(found)
}

fn record(kind: Kind, mut members: Members) -> Result<Record, LineFault> {
    let mut values = Vec::with_capacity(kind.fields().len());
    for field in kind.fields() {
        let value = match members.take(field.name) {
            Some(json) => value(field, json),
            // What an older program did not know is not there.
            None if field.nullable => Some(Value::Null),
            None => return Err(fault("export_field_missing", field.name)),
        };
        let value = value.filter(|value| field.takes(value));
        values.push(value.ok_or_else(|| fault("export_value", field.name))?);
    }
    // A field that is left out would be lost.
    if let Some((unknown, _)) = members.0.first() {
        return Err(fault("export_field_unknown", unknown.clone()));
    }
    Record::new(kind, values).map_err(|field| fault("export_value", field))
}

fn has_fingerprint(kind: Kind) -> bool {
    kind.fields().iter().any(|field| field.name == "fingerprint")
}

/// `None` where the field has no such form.
fn value(field: &Field, json: Json) -> Option<Value> {
    match (field.shape, json) {
        (_, Json::Null) => Some(Value::Null),
        (Shape::Number | Shape::UpTo(_) | Shape::Instant | Shape::Day, Json::Number(number)) => {
            number.as_i64().map(Value::Number)
        }
        (Shape::Flag, Json::Bool(flag)) => Some(Value::Number(flag.into())),
        (Shape::Instant, Json::String(text)) => {
            Timestamp::parse_rfc3339(&text).map(|instant| Value::Number(instant.as_micros()))
        }
        (Shape::Day, Json::String(text)) => read_day(&text).map(Value::Number),
        (
            Shape::Text | Shape::EffectName | Shape::Id | Shape::Type | Shape::Content | Shape::Word(_) | Shape::Source,
            Json::String(text),
        ) => Some(Value::Text(text)),
        (Shape::Bytes(_), Json::String(text)) => unhex(&text).map(Value::Bytes),
        (Shape::Output, Json::String(text)) => Some(Value::Bytes(text.into_bytes())),
        (Shape::Output, Json::Object(map)) if map.len() == 1 => {
            map.get("hex").and_then(Json::as_str).and_then(unhex).map(Value::Bytes)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(line: &ExportLine) -> String {
        let mut out = String::new();
        push_export_line(&mut out, line);
        out
    }

    fn source_line(name: &str) -> String {
        format!(r#"{{"kind":"source","name":"{name}"}}"#)
    }

    /// Every field of every kind with every form of value that it takes.
    fn values(field: &Field) -> Vec<Value> {
        let text = |text: &str| Value::Text(text.to_owned());
        let mut values = match field.shape {
            Shape::Number => vec![Value::Number(1), Value::Number(i64::MAX), Value::Number(i64::MIN)],
            Shape::Flag => vec![Value::Number(0), Value::Number(1)],
            Shape::Instant => vec![
                Value::Number(0),
                Value::Number(1_769_860_800_000_001),
                Value::Number(-62_167_219_200_000_001),
                Value::Number(253_402_300_800_000_000),
                Value::Number(i64::MIN),
            ],
            Shape::UpTo(most) => vec![Value::Number(0), Value::Number(most)],
            Shape::Day => [0, 20_787, -719_529, 2_932_897, i64::MIN, i64::MAX].map(Value::Number).to_vec(),
            Shape::EffectName => vec![text("publish.2")],
            Shape::Text => vec![text(""), text("ñ\u{202e}\u{1b}\n\"\\\0 \u{1f980}")],
            Shape::Content => vec![text("ñ\u{202e}\u{1b}\n\"\\ \u{1f980}")],
            Shape::Id | Shape::Type => vec![text(" ñ\u{202e}\"\\ \u{1f980}")],
            Shape::Word(words) => words.iter().map(|word| text(word)).collect(),
            Shape::Source => vec![text("web")],
            Shape::Bytes(0) => vec![Value::Bytes(vec![]), Value::Bytes(vec![0, 0x7f, 0xff])],
            Shape::Bytes(length) => vec![Value::Bytes(vec![0xa5; length])],
            Shape::Output => vec![Value::Bytes(b"text \x1b".to_vec()), Value::Bytes(vec![0xff, 0, 1])],
        };
        values.push(Value::Null);
        values.into_iter().filter(|value| field.takes(value)).collect()
    }

    #[test]
    fn every_field_of_every_kind_is_read_as_it_was_written() {
        for kind in Kind::ALL {
            let least: Vec<Value> = kind.fields().iter().map(|field| values(field).pop().unwrap()).collect();
            let least = Record::new(kind, least).unwrap();
            for field in kind.fields() {
                for value in values(field) {
                    let mut record = least.clone().with(field.name, value);
                    if has_fingerprint(kind)
                        && let Some(text) = record.text("text")
                    {
                        let fingerprint = Fingerprint::of(text).0.to_vec();
                        record = record.with("fingerprint", Value::Bytes(fingerprint));
                    }
                    let line = written(&ExportLine::Record(record.clone()));
                    assert_eq!(line.matches('\n').count(), 1);
                    let read = read_export_line(line.trim_end().as_bytes());
                    assert_eq!(read, Ok(ExportLine::Record(record)), "{line}");
                }
            }
        }
    }

    #[test]
    fn header_and_end_are_read_as_they_were_written() {
        let header = ExportHeader {
            version: EXPORT_VERSION,
            namespace: *b"0123456789abcdef",
            program: "cola-ia 0.1.0".into(),
            schema: 2,
            at: Timestamp::from_micros(1_769_860_800_000_000),
            currency: Some("EUR".into()),
        };
        let mut counts = ExportCounts::default();
        counts.add(Kind::Event);
        for line in [ExportLine::Header(header), ExportLine::End(counts)] {
            assert_eq!(read_export_line(written(&line).trim_end().as_bytes()), Ok(line));
        }
        assert_eq!(
            written(&ExportLine::End(counts)),
            "{\"kind\":\"end\",\"counts\":{\"source\":0,\"event\":1,\"job\":0,\"revision\":0,\"attempt\":0,\"effect\":0,\
             \"effect_try\":0,\"effect_record\":0,\"decision\":0,\"pruned\":0,\"conflict\":0,\"delivery\":0,\"budget\":0,\
             \"counter\":0,\"money\":0}}\n"
        );
    }

    #[test]
    fn what_is_wrong_with_a_line_is_named() {
        let revision = r#"{"kind":"revision","event":1,"number":2,"fingerprint":"00","accepted_at":null,"conflict":1}"#;
        let mismatch = format!(
            r#"{{"kind":"revision","event":1,"number":2,"fingerprint":"{}","accepted_at":5,"conflict":1,"text":"x"}}"#,
            "00".repeat(32)
        );
        let cases: [(&str, &str, &str); 14] = [
            ("{", "export_json", ""),
            ("[]", "export_json", ""),
            ("{} {}", "export_json", ""),
            (r#"{"id":"a","texto":"x"}"#, "export_field_missing", "kind"),
            (r#"{"kind":"evento"}"#, "export_kind", "evento"),
            (r#"{"kind":7}"#, "export_kind", ""),
            (r#"{"kind":"source"}"#, "export_field_missing", "name"),
            (r#"{"kind":"source","name":"Web"}"#, "export_value", "name"),
            (r#"{"kind":"source","name":"a","name":"b"}"#, "export_field_twice", "name"),
            (r#"{"kind":"source","name":"a","more":null}"#, "export_field_unknown", "more"),
            (r#"{"kind":"header","format":"another"}"#, "export_format", ""),
            (r#"{"kind":"end","counts":{"evento":1}}"#, "export_kind", "evento"),
            (revision, "export_value", "fingerprint"),
            (&mismatch, "export_fingerprint", ""),
        ];
        for (line, code, detail) in cases {
            let found = read_export_line(line.as_bytes()).unwrap_err();
            assert_eq!(found.code, code, "{line}");
            assert!(detail.is_empty() || found.detail == detail, "{line}: {found:?}");
            assert!(LINE_FAULTS.contains(&code));
        }
        assert!(read_export_line(source_line("web").as_bytes()).is_ok());
    }

    #[test]
    fn days_are_written_as_people_write_them_and_a_currency_may_be_missing() {
        let record = Record::new(
            Kind::Money,
            [Value::Number(20_787), Value::Text("web".into()), Value::Text(String::new())]
                .into_iter()
                .chain([0; 6].map(Value::Number))
                .collect(),
        );
        let line = written(&ExportLine::Record(record.unwrap()));
        assert!(
            line.starts_with(r#"{"kind":"money","day":"2026-11-30","source":"web","model":"","costs":0,"#),
            "{line}"
        );
        let header = |currency: &str| {
            let namespace = "00".repeat(16);
            format!(
                r#"{{"kind":"header","format":"cola-ia-export","version":1,"namespace":"{namespace}","program":"x","schema":3,"at":"2026-01-31T21:00:00Z"{currency}}}"#
            )
        };
        let read = |currency: &str| read_export_line(header(currency).as_bytes());
        let Ok(ExportLine::Header(old)) = read("") else { panic!("an export of an older program is not read") };
        assert_eq!(old.currency, None);
        assert_eq!(read(r#","currency":"euro""#), Err(fault("export_value", "currency")));
    }

    #[test]
    fn of_a_newer_version_only_the_version_is_read() {
        let line = br#"{"kind":"header","format":"cola-ia-export","version":99,"what":"else"}"#;
        let Ok(ExportLine::Header(header)) = read_export_line(line) else { panic!("not read") };
        assert_eq!(header.version, 99);
    }
}
