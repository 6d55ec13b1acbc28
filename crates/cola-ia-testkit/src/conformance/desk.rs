//! A worker's desk: one job in its hands, and what is done about its effect `pay`. A try may be sent for 10 s and may take 20 s
//! more; what happened can be seen 60 s after that. Instants are told in seconds from the start of the store's clock.

use std::sync::Arc;
use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{
    Begin, BeginAnswer, BeginId, Decision, EffectName, EffectState, Evidence, Micros, Otherwise, Policy, Refused,
    ReportAnswer, SettleAnswer,
};
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::{Ending, JobState, LeaseToken, RetryPolicy, Setback};
use cola_ia_core::store::{
    ClaimRequest, EffectBegun, EffectDecision, EffectRef, EffectView, End, EndRefused, Ended, Failure as NotDone,
    JobRun, JobSummary, Leased, Looked, Order, OrderRefused, Report,
};

use crate::clock::ManualClock;
use crate::events::{event, source};
use crate::harness::{Backend, Failure, Scratch, block_on};

/// Attempts enough, and no waits.
pub(super) const POLICY: RetryPolicy = RetryPolicy {
    max_attempts: 3,
    max_crashes: 3,
    first_wait: Duration::ZERO,
    max_wait: Duration::ZERO,
    pause_after: None,
};

pub(super) const FAILED: Ending = Ending::Failed { setback: Setback::Error, not_before: None };
pub(super) const PERMANENT: Ending = Ending::Failed { setback: Setback::Permanent, not_before: None };

pub(super) const SECOND: Duration = Duration::from_secs(1);
/// How long a lease lasts.
pub(super) const LEASE: Duration = Duration::from_hours(1);
/// When a lookup counts, of a try that was begun at the start: 10 + 20 + 60.
pub(super) const SETTLED: u64 = 90;

pub(super) fn at(second: u64) -> Timestamp {
    ManualClock::START.after(Duration::from_secs(second))
}

pub(super) fn micros(micros: i64) -> Micros {
    Micros::new(micros).expect("the test names an amount within bounds")
}

pub(super) fn name(name: &str) -> EffectName {
    EffectName::new(name).expect("the test names an effect of the right form")
}

/// A person decides.
pub(super) fn hold() -> Policy {
    Policy::default()
}

/// It can be asked.
pub(super) fn lookup() -> Policy {
    Policy { lookup: true, ..Policy::default() }
}

/// It knows keys for so many seconds.
pub(super) fn key(ttl: u64) -> Policy {
    Policy { key_ttl: Some(Duration::from_secs(ttl)), ..Policy::default() }
}

/// At least once.
pub(super) fn retry() -> Policy {
    Policy { otherwise: Otherwise::Retry, ..Policy::default() }
}

/// Evidence of this resource.
pub(super) fn made(id: &str) -> Evidence {
    Evidence { resource_id: Some(id.to_owned()), ..Evidence::default() }
}

pub(super) fn begin_id(number: u32) -> BeginId {
    let mut bytes = [0xb0; 16];
    bytes[12..].copy_from_slice(&number.to_be_bytes());
    BeginId(bytes)
}

/// An answer in a word or two.
pub(super) fn word(answer: &BeginAnswer) -> String {
    let second = |at: Timestamp| (at.as_micros() - ManualClock::START.as_micros()) / 1_000_000;
    match answer {
        BeginAnswer::Go(go) => format!("go {} before {}", go.number, second(go.send_before)),
        BeginAnswer::Done(known) => format!("done {}", known.evidence.resource_id.as_deref().unwrap_or("-")),
        BeginAnswer::Check { ticket, begun_at } => {
            format!("check {ticket} from {}", begun_at.map_or("-".to_owned(), |at| second(at).to_string()))
        }
        BeginAnswer::Wait { until } => format!("wait {}", second(*until)),
        BeginAnswer::Held(reason) => format!("held {}", reason.as_str()),
        BeginAnswer::Used => "used".to_owned(),
        BeginAnswer::Refused(Refused::Budget { resets_at }) => format!("budget {}", second(*resets_at)),
        BeginAnswer::Refused(refused) => format!("{refused:?}"),
    }
}

/// See the module.
pub(super) struct Desk {
    pub(super) scratch: Scratch,
    pub(super) leased: Leased,
    pub(super) policy: Policy,
    pub(super) expected: Option<Micros>,
    pub(super) request: Option<[u8; 32]>,
}

