//! Leases in the model: the moves of the core over plain vectors.

use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::{Denied, Draw, Job, JobState, LeaseToken, Outcome, RetryPolicy};
use cola_ia_core::store::{
    Claim, ClaimRequest, End, Ended, ErrorKind, LEASES_MAX, LeaseLost, Leased, OpId, Order, OrderRefused, Recovered,
    StoreError,
};

use super::{Event, Memory};

/// One lease of a job.
#[derive(Debug, Clone)]
pub(super) struct Attempt {
    token: LeaseToken,
    run: u32,
    number: u32,
    ended: Option<(Outcome, Ended)>,
}

/// Answers to orders, by their op.
pub(super) type Orders = std::collections::BTreeMap<OpId, (Order, Vec<EventNumber>, Vec<Result<Ended, OrderRefused>>)>;

impl Event {
    fn moves_to(&mut self, job: Job) {
        self.job.state = job.state;
        self.job.reason = job.reason.to_string();
        self.job.run = job.run;
        self.job.attempts = job.attempts;
        self.job.due_at = job.due_at;
        self.machine = job;
    }

    /// Ends the attempt that is not ended yet, if there is one.
    fn end_attempt(&mut self, outcome: Outcome) {
        let ended = Ended { state: self.machine.state, due_at: self.machine.due_at };
        for attempt in &mut self.attempts {
            if attempt.ended.is_none() {
                attempt.ended = Some((outcome, ended));
            }
        }
    }

    fn newest(&self) -> u32 {
        let of_run = self.attempts.iter().filter(|attempt| attempt.run == self.machine.run);
        of_run.map(|attempt| attempt.number).max().unwrap_or(0)
    }

    fn lost(&self, attempt: &Attempt) -> LeaseLost {
        let newest = self.newest();
        let superseded = attempt.run == self.machine.run && newest != attempt.number;
        LeaseLost { superseded_by: superseded.then_some(newest) }
    }
}

impl Memory {
    fn by_number(&mut self, number: EventNumber) -> Option<&mut Event> {
        self.events.values_mut().find(|event| event.job.event == number)
    }

    fn by_token(&mut self, token: LeaseToken) -> Option<(&mut Event, Attempt)> {
        self.events.values_mut().find_map(|event| {
            let attempt = event.attempts.iter().find(|attempt| attempt.token == token)?.clone();
            Some((event, attempt))
        })
    }

    pub(super) fn claim(&mut self, op: OpId, request: &ClaimRequest, at: Timestamp) -> Claim {
        let made_by_op = |token: LeaseToken| token.0[..16] == op.0;
        let mut before: Vec<Leased> = Vec::new();
        for event in self.events.values() {
            let Some(lease) = event.machine.lease.filter(|lease| made_by_op(lease.token)) else { continue };
            before.push(event.leased(lease.token, lease.until));
        }
        let given = self.events.values().flat_map(|event| &event.attempts).any(|attempt| made_by_op(attempt.token));
        if given {
            before.sort_by_key(|leased| leased.token);
            return Claim { at, leases: before, next_due: None };
        }
        let wanted = |event: &&mut Event| request.source.as_ref().is_none_or(|source| *source == event.job.source);
        let mut pending: Vec<&mut Event> =
            self.events.values_mut().filter(wanted).filter(|event| event.machine.state == JobState::Pending).collect();
        pending.sort_by_key(|event| (event.machine.due_at, event.job.event));
        let next_due = pending.first().and_then(|event| event.machine.due_at);
        let due = pending.into_iter().filter(|event| event.machine.is_due(at));
        let limit = (request.limit as usize).clamp(1, LEASES_MAX);
        let mut leases = Vec::new();
        for (place, event) in (0..).zip(due.take(limit)) {
            let token = LeaseToken::new(op.0, place);
            let job = event.machine.claim(at, token, request.lease).expect("it is due");
            let number = event.newest() + 1;
            event.attempts.push(Attempt { token, run: job.run, number, ended: None });
            let until = job.lease.expect("it is leased").until;
            event.moves_to(job);
            leases.push(event.leased(token, until));
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
            let (event, attempt) = self.by_token(*token).ok_or(LeaseLost { superseded_by: None })?;
            let job = event.machine.extend(at, *token, length).map_err(|_| event.lost(&attempt))?;
            let until = job.lease.expect("it is leased").until;
            event.moves_to(job);
            Ok(until)
        };
        leases.iter().map(&mut one).collect()
    }

