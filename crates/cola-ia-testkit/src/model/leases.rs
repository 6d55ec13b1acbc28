//! Leases in the model: the moves of the core over plain vectors.

use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{self, Case, EndAnswer, Ledger, OrderDenied};
use cola_ia_core::event::Source;
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::{Ending, Job, JobState, Lease, LeaseToken, Outcome, RetryPolicy, Sign, Streak};
use cola_ia_core::store::{
    AttemptView, Claim, ClaimRequest, Cursor, ERROR_CLASS_MAX_BYTES, ERROR_MAX_BYTES, End, EndRefused, Ended,
    ErrorKind, HISTORY_MAX, LEASES_MAX, LeaseLost, Leased, ListRequest, OpId, Order, OrderRefused, Page,
    RESOURCE_ID_MAX_BYTES, RESULT_MAX_BYTES, Recovered, Report, SourceView, StoreError, WORKER_NAME_MAX_BYTES, fitting,
    last_bytes,
};

use super::effects::Runs;
use super::{Call, Event, First, Memory, op_reused};

/// How a source stands.
#[derive(Debug, Clone, Default)]
pub(super) struct Standing {
    streak: Option<Streak>,
    paused_at: Option<Timestamp>,
}

/// One lease of a job.
#[derive(Debug, Clone)]
pub(super) struct Attempt {
    /// Its number in the store.
    pub(super) row: i64,
    /// The lease's token; one that was imported may be of another shape.
    pub(super) lease: Vec<u8>,
    pub(super) run: u32,
    pub(super) number: u32,
    pub(super) worker: String,
    pub(super) started_at: Timestamp,
    pub(super) ended_at: Option<Timestamp>,
    pub(super) outcome: Option<Outcome>,
    /// Where it left its job.
    pub(super) to: Option<Ended>,
    /// As far as attempts keep it.
    pub(super) report: Report,
    pub(super) late: Option<String>,
}

impl Attempt {
    /// The first word counts, and any word more than a heartbeat.
    pub(super) fn is_late(&mut self, said: &str) {
        if self.late.as_deref().is_none_or(|before| before == "extend") {
            self.late = Some(said.to_owned());
        }
    }

    fn went_wrong(&self) -> bool {
        let wrong = [Outcome::Error, Outcome::Crashed, Outcome::TimedOut, Outcome::LeaseLost];
        self.outcome.is_some_and(|outcome| wrong.contains(&outcome))
    }

    fn view(&self, event: &Event, outputs: bool) -> AttemptView {
        let number = |number: Option<i32>| number.map(i64::from);
        let written =
            |bytes: &[u8]| (outputs && !bytes.is_empty()).then(|| String::from_utf8_lossy(bytes).into_owned());
        AttemptView {
            attempt: self.row,
            event: event.job.event,
            source: event.job.source.clone(),
            id: event.job.id.clone(),
            run: self.run,
            number: self.number,
            worker: self.worker.clone(),
            started_at: self.started_at,
            ended_at: self.ended_at,
            outcome: self.outcome.map(|outcome| outcome.as_str().to_owned()),
            exit_code: number(self.report.exit_code),
            signal: number(self.report.signal),
            error_class: self.report.error_class.clone(),
            error: self.report.error.clone(),
            cost_micros: self.report.cost_micros,
            tokens_in: self.report.tokens_in,
            tokens_out: self.report.tokens_out,
            model: self.report.model.clone(),
            late: self.late.clone(),
            stdout: written(&self.report.stdout),
            stderr: written(&self.report.stderr),
        }
    }
}

/// What an attempt keeps of what its worker tells; the resource and the result are the job's.
fn kept(report: &Report) -> Report {
    let cut = |text: &Option<String>, most| text.as_ref().map(|text| fitting(text, most));
    Report {
        error_class: cut(&report.error_class, ERROR_CLASS_MAX_BYTES),
        error: cut(&report.error, ERROR_MAX_BYTES),
        model: cut(&report.model, ERROR_CLASS_MAX_BYTES),
        stdout: last_bytes(&report.stdout).to_vec(),
        stderr: last_bytes(&report.stderr).to_vec(),
        resource_id: None,
        result: None,
        ..*report
    }
}

