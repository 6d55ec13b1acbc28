//! One line to one event, or to the reason why not.
//!
//! The line is walked once with a pull parser, so that repeated keys, numbers of any size and every escape are seen, in the
//! fields that are ignored too. Where several rules are broken, the first in this order is reported:
//!
//! 1. the bytes are UTF-8 (`utf8_invalid`);
//! 2. the line is one JSON text (RFC 8259): the first fault in reading order, of `json_syntax`, `json_not_a_number`,
//!    `json_lone_surrogate`, `json_too_deep` and `json_trailing`;
//! 3. it is an object (`json_not_object`);
//! 4. no key stands twice in an object (`json_duplicate_key`, the first in reading order);
//! 5. the rules of the fields, see `fields`.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{Content, EventId, EventType, Source};
use cola_ia_core::intake::RefusalCode;
use cola_ia_core::limits::JSON_MAX_DEPTH;
use jiter::{Jiter, JiterError, JiterErrorType, JsonErrorType, Peek};
use memchr::memchr;

use super::Settings;
use super::detail::{excerpt, shown};
use super::fields::{Fields, Rules, Value, ValueKind};
use super::keys::{Key, Keys};

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedLine {
    /// Of the line, else of the input, else the default one.
    pub source: Source,
    /// `id`.
    pub id: EventId,
    /// `texto` or `text`, with its fingerprint.
    pub content: Content,
    /// `tipo` or `type`.
    pub event_type: Option<EventType>,
    /// `fecha` or `time`.
    pub time: Option<Timestamp>,
}

/// Why a line is not an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseRefusal {
    /// The reason.
    pub code: RefusalCode,
    /// The byte of the line at which it shows, from 1: one more than the line has where the line ends too early.
    pub column: Option<u64>,
    /// A key, a value, a length or the piece of the line concerned, without control characters; may be empty.
    pub detail: String,
    /// Whether the line just ends too early.
    pub cut: Cut,
}

impl ParseRefusal {
    pub(super) fn new(code: RefusalCode, at: Option<usize>, detail: String) -> Self {
        Self { code, column: at.map(|at| at as u64 + 1), detail, cut: Cut::No }
    }

    /// Whether the line is not JSON, rather than JSON that is not an event.
    pub fn is_syntax(&self) -> bool {
        matches!(
            self.code,
            RefusalCode::Utf8Invalid
                | RefusalCode::JsonSyntax
                | RefusalCode::JsonNotANumber
                | RefusalCode::JsonLoneSurrogate
                | RefusalCode::JsonTooDeep
                | RefusalCode::JsonTrailing
        )
    }
}

/// Whether a line just ends too early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// It does not: something in it is wrong.
    No,
    /// Between two tokens: more lines could complete it.
    BetweenTokens,
    /// Within a string, a number or a word: no line after it can.
    WithinToken,
}

/// Parses lines, keeping its scratch memory from one to the next.
#[derive(Debug)]
pub struct LineParser {
    rules: Rules,
    keys: Keys,
}

impl LineParser {
    /// A parser for the lines of one input.
    pub fn new(settings: &Settings) -> Self {
        let rules = Rules::new(settings.max_text_bytes, settings.source.clone(), &settings.default_source);
        Self { rules, keys: Keys::default() }
    }

    /// Reads one line, given without its end and without a byte order mark, less than 4 GiB.
    ///
    /// # Errors
    /// The first rule that it breaks, in the order that this module gives.
    pub fn parse(&mut self, line: &[u8]) -> Result<ParsedLine, ParseRefusal> {
        let text = std::str::from_utf8(line).map_err(|error| not_utf8(line, error.valid_up_to()))?;
        let mut walk = Walk {
            line,
            json: Jiter::new(line),
            base: 0,
            keys: &mut self.keys,
            fields: Fields::default(),
            repeated: None,
        };
        let walked = walk.line();
        let (fields, repeated) = (walk.fields, walk.repeated);
        self.keys.clear();
        let start = walked.map_err(|fault| fault.refusal(text))?;
        match start {
            First::Other(at) => Err(ParseRefusal::new(RefusalCode::JsonNotObject, Some(at), excerpt(text, at))),
            First::Object => match repeated {
                Some(key) => Err(ParseRefusal::new(
                    RefusalCode::JsonDuplicateKey,
                    Some(key.start as usize - 1),
                    shown(&key.decoded(line)),
                )),
                None => self.rules.event(&fields, text),
            },
        }
    }
}

fn not_utf8(line: &[u8], at: usize) -> ParseRefusal {
    ParseRefusal::new(RefusalCode::Utf8Invalid, Some(at), format!("0x{:02X}", line[at]))
}

/// The text of a JSON string that the walk has passed, given with its quotes.
pub(super) fn decoded(quoted: &[u8], scratch: &mut Vec<u8>) -> String {
    let mut json = Jiter::with_tape(quoted, std::mem::take(scratch));
    let text = json.known_str().expect("a string that was walked over decodes").to_owned();
    *scratch = json.into_tape();
    text
}

