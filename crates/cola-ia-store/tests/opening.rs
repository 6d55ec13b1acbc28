//! What stands at a path, and what opening makes of it.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use cola_ia_core::store::StoreError;
use cola_ia_store::migration::Migration;
use cola_ia_store::sqlite::{Filesystem, Options, Patience, SqliteStore};
use rusqlite::Connection;

struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("cola_ia.sqlite3")
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

fn code<T>(result: Result<T, StoreError>) -> &'static str {
    result.map_or_else(|error| error.code, |_| "ok")
}

fn quick() -> Options {
    Options { lock_wait: Duration::from_millis(200), ..Options::default() }
}

#[test]
fn a_new_store_is_whole_and_private() {
    let folder = Folder::new();
    let (store, opened) = SqliteStore::open(&folder.store(), &quick()).unwrap();
    assert!(opened.created);
    for name in folder.names() {
        let mode = fs::metadata(folder.folder.path().join(&name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    drop(store);
    assert_eq!(folder.names(), ["cola_ia.sqlite3"], "nothing else is left");
    let (_, opened) = SqliteStore::open(&folder.store(), &quick()).unwrap();
    assert_eq!(opened, cola_ia_store::sqlite::Opened::default());
}

#[test]
fn what_killed_processes_left_is_cleared_away() {
    let folder = Folder::new();
    let left = folder.folder.path().join(".cola_ia.sqlite3.new-0123456789abcdef");
    let fresh = folder.folder.path().join(".cola_ia.sqlite3.new-fedcba9876543210");
    let hour_ago = std::time::SystemTime::now() - Duration::from_hours(1);
    fs::File::create(&left).unwrap().set_modified(hour_ago).unwrap();
    fs::write(&fresh, "").unwrap();
    drop(SqliteStore::open(&folder.store(), &quick()).unwrap());
    assert!(!left.exists());
    assert!(fresh.exists(), "somebody may be at it");
}

#[test]
fn a_view_makes_nothing_and_leaves_nothing() {
    let folder = Folder::new();
    assert_eq!(code(SqliteStore::view(&folder.store(), &quick())), "store_missing");
    assert_eq!(folder.names(), [""; 0]);
    drop(SqliteStore::open(&folder.store(), &quick()).unwrap());
    drop(SqliteStore::view(&folder.store(), &quick()).unwrap());
    assert_eq!(folder.names(), ["cola_ia.sqlite3"]);
}

/// Its name, what to put there, and the expected code.
type Case<'a> = (&'a str, &'a dyn Fn(&Path), &'a str);

/// What must never be answered with an empty store: every way to open refuses, and the bytes stay as they were.
#[test]
fn what_is_not_a_store_is_refused_untouched() {
    let damaged = |path: &Path| {
        drop(SqliteStore::open(path, &quick()).unwrap());
        let mut bytes = fs::read(path).unwrap();
        // The root of the schema and the page of a table.
        bytes[100..4096].fill(0xa5);
        fs::write(path, bytes).unwrap();
    };
    let foreign = |path: &Path| Connection::open(path).unwrap().execute_batch("CREATE TABLE notes(x)").unwrap();
    let foreign_signed = |path: &Path| {
        Connection::open(path).unwrap().execute_batch("CREATE TABLE n(x); PRAGMA user_version=3").unwrap();
    };
    let orphan = |path: &Path| fs::write(format!("{}-wal", path.display()), [0_u8; 64]).unwrap();
    let cases: [Case<'_>; 7] = [
        ("empty", &|path| fs::write(path, "").unwrap(), "store_empty_file"),
        ("text", &|path| fs::write(path, "{\"id\":\"a\",\"texto\":\"b\"}\n").unwrap(), "store_not_sqlite"),
        ("folder", &|path| fs::create_dir(path).unwrap(), "store_not_a_file"),
        ("damaged", &damaged, "store_damaged"),
        ("foreign", &foreign, "store_foreign"),
        ("foreign, signed", &foreign_signed, "store_foreign"),
        ("log without its file", &orphan, "store_wal_orphan"),
    ];
    for (name, prepare, expected) in cases {
        let folder = Folder::new();
        prepare(&folder.store());
        let before = (folder.names(), fs::read(folder.store()).ok());
        let result = [
            code(SqliteStore::open(&folder.store(), &quick())),
            code(SqliteStore::init(&folder.store(), &quick())),
            code(SqliteStore::view(&folder.store(), &quick())),
        ];
        assert_eq!(result, [expected; 3], "{name}");
        assert!((folder.names(), fs::read(folder.store()).ok()) == before, "{name} was touched: {:?}", folder.names());
    }
}

#[test]
fn a_newer_store_is_refused_before_any_write() {
    let folder = Folder::new();
    drop(SqliteStore::open(&folder.store(), &quick()).unwrap());
    Connection::open(folder.store()).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    let before = (folder.names(), fs::read(folder.store()).unwrap());
    let known = quick().migrations.len().to_string();
    for result in [
        SqliteStore::open(&folder.store(), &quick()).map(drop),
        SqliteStore::init(&folder.store(), &quick()).map(drop),
        SqliteStore::view(&folder.store(), &quick()).map(drop),
    ] {
        let error = result.unwrap_err();
        assert_eq!(
            (error.code, error.fact("found"), error.fact("known")),
            ("store_newer", Some("99"), Some(known.as_str()))
        );
    }
    assert!((folder.names(), fs::read(folder.store()).unwrap()) == before, "touched: {:?}", folder.names());
}

#[test]
fn a_network_filesystem_is_refused_unless_asked_for() {
    let folder = Folder::new();
    let options = Options { filesystem: |_| Ok(Filesystem::Network("NFS")), ..quick() };
    let error = SqliteStore::open(&folder.store(), &options).map(drop).unwrap_err();
    assert_eq!((error.code, error.fact("filesystem")), ("store_network_fs", Some("NFS")));
    assert_eq!(folder.names(), [""; 0]);
    let allowed = Options { allow_network_filesystem: true, ..options.clone() };
    drop(SqliteStore::open(&folder.store(), &allowed).unwrap());
    let before = fs::read(folder.store()).unwrap();
    assert_eq!(code(SqliteStore::open(&folder.store(), &options)), "store_network_fs");
    assert_eq!(code(SqliteStore::view(&folder.store(), &options)), "store_network_fs");
    assert!(fs::read(folder.store()).unwrap() == before);
}

#[test]
fn many_at_once_make_one_store() {
    for _ in 0..20 {
        let folder = Folder::new();
        let start = Arc::new(Barrier::new(8));
        let made: usize = std::thread::scope(|scope| {
            let openers: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        start.wait();
                        let options = Options { lock_wait: Duration::from_secs(20), ..Options::default() };
                        SqliteStore::open(&folder.store(), &options).unwrap().1.created
                    })
                })
                .collect();
            openers.into_iter().map(|opener| usize::from(opener.join().unwrap())).sum()
        });
        assert_eq!(made, 1);
    }
}

