//! What stands at the store's path and is no store, or a damaged one, or one that others use: refused by name with nothing
//! touched, or waited for.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use common::input::numbered;
use common::stored::{article_rows, make_article, stored};
use common::{BOTH, Place, Random, STORE, check_exit, code, err, out, read_until, signal};
use nix::sys::signal::Signal;
use rusqlite::Connection;

const COMMANDS: [&[&str]; 5] = [
    &["add", "in.jsonl"],
    &["add", "--dry-run", "in.jsonl"],
    &["jobs"],
    &["show", "a-1"],
    &["init", "--config", "/dev/null"],
];

/// Nothing of the machinery of the catalogues may be seen.
#[track_caller]
fn check_prose(said: &str, path: &str) {
    assert!(said.contains(path), "the path is not named: {said}");
    for leak in ["{", "}", "$", "⟨", "⟩", "?", "\u{2068}", "\u{2069}", "store_", "RUST", "panicked"] {
        assert!(!said.contains(leak), "{leak:?} in: {said}");
    }
}

/// Every command refuses in both languages, with words that name the cause, and leaves everything as it was.
#[track_caller]
fn check_refused(prepare: impl Fn(&Place), es: &str, en: &str) {
    let place = Place::new().file("in.jsonl", numbered("a", 3));
    prepare(&place);
    let before = place.contents();
    for (language, cause) in [("es", es), ("en", en)] {
        for command in COMMANDS {
            let output = place.run(&[&["--lang", language], command].concat());
            check_exit(&output, 1);
            let said = err(&output);
            check_prose(&said, STORE);
            assert!(said.contains(cause), "{command:?}: {said}");
            assert_eq!(out(&output), "", "{command:?}");
            assert!(place.contents() == before, "{command:?} changed something: {:?}", place.names());
        }
    }
}

fn populated(place: &Place) {
    place.write("first.jsonl", numbered("a", 400));
    check_exit(&place.run(&["add", "first.jsonl"]), 0);
}

fn sql(place: &Place, statements: &str) {
    Connection::open(place.store()).unwrap().execute_batch(statements).unwrap();
}

type Prepare = Box<dyn Fn(&Place)>;

#[test]
fn what_is_no_store_is_refused_untouched() {
    let not_sqlite = ("no es una base de datos de SQLite", "is not an SQLite database");
    let foreign = ("es la base de datos de otro programa", "is the database of another program");
    let cases: Vec<(Prepare, (&str, &str))> = vec![
        (Box::new(|place| place.write(STORE, "a text\n")), not_sqlite),
        (Box::new(|place| place.write(STORE, "x".repeat(10_000))), not_sqlite),
        (Box::new(|place| place.write(STORE, numbered("a", 500))), not_sqlite),
        (Box::new(|place| place.write(STORE, "SQLite format 3\0")), not_sqlite),
        (
            Box::new(|place| {
                populated(place);
                let mut bytes = place.read(STORE);
                bytes[..16].copy_from_slice(b"garbage, garbage");
                place.write(STORE, bytes);
            }),
            not_sqlite,
        ),
        (Box::new(|place| place.write(STORE, "")), ("es un archivo vacío", "is an empty file")),
        (
            Box::new(|place| fs::create_dir(place.store()).unwrap()),
            ("no es un archivo normal", "is not a regular file"),
        ),
        (
            Box::new(|place| std::os::unix::fs::symlink("nowhere", place.store()).unwrap()),
            ("a symbolic link", "a symbolic link"),
        ),
        (Box::new(|place| sql(place, "PRAGMA application_id = 7; CREATE TABLE t (x)")), foreign),
        (Box::new(|place| sql(place, "PRAGMA user_version = 7; CREATE TABLE t (x)")), foreign),
        (Box::new(|place| sql(place, "CREATE TABLE t (x)")), foreign),
        (Box::new(|place| sql(place, "PRAGMA journal_mode = WAL; CREATE TABLE t (x)")), foreign),
        (
            Box::new(|place| {
                make_article(&place.store(), article_rows(3));
                sql(place, "CREATE TRIGGER t AFTER INSERT ON trabajos BEGIN SELECT 1; END");
            }),
            ("no puede hacerse cargo", "cannot be taken over"),
        ),
        (Box::new(|place| place.write(&format!("{STORE}-wal"), "the last events")), ("falta el almacén", "is missing")),
        (
            Box::new(|place| {
                populated(place);
                sql(place, "PRAGMA user_version = 99");
            }),
            ("el esquema 99", "schema 99"),
        ),
    ];
    for (prepare, (es, en)) in cases {
        check_refused(prepare, es, en);
    }
}

