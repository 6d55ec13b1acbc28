//! The fields of a line: which there are, and what each may hold.
//!
//! Known are `id`, `texto`/`text`, `tipo`/`type`, `fecha`/`time` and `origen`/`source`; every other field is ignored. An
//! optional field that is `null` is as good as absent. Where several rules are broken, the first in this order is reported:
//!
//! 1. no field stands in both its spellings (text, type, time, source);
//! 2. the source has the form of one, and is that of the input where one was given;
//! 3. the id is there, a string, and what [`EventId`] takes;
//! 4. the text is there, a string, and what [`Content`] takes;
//! 5. the type is what [`EventType`] takes;
//! 6. the time is an RFC 3339 date-time.

use std::borrow::Cow;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{Content, EventId, EventType, Source};
use cola_ia_core::intake::RefusalCode;
use memchr::memchr;

use super::detail::{excerpt, shown};
use super::parse::{ParseRefusal, ParsedLine, decoded};

/// A value of the line's object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value {
    pub(super) kind: ValueKind,
    /// The opening quote of its key.
    pub(super) key_at: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What kind of JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    String,
    Number,
    Bool,
    Null,
    Array,
    Object,
}

/// The known fields of one line.
#[derive(Debug, Default)]
pub(super) struct Fields {
    id: Option<Value>,
    text: Field,
    event_type: Field,
    time: Field,
    source: Field,
}

/// A field with a Spanish and an English spelling.
#[derive(Debug, Default)]
struct Field {
    first: Option<Value>,
    /// The same field again, in the other spelling.
    again: Option<Value>,
}

impl Field {
    fn note(&mut self, value: Value) {
        let slot = if self.first.is_none() { &mut self.first } else { &mut self.again };
        *slot = Some(value);
    }

    fn unless_null(&self) -> Option<Value> {
        self.first.filter(|value| value.kind != ValueKind::Null)
    }
}

impl Fields {
    /// Takes note of a value of the object if its key, decoded, is known. That a key stands twice is found elsewhere.
    pub(super) fn note(&mut self, key: &[u8], value: Value) {
        match key {
            b"id" => self.id = Some(value),
            b"texto" | b"text" => self.text.note(value),
            b"tipo" | b"type" => self.event_type.note(value),
            b"fecha" | b"time" => self.time.note(value),
            b"origen" | b"source" => self.source.note(value),
            _ => {}
        }
    }
}

/// What the fields of an input's lines must be.
#[derive(Debug)]
pub(super) struct Rules {
    max_text_bytes: usize,
    /// The source that the input was given with.
    given: Option<Source>,
    /// The source of lines that name none.
    unnamed: Source,
    /// The source that a line named last: lines of one source share its name.
    named: Source,
    scratch: Vec<u8>,
}

impl Rules {
    pub(super) fn new(max_text_bytes: usize, given: Option<Source>, default: &Source) -> Self {
        let unnamed = given.as_ref().unwrap_or(default).clone();
        Self { max_text_bytes, given, named: unnamed.clone(), unnamed, scratch: Vec::new() }
    }

    /// The event that the fields make.
    pub(super) fn event(&mut self, fields: &Fields, line: &str) -> Result<ParsedLine, ParseRefusal> {
        for field in [&fields.text, &fields.event_type, &fields.time, &fields.source] {
            if let Some(again) = field.again {
                let key = self.text_at(line, again.key_at, key_end(line, again));
                return Err(ParseRefusal::new(RefusalCode::FieldTwice, Some(again.key_at), shown(&key)));
            }
        }
        let source = self.source(fields, line)?;
        let id = self.id(fields, line)?;
        let content = self.content(fields, line)?;
        let event_type = match fields.event_type.unless_null() {
            Some(value) => {
                let name = self.string(value, line, RefusalCode::TypeInvalid)?;
                Some(EventType::new(&*name).map_err(|code| about(code, value, &name))?)
            }
            None => None,
        };
        let time = match fields.time.unless_null() {
            Some(value) => {
                let time = self.string(value, line, RefusalCode::TimeInvalid)?;
                let instant = Timestamp::parse_rfc3339(&time);
                Some(instant.ok_or_else(|| about(RefusalCode::TimeInvalid, value, &time))?)
            }
            None => None,
        };
        self.shrink();
        Ok(ParsedLine { source, id, content, event_type, time })
    }

