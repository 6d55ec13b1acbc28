//! `/v1`, request by request: who may do what, what is refused and how, and what intake, leases and orders answer.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

#[path = "common/served.rs"]
mod served;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use cola_ia::http::api::{Access, endpoints};
use cola_ia::remote::RemoteStore;
use cola_ia_core::clock::{SystemClock, SystemEntropy, Timestamp};
use cola_ia_core::event::Source;
use cola_ia_core::store::{OpId, Store, TokenScope, TokenView};
use cola_ia_core::verdict::Verdict;
use cola_ia_store::sqlite::{Options, SqliteStore};
use cola_ia_testkit::events::event;
use cola_ia_testkit::harness::block_on;
use serde_json::{Value, json};
use served::{Served, TOKEN};
use tempfile::TempDir;

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_mins(1);

/// A server over a new store, with a token for each scope and some that are good for nothing.
struct Place {
    served: Served,
    folder: TempDir,
}

/// An answer.
struct Said {
    status: u16,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Said {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.text()))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    fn lines(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The code of a problem, which is one in all its parts.
    fn problem(&self) -> String {
        assert_eq!(self.headers["content-type"], "application/problem+json", "{}", self.text());
        let problem = self.json();
        let code = problem["code"].as_str().unwrap().to_owned();
        assert_eq!(problem["type"], format!("urn:cola-ia:problem:{code}"));
        assert_eq!(problem["status"], self.status);
        assert!(problem["title"].is_string());
        code
    }
}

fn token(name: &str, scopes: &[TokenScope], sources: &[&str]) -> TokenView {
    TokenView {
        name: name.to_owned(),
        scopes: scopes.to_vec(),
        sources: sources.iter().map(|name| Source::new(name).unwrap()).collect(),
        created_at: Timestamp::from_micros(0),
        expires_at: None,
        revoked_at: None,
    }
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { allow_network_filesystem: true, ..Options::default() };
        let store = SqliteStore::open(&folder.path().join("store.sqlite3"), &options).unwrap().0;
        let mut tokens: Vec<(&str, TokenView)> =
            TokenScope::ALL.iter().map(|scope| (scope.as_str(), token(scope.as_str(), &[*scope], &[]))).collect();
        tokens.push(("bound", token("bound", &[TokenScope::Ingest], &["web"])));
        let all = || token("all", &TokenScope::ALL, &[]);
        tokens.push(("expired", TokenView { expires_at: Some(Timestamp::from_micros(1)), ..all() }));
        tokens.push(("revoked", TokenView { revoked_at: Some(Timestamp::from_micros(1)), ..all() }));
        let backups = folder.path().join("backups");
        let settings = [("COLA_IA_BACKUP_FOLDER", backups.to_str().unwrap()), ("COLA_IA_MAX_TEXT_BYTES", "1MiB")];
        let (clock, entropy) = (Arc::new(SystemClock), Arc::new(SystemEntropy));
        let served = Served::start_known(Arc::new(store), clock, entropy, &settings, tokens).unwrap();
        Self { served, folder }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.served.url().trim_start_matches("http://")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends a request with these header lines, and reads the answer.
    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Said {
        let mut stream = self.connect();
        let mut head = format!("{method} /v1{path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n");
        for (name, value) in headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        head.extend(["content-length: ", &body.len().to_string(), "\r\n\r\n"]);
        stream.write_all(head.as_bytes()).unwrap();
        // A server that refuses may close before the whole body was sent.
        let _ = stream.write_all(body);
        read_answer(stream)
    }

    fn get(&self, token: &str, path: &str) -> Said {
        self.send("GET", path, &[("authorization", &format!("Bearer {token}"))], b"")
    }

    fn post_as(&self, token: &str, path: &str, media_type: &str, body: &[u8]) -> Said {
        let headers = [("authorization", &*format!("Bearer {token}")), ("content-type", media_type)];
        self.send("POST", path, &headers, body)
    }

    fn post(&self, path: &str, body: &Value) -> Said {
        self.post_as(TOKEN, path, "application/json", body.to_string().as_bytes())
    }

    fn remote(&self) -> RemoteStore {
        RemoteStore::new(&self.served.url(), TOKEN).unwrap()
    }
}

fn read_answer(stream: TcpStream) -> Said {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("no status in {line:?}")).parse().unwrap();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let mut body = Vec::new();
    if headers.get("transfer-encoding").is_some_and(|coding| coding == "chunked") {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size).unwrap();
            let size = usize::from_str_radix(size.trim(), 16).unwrap();
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk).unwrap();
            if size == 0 {
                break;
            }
            body.extend_from_slice(&chunk[..size]);
        }
    } else {
        reader.read_to_end(&mut body).unwrap();
    }
    Said { status, headers, body }
}

