//! Backups, restores, and what the doctor says.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cola_ia_core::clock::{Clock as _, SystemClock, SystemEntropy, Timestamp};
use cola_ia_core::event::Source;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::store::{EraseRequest, OpId, RestoredMark, Store as _, StoreError};
use cola_ia_store::sqlite::doctor::{self, Fact, Finding, Severity};
use cola_ia_store::sqlite::{Options, Packing, Patience, SqliteStore, Stage, backup, restore};
use cola_ia_testkit::events::event;
use cola_ia_testkit::harness::block_on;
use rusqlite::Connection;

struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn store(&self) -> PathBuf {
        self.path("s.sqlite3")
    }

    fn backup(&self) -> PathBuf {
        self.path("b.sqlite3")
    }

    /// A store with these events, closed.
    fn with(self, ids: &[&str]) -> Self {
        add(&self.store(), ids);
        self
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn contents(&self) -> Vec<(String, Vec<u8>)> {
        self.names().into_iter().map(|name| (name.clone(), fs::read(self.path(&name)).unwrap_or_default())).collect()
    }

    /// The same files in a folder of their own.
    fn copied(&self) -> Self {
        let copy = Self::new();
        for name in self.names() {
            fs::copy(self.path(&name), copy.path(&name)).unwrap();
        }
        copy
    }

    /// The file that a restore kept.
    fn kept(&self) -> Vec<String> {
        self.names().into_iter().filter(|name| name.contains(".before-restore-")).collect()
    }
}

fn options() -> Options {
    Options { lock_wait: Duration::from_millis(300), ..Options::default() }
}

fn op() -> OpId {
    OpId::new(&SystemClock, &SystemEntropy)
}

fn enter(store: &SqliteStore, ids: &[&str]) {
    let batch = ids.iter().map(|id| event(id, "x")).collect();
    block_on(store.accept(op(), Arc::new(batch))).unwrap();
}

fn add(path: &Path, ids: &[&str]) {
    enter(&SqliteStore::open(path, &options()).unwrap().0, ids);
}

fn silent(_: Stage) {}

fn make_backup(folder: &Folder) -> Result<cola_ia_store::sqlite::BackedUp, StoreError> {
    backup(&folder.store(), &folder.backup(), &options(), &silent)
}

fn put_back(folder: &Folder) -> Result<cola_ia_store::sqlite::RestoredFile, StoreError> {
    restore(&folder.store(), &folder.backup(), &options(), &silent)
}

fn code<T>(result: Result<T, StoreError>) -> &'static str {
    result.map_or_else(|error| error.code, |_| "ok")
}

/// The ids in a store, without the program, and SQLite's own check.
fn ids(path: &Path) -> BTreeSet<String> {
    let connection = Connection::open(path).unwrap();
    let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    let mut select = connection.prepare("SELECT id FROM events").unwrap();
    select.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

fn set(ids: &[&str]) -> BTreeSet<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

fn examine(path: &Path) -> Vec<Finding> {
    doctor::examine(path, &options(), false, &|_| ()).unwrap()
}

/// The codes of what is not as it should be, without what depends on the machine.
fn wrong(path: &Path) -> Vec<&'static str> {
    let of_the_machine = ["disk_low", "disk_tight", "filesystem_passing", "filesystem_fuse"];
    examine(path)
        .into_iter()
        .filter(|finding| finding.severity > Severity::Ok && !of_the_machine.contains(&finding.code))
        .map(|finding| finding.code)
        .collect()
}

fn sql(path: &Path, statements: &str) {
    Connection::open(path).unwrap().execute_batch(statements).unwrap();
}

/// Runs a test of this file in a process of its own.
fn run_again(test: &str, vars: &[(&str, &Path)], stop_at: &str) -> std::process::ExitStatus {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--include-ignored", "--nocapture"]).env("STOP_AT", stop_at);
    for (name, value) in vars {
        command.env(name, value);
    }
    command.output().unwrap().status
}

#[test]
fn a_backup_is_private_whole_and_dated() {
    let folder = Folder::new().with(&["a", "b"]);
    let before = SystemClock.now();
    let made = make_backup(&folder).unwrap();
    assert_eq!((made.events, made.schema), (2, 5));
    assert!(made.taken_at >= before && made.taken_at <= SystemClock.now());
    let metadata = fs::metadata(folder.backup()).unwrap();
    assert_eq!((metadata.permissions().mode() & 0o777, metadata.len()), (0o600, made.bytes));
    assert_eq!(folder.names(), ["b.sqlite3", "s.sqlite3"], "nothing else is left");
    assert_eq!(ids(&folder.backup()), set(&["a", "b"]));
    assert_eq!(wrong(&folder.backup()), ["backup"]);
    let backup = examine(&folder.backup());
    let backup = backup.iter().find(|finding| finding.code == "backup").unwrap();
    assert_eq!(backup.fact("taken_at"), Some(&Fact::Number(made.taken_at.as_micros())));
}

#[test]
fn a_backup_replaces_nothing() {
    let folder = Folder::new().with(&["a"]);
    for name in ["b.sqlite3", "b.sqlite3-wal", "b.sqlite3-journal"] {
        fs::write(folder.path(name), "mine").unwrap();
        let before = folder.contents();
        assert_eq!(code(make_backup(&folder)), "backup_exists", "{name}");
        assert_eq!(folder.contents(), before);
        fs::remove_file(folder.path(name)).unwrap();
    }
    std::os::unix::fs::symlink("nowhere", folder.backup()).unwrap();
    assert_eq!(code(make_backup(&folder)), "backup_exists", "a link to nothing");
}

