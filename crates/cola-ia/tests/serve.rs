//! `cola-ia serve` as senders meet it: the real binary, real sockets.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use common::server::{Reply, Server, sign};
use common::{Place, Random, code, err, out, until};

const SECRET: &str = "topsecret";
const CONFIG: &str = "[source.web]\nscheme = \"hmac\"\nsecret_file = \"s\"\nmax_body = \"1MiB\"\n";

fn place() -> Place {
    Place::new().file("cola-ia.toml", CONFIG).file("s", format!("{SECRET}\n"))
}

/// Sends a signed event.
fn send(server: &Server, body: &str) -> Reply {
    let signed = sign(SECRET, body.as_bytes());
    server.ask("POST /in/web", &[("X-Signature", &signed), ("Content-Type", "application/json")], body.as_bytes())
}

fn event(id: &str) -> String {
    format!(r#"{{"id":"{id}","texto":"text of {id}"}}"#)
}

/// What a list of the program says of a field, line by line.
fn listed(place: &Place, args: &[&str], field: &str) -> Vec<String> {
    let output = place.run(args);
    assert_eq!(code(&output), 0, "{}", err(&output));
    let lines =
        out(&output).lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()).collect::<Vec<_>>();
    lines.iter().filter_map(|line| line[field].as_str().map(str::to_owned)).collect()
}

