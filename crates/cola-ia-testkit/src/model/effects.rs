//! Effects in the model: a job with its effects is put before the ledger of the core, and what becomes of them is kept.

use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{
    Begin, BeginAnswer, Case, Decision, Effect, EffectName, Evidence, Ledger, Micros, Policy, Recorded, Refused,
    ReportAnswer, SettleAnswer, TryRef, UtcDay, effect_key,
};
use cola_ia_core::event::Source;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::{Outcome, RetryPolicy};
use cola_ia_core::store::{
    Cursor, EFFECT_NOTE_MAX_BYTES, ERROR_CLASS_MAX_BYTES, EffectBegun, EffectDecision, EffectListRequest, EffectRef,
    EffectSummary, EffectView, ErrorKind, Failure, HISTORY_MAX, Looked, OpId, Page, RESOURCE_ID_MAX_BYTES,
    RESULT_MAX_BYTES, Report, StoreError, fitting,
};

use super::money::Sums;
use super::{Call, Event, First, Memory, Twist, op_reused};

/// An effect as it is kept.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    /// Its number in the store.
    pub(super) row: i64,
    pub(super) key: String,
    pub(super) changed_at: Timestamp,
    pub(super) note: Option<String>,
    pub(super) replays: u32,
    /// Whose lease got its recorded result last.
    pub(super) replayed_to: Option<Vec<u8>>,
    pub(super) effect: Effect,
}

impl Kept {
    fn view(&self, seen: &Effect) -> EffectView {
        EffectView {
            key: self.key.clone(),
            changed_at: self.changed_at,
            note: self.note.clone(),
            replays: self.replays,
            effect: seen.clone(),
        }
    }

    /// Results and notes go; once the event is erased, what it made goes too.
    pub(super) fn forget(&mut self, erased: bool) {
        self.note = None;
        for record in &mut self.effect.records {
            record.evidence.result = None;
            if erased {
                record.evidence.resource_id = None;
            }
        }
    }
}

/// Of which runs a verb looks at the effects.
#[derive(Clone, Copy)]
pub(super) enum Runs {
    /// The present one.
    Present,
    /// The present one, and this one.
    And(u32),
    /// All of them.
    All,
}

fn note_of(note: Option<&String>) -> Option<String> {
    note.map(|note| fitting(note, EFFECT_NOTE_MAX_BYTES))
}

/// Evidence with texts that fit. Of an event that was erased nothing is kept but that it happened, and what it cost.
fn kept(evidence: &Evidence, erased: bool) -> Evidence {
    let cut = |text: &Option<String>, most| text.as_ref().map(|text| fitting(text, most));
    let told = |text| if erased { None } else { text };
    Evidence {
        resource_id: told(cut(&evidence.resource_id, RESOURCE_ID_MAX_BYTES)),
        result: told(cut(&evidence.result, RESULT_MAX_BYTES)),
        model: cut(&evidence.model, ERROR_CLASS_MAX_BYTES),
        ..evidence.clone()
    }
}

/// Lengths of time are kept in whole microseconds.
fn kept_policy(policy: &Policy) -> Policy {
    let whole = |length: Duration| {
        let micros = u64::try_from(length.as_micros()).unwrap_or(u64::MAX);
        Duration::from_micros(micros.min(i64::MAX as u64))
    };
    Policy { key_ttl: policy.key_ttl.map(whole), settle: whole(policy.settle), ..policy.clone() }
}

impl Event {
    fn effects_of(&self, runs: Runs) -> Vec<Effect> {
        let wanted = |effect: &Effect| match runs {
            Runs::Present => effect.run == self.machine.run,
            Runs::And(run) => effect.run == self.machine.run || effect.run == run,
            Runs::All => true,
        };
        self.effects.iter().map(|kept| &kept.effect).filter(|effect| wanted(effect)).cloned().collect()
    }

    /// The job with its effects of these runs.
    pub(super) fn case(&self, runs: Runs) -> Case {
        Case::new(self.machine.clone(), self.effects_of(runs))
    }

    /// All effects as they are shown.
    fn views(&self, ledger: &Ledger) -> Vec<(i64, EffectView)> {
        let mut case = self.case(Runs::All);
        ledger.seen(&mut case);
        let seen = self.effects.iter().zip(&case.effects);
        seen.map(|(kept, seen)| (kept.row, kept.view(seen))).collect()
    }

    /// The latest effects, newest first.
    pub(super) fn effect_views(&self, ledger: &Ledger) -> Vec<EffectView> {
        let mut views = self.views(ledger);
        views.sort_by_key(|(row, _)| std::cmp::Reverse(*row));
        views.into_iter().take(HISTORY_MAX).map(|(_, view)| view).collect()
    }

