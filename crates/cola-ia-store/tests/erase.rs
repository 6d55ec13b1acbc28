//! What was erased is gone from the store's files, byte by byte.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cola_ia_core::clock::{SystemClock, SystemEntropy, Timestamp};
use cola_ia_core::event::{Content, Delivery, EventId, EventType, Origin, Source};
use cola_ia_core::intake::{Intake, Refusal, RefusalCode};
use cola_ia_core::store::{
    Decision, EraseRequest, Erased, EventHistory, OpId, PruneRequest, ResolveRequest, Store as _,
};
use cola_ia_store::sqlite::{Options, SqliteStore};
use cola_ia_testkit::harness::block_on;
use rusqlite::Connection;

/// Stands in everything that must go, and in nothing else.
const SECRET: &str = "s3cret-of-ana";
const ID: &str = "id-s3cret-of-ana";

fn op() -> OpId {
    OpId::new(&SystemClock, &SystemEntropy)
}

fn options() -> Options {
    Options { lock_wait: Duration::from_millis(50), ..Options::default() }
}

fn delivery(id: &str, text: &str) -> Intake {
    Intake::Delivery(Delivery {
        source: Source::default(),
        id: EventId::new(id).unwrap(),
        content: Content::new(text.to_owned(), usize::MAX).unwrap(),
        event_type: EventType::new(format!("type {text:.30}")).ok(),
        time: Some(Timestamp::from_micros(1)),
        origin: Origin { input: format!("{text:.30}.jsonl").into(), line: 1 },
        body: None,
    })
}

fn accept(store: &SqliteStore, batch: Vec<Intake>) {
    block_on(store.accept(op(), Arc::new(batch))).unwrap();
}

fn find(store: &SqliteStore) -> EventHistory {
    block_on(store.find_events(None, ID.to_owned())).unwrap().remove(0)
}

fn erase(store: &SqliteStore) -> Erased {
    let request = EraseRequest { source: Source::default(), id: ID.to_owned(), after: None };
    block_on(store.erase(op(), request)).unwrap().unwrap()
}

/// Files beside the store in which the secret stands.
fn with_secret(path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().unwrap();
    let found = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let has = |path: &PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes())
    };
    found.filter(has).collect()
}

/// Every place in which a text of the event can be, short ones and ones that need many pages; rows that were moved because
/// they grew, and freed pages.
fn full(path: &Path) -> SqliteStore {
    let (store, _) = SqliteStore::open(path, &options()).unwrap();
    let long = |what: &str| format!("{SECRET} {what} {}", SECRET.repeat(4_000));
    let around = |from: usize| (from..from + 300).map(|n| delivery(&format!("other {n}"), "x")).collect::<Vec<_>>();
    accept(&store, around(0));
    accept(&store, vec![delivery(ID, &long("text"))]);
    accept(&store, around(300));
    let refusal = Refusal::new(RefusalCode::IdNumber, Origin { input: "in".into(), line: 9 }).about(ID);
    accept(&store, vec![Intake::Refusal(refusal)]);
    for round in 0..3 {
        for other in [&long("one"), &long("two"), &format!("{SECRET} three"), &format!("{SECRET} four")] {
            accept(&store, vec![delivery(ID, other), delivery(ID, &long("text"))]);
        }
        accept(&store, around(600 + 300 * round));
    }
    let event = find(&store).job.event;
    for (conflict, decision) in
        [(1, Decision::Keep), (1, Decision::Keep), (2, Decision::Accept { run: false }), (3, Decision::Keep)]
    {
        let note = Some(format!("note {SECRET}"));
        block_on(store.resolve(op(), ResolveRequest { event, conflicts: vec![conflict], decision, note })).unwrap();
    }
    // Planted, with the writer's own way of freeing.
    let planted = Connection::open(path).unwrap();
    planted.query_row("PRAGMA secure_delete = ON", [], |_| Ok(())).unwrap();
    planted
        .execute_batch(&format!(
            "UPDATE jobs SET result = '{SECRET}', resource_id = '{SECRET}' WHERE event = {0};
             INSERT INTO attempts (event, run, number, lease, worker, started_at, outcome, error, late, stdout, stderr)
             VALUES ({0}, 1, 1, x'00', 'w', 1, 'error', '{SECRET}', '{SECRET}', CAST('{1}' AS BLOB), CAST('{SECRET}' AS BLOB));
             INSERT INTO effects (effect, event, run, name, key, state, lookup, settle, otherwise, begun_at, changed_at, note)
             VALUES (7, {0}, 1, 'publish', 'k', 'done', 0, 0, 'hold', 1, 1, '{SECRET}');
             INSERT INTO effect_records (effect, number, at, witness, resource_id, result, charged_micros, day)
             VALUES (7, 1, 1, 'sender', '{SECRET}', '{SECRET}', 0, 0);",
            event.0,
            long("stdout"),
        ))
        .unwrap();
    store
}

