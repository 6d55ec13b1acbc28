//! Each switch, asked in memory and over HTTP: the same answers, the same effects.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use cola_ia_core::clock::Clock;

use super::{Destination, Ending, Looked, Looking, Reply, Sending, Server};
use crate::clock::ManualClock;

/// Both ways to ask a destination.
trait Asked {
    fn create(&mut self, key: &str, request: &str) -> Reply;
    fn lookup(&mut self, key: &str) -> Looked;
    fn with(&mut self, change: impl FnOnce(&mut Destination));
    /// Key and id of all that happened.
    fn real(&mut self) -> Vec<(String, String)>;
}

struct InMemory(Destination, ManualClock);

impl Asked for InMemory {
    fn create(&mut self, key: &str, request: &str) -> Reply {
        self.0.create(key, request, self.1.now()).answer
    }

    fn lookup(&mut self, key: &str) -> Looked {
        self.0.lookup(key, self.1.now()).answer
    }

    fn with(&mut self, change: impl FnOnce(&mut Destination)) {
        change(&mut self.0);
    }

    fn real(&mut self) -> Vec<(String, String)> {
        let effects = self.0.effects(self.1.now());
        effects.iter().map(|effect| (effect.key.clone(), effect.resource_id.clone())).collect()
    }
}

struct OverHttp(Server);

impl Asked for OverHttp {
    fn create(&mut self, key: &str, request: &str) -> Reply {
        let head = format!("POST /v1/posts HTTP/1.1\r\nIdempotency-Key: {key}\r\nContent-Length: {}", request.len());
        match ask(&self.0, &format!("{head}\r\n\r\n{request}")) {
            None => Reply::Cut,
            Some((201, body)) => Reply::Created(id(&body)),
            Some((200, body)) => Reply::Again(id(&body)),
            Some((422, _)) => Reply::OtherRequest,
            Some((status, _)) => Reply::Refused(status),
        }
    }

    fn lookup(&mut self, key: &str) -> Looked {
        match ask(&self.0, &format!("GET /v1/posts?status=any&key={key} HTTP/1.1\r\n\r\n")) {
            None => Looked::Cut,
            Some((200, body)) if body == "[]" => Looked::Absent,
            Some((200, body)) => {
                let found: Vec<serde_json::Value> = serde_json::from_str(&body).unwrap();
                Looked::Found(found.iter().map(|one| id(&one.to_string())).collect())
            }
            Some((status, _)) => Looked::Refused(status),
        }
    }

    fn with(&mut self, change: impl FnOnce(&mut Destination)) {
        change(&mut self.0.destination());
    }

    fn real(&mut self) -> Vec<(String, String)> {
        self.0.effects().into_iter().map(|effect| (effect.key, effect.resource_id)).collect()
    }
}

/// Status and body; `None`: the connection ended without an answer.
fn ask(server: &Server, request: &str) -> Option<(u16, String)> {
    let address = server.url().trim_start_matches("http://").trim_end_matches('/').to_owned();
    let mut connection = TcpStream::connect(address).unwrap();
    connection.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    // A connection that is cut can end with an error too.
    let read = connection.read_to_string(&mut answer);
    if read.is_err() || answer.is_empty() {
        return None;
    }
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
    Some((head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned()))
}

fn id(body: &str) -> String {
    serde_json::from_str::<serde_json::Value>(body).unwrap()["id"].as_str().unwrap().to_owned()
}

/// Runs a case in memory and over HTTP.
macro_rules! both {
    (|$place:ident, $clock:ident| $case:block) => {{
        fn case(mut $place: impl Asked, $clock: &ManualClock) $case
        let clock = ManualClock::default();
        case(InMemory(Destination::new("post"), clock.clone()), &clock);
        let clock = ManualClock::default();
        case(OverHttp(Server::start(Destination::new("post"), clock.clone()).unwrap()), &clock);
    }};
}

const MINUTE: Duration = Duration::from_mins(1);

fn advance(clock: &ManualClock, time: Duration) {
    clock.advance(time.as_micros() as i64);
}

fn created(id: &str) -> Reply {
    Reply::Created(id.to_owned())
}

fn found(ids: &[&str]) -> Looked {
    Looked::Found(ids.iter().map(|id| (*id).to_owned()).collect())
}

#[test]
fn a_known_key_makes_nothing_more() {
    both!(|place, _clock| {
        assert_eq!(place.create("k", "text"), created("post-1"));
        assert_eq!(place.create("k", "text"), Reply::Again("post-1".into()));
        assert_eq!(place.create("k", "other"), Reply::OtherRequest);
        assert_eq!(place.create("l", "text"), created("post-2"));
        assert_eq!(place.real(), [("k".into(), "post-1".into()), ("l".into(), "post-2".into())]);
    });
}