#[test]
fn a_missing_folder_is_named() {
    for (language, cause) in [("es", "su carpeta no existe"), ("en", "folder does not exist")] {
        let place = Place::new().file("in.jsonl", numbered("a", 3));
        for command in [&["add", "in.jsonl"][..], &["jobs"], &["show", "a-1"], &["init", "--config", "/dev/null"]] {
            let output = place.run(&[&["--lang", language, "--db", "no/such/ia.db"], command].concat());
            check_exit(&output, 1);
            check_prose(&err(&output), "no/such/ia.db");
            assert!(err(&output).contains(cause), "{command:?}: {}", err(&output));
        }
        assert_eq!(place.names(), ["in.jsonl"]);
    }
}

#[test]
fn a_cut_off_store_is_refused_untouched() {
    for keep in [4096, 4096 * 3, 4096 * 10 + 100] {
        check_refused(
            |place| {
                populated(place);
                let bytes = place.read(STORE);
                assert!(bytes.len() > keep);
                place.write(STORE, &bytes[..keep]);
            },
            "está dañado",
            "is damaged",
        );
    }
}

/// Random bytes over each page in turn: a command says that the store is damaged and changes nothing, or its answer is right.
#[test]
fn a_damaged_page_is_noticed_or_does_not_matter() {
    let mut random = Random::seeded("a_damaged_page_is_noticed_or_does_not_matter");
    let whole = Place::new();
    populated(&whole);
    whole.write("again.jsonl", numbered("a", 400) + &numbered("b", 5));
    let bytes = whole.read(STORE);
    let commands: [&[&str]; 4] = [
        &["jobs", "--json", "--limit", "1000"],
        &["show", "--json", "a-1"],
        &["add", "--dry-run", "again.jsonl"],
        &["add", "again.jsonl"],
    ];
    let right: Vec<_> = commands.iter().map(|command| out(&whole.run(command))).collect();
    let mut noticed = 0;
    let size = page_bytes(&bytes);
    for page in 0..bytes.len() / size {
        let mut damaged = bytes.clone();
        // The signature stays, or it is another case.
        let start = if page == 0 { 100 } else { page * size };
        let end = (page + 1) * size;
        damaged[start..end].copy_from_slice(&random.bytes(end - start));
        let place = Place::new().file("again.jsonl", whole.read("again.jsonl"));
        for language in BOTH {
            place.write(STORE, &damaged);
            for (command, right) in commands.iter().zip(&right) {
                let output = place.run(&[&["--lang", language], *command].concat());
                if code(&output) == 0 {
                    let said =
                        if language == "en" && command[0] == "add" { in_spanish(&out(&output)) } else { out(&output) };
                    assert_eq!(said, *right, "page {}: {command:?}", page + 1);
                    continue;
                }
                noticed += 1;
                check_exit(&output, 1);
                check_prose(&err(&output), STORE);
                let cause = if language == "es" { "está dañado" } else { "is damaged" };
                assert!(err(&output).contains(cause), "page {}: {command:?}: {}", page + 1, err(&output));
                assert!(place.read(STORE) == damaged, "page {}: {command:?} changed the file", page + 1);
                assert_eq!(place.names(), ["again.jsonl", STORE], "page {}: {command:?}", page + 1);
            }
        }
    }
    assert!(noticed > 20, "only {noticed} noticed");
}

/// The header's field for it (<https://www.sqlite.org/fileformat2.html#page_size>).
fn page_bytes(store: &[u8]) -> usize {
    usize::from(u16::from_be_bytes([store[16], store[17]]))
}