    fn source(&mut self, fields: &Fields, line: &str) -> Result<Source, ParseRefusal> {
        let Some(value) = fields.source.unless_null() else {
            return Ok(self.unnamed.clone());
        };
        let name = self.string(value, line, RefusalCode::SourceInvalid)?;
        if *name != *self.named.as_str() {
            let named = Source::new(&name).map_err(|code| about(code, value, &name))?;
            if self.given.is_some() {
                return Err(about(RefusalCode::SourceMismatch, value, &name));
            }
            self.named = named;
        }
        Ok(self.named.clone())
    }

    fn id(&mut self, fields: &Fields, line: &str) -> Result<EventId, ParseRefusal> {
        let Some(value) = fields.id else {
            return Err(ParseRefusal::new(RefusalCode::IdMissing, None, String::new()));
        };
        if value.kind == ValueKind::Number {
            return Err(not_a_string(RefusalCode::IdNumber, value, line));
        }
        let id = self.string(value, line, RefusalCode::IdNotString)?;
        EventId::new(&*id).map_err(|code| match code {
            RefusalCode::IdTooLong => length(code, value, id.len()),
            _ => about(code, value, &id),
        })
    }

    fn content(&mut self, fields: &Fields, line: &str) -> Result<Content, ParseRefusal> {
        let Some(value) = fields.text.first else {
            return Err(ParseRefusal::new(RefusalCode::TextMissing, None, String::new()));
        };
        let text = self.string(value, line, RefusalCode::TextNotString)?;
        let bytes = text.len();
        if bytes > self.max_text_bytes {
            return Err(length(RefusalCode::TextTooLong, value, bytes));
        }
        Content::new(text.into_owned(), self.max_text_bytes)
            .map_err(|code| ParseRefusal::new(code, Some(value.start), String::new()))
    }

    /// A string's text; `otherwise` where the value is no string.
    fn string<'l>(
        &mut self,
        value: Value,
        line: &'l str,
        otherwise: RefusalCode,
    ) -> Result<Cow<'l, str>, ParseRefusal> {
        if value.kind == ValueKind::String {
            Ok(self.text_at(line, value.start, value.end))
        } else {
            Err(not_a_string(otherwise, value, line))
        }
    }

    /// The text of the string that stands here with its quotes.
    fn text_at<'l>(&mut self, line: &'l str, start: usize, end: usize) -> Cow<'l, str> {
        let inner = &line[start + 1..end - 1];
        if memchr(b'\\', inner.as_bytes()).is_none() {
            Cow::Borrowed(inner)
        } else {
            Cow::Owned(decoded(&line.as_bytes()[start..end], &mut self.scratch))
        }
    }

    fn shrink(&mut self) {
        const KEPT_CAPACITY: usize = 1 << 20;
        self.scratch.clear();
        self.scratch.shrink_to(KEPT_CAPACITY);
    }
}

/// Behind the closing quote of the value's key: the last quote before the colon, with white space between at most.
fn key_end(line: &str, value: Value) -> usize {
    let before_value = &line.as_bytes()[..value.start];
    memchr::memrchr(b'"', before_value).map_or(value.start, |quote| quote + 1)
}

fn about(code: RefusalCode, value: Value, text: &str) -> ParseRefusal {
    ParseRefusal::new(code, Some(value.start), shown(text))
}

fn length(code: RefusalCode, value: Value, bytes: usize) -> ParseRefusal {
    ParseRefusal::new(code, Some(value.start), bytes.to_string())
}

fn not_a_string(code: RefusalCode, value: Value, line: &str) -> ParseRefusal {
    let end = value.end.min(value.start + 64);
    let piece = &line[value.start..line.floor_char_boundary(end)];
    ParseRefusal::new(code, Some(value.start), excerpt(piece, 0))
}
