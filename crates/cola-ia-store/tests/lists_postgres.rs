//! Lists and followers of a store in PostgreSQL: what a page reads of much, and what a follower sees of many writers.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod backend;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use backend::postgres::{POSTGRES, Postgres, Schema};
use cola_ia_core::clock::{SystemClock, SystemEntropy, Timestamp};
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::{EventNumber, RefusalCode};
use cola_ia_core::job::JobState;
use cola_ia_core::store::{
    Cursor, DeliverySummary, FollowFrom, Followed, ListRequest, OpId, PageRequest, Store as _, Texts,
};
use cola_ia_core::verdict::Verdict;
use cola_ia_store::postgres::{Options, PostgresStore};
use cola_ia_testkit::events::{event, event_from, event_type, refusal, source};
use cola_ia_testkit::harness::block_on;

/// A page by its name.
type Page<'a> = (&'a str, Box<dyn Fn(&PostgresStore)>);

/// A schema of its own; `None` where there is no server and none is required.
fn schema() -> Option<Schema> {
    Postgres::named("postgres", POSTGRES)?;
    Some(Schema::new(&std::env::var(POSTGRES).ok()?))
}

fn open(schema: &Schema) -> PostgresStore {
    PostgresStore::open(&schema.address().unwrap(), &Options::default()).unwrap().0
}

fn run(schema: &Schema, sql: &str) {
    schema.query(sql, &[]).unwrap();
}

fn accept(store: &PostgresStore, ids: impl IntoIterator<Item = String>) {
    let batch = ids.into_iter().map(|id| event(&id, "x")).collect();
    block_on(store.accept(OpId::new(&SystemClock, &SystemEntropy), Arc::new(batch))).unwrap();
}

fn follow(store: &PostgresStore, from: FollowFrom) -> Followed {
    block_on(store.follow(Filter::default(), from)).unwrap()
}

fn ids(items: &[DeliverySummary]) -> Vec<&str> {
    items.iter().map(|item| item.id.as_deref().unwrap()).collect()
}

/// Follows from a place to where nothing more is there.
fn rest(store: &PostgresStore, mut cursor: Cursor, seen: &mut Vec<i64>) -> Cursor {
    loop {
        let found = follow(store, FollowFrom::After(cursor));
        assert!(!found.rewound);
        seen.extend(found.items.iter().map(|item| item.number.0));
        cursor = found.cursor;
        if !found.more {
            return cursor;
        }
    }
}

#[test]
fn a_follower_beside_four_writers_misses_nothing_and_sees_nothing_twice() {
    const CALLS: usize = 150;
    let Some(schema) = schema() else { return };
    let stores = [open(&schema), open(&schema)];
    let start = follow(&stores[0], FollowFrom::Latest(0)).cursor;
    let writing = AtomicUsize::new(4);
    let seen = std::thread::scope(|scope| {
        for writer in 0..4 {
            let (store, writing) = (&stores[writer % 2], &writing);
            scope.spawn(move || {
                for call in 0..CALLS {
                    // One, and sometimes many: numbers of long transactions are committed after higher ones.
                    let members = if call % 50 == 7 { 1_500 } else { 1 + call % 3 };
                    accept(store, (0..members).map(|member| format!("{writer}.{call}.{member}")));
                }
                writing.fetch_sub(1, Ordering::Release);
            });
        }
        let (mut cursor, mut seen, mut looks) = (start, Vec::new(), 0);
        loop {
            let is_over = writing.load(Ordering::Acquire) == 0;
            cursor = rest(&stores[1], cursor, &mut seen);
            looks += 1;
            if is_over {
                assert!(looks > 20, "it looked only {looks} times meanwhile");
                return seen;
            }
        }
    });
    let expected: HashSet<i64> =
        schema.query("SELECT seq FROM events", &[]).unwrap().iter().map(|row| row.get(0)).collect();
    assert_eq!(
        expected.len(),
        4 * (3 * 1_500 + (0..CALLS).filter(|call| call % 50 != 7).map(|call| 1 + call % 3).sum::<usize>())
    );
    assert_eq!(seen.len(), expected.len());
    assert_eq!(seen.into_iter().collect::<HashSet<_>>(), expected);
}

