//! `begin`: may it be sent?

use std::time::Duration;

use super::rules::Rule;
use super::{
    BeginId, Budget, Case, EFFECTS_MAX, Effect, EffectName, EffectState, Ledger, Micros, Otherwise, Policy, Reason,
    Recorded, RequestHash, Reservation, Try, UtcDay,
};
use crate::clock::Timestamp;
use crate::job::LeaseToken;

/// A question for permission to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begin {
    /// The lease of the job.
    pub lease: LeaseToken,
    /// The effect's name within the run.
    pub name: EffectName,
    /// The same for repetitions of one call, and for nothing else.
    pub begin_id: BeginId,
    /// What may be done where the outcome is unknown. The first one is kept.
    pub policy: Policy,
    /// What will be sent; where given, another content under the same key is refused.
    pub request: Option<RequestHash>,
    /// The most it may cost. Needed where the source has a budget.
    pub expected: Option<Micros>,
    /// How long after this call it may still be sent.
    pub send_within: Duration,
    /// How long after that it may still take effect: the longest time that the call may take.
    pub call_time: Duration,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeginAnswer {
    /// Send it before the instant, with the key; then report.
    Go(Go),
    /// It has happened: use what is recorded, send nothing.
    Done(Box<Recorded>),
    /// Ask the destination what it has under the key, then resolve.
    Check {
        /// The number to resolve with: that of the newest try.
        ticket: u32,
        /// When it can have been sent first; `None`: earlier than the restored store knows.
        begun_at: Option<Timestamp>,
    },
    /// Come back at this instant: what may have been sent could not be seen yet. The attempt ends and costs nothing.
    Wait {
        /// Not before.
        until: Timestamp,
    },
    /// Only a person can tell. The lease has ended, and the attempt with it as
    /// [`Released`](crate::job::Outcome::Released): the job is held.
    Held(Reason),
    /// This begin id has made its try. Begin again with a new one.
    Used,
    /// Send nothing.
    Refused(Refused),
}

/// A permission to send, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Go {
    /// The try's number, for the report.
    pub number: u32,
    /// Send nothing from then on, and report the try as not sent.
    pub send_before: Timestamp,
    /// When the call must have ended.
    pub deadline: Timestamp,
    /// Until when the destination knows the key.
    pub key_until: Option<Timestamp>,
}

impl Go {
    /// Whether it may still be sent. Asked immediately before sending, by a clock that agrees with the store's.
    pub fn may_send(&self, now: Timestamp) -> bool {
        now < self.send_before
    }
}

/// Why nothing may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refused {
    /// The lease is not, or no longer, the job's.
    LeaseLost,
    /// The day's budget has no room.
    Budget {
        /// When the next day begins.
        resets_at: Timestamp,
    },
    /// The source has a budget, and what it may cost was not said.
    CostRequired,
    /// Something else would be sent under a key that the destination knows.
    OtherRequest,
    /// The effect was begun under another policy.
    OtherPolicy,
    /// A person gave it up. The job cannot be done any more; a new run can.
    Abandoned,
    /// [`TRIES_MAX`](super::TRIES_MAX) or [`EFFECTS_MAX`] is reached.
    TooMany,
}

/// What a further try is beside those whose outcome is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// There are none.
    Nothing,
    /// It has their key, and the destination knows it: one effect, one charge.
    SameKey,
    /// It may be another effect.
    Another,
}

impl Ledger {
    /// May this effect be sent?
    ///
    /// Called again with the same begin id, while its try is the newest, open, and its lease the job's, it gives the same answer
    /// with the same instant: its caller had no answer and has sent nothing. `budget` is that of the job's source today, with
    /// the sums as they are in this transaction; `None`: there is none.
    ///
    /// The order of the checks is the protocol: lease, outcome, begin id, state by policy, request, budget.
    pub fn begin(&self, case: &mut Case, begin: &Begin, budget: Option<&Budget>) -> BeginAnswer {
        match self.answer(case, begin, budget) {
            Ok(answer) => answer,
            Err(refused) => BeginAnswer::Refused(refused),
        }
    }

