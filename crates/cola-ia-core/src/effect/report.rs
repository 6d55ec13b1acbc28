//! What a worker reports of a try: `done`, `failed`, `unknown`, and after a lookup `found` or `absent`.

use super::rules::Rule;
use super::{
    Alarm, Case, EFFECTS_MAX, Effect, EffectName, EffectState, Evidence, Ledger, Micros, RECORDS_MAX, Reason, Recorded,
    Try, TryOutcome, UtcDay, Witness,
};
use crate::clock::Timestamp;
use crate::job::LeaseToken;

/// Which try a worker speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TryRef {
    /// The worker's lease.
    pub lease: LeaseToken,
    /// The run of that lease.
    pub run: u32,
    /// The effect's name.
    pub name: EffectName,
    /// The try's number, as in `go`; for what a lookup found or did not find, the ticket of `check`.
    pub number: u32,
}

/// The answer to a report. A repeated one gets the same answer, or [`Void`](Self::Void) where it changed something once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReportAnswer {
    /// It counts.
    Recorded,
    /// The lease has ended. Evidence that it happened was recorded all the same; anything else changed nothing and is kept with
    /// the attempt, for a person to read.
    LeaseLost,
    /// An absence counts from this instant on: look again then.
    Wait {
        /// Not before.
        until: Timestamp,
    },
    /// It speaks of what is over. Begin again.
    Void,
    /// There is no such effect, or no such try; where evidence tells of one that this store has never heard of, its run has
    /// [`EFFECTS_MAX`] already.
    Missing,
}

impl Ledger {
    /// It happened. Recorded in every state, from any lease and any number of times: it is the strongest evidence there is.
    ///
    /// An effect that this store does not know of is recorded by it. A second resource id raises
    /// [`Alarm::DoubleEffect`], evidence over `failed` or `abandoned` [`Alarm::LateEvidence`]. Where the last held effect closes
    /// so, its job leaves `held`.
    pub fn done(&self, case: &mut Case, one: &TryRef, evidence: &Evidence) -> ReportAnswer {
        let current = Self::holds(case, one.lease);
        self.recall(case, None);
        let Some(at) = self.heard(case, one) else { return ReportAnswer::Missing };
        let effect = &case.effects[at];
        let under_one_key = effect.has_one_key(Some(one.number));
        let closes = |index: usize| index + 1 == one.number as usize || under_one_key || !self.has(Rule::NamesTry);
        let over: Vec<usize> = (0..effect.tries.len()).filter(|index| closes(*index)).collect();
        let number = Some(one.number);
        self.record(case, at, &[(evidence.clone(), number)], Witness::Sender, &over);
        if current { ReportAnswer::Recorded } else { ReportAnswer::LeaseLost }
    }

    /// A lookup found it. As [`done`](Self::done), of all tries: there is one thing under the key.
    pub fn found(&self, case: &mut Case, ticket: &TryRef, evidence: &Evidence) -> ReportAnswer {
        let current = Self::holds(case, ticket.lease);
        self.recall(case, None);
        let Some(at) = self.heard(case, ticket) else { return ReportAnswer::Missing };
        let all: Vec<usize> = (0..case.effects[at].tries.len()).collect();
        self.record(case, at, &[(evidence.clone(), None)], Witness::Lookup, &all);
        if current { ReportAnswer::Recorded } else { ReportAnswer::LeaseLost }
    }

    /// It did not happen by this try: the destination refused it for good (`rejected`), or nothing was sent.
    pub fn failed(&self, case: &mut Case, one: &TryRef, rejected: bool) -> ReportAnswer {
        if !Self::holds(case, one.lease) {
            return ReportAnswer::LeaseLost;
        }
        self.recall(case, None);
        let Some((at, index)) = Self::known(case, one) else { return ReportAnswer::Missing };
        let newest = case.effects[at].tries.len() - 1;
        let index = if self.has(Rule::NamesTry) { index } else { newest };
        let outcome = if rejected { TryOutcome::Rejected } else { TryOutcome::NotSent };
        if case.effects[at].state == EffectState::Done {
            self.close_one(case, at, index, outcome);
            if !self.has(Rule::DoneStays) {
                case.effects[at].becomes(EffectState::Failed, None);
            }
            return ReportAnswer::Recorded;
        }
        if !case.effects[at].tries[index].is_open() {
            if !self.has(Rule::ReleaseOnce)
                && let Some(amount) = case.effects[at].tries[index].expected
            {
                case.money.release(super::Reservation { amount, day: UtcDay::of(self.now) });
            }
            return ReportAnswer::Recorded;
        }
        self.close_one(case, at, index, outcome);
        if !self.has(Rule::FailedNeedsAll) {
            case.close_all(at, outcome);
        }
        let effect = &mut case.effects[at];
        if effect.open_tries().next().is_some() {
            if effect.state == EffectState::Intended && index == newest {
                self.becomes_unknown(effect, Reason::OtherTryOpen);
            }
            return ReportAnswer::Recorded;
        }
        effect.look_first = rejected && effect.policy.lookup && effect.policy.key_ttl.is_none();
        effect.becomes(EffectState::Failed, None);
        ReportAnswer::Recorded
    }