/// What there is, and whose token may; a token `admin` may everything.
const EXPECTED: &[(&str, &str)] = &[
    ("GET /backup", "admin"),
    ("GET /budgets", "read"),
    ("GET /changes", "read work"),
    ("GET /conflicts", "read"),
    ("GET /costs", "read"),
    ("GET /currency", "read work"),
    ("GET /deliveries", "read"),
    ("GET /doctor", "admin"),
    ("GET /effects", "read"),
    ("GET /errors", "read"),
    ("GET /events", "read"),
    ("GET /export", "admin"),
    ("GET /follow", "read"),
    ("GET /jobs", "read"),
    ("GET /namespace", "read work"),
    ("GET /openapi.json", "open"),
    ("GET /restored", "read"),
    ("GET /sources", "read work"),
    ("GET /stats", "read work"),
    ("GET /tokens", "admin"),
    ("POST /batches", "ingest"),
    ("POST /batches/preview", "ingest"),
    ("POST /conflicts/resolve", "operate"),
    ("POST /effects/begin", "work"),
    ("POST /effects/decide", "operate"),
    ("POST /effects/done", "work"),
    ("POST /effects/failed", "work"),
    ("POST /effects/resolve", "work"),
    ("POST /effects/unknown", "work"),
    ("POST /events", "ingest"),
    ("POST /events/erase", "admin"),
    ("POST /import", "admin"),
    ("POST /jobs/order", "operate"),
    ("POST /leases/claim", "work"),
    ("POST /leases/end", "work"),
    ("POST /leases/extend", "work"),
    ("POST /leases/recover", "operate"),
    ("POST /prune", "admin"),
    ("POST /prune/preview", "admin"),
    ("POST /restored", "admin"),
    ("POST /sources/{source}/resume", "operate"),
    ("POST /tokens", "admin"),
    ("POST /tokens/revoke", "admin"),
    ("PUT /budgets/{source}", "operate"),
    ("PUT /currency", "work"),
];

#[test]
fn every_endpoint_lets_in_who_has_its_scope_and_nobody_else() {
    let place = Place::new();
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for endpoint in endpoints() {
        let name = format!("{} {}", endpoint.verb.as_str(), endpoint.path);
        let path = endpoint.path.replace("{source}", "web");
        let ask = |token: Option<&str>| {
            let bearer = token.map(|token| format!("Bearer {token}"));
            // Of no type that a body can have: who is let in does nothing.
            let mut headers = vec![("content-type", "text/plain")];
            headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
            place.send(endpoint.verb.as_str(), &path, &headers, b"{}")
        };
        let Access::Scoped(scopes, _) = endpoint.access else {
            assert_eq!(ask(None).status, 200, "{name}");
            found.insert(name, "open".to_owned());
            continue;
        };
        assert!(!scopes.is_empty(), "{name}");
        for nobody in [None, Some("garbage"), Some("expired"), Some("revoked")] {
            let said = ask(nobody);
            assert_eq!((said.status, &*said.problem()), (401, "token_needed"), "{name} {nobody:?}");
            assert!(said.headers["www-authenticate"].starts_with("Bearer"), "{name}");
        }
        let mut let_in = Vec::new();
        for scope in TokenScope::ALL {
            let said = ask(Some(scope.as_str()));
            assert_ne!(said.status, 401, "{name} {scope:?}");
            if said.status == 403 {
                assert_eq!(said.problem(), "scope_missing", "{name} {scope:?}");
            } else {
                let_in.push(scope);
            }
        }
        let expected: Vec<_> =
            TokenScope::ALL.into_iter().filter(|scope| scopes.contains(scope) || *scope == TokenScope::Admin).collect();
        assert_eq!(let_in, expected, "{name}");
        let mut words: Vec<&str> = scopes.iter().map(|scope| scope.as_str()).collect();
        words.sort_unstable();
        found.insert(name, words.join(" "));
    }
    let expected: BTreeMap<String, String> =
        EXPECTED.iter().map(|(name, scopes)| ((*name).to_owned(), (*scopes).to_owned())).collect();
    assert_eq!(found, expected);
    for page in ["API.md", "API.es.md"] {
        let page = std::fs::read_to_string(docs().join(page)).unwrap();
        for (name, scopes) in EXPECTED {
            let (verb, path) = name.split_once(' ').unwrap();
            let row = format!("| `{verb} /v1{path}` | {} |", scopes.replace(' ', ", "));
            assert!(page.contains(&row), "{row}");
        }
    }
}

