//! The article's own database, good and hostile.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use cola_ia_core::clock::{SystemClock, SystemEntropy};
use cola_ia_core::event::{Content, Delivery, EventId, Fingerprint, Origin, Source};
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::{Intake, RefusalCode};
use cola_ia_core::job::JobState;
use cola_ia_core::store::{OpId, PageRequest, Store};
use cola_ia_core::verdict::Verdict;
use cola_ia_store::migration::Migration;
use cola_ia_store::sqlite::{Options, SqliteStore, TakenOver};
use cola_ia_testkit::harness::block_on;
use rusqlite::{Connection, params};

/// The table that the article's script makes.
const TABLE: &str = "CREATE TABLE trabajos (id TEXT PRIMARY KEY, texto TEXT NOT NULL, huella TEXT NOT NULL, \
                     estado TEXT NOT NULL DEFAULT 'pendiente')";

struct Article {
    folder: tempfile::TempDir,
}

impl Article {
    fn new(statements: &str) -> Self {
        let article = Self { folder: tempfile::tempdir().unwrap() };
        article.old().execute_batch(statements).unwrap();
        article
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("cola_ia.sqlite3")
    }

    fn old(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }

    fn row(&self, id: &str, text: &str, state: &str) -> &Self {
        let fingerprint = Fingerprint::of(text).to_string();
        self.old().execute("INSERT INTO trabajos VALUES (?1, ?2, ?3, ?4)", (id, text, fingerprint, state)).unwrap();
        self
    }

