#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::Duration;

use cola_ia_core::clock::{SystemClock, SystemEntropy, Timestamp};
use cola_ia_core::effect::{
    Begin, BeginAnswer, BeginId, Case, Decision, Effect, EffectName, EffectState, Evidence, Ledger, Micros, Otherwise,
    Policy, ReportAnswer, SettleAnswer, TryRef, UtcDay, effect_key,
};
use cola_ia_core::job::{Ending, JobState, LeaseToken, RetryPolicy, Setback};
use cola_ia_core::store::{
    ClaimRequest, EffectDecision, EffectFilter, EffectListRequest, EffectRef, EffectSummary, End, EndRefused,
    EraseRequest, ErrorKind, EventHistory, Failure, JobRun, Leased, ListRequest, Looked, OpId, Order, OrderRefused,
    Report, RestoredMark, Store as _, StoreError,
};
use cola_ia_testkit::clock::ManualClock;
use cola_ia_testkit::events::{event, source};
use cola_ia_testkit::harness::block_on;
use rusqlite::Connection;

use super::super::job_row::JobRow;
use super::super::{Options, SqliteStore};
use super::case::{Cases, Records};

const RETRY: RetryPolicy = RetryPolicy {
    max_attempts: 2,
    max_crashes: 3,
    first_wait: Duration::ZERO,
    max_wait: Duration::ZERO,
    pause_after: None,
};
const SECOND: i64 = 1_000_000;

fn name(name: &str) -> EffectName {
    EffectName::new(name).unwrap()
}

fn micros(amount: i64) -> Option<Micros> {
    Micros::new(amount)
}

fn op() -> OpId {
    OpId::new(&SystemClock, &SystemEntropy)
}

fn evidence(id: &str) -> Evidence {
    Evidence { resource_id: Some(id.to_owned()), ..Evidence::default() }
}

/// A store with jobs in hand.
struct Desk {
    store: SqliteStore,
    clock: ManualClock,
    path: PathBuf,
    leased: Vec<Leased>,
    _folder: tempfile::TempDir,
}

impl Desk {
    fn new(ids: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite3");
        let clock = ManualClock::default();
        let store = open(&path, &clock);
        let batch = ids.iter().map(|id| event(id, "text")).collect();
        block_on(store.accept(op(), Arc::new(batch))).unwrap();
        let mut desk = Self { store, clock, path, leased: Vec::new(), _folder: folder };
        desk.leased = desk.claim();
        assert_eq!(desk.leased.len(), ids.len());
        desk
    }

    fn claim(&self) -> Vec<Leased> {
        let request = ClaimRequest { worker: "w".into(), lease: Duration::from_mins(1), limit: 100, source: None };
        block_on(self.store.claim(op(), request)).unwrap().leases
    }

    fn token(&self) -> LeaseToken {
        self.leased[0].token
    }

    fn begin(&self, id: u8) -> BeginAnswer {
        self.begin_with(id, Policy::default(), None)
    }

    fn begin_with(&self, id: u8, policy: Policy, expected: Option<Micros>) -> BeginAnswer {
        let begin = Begin { policy, expected, ..begin(self.token(), id) };
        block_on(self.store.effect_begin(begin, RETRY)).unwrap().answer
    }

    fn of(&self, number: u32) -> EffectRef {
        EffectRef { lease: self.token(), name: name("publish"), number, job: None }
    }

    fn done(&self, number: u32, evidence: Evidence) -> ReportAnswer {
        block_on(self.store.effect_done(self.of(number), evidence, RETRY)).unwrap()
    }

    fn unknown(&self, number: u32) -> ReportAnswer {
        block_on(self.store.effect_unknown(self.of(number), None, RETRY)).unwrap()
    }

    fn end(&self, ending: Ending, report: Report) -> Result<JobState, EndRefused> {
        let ends = Arc::new(vec![End { token: self.token(), ending, report }]);
        block_on(self.store.end(ends, RETRY)).unwrap().remove(0).map(|ended| ended.state)
    }

    fn find(&self, id: &str) -> EventHistory {
        block_on(self.store.find_events(None, id.to_owned())).unwrap().remove(0)
    }

    fn effect(&self) -> Effect {
        self.find("a").effects.remove(0).effect
    }

