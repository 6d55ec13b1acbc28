//! Moving the write-ahead log into the file beside the writer, not in its way.
//!
//! A checkpoint reads the log, writes the pages to the file and flushes it: an eighth of the writer's time during a large
//! intake. Here a thread of its own does it. It can never quite catch up with a writer that goes on, so the writer still
//! finishes one now and then (`wal_autocheckpoint`), which is short by then and lets the log start anew.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use rusqlite::Connection;

use super::connection::{self, WAL_PAGES};

/// Commits after which the log is looked at, and members of batches.
const LOOK_AFTER_COMMITS: usize = 64;
const LOOK_AFTER_MEMBERS: usize = 10_000;

/// The thread's address. Dropping it ends the thread.
pub(super) struct Checkpointer {
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    commits: usize,
    members: usize,
}

impl Checkpointer {
    /// Starts the thread. Where it cannot have a connection, the writer does all by itself.
    pub(super) fn start(path: &Path) -> Self {
        let (wake, woken) = sync_channel(1);
        let thread = connection::open_plain(path).ok().map(|connection| {
            std::thread::Builder::new()
                .name("store-checkpoint".into())
                .spawn(move || serve(&connection, &woken))
                .expect("the operating system gives a thread")
        });
        Self { wake: Some(wake), thread, commits: 0, members: 0 }
    }

    /// A group of calls was committed.
    pub(super) fn committed(&mut self, members: usize) {
        self.commits += 1;
        self.members += members;
        if self.commits >= LOOK_AFTER_COMMITS || self.members >= LOOK_AFTER_MEMBERS {
            (self.commits, self.members) = (0, 0);
            if let Some(wake) = &self.wake {
                // One that is awake already will look again.
                let _ = wake.try_send(());
            }
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        drop(self.wake.take());
        if let Some(thread) = self.thread.take() {
            // A panic there was reported by its own message; there is nothing to add here.
            let _ = thread.join();
        }
    }
}

fn serve(connection: &Connection, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        // What fails now (a full disk) is tried again, and the writer meets it too and reports it.
        if let Ok(waiting) = pages(connection, "NOOP")
            && waiting >= i64::from(WAL_PAGES)
        {
            let _ = pages(connection, "PASSIVE");
        }
    }
}

/// Runs a checkpoint and answers how many pages of the log are still not in the file.
fn pages(connection: &Connection, mode: &str) -> rusqlite::Result<i64> {
    connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
        Ok(row.get::<_, i64>(1)? - row.get::<_, i64>(2)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_moves_nothing_and_a_checkpoint_moves_all() {
        let folder = tempfile::tempdir().unwrap();
        let connection = Connection::open(folder.path().join("t")).unwrap();
        connection
            .execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x)")
            .unwrap();
        let waiting = pages(&connection, "NOOP").unwrap();
        assert!(waiting > 0);
        assert_eq!(pages(&connection, "NOOP").unwrap(), waiting);
        assert_eq!(pages(&connection, "PASSIVE").unwrap(), 0);
    }
}
