//! Views: a thread with its own connection, which never keeps a read transaction between calls.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use cola_ia_core::store::StoreError;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use super::slot::Slots;
use super::{error, writer};

type View = Box<dyn FnOnce(&mut Connection) + Send>;

/// What a view finds.
pub(super) struct Sight<'a> {
    pub(super) connection: &'a Connection,
    pub(super) slots: Slots,
}

/// The thread's address. Dropping it ends the thread after the views that wait.
pub(super) struct Reader {
    path: PathBuf,
    slots: Slots,
    views: Option<Sender<View>>,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    /// Starts the thread on a connection for views.
    pub(super) fn start(mut connection: Connection, path: &Path, slots: Slots) -> Self {
        let (views, waiting) = channel::<View>();
        let thread = std::thread::Builder::new()
            .name("store-reader".into())
            .spawn(move || waiting.into_iter().for_each(|view| view(&mut connection)))
            .expect("the operating system gives a thread");
        Self { path: path.to_owned(), slots, views: Some(views), thread: Some(thread) }
    }

    /// Runs `look` in one read transaction: it sees one state of the store.
    pub(super) async fn call<T, F>(&self, look: F) -> Result<T, StoreError>
    where
        F: FnOnce(&Sight<'_>) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let slots = self.slots;
        let path = self.path.clone();
        let view: View = Box::new(move |connection| {
            let seen = connection
                .transaction_with_behavior(TransactionBehavior::Deferred)
                .and_then(|transaction| look(&Sight { connection: &transaction, slots }))
                .map_err(|cause| error::sqlite(&path, &cause));
            // Who no longer waits wants no answer.
            let _ = reply.send(seen);
        });
        let views = self.views.as_ref().expect("the sender lives until drop");
        views.send(view).map_err(|_| writer::closed())?;
        answer.await.unwrap_or_else(|_| Err(writer::closed()))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        drop(self.views.take());
        if let Some(thread) = self.thread.take() {
            // A panic there was reported by its own message; there is nothing to add here.
            let _ = thread.join();
        }
    }
}
