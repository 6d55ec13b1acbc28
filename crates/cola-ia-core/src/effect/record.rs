//! What a store keeps of an effect: its tries, and what proves that it happened.

use std::time::Duration;

use super::{BeginId, EffectName, EffectState, Micros, Policy, Reason, RequestHash, Reservation, UtcDay};
use crate::clock::Timestamp;
use crate::job::LeaseToken;

/// Most tries of one effect: from then on `begin` is refused.
pub const TRIES_MAX: usize = 1_000;
/// Most effects of one run of a job: a further name is refused.
pub const EFFECTS_MAX: usize = 1_000;

/// Most things that one effect is recorded to have made: what is told beyond is not kept.
pub const RECORDS_MAX: usize = 1_000;

/// One named external action of a job's run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Effect {
    /// The job's run, from 1.
    pub run: u32,
    /// Its name within the run.
    pub name: EffectName,
    /// As at the first `begin`.
    pub policy: Policy,
    /// Where it stands.
    pub state: EffectState,
    /// Why, while `unknown` or `held`.
    pub reason: Option<Reason>,
    /// When its record was made.
    pub begun_at: Timestamp,
    /// The permissions to send, in the order in which they were given; the first has number 1. None is ever removed.
    pub tries: Vec<Try>,
    /// Each thing that it made. One is as it should be.
    pub records: Vec<Recorded>,
    /// Under lookup: the newest try was rejected, and the next one takes a look first. A word said in error is found so.
    pub look_first: bool,
    /// What a person must see.
    pub alarm: Option<Alarm>,
}

/// One permission to send.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Try {
    /// The call that made it; `None`: it may have been made by whoever went on with the store before it was restored.
    pub begin_id: Option<BeginId>,
    /// The lease under which it was made.
    pub lease: Option<LeaseToken>,
    /// What it sends.
    pub request: Option<RequestHash>,
    /// When it was made.
    pub begun_at: Timestamp,
    /// It may be sent before this instant.
    pub send_before: Timestamp,
    /// Until then what was sent takes effect, or never.
    pub deadline: Timestamp,
    /// Under key: the destination knows the key until then. Tries of one key that share an instant have one outcome.
    pub key_until: Option<Timestamp>,
    /// The most it may cost, as was said.
    pub expected: Option<Micros>,
    /// Money that it holds. A closed try holds none, nor does one whose money a same-key resend has taken over.
    pub reserved: Option<Reservation>,
    /// How it ended; `None`: its outcome is open.
    pub outcome: Option<TryOutcome>,
}

/// How a try ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TryOutcome {
    /// The effect happened.
    Done,
    /// The destination refused it.
    Rejected,
    /// Nothing was sent.
    NotSent,
    /// A lookup or a person found that it had not happened.
    Absent,
}

impl TryOutcome {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Done, Self::Rejected, Self::NotSent, Self::Absent];

    /// The word in code, JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Rejected => "rejected",
            Self::NotSent => "not_sent",
            Self::Absent => "absent",
        }
    }

    /// The one that [`as_str`](Self::as_str) gives this word for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == word)
    }
}

/// What is told of an effect that happened. Everything may be missing. Texts are bounded by the store, as those of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Evidence {
    /// The id of what it made, at the destination.
    pub resource_id: Option<String>,
    /// Its result, JSON.
    pub result: Option<String>,
    /// What it cost.
    pub cost: Option<Micros>,
    /// Tokens that went into a model.
    pub tokens_in: Option<i64>,
    /// Tokens that came out of it.
    pub tokens_out: Option<i64>,
    /// The model.
    pub model: Option<String>,
}

/// Evidence as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Recorded {
    /// What was told first; only a missing resource id is filled in later.
    pub evidence: Evidence,
    /// The try that it was told of; `None`: of none in particular.
    pub number: Option<u32>,
    /// When it was told first.
    pub at: Timestamp,
    /// Who told it.
    pub witness: Witness,
    /// What was counted as spent: the cost, or where it was not told the most that was expected.
    pub charged: Micros,
    /// The day it was counted in: the one in which the money had been reserved.
    pub day: UtcDay,
}

/// Who knows that an effect happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Witness {
    /// Its sender had the destination's answer.
    Sender,
    /// A lookup found it.
    Lookup,
    /// A person, or a check command that acts for one.
    Person,
}

impl Witness {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sender, Self::Lookup, Self::Person];

    /// The word in code, JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Lookup => "lookup",
            Self::Person => "person",
        }
    }

    /// The one that [`as_str`](Self::as_str) gives this word for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|witness| witness.as_str() == word)
    }
}

