//! Workers that are shell scripts, and what people order of jobs, with the real program.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use common::redact::redacted;
use common::{BOTH, PROGRAM, Place, check_exit, err, out, read_until, signal, until};
use nix::sys::signal::Signal;
use rusqlite::Connection;
use serde_json::Value;

/// In English, and what is tried again is due at once.
fn place() -> Place {
    Place::new().with("COLA_IA_LANG", "en").with("COLA_IA_RETRY_FIRST", "0s")
}

fn add(place: &Place, ids: &[&str]) {
    let lines: String = ids.iter().fold(String::new(), |mut lines, id| {
        writeln!(lines, "{}", serde_json::json!({ "id": id, "texto": format!("text of {id}") })).unwrap();
        lines
    });
    check_exit(&place.run_with(&["add", "-"], lines.as_bytes()), 0);
}

/// Leases the next job.
#[track_caller]
fn claim(place: &Place, args: &[&str]) -> String {
    let claimed = place.run(&[&["claim"], args].concat());
    check_exit(&claimed, 0);
    out(&claimed).split(' ').next().unwrap().to_owned()
}

#[track_caller]
fn ok(place: &Place, args: &[&str]) -> String {
    let done = place.run(args);
    check_exit(&done, 0);
    out(&done)
}

fn json(output: &str) -> Vec<Value> {
    output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// State, attempts, crashes, run and holder's lease of each job, by id.
fn jobs(place: &Place) -> BTreeMap<String, String> {
    rows(
        place,
        "SELECT e.id, j.state, j.attempts, j.crashes, j.run, iif(j.lease IS NULL, '-', hex(j.lease)),
         iif(j.reason = '', '-', j.reason),
         coalesce(j.resource_id, '-'), coalesce(j.result, '-') FROM jobs j JOIN events e ON e.seq = j.event",
    )
}

/// How each attempt stands but for what it said late, by its number in the store.
fn attempts(place: &Place) -> BTreeMap<String, String> {
    rows(
        place,
        "SELECT attempt, event, run, number, hex(lease), worker, started_at, coalesce(ended_at, '-'),
         coalesce(outcome, '-'), coalesce(error, '-'), coalesce(cost_micros, '-'),
         coalesce((SELECT lease_until FROM jobs WHERE jobs.event = attempts.event), '-') FROM attempts",
    )
}

fn rows(place: &Place, sql: &str) -> BTreeMap<String, String> {
    let store = Connection::open(place.store()).unwrap();
    let mut select = store.prepare(sql).unwrap();
    let columns = select.column_count();
    let text = |row: &rusqlite::Row<'_>, column| match row.get_ref(column).unwrap() {
        rusqlite::types::ValueRef::Integer(number) => number.to_string(),
        other => other.as_str().unwrap().to_owned(),
    };
    let read = |row: &rusqlite::Row<'_>| {
        let rest: Vec<String> = (1..columns).map(|column| text(row, column)).collect();
        Ok((text(row, 0), rest.join(" ")))
    };
    select.query_map([], read).unwrap().map(Result::unwrap).collect()
}

fn late(place: &Place, lease: &str) -> Option<String> {
    let sql = "SELECT late FROM attempts WHERE hex(lease) = upper(?1)";
    Connection::open(place.store()).unwrap().query_row(sql, [lease], |row| row.get(0)).unwrap()
}

/// The lease of a worker that is lost by now: it was short, it has run out, and its job waits again.
fn lost_lease(place: &Place) -> String {
    let lease = claim(place, &["--lease", "1s", "--worker", "one"]);
    until("the lease to run out", || {
        let recovered = ok(place, &["recover"]);
        (!recovered.is_empty()).then_some(())
    });
    lease
}

/// A worker in Bash, with nothing but the program.
const BASH_WORKER: &str = r#"#!/bin/bash
while read -r lease id < <(cola-ia claim --text text.txt); do
  if model < text.txt > answer.txt 2> said.txt; then
    cola-ia complete "$lease" --result-text answer.txt --resource-id "post-$id"
  else
    cola-ia fail "$lease" --class "exit_$?" --stderr said.txt
  fi
