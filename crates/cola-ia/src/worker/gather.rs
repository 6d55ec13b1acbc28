//! Ends of short commands, recorded together.
//!
//! Where commands take a millisecond, a commit for each of their ends is a quarter of all the work. Each waits a moment for
//! others; its place was free before, so that nothing else waits with it. What a command did is told once it is on record, as ever.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cola_ia_core::store::{End, EndRefused, Ended, ErrorKind, StoreError};
use tokio::sync::oneshot;

use super::Worker;
use super::keeper::started;

/// How long the first end waits for others. Timers know whole milliseconds.
const GATHER: Duration = Duration::from_millis(4);

/// What the store answers to one end.
pub(super) type Answer = Result<Result<Ended, EndRefused>, StoreError>;

/// Ends that wait, and who waits for the answers.
#[derive(Debug, Default)]
pub(super) struct Gather(Mutex<Vec<(End, oneshot::Sender<Answer>)>>);

impl Gather {
    /// Records an end with those that come meanwhile.
    pub(super) async fn end(&self, worker: &Worker, end: End) -> Answer {
        let (say, hear) = oneshot::channel();
        let is_first = {
            let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.push((end, say));
            waiting.len() == 1
        };
        if is_first {
            tokio::time::sleep(GATHER).await;
            self.record(worker).await;
        }
        // Whoever was to record it is gone: asking again tells.
        hear.await.unwrap_or_else(|_| Err(StoreError::new(ErrorKind::Unavailable, "store_io")))
    }

    async fn record(&self, worker: &Worker) {
        let (ends, callers): (Vec<End>, Vec<_>) = {
            let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.drain(..).unzip()
        };
        let ends = Arc::new(ends);
        let order = worker.order.lock().await;
        ends.iter().for_each(|end| worker.held.set_ending(end.token, true));
        let mut call = worker.store.end(Arc::clone(&ends), worker.policy);
        let first = started(&mut call).await;
        drop(order);
        let answers = match first {
            Some(answers) => answers,
            None => call.await,
        };
        match answers {
            // Who no longer waits wants no answer.
            Ok(answers) => callers.into_iter().zip(answers).for_each(|(caller, answer)| drop(caller.send(Ok(answer)))),
            Err(error) => callers.into_iter().for_each(|caller| drop(caller.send(Err(error.clone())))),
        }
    }
}