    fn take_over(&self) -> (SqliteStore, TakenOver) {
        let (store, opened) = SqliteStore::open(&self.path(), &options()).unwrap();
        (store, opened.taken_over.expect("it was taken over"))
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn options() -> Options {
    Options { lock_wait: Duration::from_secs(10), ..Options::default() }
}

/// (id, state, reason) of all jobs, oldest first.
fn jobs(store: &dyn Store) -> Vec<(String, JobState, String)> {
    let page = block_on(store.jobs(Filter::default(), PageRequest { below: None, limit: 1000 })).unwrap();
    page.jobs.into_iter().rev().map(|job| (job.id, job.state, job.reason)).collect()
}

fn add(store: &dyn Store, id: &str, text: &str) -> Verdict {
    let delivery = Delivery {
        source: Source::default(),
        id: EventId::new(id).unwrap(),
        content: Content::new(text.to_owned(), 1 << 20).unwrap(),
        event_type: None,
        time: None,
        origin: Origin { input: "-".into(), line: 1 },
        body: None,
    };
    let op = OpId::new(&SystemClock, &SystemEntropy);
    block_on(store.accept(op, Arc::new(vec![Intake::Delivery(delivery)]))).unwrap().receipts[0].verdict
}

#[test]
fn rows_become_jobs_with_the_state_that_the_old_words_mean() {
    let article = Article::new(TABLE);
    article
        .row("a", "uno", "pendiente")
        .row("b", "dos", "en_proceso")
        .row("c", "tres", "terminado")
        .row("d", "x", "??");
    let (store, report) = article.take_over();
    let job = |id: &str, state, reason: &str| (id.to_owned(), state, reason.to_owned());
    assert_eq!(
        jobs(&store),
        [
            job("a", JobState::Pending, ""),
            job("b", JobState::Held, "taken_over_running"),
            job("c", JobState::Done, ""),
            job("d", JobState::Held, "taken_over_state"),
        ]
    );
    assert_eq!((report.pending, report.done, report.held, report.untaken_count), (1, 1, 2, 0));
    assert_eq!(report.unknown_states, [("d".to_owned(), "??".to_owned())]);
    // Known ones are known: nothing is paid twice.
    assert_eq!(add(&store, "a", "uno"), Verdict::Duplicate);
    assert_eq!(add(&store, "c", "otro"), Verdict::Conflict);
    assert_eq!(add(&store, "e", "uno"), Verdict::New);
    let counted = block_on(store.stats(Filter::default())).unwrap().total;
    let jobs = JobState::ALL.map(|state| counted.jobs_in(state));
    assert_eq!((counted.deliveries, jobs), ([5, 1, 1, 0], [2, 0, 1, 0, 2, 0]));
}

#[test]
fn the_file_as_it_was_stands_beside() {
    let article = Article::new(TABLE);
    article.row("a", "uno", "pendiente");
    let (store, report) = article.take_over();
    drop(store);
    assert_eq!(report.copy, article.folder.path().join("cola_ia.sqlite3.antes-de-cola-ia"));
    assert_eq!(fs::metadata(&report.copy).unwrap().permissions().mode() & 0o777, 0o600);
    let copy = Connection::open(&report.copy).unwrap();
    let row = copy.query_row("SELECT id, texto FROM trabajos", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(row, ("a".to_owned(), "uno".to_owned()));
    assert!(!copy.table_exists(None, "events").unwrap());
    assert_eq!(article.names(), ["cola_ia.sqlite3", "cola_ia.sqlite3.antes-de-cola-ia"]);
}

#[test]
fn an_earlier_copy_is_kept() {
    let article = Article::new(TABLE);
    article.row("a", "uno", "pendiente");
    fs::write(article.folder.path().join("cola_ia.sqlite3.antes-de-cola-ia"), "mine").unwrap();
    let (_, report) = article.take_over();
    assert_eq!(report.copy.file_name().unwrap(), "cola_ia.sqlite3.antes-de-cola-ia.2");
    assert_eq!(fs::read(article.folder.path().join("cola_ia.sqlite3.antes-de-cola-ia")).unwrap(), b"mine");
}

#[test]
fn an_old_script_fails_loudly() {
    let article = Article::new(TABLE);
    article.row("a", "uno", "pendiente");
    drop(article.take_over());
    let old = article.old();
    for statement in [
        "INSERT OR IGNORE INTO trabajos (id, texto, huella) VALUES ('z', 'x', 'y')",
        "INSERT OR IGNORE INTO trabajos (id, texto, huella) VALUES ('a', 'uno', 'y')",
        "REPLACE INTO trabajos (id, texto, huella) VALUES ('a', 'dos', 'y')",
        "UPDATE trabajos SET estado = 'terminado'",
        "DELETE FROM trabajos",
    ] {
        let message = old.execute(statement, []).unwrap_err().to_string();
        assert!(message.contains("cola-ia add"), "{statement}: {message}");
    }
    // What the script does first must not fail before it: the message is what people see.
    old.execute_batch(&TABLE.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS")).unwrap();
}

#[test]
fn a_fingerprint_that_is_not_its_texts_is_held_and_reported() {
    let article = Article::new(TABLE);
    article.old().execute("INSERT INTO trabajos VALUES ('a', 'uno', 'beef', 'terminado')", []).unwrap();
    let (store, report) = article.take_over();
    assert_eq!(report.mismatched, ["a"]);
    assert_eq!(jobs(&store), [("a".to_owned(), JobState::Held, "taken_over_fingerprint".to_owned())]);
    assert_eq!(add(&store, "a", "uno"), Verdict::Duplicate, "the text decides");
}

#[test]
fn other_columns_stay_in_the_old_table_and_are_named() {
    let article = Article::new(
        "CREATE TABLE trabajos (id TEXT PRIMARY KEY, texto TEXT NOT NULL, huella TEXT NOT NULL, \
         estado TEXT NOT NULL DEFAULT 'pendiente', autor TEXT, nota TEXT); \
         CREATE INDEX por_estado ON trabajos (estado); ANALYZE;",
    );
    let fingerprint = Fingerprint::of("uno").to_string();
    article
        .old()
        .execute("INSERT INTO trabajos VALUES ('a', 'uno', ?1, 'pendiente', 'ana', 'hola')", [fingerprint])
        .unwrap();
    let (store, report) = article.take_over();
    assert_eq!(report.other_columns, ["autor", "nota"]);
    drop(store);
    let kept: String = article.old().query_row("SELECT autor FROM trabajos", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, "ana");
}

#[test]
fn rows_that_cannot_be_events_stay_and_are_counted() {
    use RefusalCode::{IdBlank, IdControl, IdNotString, IdTooLong, TextBlank, TextNotString, TextNul, Utf8Invalid};
    let article = Article::new(
        "CREATE TABLE trabajos (id TEXT PRIMARY KEY, texto TEXT NOT NULL, huella TEXT NOT NULL, \
         estado TEXT NOT NULL DEFAULT 'pendiente'); \
         INSERT INTO trabajos VALUES (NULL, 'sin id', 'x', 'pendiente'); \
         INSERT INTO trabajos VALUES (x'0102', 'id binario', 'x', 'pendiente'); \
         INSERT INTO trabajos VALUES (CAST(x'ff' AS TEXT), 'no es UTF-8', 'x', 'pendiente'); \
         INSERT INTO trabajos VALUES ('', 'id vacío', 'x', 'pendiente'); \
         INSERT INTO trabajos VALUES ('a' || char(10), 'salto', 'x', 'pendiente'); \
         INSERT INTO trabajos VALUES ('n', 'nulo' || char(0) || 'x', 'x', 'pendiente'); \
         INSERT INTO trabajos VALUES ('b', x'00ff', 'x', 'pendiente'); \
         INSERT INTO trabajos VALUES ('v', ' ', 'x', 'pendiente');",
    );
    article.row("bien", "uno", "pendiente");
    article.row(&"l".repeat(1025), "largo", "pendiente");
    let (store, report) = article.take_over();
    let codes: Vec<_> = report.untaken.iter().map(|row| row.code).collect();
    assert_eq!(
        codes,
        [IdNotString, IdNotString, Utf8Invalid, IdBlank, IdControl, TextNul, TextNotString, TextBlank, IdTooLong]
    );
    assert_eq!(report.untaken_count, 9);
    assert_eq!(jobs(&store).len(), 1);
    drop(store);
    let old: i64 = article.old().query_row("SELECT count(*) FROM trabajos", [], |row| row.get(0)).unwrap();
    assert_eq!(old, 10, "nothing is lost");
}

#[test]
fn a_text_longer_than_todays_bound_is_taken() {
    let article = Article::new(TABLE);
    article.row("a", &"x".repeat(3 << 20), "pendiente");
    let (store, report) = article.take_over();
    assert_eq!((report.pending, report.untaken_count), (1, 0));
    assert_eq!(jobs(&store).len(), 1);
}

/// What is not the article's, or not only: refused by every way to open, and not a byte changes.
#[test]
fn what_is_not_only_the_articles_is_refused_untouched() {
    let with = |more: &str| format!("{TABLE}; INSERT INTO trabajos VALUES ('a', 'b', 'c', 'pendiente'); {more}");
    let cases = [
        ("another table", with("CREATE TABLE notas (x)"), "takeover_refused"),
        ("a view", with("CREATE VIEW v AS SELECT * FROM trabajos"), "takeover_refused"),
        (
            "a trigger",
            with("CREATE TRIGGER t AFTER INSERT ON trabajos BEGIN DELETE FROM trabajos; END"),
            "takeover_refused",
        ),
        ("signed", with("PRAGMA application_id = 5"), "store_foreign"),
        ("versioned", with("PRAGMA user_version = 5"), "store_foreign"),
        ("a missing column", "CREATE TABLE trabajos (id TEXT PRIMARY KEY, texto TEXT)".to_owned(), "takeover_refused"),
        (
            "trabajos is a view",
            "CREATE TABLE t (x); CREATE VIEW trabajos AS SELECT * FROM t".to_owned(),
            "store_foreign",
        ),
        ("no tables", "VACUUM".to_owned(), "store_foreign"),
        ("another program's", "CREATE TABLE usuarios (id TEXT)".to_owned(), "store_foreign"),
    ];
    for (name, statements, expected) in cases {
        let article = Article::new(&statements);
        if fs::metadata(article.path()).unwrap().len() == 0 {
            continue; // SQLite writes nothing for an empty schema of some versions; the empty file has its own test
        }
        let before = (article.names(), fs::read(article.path()).unwrap());
        let opened = SqliteStore::open(&article.path(), &options()).map(drop).unwrap_err().code;
        let viewed = SqliteStore::view(&article.path(), &options()).map(drop).unwrap_err().code;
        assert_eq!((opened, viewed), (expected, expected), "{name}");
        assert!((article.names(), fs::read(article.path()).unwrap()) == before, "{name}: {:?}", article.names());
    }
}

#[test]
fn only_intake_takes_over() {
    let article = Article::new(TABLE);
    article.row("a", "uno", "pendiente");
    let before = fs::read(article.path()).unwrap();
    assert_eq!(SqliteStore::view(&article.path(), &options()).map(drop).unwrap_err().code, "store_article");
    assert_eq!(SqliteStore::init(&article.path(), &options()).map(drop).unwrap_err().code, "store_article");
    assert!(fs::read(article.path()).unwrap() == before);
    assert_eq!(article.names(), ["cola_ia.sqlite3"]);
}

#[test]
fn many_at_once_take_over_once() {
    for _ in 0..10 {
        let article = Article::new(TABLE);
        for number in 0..50 {
            article.row(&format!("id-{number}"), "uno", "pendiente");
        }
        let start = Barrier::new(8);
        let taken: usize = std::thread::scope(|scope| {
            let openers: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        start.wait();
                        usize::from(SqliteStore::open(&article.path(), &options()).unwrap().1.taken_over.is_some())
                    })
                })
                .collect();
            openers.into_iter().map(|opener| opener.join().unwrap()).sum()
        });
        assert_eq!(taken, 1);
        // Where the last two leave at the same moment, each takes the other for one that stays, and the log stays too: whoever is
        // alone later takes it away.
        drop(SqliteStore::open(&article.path(), &options()).unwrap());
        assert_eq!(article.names(), ["cola_ia.sqlite3", "cola_ia.sqlite3.antes-de-cola-ia"]);
        let events: i64 = article.old().query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
        assert_eq!(events, 50);
    }
}

