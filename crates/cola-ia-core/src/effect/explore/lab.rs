//! The real ledger, called on the world's jobs.
//!
//! Jobs with their effects are numbered, each once; a call sees nothing but its case, the sums of money and the restored mark,
//! so its answer is kept and the ledger's code runs once for each question that there is.

use std::time::Duration;

use super::search::QuickMap;
use super::world::{Answer, Call, Kind, Scenario, Verb};
use crate::clock::Timestamp;
use crate::effect::{
    Begin, BeginAnswer, BeginId, Budget, Case, Decision, Effect, EffectName, EndAnswer, EndRefused, Evidence, Ledger,
    Micros, Otherwise, Policy, Refused, ReportAnswer, Rule, SettleAnswer, TryOutcome, TryRef, Witness,
};
use crate::job::{Ending, Job, JobState, LeaseToken, Outcome, RetryPolicy, Setback};

/// Ticks that a try may be sent for, that a request may take, that a lookup may miss it, that a key is known.
pub(super) const WINDOW: u8 = 1;
pub(super) const FLIGHT: u8 = 1;
pub(super) const SETTLE: u8 = 1;
pub(super) const TTL: u8 = 3;
/// Ticks after which a restore is so long ago that it could be any longer.
pub(super) const LONG_AGO: u8 = WINDOW + FLIGHT + SETTLE;

const TICK_MICROS: i64 = 1_000_000;
/// Noon: no day ends near.
pub(super) const NOW: Timestamp = Timestamp::from_micros(1_700_049_600_000_000);

fn ticks(count: u8) -> Duration {
    Duration::from_micros(u64::from(count) * TICK_MICROS as u64)
}

fn ago(count: u8) -> Timestamp {
    Timestamp::from_micros(NOW.as_micros() - i64::from(count) * TICK_MICROS)
}

/// What a call did.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done {
    pub(super) case: u32,
    pub(super) reserved: i64,
    pub(super) spent: i64,
    pub(super) answer: Answer,
}

/// All that a call sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Question {
    case: u32,
    call: Call,
    reserved: i64,
    spent: i64,
    budget: i64,
    restored: Option<u8>,
}

pub(super) struct Lab<'s> {
    pub(super) scenario: &'s Scenario,
    removed: Vec<Rule>,
    names: Vec<EffectName>,
    cases: Vec<Case>,
    numbers: QuickMap<(Job, Vec<Effect>), u32>,
    answers: QuickMap<Question, Done>,
    ticked: QuickMap<u32, u32>,
    seen: QuickMap<(u32, u8), u32>,
}

impl<'s> Lab<'s> {
    pub(super) fn new(scenario: &'s Scenario, removed: &[Rule]) -> Self {
        let names = (1..=scenario.effects).map(|number| EffectName::new(&format!("e{number}")).unwrap()).collect();
        Self {
            scenario,
            removed: removed.to_vec(),
            names,
            cases: Vec::new(),
            numbers: QuickMap::default(),
            answers: QuickMap::default(),
            ticked: QuickMap::default(),
            seen: QuickMap::default(),
        }
    }

    pub(super) fn has(&self, rule: Rule) -> bool {
        !self.removed.contains(&rule)
    }

    pub(super) fn case(&self, number: u32) -> &Case {
        &self.cases[number as usize]
    }

    pub(super) fn born(&mut self) -> u32 {
        self.number(Case::new(Job::born(NOW), Vec::new()))
    }

    /// The case as verbs see it in a store that was restored so long ago.
    pub(super) fn seen(&mut self, case: u32, restored: Option<u8>) -> u32 {
        let Some(since) = restored else { return case };
        if let Some(known) = self.seen.get(&(case, since)) {
            return *known;
        }
        let mut changed = self.case(case).clone();
        self.ledger(case, restored).seen(&mut changed);
        let number = self.number(changed);
        self.seen.insert((case, since), number);
        number
    }

    pub(super) fn effect_of(&self, case: u32, run: u32, effect: u8) -> Option<&Effect> {
        self.case(case).effect(run, &self.names[usize::from(effect)])
    }