#[test]
fn a_lock_that_ends_is_waited_for_and_one_that_stays_is_reported() {
    let folder = Folder::new();
    drop(SqliteStore::open(&folder.store(), &quick()).unwrap());
    let holder = Connection::open(folder.store()).unwrap();
    holder.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; DELETE FROM sources;").unwrap();
    let error = SqliteStore::open(&folder.store(), &quick()).map(drop).unwrap_err();
    assert_eq!(error.code, "store_locked");

    let release = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        drop(holder);
    });
    let patient = Options { lock_wait: Duration::from_secs(20), ..Options::default() };
    assert_eq!(code(SqliteStore::open(&folder.store(), &patient)), "ok");
    release.join().unwrap();
}

struct Interrupted(AtomicBool);

impl Patience for Interrupted {
    fn waiting(&self, _waited: Duration) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn waiting_for_a_lock_can_be_interrupted() {
    let folder = Folder::new();
    drop(SqliteStore::open(&folder.store(), &quick()).unwrap());
    let holder = Connection::open(folder.store()).unwrap();
    holder.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; DELETE FROM sources;").unwrap();
    let options = Options {
        lock_wait: Duration::from_mins(10),
        patience: Arc::new(Interrupted(AtomicBool::new(false))),
        ..Options::default()
    };
    assert_eq!(code(SqliteStore::open(&folder.store(), &options)), "interrupted");
}

const FIRST: Migration =
    Migration { version: 1, name: "gate", sql: include_str!("../migrations/sqlite/0001_gate.sql") };
static ONE: &[Migration] = &[FIRST];
static TWO: &[Migration] = &[
    FIRST,
    Migration { version: 2, name: "more", sql: "CREATE TABLE more (x INTEGER); INSERT INTO more VALUES (7);" },
];
static BROKEN: &[Migration] = &[
    FIRST,
    Migration { version: 2, name: "more", sql: "CREATE TABLE more (x INTEGER); INSERT INTO more VALUES (7);" },
    Migration { version: 3, name: "broken", sql: "CREATE TABLE half (x); INSERT INTO nowhere VALUES (1);" },
];

fn with(migrations: &'static [Migration]) -> Options {
    Options { migrations, lock_wait: Duration::from_secs(20), ..Options::default() }
}

#[test]
fn an_older_store_is_copied_and_brought_up_to_date() {
    let folder = Folder::new();
    drop(SqliteStore::open(&folder.store(), &with(ONE)).unwrap());
    assert_eq!(code(SqliteStore::view(&folder.store(), &with(TWO))), "store_needs_migration");
    let (_, opened) = SqliteStore::open(&folder.store(), &with(TWO)).unwrap();
    let migrated = opened.migrated.unwrap();
    assert_eq!((migrated.from, migrated.to, migrated.copies.len()), (1, 2, 1));
    let copy = &migrated.copies[0];
    assert_eq!(fs::metadata(copy).unwrap().permissions().mode() & 0o777, 0o600);
    let version = |path: &Path| -> i64 {
        Connection::open(path).unwrap().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
    };
    assert_eq!((version(copy), version(&folder.store())), (1, 2));
    assert_eq!(code(SqliteStore::view(&folder.store(), &with(ONE))), "store_newer");
}

#[test]
fn a_step_that_fails_leaves_the_store_as_it_was_before_it() {
    let folder = Folder::new();
    drop(SqliteStore::open(&folder.store(), &with(ONE)).unwrap());
    assert_ne!(code(SqliteStore::open(&folder.store(), &with(BROKEN))), "ok");
    let store = Connection::open(folder.store()).unwrap();
    let version: i64 = store.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, 2, "the step before it stays");
    assert!(!store.table_exists(None, "half").unwrap());
}

#[test]
fn many_at_once_migrate_once() {
    for _ in 0..10 {
        let folder = Folder::new();
        drop(SqliteStore::open(&folder.store(), &with(ONE)).unwrap());
        let start = Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    SqliteStore::open(&folder.store(), &with(TWO)).unwrap();
                });
            }
        });
        let rows: i64 = Connection::open(folder.store())
            .unwrap()
            .query_row("SELECT count(*) FROM more", [], |row| row.get(0))
            .unwrap();
        assert_eq!(rows, 1);
    }
}
