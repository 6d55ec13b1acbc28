//! Workers stopped at every point, on SQLite: nothing happens twice, no job is lost, and what is not known is shown.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod backend;

use std::sync::Arc;

use backend::Sqlite;
use cola_ia_testkit::driver::{SCENARIOS, Scenario, Subject, Tried, amount, each_point, pairs, seed};

fn sqlite() -> Subject {
    Subject::new(Arc::new(Sqlite { name: "sqlite", slot_bits: 64 }))
}

/// Each scenario on its own thread in turn, as many at a time as there are processors.
fn in_parallel(work: impl Fn(&Scenario) -> Tried + Sync) -> Tried {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let all = std::sync::Mutex::new(Tried::default());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(scenario) = SCENARIOS.get(next.fetch_add(1, std::sync::atomic::Ordering::SeqCst)) {
                    let tried = work(scenario);
                    let mut all = all.lock().unwrap();
                    all.points += tried.points;
                    all.runs += tried.runs;
                }
            });
        }
    });
    all.into_inner().unwrap()
}

#[test]
fn a_worker_may_stop_at_any_point() {
    let tried = in_parallel(|scenario| each_point(&sqlite(), scenario).unwrap());
    println!("{} points, {} runs", tried.points, tried.runs);
}

/// A share of the pairs that the model is driven through; `cargo xtask torture` tries more.
#[test]
fn workers_may_stop_at_any_two_points() {
    let tried = pairs(&sqlite(), SCENARIOS, seed(), amount(200)).unwrap();
    println!("{} points, {} runs, seed {}", tried.points, tried.runs, seed());
}
