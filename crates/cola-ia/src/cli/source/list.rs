//! `source list`: the configured senders, or the schemes that are known.

use cola_ia_webhook::{Scheme, catalogue};
use cola_ia_wire::{SchemeLine, SourceLine, VERSION};

use super::url_of;
use crate::cli::add::push_json;
use crate::cli::{Exit, Problem, Session, print};
use crate::config::{SecretPlace, Settings, SourceConfig};
use crate::lang::Message;
use crate::print::{Cell, Paint, Table};

/// The senders of the file.
///
/// # Errors
/// stdout cannot be written.
pub(super) fn configured(session: &Session, json: bool, settings: &Settings) -> Result<Exit, Problem> {
    let mut out = String::new();
    let head = ["column-source", "column-scheme", "column-id-at", "column-secrets", "column-url"];
    let mut table = Table::new(head.map(|key| Cell::new(session.lang.word(key))).to_vec());
    for source in &settings.sources {
        let url = url_of(settings, &source.name);
        // The file was read with it.
        let Ok(scheme) = source.spec.resolve() else { continue };
        if json {
            push_json(&mut out, &as_line(source, &scheme, &url));
            continue;
        }
        let secrets = if source.unsigned {
            Cell::new(session.lang.word("source-word-unsigned")).painted(Paint::Alarm)
        } else {
            Cell::new(source.secrets.iter().map(SecretPlace::shown).collect::<Vec<_>>().join(","))
        };
        table.push(vec![
            Cell::new(source.name.as_str()),
            Cell::new(scheme.name.as_str()),
            Cell::new(scheme.id.as_slice().join(",").replace(' ', "\u{2423}")),
            secrets,
            Cell::new(url),
        ]);
    }
    if json {
        return print(&out);
    }
    if settings.sources.is_empty() {
        session.note(&Message::new("source-list-none"));
        session.hint(&Message::new("source-list-none-hint"));
        return Ok(Exit::Done);
    }
    print(&table.render(session.colour.stdout))
}

fn as_line<'a>(source: &'a SourceConfig, scheme: &'a Scheme, url: &'a str) -> SourceLine<'a> {
    SourceLine {
        v: VERSION,
        source: source.name.as_str().into(),
        scheme: scheme.name.as_str().into(),
        url: url.into(),
        unsigned: source.unsigned,
        form: source.form.is_some(),
        secrets: source.secrets.iter().map(|place| place.shown().into()).collect(),
        id: scheme.id.as_slice().iter().map(|place| place.as_str().into()).collect(),
        text: scheme.text.as_slice().iter().map(|place| place.as_str().into()).collect(),
    }
}

/// The catalogue.
///
/// # Errors
/// stdout cannot be written.
pub(super) fn schemes(session: &Session, json: bool) -> Result<Exit, Problem> {
    let mut out = String::new();
    let head = ["column-scheme", "column-verified", "column-id-at", "column-title"];
    let mut table = Table::new(head.map(|key| Cell::new(session.lang.word(key))).to_vec());
    for scheme in catalogue() {
        let words = |places: &'static [String]| places.iter().map(|place| place.as_str().into()).collect();
        if json {
            let line = SchemeLine {
                v: VERSION,
                scheme: scheme.name.as_str().into(),
                title: scheme.title.as_str().into(),
                verified: scheme.is_verified(),
                unverified: words(&scheme.unverified),
                algorithm: scheme.algorithm.as_str().into(),
                id: words(scheme.id.as_slice()),
                fallback: words(scheme.fallback.as_slice()),
                text: words(scheme.text.as_slice()),
                docs: scheme.docs.as_str().into(),
            };
            push_json(&mut out, &line);
            continue;
        }
        let verified = if scheme.is_verified() {
            Cell::new(session.lang.word("word-yes"))
        } else {
            Cell::new(session.lang.word("word-no")).painted(Paint::Alarm)
        };
        let id = match scheme.id.as_slice() {
            [] => session.lang.word("source-word-no-id"),
            places => places.join(",").replace(' ', "\u{2423}"),
        };
        table.push(vec![Cell::new(scheme.name.as_str()), verified, Cell::new(id), Cell::new(scheme.title.as_str())]);
    }
    if json {
        return print(&out);
    }
    print(&table.render(session.colour.stdout))?;
    session.note(&Message::new("source-schemes-note"));
    session.hint(&Message::new("source-schemes-next"));
    Ok(Exit::Done)
}
