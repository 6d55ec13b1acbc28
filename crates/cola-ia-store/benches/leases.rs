//! How fast jobs are leased and ended, durably and with their attempts on record: `cargo bench -p cola-ia-store --bench leases`.
//!
//! Ratios count: rates of one run on one machine. The folder is `COLA_IA_BENCH_DIR`, or the system's for temporary files;
//! where that is in memory, nothing is measured.

#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::time::Instant;

use cola_ia_store::sqlite::{Options, SqliteStore};
use common::{accept, fill, median, processor, setting, work};

fn main() {
    let runs = setting("COLA_IA_BENCH_RUNS", 3);
    let jobs = setting("COLA_IA_BENCH_JOBS", 500_000);
    let many = setting("COLA_IA_BENCH_PENDING", 5_000_000);
    let names = ["bare commits", "one event a commit", "one by one", "ten at once", "by the hundred"];
    let mut rates = [const { Vec::new() }; 5];
    for run in 0..runs {
        let folder = folder();
        let place = |name: &str| folder.path().join(name);
        let rate = [
            commits(&place("commits.sqlite3"), 5_000),
            events(&place("events.sqlite3"), 3_000),
            leases(&place("one.sqlite3"), 4_000, 1, 1),
            leases(&place("ten.sqlite3"), 20_000, 10, 1),
            leases(&place("hundred.sqlite3"), jobs, 1, 100),
        ];
        for ((name, rate), rates) in names.iter().zip(rate).zip(&mut rates) {
            println!("run {run}: {name:<18} {rate:>10.0} a second");
            rates.push(rate);
        }
    }
    // Run by run, so that a machine that slows down between runs changes both sides alike.
    let over = |left: usize, right: usize, factor: f64| {
        median(rates[left].iter().zip(&rates[right]).map(|(left, right)| factor * left / right).collect())
    };
    let mut promises = vec![
        ("one by one, over half of one event a commit", over(2, 1, 2.0), 0.7),
        ("ten at once, over one by one", over(3, 2, 1.0), 3.0),
        ("by the hundred, jobs for one event a commit", over(4, 1, 1.0), 100.0 / 7.0),
    ];
    println!("for comparison: one by one, over half of the bare commits {:.2}", over(2, 0, 2.0));
    if many > 0 {
        promises.push(("claims of 1,000 pending, over those of many", flat(many), 0.67));
    }
    let mut missed = false;
    for (name, ratio, least) in promises {
        missed |= ratio < least;
        println!("  {name:<46} {ratio:>8.2}, at least {least:.2}: {}", if ratio < least { "MISSED" } else { "holds" });
    }
    std::process::exit(i32::from(missed));
}

fn folder() -> tempfile::TempDir {
    match std::env::var_os("COLA_IA_BENCH_DIR") {
        Some(base) => tempfile::tempdir_in(base).unwrap(),
        None => tempfile::tempdir().unwrap(),
    }
}

/// How a thousand claims and ends of a hundred compare: beside 1,000 jobs that wait more than are taken, and beside so many
/// that wait and as many that are done.
fn flat(many: usize) -> f64 {
    let folder = folder();
    let taken = 20_000;
    let few = leases(&folder.path().join("few.sqlite3"), taken + 1_000, 1, 100);
    let path = folder.path().join("many.sqlite3");
    let (store, _) = SqliteStore::open(&path, &Options::default()).unwrap();
    fill(&store, many);
    drop(store);
    // As a store is that has worked for long; nothing of the claim's own is made faster by it.
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "UPDATE jobs SET state = 'done', due_at = NULL;
             INSERT INTO attempts (event, run, number, lease, worker, started_at, ended_at, outcome)
             SELECT event, 1, 1, randomblob(18), 'w', 1, 2, 'done' FROM jobs;
             PRAGMA wal_checkpoint(TRUNCATE);",
        )
        .unwrap();
    drop(connection);
    let (store, _) = SqliteStore::open(&path, &Options::default()).unwrap();
    let first = many;
    for first in (first..first + many).step_by(50_000) {
        accept(&store, first..(first + 50_000).min(2 * many));
    }
    let started = Instant::now();
    assert_eq!(work(&store, 100, taken), taken);
    let large = taken as f64 / started.elapsed().as_secs_f64();
    println!("beside 1,000 pending: {few:.0} a second; beside {many} pending and as many done: {large:.0} a second");
    large / few
}

/// One event a transaction, through the gate.
fn events(path: &Path, count: usize) -> f64 {
    let (store, _) = SqliteStore::open(path, &Options::default()).unwrap();
    let started = Instant::now();
    for index in 0..count {
        accept(&store, index..index + 1);
    }
    count as f64 / started.elapsed().as_secs_f64()
}

/// One row a transaction, in the mode that the store uses.
fn commits(path: &Path, count: usize) -> f64 {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection
        .execute_batch(
            "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (x)",
        )
        .unwrap();
    let started = Instant::now();
    for _ in 0..count {
        connection.prepare_cached("INSERT INTO t VALUES (1)").unwrap().execute([]).unwrap();
    }
    count as f64 / started.elapsed().as_secs_f64()
}

fn leases(path: &Path, jobs: usize, workers: usize, batch: u32) -> f64 {
    let (store, _) = SqliteStore::open(path, &Options::default()).unwrap();
    fill(&store, jobs);
    let (started, before) = (Instant::now(), processor());
    let done: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(|| work(&store, batch, usize::MAX))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(done, jobs);
    println!("    processor: {:.1} µs a job", (processor() - before) / jobs as f64 * 1e6);
    jobs as f64 / started.elapsed().as_secs_f64()
}
