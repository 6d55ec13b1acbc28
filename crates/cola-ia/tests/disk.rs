//! A disk that is full or may not be written: nothing acknowledged is lost, nothing is damaged, and the cause is named.
//!
//! The small disks are memory filesystems in a mount namespace of their own, seen by one shell script each.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use common::input::{Gate, Line, joined};
use common::mounts::run_with_mounts;
use common::stored::stored;
use common::{BOTH, PROGRAM, Place, STORE, check_exit, err, has_tool, out};
use nix::unistd::Uid;

fn text_of(place: &Place, name: &str) -> String {
    String::from_utf8(place.read(name)).unwrap()
}

/// Events of about 1 KiB.
fn lines(count: usize) -> Vec<Line> {
    (0..count)
        .map(|n| {
            let (id, text) = (format!("ev-{n}"), format!("{n} {}", "x".repeat(1000)));
            Line { json: format!("{{\"id\":\"{id}\",\"texto\":\"{text}\"}}\n"), event: Some((id, text)) }
        })
        .collect()
}

#[test]
fn a_full_disk_loses_nothing_that_was_answered() {
    let lines = lines(8_000);
    // Small batches, so that many are answered before the disk is full: a pipe that is fed slowly.
    let place = Place::new().file("in.jsonl", joined(&lines)).file("tail.jsonl", joined(&lines[4_000..]));
    let ran = run_with_mounts(
        &place,
        r#"
        mount -t tmpfs -o size=4m,mode=700 none mnt
        status() { rc=0; "$@" || rc=$?; }
        i=0
        split -l 200 -a 3 in.jsonl chunk.
        for chunk in chunk.*; do
            status "$PROGRAM" --db mnt/cola_ia.sqlite3 add "$chunk" >>out1 2>err1
            [ $rc = 0 ] || break
        done
        echo $rc >rc1
        status "$PROGRAM" --lang es --db mnt/cola_ia.sqlite3 add "$chunk" >out_es 2>err_es; echo $rc >rc_es
        status "$PROGRAM" --db mnt/cola_ia.sqlite3 jobs --json --limit 1 >out_jobs 2>err_jobs; echo $rc >rc_jobs
        # The whole file is one batch that does not fit: all of it or nothing.
        status "$PROGRAM" --db mnt/cola_ia.sqlite3 add tail.jsonl >out_tail 2>err_tail; echo $rc >rc_tail
        mkdir full; cp -a mnt/. full/
        mount -o remount,size=64m mnt
        status "$PROGRAM" --db mnt/cola_ia.sqlite3 add in.jsonl >out2 2>err2; echo $rc >rc2
        mkdir after; cp -a mnt/. after/
        "#,
    );
    if !ran {
        return;
    }
    for (rc, err) in [("rc1", "err1"), ("rc_es", "err_es"), ("rc_tail", "err_tail")] {
        let said = text_of(&place, err);
        assert_eq!(text_of(&place, rc), "1\n", "{said}");
        assert!(said.contains("mnt/cola_ia.sqlite3"), "{said}");
    }
    assert!(text_of(&place, "err1").contains("no room"), "{}", text_of(&place, "err1"));
    assert!(text_of(&place, "err_es").contains("no hay espacio"), "{}", text_of(&place, "err_es"));
    assert_eq!(text_of(&place, "out_tail"), "");
    assert_eq!(text_of(&place, "rc_jobs"), "0\n", "{}", text_of(&place, "err_jobs"));
    assert_eq!(text_of(&place, "out_jobs").lines().count(), 1);

    let full = stored(&place.path("full").join(STORE), true);
    let printed = text_of(&place, "out1");
    let mut gate = Gate::default();
    let expected = gate.answers(&lines[..printed.lines().count()]);
    assert!(expected.len() > 400, "something entered before the disk was full");
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
    assert_eq!(full.gate, gate, "what was answered, and no more");

    assert_eq!(text_of(&place, "rc2"), "0\n", "{}", text_of(&place, "err2"));
    assert_eq!(text_of(&place, "out2").lines().collect::<Vec<_>>(), gate.answers(&lines));
    assert_eq!(stored(&place.path("after").join(STORE), true).gate, gate);
}

#[test]
fn a_disk_without_room_for_a_new_store_keeps_no_rest_of_it() {
    let place = Place::new().file("in.jsonl", common::input::numbered("a", 3));
    let ran = run_with_mounts(
        &place,
        r#"
        mount -t tmpfs -o size=64k,mode=700 none mnt
        for command in "add in.jsonl" init; do
            rc=0; "$PROGRAM" --config mnt/c.toml --db mnt/cola_ia.sqlite3 init 2>err >out || rc=$?
            echo $rc >rc
            rm -f mnt/c.toml
            rc=0; "$PROGRAM" --db mnt/cola_ia.sqlite3 add in.jsonl 2>>err >>out || rc=$?
            echo $rc >>rc
        done
        ls -A mnt >left
        mount -o remount,size=8m mnt
        "$PROGRAM" --db mnt/cola_ia.sqlite3 add in.jsonl >out2
        "#,
    );
    if ran {
        assert_eq!(text_of(&place, "rc"), "1\n1\n", "{}", text_of(&place, "err"));
        assert_eq!(text_of(&place, "out"), "");
        assert_eq!(text_of(&place, "left"), "");
        assert_eq!(text_of(&place, "err").matches("no room to write").count(), 2, "{}", text_of(&place, "err"));
        assert_eq!(text_of(&place, "out2").lines().count(), 3);
    }
}

