//! `backup`: one checked file of all that the store holds.

use std::path::PathBuf;

use cola_ia_store::sqlite::{self, BackedUp};
use cola_ia_wire::{Backup, VERSION};

use super::add::push_json;
use super::progress::{Progress, interruptible, problem, size};
use super::{Exit, Problem, Session, print};
use crate::config::Settings;
use crate::lang::Message;

/// The options of `backup`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupOptions {
    /// The new file.
    pub to: PathBuf,
    /// `--json`
    pub json: bool,
    /// Whether progress may be shown; it still needs a terminal.
    pub progress: bool,
}

/// Runs the command.
///
/// # Errors
/// As [`sqlite::backup`].
pub fn run(session: &Session, options: &BackupOptions, settings: &Settings) -> Result<Exit, Problem> {
    let store = interruptible(session, settings)?;
    let progress = Progress::new(session, options.progress);
    let made = sqlite::backup(&settings.db, &options.to, &store, &|stage| progress.stage(stage));
    progress.finish();
    let made = made.map_err(|error| problem(&error))?;
    if options.json {
        print(&as_json(&made))?;
    }
    let path = made.path.display();
    session.note(
        &Message::new("backup-made").number("count", made.events).with("path", path).with("size", size(made.bytes)),
    );
    if made.writers_waited.as_secs() > 0 {
        session.note(&Message::new("backup-waited").number("seconds", made.writers_waited.as_secs()));
    }
    Ok(Exit::Done)
}

fn as_json(made: &BackedUp) -> String {
    let mut out = String::new();
    push_json(
        &mut out,
        &Backup {
            v: VERSION,
            backup: made.path.to_string_lossy(),
            bytes: made.bytes,
            taken_at: made.taken_at.to_rfc3339(),
            schema: made.schema,
            events: made.events,
        },
    );
    out
}
