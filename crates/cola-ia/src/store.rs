//! Opening the store that the settings name, and saying what that did.

use std::time::Duration;

use cola_ia_core::store::StoreError;
use cola_ia_store::sqlite::{Opened, Options, SqliteStore, TakenOver};

use crate::cli::init::StoreMade;
use crate::cli::{Problem, Session};
use crate::config::{Settings, Warning};
use crate::lang::Message;
use crate::print::safe_line;

/// How the settings say a store is opened.
pub fn options(settings: &Settings) -> Options {
    Options {
        lock_wait: settings.lock_wait,
        allow_network_filesystem: settings.allow_network_filesystem,
        ..Options::default()
    }
}

/// Makes the store, or opens the one that is there.
///
/// # Errors
/// As [`SqliteStore::init`].
pub fn init(settings: &Settings) -> Result<StoreMade, StoreError> {
    let (_store, opened) = SqliteStore::init(&settings.db, &options(settings))?;
    Ok(if opened.created { StoreMade::Created } else { StoreMade::AlreadyThere })
}

/// Opens the store for intake, made where there is none, and says what that did.
///
/// # Errors
/// As [`SqliteStore::open`].
pub fn open(session: &Session, settings: &Settings) -> Result<SqliteStore, Problem> {
    let (store, opened) =
        SqliteStore::open(&settings.db, &options(settings)).map_err(|error| Problem::from_store(&error))?;
    report_opened(session, settings, &opened, false);
    Ok(store)
}

/// Opens a store that is there, to change what it holds, and says what that did.
///
/// # Errors
/// As [`SqliteStore::change`].
pub fn change(session: &Session, settings: &Settings) -> Result<SqliteStore, Problem> {
    let (store, opened) =
        SqliteStore::change(&settings.db, &options(settings)).map_err(|error| Problem::from_store(&error))?;
    report_opened(session, settings, &opened, false);
    Ok(store)
}

/// Opens the store for views.
///
/// # Errors
/// As [`SqliteStore::view`].
pub fn view(settings: &Settings) -> Result<SqliteStore, Problem> {
    SqliteStore::view(&settings.db, &options(settings)).map_err(|error| Problem::from_store(&error))
}

/// Opens the store for views, without waiting long for a lock.
///
/// # Errors
/// As [`SqliteStore::view`].
pub fn view_briefly(settings: &Settings, lock_wait: Duration) -> Result<SqliteStore, StoreError> {
    SqliteStore::view(&settings.db, &Options { lock_wait, ..options(settings) })
}

/// Says what opening did, where it did something.
pub fn report_opened(session: &Session, settings: &Settings, opened: &Opened, dry_run: bool) {
    let path = settings.db.display().to_string();
    if opened.created {
        session.note(&Message::new("store-created").with("path", &path));
    }
    if let Some(migrated) = &opened.migrated {
        session.note(
            &Message::new("store-migrated")
                .with("path", &path)
                .number("from", migrated.from.into())
                .number("to", migrated.to.into()),
        );
        for copy in &migrated.copies {
            session.note(&Message::new("store-copy").with("path", copy.display()));
        }
    }
    if opened.backup_in_place {
        alarm(session, Message::new("store-backup-in-place").with("path", &path));
        session.hint(&Message::new("restored-hint"));
    }
    if opened.copied {
        let warning = Message::new("store-copied").with("path", &path);
        session.warn(&Warning { message: warning, hint: Some(Message::new("store-copied-hint")) });
    }
    if let Some(taken) = &opened.taken_over {
        report_taken_over(session, &path, taken, dry_run);
    }
}

fn report_taken_over(session: &Session, path: &str, taken: &TakenOver, dry_run: bool) {
    let key = if dry_run { "takeover-would" } else { "takeover-done" };
    session.note(
        &Message::new(key)
            .with("path", path)
            .number("pending", taken.pending)
            .number("done", taken.done)
            .number("held", taken.held),
    );
    if !dry_run {
        session.note(&Message::new("store-copy").with("path", taken.copy.display()));
    }
    for id in &taken.mismatched {
        alarm(session, Message::new("takeover-mismatch").with("id", crate::print::id_on_a_line(id)));
    }
    for (id, state) in &taken.unknown_states {
        alarm(
            session,
            Message::new("takeover-state").with("id", crate::print::id_on_a_line(id)).with("state", safe_line(state)),
        );
    }
    if !taken.other_columns.is_empty() {
        alarm(session, Message::new("takeover-columns").with("columns", safe_line(&taken.other_columns.join(", "))));
    }
    for row in &taken.untaken {
        let reason = Message::new(format!("refusal-{}", row.code.as_str()));
        alarm(
            session,
            Message::new("takeover-untaken")
                .with("row", row.rowid)
                .message("reason", reason)
                .with("code", row.code.as_str()),
        );
    }
    let unnamed = taken.untaken_count - taken.untaken.len() as u64;
    if unnamed > 0 {
        alarm(session, Message::new("takeover-untaken-more").number("count", unnamed));
    }
}

/// What a person must see even where little is said.
fn alarm(session: &Session, message: Message) {
    session.warn(&Warning { message, hint: None });
}
