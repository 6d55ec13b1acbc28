//! The one writer: a thread that takes the calls that wait and makes one transaction of them.
//!
//! A commit costs a flush of the disk; calls that wait at the same moment share one. Nobody waits on a timer: a call that
//! comes alone is committed alone. A call that fails takes nothing with it: then all of its group run again, in a savepoint
//! each. Where the group fails as a whole (a full disk rolls back all of it), its members run again, each alone, and each
//! gets its own answer. Answers are given after the commit.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use cola_ia_core::clock::Clock;
use cola_ia_core::store::{ErrorKind, StoreError};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::checkpoint::Checkpointer;
use super::connection::Wait;
use super::error;
use super::home;
use super::identities::Packing;
use super::slot::Slots;

/// Most calls in one transaction.
const GROUP_MAX_CALLS: usize = 1_024;
/// Weight after which a group takes no more calls, in members of batches: a full batch is committed by itself.
const GROUP_MAX_WEIGHT: usize = 4_096;

/// What a call finds inside its transaction.
pub(super) struct Scope<'a> {
    pub(super) connection: &'a Connection,
    pub(super) path: &'a std::path::Path,
    pub(super) clock: &'a dyn Clock,
    pub(super) slots: Slots,
    /// See [`Options::fold_after`](super::Options::fold_after).
    pub(super) fold_after: u32,
    pub(super) packing: Packing,
}

impl Scope<'_> {
    /// What an error of SQLite means here.
    pub(super) fn error(&self, cause: &rusqlite::Error) -> StoreError {
        error::sqlite(self.path, cause)
    }
}

/// A call that waits: it can be run more than once, each time in a new transaction, and is answered once.
trait Call: Send {
    fn weight(&self) -> usize;
    /// Whether it succeeded. Keeps what it is to answer.
    fn run(&mut self, scope: &Scope<'_>) -> bool;
    /// Replaces what it is to answer.
    fn fail(&mut self, error: StoreError);
    /// Gives the kept answer.
    fn answer(self: Box<Self>);
}

struct Waiting<F, T> {
    weight: usize,
    run: F,
    kept: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<F, T> Call for Waiting<F, T>
where
    F: FnMut(&Scope<'_>) -> Result<T, StoreError> + Send,
    T: Send,
{
    fn weight(&self) -> usize {
        self.weight
    }

    fn run(&mut self, scope: &Scope<'_>) -> bool {
        let kept = (self.run)(scope);
        let succeeded = kept.is_ok();
        self.kept = Some(kept);
        succeeded
    }

    fn fail(&mut self, error: StoreError) {
        self.kept = Some(Err(error));
    }

    fn answer(self: Box<Self>) {
        let Self { run, kept, reply, .. } = *self;
        // What the call holds is given back before its caller goes on, so that the caller is the one to free it.
        drop(run);
        // Who no longer waits wants no answer.
        let _ = reply.send(kept.unwrap_or_else(|| Err(closed())));
    }
}

/// The answer of a store that is gone.
pub(super) fn closed() -> StoreError {
    StoreError::new(ErrorKind::Unavailable, "store_closed")
}

/// The thread's address. Dropping it ends the thread after the calls that wait.
pub(super) struct Writer {
    calls: Option<Sender<Box<dyn Call>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread on a connection that writes.
    #[expect(clippy::too_many_arguments, reason = "each is one thing that the thread keeps")]
    pub(super) fn start(
        connection: Connection,
        path: PathBuf,
        clock: Arc<dyn Clock>,
        slots: Slots,
        fold_after: u32,
        packing: Packing,
        wait: Wait,
        arrives: bool,
    ) -> Self {
        let (calls, waiting) = channel();
        let checkpointer = Checkpointer::start(&path);
        let state = State { connection, path, clock, slots, fold_after, packing, wait, checkpointer, arrives };
        let thread = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || state.serve(&waiting))
            .expect("the operating system gives a thread");
        Self { calls: Some(calls), thread: Some(thread) }
    }

    /// Runs `run` in a transaction and answers after its commit. `run` must change nothing but the database: it can be called
    /// again in a new transaction.
    pub(super) async fn call<T, F>(&self, weight: usize, run: F) -> Result<T, StoreError>
    where
        F: FnMut(&Scope<'_>) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let call = Box::new(Waiting { weight, run, kept: None, reply });
        let calls = self.calls.as_ref().expect("the sender lives until drop");
        calls.send(call).map_err(|_| closed())?;
        answer.await.unwrap_or_else(|_| Err(closed()))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.calls.take());
        if let Some(thread) = self.thread.take() {
            // A panic there was reported by its own message; there is nothing to add here.
            let _ = thread.join();
        }
    }
}

struct State {
    connection: Connection,
    path: PathBuf,
    clock: Arc<dyn Clock>,
    slots: Slots,
    fold_after: u32,
    packing: Packing,
    wait: Wait,
    checkpointer: Checkpointer,
    /// Whether there is something to write down about the file itself, with the first thing that is written.
    arrives: bool,
}

impl State {
    fn serve(mut self, waiting: &Receiver<Box<dyn Call>>) {
        while let Ok(first) = waiting.recv() {
            let mut weight = first.weight();
            let mut group = vec![first];
            while group.len() < GROUP_MAX_CALLS
                && weight < GROUP_MAX_WEIGHT
                && let Ok(next) = waiting.try_recv()
            {
                weight += next.weight();
                group.push(next);
            }
            self.commit(&mut group);
            self.checkpointer.committed(weight);
            group.into_iter().for_each(Call::answer);
            self.checkpointer.bound(&self.connection);
        }
    }

