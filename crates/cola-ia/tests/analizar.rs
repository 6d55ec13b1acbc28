//! `examples/analizar.py` against an endpoint on loopback that answers what a test tells it: one request an attempt, and what
//! each answer makes of the job.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::{Place, check_exit, code, err, has_tool, out, until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/analizar.py");
const TEXT: &str = "Comparar dos modelos en mi producto\n\u{ab}¿Qué?\u{bb}";

/// Importing them takes a second.
const HAS_PACKAGES: &str = "import importlib.util as u, sys; sys.exit(u.find_spec('openai') is None)";

/// An endpoint that answers one request.
struct Endpoint {
    url: String,
    listener: TcpListener,
}

/// What the endpoint does with a request.
#[derive(Clone)]
enum Answer {
    Http { status: u16, headers: &'static str, body: String },
    HangUp,
    Silence,
}

impl Endpoint {
    fn new() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        // A script that never asks must not stop the test.
        listener.set_nonblocking(true).unwrap();
        Self { url: format!("http://{}/v1", listener.local_addr().unwrap()), listener }
    }

    /// Answers one request, and gives back its head and its body, and what keeps a silent connection open.
    fn serve(&self, answer: &Answer) -> (String, Value, TcpStream) {
        let mut stream = until("a request", || self.listener.accept().ok()).0;
        stream.set_nonblocking(false).unwrap();
        let (head, body) = read_request(&mut stream);
        match answer {
            Answer::Http { status, headers, body } => {
                let length = body.len();
                write!(
                    stream,
                    "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
                     Connection: close\r\n{headers}\r\n{body}"
                )
                .unwrap();
            }
            Answer::HangUp => stream.shutdown(std::net::Shutdown::Both).unwrap(),
            Answer::Silence => {}
        }
        (head, serde_json::from_slice(&body).unwrap(), stream)
    }

    fn was_asked_again(&self) -> bool {
        self.listener.accept().is_ok()
    }
}

fn read_request(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let head = common::read_until(stream, "\r\n\r\n");
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap()];
    stream.read_exact(&mut body).unwrap();
    (head, body)
}

/// A Python with the packages: the one that `cargo xtask test` has made, else any that has them.
fn python(place: &Place) -> Option<Command> {
    let python = std::env::var("COLA_IA_EXAMPLES_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let what = "a Python with the packages of examples/requirements.txt, named in COLA_IA_EXAMPLES_PYTHON,";
    has_tool(what, place.tool(&python).args(["-c", HAS_PACKAGES])).then(|| place.tool(&python))
}

/// What the script did with an answer.
struct Seen {
    code: i32,
    result: Value,
    stderr: String,
    head: String,
    body: Value,
}

/// One run against one answer. None without the packages.
fn run(answer: &Answer, environment: &[(&str, &str)]) -> Option<Seen> {
    let place = Place::new();
    let mut command = python(&place)?;
    let endpoint = Endpoint::new();
    command
        .arg(SCRIPT)
        .env("OPENAI_API_KEY", "key-of-the-test")
        .env("OPENAI_MODEL", "model-of-the-test")
        .env("OPENAI_BASE_URL", &endpoint.url)
        .env("COLA_IA_RESULT", place.path("result.json"))
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(TEXT.as_bytes()).unwrap();
    let (output, (head, body)) = thread::scope(|scope| {
        let served = scope.spawn(|| endpoint.serve(answer));
        let output = child.wait_with_output().unwrap();
        let (head, body, _) = served.join().unwrap();
        (output, (head, body))
    });
    assert!(!endpoint.was_asked_again(), "retries are the queue's");
    assert_eq!(out(&output), "");
    let result =
        fs::read(place.path("result.json")).map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).unwrap());
    Some(Seen { code: code(&output), result, stderr: err(&output), head, body })
}

/// The script's `main`, once for each answer in one process: starting one takes longer than all of them. Exit code and result.
const MAIN_EACH: &str = "
import json, os, sys
sys.path.insert(0, os.path.dirname(sys.argv[1]))
import analizar
for _ in range(int(sys.argv[2])):
    print(json.dumps(analizar.main()))
";