    /// Its sender does not know whether it happened.
    pub fn unknown(&self, case: &mut Case, one: &TryRef) -> ReportAnswer {
        if !Self::holds(case, one.lease) {
            return ReportAnswer::LeaseLost;
        }
        self.recall(case, None);
        let Some((at, index)) = Self::known(case, one) else { return ReportAnswer::Missing };
        let effect = &mut case.effects[at];
        if effect.state == EffectState::Intended && (index + 1 == effect.tries.len() || !self.has(Rule::NamesTry)) {
            self.becomes_unknown(effect, Reason::Reported);
        } else if effect.state == EffectState::Done && !self.has(Rule::DoneStays) {
            effect.becomes(EffectState::Unknown, Some(Reason::Reported));
        }
        ReportAnswer::Recorded
    }

    /// A lookup that was started after the `check` answer of this ticket found nothing. Nothing happened: a further `begin` is
    /// answered `go`. A lookup that could not tell is not reported: it is no absence.
    pub fn absent(&self, case: &mut Case, ticket: &TryRef) -> ReportAnswer {
        if !Self::holds(case, ticket.lease) {
            return ReportAnswer::LeaseLost;
        }
        self.recall(case, None);
        let Some(at) = case.find(ticket.run, &ticket.name) else { return ReportAnswer::Missing };
        let effect = &mut case.effects[at];
        if ticket.number != effect.newest() && self.has(Rule::TicketTry) {
            return ReportAnswer::Void;
        }
        if effect.state == EffectState::Failed && effect.look_first {
            effect.look_first = false;
            return ReportAnswer::Recorded;
        }
        if effect.state != EffectState::Unknown {
            return ReportAnswer::Void;
        }
        if let Some(until) = effect.settled_at().filter(|until| self.now < *until) {
            return ReportAnswer::Wait { until };
        }
        case.close_all(at, TryOutcome::Absent);
        if self.has(Rule::AbsentCloses) {
            case.effects[at].becomes(EffectState::Failed, None);
        } else {
            self.intended_by_nobody(case, at);
        }
        ReportAnswer::Recorded
    }

    /// What goes wrong without [`Rule::AbsentCloses`]: the next try, intended by nobody who will send it.
    fn intended_by_nobody(&self, case: &mut Case, at: usize) {
        let effect = &mut case.effects[at];
        let (send_within, call_time) = effect.spans();
        let Some(newest) = effect.tries.last_mut() else { return };
        newest.begin_id = None;
        newest.send_before = self.now.after(send_within);
        newest.deadline = newest.send_before.after(call_time);
        newest.outcome = None;
        newest.reserved = newest.expected.map(|amount| super::Reservation { amount, day: UtcDay::of(self.now) });
        if let Some(reserved) = newest.reserved {
            case.money.reserve(reserved);
        }
        effect.becomes(EffectState::Intended, None);
    }

    /// The effect that a report speaks of; one that this store does not know of enters by the report. `None`: there are
    /// [`EFFECTS_MAX`] others.
    fn heard(&self, case: &mut Case, one: &TryRef) -> Option<usize> {
        if let Some(at) = case.find(one.run, &one.name) {
            return Some(at);
        }
        if case.effects.iter().filter(|effect| effect.run == one.run).count() >= EFFECTS_MAX {
            return None;
        }
        case.effects.push(self.unheard_of(one.run, &one.name));
        Some(case.effects.len() - 1)
    }

