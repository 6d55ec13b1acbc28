//! The article's own minimal test: run twice, change the text of a known id, add a new id; only new ones become jobs.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::path::Path;

use common::{Place, check_exit, err, out};

const LINES: &str = include_str!("../../../examples/eventos.jsonl");

/// (id, state) of every job, oldest first.
fn jobs(place: &Place) -> Vec<(String, String)> {
    let output = place.run(&["jobs", "--json"]);
    check_exit(&output, 0);
    let text = out(&output);
    let field = |job: &serde_json::Value, name: &str| job[name].as_str().unwrap().to_owned();
    let jobs = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    jobs.map(|job| (field(&job, "id"), field(&job, "state"))).rev().collect()
}

fn job(id: &str) -> (String, String) {
    (id.to_owned(), "pending".to_owned())
}

#[track_caller]
fn check_add(place: &Place, args: &[&str], expected: &str) {
    let output = place.run(args);
    check_exit(&output, 0);
    assert_eq!(out(&output), expected, "{}", err(&output));
}

#[test]
fn only_new_events_become_jobs() {
    let place = Place::new().file("eventos.jsonl", LINES);
    let add = ["add", "eventos.jsonl"];
    check_add(&place, &add, "idea-42 nuevo\nidea-42 repetido\nidea-42 conflicto\n");
    assert_eq!(jobs(&place), [job("idea-42")]);
    check_add(&place, &add, "idea-42 repetido\nidea-42 repetido\nidea-42 conflicto\n");
    assert_eq!(jobs(&place), [job("idea-42")]);

    place.write("eventos.jsonl", "{\"id\":\"idea-42\",\"texto\":\"Otro texto\"}\n");
    check_add(&place, &add, "idea-42 conflicto\n");
    assert_eq!(jobs(&place), [job("idea-42")]);

    place.write("eventos.jsonl", "{\"id\":\"idea-43\",\"texto\":\"Comparar dos modelos en mi producto\"}\n");
    check_add(&place, &add, "idea-43 nuevo\n");
    assert_eq!(jobs(&place), [job("idea-42"), job("idea-43")]);

    // The text that entered first is still the one that goes on.
    let shown: serde_json::Value = serde_json::from_slice(&place.run(&["show", "--json", "idea-42"]).stdout).unwrap();
    assert_eq!(shown["text"], "Comparar dos modelos en mi producto");
    assert_eq!(shown["duplicates"], 3);
    assert_eq!(shown["conflicts"].as_array().unwrap().len(), 2);
    assert_eq!(shown["conflicts"][0]["text"], "Publicar sin revisión humana");
    assert_eq!(shown["conflicts"][0]["count"], 2);
}

#[test]
fn the_readmes_first_command_works_from_a_clean_folder() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/eventos.jsonl");
    let place = Place::new();
    check_add(&place, &["add", example.to_str().unwrap()], "idea-42 nuevo\nidea-42 repetido\nidea-42 conflicto\n");
    assert_eq!(place.names(), [common::STORE]);
}

#[test]
fn the_locale_never_changes_the_words() {
    for locale in ["es_MX.UTF-8", "en_US.UTF-8", "C", "C.UTF-8", "de_DE.UTF-8", ""] {
        for name in ["LANG", "LC_ALL", "LC_MESSAGES", "LANGUAGE"] {
            let place = Place::new().file("eventos.jsonl", LINES).with(name, locale);
            let expected = "idea-42 nuevo\nidea-42 repetido\nidea-42 conflicto\n";
            check_add(&place, &["add", "eventos.jsonl"], expected);
            let table = out(&place.run(&["jobs"]));
            assert!(table.contains("pendiente"), "{name}={locale}: {table}");
        }
    }
}

#[test]
fn english_words_come_when_they_are_asked_for() {
    let expected = "idea-42 new\nidea-42 duplicate\nidea-42 conflict\n";
    let place = Place::new().file("eventos.jsonl", LINES).with("LANG", "es_ES.UTF-8");
    check_add(&place, &["add", "--lang", "en", "eventos.jsonl"], expected);
    let place = Place::new().file("eventos.jsonl", LINES).with("LANG", "es_ES.UTF-8").with("COLA_IA_LANG", "en");
    check_add(&place, &["add", "eventos.jsonl"], expected);
    check_add(
        &place,
        &["add", "--lang=es", "eventos.jsonl"],
        "idea-42 repetido\nidea-42 repetido\nidea-42 conflicto\n",
    );
}
