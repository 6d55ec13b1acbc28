//! Opening the store that the settings name, a file, a schema of a database or one behind a server, and saying what that did.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cola_ia_core::store::{ErrorKind, Store, StoreError};
use cola_ia_store::postgres::{self, Address, PostgresStore};
use cola_ia_store::sqlite::{Opened, Options, Patience, SqliteStore, TakenOver, doctor};

use crate::cli::init::StoreMade;
use crate::cli::{Exit, Problem, Session};
use crate::config::{Db, Secret, Server, Settings, TokenFault, Warning, read_token};
use crate::lang::Message;
use crate::print::safe_line;
use crate::remote::RemoteStore;

/// The store that a command works with.
#[derive(Clone)]
pub enum Chosen {
    /// A file on this machine.
    File(Arc<SqliteStore>),
    /// A schema of a database.
    Database(Arc<PostgresStore>),
    /// One behind a server.
    Server(Arc<RemoteStore>),
}

impl Chosen {
    /// The store, to be shared.
    pub fn shared(&self) -> Arc<dyn Store> {
        match self {
            Self::File(store) => Arc::clone(store) as _,
            Self::Database(store) => Arc::clone(store) as _,
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
            Self::Database(store) => &**store,
            Self::Server(store) => &**store,
        }
    }
}

