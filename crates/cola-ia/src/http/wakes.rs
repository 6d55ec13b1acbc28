//! Who waits for jobs hears when something was committed.
//!
//! However many wait, the store is asked once each interval, and not at all while nobody waits.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cola_ia_core::store::Store;
use tokio::sync::watch;

/// How often the store is asked whether something was committed.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// After so long without an answer of the store that helps, who waits looks for himself.
const LOOK_ANYWAY: Duration = Duration::from_secs(1);

/// Tells who waits that something was committed.
pub struct Wakes {
    store: Arc<dyn Store>,
    heard: Mutex<Option<watch::Receiver<()>>>,
}

impl Wakes {
    /// Those of this store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, heard: Mutex::default() }
    }

    /// Hears of what is committed from now on. Needs a runtime.
    pub fn listen(&self) -> Wake {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(receiver) = heard.as_ref().filter(|receiver| receiver.has_changed().is_ok()) {
            let mut receiver = receiver.clone();
            receiver.mark_unchanged();
            return Wake { receiver };
        }
        let (sender, receiver) = watch::channel(());
        tokio::spawn(look(Arc::clone(&self.store), sender));
        *heard = Some(receiver.clone());
        Wake { receiver }
    }
}

/// One who waits.
pub struct Wake {
    receiver: watch::Receiver<()>,
}

impl Wake {
    /// Waits until something was committed since this was called before, or for a while. A hint: nothing need have changed.
    pub async fn next(&mut self) {
        let _ = tokio::time::timeout(LOOK_ANYWAY, self.receiver.changed()).await;
    }
}

/// Asks the store again and again, until nobody has waited for a while.
async fn look(store: Arc<dyn Store>, sender: watch::Sender<()>) {
    let (mut known, mut alone) = (None, Duration::ZERO);
    // One receiver is kept for those who come.
    while alone < LOOK_ANYWAY {
        tokio::time::sleep(LOOK_EVERY).await;
        alone = if sender.receiver_count() > 1 { Duration::ZERO } else { alone + LOOK_EVERY };
        let found = store.changes().await.ok();
        if found.is_none() || found != known {
            known = found;
            sender.send_replace(());
        }
    }
}
