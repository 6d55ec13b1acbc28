//! `export` and `import` on the real binary: everything survives, a cut file is noticed, a kill is made good by running again.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

#[path = "../../cola-ia-store/tests/backend/mod.rs"]
mod backend;
mod common;

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::time::Duration;

use common::input::{joined, mixed, numbered};
use common::stored::stored;
use common::{BOTH, Place, Random, STORE, check_exit, err, out, shown, signal};
use nix::sys::signal::Signal;
use rusqlite::{Connection, OpenFlags};

/// A store with new ones, repeated ones, conflicts and refused lines, and by hand what no command makes yet.
fn full(random: &mut Random, events: usize) -> Place {
    let place = Place::new().with("COLA_IA_LANG", "en");
    place.write("in.jsonl", joined(&mixed(random, events, 20)));
    check_exit(&place.run(&["add", "in.jsonl"]), 4);
    check_exit(&place.run(&["add", "--source", "form", "in.jsonl"]), 4);
    let connection = Connection::open(place.store()).unwrap();
    connection
        .execute_batch(
            "UPDATE events SET text = NULL WHERE seq % 7 = 1;
             UPDATE jobs SET state = 'done', changed_at = 5, attempts = 2, resource_id = 'r' || event, result = '{}'
                 WHERE event % 5 = 0;
             UPDATE jobs SET state = 'held', changed_at = 6, reason = 'unknown_effect' WHERE event % 5 = 1;
             UPDATE conflicts SET decision = 'accept', decided_at = 7, note = 'ñ' || char(10) || char(27) || '[2J';
             INSERT INTO revisions SELECT event, number + 1, fingerprint, 7, number, text FROM conflicts;
             INSERT INTO attempts SELECT seq * 2, seq, 1, 1, randomblob(16), 'w', 1, 2, 'error', 65, 9, 'class', 'error',
                 3, 4, 5, 'model', 'late', CAST('out' || char(27) AS BLOB), x'ff00fe', 'pending', 7 FROM events WHERE seq % 3 = 0;
             INSERT INTO attempts (attempt, event, run, number, lease, worker, started_at, ended_at, outcome)
                 SELECT seq * 2 + 1, seq, 1, 2, randomblob(16), 'w', 1, 2, 'done' FROM events WHERE seq % 3 = 0;
             INSERT INTO effects SELECT seq, seq, 1, 'publish', 'key ' || seq, 'unknown', 'reported', 1, 1, 2, 'hold', 3, 4, 5,
                 0, 'late_evidence', 'ñ' || char(27), 2, zeroblob(18) FROM events WHERE seq % 5 = 1;
             INSERT INTO effect_tries SELECT effect, 1, randomblob(16), 2, randomblob(32), 3, 4, 5, 6, NULL, 9, 7, 20000
                 FROM effects;
             INSERT INTO effect_records SELECT effect, 1, 1, 6, 'sender', 'post ' || effect, '{}', 8, 4, 5, 'model', 8, 20000
                 FROM effects;
             UPDATE store SET currency = 'EUR';
             INSERT INTO budgets SELECT source, 1000000 + source FROM sources;
             INSERT INTO money SELECT 0, source, 'model', count(*), 3 * count(*), 0, 4 * count(*), 5 * count(*), 0, 0
                 FROM attempts a JOIN events e ON e.seq = a.event WHERE a.cost_micros IS NOT NULL GROUP BY source;
             INSERT INTO money SELECT 20000, source, 'model', count(*), 8 * count(*), 0, 4 * count(*), 5 * count(*), 3, 24
                 FROM effects f JOIN events e ON e.seq = f.event GROUP BY source;
             INSERT INTO money (day, source, model, reserved) SELECT 20000, source, '', 7 * count(*)
                 FROM effects f JOIN events e ON e.seq = f.event GROUP BY source;
             INSERT INTO counter_deltas (at, source, counter, n)
             SELECT 0, source, 'job_' || state, 1 FROM jobs WHERE state <> 'pending'
             UNION ALL SELECT 0, source, 'job_pending', -1 FROM jobs WHERE state <> 'pending';",
        )
        .unwrap();
    place
}

/// The lines without the header, in which only the moment differs.
fn body(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    &bytes[end + 1..]
}

fn export(place: &Place) -> Vec<u8> {
    let output = place.run(&["export"]);
    check_exit(&output, 0);
    output.stdout
}

