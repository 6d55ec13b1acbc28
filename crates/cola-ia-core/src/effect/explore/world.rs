//! Everything there is.

use super::properties::Property;

/// What a scenario's effects promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Key,
    Lookup,
    Hold,
    Retry,
}

/// Bounds of a world, and how unhelpful it is.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a freedom that a scenario gives or not")]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) jobs: usize,
    pub(super) effects: usize,
    pub(super) attempts: u32,
    pub(super) tries: usize,
    /// Under key: the destination can be looked up once the ttl is over.
    pub(super) fallback: bool,
    /// Where neither key nor lookup helps it is tried again, whatever the kind.
    pub(super) or_retry: bool,
    /// How often the destination refuses for good, even under a known key: a rate limit comes first.
    pub(super) reject: u8,
    /// How often a second process works under the same lease.
    pub(super) twin: u8,
    /// How often a copy of a call arrives later.
    pub(super) late: u8,
    pub(super) cancel: u8,
    pub(super) replay: u8,
    /// Of a backup taken at any earlier time.
    pub(super) restore: u8,
    /// How often a person raises the budget.
    pub(super) raises: u8,
    /// How often a person has the job tried again.
    pub(super) again: u8,
    /// A worker may fail for good.
    pub(super) permanent: bool,
    pub(super) abandon: bool,
    /// Every attempt sends something else.
    pub(super) changing: bool,
    /// A worker may go on to the second effect though the first is open.
    pub(super) skips: bool,
    pub(super) budget: i64,
    /// A request takes effect before its try's deadline or never.
    pub(super) punctual: bool,
    /// Under key: the destination honours it.
    pub(super) honours: bool,
    /// Ticks that a lookup may lag behind.
    pub(super) lag: u8,
    /// A worker says `failed` of what it does not know.
    pub(super) misknows: bool,
    /// A person may say that it did not happen.
    pub(super) says_absent: bool,
    pub(super) check: &'static [Property],
}

impl Scenario {
    pub(super) fn destinations(&self) -> usize {
        (self.jobs + usize::from(self.replay)) * self.effects
    }

    /// Where what one key caused is counted.
    pub(super) fn place(&self, job: u8, run: u32, effect: u8) -> usize {
        ((run as usize - 1) * self.jobs + usize::from(job)) * self.effects + usize::from(effect)
    }

    /// Whether a key causes at most one effect.
    pub(super) fn promises_one(&self) -> bool {
        match self.kind {
            Kind::Key => !self.or_retry,
            Kind::Lookup | Kind::Hold => true,
            Kind::Retry => false,
        }
    }

    pub(super) fn looks_up(&self) -> bool {
        self.kind == Kind::Lookup || self.fallback
    }
}

/// What a worker is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum At {
    Begin,
    Go,
    Sent,
    Got,
    Rejected,
    Lost,
    Check,
    Found,
    Absent,
    Complete,
    Failing,
}

/// A process, named after the attempt it serves; a zombie when its lease is no longer the job's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Worker {
    pub(super) pid: u8,
    pub(super) lease: u8,
    pub(super) job: u8,
    pub(super) run: u32,
    pub(super) at: At,
    pub(super) eff: u8,
    /// Try or ticket.
    pub(super) n: u32,
    /// At begin: the begin id of a call that was not answered; at go: ticks left to send; got, found: the resource; failing:
    /// for good.
    pub(super) x: u8,
    /// Its complete or fail was accepted, and its attempt's record says so.
    pub(super) accepted: bool,
    /// A second process with the same lease.
    pub(super) twin: bool,
}

/// On its way to the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Request {
    pub(super) job: u8,
    pub(super) run: u32,
    pub(super) eff: u8,
    pub(super) n: u32,
    pub(super) pid: u8,
    pub(super) life: u8,
}

/// What one key really caused.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Destination {
    /// For each real effect: ticks until a lookup is sure to see it.
    pub(super) real: Vec<u8>,
    /// Ticks that the key is still known, and for which effect.
    pub(super) memory: u8,
    pub(super) remembered: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Verb {
    Begin,
    Done,
    Found,
    Failed,
    Unknown,
    Absent,
    Complete,
    Fail,
    SettleFound,
    SettleAbsent,
    Abandon,
}

/// A call to the ledger; by a person when `pid` is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Call {
    pub(super) verb: Verb,
    pub(super) pid: u8,
    pub(super) lease: u8,
    pub(super) job: u8,
    pub(super) run: u32,
    pub(super) eff: u8,
    /// Begin: the begin id; others: try, ticket, the try that was looked at.
    pub(super) n: u32,
    /// Begin: the request; done, found: the resource; failed: rejected; fail: for good; settled as found: how many.
    pub(super) x: u8,
    /// What the attempt's record says: its end was accepted.
    pub(super) accepted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Answer {
    /// A try, and the ticks left to send it.
    Go(u32, u8),
    Done,
    Check(u32),
    Wait,
    Held,
    Used,
    Budget,
    Mismatch,
    Abandoned,
    /// The edge of the search, not of the protocol.
    Bound,
    Ok,
    LeaseLost,
    Void,
    /// The first effect that is open.
    Unresolved(u8),
}

/// How often each trouble may still come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Troubles {
    pub(super) reject: u8,
    pub(super) twin: u8,
    pub(super) late: u8,
    pub(super) cancel: u8,
    pub(super) replay: u8,
    pub(super) restore: u8,
    pub(super) raises: u8,
    pub(super) again: u8,
}

/// A backup.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Saved {
    pub(super) cases: Vec<u32>,
    pub(super) reserved: i64,
    pub(super) spent: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct World {
    /// Jobs with their effects, by their numbers in the lab.
    pub(super) cases: Vec<u32>,
    /// The process that really has each job's lease, which no ledger knows.
    pub(super) owners: Vec<u8>,
    pub(super) workers: Vec<Worker>,
    pub(super) wire: Vec<Request>,
    pub(super) dest: Vec<Destination>,
    pub(super) late: Option<Call>,
    pub(super) saved: Option<Box<Saved>>,
    pub(super) left: Troubles,
    pub(super) reserved: i64,
    pub(super) spent: i64,
    pub(super) budget: i64,
    pub(super) pids: u8,
    /// Ticks since the store was restored.
    pub(super) restored: Option<u8>,
}

impl World {
    pub(super) fn with_worker(&self, place: usize, change: impl FnOnce(&mut Worker)) -> Self {
        let mut next = self.clone();
        change(&mut next.workers[place]);
        next
    }

    pub(super) fn without_worker(&self, place: usize) -> Self {
        let mut next = self.clone();
        next.workers.remove(place);
        next
    }
}
