//! Effects and money in PostgreSQL where several nodes work on one store at the same moment.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod backend;

use std::sync::{Arc, Barrier};
use std::time::Duration;

use backend::postgres::{POSTGRES, Postgres, Schema};
use cola_ia_core::clock::{Clock as _, SystemClock, SystemEntropy, Timestamp};
use cola_ia_core::effect::{
    Begin, BeginAnswer, BeginId, Case, EffectName, Evidence, Ledger, Micros, Otherwise, Policy, Refused, ReportAnswer,
    TryRef, effect_key,
};
use cola_ia_core::job::{Job, JobState, Lease, LeaseToken, RetryPolicy};
use cola_ia_core::store::{ClaimRequest, EffectRef, Failure, OpId, Store};
use cola_ia_store::postgres::{Options, PostgresStore};
use cola_ia_testkit::clock::{ManualClock, SeededEntropy};
use cola_ia_testkit::events::{event, source};
use cola_ia_testkit::harness::block_on;

/// A schema of its own; `None` where there is no server and none is required.
fn schema() -> Option<Schema> {
    Postgres::named("postgres", POSTGRES)?;
    Some(Schema::new(&std::env::var(POSTGRES).ok()?))
}

fn open(schema: &Schema) -> PostgresStore {
    PostgresStore::open(&schema.address().unwrap(), &Options::default()).unwrap().0
}

fn op() -> OpId {
    OpId::new(&SystemClock, &SystemEntropy)
}

/// So many jobs of one source, each leased.
fn leased(store: &dyn Store, count: u32) -> Vec<LeaseToken> {
    let events = (0..count).map(|number| event(&format!("job-{number}"), "text")).collect();
    block_on(store.accept(op(), Arc::new(events))).unwrap();
    let request = ClaimRequest { worker: "w".into(), lease: Duration::from_mins(10), limit: count, source: None };
    let leases = block_on(store.claim(op(), request)).unwrap().leases;
    assert_eq!(leases.len(), count as usize);
    leases.iter().map(|leased| leased.token).collect()
}

fn name() -> EffectName {
    EffectName::new("publish").unwrap()
}

fn begin(lease: LeaseToken, id: u8, expected: Option<i64>) -> Begin {
    Begin {
        lease,
        name: name(),
        begin_id: BeginId([id; 16]),
        policy: Policy { otherwise: Otherwise::Retry, ..Policy::default() },
        request: None,
        expected: expected.and_then(Micros::new),
        send_within: Duration::from_secs(10),
        call_time: Duration::from_secs(20),
    }
}