/// That both are the same, without printing them.
#[track_caller]
fn check_same(left: &[u8], right: &[u8]) {
    let (left, right) = (body(left), body(right));
    if left != right {
        let at = left.iter().zip(right).position(|(left, right)| left != right).unwrap_or(left.len().min(right.len()));
        let around = |bytes: &[u8]| {
            String::from_utf8_lossy(&bytes[at.saturating_sub(300)..bytes.len().min(at + 200)]).into_owned()
        };
        panic!("differs at byte {at}\n{}\n----\n{}", around(left), around(right));
    }
}

#[test]
fn an_export_enters_an_empty_folder_and_comes_out_the_same() {
    let mut random = Random::seeded("an_export_enters_an_empty_folder_and_comes_out_the_same");
    let first = full(&mut random, 1_500);
    let exported = export(&first);
    for packed in [false, true] {
        let second = Place::new().with("COLA_IA_LANG", "en");
        let bytes = if packed { zstd::encode_all(&exported[..], 3).unwrap() } else { exported.clone() };
        let output = second.run_with(&["import", "-"], &bytes);
        check_exit(&output, 0);
        check_same(&export(&second), &exported);
        let (here, there) = (stored(&second.store(), true), stored(&first.store(), true));
        assert_eq!((here.deliveries, here.jobs), (there.deliveries, there.jobs));
        // Its own numbers, and the same answers.
        let again = second.run(&["add", "--source", "form", first.path("in.jsonl").to_str().unwrap()]);
        check_exit(&again, 4);
        assert!(!out(&again).contains(" nuevo"));
    }
}