#[test]
fn a_full_disk_during_a_take_over_leaves_the_articles_database_as_it_was() {
    let place = Place::new().file("in.jsonl", common::input::numbered("a", 3));
    common::stored::make_article(&place.path("article"), common::stored::article_rows(3_000));
    let ran = run_with_mounts(
        &place,
        r#"
        mount -t tmpfs -o size=1m,mode=700 none mnt
        size=$(stat -c %s article)
        mount -o remount,size=$((size + size / 2)) mnt
        cp article mnt/cola_ia.sqlite3
        rc=0; "$PROGRAM" --db mnt/cola_ia.sqlite3 add in.jsonl 2>err >out || rc=$?; echo $rc >rc
        ls -A mnt >left; cmp article mnt/cola_ia.sqlite3
        # Room for the copy, none for the transaction.
        mount -o remount,size=$((size * 2 + 200000)) mnt
        rc=0; "$PROGRAM" --db mnt/cola_ia.sqlite3 add in.jsonl 2>>err >>out || rc=$?; echo $rc >>rc
        ls -A mnt >>left
        cmp article mnt/cola_ia.sqlite3
        mount -o remount,size=32m mnt
        "$PROGRAM" --db mnt/cola_ia.sqlite3 add in.jsonl >out2
        cp mnt/cola_ia.sqlite3 after
        "#,
    );
    if ran {
        assert_eq!(text_of(&place, "rc"), "1\n1\n", "{}", text_of(&place, "err"));
        assert_eq!(text_of(&place, "err").matches("no room to write").count(), 2, "{}", text_of(&place, "err"));
        assert_eq!(text_of(&place, "out"), "");
        let left = text_of(&place, "left");
        assert!(left.lines().all(|name| name.starts_with("cola_ia.sqlite3") && !name.ends_with("partial")), "{left}");
        assert_eq!(text_of(&place, "out2").lines().count(), 3);
        assert_eq!(stored(&place.path("after"), true).gate.events.len(), 3_003);
    }
}

#[test]
fn a_read_only_disk_is_named_and_can_be_read() {
    let place = Place::new().file("in.jsonl", common::input::numbered("a", 3));
    place.kill_after(&common::input::numbered("log", 3));
    for ending in ["", "-wal"] {
        fs::copy(place.path(&format!("{STORE}{ending}")), place.path(&format!("log.sqlite3{ending}"))).unwrap();
        fs::remove_file(place.path(&format!("{STORE}{ending}"))).unwrap();
    }
    check_exit(&place.run(&["add", "in.jsonl"]), 0);
    let ran = run_with_mounts(
        &place,
        r#"
        mount -t tmpfs -o size=8m,mode=700 none mnt
        cp cola_ia.sqlite3 mnt/
        # What the log holds cannot be read here: that must be said, not left out.
        cp log.sqlite3 mnt/log.sqlite3
        cp log.sqlite3-wal mnt/log.sqlite3-wal
        ln -s log.sqlite3 mnt/link.sqlite3
        mount -o remount,ro mnt
        for lang in es en; do
            rc=0; "$PROGRAM" --lang $lang --db mnt/cola_ia.sqlite3 add in.jsonl >out_$lang 2>err_$lang || rc=$?; echo $rc >rc_$lang
            rc=0; "$PROGRAM" --lang $lang --db mnt/new.sqlite3 add in.jsonl >>out_$lang 2>err_new_$lang || rc=$?; echo $rc >>rc_$lang
        done
        "$PROGRAM" --db mnt/cola_ia.sqlite3 jobs --json >jobs
        "$PROGRAM" --db mnt/cola_ia.sqlite3 show a-1 --json >show
        "$PROGRAM" --db mnt/cola_ia.sqlite3 add --dry-run in.jsonl >dry
        for name in log link; do
            rc=0; "$PROGRAM" --db mnt/$name.sqlite3 jobs --json >>out_log 2>>err_log || rc=$?; echo $rc >>rc_log
            rc=0; "$PROGRAM" --db mnt/$name.sqlite3 add --dry-run in.jsonl >>out_log 2>>err_log || rc=$?; echo $rc >>rc_log
        done
        ls -A mnt >left
        "#,
    );
    if !ran {
        return;
    }
    assert_eq!(text_of(&place, "rc_log"), "1\n1\n1\n1\n", "{}", text_of(&place, "err_log"));
    assert_eq!(text_of(&place, "out_log"), "");
    for (lang, cause) in [("es", "no se puede escribir en el almacén"), ("en", "cannot")] {
        assert_eq!(text_of(&place, &format!("rc_{lang}")), "1\n1\n");
        assert_eq!(text_of(&place, &format!("out_{lang}")), "");
        for (file, path) in [("err", "mnt/cola_ia.sqlite3"), ("err_new", "mnt/new.sqlite3")] {
            let said = text_of(&place, &format!("{file}_{lang}"));
            assert!(said.contains(path) && said.contains(cause), "{said}");
        }
    }
    assert_eq!(text_of(&place, "jobs").lines().count(), 3);
    assert!(text_of(&place, "show").contains("texto 1"));
    assert_eq!(text_of(&place, "dry"), "a-0 repetido\na-1 repetido\na-2 repetido\n");
    assert_eq!(text_of(&place, "left"), "cola_ia.sqlite3\nlink.sqlite3\nlog.sqlite3\nlog.sqlite3-wal\n");
}