/// What people call the store that the settings name: its path, or the address of its database or server.
pub fn place(settings: &Settings) -> String {
    match &settings.server {
        Some(server) => server.url.to_string(),
        None => settings.db.to_string(),
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

/// How the settings say a file is opened.
pub fn options(settings: &Settings) -> Options {
    Options {
        lock_wait: settings.lock_wait,
        allow_network_filesystem: settings.allow_network_filesystem,
        ..Options::default()
    }
}

/// How the settings say a store in a database is opened.
pub fn database_options(settings: &Settings) -> postgres::Options {
    postgres::Options {
        patience: settings.lock_wait,
        connections: settings.db_connections as usize,
        ..postgres::Options::default()
    }
}

/// The file of the store, for a command that works with files.
///
/// # Errors
/// `store_is_database`.
pub fn file<'s>(settings: &'s Settings, command: &'static str) -> Result<&'s Path, StoreError> {
    settings.db.file().ok_or_else(|| {
        let error = StoreError::new(ErrorKind::Invalid, "store_is_database");
        error.with("path", &settings.db).with("command", command)
    })
}

/// Makes the store, or opens the one that is there.
///
/// # Errors
/// As [`SqliteStore::init`] and [`PostgresStore::open`].
pub fn init(settings: &Settings) -> Result<StoreMade, StoreError> {
    let created = match &settings.db {
        Db::File(path) => SqliteStore::init(path, &options(settings))?.1.created,
        Db::Postgres(address) => PostgresStore::open(address, &database_options(settings))?.1.created,
    };
    Ok(if created { StoreMade::Created } else { StoreMade::AlreadyThere })
}

/// How a store is opened that may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Making {
    /// For intake: the article's database is taken over.
    ForIntake,
    /// For anything else: it is left alone.
    Plain,
}

/// Opens the store of the settings, made where there is none, and says what that did.
///
/// # Errors
/// As [`SqliteStore::open`], [`SqliteStore::init`] and [`PostgresStore::open`].
pub fn open(session: &Session, settings: &Settings, making: Making) -> Result<Chosen, Problem> {
    let made = made(settings, making, options(settings).patience).map_err(|error| Problem::from_store(&error))?;
    Ok(told(session, settings, made))
}

/// The same, apart from saying what it did: for who opens it in another thread.
///
/// # Errors
/// As [`open`].
pub fn made(settings: &Settings, making: Making, patience: Arc<dyn Patience>) -> Result<(Chosen, Opened), StoreError> {
    let options = Options { patience, ..options(settings) };
    match (&settings.db, making) {
        (Db::File(path), Making::ForIntake) => file_and(SqliteStore::open(path, &options)?),
        (Db::File(path), Making::Plain) => file_and(SqliteStore::init(path, &options)?),
        (Db::Postgres(address), _) => Ok(database_and(PostgresStore::open(address, &database_options(settings))?)),
    }
}

/// Says what opening did, and hands the store on.
pub fn told(session: &Session, settings: &Settings, (store, opened): (Chosen, Opened)) -> Chosen {
    report_opened(session, settings, &opened, false);
    store
}

#[allow(clippy::unnecessary_wraps, reason = "as its neighbours in a match")]
fn file_and((store, opened): (SqliteStore, Opened)) -> Result<(Chosen, Opened), StoreError> {
    Ok((Chosen::File(Arc::new(store)), opened))
}

fn database_and((store, opened): (PostgresStore, postgres::Opened)) -> (Chosen, Opened) {
    let migrated = opened.migrated.map(|migrated| cola_ia_store::sqlite::Migrated {
        from: migrated.from,
        to: migrated.to,
        copies: Vec::new(),
    });
    (Chosen::Database(Arc::new(store)), Opened { created: opened.created, migrated, ..Opened::default() })
}

/// Opens a store that is there, to change what it holds, and says what that did.
///
/// # Errors
/// As [`SqliteStore::change`].
pub fn change(session: &Session, settings: &Settings) -> Result<Chosen, Problem> {
    if let Some(server) = &settings.server {
        return Ok(Chosen::Server(Arc::new(remote(session, server)?)));
    }
    let changed = match &settings.db {
        Db::File(path) => SqliteStore::change(path, &options(settings)).and_then(file_and),
        Db::Postgres(address) => PostgresStore::change(address, &database_options(settings)).map(database_and),
    };
    Ok(told(session, settings, changed.map_err(|error| Problem::from_store(&error))?))
}

/// Opens the store for views.
///
/// # Errors
/// As [`SqliteStore::view`].
pub fn view(session: &Session, settings: &Settings) -> Result<Chosen, Problem> {
    if let Some(server) = &settings.server {
        return Ok(Chosen::Server(Arc::new(remote(session, server)?)));
    }
    let viewed = match &settings.db {
        Db::File(path) => SqliteStore::view(path, &options(settings)).map(|store| Chosen::File(Arc::new(store))),
        Db::Postgres(address) => view_database(address, settings),
    };
    viewed.map_err(|error| Problem::from_store(&error))
}

/// Opens a store in a database for views.
///
/// # Errors
/// As [`PostgresStore::view`].
pub fn view_database(address: &Address, settings: &Settings) -> Result<Chosen, StoreError> {
    PostgresStore::view(address, &database_options(settings)).map(|store| Chosen::Database(Arc::new(store)))
}

/// Opens a file for views, without waiting long for a lock.
///
/// # Errors
/// As [`SqliteStore::view`].
pub fn view_briefly(path: &Path, settings: &Settings, lock_wait: Duration) -> Result<SqliteStore, StoreError> {
    SqliteStore::view(path, &Options { lock_wait, ..options(settings) })
}

/// Looks at the store and at what is around it.
///
/// # Errors
/// `interrupted`.
pub fn examine(
    settings: &Settings,
    how: &Options,
    quick: bool,
    look: &dyn Fn(doctor::Look),
) -> Result<Vec<doctor::Finding>, StoreError> {
    match &settings.db {
        Db::File(path) => doctor::examine(path, how, quick, look),
        Db::Postgres(address) => {
            let asked = postgres::doctor::Asked { quick, bounds: postgres::doctor::Bounds::default() };
            postgres::doctor::examine(address, &database_options(settings), asked, look, &|| how.patience.is_over())
        }
    }
}

/// Says what opening did, where it did something.
pub fn report_opened(session: &Session, settings: &Settings, opened: &Opened, dry_run: bool) {
    let path = settings.db.to_string();
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