    fn number(&mut self, case: Case) -> u32 {
        let case = canonical(case);
        let fresh = self.cases.len() as u32;
        let number = *self.numbers.entry((case.job.clone(), case.effects.clone())).or_insert(fresh);
        if number == fresh {
            self.cases.push(Case::new(case.job, case.effects));
        }
        number
    }

    /// The ledger of this store. However a job's attempts end, they are counted together: so many there are.
    fn ledger(&self, case: u32, restored: Option<u8>) -> Ledger {
        let used_up = self.case(case).job.attempts >= self.scenario.attempts;
        let most = if used_up { 1 } else { u32::MAX };
        let retry = RetryPolicy {
            max_attempts: most,
            max_crashes: most,
            first_wait: Duration::ZERO,
            max_wait: Duration::ZERO,
            pause_after: None,
        };
        let mut ledger = Ledger::new(NOW, restored.map(ago), retry);
        ledger.tries_max = self.scenario.tries;
        self.removed.iter().fold(ledger, |ledger, rule| ledger.without(*rule))
    }

    fn policy(&self) -> Policy {
        Policy {
            key_ttl: (self.scenario.kind == Kind::Key).then(|| ticks(TTL)),
            lookup: self.scenario.looks_up(),
            settle: ticks(SETTLE),
            otherwise: if self.scenario.or_retry || self.scenario.kind == Kind::Retry {
                Otherwise::Retry
            } else {
                Otherwise::Hold
            },
            retry_below: None,
        }
    }

    /// A verb, as one transaction.
    pub(super) fn call(
        &mut self,
        case: u32,
        call: Call,
        (reserved, spent, budget): (i64, i64, i64),
        restored: Option<u8>,
    ) -> Done {
        let question = Question { case, call, reserved, spent, budget, restored };
        if let Some(known) = self.answers.get(&question) {
            return *known;
        }
        let mut changed = self.case(case).clone();
        let ledger = self.ledger(case, restored);
        let answer = self.ask(ledger, &mut changed, call, Budget { limit: budget, spent, reserved });
        let (mut reserved, mut spent) = (reserved, spent);
        for change in changed.money() {
            reserved += change.reserved;
            spent += change.spent;
        }
        let done = Done { case: self.number(changed), reserved, spent, answer };
        self.answers.insert(question, done);
        done
    }

    fn ask(&self, ledger: Ledger, case: &mut Case, call: Call, budget: Budget) -> Answer {
        let one = Micros::new(1);
        let name = &self.names[usize::from(call.eff)];
        let lease = token(call.lease);
        let told = TryRef { lease, run: call.run, name: name.clone(), number: call.n };
        let evidence =
            |number: u8| Evidence { resource_id: Some(format!("r{number}")), cost: one, ..Evidence::default() };
        match call.verb {
            Verb::Begin => {
                let begin = Begin {
                    lease,
                    name: name.clone(),
                    begin_id: begin_id(&call),
                    policy: self.policy(),
                    request: Some([call.x; 32]),
                    expected: one,
                    send_within: ticks(WINDOW),
                    call_time: ticks(FLIGHT),
                };
                begun(&ledger.begin(case, &begin, Some(&budget)))
            }
            Verb::Done => reported(ledger.done(case, &told, &evidence(call.x))),
            Verb::Found => reported(ledger.found(case, &told, &evidence(call.x))),
            Verb::Failed => reported(ledger.failed(case, &told, call.x == 1)),
            Verb::Unknown => reported(ledger.unknown(case, &told)),
            Verb::Absent => reported(ledger.absent(case, &told)),
            Verb::Complete => self.ended(case, ledger, lease, Ending::Done, call),
            Verb::Fail => {
                let setback = if call.x == 1 { Setback::Permanent } else { Setback::Error };
                self.ended(case, ledger, lease, Ending::Failed { setback, not_before: None }, call)
            }
            Verb::SettleFound => {
                settled(ledger.settle(case, name, call.n, &Decision::Found((1..=call.x).map(evidence).collect())))
            }
            Verb::SettleAbsent => settled(ledger.settle(case, name, call.n, &Decision::Absent)),
            Verb::Abandon => settled(ledger.settle(case, name, call.n, &Decision::Abandon)),
        }
    }

