//! Lists of what happened, and following, with the real program on a real store.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use common::redact::redacted;
use common::{BOTH, PATIENCE, Place, check_exit, code, err, out, signal, until};
use nix::sys::signal::Signal;
use rusqlite::Connection;

const EVENTS: &str = r#"{"id":"idea-42","texto":"Comparar dos modelos en mi producto"}
{"id":"idea-42","texto":"Comparar dos modelos en mi producto"}
{"id":"idea-42","texto":"Comparar tres modelos en mi producto\nsin revisión"}
{"id":"idea 43 ","text":"two\nlines","type":"form, big","time":"2026-01-31T23:00:00+02:00","source":"form"}
{"id":"idea 43 ","text":"two\nother lines","source":"form"}
{"id":7,"texto":"un número"}
{"id":"a","texto":"   "}
no es JSON
"#;

/// Three attempts that went wrong and one that did not, of the first event.
const ATTEMPTS: &str = "
    INSERT INTO attempts (attempt, event, run, number, lease, worker, started_at, ended_at, outcome, exit_code, error_class, error)
    VALUES (1, 1, 1, 1, x'01', 'host:1', 1000000, 2500000, 'error', 1, 'http_500', 'the model said no'),
           (2, 1, 1, 2, x'02', 'host:1', 3000000, 4000000, 'crashed', NULL, NULL, NULL),
           (3, 1, 1, 3, x'03', 'host:2', 5000000, 6000000, 'timed_out', NULL, 'time_limit', 'more than 5 min'),
           (4, 1, 1, 4, x'04', 'host:2', 7000000, 9000000, 'done', 0, NULL, NULL);
    UPDATE jobs SET state = 'done', attempts = 4, changed_at = 9000000, resource_id = 'post-9' WHERE event = 1;
    INSERT INTO effects (effect, event, run, name, key, state, lookup, settle, otherwise, begun_at, changed_at)
    VALUES (1, 1, 1, 'publish', 'k1', 'done', 0, 0, 'hold', 8000000, 8500000);
    INSERT INTO effect_records (effect, number, try, at, witness, resource_id, charged_micros, day)
    VALUES (1, 1, 1, 8500000, 'sender', 'post-9', 0, 0);
    INSERT INTO effect_tries (effect, number, begin_id, attempt, begun_at, send_before, deadline, outcome)
    VALUES (1, 1, zeroblob(16), NULL, 8000000, 8100000, 8200000, 'done');
    UPDATE conflicts SET decision = 'keep', decided_at = 9000000, note = 'lo envió dos veces' WHERE event = 1;
    INSERT INTO revisions (event, number, fingerprint, accepted_at, conflict, text)
    VALUES (1, 2, zeroblob(32), 9500000, 2, 'Comparar cuatro modelos');";

fn place(language: &'static str) -> Place {
    let place = Place::new().file("eventos.jsonl", EVENTS).with("COLA_IA_LANG", language);
    check_exit(&place.run(&["add", "eventos.jsonl"]), 4);
    Connection::open(place.store()).unwrap().execute_batch(ATTEMPTS).unwrap();
    place
}

#[test]
fn lists_of_a_real_store() {
    for language in BOTH {
        let place = place(language);
        let shown = [
            place.shown(&["deliveries"]),
            place.shown(&["deliveries", "--json", "--limit", "2"]),
            place.shown(&["deliveries", "--verdict", "invalido", "--since", "1h"]),
            place.shown(&["deliveries", "--filter", "origen=form", "--type", "\"form, big\""]),
            place.shown(&["deliveries", "--source", "nadie"]),
            place.shown(&["conflicts"]),
            place.shown(&["conflicts", "--undecided", "--diff"]),
            place.shown(&["conflicts", "--diff", "--json"]),
            place.shown(&["conflicts", "--until", "2026-01-31"]),
            place.shown(&["errors"]),
            place.shown(&["errors", "--kind", "intento", "--filter", "reason=time_limit"]),
            place.shown(&["errors", "--kind", "intake", "--limit", "1", "--json"]),
            place.shown(&["errors", "--kind", "attempt", "--limit", "1", "--json"]),
            place.shown(&["errors", "--kind", "intake", "--since", "0s"]),
            place.shown(&["show", "idea-42"]),
            place.shown(&["jobs", "--filter", "state=done since=24h"]),
        ];
        insta::assert_snapshot!(format!("lists-{language}"), redacted(&shown.join("\n")));
    }
}