impl Event {
    /// The job moves; whoever had a lease has it no more, if it says so.
    pub(super) fn moves_to(&mut self, job: Job, at: Timestamp) {
        self.job.state = job.state;
        self.job.reason = job.reason.to_string();
        self.job.attempts = job.attempts;
        self.job.due_at = job.due_at;
        self.job.lease_until = job.lease.map(|lease| lease.until);
        if self.job.run != job.run {
            self.leases = 0;
        }
        self.job.run = job.run;
        if job.lease.is_none() {
            self.worker = None;
        }
        self.machine = job;
        self.changed_at = Some(at);
    }

    /// Ends the attempt of this lease, which its job has left.
    pub(super) fn end_attempt(&mut self, lease: Option<Lease>, outcome: Outcome, report: &Report, at: Timestamp) {
        let Some(lease) = lease else { return };
        let ended = Ended { state: self.machine.state, due_at: self.machine.due_at };
        for attempt in self.attempts.iter_mut().filter(|attempt| attempt.lease == lease.token.0) {
            attempt.ended_at = Some(at);
            attempt.outcome = Some(outcome);
            attempt.to = Some(ended);
            attempt.report = kept(report);
        }
    }

    fn lost(&self, run: u32, number: u32) -> LeaseLost {
        let superseded = run == self.machine.run && self.leases != number;
        LeaseLost { superseded_by: superseded.then_some(self.leases) }
    }

    fn leased(&self, lease: Lease, ledger: &Ledger) -> Leased {
        let of_it = |attempt: &&Attempt| attempt.lease == lease.token.0;
        let attempt = self.attempts.iter().find(of_it).expect("an attempt a lease");
        let text = self.revisions.last().and_then(|newest| newest.text.clone()).unwrap_or_default();
        let crashes = self.machine.crashes;
        Leased {
            token: lease.token,
            until: lease.until,
            attempt: attempt.number,
            crashes,
            job: self.job.clone(),
            text,
            effects: self.effects_so_far(ledger),
        }
    }

    /// The latest attempts, newest first, with what they wrote.
    pub(super) fn attempt_views(&self) -> Vec<AttemptView> {
        let mut attempts: Vec<&Attempt> = self.attempts.iter().collect();
        attempts.sort_by_key(|attempt| std::cmp::Reverse((attempt.run, attempt.number)));
        attempts.into_iter().take(HISTORY_MAX).map(|attempt| attempt.view(self, true)).collect()
    }
}

impl Memory {
    /// The event of a lease that was given, and the place of its attempt.
    pub(super) fn by_token(&mut self, token: LeaseToken) -> Option<(&mut Event, usize)> {
        self.events.values_mut().find_map(|event| {
            let place = event.attempts.iter().position(|attempt| attempt.lease == token.0)?;
            Some((event, place))
        })
    }

