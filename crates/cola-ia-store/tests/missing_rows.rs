//! Rows that damage took: an error, never an answer without them.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

use std::sync::Arc;

use cola_ia_core::clock::{SystemClock, SystemEntropy};
use cola_ia_core::filter::Filter;
use cola_ia_core::store::{OpId, PageRequest, Store, StoreError};
use cola_ia_store::sqlite::{Options, SqliteStore};
use cola_ia_testkit::events;
use cola_ia_testkit::harness::block_on;

fn code<T>(result: Result<T, StoreError>) -> &'static str {
    result.map_or_else(|error| error.code, |_| "ok")
}

#[test]
fn a_missing_row_is_damage_and_not_an_empty_answer() {
    for statement in ["DELETE FROM events", "DELETE FROM sources"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite3");
        let (store, _) = SqliteStore::open(&path, &Options::default()).unwrap();
        let batch = Arc::new(vec![events::event("a", "uno")]);
        block_on(store.accept(OpId::new(&SystemClock, &SystemEntropy), Arc::clone(&batch))).unwrap();
        rusqlite::Connection::open(&path).unwrap().execute(statement, []).unwrap();

        let page = PageRequest { below: None, limit: 10 };
        assert_eq!(code(block_on(store.jobs(Filter::default(), page))), "store_damaged", "{statement}");
        if statement == "DELETE FROM sources" {
            assert_eq!(
                code(block_on(store.stats(Filter::default()))),
                "store_damaged",
                "counts of a source without a name"
            );
        }
        if statement == "DELETE FROM events" {
            assert_eq!(code(block_on(store.find_events(None, "a".into()))), "store_damaged");
            assert_eq!(code(block_on(store.preview(Arc::clone(&batch)))), "store_damaged");
            let again = block_on(store.accept(OpId::new(&SystemClock, &SystemEntropy), batch));
            assert_eq!(code(again), "store_damaged", "it must not enter twice");
        }
    }
}
