//! What a list leaves out: the one filter language of every list and of whatever acts on a list.
//!
//! As text a filter is words `key=value[,value…]`, separated by white space: `source=web,form state=failed since=24h`. A value
//! with white space, a comma or a quotation mark stands in quotation marks, with `\` before `"` and `\`. Keys and words of
//! values are read in English and in Spanish. All keys must hold; of the values of one key, one.
//!
//! Nothing here knows which lists there are: each says which keys it takes.

use std::fmt;
use std::fmt::Write as _;

use crate::age::{Edge, parse_moment};
use crate::clock::Timestamp;
use crate::event::{EventType, Source};
use crate::job::JobState;
use crate::verdict::Verdict;

/// Longest reason, in bytes.
const REASON_MAX_BYTES: usize = 64;

/// What a list is asked for. A field that is empty leaves nothing out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of one of these sources.
    pub sources: Vec<Source>,
    /// Of jobs: in one of these states.
    pub states: Vec<JobState>,
    /// Of deliveries: with one of these verdicts.
    pub verdicts: Vec<Verdict>,
    /// Of one of these types.
    pub types: Vec<EventType>,
    /// Received at this instant or after it.
    pub since: Option<Timestamp>,
    /// Received before this instant.
    pub until: Option<Timestamp>,
    /// Of conflicts: without a decision, or with one.
    pub undecided: Option<bool>,
    /// With one of these stable codes: why a delivery was refused, a job failed or is held, an attempt ended.
    pub reasons: Vec<String>,
}

/// What a filter asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// `source`, `origen`
    Source,
    /// `state`, `estado`
    State,
    /// `verdict`, `veredicto`
    Verdict,
    /// `type`, `tipo`
    Type,
    /// `since`, `desde`
    Since,
    /// `until`, `hasta`
    Until,
    /// `undecided`, `sin_decidir`
    Undecided,
    /// `reason`, `motivo`; also `code`, `código`
    Reason,
}

impl Key {
    /// All keys, in the order in which a filter is written.
    pub const ALL: [Self; 8] =
        [Self::Source, Self::State, Self::Verdict, Self::Type, Self::Since, Self::Until, Self::Undecided, Self::Reason];

    /// Its name in English.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::State => "state",
            Self::Verdict => "verdict",
            Self::Type => "type",
            Self::Since => "since",
            Self::Until => "until",
            Self::Undecided => "undecided",
            Self::Reason => "reason",
        }
    }

    /// Its name in Spanish.
    pub const fn in_spanish(self) -> &'static str {
        match self {
            Self::Source => "origen",
            Self::State => "estado",
            Self::Verdict => "veredicto",
            Self::Type => "tipo",
            Self::Since => "desde",
            Self::Until => "hasta",
            Self::Undecided => "sin_decidir",
            Self::Reason => "motivo",
        }
    }

    /// The key of this name, in either language.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "code" | "codigo" | "código" => Some(Self::Reason),
            _ => Self::ALL.into_iter().find(|key| key.as_str() == word || key.in_spanish() == word),
        }
    }

    /// The words that the key's values are taken from, in both languages; none where they are open.
    pub fn known_values(self) -> Vec<&'static str> {
        match self {
            Self::State => both(&JobState::ALL, JobState::as_str, JobState::in_spanish),
            Self::Verdict => both(&Verdict::ALL, Verdict::as_str, Verdict::in_spanish),
            Self::Undecided => vec!["yes", "no", "sí"],
            Self::Source | Self::Type | Self::Since | Self::Until | Self::Reason => Vec::new(),
        }
    }
}

fn both<T: Copy>(all: &[T], english: fn(T) -> &'static str, spanish: fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter().map(|value| english(*value)).chain(all.iter().map(|value| spanish(*value))).collect()
}

/// Why a filter is not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterError {
    /// A word is no `key=value`.
    NotAPair {
        /// The word.
        word: String,
    },
    /// A value in quotation marks has no end, or goes on behind it.
    Quotes {
        /// The word from its beginning.
        word: String,
    },
    /// There is no such key.
    UnknownKey {
        /// What stands there.
        key: String,
    },
    /// There is such a key, and this list does not take it.
    KeyNotTaken {
        /// The key.
        key: Key,
    },
    /// The key does not take this value; see [`Key::known_values`].
    Value {
        /// The key.
        key: Key,
        /// What stands there.
        value: String,
    },
    /// A key that has one value has two.
    Twice {
        /// The key.
        key: Key,
    },
}

