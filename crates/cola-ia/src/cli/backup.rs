//! `backup`: one checked file of all that the store holds.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use cola_ia_core::store::{ErrorKind, StoreError};
use cola_ia_store::sqlite::{self, BackedUp, Stage};
use cola_ia_wire::{Backup, VERSION};
use pollster::block_on;

use super::add::push_json;
use super::export::{publish, temporary};
use super::progress::{Progress, interruptible, problem, size};
use super::{Exit, Problem, Session, print};
use crate::add::interrupt::Interrupt;
use crate::config::Settings;
use crate::lang::Message;
use crate::remote::{Received, RemoteStore};
use crate::store;

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
    let made = match &settings.server {
        Some(server) => received(session, options, &store::remote(session, server)?)?,
        None => {
            let path = store::file(settings, "backup").map_err(|error| problem(&error))?;
            let how = interruptible(session, settings)?;
            let progress = Progress::new(session, options.progress);
            let made = sqlite::backup(path, &options.to, &how, &|stage| progress.stage(stage));
            progress.finish();
            made.map_err(|error| problem(&error))?
        }
    };
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

/// A backup that a server makes and checks, received into a private file that has its name once it is whole.
fn received(session: &Session, options: &BackupOptions, store: &RemoteStore) -> Result<BackedUp, Problem> {
    let interrupt =
        Interrupt::listen(|| ()).map_err(|cause| Problem::failed(Message::new("signals-failed").caused_by(&cause)))?;
    let failed = |cause: io::Error| {
        let (kind, code) = match cause.kind() {
            io::ErrorKind::AlreadyExists => (ErrorKind::Invalid, "backup_exists"),
            io::ErrorKind::StorageFull => (ErrorKind::Unavailable, "backup_full"),
            _ => (ErrorKind::Unavailable, "backup_io"),
        };
        StoreError::new(kind, code).with("path", options.to.display()).with("cause", cause)
    };
    let told = |error: StoreError| problem(&error);
    let mut file = temporary(&options.to).map_err(|cause| told(failed(cause)))?;
    let progress = Progress::new(session, options.progress);
    let mut done = 0;
    let taken = block_on(store.backup(|piece, of| {
        if interrupt.came() {
            return Err(StoreError::new(ErrorKind::Unavailable, "interrupted"));
        }
        done += piece.len() as u64;
        progress.stage(Stage::Copy { done, of });
        file.write_all(piece).map_err(failed)
    }));
    progress.finish();
    let Received { bytes, taken_at, schema, events } = taken.map_err(told)?;
    publish(file, &options.to).map_err(|cause| told(failed(cause)))?;
    let (log_growth, writers_waited) = (0, Duration::ZERO);
    Ok(BackedUp { path: options.to.clone(), bytes, taken_at, schema, events, log_growth, writers_waited })
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
