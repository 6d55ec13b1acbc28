//! The queue to the store: requests that wait at the same moment share one transaction.
//!
//! Nobody waits on a timer. Whatever is there when the store is free goes as one batch; a request that comes alone goes alone. The
//! queue is bounded, and who finds it full is told to come again.

use std::sync::Arc;
use std::time::Instant;

use cola_ia_core::clock::{Clock, Entropy};
use cola_ia_core::intake::Intake;
use cola_ia_core::store::{ErrorKind, OpId, Receipt, Store, StoreError};
use tokio::sync::{mpsc, oneshot};

use super::limits::{GROUP_MAX_BYTES, GROUP_MAX_REQUESTS};
use super::metrics::Metrics;

/// What a request waits for.
type Answer = Result<Vec<Receipt>, StoreError>;

struct Waiting {
    members: Vec<Intake>,
    weight: usize,
    answer: oneshot::Sender<Answer>,
}

/// The queue's entrance.
#[derive(Clone)]
pub struct Gate {
    queue: mpsc::Sender<Waiting>,
}

impl Gate {
    /// Starts the task that empties it.
    pub fn start(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        length: usize,
        metrics: Arc<Metrics>,
    ) -> Self {
        let (queue, waiting) = mpsc::channel(length.max(1));
        tokio::spawn(empty(waiting, store, clock, entropy, metrics));
        Self { queue }
    }

    /// Lets the members in, all or none, and answers once it is durable.
    ///
    /// # Errors
    /// `server_busy` where the queue is full; the store's.
    pub async fn enter(&self, members: Vec<Intake>) -> Answer {
        let weight = members.iter().map(Intake::weight).sum();
        let (answer, answered) = oneshot::channel();
        let full = |_| StoreError::new(ErrorKind::Unavailable, "server_busy");
        self.queue.try_send(Waiting { members, weight, answer }).map_err(full)?;
        answered.await.unwrap_or_else(|_| Err(StoreError::new(ErrorKind::Unavailable, "store_closed")))
    }
}

/// Takes what is there as one batch, again and again, until the last entrance is gone.
async fn empty(
    mut waiting: mpsc::Receiver<Waiting>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    metrics: Arc<Metrics>,
) {
    let mut left: Option<Waiting> = None;
    loop {
        let first = match left.take() {
            Some(first) => first,
            None => match waiting.recv().await {
                Some(first) => first,
                None => return,
            },
        };
        let (mut weight, mut group) = (first.weight, vec![first]);
        while group.len() < GROUP_MAX_REQUESTS
            && let Ok(next) = waiting.try_recv()
        {
            if weight + next.weight > GROUP_MAX_BYTES {
                left = Some(next);
                break;
            }
            weight += next.weight;
            group.push(next);
        }
        let started = Instant::now();
        metrics.group_size(group.len());
        metrics.waiting(waiting.len());
        let mut batch = Vec::with_capacity(group.len());
        let mut answers = Vec::with_capacity(group.len());
        for Waiting { members, answer, .. } in group {
            answers.push((members.len(), answer));
            batch.extend(members);
        }
        let batch = Arc::new(batch);
        let op = OpId::new(&*clock, &*entropy);
        let mut accepted = store.accept(op, batch.clone()).await;
        if matches!(&accepted, Err(error) if error.kind == ErrorKind::Unavailable) {
            // It is not known whether it was done: the same op tells, and does it if it was not.
            accepted = store.accept(op, batch).await;
        }
        metrics.commit(started.elapsed());
        match accepted {
            Ok(accepted) => {
                let mut receipts = accepted.receipts.into_iter();
                for (members, answer) in answers {
                    let own: Vec<Receipt> = receipts.by_ref().take(members).collect();
                    // Who has gone away wants no answer; it is in all the same.
                    let _ = answer.send(Ok(own));
                }
            }
            Err(error) => {
                tracing::error!(code = error.code, kind = ?error.kind, "events could not be stored");
                for (_, answer) in answers {
                    let _ = answer.send(Err(error.clone()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use cola_ia_core::clock::{SystemClock, SystemEntropy};
    use cola_ia_core::verdict::Verdict;
    use cola_ia_store::sqlite::{Options, SqliteStore};
    use cola_ia_testkit::events::event;

    use super::*;

    fn gate(store: Arc<dyn Store>, length: usize) -> Gate {
        let metrics = Arc::new(Metrics::new(std::iter::empty()));
        Gate::start(store, Arc::new(SystemClock), Arc::new(SystemEntropy), length, metrics)
    }

    #[tokio::test]
    async fn who_finds_the_queue_full_is_told_to_come_again() {
        let folder = tempfile::tempdir().unwrap();
        let (store, _) = SqliteStore::open(&folder.path().join("s.sqlite3"), &Options::default()).unwrap();
        let gate = gate(Arc::new(store), 1);
        // All three come before the store is free for any.
        let ask = |id| gate.enter(vec![event(id, "x")]);
        let (first, second, third) = tokio::join!(ask("a"), ask("b"), ask("c"));
        assert_eq!(first.unwrap()[0].verdict, Verdict::New);
        for refused in [second, third] {
            let refused = refused.unwrap_err();
            assert_eq!((refused.kind, refused.code), (ErrorKind::Unavailable, "server_busy"));
        }
        assert_eq!(ask("b").await.unwrap()[0].verdict, Verdict::New, "nothing of it was stored");
    }

    #[tokio::test]
    async fn what_the_store_cannot_do_is_told_to_each_that_waits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sqlite3");
        drop(SqliteStore::open(&path, &Options::default()).unwrap());
        // One that was opened for views takes nothing in.
        let gate = gate(Arc::new(SqliteStore::view(&path, &Options::default()).unwrap()), 8);
        let ask = |id| gate.enter(vec![event(id, "x")]);
        let (first, second) = tokio::join!(ask("a"), ask("b"));
        for refused in [first, second] {
            assert_eq!(refused.unwrap_err().code, "store_not_writable");
        }
    }

    #[tokio::test]
    async fn each_gets_its_own_answers() {
        let folder = tempfile::tempdir().unwrap();
        let (store, _) = SqliteStore::open(&folder.path().join("s.sqlite3"), &Options::default()).unwrap();
        let gate = gate(Arc::new(store), 8);
        let (first, second) = tokio::join!(
            gate.enter(vec![event("a", "x"), event("a", "y"), event("b", "x")]),
            gate.enter(vec![event("b", "x"), event("c", "x")])
        );
        let words = |answer: Answer| answer.unwrap().iter().map(|receipt| receipt.verdict).collect::<Vec<_>>();
        assert_eq!(words(first), [Verdict::New, Verdict::Conflict, Verdict::New]);
        assert_eq!(words(second), [Verdict::Duplicate, Verdict::New]);
    }
}
