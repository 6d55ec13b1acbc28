//! From a sender to a resource, with what senders, browsers and tools of others really do.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use common::server::{Server, sign};
use common::{Place, code, err, has_tool, out};
use serde_json::Value;

const SECRET: &str = "topsecret";

/// What `cargo xtask test` has laid out for the tests, and says in a variable.
fn laid_out(variable: &str, what: &str, probe: impl FnOnce(&Path) -> Command) -> Option<PathBuf> {
    let found = PathBuf::from(std::env::var_os(variable).unwrap_or_default());
    has_tool(&format!("{what}, named in {variable},"), &mut probe(&found)).then_some(found)
}

fn is_there(path: PathBuf) -> Command {
    let mut probe = Command::new("test");
    probe.arg("-e").arg(path);
    probe
}

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn json_line(place: &Place, args: &[&str]) -> Value {
    let output = place.run(args);
    assert_eq!(code(&output), 0, "{args:?}: {}", err(&output));
    serde_json::from_str(out(&output).lines().next().unwrap_or_default()).unwrap()
}

#[test]
fn payloads_of_github_enter_once_whatever_is_sent_again() {
    let Some(packages) =
        laid_out("COLA_IA_NODE_PACKAGES", "the payloads of GitHub", |folder| is_there(folder.join("node_modules")))
    else {
        return;
    };
    let examples = packages.join("node_modules/@octokit/webhooks-examples/api.github.com/index.json");
    let events: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(examples).unwrap()).unwrap();
    let place = Place::new()
        .file("cola-ia.toml", "[source.github]\nscheme = \"github\"\nsecret_file = \"s\"\n")
        .file("s", format!("{SECRET}\n"));
    let server = Server::start(&place);
    let send = |id: &str, name: &str, body: &str| {
        let signed = sign(SECRET, body.as_bytes());
        let headers = [
            ("X-GitHub-Delivery", id),
            ("X-GitHub-Event", name),
            ("X-Hub-Signature-256", signed.as_str()),
            ("Content-Type", "application/json"),
        ];
        let reply = server.ask("POST /in/github", &headers, body.as_bytes());
        assert_eq!(reply.status, 200, "{name}: {reply:?}");
        reply.result().to_owned()
    };
    // Some of the examples are the same to the byte: those are replays of each other.
    let (mut count, mut bodies) = (0, BTreeSet::new());
    for event in &events {
        let name = event["name"].as_str().unwrap();
        for (n, example) in event["examples"].as_array().unwrap().iter().enumerate() {
            let (id, body) = (format!("{name}-{n}"), example.to_string());
            if !bodies.insert(body.clone()) {
                continue;
            }
            assert_eq!(send(&id, name, &body), "new", "{id}");
            assert_eq!(send(&id, name, &body), "duplicate", "{id}");
            assert_eq!(send(&format!("replay-of-{id}"), name, &body), "duplicate", "{id} under another id");
            let changed = body.replacen('{', "{\"changed\":true,", 1);
            assert_eq!(send(&id, name, &changed), "conflict", "{id} with another content");
            count += 1;
        }
    }
    assert!(count > 100, "only {count} payloads");
    let stats = json_line(&place, &["stats", "--json"]);
    assert_eq!((&stats["new"], &stats["conflict"]), (&count.into(), &count.into()));
    assert_eq!(stats["duplicate"], 2 * count);
}

#[test]
fn a_signed_webhook_becomes_one_resource_by_a_worker_over_http() {
    let place = Place::new()
        .file("cola-ia.toml", "[source.web]\nscheme = \"hmac\"\nsecret_file = \"s\"\n")
        .file("s", format!("{SECRET}\n"))
        .file("publish.sh", "echo '{\"resource_id\":\"post-7\"}' >\"$COLA_IA_RESULT\"\necho sent >> posts\n");
    let server = Server::start(&place);
    let output = place.run(&["token", "create", "worker", "--scope", "work,read"]);
    assert_eq!(code(&output), 0, "{}", err(&output));
    let (token, url) = (out(&output).trim().to_owned(), format!("http://{}", server.address));
    let body = r#"{"id":"idea-42","texto":"Compare two models"}"#;
    let signed = sign(SECRET, body.as_bytes());
    let headers = [("X-Signature", signed.as_str()), ("Content-Type", "application/json")];
    for expected in ["new", "duplicate"] {
        assert_eq!(server.ask("POST /in/web", &headers, body.as_bytes()).result(), expected);
    }
    let remote = |args: &[&str]| {
        let output = place.command(args).env("COLA_IA_SERVER", &url).env("COLA_IA_TOKEN", &token).output().unwrap();
        assert_eq!(code(&output), 0, "{args:?}: {}", err(&output));
        output
    };
    for _ in 0..2 {
        let program = env!("CARGO_BIN_EXE_cola-ia");
        remote(&["work", "--drain", "--", program, "effect", "run", "publish", "--", "sh", "publish.sh"]);
    }
    let shown: Value = serde_json::from_str(out(&remote(&["show", "idea-42", "--json"])).trim()).unwrap();
    assert_eq!((&shown["state"], &shown["attempts"]), (&"done".into(), &1.into()));
    assert_eq!(shown["effects"][0]["resource_id"], "post-7", "{shown}");
    assert_eq!(std::fs::read_to_string(place.path("posts")).unwrap(), "sent\n");
    let counted = server.ask("GET /metrics", &[("Authorization", &format!("Bearer {token}"))], b"").body;
    for line in ["cola_ia_attempts_total{outcome=\"done\"} 1", "verdict=\"duplicate\"} 1"] {
        assert!(counted.contains(line), "{line} in {counted}");
    }
}