    /// The effects of the present run, by name.
    pub(super) fn effects_so_far(&self, ledger: &Ledger) -> Vec<EffectView> {
        let of_run = |view: &EffectView| view.effect.run == self.machine.run;
        let mut views: Vec<EffectView> = self.views(ledger).into_iter().map(|(_, view)| view).filter(of_run).collect();
        views.sort_by(|one, other| one.effect.name.cmp(&other.effect.name));
        views
    }

    pub(super) fn has_open_effects(&self) -> bool {
        self.effects.iter().any(|kept| kept.effect.state.is_open())
    }

    fn kept(&mut self, effect: &Effect) -> Option<&mut Kept> {
        self.effects.iter_mut().find(|kept| kept.effect.run == effect.run && kept.effect.name == effect.name)
    }
}

impl Memory {
    pub(super) fn ledger(&self, policy: &RetryPolicy, at: Timestamp) -> Ledger {
        let ledger = Ledger::new(at, self.restored_at, *policy);
        self.twist.as_ref().map_or(ledger, |Twist(twist)| twist(ledger))
    }

    /// For views, and for what people order.
    pub(super) fn plain_ledger(&self, at: Timestamp) -> Ledger {
        self.ledger(&RetryPolicy::default(), at)
    }

    /// Puts a job with its effects before the ledger, and keeps what becomes of them and of their money. Where that ends a
    /// lease, the attempt is left to the caller.
    pub(super) fn decide<T>(
        &mut self,
        event: EventNumber,
        runs: Runs,
        at: Timestamp,
        change: impl FnOnce(&mut Case) -> T,
    ) -> T {
        let namespace = self.book.namespace;
        let rows = self.events.values().flat_map(|event| &event.effects).map(|kept| kept.row);
        let mut row = rows.max().unwrap_or_default();
        let event = self.by_number(event).expect("the caller has seen it");
        let mut case = event.case(runs);
        let answer = change(&mut case);
        let had_a_lease = event.machine.lease.is_some();
        let mut moves: Vec<(UtcDay, String, Sums)> = Vec::new();
        for money in case.money() {
            // Of which model it will be nobody knows; what is spent is told by the records.
            moves.push((money.day, String::new(), Sums { reserved: money.reserved, ..Sums::default() }));
        }
        for effect in case.effects {
            let known = event.kept(&effect).map_or(&[][..], |kept| &kept.effect.records);
            let (told, is_told_more) = (known.len(), known != effect.records);
            if is_told_more {
                event.has_made(&effect, had_a_lease);
            }
            for record in &effect.records[told..] {
                let model = record.evidence.model.clone().unwrap_or_default();
                moves.push((record.day, model, Sums::of_record(record)));
            }
            if let Some(kept) = event.kept(&effect) {
                if kept.effect.state != effect.state {
                    kept.changed_at = at;
                }
                kept.effect = effect;
            } else {
                row += 1;
                let key = effect_key(&namespace, &event.job.source, &event.job.id, effect.run, effect.name.as_str());
                let (note, replays, replayed_to) = (None, 0, None);
                event.effects.push(Kept { row, key, changed_at: at, note, replays, replayed_to, effect });
            }
        }
        if case.job != event.machine {
            event.moves_to(case.job, at);
        }
        let (number, source) = (event.job.event, event.job.source.clone());
        for (day, model, sums) in moves {
            self.money.add(day, &source, &model, sums);
        }
        self.write_down(number);
        answer
    }

    pub(super) fn effect_begin(&mut self, begin: &Begin, policy: &RetryPolicy, at: Timestamp) -> EffectBegun {
        let lost = EffectBegun { at, key: String::new(), answer: BeginAnswer::Refused(Refused::LeaseLost) };
        let Some((event, _)) = self.by_token(begin.lease) else { return lost };
        let (number, lease, source) = (event.job.event, event.machine.lease, event.job.source.clone());
        let (id, run) = (event.job.id.clone(), event.machine.run);
        let budget = self.money.budget(&source, UtcDay::of(at));
        let begin = &Begin { policy: kept_policy(&begin.policy), ..begin.clone() };
        let ledger = self.ledger(policy, at);
        let answer = self.decide(number, Runs::Present, at, |case| ledger.begin(case, begin, budget.as_ref()));
        if answer == lost.answer {
            return lost;
        }
        match &answer {
            BeginAnswer::Held(_) => {
                let event = self.by_number(number).expect("it was there");
                event.end_attempt(lease, Outcome::Released, &Report::default(), at);
                self.write_down(number);
            }
            BeginAnswer::Done(record) => {
                let charged = record.charged;
                let model = record.evidence.model.clone().unwrap_or_default();
                if self.is_replayed(number, begin) {
                    self.money.add(UtcDay::of(at), &source, &model, Sums::of_replay(charged));
                    self.write_down(number);
                }
            }
            _ => {}
        }
        let key = effect_key(&self.book.namespace, &source, &id, run, begin.name.as_str());
        EffectBegun { at, key, answer }
    }