#[test]
fn a_backup_is_never_a_part_of_the_store() {
    let folder = Folder::new().with(&["a"]);
    std::os::unix::fs::symlink(folder.store(), folder.path("link")).unwrap();
    fs::hard_link(folder.store(), folder.path("hard")).unwrap();
    let before = folder.names();
    for name in ["s.sqlite3", "s.sqlite3-wal", "s.sqlite3-shm", "s.sqlite3-journal", "./s.sqlite3-wal", "link", "hard"]
    {
        assert_eq!(code(backup(&folder.store(), &folder.path(name), &options(), &silent)), "backup_is_store", "{name}");
    }
    let through = backup(&folder.path("link"), &folder.path("s.sqlite3-wal"), &options(), &silent);
    assert_eq!(code(through), "backup_is_store");
    assert_eq!(folder.names(), before);
}

#[test]
fn what_cannot_be_backed_up_is_named_and_leaves_nothing() {
    type Case<'a> = (&'a str, &'a dyn Fn(&Path));
    let damaged = |path: &Path| {
        add(path, &["a", "b", "c"]);
        let page: i64 = Connection::open(path)
            .unwrap()
            .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'jobs'", [], |row| row.get(0))
            .unwrap();
        let mut bytes = fs::read(path).unwrap();
        let from = (page as usize - 1) * 8_192;
        bytes[from..from + 64].fill(0xa5);
        fs::write(path, bytes).unwrap();
    };
    let lost_a_job = |path: &Path| {
        add(path, &["a", "b", "c"]);
        sql(path, "DELETE FROM jobs WHERE event = 2");
    };
    let article = |path: &Path| {
        sql(
            path,
            "CREATE TABLE trabajos (id TEXT PRIMARY KEY, texto TEXT NOT NULL, huella TEXT NOT NULL,
                   estado TEXT NOT NULL DEFAULT 'pendiente')",
        );
    };
    let newer = |path: &Path| {
        add(path, &["a"]);
        sql(path, "PRAGMA user_version = 99");
    };
    let cases: [Case<'_>; 7] = [
        ("store_missing", &|_| ()),
        ("store_empty_file", &|path| fs::write(path, "").unwrap()),
        ("store_not_sqlite", &|path| fs::write(path, "a text").unwrap()),
        ("backup_unsound", &damaged),
        ("backup_unsound", &lost_a_job),
        ("store_article", &article),
        ("store_newer", &newer),
    ];
    for (expected, prepare) in cases {
        let folder = Folder::new();
        prepare(&folder.store());
        let before = folder.contents();
        assert_eq!(code(make_backup(&folder)), expected);
        assert_eq!(folder.contents(), before, "{expected}");
    }
    let folder = Folder::new().with(&["a"]);
    let nowhere = folder.path("no/b.sqlite3");
    assert_eq!(code(backup(&folder.store(), &nowhere, &options(), &silent)), "backup_io");
}

/// Everything that was answered before the backup began is in it, whoever writes meanwhile.
#[test]
fn a_backup_beside_writers_has_all_that_was_answered_before() {
    let folder = Folder::new();
    let (store, _) = SqliteStore::open(&folder.store(), &options()).unwrap();
    let (answered, stop) = (Mutex::new(0_usize), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for batch in 0.. {
                if stop.load(Ordering::SeqCst) {
                    break;
                }
                let names: Vec<String> = (0..50).map(|n| format!("{batch}-{n}")).collect();
                enter(&store, &names.iter().map(String::as_str).collect::<Vec<_>>());
                *answered.lock().unwrap() = batch + 1;
            }
        });
        for round in 0..8 {
            while *answered.lock().unwrap() < (round + 1) * 5 {
                std::thread::yield_now();
            }
            let before = *answered.lock().unwrap();
            let to = folder.path(&format!("b{round}"));
            let made = backup(&folder.store(), &to, &options(), &silent).unwrap();
            let found = ids(&to);
            assert_eq!(found.len() as u64, made.events);
            for batch in 0..before {
                assert!((0..50).all(|n| found.contains(&format!("{batch}-{n}"))), "round {round}, batch {batch}");
            }
            assert_eq!(found.len() % 50, 0, "batches are whole");
        }
        stop.store(true, Ordering::SeqCst);
    });
}

#[test]
fn a_backup_of_an_older_schema_is_made_and_can_be_restored() {
    let folder = Folder::new();
    let first = cola_ia_store::migration::Migration {
        version: 1,
        name: "gate",
        sql: include_str!("../migrations/sqlite/0001_gate.sql"),
    };
    let old = Options { migrations: Box::leak(Box::new([first])), ..options() };
    // The intake of this version needs the present schema; the old one's rows are written by hand.
    drop(SqliteStore::init(&folder.store(), &old).unwrap());
    sql(
        &folder.store(),
        "INSERT INTO sources VALUES (1, 'default');
         INSERT INTO events (seq, source, id, fingerprint, received_at, text) VALUES (1, 1, 'a', zeroblob(32), 5, 'x');
         INSERT INTO jobs (event, source, due_at) VALUES (1, 1, 5)",
    );
    let made = make_backup(&folder).unwrap();
    assert_eq!((made.schema, made.events), (1, 1));
    let before = fs::read(folder.backup()).unwrap();
    let restored = put_back(&folder).unwrap();
    assert_eq!((restored.schema_from, restored.schema, restored.taken_at), (1, 5, None));
    assert_eq!(restored.newest_at, Some(Timestamp::from_micros(5)));
    assert_eq!(fs::read(folder.backup()).unwrap(), before);
    assert!(wrong(&folder.store()).contains(&"restored"));
}

