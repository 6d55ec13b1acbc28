//! What guarding an effect costs, durably: `cargo bench -p cola-ia-store --bench effects`.
//!
//! Pairs of `begin` and `done` by so many workers at once, over single events accepted by as many producers: both share their
//! commits. Ratios count: rates of one run on one machine. The folder is `COLA_IA_BENCH_DIR`, or the system's for temporary
//! files; where that is in memory, nothing is measured.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cola_ia_core::clock::{SystemClock, SystemEntropy};
use cola_ia_core::effect::{Begin, BeginAnswer, BeginId, EffectName, Evidence, Micros, Policy, ReportAnswer};
use cola_ia_core::job::RetryPolicy;
use cola_ia_core::store::{ClaimRequest, EffectRef, Leased, OpId, Store};
use cola_ia_store::sqlite::{Options, SqliteStore};
use cola_ia_testkit::events::event;
use cola_ia_testkit::harness::block_on;

/// Producers, and workers.
const AT_ONCE: usize = 32;
const LEAST: f64 = 0.3;

fn main() {
    let runs = setting("COLA_IA_BENCH_RUNS", 3);
    let count = setting("COLA_IA_BENCH_EFFECTS", 30_000);
    let mut ratios = Vec::new();
    for run in 0..runs {
        let folder = match std::env::var_os("COLA_IA_BENCH_DIR") {
            Some(base) => tempfile::tempdir_in(base).unwrap(),
            None => tempfile::tempdir().unwrap(),
        };
        let events = events(&folder.path().join("events.sqlite3"), count);
        let pairs = pairs(&folder.path().join("effects.sqlite3"), count, None);
        let costly = pairs_with_costs(&folder.path().join("costs.sqlite3"), count);
        println!("run {run}: events {events:>8.0} a second, effects {pairs:>8.0}, with costs {costly:>8.0}");
        ratios.push((pairs / events, costly / events));
    }
    ratios.sort_by(|one, other| one.1.total_cmp(&other.1));
    let (plain, costly) = ratios[ratios.len() / 2];
    let missed = plain.min(costly) < LEAST;
    println!(
        "  effects over events {plain:.2}, with costs {costly:.2}, at least {LEAST:.2}: {}",
        if missed { "MISSED" } else { "holds" }
    );
    std::process::exit(i32::from(missed));
}

fn setting(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, &Options::default()).unwrap().0
}

fn op() -> OpId {
    OpId::new(&SystemClock, &SystemEntropy)
}

/// How many a second, if `AT_ONCE` threads do so many together, one after the other each.
fn rate(count: usize, one: impl Fn(usize) + Sync) -> f64 {
    let next = AtomicUsize::new(0);
    let (started, before) = (Instant::now(), processor());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    one(index);
                }
            });
        }
    });
    let rate = count as f64 / started.elapsed().as_secs_f64();
    println!("    processor: {:.1} µs each", (processor() - before) / count as f64 * 1e6);
    rate
}

fn events(path: &Path, count: usize) -> f64 {
    let store = open(path);
    rate(count, |index| {
        let batch = Arc::new(vec![event(&format!("job-{index}"), "a short text")]);
        block_on(store.accept(op(), batch)).unwrap();
    })
}

fn pairs_with_costs(path: &Path, count: usize) -> f64 {
    pairs(path, count, Micros::new(2_000))
}

fn pairs(path: &Path, count: usize, cost: Option<Micros>) -> f64 {
    let store = open(path);
    for first in (0..count).step_by(10_000) {
        let batch = (first..count.min(first + 10_000)).map(|index| event(&format!("job-{index}"), "a short text"));
        block_on(store.accept(op(), Arc::new(batch.collect()))).unwrap();
    }
    let request =
        ClaimRequest { worker: "bench".to_owned(), lease: Duration::from_hours(1), limit: 1_000, source: None };
    let mut leased: Vec<Leased> = Vec::new();
    while leased.len() < count {
        leased.extend(block_on(store.claim(op(), request.clone())).unwrap().leases);
    }
    let name = EffectName::new("publish").unwrap();
    rate(count, |index| {
        let lease = leased[index].token;
        let begin = Begin {
            lease,
            name: name.clone(),
            begin_id: BeginId::draw(&SystemEntropy),
            policy: Policy { lookup: true, ..Policy::default() },
            request: Some([7; 32]),
            expected: cost,
            send_within: Duration::from_mins(1),
            call_time: Duration::from_mins(1),
        };
        let told = block_on(store.effect_begin(begin, RetryPolicy::default())).unwrap();
        let BeginAnswer::Go(go) = told.answer else { panic!("{told:?}") };
        let of = EffectRef { lease, name: name.clone(), number: go.number, job: None };
        let evidence = Evidence { resource_id: Some(format!("post-{index}")), cost, ..Evidence::default() };
        let told = block_on(store.effect_done(of, evidence, RetryPolicy::default())).unwrap();
        assert_eq!(told, ReportAnswer::Recorded);
    })
}

/// Seconds of processor time that this process has used; 0 where the system does not tell.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = behind_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}
