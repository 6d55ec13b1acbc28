//! Opening the store that the settings name, a file or one behind a server, and saying what that did.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use cola_ia_core::store::{Store, StoreError};
use cola_ia_store::sqlite::{Opened, Options, SqliteStore, TakenOver};

use crate::cli::init::StoreMade;
use crate::cli::{Exit, Problem, Session};
use crate::config::{Secret, Server, Settings, TokenFault, Warning, read_token};
use crate::lang::Message;
use crate::print::safe_line;
use crate::remote::RemoteStore;

/// The store that a command works with.
#[derive(Clone)]
pub enum Chosen {
    /// A file on this machine.
    File(Arc<SqliteStore>),
    /// One behind a server.
    Server(Arc<RemoteStore>),
}

impl Chosen {
    /// The store, to be shared.
    pub fn shared(&self) -> Arc<dyn Store> {
        match self {
            Self::File(store) => Arc::clone(store) as _,
            Self::Server(store) => Arc::clone(store) as _,
        }
    }

    /// Whether others keep it going: what is lost is recovered there, and not by who works with it.
    pub const fn is_remote(&self) -> bool {
        matches!(self, Self::Server(_))
    }
}

impl Deref for Chosen {
    type Target = dyn Store;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::File(store) => &**store,
            Self::Server(store) => &**store,
        }
    }
}

/// What people call the store that the settings name: its path, or the server's address.
pub fn place(settings: &Settings) -> String {
    match &settings.server {
        Some(server) => server.url.to_string(),
        None => settings.db.display().to_string(),
    }
}

/// The store behind a server. Nothing is asked of it yet.
///
/// # Errors
/// There is no token, or it cannot be read.
pub fn remote(session: &Session, server: &Server) -> Result<RemoteStore, Problem> {
    let token = token(session, server)?;
    RemoteStore::new(server.url.as_str(), token.reveal()).map_err(|error| Problem::from_store(&error))
}

fn token(session: &Session, server: &Server) -> Result<Secret, Problem> {
    if let Some(token) = &server.token {
        return Ok(token.clone());
    }
    let Some(path) = &server.token_file else {
        let message = Message::new("server-token-missing").with("server", &server.url);
        return Err(Problem::new(Exit::NotAuthorised, message).hint(Message::new("server-token-missing-hint")));
    };
    let said = |key: &'static str| Message::new(key).with("path", path.display());
    match read_token(path) {
        Ok(found) => {
            if found.open_to_others {
                let hint = Some(Message::new("server-token-open-hint").with("path", path.display()));
                session.warn(&Warning { message: said("server-token-open"), hint });
            }
            Ok(found.token)
        }
        Err(TokenFault::Io(cause)) => Err(Problem::failed(said("server-token-unreadable").caused_by(&cause))),
        Err(TokenFault::NoToken) => {
            Err(Problem::failed(said("server-token-none")).hint(Message::new("fault-token-hint")))
        }
    }
}

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
pub fn change(session: &Session, settings: &Settings) -> Result<Chosen, Problem> {
    if let Some(server) = &settings.server {
        return Ok(Chosen::Server(Arc::new(remote(session, server)?)));
    }
    let (store, opened) =
        SqliteStore::change(&settings.db, &options(settings)).map_err(|error| Problem::from_store(&error))?;
    report_opened(session, settings, &opened, false);
    Ok(Chosen::File(Arc::new(store)))
}

/// Opens the store for views.
///
/// # Errors
/// As [`SqliteStore::view`].
pub fn view(session: &Session, settings: &Settings) -> Result<Chosen, Problem> {
    if let Some(server) = &settings.server {
        return Ok(Chosen::Server(Arc::new(remote(session, server)?)));
    }
    let store = SqliteStore::view(&settings.db, &options(settings)).map_err(|error| Problem::from_store(&error))?;
    Ok(Chosen::File(Arc::new(store)))
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