    fn ended(&self, case: &mut Case, ledger: Ledger, lease: LeaseToken, ending: Ending, call: Call) -> Answer {
        let before: Option<Outcome> = call.accepted.then(|| ending.outcome());
        match ledger.end(case, lease, ending, before) {
            Ok(EndAnswer::Now(_) | EndAnswer::Before) => Answer::Ok,
            Err(EndRefused::LeaseLost) => Answer::LeaseLost,
            Err(EndRefused::Unresolved) => {
                let first = case.open().next().expect("it was refused for one").name.clone();
                Answer::Unresolved(self.names.iter().position(|name| *name == first).unwrap() as u8)
            }
        }
    }

    pub(super) fn claim(&mut self, case: u32, lease: u8) -> u32 {
        let claimed = self.case(case).job.claim(NOW, token(lease), Duration::ZERO).expect("it is due");
        self.with_job(case, claimed)
    }

    fn with_job(&mut self, case: u32, job: Job) -> u32 {
        let effects = self.case(case).effects.clone();
        self.number(Case::new(job, effects))
    }

    pub(super) fn expire(&mut self, case: u32, restored: Option<u8>) -> u32 {
        self.changed(case, restored, |ledger, case| ledger.expire(case).expect("it has run out"))
    }

    pub(super) fn cancel(&mut self, case: u32, restored: Option<u8>) -> u32 {
        self.changed(case, restored, |ledger, case| ledger.cancel(case).expect("it has not ended"))
    }

    pub(super) fn void_lease(&mut self, case: u32) -> u32 {
        self.changed(case, None, |ledger, case| ledger.void_lease(case))
    }

    /// `None` where it is refused.
    pub(super) fn replay(&mut self, case: u32, restored: Option<u8>) -> Option<u32> {
        let mut changed = self.case(case).clone();
        self.ledger(case, restored).replay(&mut changed).ok()?;
        Some(self.number(changed))
    }

    /// `None` where it is refused.
    pub(super) fn retry(&mut self, case: u32, restored: Option<u8>) -> Option<u32> {
        let mut changed = self.case(case).clone();
        self.ledger(case, restored).retry(&mut changed).ok()?;
        Some(self.number(changed))
    }

    fn changed(&mut self, case: u32, restored: Option<u8>, change: impl FnOnce(Ledger, &mut Case)) -> u32 {
        let mut changed = self.case(case).clone();
        change(self.ledger(case, restored), &mut changed);
        self.number(changed)
    }

    /// One tick later.
    pub(super) fn tick(&mut self, case: u32) -> u32 {
        if let Some(known) = self.ticked.get(&case) {
            return *known;
        }
        let mut later = self.case(case).clone();
        let back = |at: Timestamp| Timestamp::from_micros(at.as_micros() - TICK_MICROS);
        for one in later.effects.iter_mut().flat_map(|effect| &mut effect.tries) {
            one.begun_at = back(one.begun_at);
            one.send_before = back(one.send_before);
            one.deadline = back(one.deadline);
            one.key_until = one.key_until.map(back);
        }
        let number = self.number(later);
        self.ticked.insert(case, number);
        number
    }
}

fn token(lease: u8) -> LeaseToken {
    LeaseToken::new([1; 16], u16::from(lease))
}

fn begin_id(call: &Call) -> BeginId {
    let mut bytes = [call.eff; 16];
    bytes[..4].copy_from_slice(&call.n.to_be_bytes());
    bytes[4..8].copy_from_slice(&call.run.to_be_bytes());
    BeginId(bytes)
}

/// The number of a begin id.
pub(super) fn number_of(id: BeginId) -> u32 {
    u32::from_be_bytes(id.0[..4].try_into().unwrap())
}

