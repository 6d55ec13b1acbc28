//! Reading of tables whose names are people's own, `[source.NAME]` and `[schedule.NAME]`: strict, each mistake with its place.

use std::path::{Path, PathBuf};

use cola_ia_core::event::Source;
use serde::Deserialize as _;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::file::Place;
use super::value::Fault;
use super::{Kind, Origin, Value, nearest};
use crate::cli::{Exit, Problem};
use crate::lang::Message;

/// A key and its value, as they stand in the file.
pub(super) type Key<'i> = toml::Spanned<std::borrow::Cow<'i, str>>;
pub(super) type Item<'i> = toml::Spanned<DeValue<'i>>;

/// The file that is being read.
pub(super) struct InFile<'a> {
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
    pub(super) folder: &'a Path,
}

/// A key of such a table with its value, as `config show` prints it. It never is a secret: the file has none.
#[derive(Debug, Clone, PartialEq)]
pub struct TableLine {
    /// `source.github.secret_env`.
    pub key: String,
    /// Its value.
    pub value: toml::Value,
    /// Where it stands.
    pub origin: Origin,
}

impl TableLine {
    /// As TOML that can be pasted back.
    pub fn pasteable(&self) -> String {
        format!("{} = {}", self.key, self.value)
    }
}

/// One table that is being read.
pub(super) struct Table<'a, 'i> {
    file: &'a InFile<'a>,
    /// `source.github`.
    pub(super) key: String,
    items: &'a DeTable<'i>,
    span: std::ops::Range<usize>,
}

impl<'a, 'i> Table<'a, 'i> {
    /// The table `KIND.NAME`.
    ///
    /// # Errors
    /// It is no table.
    pub(super) fn open(file: &'a InFile<'a>, key: String, value: &'a Item<'i>) -> Result<Self, Problem> {
        match value.get_ref() {
            DeValue::Table(items) => Ok(Self { file, key, items, span: value.span() }),
            other => {
                let place = Place::of(file.text, Some(value.span())).in_file(file.path);
                Err(Fault::new("fault-type-table", other.type_str()).at(&format!("{place}: {key}")))
            }
        }
    }

    /// A table in this one.
    pub(super) fn inner(&self, name: &str, value: &'a Item<'i>) -> Result<Self, Problem> {
        Self::open(self.file, format!("{}.{}", self.key, bare(name)), value)
    }

    pub(super) fn origin(&self) -> Origin {
        Origin::File(self.file.path.to_path_buf(), Place::of(self.file.text, Some(self.span.clone())).line)
    }

    /// Refuses keys that are not among these; the hint is for one that resembles none.
    pub(super) fn only(&self, known: &[&str], hint: &Message) -> Result<(), Problem> {
        for key in self.items.keys() {
            let name = key.get_ref().as_ref();
            if known.contains(&name) {
                continue;
            }
            let place = Place::of(self.file.text, Some(key.span())).in_file(self.file.path);
            let message = Message::new("config-unknown-key")
                .with("place", place)
                .with("key", format!("{}.{}", self.key, bare(name)));
            let problem = Problem::new(Exit::Usage, message);
            return Err(match nearest(name, known.iter().copied()) {
                Some(meant) => problem.hint(Message::new("did-you-mean").with("meant", meant)),
                None => problem.hint(hint.clone()),
            });
        }
        Ok(())
    }

    pub(super) fn items(&self) -> impl Iterator<Item = (&'a Key<'i>, &'a Item<'i>)> {
        self.items.iter()
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Item<'i>> {
        self.items.get(name)
    }

    /// `FILE:LINE:COLUMN: source.github.id`
    fn place(&self, name: &str, span: Option<std::ops::Range<usize>>) -> String {
        let span = span.or_else(|| self.get(name).map(toml::Spanned::span)).unwrap_or(self.span.clone());
        let place = Place::of(self.file.text, Some(span)).in_file(self.file.path);
        if name.is_empty() { format!("{place}: {}", self.key) } else { format!("{place}: {}.{}", self.key, bare(name)) }
    }

    /// The problem with the value of this key, or with the table where the name is empty.
    pub(super) fn fault(&self, name: &str, fault: Message) -> Problem {
        let message = Message::new("setting-value").with("place", self.place(name, None)).message("fault", fault);
        Problem::new(Exit::Usage, message)
    }

    fn mistyped(&self, name: &str, key: &'static str, value: &Item<'_>) -> Problem {
        Fault::new(key, value.get_ref().type_str()).at(&self.place(name, Some(value.span())))
    }