/// All of these at the same moment, on the stores in turn.
fn at_once(stores: &[&PostgresStore], begins: &[Begin]) -> Vec<BeginAnswer> {
    let start = Barrier::new(begins.len());
    std::thread::scope(|scope| {
        let one = |(place, begin): (usize, &Begin)| {
            let (store, begin, start) = (stores[place % stores.len()], begin.clone(), &start);
            scope.spawn(move || {
                start.wait();
                block_on(store.effect_begin(begin, RetryPolicy::default())).unwrap().answer
            })
        };
        let all: Vec<_> = begins.iter().enumerate().map(one).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

fn goes(answers: &[BeginAnswer]) -> usize {
    answers.iter().filter(|answer| matches!(answer, BeginAnswer::Go(_))).count()
}

/// Of thirty begins of one source at the same moment on two nodes, a budget for five lets five through.
#[test]
fn two_nodes_share_one_budget() {
    let Some(schema) = schema() else { return };
    let (one, other) = (open(&schema), open(&schema));
    let leases = leased(&one, 30);
    block_on(one.set_budget(op(), source("default"), Micros::new(5_000))).unwrap();
    let begins: Vec<Begin> = leases.iter().map(|lease| begin(*lease, 1, Some(1_000))).collect();
    let answers = at_once(&[&one, &other], &begins);
    assert_eq!(goes(&answers), 5, "{answers:?}");
    let refused = |answer: &&BeginAnswer| matches!(answer, BeginAnswer::Refused(Refused::Budget { .. }));
    assert_eq!(answers.iter().filter(refused).count(), 25);
    let budget = block_on(other.budgets()).unwrap().remove(0);
    assert_eq!((budget.spent, budget.reserved), (0, 5_000));
}

/// Ends that are told at the same moment on two nodes meet in one row of money, and none is lost.
#[test]
fn what_two_nodes_spend_is_added_up() {
    let Some(schema) = schema() else { return };
    let (one, other) = (open(&schema), open(&schema));
    let leases = leased(&one, 30);
    let begins: Vec<Begin> = leases.iter().map(|lease| begin(*lease, 1, Some(1_000))).collect();
    assert_eq!(goes(&at_once(&[&one, &other], &begins)), 30);
    let start = Barrier::new(leases.len());
    std::thread::scope(|scope| {
        for (place, lease) in leases.iter().enumerate() {
            let (store, start) = (if place % 2 == 0 { &one } else { &other }, &start);
            scope.spawn(move || {
                let of = EffectRef { lease: *lease, name: name(), number: 1, job: None };
                let evidence = Evidence { cost: Micros::new(700), model: Some("m".into()), ..Evidence::default() };
                start.wait();
                let answer = block_on(store.effect_done(of, evidence, RetryPolicy::default())).unwrap();
                assert_eq!(answer, ReportAnswer::Recorded);
            });
        }
    });
    let money = schema.query("SELECT model, costs, spent, reserved FROM money ORDER BY model", &[]).unwrap();
    let row = |row: &tokio_postgres::Row| (row.get(0), row.get(1), row.get(2), row.get(3));
    let money: Vec<(String, i64, i64, i64)> = money.iter().map(row).collect();
    assert_eq!(money, [(String::new(), 0, 0, 0), ("m".into(), 30, 21_000, 0)]);
}

/// Two processes of one attempt begin the same effect at the same moment: it is one call after the other. Where the outcome of
/// the first would be unknown, only a person can tell: one may send.
#[test]
fn of_two_who_begin_one_effect_one_may_send() {
    let Some(schema) = schema() else { return };
    let (one, other) = (open(&schema), open(&schema));
    for lease in leased(&one, 10) {
        let held = |id| Begin { policy: Policy::default(), ..begin(lease, id, None) };
        let answers = at_once(&[&one, &other], &[held(1), held(2)]);
        assert_eq!(goes(&answers), 1, "{answers:?}");
        assert!(answers.iter().any(|answer| matches!(answer, BeginAnswer::Held(_))), "{answers:?}");
    }
    let tries = schema.query("SELECT count(*), count(DISTINCT effect) FROM effect_tries", &[]).unwrap();
    assert_eq!((tries[0].get::<_, i64>(0), tries[0].get::<_, i64>(1)), (10, 10));
}

/// One call that two nodes hear of at the same moment, as a repetition that overtakes the first one: both give the same answer.
#[test]
fn one_begin_heard_twice_is_one_try() {
    let Some(schema) = schema() else { return };
    let (one, other) = (open(&schema), open(&schema));
    for lease in leased(&one, 10) {
        let same = begin(lease, 1, Some(5));
        let answers = at_once(&[&one, &other], &[same.clone(), same]);
        assert_eq!(goes(&answers), 2, "{answers:?}");
        assert_eq!(answers[0], answers[1]);
    }
    let tries = schema.query("SELECT count(*), sum(reserved_micros)::bigint FROM effect_tries", &[]).unwrap();
    assert_eq!((tries[0].get::<_, i64>(0), tries[0].get::<_, i64>(1)), (10, 50));
    let money = schema.query("SELECT reserved FROM money", &[]).unwrap();
    assert_eq!(money[0].get::<_, i64>(0), 50);
}

/// A sum that does not fit is the largest number, and nothing is refused.
#[test]
fn a_sum_that_does_not_fit_is_the_largest() {
    let Some(schema) = schema() else { return };
    let store = open(&schema);
    let leases = leased(&store, 1);
    schema
        .query(
            "INSERT INTO money (day, source, model, spent)
             SELECT floor(extract(epoch FROM now()) / 86400)::bigint, source, 'm', 9223372036854775800 FROM sources",
            &[],
        )
        .unwrap();
    assert_eq!(goes(&at_once(&[&store], &[begin(leases[0], 1, None)])), 1);
    let of = EffectRef { lease: leases[0], name: name(), number: 1, job: None };
    let evidence = Evidence { cost: Micros::new(1_000_000), model: Some("m".into()), ..Evidence::default() };
    assert_eq!(block_on(store.effect_done(of, evidence, RetryPolicy::default())).unwrap(), ReportAnswer::Recorded);
    let money = schema.query("SELECT spent, costs FROM money WHERE model = 'm'", &[]).unwrap();
    assert_eq!((money[0].get::<_, i64>(0), money[0].get::<_, i64>(1)), (i64::MAX, 1));
}

/// Whatever the ledger makes of a case is in the store afterwards, to the last field, and is read again as it was.
#[test]
fn what_the_ledger_decides_is_what_is_kept() {
    let Some(schema) = schema() else { return };
    let clock = ManualClock::default();
    let store = cola_ia_testkit::harness::Place::open(&schema, clock.clone(), SeededEntropy::new(1)).unwrap();
    let lease = leased(&*store, 1)[0];
    let find = || block_on(store.find_events(None, "job-0".into())).unwrap().remove(0);
    let until = find().job.lease_until.unwrap();
    let job = Job {
        state: JobState::Running,
        run: 1,
        attempts: 1,
        crashes: 0,
        due_at: None,
        lease: Some(Lease { token: lease, until }),
        reason: "".into(),
    };
    let mut expected = Case::new(job, Vec::new());
    let policy = Policy {
        key_ttl: Some(Duration::from_secs(500)),
        lookup: true,
        settle: Duration::from_secs(5),
        otherwise: Otherwise::Retry,
        retry_below: Micros::new(7),
    };
    let retry = RetryPolicy::default();
    let of = |number| EffectRef { lease, name: name(), number, job: None };
    let told = |number| TryRef { lease, run: 1, name: name(), number };
    let ledger = || Ledger::new(clock.now(), None, retry);
    let begins = |expected: &mut Case, begin: &Begin| {
        let told = block_on(store.effect_begin(begin.clone(), retry)).unwrap();
        assert_eq!(told.answer, ledger().begin(expected, begin, None));
        let namespace = block_on(store.namespace()).unwrap();
        assert_eq!(told.key, effect_key(&namespace, &source("default"), "job-0", 1, begin.name.as_str()));
        clock.advance(1_000_000);
    };
    let kept = |expected: &Case, fact: &str| {
        let mut found: Vec<_> = find().effects.into_iter().map(|view| view.effect).collect();
        found.reverse();
        assert_eq!(found, expected.effects, "{fact}");
    };
    let done = |expected: &mut Case, evidence: &Evidence| {
        let answer = block_on(store.effect_done(of(1), evidence.clone(), retry)).unwrap();
        assert_eq!(answer, ledger().done(expected, &told(1), evidence));
    };
    let first =
        Begin { policy: policy.clone(), request: Some([3; 32]), expected: Micros::new(9), ..begin(lease, 1, None) };
    begins(&mut expected, &first);
    kept(&expected, "begun");
    begins(&mut expected, &Begin { begin_id: BeginId([2; 16]), ..first });
    kept(&expected, "begun by another, under the same key: the second try holds the money");
    let failed = block_on(store.effect_failed(of(2), Failure::NotSent, Some("no route".into()), retry));
    assert_eq!(failed.unwrap(), ledger().failed(&mut expected, &told(2), false));
    kept(&expected, "failed: the first one holds it again, and the effect is unknown");
    let unknown = block_on(store.effect_unknown(of(1), None, retry)).unwrap();
    assert_eq!(unknown, ledger().unknown(&mut expected, &told(1)));
    kept(&expected, "unknown");
    let full = Evidence {
        resource_id: Some("post-1".into()),
        result: Some("{\"a\":1}".into()),
        cost: Micros::new(11),
        tokens_in: Some(100),
        tokens_out: Some(200),
        model: Some("m".into()),
    };
    let silent = Evidence { resource_id: None, ..full.clone() };
    done(&mut expected, &silent);
    kept(&expected, "done");
    done(&mut expected, &full);
    kept(&expected, "done, and what was made is told later");
    done(&mut expected, &Evidence { resource_id: Some("post-2".into()), ..Evidence::default() });
    kept(&expected, "done again, with another resource: an alarm");
    let lookup = Policy { key_ttl: None, ..policy };
    begins(&mut expected, &Begin { name: EffectName::new("draft").unwrap(), policy: lookup, ..begin(lease, 4, None) });
    kept(&expected, "a second effect");
    let view = find().effects.remove(1);
    assert_eq!((view.note.as_deref(), view.replays), (Some("no route"), 0));
    assert_eq!(find().job.resource_id.as_deref(), Some("post-1"), "the job made it too, the first one");
}

/// The same policy asked for again is the same one, though what is kept of it is not as fine.
#[test]
fn texts_and_lengths_of_time_are_kept_as_they_fit() {
    let Some(schema) = schema() else { return };
    let store = open(&schema);
    let lease = leased(&store, 1)[0];
    let policy = Policy { settle: Duration::from_nanos(1_500), key_ttl: Some(Duration::MAX), ..Policy::default() };
    let with = |id| Begin { policy: policy.clone(), ..begin(lease, id, None) };
    let of = |number| EffectRef { lease, name: name(), number, job: None };
    assert_eq!(goes(&at_once(&[&store], &[with(1)])), 1);
    let note = Some("n".repeat(9_000));
    block_on(store.effect_failed(of(1), Failure::NotSent, note, RetryPolicy::default())).unwrap();
    assert_eq!(goes(&at_once(&[&store], &[with(2)])), 1, "no other policy");
    let long = Evidence {
        resource_id: Some("i".repeat(2_000)),
        result: Some("r".repeat(70_000)),
        model: Some("m".repeat(99)),
        ..Evidence::default()
    };
    block_on(store.effect_done(of(2), long, RetryPolicy::default())).unwrap();
    let view = block_on(store.find_events(None, "job-0".into())).unwrap().remove(0).effects.remove(0);
    let kept = &view.effect.records[0].evidence;
    let lengths = [view.note, kept.result.clone(), kept.model.clone(), kept.resource_id.clone()];
    assert_eq!(lengths.map(|text| text.unwrap().len()), [4_096, 65_536, 64, 1_024]);
    assert_eq!(view.effect.tries[0].key_until, Some(Timestamp::LATEST));
}
