//! Moving the write-ahead log into the file beside the writer, not in its way.
//!
//! A checkpoint reads the log, writes the pages to the file and flushes it: an eighth of the writer's time during a large
//! intake. Here a thread of its own does it. It can never quite catch up with a writer that goes on, so the writer still
//! finishes one now and then (`wal_autocheckpoint`), which is short by then and lets the log start anew.
//!
//! Neither starts the log anew while somebody reads an older state, and where readers follow each other without a pause
//! there is always one. Beyond its bound the writer therefore waits for a moment until those that read are done: who begins
//! to read then, reads the file. A reader that stays is waited for once in 64 MiB.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use super::connection::{self, WAL_PAGES, WAL_PAGES_MAX};

/// Commits after which the log is looked at, and members of batches.
const LOOK_AFTER_COMMITS: usize = 64;
const LOOK_AFTER_MEMBERS: usize = 10_000;

/// The thread's address. Dropping it ends the thread.
pub(super) struct Checkpointer {
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    commits: usize,
    members: usize,
    /// The log may have grown much since it was looked at.
    is_due: bool,
    /// Pages of the log from which on it is made to start anew.
    bound: i64,
}

/// Pages of the log that the writer's own checkpoints should have kept it below: 160 MiB.
const BOUND: i64 = (WAL_PAGES_MAX + WAL_PAGES / 2) as i64;
/// How often readers are asked to be done, and how long between.
const TRIES: u32 = 25;
const BETWEEN_TRIES: Duration = Duration::from_millis(4);

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
        Self { wake: Some(wake), thread, commits: 0, members: 0, is_due: false, bound: BOUND }
    }

    /// A group of calls was committed.
    pub(super) fn committed(&mut self, members: usize) {
        self.commits += 1;
        self.members += members;
        if self.commits >= LOOK_AFTER_COMMITS || self.members >= LOOK_AFTER_MEMBERS {
            (self.commits, self.members, self.is_due) = (0, 0, true);
            if let Some(wake) = &self.wake {
                // One that is awake already will look again.
                let _ = wake.try_send(());
            }
        }
    }
}

impl Checkpointer {
    /// Lets the log start anew where it has grown beyond its bound, by the connection that writes to it.
    pub(super) fn bound(&mut self, writer: &Connection) {
        if !std::mem::take(&mut self.is_due) {
            return;
        }
        let Ok(pages) = in_log(writer) else { return };
        if pages < self.bound {
            return;
        }
        let wait = writer.busy_timeout(Duration::ZERO);
        let started = wait.is_ok()
            && (0..TRIES).any(|tried| {
                if tried > 0 {
                    std::thread::sleep(BETWEEN_TRIES);
                }
                starts_anew(writer).unwrap_or(false)
            });
        // Whatever fails here shows again with the next write.
        let _ = writer.busy_timeout(connection::STEP);
        self.bound = if started { BOUND } else { pages + i64::from(WAL_PAGES) };
    }
}

/// Pages of the log, moved or not.
fn in_log(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get(1))
}

/// Moves all of the log and answers whether its next page is the first one again.
fn starts_anew(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| Ok(row.get::<_, i64>(0)? == 0))
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

    /// A log of 2 MiB that is due to be bounded at one page.
    fn grown(folder: &Path) -> (Checkpointer, Connection) {
        let path = folder.join("t");
        let writer = Connection::open(&path).unwrap();
        writer
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x);
                 INSERT INTO t VALUES (zeroblob(2000000));",
            )
            .unwrap();
        let mut checkpointer = Checkpointer::start(&path);
        checkpointer.committed(LOOK_AFTER_MEMBERS);
        checkpointer.bound = 1;
        (checkpointer, writer)
    }

    #[test]
    fn a_log_beyond_its_bound_starts_anew() {
        let folder = tempfile::tempdir().unwrap();
        let (mut checkpointer, writer) = grown(folder.path());
        assert!(in_log(&writer).unwrap() > 400);
        checkpointer.bound(&writer);
        writer.execute_batch("INSERT INTO t VALUES (1)").unwrap();
        assert!(in_log(&writer).unwrap() < 10, "{}", in_log(&writer).unwrap());
        assert_eq!(checkpointer.bound, BOUND);
    }

    #[test]
    fn a_reader_that_stays_is_waited_for_once() {
        let folder = tempfile::tempdir().unwrap();
        let (mut checkpointer, writer) = grown(folder.path());
        let reader = Connection::open(folder.path().join("t")).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM t").unwrap();
        let pages = in_log(&writer).unwrap();
        checkpointer.bound(&writer);
        assert_eq!(checkpointer.bound, pages + i64::from(WAL_PAGES));
        writer.execute_batch("INSERT INTO t VALUES (1)").unwrap();
        assert!(in_log(&writer).unwrap() > pages, "the log went on");
        reader.execute_batch("COMMIT").unwrap();
        checkpointer.committed(LOOK_AFTER_MEMBERS);
        checkpointer.bound = 1;
        checkpointer.bound(&writer);
        assert_eq!(checkpointer.bound, BOUND, "and starts anew when it is gone");
    }

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