fn docs() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

#[test]
fn a_token_of_one_source_hands_over_nothing_of_another() {
    let place = Place::new();
    let event = |source: &str| json!({"id": "a", "text": "x", "source": source});
    let batch = |source: &str| {
        let origin = json!({"input": "-", "line": 1});
        json!({"intake": [{"delivery": {"source": source, "id": "a", "text": "x", "origin": origin}}]})
    };
    let as_bound =
        |path: &str, body: &Value| place.post_as("bound", path, "application/json", body.to_string().as_bytes());
    let refused = [
        as_bound("/events", &event("shop")),
        as_bound("/events", &json!({"id": "a", "text": "x"})),
        as_bound("/events?source=shop", &json!({"id": "a", "text": "x"})),
        as_bound("/batches", &batch("shop")),
        as_bound("/batches/preview", &batch("shop")),
        as_bound(
            "/batches",
            &json!({"intake": [{"refusal": {"code": "id_blank", "origin": {"input": "-", "line": 1}}}]}),
        ),
    ];
    for said in refused {
        assert_eq!((said.status, &*said.problem()), (403, "source_not_allowed"));
    }
    assert_eq!(as_bound("/events", &event("web")).status, 201);
    assert_eq!(as_bound("/events?source=web", &json!({"id": "b", "text": "x"})).status, 201);
    assert_eq!(as_bound("/batches", &batch("web")).json()["receipts"][0]["verdict"], "duplicate");
    let lines = "{\"id\":\"c\",\"text\":\"x\",\"source\":\"shop\"}\n{\"id\":\"d\",\"text\":\"x\",\"source\":\"web\"}\n";
    let said = place.post_as("bound", "/events", "application/x-ndjson", lines.as_bytes());
    let verdicts: Vec<_> = said.lines().iter().map(|line| line["verdict"].as_str().unwrap().to_owned()).collect();
    assert_eq!(verdicts, ["forbidden", "new"]);
    let jobs = place.get("read", "/jobs").json();
    assert!(jobs["items"].as_array().unwrap().iter().all(|job| job["source"] == "web"), "{jobs}");
}

#[test]
fn what_is_wrong_with_a_request_is_told_as_a_problem() {
    let place = Place::new();
    let check = |said: Said, status: u16, code: &str| assert_eq!((said.status, &*said.problem()), (status, code));
    check(place.get(TOKEN, "/nothing"), 404, "path_unknown");
    check(place.get("", "/nothing/at/all"), 404, "path_unknown");
    let said = place.get(TOKEN, "/leases/claim");
    assert_eq!(said.headers["allow"], "POST");
    check(said, 405, "method_not_allowed");
    let said = place.send("DELETE", "/events", &[], b"");
    let allowed: BTreeSet<_> = said.headers["allow"].split(',').map(str::to_owned).collect();
    assert_eq!(allowed, ["GET", "HEAD", "POST"].map(str::to_owned).into());
    check(place.post_as(TOKEN, "/leases/claim", "application/json", b"{"), 400, "body_malformed");
    check(place.post_as(TOKEN, "/leases/claim", "application/json", b"{\"limit\":-1}"), 400, "body_malformed");
    check(place.post_as(TOKEN, "/leases/claim", "text/plain", b"{}"), 415, "media_type_unsupported");
    check(place.post_as(TOKEN, "/events", "text/plain", b"{}"), 415, "media_type_unsupported");
    let large = vec![b' '; (1 << 20) + 1];
    check(place.post_as(TOKEN, "/leases/claim", "application/json", &large), 413, "body_too_large");
    let bearer = format!("Bearer {TOKEN}");
    let headers = |key| [("authorization", &*bearer), ("content-type", "application/json"), ("idempotency-key", key)];
    for wrong in ["", "x", &"0".repeat(33)] {
        check(place.send("POST", "/leases/claim", &headers(wrong), b"{}"), 400, "op_malformed");
    }
    check(place.post("/events?sourc=a", &json!({"id": "a", "text": "x"})), 400, "query_malformed");
    check(place.post("/events?source=%FF", &json!({"id": "a", "text": "x"})), 400, "query_malformed");
    check(place.post("/events?source=A", &json!({"id": "a", "text": "x"})), 422, "source_invalid");
    check(place.post("/conflicts/resolve", &json!({"event": 1, "decision": "as"})), 422, "decision_malformed");
    check(place.post("/conflicts/resolve", &json!({"event": 1, "decision": "keep"})), 422, "event_unknown");
    let end = json!({"ends": [{"lease": "0".repeat(36), "outcome": "later"}]});
    check(place.post("/leases/end", &end), 422, "end_malformed");
    let text = "x".repeat((1 << 20) + 1);
    let origin = json!({"input": "-", "line": 1});
    let batch = json!({"intake": [{"delivery": {"source": "web", "id": "a", "text": text, "origin": origin}}]});
    check(place.post("/batches", &batch), 422, "text_too_long");
}