#[test]
fn a_filter_that_is_not_understood_is_explained() {
    for language in BOTH {
        let place = place(language);
        let mistakes: [&[&str]; 13] = [
            &["deliveries", "--filter", "estado=fallido"],
            &["deliveries", "--filter", "sourc=x"],
            &["deliveries", "--filter", "reason=id blank"],
            &["deliveries", "--filter", "reason=id_blnk"],
            &["deliveries", "--filter", "type=\"a"],
            &["deliveries", "--verdict", "nuevoo"],
            &["deliveries", "--since", "ayer"],
            &["deliveries", "--since", "1h", "--filter", "since=2h"],
            &["deliveries", "--source", "Web"],
            &["deliveries", "--after", "x"],
            &["conflicts", "--after", "7"],
            &["errors", "--after", "7"],
            &["errors", "--kind", "otro"],
        ];
        let shown: Vec<String> = mistakes.iter().map(|args| place.shown(args)).collect();
        assert!(shown.iter().all(|shown| shown.ends_with("exit: 2\n")), "{shown:#?}");
        insta::assert_snapshot!(format!("mistakes-{language}"), shown.join("\n"));
    }
}

/// Every line of a list, page by page, by the hint that each page gives.
fn walk(place: &Place, args: &[&str]) -> Vec<String> {
    let (mut lines, mut after) = (Vec::new(), None::<String>);
    for _ in 0..100 {
        let mut args = args.to_vec();
        args.extend(after.iter().flat_map(|after| ["--after", after.as_str()]));
        let page = place.run(&args);
        check_exit(&page, 0);
        lines.extend(out(&page).lines().map(str::to_owned));
        after = err(&page).split_once("--after ").map(|(_, place)| place.trim().to_owned());
        if after.is_none() {
            return lines;
        }
    }
    panic!("{args:?} has no end");
}

#[test]
fn pages_of_every_list_give_each_line_once() {
    let place = place("en");
    for list in ["jobs", "deliveries", "conflicts", "errors"] {
        let whole = walk(&place, &[list, "--json"]);
        assert_eq!(whole.iter().collect::<BTreeSet<_>>().len(), whole.len(), "{list}");
        for limit in ["1", "2", "5"] {
            assert_eq!(walk(&place, &[list, "--json", "--limit", limit]), whole, "{list} in pages of {limit}");
        }
    }
    assert_eq!(walk(&place, &["errors", "--json"]).len(), 6);
    assert_eq!(walk(&place, &["deliveries", "--json"]).len(), 8);
}

#[test]
fn what_was_refused_on_a_day_is_answered() {
    let place = place("en");
    let today = &cola_ia_core::clock::Clock::now(&cola_ia_core::clock::SystemClock).to_rfc3339()[..10];
    let found = place.run(&["errors", "--kind", "intake", "--json", "--since", "24h"]);
    assert_eq!(out(&found).lines().count(), 3);
    let found = place.run(&["errors", "--kind", "intake", "--json", "--until", "2020-01-01"]);
    assert_eq!(out(&found), "");
    let found = place.run(&["errors", "--kind", "intake", "--json", "--since", "2020-01-01", "--until", today]);
    // Unless midnight has just passed.
    assert!([0, 3].contains(&out(&found).lines().count()));
}

/// Controls, escapes, direction, what cannot be seen, and length.
const NASTY: [&str; 8] = [
    "\u{1b}[2J\u{1b}[31mred",
    "\u{1b}]0;title\u{7}",
    "user\u{202e}fdp.exe",
    "\u{9b}31m\u{85}\u{8}\u{8}",
    "a\rb\u{b}c\u{c}d\te",
    "\u{2066}x\u{2069}\u{200f}",
    "\u{2028}line\u{2029}",
    "\u{feff}tag\u{e0041}",
];