#[test]
fn importing_again_changes_nothing_and_says_so() {
    let mut random = Random::seeded("importing_again_changes_nothing_and_says_so");
    let first = full(&mut random, 300);
    let exported = export(&first);
    for place in [&first, &Place::new().with("COLA_IA_LANG", "en")] {
        place.write("x.jsonl", &exported);
        check_exit(&place.run(&["import", "x.jsonl"]), 0);
        let again = place.run(&["import", "--json", "x.jsonl"]);
        check_exit(&again, 0);
        assert!(err(&again).contains("nothing new"), "{}", err(&again));
        assert_eq!(out(&again).lines().count(), 16);
        assert!(out(&again).lines().all(|line| line.contains(r#""entered":0"#)), "{}", out(&again));
        check_same(&export(place), &exported);
    }
}

#[test]
fn a_cut_file_is_noticed_and_the_whole_one_completes_it() {
    let mut random = Random::seeded("a_cut_file_is_noticed_and_the_whole_one_completes_it");
    let first = full(&mut random, 200);
    let exported = export(&first);
    let header = exported.len() - body(&exported).len();
    let mut cuts: Vec<usize> =
        (0..12).map(|_| header + random.below((exported.len() - header) as u64) as usize).collect();
    cuts.extend([header, exported.len() - 2]);
    for cut in cuts {
        let second = Place::new().with("COLA_IA_LANG", "en");
        let output = second.run_with(&["import", "-"], &exported[..cut]);
        check_exit(&output, 1);
        assert!(err(&output).contains("ends in the middle"), "{cut}: {}", err(&output));
        // What is there is whole: an event has its job, and all that stood before the next one.
        let half = export(&second);
        assert!(half.len() <= exported.len());
        check_exit(&second.run_with(&["import", "-"], &exported), 0);
        check_same(&export(&second), &exported);
    }
}

/// Calls that the store has answered.
fn batches(place: &Place) -> u64 {
    let Ok(connection) = Connection::open_with_flags(place.store(), OpenFlags::SQLITE_OPEN_READ_ONLY) else { return 0 };
    let counted: Result<i64, _> = connection.query_row("SELECT count(*) FROM ops", [], |row| row.get(0));
    counted.map_or(0, |count| count as u64)
}

#[test]
fn a_killed_import_is_completed_by_the_next_one() {
    let mut random = Random::seeded("a_killed_import_is_completed_by_the_next_one");
    let first = full(&mut random, 2_000);
    let exported = export(&first);
    let mut midway = 0;
    for round in 0..8_u64 {
        let second = Place::new().with("COLA_IA_LANG", "en").file("x.jsonl", &exported);
        let mut child =
            second.command(&["import", "x.jsonl"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        if round % 2 == 0 {
            std::thread::park_timeout(Duration::from_millis(random.below(300)));
        } else {
            // Not before something was committed.
            common::until("a batch", || (batches(&second) > round / 4).then_some(()));
        }
        signal(&child, Signal::SIGKILL);
        let by_itself = child.wait().unwrap().success();
        if !by_itself && second.store().exists() {
            midway += u32::from(stored(&second.store(), true).batches > 1);
        }
        check_exit(&second.run(&["import", "x.jsonl"]), 0);
        check_same(&export(&second), &exported);
    }
    println!("killed midway: {midway} of 8");
    assert!(midway > 0, "no kill hit an import that was under way");
}

#[test]
fn a_copy_that_went_on_keeps_what_it_has() {
    let mut random = Random::seeded("a_copy_that_went_on_keeps_what_it_has");
    let first = full(&mut random, 200);
    let old = export(&first);
    first.write("later.jsonl", numbered("later", 5));
    check_exit(&first.run(&["add", "later.jsonl", "in.jsonl"]), 4);
    let before = export(&first);
    first.write("old.jsonl", &old);
    let output = first.run(&["import", "old.jsonl"]);
    check_exit(&output, 0);
    assert!(err(&output).contains("have gone on here"), "{}", err(&output));
    check_same(&export(&first), &before);

    // And one that was behind gets what is new; what it has of its own under the same numbers contradicts.
    let second = Place::new().with("COLA_IA_LANG", "en").file("old.jsonl", &old).file("new.jsonl", &before);
    check_exit(&second.run(&["import", "old.jsonl"]), 0);
    second.write("own.jsonl", numbered("own", 2));
    check_exit(&second.run(&["add", "own.jsonl"]), 0);
    let output = second.run(&["import", "--json", "new.jsonl"]);
    check_exit(&output, 4);
    assert!(out(&output).contains("import_"), "{}", out(&output));
    assert!(err(&output).contains("contradict"), "{}", err(&output));
    assert!(out(&second.run(&["show", "own-0"])).contains("texto 0"));
}

#[test]
fn what_runs_here_waits_there_and_the_store_counts_as_restored() {
    let first = Place::new().with("COLA_IA_LANG", "en").file("in.jsonl", numbered("e", 3));
    check_exit(&first.run(&["add", "in.jsonl"]), 0);
    let connection = Connection::open(first.store()).unwrap();
    connection
        .execute_batch(
            "UPDATE jobs SET state = 'running', lease = x'01', lease_until = 9, worker = 'w', changed_at = 3 WHERE event = 2;
             INSERT INTO attempts (attempt, event, run, number, lease, worker, started_at) VALUES (1, 2, 1, 1, x'01', 'w', 3);
             INSERT INTO effects (effect, event, run, name, key, state, lookup, settle, otherwise, begun_at, changed_at)
                 VALUES (1, 2, 1, 'publish', 'k', 'intended', 0, 1, 'hold', 4, 4);",
        )
        .unwrap();
    let second = Place::new().with("COLA_IA_LANG", "en");
    let output = second.run_with(&["import", "-"], &export(&first));
    check_exit(&output, 0);
    assert!(err(&output).contains("counts as restored"), "{}", err(&output));
    let look = Connection::open(second.store()).unwrap();
    let text = |sql: &str| -> String { look.query_row(sql, [], |row| row.get(0)).unwrap() };
    assert_eq!(text("SELECT state || ifnull(worker, '-') || (lease IS NULL) FROM jobs WHERE event = 2"), "pending-1");
    assert_eq!(text("SELECT outcome || (ended_at > 3) FROM attempts"), "lease_lost1");
    assert_eq!(text("SELECT state || key || ifnull(reason, '-') FROM effects"), "unknownklease_ended");
    assert_eq!(text("SELECT (restored_at > 0) || '' FROM store"), "1");
    assert_eq!(
        text("SELECT hex(namespace) FROM store"),
        Connection::open(first.store())
            .unwrap()
            .query_row("SELECT hex(namespace) FROM store", [], |row| row.get::<_, String>(0))
            .unwrap()
    );
}

#[test]
fn a_file_is_private_whole_and_never_replaced() {
    let place = Place::new().with("COLA_IA_LANG", "en").file("in.jsonl", numbered("e", 3));
    check_exit(&place.run(&["export", "none.jsonl"]), 1);
    check_exit(&place.run(&["add", "in.jsonl"]), 0);
    check_exit(&place.run(&["export", "x.jsonl"]), 0);
    assert_eq!(fs::metadata(place.path("x.jsonl")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(place.names(), [STORE, "in.jsonl", "x.jsonl"]);
    let before = place.read("x.jsonl");
    for there in ["x.jsonl", STORE] {
        let output = place.run(&["export", there]);
        check_exit(&output, 1);
        assert!(err(&output).contains("it exists already"), "{}", err(&output));
    }
    assert_eq!(place.read("x.jsonl"), before);
    check_same(&before, &export(&place));
    assert_eq!(place.names(), [STORE, "in.jsonl", "x.jsonl"]);
}

#[test]
fn nothing_enters_of_what_is_no_export() {
    let events = numbered("e", 3);
    let newer = r#"{"kind":"header","format":"cola-ia-export","version":2}"#;
    let cases: [(&str, &[u8], &str); 6] = [
        ("events", events.as_bytes(), "is not an export"),
        ("empty", b"", "is not an export"),
        ("half a header", br#"{"kind":"header","format":"cola-ia"#, "is not an export"),
        ("text", b"no es JSON\n", "is not an export"),
        ("an archive", b"PK\x03\x04............", "is not an export"),
        ("newer", newer.as_bytes(), "version 2"),
    ];
    for (name, bytes, says) in cases {
        let place = Place::new().with("COLA_IA_LANG", "en");
        let output = place.run_with(&["import", "-"], bytes);
        check_exit(&output, 1);
        assert!(err(&output).contains(says), "{name}: {}", err(&output));
        assert_eq!(place.names(), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn the_same_store_of_another_origin_is_refused() {
    let first = Place::new().with("COLA_IA_LANG", "en").file("in.jsonl", numbered("e", 3));
    check_exit(&first.run(&["add", "in.jsonl"]), 0);
    let second = Place::new().with("COLA_IA_LANG", "en").file("in.jsonl", numbered("e", 3));
    check_exit(&second.run(&["add", "in.jsonl"]), 0);
    let before = export(&second);
    let output = second.run_with(&["import", "-"], &export(&first));
    check_exit(&output, 1);
    assert!(err(&output).contains("another origin"), "{}", err(&output));
    check_same(&export(&second), &before);
}

#[test]
fn a_line_that_cannot_be_read_keeps_its_event_out_and_no_other() {
    let first = Place::new().with("COLA_IA_LANG", "en").file("in.jsonl", numbered("e", 9));
    check_exit(&first.run(&["add", "in.jsonl"]), 0);
    let exported = String::from_utf8(export(&first)).unwrap();
    let mut lines: Vec<String> = exported.lines().map(str::to_owned).collect();
    let at = lines.iter().position(|line| line.contains(r#""id":"e-4""#)).unwrap();
    lines[at + 1] = lines[at + 1].replace("pending", "pend\\u001b[2Jing");
    let second = Place::new().with("COLA_IA_LANG", "en");
    let output = second.run_with(&["import", "-"], (lines.join("\n") + "\n").as_bytes());
    check_exit(&output, 4);
    let said = err(&output);
    assert!(said.contains(&format!("-:{}: ", at + 2)) && said.contains("[export_value]"), "{said}");
    assert!(said.contains(&format!("-:{}: ", at + 1)) && said.contains("[export_incomplete]"), "{said}");
    assert!(!said.contains('\u{1b}'));
    assert_eq!(stored(&second.store(), true).gate.events.len(), 8);
    check_exit(&second.run_with(&["import", "-"], exported.as_bytes()), 0);
    check_same(&export(&second), exported.as_bytes());
}

#[test]
fn an_export_holds_no_read_transaction_while_intake_goes_on() {
    let place = Place::new().with("COLA_IA_LANG", "en").file("in.jsonl", numbered("e", 60_000));
    check_exit(&place.run(&["add", "in.jsonl"]), 0);
    // Nobody reads the pipe to its end yet: the export stands still in its middle.
    let mut exporting = place.start(&["export"]);
    let mut stdout = exporting.stdout.take().unwrap();
    common::read_until(&mut stdout, "\n");
    let look = Connection::open(place.store()).unwrap();
    place.write("more.jsonl", numbered("more", 2_000));
    check_exit(&place.run(&["add", "more.jsonl"]), 0);
    // All of the log can be moved into the file: nobody reads an older state.
    let (busy, log, moved): (i64, i64, i64) = look
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap();
    assert_eq!((busy, log, moved), (0, 0, 0));
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut stdout, &mut rest).unwrap();
    assert!(exporting.wait().unwrap().success());
    assert_eq!(rest.matches(r#"{"kind":"event","#).count(), 60_000);
    assert!(rest.ends_with("}}\n"));
}

#[test]
fn an_interrupted_export_leaves_no_file() {
    let place = Place::new().with("COLA_IA_LANG", "en").file("in.jsonl", numbered("e", 60_000));
    check_exit(&place.run(&["add", "in.jsonl"]), 0);
    let child = place.start(&["export", "x.jsonl"]);
    common::until("the file in the making", || place.names().iter().find(|name| name.ends_with(".partial")).cloned());
    signal(&child, Signal::SIGINT);
    let output = child.wait_with_output().unwrap();
    check_exit(&output, 130);
    assert!(!place.names().iter().any(|name| name.contains("x.jsonl")), "{:?}", place.names());
}

#[test]
fn an_interrupted_import_keeps_what_it_counted_and_goes_on_the_next_time() {
    let first = Place::new().with("COLA_IA_LANG", "en").file("in.jsonl", numbered("e", 20_000));
    check_exit(&first.run(&["add", "in.jsonl"]), 0);
    let exported = export(&first);
    let second = Place::new().with("COLA_IA_LANG", "en").file("x.jsonl", &exported);
    let child = second.start(&["import", "--json", "x.jsonl"]);
    common::until("the store", || second.store().exists().then_some(()));
    signal(&child, Signal::SIGTERM);
    let output = child.wait_with_output().unwrap();
    check_exit(&output, 130);
    let said = out(&output);
    let events = said.lines().find(|line| line.contains(r#""kind":"event""#)).unwrap();
    let entered = stored(&second.store(), true).gate.events.len();
    assert!(events.contains(&format!(r#""entered":{entered},"#)), "{entered}: {events}");
    check_exit(&second.run(&["import", "x.jsonl"]), 0);
    check_same(&export(&second), &exported);
}

#[test]
fn what_people_see() {
    for language in BOTH {
        let first = Place::new().with("COLA_IA_LANG", language);
        first.write(
            "in.jsonl",
            "{\"id\":\"a\",\"texto\":\"x\"}\n{\"id\":\"a\",\"texto\":\"y\"}\n{\"id\":\"b\",\"texto\":\"x\"}\n{\"id\":1}\n",
        );
        first.run(&["add", "in.jsonl"]);
        let mut text = String::new();
        let mut show = |place: &Place, args: &[&str]| writeln!(text, "{}", shown(args, &place.run(args))).unwrap();
        show(&first, &["export", "x.jsonl"]);
        show(&first, &["export", "x.jsonl"]);
        let exported = first.read("x.jsonl");
        let second = Place::new().with("COLA_IA_LANG", language).file("x.jsonl", &exported);
        second.write("cut.jsonl", &exported[..exported.len() / 2]);
        second.write("in.jsonl", first.read("in.jsonl"));
        show(&second, &["import", "in.jsonl"]);
        show(&second, &["import", "cut.jsonl"]);
        show(&second, &["import", "x.jsonl"]);
        show(&second, &["import", "x.jsonl"]);
        show(&second, &["import", "--json", "x.jsonl"]);
        let other = String::from_utf8(exported).unwrap().replace("\"id\":\"b\"", "\"id\":\"c\"");
        second.write("other.jsonl", other);
        show(&second, &["import", "other.jsonl"]);
        show(&second, &["import", "--json", "--quiet", "other.jsonl"]);
        show(&second, &["import"]);
        insta::assert_snapshot!(format!("export-{language}"), text);
    }
}

/// The page in both languages.
const PAGES: [&str; 2] = ["EXPORT.md", "EXPORTACION.md"];

fn page(name: &str) -> String {
    fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)).unwrap()
}

#[test]
fn the_documented_fields_are_the_fields() {
    use cola_ia_core::store::export::{Kind, Role};
    for name in PAGES {
        let text = page(name);
        for kind in Kind::ALL {
            let row = text.lines().find_map(|line| line.strip_prefix(&format!("| `{}` | ", kind.as_str()))).unwrap();
            let mut plain = String::new();
            let mut depth = 0;
            for c in row.trim_end_matches(" |").chars() {
                depth += i32::from(c == '(') - i32::from(c == ')');
                if depth == 0 && c != ')' {
                    plain.push(c);
                }
            }
            let found: Vec<&str> = plain.split(',').map(str::trim).collect();
            let expected: Vec<String> = kind
                .fields()
                .iter()
                .map(|field| match field.role {
                    Role::Key => format!("**{}**", field.name),
                    Role::Fixed => format!("{}°", field.name),
                    Role::Changing | Role::Clock => field.name.to_owned(),
                })
                .collect();
            assert_eq!(found, expected, "{name}: {kind:?}");
        }
        for code in cola_ia::cli::import::line_codes() {
            assert!(text.contains(&format!("`{code}`")), "{name} has not {code}");
        }
    }
}

#[test]
fn the_documented_example_can_be_imported() {
    for name in PAGES {
        let text = page(name);
        let example = text.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
        let place = Place::new().with("COLA_IA_LANG", "en");
        check_exit(&place.run_with(&["import", "-"], example.as_bytes()), 0);
        check_same(&export(&place), example.as_bytes());
    }
}

/// The address of a schema of its own, as `--to` takes it; `None` where there is no server and none is required.
fn database() -> Option<(backend::postgres::Schema, String)> {
    use backend::postgres::{POSTGRES, Postgres, Schema};
    Postgres::named("postgres", POSTGRES)?;
    let schema = Schema::new(&std::env::var(POSTGRES).unwrap());
    let address = format!("{}?schema={}", std::env::var(POSTGRES).unwrap(), schema.name());
    Some((schema, address))
}

/// What a store exports, without the header.
fn exported(place: &Place, db: &str) -> Vec<u8> {
    let output = place.run(&["export", "--db", db]);
    check_exit(&output, 0);
    body(&output.stdout).to_vec()
}

#[test]
fn a_store_moves_into_a_database_and_back_and_stays_what_it_is() {
    let Some((_schema, address)) = database() else { return };
    let place = full(&mut Random::seeded("a_store_moves_into_a_database_and_back_and_stays_what_it_is"), 300);
    let store = place.store().display().to_string();
    let before = exported(&place, &store);
    let moved = place.run(&["move", "--to", &address]);
    check_exit(&moved, 0);
    assert!(exported(&place, &address) == before, "what the database holds");

    let late = place.run_with(&["add", "-"], b"{\"id\":\"late\",\"text\":\"x\"}\n");
    check_exit(&late, 1);
    assert!(String::from_utf8_lossy(&late.stderr).contains("moved to another place"), "{late:?}");
    let again = place.run(&["move", "--to", &address]);
    check_exit(&again, 0);
    assert!(again.stdout.is_empty(), "{again:?}");
    assert!(exported(&place, &address) == before && exported(&place, &store) == before, "after a second move");

    check_exit(&place.run(&["move", "--db", &address, "--to", "back.sqlite3"]), 0);
    assert!(exported(&place, "back.sqlite3") == before, "what came back");
    let shut = place.run_with(&["add", "--db", &address, "-"], b"{\"id\":\"late\",\"text\":\"x\"}\n");
    check_exit(&shut, 1);
    check_exit(&place.run_with(&["add", "--db", "back.sqlite3", "-"], b"{\"id\":\"late\",\"text\":\"x\"}\n"), 0);
    check_exit(&place.run(&["move", "--undo"]), 0);
    check_exit(&place.run_with(&["add", "-"], b"{\"id\":\"late\",\"text\":\"x\"}\n"), 0);
}

#[test]
fn a_move_that_is_killed_goes_on_and_ends_equal() {
    let Some((_schema, address)) = database() else { return };
    let place = full(&mut Random::seeded("a_move_that_is_killed_goes_on_and_ends_equal"), 3_000);
    let store = place.store().display().to_string();
    let before = exported(&place, &store);
    for pause in 1..=6 {
        let mut killed =
            place.command(&["move", "--to", &address]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::park_timeout(Duration::from_millis(60 * pause));
        signal(&killed, Signal::SIGKILL);
        killed.wait().unwrap();
    }
    check_exit(&place.run(&["move", "--to", &address]), 0);
    assert!(exported(&place, &address) == before, "what the database holds");
}

#[test]
fn a_move_waits_for_workers_and_for_an_empty_place() {
    let Some((_schema, address)) = database() else { return };
    let place = full(&mut Random::seeded("a_move_waits_for_workers_and_for_an_empty_place"), 300);
    check_exit(&place.run_with(&["add", "--db", "other.sqlite3", "-"], b"{\"id\":\"a\",\"text\":\"x\"}\n"), 0);
    let taken = place.run(&["move", "--to", "other.sqlite3"]);
    check_exit(&taken, 1);
    assert!(String::from_utf8_lossy(&taken.stderr).contains("has events already"), "{taken:?}");
    check_exit(&place.run(&["claim", "--json"]), 0);
    let running = place.run(&["move", "--to", &address]);
    check_exit(&running, 1);
    assert!(String::from_utf8_lossy(&running.stderr).contains("1 running jobs"), "{running:?}");
}