#[test]
fn of_fifty_equal_deliveries_at_once_one_is_new() {
    let place = place();
    let server = Server::start(&place);
    let (barrier, body) = (Barrier::new(50), event("e"));
    let replies: Vec<Reply> = thread::scope(|scope| {
        let ask = || {
            barrier.wait();
            send(&server, &body)
        };
        let running: Vec<_> = (0..50).map(|_| scope.spawn(ask)).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut verdicts: BTreeMap<&str, u32> = BTreeMap::new();
    for reply in &replies {
        assert_eq!(reply.status, 200, "{reply:?}");
        *verdicts.entry(reply.result()).or_default() += 1;
    }
    assert_eq!(verdicts, BTreeMap::from([("duplicate", 49), ("new", 1)]));
    let changed = send(&server, r#"{"id":"e","texto":"another"}"#);
    assert_eq!((changed.status, changed.result()), (200, "conflict"));
    assert_eq!(server.stop().0, Some(0));
    assert_eq!(listed(&place, &["jobs", "--json"], "id"), ["e"]);
}

#[test]
fn what_was_answered_is_there_after_a_kill() {
    let place = place();
    let mut random = Random::seeded("what_was_answered_is_there_after_a_kill");
    let (mut sent, mut answered) = (BTreeSet::new(), BTreeSet::new());
    for round in 0..6 {
        let server = Server::start(&place);
        let kill_at = Duration::from_micros(1_000 + random.below(60_000));
        let address = server.address.clone();
        let senders: Vec<_> = (0..8)
            .map(|sender| {
                let address = address.clone();
                thread::spawn(move || {
                    let (mut sent, mut answered) = (Vec::new(), Vec::new());
                    for n in 0..200 {
                        let id = format!("r{round}-{sender}-{n}");
                        let body = event(&id);
                        let Ok(mut stream) = TcpStream::connect(&address) else { break };
                        let head = format!(
                            "POST /in/web HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Signature: {}\r\n\
                             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                            sign(SECRET, body.as_bytes()),
                            body.len()
                        );
                        sent.push(id.clone());
                        if stream.write_all(head.as_bytes()).is_err() {
                            break;
                        }
                        if Reply::read(&mut stream).status != 200 {
                            break;
                        }
                        answered.push(id);
                    }
                    (sent, answered)
                })
            })
            .collect();
        thread::sleep(kill_at);
        server.kill();
        for sender in senders {
            let (more, known) = sender.join().unwrap();
            sent.extend(more);
            answered.extend(known);
        }
    }
    assert!(!answered.is_empty(), "nothing was answered before the kills");
    let server = Server::start(&place);
    for id in &sent {
        let reply = send(&server, &event(id));
        assert_eq!(reply.status, 200, "{reply:?}");
        assert!(!answered.contains(id) || reply.result() == "duplicate", "{id}: {reply:?}");
        assert_eq!(send(&server, &event(id)).result(), "duplicate", "{id}");
    }
    assert_eq!(server.stop().0, Some(0));
    let exported = place.run(&["export"]);
    let jobs = out(&exported).lines().filter(|line| line.starts_with("{\"kind\":\"job\"")).count();
    assert_eq!(jobs, sent.len(), "{}", err(&exported));
}

#[test]
fn slow_clients_are_cut_and_hold_nobody_up() {
    let place = place().with("COLA_IA_SERVE_HEADER_DEADLINE", "1s").with("COLA_IA_SERVE_BODY_DEADLINE", "1s");
    let server = Server::start(&place);
    let mut slow = Vec::new();
    for n in 0..60 {
        let mut stream = server.connect();
        match n % 3 {
            0 => {}
            1 => stream.write_all(b"POST /in/web HTTP/1.1\r\nHo").unwrap(),
            _ => stream
                .write_all(b"POST /in/web HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n{")
                .unwrap(),
        }
        slow.push(stream);
    }
    let start = Instant::now();
    for n in 0..20 {
        assert_eq!(send(&server, &event(&format!("n{n}"))).status, 200);
    }
    assert!(start.elapsed() < Duration::from_secs(15), "normal requests waited: {:?}", start.elapsed());
    for (n, mut stream) in slow.into_iter().enumerate() {
        let reply = Reply::read(&mut stream);
        assert_eq!(reply.status, if n % 3 == 2 { 408 } else { 0 }, "{n}: {reply:?}");
    }
}

#[test]
fn it_stops_within_its_grace_though_slow_clients_are_there() {
    let place = place().with("COLA_IA_SERVE_GRACE", "1s");
    let server = Server::start(&place);
    let mut slow = Vec::new();
    for head in
        ["", "POST /in/web HTTP/1.1\r\nHo", "POST /in/web HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"]
    {
        for _ in 0..5 {
            let mut stream = server.connect();
            stream.write_all(head.as_bytes()).unwrap();
            slow.push(stream);
        }
    }
    assert_eq!(send(&server, &event("e")).status, 200);
    let (status, took) = server.stop();
    assert_eq!(status, Some(0));
    assert!(took < Duration::from_secs(8), "{took:?}");
    drop(slow);
}

#[test]
fn bodies_that_are_too_large_are_refused_unread() {
    let place = place();
    let server = Server::start(&place);
    let start = Instant::now();
    let huge = server.ask("POST /in/web", &[("Content-Length", "10000000000")], b"");
    assert_eq!(huge.status, 413, "{huge:?}");
    assert!(huge.body.contains("body_too_large"), "{huge:?}");
    assert!(start.elapsed() < Duration::from_secs(5));
    let chunk = [format!("{:x}\r\n", 1 << 16).into_bytes(), vec![b'x'; 1 << 16], b"\r\n".to_vec()].concat();
    let chunked = server.ask("POST /in/web", &[("Transfer-Encoding", "chunked")], &chunk.repeat(17));
    assert_eq!(chunked.status, 413, "{chunked:?}");
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    bomb.write_all(&vec![b' '; 64 << 20]).unwrap();
    let bomb = server.ask("POST /in/web", &[("Content-Encoding", "gzip")], &bomb.finish().unwrap());
    assert_eq!(bomb.status, 413, "{bomb:?}");
    let coded = server.ask("POST /in/web", &[("Content-Encoding", "br")], b"x");
    assert_eq!(coded.status, 415, "{coded:?}");
}

#[test]
fn a_flipped_byte_is_refused_and_only_the_refusal_is_kept() {
    let place = place();
    let server = Server::start(&place);
    let (body, signed) = (event("e"), sign(SECRET, event("e").as_bytes()));
    for at in [0, body.len() / 2, body.len() - 1] {
        let mut changed = body.clone().into_bytes();
        changed[at] ^= 1;
        let reply = server.ask("POST /in/web?token=hunter2", &[("X-Signature", &signed)], &changed);
        assert_eq!(reply.status, 401, "{reply:?}");
        assert!(!reply.body.contains(&signed[7..]) && !reply.body.contains(SECRET), "{reply:?}");
    }
    let log = server.log();
    assert!(!log.contains("hunter2") && !log.contains(SECRET), "{log}");
    assert_eq!(server.stop().0, Some(0));
    assert_eq!(listed(&place, &["jobs", "--json"], "id"), [""; 0]);
    assert_eq!(listed(&place, &["deliveries", "--json"], "verdict"), ["invalid"; 3]);
}

#[test]
fn every_path_and_method_has_its_answer() {
    let place = place();
    let server = Server::start(&place);
    for (line, headers, status) in [
        ("GET /in/web", &[][..], 200),
        ("HEAD /in/web", &[], 200),
        ("GET /in/web/", &[], 200),
        ("PUT /in/web", &[], 405),
        ("GET /in/unknown", &[], 404),
        ("POST /in/unknown", &[], 404),
        ("POST /in/web", &[], 401),
        ("GET /in/web/../../livez", &[], 404),
        ("GET /in/web%2F..%2Fx", &[], 404),
        ("GET /livez", &[("Host", "evil.example")], 200),
        ("GET /readyz", &[("Host", "evil.example")], 200),
        ("GET /", &[("Host", "evil.example")], 421),
        ("GET /in/web", &[("Host", "evil.example:8787")], 421),
        ("GET /", &[("Host", "localhost")], 200),
        ("GET /metrics", &[], 401),
        ("GET /nowhere", &[], 404),
    ] {
        let reply = server.ask(line, headers, b"");
        assert_eq!(reply.status, status, "{line} {headers:?}: {reply:?}");
        assert!(!reply.head.contains("access-control"), "{reply:?}");
        assert!(status != 405 || reply.head.contains("allow: "), "{reply:?}");
    }
    assert_eq!(send(&server, &event("m")).status, 200);
    let token = String::from_utf8(place.read("cola_ia.sqlite3.admin-token")).unwrap();
    let bearer = format!("Bearer {}", token.trim());
    let metrics = server.ask("GET /metrics", &[("Authorization", &bearer)], b"");
    for line in [
        "cola_ia_deliveries_total{source=\"web\",verdict=\"new\"} 1",
        "cola_ia_jobs{state=\"pending\"} 1",
        "cola_ia_store_up 1",
    ] {
        assert!(metrics.body.contains(line), "{line}\n{}", metrics.body);
    }
    assert_eq!(server.stop().0, Some(0));
    assert_eq!(listed(&place, &["jobs", "--json"], "id"), ["m"]);
}

#[test]
fn the_link_of_the_first_start_logs_one_browser_in() {
    let place = place();
    let server = Server::start(&place);
    let log = server.log();
    let link = log.split_once("/login?code=").unwrap().1.split_whitespace().next().unwrap();
    let here = format!("http://{}", server.address);
    let form = format!("code={link}");
    let asked = server.ask(&format!("GET /login?code={link}"), &[], b"");
    assert_eq!(asked.status, 200, "{asked:?}");
    let post = |origin: &str, body: &str, cookie: &str, path: &str| {
        let headers = [("Origin", origin), ("Cookie", cookie), ("Content-Type", "application/x-www-form-urlencoded")];
        server.ask(&format!("POST {path}"), &headers, body.as_bytes())
    };
    assert_eq!(post("https://evil.example", &form, "", "/login").status, 403);
    let entered = post(&here, &form, "", "/login");
    assert_eq!(entered.status, 303, "{entered:?}");
    assert!(entered.head.contains("httponly; samesite=strict"), "{entered:?}");
    assert_eq!(post(&here, &form, "", "/login").status, 403, "twice");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(place.path("cola_ia.sqlite3.admin-token")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    drop(server);
    let again = Server::start(&place);
    assert!(!again.log().contains("/login?code="), "only the first start offers a link");
}

#[test]
fn an_empty_secret_keeps_it_from_starting() {
    let place = place().file("s", "\n");
    let output = place.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(code(&output), 2, "{}", err(&output));
    assert!(!place.path("cola_ia.sqlite3").exists());
}

#[test]
fn backups_are_made_and_old_ones_go() {
    let place = place().with("COLA_IA_BACKUP_EVERY", "1s").with("COLA_IA_BACKUP_KEEP", "2");
    let server = Server::start(&place);
    assert_eq!(send(&server, &event("e")).status, 200);
    let names = || {
        std::fs::read_dir(place.path("backups")).map_or_else(
            |_| BTreeSet::new(),
            |folder| {
                folder
                    .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                    // One that is being made has another name.
                    .filter(|name| name.starts_with("cola_ia.backup-") && name.ends_with("Z.sqlite3"))
                    .collect()
            },
        )
    };
    let first = until("a backup", || names().into_iter().next());
    until("it to give place", || (!names().contains(&first)).then_some(()));
    let (status, _) = server.stop();
    assert_eq!(status, Some(0));
    let left: BTreeSet<String> = names();
    assert!((1..=2).contains(&left.len()), "{left:?}");
    let newest = place.path("backups").join(left.last().unwrap());
    let output = place.run(&["jobs", "--json", "--db", newest.to_str().unwrap()]);
    assert!(out(&output).contains("\"id\":\"e\""), "{}{}", out(&output), err(&output));
}

#[test]
fn a_sample_of_the_command_enters_once_and_a_schedule_makes_up_for_its_last_firing() {
    let schedule = "[schedule.tick]\ncron = \"* * * * *\"\ntext = \"tick\"\ntype = \"tick\"\n\
                    [source.contact]\nunsigned = true\n[source.contact.form]\nallowed_origins = \"https://www.example.org\"\n";
    let place = Place::new().file("cola-ia.toml", format!("{CONFIG}{schedule}")).file("s", format!("{SECRET}\n"));
    // A firing of some minutes ago is known; the newest one since then is made up for, at once.
    let known = jiff::Timestamp::now().as_second().div_euclid(60) * 60 - 300;
    let known = jiff::Timestamp::from_second(known).unwrap();
    place.write("known.jsonl", format!("{{\"id\":\"tick@{known}\",\"text\":\"tick\",\"source\":\"schedule\"}}\n"));
    assert_eq!(code(&place.run(&["add", "known.jsonl"])), 0);
    let server = Server::start(&place);
    let url = format!("http://{}", server.address);
    let test = |name: &str, text: &str| {
        place.run(&["source", "test", name, "--url", &url, "--id", "sample-1", "--text", text, "--lang", "en"])
    };
    // The server knows its own address; the schemes here do not sign it.
    for (text, said) in [("one", "sample-1 new\n"), ("one", "sample-1 duplicate\n"), ("two", "sample-1 conflict\n")] {
        let sent = test("web", text);
        assert_eq!(out(&sent), said, "{}{}", err(&sent), server.log());
    }
    let sent = test("contact", "hello");
    assert_eq!(code(&sent), 0, "{}{}", err(&sent), server.log());
    let jobs = until("the schedule", || {
        let jobs = out(&place.run(&["jobs", "--json", "--source", "schedule"]));
        (jobs.lines().count() >= 2).then_some(jobs)
    });
    let newest = jobs.lines().next().unwrap();
    assert!(newest.contains("\"id\":\"tick@") && newest.contains("\"type\":\"tick\""), "{jobs}");
    // The newest, and what is up to two minutes late; not all that was missed.
    let missed = jiff::Timestamp::from_second(known.as_second() + 60).unwrap();
    assert!(!jobs.contains(&format!("tick@{missed}")), "{jobs}");
    server.kill();
}

#[test]
fn who_sends_or_asks_too_much_is_told_when_to_come_again() {
    let config = format!("{CONFIG}rate_limit = \"2/h\"\n");
    let place = place().file("cola-ia.toml", config).with("COLA_IA_SERVE_TOKEN_REQUESTS_A_MINUTE", "3");
    let server = Server::start(&place);
    assert_eq!((send(&server, &event("a")).status, send(&server, &event("b")).status), (200, 200));
    let refused = send(&server, &event("c"));
    assert_eq!(refused.status, 429, "{refused:?}");
    assert!(refused.head.contains("retry-after: ") && refused.body.contains("rate_limited"), "{refused:?}");
    let token = String::from_utf8(place.read("cola_ia.sqlite3.admin-token")).unwrap();
    let ask = || server.ask("GET /v1/jobs", &[("Authorization", &format!("Bearer {}", token.trim()))], b"");
    assert_eq!([ask().status, ask().status, ask().status], [200, 200, 200]);
    let refused = ask();
    assert_eq!(refused.status, 429, "{refused:?}");
    assert!(refused.head.contains("retry-after: "), "{refused:?}");
    server.stop();
    assert_eq!(listed(&place, &["jobs", "--json"], "id").len(), 2, "what was refused did not enter");
}

#[test]
fn a_session_does_nothing_for_pages_of_other_sites() {
    let place = place();
    let server = Server::start(&place);
    let log = server.log();
    let code = log.split_once("/login?code=").unwrap().1.lines().next().unwrap().trim();
    let form = [("Content-Type", "application/x-www-form-urlencoded"), ("Sec-Fetch-Site", "same-origin")];
    let entered = server.ask("POST /login", &form, format!("code={code}").as_bytes());
    assert_eq!(entered.status, 303, "{entered:?}");
    let cookie = entered.cookie.unwrap();
    let shown = |server: &Server| server.ask("GET /", &[("Cookie", &cookie)], b"").body.contains("/logout");
    assert!(shown(&server), "the session is one");
    for site in ["cross-site", "same-site"] {
        let refused = server.ask("POST /logout", &[("Cookie", &cookie), ("Sec-Fetch-Site", site)], b"");
        assert_eq!(refused.status, 403, "{refused:?}");
    }
    assert!(shown(&server), "it is still one");
    let left = server.ask("POST /logout", &[("Cookie", &cookie), ("Sec-Fetch-Site", "same-origin")], b"");
    assert_eq!(left.status, 303, "{left:?}");
    assert!(!shown(&server), "it has ended");
}
