//! Bringing a store's schema up to date.

use std::path::{Path, PathBuf};

use cola_ia_core::store::{ErrorKind, StoreError};
use rusqlite::Connection;

use super::connection::Wait;
use super::{copy, error, file};
use crate::migration::{Migration, Plan, plan};

/// The schema's steps. Shipped ones are never edited.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, name: "gate", sql: include_str!("../../migrations/sqlite/0001_gate.sql") },
    Migration { version: 2, name: "keeping", sql: include_str!("../../migrations/sqlite/0002_keeping.sql") },
    Migration { version: 3, name: "leases", sql: include_str!("../../migrations/sqlite/0003_leases.sql") },
    Migration { version: 4, name: "effects", sql: include_str!("../../migrations/sqlite/0004_effects.sql") },
    Migration { version: 5, name: "server", sql: include_str!("../../migrations/sqlite/0005_server.sql") },
];

/// What was done to a store of an older program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migrated {
    /// The schema's version before.
    pub from: u32,
    /// The schema's version now.
    pub to: u32,
    /// Copies of the file, one from before each step.
    pub copies: Vec<PathBuf>,
}

/// The schema's version.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Refuses a store that a newer program made, before anything is written.
pub(super) fn refuse_newer(path: &Path, known: &[Migration], found: u32) -> Result<(), StoreError> {
    match plan(known, found) {
        Plan::Apply(_) => Ok(()),
        Plan::Newer(newest) => {
            Err(error::at(path, ErrorKind::Invalid, "store_newer").with("found", found).with("known", newest))
        }
    }
}

/// Applies what is missing to a store in use, one transaction a step, a copy of the file before each.
///
/// Safe with many processes at once: each step is taken under the write lock and its need is looked at again there.
///
/// # Errors
/// `store_newer`; whatever SQLite says. A step that fails leaves the store as it was before it.
pub(super) fn migrate(
    connection: &mut Connection,
    path: &Path,
    known: &[Migration],
    wait: &Wait,
) -> Result<Option<Migrated>, StoreError> {
    let sqlite = |cause: rusqlite::Error| error::sqlite(path, &cause);
    let first = version(connection).map_err(sqlite)?;
    refuse_newer(path, known, first)?;
    let mut copies = Vec::new();
    loop {
        let found = version(connection).map_err(sqlite)?;
        refuse_newer(path, known, found)?;
        let Plan::Apply([step, ..]) = plan(known, found) else { break };
        wait.for_lock(path, || connection.execute_batch("BEGIN IMMEDIATE"))?;
        let applied = apply_locked(connection, path, step, found, &mut copies);
        match applied {
            Ok(()) => wait.for_lock(path, || connection.execute_batch("COMMIT"))?,
            Err(failed) => {
                // The transaction may be gone already; what failed first is what counts.
                let _ = connection.execute_batch("ROLLBACK");
                return Err(failed);
            }
        }
    }
    let last = known.len() as u32;
    // One copy a step: without any, another process took them all.
    Ok((!copies.is_empty()).then_some(Migrated { from: first, to: last, copies }))
}

/// One step, under the write lock. Does nothing where another process has taken it meanwhile.
fn apply_locked(
    connection: &Connection,
    path: &Path,
    step: &Migration,
    found: u32,
    copies: &mut Vec<PathBuf>,
) -> Result<(), StoreError> {
    let sqlite = |cause: rusqlite::Error| error::sqlite(path, &cause);
    if version(connection).map_err(sqlite)? != found {
        return Ok(());
    }
    copies.push(copy_before(path, step)?);
    apply(connection, step).map_err(sqlite)
}

/// The statements of a step and the version, inside the caller's transaction.
pub(super) fn apply(connection: &Connection, step: &Migration) -> rusqlite::Result<()> {
    connection.execute_batch(step.sql)?;
    connection.pragma_update(None, "user_version", step.version)
}

/// A copy from before the step. One that a killed process left is made anew: the store is still what it was before.
fn copy_before(path: &Path, step: &Migration) -> Result<PathBuf, StoreError> {
    let target = file::beside(path, &format!(".before-{}", step.version));
    copy::copy(path, &target)?;
    Ok(target)
}