/// What a person must see of an effect. The graver one stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Alarm {
    /// It happened, after it had been recorded as `failed` or `abandoned`.
    LateEvidence,
    /// It made two things.
    DoubleEffect,
}

impl Alarm {
    /// Both, the graver one last.
    pub const ALL: [Self; 2] = [Self::LateEvidence, Self::DoubleEffect];

    /// The word in code, JSON, SQL and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LateEvidence => "late_evidence",
            Self::DoubleEffect => "double_effect",
        }
    }

    /// The one that [`as_str`](Self::as_str) gives this word for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|alarm| alarm.as_str() == word)
    }
}

impl Recorded {
    /// What is known of an effect of which only that it happened was kept.
    pub(super) fn nothing(at: Timestamp) -> Self {
        Self {
            evidence: Evidence::default(),
            number: None,
            at,
            witness: Witness::Person,
            charged: Micros::ZERO,
            day: UtcDay::of(at),
        }
    }
}

impl Try {
    /// Whether its outcome is not known.
    pub fn is_open(&self) -> bool {
        self.outcome.is_none()
    }

    /// Whether it stands for what a restored store does not know.
    pub fn is_of_restore(&self) -> bool {
        self.begin_id.is_none()
    }

    /// Whether the destination answers both with one outcome.
    pub(super) fn shares_key_with(&self, other: &Self) -> bool {
        self.key_until.is_some() && self.key_until == other.key_until
    }
}

impl Effect {
    /// As it is when it is first heard of, without a try.
    pub(super) fn new(run: u32, name: EffectName, policy: Policy, now: Timestamp, state: EffectState) -> Self {
        #[cfg(test)]
        super::explore::moved(None, state);
        Self {
            run,
            name,
            policy,
            state,
            reason: None,
            begun_at: now,
            tries: Vec::new(),
            records: Vec::new(),
            look_first: false,
            alarm: None,
        }
    }

    /// The newest try's number; 0 where there is none.
    pub fn newest(&self) -> u32 {
        self.tries.len() as u32
    }

    /// The try of a number.
    pub fn numbered(&self, number: u32) -> Option<&Try> {
        self.tries.get((number as usize).checked_sub(1)?)
    }

    /// Tries whose outcome is open.
    pub fn open_tries(&self) -> impl DoubleEndedIterator<Item = &Try> {
        self.tries.iter().filter(|one| one.is_open())
    }

    /// From when on an absence counts: each open try's deadline has passed, and what it caused can be seen. `None`: no try is
    /// open.
    pub fn settled_at(&self) -> Option<Timestamp> {
        self.open_tries().map(|one| one.deadline.after(self.policy.settle)).max()
    }

    /// Whether all that may have happened has one outcome: its tries had one key, and the destination did not forget it between
    /// two of them. `told`: a try that is said to have happened.
    pub(super) fn has_one_key(&self, told: Option<u32>) -> bool {
        if self.policy.key_ttl.is_none() || !self.policy.may_double() {
            return self.policy.key_ttl.is_some();
        }
        let may_have = |(index, one): &(usize, &Try)| {
            matches!(one.outcome, None | Some(TryOutcome::Done)) || told == Some(*index as u32 + 1)
        };
        let mut tries = self.tries.iter().enumerate().filter(may_have).map(|(_, one)| one);
        tries.next().is_none_or(|first| tries.all(|one| one.shares_key_with(first)))
    }

    /// Money that its tries hold.
    pub fn at_risk(&self) -> i64 {
        self.tries.iter().filter_map(|one| one.reserved).map(|held| held.amount.get()).fold(0, i64::saturating_add)
    }

    /// The longest times between a begin and its `send_before`, and from there to its deadline, of all tries.
    pub(super) fn spans(&self) -> (Duration, Duration) {
        let between = |from: Timestamp, to: Timestamp| {
            Duration::from_micros(to.as_micros().saturating_sub(from.as_micros()).max(0) as u64)
        };
        let spans = self
            .tries
            .iter()
            .map(|one| (between(one.begun_at, one.send_before), between(one.send_before, one.deadline)));
        spans.fold((Duration::ZERO, Duration::ZERO), |most, one| (most.0.max(one.0), most.1.max(one.1)))
    }

    pub(super) fn becomes(&mut self, state: EffectState, reason: Option<Reason>) {
        #[cfg(test)]
        super::explore::moved(Some(self.state), state);
        self.state = state;
        self.reason = reason;
    }

    pub(super) fn alarms(&mut self, alarm: Alarm) {
        self.alarm = self.alarm.max(Some(alarm));
    }
}
