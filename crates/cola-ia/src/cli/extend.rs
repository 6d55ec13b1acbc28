//! `extend`: a lease lasts longer.

use cola_ia_core::job::LeaseToken;
use cola_ia_core::store::LeaseLost;
use cola_ia_wire::LeaseAnswer;

use super::add::push_json;
use super::holder::{Holder, lease, lost_lease};
use super::{Exit, Problem, Session, print};
use crate::config::Settings;
use crate::lang::Message;

/// The options of `extend`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtendOptions {
    /// The leases; none: the environment's.
    pub leases: Vec<LeaseToken>,
    /// `--json`
    pub json: bool,
}

/// Runs the command. Each lease is extended for itself: one that is lost holds no other back.
///
/// # Errors
/// A lease is lost; the store's; that of stdout.
pub fn run(session: &Session, options: &ExtendOptions, settings: &Settings) -> Result<Exit, Problem> {
    let leases = if options.leases.is_empty() { vec![lease(session, None)?] } else { options.leases.clone() };
    let answers = Holder::of(session, settings, &leases)?.extend(&leases, settings)?;
    if options.json {
        let mut out = String::new();
        for (lease, answer) in leases.iter().zip(&answers) {
            push_json(&mut out, &LeaseAnswer::extended(*lease, answer));
        }
        print(&out)?;
    }
    let lost: Vec<(LeaseToken, LeaseLost)> =
        leases.into_iter().zip(answers).filter_map(|(lease, answer)| Some((lease, answer.err()?))).collect();
    match lost.as_slice() {
        [] => Ok(Exit::Done),
        [(_, lost)] if options.leases.len() < 2 => Err(lost_lease(*lost)),
        several => {
            let leases: Vec<String> = several.iter().map(|(lease, _)| lease.to_string()).collect();
            let message = Message::new("leases-lost").with("leases", leases.join(", "));
            Err(Problem::new(Exit::LeaseLost, message).hint(Message::new("lease-lost-hint")))
        }
    }
}
