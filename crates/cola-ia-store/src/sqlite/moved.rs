//! The mark of a store that was moved.

use cola_ia_core::store::{ErrorKind, StoreError};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::error;
use super::writer::Scope;
use crate::moved::{AT, Moved, OP, VERB, frozen};

/// Sets the mark, or takes it away.
pub(super) fn mark(scope: &Scope<'_>, mark: Option<&Moved>) -> Result<(), StoreError> {
    let sqlite = |cause: rusqlite::Error| scope.error(&cause);
    let connection = scope.connection;
    let before = find(connection).map_err(sqlite)?;
    if mark.is_some() && before.is_none() {
        let running = "SELECT count(*) FROM jobs WHERE state = 'running' AND state NOT IN ('pending', 'done')";
        let running: i64 = connection.query_row(running, [], |row| row.get(0)).map_err(sqlite)?;
        if running > 0 {
            return Err(error::at(scope.path, ErrorKind::Conflict, "move_running").with("count", running));
        }
    }
    write(connection, before.is_some(), mark).map_err(sqlite)
}

fn write(connection: &Connection, was_marked: bool, mark: Option<&Moved>) -> rusqlite::Result<()> {
    for table in frozen() {
        for change in ["INSERT", "UPDATE", "DELETE"] {
            let name = format!("moved_{table}_{}", change.to_lowercase());
            match (was_marked, mark) {
                (false, Some(_)) => connection.execute_batch(&format!(
                    "CREATE TRIGGER {name} BEFORE {change} ON {table} BEGIN SELECT RAISE(ABORT, 'the store was moved'); END"
                ))?,
                (true, None) => connection.execute_batch(&format!("DROP TRIGGER IF EXISTS {name}"))?,
                _ => {}
            }
        }
    }
    match mark {
        Some(mark) => connection.execute(
            "INSERT INTO ops (op, verb, request, at, answer) VALUES (?1, ?2, 0, ?3, ?4)
             ON CONFLICT (op) DO UPDATE SET answer = excluded.answer",
            params![OP, VERB, AT, mark.packed()],
        ),
        None => connection.execute("DELETE FROM ops WHERE op = ?1", [OP]),
    }
    .map(drop)
}

/// The mark, if the store has one.
pub(super) fn find(connection: &Connection) -> rusqlite::Result<Option<Moved>> {
    let answer: Option<Vec<u8>> =
        connection.query_row("SELECT answer FROM ops WHERE op = ?1", [OP], |row| row.get(0)).optional()?;
    answer
        .map(|bytes| Moved::unpacked(&bytes).ok_or_else(|| super::row::unexpected("moved", "another shape")))
        .transpose()
}