    /// Counts that a recorded result goes to a later attempt, which did not get it before.
    fn is_replayed(&mut self, number: EventNumber, begin: &Begin) -> bool {
        let event = self.by_number(number).expect("it was there");
        let run = event.machine.run;
        let of_it = |kept: &&mut Kept| kept.effect.run == run && kept.effect.name == begin.name;
        let kept = event.effects.iter_mut().find(of_it).expect("it is done");
        let made_it = kept.effect.tries.iter().any(|one| one.lease == Some(begin.lease));
        if made_it || kept.replayed_to.as_deref() == Some(&begin.lease.0) {
            return false;
        }
        kept.replays += 1;
        kept.replayed_to = Some(begin.lease.0.to_vec());
        true
    }

    pub(super) fn effect_done(
        &mut self,
        of: &EffectRef,
        evidence: &Evidence,
        policy: &RetryPolicy,
        at: Timestamp,
    ) -> ReportAnswer {
        self.evidence(of, evidence, policy, at, Ledger::done)
    }

    pub(super) fn effect_resolve(
        &mut self,
        of: &EffectRef,
        looked: &Looked,
        policy: &RetryPolicy,
        at: Timestamp,
    ) -> ReportAnswer {
        match looked {
            Looked::Found(evidence) => self.evidence(of, evidence, policy, at, Ledger::found),
            Looked::Absent => self.report(of, None, policy, at, "effect_absent", Ledger::absent),
        }
    }

    pub(super) fn effect_failed(
        &mut self,
        of: &EffectRef,
        failure: Failure,
        note: Option<&String>,
        policy: &RetryPolicy,
        at: Timestamp,
    ) -> ReportAnswer {
        self.report(of, note, policy, at, "effect_failed", |ledger, case, one| {
            ledger.failed(case, one, failure == Failure::Rejected)
        })
    }

    pub(super) fn effect_unknown(
        &mut self,
        of: &EffectRef,
        note: Option<&String>,
        policy: &RetryPolicy,
        at: Timestamp,
    ) -> ReportAnswer {
        self.report(of, note, policy, at, "effect_unknown", Ledger::unknown)
    }

    /// Evidence counts from any lease; where the lease is not known, the job that its worker names leads there.
    fn evidence(
        &mut self,
        of: &EffectRef,
        evidence: &Evidence,
        policy: &RetryPolicy,
        at: Timestamp,
        record: impl FnOnce(&Ledger, &mut Case, &TryRef, &Evidence) -> ReportAnswer,
    ) -> ReportAnswer {
        let of_lease = self.by_token(of.lease).map(|(event, place)| (event.job.event, event.attempts[place].run));
        let of_job = || {
            let job = of.job.as_ref()?;
            self.known(&job.source, &job.id).map(|event| (event.job.event, job.run))
        };
        let Some((number, run)) = of_lease.or_else(of_job) else { return ReportAnswer::LeaseLost };
        let erased = self.by_number(number).is_some_and(|event| event.job.erased_at.is_some());
        let evidence = kept(evidence, erased);
        let ledger = self.ledger(policy, at);
        let one = TryRef { lease: of.lease, run, name: of.name.clone(), number: of.number };
        self.decide(number, Runs::And(run), at, |case| record(&ledger, case, &one, &evidence))
    }

    /// Any other word counts only from the lease that holds; from another one it stays with its attempt.
    fn report(
        &mut self,
        of: &EffectRef,
        note: Option<&String>,
        policy: &RetryPolicy,
        at: Timestamp,
        word: &str,
        change: impl FnOnce(&Ledger, &mut Case, &TryRef) -> ReportAnswer,
    ) -> ReportAnswer {
        let Some((event, place)) = self.by_token(of.lease) else { return ReportAnswer::LeaseLost };
        let (number, run) = (event.job.event, event.attempts[place].run);
        let ledger = self.ledger(policy, at);
        let one = TryRef { lease: of.lease, run, name: of.name.clone(), number: of.number };
        let answer = self.decide(number, Runs::And(run), at, |case| change(&ledger, case, &one));
        let event = self.by_number(number).expect("it was there");
        match answer {
            ReportAnswer::LeaseLost => event.attempts[place].is_late(word),
            ReportAnswer::Recorded => event.noted(run, &of.name, note),
            _ => {}
        }
        self.write_down(number);
        answer
    }

