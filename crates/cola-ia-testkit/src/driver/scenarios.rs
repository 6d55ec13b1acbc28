//! What is tried.

use std::time::Duration;

use cola_ia_core::effect::{Micros, Otherwise, Policy, SETTLE_DEFAULT};
use cola_ia_core::job::RetryPolicy;

use crate::destination::{Destination, Ending, Looking, Sending};

/// What is promised of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// Once the job is done it happened once, and never more often: what nobody could tell, a person told.
    Once,
    /// Once the job is done it happened, perhaps more often.
    AtLeastOnce,
    /// Whether it happens is open: the job fails, or the destination refuses. Never more than once.
    AtMostOnce,
}

/// One effect of each job.
#[derive(Debug, Clone, Copy)]
pub struct EffectPlan {
    /// Its name, and that of its destination.
    pub name: &'static str,
    /// Its policy.
    pub policy: fn() -> Policy,
    /// How its destination behaves.
    pub at: fn(&mut Destination),
    /// The most that it may cost, and what it costs.
    pub cost: Option<Micros>,
    /// What is promised.
    pub promise: Promise,
}

/// A small world.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// For people.
    pub name: &'static str,
    /// Ids of events.
    pub jobs: &'static [&'static str],
    /// What each job does, in this order.
    pub effects: &'static [EffectPlan],
    /// How many work at a time.
    pub workers: usize,
    /// Of the source, a day.
    pub budget: Option<Micros>,
    /// A worker whose effect is refused or unknown fails its job for good.
    pub gives_up: bool,
    /// A worker that completes its job whatever became of its effects: it must be refused.
    pub careless: bool,
    /// A worker that says nothing of an effect whose outcome it does not know.
    pub silent: bool,
    /// Workers that a job may lose.
    pub crashes: u32,
}

impl Scenario {
    /// How jobs are tried again: at once.
    pub(super) fn policy(&self) -> RetryPolicy {
        RetryPolicy {
            max_attempts: 200,
            max_crashes: self.crashes,
            first_wait: Duration::ZERO,
            max_wait: Duration::ZERO,
            pause_after: None,
        }
    }
}

const COST: Option<Micros> = Micros::new(40_000);

const fn effect(name: &'static str, policy: fn() -> Policy, at: fn(&mut Destination), promise: Promise) -> EffectPlan {
    EffectPlan { name, policy, at, cost: None, promise }
}

const fn scenario(name: &'static str, effects: &'static [EffectPlan]) -> Scenario {
    Scenario {
        name,
        jobs: &["a"],
        effects,
        workers: 1,
        budget: None,
        gives_up: false,
        careless: false,
        silent: false,
        crashes: 200,
    }
}

fn well(_: &mut Destination) {}

fn key() -> Policy {
    Policy { key_ttl: Some(Duration::from_hours(24)), ..Policy::default() }
}

fn short_key() -> Policy {
    Policy { key_ttl: Some(FORGETS), ..Policy::default() }
}

fn lookup() -> Policy {
    Policy { lookup: true, ..Policy::default() }
}

fn key_and_lookup() -> Policy {
    Policy { lookup: true, ..short_key() }
}

fn hold() -> Policy {
    Policy::default()
}

fn retry() -> Policy {
    Policy { otherwise: Otherwise::Retry, ..Policy::default() }
}

fn cheap() -> Policy {
    Policy { retry_below: Micros::new(50_000), ..Policy::default() }
}

/// A destination forgets keys after so long, and the policy says so.
const FORGETS: Duration = Duration::from_mins(1);

fn forgets(destination: &mut Destination) {
    destination.sending.forgets_after = Some(FORGETS);
}

fn knows_no_keys(destination: &mut Destination) {
    destination.sending.honours_keys = false;
}

/// What happened is seen a little before the policy says that it is.
fn lags(destination: &mut Destination) {
    knows_no_keys(destination);
    destination.looking = Looking { lags: SETTLE_DEFAULT.saturating_sub(Duration::from_secs(1)), ..Looking::default() };
}

/// The first request is on its way as long as it may be, and what it does is seen as late as it may be.
fn is_late(destination: &mut Destination) {
    lags(destination);
    let held_up = Some(Duration::from_secs(19));
    destination.plan_sendings([Sending { honours_keys: false, held_up, ..Sending::default() }]);
}

/// The first answers do not arrive, and what was asked is done.
fn cuts(destination: &mut Destination) {
    knows_no_keys(destination);
    destination.plan_sendings([Sending { honours_keys: false, ..Sending::ending(Ending::CutsAfter) }]);
}

fn cuts_but_knows_keys(destination: &mut Destination) {
    destination.plan_sendings([Sending::ending(Ending::CutsAfter), Sending::ending(Ending::FailsAfter(502))]);
}

/// The first requests are refused.
fn rejects(destination: &mut Destination) {
    knows_no_keys(destination);
    destination.plan_sendings([Sending { honours_keys: false, ..Sending::ending(Ending::Rejects(422)) }]);
}

const LOOKUP: EffectPlan = effect("publish", lookup, lags, Promise::Once);
const KEY: EffectPlan = effect("pay", key, well, Promise::Once);
const CHEAP: EffectPlan = EffectPlan { cost: COST, ..effect("draft", cheap, knows_no_keys, Promise::AtLeastOnce) };
const PAID: EffectPlan = EffectPlan { cost: COST, ..effect("pay", hold, knows_no_keys, Promise::AtMostOnce) };

/// What is driven in every build.
pub const SCENARIOS: &[Scenario] = &[
    scenario("key", &[KEY]),
    scenario("key that is forgotten", &[effect("pay", short_key, forgets, Promise::Once)]),
    scenario("key, answers are cut", &[effect("pay", key, cuts_but_knows_keys, Promise::Once)]),
    scenario("lookup", &[LOOKUP]),
    scenario("lookup, answers are cut", &[effect("publish", lookup, cuts, Promise::Once)]),
    scenario("key and lookup", &[effect("publish", key_and_lookup, forgets, Promise::Once)]),
    scenario("hold", &[effect("post", hold, knows_no_keys, Promise::Once)]),
    scenario("hold, answers are cut", &[effect("post", hold, cuts, Promise::Once)]),
    scenario("lookup, late", &[effect("publish", lookup, is_late, Promise::Once)]),
    scenario("retry", &[effect("call", retry, knows_no_keys, Promise::AtLeastOnce)]),
    scenario("retry, answers are cut", &[effect("call", retry, cuts, Promise::AtLeastOnce)]),
    scenario("draft, then publication", &[CHEAP, LOOKUP]),
    scenario("lookup, refused at first", &[effect("publish", lookup, rejects, Promise::Once)]),
    Scenario {
        gives_up: true,
        ..scenario("lookup, given up", &[effect("publish", lookup, cuts, Promise::AtMostOnce)])
    },
    Scenario {
        crashes: 1,
        ..scenario("lookup, lost for good", &[EffectPlan { promise: Promise::AtMostOnce, ..LOOKUP }])
    },
    Scenario {
        gives_up: true,
        silent: true,
        ..scenario("lookup, given up in silence", &[effect("publish", lookup, cuts, Promise::AtMostOnce)])
    },
    Scenario { careless: true, ..scenario("a careless worker", &[effect("post", hold, cuts, Promise::Once)]) },
    Scenario { workers: 2, jobs: &["a", "b"], ..scenario("two workers, lookup", &[LOOKUP]) },
    Scenario { workers: 2, ..scenario("two workers, one job, key", &[KEY]) },
    Scenario { workers: 2, jobs: &["a", "b"], budget: COST, ..scenario("two workers, money for one", &[PAID]) },
];