impl Filter {
    /// Reads a filter's text for a list that takes these keys. Ages are before `now`.
    ///
    /// # Errors
    /// The first thing that is not understood.
    pub fn parse(text: &str, taken: &[Key], now: Timestamp) -> Result<Self, FilterError> {
        let mut filter = Self::default();
        filter.add_text(text, taken, now)?;
        Ok(filter)
    }

    /// As [`parse`](Self::parse), on top of what the filter says already.
    ///
    /// # Errors
    /// The first thing that is not understood.
    pub fn add_text(&mut self, text: &str, taken: &[Key], now: Timestamp) -> Result<(), FilterError> {
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let word = || rest.split_whitespace().next().unwrap_or_default().to_owned();
            let name_end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
            let (name, Some(values)) = (&rest[..name_end], rest[name_end..].strip_prefix('=')) else {
                return Err(FilterError::NotAPair { word: word() });
            };
            let key = Key::from_word(name).ok_or_else(|| FilterError::UnknownKey { key: name.to_owned() })?;
            let (values, after) =
                split_values(values, char::is_whitespace).ok_or_else(|| FilterError::Quotes { word: word() })?;
            self.add(key, values, taken, now)?;
            rest = after.trim_start();
        }
        Ok(())
    }

    /// Adds the values of one key: `value[,value…]`, where white space need not be quoted. What a flag such as `--state` is
    /// given.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn add_values(&mut self, key: Key, values: &str, taken: &[Key], now: Timestamp) -> Result<(), FilterError> {
        let quotes = || FilterError::Quotes { word: values.to_owned() };
        let (values, _) = split_values(values, |_| false).ok_or_else(quotes)?;
        self.add(key, values, taken, now)
    }

    fn add(&mut self, key: Key, values: Vec<String>, taken: &[Key], now: Timestamp) -> Result<(), FilterError> {
        if !taken.contains(&key) {
            return Err(FilterError::KeyNotTaken { key });
        }
        for value in values {
            match self.add_value(key, &value, now) {
                Some(true) => {}
                Some(false) => return Err(FilterError::Twice { key }),
                None => return Err(FilterError::Value { key, value }),
            }
        }
        Ok(())
    }

    /// `None`: the key does not take the value. `Some(false)`: it has one already.
    fn add_value(&mut self, key: Key, value: &str, now: Timestamp) -> Option<bool> {
        match key {
            Key::Source => push(&mut self.sources, Source::new(value).ok()?),
            Key::State => push(
                &mut self.states,
                JobState::ALL.into_iter().find(|state| state.as_str() == value || state.in_spanish() == value)?,
            ),
            Key::Verdict => push(&mut self.verdicts, verdict(value)?),
            Key::Type => push(&mut self.types, EventType::new(value).ok()?),
            Key::Since => return Some(set(&mut self.since, parse_moment(value, Edge::Start, now)?)),
            Key::Until => return Some(set(&mut self.until, parse_moment(value, Edge::End, now)?)),
            Key::Undecided => return Some(set(&mut self.undecided, yes_or_no(value)?)),
            Key::Reason => push(&mut self.reasons, is_code(value).then(|| value.to_owned())?),
        }
        Some(true)
    }

    /// Whether nothing is left out.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether something of this source is let through. What names no source is not of any.
    pub fn takes_source(&self, source: Option<&Source>) -> bool {
        self.sources.is_empty() || source.is_some_and(|source| self.sources.contains(source))
    }

    /// Whether something of this type is let through.
    pub fn takes_type(&self, event_type: Option<&EventType>) -> bool {
        self.types.is_empty() || event_type.is_some_and(|name| self.types.contains(name))
    }

    /// Whether something received at this instant is let through.
    pub fn takes_time(&self, received_at: Timestamp) -> bool {
        self.since.is_none_or(|since| since <= received_at) && self.until.is_none_or(|until| received_at < until)
    }

    /// Whether a job in this state is let through.
    pub fn takes_state(&self, state: JobState) -> bool {
        self.states.is_empty() || self.states.contains(&state)
    }

    /// Whether a delivery with this verdict is let through.
    pub fn takes_verdict(&self, verdict: Verdict) -> bool {
        self.verdicts.is_empty() || self.verdicts.contains(&verdict)
    }

    /// Whether something with this reason is let through.
    pub fn takes_reason(&self, reason: Option<&str>) -> bool {
        self.reasons.is_empty() || reason.is_some_and(|reason| self.reasons.iter().any(|taken| taken == reason))
    }

    /// Whether a conflict is let through that has a decision or none.
    pub fn takes_decided(&self, decided: bool) -> bool {
        self.undecided.is_none_or(|undecided| undecided != decided)
    }
}