/// What stands on the line.
enum First {
    Object,
    /// Something else, from this byte.
    Other(usize),
}

/// The first fault in reading order.
struct Fault {
    code: RefusalCode,
    /// Byte of the line, from 0.
    at: usize,
    cut: Cut,
}

impl Fault {
    fn refusal(&self, line: &str) -> ParseRefusal {
        let mut refusal = ParseRefusal::new(self.code, Some(self.at), excerpt(line, self.at));
        refusal.cut = self.cut;
        refusal
    }
}

struct Walk<'l, 'k> {
    line: &'l [u8],
    json: Jiter<'l>,
    /// Where in the line the text of `json` starts.
    base: usize,
    keys: &'k mut Keys,
    fields: Fields,
    /// The first key that stands twice.
    repeated: Option<Key>,
}

impl Walk<'_, '_> {
    fn line(&mut self) -> Result<First, Fault> {
        let first = self.json.peek().map_err(|error| self.fault(&error))?;
        let start = self.at();
        self.value(first, 0)?;
        self.json.finish().map_err(|error| self.fault(&error))?;
        Ok(if first == Peek::Object { First::Object } else { First::Other(start) })
    }

    /// Passes a value that stands within so many arrays and objects.
    fn value(&mut self, first: Peek, depth: usize) -> Result<ValueKind, Fault> {
        let start = self.at();
        match first {
            Peek::String => match self.json.known_bytes() {
                Ok(_) => Ok(ValueKind::String),
                Err(error) => Err(self.token_fault(&error, start)),
            },
            Peek::Object => self.object(depth + 1),
            Peek::Array => self.array(depth + 1),
            Peek::Null => {
                self.json.known_null().map_err(|error| self.token_fault(&error, start))?;
                Ok(ValueKind::Null)
            }
            Peek::True | Peek::False => {
                self.json.known_bool(first).map_err(|error| self.token_fault(&error, start))?;
                Ok(ValueKind::Bool)
            }
            _ => self.number(first, start),
        }
    }

