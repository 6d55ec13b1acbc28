//! Decisions and erasures where workers and effects are in the way. They have no verbs yet, so their rows are planted.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::sync::Arc;

use cola_ia_core::clock::{Clock as _, SystemClock, SystemEntropy};
use cola_ia_core::event::{Content, Delivery, EventId, Origin, Source};
use cola_ia_core::intake::Intake;
use cola_ia_core::job::JobState;
use cola_ia_core::store::{
    Decision, EraseRequest, Erased, EventHistory, OpId, ResolveRequest, Resolved, Store as _, StoreError,
};
use cola_ia_store::sqlite::{Options, SqliteStore};
use cola_ia_testkit::harness::block_on;
use rusqlite::Connection;

fn op() -> OpId {
    OpId::new(&SystemClock, &SystemEntropy)
}

struct Setting {
    store: SqliteStore,
    planted: Connection,
    _folder: tempfile::TempDir,
}

impl Setting {
    /// One event with three conflicts, whose job runs: a worker has a lease for so long from now, in microseconds.
    fn new(lease: i64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite3");
        let (store, _) = SqliteStore::open(&path, &Options::default()).unwrap();
        let member = |text: &str| {
            Intake::Delivery(Delivery {
                source: Source::default(),
                id: EventId::new("id").unwrap(),
                content: Content::new(text.to_owned(), 100).unwrap(),
                event_type: None,
                time: None,
                origin: Origin { input: "-".into(), line: 1 },
                body: None,
            })
        };
        block_on(store.accept(op(), Arc::new(["x", "c1", "c2", "c3"].map(member).to_vec()))).unwrap();
        let planted = Connection::open(&path).unwrap();
        planted
            .execute_batch(&format!(
                "UPDATE jobs SET state = 'running', attempts = 1, lease = x'070707070707070707070707070707070707', lease_until = {}, worker = 'w', result = 'old';
                 INSERT INTO attempts (event, run, number, lease, worker, started_at) VALUES (1, 1, 1, x'070707070707070707070707070707070707', 'w', 1);",
                SystemClock.now().as_micros() + lease
            ))
            .unwrap();
        Self { store, planted, _folder: folder }
    }

    fn find(&self) -> EventHistory {
        block_on(self.store.find_events(None, "id".to_owned())).unwrap().remove(0)
    }

    fn accept(&self, conflict: u32) -> Result<Resolved, StoreError> {
        let decision = Decision::Accept { run: true };
        let request = ResolveRequest { event: self.find().job.event, conflicts: vec![conflict], decision, note: None };
        block_on(self.store.resolve(op(), request))
    }

    fn erase(&self) -> Result<Option<Erased>, StoreError> {
        let request = EraseRequest { source: Source::default(), id: "id".to_owned(), after: None };
        block_on(self.store.erase(op(), request))
    }

    fn text(&self, sql: &str) -> Option<String> {
        self.planted.query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

const HOUR: i64 = 3_600_000_000;
const OUTCOME: &str = "SELECT outcome FROM attempts";
const LEASE: &str = "SELECT hex(lease) FROM jobs";

#[test]
fn a_new_run_takes_the_lease_from_the_worker_that_has_the_old_one() {
    let setting = Setting::new(HOUR);
    let resolved = setting.accept(2).unwrap();
    assert_eq!((resolved.state, resolved.run, resolved.rerun), (JobState::Pending, 2, true));
    let job = setting.find().job;
    assert_eq!((job.state, job.run, job.attempts), (JobState::Pending, 2, 0));
    assert_eq!(setting.text(LEASE).unwrap_or_default(), "", "no token fits any more");
    assert_eq!(setting.text(OUTCOME).as_deref(), Some("lease_lost"));
    assert_eq!(setting.text("SELECT result FROM jobs").as_deref(), Some("old"), "until the new run has its own");
}

#[test]
fn a_new_run_is_refused_while_an_effect_is_open() {
    for (state, refused) in [("intended", true), ("unknown", true), ("held", true), ("done", false), ("failed", false)]
    {
        let setting = Setting::new(HOUR);
        setting
            .planted
            .execute(
                "INSERT INTO effects (event, run, name, key, state, lookup, settle, otherwise, begun_at, changed_at)
                 VALUES (1, 1, 'publish', 'k', ?1, 0, 0, 'hold', 1, 1)",
                [state],
            )
            .unwrap();
        let answer = setting.accept(1);
        assert_eq!(answer.as_ref().err().map(|error| error.code), refused.then_some("effects_open"), "{state}");
        let found = setting.find();
        assert_eq!((found.revision, found.job.run), if refused { (1, 1) } else { (2, 2) }, "{state}");
        assert_eq!(found.conflicts[0].decisions.is_empty(), refused, "{state}: nothing of a refused call is kept");
    }
}

#[test]
fn a_lease_that_has_run_out_does_not_keep_an_event_from_being_erased() {
    let setting = Setting::new(HOUR);
    assert_eq!(setting.erase().unwrap_err().code, "job_running");
    assert_eq!(setting.find().text.as_deref(), Some("x"), "nothing is erased");
    let setting = Setting::new(-HOUR);
    let erased = setting.erase().unwrap().unwrap();
    assert!(erased.cancelled && erased.gone, "{erased:?}");
    assert_eq!(setting.text(LEASE).unwrap_or_default(), "");
    assert_eq!(setting.text(OUTCOME).as_deref(), Some("crashed"));
}

#[test]
fn a_store_that_is_not_there_is_not_made_to_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite3");
    let refused = SqliteStore::change(&path, &Options::default()).err().map(|error| error.code);
    assert_eq!((refused, path.exists()), (Some("store_missing"), false));
}