fn in_spanish(words: &str) -> String {
    words.replace(" new\n", " nuevo\n").replace(" duplicate\n", " repetido\n").replace(" conflict\n", " conflicto\n")
}

/// What a take-over leaves that is killed while SQLite writes its pages, made by hand: the header says already that it is a
/// store, and the rollback journal says that it is not.
#[test]
fn a_take_over_that_was_killed_while_it_wrote_is_rolled_back() {
    for command in [&["add", "in.jsonl"][..], &["jobs"], &["show", "viejo-1"], &["add", "--dry-run", "in.jsonl"]] {
        let (begun, place) = (Place::new(), Place::new().file("in.jsonl", numbered("a", 3)));
        make_article(&begun.store(), article_rows(30));
        let connection = Connection::open(begun.store()).unwrap();
        connection.execute_batch("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE;").unwrap();
        connection.pragma_update(None, "application_id", 0x434F_4C41).unwrap();
        connection.pragma_update(None, "user_version", 1).unwrap();
        // More pages than the cache holds, so that they are written before the commit.
        connection
            .execute_batch(
                "CREATE TABLE filler (x); WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
                 INSERT INTO filler SELECT randomblob(1000) FROM n",
            )
            .unwrap();
        for name in [STORE.to_owned(), format!("{STORE}-journal")] {
            fs::copy(begun.path(&name), place.path(&name)).unwrap();
        }
        drop(connection);
        // SQLite writes the first page last when it makes room, and first when it commits.
        let mut written = place.read(STORE);
        assert!(written.len() > 100 * 4096, "pages were written");
        written[60..64].copy_from_slice(&1_u32.to_be_bytes());
        written[68..72].copy_from_slice(b"COLA");
        place.write(STORE, written);
        let output = place.run(command);
        if command == ["add", "in.jsonl"] {
            check_exit(&output, 0);
            assert_eq!(stored(&place.store(), true).gate.events.len(), 33);
        } else if command[0] == "add" {
            check_exit(&output, 0);
            assert_eq!(out(&output).lines().count(), 3);
        } else {
            check_exit(&output, 1);
            assert!(err(&output).contains("article"), "{}", err(&output));
        }
    }
}

/// Holds the store for itself.
fn lock(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    connection
}

fn add_beside_a_lock(place: &Place, args: &[&str]) -> Child {
    place.command(&[&["add"], args].concat()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_lock_is_waited_for() {
    for article in [false, true] {
        let place = Place::new().file("in.jsonl", numbered("a", 3));
        if article {
            make_article(&place.store(), article_rows(3));
        } else {
            check_exit(&place.run(&["init"]), 0);
        }
        let lock = lock(&place.store());
        let mut child = add_beside_a_lock(&place, &["in.jsonl"]);
        let mut stderr = child.stderr.take().unwrap();
        // It says so after a while; that is when the lock is let go.
        let said = read_until(&mut stderr, "waiting\n");
        assert!(said.ends_with("waiting\n"), "{said}");
        lock.execute_batch("ROLLBACK").unwrap();
        drop(lock);
        let output = child.wait_with_output().unwrap();
        check_exit(&output, 0);
        assert_eq!(out(&output), "a-0 nuevo\na-1 nuevo\na-2 nuevo\n");
    }
}

#[test]
fn a_lock_that_lasts_too_long_is_named() {
    for article in [false, true] {
        for (language, cause) in [("es", "tiene bloqueado el almacén"), ("en", "another process has kept the store")] {
            let place = Place::new().file("in.jsonl", numbered("a", 3)).with("COLA_IA_LOCK_WAIT", "300ms");
            if article {
                make_article(&place.store(), article_rows(3));
            } else {
                check_exit(&place.run(&["init"]), 0);
            }
            let lock = lock(&place.store());
            let began = Instant::now();
            let output = place.run(&["--lang", language, "add", "in.jsonl"]);
            check_exit(&output, 1);
            assert!(began.elapsed() >= Duration::from_millis(300));
            check_prose(&err(&output), STORE);
            assert!(err(&output).contains(cause), "{}", err(&output));
            assert_eq!(out(&output), "");
            drop(lock);
            check_exit(&place.run(&["add", "in.jsonl"]), 0);
        }
    }
}

#[test]
fn an_interrupt_ends_the_wait_for_a_lock() {
    for article in [false, true] {
        let place = Place::new().file("in.jsonl", numbered("a", 3));
        if article {
            make_article(&place.store(), article_rows(3));
        } else {
            check_exit(&place.run(&["init"]), 0);
        }
        let _lock = lock(&place.store());
        let mut child = add_beside_a_lock(&place, &["in.jsonl"]);
        let mut stderr = child.stderr.take().unwrap();
        assert!(read_until(&mut stderr, "waiting\n").ends_with("waiting\n"));
        let began = Instant::now();
        signal(&child, Signal::SIGINT);
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), 130, "{rest}");
        assert!(rest.contains("interrupted"), "{rest}");
        assert!(began.elapsed() < Duration::from_secs(5));
        assert_eq!(out(&output), "");
    }
}