/// The text that [`Filter::parse`] reads back to the same filter, in English words and with instants in full.
impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        let mut list = |key: Key, values: Vec<String>| {
            if !values.is_empty() {
                words.push(format!("{}={}", key.as_str(), values.join(",")));
            }
        };
        list(Key::Source, self.sources.iter().map(ToString::to_string).collect());
        list(Key::State, self.states.iter().map(|state| state.as_str().to_owned()).collect());
        list(Key::Verdict, self.verdicts.iter().map(|verdict| verdict.as_str().to_owned()).collect());
        list(Key::Type, self.types.iter().map(|name| quoted(name.as_str())).collect());
        list(Key::Since, self.since.iter().map(ToString::to_string).collect());
        list(Key::Until, self.until.iter().map(ToString::to_string).collect());
        let undecided = self.undecided.map(|yes| if yes { "yes" } else { "no" }.to_owned());
        list(Key::Undecided, undecided.into_iter().collect());
        list(Key::Reason, self.reasons.clone());
        f.write_str(&words.join(" "))
    }
}

fn push<T: PartialEq>(list: &mut Vec<T>, value: T) {
    if !list.contains(&value) {
        list.push(value);
    }
}

fn set<T: PartialEq>(place: &mut Option<T>, value: T) -> bool {
    let is_first = place.is_none();
    *place = Some(value);
    is_first
}

/// A keyboard without accents writes `invalido`.
fn verdict(word: &str) -> Option<Verdict> {
    let is_named = |verdict: &Verdict| verdict.as_str() == word || verdict.in_spanish() == word;
    Verdict::ALL.into_iter().find(is_named).or((word == "invalido").then_some(Verdict::Invalid))
}

fn yes_or_no(word: &str) -> Option<bool> {
    match word {
        "yes" | "true" | "sí" | "si" => Some(true),
        "no" | "false" => Some(false),
        _ => None,
    }
}

/// Whether this has the form of a stable code, so that a filter can ask for it. The list of codes is open, their form is not.
pub fn is_code(word: &str) -> bool {
    (1..=REASON_MAX_BYTES).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':'))
}

/// Takes `value[,value…]` from the start of the text and gives what is left. `None`: quotation marks that do not end, or
/// something behind them.
fn split_values(text: &str, ends: impl Fn(char) -> bool) -> Option<(Vec<String>, &str)> {
    let mut values = Vec::new();
    let mut rest = text;
    loop {
        let value;
        (value, rest) = if let Some(quoted) = rest.strip_prefix('"') {
            unquoted(quoted)?
        } else {
            let end = rest.find(|c: char| c == ',' || ends(c)).unwrap_or(rest.len());
            (rest[..end].to_owned(), &rest[end..])
        };
        values.push(value);
        match rest.chars().next() {
            Some(',') => rest = &rest[1..],
            Some(other) if !ends(other) => return None,
            _ => return Some((values, rest)),
        }
    }
}

/// The value up to its closing quotation mark, and what is behind it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(characters.next()?.1),
            other => value.push(other),
        }
    }
    None
}