/// What the script makes of each answer, and that it asks no more than once.
fn outcomes(answers: &[Answer]) -> Option<Vec<(i32, Value)>> {
    let place = Place::new();
    let mut command = python(&place)?;
    let endpoint = Endpoint::new();
    command
        .args(["-c", MAIN_EACH, SCRIPT, &answers.len().to_string()])
        .envs([("OPENAI_API_KEY", "key"), ("OPENAI_MODEL", "model"), ("OPENAI_BASE_URL", &*endpoint.url)])
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let output = thread::scope(|scope| {
        let served = scope.spawn(|| answers.iter().for_each(|answer| drop(endpoint.serve(answer))));
        let output = command.output().unwrap();
        served.join().unwrap();
        output
    });
    assert!(!endpoint.was_asked_again(), "retries are the queue's");
    check_exit(&output, 0);
    Some(out(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn http(status: u16, headers: &'static str, body: &Value) -> Answer {
    Answer::Http { status, headers, body: body.to_string() }
}

fn completion(content: &str) -> Value {
    json!({
        "id": "chatcmpl-7", "object": "chat.completion", "created": 1, "model": "model-of-the-test-2026",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": 1_234, "completion_tokens": 56, "total_tokens": 1_290},
    })
}

#[test]
fn analysis_is_recorded_with_tokens_and_exact_cost() {
    let prices = [("ANALIZAR_PRICE_IN", "0.15"), ("ANALIZAR_PRICE_OUT", "0.6"), ("ANALIZAR_CURRENCY", "EUR")];
    let Some(seen) = run(&http(200, "", &completion("Propone comparar.")), &prices) else { return };
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    let expected = json!({
        "resource_id": "chatcmpl-7", "model": "model-of-the-test-2026", "tokens_in": 1_234, "tokens_out": 56,
        "cost": "0.0002187", "currency": "EUR", "analysis": "Propone comparar.", "finish_reason": "stop",
    });
    assert_eq!(seen.result, expected);
    assert!(seen.head.starts_with("POST /v1/chat/completions "), "{}", seen.head);
    assert!(seen.head.to_ascii_lowercase().contains("authorization: bearer key-of-the-test"), "{}", seen.head);
    assert_eq!(seen.body["model"], "model-of-the-test");
    assert_eq!(seen.body["messages"][1], json!({"role": "user", "content": TEXT}));
}

#[test]
fn without_prices_no_cost_is_made_up_and_an_empty_answer_fails() {
    let Some(seen) = run(&http(200, "", &completion("")), &[]) else { return };
    assert_eq!(seen.code, 1);
    assert_eq!(seen.result["error_class"], "empty_answer");
    assert_eq!(seen.result["tokens_in"], 1_234, "it was paid all the same");
    assert_eq!(seen.result.get("cost"), None);
}

#[test]
fn rate_limits_wait_permanent_errors_end_and_others_fail() {
    let error = |code: &str| json!({"error": {"message": "so it is", "type": "t", "param": null, "code": code}});
    let after_seconds = "Retry-After: 7\r\n";
    let after_date = "Retry-After: Wed, 21 Oct 2099 07:28:00 GMT\r\n";
    let cases = [
        (http(429, after_seconds, &error("rate_limit_exceeded")), 75, "http_429", json!("7")),
        (http(429, after_date, &error("rate_limit_exceeded")), 75, "http_429", json!("Wed, 21 Oct 2099 07:28:00 GMT")),
        (http(429, "", &error("rate_limit_exceeded")), 75, "http_429", Value::Null),
        (http(429, after_seconds, &error("insufficient_quota")), 75, "insufficient_quota", json!(3600)),
        (http(400, "", &error("context_length_exceeded")), 65, "http_400", Value::Null),
        (http(401, "", &error("invalid_api_key")), 65, "http_401", Value::Null),
        (http(404, "", &error("model_not_found")), 65, "http_404", Value::Null),
        (http(422, "", &error("unprocessable")), 65, "http_422", Value::Null),
        (http(500, "", &error("server_error")), 1, "http_500", Value::Null),
        (http(403, "", &error("forbidden")), 1, "http_403", Value::Null),
        (http(503, after_seconds, &error("overloaded")), 1, "http_503", json!("7")),
        (Answer::Http { status: 502, headers: "", body: "<h1>no".to_owned() }, 1, "http_502", Value::Null),
        (Answer::HangUp, 1, "no_answer", Value::Null),
    ];
    let answers: Vec<Answer> = cases.iter().map(|(answer, ..)| answer.clone()).collect();
    let Some(outcomes) = outcomes(&answers) else { return };
    assert_eq!(outcomes.len(), cases.len());
    for ((code, result), (_, expected, class, retry_after)) in outcomes.iter().zip(&cases) {
        assert_eq!((code, &result["error_class"]), (expected, &json!(class)), "{result}");
        assert_eq!(result.get("retry_after").unwrap_or(&Value::Null), retry_after, "{result}");
        assert!(result["error"].as_str().is_some_and(|error| !error.is_empty()), "{result}");
    }
}

#[test]
fn silence_is_given_up_and_fails() {
    let Some(seen) = run(&Answer::Silence, &[("ANALIZAR_TIMEOUT", "0.2")]) else { return };
    assert_eq!((seen.code, &seen.result["error_class"]), (1, &json!("no_answer")), "{}", seen.stderr);
    assert!(seen.stderr.starts_with("no_answer: "), "{}", seen.stderr);
}

#[test]
fn answer_that_is_no_completion_fails() {
    let bodies =
        ["[]", "{}", "\"maintenance\"", "<h1>maintenance", r#"{"error": {"code": 502}}"#, r#"{"choices": []}"#];
    let answers = bodies.map(|body| Answer::Http { status: 200, headers: "", body: body.to_owned() });
    let Some(outcomes) = outcomes(&answers) else { return };
    for (body, (code, result)) in bodies.into_iter().zip(outcomes) {
        assert_eq!((code, &result["error_class"]), (1, &json!("no_completion")), "{body}: {result}");
    }
}

#[test]
fn wrong_settings_are_named_and_nothing_is_asked() {
    let place = Place::new();
    for (name, value, said) in [
        ("OPENAI_API_KEY", "", "OPENAI_API_KEY is not set"),
        ("ANALIZAR_PRICE_IN", "0,15", "ANALIZAR_PRICE_IN is no number: '0,15'"),
    ] {
        let Some(mut command) = python(&place) else { return };
        command.arg(SCRIPT).env("OPENAI_API_KEY", "key").env("OPENAI_MODEL", "model").env(name, value);
        // By hand, the result goes to stdout.
        let output = command.env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1").output().unwrap();
        assert_eq!(code(&output), 78, "{}", err(&output));
        assert_eq!(serde_json::from_str::<Value>(&out(&output)).unwrap()["error"], said);
        assert_eq!(err(&output), format!("misconfigured: {said}\n"));
    }
}

#[test]
fn under_work_a_rate_limit_is_waited_for_and_costs_no_attempt() {
    let event = json!({"id": "idea-42", "texto": TEXT}).to_string();
    let place = Place::new().file("eventos.jsonl", event + "\n");
    let Some(python) = python(&place) else { return };
    check_exit(&place.run(&["add", "eventos.jsonl"]), 0);
    let endpoint = Endpoint::new();
    let mut command = place.command(&["work", "--"]);
    command
        .arg(python.get_program())
        .arg(SCRIPT)
        .envs([("OPENAI_API_KEY", "key"), ("OPENAI_MODEL", "model"), ("OPENAI_BASE_URL", &*endpoint.url)])
        .envs([("ANALIZAR_PRICE_IN", "0.15"), ("ANALIZAR_PRICE_OUT", "0.6")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let limit = json!({"error": {"message": "slowly", "code": "rate_limit_exceeded"}});
    endpoint.serve(&http(429, "Retry-After: 1\r\n", &limit));
    let limited = Instant::now();
    let (_, body, _) = endpoint.serve(&http(200, "", &completion("Propone comparar.")));
    assert!(limited.elapsed() >= Duration::from_secs(1), "never earlier: {:?}", limited.elapsed());
    assert_eq!(body["messages"][1]["content"], TEXT);
    let shown = || serde_json::from_slice::<Value>(&place.run(&["show", "--json", "idea-42"]).stdout).unwrap();
    let done = until("the job to be done", || Some(shown()).filter(|shown| shown["state"] == "done"));
    common::signal(&child, Signal::SIGTERM);
    let output = child.wait_with_output().unwrap();
    check_exit(&output, 0);
    assert_eq!(out(&output), "idea-42 pendiente\nidea-42 terminado\n");
    assert_eq!((&done["attempts"], &done["resource_id"]), (&json!(1), &json!("chatcmpl-7")));
    let attempt = |number: usize, name: &str| done["attempt_log"][number][name].clone();
    assert_eq!((attempt(1, "outcome"), attempt(1, "error_class")), (json!("released"), json!("http_429")));
    assert_eq!((attempt(0, "outcome"), attempt(0, "model")), (json!("done"), json!("model-of-the-test-2026")));
    let used = ["cost_micros", "tokens_in", "tokens_out"].map(|name| attempt(0, name));
    assert_eq!(used, [219, 1_234, 56], "in millionths, rounded up");
}

#[test]
fn lock_file_pins_every_package_by_hash() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/requirements.txt");
    let text = fs::read_to_string(path).unwrap();
    let packages = text.lines().filter(|line| !line.starts_with(['#', ' ']) && !line.is_empty());
    assert!(packages.clone().count() > 5);
    assert!(packages.clone().all(|line| line.contains("==") && line.ends_with('\\')), "{text}");
}
