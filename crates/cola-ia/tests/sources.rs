//! Senders, by the real binary: added, listed, checked, explained, tried.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Output;

use cola_ia_core::clock::{Clock as _, SystemClock};
use cola_ia_webhook::{Header, Outcome, Receiver, Request, Sample, Secret, Spec};
use common::Place;

const FILE: &str = "cola-ia.toml";
const SECRET: &str = "s3cret-of-tests";

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn every_scheme_can_be_added_in_both_languages_and_the_file_stays_valid() {
    for language in common::BOTH {
        let place = Place::new();
        for scheme in cola_ia_webhook::catalogue() {
            let added = place.run(&["--lang", language, "source", "add", &scheme.name]);
            assert!(added.status.success(), "{}: {}", scheme.name, err(&added));
            assert_eq!(out(&added), format!("http://127.0.0.1:8787/in/{}\n", scheme.name));
        }
        let listed = place.run(&["source", "list", "--json"]);
        assert_eq!(out(&listed).lines().count(), cola_ia_webhook::catalogue().len());
        let mode = fs::metadata(place.path(FILE)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
    }
}

#[test]
fn a_block_is_appended_and_nothing_else_is_touched() {
    let before = "# mine\nsource.pause_after = 3\npublic_url = \"https://cola.example/\"";
    let place = Place::new().file("real.toml", before);
    symlink(place.path("real.toml"), place.path(FILE)).unwrap();
    fs::set_permissions(place.path("real.toml"), fs::Permissions::from_mode(0o640)).unwrap();
    let added = place.run(&["source", "add", "stripe", "--name", "shop"]);
    assert_eq!(out(&added), "https://cola.example/in/shop\n", "{}", err(&added));
    let after = String::from_utf8(place.read("real.toml")).unwrap();
    assert!(after.starts_with(before) && after.contains("\n[source.shop]\nscheme = \"stripe\"\n"), "{after}");
    assert!(fs::symlink_metadata(place.path(FILE)).unwrap().is_symlink());
    assert_eq!(fs::metadata(place.path("real.toml")).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(place.names(), [FILE, "real.toml"]);
    for args in [&["source", "add", "stripe", "--name", "shop"][..], &["source", "add", "strype"]] {
        let again = place.run(args);
        assert!(!again.status.success() && again.stdout.is_empty());
        assert_eq!(place.read("real.toml"), after.as_bytes());
    }
    assert!(err(&place.run(&["source", "add", "strype"])).contains("did you mean “stripe”?"));
    // Where the table is written inline, nothing can be added to it from below.
    let place = Place::new().file(FILE, "source = { pause_after = 3 }\n");
    let refused = place.run(&["source", "add", "github"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(err(&refused).contains("would not be understood"), "{}", err(&refused));
    assert_eq!(place.read(FILE), b"source = { pause_after = 3 }\n");
}

#[test]
fn the_check_reads_every_secret_and_shows_none() {
    let text = "[source.a]\nscheme = \"github\"\nsecret_env = \"GITHUB_SECRET\"\n[source.b]\nscheme = \"hmac\"\nsecret_file = \"b.secret\"\n\
                [schedule.daily]\ncron = \"@daily\"\ntext = \"x\"\n";
    let place = Place::new().file(FILE, text);
    let check = place.run(&["config", "check"]);
    assert_eq!(check.status.code(), Some(2));
    assert!(err(&check).contains("cola-ia.toml:1: source.a: the variable GITHUB_SECRET"), "{}", err(&check));
    let place = Place::new().with("GITHUB_SECRET", SECRET).file(FILE, text).file("b.secret", format!("{SECRET}\n"));
    let check = place.run(&["config", "check"]);
    assert_eq!(out(&check), "ok\n", "{}", err(&check));
    assert!(err(&check).contains("b.secret does not count") && err(&check).contains("2 sources are ready"));
    assert!(err(&check).contains("schedule daily: next at "));
    for args in [
        &["config", "show", "--origin"][..],
        &["config", "show", "--json"],
        &["source", "list", "--json"],
        &["config", "check"],
    ] {
        let shown = place.run(args);
        assert!(shown.status.success());
        assert!(!(out(&shown) + &err(&shown)).contains(SECRET), "{args:?}");
    }
    place.write("b.secret", "");
    assert!(err(&place.run(&["config", "check"])).contains("it is empty"));
}

/// A request that GitHub would send, as a file.
fn captured(line_end: &str, body: &[u8], signed: &[u8]) -> Vec<u8> {
    let receiver = Receiver::new(&Spec::of("github"), vec![secret()], 1 << 20).unwrap();
    let sample = Sample { url: "https://x/in/github", id: "1-2-3", text: "", event_type: "push", body: Some(signed) };
    let request = receiver.sign(&sample, SystemClock.now(), &secret()).unwrap();
    let mut raw = format!("POST /in/github HTTP/1.1{line_end}").into_bytes();
    for (name, value) in &request.headers {
        raw.extend(format!("{name}: {value}{line_end}").bytes());
    }
    raw.extend(line_end.bytes());
    raw.extend(body);
    raw
}

fn secret() -> Secret {
    let scheme = cola_ia_webhook::find("github").unwrap();
    Secret::parse(scheme, SECRET.as_bytes()).unwrap()
}

#[test]
fn a_captured_request_is_explained_step_by_step() {
    let place = Place::new()
        .with("GITHUB_SECRET", SECRET)
        .file(FILE, "[source.github]\nscheme = \"github\"\nsecret_env = \"GITHUB_SECRET\"\n");
    for line_end in ["\n", "\r\n"] {
        let body = "{\"text\": \"ñ\r\n\"}".as_bytes();
        place.write("good", captured(line_end, body, body));
        let good = place.run(&["source", "check", "github", "--request", "good"]);
        assert_eq!(good.status.code(), Some(1), "a line end in a text is no JSON: {}", out(&good));
        let body = b"{\"a\":\r\n1}";
        let raw = captured(line_end, body, body);
        let good = place.run_with(&["source", "check", "github", "--request", "-"], &raw);
        assert!(good.status.success(), "{}{}", out(&good), err(&good));
        assert!(out(&good).contains("1-2-3") && out(&good).ends_with("ok   accepted\n"), "{}", out(&good));
    }
    let body = b"{\"a\":1}";
    let raw = captured("\n", b"{\"a\":2}", body);
    let right = captured("\n", body, body);
    let right = String::from_utf8(right).unwrap();
    let right = right.lines().find_map(|line| line.split("sha256=").nth(1)).unwrap().to_owned();
    for args in [
        &["source", "check", "github", "--request", "-"][..],
        &["source", "check", "github", "--request", "-", "--json"],
    ] {
        // Signed with another body: what would have been right for this one is in nothing that is said.
        let refused = place.run_with(args, &raw);
        assert_eq!(refused.status.code(), Some(1));
        let said = out(&refused) + &err(&refused);
        assert!(said.contains("signature_invalid"), "{said}");
        let wanted = captured("\n", b"{\"a\":2}", b"{\"a\":2}");
        let wanted = String::from_utf8(wanted).unwrap();
        let wanted = wanted.lines().find_map(|line| line.split("sha256=").nth(1)).unwrap().to_owned();
        assert!(!said.contains(&wanted) && !said.contains(&right) && !said.contains(SECRET), "{said}");
    }
    let broken = place.run_with(&["source", "check", "github", "--request", "-"], b"{\"a\":1}\n");
    assert_eq!(broken.status.code(), Some(1));
    assert!(err(&broken).contains("first line of a request"), "{}", err(&broken));
    let unknown = place.run(&["source", "check", "githup", "--request", "good"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(err(&unknown).contains("did you mean “github”?"));
}

#[test]
fn an_old_request_is_judged_at_its_own_time() {
    let place = Place::new()
        .with("STRIPE_SECRET", SECRET)
        .file(FILE, "[source.stripe]\nscheme = \"stripe\"\nsecret_env = \"STRIPE_SECRET\"\n");
    let scheme = cola_ia_webhook::find("stripe").unwrap();
    let secret = Secret::parse(scheme, SECRET.as_bytes()).unwrap();
    let receiver = Receiver::new(&Spec::of("stripe"), vec![secret.clone()], 1 << 20).unwrap();
    let then = cola_ia_core::clock::Timestamp::parse_rfc3339("2026-01-31T09:00:00Z").unwrap();
    let sample =
        Sample { url: "http://127.0.0.1:8787/in/stripe", id: "evt_1", text: "x", event_type: "test", body: None };
    let request = receiver.sign(&sample, then, &secret).unwrap();
    let lines: Vec<String> = request.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    let head = lines.concat();
    let mut raw = format!("POST /in/stripe HTTP/1.1\n{head}\n").into_bytes();
    raw.extend(&request.body);
    let late = place.run_with(&["source", "check", "stripe", "--request", "-"], &raw);
    assert_eq!(late.status.code(), Some(1));
    assert!(err(&late).contains("--at"), "{}", err(&late));
    let then = place.run_with(&["source", "check", "stripe", "--request", "-", "--at", "2026-01-31T09:04:59Z"], &raw);
    assert!(then.status.success(), "{}", out(&then));
}

/// Answers one request with this, and gives what it was.
fn answering(answer: &'static str) -> (u16, std::thread::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
        let mut got = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let read = stream.read(&mut buffer).unwrap();
            got.extend(&buffer[..read]);
            let text = String::from_utf8_lossy(&got).to_ascii_lowercase();
            let Some(end) = text.find("\r\n\r\n") else { continue };
            let length = text.split("content-length: ").nth(1).and_then(|rest| rest.split('\r').next()).unwrap();
            if got.len() >= end + 4 + length.parse::<usize>().unwrap() {
                break;
            }
        }
        stream.write_all(answer.as_bytes()).unwrap();
        got
    });
    (port, thread)
}

#[test]
fn a_sample_is_signed_and_its_verdict_printed() {
    let place = Place::new()
        .with("GITHUB_SECRET", SECRET)
        .file(FILE, "[source.github]\nscheme = \"github\"\nsecret_env = [\"GITHUB_SECRET\"]\n");
    let answer =
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 18\r\n\r\n{\"result\":\"duplicate\"}";
    let answer: &'static str = Box::leak(answer.replace("18", "22").into_boxed_str());
    let (port, server) = answering(answer);
    let url = format!("http://127.0.0.1:{port}");
    let sent = place.run(&["source", "test", "github", "--url", &url, "--id", "once-1", "--text", "hola"]);
    assert_eq!(out(&sent), "once-1 repetido\n", "{}", err(&sent));
    let got = server.join().unwrap();
    let text = String::from_utf8(got.clone()).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /in/github HTTP/1.1\r\n"), "{head}");
    let headers: Vec<Header<'_>> = head
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| Header { name, value: value.as_bytes() })
        .collect();
    let receiver = Receiver::new(&Spec::of("github"), vec![secret()], 1 << 20).unwrap();
    let request =
        Request { method: "POST", url: "http://127.0.0.1:8787/in/github", headers: &headers, body: body.as_bytes() };
    let Outcome::Events(found) = receiver.receive(&request, SystemClock.now()) else { panic!("{text}") };
    assert_eq!(found[0].id.as_str(), "once-1");
    assert!(found[0].content.text().contains("hola"));
}

#[test]
fn a_sample_goes_nowhere_else() {
    let place = Place::new()
        .with("GITHUB_SECRET", SECRET)
        .file(FILE, "[source.github]\nscheme = \"github\"\nsecret_env = \"GITHUB_SECRET\"\n");
    let (port, server) = answering(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/in/github\r\ncontent-length: 0\r\n\r\n",
    );
    let sent = place.run(&["source", "test", "github", "--url", &format!("http://127.0.0.1:{port}/in/github/")]);
    server.join().unwrap();
    assert_eq!(sent.status.code(), Some(1));
    assert!(err(&sent).contains("answered 307") && !err(&sent).contains(SECRET), "{}", err(&sent));
    for (url, code) in [("http://192.0.2.1", 2), ("ftp://127.0.0.1", 2), ("cola.example", 2), ("http://127.0.0.1:1", 1)]
    {
        let sent = place.run(&["source", "test", "github", "--url", url]);
        assert_eq!(sent.status.code(), Some(code), "{url}: {}", err(&sent));
    }
}

#[test]
fn a_commands_environment_has_no_secret_of_a_source() {
    let place = Place::new()
        .with("GITHUB_SECRET", SECRET)
        .file(FILE, "[source.github]\nscheme = \"github\"\nsecret_env = \"GITHUB_SECRET\"\n")
        .file("one.jsonl", "{\"id\":\"a\",\"text\":\"x\"}\n");
    assert!(place.run(&["add", "one.jsonl"]).status.success());
    let worked = place.run(&["work", "--drain", "--", "sh", "-c", "env > env.txt"]);
    assert!(worked.status.success(), "{}", err(&worked));
    let env = String::from_utf8(place.read("env.txt")).unwrap();
    assert!(env.contains("COLA_IA_ID=a") && !env.contains("GITHUB_SECRET") && !env.contains(SECRET), "{env}");
}