    fn commit(&mut self, group: &mut [Box<dyn Call>]) {
        if let Err(failed) = self.commit_together(group) {
            match group {
                [only] => only.fail(failed),
                // The same lock would be waited for by each of them.
                many if failed.code == "store_locked" => many.iter_mut().for_each(|call| call.fail(failed.clone())),
                // Alone, each succeeds or learns its own reason.
                many => many.iter_mut().for_each(|call| self.commit(std::slice::from_mut(call))),
            }
        }
    }

    /// One transaction for the whole group. An error means that nothing of it is stored.
    fn commit_together(&mut self, group: &mut [Box<dyn Call>]) -> Result<(), StoreError> {
        let mut ended = self.transact(group, Guard::None);
        // Somebody failed, which is rare: all run again, each in a savepoint of its own. Savepoints for everybody would keep a
        // copy of every page that a call changes.
        if let Ok(Ended::Spoiled) = ended {
            ended = self.transact(group, Guard::Savepoints);
        }
        let changed = matches!(ended?, Ended::Committed);
        self.arrives &= !changed;
        Ok(())
    }

    fn transact(&self, group: &mut [Box<dyn Call>], guard: Guard) -> Result<Ended, StoreError> {
        self.wait.for_lock(&self.path, || self.say("BEGIN IMMEDIATE"))?;
        let ended = self.arrive().and_then(|()| self.run_together(group, guard)).and_then(|ended| {
            let word = if ended == Ended::Committed { "COMMIT" } else { "ROLLBACK" };
            // Some errors have rolled back already.
            if ended == Ended::Committed || !self.connection.is_autocommit() {
                self.say(word).map_err(|cause| error::sqlite(&self.path, &cause))?;
            }
            Ok(ended)
        });
        if ended.is_err() && !self.connection.is_autocommit() {
            // What failed first is what counts.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        ended
    }

    /// A statement of a word or two.
    fn say(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop)
    }

    /// Writes down what there is to say about the file itself: before the first call runs, so that leases that a backup has
    /// are void for it.
    fn arrive(&self) -> Result<(), StoreError> {
        if !self.arrives {
            return Ok(());
        }
        home::arrive(&self.connection, &self.path, self.clock.now(), self.fold_after)
            .map_err(|cause| error::sqlite(&self.path, &cause))
    }

    /// Runs each call of the group. A call that fails keeps its own error.
    fn run_together(&self, group: &mut [Box<dyn Call>], guard: Guard) -> Result<Ended, StoreError> {
        let scope = Scope {
            connection: &self.connection,
            path: &self.path,
            clock: &*self.clock,
            slots: self.slots,
            fold_after: self.fold_after,
            packing: self.packing,
        };
        let sqlite = |cause: rusqlite::Error| error::sqlite(&self.path, &cause);
        if let [only] = group {
            return Ok(if only.run(&scope) { Ended::Committed } else { Ended::RolledBack });
        }
        for call in group {
            if guard == Guard::None {
                if !call.run(&scope) {
                    return Ok(Ended::Spoiled);
                }
                continue;
            }
            self.say("SAVEPOINT call").map_err(sqlite)?;
            if !call.run(&scope) {
                if self.connection.is_autocommit() {
                    // Nobody hears this one: each member runs again and has an answer of its own.
                    return Err(error::at(&self.path, ErrorKind::Unavailable, "store_io"));
                }
                self.say("ROLLBACK TO call").map_err(sqlite)?;
            }
            self.say("RELEASE call").map_err(sqlite)?;
        }
        Ok(Ended::Committed)
    }
}

/// What keeps a call that fails from taking its group with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    /// Nothing: all are rolled back.
    None,
    /// A savepoint each.
    Savepoints,
}

