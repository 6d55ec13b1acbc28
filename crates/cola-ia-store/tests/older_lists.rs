//! What an older store holds is listed once it is brought up to date.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

use cola_ia_core::filter::Filter;
use cola_ia_core::store::{ListRequest, Store as _, Texts};
use cola_ia_core::verdict::Verdict;
use cola_ia_store::migration::Migration;
use cola_ia_store::sqlite::{Options, SqliteStore};
use cola_ia_testkit::events::source;
use cola_ia_testkit::harness::block_on;
use rusqlite::Connection;

static FIRST: &[Migration] =
    &[Migration { version: 1, name: "gate", sql: include_str!("../migrations/sqlite/0001_gate.sql") }];

/// As the first version wrote them: deliveries did not name their source.
const ROWS: &str = "
    INSERT INTO sources (source, name) VALUES (1, 'web'), (2, 'form');
    INSERT INTO events (seq, source, id, fingerprint, received_at, text)
    VALUES (1, 1, 'a', zeroblob(32), 10, 'x'), (2, 2, 'b', zeroblob(32), 10, 'x');
    INSERT INTO jobs (event, source, due_at) VALUES (1, 1, 10), (2, 2, 10);
    INSERT INTO deliveries (seq, event, verdict, received_at, conflict, code, detail, origin)
    VALUES (3, 1, 'duplicate', 20, NULL, NULL, NULL, NULL), (4, 2, 'conflict', 20, 1, NULL, NULL, 'f:1'),
           (5, NULL, 'invalid', 20, NULL, 'id_blank', '', 'f:2');
    INSERT INTO conflicts (event, number, fingerprint, first_at, last_at, text) VALUES (2, 1, zeroblob(32), 20, 20, 'y');";

#[test]
fn deliveries_of_the_first_version_are_listed_by_their_source() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite3");
    drop(SqliteStore::open(&path, &Options { migrations: FIRST, ..Options::default() }).unwrap());
    Connection::open(&path).unwrap().execute_batch(ROWS).unwrap();
    let (store, opened) = SqliteStore::open(&path, &Options::default()).unwrap();
    assert_eq!(opened.migrated.unwrap().from, 1);

    let listed = |filter: Filter| -> Vec<i64> {
        let page = block_on(store.deliveries(filter, ListRequest { after: None, limit: 10 })).unwrap();
        page.items.iter().map(|delivery| delivery.number.0).collect()
    };
    assert_eq!(listed(Filter::default()), [5, 4, 3, 2, 1]);
    assert_eq!(listed(Filter { sources: vec![source("web")], ..Filter::default() }), [3, 1]);
    assert_eq!(listed(Filter { verdicts: vec![Verdict::Invalid], ..Filter::default() }), [5]);
    assert_eq!(listed(Filter { verdicts: vec![Verdict::Conflict], ..Filter::default() }), [4]);
    let request = ListRequest { after: None, limit: 10 };
    let filter = Filter { undecided: Some(true), ..Filter::default() };
    let conflicts = block_on(store.conflicts(filter, request, Texts::Bring)).unwrap().items;
    let texts = conflicts[0].texts.clone().unwrap();
    assert_eq!((texts.event.as_deref(), texts.conflict.as_deref()), (Some("x"), Some("y")));
}