    pub(super) fn claim(&mut self, op: OpId, request: &ClaimRequest, at: Timestamp) -> Claim {
        let ledger = self.plain_ledger(at);
        let given = |attempt: &Attempt| attempt.lease.len() == 18 && attempt.lease[..16] == op.0;
        if self.events.values().flat_map(|event| &event.attempts).any(given) {
            let of_op = |event: &Event| event.machine.lease.filter(|lease| lease.token.0[..16] == op.0);
            let mut before: Vec<Leased> = self
                .events
                .values()
                .filter_map(|event| of_op(event).map(|lease| event.leased(lease, &ledger)))
                .collect();
            before.sort_by_key(|leased| leased.token);
            return Claim { at, leases: before, next_due: None };
        }
        let next = self.events.values().flat_map(|event| &event.attempts).map(|attempt| attempt.row).max();
        let paused = |source: &Source| self.streaks.get(source).is_some_and(|standing| standing.paused_at.is_some());
        let wanted = |event: &&mut Event| {
            !paused(&event.job.source) && request.source.as_ref().is_none_or(|source| *source == event.job.source)
        };
        let mut pending: Vec<&mut Event> =
            self.events.values_mut().filter(wanted).filter(|event| event.machine.state == JobState::Pending).collect();
        pending.sort_by_key(|event| (event.machine.due_at, event.job.event));
        let next_due = pending.first().and_then(|event| event.machine.due_at);
        let due = pending.into_iter().filter(|event| event.machine.is_due(at));
        let limit = (request.limit as usize).clamp(1, LEASES_MAX);
        let worker = fitting(&request.worker, WORKER_NAME_MAX_BYTES);
        let mut leases = Vec::new();
        for ((place, event), row) in (0..).zip(due.take(limit)).zip(next.unwrap_or_default() + 1..) {
            let token = LeaseToken::new(op.0, place);
            let job = event.machine.claim(at, token, request.lease).expect("it is due");
            let lease = job.lease.expect("it is leased");
            event.moves_to(job, at);
            event.worker = Some(worker.clone());
            event.leases += 1;
            event.attempts.push(Attempt {
                row,
                lease: token.0.to_vec(),
                run: event.machine.run,
                number: event.leases,
                worker: worker.clone(),
                started_at: at,
                ended_at: None,
                outcome: None,
                to: None,
                report: Report::default(),
                late: None,
            });
            self.book.write_down(event);
            leases.push(event.leased(lease, &ledger));
        }
        let next_due = if leases.is_empty() { next_due } else { None };
        Claim { at, leases, next_due }
    }

    pub(super) fn extend(
        &mut self,
        leases: &[LeaseToken],
        length: Duration,
        at: Timestamp,
    ) -> Vec<Result<Timestamp, LeaseLost>> {
        let mut one = |token: &LeaseToken| {
            let (event, place) = self.by_token(*token).ok_or(LeaseLost { superseded_by: None })?;
            let extended = event.machine.extend(at, *token, length).ok().and_then(|job| job.lease);
            let answer = if let Some(lease) = extended {
                event.machine.lease = Some(lease);
                event.job.lease_until = Some(lease.until);
                Ok(lease.until)
            } else {
                event.attempts[place].is_late("extend");
                Err(event.lost(event.attempts[place].run, event.attempts[place].number))
            };
            let number = event.job.event;
            self.write_down(number);
            answer
        };
        leases.iter().map(&mut one).collect()
    }

    pub(super) fn end(&mut self, ends: &[End], policy: &RetryPolicy, at: Timestamp) -> Vec<Result<Ended, EndRefused>> {
        ends.iter().map(|end| self.end_one(end, policy, at)).collect()
    }

