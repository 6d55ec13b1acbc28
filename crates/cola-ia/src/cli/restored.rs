//! `restored`: the mark of a store that was put back by other means than `restore`, and its end.

use std::sync::Arc;

use cola_ia_core::clock::{Clock as _, SystemClock, SystemEntropy, Timestamp};
use cola_ia_core::store::{OpId, Restored, RestoredMark};
use cola_ia_store::sqlite::SqliteStore;
use cola_ia_wire::{Mark, VERSION};
use pollster::block_on;

use super::add::push_json;
use super::jobs::to_the_second;
use super::progress::interruptible;
use super::{Exit, Problem, Session, print};
use crate::config::Settings;
use crate::lang::Message;
use crate::store::{self, Chosen};

/// The options of `restored`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredOptions {
    /// `--at` or `--clear`
    pub when: When,
    /// `--json`
    pub json: bool,
}

/// When the store was restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Just now.
    Now,
    /// At this instant.
    At(Timestamp),
    /// What may have happened since has been looked into.
    Cleared,
}

/// Runs the command.
///
/// # Errors
/// The store's.
pub fn run(session: &Session, options: &RestoredOptions, settings: &Settings) -> Result<Exit, Problem> {
    let mark = match options.when {
        When::Now => RestoredMark::At(SystemClock.now()),
        When::At(at) => RestoredMark::At(at),
        When::Cleared => RestoredMark::Cleared,
    };
    let store = open(session, settings)?;
    let op = OpId::new(&SystemClock, &SystemEntropy);
    let restored = block_on(store.restored(op, mark)).map_err(|error| Problem::from_store(&error))?;
    drop(store);
    if options.json {
        print(&as_json(restored))?;
    }
    match restored.restored_at {
        Some(at) => {
            session.note(&Message::new("restored-marked").with("at", to_the_second(at)));
            if restored.leases_voided > 0 {
                session.note(&Message::new("restored-leases").number("count", restored.leases_voided));
            }
            session.hint(&Message::new("restored-hint"));
        }
        None => session.note(&Message::new("restored-cleared")),
    }
    Ok(Exit::Done)
}

fn open(session: &Session, settings: &Settings) -> Result<Chosen, Problem> {
    if settings.server.is_some() {
        return store::change(session, settings);
    }
    let Some(path) = settings.db.file() else { return store::change(session, settings) };
    let store_options = interruptible(session, settings)?;
    // A store that is missing is not made here; one of an older schema is brought up to date.
    match SqliteStore::view(path, &store_options) {
        Err(error) if error.code != "store_needs_migration" => return Err(Problem::from_store(&error)),
        _ => {}
    }
    let (store, opened) = SqliteStore::init(path, &store_options).map_err(|error| Problem::from_store(&error))?;
    store::report_opened(session, settings, &opened, false);
    Ok(Chosen::File(Arc::new(store)))
}

fn as_json(restored: Restored) -> String {
    let mut out = String::new();
    let restored_at = restored.restored_at.map(Timestamp::to_rfc3339);
    push_json(&mut out, &Mark { v: VERSION, restored_at, leases_voided: restored.leases_voided });
    out
}