    fn decide(&self, op: OpId, number: u32, decision: Decision, note: &str) -> Result<SettleAnswer, StoreError> {
        let (event, note) = (self.leased[0].job.event, Some(note.to_owned()));
        let decision = EffectDecision { event, name: name("publish"), number, decision, note };
        block_on(self.store.effect_decide(op, decision, RETRY)).map(Option::unwrap)
    }

    fn list(&self, filter: EffectFilter) -> Vec<EffectSummary> {
        let page = ListRequest { after: None, limit: 100 };
        block_on(self.store.effect_list(EffectListRequest { filter, page })).unwrap().items
    }

    fn look(&self) -> Connection {
        Connection::open(&self.path).unwrap()
    }

    /// What is written of money: day, model, costs, spent, reserved, replays, replayed.
    fn money(&self) -> Vec<(i64, String, [i64; 5])> {
        self.look()
            .prepare("SELECT day, model, costs, spent, reserved, replays, replayed FROM money ORDER BY day, model")
            .unwrap()
            .query_map([], |row| {
                let sums = [row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?];
                Ok((row.get(0)?, row.get(1)?, sums))
            })
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap()
    }
}

fn open(path: &Path, clock: &ManualClock) -> SqliteStore {
    let options = Options { clock: Arc::new(clock.clone()), ..Options::default() };
    SqliteStore::open(path, &options).unwrap().0
}

fn begin(lease: LeaseToken, id: u8) -> Begin {
    Begin {
        lease,
        name: name("publish"),
        begin_id: BeginId([id; 16]),
        policy: Policy::default(),
        request: None,
        expected: None,
        send_within: Duration::from_secs(10),
        call_time: Duration::from_secs(20),
    }
}

fn is_go(answer: &BeginAnswer) -> bool {
    matches!(answer, BeginAnswer::Go(_))
}

/// Whatever the ledger makes of a case is in the store afterwards, to the last field, and is read again as it was.
#[test]
fn what_the_ledger_decides_is_what_is_kept() {
    let desk = Desk::new(&["a"]);
    let event = desk.leased[0].job.event.0;
    let read = || {
        let connection = desk.look();
        let row = JobRow::find(&connection, event).unwrap().unwrap();
        let read = Cases::new(&connection).of_run(row, Records::Bring).unwrap();
        read.case
    };
    let mut expected = Case::new(read().job, Vec::new());
    let policy = Policy {
        key_ttl: Some(Duration::from_secs(500)),
        lookup: true,
        settle: Duration::from_secs(5),
        otherwise: Otherwise::Retry,
        retry_below: micros(7),
    };
    let lease = desk.token();
    let full = Evidence {
        resource_id: Some("post-1".into()),
        result: Some("{\"a\":1}".into()),
        cost: micros(11),
        tokens_in: Some(100),
        tokens_out: Some(200),
        model: Some("m".into()),
    };
    let of = |number| TryRef { lease, run: 1, name: name("publish"), number };
    let ledger = || Ledger::new(cola_ia_core::clock::Clock::now(&desk.clock), None, RETRY);
    let begins = |expected: &mut Case, begin: &Begin| {
        let told = block_on(desk.store.effect_begin(begin.clone(), RETRY)).unwrap();
        assert_eq!(told.answer, ledger().begin(expected, begin, None));
        let namespace = block_on(desk.store.namespace()).unwrap();
        assert_eq!(told.key, effect_key(&namespace, &source("default"), "a", 1, begin.name.as_str()));
        desk.clock.advance(SECOND);
    };
    let kept = |expected: &Case, fact: &str| {
        // Money is no part of what is read again.
        let found = read();
        assert_eq!((found.job, found.effects), (expected.job.clone(), expected.effects.clone()), "{fact}");
    };
    let first = Begin { policy: policy.clone(), request: Some([3; 32]), expected: micros(9), ..begin(lease, 1) };
    begins(&mut expected, &first);
    kept(&expected, "begun");
    begins(&mut expected, &Begin { begin_id: BeginId([2; 16]), ..first.clone() });
    kept(&expected, "begun by another, under the same key: the second try holds the money");
    let failed = block_on(desk.store.effect_failed(desk.of(2), Failure::NotSent, Some("no route".into()), RETRY));
    assert_eq!(failed.unwrap(), ledger().failed(&mut expected, &of(2), false));
    kept(&expected, "failed: the first one holds it again, and the effect is unknown");
    assert_eq!(desk.unknown(1), ledger().unknown(&mut expected, &of(1)));
    kept(&expected, "unknown");
    assert_eq!(desk.done(1, full.clone()), ledger().done(&mut expected, &of(1), &full));
    kept(&expected, "done");
    let another = evidence("post-2");
    assert_eq!(desk.done(1, another.clone()), ledger().done(&mut expected, &of(1), &another));
    kept(&expected, "done again, with another resource: an alarm");
    let lookup = Begin { name: name("draft"), begin_id: BeginId([4; 16]), policy, ..begin(lease, 4) };
    begins(&mut expected, &Begin { policy: Policy { key_ttl: None, ..lookup.policy.clone() }, ..lookup });
    expected.effects.sort_by(|one, other| one.name.cmp(&other.name));
    kept(&expected, "a second effect, read by name");
    let view = desk.find("a").effects.remove(1);
    assert_eq!((view.note.as_deref(), view.replays), (Some("no route"), 0));
    assert_eq!(desk.find("a").job.resource_id.as_deref(), Some("post-1"), "the job made it too, the first one");
}