#[test]
fn a_restore_puts_the_backup_in_place_and_keeps_the_old_store() {
    let folder = Folder::new().with(&["a"]);
    let made = make_backup(&folder).unwrap();
    add(&folder.store(), &["b"]);
    let (old, bytes) = (fs::read(folder.store()).unwrap(), fs::read(folder.backup()).unwrap());
    let restored = put_back(&folder).unwrap();
    assert_eq!(ids(&folder.store()), set(&["a"]));
    assert_eq!(fs::read(folder.backup()).unwrap(), bytes, "the backup is only read");
    assert_eq!(fs::read(restored.kept.unwrap()).unwrap(), old);
    assert_eq!((restored.taken_at, restored.events), (Some(made.taken_at), 1));
    assert!(restored.restored_at >= made.taken_at);
    assert_eq!(folder.names().len(), 3, "{:?}", folder.names());
    assert_eq!(fs::metadata(folder.store()).unwrap().mode() & 0o777, 0o600);
    assert_eq!(wrong(&folder.store()), ["restored"]);

    // It is a store like any other, and says what it is until that is taken away.
    let (store, opened) = SqliteStore::open(&folder.store(), &options()).unwrap();
    assert_eq!(opened, cola_ia_store::sqlite::Opened::default());
    assert_eq!(block_on(store.restored_at()).unwrap(), Some(restored.restored_at));
    enter(&store, &["b", "c"]);
    block_on(store.restored(op(), RestoredMark::Cleared)).unwrap();
    drop(store);
    assert_eq!(ids(&folder.store()), set(&["a", "b", "c"]));
    assert_eq!(wrong(&folder.store()), [""; 0]);
}

#[test]
fn a_restore_to_a_new_place_keeps_nothing() {
    let folder = Folder::new().with(&["a"]);
    make_backup(&folder).unwrap();
    fs::remove_file(folder.store()).unwrap();
    assert_eq!(put_back(&folder).unwrap().kept, None);
    assert_eq!(ids(&folder.store()), set(&["a"]));
    assert_eq!(folder.names(), ["b.sqlite3", "s.sqlite3"]);
}

#[test]
fn a_store_in_use_is_not_replaced() {
    let folder = Folder::new().with(&["a"]);
    make_backup(&folder).unwrap();
    let refused = || {
        let before = folder.names();
        assert_eq!(code(put_back(&folder)), "store_in_use_unseen", "this very process is not named");
        assert_eq!(folder.names(), before, "nothing is left");
    };
    let (writer, _) = SqliteStore::open(&folder.store(), &options()).unwrap();
    refused();
    drop(writer);
    let idle_reader = SqliteStore::view(&folder.store(), &options()).unwrap();
    refused();
    drop(idle_reader);
    let other = Connection::open(folder.store()).unwrap();
    other.query_row("SELECT count(*) FROM events", [], |_| Ok(())).unwrap();
    refused();
    drop(other);
    assert_eq!(code(put_back(&folder)), "ok");
}

/// Says when somebody waits.
struct Told(Arc<AtomicBool>);

impl Patience for Told {
    fn waiting(&self, _: Duration) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Who waited for the store while it was replaced gets the new one.
#[test]
fn who_waits_during_a_restore_gets_the_restored_store() {
    let folder = Folder::new().with(&["a"]);
    make_backup(&folder).unwrap();
    add(&folder.store(), &["b"]);
    let patient = Options { lock_wait: Duration::from_secs(30), ..options() };
    let (waits, opened) = (Arc::new(AtomicBool::new(false)), Mutex::new(None));
    let patient = Options { patience: Arc::new(Told(waits.clone())), ..patient };
    std::thread::scope(|scope| {
        let stage = |stage: Stage| {
            if stage == Stage::Keep {
                scope.spawn(|| {
                    let (store, _) = SqliteStore::open(&folder.store(), &patient).unwrap();
                    enter(&store, &["c"]);
                    *opened.lock().unwrap() = Some(store);
                });
                while !waits.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
            }
        };
        restore(&folder.store(), &folder.backup(), &options(), &stage).unwrap();
    });
    drop(opened.into_inner().unwrap().unwrap());
    assert_eq!(ids(&folder.store()), set(&["a", "c"]));
    assert_eq!(ids(&folder.path(&folder.kept()[0])), set(&["a", "b"]));
}

#[test]
fn what_is_no_sound_backup_is_refused_and_the_store_stays() {
    type Case<'a> = (&'a str, &'a dyn Fn(&Folder));
    let rewrite = |folder: &Folder, change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = fs::read(folder.backup()).unwrap();
        change(&mut bytes);
        fs::write(folder.backup(), bytes).unwrap();
    };
    let page_of = |folder: &Folder, table: &str| -> usize {
        let connection = Connection::open(folder.backup()).unwrap();
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        connection.query_row::<i64, _, _>(sql, [table], |row| row.get(0)).unwrap() as usize
    };
    let cases: [Case<'_>; 12] = [
        ("backup_missing", &|folder| fs::remove_file(folder.backup()).unwrap()),
        ("backup_not_ours", &|folder| fs::write(folder.backup(), "").unwrap()),
        ("backup_not_ours", &|folder| fs::write(folder.backup(), "a text").unwrap()),
        ("backup_not_ours", &|folder| sql(&folder.backup(), "PRAGMA application_id = 7")),
        ("backup_not_ours", &|folder| sql(&folder.backup(), "PRAGMA application_id = 0; PRAGMA user_version = 0")),
        ("backup_not_ours", &|folder| {
            fs::remove_file(folder.backup()).unwrap();
            fs::create_dir(folder.backup()).unwrap();
        }),
        ("backup_newer", &|folder| sql(&folder.backup(), "PRAGMA user_version = 99")),
        ("backup_has_log", &|folder| fs::write(folder.path("b.sqlite3-wal"), "x").unwrap()),
        ("backup_unsound", &|folder| {
            let length = fs::metadata(folder.backup()).unwrap().len();
            rewrite(folder, &|bytes| bytes.truncate(length as usize / 2));
        }),
        ("backup_unsound", &|folder| {
            let page = page_of(folder, "jobs");
            rewrite(folder, &|bytes| bytes[(page - 1) * 8_192..][..64].fill(0xa5));
        }),
        ("backup_unsound", &|folder| sql(&folder.backup(), "DELETE FROM jobs")),
        ("backup_is_store", &|folder| {
            fs::remove_file(folder.backup()).unwrap();
            fs::hard_link(folder.store(), folder.backup()).unwrap();
        }),
    ];
    for (expected, prepare) in cases {
        let folder = Folder::new().with(&["a", "b"]);
        make_backup(&folder).unwrap();
        prepare(&folder);
        let before = folder.contents();
        assert_eq!(code(put_back(&folder)), expected);
        assert_eq!(folder.contents(), before, "{expected}");
    }
}

