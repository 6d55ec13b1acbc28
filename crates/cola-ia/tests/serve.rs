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
use common::{Place, Random, code, err, out, signal, until};
use nix::sys::signal::Signal;

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

/// Begins a body whose length is not told, and sends so many bytes of it.
fn begin_chunked(server: &Server, signed: &str, bytes: &[u8]) -> TcpStream {
    let mut stream = server.connect();
    let head = format!(
        "POST /in/web HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         X-Signature: {signed}\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let _ = stream.write_all(&[format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat());
    stream
}

#[test]
fn a_body_of_untold_length_holds_what_has_come_of_it() {
    let place = place().with("COLA_IA_SERVE_BODY_BUDGET", "2MiB").with("COLA_IA_SERVE_BODY_DEADLINE", "60s");
    let server = Server::start(&place);
    // Their bounds together are twenty times the budget.
    let many: Vec<_> = (0..40)
        .map(|n| {
            let body = event(&format!("e{n}"));
            let (first, rest) = body.split_at(9);
            (begin_chunked(&server, &sign(SECRET, body.as_bytes()), first.as_bytes()), rest.to_owned())
        })
        .collect();
    for (mut stream, rest) in many {
        write!(stream, "{:x}\r\n{rest}\r\n0\r\n\r\n", rest.len()).unwrap();
        assert_eq!(Reply::read(&mut stream).status, 200);
    }
    // Two of them have most of it; who finds no more of it is to come again.
    let piece = vec![b'x'; 16 << 10];
    let mut held: Vec<_> = (0..2).map(|_| begin_chunked(&server, "sha256=00", &vec![b'x'; 800 << 10])).collect();
    // Sends until it is answered, piece by piece: nothing is left unread then.
    let answer = || {
        let mut stream = begin_chunked(&server, "sha256=00", &piece);
        stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        for _ in 0..50 {
            if stream.peek(&mut [0]).is_ok() {
                break;
            }
            stream.write_all(&[b"4000\r\n", piece.as_slice(), b"\r\n"].concat()).unwrap();
        }
        let _ = stream.write_all(b"0\r\n\r\n");
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Reply::read(&mut stream)
    };
    // Before the two have come it has room, and is refused for its signature.
    let busy = until("one to find no room", || Some(answer()).filter(|reply| reply.status == 503));
    assert!(busy.head.contains("retry-after") && busy.body.contains("server_busy"), "{busy:?}");
    assert_eq!(send(&server, &event("small")).status, 200, "small ones pass all the same");
    held.clear();
    until("the room to be given back", || (answer().status == 401).then_some(()));
}

#[test]
fn a_ping_of_discord_is_answered_and_is_no_event() {
    // The key pair is that of RFC 8032's first test, the signatures were made with it.
    let key = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    let config = "[source.discord]\nscheme = \"discord\"\nsecret_file = \"k\"\n\
                  [source.happenings]\nscheme = \"discord-events\"\nsecret_file = \"k\"\nfallback_id = \"documented\"\n";
    let place = Place::new().file("cola-ia.toml", config).file("k", key);
    let server = Server::start(&place);
    let interaction = r#"{"application_id":"1100000000000000001","entitlements":[],"id":"1200000000000000002","token":"not-a-token","type":1,"version":1}"#;
    let signed = "5bcad1d344fbd7b68243edf82a3d3e949b9b19b2efb2168f27e86c9fe6f007059c416ce4ce6ee9cb749a3302bd589fb48e08ed259825f99a8f9aeb3212859d0a";
    let event = r#"{"application_id":"1100000000000000001","type":0,"version":1}"#;
    let event_signed = "97cf7fb7ac26c669a3b197156bd994273e34c0a8ed819a399bca24194d487863b0192cc1e459470f438bd618c8c96708a28e39e4420491fd0bfdf3dbe3431b03";
    let post = |source: &str, body: &str, signed: &str| {
        let headers = [
            ("X-Signature-Ed25519", signed),
            ("X-Signature-Timestamp", "1750000000"),
            ("Content-Type", "application/json"),
        ];
        server.ask(&format!("POST /in/{source}"), &headers, body.as_bytes())
    };
    let pong = post("discord", interaction, signed);
    assert_eq!((pong.status, pong.body.as_str()), (200, r#"{"type":1}"#), "{pong:?}");
    assert!(pong.head.contains("content-type: application/json"), "{pong:?}");
    let nothing = post("happenings", event, event_signed);
    assert_eq!((nothing.status, nothing.body.as_str()), (204, ""), "{nothing:?}");
    // It is tried with wrong signatures too, and keeps no address that takes them.
    assert_eq!(post("discord", interaction, event_signed).status, 401);
    assert_eq!(post("discord", &interaction.replace("version\":1", "version\":2"), signed).status, 401);
    assert_eq!(server.stop().0, Some(0));
    assert_eq!(listed(&place, &["jobs", "--json"], "id"), [""; 0]);
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let place = place().with("COLA_IA_SERVE_GRACE", "5m").with("COLA_IA_SERVE_BODY_DEADLINE", "10m");
    for first in [Signal::SIGTERM, Signal::SIGINT] {
        let mut server = Server::start(&place);
        let mut slow = server.connect();
        slow.write_all(b"POST /in/web HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{").unwrap();
        // It is being read once another request that came later is answered.
        assert_eq!(send(&server, &event("e")).status, 200);
        signal(&server.child, first);
        until("it to listen no more", || TcpStream::connect(&server.address).is_err().then_some(()));
        thread::sleep(Duration::from_secs(1));
        assert_eq!(server.child.try_wait().unwrap(), None, "it waits for the slow one");
        let start = Instant::now();
        signal(&server.child, Signal::SIGTERM);
        let status = until("it to end", || server.child.try_wait().unwrap());
        assert_eq!(status.code(), Some(130));
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        // What was answered is there.
        assert_eq!(listed(&place, &["jobs", "--json"], "id"), ["e"]);
    }
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
fn what_becomes_of_effects_is_counted() {
    let place = place();
    let server = Server::start(&place);
    let token = String::from_utf8(place.read("cola_ia.sqlite3.admin-token")).unwrap().trim().to_owned();
    let url = format!("http://{}", server.address);
    let run =
        |args: &[&str]| place.command(args).env("COLA_IA_SERVER", &url).env("COLA_IA_TOKEN", &token).output().unwrap();
    let said = |args: &[&str], exit: i32| {
        let done = run(args);
        assert_eq!(code(&done), exit, "{args:?}: {}{}", out(&done), err(&done));
        out(&done)
    };
    let begun = || {
        let lease = said(&["claim"], 0).split(' ').next().unwrap().to_owned();
        said(&["effect", "begin", "publish", "--lease", &lease], 0);
        lease
    };
    for id in ["a", "b", "c", "d"] {
        assert_eq!(send(&server, &event(id)).status, 200);
    }
    let tell = |lease: &str, words: &[&str], exit: i32| {
        said(&[&["effect", words[0], "publish", "--lease", lease][..], &words[1..]].concat(), exit);
    };
    tell(&begun(), &["done", "--try", "1", "--resource", "r-1"], 0);
    tell(&begun(), &["failed", "--try", "1", "--rejected"], 0);
    for decision in [&["--happened", "r-2"][..], &["--abandon"]] {
        let lease = begun();
        tell(&lease, &["unknown", "--try", "1"], 0);
        // Neither a key nor a lookup can tell, so a person is asked.
        tell(&lease, &["begin"], 9);
        let held = said(&["effect", "list", "--state", "held", "--json"], 0);
        let held: serde_json::Value = serde_json::from_str(held.trim()).unwrap();
        said(&[&["effect", "resolve", held["id"].as_str().unwrap(), "publish"][..], decision].concat(), 0);
    }
    // What is void is not counted.
    tell("nobody-has-it", &["unknown", "--try", "9"], 2);
    let metrics = server.ask("GET /metrics", &[("Authorization", &format!("Bearer {token}"))], b"").body;
    let mut counted: Vec<&str> =
        metrics.lines().filter(|line| line.starts_with("cola_ia_effect_outcomes_total")).collect();
    counted.sort_unstable();
    let line = |outcome: &str, count: u32| format!("cola_ia_effect_outcomes_total{{outcome=\"{outcome}\"}} {count}");
    let expected =
        [("abandoned", 1), ("decided_found", 1), ("done", 1), ("failed", 1), ("unknown", 2)].map(|(o, n)| line(o, n));
    assert_eq!(counted, expected);
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