#[test]
fn one_event_is_answered_by_the_status() {
    let place = Place::new();
    let add = |text: &str| place.post("/events", &json!({"id": "idea-42", "text": text}));
    let new = add("publicar");
    assert_eq!((new.status, new.json()["verdict"].as_str()), (201, Some("new")));
    let event = new.json()["event"].clone();
    let again = add("publicar");
    assert_eq!((again.status, again.json()["event"].clone()), (200, event.clone()));
    let other = add("otra cosa");
    assert_eq!((other.status, other.json()["conflict"].as_u64()), (409, Some(1)));
    assert_eq!((&other.json()["event"], &other.json()["decided"]), (&event, &json!(false)));
    for (body, code) in [
        ("{}", "id_missing"),
        ("{\"id\":\"a\"}", "text_missing"),
        ("{\"id\":1,\"text\":\"x\"}", "id_number"),
        ("{\"id\":\"a\",\"id\":\"b\",\"text\":\"x\"}", "json_duplicate_key"),
        ("[]", "json_not_object"),
        ("{\"id\":\"a\",\"text\":\"x\"} {}", "json_trailing"),
        ("", "json_syntax"),
    ] {
        let said = place.post_as("ingest", "/events", "application/json; charset=utf-8", body.as_bytes());
        assert_eq!((said.status, &*said.problem()), (422, code), "{body}");
        assert!(said.json()["facts"]["delivery"].is_string(), "on record: {}", said.text());
    }
    // Of several lines, as people write it, and with the mark that some editors put first.
    let pretty = "\u{feff}{\n  \"id\": \"b\",\n  \"texto\": \"x\"\n}\n";
    assert_eq!(place.post_as("ingest", "/events", "application/json", pretty.as_bytes()).status, 201);
}

#[test]
fn lines_are_answered_in_their_order() {
    let place = Place::new();
    let mut lines = String::from(
        "{\"id\":\"a\",\"text\":\"x\"}\n\n{\"id\":\"a\",\"text\":\"x\"}\n{\"id\":\"a\",\"text\":\"y\"}\nno\n",
    );
    for number in 0..2_500 {
        lines.extend(["{\"id\":\"n", &number.to_string(), "\",\"text\":\"x\"}\n"]);
    }
    lines += "{\"id\":\"cut";
    let check = |said: Said, first: &str| {
        assert_eq!(said.status, 200, "{}", said.text());
        let lines = said.lines();
        let numbers: Vec<u64> = lines.iter().map(|line| line["line"].as_u64().unwrap()).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
        let verdict = |at: usize| lines[at]["verdict"].as_str().unwrap();
        assert_eq!([verdict(0), verdict(1), verdict(2), verdict(3)], [first, "duplicate", "conflict", "invalid"]);
        assert_eq!((numbers[1], numbers[3]), (3, 5));
        assert_eq!(lines.len(), 4 + 2_500 + 1);
        assert_eq!(verdict(lines.len() - 1), "unfinished");
    };
    check(place.post_as("ingest", "/events", "application/x-ndjson", lines.as_bytes()), "new");
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(lines.as_bytes()).unwrap();
    check(place.post_as("ingest", "/events", "application/x-ndjson", &packer.finish().unwrap()), "duplicate");
    let said = place.post_as("ingest", "/events", "application/x-ndjson", b"");
    assert_eq!((said.status, said.text()), (200, String::new()));
}

#[test]
fn a_line_is_answered_before_the_next_one_comes() {
    let place = Place::new();
    let mut stream = place.connect();
    let head = "POST /v1/events HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ingest\r\ncontent-type: application/x-ndjson\r\n\
                transfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    for id in ["a", "b", "c"] {
        let line = format!("{{\"id\":\"{id}\",\"text\":\"x\"}}\n");
        stream.write_all(format!("{:x}\r\n{line}\r\n", line.len()).as_bytes()).unwrap();
        loop {
            let mut answer = String::new();
            assert_ne!(reader.read_line(&mut answer).unwrap(), 0, "the answer ends before {id}");
            if answer.contains(&format!("\"id\":\"{id}\"")) {
                assert!(answer.contains("\"verdict\":\"new\""), "{answer}");
                break;
            }
        }
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
}