    /// A text.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Problem> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => match value.get_ref() {
                DeValue::String(text) => Ok(Some(text.to_string())),
                _ => Err(self.mistyped(name, "fault-type-string", value)),
            },
        }
    }

    /// A text or a list of texts.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, Problem> {
        let Some(value) = self.get(name) else { return Ok(Vec::new()) };
        match value.get_ref() {
            DeValue::String(text) => Ok(vec![text.to_string()]),
            DeValue::Array(list) => list
                .iter()
                .map(|one| match one.get_ref() {
                    DeValue::String(text) => Ok(text.to_string()),
                    _ => Err(self.mistyped(name, "fault-type-texts", one)),
                })
                .collect(),
            _ => Err(self.mistyped(name, "fault-type-texts", value)),
        }
    }

    /// Yes or no; no where nothing is said.
    pub(super) fn yes(&self, name: &str) -> Result<bool, Problem> {
        Ok(self.value(name, Kind::Bool)?.and_then(|value| value.as_bool()).unwrap_or_default())
    }

    /// A value of this kind, as for a setting.
    pub(super) fn value(&self, name: &str, kind: Kind) -> Result<Option<Value>, Problem> {
        let parsed = |value: &Item<'_>| {
            let place = self.place(name, Some(value.span()));
            kind.parse_toml(value.get_ref(), self.file.folder).map_err(|fault| fault.at(&place))
        };
        self.get(name).map(parsed).transpose()
    }

    /// A path; a relative one is relative to the file's folder.
    pub(super) fn beside(&self, path: &str) -> PathBuf {
        self.file.folder.join(path)
    }

    /// The keys of these names as a value of a type with its own reader. Its reader's words are the parser's, English.
    pub(super) fn read_as<T: serde::de::DeserializeOwned>(&self, names: &[&str]) -> Result<T, Problem> {
        let mut items = DeTable::new();
        for (key, value) in self.items {
            if names.contains(&key.get_ref().as_ref()) {
                items.insert(key.clone(), value.clone());
            }
        }
        let whole = toml::Spanned::new(self.span.clone(), DeValue::Table(items));
        T::deserialize(ValueDeserializer::from(whole)).map_err(|error| {
            let span = error.span();
            let within = |value: &Item<'_>| span.as_ref().is_some_and(|span| span.start >= value.span().start);
            let of = self.items.iter().filter(|(_, value)| within(value)).max_by_key(|(_, value)| value.span().start);
            let name = of.map_or("", |(key, _)| key.get_ref().as_ref());
            let message = Message::new("config-table-value")
                .with("place", self.place(name, span.clone()))
                .with("cause", error.message());
            Problem::new(Exit::Usage, message)
        })
    }

    /// What `config show` prints of it, in the order of the file.
    pub(super) fn lines(&self) -> Vec<TableLine> {
        let mut items: Vec<_> = self.items.iter().collect();
        items.sort_by_key(|(key, _)| key.span().start);
        let line = |(key, value): (&Key<'i>, &Item<'i>)| {
            let place = Place::of(self.file.text, Some(value.span()));
            // What the parser took can be said again.
            let value = toml::Value::deserialize(ValueDeserializer::from(value.clone())).ok()?;
            let origin = Origin::File(self.file.path.to_path_buf(), place.line);
            Some(TableLine { key: format!("{}.{}", self.key, bare(key.get_ref())), value, origin })
        };
        items.into_iter().filter_map(line).collect()
    }
}

/// The name in a dotted key: in quotation marks where it needs them.
pub(super) fn bare(name: &str) -> String {
    let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if plain { name.to_owned() } else { toml::Value::from(name).to_string() }
}

/// The name of a table `[KIND.NAME]`, which has the form of a source's.
///
/// # Errors
/// It has another.
pub(super) fn name(file: &InFile<'_>, kind: &str, key: &Key<'_>) -> Result<Source, Problem> {
    let name = key.get_ref().as_ref();
    Source::new(name).map_err(|_| {
        let place = Place::of(file.text, Some(key.span())).in_file(file.path);
        let fault = Message::new("fault-source").with("value", name);
        let message = Message::new("setting-value")
            .with("place", format!("{place}: {kind}.{}", bare(name)))
            .message("fault", fault);
        Problem::new(Exit::Usage, message).hint(Message::new("fault-source-hint"))
    })
}
