//! What people read, in Spanish and in English: one Fluent catalogue a language.
//!
//! Two things are chosen apart. *Prose* (help, summaries, errors) follows the locale where nothing else is said. The
//! *words* on stdout (verdicts, job states, column heads) are the Spanish ones of the article, a contract with scripts:
//! only `--lang en` or `COLA_IA_LANG=en` asks for the English ones.
//!
//! Nothing here knows which commands or errors exist; keys come from the callers, and a test compares both sides.

mod cause;
mod choose;

use std::borrow::Cow;
use std::fmt;

use cola_ia_core::effect::EffectState;
use cola_ia_core::job::JobState;
use cola_ia_core::verdict::Verdict;
use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};

pub use choose::{Choice, LANG_VAR, choose};

use crate::print::safe_line;

/// A language that has a catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Spanish.
    Spanish,
    /// English.
    English,
}

impl Language {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Spanish, Self::English];

    /// The tag that `--lang` takes.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::Spanish => "es",
            Self::English => "en",
        }
    }

    /// The language that [`tag`](Self::tag) gives this word for.
    pub fn from_tag(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.tag() == tag)
    }

    /// The Fluent source of its catalogue.
    pub const fn catalogue(self) -> &'static str {
        match self {
            Self::Spanish => include_str!("es.ftl"),
            Self::English => include_str!("en.ftl"),
        }
    }
}

/// A value put into a message.
pub type Arg<'a> = FluentValue<'a>;

/// The catalogues in use.
pub struct Lang {
    choice: Choice,
    prose: FluentBundle<FluentResource>,
    words: FluentBundle<FluentResource>,
}

impl fmt::Debug for Lang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lang").field(&self.choice).finish()
    }
}

impl Clone for Lang {
    fn clone(&self) -> Self {
        Self::new(self.choice)
    }
}

impl Lang {
    /// Reads the catalogues of this choice.
    pub fn new(choice: Choice) -> Self {
        Self { choice, prose: bundle(choice.prose), words: bundle(choice.words) }
    }

    /// Prose and words in one language.
    pub fn only(language: Language) -> Self {
        Self::new(Choice { prose: language, words: language })
    }

    /// Which languages are in use.
    pub const fn choice(&self) -> Choice {
        self.choice
    }

    /// The prose of this key. Strings among the arguments are shown as by [`safe_line`].
    ///
    /// A key that no catalogue has is shown itself, in `⟨⟩`: a test keeps that from happening.
    pub fn t(&self, key: &str, args: &[(&str, Arg<'_>)]) -> String {
        message(&self.prose, key, args)
    }

    /// Whether prose has this key.
    pub fn has(&self, key: &str) -> bool {
        self.prose.has_message(key)
    }

    /// The word of this key, in the language of the words on stdout.
    pub fn word(&self, key: &str) -> String {
        message(&self.words, key, &[])
    }

    /// The word for a verdict on stdout.
    pub fn verdict(&self, verdict: Verdict) -> &'static str {
        verdict_word(self.choice.words, verdict)
    }

    /// The word for a job's state on stdout.
    pub fn state(&self, state: JobState) -> &'static str {
        state_word(self.choice.words, state)
    }

    /// The word on stdout for how an attempt ended; one that is not known stays as it is.
    pub fn outcome<'a>(&self, outcome: &'a str) -> Cow<'a, str> {
        self.word_of(outcome, &OUTCOMES)
    }

    /// The word on stdout for an effect's state.
    pub const fn effect(&self, state: EffectState) -> &'static str {
        match self.choice.words {
            Language::English => state.as_str(),
            Language::Spanish => state.in_spanish(),
        }
    }

    fn word_of<'a>(&self, word: &'a str, spanish: &[(&str, &'static str)]) -> Cow<'a, str> {
        match spanish.iter().find(|(known, _)| *known == word) {
            Some((_, spanish)) if self.choice.words == Language::Spanish => Cow::Borrowed(spanish),
            _ => Cow::Borrowed(word),
        }
    }
}

/// How an attempt ended, in Spanish.
const OUTCOMES: [(&str, &str); 6] = [
    ("done", "terminado"),
    ("error", "error"),
    ("crashed", "caído"),
    ("timed_out", "agotado"),
    ("released", "devuelto"),
    ("lease_lost", "desalojado"),
];

/// The word for a verdict.
pub const fn verdict_word(language: Language, verdict: Verdict) -> &'static str {
    match language {
        Language::English => verdict.as_str(),
        Language::Spanish => verdict.in_spanish(),
    }
}

