//! The fuzzer's seeds for webhooks: made from the vectors, kept in the repository, and replayed without a fuzzer.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

/// Set, the files are written anew.
const UPDATE: &str = "COLA_IA_UPDATE_CORPUS";
/// What comes once as it is and once signed, in the form that the scheme has; as CloudEvents; as a look at the address.
const PLAIN: char = '@';
const CLOUD_EVENTS: char = 'P';
const LOOK: char = 'C';

/// Of forms that no vector has, by name.
const MORE: [(&str, &str, char, &str); 6] = [
    (
        "form-multipart",
        "form",
        PLAIN,
        "content-type:multipart/form-data; boundary=B\n\n--B\r\nContent-Disposition: form-data; name=\"id\"\r\n\r\n7\r\n--B\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\nñ\r\n--B--\r\n",
    ),
    (
        "cloud-events-structured",
        "hmac",
        CLOUD_EVENTS,
        "content-type:application/cloudevents+json\n\n{\"specversion\":\"1.0\",\"id\":\"7\",\"source\":\"/s\",\"type\":\"t\",\"time\":\"2025-06-15T15:06:40Z\",\"data\":{\"a\":1}}",
    ),
    (
        "cloud-events-batch",
        "hmac",
        CLOUD_EVENTS,
        "content-type:application/cloudevents-batch+json\n\n[{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"s\",\"type\":\"t\"},{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"s\",\"type\":\"t\"}]",
    ),
    (
        "cloud-events-binary",
        "hmac",
        CLOUD_EVENTS,
        "content-type:application/json\nce-specversion:1.0\nce-id:7\nce-source:/s\nce-type:t\n\n{\"a\":1}",
    ),
    ("hub-challenge", "meta", LOOK, "hub.mode=subscribe&hub.challenge=C%2B1&a"),
    (
        "numbers-and-escapes",
        "github",
        PLAIN,
        "content-type:application/json\n\n{\"id\":12345678901234567890.50e-3,\"text\":\"\\ud83d\\ude00\\u0000\",\"id\":null}",
    ),
];

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/webhook"))
}

/// Each scheme's first vector, and those of its vectors that are refused.
fn seeds() -> BTreeMap<String, Vec<u8>> {
    let vectors: Vec<Value> = serde_json::from_str(include_str!("fixtures/vectors.json")).unwrap();
    let mut seeds = BTreeMap::new();
    for vector in &vectors {
        let scheme = vector["scheme"].as_str().unwrap();
        let headers = vector["headers"].as_object().unwrap();
        let line = |(name, value): (&String, &Value)| format!("{name}:{}\n", value.as_str().unwrap());
        let lines = headers.iter().map(line).collect::<Vec<_>>().concat();
        let kind = if headers.keys().any(|name| name.eq_ignore_ascii_case("content-type")) {
            ""
        } else if vector["body"].as_str().unwrap().starts_with(['{', '[']) {
            "content-type:application/json\n"
        } else {
            "content-type:application/x-www-form-urlencoded\n"
        };
        let seed = format!("{scheme}\n{PLAIN}\n{kind}{lines}\n{}", vector["body"].as_str().unwrap());
        let is_refused = vector["accepted"] == false;
        let name = if is_refused { format!("{scheme}-refused") } else { scheme.to_owned() };
        seeds.entry(name).or_insert_with(|| seed.into_bytes());
    }
    for (name, scheme, choice, rest) in MORE {
        seeds.insert(
            name.to_owned(),
            format!("{scheme}\n{choice}{}{rest}", if choice == LOOK { "" } else { "\n" }).into_bytes(),
        );
    }
    seeds
}

#[test]
fn the_seeds_are_those_of_the_vectors() {
    let seeds = seeds();
    if std::env::var_os(UPDATE).is_some() {
        fs::create_dir_all(folder()).unwrap();
        for (name, seed) in &seeds {
            fs::write(folder().join(name), seed).unwrap();
        }
    }
    for (name, seed) in &seeds {
        let kept = fs::read(folder().join(name)).unwrap_or_default();
        assert!(kept == *seed, "fuzz/corpus/webhook/{name} is stale: run this test with {UPDATE}=1, then commit");
    }
}

/// Also those that a fuzzer found and somebody kept.
#[test]
fn the_corpus_holds_also_when_it_is_cut() {
    let mut count = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.len() <= 4_096, "{}: seeds are small", path.display());
        println!("{}", path.display());
        cola_ia_webhook::fuzz_one(&bytes);
        for cut in 0..bytes.len().min(300) {
            cola_ia_webhook::fuzz_one(&bytes[..bytes.len() - cut]);
        }
        count += 1;
    }
    assert!(count >= 40, "{count} files");
}