    fn end_one(&mut self, end: &End, policy: &RetryPolicy, at: Timestamp) -> Result<Ended, EndRefused> {
        let unheard_of = EndRefused::LeaseLost(LeaseLost { superseded_by: None });
        let (event, place) = self.by_token(end.token).ok_or(unheard_of)?;
        let (number, source, lease) = (event.job.event, event.job.source.clone(), event.machine.lease);
        let to = event.attempts[place].to;
        let before = event.attempts[place].outcome.filter(|_| to.is_some());
        let ledger = self.ledger(policy, at);
        let answer = self.decide(number, Runs::Present, at, |case| {
            let answer = ledger.end(case, end.token, end.ending, before);
            (answer, names_of_open(case))
        });
        let event = self.by_number(number).expect("it was there");
        let answer = match answer {
            (Ok(EndAnswer::Before), _) => {
                self.hear_late_cost(number, place, &end.report, at);
                Ok(to.expect("it has ended"))
            }
            (Ok(EndAnswer::Now(outcome)), _) => {
                event.end_attempt(lease, outcome, &end.report, at);
                if let Some(resource) = &end.report.resource_id {
                    event.job.resource_id = Some(fitting(resource, RESOURCE_ID_MAX_BYTES));
                }
                if let Some(result) = &end.report.result {
                    event.result = Some(fitting(result, RESULT_MAX_BYTES));
                }
                let ended = event.ended();
                self.money.add_attempt(&source, &end.report, at);
                if let Some(sign) = Sign::of(end.ending, end.report.error_class.as_deref()) {
                    self.hear(source, number, &sign, policy, at);
                }
                Ok(ended)
            }
            (Err(effect::EndRefused::Unresolved), open) => Err(EndRefused::Unresolved(open)),
            (Err(effect::EndRefused::LeaseLost), _) => {
                event.attempts[place].is_late(match end.ending {
                    Ending::Done => "complete",
                    Ending::Failed { .. } => "fail",
                    Ending::Later { .. } | Ending::Released => "release",
                });
                let (run, attempt) = (event.attempts[place].run, event.attempts[place].number);
                let lost = event.lost(run, attempt);
                self.hear_late_cost(number, place, &end.report, at);
                Err(EndRefused::LeaseLost(lost))
            }
        };
        self.write_down(number);
        answer
    }

    /// What an attempt cost, told after its end: each part counts that was not told before, in the day of the end.
    fn hear_late_cost(&mut self, number: EventNumber, place: usize, told: &Report, at: Timestamp) {
        let event = self.by_number(number).expect("it was there");
        let Attempt { report: known, ended_at, .. } = &mut event.attempts[place];
        let had_any = known.cost_micros.or(known.tokens_in).or(known.tokens_out).is_some();
        let mut late = Report::default();
        for (known, told, late) in [
            (&mut known.cost_micros, told.cost_micros, &mut late.cost_micros),
            (&mut known.tokens_in, told.tokens_in, &mut late.tokens_in),
            (&mut known.tokens_out, told.tokens_out, &mut late.tokens_out),
        ] {
            if known.is_none() {
                (*known, *late) = (told, told);
            }
        }
        if late == Report::default() {
            return;
        }
        if !had_any && known.model.is_none() {
            known.model = kept(told).model;
        }
        late.model.clone_from(&known.model);
        let (day, source) = (ended_at.unwrap_or(at), event.job.source.clone());
        self.money.add_attempt(&source, &late, day);
    }

    pub(super) fn recover(&mut self, policy: &RetryPolicy, limit: u32, dry_run: bool, at: Timestamp) -> Recovered {
        let limit = (limit as usize).clamp(1, LEASES_MAX);
        let mut expired: Vec<&Event> = self.events.values().filter(|event| event.machine.is_expired(at)).collect();
        expired.sort_by_key(|event| (event.machine.lease.map(|lease| lease.until), event.job.event));
        let more = expired.len() > limit;
        let expired: Vec<EventNumber> = expired.into_iter().take(limit).map(|event| event.job.event).collect();
        let ledger = self.ledger(policy, at);
        let mut jobs = Vec::new();
        for number in &expired {
            let event = self.by_number(*number).expect("it was there");
            if dry_run {
                let mut case = event.case(Runs::Present);
                ledger.expire(&mut case).expect("it ran out");
                jobs.push((*number, Ended { state: case.job.state, due_at: case.job.due_at }));
            } else {
                let lease = event.machine.lease;
                self.decide(*number, Runs::Present, at, |case| ledger.expire(case)).expect("it ran out");
                jobs.push((*number, self.ends_attempt(*number, lease, Outcome::Crashed, at)));
            }
        }
        for number in expired.into_iter().filter(|_| !dry_run) {
            let source = self.by_number(number).expect("it was there").job.source.clone();
            self.hear(source, number, &Sign::of_lost_worker(), policy, at);
        }
        Recovered { jobs, more }
    }