#[test]
fn a_claim_waits_until_something_is_due() {
    let place = Place::new();
    let claim = |wait_ms: u64| place.post("/leases/claim", &json!({"wait_ms": wait_ms})).json();
    assert_eq!(claim(0)["leases"], json!([]));
    let started = Instant::now();
    assert_eq!(claim(200)["leases"], json!([]));
    assert!(started.elapsed() >= Duration::from_millis(200));
    let claimed = thread::scope(|scope| {
        let waiting = scope.spawn(|| claim(30_000));
        // Whenever the event comes, before or after the claim: it is given.
        assert_eq!(place.post("/events", &json!({"id": "a", "text": "x"})).status, 201);
        waiting.join().unwrap()
    });
    assert_eq!(claimed["leases"][0]["job"]["id"], "a");
    let end = json!({"ends": [{"lease": claimed["leases"][0]["lease"], "outcome": "done"}]});
    assert_eq!(place.post("/leases/end", &end).json()["leases"][0]["state"], "done");
    // Said again it is answered again; from another it is lost.
    assert_eq!(place.post("/leases/end", &end).json()["leases"][0]["result"], "ok");
    let lost = json!({"leases": [claimed["leases"][0]["lease"]]});
    assert_eq!(place.post("/leases/extend", &lost).json()["leases"][0]["result"], "lease_lost");
}

