//! Who records what is said of a lease, and how the answer is told: what `extend`, `complete`, `fail` and `release` share.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::EffectName;
use cola_ia_core::job::{Ending, JobState, LeaseToken, RetryPolicy};
use cola_ia_core::store::{End, EndRefused, Ended, LeaseLost, Report, Store};
use cola_ia_wire::LeaseAnswer;
use pollster::block_on;

use super::add::push_json;
use super::{Exit, Problem, Session, print};
use crate::config::{Settings, Warning};
use crate::lang::Message;
use crate::money;
use crate::store::{self, Chosen};
use crate::worker::inside::{Inside, LEASE_VAR};

/// Who records what is said of leases.
pub(super) enum Holder {
    /// The store that the settings name.
    Store(Chosen, RetryPolicy),
    /// Inside of a job, the worker that runs it: it records what is said when the command has ended.
    Worker(Inside),
}

impl Holder {
    /// For these leases: the worker where this process is inside of the job of all of them, else the store.
    ///
    /// # Errors
    /// As [`store::change`].
    pub(super) fn of(session: &Session, settings: &Settings, leases: &[LeaseToken]) -> Result<Self, Problem> {
        let inside = Inside::of(&session.environment, None);
        match inside.filter(|inside| leases.iter().all(|lease| *lease == inside.lease())) {
            Some(inside) => Ok(Self::Worker(inside)),
            None => Ok(Self::Store(store::change(session, settings)?, settings.retry)),
        }
    }

    /// As [`Store::extend`]. A worker extends by as much as its own leases last where
    /// nobody says how much.
    ///
    /// # Errors
    /// The store's.
    pub(super) fn extend(
        &self,
        leases: &[LeaseToken],
        settings: &Settings,
    ) -> Result<Vec<Result<Timestamp, LeaseLost>>, Problem> {
        match self {
            Self::Store(store, _) => {
                block_on(store.extend(leases.to_vec(), settings.lease)).map_err(|error| Problem::from_store(&error))
            }
            Self::Worker(inside) => {
                let length = (!settings.is_default("lease")).then_some(settings.lease);
                leases.iter().map(|_| inside.extend(length)).collect()
            }
        }
    }

    /// As [`Store::end`], of one lease. `None`: a worker keeps it until the command has
    /// ended.
    ///
    /// # Errors
    /// The store's.
    pub(super) fn end(&self, end: End, currency: Option<&str>) -> Result<Result<Option<Ended>, EndRefused>, Problem> {
        match self {
            Self::Store(store, policy) => {
                let mut answers =
                    block_on(store.end(vec![end].into(), *policy)).map_err(|error| Problem::from_store(&error))?;
                // One for each lease that was named.
                Ok(answers.pop().unwrap_or(Err(EndRefused::LeaseLost(LeaseLost { superseded_by: None }))).map(Some))
            }
            Self::Worker(inside) => {
                Ok(inside.end(end.ending, &end.report, currency)?.map(|()| None).map_err(EndRefused::LeaseLost))
            }
        }
    }
}

/// The lease that was named, else the one that the environment carries.
///
/// # Errors
/// There is none, or the environment's is none.
pub(crate) fn lease(session: &Session, named: Option<LeaseToken>) -> Result<LeaseToken, Problem> {
    match (named, session.environment.var(LEASE_VAR)) {
        (Some(lease), _) => Ok(lease),
        (None, Some(text)) => LeaseToken::parse(&text).ok_or_else(|| {
            let fault = Message::new("usage-not-a-lease").with("value", &text);
            Problem::usage(Message::new("setting-value").with("place", LEASE_VAR).message("fault", fault))
                .hint(Message::new("usage-lease-what"))
        }),
        (None, None) => Err(Problem::usage(Message::new("usage-lease-missing").with("variable", LEASE_VAR))
            .hint(Message::new("usage-lease-what"))),
    }
}

/// This text is no lease.
pub(super) fn no_lease(text: &str) -> Problem {
    Problem::usage(Message::new("usage-not-a-lease").with("value", text)).hint(Message::new("usage-lease-what"))
}

/// Ends a lease and tells what became of its job.
///
/// # Errors
/// The lease is lost; the store's; that of stdout.
pub(super) fn end(
    session: &Session,
    settings: &Settings,
    (verb, json): (&'static str, bool),
    named: Option<LeaseToken>,
    (ending, mut report, currency): (Ending, Report, Option<String>),
) -> Result<Exit, Problem> {
    let token = lease(session, named)?;
    let holder = Holder::of(session, settings, &[token])?;
    // A worker does it when the command has ended.
    if let Holder::Store(store, _) = &holder {
        settle_cost(session, settings, &**store, &mut report, currency.as_deref())?;
    }
    let answer = holder.end(End { token, ending, report }, currency.as_deref())?;
    if json {
        let mut out = String::new();
        push_json(&mut out, &LeaseAnswer::ended(verb, token, &answer));
        print(&out)?;
    }
    match answer {
        Ok(ended) => {
            if let Some(message) = ended.and_then(|ended| put_off(ending, ended)) {
                session.note(&message);
            }
            Ok(Exit::Done)
        }
        Err(EndRefused::LeaseLost(lost)) => Err(lost_lease(lost)),
        Err(EndRefused::Unresolved(effects)) => Err(unresolved(&effects)),
    }
}

/// Works out the cost of a report: told in the store's currency, or by the price of its model.
///
/// # Errors
/// The store's.
fn settle_cost(
    session: &Session,
    settings: &Settings,
    store: &dyn Store,
    report: &mut Report,
    currency: Option<&str>,
) -> Result<(), Problem> {
    let Some(currency) = currency.filter(|_| report.cost_micros.is_some()) else {
        money::fill_in(&settings.prices, report);
        return Ok(());
    };
    if let Err(uncounted) = block_on(money::takes(store, currency)).map_err(|error| Problem::from_store(&error))? {
        report.cost_micros = None;
        session.warn(&Warning { message: uncounted.message(), hint: None });
    }
    Ok(())
}

/// What a person may want to know of a job that did not end well.
fn put_off(ending: Ending, ended: Ended) -> Option<Message> {
    match (ending, ended.state, ended.due_at) {
        (Ending::Done | Ending::Released, ..) => None,
        (_, JobState::Failed, _) => Some(Message::new("lease-for-good")),
        (_, _, due) => due.map(|due| Message::new("lease-again").with("due", due)),
    }
}

/// The lease is not the caller's any more.
pub(super) fn lost_lease(lost: LeaseLost) -> Problem {
    let message = match lost.superseded_by {
        Some(attempt) => Message::new("lease-superseded").with("attempt", attempt),
        None => Message::new("lease-lost"),
    };
    Problem::new(Exit::LeaseLost, message).hint(Message::new("lease-lost-hint"))
}

/// The job cannot be completed while the outcome of these is open.
fn unresolved(names: &[EffectName]) -> Problem {
    let names: Vec<&str> = names.iter().map(EffectName::as_str).collect();
    Problem::new(Exit::EffectRefused, Message::new("lease-unresolved").with("effects", names.join(", ")))
        .hint(Message::new("lease-unresolved-hint"))
}
