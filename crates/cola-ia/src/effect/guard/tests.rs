//! The protocol against the ledger itself, over a case in memory, with a destination that counts.

use std::cell::RefCell;
use std::collections::VecDeque;

use cola_ia_core::clock::SystemEntropy;
use cola_ia_core::effect::{Budget, Case, EffectState, Ledger, Otherwise, TryOutcome, TryRef};
use cola_ia_core::job::{Job, LeaseToken, RetryPolicy};

use super::*;
use crate::effect::holder::begin;
use crate::lang::Message;

const LEASE: LeaseToken = LeaseToken([7; 18]);

/// A store's clock that stands where it is put.
struct Fixed(RefCell<Timestamp>);

/// Only one thread has it.
#[derive(Clone, Copy)]
struct At(Timestamp);

impl Clock for At {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// The ledger over one case. Answers can be lost: what was asked has happened all the same.
struct Memory {
    case: RefCell<Case>,
    now: Fixed,
    /// For each call to come: whether its answer arrives.
    arrives: RefCell<VecDeque<bool>>,
    budget: Option<Budget>,
    pauses: RefCell<u32>,
    pauses_max: u32,
}

impl Memory {
    fn new() -> Self {
        let now = Timestamp::from_micros(1_000_000_000);
        let job = Job::born(now).claim(now, LEASE, Duration::from_hours(1)).unwrap();
        Self {
            case: RefCell::new(Case::new(job, Vec::new())),
            now: Fixed(RefCell::new(now)),
            arrives: RefCell::default(),
            budget: None,
            pauses: RefCell::new(0),
            pauses_max: 10,
        }
    }

    fn ledger(&self) -> Ledger {
        Ledger::new(self.time(), None, RetryPolicy::default())
    }

    fn time(&self) -> Timestamp {
        *self.now.0.borrow()
    }

    fn later(&self, seconds: u64) {
        let then = self.time().after(Duration::from_secs(seconds));
        *self.now.0.borrow_mut() = then;
    }

    fn loses(&self, arrives: &[bool]) {
        self.arrives.borrow_mut().extend(arrives);
    }

    fn answered<T>(&self, answer: T) -> Result<T, Unheard> {
        match self.arrives.borrow_mut().pop_front() {
            Some(false) => Err(Unheard::Again(Problem::failed(Message::new("store-store_locked")))),
            _ => Ok(answer),
        }
    }

    fn state(&self) -> EffectState {
        self.case.borrow().effects[0].state
    }

    fn outcomes(&self) -> Vec<Option<TryOutcome>> {
        self.case.borrow().effects[0].tries.iter().map(|one| one.outcome).collect()
    }

    /// As the worker is lost and another one claims.
    fn another_lease(&self) {
        let mut case = self.case.borrow_mut();
        let job = Job::born(self.time()).claim(self.time(), LEASE, Duration::from_hours(1)).unwrap();
        case.job = job;
    }
}

impl Keeper for Memory {
    async fn begin(&self, plan: &Plan, id: BeginId) -> Result<EffectBegun, Unheard> {
        let asked = begin(plan, id, LEASE);
        let answer = self.ledger().begin(&mut self.case.borrow_mut(), &asked, self.budget.as_ref());
        self.answered(EffectBegun { at: self.time(), key: "key".to_owned(), answer })
    }

    async fn report(&self, name: &EffectName, number: u32, word: &Word) -> Result<ReportAnswer, Unheard> {
        let of = TryRef { lease: LEASE, run: 1, name: name.clone(), number };
        let (ledger, mut case) = (self.ledger(), self.case.borrow_mut());
        let answer = match word {
            Word::Done(evidence, _) => ledger.done(&mut case, &of, evidence),
            Word::Failed(failure, _) => ledger.failed(&mut case, &of, *failure == Failure::Rejected),
            Word::Unknown(_) => ledger.unknown(&mut case, &of),
            Word::Looked(Looked::Found(evidence)) => ledger.found(&mut case, &of, evidence),
            Word::Looked(Looked::Absent) => ledger.absent(&mut case, &of),
        };
        drop(case);
        self.answered(answer)
    }

    async fn pause(&self, _wait: Duration, _waited: Duration) -> bool {
        *self.pauses.borrow_mut() += 1;
        *self.pauses.borrow() <= self.pauses_max
    }
}

/// What a command does, and what a lookup sees.
struct Scripted {
    sent: u32,
    looked: u32,
    will: Sent,
    sees: Seen,
}

impl Scripted {
    fn new(will: Sent) -> Self {
        Self { sent: 0, looked: 0, will, sees: Seen::Absent }
    }
}

impl Sender for Scripted {
    async fn send(&mut self, permission: &Permission) -> Judged {
        assert_eq!(permission.key, "key");
        self.sent += 1;
        Judged::of(self.will.clone())
    }

