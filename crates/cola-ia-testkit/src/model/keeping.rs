//! Decisions, pruning and erasure, as plainly as can be.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{Content, Delivery, EventId};
use cola_ia_core::intake::{DeliveryNumber, EventNumber, Intake};
use cola_ia_core::job::{Job, JobState, Outcome};
use cola_ia_core::store::{
    Decision, DecisionKind, DecisionView, DeliveryView, EraseRequest, Erased, ErrorKind, NOTE_MAX_BYTES, OPS_KEPT,
    PruneCursor, PruneRequest, Pruned, PrunedDeliveries, RESOLVE_MAX, ResolveRequest, Resolved, RevisionView,
    StoreError, erased_id, names,
};
use cola_ia_core::verdict::Verdict;

use super::effects::Runs;
use super::{Event, Memory, erased_identity};

impl Memory {
    pub(super) fn by_number(&mut self, number: EventNumber) -> Option<&mut Event> {
        self.events.values_mut().find(|event| event.job.event == number)
    }

    pub(super) fn resolve(&mut self, request: &ResolveRequest, at: Timestamp) -> Result<Resolved, StoreError> {
        let invalid = |code| StoreError::new(ErrorKind::Invalid, code);
        let refused = |code| StoreError::new(ErrorKind::Conflict, code);
        if request.note.as_ref().is_some_and(|note| note.len() > NOTE_MAX_BYTES) {
            return Err(invalid("note_too_long"));
        }
        let mut numbers: Vec<u32> = Vec::new();
        for number in &request.conflicts {
            if !numbers.contains(number) {
                numbers.push(*number);
            }
        }
        if numbers.len() > RESOLVE_MAX {
            return Err(invalid("resolve_too_many"));
        }
        let event = self.by_number(request.event).ok_or_else(|| invalid("event_unknown"))?;
        if numbers.is_empty() {
            let undecided = event.conflicts.iter().filter(|conflict| conflict.view.decisions.is_empty());
            numbers = undecided.map(|conflict| conflict.view.number).collect();
            if numbers.len() != 1 {
                return Err(invalid("conflict_not_named"));
            }
        }
        if numbers.len() > 1 && request.decision.kind() == DecisionKind::As {
            return Err(invalid("resolve_too_many"));
        }
        for number in &numbers {
            let conflict = event.conflicts.iter().find(|conflict| conflict.view.number == *number);
            let conflict = conflict.ok_or_else(|| invalid("conflict_unknown"))?;
            if conflict.view.decisions.last().is_some_and(|last| last.kind != DecisionKind::Keep) {
                return Err(refused("conflict_decided"));
            }
            if conflict.view.text.is_none() && request.decision.kind() != DecisionKind::Keep {
                return Err(refused("content_gone"));
            }
        }
        let rerun = matches!(request.decision, Decision::Accept { run: true }) && event.job.state != JobState::Pending;
        let mut new_run = event.case(Runs::All);
        if rerun && self.plain_ledger(at).rerun(&mut new_run).is_err() {
            return Err(refused("effects_open"));
        }
        // Everything can be done but what the gate refuses, and then nothing else was.
        let entered = match &request.decision {
            Decision::As(id) => Some(self.enter(request.event, numbers[0], id, at)?),
            _ => None,
        };
        let event = self.by_number(request.event).expect("it was there");
        for number in &numbers {
            event.decide(*number, request, entered.map(|(_, event)| event), at);
        }
        if rerun {
            self.reruns(request.event, at);
        }
        let event = self.by_number(request.event).expect("it was there");
        Ok(Resolved {
            decided_at: at,
            conflicts: numbers,
            revision: event.revisions.last().map_or(1, |newest| newest.number),
            state: event.job.state,
            run: event.job.run,
            rerun,
            entered,
        })
    }

    /// Lets the content of a conflict through the gate under another id.
    fn enter(
        &mut self,
        event: EventNumber,
        conflict: u32,
        id: &EventId,
        at: Timestamp,
    ) -> Result<(Verdict, EventNumber), StoreError> {
        let known = self.by_number(event).expect("it was there");
        let conflict = &known.conflicts[conflict as usize - 1];
        let text = conflict.view.text.clone().expect("it was looked at");
        let content = Content::new(text, usize::MAX).expect("it came in");
        let delivery = Delivery { id: id.clone(), content, ..conflict.delivery.clone() };
        if let Some(there) = self.known(&delivery.source, id.as_str())
            && !there.has(delivery.content.fingerprint())
        {
            return Err(StoreError::new(ErrorKind::Conflict, "id_taken"));
        }
        let receipt = self.take(&Intake::Delivery(delivery), at);
        Ok((receipt.verdict, receipt.event.expect("it is no refusal")))
    }

