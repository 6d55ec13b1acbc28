//! A store that cannot be used for a while: one message when it begins, one when it is over.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cola_ia_core::store::{ErrorKind, StoreError};
use cola_ia_store::sqlite::Patience;

use super::stop::{Stopper, Stopping};
use super::voice::Voice;
use crate::cli::Problem;
use crate::lang::Message;

/// First wait before the store is asked again, and the longest.
const FIRST_WAIT: Duration = Duration::from_millis(200);
const MAX_WAIT: Duration = Duration::from_secs(5);
/// A lock that is held for so long is worth a word.
const LOCK_WORD: Duration = Duration::from_secs(2);

/// What has been told.
#[derive(Debug)]
pub(super) struct Outage {
    voice: Voice,
    told: Mutex<Option<String>>,
}

impl Outage {
    pub(super) fn new(voice: Voice) -> Arc<Self> {
        Arc::new(Self { voice, told: Mutex::default() })
    }

    /// The store could not do it. Told where it is news.
    pub(super) fn failed(&self, error: &StoreError) {
        self.tell(error.code, || Problem::from_store(error).message().clone());
    }

    fn tell(&self, code: &str, problem: impl FnOnce() -> Message) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.as_deref() != Some(code) {
            *told = Some(code.to_owned());
            self.voice.warn(Message::new("work-store-waits").message("problem", problem()));
        }
    }

    /// The store did what it was asked.
    pub(super) fn is_over(&self) {
        if self.told.lock().unwrap_or_else(PoisonError::into_inner).take().is_some() {
            self.voice.note(Message::new("work-store-again"));
        }
    }
}

/// Whether asking again can help.
pub(crate) fn can_pass(error: &StoreError) -> bool {
    error.kind == ErrorKind::Unavailable && error.code != "store_closed"
}

/// Waits that grow.
#[derive(Debug)]
pub(super) struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Self(FIRST_WAIT)
    }
}

impl Backoff {
    /// Waits once more, and no longer when it is to stop now.
    pub(super) async fn wait(&mut self, stopper: &Stopper) {
        tokio::select! {
            () = tokio::time::sleep(self.0) => {}
            () = stopper.reaches(Stopping::Now) => {}
        }
        self.0 = (self.0 * 2).min(MAX_WAIT);
    }
}

/// Says that a lock is waited for, and stops waiting when the worker is to stop now.
pub(super) struct LockPatience {
    pub(super) outage: Arc<Outage>,
    pub(super) stopper: Arc<Stopper>,
    /// From then on there may be results to record, which are worth waiting for.
    pub(super) opened: std::sync::atomic::AtomicBool,
}

impl Patience for LockPatience {
    fn waiting(&self, waited: Duration) {
        if waited >= LOCK_WORD {
            self.outage.tell("store_locked", || Message::new("store-waiting").number("seconds", waited.as_secs()));
        }
    }

    fn is_over(&self) -> bool {
        let enough =
            if self.opened.load(std::sync::atomic::Ordering::SeqCst) { Stopping::Now } else { Stopping::InOrder };
        self.stopper.state() >= enough
    }
}