    pub(super) fn effect_decide(
        &mut self,
        op: OpId,
        decision: &EffectDecision,
        policy: &RetryPolicy,
        at: Timestamp,
    ) -> Result<Option<SettleAnswer>, StoreError> {
        match self.ops.get(&op).map(|call| &call.first) {
            Some(First::Decide(asked, first)) if *asked == *decision => return Ok(Some(*first)),
            Some(_) => return Err(op_reused()),
            None => {}
        }
        let Some(event) = self.by_number(decision.event) else { return Ok(None) };
        let erased = event.job.erased_at.is_some();
        let run = event.machine.run;
        let word = match &decision.decision {
            Decision::Found(found) => Decision::Found(found.iter().map(|one| kept(one, erased)).collect()),
            other => other.clone(),
        };
        let ledger = self.ledger(policy, at);
        let answer = self.decide(decision.event, Runs::Present, at, |case| {
            ledger.settle(case, &decision.name, decision.number, &word)
        });
        if answer == SettleAnswer::Recorded {
            let event = self.by_number(decision.event).expect("it was there");
            let note = decision.note.as_ref().filter(|_| !erased);
            event.noted(run, &decision.name, note);
            self.write_down(decision.event);
        }
        self.ops.insert(op, Call { at, first: First::Decide(decision.clone(), answer) });
        Ok(Some(answer))
    }

    pub(super) fn effect_list(
        &self,
        request: &EffectListRequest,
        now: Timestamp,
    ) -> Result<Page<EffectSummary>, StoreError> {
        let unknown = |cursor: &Cursor| {
            let cursor = &cursor.0;
            cursor
                .parse::<i64>()
                .map_err(|_| StoreError::new(ErrorKind::Invalid, "cursor_unknown").with("cursor", cursor))
        };
        let below = request.page.after.as_ref().map(unknown).transpose()?;
        let ledger = self.plain_ledger(now);
        let filter = &request.filter;
        let mut found: Vec<(i64, EffectSummary)> = Vec::new();
        for event in self.events.values() {
            let is_resource = |id: &String, view: &EffectView| {
                let made = |record: &Recorded| record.evidence.resource_id.as_ref() == Some(id);
                event.job.resource_id.as_ref() == Some(id) || view.effect.records.iter().any(made)
            };
            let wanted = |(row, view): &(i64, EffectView)| {
                below.is_none_or(|below| *row < below)
                    && (filter.sources.is_empty() || filter.sources.contains(&event.job.source))
                    && (filter.states.is_empty() || filter.states.contains(&view.effect.state))
                    && (!filter.alarmed || view.effect.alarm.is_some())
                    && filter.resource_id.as_ref().is_none_or(|id| is_resource(id, view))
            };
            let of_event = |(row, view)| {
                let (number, source, id) = (event.job.event, event.job.source.clone(), event.job.id.clone());
                (row, EffectSummary { event: number, source, id, view })
            };
            found.extend(event.views(&ledger).into_iter().filter(wanted).map(of_event));
        }
        found.sort_by_key(|(row, _)| std::cmp::Reverse(*row));
        let limit = request.page.limit.clamp(1, 1_000) as usize;
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|(row, _)| Cursor(row.to_string()));
        Ok(Page { items: found.into_iter().map(|(_, summary)| summary).collect(), next })
    }

    pub(super) fn set_budget(
        &mut self,
        op: OpId,
        source: &Source,
        limit: Option<Micros>,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        match self.ops.get(&op).map(|call| &call.first) {
            Some(First::SetBudget(asked, of)) if (asked, *of) == (source, limit) => return Ok(()),
            Some(_) => return Err(op_reused()),
            None => {}
        }
        if limit.is_some() {
            self.book.knows(source);
        }
        self.money.set_budget(source, limit);
        self.ops.insert(op, Call { at, first: First::SetBudget(source.clone(), limit) });
        Ok(())
    }
}

impl Event {
    /// Something new is known of what an effect made: the job made it. What comes to a job that is over is pruned in its turn.
    fn has_made(&mut self, effect: &Effect, had_a_lease: bool) {
        if self.job.resource_id.is_none() {
            self.job.resource_id = effect.records.iter().find_map(|record| record.evidence.resource_id.clone());
        }
        if !had_a_lease {
            self.pruned_at = None;
        }
    }

    fn noted(&mut self, run: u32, name: &EffectName, note: Option<&String>) {
        let of_it = |kept: &&mut Kept| kept.effect.run == run && kept.effect.name == *name;
        if let Some(kept) = self.effects.iter_mut().find(of_it)
            && note.is_some()
        {
            kept.note = note_of(note);
        }
    }
}