/// Of a call that fails nothing stays, and those of its group that succeed are run again without being counted twice.
#[test]
fn what_is_rolled_back_leaves_no_try_and_no_money() {
    let desk = Desk::new(&["a", "b"]);
    let begin = |place: usize, id: u8| Begin { expected: micros(5), ..begin(desk.leased[place].token, id) };
    let (spoiled, whole) = (begin(0, 1), begin(1, 2));
    let writer = desk.store.writer.as_ref().unwrap();
    // While the thread is busy, both wait for it together.
    let (release, held) = sync_channel::<()>(0);
    let (entered, busy) = sync_channel::<()>(1);
    let held = Mutex::new(held);
    let first = writer.call(1, move |_| {
        let _ = entered.try_send(());
        let _ = held.lock().unwrap().recv_timeout(Duration::from_secs(20));
        Ok(())
    });
    let crash = writer.call(1, move |scope| {
        let answer = super::begin::begin(scope, &spoiled, &RETRY)?.answer;
        assert!(is_go(&answer));
        Err::<(), _>(StoreError::new(ErrorKind::Unavailable, "store_io"))
    });
    let other = writer.call(1, move |scope| super::begin::begin(scope, &whole, &RETRY));
    let (mut first, mut crash, mut other) = (Box::pin(first), Box::pin(crash), Box::pin(other));
    // Polling a call hands it over.
    let mut context = Context::from_waker(Waker::noop());
    assert!(first.as_mut().poll(&mut context).is_pending());
    busy.recv().unwrap();
    assert!(crash.as_mut().poll(&mut context).is_pending() && other.as_mut().poll(&mut context).is_pending());
    release.send(()).unwrap();
    block_on(first).unwrap();
    assert_eq!(block_on(crash).unwrap_err().code, "store_io");
    assert!(is_go(&block_on(other).unwrap().answer));
    assert!(desk.find("a").effects.is_empty());
    assert_eq!(desk.find("b").effects[0].effect.tries.len(), 1);
    assert_eq!(desk.money(), [(UtcDay::of(ManualClock::START).0, String::new(), [0, 0, 5, 0, 0])]);
}

/// The worker dies after `begin`: the store is opened anew, its lease runs out, and nobody may send again.
#[test]
fn what_was_begun_before_a_crash_is_unknown_after_it() {
    let mut desk = Desk::new(&["a"]);
    assert!(is_go(&desk.begin_with(1, Policy::default(), micros(5))));
    let Desk { store, clock, path, .. } = &mut desk;
    let closed = std::mem::replace(store, open(path, clock));
    drop(closed);
    desk.clock.advance(61 * SECOND);
    let dry = block_on(desk.store.recover(RETRY, 10, true)).unwrap();
    assert_eq!(desk.effect().state, EffectState::Intended, "a dry run changes nothing");
    let recovered = block_on(desk.store.recover(RETRY, 10, false)).unwrap();
    assert_eq!(dry, recovered);
    assert_eq!(desk.effect().state, EffectState::Unknown);
    desk.leased = desk.claim();
    assert_eq!(desk.leased[0].effects[0].effect.state, EffectState::Unknown, "the next worker is told");
    assert!(matches!(desk.begin(2), BeginAnswer::Held(_)));
    let job = desk.find("a");
    assert_eq!((job.job.state, job.job.attempts), (JobState::Held, 1), "the attempt that was held does not count");
    assert_eq!(job.attempts[0].outcome.as_deref(), Some("released"));
    assert_eq!(desk.end(Ending::Released, Report::default()), Ok(JobState::Held), "its own word is answered so too");
    assert_eq!(desk.money()[0].2, [0, 0, 5, 0, 0], "its money stays at risk");
    // The dead one was only slow.
    let dead = EffectRef { lease: job_lease(&desk, 1), ..desk.of(1) };
    assert_eq!(block_on(desk.store.effect_done(dead, evidence("p"), RETRY)).unwrap(), ReportAnswer::LeaseLost);
    let job = desk.find("a");
    assert_eq!((job.job.state, job.job.resource_id.as_deref()), (JobState::Pending, Some("p")));
    assert_eq!(desk.money()[0].2, [1, 5, 0, 0, 0], "what it cost was not told: what was expected");
}

