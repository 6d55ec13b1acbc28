//! Noticing that anybody has committed something.
//!
//! `PRAGMA data_version` tells of each connection whether another one has changed the file; it looks at the log's index in
//! shared memory and reads nothing else. The connection is this thing's own: to it every writer is another one, ours too. It
//! is opened when somebody first asks, because only workers do.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cola_ia_core::store::StoreError;
use rusqlite::Connection;

use super::connection::{self, Quiet, Wait};
use super::error;

/// How long the first look waits for a lock: who asks has more to do.
const OPEN_WAIT: Duration = Duration::from_millis(100);

#[derive(Default)]
pub(super) struct Changes(Mutex<Look>);

#[derive(Default)]
struct Look {
    connection: Option<Connection>,
    last: u64,
}

impl Changes {
    /// The number of now. Where a lock is in the way it is the last one: who asks will ask again.
    pub(super) fn look(&self, path: &Path) -> Result<u64, StoreError> {
        let mut look = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Look { connection, last } = &mut *look;
        let connection = if let Some(connection) = connection {
            connection
        } else {
            let wait = Wait { limit: OPEN_WAIT, patience: std::sync::Arc::new(Quiet) };
            let opened = connection::open_reader(path, &wait)?;
            // Nobody is made to wait for a hint.
            opened.busy_timeout(Duration::ZERO).map_err(|cause| error::sqlite(path, &cause))?;
            connection.insert(opened)
        };
        match connection.prepare_cached("PRAGMA data_version").and_then(|mut ask| ask.query_row([], |row| row.get(0))) {
            Ok(version) => *last = i64::cast_unsigned(version),
            Err(busy) if error::is_busy(&busy) => {}
            Err(cause) => return Err(error::sqlite(path, &cause)),
        }
        Ok(*last)
    }
}
