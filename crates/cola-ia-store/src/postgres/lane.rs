//! Calls of one verb that wait at the same moment share a transaction, and its commit. Nobody waits on a timer: a call that comes
//! alone is committed alone. Where the transaction fails for good, its calls run again, each alone, and each gets its own
//! answer.

use std::sync::Arc;

use cola_ia_core::store::StoreError;
use tokio::sync::{Mutex, mpsc, oneshot};

use super::error::Fault;
use super::shared::{Shared, Work, closed};
use super::tx::{Kind, Tx};

/// Most calls in one transaction.
const GROUP_MAX_CALLS: usize = 256;
/// Weight after which a group takes no more calls, in members of batches.
const GROUP_MAX_WEIGHT: usize = 4_096;

/// A verb whose calls run many at once.
pub(super) trait Grouped: Send + Sync + 'static {
    /// What a call asks.
    type Request: Send + Sync + 'static;
    /// What it is answered.
    type Answer: Send + 'static;

    /// How heavy a call is, in members of a batch.
    fn weight(request: &Self::Request) -> usize;

    /// Runs the calls, in their order, in one transaction: an answer each. A call that is refused (its own `Err`) must have
    /// changed nothing.
    fn run<'a>(tx: &'a Tx, calls: &'a [Arc<Self::Request>]) -> Work<'a, Vec<Result<Self::Answer, StoreError>>>;
}

type Reply<A> = oneshot::Sender<Result<A, StoreError>>;

/// Where calls of a verb wait. Dropping it ends it after the calls that wait.
pub(super) struct Lane<G: Grouped> {
    calls: mpsc::UnboundedSender<Waiting<G>>,
}

struct Waiting<G: Grouped> {
    request: Arc<G::Request>,
    reply: Reply<G::Answer>,
}

impl<G: Grouped> Lane<G> {
    /// Starts so many runners: while one waits for its commit, another one takes the calls that came meanwhile. `alive` is held
    /// as long as any of them runs.
    pub(super) fn start(
        handle: &tokio::runtime::Handle,
        shared: &Arc<Shared>,
        runners: usize,
        alive: &mpsc::Sender<()>,
    ) -> Self {
        let (calls, waiting) = mpsc::unbounded_channel();
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..runners {
            handle.spawn(serve::<G>(Arc::clone(shared), Arc::clone(&waiting), alive.clone()));
        }
        Self { calls }
    }

    pub(super) async fn call(&self, request: G::Request) -> Result<G::Answer, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.calls.send(Waiting { request: Arc::new(request), reply }).map_err(|_| closed())?;
        answer.await.unwrap_or_else(|_| Err(closed()))
    }
}

async fn serve<G: Grouped>(
    shared: Arc<Shared>,
    waiting: Arc<Mutex<mpsc::UnboundedReceiver<Waiting<G>>>>,
    _alive: mpsc::Sender<()>,
) {
    loop {
        let mut group = Vec::new();
        {
            let mut waiting = waiting.lock().await;
            let Some(first) = waiting.recv().await else { return };
            let mut weight = G::weight(&first.request);
            group.push(first);
            while group.len() < GROUP_MAX_CALLS
                && weight < GROUP_MAX_WEIGHT
                && let Ok(next) = waiting.try_recv()
            {
                weight += G::weight(&next.request);
                group.push(next);
            }
        }
        let (requests, replies): (Vec<_>, Vec<_>) =
            group.into_iter().map(|waiting| (waiting.request, waiting.reply)).unzip();
        let answers = answers::<G>(&shared, &requests).await;
        // The caller is the one to free what it asked.
        drop(requests);
        for (reply, answer) in replies.into_iter().zip(answers) {
            // Who no longer waits wants no answer.
            let _ = reply.send(answer);
        }
    }
}

async fn answers<G: Grouped>(shared: &Arc<Shared>, calls: &[Arc<G::Request>]) -> Vec<Result<G::Answer, StoreError>> {
    let failed = match together::<G>(shared, calls).await {
        Ok(answers) => return answers,
        Err(failed) => failed,
    };
    // The same server, or the same lock, would be waited for by each of them.
    let same_for_all = matches!(failed.code, "store_locked" | "store_unreachable" | "store_not_writable");
    if calls.len() == 1 || same_for_all {
        return calls.iter().map(|_| Err(failed.clone())).collect();
    }
    let mut answers = Vec::with_capacity(calls.len());
    for call in calls {
        let alone = together::<G>(shared, std::slice::from_ref(call)).await;
        answers.push(alone.and_then(|mut answers| answers.pop().unwrap_or_else(|| Err(closed()))));
    }
    answers
}

async fn together<G: Grouped>(
    shared: &Arc<Shared>,
    calls: &[Arc<G::Request>],
) -> Result<Vec<Result<G::Answer, StoreError>>, StoreError> {
    shared
        .run(Kind::Hot, &calls.to_vec(), |tx, calls| {
            Box::pin(async move {
                let answers = G::run(tx, calls).await?;
                if answers.len() == calls.len() {
                    Ok(answers)
                } else {
                    Err(Fault::Damage("calls without answers".into()))
                }
            })
        })
        .await
}
