//! `--server https://…`: the real program against the real server behind TLS.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;
#[path = "common/tls.rs"]
mod tls;

use std::process::Output;
use std::time::{Duration, Instant};

use common::server::Server;
use common::{BOTH, Place, check_exit, err, out};
use tls::{Authority, Terminator};

/// A server behind TLS, and a folder of a client.
struct Behind {
    client: Place,
    server: Server,
    authority: Authority,
    token: String,
    _home: Place,
}

impl Behind {
    fn new() -> Self {
        let home = Place::new();
        let server = Server::start(&home);
        let token = String::from_utf8(home.read("cola_ia.sqlite3.admin-token")).unwrap().trim().to_owned();
        let authority = Authority::new("ours");
        let client = Place::new().file("authority.pem", &authority.pem);
        Self { client, server, authority, token, _home: home }
    }

    fn run(&self, url: &str, args: &[&str], trusted: Option<&str>) -> Output {
        let mut command = self.client.command(args);
        command.env("COLA_IA_SERVER", url).env("COLA_IA_TOKEN", &self.token);
        trusted.map(|name| command.env("SSL_CERT_FILE", self.client.path(name)));
        command.output().unwrap()
    }
}

#[test]
fn a_private_authority_is_trusted_by_its_file() {
    let behind = Behind::new();
    let terminator = Terminator::start(&behind.authority, "localhost", &behind.server.address);
    let url = format!("https://localhost:{}", terminator.port);
    behind.client.write("eventos.jsonl", "{\"id\":\"a\",\"texto\":\"uno\"}\n{\"id\":\"b\",\"texto\":\"dos\"}\n");
    let ok = |args: &[&str]| {
        let done = behind.run(&url, args, Some("authority.pem"));
        check_exit(&done, 0);
        out(&done)
    };
    ok(&["add", "eventos.jsonl"]);
    ok(&["work", "--drain", "--", "sh", "-c", "cat > done.$COLA_IA_ID"]);
    assert_eq!(behind.client.read("done.a"), b"uno");
    assert_eq!(ok(&["jobs", "--json", "--state", "done"]).lines().count(), 2);
    // What comes piece by piece, too.
    ok(&["backup", "b.sqlite3"]);
    assert_eq!(ok(&["export"]).lines().filter(|line| line.starts_with("{\"kind\":\"event\"")).count(), 2);
}

#[test]
fn a_server_that_cannot_prove_its_name_is_refused_at_once_and_told_what_to_do() {
    let behind = Behind::new();
    let other = Authority::new("another");
    behind.client.write("other.pem", &other.pem);
    let named = |authority, name: &str| Terminator::start(authority, name, &behind.server.address);
    let (good, wrong) = (named(&behind.authority, "localhost"), named(&behind.authority, "cola.example"));
    for (port, trusted, cause) in
        [(good.port, Some("other.pem"), "UnknownIssuer"), (wrong.port, Some("authority.pem"), "cola.example")]
    {
        for lang in BOTH {
            let start = Instant::now();
            let done = behind.run(&format!("https://localhost:{port}"), &["jobs", "--lang", lang], trusted);
            check_exit(&done, 1);
            assert!(start.elapsed() < Duration::from_secs(9), "it was tried again: {:?}", start.elapsed());
            let said = err(&done);
            for part in ["SSL_CERT_FILE", cause, &format!("https://localhost:{port}")] {
                assert!(said.contains(part), "{part}: {said}");
            }
            assert!(!said.contains(&behind.token), "{said}");
        }
    }
}

#[test]
fn what_is_wrong_with_the_file_or_the_scheme_is_said() {
    let behind = Behind::new();
    behind.client.write("empty.pem", "no certificate\n");
    for file in ["missing.pem", "empty.pem"] {
        let done = behind.run("https://localhost:1", &["jobs"], Some(file));
        check_exit(&done, 1);
        assert!(err(&done).contains("SSL_CERT_FILE"), "{}", err(&done));
    }
    // It listens, and speaks no TLS.
    let plain = format!("https://{}", behind.server.address);
    let done = behind.run(&plain, &["jobs"], Some("authority.pem"));
    check_exit(&done, 1);
    assert!(err(&done).contains(&plain), "{}", err(&done));
}