#[test]
fn without_a_key_each_request_is_another_effect() {
    both!(|place, _clock| {
        assert_eq!(place.create("", "text"), created("post-1"));
        assert_eq!(place.create("", "text"), created("post-2"));
    });
}

#[test]
fn keys_can_be_ignored() {
    both!(|place, _clock| {
        place.with(|it| it.sending.honours_keys = false);
        assert_eq!(place.create("k", "text"), created("post-1"));
        assert_eq!(place.create("k", "text"), created("post-2"));
        assert_eq!(place.lookup("k"), found(&["post-1", "post-2"]));
    });
}

#[test]
fn keys_are_forgotten_after_their_time() {
    both!(|place, clock| {
        place.with(|it| it.sending.forgets_after = Some(MINUTE));
        assert_eq!(place.create("k", "text"), created("post-1"));
        advance(clock, Duration::from_micros(59_999_999));
        assert_eq!(place.create("k", "text"), Reply::Again("post-1".into()));
        advance(clock, Duration::from_micros(1));
        assert_eq!(place.create("k", "text"), created("post-2"));
    });
}

#[test]
fn a_lookup_need_not_be_offered() {
    both!(|place, _clock| {
        place.create("k", "text");
        place.with(|it| it.looking.offered = false);
        assert_eq!(place.lookup("k"), Looked::Refused(501));
    });
}

#[test]
fn a_lookup_lags() {
    both!(|place, clock| {
        assert_eq!(place.lookup("k"), Looked::Absent);
        place.create("k", "text");
        assert_eq!(place.lookup("k"), found(&["post-1"]));
        place.with(|it| it.looking.lags = MINUTE);
        assert_eq!(place.lookup("k"), Looked::Absent);
        advance(clock, MINUTE);
        assert_eq!(place.lookup("k"), found(&["post-1"]));
    });
}

#[test]
fn a_rejection_makes_nothing() {
    both!(|place, _clock| {
        place.with(|it| it.plan_sendings([Sending::ending(Ending::Rejects(400))]));
        assert_eq!(place.create("k", "text"), Reply::Refused(400));
        assert_eq!(place.real(), []);
        assert_eq!(place.create("k", "text"), created("post-1"));
    });
}

#[test]
fn connections_are_cut_before_and_after_the_act() {
    both!(|place, _clock| {
        place.with(|it| it.plan_sendings([Ending::CutsBefore, Ending::CutsAfter].map(Sending::ending)));
        assert_eq!(place.create("k", "text"), Reply::Cut);
        assert_eq!(place.real(), []);
        assert_eq!(place.create("k", "text"), Reply::Cut);
        assert_eq!(place.real(), [("k".into(), "post-1".into())]);
        assert_eq!(place.create("k", "text"), Reply::Again("post-1".into()));
    });
}

#[test]
fn an_error_can_come_of_what_happened() {
    both!(|place, _clock| {
        place.with(|it| it.plan_sendings([Sending::ending(Ending::FailsAfter(502))]));
        assert_eq!(place.create("k", "text"), Reply::Refused(502));
        assert_eq!(place.lookup("k"), found(&["post-1"]));
    });
}

#[test]
fn lookups_fail_as_planned() {
    both!(|place, _clock| {
        place.create("k", "text");
        let script = [Ending::CutsBefore, Ending::Rejects(503)];
        place.with(|it| it.plan_lookings(script.map(|ending| Looking { ending, ..Looking::default() })));
        assert_eq!(place.lookup("k"), Looked::Cut);
        assert_eq!(place.lookup("k"), Looked::Refused(503));
        assert_eq!(place.lookup("k"), found(&["post-1"]));
    });
}

#[test]
fn a_request_that_is_held_up_takes_effect_later() {
    both!(|place, clock| {
        let held_up = |time| Sending { held_up: Some(time), honours_keys: false, ..Sending::default() };
        place.with(|it| it.plan_sendings([held_up(2 * MINUTE), held_up(MINUTE)]));
        assert_eq!(place.create("k", "first"), Reply::Cut);
        assert_eq!(place.create("l", "second"), Reply::Cut);
        assert_eq!(place.lookup("k"), Looked::Absent);
        assert_eq!(place.create("m", "third"), created("post-1"));
        advance(clock, 2 * MINUTE);
        assert_eq!(place.lookup("k"), found(&["post-3"]));
        let order = [("m", "post-1"), ("l", "post-2"), ("k", "post-3")];
        assert_eq!(place.real(), order.map(|(key, id)| (key.to_owned(), id.to_owned())));
    });
}