/// A script that died in the middle of a transaction leaves a journal; its half is undone and the rest is taken over.
#[test]
fn a_hot_journal_is_recovered_first() {
    let article = Article::new(TABLE);
    article.row("a", "uno", "pendiente");
    let crashed = article.folder.path().join("crashed");
    fs::create_dir(&crashed).unwrap();
    let old = article.old();
    // A cache of one page makes SQLite write to the file before the commit.
    old.execute_batch("PRAGMA cache_size = 1; BEGIN").unwrap();
    for number in 0..200 {
        old.execute("INSERT INTO trabajos VALUES (?1, ?2, 'x', 'pendiente')", params![number, "x".repeat(500)])
            .unwrap();
    }
    for name in ["cola_ia.sqlite3", "cola_ia.sqlite3-journal"] {
        fs::copy(article.folder.path().join(name), crashed.join(name)).unwrap();
    }
    drop(old);
    let (store, opened) = SqliteStore::open(&crashed.join("cola_ia.sqlite3"), &options()).unwrap();
    assert_eq!(opened.taken_over.unwrap().pending, 1);
    assert_eq!(jobs(&store).len(), 1);
}

static BROKEN: &[Migration] =
    &[Migration { version: 1, name: "broken", sql: "CREATE TABLE half (x); INSERT INTO nowhere VALUES (1);" }];

