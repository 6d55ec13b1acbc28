//! Workers stopped at every point, on SQLite and on PostgreSQL: nothing happens twice, no job is lost, and what is not known is
//! shown.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod backend;

use std::sync::{Arc, Mutex, PoisonError};

use backend::Sqlite;
use backend::postgres::{POSTGRES, Postgres, Schema};
use cola_ia_core::clock::Timestamp;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::JobState;
use cola_ia_core::store::Store;
use cola_ia_testkit::clock::{ManualClock, SeededEntropy};
use cola_ia_testkit::driver::{SCENARIOS, Scenario, Subject, Tried, amount, each_point, pairs, seed};
use cola_ia_testkit::harness::{Backend, Failure, Place, RecordedRefusal};

fn sqlite() -> Subject {
    Subject::new(Arc::new(Sqlite { name: "sqlite", slot_bits: 64 }))
}

/// PostgreSQL, where the environment names a server.
fn postgres() -> Option<Subject> {
    Postgres::named("postgres", POSTGRES)?;
    let address = std::env::var(POSTGRES).ok()?;
    Some(Subject::new(Arc::new(Recycled { address, free: Arc::default() })))
}

/// Schemas that are emptied and used again: there are thousands of runs, and making one takes longer than a run.
struct Recycled {
    address: String,
    free: Arc<Mutex<Vec<Schema>>>,
}

/// A schema until the end of a run.
struct Lent {
    /// `None` while it is given back.
    schema: Option<Schema>,
    free: Arc<Mutex<Vec<Schema>>>,
}

impl Backend for Recycled {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn fresh(&self) -> Result<Box<dyn Place>, Failure> {
        let used = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let schema = match used {
            Some(schema) => {
                empty(&schema)?;
                schema
            }
            None => Schema::new(&self.address),
        };
        Ok(Box::new(Lent { schema: Some(schema), free: Arc::clone(&self.free) }))
    }
}

/// As a store is when it was just made: with its name, and nothing else.
fn empty(schema: &Schema) -> Result<(), Failure> {
    schema.query(
        "DO $$ DECLARE name text; BEGIN
             FOR name IN SELECT tablename FROM pg_tables
                 WHERE schemaname = current_schema() AND tablename NOT IN ('store', 'cola_ia_migrations')
             LOOP EXECUTE format('DELETE FROM %I', name); END LOOP;
             UPDATE store SET restored_at = NULL, backed_up_at = NULL, currency = NULL;
         END $$",
        &[],
    )?;
    Ok(())
}

impl Lent {
    fn schema(&self) -> Result<&Schema, Failure> {
        self.schema.as_ref().ok_or_else(|| "given back".into())
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).extend(self.schema.take());
    }
}

impl Place for Lent {
    fn open(&self, clock: ManualClock, entropy: SeededEntropy) -> Result<Arc<dyn Store>, Failure> {
        self.schema()?.open(clock, entropy)
    }

    fn refusals(&self) -> Result<Vec<RecordedRefusal>, Failure> {
        self.schema()?.refusals()
    }

    fn set_job(&self, event: EventNumber, state: JobState, at: Timestamp) -> Result<(), Failure> {
        self.schema()?.set_job(event, state, at)
    }
}

/// Each scenario on its own thread in turn, as many at a time as there are processors.
fn in_parallel(scenarios: &[Scenario], work: impl Fn(&Scenario) -> Tried + Sync) -> Tried {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let all = std::sync::Mutex::new(Tried::default());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(scenario) = scenarios.get(next.fetch_add(1, std::sync::atomic::Ordering::SeqCst)) {
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
    let tried = in_parallel(SCENARIOS, |scenario| each_point(&sqlite(), scenario).unwrap());
    println!("{} points, {} runs", tried.points, tried.runs);
}

/// A share of the pairs that the model is driven through; `cargo xtask torture` tries more.
#[test]
fn workers_may_stop_at_any_two_points() {
    let tried = pairs(&sqlite(), SCENARIOS, seed(), amount(200)).unwrap();
    println!("{} points, {} runs, seed {}", tried.points, tried.runs, seed());
}

/// A part of the scenarios, of so many parts: each is a test of its own, so that none takes minutes alone.
fn on_postgresql(part: usize) {
    const PARTS: usize = 5;
    let Some(postgres) = postgres() else { return };
    let scenarios = SCENARIOS.chunks(SCENARIOS.len().div_ceil(PARTS)).nth(part).unwrap_or_default();
    let tried = in_parallel(scenarios, |scenario| each_point(&postgres, scenario).unwrap());
    println!("{} points, {} runs", tried.points, tried.runs);
}

#[test]
fn a_worker_may_stop_at_any_point_on_postgresql_1() {
    on_postgresql(0);
}

#[test]
fn a_worker_may_stop_at_any_point_on_postgresql_2() {
    on_postgresql(1);
}

#[test]
fn a_worker_may_stop_at_any_point_on_postgresql_3() {
    on_postgresql(2);
}

#[test]
fn a_worker_may_stop_at_any_point_on_postgresql_4() {
    on_postgresql(3);
}

#[test]
fn a_worker_may_stop_at_any_point_on_postgresql_5() {
    on_postgresql(4);
}

#[test]
fn workers_may_stop_at_any_two_points_on_postgresql() {
    let Some(postgres) = postgres() else { return };
    let tried = pairs(&postgres, SCENARIOS, seed(), amount(50)).unwrap();
    println!("{} points, {} runs, seed {}", tried.points, tried.runs, seed());
}
