//! The workers that docs/WORKERS.md and its Spanish twin print: they are the files in `examples/workers`, and these work.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{PROGRAM, Place, check_exit, has_tool, out, until};
use nix::sys::signal::Signal;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

/// A worker of more lines is no example of how little it takes.
const LINES_MAX: usize = 15;

const WORKERS: [(&str, &str); 3] = [("words.py", "python"), ("words.sh", "bash"), ("words.mjs", "js")];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn worker(name: &str) -> PathBuf {
    repository().join("examples/workers").join(name)
}

/// Three events: one that has six words, one of two lines, and one that is refused for good.
fn place() -> Place {
    let long = "word ".repeat(1_001);
    let events =
        [("idea-42", "Comparar dos modelos en mi producto"), ("idea-43", "¿Qué\n\"tal\"? \\n"), ("idea-44", &long)];
    let lines: String = events.map(|(id, text)| json!({"id": id, "texto": text}).to_string() + "\n").concat();
    let place = Place::new().file("eventos.jsonl", lines);
    check_exit(&place.run(&["add", "eventos.jsonl"]), 0);
    place
}

/// A program that finds ours as people's scripts do.
fn tool(place: &Place, program: &str) -> Command {
    let mut command = place.tool(program);
    let folder = Path::new(PROGRAM).parent().unwrap();
    command.env("PATH", format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", folder.display()));
    command
}

/// (state, result, attempts) of each of the three.
fn outcome(place: &Place) -> Vec<(String, Option<String>, u32)> {
    let store = Connection::open_with_flags(place.store(), OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let sql = "SELECT state, result, attempts FROM jobs JOIN events ON event = seq WHERE id <= 'idea-44' ORDER BY id";
    let mut statement = store.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

/// As it must be when all three were worked on.
fn expected(of_long: Option<&str>) -> Vec<(String, Option<String>, u32)> {
    let done = |words: u32| ("done".to_owned(), Some(json!({ "words": words }).to_string()), 1);
    vec![done(6), done(3), ("failed".to_owned(), of_long.map(str::to_owned), 1)]
}

#[test]
fn printed_workers_are_the_tested_files_and_short() {
    for page in ["WORKERS.md", "TRABAJADORES.md"] {
        let page = fs::read_to_string(repository().join("docs").join(page)).unwrap();
        for (name, language) in WORKERS {
            let text = fs::read_to_string(worker(name)).unwrap();
            assert!(text.lines().count() <= LINES_MAX, "{name}");
            assert!(page.contains(&format!("\n```{language}\n{text}```\n")), "{name}");
        }
    }
}

/// Rows of a table of settings: name, variable and default, each in backquotes.
fn settings_in(page: &str) -> Vec<[String; 3]> {
    let row = |line: &str| -> Option<[String; 3]> {
        let cells = line.strip_prefix("| `")?.split(" | ").take(3);
        let cells: Vec<String> = cells.map(|cell| cell.trim_matches('`').to_owned()).collect();
        cells.try_into().ok().filter(|[_, variable, _]: &[String; 3]| variable.starts_with("COLA_IA_"))
    };
    page.lines().filter_map(row).collect()
}

#[test]
fn printed_settings_have_their_variables_and_defaults() {
    let place = Place::new();
    let shown = |environment: &[(&str, &str)]| {
        let output = place.command(&["config", "show"]).envs(environment.iter().copied()).output().unwrap();
        check_exit(&output, 0);
        out(&output)
    };
    let defaults = shown(&[]);
    let [english, spanish] = ["WORKERS.md", "TRABAJADORES.md"]
        .map(|page| settings_in(&fs::read_to_string(repository().join("docs").join(page)).unwrap()));
    assert_eq!(english, spanish);
    assert_eq!(english.len(), 8, "{english:?}");
    for [name, variable, default] in &english {
        assert!(defaults.contains(&format!("\n{name} = ")), "{name}");
        assert_eq!(shown(&[(variable, default)]), defaults, "{name}");
        let other = if default.parse::<u32>().is_ok() { "7" } else { "7s" };
        assert_ne!(shown(&[(variable, other)]), defaults, "{variable}");
    }
}

#[test]
fn python_worker_is_run_once_a_job() {
    let place = place();
    if !has_tool("python3", place.tool("python3").args(["-c", "import json"])) {
        return;
    }
    let work =
        |place: &Place| place.command(&["work", "--drain", "--", "python3"]).arg(worker("words.py")).output().unwrap();
    check_exit(&work(&place), 0);
    assert_eq!(outcome(&place), expected(None));
    check_exit(&work(&place), 0);
    assert_eq!(outcome(&place), expected(None), "what is done is not done again");
}

#[test]
fn bash_worker_claims_until_nothing_is_due() {
    let place = place();
    if !has_tool("bash", place.tool("bash").args(["-c", "true"])) {
        return;
    }
    let output = tool(&place, "bash").arg(worker("words.sh")).output().unwrap();
    check_exit(&output, 0);
    assert_eq!(out(&output), "");
    assert_eq!(outcome(&place), expected(None));
    let broken = place.tool("bash").arg(worker("words.sh")).env("COLA_IA_DB", "/nowhere/at/all").output().unwrap();
    assert!(!broken.status.success(), "where it cannot claim, it says so");
}

#[test]
fn node_worker_claims_and_waits_for_more() {
    let place = place();
    if !has_tool("node", place.tool("node").arg("--version")) {
        return;
    }
    let mut command = tool(&place, "node");
    let mut child = command.arg(worker("words.mjs")).stderr(Stdio::null()).spawn().unwrap();
    until("the three to be worked on", || (outcome(&place) == expected(None)).then_some(()));
    place.write("more.jsonl", "{\"id\":\"idea-45\",\"text\":\"And one more\"}\n");
    check_exit(&place.run(&["add", "more.jsonl"]), 0);
    let state = || serde_json::from_slice::<Value>(&place.run(&["show", "--json", "idea-45"]).stdout).unwrap();
    until("the one that came later", || (state()["state"] == "done").then_some(()));
    common::signal(&child, Signal::SIGTERM);
    assert!(!child.wait().unwrap().success());
}
