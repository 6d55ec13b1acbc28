//! Leases in PostgreSQL where several stores work on one schema.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod backend;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use backend::postgres::{POSTGRES, Postgres, Schema};
use cola_ia_core::clock::{SystemClock, SystemEntropy, Timestamp};
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::{Ending, RetryPolicy};
use cola_ia_core::store::{ClaimRequest, End, Leased, OpId, Report, Store};
use cola_ia_store::postgres::{Options, PostgresStore};
use cola_ia_testkit::clock::ManualClock;
use cola_ia_testkit::harness::block_on;

/// A schema of its own; `None` where there is no server and none is required.
fn schema() -> Option<Schema> {
    Postgres::named("postgres", POSTGRES)?;
    Some(Schema::new(&std::env::var(POSTGRES).ok()?))
}

fn open(schema: &Schema) -> PostgresStore {
    PostgresStore::open(&schema.address().unwrap(), &Options::default()).unwrap().0
}

fn open_at(schema: &Schema, clock: &ManualClock) -> PostgresStore {
    let options = Options { clock: Some(Arc::new(clock.clone())), ..Options::default() };
    PostgresStore::open(&schema.address().unwrap(), &options).unwrap().0
}

/// Jobs of three sources. Job 1 has been due longest, then job 2, …
fn fill(schema: &Schema, jobs: i64) {
    schema.query("INSERT INTO sources (name) VALUES ('a'), ('b'), ('c')", &[]).unwrap();
    add(schema, 1, jobs, 0);
}

fn add(schema: &Schema, first: i64, last: i64, due_before: i64) {
    for sql in [
        "INSERT INTO events (seq, source, received_at, id, fingerprint, text)
         SELECT n, 1 + n % 3, n - $3, 'job-' || n, '', 'a short text' FROM generate_series($1::bigint, $2::bigint) n",
        "INSERT INTO jobs (event, source, due_at)
         SELECT n, 1 + n % 3, n - $3 FROM generate_series($1::bigint, $2::bigint) n",
    ] {
        schema.query(sql, &[&first, &last, &due_before]).unwrap();
    }
}

fn op() -> OpId {
    OpId::new(&SystemClock, &SystemEntropy)
}

fn claim(store: &PostgresStore, limit: u32) -> Vec<Leased> {
    let request = ClaimRequest { worker: "worker".to_owned(), lease: Duration::from_mins(1), limit, source: None };
    block_on(store.claim(op(), request)).unwrap().leases
}

fn events(leases: &[Leased]) -> Vec<i64> {
    leases.iter().map(|leased| leased.job.event.0).collect()
}

fn end(store: &PostgresStore, leases: &[Leased]) {
    let done = |leased: &Leased| End { token: leased.token, ending: Ending::Done, report: Report::default() };
    let ends = Arc::new(leases.iter().map(done).collect());
    let answers = block_on(store.end(ends, RetryPolicy::default())).unwrap();
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
}

/// One number that the schema tells.
fn count(schema: &Schema, sql: &str) -> i64 {
    schema.query(sql, &[]).unwrap()[0].get(0)
}

fn each_is_leased_once(batch: u32) {
    const JOBS: i64 = 2_000;
    let Some(schema) = schema() else { return };
    let stores = [open(&schema), open(&schema)];
    fill(&schema, JOBS);
    let left = AtomicUsize::new(JOBS as usize);
    let leased: Vec<Vec<i64>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let (store, left) = (&stores[thread % 2], &left);
                scope.spawn(move || {
                    let mut mine = Vec::new();
                    // A claim may come back empty where others hold what is due; nothing is left only once all are ended.
                    while left.load(Ordering::Relaxed) > 0 {
                        let leases = claim(store, batch);
                        let taken = events(&leases);
                        assert!(taken.is_sorted(), "{taken:?}");
                        end(store, &leases);
                        left.fetch_sub(taken.len(), Ordering::Relaxed);
                        mine.extend(taken);
                    }
                    mine
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let all: Vec<i64> = leased.into_iter().flatten().collect();
    assert_eq!(all.len(), JOBS as usize);
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), (1..=JOBS).collect());
    assert_eq!(count(&schema, "SELECT count(*) FROM attempts WHERE outcome = 'done' AND number = 1"), JOBS);
    assert_eq!(count(&schema, "SELECT count(*) FROM jobs WHERE state = 'done' AND leases = 1 AND attempts = 1"), JOBS);
    assert_eq!(
        count(
            &schema,
            "SELECT ((SELECT coalesce(sum(n), 0) FROM counter_deltas WHERE counter = 'job_done')
                 + (SELECT coalesce(sum(n), 0) FROM job_counts WHERE state = 'done'))::bigint"
        ),
        JOBS
    );
}

#[test]
fn two_stores_lease_each_job_once_one_by_one() {
    each_is_leased_once(1);
}

#[test]
fn two_stores_lease_each_job_once_by_the_hundred() {
    each_is_leased_once(100);
}