    async fn look(&mut self, check: &Check) -> Seen {
        assert_eq!(check.key, "key");
        self.looked += 1;
        self.sees.clone()
    }
}

fn post(id: &str) -> Evidence {
    Evidence { resource_id: Some(id.to_owned()), ..Evidence::default() }
}

fn unknown() -> Sent {
    Sent::Unknown("signal 9".to_owned())
}

fn plan(policy: Policy) -> Plan {
    Plan {
        name: EffectName::new("publish").unwrap(),
        policy,
        request: None,
        expected: None,
        send_within: Duration::from_secs(30),
        call_time: Duration::from_mins(1),
    }
}

fn with_lookup() -> Plan {
    plan(Policy { lookup: true, ..Policy::default() })
}

fn tried(memory: &Memory, sender: &mut Scripted, plan: &Plan) -> Outcome {
    let clock = At(memory.time());
    pollster::block_on(guard(memory, sender, plan, (&clock, &SystemEntropy)))
}

#[test]
fn what_happened_is_used_again_and_not_sent_again() {
    let memory = Memory::new();
    let mut sender = Scripted::new(Sent::Done(post("post-9")));
    let plan = plan(Policy::default());
    let done = |replayed| Outcome::Done { evidence: post("post-9"), replayed };
    assert_eq!(tried(&memory, &mut sender, &plan), done(false));
    assert_eq!(tried(&memory, &mut sender, &plan), done(true));
    assert_eq!((sender.sent, memory.state()), (1, EffectState::Done));
}

#[test]
fn an_answer_that_was_lost_is_asked_for_again_and_makes_no_second_try() {
    for lost in [&[false][..], &[false, false, false], &[true, false], &[false, true, false, false]] {
        let memory = Memory::new();
        memory.loses(lost);
        let mut sender = Scripted::new(Sent::Done(post("post-9")));
        let outcome = tried(&memory, &mut sender, &plan(Policy::default()));
        assert_eq!(outcome, Outcome::Done { evidence: post("post-9"), replayed: false }, "{lost:?}");
        assert_eq!((sender.sent, memory.outcomes()), (1, vec![Some(TryOutcome::Done)]), "{lost:?}");
    }
}

#[test]
fn without_an_answer_nothing_is_sent_and_what_could_not_be_recorded_is_said() {
    let memory = Memory::new();
    memory.loses(&[false; 20]);
    let mut sender = Scripted::new(Sent::Done(post("post-9")));
    assert!(matches!(tried(&memory, &mut sender, &plan(Policy::default())), Outcome::NotBegun(_)));
    assert_eq!(sender.sent, 0);
    let memory = Memory::new();
    memory.loses(&[true]);
    memory.loses(&[false; 20]);
    match tried(&memory, &mut sender, &plan(Policy::default())) {
        Outcome::NotRecorded { sent: Sent::Done(evidence), .. } => assert_eq!(evidence, post("post-9")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn nothing_is_sent_when_its_time_is_over() {
    let memory = Memory::new();
    let mut sender = Scripted::new(Sent::Done(post("post-9")));
    // The sender's clock is where `send_before` is.
    let clock = At(memory.time().after(Duration::from_secs(30)));
    let plan = plan(Policy::default());
    let outcome = pollster::block_on(guard(&memory, &mut sender, &plan, (&clock, &SystemEntropy)));
    assert!(matches!(outcome, Outcome::Later(Later::NotSent(..))), "{outcome:?}");
    assert_eq!((sender.sent, memory.outcomes()), (0, vec![Some(TryOutcome::NotSent)]));
    // Without a word of another process it goes on at once.
    assert!(matches!(tried(&memory, &mut sender, &plan), Outcome::Done { replayed: false, .. }));
}

#[test]
fn each_end_of_a_command_is_reported_as_what_it_is() {
    let why = || "why".to_owned();
    let of = |will: Sent| {
        let memory = Memory::new();
        let outcome = tried(&memory, &mut Scripted::new(will), &plan(Policy::default()));
        (outcome, memory.state(), memory.outcomes()[0])
    };
    assert_eq!(of(Sent::Rejected(why())), (Outcome::Rejected(why()), EffectState::Failed, Some(TryOutcome::Rejected)));
    let later = Outcome::Later(Later::NotSent(why(), None));
    assert_eq!(of(Sent::NotSent(why())), (later, EffectState::Failed, Some(TryOutcome::NotSent)));
    assert_eq!(of(Sent::Unknown(why())), (Outcome::Unknown(why()), EffectState::Unknown, None));
}

#[test]
fn an_unknown_outcome_is_treated_by_policy() {
    // Neither key nor lookup: a person.
    let memory = Memory::new();
    let mut sender = Scripted::new(unknown());
    tried(&memory, &mut sender, &plan(Policy::default()));
    assert_eq!(tried(&memory, &mut sender, &plan(Policy::default())), Outcome::Held(Reason::NobodyCanTell));
    assert_eq!(sender.sent, 1);
    // Asked for by name: again.
    let memory = Memory::new();
    let retry = plan(Policy { otherwise: Otherwise::Retry, ..Policy::default() });
    let mut sender = Scripted::new(unknown());
    tried(&memory, &mut sender, &retry);
    tried(&memory, &mut sender, &retry);
    assert_eq!(sender.sent, 2);
    // The same key.
    let memory = Memory::new();
    let keyed = plan(Policy { key_ttl: Some(Duration::from_hours(1)), ..Policy::default() });
    let mut sender = Scripted::new(unknown());
    tried(&memory, &mut sender, &keyed);
    memory.another_lease();
    sender.will = Sent::Done(post("post-9"));
    assert_eq!(tried(&memory, &mut sender, &keyed), Outcome::Done { evidence: post("post-9"), replayed: false });
    // Something else under the same key.
    let memory = Memory::new();
    let mut sender = Scripted::new(unknown());
    tried(&memory, &mut sender, &Plan { request: Some([1; 32]), ..keyed.clone() });
    let other = Plan { request: Some([2; 32]), ..keyed };
    assert_eq!(tried(&memory, &mut sender, &other), Outcome::Refused(Refused::OtherRequest));
    assert_eq!(sender.sent, 1);
}

#[test]
fn a_lookup_comes_after_the_wait_and_before_the_next_send() {
    let memory = Memory::new();
    let mut sender = Scripted::new(unknown());
    tried(&memory, &mut sender, &with_lookup());
    // From the last deadline on, and as long as a lookup may lag.
    let settled = memory.time().after(Duration::from_secs(30 + 60 + 60));
    assert_eq!(tried(&memory, &mut sender, &with_lookup()), Outcome::Later(Later::Wait(settled)));
    assert_eq!((sender.sent, sender.looked), (1, 0));
    memory.later(150);
    sender.sees = Seen::Nothing("exit 2".to_owned());
    let outcome = tried(&memory, &mut sender, &with_lookup());
    assert_eq!(outcome, Outcome::Later(Later::CouldNotTell("exit 2".to_owned())));
    assert_eq!((sender.sent, sender.looked, memory.state()), (1, 1, EffectState::Unknown), "no absence");
    // Nothing is there: it is begun again, in the same call, with a new begin id.
    sender.sees = Seen::Absent;
    sender.will = Sent::Done(post("post-9"));
    memory.loses(&[true, false, true]);
    let outcome = tried(&memory, &mut sender, &with_lookup());
    assert_eq!(outcome, Outcome::Done { evidence: post("post-9"), replayed: false });
    assert_eq!(memory.outcomes(), [Some(TryOutcome::Absent), Some(TryOutcome::Done)]);
}

#[test]
fn what_a_lookup_finds_is_not_sent_again() {
    let memory = Memory::new();
    let mut sender = Scripted::new(unknown());
    tried(&memory, &mut sender, &with_lookup());
    memory.later(150);
    sender.sees = Seen::Found(post("post-9"));
    let done = Outcome::Done { evidence: post("post-9"), replayed: true };
    assert_eq!(tried(&memory, &mut sender, &with_lookup()), done);
    assert_eq!((sender.sent, sender.looked, memory.state()), (1, 1, EffectState::Done));
}

#[test]
fn a_lost_lease_is_told_and_its_evidence_kept() {
    struct Stolen<'a>(&'a Memory, Scripted);
    impl Sender for Stolen<'_> {
        async fn send(&mut self, permission: &Permission) -> Judged {
            // While the command ran, somebody took the job away.
            self.0.case.borrow_mut().job = Job::born(self.0.time());
            self.1.send(permission).await
        }
        async fn look(&mut self, check: &Check) -> Seen {
            self.1.look(check).await
        }
    }
    for (will, done) in [(Sent::Done(post("post-9")), Some(post("post-9"))), (unknown(), None)] {
        let memory = Memory::new();
        let clock = At(memory.time());
        let mut sender = Stolen(&memory, Scripted::new(will));
        let plan = plan(Policy::default());
        let outcome = pollster::block_on(guard(&memory, &mut sender, &plan, (&clock, &SystemEntropy)));
        assert_eq!(outcome, Outcome::LeaseLost { done: done.clone() });
        assert_eq!(memory.state() == EffectState::Done, done.is_some());
        // And whoever has none begins nothing.
        assert_eq!(tried(&memory, &mut sender.1, &plan), Outcome::LeaseLost { done: None });
        assert_eq!(sender.1.sent, 1);
    }
}

#[test]
fn a_budget_that_is_used_up_is_a_matter_of_time_and_a_missing_cost_is_not() {
    let memory = Memory { budget: Some(Budget { limit: 10, spent: 10, reserved: 0 }), ..Memory::new() };
    let mut sender = Scripted::new(unknown());
    let priced = Plan { expected: Micros::new(1), ..plan(Policy::default()) };
    assert!(matches!(tried(&memory, &mut sender, &priced), Outcome::Later(Later::Budget(_))));
    assert_eq!(tried(&memory, &mut sender, &plan(Policy::default())), Outcome::Refused(Refused::CostRequired));
    assert_eq!(sender.sent, 0);
}