    fn answer(&self, case: &mut Case, begin: &Begin, budget: Option<&Budget>) -> Result<BeginAnswer, Refused> {
        let current = Self::holds(case, begin.lease);
        let number_of = |effect: &Effect| {
            effect.tries.iter().position(|one| one.begin_id == Some(begin.begin_id)).map(|index| index as u32 + 1)
        };
        let mine = case.effect(case.job.run, &begin.name).and_then(number_of);
        if !current && (self.has(Rule::LeaseFirst) || mine.is_none()) {
            return Err(Refused::LeaseLost);
        }
        self.recall(case, Some(begin));
        if !self.has(Rule::BudgetLast) && mine.is_none() {
            self.reservation(begin, budget)?;
        }
        let made_another = mine.is_none() && case.effects.iter().any(|effect| number_of(effect).is_some());
        let Some(at) = case.find(case.job.run, &begin.name) else {
            if made_another && self.has(Rule::IdOnce) {
                return Ok(BeginAnswer::Used);
            }
            return self.first_try(case, begin, budget);
        };
        let effect = &mut case.effects[at];
        if !self.has(Rule::MismatchLast) && effect.tries.last().is_some_and(|newest| newest.request != begin.request) {
            return Err(Refused::OtherRequest);
        }
        if effect.state == EffectState::Done {
            let first = effect.records.first().cloned();
            return Ok(BeginAnswer::Done(Box::new(first.unwrap_or_else(|| Recorded::nothing(effect.begun_at)))));
        }
        if made_another && self.has(Rule::IdOnce) {
            return Ok(BeginAnswer::Used);
        }
        if let Some(number) = mine {
            let newest_and_open = number == effect.newest() && effect.numbered(number).is_some_and(Try::is_open);
            if newest_and_open && (effect.state == EffectState::Intended || !current) {
                return Ok(self.go(effect));
            }
            if self.has(Rule::IdOnce) {
                return Ok(BeginAnswer::Used);
            }
        }
        if effect.state == EffectState::Intended {
            if !self.has(Rule::OtherId) {
                return Ok(self.go(effect));
            }
            // An earlier process of this attempt may have sent.
            self.becomes_unknown(effect, Reason::BegunAgain);
        }
        match effect.state {
            EffectState::Abandoned => Err(Refused::Abandoned),
            EffectState::Held => Ok(self.hold(case, at)),
            EffectState::Unknown if !self.may_repeat(effect, begin) => {
                if !effect.policy.lookup {
                    return Ok(self.hold(case, at));
                }
                Ok(self.look(effect, effect.settled_at()))
            }
            EffectState::Failed if effect.look_first && self.has(Rule::LookAfterFailed) => {
                let settled_at = effect.tries.last().map(|newest| newest.deadline.after(effect.policy.settle));
                Ok(self.look(effect, settled_at))
            }
            _ => self.further_try(case, at, begin, budget),
        }
    }

    fn go(&self, effect: &Effect) -> BeginAnswer {
        let number = effect.newest();
        let newest = &effect.tries[number as usize - 1];
        // Without the rule the sender counts anew from its answer.
        let send_before = if self.has(Rule::SameInstant) {
            newest.send_before
        } else {
            self.now.after(Duration::from_micros(
                newest.send_before.as_micros().saturating_sub(newest.begun_at.as_micros()).max(0) as u64,
            ))
        };
        BeginAnswer::Go(Go { number, send_before, deadline: newest.deadline, key_until: newest.key_until })
    }

    fn look(&self, effect: &Effect, settled_at: Option<Timestamp>) -> BeginAnswer {
        if let Some(until) = settled_at.filter(|until| self.now < *until) {
            return BeginAnswer::Wait { until };
        }
        let first = effect.tries.first().filter(|first| !first.is_of_restore());
        BeginAnswer::Check { ticket: effect.newest(), begun_at: first.map(|first| first.begun_at) }
    }

    /// Whether it may be sent again though nobody knows whether it happened.
    fn may_repeat(&self, effect: &Effect, begin: &Begin) -> bool {
        let policy = &effect.policy;
        if self.key_is_known(effect, begin) {
            return true;
        }
        if policy.lookup {
            return false;
        }
        // What a lost try may have cost nobody knows.
        let cheap = |one: &Try| one.expected.zip(policy.retry_below).is_some_and(|(cost, bound)| cost < bound);
        policy.otherwise == Otherwise::Retry || effect.open_tries().all(cheap)
    }

    /// Whether the destination answers whatever this call sends as it answered the open tries. A try of a restore has no key:
    /// nobody knows when it was sent first.
    fn key_is_known(&self, effect: &Effect, begin: &Begin) -> bool {
        let Some(until) = effect.open_tries().next_back().and_then(|newest| newest.key_until) else { return false };
        if self.has(Rule::TtlDeadline) {
            self.now.after(begin.send_within).after(begin.call_time) <= until
        } else {
            self.now < until
        }
    }