#[test]
fn a_store_that_was_killed_is_whole_for_every_command() {
    for command in [&["jobs", "--json"][..], &["add", "--dry-run", "in.jsonl"], &["add", "in.jsonl"]] {
        for name in [STORE, "link", "folder/link", "a ?%&#'\"\n:b.db"] {
            let place = Place::new().file("in.jsonl", numbered("a", 3));
            place.kill_after(&numbered("a", 3));
            fs::create_dir(place.path("folder")).unwrap();
            std::os::unix::fs::symlink(STORE, place.path("link")).unwrap();
            std::os::unix::fs::symlink(format!("../{STORE}"), place.path("folder/link")).unwrap();
            if name.starts_with('a') {
                for ending in ["", "-wal", "-shm"] {
                    fs::rename(place.path(&format!("{STORE}{ending}")), place.path(&format!("{name}{ending}")))
                        .unwrap();
                }
            }
            let output = place.run(&[&["--db", name], command].concat());
            check_exit(&output, 0);
            assert_eq!(out(&output).lines().count(), 3, "{name:?} {command:?}");
            assert!(!out(&output).contains("nuevo"), "{name:?} {command:?}: {}", out(&output));
        }
    }
}

#[test]
fn views_do_not_wait_for_who_writes() {
    let place = Place::new().file("in.jsonl", numbered("a", 3));
    check_exit(&place.run(&["add", "in.jsonl"]), 0);
    let writing = Connection::open(place.store()).unwrap();
    writing.execute_batch("BEGIN IMMEDIATE; DELETE FROM jobs;").unwrap();
    let output = place.run(&["jobs", "--json"]);
    check_exit(&output, 0);
    assert_eq!(out(&output).lines().count(), 3);
}

#[test]
fn eight_processes_at_once_all_succeed() {
    for round in 0..6 {
        let place = Place::new();
        let old = if round % 2 == 0 { 0 } else { 60 };
        if old > 0 {
            make_article(&place.store(), article_rows(old));
        }
        let input = |process: usize| numbered(&format!("p{process}"), 100) + &numbered("common", 50);
        let mut children: Vec<Child> = (0..8).map(|_| place.start(&["add", "-"])).collect();
        // Each waits for its input: they open the store at the same time all the same.
        for (process, child) in children.iter_mut().enumerate() {
            child.stdin.take().unwrap().write_all(input(process).as_bytes()).unwrap();
        }
        let mut entered = 0;
        for child in children {
            let output = child.wait_with_output().unwrap();
            check_exit(&output, 0);
            assert_eq!(out(&output).lines().count(), 150);
            entered += out(&output).matches(" nuevo\n").count();
        }
        assert_eq!(entered, 850, "each event is new to one of them");
        let end = stored(&place.store(), true);
        assert_eq!(end.gate.events.len(), 850 + old);
        assert_eq!(end.deliveries.get("duplicate"), Some(&350));
        assert!(end.gate.conflicts.is_empty());
        let mut expected = vec![STORE.to_owned()];
        if old > 0 {
            expected.push(format!("{STORE}.antes-de-cola-ia"));
        }
        assert_eq!(place.names(), expected);
    }
}