#[test]
fn what_is_not_ours_is_not_replaced_and_what_is_broken_is_kept() {
    let folder = Folder::new().with(&["a"]);
    make_backup(&folder).unwrap();
    fs::remove_file(folder.store()).unwrap();
    sql(&folder.store(), "CREATE TABLE notes (x)");
    let before = folder.contents();
    assert_eq!(code(put_back(&folder)), "store_foreign");
    assert_eq!(folder.contents(), before);
    for broken in ["", "a text", "SQLite format 3\0 and no more"] {
        fs::write(folder.store(), broken).unwrap();
        let kept = put_back(&folder).unwrap().kept.unwrap();
        assert_eq!(fs::read_to_string(&kept).unwrap(), broken);
        assert_eq!(ids(&folder.store()), set(&["a"]));
        fs::remove_file(kept).unwrap();
    }
}

/// A store whose last events are in its log only, as a killed process leaves it.
fn with_log(folder: &Folder, path: &Path, ids: &[&str]) {
    let live = folder.path("live");
    let (store, _) = SqliteStore::open(&live, &options()).unwrap();
    enter(&store, ids);
    for ending in ["", "-wal"] {
        let (from, to) = (format!("{}{ending}", live.display()), format!("{}{ending}", path.display()));
        fs::copy(from, to).unwrap();
    }
    drop(store);
    fs::remove_file(live).unwrap();
    assert!(fs::metadata(format!("{}-wal", path.display())).unwrap().len() > 0);
}

#[test]
fn the_log_of_the_old_store_never_gets_into_the_new_one() {
    let folder = Folder::new().with(&["a"]);
    make_backup(&folder).unwrap();
    fs::remove_file(folder.store()).unwrap();
    // Of the old store itself; of another file, beside an old store; and with no file at all.
    for (round, has_main) in [(0, true), (1, true), (2, false)] {
        with_log(&folder, &folder.store(), &["b", "c"]);
        if round == 1 {
            fs::remove_file(folder.store()).unwrap();
            fs::copy(folder.backup(), folder.store()).unwrap();
        }
        if !has_main {
            fs::remove_file(folder.store()).unwrap();
        }
        let log = fs::read(folder.path("s.sqlite3-wal")).unwrap();
        let main = fs::read(folder.store()).ok();
        put_back(&folder).unwrap();
        assert_eq!(ids(&folder.store()), set(&["a"]), "round {round}");
        // Both are kept as they were, and belong together by their names.
        let kept = folder.kept();
        let expected = if has_main { 2 } else { 1 };
        assert_eq!(kept.len(), expected, "{kept:?}");
        assert_eq!(fs::read(folder.path(kept.last().unwrap())).unwrap(), log);
        if has_main {
            assert_eq!(Some(fs::read(folder.path(&kept[0])).unwrap()), main);
        }
        if round == 0 {
            assert_eq!(ids(&folder.path(&kept[0])), set(&["b", "c"]));
        }
        for name in folder.names().into_iter().filter(|name| name.starts_with("s.sqlite3")) {
            fs::remove_file(folder.path(&name)).unwrap();
        }
    }
}

#[test]
fn a_restore_ends_leases() {
    let folder = Folder::new().with(&["a", "b", "c"]);
    sql(
        &folder.store(),
        "UPDATE jobs SET state = 'running', attempts = 2, lease = zeroblob(18), lease_until = 9, worker = 'w' WHERE event = 1;
         UPDATE jobs SET state = 'held' WHERE event = 2;
         INSERT INTO attempts (event, run, number, lease, worker, started_at) VALUES (1, 1, 2, zeroblob(18), 'w', 5), (3, 1, 1, x'02', 'w', 5);
         INSERT INTO effects (event, run, name, key, state, lookup, settle, otherwise, begun_at, changed_at) VALUES
             (1, 1, 'a', 'k1', 'intended', 0, 0, 'hold', 5, 5), (1, 1, 'b', 'k2', 'done', 0, 0, 'hold', 5, 5),
             (2, 1, 'a', 'k3', 'held', 0, 0, 'hold', 5, 5), (3, 1, 'a', 'k4', 'failed', 0, 0, 'hold', 5, 5)",
    );
    make_backup(&folder).unwrap();
    let restored = put_back(&folder).unwrap();
    assert_eq!(restored.leases_voided, 1);
    let connection = Connection::open(folder.store()).unwrap();
    let rows = |sql: &str| -> Vec<String> {
        let mut select = connection.prepare(sql).unwrap();
        select.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
    };
    assert_eq!(
        rows(
            "SELECT event || state || attempts || iif(lease IS NULL, '-', 'L') || ifnull(worker, '-') FROM jobs ORDER BY event"
        ),
        ["1pending1--", "2held0--", "3pending0--"]
    );
    assert_eq!(rows("SELECT ifnull(outcome, '-') FROM attempts ORDER BY attempt"), ["lease_lost", "-"]);
    assert_eq!(rows("SELECT state FROM effects ORDER BY effect"), ["unknown", "done", "held", "failed"]);
    let due: i64 = connection.query_row("SELECT due_at FROM jobs WHERE event = 1", [], |row| row.get(0)).unwrap();
    assert_eq!(due, restored.restored_at.as_micros());
}

