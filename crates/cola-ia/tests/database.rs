//! The program on a store in PostgreSQL: the same commands, answers and promises as on a file.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

#[path = "../../cola-ia-store/tests/backend/mod.rs"]
mod backend;
mod common;

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use backend::postgres::{POSTGRES, Postgres, Schema};
use common::{PROGRAM, Place};

/// A folder, and a schema of its own.
struct Database {
    place: Place,
    schema: Schema,
    address: String,
}

/// `None` where there is no server and none is required.
fn database() -> Option<Database> {
    Postgres::named("postgres", POSTGRES)?;
    let address = std::env::var(POSTGRES).unwrap();
    Some(Database { place: Place::new(), schema: Schema::new(&address), address })
}

impl Database {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.place.tool(PROGRAM);
        command
            .env("COLA_IA_DB", &self.address)
            .env("COLA_IA_SCHEMA", self.schema.name())
            .env("COLA_IA_LANG", "en")
            .args(args);
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Stdout of a command that must end well.
    fn said(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn add(&self, lines: &str) -> String {
        self.place.write("events.jsonl", lines);
        let output = self.run(&["add", "events.jsonl"]);
        String::from_utf8(output.stdout).unwrap()
    }
}

fn warned(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_articles_lines_are_answered_as_on_a_file() {
    let Some(database) = database() else { return };
    let lines = concat!(
        r#"{"id":"idea-42","texto":"Un artículo sobre colas"}"#,
        "\n",
        r#"{"id":"idea-42","texto":"Un artículo sobre colas"}"#,
        "\n",
        r#"{"id":"idea-42","texto":"Otro texto"}"#,
        "\n"
    );
    assert_eq!(database.add(lines), "idea-42 new\nidea-42 duplicate\nidea-42 conflict\n");
    let es = database.command(&["add", "events.jsonl"]).env("COLA_IA_LANG", "es").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&es.stdout), "idea-42 repetido\nidea-42 repetido\nidea-42 conflicto\n");
    let shown = database.said(&["show", "idea-42"]);
    assert!(shown.contains("Un artículo sobre colas") && shown.contains("Otro texto"), "{shown}");
    assert!(database.said(&["jobs"]).contains("idea-42"));
    assert!(database.said(&["conflicts"]).contains("idea-42"));
    assert!(!database.place.store().exists(), "no file is made beside the database");
}

#[test]
fn a_dry_run_looks_and_makes_nothing() {
    let Some(database) = database() else { return };
    database.place.write("events.jsonl", "{\"id\":\"a\",\"texto\":\"x\"}\n{\"id\":\"a\",\"texto\":\"x\"}\n");
    let dry = database.run(&["add", "--dry-run", "events.jsonl"]);
    assert_eq!(String::from_utf8_lossy(&dry.stdout), "a new\na duplicate\n", "{}", warned(&dry));
    let jobs = database.run(&["jobs"]);
    assert!(!jobs.status.success() && warned(&jobs).contains("no store"), "{}", warned(&jobs));
    database.add("{\"id\":\"a\",\"texto\":\"y\"}\n");
    let dry = database.run(&["add", "--dry-run", "events.jsonl"]);
    assert_eq!(String::from_utf8_lossy(&dry.stdout), "a duplicate\n", "{}", warned(&dry));
}

#[test]
fn every_job_is_worked_once_by_two_workers() {
    let Some(database) = database() else { return };
    let lines: Vec<String> = (0..60).map(|n| format!(r#"{{"id":"e{n}","texto":"text {n}"}}"#)).collect();
    database.add(&(lines.join("\n") + "\n"));
    let work = ["work", "--drain", "-j", "4", "--", "sh", "-c", "echo \"$COLA_IA_ID\" >> worked"];
    let workers: Vec<Child> =
        (0..2).map(|_| database.command(&work).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()).collect();
    for worker in workers {
        let output = worker.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", warned(&output));
    }
    let mut worked: Vec<String> =
        String::from_utf8(database.place.read("worked")).unwrap().lines().map(str::to_owned).collect();
    worked.sort_unstable();
    worked.dedup();
    let lines = String::from_utf8(database.place.read("worked")).unwrap().lines().count();
    assert_eq!((worked.len(), lines), (60, 60));
    let counted = database.said(&["stats", "--json"]);
    assert!(counted.contains("\"done\":60"), "{counted}");
}

#[test]
fn commands_for_files_say_what_to_use_instead() {
    let Some(database) = database() else { return };
    database.said(&["init"]);
    for args in [&["backup", "b.sqlite3"][..], &["restore", "b.sqlite3"], &["prune", "--shrink"]] {
        let output = database.run(args);
        assert!(!output.status.success(), "{args:?}");
        let said = warned(&output);
        assert!(said.contains("PostgreSQL") && said.contains("hint:"), "{args:?}: {said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}

#[test]
fn an_event_wakes_a_worker_on_another_machine() {
    let Some(database) = database() else { return };
    database.said(&["init"]);
    let work = ["work", "--", "sh", "-c", "echo \"$COLA_IA_ID\" >> worked"];
    let mut worker = database.command(&work).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    database.add("{\"id\":\"a\",\"texto\":\"x\"}\n");
    let until = Instant::now() + Duration::from_secs(20);
    while !database.place.path("worked").exists() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(worker.id().cast_signed()), nix::sys::signal::Signal::SIGTERM)
        .unwrap();
    worker.wait().unwrap();
    assert_eq!(database.place.read("worked"), b"a\n");
}