#[test]
fn no_text_disturbs_the_terminal() {
    let place = Place::new().with("COLA_IA_LANG", "en");
    let mut lines = String::new();
    let long = "palabra\u{1b}[2J ".repeat(90_000);
    for (at, nasty) in NASTY.iter().enumerate() {
        // An id and a type have no controls; all else they may have.
        let seen: String = nasty.chars().filter(|c| !c.is_ascii_control()).collect();
        let id = format!("id {at} {seen}");
        let mebibyte = format!("{nasty}\n{long}");
        for text in [mebibyte[..1 << 20].to_owned(), format!("{nasty} other"), "\n".repeat(1 << 19) + nasty] {
            let line = serde_json::json!({ "id": id, "texto": text, "tipo": seen });
            writeln!(lines, "{line}").unwrap();
        }
        writeln!(lines, "{{\"id\":\"x\",\"{nasty}\"").unwrap();
    }
    place.write("in\u{1b}[2J.jsonl", &lines);
    check_exit(&place.run(&["add", "in\u{1b}[2J.jsonl"]), 4);
    let store = Connection::open(place.store()).unwrap();
    store.execute_batch(ATTEMPTS).unwrap();
    for nasty in NASTY {
        let all = "UPDATE attempts SET worker = worker || ?1, error = ?1 || ?2, error_class = ?1, stderr = CAST(?1 || ?2 AS BLOB);";
        store.execute(all, [nasty, &long]).unwrap();
    }
    store.execute("UPDATE conflicts SET decision = 'keep', decided_at = 1, note = ?1", [NASTY.concat()]).unwrap();
    store.execute("UPDATE effects SET note = ?1", [NASTY.concat()]).unwrap();
    store.execute("UPDATE effect_records SET resource_id = ?1, result = ?1, model = ?1", [NASTY.concat()]).unwrap();
    store.execute("UPDATE jobs SET reason = ?1, resource_id = ?1", [NASTY.concat()]).unwrap();
    drop(store);
    let ids: Vec<String> = out(&place.run(&["jobs", "--json"]))
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), NASTY.len());
    let mut commands: Vec<Vec<&str>> =
        vec![vec!["jobs"], vec!["deliveries"], vec!["conflicts"], vec!["conflicts", "--diff"], vec!["errors"]];
    commands.push(vec!["effect", "list"]);
    commands.extend(ids.iter().map(|id| vec!["show", id]));
    for args in commands {
        let start = Instant::now();
        let shown = place.run(&args);
        check_exit(&shown, 0);
        check_harmless(&out(&shown), &args);
        check_harmless(&err(&shown), &args);
        assert!(start.elapsed() < Duration::from_secs(30), "{args:?} took {:?}", start.elapsed());
    }
    let mut tail = Tail::start(&place, &["-n", "1000"]);
    for _ in 0..4 * NASTY.len() {
        check_harmless(&tail.next(), &["tail"]);
    }
}