#[test]
fn a_backup_put_in_place_by_hand_is_marked_when_it_is_opened() {
    let folder = Folder::new().with(&["a"]);
    make_backup(&folder).unwrap();
    fs::copy(folder.backup(), folder.store()).unwrap();
    assert_eq!(wrong(&folder.store()), ["backup"]);
    let (store, opened) = SqliteStore::open(&folder.store(), &options()).unwrap();
    assert!(opened.backup_in_place && !opened.copied);
    assert_eq!(block_on(store.restored_at()).unwrap(), None, "nothing was written yet");
    enter(&store, &["a"]);
    assert!(block_on(store.restored_at()).unwrap().is_some());
    drop(store);
    assert!(!SqliteStore::open(&folder.store(), &options()).unwrap().1.backup_in_place, "once");
    assert_eq!(wrong(&folder.store()), ["restored"]);
    // A backup of a store that still bears its mark is one too.
    fs::remove_file(folder.backup()).unwrap();
    make_backup(&folder).unwrap();
    assert_eq!(wrong(&folder.backup()), ["backup"]);
    assert!(SqliteStore::open(&folder.backup(), &options()).unwrap().1.backup_in_place);
}

#[test]
fn a_copy_made_by_hand_is_noticed() {
    let folder = Folder::new().with(&["a"]);
    assert_eq!(wrong(&folder.store()), [""; 0]);
    fs::rename(folder.store(), folder.path("moved")).unwrap();
    assert_eq!(wrong(&folder.path("moved")), [""; 0], "a renamed one is the same file");
    fs::copy(folder.path("moved"), folder.store()).unwrap();
    let before = fs::read(folder.store()).unwrap();
    assert_eq!(wrong(&folder.store()), ["copied"]);
    drop(SqliteStore::open(&folder.store(), &options()).unwrap());
    assert!(fs::read(folder.store()).unwrap() == before, "who changes nothing writes nothing");
    let (store, opened) = SqliteStore::open(&folder.store(), &options()).unwrap();
    assert!(opened.copied);
    enter(&store, &["a"]);
    drop(store);
    assert!(!SqliteStore::open(&folder.store(), &options()).unwrap().1.copied, "it is told once");
    assert_eq!(wrong(&folder.store()), ["copied"], "and shown until a person clears it");
    let (store, _) = SqliteStore::open(&folder.store(), &options()).unwrap();
    block_on(store.restored(op(), RestoredMark::Cleared)).unwrap();
    drop(store);
    assert_eq!(wrong(&folder.store()), [""; 0]);
}

/// Not a test of its own: a process that ends in the middle of a restore.
#[test]
#[ignore = "run by others, in a process of its own"]
fn child_restores_and_dies() {
    let Some(store) = std::env::var_os("STORE") else { return };
    let stop_at = std::env::var("STOP_AT").unwrap();
    let backup = PathBuf::from(std::env::var_os("BACKUP").unwrap());
    let stage = |stage: Stage| {
        if format!("{stage:?}").starts_with(&stop_at) {
            std::process::abort();
        }
    };
    restore(Path::new(&store), &backup, &options(), &stage).unwrap();
}

#[test]
fn a_restore_that_dies_at_any_stage_leaves_the_old_store_or_the_new_one() {
    for log in [false, true] {
        for stop_at in ["Copy", "Check", "Prepare", "Keep", "Fold", "Clear", "Place", "Placed", "Never"] {
            let folder = Folder::new().with(&["a"]);
            make_backup(&folder).unwrap();
            if log {
                fs::remove_file(folder.store()).unwrap();
                with_log(&folder, &folder.store(), &["b", "c"]);
            } else {
                add(&folder.store(), &["b", "c"]);
            }
            // Files that this process has never opened: the other one finds them in use otherwise.
            let folder = folder.copied();
            let old = if log { set(&["b", "c"]) } else { set(&["a", "b", "c"]) };
            let vars = [("STORE", &*folder.store()), ("BACKUP", &*folder.backup())];
            let ended = run_again("child_restores_and_dies", &vars, stop_at);
            let reached = stop_at != "Never" && (stop_at != "Fold" || log);
            let expected = if reached { Some(nix::libc::SIGABRT) } else { None };
            assert_eq!((ended.signal(), ended.success()), (expected, !reached), "{stop_at}");
            let new = ["Placed", "Never"].contains(&stop_at) || !reached;
            // Opened as any command opens it.
            let (store, _) = SqliteStore::open(&folder.store(), &options()).unwrap();
            drop(store);
            let found = ids(&folder.store());
            assert_eq!(found, if new { set(&["a"]) } else { old }, "{stop_at}, log: {log}");
            // What is left is told, and the next restore clears it or keeps it.
            let left = wrong(&folder.store());
            let same_file = folder.kept().iter().any(|name| {
                let inode = |path: PathBuf| fs::metadata(path).unwrap().ino();
                inode(folder.path(name)) == inode(folder.store())
            });
            assert_eq!(left.contains(&"second_name"), same_file, "{stop_at}: {left:?}");
            put_back(&folder).unwrap();
            assert_eq!(ids(&folder.store()), set(&["a"]), "{stop_at}");
            assert!(!wrong(&folder.store()).contains(&"second_name"), "{stop_at}");
        }
    }
}

#[test]
fn an_interrupted_backup_or_restore_leaves_nothing() {
    struct Over;
    impl Patience for Over {
        fn is_over(&self) -> bool {
            true
        }
    }
    let over = Options { patience: Arc::new(Over), ..options() };
    let folder = Folder::new().with(&["a"]);
    assert_eq!(code(backup(&folder.store(), &folder.backup(), &over, &silent)), "interrupted");
    assert_eq!(folder.names(), ["s.sqlite3"]);
    make_backup(&folder).unwrap();
    assert_eq!(code(restore(&folder.store(), &folder.backup(), &over, &silent)), "interrupted");
    assert_eq!(folder.names(), ["b.sqlite3", "s.sqlite3"]);
    assert_eq!(ids(&folder.store()), set(&["a"]));
}

