//! How to open a store in PostgreSQL.

use std::sync::Arc;
use std::time::Duration;

use cola_ia_core::clock::{Clock, Entropy, SystemEntropy};

use super::migrate;
use crate::migration::Migration;

/// How to open a store.
#[derive(Clone)]
pub struct Options {
    /// How long a call is tried again where the server, a lock or the network is in the way.
    pub patience: Duration,
    /// Most connections that this process keeps.
    pub connections: usize,
    /// In the place of the server's clock, which is the store's: for tests.
    pub clock: Option<Arc<dyn Clock>>,
    /// The store's randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Counts that pile up before they are added up. Tests take fewer.
    pub fold_after: u32,
    /// The schema's steps that this program knows. Tests take others.
    pub migrations: &'static [Migration],
}

impl Options {
    /// The schema's first step: for tests, which make older stores of it.
    pub const OLDEST: Migration = migrate::MIGRATIONS[0];
}

impl Default for Options {
    fn default() -> Self {
        Self {
            patience: Duration::from_secs(30),
            connections: 8,
            clock: None,
            entropy: Arc::new(SystemEntropy),
            fold_after: 2_048,
            migrations: migrate::MIGRATIONS,
        }
    }
}
