//! How fast jobs are leased and ended, durably and with their attempts on record: `cargo bench -p cola-ia-store --bench leases`.
//!
//! Ratios count: rates of one run on one machine. The folder is `COLA_IA_BENCH_DIR`, or the system's for temporary files;
//! where that is in memory, nothing is measured.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cola_ia_core::clock::{SystemClock, SystemEntropy};
use cola_ia_core::job::{Ending, RetryPolicy};
use cola_ia_core::store::{ClaimRequest, End, OpId, Report, Store};
use cola_ia_store::sqlite::{Options, SqliteStore};
use cola_ia_testkit::events::event;
use cola_ia_testkit::harness::block_on;

fn main() {
    let runs: usize = std::env::var("COLA_IA_BENCH_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(3);
    let jobs: usize = std::env::var("COLA_IA_BENCH_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(500_000);
    let names = ["single commits", "one by one", "ten at once", "by the hundred"];
    let mut rates = [const { Vec::new() }; 4];
    for run in 0..runs {
        let folder = match std::env::var_os("COLA_IA_BENCH_DIR") {
            Some(base) => tempfile::tempdir_in(base),
            None => tempfile::tempdir(),
        };
        let folder = folder.unwrap();
        let rate = [
            commits(&folder.path().join("commits.sqlite3"), 5_000),
            leases(&folder.path().join("one.sqlite3"), 4_000, 1, 1),
            leases(&folder.path().join("ten.sqlite3"), 20_000, 10, 1),
            leases(&folder.path().join("hundred.sqlite3"), jobs, 1, 100),
        ];
        for ((name, rate), rates) in names.iter().zip(rate).zip(&mut rates) {
            println!("run {run}: {name:<16} {rate:>10.0} a second");
            rates.push(rate);
        }
    }
    let [commits, one, ten, hundred] = rates.map(|mut rates| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    });
    println!("one by one, over half the single commits  {:>8.2}  (at least 0.7)", one / (commits / 2.0));
    println!("ten at once, over one by one              {:>8.2}  (at least 3)", ten / one);
    println!("by the hundred, jobs a single commit      {:>8.2}  (at least 14.3)", hundred / commits);
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
    for first in (0..jobs).step_by(50_000) {
        let events =
            (first..jobs.min(first + 50_000)).map(|index| event(&format!("job-{index}"), "a short text")).collect();
        block_on(store.accept(OpId::new(&SystemClock, &SystemEntropy), Arc::new(events))).unwrap();
    }
    let (started, before) = (Instant::now(), processor());
    let done: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(|| work(&store, batch))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(done, jobs);
    println!("    processor: {:.1} µs a job", (processor() - before) / jobs as f64 * 1e6);
    jobs as f64 / started.elapsed().as_secs_f64()
}

fn work(store: &SqliteStore, batch: u32) -> usize {
    let request =
        ClaimRequest { worker: "bench".to_owned(), lease: Duration::from_mins(1), limit: batch, source: None };
    let mut done = 0;
    loop {
        let claim = block_on(store.claim(OpId::new(&SystemClock, &SystemEntropy), request.clone())).unwrap();
        if claim.leases.is_empty() {
            return done;
        }
        let report = |number: i64| Report {
            exit_code: Some(0),
            resource_id: Some(format!("post-{number}")),
            stdout: b"done\n".to_vec(),
            ..Report::default()
        };
        let ends = claim.leases.iter().map(|leased| End {
            token: leased.token,
            ending: Ending::Done,
            report: report(leased.job.event.0),
        });
        let answers = block_on(store.end(Arc::new(ends.collect()), RetryPolicy::default())).unwrap();
        done += answers.iter().filter(|answer| answer.is_ok()).count();
    }
}

/// Seconds of processor time that this process has used; 0 where the system does not tell.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = behind_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}