#[test]
fn a_batch_that_is_committed_late_is_told_before_what_overtook_it_and_strangers_hold_nobody_up() {
    let Some(schema) = schema() else { return };
    let store = open(&schema);
    accept(&store, ["before".to_owned()]);
    let start = follow(&store, FollowFrom::Latest(0)).cursor;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    // Somebody's transaction, which writes: nothing of this store waits for it but who needs the same source.
    let name = schema.address().unwrap().schema().to_owned();
    let stranger = runtime.block_on(async {
        let address = std::env::var(POSTGRES).unwrap();
        let (client, connection) = tokio_postgres::connect(&address, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute(&format!("BEGIN; INSERT INTO {name}.sources (name) VALUES ('slow')")).await.unwrap();
        client
    });
    let pid: i32 = runtime.block_on(stranger.query_one("SELECT pg_backend_pid()", &[])).unwrap().get(0);
    accept(&store, ["first".to_owned()]);
    let found = follow(&store, FollowFrom::After(start));
    assert_eq!(ids(&found.items), ["first"]);
    let cursor = std::thread::scope(|scope| {
        let slow = scope.spawn(|| {
            let batch = vec![event_from("slow", "slow", "x")];
            block_on(store.accept(OpId::new(&SystemClock, &SystemEntropy), Arc::new(batch))).unwrap();
        });
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))";
        while schema.query(waits, &[&pid]).unwrap()[0].get::<_, i64>(0) == 0 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        accept(&store, ["second".to_owned()]);
        let meanwhile = follow(&store, FollowFrom::After(found.cursor));
        assert_eq!((meanwhile.items.len(), meanwhile.more, meanwhile.rewound), (0, false, false));
        // Who begins now is not told what will be told.
        assert_eq!(ids(&follow(&store, FollowFrom::Latest(2)).items), ["before", "first"]);
        runtime.block_on(stranger.batch_execute("ROLLBACK")).unwrap();
        slow.join().unwrap();
        meanwhile.cursor
    });
    assert_eq!(ids(&follow(&store, FollowFrom::After(cursor)).items), ["slow", "second"]);
}

#[test]
fn a_place_of_another_server_is_rewound_and_nothing_is_lost_afterwards() {
    let Some(schema) = schema() else { return };
    let store = open(&schema);
    accept(&store, ["a".to_owned(), "b".to_owned()]);
    let cursor = follow(&store, FollowFrom::Latest(0)).cursor;
    drop(store);
    // As if the database had been loaded from a server that was further than this one.
    run(&schema, "UPDATE arrivals SET tx = tx + 1000000000000");
    let store = open(&schema);
    let found = follow(&store, FollowFrom::After(cursor));
    assert_eq!((found.items.len(), found.rewound, found.more), (0, true, false));
    accept(&store, ["c".to_owned()]);
    let found = follow(&store, FollowFrom::After(found.cursor));
    assert_eq!((ids(&found.items), found.rewound), (vec!["c"], false));
    assert_eq!(ids(&follow(&store, FollowFrom::Latest(3)).items), ["a", "b", "c"]);
    // Opening it again changes nothing.
    drop(store);
    let store = open(&schema);
    let found = follow(&store, FollowFrom::After(found.cursor));
    assert_eq!((found.items.len(), found.rewound), (0, false));
}

#[test]
fn the_latest_of_what_is_rare_are_found_behind_much_else() {
    let Some(schema) = schema() else { return };
    let store = open(&schema);
    let refused = |line| refusal(RefusalCode::IdBlank, line);
    let batch = (1..=3).map(refused).collect();
    block_on(store.accept(OpId::new(&SystemClock, &SystemEntropy), Arc::new(batch))).unwrap();
    accept(&store, (0..9_000).map(|index| index.to_string()));
    let invalid = Filter { verdicts: vec![Verdict::Invalid], ..Filter::default() };
    let found = block_on(store.follow(invalid, FollowFrom::Latest(2))).unwrap();
    let numbers: Vec<i64> = found.items.iter().map(|item| item.number.0).collect();
    let all = schema.query("SELECT seq FROM deliveries ORDER BY seq", &[]).unwrap();
    assert_eq!(numbers, [all[1].get::<_, i64>(0), all[2].get(0)]);
}

const ROWS: i64 = 1_000_000;

/// Much of everything: of every source and state, in blocks with gaps as batches take them. What is rare lies far below.
fn fill(schema: &Schema) {
    for sql in [
        // What is not looked at here, and what would keep it over a crash.
        "DROP INDEX events_identity".to_owned(),
        "ALTER TABLE events SET UNLOGGED".to_owned(),
        "ALTER TABLE jobs SET UNLOGGED".to_owned(),
        "INSERT INTO sources (source, name) VALUES (1, 'many'), (2, 'few')".to_owned(),
        format!(
            "INSERT INTO events (seq, source, received_at, id, fingerprint, text)
             SELECT (n / 1000 << 17) + n % 1000, CASE WHEN n <= 10 THEN 2 ELSE 1 END, n, n, '\\x00', 'x'
             FROM generate_series(1, {ROWS}) n"
        ),
        // Held ones are a tenth, and all of them old.
        format!(
            "INSERT INTO jobs (event, source, state, reason)
             SELECT seq, source, CASE WHEN received_at <= {} THEN 'held' ELSE 'done' END, '' FROM events",
            ROWS / 10
        ),
        "INSERT INTO deliveries (seq, received_at, verdict, code)
         SELECT ((n / 1000) << 17) + 1000 + n % 1000, n, 'invalid', CASE WHEN n = 1 THEN 'id_blank' ELSE 'id_number' END
         FROM generate_series(1, 100000) n"
            .to_owned(),
        "INSERT INTO attempts (event, run, number, started_at, lease, worker, outcome, error_class)
         SELECT seq, 1, 1, 1, int8send(seq), 'w', CASE WHEN received_at <= 50000 THEN 'error' ELSE 'done' END, 'c'
         FROM events WHERE received_at <= 200000"
            .to_owned(),
        "INSERT INTO conflicts (event, number, first_at, last_at, decided_at, fingerprint, decision)
         SELECT seq, 1, received_at, 1, 1, decode(repeat('01', 32), 'hex'), CASE WHEN received_at <= 1000 THEN NULL ELSE 'keep' END
         FROM events WHERE received_at <= 200000"
            .to_owned(),
        format!(
            "INSERT INTO counter_deltas (at, source, counter, n, first, last)
             SELECT 1, 1, 'new', {ROWS}, 0, max(seq) FROM events"
        ),
    ] {
        run(schema, &sql);
    }
}