fn begun(answer: &BeginAnswer) -> Answer {
    match answer {
        BeginAnswer::Go(go) => {
            let left = (go.send_before.as_micros() - NOW.as_micros()).max(0) / TICK_MICROS;
            assert_eq!(go.may_send(NOW), left > 0, "an instant is a border");
            Answer::Go(go.number, left as u8)
        }
        BeginAnswer::Done(_) => Answer::Done,
        BeginAnswer::Check { ticket, .. } => Answer::Check(*ticket),
        BeginAnswer::Wait { until } => {
            assert!(*until > NOW);
            Answer::Wait
        }
        BeginAnswer::Held(_) => Answer::Held,
        BeginAnswer::Used => Answer::Used,
        BeginAnswer::Refused(refused) => match refused {
            Refused::LeaseLost => Answer::LeaseLost,
            Refused::Budget { .. } => Answer::Budget,
            Refused::OtherRequest => Answer::Mismatch,
            Refused::Abandoned => Answer::Abandoned,
            Refused::TooMany => Answer::Bound,
            Refused::CostRequired | Refused::OtherPolicy => unreachable!("costs and policies are always the same"),
        },
    }
}

fn reported(answer: ReportAnswer) -> Answer {
    match answer {
        ReportAnswer::Recorded => Answer::Ok,
        ReportAnswer::LeaseLost => Answer::LeaseLost,
        ReportAnswer::Wait { .. } => Answer::Wait,
        ReportAnswer::Void => Answer::Void,
        ReportAnswer::Missing => unreachable!("a try that was given is there while its lease holds"),
    }
}

fn settled(answer: SettleAnswer) -> Answer {
    match answer {
        SettleAnswer::Recorded => Answer::Ok,
        SettleAnswer::Wait { .. } => Answer::Wait,
        SettleAnswer::Void => Answer::Void,
        SettleAnswer::Missing => unreachable!("people decide what they see"),
    }
}

/// What decides no answer is made the same, so that the world is finite: why a job failed, who told what when, instants that
/// are long past, all that a closed try holds but its begin id.
fn canonical(mut case: Case) -> Case {
    let job = &mut case.job;
    job.crashes = 0;
    job.due_at = job.due_at.map(|_| NOW);
    if let Some(lease) = &mut job.lease {
        lease.until = NOW;
    }
    let ends_as = if job.state == JobState::Failed { Some(JobState::Failed) } else { job.ends_as() };
    job.reason = match ends_as {
        Some(JobState::Failed) => "permanent",
        Some(_) => "cancelled",
        None => "",
    }
    .into();
    for effect in &mut case.effects {
        effect.begun_at = NOW;
        effect.reason = None;
        for known in &mut effect.records {
            (known.number, known.at, known.witness) = (None, NOW, Witness::Sender);
        }
        effect.records.sort_by(|one, other| one.evidence.resource_id.cmp(&other.evidence.resource_id));
        let newest = effect.tries.len().saturating_sub(1);
        let keys: Vec<Option<Timestamp>> = effect.tries.iter().map(|one| one.key_until).collect();
        let may_double = effect.policy.may_double();
        let (intended, look_first) = (effect.state == crate::effect::EffectState::Intended, effect.look_first);
        for (index, one) in effect.tries.iter_mut().enumerate() {
            let (long_sent, long_over) = (ago(FLIGHT + SETTLE), ago(SETTLE));
            let matters = one.is_open() || one.is_of_restore() || (look_first && index == newest);
            one.send_before = if matters { one.send_before.max(long_sent) } else { long_sent };
            one.deadline = if matters { one.deadline.max(long_over) } else { long_over };
            one.begun_at = Timestamp::from_micros(one.send_before.as_micros() - i64::from(WINDOW) * TICK_MICROS);
            // A key that is forgotten still tells which tries it was; only a further try under another one needs that.
            let group = keys.iter().position(|key| *key == one.key_until).unwrap_or(index) as i64;
            let forgotten = Timestamp::from_micros(NOW.as_micros() - if may_double { group } else { 0 });
            let kept = one.is_open() || may_double;
            let until = |until: Timestamp| if until > NOW { until } else { forgotten };
            one.key_until = one.key_until.map(until).filter(|_| kept);
            one.lease = one.lease.filter(|_| intended && index == newest);
            one.request = one.request.filter(|_| one.is_open() || index == newest);
            let happened = may_double && one.outcome == Some(TryOutcome::Done);
            one.outcome = one.outcome.map(|_| if happened { TryOutcome::Done } else { TryOutcome::Absent });
        }
    }
    case
}