/// The word for a job's state.
pub const fn state_word(language: Language, state: JobState) -> &'static str {
    match language {
        Language::English => state.as_str(),
        Language::Spanish => state.in_spanish(),
    }
}

fn bundle(language: Language) -> FluentBundle<FluentResource> {
    // The type of the tag is private to the library; it parses into it.
    let locales = language.tag().parse().into_iter().collect();
    let mut bundle = FluentBundle::new_concurrent(locales);
    // Isolation marks are invisible characters: on a terminal they would travel into copied paths and ids.
    bundle.set_use_isolating(false);
    let (Ok(resource) | Err((resource, _))) = FluentResource::try_new(language.catalogue().to_owned());
    // Faults in a catalogue (a syntax error, a key twice) are found by a test; what is sound stays usable.
    bundle.add_resource(resource).unwrap_or_default();
    bundle
}

fn message(bundle: &FluentBundle<FluentResource>, key: &str, args: &[(&str, Arg<'_>)]) -> String {
    let Some(pattern) = bundle.get_message(key).and_then(|message| message.value()) else {
        return format!("⟨{key}⟩");
    };
    let mut shown = FluentArgs::with_capacity(args.len());
    for (name, value) in args {
        match value {
            FluentValue::String(text) => shown.set(*name, safe_line(text).into_owned()),
            other => shown.set(*name, other.clone()),
        }
    }
    bundle.format_pattern(pattern, Some(&shown), &mut Vec::new()).into_owned()
}

/// A sentence of the catalogue and what it is about, language still open.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    key: Cow<'static, str>,
    args: Vec<(Cow<'static, str>, Value)>,
}

/// What a [`Message`] is about.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Text(String),
    Number(i64),
    /// A sentence in a sentence.
    Message(Box<Message>),
    /// The operating system's reason: its kind, its number, its words.
    Io(std::io::ErrorKind, Option<i32>, String),
    /// A reason that came as text.
    Cause(String),
}

impl Message {
    /// The sentence of this key.
    pub fn new(key: impl Into<Cow<'static, str>>) -> Self {
        Self { key: key.into(), args: Vec::new() }
    }

    /// With a text, a path, a name: whatever it holds, it is shown so that it cannot break the line.
    #[must_use]
    pub fn with(self, name: impl Into<Cow<'static, str>>, value: impl fmt::Display) -> Self {
        self.push(name.into(), Value::Text(value.to_string()))
    }

    /// With a number, which may decide between singular and plural.
    #[must_use]
    pub fn number(self, name: &'static str, value: u64) -> Self {
        self.push(name.into(), Value::Number(i64::try_from(value).unwrap_or(i64::MAX)))
    }

    /// With another sentence.
    #[must_use]
    pub fn message(self, name: &'static str, value: Self) -> Self {
        self.push(name.into(), Value::Message(Box::new(value)))
    }

    /// With the system's reason, as `cause`.
    #[must_use]
    pub fn caused_by(self, error: &std::io::Error) -> Self {
        self.push("cause".into(), Value::Io(error.kind(), error.raw_os_error(), error.to_string()))
    }

    /// With a reason that came as text, told as by [`Lang::cause`].
    #[must_use]
    pub fn cause(self, name: impl Into<Cow<'static, str>>, text: &str) -> Self {
        self.push(name.into(), Value::Cause(text.to_owned()))
    }

    /// The key.
    pub fn key(&self) -> &str {
        &self.key
    }

    fn push(mut self, name: Cow<'static, str>, value: Value) -> Self {
        self.args.push((name, value));
        self
    }

    /// The sentence in the language of prose.
    pub fn in_prose(&self, lang: &Lang) -> String {
        let args: Vec<(&str, Arg<'_>)> =
            self.args.iter().map(|(name, value)| (name.as_ref(), value.in_prose(lang))).collect();
        lang.t(&self.key, &args)
    }
}

impl Value {
    fn in_prose(&self, lang: &Lang) -> Arg<'_> {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Number(number) => (*number).into(),
            Self::Message(message) => message.in_prose(lang).into(),
            Self::Io(kind, errno, text) => lang.io_or(*kind, *errno, text).into(),
            Self::Cause(text) => lang.cause(text).into(),
        }
    }
}

#[cfg(test)]
mod tests;
