//! Whether a store's file is sound: SQLite's own check of its pages, and what must hold between our tables.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use cola_ia_core::store::{ErrorKind, StoreError};
use rusqlite::{Connection, ErrorCode};

use super::connection::Patience;
use super::{connection, error, file};

/// How often a long look asks whether it is to go on.
const LOOK_UP: Duration = Duration::from_millis(50);

/// Runs something long on the connection and breaks it off where nobody wants it any more: `None`.
pub(super) fn breakable<T>(
    connection: &Connection,
    is_over: impl Fn() -> bool + Send,
    run: impl FnOnce() -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    let interrupt = connection.get_interrupt_handle();
    let (done, waiting) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while waiting.recv_timeout(LOOK_UP) == Err(RecvTimeoutError::Timeout) {
                if is_over() {
                    interrupt.interrupt();
                }
            }
        });
        let ran = run();
        drop(done);
        match ran {
            Ok(value) => Ok(Some(value)),
            Err(cause) if cause.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => Ok(None),
            Err(other) => Err(other),
        }
    })
}

/// The first things that SQLite finds wrong with its pages; none: they are sound.
pub(super) fn pages(connection: &Connection, quick: bool) -> rusqlite::Result<Vec<String>> {
    let check = if quick { "PRAGMA quick_check(5)" } else { "PRAGMA integrity_check(5)" };
    let found: Vec<String> =
        connection.prepare(check)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok(found.into_iter().filter(|line| line != "ok").collect())
}

/// What a sound file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sound {
    pub(super) version: u32,
    pub(super) events: u64,
    /// The newest number that was given.
    pub(super) newest: i64,
    /// When the newest of it was received.
    pub(super) newest_at: Option<i64>,
    /// When the backup was taken that it is.
    pub(super) backed_up_at: Option<i64>,
}

/// Checks a file that nobody uses, to its last page. Nothing is written.
///
/// # Errors
/// `store_damaged` with what is wrong; `interrupted`.
pub(super) fn whole(path: &Path, patience: &Arc<dyn Patience>) -> Result<Sound, StoreError> {
    let damaged = |cause: &str| error::at(path, ErrorKind::Corrupt, "store_damaged").with("cause", cause);
    let sqlite = |cause: rusqlite::Error| error::sqlite(path, &cause);
    let connection = connection::open_frozen(path)?;
    connection.execute_batch("PRAGMA cell_size_check = ON").map_err(sqlite)?;
    let found = breakable(&connection, || patience.is_over(), || pages(&connection, false)).map_err(sqlite)?;
    let Some(found) = found else { return Err(StoreError::new(ErrorKind::Unavailable, "interrupted")) };
    if let Some(first) = found.first() {
        return Err(damaged(first));
    }
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(sqlite);
    if number("PRAGMA application_id")? != i64::from(file::APPLICATION_ID) {
        return Err(damaged("application_id"));
    }
    if number("SELECT count(*) FROM store")? != 1 {
        return Err(damaged("store: count != 1"));
    }
    let (events, jobs) = (number("SELECT count(*) FROM events")?, number("SELECT count(*) FROM jobs")?);
    if events != jobs {
        return Err(damaged(&format!("events: {events}, jobs: {jobs}")));
    }
    let (newest, newest_at) = newest(&connection).map_err(sqlite)?;
    Ok(Sound {
        version: number("PRAGMA user_version")? as u32,
        events: events as u64,
        newest,
        newest_at,
        backed_up_at: backed_up_at(&connection).map_err(sqlite)?,
    })
}

/// The newest number that was given, 0 for none, and when what has it was received.
pub(super) fn newest(connection: &Connection) -> rusqlite::Result<(i64, Option<i64>)> {
    let newest_of = |table: &str| -> rusqlite::Result<Option<(i64, i64)>> {
        let sql = format!("SELECT seq, received_at FROM {table} ORDER BY seq DESC LIMIT 1");
        let mut rows = connection.prepare(&sql)?;
        rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.next().transpose()
    };
    let newest = newest_of("events")?.max(newest_of("deliveries")?);
    Ok((newest.map_or(0, |(number, _)| number), newest.map(|(_, at)| at)))
}

/// When the backup was taken that this file is or came from. Stores of schema 1 do not say.
pub(super) fn backed_up_at(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    if !has_column(connection, "store", "backed_up_at")? {
        return Ok(None);
    }
    connection.query_row("SELECT backed_up_at FROM store", [], |row| row.get(0))
}

/// Whether a table has a column, which an older schema may lack.
pub(super) fn has_column(connection: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2";
    connection.query_row(sql, (table, column), |row| row.get::<_, i64>(0)).map(|count| count > 0)
}