#[test]
fn calls_that_wait_together_share_what_is_due() {
    let Some(schema) = schema() else { return };
    let store = open(&schema);
    fill(&schema, 60);
    let request =
        |limit, source| ClaimRequest { worker: "worker".to_owned(), lease: Duration::from_mins(1), limit, source };
    let (a, same) = (Some(cola_ia_core::event::Source::new("a").unwrap()), op());
    let calls = [
        (op(), request(20, None)),
        (op(), request(5, a.clone())),
        (same, request(10, None)),
        (same, request(10, None)),
        (op(), request(5, a)),
        (op(), request(1_000, None)),
    ];
    // Made before any of them is waited for.
    let mut waiting: Vec<_> = calls.iter().map(|(op, request)| store.claim(*op, request.clone())).collect();
    for call in &mut waiting {
        let waker = std::task::Waker::noop();
        assert!(call.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
    }
    let answers: Vec<Vec<Leased>> = waiting.into_iter().map(|call| block_on(call).unwrap().leases).collect();
    assert_eq!(answers[2], answers[3], "one op, one answer");
    let mut times: BTreeMap<i64, usize> = BTreeMap::new();
    for (place, answer) in answers.iter().enumerate().filter(|(place, _)| *place != 3) {
        assert!(events(answer).is_sorted());
        assert!(answer.len() <= calls[place].1.limit as usize);
        if let Some(source) = &calls[place].1.source {
            assert!(answer.iter().all(|leased| leased.job.source == *source));
        }
        for event in events(answer) {
            *times.entry(event).or_default() += 1;
        }
    }
    assert_eq!(times, (1..=60).map(|event| (event, 1)).collect());
}

#[test]
fn an_op_on_two_connections_at_once_is_answered_once() {
    let Some(schema) = schema() else { return };
    let stores = [open(&schema), open(&schema)];
    fill(&schema, 400);
    for _ in 0..20 {
        let op = op();
        let answers: Vec<Vec<i64>> = std::thread::scope(|scope| {
            let calls: Vec<_> = stores
                .iter()
                .map(|store| {
                    scope.spawn(move || {
                        let request = ClaimRequest {
                            worker: "worker".to_owned(),
                            lease: Duration::from_mins(1),
                            limit: 10,
                            source: None,
                        };
                        events(&block_on(store.claim(op, request)).unwrap().leases)
                    })
                })
                .collect();
            calls.into_iter().map(|call| call.join().unwrap()).collect()
        });
        assert_eq!(answers[0].len(), 10);
        assert_eq!(answers[0], answers[1]);
    }
    assert_eq!(count(&schema, "SELECT count(*) FROM jobs WHERE state = 'running'"), 200);
}

#[test]
fn two_stores_recover_each_lease_once() {
    const JOBS: i64 = 600;
    let Some(schema) = schema() else { return };
    let clock = ManualClock::at(Timestamp::from_micros(1_000_000));
    let stores = [open_at(&schema, &clock), open_at(&schema, &clock)];
    fill(&schema, JOBS);
    assert_eq!(claim(&stores[0], 1_000).len(), JOBS as usize);
    clock.advance(120_000_000);
    let recovered: Vec<Vec<EventNumber>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let store = &stores[thread % 2];
                scope.spawn(move || {
                    let mut mine = Vec::new();
                    loop {
                        let step = block_on(store.recover(RetryPolicy::default(), 50, false)).unwrap();
                        mine.extend(step.jobs.iter().map(|(event, _)| *event));
                        if step.jobs.is_empty() {
                            return mine;
                        }
                    }
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let all: Vec<i64> = recovered.into_iter().flatten().map(|event| event.0).collect();
    assert_eq!(all.len(), JOBS as usize);
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), (1..=JOBS).collect());
    assert_eq!(count(&schema, "SELECT count(*) FROM jobs WHERE state = 'pending' AND crashes = 1"), JOBS);
    assert_eq!(count(&schema, "SELECT count(*) FROM attempts WHERE outcome = 'crashed'"), JOBS);
}

#[test]
fn a_job_that_becomes_due_before_what_was_leased_is_found_within_a_second() {
    let Some(schema) = schema() else { return };
    let clock = ManualClock::at(Timestamp::from_micros(1_000_000));
    let store = open_at(&schema, &clock);
    fill(&schema, 50);
    assert_eq!(events(&claim(&store, 10)), (1..=10).collect::<Vec<_>>());
    // From elsewhere, by a clock that is behind.
    add(&schema, 101, 102, 1_000);
    // It is relied on for a moment that there is nothing before: dead entries there are not gone through again and again.
    assert_eq!(events(&claim(&store, 10)), (11..=20).collect::<Vec<_>>());
    clock.advance(1_000_000);
    assert_eq!(events(&claim(&store, 4)), [101, 102, 21, 22]);
    add(&schema, 103, 103, 1_000);
    // Where there is less than is wanted everything is looked through at once.
    assert_eq!(events(&claim(&store, 100)), [vec![103], (23..=50).collect()].concat());
}
