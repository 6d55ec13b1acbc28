//! What a worker asks while it waits: whether anybody has committed something, and whose events these are.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

use std::sync::Arc;
use std::time::Duration;

use cola_ia_core::clock::{SystemClock, SystemEntropy};
use cola_ia_core::job::RetryPolicy;
use cola_ia_core::store::{ClaimRequest, OpId, Store};
use cola_ia_store::sqlite::{Options, SqliteStore};
use cola_ia_testkit::events::event;
use cola_ia_testkit::harness::block_on;

fn open(folder: &tempfile::TempDir) -> SqliteStore {
    SqliteStore::open(&folder.path().join("store.sqlite3"), &Options::default()).unwrap().0
}

fn op() -> OpId {
    OpId::new(&SystemClock, &SystemEntropy)
}

fn add(store: &SqliteStore, id: &str) {
    block_on(store.accept(op(), Arc::new(vec![event(id, "x")]))).unwrap();
}

#[test]
fn a_commit_is_noticed_whoever_made_it_and_a_look_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let (here, there) = (open(&folder), open(&folder));
    let look = || block_on(here.changes()).unwrap();
    let mut seen = look();
    for (who, id) in [(&there, "a"), (&here, "b"), (&there, "c")] {
        add(who, id);
        assert_ne!(look(), seen, "{id}");
        seen = look();
        assert_eq!(look(), seen);
    }
    // What changes nothing wakes nobody: idle workers must not keep each other awake.
    let policy = RetryPolicy::default();
    block_on(there.recover(policy, 10, false)).unwrap();
    block_on(there.recover(policy, 10, true)).unwrap();
    let of_nobody = Some(cola_ia_core::event::Source::new("nobody").unwrap());
    let request = ClaimRequest { worker: "w".to_owned(), lease: Duration::from_secs(9), limit: 1, source: of_nobody };
    assert!(block_on(there.claim(op(), request)).unwrap().leases.is_empty());
    assert_eq!(look(), seen, "recover and claim that found nothing");
}

#[test]
fn a_lock_makes_nobody_wait_for_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    let seen = block_on(store.changes()).unwrap();
    let other = rusqlite::Connection::open(folder.path().join("store.sqlite3")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(block_on(store.changes()).unwrap(), seen);
}

#[test]
fn the_namespace_stays_when_the_store_is_opened_again() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let namespace = block_on(open(&folder).namespace()).unwrap();
    assert_eq!(block_on(open(&folder).namespace()).unwrap(), namespace);
    assert_ne!(block_on(open(&other).namespace()).unwrap(), namespace);
}