#[track_caller]
fn check_harmless(shown: &str, args: &[&str]) {
    let harmful = |c: char| {
        c != '\n' && c.is_control()
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    // A text's own tabs stay: they move within the line.
    let found: BTreeSet<char> = shown.chars().filter(|c| *c != '\t' && harmful(*c)).collect();
    assert!(found.is_empty(), "{args:?} prints {found:?}");
    assert!(shown.len() < 300_000, "{args:?} prints {} bytes", shown.len());
    let longest = shown.lines().map(str::len).max().unwrap_or_default();
    assert!(longest < 12_000, "{args:?} prints a line of {longest} bytes");
}

/// `tail` with its lines as they come.
struct Tail {
    child: Child,
    lines: Receiver<String>,
}

impl Tail {
    fn start(place: &Place, args: &[&str]) -> Self {
        let mut whole = vec!["tail"];
        whole.extend(args);
        let mut child = place.start(&whole);
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        Self { child, lines }
    }

    #[track_caller]
    fn next(&mut self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap()
    }

    /// Interrupts it and gives what it said on stderr.
    fn interrupt(mut self) -> String {
        signal(&self.child, Signal::SIGINT);
        let mut said = String::new();
        std::io::Read::read_to_string(&mut self.child.stderr.take().unwrap(), &mut said).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(130), "{said}");
        said
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        // Where the test failed before its end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn add(place: &Place, id: &str) {
    check_exit(&place.run_with(&["add", "-"], format!("{{\"id\":\"{id}\",\"texto\":\"x\"}}\n").as_bytes()), 0);
}

#[test]
fn tail_prints_what_arrives_as_it_arrives() {
    let place = Place::new().with("COLA_IA_LANG", "en");
    add(&place, "before");
    let mut tail = Tail::start(&place, &[]);
    assert!(tail.next().ends_with("new        default  before"));
    for id in ["one", "two", "two", "three"] {
        add(&place, id);
        assert!(tail.next().ends_with(id));
    }
    assert_eq!(tail.interrupt(), "");
}

#[test]
fn tail_follows_a_filter_as_json() {
    let place = Place::new();
    add(&place, "before");
    let mut tail = Tail::start(&place, &["-n", "0", "--json", "--verdict", "repetido"]);
    // It has begun once it has read the store; an event before that would not be missed, and neither one after it.
    std::thread::sleep(Duration::from_millis(700));
    for id in ["one", "one", "two", "two"] {
        add(&place, id);
    }
    for id in ["one", "two"] {
        let line: serde_json::Value = serde_json::from_str(&tail.next()).unwrap();
        assert_eq!((line["id"].as_str(), line["verdict"].as_str()), (Some(id), Some("duplicate")));
    }
}

#[test]
fn tail_waits_for_a_store_and_goes_on_with_one_that_replaces_it() {
    let place = Place::new().with("COLA_IA_LANG", "en");
    let mut tail = Tail::start(&place, &[]);
    add(&place, "first");
    assert!(tail.next().ends_with("first"));
    // A copy from before, as a restore puts it in place.
    let copy = place.path("copy");
    Connection::open(place.store()).unwrap().execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    Connection::open(&copy).unwrap().pragma_update(None, "journal_mode", "WAL").unwrap();
    add(&place, "lost");
    assert!(tail.next().ends_with("lost"));
    std::fs::rename(&copy, place.store()).unwrap();
    std::thread::sleep(Duration::from_millis(700));
    add(&place, "second");
    assert!(tail.next().ends_with("second"));
    let said = tail.interrupt();
    assert!(said.contains("waiting: there is no store") && said.contains("can be read again"), "{said}");
    assert!(said.contains("replaced by an older one"), "{said}");
}

#[test]
fn tail_leaves_the_store_to_whoever_wants_it_alone() {
    let place = Place::new().with("COLA_IA_LANG", "en");
    add(&place, "first");
    let mut tail = Tail::start(&place, &[]);
    assert!(tail.next().ends_with("first"));
    let owner = Connection::open(place.store()).unwrap();
    owner.pragma_update(None, "locking_mode", "EXCLUSIVE").unwrap();
    until("the store to be free", || {
        owner.execute_batch("BEGIN EXCLUSIVE; UPDATE store SET created_by = 'x'; COMMIT;").ok()
    });
    // Longer than it reads again by itself.
    std::thread::sleep(Duration::from_secs(7));
    drop(owner);
    add(&place, "second");
    assert!(tail.next().ends_with("second"));
    let said = tail.interrupt();
    assert!(said.contains("waiting: ") && said.contains("can be read again"), "{said}");
}

#[test]
fn tail_ends_when_nobody_reads_it() {
    let place = Place::new();
    add(&place, "first");
    let mut child = place.start(&["tail"]);
    let mut stdout: BufReader<ChildStdout> = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    // Nothing more arrives: it must notice all the same.
    drop(stdout);
    let status = until("tail to end", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
    assert_eq!(code(&child.wait_with_output().unwrap()), 0);
}

#[test]
fn a_tail_that_nobody_reads_holds_no_log_back() {
    let place = Place::new().with("COLA_IA_LANG", "en");
    add(&place, "first");
    // Its pipe is full after some hundreds of lines, and it waits with the rest.
    let mut stuck = place.start(&["tail", "--json"]);
    let mut stdout = BufReader::new(stuck.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    place.write("many.jsonl", common::input::numbered("e", 20_000));
    check_exit(&place.run(&["add", "many.jsonl", "--quiet"]), 0);
    std::thread::sleep(Duration::from_secs(1));
    assert!(stuck.try_wait().unwrap().is_none());
    let store = Connection::open(place.store()).unwrap();
    store.execute("UPDATE jobs SET reason = 'x'", []).unwrap();
    let busy: i64 = store.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
    assert_eq!(busy, 0, "somebody reads");
    assert_eq!(std::fs::metadata(place.path("cola_ia.sqlite3-wal")).unwrap().len(), 0);
    // Whoever reads on gets all of it, each once.
    let mut seen = 1;
    let mut line = String::new();
    while seen < 20_001 {
        line.clear();
        assert!(stdout.read_line(&mut line).unwrap() > 0);
        seen += 1;
    }
    assert!(line.contains("e-19999") || line.contains("19999"), "{line}");
    // Stuck again, it is stopped all the same.
    place.write("more.jsonl", common::input::numbered("f", 20_000));
    check_exit(&place.run(&["add", "more.jsonl", "--quiet"]), 0);
    std::thread::sleep(Duration::from_secs(1));
    signal(&stuck, Signal::SIGTERM);
    assert_eq!(until("tail to end", || stuck.try_wait().unwrap()).code(), Some(130));
}

/// Ticks of processor time, user and system.
fn ticks(child: &Child) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn tail_costs_next_to_nothing_while_nothing_arrives() {
    let place = Place::new();
    add(&place, "first");
    let mut tail = Tail::start(&place, &[]);
    tail.next();
    let before = ticks(&tail.child);
    std::thread::sleep(Duration::from_secs(10));
    // A tick is 10 ms: less than 1 % of a core.
    let used = ticks(&tail.child) - before;
    assert!(used < 10, "{used} ticks in 10 s");
}