    /// Ends the attempt of a lease that its job has left, and tells where the job is.
    pub(super) fn ends_attempt(
        &mut self,
        number: EventNumber,
        lease: Option<Lease>,
        outcome: Outcome,
        at: Timestamp,
    ) -> Ended {
        let event = self.by_number(number).expect("the caller has seen it");
        event.end_attempt(lease, outcome, &Report::default(), at);
        let ended = event.ended();
        self.write_down(number);
        ended
    }

    pub(super) fn order(
        &mut self,
        op: OpId,
        order: Order,
        jobs: &[EventNumber],
        at: Timestamp,
    ) -> Result<Vec<Result<Ended, OrderRefused>>, StoreError> {
        if jobs.len() > LEASES_MAX {
            return Err(StoreError::new(ErrorKind::Invalid, "too_many_jobs"));
        }
        match self.ops.get(&op).map(|call| &call.first) {
            Some(First::Order(asked, of, first)) if (*asked, of.as_slice()) == (order, jobs) => {
                return Ok(first.clone());
            }
            Some(_) => return Err(op_reused()),
            None => {}
        }
        let answers: Vec<_> = jobs.iter().map(|number| self.ordered(*number, order, at)).collect();
        self.ops.insert(op, Call { at, first: First::Order(order, jobs.to_vec(), answers.clone()) });
        Ok(answers)
    }

    fn ordered(&mut self, number: EventNumber, order: Order, at: Timestamp) -> Result<Ended, OrderRefused> {
        let ledger = self.plain_ledger(at);
        let follow = |case: &mut Case| match order {
            Order::Cancel => ledger.cancel(case),
            Order::Retry => ledger.retry(case),
            Order::Replay => ledger.replay(case),
        };
        let event = self.by_number(number).ok_or(OrderRefused::Missing)?;
        let denied = follow(&mut event.case(Runs::All)).err();
        let content_gone = event.revisions.iter().all(|revision| revision.text.is_none());
        match denied {
            Some(OrderDenied::State(state)) => return Err(OrderRefused::State(state)),
            _ if order != Order::Cancel && content_gone => return Err(OrderRefused::ContentGone),
            Some(OrderDenied::EffectsOpen) => return Err(OrderRefused::EffectsOpen),
            Some(OrderDenied::Abandoned) => return Err(OrderRefused::EffectAbandoned),
            None => {}
        }
        let lease = event.machine.lease;
        event.changed_at = Some(at);
        event.pruned_at = None;
        self.decide(number, Runs::All, at, follow).expect("it was not refused");
        Ok(self.ends_attempt(number, lease, Outcome::LeaseLost, at))
    }

    /// A new run, by a person's word.
    pub(super) fn reruns(&mut self, number: EventNumber, at: Timestamp) {
        let ledger = self.plain_ledger(at);
        let event = self.by_number(number).expect("the caller has seen it");
        let lease = event.machine.lease;
        event.pruned_at = None;
        self.decide(number, Runs::All, at, |case| ledger.rerun(case)).expect("no effect is open");
        self.ends_attempt(number, lease, Outcome::LeaseLost, at);
    }

    fn hear(&mut self, source: Source, event: EventNumber, sign: &Sign, policy: &RetryPolicy, at: Timestamp) {
        let standing = self.streaks.entry(source).or_default();
        standing.streak = Streak::after(standing.streak.take(), event, sign, at);
        if standing.streak.as_ref().is_some_and(|streak| streak.pauses(policy.pause_after)) {
            standing.paused_at.get_or_insert(at);
        }
    }