/// An effect of event 2 with a try that holds 5 millionths.
const HOLDING_MONEY: &str = "
    INSERT INTO effects (effect, event, run, name, key, state, lookup, settle, otherwise, begun_at, changed_at)
    VALUES (7, 2, 1, 'pay', 'k', 'unknown', 0, 0, 'hold', 1, 1);
    INSERT INTO effect_tries (effect, number, begin_id, begun_at, send_before, deadline, reserved_micros, reserved_day)
    VALUES (7, 1, zeroblob(16), 1, 1, 1, 5, 20000);";

#[test]
fn the_doctor_adds_up_what_tries_hold() {
    let folder = Folder::new().with(&["a", "b"]);
    sql(&folder.store(), HOLDING_MONEY);
    sql(&folder.store(), "INSERT INTO money (day, source, model, reserved, spent) VALUES (20000, 1, '', 5, 9)");
    assert_eq!(wrong(&folder.store()), [""; 0]);
    // What is wrong on two days is not made up for by their sum.
    sql(
        &folder.store(),
        "UPDATE money SET reserved = 4; INSERT INTO money (day, source, model, reserved) VALUES (20001, 1, 'm', 1)",
    );
    let found = examine(&folder.store());
    let found: Vec<_> = found.iter().filter(|one| one.code == "money_miscounted").collect();
    assert_eq!(found[0].fact("count"), Some(&Fact::Number(2)));
}

#[test]
fn an_alarm_is_a_warning_while_it_is_news() {
    for (age, severity) in [("1", Severity::Warning), ("31 * 86400000000", Severity::Note)] {
        let folder = Folder::new().with(&["a", "b"]);
        sql(&folder.store(), HOLDING_MONEY);
        let now = "CAST(strftime('%s', 'now') AS INTEGER) * 1000000";
        let alarm = format!("UPDATE effects SET alarm = 'double_effect', state = 'done', changed_at = {now} - {age}");
        sql(&folder.store(), &alarm);
        let found = examine(&folder.store());
        let alarm = found.iter().find(|one| one.code == "double_effect").unwrap();
        assert_eq!((alarm.severity, alarm.fact("count")), (severity, Some(&Fact::Number(1))));
        assert!(!found.iter().any(|one| one.code == "late_evidence"));
    }
}

#[test]
fn a_restored_store_tells_how_many_effects_may_have_happened() {
    let effects = |statement: &str| {
        let folder = Folder::new().with(&["a", "b"]);
        sql(&folder.store(), "UPDATE store SET restored_at = 5");
        sql(&folder.store(), HOLDING_MONEY);
        sql(&folder.store(), statement);
        let found = examine(&folder.store());
        found.iter().find(|one| one.code == "restored").unwrap().fact("effects").cloned()
    };
    let number = |count| Some(Fact::Number(count));
    for state in ["unknown", "failed", "intended", "held"] {
        assert_eq!(effects(&format!("UPDATE effects SET state = '{state}'")), number(1), "{state}");
    }
    assert_eq!(effects("UPDATE jobs SET state = 'held'"), number(1));
    for statement in ["UPDATE effects SET state = 'done'", "UPDATE jobs SET state = 'done'", "UPDATE jobs SET run = 2"]
    {
        assert_eq!(effects(statement), number(0), "{statement}");
    }
}

#[test]
fn the_doctor_finds_what_is_wrong_between_tables() {
    let cases = [
        ("DELETE FROM jobs WHERE event = 2", "event_without_job"),
        ("DELETE FROM events WHERE seq = 2", "job_without_event"),
        ("UPDATE events SET id = 'other' WHERE seq = 2", "event_without_identity"),
        ("UPDATE events SET source = 9 WHERE seq = 2", "event_without_source"),
        ("UPDATE jobs SET state = 'odd' WHERE event = 2", "job_without_state"),
        ("UPDATE jobs SET state = 'running' WHERE event = 2", "job_without_state"),
        (
            "INSERT INTO deliveries (seq, event, verdict, received_at) VALUES (90, 77, 'duplicate', 1)",
            "delivery_of_nothing",
        ),
        ("INSERT INTO deliveries (seq, event, verdict, received_at) VALUES (2, 2, 'duplicate', 1)", "number_twice"),
        (
            "INSERT INTO deliveries (seq, event, verdict, received_at, conflict) VALUES (90, 2, 'conflict', 1, 5)",
            "delivery_of_no_conflict",
        ),
        (
            "INSERT INTO conflicts (event, number, fingerprint, first_at, last_at, decision) VALUES (77, 1, zeroblob(32), 1, 1, 'keep')",
            "conflict_of_nothing",
        ),
        (
            "INSERT INTO revisions (event, number, fingerprint, accepted_at, conflict) VALUES (2, 2, zeroblob(32), 1, 1)",
            "revision_of_nothing",
        ),
        (
            "INSERT INTO attempts (event, run, number, lease, worker, started_at) VALUES (77, 1, 1, x'01', 'w', 1)",
            "attempt_of_nothing",
        ),
        (
            "INSERT INTO effects (event, run, name, key, state, lookup, settle, otherwise, begun_at, changed_at)
             VALUES (77, 1, 'a', 'k', 'done', 0, 0, 'hold', 1, 1)",
            "effect_of_nothing",
        ),
        (
            "INSERT INTO effect_tries (effect, number, begun_at, send_before, deadline) VALUES (77, 1, 1, 1, 1)",
            "try_of_nothing",
        ),
        (
            "INSERT INTO effect_records (effect, number, at, witness, charged_micros, day) VALUES (77, 1, 1, 'sender', 0, 0)",
            "record_of_nothing",
        ),
        ("INSERT INTO money (day, source, model, reserved) VALUES (20000, 1, '', 5)", "money_miscounted"),
        (HOLDING_MONEY, "money_miscounted"),
    ];
    let cases = cases.into_iter().chain([
        (
            "INSERT INTO decisions (event, conflict, number, decision, decided_at) VALUES (2, 1, 1, 'keep', 1)",
            "decision_of_nothing",
        ),
        ("INSERT INTO pruned_deliveries (event, count, first_at, last_at) VALUES (77, 1, 1, 1)", "pruned_of_nothing"),
        ("INSERT INTO signed_bodies VALUES (1, zeroblob(32), 77)", "body_of_nothing"),
        ("INSERT INTO signed_bodies VALUES (9, zeroblob(32), 2)", "body_of_nothing"),
        ("DELETE FROM identities WHERE event = 2", "event_without_identity"),
        ("UPDATE identities SET slot = slot + 1 WHERE event = 2", "event_without_identity"),
        ("INSERT INTO identities (slot, event) VALUES (5, 77)", "identity_of_nothing"),
        ("INSERT INTO identities (slot, event) VALUES (5, 2)", "identity_twice"),
        ("UPDATE identities_blocks SET recent = 7", "identities_miscounted"),
        ("UPDATE jobs SET state = 'held' WHERE event = 2", "jobs_miscounted"),
        ("UPDATE job_counts SET n = n + 1; INSERT INTO job_counts VALUES (77, 'done', 1)", "jobs_miscounted"),
    ]);
    for (statement, expected) in cases {
        let folder = Folder::new().with(&["a", "b", "c"]);
        sql(&folder.store(), statement);
        let found = wrong(&folder.store());
        assert!(found.contains(&expected), "{statement}: {found:?}");
    }
}

