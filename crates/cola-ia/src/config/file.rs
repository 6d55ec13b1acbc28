//! `cola-ia.toml`.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::prices::{self, PriceLine};
use super::tables::InFile;
use super::{Environment, NamedFile, Origin, SETTINGS, ScheduleConfig, SourceConfig, Value, nearest};
use super::{schedules, sources};
use crate::cli::{Exit, Problem};
use crate::lang::Message;

/// The file that is read where none is named.
pub const DEFAULT_FILE: &str = "cola-ia.toml";
/// The variable that names the file.
pub const CONFIG_VAR: &str = "COLA_IA_CONFIG";
/// No such file is anywhere near this; a mistaken path to something large must not fill the memory.
const FILE_MAX_BYTES: u64 = 1 << 20;

/// What the file says.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) path: Option<PathBuf>,
    pub(super) entries: Vec<(&'static str, Value, Origin)>,
    pub(super) prices: Vec<PriceLine>,
    pub(super) sources: Vec<SourceConfig>,
    pub(super) schedules: Vec<ScheduleConfig>,
}

/// Reads the file that `--config` names, else the variable, else the one in the working folder if it is there.
pub(super) fn read(flag: Option<&Path>, environment: &Environment, named: NamedFile) -> Result<Contents, Problem> {
    let explicit = flag.map(Path::to_path_buf).or_else(|| environment.var_os(CONFIG_VAR).map(PathBuf::from));
    let may_be_missing = explicit.is_none() || named == NamedFile::MayBeMissing;
    let path = explicit.unwrap_or_else(|| DEFAULT_FILE.into());
    let text = match read_bounded(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound && may_be_missing => return Ok(Contents::default()),
        Err(error) => {
            let missing = error.kind() == ErrorKind::NotFound;
            let message = Message::new("config-unreadable").with("file", path.display()).caused_by(&error);
            let problem = Problem::new(Exit::Usage, message);
            return Err(if missing { problem.hint(Message::new("config-unreadable-hint")) } else { problem });
        }
    };
    let contents = parse(&path, text.strip_prefix('\u{feff}').unwrap_or(&text))?;
    Ok(Contents { path: Some(path), ..contents })
}

/// Whether a file with this text could be read.
///
/// # Errors
/// What is wrong with it.
pub fn check_text(path: &Path, text: &str) -> Result<(), Problem> {
    parse(path, text.strip_prefix('\u{feff}').unwrap_or(text)).map(|_| ())
}

fn read_bounded(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(FILE_MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_MAX_BYTES { Err(ErrorKind::FileTooLarge.into()) } else { Ok(text) }
}

fn parse(path: &Path, text: &str) -> Result<Contents, Problem> {
    let table = DeTable::parse(text).map_err(|error| {
        let place = Place::of(text, error.span());
        let message = Message::new("config-syntax").with("place", place.in_file(path)).with("cause", error.message());
        Problem::new(Exit::Usage, message)
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let file = InFile { path, text, folder };
    let (mut keys, mut contents) = (Vec::new(), Contents::default());
    for (key, value) in table.get_ref() {
        let name = key.get_ref().as_ref();
        let is_table =
            SETTINGS.iter().any(|setting| setting.name.split_once('.').is_some_and(|(first, _)| first == name));
        match value.get_ref() {
            _ if name == prices::TABLE => contents.prices = prices::read(path, text, value)?,
            _ if name == schedules::TABLE => contents.schedules = schedules::read(&file, value)?,
            DeValue::Table(table) if is_table => {
                for (key, value) in table {
                    // A table in `[source]` is a source, whatever its name; anything else is a setting.
                    match value.get_ref() {
                        DeValue::Table(_) if name == sources::TABLE => {
                            contents.sources.push(sources::read(&file, key, value)?);
                        }
                        _ => keys.push((format!("{name}.{}", key.get_ref()), key, value)),
                    }
                }
            }
            _ => keys.push((name.to_owned(), key, value)),
        }
    }
    keys.sort_by_key(|(_, key, _)| key.span().start);
    for (name, key, value) in keys {
        let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) else {
            let place = Place::of(text, Some(key.span())).in_file(path);
            let problem =
                Problem::new(Exit::Usage, Message::new("config-unknown-key").with("place", place).with("key", &name));
            return Err(match nearest(&name, SETTINGS.iter().map(|setting| setting.name).chain(TABLES)) {
                Some(meant) => problem.hint(Message::new("did-you-mean").with("meant", meant)),
                None => problem.hint(Message::new("config-unknown-key-hint")),
            });
        };
        let place = Place::of(text, Some(value.span()));
        let parsed = setting
            .kind
            .parse_toml(value.get_ref(), folder)
            .map_err(|fault| fault.at(&format!("{}: {name}", place.in_file(path))))?;
        contents.entries.push((setting.name, parsed, Origin::File(path.to_path_buf(), place.line)));
    }
    contents.sources.sort_by(|one, other| one.name.as_str().cmp(other.name.as_str()));
    Ok(contents)
}

/// The tables that hold no settings.
const TABLES: [&str; 3] = [prices::TABLE, schedules::TABLE, sources::TABLE];

/// A line and a column, both from 1; the column counts characters.
pub(super) struct Place {
    pub(super) line: usize,
    column: usize,
}

impl Place {
    pub(super) fn of(text: &str, span: Option<Range<usize>>) -> Self {
        let at = text.floor_char_boundary(span.map_or(0, |span| span.start));
        let before = &text[..at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
    }

    pub(super) fn in_file(&self, path: &Path) -> String {
        format!("{}:{}:{}", path.display(), self.line, self.column)
    }
}
