//! `backup`, `restore`, `restored` and `doctor`, as people run them: beside writers, over damage, without room, killed.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use cola_ia_store::sqlite::{Options, SqliteStore};

use common::input::{numbered, with_texts};
use common::mounts::run_with_mounts;
use common::stored::{make_article, stored};
use common::{BOTH, Place, Random, STORE, check_exit, code, err, out, read_until, signal, until};
use nix::sys::signal::Signal;
use rusqlite::Connection;

/// A store with events `a-0`, ….
fn populated(count: usize) -> Place {
    let place = Place::new();
    let place = place.file("first.jsonl", numbered("a", count));
    check_exit(&place.run(&["add", "first.jsonl"]), 0);
    place
}

fn ids(path: &Path) -> BTreeSet<String> {
    stored(path, true).gate.events.into_keys().collect()
}

fn numbered_ids(prefix: &str, count: usize) -> BTreeSet<String> {
    (0..count).map(|n| format!("{prefix}-{n}")).collect()
}

/// The codes of findings of these severities.
fn found(place: &Place, args: &[&str], severities: &[&str]) -> Vec<String> {
    let output = place.run(&[&["doctor", "--json"], args].concat());
    assert!([0, 1].contains(&code(&output)), "{}", err(&output));
    let lines: Vec<serde_json::Value> = out(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let wrong = lines.iter().any(|line| line["severity"] == "warning" || line["severity"] == "error");
    assert_eq!(code(&output), i32::from(wrong));
    // What depends on the machine.
    let of_the_machine = ["disk_low", "disk_tight"];
    lines
        .iter()
        .filter(|line| severities.contains(&line["severity"].as_str().unwrap()))
        .map(|line| line["code"].as_str().unwrap().to_owned())
        .filter(|code| !of_the_machine.contains(&code.as_str()))
        .collect()
}

fn wrong(place: &Place, args: &[&str]) -> Vec<String> {
    found(place, args, &["warning", "error"])
}

fn sql(path: &Path, statements: &str) {
    Connection::open(path).unwrap().execute_batch(statements).unwrap();
}

#[test]
fn a_backup_and_its_return() {
    for language in BOTH {
        let place = populated(5).with("COLA_IA_LANG", language).file("more.jsonl", numbered("b", 3));
        let made = place.run(&["backup", "b.sqlite3"]);
        check_exit(&made, 0);
        assert_eq!(out(&made), "");
        assert!(err(&made).contains("b.sqlite3") && err(&made).contains('5'), "{}", err(&made));
        let again = place.run(&["backup", "b.sqlite3"]);
        check_exit(&again, 1);
        assert!(err(&again).contains("b.sqlite3"));
        let onto = place.run(&["backup", STORE]);
        check_exit(&onto, 1);

        check_exit(&place.run(&["add", "more.jsonl"]), 0);
        let back = place.run(&["restore", "b.sqlite3", "--json"]);
        check_exit(&back, 0);
        let line: serde_json::Value = serde_json::from_str(&out(&back)).unwrap();
        assert_eq!(line["events"], 5);
        let kept = line["kept"].as_str().unwrap();
        assert!(err(&back).contains(kept), "{}", err(&back));
        assert!(!kept.contains('/'), "told as the store was named: {kept}");
        assert_eq!(ids(&place.path(kept)).len(), 8);
        assert_eq!(ids(&place.store()), numbered_ids("a", 5));
        assert_eq!(wrong(&place, &[]), ["restored"]);

        // What was sent since is delivered again, and nothing enters twice.
        check_exit(&place.run(&["add", "first.jsonl", "more.jsonl"]), 0);
        assert_eq!(ids(&place.store()).len(), 8);
        let cleared = place.run(&["restored", "--clear"]);
        check_exit(&cleared, 0);
        assert_eq!(wrong(&place, &[]), [""; 0]);
        let marked = place.run(&["restored", "--json", "--at", "2026-01-31T22:00:00+01:00"]);
        check_exit(&marked, 0);
        assert_eq!(out(&marked), "{\"v\":1,\"restored_at\":\"2026-01-31T21:00:00.000000Z\",\"leases_voided\":0}\n");
        assert_eq!(wrong(&place, &[]), ["restored"]);
    }
}

#[test]
fn usage_mistakes_attempt_nothing() {
    let place = populated(1);
    for args in [
        &["backup"][..],
        &["restore"],
        &["restored"],
        &["restored", "--at", "yesterday"],
        &["restored", "--at", "now", "--clear"],
        &["backup", "a", "b"],
        &["backup", "-"],
        &["restore", "-"],
        &["doctor", "x"],
    ] {
        check_exit(&place.run(args), 2);
    }
    check_exit(&place.run(&["restored", "--at", "9000-01-01T00:00:00Z"]), 1);
    assert_eq!(place.names(), [STORE, "first.jsonl"]);
}

/// What stands there instead of a store, and what the doctor calls it.
#[test]
fn what_cannot_be_opened_is_named_and_stays_as_it_is() {
    type Case<'a> = (&'a str, &'a dyn Fn(&Place));
    let page_three = |place: &Place| {
        let mut bytes = place.read(STORE);
        let noise = Random::seeded("page_three").bytes(8_192);
        bytes[2 * 8_192..3 * 8_192].copy_from_slice(&noise);
        place.write(STORE, bytes);
    };
    let log_alone = |place: &Place| {
        place.kill_after(&numbered("b", 3));
        fs::remove_file(place.store()).unwrap();
    };
    let cases: [Case<'_>; 9] = [
        ("", &page_three),
        ("store_wal_orphan", &log_alone),
        ("store_empty_file", &|place| place.write(STORE, "")),
        ("store_not_sqlite", &|place| place.write(STORE, "a text, and nothing else\n")),
        ("store_newer", &|place| sql(&place.store(), "PRAGMA user_version = 99")),
        ("store_foreign", &|place| sql(&place.store(), "PRAGMA application_id = 7")),
        ("store_missing", &|place| fs::remove_file(place.store()).unwrap()),
        ("store_article", &|place| {
            fs::remove_file(place.store()).unwrap();
            make_article(&place.store(), []);
        }),
        ("file_cut", &|place| {
            let bytes = place.read(STORE);
            place.write(STORE, &bytes[..bytes.len() / 2]);
        }),
    ];
    for (expected, prepare) in cases {
        let place = populated(60);
        prepare(&place);
        let before = place.contents();
        for language in BOTH {
            for args in [
                &["backup", "b.sqlite3"][..],
                &["restored", "--at", "now"],
                &["doctor"],
                &["doctor", "--json"],
                &["jobs"],
                &["restore", "nowhere.sqlite3"],
            ] {
                // A view may not meet the damaged page, and neither may a mark.
                if expected.is_empty() && ["jobs", "restored"].contains(&args[0]) {
                    continue;
                }
                let output = place.run(&[&["--lang", language], args].concat());
                check_exit(&output, 1);
                for leak in ["⟨", "$", "panicked", "\u{2068}"] {
                    assert!(!err(&output).contains(leak) && !out(&output).contains(leak), "{}", err(&output));
                }
                assert!(place.contents() == before, "{expected}: {args:?} changed {:?}", place.names());
            }
        }
        let codes = wrong(&place, &[]);
        if expected.is_empty() {
            let damage = ["pages_damaged", "store_damaged"];
            assert!(damage.iter().any(|code| codes.contains(&(*code).to_owned())), "{codes:?}");
        } else {
            assert!(codes.contains(&expected.to_owned()), "{expected}: {codes:?}");
        }
    }
}

/// Under load: a plain copy is noticed, a backup has all that was answered before it began, and a running store is not replaced.
#[test]
fn a_backup_beside_an_intake_and_a_restore_over_it() {
    let place = populated(10);
    let mut child = place.start(&["add", "-"]);
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    let feeder = std::thread::spawn(move || {
        for n in 0.. {
            if stdin.write_all(with_texts(&format!("n{n}"), 20, |k| format!("texto {k}")).as_bytes()).is_err() {
                break;
            }
        }
    });
    let mut answered = BTreeSet::new();
    let mut read_some = |count: usize, answered: &mut BTreeSet<String>| {
        let mut line = String::new();
        for _ in 0..count {
            line.clear();
            answers.read_line(&mut line).unwrap();
            answered.insert(line.split(' ').next().unwrap().to_owned());
        }
    };
    for round in 0..3 {
        read_some(200, &mut answered);
        let (copy, backup) = (format!("cp{round}.sqlite3"), format!("b{round}.sqlite3"));
        fs::copy(place.store(), place.path(&copy)).unwrap();
        check_exit(&place.run(&["backup", &backup]), 0);
        let in_backup = ids(&place.path(&backup));
        assert!(answered.is_subset(&in_backup), "round {round}");
        assert_eq!(found(&place, &["--db", &backup], &["warning", "error"]), [""; 0]);
        let copied = found(&place, &["--db", &copy], &["warning", "error"]);
        assert!(copied.contains(&"copied".to_owned()), "{copied:?}");
        let over = place.run(&["restore", &backup]);
        check_exit(&over, 1);
        assert!(err(&over).contains(&child.id().to_string()), "{}", err(&over));
        let other = format!("new{round}.sqlite3");
        check_exit(&place.run(&["--db", &other, "restore", &backup]), 0);
        assert_eq!(ids(&place.path(&other)), in_backup);
    }
    signal(&child, Signal::SIGKILL);
    child.wait().unwrap();
    let mut rest = String::new();
    answers.read_to_string(&mut rest).unwrap();
    feeder.join().unwrap();
    // The one that was killed has left a log, and it is not played into what is restored.
    check_exit(&place.run(&["restore", "b0.sqlite3"]), 0);
    assert_eq!(ids(&place.store()), ids(&place.path("b0.sqlite3")));
}

/// Somebody who forgot to end a read transaction keeps the log from shrinking: the doctor says who.
#[cfg(target_os = "linux")]
#[test]
fn a_forgotten_reader_is_named_and_the_log_shrinks_after_it() {
    let place = populated(1);
    place.write("large.jsonl", with_texts("l", 70, |_| "x".repeat(1_000_000)));
    let reader = Connection::open(place.store()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM events").unwrap();
    reader.query_row("SELECT count(*) FROM events", [], |_| Ok(())).unwrap();
    // An old state is one that a writer has left behind.
    for round in 0..2 {
        let output = place.run(&["add", "large.jsonl"]);
        check_exit(&output, 0);
        if round == 0 {
            place.write("large.jsonl", with_texts("m", 5, |_| "x".repeat(1_000_000)));
        }
    }
    let output = place.run(&["doctor", "--json"]);
    let line = out(&output).lines().find(|line| line.contains("\"reader_old\"")).map(str::to_owned);
    let line = line.unwrap_or_else(|| panic!("{}", out(&output)));
    assert!(line.contains(&std::process::id().to_string()), "{line}");
    assert!(out(&output).contains("\"in_use\""));
    let log = || fs::metadata(place.path(&format!("{STORE}-wal"))).map_or(0, |log| log.len());
    assert!(log() > 64 << 20);
    reader.execute_batch("COMMIT").unwrap();
    drop(reader);
    check_exit(&place.run(&["add", "first.jsonl"]), 0);
    assert_eq!(log(), 0, "it shrinks with the next one who closes it");
    assert_eq!(wrong(&place, &[]), [""; 0]);
}

#[test]
fn a_log_that_has_grown_is_told() {
    let place = populated(1);
    place.kill_after(&numbered("b", 3));
    let log = place.path(&format!("{STORE}-wal"));
    // What follows the last commit of a log is no part of it.
    fs::OpenOptions::new().write(true).open(&log).unwrap().set_len(300 << 20).unwrap();
    assert_eq!(wrong(&place, &[]), ["log_large"]);
    assert_eq!(ids(&place.store()).len(), 4);
}

#[test]
fn a_disk_without_room_keeps_nothing_of_a_backup_and_loses_no_store() {
    let place = Place::new().file("in.jsonl", with_texts("a", 2_000, |_| "x".repeat(1_000)));
    let ran = run_with_mounts(
        &place,
        r#"
        mount -t tmpfs -o size=2m,mode=700 none mnt
        status() { rc=0; "$@" || rc=$?; }
        "$PROGRAM" add in.jsonl >/dev/null
        for lang in es en; do
            status "$PROGRAM" --lang $lang backup mnt/b.sqlite3 2>full.$lang; echo $rc >>full.rc
        done
        ls -A mnt >left
        # A restore needs room for the copy, and leaves the store as it was.
        "$PROGRAM" backup b.sqlite3
        "$PROGRAM" --db mnt/s.sqlite3 init --config /dev/null
        cp mnt/s.sqlite3 before
        status "$PROGRAM" --db mnt/s.sqlite3 restore b.sqlite3 2>restore.err; echo $rc >restore.rc
        cmp before mnt/s.sqlite3
        ls -A mnt >left_by_restore
        # And a disk that may not be written.
        mkdir ro; mount -t tmpfs -o size=20m,mode=700 none ro
        "$PROGRAM" --db ro/s.sqlite3 add in.jsonl >/dev/null
        mount -o remount,ro ro
        status "$PROGRAM" backup ro/b.sqlite3 2>ro.err; echo $rc >ro.rc
        status "$PROGRAM" --db ro/s.sqlite3 restore b.sqlite3 2>>ro.err; echo $rc >>ro.rc
        status "$PROGRAM" --db ro/s.sqlite3 backup c.sqlite3; echo $rc >>ro.rc
        status "$PROGRAM" --db ro/s.sqlite3 doctor --json >ro.doctor; echo $rc >>ro.rc
        ls -A ro >left_on_ro
        "#,
    );
    if !ran {
        return;
    }
    let text = |name: &str| String::from_utf8(place.read(name)).unwrap();
    assert_eq!(text("full.rc"), "1\n1\n");
    assert!(text("full.es").contains("no hay espacio para la copia mnt/b.sqlite3"), "{}", text("full.es"));
    assert!(text("full.en").contains("no room for the backup mnt/b.sqlite3"), "{}", text("full.en"));
    assert_eq!(text("left"), "");
    assert_eq!(text("restore.rc"), "1\n");
    assert!(text("restore.err").contains("mnt/s.sqlite3"), "{}", text("restore.err"));
    assert_eq!(text("left_by_restore"), "s.sqlite3\n");
    // The doctor minds that there is little room, and nothing else.
    assert_eq!(text("ro.rc"), "1\n1\n0\n1\n", "{}", text("ro.err"));
    assert!(text("ro.doctor").contains("\"disk_low\""));
    assert_eq!(text("ro.doctor").matches("\"warning\"").count(), 1, "{}", text("ro.doctor"));
    assert_eq!(text("left_on_ro"), "s.sqlite3\n");
    assert!(text("ro.doctor").contains("\"tables\""), "{}", text("ro.doctor"));
    assert_eq!(ids(&place.path("c.sqlite3")).len(), 2_000);
}

/// `kill -9` of a restore at any moment: the old store or the new one, and the next restore works.
#[test]
fn a_restore_that_is_killed_leaves_the_old_store_or_the_new_one() {
    let mut random = Random::seeded("a_restore_that_is_killed");
    let source = populated(400);
    check_exit(&source.run(&["backup", "b.sqlite3"]), 0);
    source.kill_after(&numbered("b", 30));
    let (old, new) = (numbered_ids("a", 400).union(&numbered_ids("b", 30)).cloned().collect(), numbered_ids("a", 400));
    // A store with a log, in a folder of its own each time.
    let fresh = || {
        let place = Place::new();
        for name in [STORE.to_owned(), format!("{STORE}-wal"), "b.sqlite3".to_owned()] {
            fs::copy(source.path(&name), place.path(&name)).unwrap();
        }
        place
    };
    let place = fresh();
    let began = Instant::now();
    check_exit(&place.run(&["restore", "b.sqlite3"]), 0);
    let whole = began.elapsed();
    let mut ended: BTreeMap<&str, u32> = BTreeMap::new();
    for _ in 0..60 {
        let place = fresh();
        let mut child = place.start(&["restore", "b.sqlite3"]);
        std::thread::park_timeout(Duration::from_micros(random.below(whole.as_micros() as u64 * 11 / 10)));
        signal(&child, Signal::SIGKILL);
        let by_itself = child.wait().unwrap().code().is_some();
        let found: BTreeSet<String> = ids(&place.store());
        let is = match found {
            found if found == old => "the old store",
            found if found == new => "the new store",
            other => panic!("neither the old nor the new store: {} events", other.len()),
        };
        assert!(!by_itself || is == "the new store");
        *ended.entry(is).or_default() += 1;
        check_exit(&place.run(&["restore", "b.sqlite3"]), 0);
        assert_eq!(ids(&place.store()), new);
        let left = wrong(&place, &[]);
        assert!(!left.contains(&"second_name".to_owned()), "{left:?}");
        let kept =
            place.names().into_iter().filter(|name| name.contains(".before-restore-") && !name.ends_with("-wal"));
        // The old store was kept, whichever of the two restores replaced it.
        assert!(kept.map(|name| ids(&place.path(&name))).any(|kept| kept == old), "{:?}", place.names());
    }
    let _ = writeln!(std::io::stderr(), "{ended:?}, a whole one takes {whole:?}");
}

/// A backup that is killed or interrupted has no name, or is whole.
#[test]
fn a_backup_that_is_stopped_is_whole_or_not_there() {
    let mut random = Random::seeded("a_backup_that_is_stopped");
    let place = populated(400);
    let began = Instant::now();
    check_exit(&place.run(&["backup", "first.sqlite3"]), 0);
    let whole = began.elapsed();
    for round in 0..40 {
        let name = format!("b{round}.sqlite3");
        let mut child = place.start(&["backup", &name]);
        std::thread::park_timeout(Duration::from_micros(random.below(whole.as_micros() as u64 * 11 / 10)));
        let by = if round % 2 == 0 { Signal::SIGKILL } else { Signal::SIGINT };
        signal(&child, by);
        let code = child.wait().unwrap().code();
        if place.path(&name).exists() {
            assert_eq!(ids(&place.path(&name)).len(), 400);
        }
        if by == Signal::SIGINT && code == Some(130) {
            let left: Vec<String> = place.names().into_iter().filter(|left| left.contains(&name)).collect();
            assert_eq!(left, [""; 0], "an interrupted one leaves nothing");
        }
    }
    assert_eq!(ids(&place.store()).len(), 400);
}

/// Many at once on one store, a backup and a doctor among them.
#[test]
fn commands_at_once_do_not_disturb_each_other() {
    let place = populated(50).file("more.jsonl", numbered("b", 50));
    let commands: [&[&str]; 8] = [
        &["add", "more.jsonl"],
        &["backup", "b1.sqlite3"],
        &["doctor"],
        &["backup", "b2.sqlite3"],
        &["jobs"],
        &["restored", "--clear"],
        &["add", "first.jsonl"],
        &["doctor", "--quick"],
    ];
    let children: Vec<_> = commands
        .iter()
        .map(|args| {
            let mut command = place.command(args);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for (child, args) in children.into_iter().zip(commands) {
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), 0, "{args:?}: {}{}", out(&output), err(&output));
    }
    assert_eq!(ids(&place.store()).len(), 100);
    for name in ["b1.sqlite3", "b2.sqlite3"] {
        assert!(ids(&place.path(name)).is_superset(&numbered_ids("a", 50)));
    }
}

/// Whether a backup is good is a question about the file: what waits in it is nobody's.
#[test]
fn a_good_backup_is_well_whatever_waits_in_it() {
    let place = populated(2).file("other.jsonl", with_texts("a", 1, |_| "another text".to_owned()));
    place.run(&["add", "other.jsonl"]);
    check_exit(&place.run(&["backup", "b.sqlite3"]), 0);
    assert_eq!(wrong(&place, &[]), ["conflicts_undecided"], "in the store it is somebody's");
    check_exit(&place.run(&["doctor", "--db", "b.sqlite3"]), 0);
}

/// An event that was erased in another store has no slot here, and nothing is wrong with that.
#[test]
fn an_import_of_an_erased_event_is_well() {
    let place = populated(3);
    check_exit(&place.run(&["erase", "a-1", "--yes"]), 0);
    check_exit(&place.run(&["export", "e.jsonl"]), 0);
    check_exit(&place.run(&["import", "--db", "there.sqlite3", "e.jsonl"]), 0);
    check_exit(&place.run(&["restored", "--clear", "--db", "there.sqlite3"]), 0);
    let output = place.run(&["doctor", "--db", "there.sqlite3"]);
    assert_eq!(code(&output), 0, "{}", out(&output));
    let again = place.run(&["add", "--db", "there.sqlite3", "first.jsonl"]);
    assert_eq!(out(&again).matches(" repetido").count(), 3, "{}", out(&again));
}

/// Whoever comes first brings the store up to date, after a copy, and the others wait and go on.
#[test]
fn commands_that_start_together_bring_an_older_store_up_to_date() {
    for round in 0..25 {
        let place = Place::new().file("in.jsonl", numbered("a", 40)).file("more.jsonl", numbered("a", 60));
        let schema = Options::default().migrations;
        let older = Options { migrations: &schema[..1], ..Options::default() };
        drop(SqliteStore::init(&place.store(), &older).unwrap());
        let commands: [&[&str]; 8] = [
            &["add", "in.jsonl"],
            &["add", "more.jsonl"],
            &["add", "in.jsonl"],
            &["restored", "--clear"],
            &["add", "more.jsonl"],
            &["add", "in.jsonl"],
            &["prune", "--older-than", "90d"],
            &["add", "more.jsonl"],
        ];
        let children: Vec<_> = commands
            .iter()
            .map(|args| {
                let mut command = place.command(args);
                command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        let mut new = 0;
        for (child, args) in children.into_iter().zip(commands) {
            let output = child.wait_with_output().unwrap();
            assert_eq!(code(&output), 0, "round {round}, {args:?}: {}{}", out(&output), err(&output));
            new += out(&output).lines().filter(|line| line.ends_with(" nuevo")).count();
        }
        assert_eq!((new, ids(&place.store()).len()), (60, 60), "round {round}");
        let version: u32 =
            Connection::open(place.store()).unwrap().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
        assert_eq!(version as usize, schema.len());
        assert!(place.path(&format!("{STORE}.before-2")).exists(), "round {round}");
    }
}

#[test]
fn what_was_put_in_place_by_hand_is_told() {
    for language in BOTH {
        let place = populated(2).with("COLA_IA_LANG", language);
        check_exit(&place.run(&["backup", "b.sqlite3"]), 0);
        fs::copy(place.path("b.sqlite3"), place.store()).unwrap();
        let output = place.run(&["add", "--quiet", "first.jsonl"]);
        check_exit(&output, 0);
        assert!(err(&output).contains(STORE), "even where little is said: {}", err(&output));
        assert_eq!(err(&place.run(&["add", "--quiet", "first.jsonl"])), "", "and once");
        assert_eq!(wrong(&place, &[]), ["restored"]);

        let place = populated(2).with("COLA_IA_LANG", language);
        fs::rename(place.store(), place.path("old")).unwrap();
        fs::copy(place.path("old"), place.store()).unwrap();
        let output = place.run(&["add", "--quiet", "first.jsonl"]);
        assert!(err(&output).contains("restored --at now"), "{}", err(&output));
        assert_eq!(wrong(&place, &[]), ["copied"]);
        check_exit(&place.run(&["restored", "--clear"]), 0);
        assert_eq!(wrong(&place, &[]), [""; 0]);
    }
}

/// A pipe that waits for input has the store open, though it does nothing.
#[test]
fn an_idle_intake_is_in_the_way_of_a_restore() {
    let place = populated(3);
    check_exit(&place.run(&["backup", "b.sqlite3"]), 0);
    let mut child = place.start(&["add", "-"]);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(numbered("c", 1).as_bytes()).unwrap();
    assert!(read_until(child.stdout.as_mut().unwrap(), "\n").starts_with("c-0"));
    check_exit(&place.run(&["restore", "b.sqlite3"]), 1);
    drop(stdin);
    child.wait().unwrap();
    until("the store to be free", || (code(&place.run(&["restore", "b.sqlite3"])) == 0).then_some(()));
    assert_eq!(ids(&place.store()), numbered_ids("a", 3));
}