    pub(super) fn end(&mut self, ends: &[End], policy: &RetryPolicy, at: Timestamp) -> Vec<Result<Ended, LeaseLost>> {
        let mut one = |end: &End| {
            let (event, attempt) = self.by_token(end.token).ok_or(LeaseLost { superseded_by: None })?;
            if let Some((outcome, ended)) = attempt.ended
                && outcome == end.ending.outcome()
            {
                return Ok(ended);
            }
            let moved = event.machine.end(at, end.token, end.ending, policy, Draw::of(end.token));
            let (job, outcome) = moved.map_err(|_| event.lost(&attempt))?;
            let ended = Ended { state: job.state, due_at: job.due_at };
            event.moves_to(job);
            event.end_attempt(outcome);
            if let Some(resource) = &end.report.resource_id {
                event.job.resource_id = Some(resource.clone());
            }
            Ok(ended)
        };
        ends.iter().map(&mut one).collect()
    }

    pub(super) fn recover(&mut self, policy: &RetryPolicy, limit: u32, dry_run: bool, at: Timestamp) -> Recovered {
        let limit = (limit as usize).clamp(1, LEASES_MAX);
        let mut expired: Vec<&mut Event> =
            self.events.values_mut().filter(|event| event.machine.is_expired(at)).collect();
        expired.sort_by_key(|event| (event.machine.lease.map(|lease| lease.until), event.job.event));
        let more = expired.len() > limit;
        let mut jobs = Vec::new();
        for event in expired.into_iter().take(limit) {
            let token = event.machine.lease.expect("it runs").token;
            let job = event.machine.expire(at, policy, Draw::of(token)).expect("it ran out");
            jobs.push((event.job.event, Ended { state: job.state, due_at: job.due_at }));
            if !dry_run {
                event.moves_to(job);
                event.end_attempt(Outcome::Crashed);
            }
        }
        Recovered { jobs, more }
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
        if self.ops.contains_key(&op) {
            return Err(StoreError::new(ErrorKind::Conflict, "op_reused"));
        }
        if let Some((first_order, first_jobs, answers)) = self.orders.get(&op) {
            return if *first_order == order && first_jobs == jobs {
                Ok(answers.clone())
            } else {
                Err(StoreError::new(ErrorKind::Conflict, "op_reused"))
            };
        }
        let mut one = |number: &EventNumber| {
            let event = self.by_number(*number).ok_or(OrderRefused::Missing)?;
            let moved = match order {
                Order::Cancel => event.machine.cancel(),
                Order::Retry => event.machine.retry(at),
                Order::Replay => event.machine.replay(at),
            };
            let state = event.machine.state;
            let job = moved.map_err(|denied| match denied {
                Denied::State(state) => OrderRefused::State(state),
                Denied::LeaseLost => OrderRefused::State(state),
            })?;
            let ended = Ended { state: job.state, due_at: job.due_at };
            event.moves_to(job);
            event.end_attempt(Outcome::LeaseLost);
            Ok(ended)
        };
        let answers: Vec<_> = jobs.iter().map(&mut one).collect();
        self.orders.insert(op, (order, jobs.to_vec(), answers.clone()));
        Ok(answers)
    }
}

impl Event {
    fn leased(&self, token: LeaseToken, until: Timestamp) -> Leased {
        let attempt = self.attempts.iter().find(|attempt| attempt.token == token).expect("an attempt a lease");
        Leased { token, until, attempt: attempt.number, job: self.job.clone(), text: self.content.text().to_owned() }
    }
}