/// Rows of tables and entries of indexes that were read in the schema.
fn read(schema: &Schema) -> i64 {
    let sql = "SELECT (coalesce(sum(seq_tup_read), 0) + coalesce(sum(idx_tup_fetch), 0)
                       + (SELECT coalesce(sum(idx_tup_read), 0) FROM pg_stat_user_indexes
                          WHERE schemaname = current_schema()))::bigint
               FROM pg_stat_user_tables WHERE schemaname = current_schema()";
    schema.query(sql, &[]).unwrap()[0].get(0)
}

#[test]
fn a_page_reads_so_many_rows_however_many_there_are() {
    let Some(schema) = schema() else { return };
    drop(open(&schema));
    fill(&schema);
    for analyzed in [false, true] {
        if analyzed {
            for table in ["events", "jobs", "deliveries", "attempts", "conflicts", "counter_deltas"] {
                run(&schema, &format!("ANALYZE {table}"));
            }
        }
        let all = Filter::default;
        let few = || Filter { sources: vec![source("few")], ..all() };
        let typed = || Filter { types: vec![event_type("none")], ..all() };
        let state = |state| Filter { states: vec![state], ..all() };
        let first = |limit| ListRequest { after: None, limit };
        let jobs = |name, filter: Filter| -> Page<'_> {
            (
                name,
                Box::new(move |store| {
                    drop(block_on(store.jobs(filter.clone(), PageRequest { below: None, limit: 50 })).unwrap());
                }),
            )
        };
        let deliveries = |name, filter: Filter| -> Page<'_> {
            (name, Box::new(move |store| drop(block_on(store.deliveries(filter.clone(), first(50))).unwrap())))
        };
        let conflicts = |name, filter: Filter| -> Page<'_> {
            (
                name,
                Box::new(move |store| {
                    drop(block_on(store.conflicts(filter.clone(), first(50), Texts::Bring)).unwrap());
                }),
            )
        };
        let attempts = |name, filter: Filter| -> Page<'_> {
            (name, Box::new(move |store| drop(block_on(store.attempts(filter.clone(), first(50))).unwrap())))
        };
        let middle = EventNumber((ROWS / 2_000) << 17);
        let pages = [
            jobs("jobs", all()),
            jobs("jobs of a source", few()),
            jobs("jobs of a type", typed()),
            jobs("held jobs", state(JobState::Held)),
            jobs("held jobs of a source", Filter { sources: vec![source("few")], ..state(JobState::Held) }),
            jobs("pending jobs", state(JobState::Pending)),
            jobs("done jobs", state(JobState::Done)),
            (
                "jobs below",
                Box::new(move |store: &PostgresStore| {
                    let page = PageRequest { below: Some(middle), limit: 50 };
                    drop(block_on(store.jobs(Filter { types: typed().types, ..all() }, page)).unwrap());
                }) as Box<dyn Fn(&PostgresStore)>,
            ),
            jobs(
                "jobs of a time",
                Filter { since: Some(Timestamp::from_micros(0)), until: Some(Timestamp::from_micros(10)), ..all() },
            ),
            deliveries("deliveries", all()),
            deliveries("deliveries of a source", few()),
            deliveries("refused", Filter { verdicts: vec![Verdict::Invalid], ..all() }),
            deliveries("refused so", Filter { reasons: vec!["id_blank".into()], ..all() }),
            conflicts("conflicts", all()),
            conflicts("conflicts of a source", few()),
            conflicts("undecided", Filter { undecided: Some(true), ..all() }),
            attempts("attempts", all()),
            attempts("attempts of a source", few()),
            attempts("attempts of no class", Filter { reasons: vec!["none".into()], ..all() }),
        ];
        for (name, page) in pages {
            let before = read(&schema);
            // What a connection read is counted for certain when it ends.
            let store = PostgresStore::view(&schema.address().unwrap(), &Options::default()).unwrap();
            page(&store);
            drop(store);
            let mut rows = 0;
            for _ in 0..200 {
                rows = read(&schema) - before;
                if rows > 0 {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            eprintln!("{name}: {rows}");
            // 4,000 rows in each of two tables at most, each with what is joined to it, as entries and as rows; of these the small
            // table of sources is counted too.
            assert!((1..=33_000).contains(&rows), "{name} (analyzed: {analyzed}): {rows} rows");
        }
    }
}
