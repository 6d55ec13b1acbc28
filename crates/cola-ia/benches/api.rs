//! How fast workers claim and complete jobs over HTTP, in batches of 100, over loopback: `cargo bench -p cola-ia --bench api`.
//!
//! The server, the store and the workers are one process: the figure is of all their work together. The folder is
//! `COLA_IA_BENCH_DIR`, or the system's for temporary files.

#![allow(clippy::unwrap_used)]

#[path = "../tests/common/served.rs"]
mod served;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use cola_ia::remote::RemoteStore;
use cola_ia_core::clock::{SystemClock, SystemEntropy};
use cola_ia_core::job::{Ending, RetryPolicy};
use cola_ia_core::store::{ClaimRequest, End, OpId, Report, Store};
use cola_ia_store::sqlite::{Options, SqliteStore};
use cola_ia_testkit::events::event;
use cola_ia_testkit::harness::block_on;
use served::{Served, TOKEN};

/// Workers at the same time.
const WORKERS: usize = 4;
/// Jobs of a claim.
const BATCH: u32 = 100;
/// Jobs a second.
const LEAST: f64 = 30_000.0;

fn main() {
    let runs = setting("COLA_IA_BENCH_RUNS", 3);
    let count = setting("COLA_IA_BENCH_JOBS", 100_000);
    let mut rates: Vec<f64> = (0..runs).map(|_| run(count)).collect();
    rates.sort_by(f64::total_cmp);
    let rate = rates[rates.len() / 2];
    let missed = rate < LEAST;
    println!(
        "  claimed and completed over HTTP, {BATCH} at a time, {WORKERS} workers: {rate:.0} jobs a second, at least {LEAST:.0}: {}",
        if missed { "MISSED" } else { "holds" }
    );
    std::process::exit(i32::from(missed));
}

fn setting(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

/// Jobs a second, of so many.
fn run(count: usize) -> f64 {
    let folder = match std::env::var_os("COLA_IA_BENCH_DIR") {
        Some(base) => tempfile::tempdir_in(base).unwrap(),
        None => tempfile::tempdir().unwrap(),
    };
    let store = SqliteStore::open(&folder.path().join("store.sqlite3"), &Options::default()).unwrap().0;
    let text = "word ".repeat(40);
    for from in (0..count).step_by(10_000) {
        let batch = (from..count.min(from + 10_000)).map(|number| event(&format!("event-{number}"), &text)).collect();
        block_on(store.accept(OpId::new(&SystemClock, &SystemEntropy), Arc::new(batch))).unwrap();
    }
    let served = Served::start(Arc::new(store), Arc::new(SystemClock), Arc::new(SystemEntropy)).unwrap();
    let started = Instant::now();
    let done: usize = thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(|| work(&served.url()))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    let took = started.elapsed();
    assert_eq!(done, count, "every job is done, by one worker");
    served.stop().unwrap();
    count as f64 / took.as_secs_f64()
}

/// Claims and completes until nothing is due.
fn work(url: &str) -> usize {
    let store = RemoteStore::new(url, TOKEN).unwrap();
    let request =
        ClaimRequest { worker: "bench".to_owned(), lease: Duration::from_mins(5), limit: BATCH, source: None };
    let mut done = 0;
    loop {
        let op = OpId::new(&SystemClock, &SystemEntropy);
        let leases = block_on(store.claim(op, request.clone())).unwrap().leases;
        if leases.is_empty() {
            return done;
        }
        let end = |token| End { token, ending: Ending::Done, report: Report::default() };
        let ends: Vec<End> = leases.iter().map(|leased| end(leased.token)).collect();
        let answers = block_on(store.end(Arc::new(ends), RetryPolicy::default())).unwrap();
        done += answers.iter().filter(|answer| answer.is_ok()).count();
    }
}