/// The block of `cola-ia.toml` that a page of examples/form prints, for this site.
fn block_of(page: &str, site: &str) -> String {
    let (_, block) = page.split_once("\n[source.").unwrap();
    let block = block.split_once("\n-->").unwrap().0;
    format!("[source.{block}\n").replace("https://www.example.org", site)
}

#[test]
fn a_form_that_is_clicked_twice_in_a_browser_enters_once() {
    let Some(packages) =
        laid_out("COLA_IA_NODE_PACKAGES", "a browser's remote control", |folder| is_there(folder.join("node_modules")))
    else {
        return;
    };
    if !has_tool("chromium", Command::new("chromium").args(["--version", "--no-sandbox"])) {
        return;
    }
    for (name, source, thanks, fields) in [
        ("form.html", "contact", "thanks", ["name", "email", "text"]),
        ("formulario.html", "contacto", "gracias", ["nombre", "correo", "texto"]),
    ] {
        let page = std::fs::read_to_string(repository().join("examples/form").join(name)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let site = format!("http://{}", listener.local_addr().unwrap());
        let place = Place::new().file("cola-ia.toml", block_of(&page, &site));
        let server = Server::start(&place);
        let form = page.replace("https://cola.example", &format!("http://{}", server.address));
        show(listener, form, thanks);
        let output = Command::new("node")
            .arg(repository().join("tests/end-to-end/form.cjs"))
            .arg(&site)
            .env("COLA_IA_NODE_PACKAGES", &packages)
            .output()
            .unwrap();
        assert_eq!(code(&output), 0, "{name}: {}{}", out(&output), err(&output));
        assert_eq!(out(&output).trim(), format!("{site}/{thanks}"));
        let stats = json_line(&place, &["stats", "--json"]);
        let counted = (&stats["new"], &stats["conflict"], &stats["invalid"]);
        assert_eq!(counted, (&1.into(), &0.into(), &0.into()), "{name}: {stats}");
        assert!(stats["duplicate"].as_u64().unwrap() >= 1, "{name} was sent again: {stats}");
        let job = json_line(&place, &["jobs", "--json"]);
        assert_eq!(job["source"], source);
        let shown = json_line(&place, &["show", "--json", job["id"].as_str().unwrap()]);
        let text = shown["text"].as_str().unwrap();
        for part in ["Ana", "ana@example.org", "Hola, ¿qué tal?"].iter().chain(&fields) {
            assert!(text.contains(part), "{part}: {shown}");
        }
    }
}

/// Shows a page at every address but that of its thanks.
fn show(listener: TcpListener, page: String, thanks: &'static str) {
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let is_thanks = lines.next().is_some_and(|line| line.contains(thanks));
            lines.find(String::is_empty);
            let body = if is_thanks { "<title>thanks</title>" } else { page.as_str() };
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n";
            let _ = write!(&stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len());
        }
    });
}

#[test]
fn the_api_does_what_its_description_says() {
    let Some(python) = laid_out("COLA_IA_SCHEMATHESIS_PYTHON", "a Python with schemathesis", |python| {
        let mut probe = Command::new(python);
        probe.args(["-c", "import schemathesis"]);
        probe
    }) else {
        return;
    };
    let place = Place::new();
    let server = Server::start(&place);
    let output = place.run(&["token", "create", "tester", "--scope", "ingest,work,read,operate"]);
    let token = out(&output).trim().to_owned();
    assert_eq!(code(&output), 0, "{}", err(&output));
    let schemathesis = python.with_file_name("schemathesis");
    let output = Command::new(schemathesis)
        .arg("run")
        .arg(format!("http://{}/v1/openapi.json", server.address))
        .args(["--header", &format!("Authorization: Bearer {token}")])
        // It cannot write lines of JSON by itself.
        .args(["--exclude-path", "/v1/import"])
        .args(["--max-examples", "8", "--phases", "examples,fuzzing", "--request-timeout", "10", "--seed", "7"])
        .args([
            "--checks",
            "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
        ])
        .current_dir(place.path("."))
        .output()
        .unwrap();
    assert_eq!(code(&output), 0, "{}\n{}\n{}", out(&output), err(&output), server.log());
}
