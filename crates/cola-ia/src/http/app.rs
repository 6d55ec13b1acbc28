//! What every route has at hand.

use std::sync::Arc;

use cola_ia_core::clock::{Clock, Entropy};
use cola_ia_core::store::Store;

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
}