/// How a transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    Committed,
    /// The only call of it failed.
    RolledBack,
    /// One of several failed: they are to run again.
    Spoiled,
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;
    use std::time::Duration;

    use cola_ia_core::clock::SystemClock;
    use cola_ia_testkit::harness::block_on;

    use super::super::connection::Quiet;
    use super::*;

    struct Setting {
        writer: Writer,
        look: Connection,
        _folder: tempfile::TempDir,
    }

    fn setting(pragma: &str) -> Setting {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.sqlite3");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x)").unwrap();
        connection.execute_batch(pragma).unwrap();
        connection.busy_timeout(Duration::from_millis(10)).unwrap();
        let look = Connection::open(&path).unwrap();
        let wait = Wait { limit: Duration::from_millis(50), patience: Arc::new(Quiet) };
        let writer = Writer::start(
            connection,
            path,
            Arc::new(SystemClock),
            Slots::new([0; 16], 64),
            1,
            Packing::TINY,
            wait,
            false,
        );
        Setting { writer, look, _folder: folder }
    }

    fn insert(scope: &Scope<'_>, bytes: usize) -> Result<usize, StoreError> {
        scope
            .connection
            .execute("INSERT INTO t VALUES (zeroblob(?1))", [bytes as i64])
            .map_err(|cause| scope.error(&cause))
    }

    /// Calls that are waiting together while the thread is busy with another.
    fn together(setting: &Setting, sizes: &[usize]) -> Vec<Result<usize, &'static str>> {
        let (release, held) = sync_channel::<()>(0);
        let (entered, running) = sync_channel::<()>(1);
        std::thread::scope(|scope| {
            let writer = &setting.writer;
            let held = std::sync::Mutex::new(held);
            let first = scope.spawn(move || {
                block_on(writer.call(1, move |_| {
                    let _ = entered.try_send(());
                    let _ = held.lock().unwrap().recv_timeout(Duration::from_secs(20));
                    Ok(())
                }))
            });
            running.recv().unwrap();
            let mut calls: Vec<_> = sizes
                .iter()
                .map(|size| {
                    Box::pin(writer.call(1, {
                        let size = *size;
                        move |scope: &Scope<'_>| insert(scope, size)
                    }))
                })
                .collect();
            // Polling a call hands it over; none can be answered yet.
            let waker = std::task::Waker::noop();
            for call in &mut calls {
                assert!(call.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
            }
            release.send(()).unwrap();
            first.join().unwrap().unwrap();
            calls.into_iter().map(|call| block_on(call).map_err(|error| error.code)).collect()
        })
    }

    fn rows(setting: &Setting) -> i64 {
        setting.look.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn calls_that_wait_together_are_all_answered() {
        let setting = setting("");
        assert_eq!(together(&setting, &[1, 2, 3]), [Ok(1); 3]);
        assert_eq!(rows(&setting), 3);
    }

    /// A full disk rolls back the whole transaction: those that fit must not fail with the one that does not.
    #[test]
    fn a_call_that_fills_the_disk_takes_nobody_with_it() {
        let setting = setting("PRAGMA max_page_count = 20");
        assert_eq!(together(&setting, &[10, 10_000_000, 10]), [Ok(1), Err("store_full"), Ok(1)]);
        assert_eq!(rows(&setting), 2);
        assert_eq!(together(&setting, &[10]), [Ok(1)], "and the thread goes on");
    }

    #[test]
    fn a_call_that_fails_alone_leaves_nothing() {
        let setting = setting("");
        let failed = block_on(setting.writer.call(1, |scope| {
            insert(scope, 1)?;
            Err::<(), _>(StoreError::new(ErrorKind::Invalid, "op_reused"))
        }));
        assert_eq!(failed.unwrap_err().code, "op_reused");
        assert_eq!(rows(&setting), 0);
    }

    #[test]
    fn a_call_that_fails_in_a_group_leaves_nothing() {
        let setting = setting("CREATE TABLE u (x UNIQUE)");
        let calls = [10, 20];
        assert_eq!(together(&setting, &calls), [Ok(1), Ok(1)]);
        let failed = block_on(setting.writer.call(1, |scope| {
            insert(scope, 1)?;
            scope.connection.execute("INSERT INTO u VALUES (1), (1)", []).map_err(|cause| scope.error(&cause))
        }));
        assert_eq!(failed.unwrap_err().code, "store_damaged");
        assert_eq!(rows(&setting), 2);
    }

    #[test]
    fn a_lock_that_stays_fails_each_call_and_the_thread_goes_on() {
        let setting = setting("");
        setting.look.execute_batch("BEGIN IMMEDIATE").unwrap();
        let locked = block_on(setting.writer.call(1, |scope| insert(scope, 1)));
        assert_eq!(locked.unwrap_err().code, "store_locked");
        setting.look.execute_batch("ROLLBACK").unwrap();
        assert_eq!(block_on(setting.writer.call(1, |scope| insert(scope, 1))).unwrap(), 1);
    }
}