    pub(super) fn sources(&self, filter: &Filter, now: Timestamp) -> Vec<SourceView> {
        let mut sources = self.book.sources();
        sources.sort();
        let expired = |source: &Source| {
            let of_it = self.events.values().filter(|event| event.job.source == *source);
            of_it.filter(|event| event.machine.is_expired(now)).count() as u64
        };
        let due_at = |source: &Source| {
            let of_it = self.events.values().filter(|event| event.job.source == *source);
            of_it
                .filter(|event| event.machine.state == JobState::Pending)
                .filter_map(|event| event.machine.due_at)
                .min()
        };
        let view = |source: Source| {
            let standing = self.streaks.get(&source).cloned().unwrap_or_default();
            let Standing { streak, paused_at } = standing;
            SourceView { expired: expired(&source), due_at: due_at(&source), source, streak, paused_at }
        };
        sources.into_iter().filter(|source| filter.takes_source(Some(source))).map(view).collect()
    }

    pub(super) fn resume(&mut self, op: OpId, source: &Source, at: Timestamp) -> Result<bool, StoreError> {
        match self.ops.get(&op).map(|call| &call.first) {
            Some(First::Resume(asked, first)) if asked == source => return Ok(*first),
            Some(_) => return Err(op_reused()),
            None => {}
        }
        if !self.book.sources().contains(source) {
            return Err(StoreError::new(ErrorKind::Invalid, "source_unknown"));
        }
        let paused = self.streaks.get(source).is_some_and(|standing| standing.paused_at.is_some());
        if paused {
            self.streaks.remove(source);
        }
        self.ops.insert(op, Call { at, first: First::Resume(source.clone(), paused) });
        Ok(paused)
    }

    /// Jobs that are running wait again and have their attempt back; answers how many.
    pub(super) fn void_leases(&mut self, now: Timestamp) -> u64 {
        let running = self.events.values().filter(|event| event.machine.state == JobState::Running);
        let running: Vec<EventNumber> = running.map(|event| event.job.event).collect();
        let ledger = self.plain_ledger(now);
        for number in &running {
            let lease = self.by_number(*number).expect("it was there").machine.lease;
            self.decide(*number, Runs::Present, now, |case| ledger.void_lease(case));
            self.ends_attempt(*number, lease, Outcome::LeaseLost, now);
        }
        running.len() as u64
    }

    pub(super) fn attempts(&self, filter: &Filter, request: &ListRequest) -> Result<Page<AttemptView>, StoreError> {
        let unknown = |cursor: &Cursor| {
            let cursor = &cursor.0;
            cursor
                .parse::<i64>()
                .map_err(|_| StoreError::new(ErrorKind::Invalid, "cursor_unknown").with("cursor", cursor))
        };
        let below = request.after.as_ref().map(unknown).transpose()?;
        let mut found = Vec::new();
        for event in self.events.values() {
            let of_event =
                filter.takes_source(Some(&event.job.source)) && filter.takes_type(event.job.event_type.as_ref());
            let wanted = |attempt: &&Attempt| {
                of_event
                    && attempt.went_wrong()
                    && below.is_none_or(|below| attempt.row < below)
                    && attempt.ended_at.is_some_and(|ended| filter.takes_time(ended))
                    && filter.takes_reason(attempt.report.error_class.as_deref())
            };
            found.extend(event.attempts.iter().filter(wanted).map(|attempt| attempt.view(event, false)));
        }
        found.sort_by_key(|attempt| std::cmp::Reverse(attempt.attempt));
        let limit = request.limit.clamp(1, 1_000) as usize;
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|last| Cursor(last.attempt.to_string()));
        Ok(Page { items: found, next })
    }
}

/// Effects of the present run whose outcome is open, by name.
fn names_of_open(case: &Case) -> Vec<effect::EffectName> {
    let mut names: Vec<_> = case.open().map(|effect| effect.name.clone()).collect();
    names.sort();
    names
}

impl Event {
    /// Where its job is.
    fn ended(&self) -> Ended {
        Ended { state: self.machine.state, due_at: self.machine.due_at }
    }
}