    fn number(&mut self, first: Peek, start: usize) -> Result<ValueKind, Fault> {
        match self.json.known_number_bytes(first) {
            Ok(_) => Ok(ValueKind::Number),
            // The parser stops at 4,300 digits; JSON has no bound. What follows the last digit is still to be judged.
            Err(JiterError { error_type: JiterErrorType::JsonError(JsonErrorType::NumberOutOfRange), .. }) => {
                let sign = usize::from(self.line[start] == b'-');
                let digits = self.line[start + sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                self.base = start + sign + digits - 1;
                self.json = Jiter::new(&self.line[self.base..]);
                self.number(Peek::new(self.line[self.base]), self.base)
            }
            Err(error) => Err(self.token_fault(&error, start)),
        }
    }

    fn array(&mut self, depth: usize) -> Result<ValueKind, Fault> {
        self.check_depth(depth)?;
        let mut next = self.json.known_array().map_err(|error| self.fault(&error))?;
        while let Some(first) = next {
            self.value(first, depth)?;
            next = self.json.array_step().map_err(|error| self.fault(&error))?;
        }
        Ok(ValueKind::Array)
    }

    fn object(&mut self, depth: usize) -> Result<ValueKind, Fault> {
        self.check_depth(depth)?;
        let keys = self.keys.open_object();
        let mut any_escaped = false;
        let mut next = self.first_key()?;
        while let Some(key) = next {
            let escaped = memchr(b'\\', key.raw(self.line)).is_some();
            any_escaped |= escaped;
            self.keys.push(key);
            let first = self.json.peek().map_err(|error| self.fault(&error))?;
            let start = self.at();
            let kind = self.value(first, depth)?;
            if depth == 1 {
                let value = Value { kind, key_at: key.start as usize - 1, start, end: self.at() };
                if escaped {
                    self.fields.note(key.decoded(self.line).as_bytes(), value);
                } else {
                    self.fields.note(key.raw(self.line), value);
                }
            }
            next = self.next_key()?;
        }
        if let Some(key) = self.keys.close_object(keys, any_escaped, self.line)
            && self.repeated.is_none_or(|first| key.start < first.start)
        {
            self.repeated = Some(key);
        }
        Ok(ValueKind::Object)
    }

    fn first_key(&mut self) -> Result<Option<Key>, Fault> {
        let start = self.at();
        let key = self.json.next_object_bytes().map(|key| key.map(|raw| key_at(self.line, raw)));
        key.map_err(|error| self.key_fault(&error, start))
    }

    fn next_key(&mut self) -> Result<Option<Key>, Fault> {
        let start = self.at();
        let key = self.json.next_key_bytes().map(|key| key.map(|raw| key_at(self.line, raw)));
        key.map_err(|error| self.key_fault(&error, start))
    }

    fn check_depth(&self, depth: usize) -> Result<(), Fault> {
        if depth <= JSON_MAX_DEPTH {
            return Ok(());
        }
        Err(Fault { code: RefusalCode::JsonTooDeep, at: self.at(), cut: Cut::No })
    }

    /// The byte of the line that comes next.
    fn at(&self) -> usize {
        self.base + self.json.current_index()
    }

    /// A fault at the punctuation between values.
    fn fault(&self, error: &JiterError) -> Fault {
        let at = self.base + error.index;
        let (code, cut) = match &error.error_type {
            JiterErrorType::JsonError(JsonErrorType::TrailingCharacters) => (RefusalCode::JsonTrailing, Cut::No),
            JiterErrorType::JsonError(
                JsonErrorType::EofWhileParsingValue
                | JsonErrorType::EofWhileParsingList
                | JsonErrorType::EofWhileParsingObject,
            ) => (RefusalCode::JsonSyntax, Cut::BetweenTokens),
            _ => (RefusalCode::JsonSyntax, Cut::No),
        };
        Fault { code, at, cut }
    }

    /// A fault at a key, or at the punctuation around it, which starts at or after `start`.
    fn key_fault(&self, error: &JiterError, start: usize) -> Fault {
        if !is_in_string(error) {
            return self.fault(error);
        }
        // What stands before the key's opening quote is white space and one brace or comma.
        let quote = start + memchr(b'"', &self.line[start..]).unwrap_or(0);
        self.token_fault(error, quote)
    }

    /// A fault within the string, number or word that starts at `start`.
    fn token_fault(&self, error: &JiterError, start: usize) -> Fault {
        let JiterErrorType::JsonError(kind) = &error.error_type else {
            // The parser takes what starts with no sign of a value for a number.
            return self.word_fault(start, start);
        };
        let at = self.base + error.index;
        let syntax = |at, cut| Fault { code: RefusalCode::JsonSyntax, at, cut };
        match kind {
            JsonErrorType::LoneLeadingSurrogateInHexEscape | JsonErrorType::UnexpectedEndOfHexEscape => {
                let at = lone_surrogate(self.line, start).unwrap_or(at);
                Fault { code: RefusalCode::JsonLoneSurrogate, at, cut: Cut::No }
            }
            // The parser wants four bytes after `\u` before it looks at them.
            JsonErrorType::EofWhileParsingString => match wrong_hex_digit_at_end(self.line) {
                Some(at) => syntax(at, Cut::No),
                None => syntax(self.line.len(), Cut::WithinToken),
            },
            JsonErrorType::EofWhileParsingValue => syntax(self.line.len(), Cut::WithinToken),
            JsonErrorType::InvalidEscape | JsonErrorType::ControlCharacterWhileParsingString => syntax(at, Cut::No),
            _ => self.word_fault(start, at),
        }
    }

    fn word_fault(&self, start: usize, at: usize) -> Fault {
        if is_not_a_number(&self.line[start..]) {
            Fault { code: RefusalCode::JsonNotANumber, at: start, cut: Cut::No }
        } else {
            Fault { code: RefusalCode::JsonSyntax, at, cut: Cut::No }
        }
    }
}

/// Where the parser found this key, which is a part of the line.
fn key_at(line: &[u8], raw: &[u8]) -> Key {
    let start = raw.as_ptr().addr() - line.as_ptr().addr();
    Key::new(start, start + raw.len())
}

fn is_in_string(error: &JiterError) -> bool {
    matches!(
        &error.error_type,
        JiterErrorType::JsonError(
            JsonErrorType::EofWhileParsingString
                | JsonErrorType::InvalidEscape
                | JsonErrorType::ControlCharacterWhileParsingString
                | JsonErrorType::LoneLeadingSurrogateInHexEscape
                | JsonErrorType::UnexpectedEndOfHexEscape
        )
    )
}

/// Whether this starts with what programs write for a number that is none: `NaN`, `-Infinity`, `inf` and the like.
fn is_not_a_number(rest: &[u8]) -> bool {
    let rest = rest.strip_prefix(b"-").or(rest.strip_prefix(b"+")).unwrap_or(rest);
    let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let word = &rest[..length];
    [&b"nan"[..], b"inf", b"infinity"].iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// The backslash of the first half pair in the string whose opening quote stands at `quote`.
fn lone_surrogate(line: &[u8], quote: usize) -> Option<usize> {
    let unit = |at: usize| {
        let digits = line.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut at = quote + 1;
    loop {
        at += memchr(b'\\', line.get(at..)?)?;
        at += match unit(at) {
            None => 2,
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => 12,
            Some(0xd800..=0xdfff) => return Some(at),
            Some(_) => 6,
        };
    }
}

/// Where the line ends within four bytes of a `\u`: the first of them that is no hex digit.
fn wrong_hex_digit_at_end(line: &[u8]) -> Option<usize> {
    let tail = line.len().saturating_sub(5);
    let escape = tail + line[tail..].windows(2).rposition(|pair| pair == b"\\u")?;
    let backslashes = line[..=escape].iter().rev().take_while(|byte| **byte == b'\\').count();
    if backslashes % 2 == 0 {
        // The backslash is itself escaped, and the `u` is a letter.
        return None;
    }
    let digits = escape + 2;
    line[digits..].iter().position(|byte| !byte.is_ascii_hexdigit()).map(|wrong| digits + wrong)
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
