//! `restore`: a backup in the place of the store.

use std::path::{Path, PathBuf};

use cola_ia_core::clock::Timestamp;
use cola_ia_store::sqlite::{self, RestoredFile};
use cola_ia_wire::{Restore, VERSION};

use super::add::push_json;
use super::jobs::to_the_second;
use super::progress::{Progress, interruptible, problem};
use super::{Exit, Problem, Session, print};
use crate::config::Settings;
use crate::lang::Message;
use crate::store;

/// The options of `restore`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreOptions {
    /// The backup.
    pub from: PathBuf,
    /// `--json`
    pub json: bool,
    /// Whether progress may be shown; it still needs a terminal.
    pub progress: bool,
}

/// Runs the command.
///
/// # Errors
/// As [`sqlite::restore`].
pub fn run(session: &Session, options: &RestoreOptions, settings: &Settings) -> Result<Exit, Problem> {
    let file = store::file(settings, "restore").map_err(|error| problem(&error))?;
    let how = interruptible(session, settings)?;
    let progress = Progress::new(session, options.progress);
    let restored = sqlite::restore(file, &options.from, &how, &|stage| progress.stage(stage));
    progress.finish();
    let restored = restored.map_err(|error| problem(&error))?;
    if options.json {
        print(&as_json(&restored, file, &options.from))?;
    }
    let (path, from) = (file.display(), options.from.display());
    session.note(&Message::new("restore-done").number("count", restored.events).with("path", path).with("from", from));
    if restored.schema_from < restored.schema {
        session.note(
            &Message::new("store-migrated")
                .with("path", file.display())
                .number("from", restored.schema_from.into())
                .number("to", restored.schema.into()),
        );
    }
    if let Some(kept) = &restored.kept {
        session.note(&Message::new("restore-kept").with("path", kept.display()));
    }
    if restored.leases_voided > 0 {
        session.note(&Message::new("restored-leases").number("count", restored.leases_voided));
    }
    match restored.taken_at.or(restored.newest_at) {
        Some(at) => session.note(&Message::new("restore-since").with("at", to_the_second(at))),
        None => session.note(&Message::new("restore-since-unknown")),
    }
    session.hint(&Message::new("restored-hint"));
    Ok(Exit::Done)
}

fn as_json(restored: &RestoredFile, store: &Path, backup: &Path) -> String {
    let mut out = String::new();
    push_json(
        &mut out,
        &Restore {
            v: VERSION,
            store: store.to_string_lossy(),
            backup: backup.to_string_lossy(),
            kept: restored.kept.as_ref().map(|kept| kept.to_string_lossy()),
            taken_at: restored.taken_at.map(Timestamp::to_rfc3339),
            newest_at: restored.newest_at.map(Timestamp::to_rfc3339),
            restored_at: restored.restored_at.to_rfc3339(),
            leases_voided: restored.leases_voided,
            events: restored.events,
            schema_from: restored.schema_from,
            schema: restored.schema,
        },
    );
    out
}