/// The device on which every write says that there is no room.
fn full() -> File {
    OpenOptions::new().write(true).open("/dev/full").unwrap()
}

#[test]
fn a_stdout_on_a_full_disk_is_an_error_and_the_events_are_stored() {
    for (lang, cause) in [("es", "el disco está lleno"), ("en", "the disk is full")] {
        let place = Place::new().file("in.jsonl", common::input::numbered("a", 50));
        let output = place.command(&["--lang", lang, "add", "in.jsonl"]).stdout(full()).output().unwrap();
        check_exit(&output, 1);
        assert!(err(&output).contains(cause), "{}", err(&output));
        assert_eq!(stored(&place.store(), true).gate.events.len(), 50);
        let again = place.run(&["add", "in.jsonl"]);
        check_exit(&again, 0);
        assert!(out(&again).lines().all(|line| line.ends_with(" repetido")));
        for args in [&["jobs"][..], &["show", "a-1"], &["id"]] {
            check_exit(&place.command(args).stdout(full()).output().unwrap(), 1);
        }
    }
}

#[test]
fn rejects_that_cannot_be_written_are_an_error_and_the_events_are_stored() {
    for lang in BOTH {
        let place =
            Place::new().file("in.jsonl", "{\"id\":\"a\",\"texto\":\"b\"}\nno\n{\"id\":\"c\",\"texto\":\"d\"}\n");
        let output = place.run(&["--lang", lang, "add", "--rejects", "/dev/full", "in.jsonl"]);
        check_exit(&output, 1);
        assert!(err(&output).contains("/dev/full"), "{}", err(&output));
        assert_eq!(out(&output).lines().count(), 2);
        assert_eq!(stored(&place.store(), true).gate.events.len(), 2);
        let output = place.run(&["--lang", lang, "add", "--rejects", "no/such/folder", "in.jsonl"]);
        check_exit(&output, 1);
        assert!(err(&output).contains("no/such/folder"), "{}", err(&output));
        // That is known before anything is read.
        assert_eq!(out(&output), "");
    }
}

#[test]
fn a_folder_that_may_not_be_written_is_named_and_can_be_read() {
    let place = Place::new().file("in.jsonl", common::input::numbered("a", 3));
    check_exit(&place.run(&["add", "in.jsonl"]), 0);
    // The program where everybody can run it: the folders above the real one may be closed.
    fs::copy(PROGRAM, place.path("program")).unwrap();
    let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    open(&place.store(), 0o444);
    open(place.folder.path(), 0o555);
    let run = |args: &[&str]| {
        let mut command = if Uid::effective().is_root() {
            let mut command = place.tool("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(place.path("program"));
            command
        } else {
            place.tool(place.path("program").to_str().unwrap())
        };
        command.args(args).output().unwrap()
    };
    if Uid::effective().is_root() && !has_tool("setpriv", place.tool("setpriv").arg("--version")) {
        return;
    }
    for lang in BOTH {
        for args in
            [&["add", "in.jsonl"][..], &["--db", "new.sqlite3", "add", "in.jsonl"], &["--db", "new.sqlite3", "init"]]
        {
            let output = run(&[&["--lang", lang], args].concat());
            check_exit(&output, 1);
            let said = err(&output);
            let path = args.get(1).filter(|_| args[0] == "--db").unwrap_or(&STORE);
            assert!(said.contains(path), "{said}");
            assert_eq!(out(&output), "");
        }
    }
    for args in [&["jobs"][..], &["show", "a-1"], &["add", "--dry-run", "in.jsonl"]] {
        let output = run(args);
        check_exit(&output, 0);
        assert!(out(&output).lines().count() >= 3);
    }
    assert_eq!(place.names(), [STORE, "in.jsonl", "program"]);
    open(place.folder.path(), 0o755);
}