#[test]
fn the_doctor_finds_what_waits() {
    let cases = [
        ("UPDATE jobs SET state = 'running', lease = x'01', lease_until = 5 WHERE event = 2", "jobs_past_lease"),
        ("UPDATE jobs SET state = 'held' WHERE event = 2", "jobs_held"),
        ("UPDATE jobs SET state = 'failed' WHERE event = 2", "jobs_failed"),
        ("UPDATE jobs SET due_at = 5 WHERE event = 2", "jobs_waiting"),
        ("INSERT INTO source_streaks SELECT source, 'http_503', 3, 5, 2, 6 FROM sources", "sources_paused"),
        ("INSERT INTO source_streaks SELECT source, 'http_503', 10, 5, 2, NULL FROM sources", "sources_failing"),
        (
            "INSERT INTO conflicts (event, number, fingerprint, first_at, last_at) VALUES (2, 1, zeroblob(32), 1, 1)",
            "conflicts_undecided",
        ),
    ];
    for (statement, expected) in cases {
        let folder = Folder::new().with(&["a", "b", "c"]);
        sql(&folder.store(), statement);
        let found: Vec<Finding> = examine(&folder.store()).into_iter().filter(|one| one.code == expected).collect();
        assert_eq!(found.len(), 1, "{statement}");
        assert_eq!(found[0].fact("count"), Some(&Fact::Number(1)));
    }
}

#[test]
fn the_doctor_finds_damage_and_a_log_of_another_file() {
    // A page of random bytes.
    let folder = Folder::new().with(&["a"]);
    let mut bytes = fs::read(folder.store()).unwrap();
    bytes[2 * 8_192..2 * 8_192 + 500].fill(0x5a);
    fs::write(folder.store(), &bytes).unwrap();
    let found = wrong(&folder.store());
    assert!(found.contains(&"pages_damaged") || found.contains(&"store_damaged"), "{found:?}");
    assert_eq!(fs::read(folder.store()).unwrap(), bytes);

    // Cut off, and longer than it says.
    let folder = Folder::new().with(&["a"]);
    let whole = fs::read(folder.store()).unwrap();
    fs::write(folder.store(), &whole[..whole.len() - 8_192]).unwrap();
    assert!(wrong(&folder.store()).contains(&"file_cut"));
    fs::write(folder.store(), [&whole[..], &[0; 8_192]].concat()).unwrap();
    assert!(wrong(&folder.store()).contains(&"file_longer"));

    // The log of a file with other tables.
    let folder = Folder::new().with(&["a"]);
    let other = folder.path("other");
    let live = Connection::open(&other).unwrap();
    live.execute_batch("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0").unwrap();
    for table in 0..12 {
        live.execute_batch(&format!("CREATE TABLE t{table} (x); INSERT INTO t{table} VALUES (zeroblob(9000))"))
            .unwrap();
    }
    live.execute_batch("PRAGMA application_id = 0x434F4C41; PRAGMA user_version = 2").unwrap();
    fs::copy(folder.path("other-wal"), folder.path("s.sqlite3-wal")).unwrap();
    let before = (fs::read(folder.store()).unwrap(), fs::read(folder.path("s.sqlite3-wal")).unwrap());
    let found = wrong(&folder.store());
    assert!(found.contains(&"log_foreign"), "{found:?}");
    let after = (fs::read(folder.store()).unwrap(), fs::read(folder.path("s.sqlite3-wal")).unwrap());
    assert!(before == after, "the doctor moves no log");
}