    fn known(case: &Case, one: &TryRef) -> Option<(usize, usize)> {
        let at = case.find(one.run, &one.name)?;
        case.effects[at].numbered(one.number)?;
        Some((at, one.number as usize - 1))
    }

    /// One try closes. Money that it shares with others of its key goes on to one that is open.
    fn close_one(&self, case: &mut Case, at: usize, index: usize, outcome: TryOutcome) {
        let tries = &mut case.effects[at].tries;
        let shares_key = |other: &Try| {
            let sent_by_the_lost = other.is_of_restore() && tries[index].key_until.is_some();
            sent_by_the_lost || other.shares_key_with(&tries[index])
        };
        let shares = |other: usize| {
            other != index && tries[other].is_open() && tries[other].reserved.is_none() && shares_key(&tries[other])
        };
        let heir = (0..tries.len()).rev().find(|other| shares(*other));
        if let Some(heir) = heir
            && tries[index].reserved.is_some()
            && self.has(Rule::ReserveShared)
        {
            tries[heir].reserved = tries[index].reserved.take();
        }
        case.close(at, index, outcome);
    }

    /// Evidence that it happened, each with the try it was told of.
    pub(super) fn record(
        &self,
        case: &mut Case,
        at: usize,
        told: &[(Evidence, Option<u32>)],
        witness: Witness,
        closes: &[usize],
    ) {
        let effect = &mut case.effects[at];
        if matches!(effect.state, EffectState::Failed | EffectState::Abandoned) {
            if !self.has(Rule::DoneHeard) {
                return;
            }
            effect.alarms(Alarm::LateEvidence);
        }
        for (evidence, number) in told {
            // A worker that tells of ever new things is broken; that there are too many has been said.
            if is_new(effect, evidence, *number) && effect.records.len() < RECORDS_MAX {
                let (charged, day) = self.charge(effect, evidence, *number, closes);
                let evidence = evidence.clone();
                effect.records.push(Recorded { evidence, number: *number, at: self.now, witness, charged, day });
                case.money.spend(day, charged);
            }
        }
        if effect.records.len() > 1 {
            effect.alarms(Alarm::DoubleEffect);
        }
        for index in closes {
            case.close(at, *index, TryOutcome::Done);
        }
        let effect = &mut case.effects[at];
        let was_held = effect.state == EffectState::Held;
        effect.look_first = false;
        if effect.state != EffectState::Done {
            effect.becomes(EffectState::Done, None);
        }
        if was_held && effect.run == case.job.run && self.has(Rule::HeldWakes) {
            self.wake(case);
        }
    }

    /// What an effect is counted as, and in which day: its cost, or else the most that was expected of the try, never less than
    /// may have been paid.
    fn charge(&self, effect: &Effect, evidence: &Evidence, number: Option<u32>, closes: &[usize]) -> (Micros, UtcDay) {
        let told = number.and_then(|number| effect.numbered(number));
        let holder = closes.iter().rev().filter_map(|index| effect.tries.get(*index)).find_map(|one| one.reserved);
        let holder = told.and_then(|told| told.reserved).or(holder);
        let newest = || effect.tries.iter().rev().find(|one| !one.is_of_restore());
        let one = told.or_else(newest);
        let estimate = holder.map(|held| held.amount).or(one.and_then(|one| one.expected)).unwrap_or(Micros::ZERO);
        let day = holder.map_or_else(|| UtcDay::of(one.map_or(self.now, |one| one.begun_at)), |held| held.day);
        (evidence.cost.unwrap_or(estimate), day)
    }
}

/// Whether this is a thing that was not known. A resource id that was missing is filled in.
fn is_new(effect: &mut Effect, evidence: &Evidence, number: Option<u32>) -> bool {
    let keyed = effect.policy.key_ttl.is_some();
    // Without an id nothing tells two things apart but the tries that made them.
    let same_try = |known: &Recorded| keyed || number.is_none() || known.number.is_none() || known.number == number;
    let Some(id) = &evidence.resource_id else { return !effect.records.iter().any(same_try) };
    if effect.records.iter().any(|known| known.evidence.resource_id.as_ref() == Some(id)) {
        return false;
    }
    let nameless = |known: &&mut Recorded| known.evidence.resource_id.is_none() && same_try(known);
    match effect.records.iter_mut().find(nameless) {
        Some(known) => {
            known.evidence.resource_id = Some(id.clone());
            false
        }
        None => true,
    }
}
