//! What every route has at hand.

use std::sync::Arc;

use cola_ia_core::clock::{Clock, Entropy};
use cola_ia_core::store::Store;
use tokio::sync::watch;

use super::auth::Tokens;
use super::wakes::Wakes;
use crate::config::Settings;

/// What every route has at hand.
pub struct App {
    /// Where events and jobs are kept.
    pub store: Arc<dyn Store>,
    /// The server's clock: signatures and tokens are looked at by it.
    pub clock: Arc<dyn Clock>,
    /// The server's randomness.
    pub entropy: Arc<dyn Entropy>,
    /// What the configuration says.
    pub settings: Arc<Settings>,
    /// Who may do what.
    pub tokens: Tokens,
    /// Who waits for jobs.
    pub wakes: Wakes,
    /// `true` once the server is to stop.
    pub stopping: watch::Receiver<bool>,
}

/// What an [`App`] is made of.
pub struct Parts {
    /// Where events and jobs are kept.
    pub store: Arc<dyn Store>,
    /// The server's clock.
    pub clock: Arc<dyn Clock>,
    /// The server's randomness.
    pub entropy: Arc<dyn Entropy>,
    /// What the configuration says.
    pub settings: Arc<Settings>,
    /// `true` once the server is to stop.
    pub stopping: watch::Receiver<bool>,
}

impl App {
    /// Puts the parts together, and starts what works beside the routes: needs a runtime.
    pub fn start(parts: Parts) -> Arc<Self> {
        let Parts { store, clock, entropy, settings, stopping } = parts;
        Arc::new(Self {
            tokens: Tokens::new(store.clone(), clock.clone()),
            wakes: Wakes::new(store.clone()),
            stopping,
            store,
            clock,
            entropy,
            settings,
        })
    }
}