done
"#;

/// Answers with its input; refuses what has a 3 in it.
const MODEL: &str = "#!/bin/bash\ntext=$(cat; echo .)\ncase $text in *3*) echo \"trying\" >&2; head -c 3000000 /dev/zero | tr '\\0' x >&2; printf '\\nno %s\\n\\n' $RANDOM >&2; exit 9;; esac\nprintf 'answer to %s' \"${text%.}\"\n";

fn script(place: &Place, name: &str, text: &str) {
    place.write(name, text);
    std::fs::set_permissions(place.path(name), std::fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_shell_script_alone_is_a_worker() {
    let place = place();
    let ids: Vec<String> = (1..=20).map(|number| format!("idea-{number}")).collect();
    add(&place, &ids.iter().map(String::as_str).collect::<Vec<_>>());
    script(&place, "worker.sh", BASH_WORKER);
    script(&place, "model", MODEL);
    let bin = std::path::Path::new(PROGRAM).parent().unwrap();
    // Several at once, each in a folder of its own.
    let workers: Vec<Child> = ["one", "two", "three"]
        .map(|name| {
            std::fs::create_dir(place.path(name)).unwrap();
            let mut worker = place.tool("/bin/bash");
            worker
                .arg("../worker.sh")
                .current_dir(place.path(name))
                .env("PATH", format!("{}:{}:/usr/bin:/bin", bin.display(), place.folder.path().display()))
                .env("COLA_IA_DB", place.store())
                .env("COLA_IA_MAX_ATTEMPTS", "2")
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            worker.spawn().unwrap()
        })
        .into();
    for worker in workers {
        let ended = worker.wait_with_output().unwrap();
        check_exit(&ended, 0);
        assert!(err(&ended).ends_with("there is nothing to claim\n"), "{}", err(&ended));
    }
    for (id, job) in jobs(&place) {
        let number = id.trim_start_matches("idea-");
        if number.contains('3') {
            assert_eq!(job, "failed 2 0 1 - attempts_exhausted - -", "{id}");
        } else {
            assert_eq!(job, format!("done 1 0 1 - - post-{id} \"answer to text of {id}\""), "{id}");
        }
    }
    let shown = ok(&place, &["show", "idea-13"]);
    assert!(shown.contains("[exit_9] no ") && shown.contains("│ no "), "{shown}");
    let grouped = json(&ok(&place, &["errors", "--group", "--json"]));
    assert_eq!(grouped.len(), 1, "{grouped:?}");
    assert_eq!((&grouped[0]["count"], &grouped[0]["shape"]), (&4.into(), &"no #".into()));
    assert_eq!(std::fs::metadata(place.path("one/text.txt")).unwrap().permissions().mode() & 0o777, 0o600);
}

/// What the holder of a lease can say.
fn verbs(lease: &str) -> [Vec<&str>; 5] {
    [
        vec!["extend", lease],
        vec!["complete", lease, "--resource-id", "stale"],
        vec!["fail", lease, "--error", "stale"],
        vec!["release", lease],
        vec!["release", lease, "--retry-after", "1"],
    ]
}

#[track_caller]
fn check_lost(place: &Place, lease: &str, superseded_by: Option<u32>) {
    let before = (jobs(place), attempts(place));
    for args in verbs(lease) {
        let said = place.run(&args);
        check_exit(&said, 7);
        assert_eq!(out(&said), "", "{args:?}");
        match superseded_by {
            Some(newest) => assert!(err(&said).contains(&format!("attempt {newest} of its job")), "{}", err(&said)),
            None => assert!(err(&said).contains("the lease is lost: its job was taken away"), "{}", err(&said)),
        }
        let told = place.run(&[args.as_slice(), &["--json"]].concat());
        check_exit(&told, 7);
        let [line] = json(&out(&told)).try_into().unwrap();
        assert_eq!((&line["result"], &line["verb"]), (&"lease_lost".into(), &args[0].into()));
        assert_eq!(line["superseded_by"], superseded_by.map_or(Value::Null, Value::from));
        assert_eq!((&line["state"], &line["lease_until"]), (&Value::Null, &Value::Null));
        assert_eq!((jobs(place), attempts(place)), before, "{args:?} changed something");
    }
    assert_eq!(late(place, lease).as_deref(), Some("complete"), "the first word counts, and any more than a heartbeat");
}

#[test]
fn a_stale_lease_changes_nothing_whoever_holds_the_next_one() {
    let place = place();
    add(&place, &["idea-42"]);
    let stale = lost_lease(&place);
    check_lost(&place, &stale, None);
    // The same worker takes it again.
    let newer = claim(&place, &["--worker", "one"]);
    check_lost(&place, &stale, Some(2));
    check_exit(&place.run(&["complete", &newer, "--resource-id", "post-9"]), 0);
    check_lost(&place, &stale, Some(2));
    assert_eq!(jobs(&place)["idea-42"], "done 2 1 1 - - post-9 -");
    let shown = ok(&place, &["show", "idea-42"]);
    assert!(shown.contains("attempt 1 answered late (“complete”), superseded by 2"), "{shown}");
    // Who said something else before, has ended; the same again is the same answer.
    check_exit(&place.run(&["complete", &newer]), 0);
    check_exit(&place.run(&["fail", &newer]), 7);
    assert_eq!(jobs(&place)["idea-42"], "done 2 1 1 - - post-9 -");
}

#[test]
fn what_a_lost_attempt_cost_is_counted_once() {
    let place = place();
    add(&place, &["idea-42"]);
    let stale = lost_lease(&place);
    for _ in 0..2 {
        check_exit(&place.run(&["complete", &stale, "--cost", "0.25"]), 7);
        let costs = ok(&place, &["costs", "--json"]);
        let total = json(&costs).into_iter().find(|line| line["by"].is_null() || line["name"].is_null()).unwrap();
        assert_eq!(total["spent_micros"], 250_000, "{costs}");
    }
}

#[test]
fn a_lease_is_lost_by_a_persons_word_too() {
    let place = place();
    add(&place, &["idea-42"]);
    let lease = claim(&place, &[]);
    assert_eq!(ok(&place, &["cancel", "idea-42"]), "idea-42 cancelled\n");
    check_lost(&place, &lease, None);
    assert_eq!(ok(&place, &["retry", "idea-42"]), "idea-42 pending\n");
    check_lost(&place, &lease, None);
    let unknown = "0".repeat(36);
    for args in verbs(&unknown) {
        check_exit(&place.run(&args), 7);
    }
}

#[test]
fn several_leases_are_extended_each_for_itself() {
    let place = place();
    add(&place, &["a", "b"]);
    let stale = lost_lease(&place);
    let held = claim(&place, &["--lease", "2s"]);
    let extended = place.run(&["extend", &held, &stale, "--lease", "1h", "--json"]);
    check_exit(&extended, 7);
    assert!(err(&extended).contains(&stale) && !err(&extended).contains(&held), "{}", err(&extended));
    let lines = json(&out(&extended));
    assert_eq!((&lines[0]["result"], &lines[1]["result"]), (&"ok".into(), &"lease_lost".into()));
    assert!(lines[0]["lease_until"].is_string());
    // Never shortened.
    let again = json(&ok(&place, &["extend", &held, "--lease", "1s", "--json"]));
    assert_eq!(again[0]["lease_until"], lines[0]["lease_until"]);
}

#[test]
fn the_environment_carries_the_lease() {
    let place = place();
    add(&place, &["a"]);
    let lease = claim(&place, &[]);
    let run = |args: &[&str]| place.command(args).env("COLA_IA_LEASE", &lease).output().unwrap();
    check_exit(&run(&["extend"]), 0);
    check_exit(&run(&["complete"]), 0);
    assert!(jobs(&place)["a"].starts_with("done"));
    check_exit(&place.run(&["complete"]), 2);
    check_exit(&place.command(&["complete"]).env("COLA_IA_LEASE", "x").output().unwrap(), 2);
}

#[test]
fn what_a_worker_says_is_kept() {
    let place = place();
    add(&place, &["a", "b", "c"]);
    let [a, b, c] = [(); 3].map(|()| claim(&place, &[]));
    let said =
        br#"{"cost": 0.0000015, "tokens_in": 7, "model": "m-1", "title": "Dos", "n": 1e400, "resource_id": "r-1"}"#;
    let complete = ["complete", a.as_str(), "--result", "-", "--tokens-out", "0", "--model", "m-2"];
    check_exit(&place.run_with(&complete, said), 0);
    assert_eq!(jobs(&place)["a"], r#"done 1 0 1 - - r-1 {"title":"Dos","n":1e400}"#);
    let fail = ["fail", b.as_str(), "--class", "http_500", "--error", "no\nlines", "--cost", "1.5", "--permanent"];
    check_exit(&place.run(&fail), 0);
    assert_eq!(jobs(&place)["b"], "failed 1 0 1 - permanent - -");
    let used = rows(
        &place,
        "SELECT event, coalesce(cost_micros, '-'), coalesce(tokens_in, '-'), coalesce(tokens_out, '-'),
         coalesce(model, '-'), coalesce(error_class, '-'), coalesce(error, '-') FROM attempts",
    );
    assert_eq!((used["1"].as_str(), used["2"].as_str()), ("2 7 0 m-2 - -", "1500000 - - - http_500 no\nlines"));
    // What cannot be kept changes nothing.
    place.write("long.txt", "\u{1}".repeat(20_000));
    place.write("latin.txt", b"\xe9");
    for (args, exit) in [
        (vec!["--result", "long.txt"], 2),
        (vec!["--result-text", "long.txt"], 2),
        (vec!["--result-text", "latin.txt"], 2),
        (vec!["--result", "missing.json"], 1),
        (vec!["--result", "-", "--result-text", "-"], 2),
        (vec!["--cost", "-1"], 2),
        (vec!["--tokens-in", "x"], 2),
    ] {
        check_exit(&place.run(&[&["complete", c.as_str()], args.as_slice()].concat()), exit);
        assert!(jobs(&place)["c"].starts_with("running"), "{args:?}");
    }
}

#[test]
fn given_back_it_costs_no_attempt_and_is_not_due_before() {
    let place = place();
    add(&place, &["a"]);
    let lease = claim(&place, &[]);
    check_exit(&place.run(&["release", &lease]), 0);
    assert_eq!(jobs(&place)["a"], "pending 0 0 1 - - - -");
    let lease = claim(&place, &[]);
    let released = json(&ok(&place, &["release", &lease, "--retry-after", "3600", "--json"]));
    assert_eq!(released[0]["state"], "pending");
    assert_eq!(jobs(&place)["a"], "pending 0 0 1 - - - -");
    let nothing = place.run(&["claim"]);
    check_exit(&nothing, 8);
    assert_eq!(out(&nothing), "");
    let due = released[0]["due_at"].as_str().unwrap();
    assert!(err(&nothing).contains(&format!("the next job is due {due}, in 59 min")), "{}", err(&nothing));
    ok(&place, &["retry", "a"]);
    let lease = claim(&place, &[]);
    let far = place.run(&["fail", &lease, "--retry-after", "Fri, 31 Dec 2100 23:59:59 GMT"]);
    check_exit(&far, 0);
    assert!(err(&far).contains("2100-12-31T23:59:59"), "{}", err(&far));
    check_exit(&place.run(&["fail", &lease, "--retry-after", "soon"]), 2);
    check_exit(&place.run(&["fail", &lease, "--retry-after", "-1"]), 2);
    check_exit(&place.run(&["fail", &lease, "--retry-after", "1", "--permanent"]), 2);
}

#[test]
fn a_claim_has_all_that_a_worker_needs() {
    let place = place();
    let event = r#"{"id":"id \"1\"","texto":"two\nlines ","type":"form","time":"2026-01-31T21:00:00Z","source":"web"}"#;
    check_exit(&place.run_with(&["add", "-"], format!("{event}\n").as_bytes()), 0);
    add(&place, &["x"]);
    check_exit(&place.run(&["claim", "--source", "nadie"]), 8);
    let [leased] =
        json(&ok(&place, &["claim", "--source", "web", "--limit", "9", "--json", "--lease", "2m"])).try_into().unwrap();
    for (field, value) in [
        ("v", 1.into()),
        ("attempt", 1.into()),
        ("event", 1.into()),
        ("run", 1.into()),
        ("source", "web".into()),
        ("id", "id \"1\"".into()),
        ("type", "form".into()),
        ("time", "2026-01-31T21:00:00.000000Z".into()),
        ("text", "two\nlines ".into()),
        ("effects", Value::Array(Vec::new())),
    ] {
        assert_eq!(leased[field], value, "{field}");
    }
    assert!(leased["lease"].as_str().unwrap().len() == 36 && leased["lease_until"].is_string());
    check_exit(&place.run(&["release", leased["lease"].as_str().unwrap()]), 0);
    let line = ok(&place, &["claim", "--source", "web", "--text", "t"]);
    assert!(line.ends_with(" \"id \\\"1\\\"\"\n") && line.lines().count() == 1, "{line}");
    assert_eq!(place.read("t"), b"two\nlines ");
    let worker = rows(&place, "SELECT attempt, worker FROM attempts")["2"].clone();
    assert!(worker.ends_with(&format!(":{}", std::process::id())), "{worker}: whoever called is the worker");
}

#[test]
fn a_job_that_cannot_be_handed_over_is_given_back() {
    let place = place();
    add(&place, &["a", "b"]);
    let refused = place.run(&["claim", "--text", "no/such/folder/t"]);
    check_exit(&refused, 1);
    assert!(err(&refused).contains("the job was given back"), "{}", err(&refused));
    assert_eq!(jobs(&place)["a"], "pending 0 0 1 - - - -");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let refused = place.command(&["claim", "--limit", "2"]).stdout(full).output().unwrap();
    check_exit(&refused, 1);
    let mut gone = place.command(&["claim"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(gone.stdout.take());
    gone.wait().unwrap();
    for (id, job) in jobs(&place) {
        assert_eq!(job, "pending 0 0 1 - - - -", "{id}");
    }
}

fn waiting(place: &Place) -> Child {
    place.start(&["claim", "--wait", "1m"])
}

#[test]
fn a_claim_waits_for_a_job() {
    let place = place();
    add(&place, &["a"]);
    let first = claim(&place, &[]);
    let start = Instant::now();
    check_exit(&place.run(&["claim", "--wait", "1s"]), 8);
    assert!(start.elapsed() >= Duration::from_secs(1));
    let mut waits = waiting(&place);
    check_exit(&place.run(&["complete", &first]), 0);
    add(&place, &["b"]);
    let line = read_until(waits.stdout.as_mut().unwrap(), "\n");
    assert!(line.ends_with(" b\n"), "{line}");
    assert_eq!(waits.wait().unwrap().code(), Some(0));
    // A worker that is lost while it waits gives its job to the one that waits.
    check_exit(&place.run(&["complete", line.split(' ').next().unwrap()]), 0);
    add(&place, &["c"]);
    claim(&place, &["--lease", "1s"]);
    let taken = place.run(&["claim", "--wait", "1m"]);
    check_exit(&taken, 0);
    assert!(err(&taken).contains("one job whose worker was lost is taken up again"), "{}", err(&taken));
    assert!(jobs(&place)["c"].starts_with("running 2 1 1"));
}

#[test]
fn a_claim_that_is_interrupted_while_it_waits_holds_nothing() {
    let place = place();
    add(&place, &["a"]);
    let lease = claim(&place, &["--lease", "1h"]);
    let waits = waiting(&place);
    // Signals are dealt with before the store is opened: once it is open, it waits.
    until("the store to be open", || {
        let open = std::fs::read_dir(format!("/proc/{}/fd", waits.id())).unwrap();
        let names: Vec<_> = open.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok()).collect();
        names.iter().any(|name| name.ends_with(common::STORE)).then_some(())
    });
    signal(&waits, Signal::SIGTERM);
    check_exit(&waits.wait_with_output().unwrap(), 130);
    check_exit(&place.run(&["release", &lease]), 0);
    assert_eq!(jobs(&place)["a"], "pending 0 0 1 - - - -");
}

#[test]
fn lost_workers_are_recovered_and_counted_apart() {
    let place = place().with("COLA_IA_MAX_CRASHES", "2");
    add(&place, &["a", "b"]);
    assert!(err(&place.run(&["recover"])).contains("no lease has run out"));
    let held = claim(&place, &["--lease", "1h"]);
    let lease = claim(&place, &["--lease", "1s"]);
    let would = until("the lease to run out", || {
        let would = ok(&place, &["recover", "--dry-run", "--json"]);
        (!would.is_empty()).then_some(would)
    });
    let listed = place.run(&["jobs", "--json"]);
    let told: Vec<bool> = json(&out(&listed)).iter().map(|job| job["expired"].as_bool().unwrap()).collect();
    assert_eq!(told, [true, false], "{}", out(&listed));
    assert!(err(&listed).contains("one of the running jobs has lost its worker"), "{}", err(&listed));
    assert!(ok(&place, &["show", "b", "--json"]).contains("\"expired\":true"));
    let [line] = json(&would).try_into().unwrap();
    assert_eq!((&line["order"], &line["dry_run"], &line["id"]), (&"recover".into(), &true.into(), &"b".into()));
    assert_eq!((&line["state"], &line["refused"]), (&"pending".into(), &Value::Null));
    assert!(jobs(&place)["b"].starts_with(&format!("running 1 0 1 {}", lease.to_uppercase())), "nothing changed");
    // Until somebody ends it, its holder may still report.
    check_exit(&place.run(&["extend", &lease, "--lease", "1s"]), 0);
    until("the lease to run out", || (ok(&place, &["recover"]) == "b pending\n").then_some(()));
    assert_eq!(jobs(&place)["b"], "pending 1 1 1 - - - -");
    claim(&place, &["--lease", "1s"]);
    let recovered = until("the lease to run out", || {
        let recovered = place.run(&["recover"]);
        (!out(&recovered).is_empty()).then_some(recovered)
    });
    assert_eq!(out(&recovered), "b failed\n");
    assert!(err(&recovered).contains("it has cost too many of its workers"), "{}", err(&recovered));
    assert_eq!(jobs(&place)["b"], "failed 2 2 1 - crashes_exhausted - -");
    check_exit(&place.run(&["complete", &held]), 0);
}

/// Whatever a program said last: the failure is recorded.
#[test]
fn any_last_words_are_recorded() {
    let place = place();
    add(&place, &["a"]);
    let long = vec![b'x'; 100_000];
    let words: [&[u8]; 6] = [b"--- end of it", b"-1", b"--json", b"", b"caf\xe9", &long];
    for words in words {
        let lease = claim(&place, &[]);
        let mut fail = place.command(&["fail", &lease, "--max-attempts", "1000", "--error"]);
        check_exit(&fail.arg(std::ffi::OsStr::from_bytes(words)).output().unwrap(), 0);
        assert!(jobs(&place)["a"].starts_with("pending"));
    }
    let said = rows(&place, "SELECT attempt, error FROM attempts");
    let said: Vec<&str> = said.values().map(String::as_str).collect();
    assert_eq!(said[..5], ["--- end of it", "-1", "--json", "", "caf\u{fffd}"]);
    assert_eq!(said[5].len(), 4_096);
}

/// A store with a job in each state, by the state's name.
fn every_state(language: &'static str) -> Place {
    let place = Place::new().with("COLA_IA_LANG", language).with("COLA_IA_RETRY_FIRST", "0s");
    add(&place, &["done", "failed", "running", "held", "cancelled", "pending", "pruned", "open"]);
    let leases: Vec<String> = (0..8).map(|_| claim(&place, &["--lease", "1h"])).collect();
    check_exit(&place.run(&["complete", &leases[0]]), 0);
    check_exit(&place.run(&["fail", &leases[1], "--permanent"]), 0);
    check_exit(&place.run(&["cancel", "cancelled"]), 0);
    check_exit(&place.run(&["release", &leases[5]]), 0);
    check_exit(&place.run(&["complete", &leases[6]]), 0);
    check_exit(&place.run(&["complete", &leases[7]]), 0);
    let rest = "
        UPDATE jobs SET state = 'held', reason = 'effect_unknown', lease = NULL, lease_until = NULL, worker = NULL
        WHERE event = (SELECT seq FROM events WHERE id = 'held');
        UPDATE events SET text = NULL WHERE id = 'pruned';
        INSERT INTO effects (effect, event, run, name, key, state, lookup, settle, otherwise, begun_at, changed_at)
        SELECT 1, seq, 1, 'publish', 'k1', 'unknown', 0, 0, 'hold', 1, 1 FROM events WHERE id = 'open';";
    Connection::open(place.store()).unwrap().execute_batch(rest).unwrap();
    place
}

#[test]
fn every_order_from_every_state_in_both_languages() {
    for language in BOTH {
        let mut shown = String::new();
        let states = ["pending", "running", "done", "failed", "held", "cancelled", "pruned", "open", "nobody"];
        for order in ["cancel", "retry", "replay"] {
            let place = every_state(language);
            for state in states {
                shown.push_str(&place.shown(&[order, state]));
            }
        }
        let place = every_state(language);
        for args in [
            &["replay", "pruned", "--json"][..],
            &["cancel", "done", "--json"],
            &["retry", "failed", "--dry-run"],
            &["retry", "done", "--dry-run"],
            &["retry", "--filter", "state=done,running,failed"],
            &["retry", "--filter", "source=nadie"],
            &["recover"],
            &["retry"],
            &["retry", "--filter", " "],
            &["retry", "failed", "--state", "failed"],
            &["claim", "--limit", "2", "--text", "t"],
            &["complete", "xyz"],
            &["extend"],
            &["fail", "--class", "a b"],
            &["release", "--retry-after", "-1"],
            &["claim", "--lease", "0s"],
            &["errors", "--group", "--after", "1,2"],
        ] {
            shown.push_str(&place.shown(args));
        }
        insta::assert_snapshot!(format!("orders-{language}"), redacted(&shown));
    }
}

#[test]
fn a_whole_filter_is_retried_and_can_be_repeated() {
    let place = Place::new().with("COLA_IA_LANG", "en");
    // More than a page.
    place.write("many.jsonl", common::input::numbered("e", 2_500));
    check_exit(&place.run(&["add", "many.jsonl", "--quiet"]), 0);
    let fail = "UPDATE jobs SET state = 'failed', reason = CASE event % 2 WHEN 0 THEN 'permanent' ELSE 'attempts_exhausted' END,
                attempts = 5, due_at = NULL WHERE event <> (SELECT max(event) FROM jobs)";
    Connection::open(place.store()).unwrap().execute(fail, []).unwrap();
    let before = (jobs(&place), place.read(common::STORE).len());
    let would = place.run(&["retry", "--filter", "reason=permanent", "--dry-run", "--json"]);
    check_exit(&would, 0);
    let half = json(&out(&would)).len();
    assert!((1_249..=1_250).contains(&half), "{half}");
    assert_eq!((jobs(&place), place.read(common::STORE).len()), before);
    let retried = place.run(&["retry", "--filter", "reason=permanent"]);
    check_exit(&retried, 0);
    assert_eq!(out(&retried).lines().filter(|line| line.ends_with(" pending")).count(), half);
    assert!(err(&retried).contains(&format!("retried {half} jobs")), "{}", err(&retried));
    let count = |what: &str| jobs(&place).values().filter(|job| job.starts_with(what)).count();
    assert_eq!((count("pending 0 0 1"), count("failed 5 0 1")), (half + 1, 2_499 - half));
    let again = place.run(&["retry", "--filter", "reason=permanent"]);
    check_exit(&again, 0);
    assert_eq!((out(&again).as_str(), err(&again).as_str()), ("", "there is no such job\n"));
    // Without a state the failed ones are meant: what waits keeps its time.
    check_exit(&place.run(&["retry", "--source", "default"]), 0);
    assert_eq!(count("pending 0 0 1"), 2_500);
}

#[test]
fn errors_that_differ_in_numbers_and_ids_are_counted_together() {
    let place = place().with("COLA_IA_MAX_ATTEMPTS", "1");
    let ids = ["ana@example.org", "idea-7", "7f3a9c", "x y", "seventeen"];
    add(&place, &ids);
    for (number, id) in ids.iter().enumerate() {
        let lease = claim(&place, &[]);
        let error = format!("no entry {id} after {}.{number} s (req_{number}a{number}b)", number * 17);
        check_exit(&place.run(&["fail", &lease, "--class", "http_404", "--error", &error]), 0);
    }
    add(&place, &["other", "third"]);
    for class in ["http_500", "http_404"] {
        let lease = claim(&place, &[]);
        check_exit(&place.run(&["fail", &lease, "--class", class, "--error", "the model said no"]), 0);
    }
    check_exit(&place.run_with(&["add", "-"], b"{\"id\":7,\"texto\":\"x\"}\n{\"id\":8,\"texto\":\"x\"}\n"), 4);
    let groups = json(&ok(&place, &["errors", "--group", "--json"]));
    let counted: Vec<_> = groups
        .iter()
        .map(|group| (group["count"].as_u64().unwrap(), group["class"].as_str().unwrap(), group["shape"].as_str()))
        .collect();
    assert_eq!(counted[0], (5, "http_404", Some("no entry # after # s (#)")));
    assert_eq!(counted[1], (2, "id_number", None));
    assert_eq!(counted.len(), 4);
    let first = &groups[0];
    assert_eq!((&first["example"]["id"], &first["example"]["attempt"]), (&"seventeen".into(), &1.into()));
    assert!(first["first_at"].as_str() < first["last_at"].as_str());
    assert_eq!(first["fingerprint"].as_str().unwrap().len(), 16);
    let attempts =
        json(&ok(&place, &["errors", "--group", "--json", "--kind", "attempt", "--filter", "reason=http_500"]));
    assert_eq!(attempts.len(), 1);
    let table = place.run(&["errors", "--group", "--limit", "2"]);
    check_exit(&table, 0);
    assert_eq!(out(&table).lines().count(), 3, "{}", out(&table));
    assert!(out(&table).contains("error [http_404] no entry # after # s (#)  (seventeen)"), "{}", out(&table));
    assert!(err(&table).contains("2 kinds of errors more"), "{}", err(&table));
}

#[test]
fn no_answer_of_a_worker_steers_the_terminal() {
    let place = place().with("COLA_IA_MAX_ATTEMPTS", "1");
    let nasty = "\u{1b}[2J\u{202e}x\u{9b}31m\nline";
    add(&place, &["a\u{202e}b"]);
    let claimed = place.run(&["claim", "--worker", nasty]);
    let lease = out(&claimed).split(' ').next().unwrap().to_owned();
    let failed = place.run(&["fail", &lease, "--error", nasty]);
    let outputs: Vec<Output> = vec![
        claimed,
        failed,
        place.run(&["errors", "--group"]),
        place.run(&["errors"]),
        place.run(&["show", "a\u{202e}b"]),
        place.run(&["retry", "a\u{202e}b"]),
        place.run(&["retry", "--state", "running,pending"]),
        place.run(&["replay", "a\u{202e}b"]),
        place.run(&["complete", nasty]),
        place.run(&["complete", &lease, "--result", nasty]),
    ];
    for output in outputs {
        let shown = out(&output) + &err(&output);
        assert!(!shown.contains(['\u{1b}', '\u{202e}', '\u{9b}']), "{shown:?}");
    }
}