#[test]
fn the_doctor_says_what_cannot_be_opened() {
    type Case<'a> = (&'a str, &'a dyn Fn(&Path));
    let newer = |path: &Path| {
        add(path, &["a"]);
        sql(path, "PRAGMA user_version = 99");
    };
    let cases: [Case<'_>; 6] = [
        ("store_missing", &|_| ()),
        ("store_empty_file", &|path| fs::write(path, "").unwrap()),
        ("store_not_sqlite", &|path| fs::write(path, "a text").unwrap()),
        ("store_not_a_file", &|path| fs::create_dir(path).unwrap()),
        ("store_wal_orphan", &|path| fs::write(format!("{}-wal", path.display()), "x").unwrap()),
        ("store_newer", &newer),
    ];
    for (expected, prepare) in cases {
        let folder = Folder::new();
        prepare(&folder.store());
        let before = folder.contents();
        let found = wrong(&folder.store());
        assert!(found.contains(&expected), "{found:?}");
        assert_eq!(folder.contents(), before, "{expected}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_doctor_names_leftovers_and_readers() {
    let folder = Folder::new().with(&["a"]);
    let left = folder.path(".s.sqlite3.restore-0123456789abcdef");
    fs::File::create(&left).unwrap().set_modified(std::time::SystemTime::now() - Duration::from_hours(1)).unwrap();
    fs::hard_link(folder.store(), folder.path("s.sqlite3.before-restore-20260131T210000Z")).unwrap();
    let found = wrong(&folder.store());
    assert!(found.contains(&"leftover") && found.contains(&"second_name"), "{found:?}");
    fs::remove_file(folder.path("s.sqlite3.before-restore-20260131T210000Z")).unwrap();
    make_backup(&folder).unwrap();
    put_back(&folder).unwrap();
    assert!(!left.exists(), "the next restore clears it away");
}

#[test]
fn a_sound_store_has_nothing_wrong_quick_or_not() {
    let folder = Folder::new().with(&["a", "b"]);
    let (store, _) = SqliteStore::open(&folder.store(), &options()).unwrap();
    enter(&store, &["c"]);
    for quick in [false, true] {
        let findings = doctor::examine(&folder.store(), &options(), quick, &|_| ()).unwrap();
        assert!(findings.iter().all(|finding| finding.severity < Severity::Warning), "{findings:?}");
        let rows = findings.iter().find(|finding| finding.code.starts_with("tables")).unwrap().fact("rows");
        assert_eq!(rows, Some(&Fact::Number(6)), "events and jobs, those in the log too");
    }
}

/// Blocks as `identities.rs` keeps them, slots and events each eight bytes.
fn block(entries: &[(i64, i64)]) -> Vec<u8> {
    entries.iter().flat_map(|(slot, event)| [slot.to_be_bytes(), event.to_be_bytes()].concat()).collect()
}

/// A store whose identities lie in all three levels, with some duplicates and an erased event between them.
fn packed() -> Folder {
    let folder = Folder::new();
    let options = Options { packing: Packing::TINY, ..options() };
    let (store, _) = SqliteStore::open(&folder.store(), &options).unwrap();
    for round in 0..40 {
        let ids: Vec<String> = (0..=(round % 9)).map(|n| format!("{round}-{n}")).collect();
        enter(&store, &ids.iter().map(String::as_str).collect::<Vec<_>>());
        enter(&store, &["0-0"]);
    }
    let erase = EraseRequest { source: Source::default(), id: "0-0".into(), after: None };
    assert_eq!(block_on(store.erase(op(), erase)).unwrap().unwrap().event, EventNumber(1));
    let connection = Connection::open(folder.store()).unwrap();
    let rows = |table: &str| -> i64 {
        connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    };
    // The draw that has the young counted and packed is random.
    for round in 0.. {
        if ["identities", "identities_recent", "identities_settled"].iter().all(|table| rows(table) > 1) {
            break;
        }
        assert!(round < 1_000, "no state with identities in each level");
        enter(&store, &[format!("one-{round}").as_str()]);
    }
    drop(store);
    folder
}

#[test]
fn the_doctor_reads_identities_in_blocks() {
    let folder = packed();
    assert_eq!(wrong(&folder.store()), [""; 0]);
}

#[test]
fn the_doctor_finds_what_is_wrong_with_blocks_of_identities() {
    let of_block = "(SELECT low FROM identities_settled WHERE length(entries) >= 32 ORDER BY low LIMIT 1)";
    let cases = [
        (format!("UPDATE identities_settled SET entries = substr(entries, 17) WHERE low = {of_block}"), "event_without_identity"),
        (format!("UPDATE identities_settled SET entries = substr(entries, 1, length(entries) - 3) WHERE low = {of_block}"), "identities_broken"),
        (
            format!("UPDATE identities_settled SET entries = CAST(substr(entries, 17) || substr(entries, 1, 16) AS BLOB) WHERE low = {of_block}"),
            "identities_broken",
        ),
        (
            "INSERT INTO identities (slot, event) SELECT low, 3 FROM identities_settled WHERE low > -9223372036854775808 LIMIT 1".to_owned(),
            "slot_twice",
        ),
        ("DELETE FROM identities_recent WHERE low = -9223372036854775808".to_owned(), "identities_broken"),
        ("DELETE FROM identities_settled WHERE low = (SELECT max(low) FROM identities_settled)".to_owned(), "identities_miscounted"),
        ("DELETE FROM identities WHERE event = 1; DELETE FROM events WHERE seq = 1".to_owned(), "job_without_event"),
    ];
    for (statement, expected) in cases {
        let folder = packed();
        sql(&folder.store(), &statement);
        let found = wrong(&folder.store());
        assert!(found.contains(&expected), "{statement}: {found:?}");
    }
    // Beyond its bounds: the slot belongs to the next block.
    let folder = packed();
    let connection = Connection::open(folder.store()).unwrap();
    let next = "SELECT low FROM identities_settled WHERE low > -9223372036854775808 ORDER BY low LIMIT 1";
    let next: i64 = connection.query_row(next, [], |row| row.get(0)).unwrap();
    let beyond = block(&[(next + 1, 3)]);
    let lowest = "UPDATE identities_settled SET entries = ?1 WHERE low = -9223372036854775808";
    connection.execute(lowest, [beyond]).unwrap();
    assert!(wrong(&folder.store()).contains(&"identities_broken"));
}
