//! Between the thread that reads and the one that commits: a batch that fills while the one before it is committed.
//!
//! Nobody waits on a timer. Where an input trickles, whatever is there is a batch as soon as the store is free; where it
//! comes from a file, a batch is full or the last one, because large batches are what makes random ids fast.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use cola_ia_core::intake::Intake;
use cola_ia_core::limits::{BATCH_MAX_BYTES, BATCH_MAX_EVENTS};

/// What can be done with a full batch before its turn comes.
type Prepare = Box<dyn Fn(&Arc<Vec<Intake>>) + Send + Sync>;

/// The bounded hand-over. Holds one batch at the most, whatever the input is.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    prepare: OnceLock<Prepare>,
    /// Something for the one who commits.
    filled: Condvar,
    /// Room for the one who reads.
    emptied: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Of the queue alone until it is full.
    batch: Arc<Vec<Intake>>,
    weight: usize,
    /// What is here may go at once.
    eager: bool,
    phase: Phase,
    /// The one who commits waits: only then is it worth waking.
    awaited: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    /// Nothing more comes.
    Ended,
    /// Nobody takes any more.
    Stopped,
}

impl State {
    fn is_stopped(&self) -> bool {
        self.phase == Phase::Stopped
    }

    fn is_full(&self) -> bool {
        self.batch.len() >= BATCH_MAX_EVENTS || self.weight >= BATCH_MAX_BYTES
    }

    fn is_ready(&self) -> bool {
        self.phase == Phase::Ended || self.is_full() || (self.eager && !self.batch.is_empty())
    }
}

impl Queue {
    /// Who reads does this with a batch that is full while the one before it is committed.
    pub(super) fn prepare_with(&self, prepare: impl Fn(&Arc<Vec<Intake>>) + Send + Sync + 'static) {
        let _ = self.prepare.set(Box::new(prepare));
    }

    /// Puts one more into the batch, waiting for room. `false`: nobody takes any more.
    pub(super) fn push(&self, intake: Intake) -> bool {
        let mut state = self.lock();
        while state.is_full() && !state.is_stopped() {
            state = self.emptied.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_stopped() {
            return false;
        }
        state.weight += intake.weight();
        Arc::get_mut(&mut state.batch).expect("a batch that is not full is nobody else's").push(intake);
        self.wake(&state);
        // Whoever waits for the batch takes it as it is.
        if state.is_full()
            && !state.awaited
            && let Some(prepare) = self.prepare.get()
        {
            let batch = Arc::clone(&state.batch);
            drop(state);
            prepare(&batch);
        }
        true
    }

    /// Whether from now on what is here may go at once.
    pub(super) fn set_eager(&self, eager: bool) {
        let mut state = self.lock();
        state.eager = eager;
        self.wake(&state);
    }

    /// Nothing more comes.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        if !state.is_stopped() {
            state.phase = Phase::Ended;
        }
        self.wake(&state);
    }

    /// Nobody takes any more: who reads stops, and who commits finds the end. What is here is dropped.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.phase = Phase::Stopped;
        self.emptied.notify_all();
        self.filled.notify_all();
    }

    /// Waits for a batch. `None`: the end, or [`stop`](Self::stop).
    pub(super) fn take(&self) -> Option<Arc<Vec<Intake>>> {
        let mut state = self.lock();
        while !state.is_ready() && !state.is_stopped() {
            state.awaited = true;
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.awaited = false;
        if state.is_stopped() || state.batch.is_empty() {
            return None;
        }
        state.weight = 0;
        // The next one will be about as large.
        let next = Arc::new(Vec::with_capacity(state.batch.len()));
        let batch = std::mem::replace(&mut state.batch, next);
        self.emptied.notify_all();
        Some(batch)
    }

    fn wake(&self, state: &State) {
        if state.awaited && state.is_ready() {
            self.filled.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cola_ia_core::event::Origin;
    use cola_ia_core::intake::{Refusal, RefusalCode};

    use super::*;

    fn item() -> Intake {
        Intake::Refusal(Refusal::new(RefusalCode::IdBlank, Origin { input: "-".into(), line: 1 }))
    }

    #[test]
    fn a_file_is_taken_when_it_ends() {
        let queue = Arc::new(Queue::default());
        let reader = Arc::clone(&queue);
        let read = std::thread::spawn(move || {
            (0..10).for_each(|_| assert!(reader.push(item())));
            reader.end();
        });
        assert_eq!(queue.take().map(|batch| batch.len()), Some(10));
        assert_eq!(queue.take().map(|batch| batch.len()), None);
        read.join().unwrap();
    }

    #[test]
    fn what_trickles_is_taken_at_once() {
        let queue = Queue::default();
        queue.set_eager(true);
        assert!(queue.push(item()));
        assert_eq!(queue.take().map(|batch| batch.len()), Some(1));
    }

    #[test]
    fn a_batch_is_bounded_and_who_reads_waits() {
        let queue = Arc::new(Queue::default());
        let reader = Arc::clone(&queue);
        let read = std::thread::spawn(move || {
            (0..=BATCH_MAX_EVENTS).for_each(|_| assert!(reader.push(item())));
            reader.end();
        });
        assert_eq!(queue.take().map(|batch| batch.len()), Some(BATCH_MAX_EVENTS));
        assert_eq!(queue.take().map(|batch| batch.len()), Some(1));
        assert!(queue.take().is_none());
        read.join().unwrap();
    }

    #[test]
    fn a_full_batch_is_prepared_where_nobody_waits_for_it() {
        let queue = Arc::new(Queue::default());
        let prepared = Arc::new(Mutex::new(Vec::new()));
        queue.prepare_with({
            let prepared = Arc::clone(&prepared);
            move |batch| prepared.lock().unwrap().push(batch.len())
        });
        (0..BATCH_MAX_EVENTS).for_each(|_| assert!(queue.push(item())));
        assert_eq!(*prepared.lock().unwrap(), [BATCH_MAX_EVENTS]);
        assert_eq!(queue.take().map(|batch| batch.len()), Some(BATCH_MAX_EVENTS));
        assert!(queue.push(item()), "the next one is the queue's own");
        assert_eq!(prepared.lock().unwrap().len(), 1);
    }

    #[test]
    fn stopping_ends_both_sides() {
        let queue = Arc::new(Queue::default());
        let reader = Arc::clone(&queue);
        let read = std::thread::spawn(move || while reader.push(item()) {});
        assert!(queue.take().is_some());
        queue.stop();
        read.join().unwrap();
        assert!(queue.take().is_none());
    }
}
