//! What every route has at hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use cola_ia_core::clock::{Clock, Entropy, Timestamp};
use cola_ia_core::event::Source;
use cola_ia_core::store::Store;
use tokio::sync::watch;

use super::auth::Tokens;
use super::budget::Budget;
use super::gate::Gate;
use super::inbox::InSource;
use super::limits::Limits;
use super::login::Login;
use super::metrics::Metrics;
use super::refusals::Refusals;
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
    /// Its bounds.
    pub limits: Limits,
    /// Who may do what.
    pub tokens: Tokens,
    /// Who waits for jobs.
    pub wakes: Wakes,
    /// The page's sessions.
    pub login: Login,
    /// Senders by name.
    pub sources: BTreeMap<Source, InSource>,
    /// The queue to the store for what comes one by one.
    pub gate: Gate,
    /// What was refused, on its way to the store.
    pub refusals: Refusals,
    /// Bytes of bodies that are in memory.
    pub bodies: Budget,
    /// What is counted.
    pub metrics: Arc<Metrics>,
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
    /// Senders.
    pub sources: Vec<InSource>,
    /// `true` once the server is to stop.
    pub stopping: watch::Receiver<bool>,
}

impl App {
    /// Puts the parts together, and starts what works beside the routes: needs a runtime.
    pub fn start(parts: Parts) -> Arc<Self> {
        let Parts { store, clock, entropy, settings, sources, stopping } = parts;
        let limits = Limits::of(&settings);
        let metrics = Arc::new(Metrics::new(sources.iter().map(|source| &source.name)));
        let gate = Gate::start(store.clone(), clock.clone(), entropy.clone(), limits.queue, metrics.clone());
        let refusals = Refusals::start(store.clone(), clock.clone(), entropy.clone(), metrics.clone());
        Arc::new(Self {
            limits,
            tokens: Tokens::new(store.clone(), clock.clone()).limited(settings.serve.token_requests_a_minute),
            wakes: Wakes::new(store.clone()),
            login: Login::default(),
            sources: sources.into_iter().map(|source| (source.name.clone(), source)).collect(),
            gate,
            refusals,
            bodies: Budget::new(limits.body_budget),
            metrics,
            stopping,
            store,
            clock,
            entropy,
            settings,
        })
    }

    /// The time by the server's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Whether the server is to stop.
    pub fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }
}