#[test]
fn a_failure_midway_leaves_the_old_file() {
    let article = Article::new(TABLE);
    article.row("a", "uno", "pendiente");
    let before = fs::read(article.path()).unwrap();
    let broken = Options { migrations: BROKEN, ..options() };
    assert!(SqliteStore::open(&article.path(), &broken).is_err());
    assert!(fs::read(article.path()).unwrap() == before);
    let (_, report) = article.take_over();
    assert_eq!(report.pending, 1);
}

#[test]
fn a_large_file_is_taken_over_in_pieces() {
    let article = Article::new(TABLE);
    {
        let mut old = article.old();
        let transaction = old.transaction().unwrap();
        for number in 0..30_000 {
            let text = format!("texto {number} {}", "x".repeat(1000));
            let fingerprint = Fingerprint::of(&text).to_string();
            transaction
                .execute(
                    "INSERT INTO trabajos VALUES (?1, ?2, ?3, 'pendiente')",
                    (number.to_string(), text, fingerprint),
                )
                .unwrap();
        }
        transaction.commit().unwrap();
    }
    let (_store, report) = article.take_over();
    assert_eq!((report.pending, report.untaken_count), (30_000, 0));
}

#[test]
fn a_table_whose_ids_may_repeat_is_refused_and_leaves_no_copy() {
    let row = "INSERT INTO trabajos VALUES ('x', 'uno', 'h', 'pendiente'), ('x', 'uno', 'h', 'en_proceso');";
    for (name, statements, cause) in [
        (
            "no key",
            format!("CREATE TABLE trabajos (id TEXT, texto TEXT, huella TEXT, estado TEXT); {row}"),
            "PRIMARY KEY",
        ),
        ("no rowid", format!("{TABLE} WITHOUT ROWID"), "WITHOUT ROWID"),
    ] {
        let article = Article::new(&statements);
        let error = SqliteStore::open(&article.path(), &options()).map(drop).unwrap_err();
        assert_eq!(error.code, "takeover_refused", "{name}");
        assert!(error.fact("cause").unwrap().contains(cause), "{name}: {error}");
        assert_eq!(article.names(), ["cola_ia.sqlite3"], "{name}");
    }
}

#[test]
fn a_take_over_that_fails_leaves_no_copy() {
    let article = Article::new(TABLE);
    article.row("a", "uno", "pendiente");
    let broken = Options { migrations: BROKEN, ..options() };
    for _ in 0..3 {
        assert!(SqliteStore::open(&article.path(), &broken).is_err());
    }
    assert_eq!(article.names(), ["cola_ia.sqlite3"]);
}

#[test]
fn a_job_that_may_have_published_says_so_whatever_its_fingerprint() {
    let article = Article::new(TABLE);
    article.old().execute("INSERT INTO trabajos VALUES ('a', 'uno', 'beef', 'en_proceso')", []).unwrap();
    let (store, report) = article.take_over();
    assert_eq!(report.mismatched, ["a"]);
    assert_eq!(jobs(&store), [("a".to_owned(), JobState::Held, "taken_over_running".to_owned())]);
}