/// The value as it stands in a filter's text.
fn quoted(value: &str) -> String {
    if !value.is_empty() && !value.contains(|c: char| c == ',' || c == '"' || c == '\\' || c.is_whitespace()) {
        return value.to_owned();
    }
    let mut out = String::from("\"");
    for character in value.chars() {
        if matches!(character, '"' | '\\') {
            out.push('\\');
        }
        // Writing to a string cannot fail.
        let _ = out.write_char(character);
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_769_893_200_000_000);

    fn parse(text: &str) -> Result<Filter, FilterError> {
        Filter::parse(text, &Key::ALL, NOW)
    }

    #[test]
    fn a_filter_is_read_in_both_languages() {
        let expected = Filter {
            sources: vec![Source::new("web").unwrap(), Source::new("form").unwrap()],
            states: vec![JobState::Failed, JobState::Held],
            verdicts: vec![Verdict::Invalid],
            types: vec![EventType::new("a, \"b\"").unwrap()],
            since: Some(Timestamp::from_micros(NOW.as_micros() - 86_400_000_000)),
            until: Some(NOW),
            undecided: Some(true),
            reasons: vec!["id_blank".to_owned()],
        };
        for text in [
            r#"source=web,form state=failed,held verdict=invalid type="a, \"b\"" since=24h until=0s undecided=yes reason=id_blank"#,
            r#"  origen=web estado=fallido veredicto=inválido,invalido  origen=form,web estado=retenido tipo="a, \"b\""
               desde=1d hasta=0s sin_decidir=sí código=id_blank "#,
        ] {
            assert_eq!(parse(text).as_ref(), Ok(&expected), "{text}");
        }
        assert_eq!(parse(&expected.to_string()), Ok(expected));
        assert_eq!(parse(" \t"), Ok(Filter::default()));
        assert!(Filter::default().is_empty());
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let cases = [
            ("failed", FilterError::NotAPair { word: "failed".into() }),
            ("source = web", FilterError::NotAPair { word: "source".into() }),
            ("=web", FilterError::UnknownKey { key: String::new() }),
            ("colour=red", FilterError::UnknownKey { key: "colour".into() }),
            ("source=Web", FilterError::Value { key: Key::Source, value: "Web".into() }),
            ("source=", FilterError::Value { key: Key::Source, value: String::new() }),
            ("source=a,", FilterError::Value { key: Key::Source, value: String::new() }),
            ("state=lost", FilterError::Value { key: Key::State, value: "lost".into() }),
            ("since=ayer", FilterError::Value { key: Key::Since, value: "ayer".into() }),
            ("since=1h,2h", FilterError::Twice { key: Key::Since }),
            ("until=1h until=1h", FilterError::Twice { key: Key::Until }),
            ("undecided=maybe", FilterError::Value { key: Key::Undecided, value: "maybe".into() }),
            ("reason=no\u{1b}", FilterError::Value { key: Key::Reason, value: "no\u{1b}".into() }),
            ("type=\"a b", FilterError::Quotes { word: "type=\"a".into() }),
            ("type=\"a\"b", FilterError::Quotes { word: "type=\"a\"b".into() }),
        ];
        for (text, error) in cases {
            assert_eq!(parse(text), Err(error), "{text}");
        }
        let taken = &[Key::Source, Key::State];
        assert_eq!(
            Filter::parse("source=a verdict=new", taken, NOW),
            Err(FilterError::KeyNotTaken { key: Key::Verdict })
        );
    }

    #[test]
    fn a_flag_takes_values_with_spaces() {
        let mut filter = Filter::default();
        filter.add_values(Key::Type, "new order,\"a, b\"", &Key::ALL, NOW).unwrap();
        let types: Vec<&str> = filter.types.iter().map(EventType::as_str).collect();
        assert_eq!(types, ["new order", "a, b"]);
    }

    #[test]
    fn what_names_nothing_is_not_of_any() {
        let filter = parse("source=a type=t reason=r since=2026-01-31 until=2026-01-31").unwrap();
        assert!(!filter.takes_source(None) && !filter.takes_type(None) && !filter.takes_reason(None));
        assert!(filter.takes_time(NOW));
        assert!(!filter.takes_time(Timestamp::from_micros(NOW.as_micros() + 86_400_000_000)));
        assert!(Filter::default().takes_source(None) && Filter::default().takes_reason(None));
        assert!(filter.takes_state(JobState::Done) && filter.takes_verdict(Verdict::New) && filter.takes_decided(true));
        assert!(!parse("undecided=yes").unwrap().takes_decided(true));
    }

    #[test]
    fn every_key_and_word_is_read_back() {
        for key in Key::ALL {
            assert_eq!(Key::from_word(key.as_str()), Some(key));
            assert_eq!(Key::from_word(key.in_spanish()), Some(key));
            for word in key.known_values() {
                assert!(parse(&format!("{}={word}", key.as_str())).is_ok(), "{word}");
            }
        }
    }
}