    /// What a step would remove. A step is one stage: calls, then deliveries, then events.
    pub(super) fn prunable(&self, request: &PruneRequest, now: Timestamp) -> Pruned {
        let deliveries = request.deliveries.map(|_| PruneCursor::Deliveries(DeliveryNumber(0)));
        let events = request.texts.map(|_| PruneCursor::Events(EventNumber(0)));
        let mut pruned = Pruned::default();
        match request.after {
            None | Some(PruneCursor::Ops(_)) => {
                pruned.ops = self.ops.values().filter(|call| is_old(call.at, now, OPS_KEPT)).count() as u64;
                pruned.next = deliveries.or(events);
            }
            Some(PruneCursor::Deliveries(_)) => {
                let last = self.last_number;
                let old =
                    |event: &Event| event.later.iter().filter(|later| is_prunable(later, request, now, last)).count();
                pruned.deliveries = self.events.values().map(old).sum::<usize>() as u64;
                pruned.next = events;
            }
            Some(PruneCursor::Events(_)) => {
                pruned.events = self.events.values().filter(|event| event.is_prunable(request, now)).count() as u64;
            }
        }
        pruned
    }

    pub(super) fn prune(&mut self, request: &PruneRequest, now: Timestamp) {
        match request.after {
            None | Some(PruneCursor::Ops(_)) => self.ops.retain(|_, call| !is_old(call.at, now, OPS_KEPT)),
            Some(PruneCursor::Deliveries(_)) => {
                let last = self.last_number;
                for event in self.events.values_mut() {
                    let (old, kept): (Vec<_>, Vec<_>) =
                        event.later.drain(..).partition(|later| is_prunable(later, request, now, last));
                    event.later = kept;
                    self.log.retain(|logged| old.iter().all(|later| later.number != logged.number));
                    for later in &old {
                        self.book.forget_delivery(later.number);
                    }
                    for later in old {
                        let so_far = event.pruned.unwrap_or(PrunedDeliveries {
                            count: 0,
                            first_at: later.received_at,
                            last_at: later.received_at,
                        });
                        event.pruned = Some(PrunedDeliveries {
                            count: so_far.count + 1,
                            first_at: so_far.first_at.min(later.received_at),
                            last_at: so_far.last_at.max(later.received_at),
                        });
                    }
                    self.book.write_down_pruned(event);
                }
            }
            Some(PruneCursor::Events(_)) => {
                for event in self.events.values_mut().filter(|event| event.is_prunable(request, now)) {
                    event.forget_texts();
                    event.pruned_at = Some(now);
                    self.book.write_down(event);
                }
            }
        }
    }

    pub(super) fn erase(&mut self, request: &EraseRequest, at: Timestamp) -> Result<Option<Erased>, StoreError> {
        let Some(identity) = self.identity_of(&request.source, &request.id) else { return Ok(None) };
        let namespace = self.book.namespace;
        let Some(event) = self.events.get_mut(&identity) else { return Ok(None) };
        if event.machine.state == JobState::Running && !event.machine.is_expired(at) {
            return Err(StoreError::new(ErrorKind::Conflict, "job_running"));
        }
        let (number, before, lease) = (event.job.event, event.job.state, event.machine.lease);
        if !matches!(before, JobState::Done | JobState::Cancelled) {
            let ledger = self.plain_ledger(at);
            self.decide(number, Runs::Present, at, |case| ledger.cancel(case)).expect("it has not ended");
            self.ends_attempt(number, lease, Outcome::Crashed, at);
        }
        let event = self.events.get_mut(&identity).expect("it was there");
        let cancelled = before != JobState::Cancelled && event.job.state == JobState::Cancelled;
        event.erase(&namespace, request, cancelled, at);
        self.book.forget_details(&request.id);
        self.book.write_down(event);
        let erased = Erased {
            event: event.job.event,
            erased_at: event.job.erased_at.unwrap_or(at),
            cancelled,
            gone: true,
            next: None,
        };
        let event = self.events.remove(&identity).expect("it was there");
        self.events.insert(erased_identity(&namespace, &request.source, &request.id), event);
        self.has_erased = true;
        for refusal in self.refusals.iter_mut().filter(|refusal| names(&refusal.detail, &request.id)) {
            refusal.detail = String::new();
        }
        let named = |detail: &String| names(detail, &request.id);
        for logged in self.log.iter_mut().filter(|logged| logged.detail.as_ref().is_some_and(named)) {
            logged.detail = Some(String::new());
        }
        self.forget_in_log(erased.event);
        Ok(Some(erased))
    }
}