#[test]
fn who_waits_for_a_job_is_answered_when_the_server_stops() {
    let place = Place::new();
    let mut stream = place.connect();
    let body = "{\"wait_ms\":30000}";
    let head = format!(
        "POST /v1/leases/claim HTTP/1.1\r\nhost: a\r\nauthorization: Bearer work\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    // Heard by the server before it is told to stop: another request over another connection is answered after it.
    assert_eq!(place.get("read", "/jobs").status, 200);
    let started = Instant::now();
    let Place { served, folder } = place;
    served.stop().unwrap();
    let said = read_answer(stream);
    assert_eq!((said.status, said.json()["leases"].clone()), (200, json!([])));
    assert!(started.elapsed() < Duration::from_secs(20));
    drop(folder);
}

#[test]
fn the_same_key_gets_the_first_answer() {
    let place = Place::new();
    for id in ["a", "b"] {
        assert_eq!(place.post("/events", &json!({"id": id, "text": "x"})).status, 201);
    }
    let send = |key: &str, path: &str, body: &Value| {
        let headers = [
            ("authorization", &*format!("Bearer {TOKEN}")),
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        place.send("POST", path, &headers, body.to_string().as_bytes())
    };
    let (one, two) = ("0123456789abcdef0123456789abcdef", "ffffffffffffffffffffffffffffffff");
    let first = send(one, "/leases/claim", &json!({})).json();
    let again = send(one, "/leases/claim", &json!({})).json();
    assert_eq!((&first["leases"], first["leases"].as_array().unwrap().len()), (&again["leases"], 1));
    let event = first["leases"][0]["job"]["event"].clone();
    let order = json!({"order": "cancel", "jobs": [event]});
    let cancelled = send(two, "/jobs/order", &order);
    assert_eq!(cancelled.json()["jobs"][0]["state"], "cancelled");
    assert_eq!(send(two, "/jobs/order", &order).json(), cancelled.json());
    let other = send(two, "/jobs/order", &json!({"order": "replay", "jobs": [event]}));
    assert_eq!((other.status, &*other.problem()), (409, "op_reused"));
}

#[test]
fn a_call_whose_answer_is_lost_is_made_once() {
    let place = Place::new();
    let behind = place.served.url().trim_start_matches("http://").to_owned();
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = proxy.local_addr().unwrap();
    // Of the first connection the request is handed on, and the answer is not.
    let passing = thread::spawn(move || {
        for number in 0..2 {
            let (mut near, _) = proxy.accept().unwrap();
            near.set_read_timeout(Some(PATIENCE)).unwrap();
            let mut far = TcpStream::connect(&behind).unwrap();
            far.set_read_timeout(Some(PATIENCE)).unwrap();
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            // The body is small, and ends with the object.
            while !request.ends_with(b"]}") {
                let length = near.read(&mut buffer).unwrap();
                assert_ne!(length, 0, "the request ends early");
                request.extend_from_slice(&buffer[..length]);
            }
            far.write_all(&request).unwrap();
            let length = far.read(&mut buffer).unwrap();
            if number == 1 {
                near.write_all(&buffer[..length]).unwrap();
            }
        }
    });
    let remote = RemoteStore::new(&format!("http://{address}"), TOKEN).unwrap();
    let op = OpId::new(&SystemClock, &SystemEntropy);
    let batch = Arc::new(vec![event("a", "x")]);
    let accepted = block_on(remote.accept(op, batch)).unwrap();
    assert_eq!(accepted.receipts[0].verdict, Verdict::New);
    passing.join().unwrap();
    drop(remote);
    let found = block_on(place.remote().find_events(None, "a".to_owned())).unwrap();
    assert_eq!((found.len(), found[0].duplicates), (1, 0));
}

#[test]
fn what_keeps_a_server_from_being_used_has_a_code() {
    let place = Place::new();
    let code = |token: &str| {
        let store = RemoteStore::new(&place.served.url(), token).unwrap();
        block_on(store.resume(OpId::new(&SystemClock, &SystemEntropy), Source::default())).unwrap_err().code
    };
    assert_eq!(code("garbage"), "server_unauthorised");
    assert_eq!(code("read"), "server_forbidden");
    assert_eq!(code("operate"), "source_unknown");
}

/// A worker of more lines is no example of how little it takes.
const LINES_MAX: usize = 15;

#[test]
fn printed_workers_work_and_are_short() {
    for (name, program, language) in [("words_http.py", "python3", "python"), ("words_http.sh", "bash", "bash")] {
        let file = docs().join("../examples/workers").join(name);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.lines().count() <= LINES_MAX, "{name}");
        for page in ["API.md", "API.es.md"] {
            let page = std::fs::read_to_string(docs().join(page)).unwrap();
            assert!(page.contains(&format!("\n```{language}\n{text}```\n")), "{name}");
        }
        let place = Place::new();
        let long = "word ".repeat(1_001);
        for (id, text) in [("a", "Comparar dos modelos en mi producto"), ("b", "¿Qué\n\"tal\"? \\n"), ("c", &long)] {
            assert_eq!(place.post("/events", &json!({"id": id, "text": text})).status, 201);
        }
        let mut worker = std::process::Command::new(program);
        worker.arg(file).env("COLA_IA_SERVER", place.served.url()).env("COLA_IA_TOKEN", "work");
        let output = worker.output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let event = |id: &str| place.get("read", &format!("/events?id={id}")).json()["events"][0].clone();
        for (id, words) in [("a", 6), ("b", 3)] {
            let event = event(id);
            let result: Value = serde_json::from_str(event["result"].as_str().unwrap()).unwrap();
            assert_eq!((&event["state"], &result), (&json!("done"), &json!({ "words": words })), "{name}");
        }
        assert_eq!(event("c")["state"], "failed", "{name}");
    }
}

#[test]
fn the_description_is_whole_and_the_committed_one_is_fresh() {
    let place = Place::new();
    let served = place.get("", "/openapi.json");
    let description = served.json();
    assert!(description["openapi"].as_str().unwrap().starts_with("3.1"));
    let mut ids = BTreeSet::new();
    for endpoint in endpoints() {
        let operation =
            &description["paths"][format!("/v1{}", endpoint.path)][endpoint.verb.as_str().to_ascii_lowercase()];
        let id = operation["operationId"].as_str().unwrap_or_else(|| panic!("{} is not described", endpoint.path));
        assert!(ids.insert(id.to_owned()), "{id} stands twice");
        let open = matches!(endpoint.access, Access::Open(_));
        assert_eq!(operation["security"].is_null(), open, "{id}");
        assert_eq!(operation["responses"]["401"].is_null(), open, "{id}");
    }
    let mut refs = Vec::new();
    references(&description, &mut refs);
    for reference in refs {
        let found = description.pointer(reference.trim_start_matches('#'));
        assert!(found.is_some(), "{reference} leads nowhere");
    }
    let committed = std::fs::read_to_string(docs().join("openapi.json")).unwrap();
    let committed: Value = serde_json::from_str(&committed).unwrap();
    assert!(committed == description, "docs/openapi.json is not what the program says: `cargo xtask generate`");
}

fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str() {
                    Some(reference) if name == "$ref" => found.push(reference.to_owned()),
                    _ => references(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}
