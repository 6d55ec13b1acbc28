//! What people see of a real store, in both languages: answers, summaries, lists and stories.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use common::input::numbered;
use common::redact::redacted;
use common::stored::{article_rows, make_article};
use common::{BOTH, Place, STORE, shown};
use rusqlite::Connection;

/// New, repeated, in conflict, refused for many reasons, and unfinished.
const MIXED: &str = r#"{"id":"idea-42","texto":"Comparar dos modelos en mi producto"}
{"id":"idea-42","texto":"Comparar dos modelos en mi producto"}
{"id":"idea-42","texto":"Publicar sin revisión humana"}

{"id":"idea 43 ","text":"two\nlines","type":"form","time":"2026-01-31T23:00:00+02:00","source":"form"}
{"id":7,"texto":"un número"}
{"id":8,"texto":"otro número"}
{"id":"a","texto":"x"} {"id":"b","texto":"y"}
{"id":"a","texto":"x","texto":"y"}
{"id":"a","texto":"   "}
{"id":"a","texto":"x","text":"x"}
{"texto":"x"}
["a","x"]
{"id":"a","texto":"x","fecha":"ayer"}
{"id":"a","texto":"x","origen":"Mi Blog"}
no es JSON
{"id":"a","texto":"x","n":1e400}
{"id":"unfini"#;

fn check(name: &str, language: &str, shown: &[String]) {
    insta::assert_snapshot!(format!("{name}-{language}"), redacted(&shown.join("\n")));
}

#[test]
fn instants_are_redacted_and_nothing_else() {
    assert_eq!(redacted("a 2030-05-06T07:08:09Z b 2030-05-06T07:08:09.123456Z"), "a TIME b TIME");
    assert_eq!(redacted("2026-01-31T21:00:00.000000Z ñ 2030-05-06"), "2026-01-31T21:00:00.000000Z ñ 2030-05-06");
    assert_eq!(redacted("x 2030-05-06T07:08:09Z  (3 d later)"), "x TIME  (LATE)");
    assert_eq!(redacted("for 0.110 s,   12 d 3 h or 302d19h   +1.500s"), "for LENGTH,  LENGTH or LENGTH  +LENGTH");
    assert_eq!(redacted(r#"{"late_ms":123,"late_ms":null}"#), r#"{"late_ms":LENGTH,"late_ms":null}"#);
}

#[test]
fn add_on_a_mixed_file() {
    for language in BOTH {
        let place = Place::new().file("eventos.jsonl", MIXED).with("COLA_IA_LANG", language);
        let shown = [
            place.shown(&["add", "--dry-run", "eventos.jsonl"]),
            place.shown(&["add", "--rejects", "r.jsonl", "eventos.jsonl"]),
            place.shown(&["add", "eventos.jsonl", "--fail-on", "conflict"]),
            place.shown(&["add", "--json", "eventos.jsonl"]),
            place.shown(&["add", "--quiet", "eventos.jsonl"]),
            place.shown(&["add", "--source", "form", "eventos.jsonl"]),
        ];
        check("add-mixed", language, &shown);
    }
}

#[test]
fn add_of_what_is_no_json_lines() {
    for language in BOTH {
        let place = Place::new()
            .file("pretty.json", "[\n  {\n    \"id\": \"p1\",\n    \"texto\": \"x\"\n  },\n  {\n    \"id\": \"p2\",\n    \"texto\": \"y\"\n  }\n]\n")
            .file("utf16.jsonl", [0xff, 0xfe, b'{', 0, b'}', 0, b'\n', 0])
            .file("packed.zip", b"PK\x03\x04............")
            .file("empty.jsonl", "")
            .with("COLA_IA_LANG", language);
        let shown = ["pretty.json", "utf16.jsonl", "packed.zip", "empty.jsonl", "missing.jsonl", "."]
            .map(|name| place.shown(&["add", name]));
        check("add-others", language, &shown);
    }
}

#[test]
fn jobs_and_show_of_a_real_store() {
    for language in BOTH {
        let place = Place::new().file("eventos.jsonl", MIXED).with("COLA_IA_LANG", language);
        place.run(&["add", "eventos.jsonl"]);
        place.run(&["add", "eventos.jsonl"]);
        let shown = [
            place.shown(&["jobs"]),
            place.shown(&["jobs", "--json"]),
            place.shown(&["jobs", "--limit", "1"]),
            place.shown(&["jobs", "--state", "fallido"]),
            place.shown(&["jobs", "--source", "form"]),
            place.shown(&["show", "idea-42"]),
            place.shown(&["show", "idea 43 "]),
            place.shown(&["show", "--json", "idea-42"]),
            place.shown(&["show", "idea-43"]),
            place.shown(&["show", "--source", "form", "idea-42"]),
            place.shown(&["stats", "--source", "default"]),
            place.shown(&["stats", "--since", "1d", "--json", "--source", "default"]),
            place.shown(&["stats", "--until", "2020-01-31"]),
            place.shown(&["stats", "--source", "nadie"]),
            place.shown(&["stats", "--since", "ayer"]),
            place.shown(&["stats", "--state", "held"]),
        ];
        check("views", language, &shown);
    }
}

#[test]
fn views_without_a_store() {
    for language in BOTH {
        let place = Place::new().with("COLA_IA_LANG", language);
        check("views-missing", language, &[place.shown(&["jobs"]), place.shown(&["show", "a"])]);
    }
}

#[test]
fn a_take_over_is_reported() {
    for language in BOTH {
        let place = Place::new().file("in.jsonl", numbered("viejo", 2)).with("COLA_IA_LANG", language);
        make_article(&place.store(), article_rows(6));
        Connection::open(place.store())
            .unwrap()
            .execute_batch(
                "ALTER TABLE trabajos ADD COLUMN nota TEXT;
                 UPDATE trabajos SET huella = 'no' WHERE id = 'viejo-3';
                 UPDATE trabajos SET estado = 'raro' WHERE id = 'viejo-4';
                 INSERT INTO trabajos (id, texto, huella) VALUES (' ', 'x', 'y'), ('sin texto', '', 'y');",
            )
            .unwrap();
        let shown = [
            place.shown(&["jobs"]),
            place.shown(&["init", "--config", "/dev/null"]),
            place.shown(&["add", "--dry-run", "in.jsonl"]),
            place.shown(&["add", "in.jsonl"]),
            place.shown(&["jobs"]),
            place.shown(&["show", "viejo-2"]),
        ];
        check("take-over", language, &shown);
        // An old script fails loudly.
        let old = Connection::open(place.store()).unwrap();
        let refused = old.execute("INSERT OR IGNORE INTO trabajos (id, texto, huella) VALUES ('n', 'x', 'y')", []);
        assert!(refused.unwrap_err().to_string().contains("cola-ia add"));
    }
}

#[test]
fn init_and_settings_with_a_real_store() {
    for language in BOTH {
        let place = Place::new().with("COLA_IA_LANG", language);
        let shown = [
            place.shown(&["init"]),
            place.shown(&["init"]),
            place.shown(&["jobs"]),
            place.shown(&["config", "show", "--origin"]),
            place.shown(&["config", "check"]),
        ];
        check("init-store", language, &shown);
        assert_eq!(place.names(), ["cola-ia.toml", STORE]);
    }
}

#[test]
fn init_names_a_store_elsewhere() {
    for language in BOTH {
        let place = Place::new().file("in.jsonl", numbered("a", 1)).with("COLA_IA_LANG", language);
        let text = [
            place.shown(&["init", "--db", "otro.db"]),
            // The next command finds it.
            place.shown(&["add", "in.jsonl"]),
            shown(&["add", "-"], &place.run_with(&["add", "-"], numbered("a", 1).as_bytes())),
            place.shown(&["config", "show", "--origin"]),
        ];
        check("init-elsewhere", language, &text);
        assert_eq!(place.names(), ["cola-ia.toml", "in.jsonl", "otro.db"]);
    }
}
