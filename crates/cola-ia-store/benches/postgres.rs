//! How fast a store in PostgreSQL leases and ends jobs, and whether that stays so as it grows and beside an old snapshot:
//! `cargo xtask bench postgres`, or `cargo bench -p cola-ia-store --bench postgres` with `COLA_IA_TEST_POSTGRES`.

#![allow(clippy::unwrap_used)]

#[path = "../tests/backend/mod.rs"]
mod backend;
mod common;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use backend::postgres::{POSTGRES, Schema};
use cola_ia_store::postgres::{Options, PostgresStore};
use common::{accept, fill, median, setting, work};

/// By the hundred, jobs a second.
const HUNDRED: f64 = 40_000.0;
/// Of the rate beside 1,000 pending jobs.
const FLAT: f64 = 0.8;
/// Of the rate before a snapshot was taken that stays open.
const OLD_SNAPSHOT: f64 = 0.5;

fn main() {
    let runs = setting("COLA_IA_BENCH_RUNS", 3);
    let jobs = setting("COLA_IA_BENCH_JOBS", 200_000);
    let pending = setting("COLA_IA_BENCH_PENDING", 1_000_000);
    let seconds = setting("COLA_IA_BENCH_SNAPSHOT", 180);
    let address = std::env::var(POSTGRES).expect("COLA_IA_TEST_POSTGRES says where a server is");
    let names = ["one by one", "ten at once", "by the hundred", "by the hundred, four at once"];
    let mut rates = [const { Vec::new() }; 4];
    for run in 0..runs {
        let rate = [
            leases(&address, 4_000, 1, 1),
            leases(&address, 20_000, 10, 1),
            leases(&address, jobs, 1, 100),
            leases(&address, jobs, 4, 100),
        ];
        for ((name, rate), rates) in names.iter().zip(rate).zip(&mut rates) {
            println!("run {run}: {name:<28} {rate:>10.0} a second");
            rates.push(rate);
        }
    }
    let [_, ten, hundred, four] = rates.map(median);
    let mut promises = vec![("by the hundred, jobs a second", hundred.max(four), HUNDRED)];
    // What another queue did on the same server, ten at once.
    if let Some(other) = std::env::var("COLA_IA_BENCH_TEN_AT_ONCE").ok().and_then(|rate| rate.parse::<f64>().ok()) {
        promises.push(("ten at once, over the other queue", ten / other, 1.0));
    }
    if pending > 0 {
        promises.push(("claims of 1,000 pending, over those of many", flat(&address, pending), FLAT));
    }
    if seconds > 0 {
        let kept = beside_a_snapshot(&address, Duration::from_secs(seconds as u64));
        promises.push(("claims beside an old snapshot, over before it", kept, OLD_SNAPSHOT));
    }
    let mut missed = false;
    for (name, figure, least) in promises {
        missed |= figure < least;
        println!(
            "  {name:<46} {figure:>10.2}, at least {least:.2}: {}",
            if figure < least { "MISSED" } else { "holds" }
        );
    }
    std::process::exit(i32::from(missed));
}

fn open(schema: &Schema) -> PostgresStore {
    PostgresStore::open(&schema.address().unwrap(), &Options::default()).unwrap().0
}

fn leases(address: &str, jobs: usize, workers: usize, batch: u32) -> f64 {
    let schema = Schema::new(address);
    let store = open(&schema);
    fill(&store, jobs);
    let started = Instant::now();
    let done: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(|| work(&store, batch, usize::MAX))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(done, jobs);
    jobs as f64 / started.elapsed().as_secs_f64()
}

/// How claims and ends of a hundred beside so many pending and five times as many finished jobs compare with those beside 1,000
/// more than are taken.
fn flat(address: &str, pending: usize) -> f64 {
    let taken = 20_000;
    let few = leases(address, taken + 1_000, 1, 100);
    let schema = Schema::new(address);
    let store = open(&schema);
    let finished = 5 * pending;
    fill(&store, finished);
    // As a store is that has worked for long; nothing of the claim's own is made faster by it.
    schema.query("UPDATE jobs SET state = 'done', due_at = NULL", &[]).unwrap();
    schema
        .query(
            "INSERT INTO attempts (event, run, number, lease, worker, started_at, ended_at, outcome)
             SELECT event, 1, 1, decode(md5(event::text) || 'ffff', 'hex'), 'w', 1, 2, 'done' FROM jobs",
            &[],
        )
        .unwrap();
    for first in (finished..finished + pending).step_by(50_000) {
        accept(&store, first..(first + 50_000).min(finished + pending));
    }
    vacuum(address, &schema);
    let started = Instant::now();
    assert_eq!(work(&store, 100, taken), taken);
    let large = taken as f64 / started.elapsed().as_secs_f64();
    println!("beside 1,000 pending: {few:.0} a second; beside {pending} pending and {finished} finished: {large:.0}");
    large / few
}

/// As the server does by itself in time.
fn vacuum(address: &str, schema: &Schema) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(address, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        for table in ["jobs", "events", "attempts"] {
            client.batch_execute(&format!("VACUUM ANALYZE {}.{table}", schema.name())).await.unwrap();
        }
    });
}

/// The rate of single claims and ends in the last tenth of the time, over that of as long before the snapshot was taken.
fn beside_a_snapshot(address: &str, length: Duration) -> f64 {
    let schema = Schema::new(address);
    let store = open(&schema);
    let (added, done, ended) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (store, added, done, ended) = (&store, &added, &done, &ended);
        // There is always work: what enters keeps ahead of what is done.
        scope.spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                let first = added.load(Ordering::Relaxed);
                if first < done.load(Ordering::Relaxed) + 20_000 {
                    accept(store, first..first + 5_000);
                    added.store(first + 5_000, Ordering::Relaxed);
                } else {
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
        });
        for _ in 0..4 {
            scope.spawn(move || {
                while !ended.load(Ordering::Relaxed) {
                    done.fetch_add(work(store, 10, 100), Ordering::Relaxed);
                }
            });
        }
        let rate = |over: Duration| {
            let before = done.load(Ordering::Relaxed);
            std::thread::sleep(over);
            (done.load(Ordering::Relaxed) - before) as f64 / over.as_secs_f64()
        };
        std::thread::sleep(Duration::from_secs(3));
        let before = rate(length / 10);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let reader = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(address, tokio_postgres::NoTls).await.unwrap();
            tokio::spawn(connection);
            let look = format!("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM {}.jobs", schema.name());
            client.batch_execute(&look).await.unwrap();
            client
        });
        std::thread::sleep(length.mul_f64(0.9));
        let beside = rate(length / 10);
        ended.store(true, Ordering::Relaxed);
        drop(reader);
        println!("before the snapshot {before:.0} jobs a second, beside it after {length:?} {beside:.0}");
        beside / before
    })
}