impl Memory {
    /// What the log tells of the deliveries of an erased event.
    pub(super) fn forget_in_log(&mut self, number: EventNumber) {
        let Some(event) = self.events.values().find(|event| event.job.event == number) else { return };
        for logged in self.log.iter_mut().filter(|logged| logged.event == Some(number)) {
            logged.id = Some(event.job.id.clone());
            logged.event_type = None;
            logged.origin = None;
        }
    }
}

fn is_old(at: Timestamp, now: Timestamp, age: std::time::Duration) -> bool {
    let age = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
    at.as_micros() <= now.as_micros().saturating_sub(age)
}

/// The one with the highest number of all stays.
fn is_prunable(later: &DeliveryView, request: &PruneRequest, now: Timestamp, last_number: i64) -> bool {
    let old = |age: std::time::Duration| is_old(later.received_at, now, age.max(OPS_KEPT));
    later.verdict == Verdict::Duplicate && later.number.0 < last_number && request.deliveries.is_some_and(old)
}

impl Event {
    fn decide(&mut self, number: u32, request: &ResolveRequest, entered: Option<EventNumber>, at: Timestamp) {
        let conflict = &mut self.conflicts[number as usize - 1].view;
        conflict.decisions.push(DecisionView {
            kind: request.decision.kind(),
            decided_at: at,
            note: request.note.clone(),
            entered,
        });
        if let Decision::Accept { .. } = request.decision {
            self.revisions.push(RevisionView {
                number: self.revisions.len() as u32 + 1,
                fingerprint: conflict.fingerprint,
                accepted_at: at,
                conflict: Some(number),
                text: conflict.text.clone(),
            });
        }
        self.pruned_at = None;
    }

    fn is_prunable(&self, request: &PruneRequest, now: Timestamp) -> bool {
        let Some(age) = request.texts else { return false };
        let settled =
            |decisions: &[DecisionView]| decisions.last().is_some_and(|last| is_old(last.decided_at, now, age));
        matches!(self.job.state, JobState::Done | JobState::Cancelled)
            && is_old(self.changed_at.unwrap_or(self.job.received_at), now, age)
            && self.job.erased_at.is_none()
            && !self.has_open_effects()
            && self.pruned_at.is_none_or(|pruned_at| pruned_at < self.changed_at.unwrap_or(self.job.received_at))
            && self.conflicts.iter().all(|conflict| settled(&conflict.view.decisions))
    }

    fn forget_texts(&mut self) {
        self.revisions.iter_mut().for_each(|revision| revision.text = None);
        self.conflicts.iter_mut().for_each(|conflict| conflict.view.text = None);
        self.result = None;
        for attempt in &mut self.attempts {
            attempt.late = None;
            attempt.report.error = None;
            attempt.report.stdout.clear();
            attempt.report.stderr.clear();
        }
        self.effects.iter_mut().for_each(|kept| kept.forget(false));
    }

    fn erase(&mut self, namespace: &[u8], request: &EraseRequest, cancelled: bool, at: Timestamp) {
        self.forget_texts();
        self.job.id = erased_id(namespace, request.source.as_str(), &request.id);
        self.job.erased_at.get_or_insert(at);
        self.job.event_type = None;
        self.job.resource_id = None;
        if cancelled {
            self.moves_to(Job { reason: "erased".into(), ..self.machine.clone() }, at);
        }
        self.effects.iter_mut().for_each(|kept| kept.forget(true));
        self.conflicts.iter_mut().flat_map(|conflict| &mut conflict.view.decisions).for_each(|made| made.note = None);
        self.later.iter_mut().for_each(|later| later.origin = None);
    }
}