/// The lease of an attempt of the first run.
fn job_lease(desk: &Desk, number: u32) -> LeaseToken {
    let sql = "SELECT lease FROM attempts WHERE run = 1 AND number = ?1";
    LeaseToken(desk.look().query_row(sql, [number], |row| row.get(0)).unwrap())
}

/// The sum that the check reads and the reservation are of one transaction, whoever else writes to the file.
#[test]
fn no_number_of_workers_overshoots_a_budget() {
    const ROOM: usize = 10;
    let ids: Vec<String> = (0..24).map(|number| number.to_string()).collect();
    let desk = Desk::new(&ids.iter().map(String::as_str).collect::<Vec<_>>());
    let budget = "INSERT INTO budgets SELECT source, ?1 FROM sources";
    desk.look().execute(budget, [100 * ROOM as i64 + 99]).unwrap();
    let other = open(&desk.path, &desk.clock);
    let went: usize = std::thread::scope(|scope| {
        let begins = desk.leased.chunks(6).zip([&desk.store, &other].into_iter().cycle()).map(|(leased, store)| {
            scope.spawn(move || {
                let begun = leased.iter().map(|leased| {
                    let begin = Begin { expected: micros(100), ..begin(leased.token, 1) };
                    block_on(store.effect_begin(begin, RETRY)).unwrap().answer
                });
                begun.filter(is_go).count()
            })
        });
        let threads: Vec<_> = begins.collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(went, ROOM);
    assert_eq!(desk.money()[0].2, [0, 0, 1_000, 0, 0]);
    // One that closes makes room for one.
    let oldest = desk.list(EffectFilter::default()).pop().unwrap();
    let lease = oldest.view.effect.tries[0].lease.unwrap();
    let failed = EffectRef { lease, ..desk.of(1) };
    block_on(desk.store.effect_failed(failed, Failure::NotSent, None, RETRY)).unwrap();
    let again = |id: u8, leased: &Leased| {
        let begin = Begin { expected: micros(100), ..begin(leased.token, id) };
        is_go(&block_on(other.effect_begin(begin, RETRY)).unwrap().answer)
    };
    let more: Vec<bool> = desk.leased.iter().filter(|leased| leased.token != lease).map(|l| again(2, l)).collect();
    // Those that were begun are begun again by another id, which is held: nothing more is reserved for them.
    assert_eq!(more.into_iter().filter(|went| *went).count(), 1);
    assert_eq!(desk.money()[0].2, [0, 0, 1_000, 0, 0]);
}

#[test]
fn a_source_with_a_budget_wants_to_know_the_cost() {
    let desk = Desk::new(&["a"]);
    desk.look().execute("INSERT INTO budgets SELECT source, 7 FROM sources", []).unwrap();
    let refused = |answer| match answer {
        BeginAnswer::Refused(refused) => format!("{refused:?}"),
        other => format!("{other:?}"),
    };
    assert_eq!(refused(desk.begin(1)), "CostRequired");
    assert!(refused(desk.begin_with(1, Policy::default(), micros(8))).starts_with("Budget"));
    assert!(desk.find("a").effects.is_empty(), "what is refused leaves nothing");
    // What an attempt of the same day told counts.
    let report = Report { cost_micros: Some(5), model: Some("m".into()), ..Report::default() };
    assert_eq!(desk.end(Ending::Failed { setback: Setback::Error, not_before: None }, report), Ok(JobState::Pending));
    let leased = desk.claim();
    let begin = Begin { expected: micros(3), ..begin(leased[0].token, 1) };
    let told = block_on(desk.store.effect_begin(begin.clone(), RETRY)).unwrap().answer;
    assert!(refused(told).starts_with("Budget"));
    let begin = Begin { expected: micros(2), ..begin };
    assert!(is_go(&block_on(desk.store.effect_begin(begin, RETRY)).unwrap().answer));
}

#[test]
fn a_job_is_not_done_while_the_outcome_of_an_effect_is_open() {
    let desk = Desk::new(&["a"]);
    desk.begin(1);
    let told = Report { cost_micros: Some(9), ..Report::default() };
    let unresolved = Err(EndRefused::Unresolved(vec![name("publish")]));
    assert_eq!(desk.end(Ending::Done, told.clone()), unresolved);
    assert!(desk.money().is_empty(), "what is refused costs nothing");
    assert_eq!(desk.done(1, Evidence::default()), ReportAnswer::Recorded);
    assert_eq!(desk.end(Ending::Done, told.clone()), Ok(JobState::Done));
    assert_eq!(desk.end(Ending::Done, told), Ok(JobState::Done), "said again");
    let day = UtcDay::of(ManualClock::START).0;
    assert_eq!(desk.money(), [(day, String::new(), [1, 9, 0, 0, 0])], "counted once");
}

#[test]
fn a_verdict_waits_for_the_effects_and_a_person_settles_them() {
    let desk = Desk::new(&["a"]);
    desk.begin(1);
    let permanent = Ending::Failed { setback: Setback::Permanent, not_before: None };
    assert_eq!(desk.end(permanent, Report::default()), Ok(JobState::Held));
    let order = |order| {
        let jobs = vec![desk.leased[0].job.event];
        block_on(desk.store.order(op(), order, jobs)).unwrap().remove(0).map(|ended| ended.state)
    };
    assert_eq!(order(Order::Retry), Err(OrderRefused::EffectsOpen));
    assert_eq!(order(Order::Replay), Err(OrderRefused::State(JobState::Held)));
    let (first, note) = (op(), "I looked");
    let until = ManualClock::START.after(Duration::from_secs(10 + 20 + 60));
    assert_eq!(desk.decide(first, 1, Decision::Absent, note).unwrap(), SettleAnswer::Wait { until });
    desk.clock.set(until);
    assert_eq!(desk.decide(first, 1, Decision::Absent, note).unwrap(), SettleAnswer::Wait { until }, "as it was");
    assert_eq!(desk.decide(first, 1, Decision::Absent, "other").unwrap_err().code, "op_reused");
    let second = op();
    assert_eq!(desk.decide(second, 2, Decision::Absent, note).unwrap(), SettleAnswer::Void);
    let third = op();
    assert_eq!(desk.decide(third, 1, Decision::Abandon, note).unwrap(), SettleAnswer::Recorded);
    assert_eq!(desk.decide(third, 1, Decision::Abandon, note).unwrap(), SettleAnswer::Recorded, "said again");
    let found = desk.find("a");
    assert_eq!((found.job.state, &*found.job.reason), (JobState::Failed, "permanent"));
    assert_eq!(found.effects[0].note.as_deref(), Some(note));
    assert_eq!(found.effects[0].changed_at, until);
    assert_eq!(order(Order::Retry), Err(OrderRefused::EffectAbandoned));
    assert_eq!(order(Order::Replay), Ok(JobState::Pending), "a new run has other effects");
    assert!(desk.claim()[0].effects.is_empty());
}

#[test]
fn only_evidence_counts_from_a_lost_lease() {
    let mut desk = Desk::new(&["a"]);
    desk.begin_with(1, Policy { lookup: true, ..Policy::default() }, None);
    let jobs = vec![desk.leased[0].job.event];
    block_on(desk.store.order(op(), Order::Cancel, jobs)).unwrap().remove(0).unwrap();
    assert_eq!(desk.find("a").job.state, JobState::Held, "it is cancelled once that is settled");
    block_on(desk.store.extend(vec![desk.token()], Duration::from_secs(1))).unwrap();
    let absent = block_on(desk.store.effect_resolve(desk.of(1), Looked::Absent, RETRY)).unwrap();
    assert_eq!((absent, desk.unknown(1)), (ReportAnswer::LeaseLost, ReportAnswer::LeaseLost));
    let failed = desk.store.effect_failed(desk.of(1), Failure::Rejected, Some("n".into()), RETRY);
    assert_eq!(block_on(failed).unwrap(), ReportAnswer::LeaseLost);
    let found = desk.find("a");
    assert_eq!((found.effects[0].effect.state, found.effects[0].note.as_deref()), (EffectState::Held, None));
    assert_eq!(found.attempts[0].late.as_deref(), Some("effect_absent"), "the first word that is no heartbeat");
    let found = block_on(desk.store.effect_resolve(desk.of(1), Looked::Found(evidence("p")), RETRY)).unwrap();
    assert_eq!(found, ReportAnswer::LeaseLost);
    assert_eq!((desk.effect().state, desk.find("a").job.state), (EffectState::Done, JobState::Cancelled));
    desk.leased[0].token = LeaseToken([0xff; 18]);
    assert_eq!(desk.unknown(1), ReportAnswer::LeaseLost);
}

#[test]
fn a_result_that_is_used_again_is_counted_once_for_an_attempt() {
    let mut desk = Desk::new(&["a"]);
    desk.begin_with(1, Policy::default(), micros(5));
    desk.done(1, Evidence { cost: micros(4), model: Some("m".into()), ..evidence("p") });
    assert!(matches!(desk.begin(2), BeginAnswer::Done(_)), "the attempt that paid saves nothing");
    let day = UtcDay::of(ManualClock::START).0;
    let paid = |replays, replayed| [(day, String::new(), [0; 5]), (day, "m".to_owned(), [1, 4, 0, replays, replayed])];
    assert_eq!(desk.money(), paid(0, 0));
    for (later, attempt) in (1..).zip(["second", "third"]) {
        desk.end(Ending::Released, Report::default()).unwrap();
        desk.leased = desk.claim();
        for id in [3, 4] {
            let BeginAnswer::Done(record) = desk.begin(id) else { panic!("{attempt}") };
            assert_eq!(record.evidence.resource_id.as_deref(), Some("p"));
        }
        assert_eq!(desk.money(), paid(later, 4 * later), "{attempt}");
    }
    assert_eq!(desk.find("a").effects[0].replays, 2);
}

#[test]
fn a_restored_store_voids_leases_and_lets_nothing_go() {
    let mut desk = Desk::new(&["a", "b"]);
    desk.begin(1);
    let restored = block_on(desk.store.restored(op(), RestoredMark::At(ManualClock::START))).unwrap();
    assert_eq!(restored.leases_voided, 2);
    let found = desk.find("a");
    assert_eq!((found.job.state, found.job.attempts), (JobState::Pending, 0));
    assert_eq!(found.attempts[0].outcome.as_deref(), Some("lease_lost"));
    let effect = &found.effects[0].effect;
    assert_eq!((effect.state, effect.tries.len()), (EffectState::Unknown, 2), "with the try that may have been lost");
    assert_eq!(desk.list(EffectFilter::default())[0].view, found.effects[0]);
    let kept = || desk.look().query_row("SELECT count(*) FROM effect_tries", [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(kept(), 1, "looking changes nothing");
    desk.leased = desk.claim();
    assert_eq!(desk.leased[0].effects, found.effects);
    let other = Begin { expected: micros(1), ..begin(desk.leased[1].token, 2) };
    let cheap = Policy { retry_below: micros(9), ..Policy::default() };
    let other = block_on(desk.store.effect_begin(Begin { policy: cheap, ..other }, RETRY)).unwrap();
    assert!(matches!(other.answer, BeginAnswer::Held(_)), "one that this store never heard of: {other:?}");
    // Somebody who went on before the restore, with a lease that this store never gave.
    let job = Some(JobRun { source: source("default"), id: "a".into(), run: 1 });
    let of = EffectRef { lease: LeaseToken([7; 18]), name: name("invoice"), number: 3, job };
    let told = |of: &EffectRef| block_on(desk.store.effect_done(of.clone(), evidence("in-1"), RETRY)).unwrap();
    assert_eq!(told(&of), ReportAnswer::LeaseLost);
    let views = desk.find("a").effects;
    let invoice = views.iter().find(|view| view.effect.name == name("invoice")).unwrap();
    assert_eq!((invoice.effect.state, invoice.resource_id()), (EffectState::Done, Some("in-1")));
    let nobody = EffectRef { job: Some(JobRun { source: source("default"), id: "z".into(), run: 1 }), ..of };
    assert_eq!(told(&nobody), ReportAnswer::LeaseLost);
}

#[test]
fn an_erased_event_keeps_that_something_is_open_and_nothing_that_was_said() {
    let desk = Desk::new(&["a"]);
    desk.begin_with(1, Policy::default(), micros(5));
    block_on(desk.store.effect_unknown(desk.of(1), Some("secret".into()), RETRY)).unwrap();
    desk.clock.advance(61 * SECOND);
    let request = EraseRequest { source: source("default"), id: "a".into(), after: None };
    let erased = block_on(desk.store.erase(op(), request.clone())).unwrap().unwrap();
    assert!(!erased.cancelled, "it is once the effect is settled");
    let found = desk.find("a");
    assert_eq!((found.job.state, &*found.job.reason), (JobState::Held, "cancelled"));
    assert_eq!((found.effects[0].effect.state, found.effects[0].note.as_deref()), (EffectState::Held, None));
    assert_eq!(desk.money()[0].2, [0, 0, 5, 0, 0]);
    assert!(!block_on(desk.store.erase(op(), request)).unwrap().unwrap().cancelled);
    let secret = Evidence { result: Some("secret".into()), cost: micros(4), ..evidence("secret") };
    let answer = desk.decide(op(), 1, Decision::Found(vec![secret.clone()]), "secret").unwrap();
    assert_eq!(answer, SettleAnswer::Recorded);
    let found = desk.find("a");
    assert_eq!((found.job.state, found.job.resource_id.as_deref()), (JobState::Cancelled, None));
    let record = &found.effects[0].effect.records[0];
    assert_eq!(record.evidence, Evidence { cost: micros(4), ..Evidence::default() });
    assert_eq!(found.effects[0].note, None);
    assert_eq!(desk.done(1, secret), ReportAnswer::LeaseLost);
    assert_eq!(desk.find("a").effects[0].effect.records.len(), 1, "and a late word adds nothing to it");
}

#[test]
fn what_an_effect_made_leads_to_it() {
    let mut desk = Desk::new(&["a", "b", "c"]);
    let effects: Vec<EffectRef> = desk
        .leased
        .iter()
        .map(|leased| {
            block_on(desk.store.effect_begin(begin(leased.token, 1), RETRY)).unwrap();
            EffectRef { lease: leased.token, ..desk.of(1) }
        })
        .collect();
    let done = |place: usize, id: &str| block_on(desk.store.effect_done(effects[place].clone(), evidence(id), RETRY));
    done(0, "post-1").unwrap();
    done(1, "post-2").unwrap();
    done(1, "post-1").unwrap();
    let ids = |filter: EffectFilter| -> Vec<String> { desk.list(filter).into_iter().map(|found| found.id).collect() };
    let of = |id: &str| EffectFilter { resource_id: Some(id.to_owned()), ..EffectFilter::default() };
    assert_eq!(ids(EffectFilter::default()), ["c", "b", "a"], "newest first");
    assert_eq!(ids(of("post-1")), ["b", "a"]);
    assert_eq!(ids(of("post-2")), ["b"]);
    assert!(ids(of("post")).is_empty());
    assert_eq!(ids(EffectFilter { alarmed: true, ..of("post-1") }), ["b"]);
    assert_eq!(ids(EffectFilter { alarmed: true, ..EffectFilter::default() }), ["b"]);
    assert_eq!(ids(EffectFilter { states: vec![EffectState::Intended], ..EffectFilter::default() }), ["c"]);
    assert_eq!(ids(EffectFilter { states: vec![EffectState::Done], ..EffectFilter::default() }), ["b", "a"]);
    assert!(ids(EffectFilter { sources: vec![source("form")], ..of("post-1") }).is_empty());
    let page = |after, limit| {
        let request = EffectListRequest { filter: of("post-1"), page: ListRequest { after, limit } };
        block_on(desk.store.effect_list(request)).unwrap()
    };
    let first = page(None, 1);
    let second = page(first.next.clone(), 1);
    assert_eq!((&*first.items[0].id, &*second.items[0].id), ("b", "a"));
    assert_eq!((first.next.is_some(), second.next), (true, None));
    // The job of the third says so itself; and then so many jobs do that the way leads through the effects.
    desk.leased.swap(0, 2);
    desk.unknown(1);
    let told = Report { resource_id: Some("post-1".into()), ..Report::default() };
    desk.end(Ending::Failed { setback: Setback::Error, not_before: None }, told).unwrap();
    let ids = || -> Vec<String> { desk.list(of("post-1")).into_iter().map(|found| found.id).collect() };
    assert_eq!(ids(), ["c", "b", "a"]);
    desk.look()
        .execute_batch(
            "WITH RECURSIVE n (n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM n WHERE n < 5100)
             INSERT INTO jobs (event, source, resource_id, state) SELECT n, 1, 'post-1', 'done' FROM n",
        )
        .unwrap();
    assert_eq!(ids(), ["c", "b", "a"]);
}

#[test]
fn a_restored_store_lists_effects_as_it_shows_them() {
    let desk = Desk::new(&["a"]);
    desk.begin(1);
    block_on(desk.store.effect_failed(desk.of(1), Failure::NotSent, None, RETRY)).unwrap();
    let of = |state| desk.list(EffectFilter { states: vec![state], ..EffectFilter::default() }).len();
    assert_eq!((of(EffectState::Failed), of(EffectState::Unknown)), (1, 0));
    block_on(desk.store.restored(op(), RestoredMark::At(ManualClock::START))).unwrap();
    assert_eq!((of(EffectState::Failed), of(EffectState::Unknown)), (0, 1), "it may have been begun again");
    block_on(desk.store.restored(op(), RestoredMark::Cleared)).unwrap();
    assert_eq!((of(EffectState::Failed), of(EffectState::Unknown)), (1, 0));
}

/// Sums that do not fit are the largest number, and evidence is recorded all the same.
#[test]
fn money_never_overflows() {
    let desk = Desk::new(&["a"]);
    let day = UtcDay::of(ManualClock::START).0;
    let full = "INSERT INTO money (day, source, model, spent, tokens_in) SELECT ?1, source, '', ?2, ?2 FROM sources";
    desk.look().execute(full, [day, i64::MAX - 1]).unwrap();
    desk.begin_with(1, Policy::default(), micros(5));
    let told = Evidence { cost: micros(7), tokens_in: Some(i64::MAX), tokens_out: Some(-3), ..Evidence::default() };
    assert_eq!(desk.done(1, told), ReportAnswer::Recorded);
    assert_eq!(desk.money(), [(day, String::new(), [1, i64::MAX, 0, 0, 0])]);
    desk.look().execute("INSERT INTO budgets SELECT source, ?1 FROM sources", [i64::MAX]).unwrap();
    let second = Begin { name: name("other"), expected: micros(1), ..begin(desk.token(), 2) };
    let answer = block_on(desk.store.effect_begin(second, RETRY)).unwrap().answer;
    assert!(matches!(answer, BeginAnswer::Refused(_)), "the budget is used up: {answer:?}");
}

/// The same policy asked for again is the same one, though what is kept of it is not as fine.
#[test]
fn texts_and_lengths_of_time_are_kept_as_they_fit() {
    let desk = Desk::new(&["a"]);
    let policy = Policy { settle: Duration::from_nanos(1_500), key_ttl: Some(Duration::MAX), ..Policy::default() };
    assert!(is_go(&desk.begin_with(1, policy.clone(), None)));
    block_on(desk.store.effect_failed(desk.of(1), Failure::NotSent, Some("n".repeat(9_000)), RETRY)).unwrap();
    assert!(is_go(&desk.begin_with(2, policy, None)), "no other policy");
    let long =
        Evidence { result: Some("r".repeat(70_000)), model: Some("m".repeat(99)), ..evidence(&"i".repeat(2_000)) };
    desk.done(2, long);
    let view = desk.find("a").effects.remove(0);
    let kept = &view.effect.records[0].evidence;
    let lengths = [view.note, kept.result.clone(), kept.model.clone(), kept.resource_id.clone()];
    assert_eq!(lengths.map(|text| text.unwrap().len()), [4_096, 65_536, 64, 1_024]);
    assert_eq!(view.effect.tries[0].key_until, Some(Timestamp::LATEST));
}