#[test]
fn a_key_that_is_known_stops_what_was_held_up() {
    both!(|place, clock| {
        place.with(|it| it.plan_sendings([Sending { held_up: Some(MINUTE), ..Sending::default() }]));
        assert_eq!(place.create("k", "text"), Reply::Cut);
        assert_eq!(place.create("k", "text"), created("post-1"));
        advance(clock, MINUTE);
        assert_eq!(place.real().len(), 1);
    });
}

#[test]
fn a_late_answer_is_late_and_the_act_is_not() {
    let late = Duration::from_millis(200);
    let mut place = Destination::new("post");
    place.plan_sendings([Sending { answers_after: late, ..Sending::default() }]);
    let answer = place.create("k", "text", ManualClock::START);
    assert_eq!((answer.answer, answer.after), (created("post-1"), late));

    place.plan_sendings([Sending { answers_after: late, ..Sending::default() }]);
    let mut place = OverHttp(Server::start(place, ManualClock::default()).unwrap());
    let start = Instant::now();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let request = "POST / HTTP/1.1\r\nIdempotency-Key: l\r\nContent-Length: 4\r\n\r\ntext";
            (ask(&place.0, request).map(|(status, _)| status), start.elapsed())
        });
        let deadline = start + Duration::from_secs(10);
        while place.0.effects().len() < 2 && Instant::now() < deadline {
            std::thread::yield_now();
        }
        assert_eq!(place.0.effects().len(), 2);
        let (status, after) = waiting.join().unwrap();
        assert_eq!(status, Some(201));
        assert!(after >= late, "{after:?}");
    });
    assert_eq!(place.real().len(), 2);
}

#[test]
fn effects_carry_all_that_is_compared() {
    let mut place = Destination::new("post");
    let clock = ManualClock::default();
    place.create("k", "text", clock.now());
    let later = clock.advance(1);
    place.create("l", "other", later);
    place.lookup("l", later);
    let second = &place.effects(later)[1];
    assert_eq!((second.key.as_str(), second.at, second.request.as_str()), ("l", later, "other"));
    assert_eq!(place.asked(), (2, 1));
    assert_eq!(place.by_key(later)["k"], ["post-1"]);
}

#[test]
fn the_key_may_stand_in_the_body() {
    let server = Server::start(Destination::new("post"), ManualClock::default()).unwrap();
    for (body, key) in [(r#"{"slug":"s","key":"k"}"#, "k"), (r#"{"slug":"s"}"#, "s"), ("[]", ""), ("", "")] {
        let request = format!("POST / HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        assert!(matches!(ask(&server, &request), Some((201, _))), "{body}");
        assert_eq!(server.effects().last().unwrap().key, key, "{body}");
    }
    assert!(matches!(ask(&server, "GET /?slug=s HTTP/1.1\r\n\r\n"), Some((200, body)) if body.contains("post-2")));
}

#[test]
fn the_body_of_an_answer_can_be_another() {
    let mut place = Destination::new("chat");
    place.body = r#"{"id":"{id}","choices":[{"message":{"content":"Borrador"}}]}"#.to_owned();
    let server = Server::start(place, ManualClock::default()).unwrap();
    let (_, body) = ask(&server, "POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n").unwrap();
    assert_eq!(body, r#"{"id":"chat-1","choices":[{"message":{"content":"Borrador"}}]}"#);
}

#[test]
fn what_is_no_request_changes_nothing() {
    let server = Server::start(Destination::new("post"), ManualClock::default()).unwrap();
    for (request, status) in [
        ("DELETE / HTTP/1.1\r\n\r\n", Some(405)),
        ("POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n", Some(400)),
        ("POST / HTTP/1.1\r\ncontent-length: 9999999999\r\n\r\n", Some(413)),
        ("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n", Some(411)),
        ("POST / HTTP/1.1\r\nno colon\r\n\r\n", Some(400)),
    ] {
        assert_eq!(ask(&server, request).map(|(status, _)| status), status, "{request}");
    }
    assert_eq!(server.effects(), []);
}

#[test]
fn a_dropped_server_takes_no_more_connections() {
    let server = Server::start(Destination::new("post"), ManualClock::default()).unwrap();
    let address = server.url().trim_start_matches("http://").trim_end_matches('/').to_owned();
    drop(server);
    assert!(TcpStream::connect(address).is_err());
}