    fn first_try(&self, case: &mut Case, begin: &Begin, budget: Option<&Budget>) -> Result<BeginAnswer, Refused> {
        if case.of_run().count() >= EFFECTS_MAX {
            return Err(Refused::TooMany);
        }
        let reserved = self.reservation(begin, budget)?;
        let (name, policy) = (begin.name.clone(), begin.policy.clone());
        let mut effect = Effect::new(case.job.run, name, policy, self.now, EffectState::Intended);
        effect.tries.push(self.new_try(begin, self.new_key(&effect), reserved));
        let answer = self.go(&effect);
        case.effects.push(effect);
        if let Some(reserved) = reserved {
            case.money.reserve(reserved);
        }
        Ok(answer)
    }

    fn further_try(
        &self,
        case: &mut Case,
        at: usize,
        begin: &Begin,
        budget: Option<&Budget>,
    ) -> Result<BeginAnswer, Refused> {
        let effect = &mut case.effects[at];
        if effect.tries.len() >= self.tries_max {
            return Err(Refused::TooMany);
        }
        if effect.policy != begin.policy {
            return Err(Refused::OtherPolicy);
        }
        let beside = match effect.open_tries().next() {
            None => Beside::Nothing,
            Some(_) if self.key_is_known(effect, begin) => Beside::SameKey,
            Some(_) => Beside::Another,
        };
        let group = effect.open_tries().next_back().cloned().filter(|_| beside == Beside::SameKey);
        let of_group = |one: &Try| one.is_open() && group.as_ref().is_some_and(|newest| newest.shares_key_with(one));
        if effect.tries.iter().filter(|one| of_group(one)).any(|one| differs(one.request, begin.request)) {
            // The destination would refuse it, or answer with the other request's result.
            return Err(Refused::OtherRequest);
        }
        // Where the destination had forgotten the key once, what it answers need not be what it would have answered the others.
        let one_charge = effect.has_one_key(None);
        let shares = |one: &Try| (of_group(one) && one_charge) || (!self.has(Rule::ReservePerTry) && one.is_open());
        // The newest open try carries the shared reservation.
        let carried: Option<usize> = effect.tries.iter().rposition(|one| shares(one) && one.reserved.is_some());
        let reserved = if let Some(index) = carried {
            effect.tries[index].reserved.take()
        } else {
            let reserved = self.reservation(begin, budget)?;
            if let Some(reserved) = reserved {
                case.money.reserve(reserved);
            }
            reserved
        };
        let key_until = group.map_or_else(|| self.new_key(effect), |newest| newest.key_until);
        effect.look_first = false;
        effect.tries.push(self.new_try(begin, key_until, reserved));
        effect.becomes(EffectState::Intended, None);
        Ok(self.go(effect))
    }

    fn new_key(&self, effect: &Effect) -> Option<Timestamp> {
        effect.policy.key_ttl.map(|ttl| self.now.after(ttl))
    }

    fn new_try(&self, begin: &Begin, key_until: Option<Timestamp>, reserved: Option<Reservation>) -> Try {
        let send_before = self.now.after(begin.send_within);
        Try {
            begin_id: Some(begin.begin_id),
            lease: Some(begin.lease),
            request: begin.request,
            begun_at: self.now,
            send_before,
            deadline: send_before.after(begin.call_time),
            key_until,
            expected: begin.expected,
            reserved,
            outcome: None,
        }
    }

    /// What a new try holds; refused where the budget has no room for it.
    fn reservation(&self, begin: &Begin, budget: Option<&Budget>) -> Result<Option<Reservation>, Refused> {
        let day = UtcDay::of(self.now);
        let Some(amount) = begin.expected else {
            return if budget.is_some() { Err(Refused::CostRequired) } else { Ok(None) };
        };
        if budget.is_some_and(|budget| !budget.has_room_for(amount, self.has(Rule::ReserveCounts))) {
            return Err(Refused::Budget { resets_at: day.next().start() });
        }
        Ok(Some(Reservation { amount, day }))
    }

    /// Only a person can tell: the ledger stops the job itself, in the transaction of the answer.
    fn hold(&self, case: &mut Case, at: usize) -> BeginAnswer {
        let effect = &mut case.effects[at];
        let reason = effect.reason.filter(|reason| *reason == Reason::Restored).unwrap_or(Reason::NobodyCanTell);
        if effect.state != EffectState::Held {
            effect.becomes(EffectState::Held, Some(reason));
        }
        self.lease_ends(case, true);
        case.job = case.job.held(self.has(Rule::HeldFree));
        BeginAnswer::Held(reason)
    }
}

/// Whether both are known and not the same.
fn differs(one: Option<RequestHash>, other: Option<RequestHash>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}