#[test]
fn nothing_of_an_erased_event_is_left_in_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite3");
    let store = full(&path);
    assert!(!with_secret(&path).is_empty(), "it is there before");
    let erased = erase(&store);
    assert!(erased.gone && erased.cancelled && erased.next.is_none(), "{erased:?}");
    assert_eq!(with_secret(&path), Vec::<PathBuf>::new(), "while the store is open");
    // Judged as before, and nothing of it is stored.
    accept(&store, vec![delivery(ID, &format!("{SECRET} new")), delivery(ID, &format!("{SECRET} new"))]);
    assert_eq!(find(&store).conflicts.len(), 5);
    drop(store);
    assert_eq!(with_secret(&path), Vec::<PathBuf>::new(), "after it was closed");
    let check: String =
        Connection::open(&path).unwrap().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}

/// Pruning and writing the file anew come before: what they free is overwritten too.
#[test]
fn an_event_that_was_pruned_before_leaves_nothing_either() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite3");
    let store = full(&path);
    let event = find(&store).job.event;
    let keep = ResolveRequest { event, conflicts: vec![4], decision: Decision::Keep, note: None };
    block_on(store.resolve(op(), keep)).unwrap();
    Connection::open(&path).unwrap().execute("UPDATE jobs SET state = 'done', changed_at = 1", []).unwrap();
    let mut request = PruneRequest { texts: Some(Duration::ZERO), ..PruneRequest::default() };
    let mut events = 0;
    loop {
        let step = block_on(store.prune(op(), request.clone())).unwrap();
        events += step.events;
        request.after = step.next;
        if request.after.is_none() {
            break;
        }
    }
    assert_eq!(events, 1_501);
    assert!(erase(&store).gone);
    assert_eq!(with_secret(&path), Vec::<PathBuf>::new());
    let shrunk = store.shrink().unwrap();
    assert!(shrunk.to < shrunk.from, "{shrunk:?}");
    assert_eq!(find(&store).duplicates, 12);
}

/// A reader of an older state keeps the log: it is said, and erasing again later ends it.
#[test]
fn whoever_reads_an_older_state_keeps_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite3");
    let store = full(&path);
    let reader = Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let _: i64 = reader.query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
    assert!(!erase(&store).gone);
    reader.execute_batch("COMMIT").unwrap();
    let again = erase(&store);
    assert!(again.gone && !again.cancelled, "{again:?}");
    assert_eq!(with_secret(&path), Vec::<PathBuf>::new());
}

/// The old table of the article is closed to everybody, and erasing reaches into it.
#[test]
fn the_row_of_the_article_goes_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite3");
    let rows = Connection::open(&path).unwrap();
    rows.execute_batch(
        "CREATE TABLE trabajos (id TEXT PRIMARY KEY, texto TEXT NOT NULL, huella TEXT NOT NULL,
             estado TEXT NOT NULL DEFAULT 'pendiente')",
    )
    .unwrap();
    for (id, text) in [("other", "x"), (ID, SECRET)] {
        let fingerprint = cola_ia_core::event::Fingerprint::of(text).to_string();
        rows.execute("INSERT INTO trabajos VALUES (?1, ?2, ?3, 'terminado')", (id, text, fingerprint)).unwrap();
    }
    drop(rows);
    let (store, _) = SqliteStore::open(&path, &options()).unwrap();
    assert!(erase(&store).gone);
    // The copy from before is the person's own.
    assert_eq!(with_secret(&path), vec![folder.path().join("store.sqlite3.antes-de-cola-ia")]);
    let rows = Connection::open(&path).unwrap();
    let left: String = rows.query_row("SELECT group_concat(id) FROM trabajos", [], |row| row.get(0)).unwrap();
    assert_eq!(left, "other");
    assert!(rows.execute("DELETE FROM trabajos", []).is_err(), "it is still closed");
}

/// More deliveries than one step goes through.
#[test]
fn an_event_with_many_deliveries_is_erased_in_steps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite3");
    let (store, _) = SqliteStore::open(&path, &options()).unwrap();
    accept(&store, (0..45_000).map(|_| delivery(ID, SECRET)).collect());
    let mut request = EraseRequest { source: Source::default(), id: ID.to_owned(), after: None };
    let mut steps = 0;
    let last = loop {
        let erased = block_on(store.erase(op(), request.clone())).unwrap().unwrap();
        steps += 1;
        request.after = erased.next;
        if request.after.is_none() {
            break erased;
        }
    };
    assert!(steps == 3 && last.gone, "{steps} {last:?}");
    assert_eq!(with_secret(&path), Vec::<PathBuf>::new());
    assert_eq!(find(&store).duplicates, 44_999);
}
