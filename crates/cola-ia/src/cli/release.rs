//! `release`: a job is given back. It costs no attempt.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::job::{Ending, LeaseToken};
use cola_ia_core::store::Report;

use super::{Exit, Problem, Session, holder};
use crate::config::Settings;

/// The options of `release`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseOptions {
    /// The lease; `None`: the environment's.
    pub lease: Option<LeaseToken>,
    /// `--retry-after`
    pub not_before: Option<Timestamp>,
    /// `--json`
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// The lease is lost; the store's; that of stdout.
pub fn run(session: &Session, options: &ReleaseOptions, settings: &Settings) -> Result<Exit, Problem> {
    let ending = options.not_before.map_or(Ending::Released, |not_before| Ending::Later { not_before });
    holder::end(session, settings, ("release", options.json), options.lease, (ending, Report::default(), None))
}
