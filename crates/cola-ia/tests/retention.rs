//! Letting go without forgetting: what was pruned is still known, whatever stops the pruning; what people decide is shown.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::input::{numbered, with_texts};
use common::redact::redacted;
use common::{BOTH, Place, Random, check_exit, code, err, out, shown, signal, until};
use nix::sys::signal::Signal;
use rusqlite::Connection;

fn open(place: &Place) -> Connection {
    let connection = Connection::open(place.store()).unwrap();
    connection.busy_timeout(Duration::from_secs(30)).unwrap();
    connection
}

fn count(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// How often each verdict was answered.
fn verdicts(printed: &str) -> BTreeMap<String, usize> {
    let mut counted = BTreeMap::new();
    for line in printed.lines() {
        *counted.entry(line.rsplit(' ').next().unwrap().to_owned()).or_default() += 1;
    }
    counted
}

/// Case 57: retention must not delete what makes a repetition known.
#[test]
fn what_was_pruned_is_still_known() {
    let place = Place::new().file("in.jsonl", numbered("ev", 1_000));
    check_exit(&place.run(&["add", "in.jsonl"]), 0);
    let store = open(&place);
    store
        .execute_batch(
            "UPDATE jobs SET state = 'done', changed_at = 1, result = 'r' WHERE event <= 900;
             UPDATE jobs SET state = 'running', lease = x'00' WHERE event > 950 AND event <= 980;
             UPDATE jobs SET state = 'failed' WHERE event > 980;
             INSERT INTO attempts (event, run, number, lease, worker, started_at, outcome, cost_micros, stdout)
             SELECT event, 1, 1, CAST('lease ' || event AS BLOB), 'w', 1, 'done', 7, x'00' FROM jobs WHERE event <= 900;
             INSERT INTO effects (event, run, name, key, state, lookup, settle, otherwise, begun_at, changed_at)
             SELECT event, 1, 'publish', 'key ' || event, 'unknown', 0, 0, 'hold', 1, 1 FROM jobs WHERE event <= 5;",
        )
        .unwrap();
    let would = place.run(&["prune", "--older-than", "0s", "--dry-run", "--json"]);
    assert!(out(&would).contains(r#""dry_run":true,"finished":true,"events":895,"#), "{}", out(&would));
    assert_eq!(count(&store, "SELECT count(*) FROM events WHERE text IS NULL"), 0);

    check_exit(&place.run(&["prune", "--older-than", "0s"]), 0);
    let left = "SELECT count(*) FROM events e JOIN jobs j ON j.event = e.seq WHERE e.text IS NOT NULL";
    assert_eq!(count(&store, left), 105, "waiting, running, failed, and with an effect that is not known");
    assert_eq!(count(&store, &format!("{left} AND j.state = 'done'")), 5);
    assert_eq!(count(&store, "SELECT count(*) FROM attempts WHERE stdout IS NOT NULL"), 5);
    assert_eq!(count(&store, "SELECT sum(cost_micros) FROM attempts"), 6_300, "costs stay");
    assert_eq!(out(&place.run(&["prune", "--older-than", "0s", "--json"])).matches(r#""events":0,"#).count(), 1);

    let again = place.run(&["add", "in.jsonl"]);
    assert_eq!(verdicts(&out(&again)), BTreeMap::from([("repetido".to_owned(), 1_000)]));
    place.write("changed.jsonl", "{\"id\":\"ev-7\",\"texto\":\"otro texto\"}\n");
    let changed = place.run(&["add", "--fail-on", "conflict", "changed.jsonl"]);
    check_exit(&changed, 3);
    assert_eq!(out(&changed), "ev-7 conflicto\n");
    assert_eq!(count(&store, "SELECT count(*) FROM conflicts WHERE text = 'otro texto'"), 1);
    assert_eq!(count(&store, "SELECT count(*) FROM jobs"), 1_000);
}

/// Adds events one at a time until told to stop, and answers how many repetitions were answered, of `ev-0`, `ev-1`, ….
fn add_beside(place: &Place, stop: &AtomicBool, known: usize, mut random: Random) -> usize {
    let mut child = place
        .command(&["add", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let (mut repeated, mut line) = (0, String::new());
    let mut number = 0;
    while !stop.load(Ordering::SeqCst) {
        number += 1;
        let old = random.below(known as u64);
        let new = format!("{{\"id\":\"load-{number}\",\"texto\":\"x\"}}\n");
        stdin.write_all(format!("{new}{{\"id\":\"ev-{old}\",\"texto\":\"texto {old}\"}}\n").as_bytes()).unwrap();
        for expected in [format!("load-{number} nuevo\n"), format!("ev-{old} repetido\n")] {
            line.clear();
            stdout.read_line(&mut line).unwrap();
            assert_eq!(line, expected);
        }
        repeated += 1;
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
    repeated
}

fn start_pruning(place: &Place) -> Child {
    let args = ["prune", "--older-than", "0s"];
    place.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// As if a job of each event was done and everything had come long ago.
const AGE: &str = "UPDATE jobs SET state = 'done', changed_at = 1 WHERE state = 'pending';
     UPDATE deliveries SET received_at = received_at - 9 * 86400000000;
     UPDATE ops SET at = at - 9 * 86400000000;";

#[test]
fn pruning_beside_intake_can_be_killed_at_any_moment() {
    const KNOWN: usize = 12_000;
    const KILLS: usize = 20;
    let mut random = Random::seeded("pruning_beside_intake_can_be_killed_at_any_moment");
    let place = Place::new().file("in.jsonl", with_texts("ev", KNOWN, |n| format!("texto {n}")));
    check_exit(&place.run(&["add", "in.jsonl", "in.jsonl", "in.jsonl"]), 0);
    let store = open(&place);
    store.execute_batch(AGE).unwrap();

    let stop = AtomicBool::new(false);
    let (mut kills, mut midway) = (0, 0);
    let beside = random.split();
    let repeated = std::thread::scope(|scope| {
        let adding = scope.spawn(|| add_beside(&place, &stop, KNOWN, beside));
        while kills < KILLS {
            let before = count(&store, "SELECT count(*) FROM events WHERE pruned_at IS NULL");
            let rows = count(&store, "SELECT count(*) FROM deliveries");
            let mut child = start_pruning(&place);
            std::thread::park_timeout(Duration::from_millis(random.below(200)));
            child.kill().unwrap();
            if child.wait().unwrap().success() {
                // It was faster: something to do for the next one.
                store.execute_batch(AGE).unwrap();
                continue;
            }
            kills += 1;
            let worked = count(&store, "SELECT count(*) FROM events WHERE pruned_at IS NULL") < before
                || count(&store, "SELECT count(*) FROM deliveries") < rows;
            midway += usize::from(worked);
        }
        stop.store(true, Ordering::SeqCst);
        adding.join().unwrap()
    });
    let _ =
        writeln!(std::io::stderr(), "killed {kills} times, {midway} of them after a step; {repeated} answers beside");
    assert!(midway > 0 && repeated > 0);
    check_exit(&place.run(&["prune", "--older-than", "0s"]), 0);

    let check: String = store.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    assert_eq!(count(&store, "SELECT count(*) FROM events WHERE text IS NULL AND id LIKE 'ev-%'"), KNOWN as i64);
    assert_eq!(count(&store, "SELECT count(*) FROM events WHERE text IS NULL AND pruned_at IS NULL"), 0);
    let counted = "SELECT (SELECT count(*) FROM deliveries) + (SELECT sum(count) FROM pruned_deliveries)";
    assert_eq!(count(&store, counted), (2 * KNOWN + repeated) as i64, "each repetition is counted once");
    assert!(count(&store, "SELECT sum(count) FROM pruned_deliveries") >= 2 * KNOWN as i64);
    let again = place.run(&["add", "in.jsonl"]);
    assert_eq!(verdicts(&out(&again)), BTreeMap::from([("repetido".to_owned(), KNOWN)]));
}

#[test]
fn an_interrupt_ends_pruning_between_two_steps() {
    let place = Place::new().file("in.jsonl", numbered("ev", 20_000));
    check_exit(&place.run(&["add", "in.jsonl"]), 0);
    let store = open(&place);
    store.execute_batch(AGE).unwrap();
    let child = place.start(&["prune", "--older-than", "0s", "--json"]);
    until("a first step", || (count(&store, "SELECT count(*) FROM events WHERE text IS NULL") > 0).then_some(()));
    signal(&child, Signal::SIGINT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", err(&output));
    assert!(out(&output).contains(r#""finished":false"#), "{}", out(&output));
    let left = count(&store, "SELECT count(*) FROM events WHERE text IS NOT NULL");
    assert!(left > 0);
    let rest = place.run(&["prune", "--older-than", "0s", "--json"]);
    assert!(out(&rest).contains(&format!(r#""finished":true,"events":{left},"#)), "{}", out(&rest));
}

/// Instants, lengths of time and the hashes of erased ids differ from run to run.
fn steady(text: &str) -> String {
    let text = redacted(text);
    let (mut out, mut rest) = (String::new(), text.as_str());
    while let Some(next) = rest.chars().next() {
        if rest.len() >= 64 && rest.as_bytes()[..64].iter().all(u8::is_ascii_hexdigit) {
            out.push_str("HASH");
            rest = &rest[64..];
        } else {
            out.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    out
}

const CONFLICTS: &str = r#"{"id":"idea-42","texto":"Comparar dos modelos"}
{"id":"idea-42","texto":"Publicar sin revisión\u001b[2J"}
{"id":"idea-42","texto":"Una tercera idea"}
{"id":"idea-44","texto":"Otra"}
{"id":"idea-44","texto":"Otra distinta","origen":"default"}
{"id":"idea-44","texto":"De la web","origen":"web"}
"#;

#[test]
fn decisions_pruning_and_erasure_as_people_see_them() {
    for language in BOTH {
        let place = Place::new().file("e.jsonl", CONFLICTS).with("COLA_IA_LANG", language);
        place.run(&["--quiet", "add", "e.jsonl"]);
        let run = |args: &[&str]| shown(args, &place.run(args));
        let mut seen = vec![
            run(&["resolve", "idea-42"]),
            run(&["resolve", "idea-42", "--keep", "--as", "x"]),
            run(&["resolve", "idea-42", "--keep", "--run"]),
            run(&["resolve", "idea-42", "--conflict", "1", "--conflict", "2", "--as", "x"]),
            run(&["resolve", "idea-42", "--as", "  "]),
            run(&["resolve", "idea-42", "--keep"]),
            run(&["resolve", "idea-44", "--keep"]),
            run(&["resolve", "idea-44", "--source", "web", "--keep"]),
            run(&["resolve", "nada", "--keep"]),
            run(&["resolve", "idea-42", "--conflict", "9", "--keep"]),
            run(&["resolve", "idea-42", "--conflict", "1", "--keep", "--note", "una prueba"]),
            run(&["add", "--fail-on", "conflict", "e.jsonl"]),
            run(&["resolve", "idea-42", "--as", "idea-44"]),
            run(&["resolve", "idea-42", "--as", "idea-43"]),
            run(&["resolve", "idea-42", "--accept"]),
            run(&["resolve", "idea-42", "--conflict", "1", "--accept"]),
            run(&["resolve", "idea-42", "--conflict", "1", "--keep"]),
            run(&["resolve", "idea-44", "--source", "default", "--accept", "--run", "--json"]),
            run(&["add", "--fail-on", "conflict", "e.jsonl"]),
            run(&["add", "--dry-run", "--fail-on", "conflict", "e.jsonl"]),
            run(&["show", "idea-42"]),
        ];
        open(&place).execute_batch("UPDATE jobs SET state = 'done', changed_at = 1 WHERE event = 1").unwrap();
        open(&place).execute_batch("UPDATE deliveries SET received_at = received_at - 9 * 86400000000").unwrap();
        seen.extend([
            run(&["prune"]),
            run(&["prune", "--older-than", "9"]),
            run(&["prune", "--dry-run", "--shrink"]),
            run(&["prune", "--older-than", "0s", "--dry-run"]),
            run(&["prune", "--older-than", "0s"]),
            run(&["prune", "--older-than", "0s", "--json"]),
            run(&["show", "idea-42"]),
            run(&["erase", "idea-42"]),
            run(&["erase", "nada", "--yes"]),
            run(&["erase", "idea-42", "--yes"]),
            run(&["erase", "idea-42", "--yes"]),
            run(&["show", "idea-42"]),
            run(&["erase", "idea-44", "--source", "web", "--yes", "--json"]),
            run(&["add", "e.jsonl"]),
        ]);
        insta::assert_snapshot!(format!("retention-{language}"), steady(&seen.join("\n")));
    }
}