impl Desk {
    /// Of the event `a`.
    pub(super) fn new(backend: &dyn Backend, policy: Policy) -> Result<Self, Failure> {
        let scratch = Scratch::new(backend)?;
        scratch.accept(vec![event("a", "text of a")])?;
        let leased = claim_one(&scratch)?;
        Ok(Self { scratch, leased, policy, expected: None, request: None })
    }

    /// The store's clock shows this second from now on.
    pub(super) fn at(&self, second: u64) {
        self.scratch.clock().set(at(second));
    }

    pub(super) fn asked(&self, effect: &str, id: u32) -> Begin {
        Begin {
            lease: self.leased.token,
            name: name(effect),
            begin_id: begin_id(id),
            policy: self.policy.clone(),
            request: self.request,
            expected: self.expected,
            send_within: 10 * SECOND,
            call_time: 20 * SECOND,
        }
    }

    pub(super) fn begun(&self, begin: Begin) -> Result<EffectBegun, Failure> {
        Ok(block_on(self.scratch.store().effect_begin(begin, POLICY))?)
    }

    pub(super) fn begin_of(&self, effect: &str, id: u32) -> Result<String, Failure> {
        Ok(word(&self.begun(self.asked(effect, id))?.answer))
    }

    /// Begins `pay` under this begin id.
    pub(super) fn begin(&self, id: u32) -> Result<String, Failure> {
        self.begin_of("pay", id)
    }

    pub(super) fn of(&self, number: u32) -> EffectRef {
        self.of_effect("pay", number)
    }

    pub(super) fn of_effect(&self, effect: &str, number: u32) -> EffectRef {
        EffectRef { lease: self.leased.token, name: name(effect), number, job: None }
    }

    /// As [`of`](Self::of), and with the job for a store that does not know the lease.
    pub(super) fn of_job(&self, number: u32) -> EffectRef {
        let JobSummary { source, id, run, .. } = self.leased.job.clone();
        EffectRef { job: Some(JobRun { source, id, run }), ..self.of(number) }
    }

    pub(super) fn done(&self, number: u32, evidence: Evidence) -> Result<ReportAnswer, Failure> {
        self.done_as(self.of(number), evidence)
    }

    pub(super) fn done_as(&self, of: EffectRef, evidence: Evidence) -> Result<ReportAnswer, Failure> {
        Ok(block_on(self.scratch.store().effect_done(of, evidence, POLICY))?)
    }

    pub(super) fn rejected(&self, number: u32) -> Result<ReportAnswer, Failure> {
        self.failed(number, NotDone::Rejected)
    }

    pub(super) fn not_sent(&self, number: u32) -> Result<ReportAnswer, Failure> {
        self.failed(number, NotDone::NotSent)
    }

    fn failed(&self, number: u32, how: NotDone) -> Result<ReportAnswer, Failure> {
        Ok(block_on(self.scratch.store().effect_failed(self.of(number), how, None, POLICY))?)
    }

    pub(super) fn unknown(&self, number: u32) -> Result<ReportAnswer, Failure> {
        Ok(block_on(self.scratch.store().effect_unknown(self.of(number), None, POLICY))?)
    }

    pub(super) fn absent(&self, ticket: u32) -> Result<ReportAnswer, Failure> {
        Ok(block_on(self.scratch.store().effect_resolve(self.of(ticket), Looked::Absent, POLICY))?)
    }

    pub(super) fn found(&self, ticket: u32, evidence: Evidence) -> Result<ReportAnswer, Failure> {
        Ok(block_on(self.scratch.store().effect_resolve(self.of(ticket), Looked::Found(evidence), POLICY))?)
    }

    pub(super) fn decision(&self, number: u32, decision: Decision) -> EffectDecision {
        EffectDecision { event: self.event(), name: name("pay"), number, decision, note: None }
    }

    pub(super) fn decide(&self, decision: EffectDecision) -> Result<SettleAnswer, Failure> {
        let answer = block_on(self.scratch.store().effect_decide(self.scratch.op(), decision, POLICY))?;
        answer.ok_or_else(|| "there is such a job, and a decision finds none".into())
    }

    /// A person's word on `pay`.
    pub(super) fn settle(&self, number: u32, decision: Decision) -> Result<SettleAnswer, Failure> {
        self.decide(self.decision(number, decision))
    }

