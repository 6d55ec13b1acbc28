//! What people see of a real store, in both languages: answers, summaries, lists and stories.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use common::input::numbered;
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

/// Instants of this run become `TIME`, and how long ago the provider's instant was `LATE`.
fn redacted(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut line = line.to_owned();
        for start in (0..line.len()).rev() {
            if !line.is_char_boundary(start) {
                continue;
            }
            let length = instant_length(&line[start..]);
            // What the provider said is the same in each run.
            if length > 0 && !line[start..].starts_with("2026-01-31T21:00:00") {
                line.replace_range(start..start + length, "TIME");
            }
        }
        if let Some(late) = line.find("TIME  (") {
            line.replace_range(late + "TIME  ".len().., "(LATE)");
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// The length of the instant that the text starts with: `2026-01-31T21:00:00`, a fraction or none, `Z`.
fn instant_length(text: &str) -> usize {
    let shape = b"dddd-dd-ddTdd:dd:dd";
    let bytes = text.as_bytes();
    let matches = bytes.len() > shape.len()
        && shape
            .iter()
            .zip(bytes)
            .all(|(shape, byte)| if *shape == b'd' { byte.is_ascii_digit() } else { shape == byte });
    let fraction = |rest: &[u8]| rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.');
    match matches.then(|| fraction(&bytes[shape.len()..])).flatten() {
        Some(at) if bytes[shape.len() + at] == b'Z' => shape.len() + at + 1,
        _ => 0,
    }
}

fn check(name: &str, language: &str, shown: &[String]) {
    insta::assert_snapshot!(format!("{name}-{language}"), redacted(&shown.join("\n")));
}

#[test]
fn instants_are_redacted_and_nothing_else() {
    assert_eq!(redacted("a 2030-05-06T07:08:09Z b 2030-05-06T07:08:09.123456Z"), "a TIME b TIME");
    assert_eq!(redacted("2026-01-31T21:00:00.000000Z ñ 2030-05-06"), "2026-01-31T21:00:00.000000Z ñ 2030-05-06");
    assert_eq!(redacted("x 2030-05-06T07:08:09Z  (3 d later)"), "x TIME  (LATE)");
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