    pub(super) fn settle_of(&self, effect: &str, number: u32, decision: Decision) -> Result<SettleAnswer, Failure> {
        self.decide(EffectDecision { name: name(effect), ..self.decision(number, decision) })
    }

    pub(super) fn event(&self) -> EventNumber {
        self.leased.job.event
    }

    pub(super) fn say(&self, token: LeaseToken, ending: Ending) -> Result<Result<Ended, EndRefused>, Failure> {
        self.tell(token, ending, Report::default())
    }

    pub(super) fn tell(
        &self,
        token: LeaseToken,
        ending: Ending,
        report: Report,
    ) -> Result<Result<Ended, EndRefused>, Failure> {
        let ends = Arc::new(vec![End { token, ending, report }]);
        let mut answers = block_on(self.scratch.store().end(ends, POLICY))?;
        answers.pop().ok_or_else(|| "an end has no answer".into())
    }

    /// Ends the attempt; answers where the job is then.
    pub(super) fn end(&self, ending: Ending) -> Result<JobState, Failure> {
        let answer = self.say(self.leased.token, ending)?;
        answer.map(|ended| ended.state).map_err(|refused| format!("{ending:?} is answered {refused:?}").into())
    }

    /// The worker is lost: its lease runs out now.
    pub(super) fn lose(&self) -> Result<(), Failure> {
        self.scratch.clock().set(self.leased.until);
        let recovered = block_on(self.scratch.store().recover(POLICY, 9, false))?;
        if recovered.jobs.is_empty() { Err("a lease has run out, and nothing is recovered".into()) } else { Ok(()) }
    }

    /// Another attempt has the job from now on; the clock shows this second.
    pub(super) fn next_attempt(&mut self, second: u64) -> Result<(), Failure> {
        self.at(second);
        self.end(FAILED)?;
        self.claim_again()
    }

    pub(super) fn claim_again(&mut self) -> Result<(), Failure> {
        self.leased = claim_one(&self.scratch)?;
        Ok(())
    }

    pub(super) fn order(&self, order: Order) -> Result<Result<Ended, OrderRefused>, Failure> {
        let mut answers = block_on(self.scratch.store().order(self.scratch.op(), order, vec![self.event()]))?;
        answers.pop().ok_or_else(|| "an order has no answer".into())
    }

    pub(super) fn job(&self) -> Result<JobSummary, Failure> {
        Ok(self.scratch.find_one("a")?.job)
    }

    /// Where the job is, and why.
    pub(super) fn stands(&self) -> Result<(JobState, String), Failure> {
        let job = self.job()?;
        Ok((job.state, job.reason))
    }

    /// All effects of the job, as its history shows them.
    pub(super) fn effects(&self) -> Result<Vec<EffectView>, Failure> {
        Ok(self.scratch.find_one("a")?.effects)
    }

    pub(super) fn view_of(&self, effect: &str) -> Result<EffectView, Failure> {
        let found = self.effects()?.into_iter().find(|view| view.effect.name.as_str() == effect);
        found.ok_or_else(|| format!("there is no effect {effect}").into())
    }

    /// The newest effect `pay`.
    pub(super) fn view(&self) -> Result<EffectView, Failure> {
        self.view_of("pay")
    }

    pub(super) fn state(&self) -> Result<EffectState, Failure> {
        Ok(self.view()?.effect.state)
    }

    /// How its tries ended: a word each, `open` for the others.
    pub(super) fn tries(&self) -> Result<Vec<&'static str>, Failure> {
        let word = |one: &cola_ia_core::effect::Try| one.outcome.map_or("open", |outcome| outcome.as_str());
        Ok(self.view()?.effect.tries.iter().map(word).collect())
    }
}

pub(super) fn claim_one(scratch: &Scratch) -> Result<Leased, Failure> {
    claim_of(scratch, None)
}

/// The job of this source, or of any, that is due first.
pub(super) fn claim_of(scratch: &Scratch, of: Option<&str>) -> Result<Leased, Failure> {
    let request = ClaimRequest { worker: "ana".to_owned(), lease: LEASE, limit: 1, source: of.map(source) };
    let mut claim = block_on(scratch.store().claim(scratch.op(), request))?;
    claim.leases.pop().ok_or_else(|| "a job is due, and none is given".into())
}
