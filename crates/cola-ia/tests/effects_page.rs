//! What docs/EFFECTS.md and its Spanish twin print: the workers are the files in `examples/effects`, and these work; the
//! recipes are Bash, and their lookups say "absent" only where they saw all.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use cola_ia_core::clock::SystemClock;
use cola_ia_testkit::destination::{Destination, Ending, Sending, Server};
use common::later::later;
use common::{PROGRAM, Place, check_exit, has_tool};
use rusqlite::Connection;

const PAGES: [&str; 2] = ["EFFECTS.md", "EFECTOS.md"];
const WORKERS: [(&str, &str, &str); 2] = [("pay.py", "python", "python3"), ("pay.mjs", "js", "node")];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    fs::read_to_string(repository().join("docs").join(name)).unwrap()
}

/// The blocks of a language, in their order.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let open = format!("```{language}\n");
    page.split(&*open).skip(1).map(|rest| rest.split_once("```").unwrap().0).collect()
}

#[test]
fn printed_workers_are_the_tested_files() {
    for name in PAGES {
        let page = page(name);
        for (file, language, _) in WORKERS {
            let text = fs::read_to_string(repository().join("examples/effects").join(file)).unwrap();
            assert!(page.contains(&format!("\n```{language}\n{text}```\n")), "{name} {file}");
        }
    }
}

/// A page in one language has what the other one has.
#[test]
fn both_pages_say_the_same() {
    let [english, spanish] = PAGES.map(page);
    let count = |page: &str, start: &str| page.lines().filter(|line| line.starts_with(start)).count();
    for start in ["#", "## ", "### ", "| ", "- ", "```", "1. "] {
        assert_eq!(count(&english, start), count(&spanish, start), "lines that begin with {start:?}");
    }
    // Comments are in the page's language, all else of a recipe is one text.
    let recipes = |page: &str| -> Vec<String> {
        let is_recipe = |block: &&str| block.contains("enviar ") || block.contains("pedir ");
        let blocks = blocks(page, "bash").into_iter().filter(is_recipe);
        let code = blocks.flat_map(str::lines).map(|line| line.split(" #").next().unwrap().trim_end());
        code.filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    };
    for (english, spanish) in recipes(&english).iter().zip(recipes(&spanish)) {
        assert_eq!(*english, spanish);
    }
}

/// A job that is to pay, and where.
struct Payment {
    place: Place,
    bank: Server,
    program: &'static str,
    script: PathBuf,
}

impl Payment {
    fn work(&self) {
        let mut command = self.place.command(&["work", "--drain", "--", self.program]);
        let path = std::env::var("PATH").unwrap_or_default();
        let folder = Path::new(PROGRAM).parent().unwrap().display().to_string();
        command.arg(&self.script).env("PAY_URL", self.bank.url()).env("PATH", format!("{folder}:{path}"));
        check_exit(&command.output().unwrap(), 0);
    }

    /// The job's state, the effect's, and the effect's tries.
    fn stands(&self) -> (String, String, u32) {
        let sql =
            "SELECT jobs.state, effects.state, (SELECT count(*) FROM effect_tries t WHERE t.effect = effects.effect)
                   FROM jobs JOIN effects USING (event)";
        let store = Connection::open(self.place.store()).unwrap();
        store.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap()
    }
}

/// One for each worker whose language is there.
fn payments() -> Vec<Payment> {
    let payment = |(file, _, program): (&str, &str, &'static str)| {
        let place = Place::new().file("pagos.jsonl", r#"{"id":"pago-1","texto":"19.99 EUR"}"#);
        let probe = if program == "node" {
            "process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)"
        } else {
            "import json"
        };
        let flag = if program == "node" { "-e" } else { "-c" };
        let mut tool = place.tool(program);
        if !has_tool(program, tool.env("PATH", std::env::var("PATH").unwrap_or_default()).args([flag, probe])) {
            return None;
        }
        check_exit(&place.run(&["add", "pagos.jsonl"]), 0);
        let bank = Server::start(Destination::new("pi"), SystemClock).unwrap();
        Some(Payment { place, bank, program, script: repository().join("examples/effects").join(file) })
    };
    WORKERS.into_iter().filter_map(payment).collect()
}

fn stand(job: &str, effect: &str, tries: u32) -> (String, String, u32) {
    (job.to_owned(), effect.to_owned(), tries)
}

#[test]
fn workers_pay_once() {
    for payment in payments() {
        payment.work();
        assert_eq!(payment.stands(), stand("done", "done", 1), "{}", payment.program);
        let paid = payment.bank.effects();
        assert_eq!((paid.len(), paid[0].key.len(), paid[0].request.as_str()), (1, 43, "19.99 EUR"));
    }
}

#[test]
fn workers_send_the_same_key_again_where_nobody_knows() {
    for payment in payments() {
        let script = [Ending::CutsAfter, Ending::FailsAfter(500), Ending::CutsBefore].map(Sending::ending);
        payment.bank.destination().plan_sendings(script);
        for _ in 0..3 {
            payment.work();
            assert_eq!(payment.stands().1, "unknown", "{}", payment.program);
            later(&payment.place.store(), Duration::from_hours(1));
        }
        payment.work();
        assert_eq!(payment.stands(), stand("done", "done", 4), "{}", payment.program);
        assert_eq!(payment.bank.effects().len(), 1);
    }
}

#[test]
fn workers_say_when_they_are_refused() {
    for payment in payments() {
        payment.bank.destination().sending.ending = Ending::Rejects(402);
        payment.work();
        assert_eq!(payment.stands(), stand("failed", "failed", 1), "{}", payment.program);
    }
}

/// The words of `examples/publicar/http.sh`, with an answer that the test gives. The recipes of one page are tried: those of
/// the other one are the same text.
const WITH_AN_ANSWER: &str = r#"
set -euo pipefail
ausente=
trap 'fin=$?; [ "$fin" -ne 1 ] || [ -n "$ausente" ] || exit 2' EXIT
no_esta() { ausente=1; exit 1; }
slug() { printf cola-abc; }
pedir() { shift; printf '%s\n' "$*" >&2; estado=$STATUS; cuerpo=$BODY; }
enviar() { pedir "$@"; cat >&2; }
python3() { echo jwt; }
"#;

const BEGUN_AT: &str = "2026-11-30T14:22:09.365013Z";
const KEY: &str = "mG_2lExkAGbqjBx8aa8SKixK57ewjsQ5SdshRZRQQtY";

struct Ended {
    code: Option<i32>,
    printed: String,
    asked: String,
    result: String,
}

fn run(block: &str, status: u16, body: &str, begun_at: &str) -> Ended {
    let place = Place::new();
    let words = ["STRIPE_KEY", "CUSTOMER", "METHOD", "GHOST_URL", "NOTION_SOURCE", "NOTION_TOKEN", "TITLE", "REPO"];
    let more = ["GITHUB_TOKEN", "GITHUB_USER", "CHANNEL", "SLACK_TOKEN", "DEVTO_KEY", "CANONICAL"];
    let mut bash = place.tool("bash");
    bash.arg("-c").arg(format!("{WITH_AN_ANSWER}{block}")).envs(words.iter().chain(&more).map(|name| (name, name)));
    bash.env("COLA_IA_EFFECT_KEY", KEY)
        .env("COLA_IA_EFFECT_BEGUN_AT", begun_at)
        .env("COLA_IA_RESULT", place.path("result.json"));
    bash.env("STATUS", status.to_string()).env("BODY", body);
    let mut child = bash.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A lookup does not read it.
    let _unread = child.stdin.take().unwrap().write_all(br#"{"title":"t"}"#);
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let result = fs::read(place.path("result.json")).unwrap_or_default();
    Ended {
        code: output.status.code(),
        printed: text(&output.stdout),
        asked: text(&output.stderr),
        result: text(&result),
    }
}

fn has_tools() -> bool {
    let place = Place::new();
    ["bash", "jq"].iter().all(|tool| has_tool(tool, place.tool(tool).arg("--version")))
}

#[test]
fn recipes_are_bash() {
    if !has_tools() {
        return;
    }
    for name in PAGES {
        for block in blocks(&page(name), "bash") {
            let check = Command::new("bash").args(["-n", "-c", block]).output().unwrap();
            assert!(check.status.success(), "{name}: {block}");
        }
    }
}

/// A block by words that it has and others do not; what the destination answers; how it must end, and what it prints.
#[rustfmt::skip]
const LOOKUPS: [(&str, u16, &str, i32, &str); 29] = [
    ("v1/payment_intents || exit", 200, r#"{"data":[{"id":"pi_1","status":"succeeded","metadata":{"cola_ia":"KEY"}}],"has_more":true}"#, 0, "pi_1"),
    ("v1/payment_intents || exit", 200, r#"{"data":[{"id":"pi_1","status":"requires_payment_method","metadata":{"cola_ia":"KEY"}}],"has_more":false}"#, 1, ""),
    ("v1/payment_intents || exit", 200, r#"{"data":[],"has_more":false}"#, 1, ""),
    ("v1/payment_intents || exit", 200, r#"{"data":[],"has_more":true}"#, 2, ""),
    ("v1/payment_intents || exit", 200, "<html>", 2, ""),
    ("v1/payment_intents || exit", 500, "{}", 2, ""),
    ("posts/slug", 200, r#"{"posts":[{"id":"p1"}]}"#, 0, "p1"),
    ("posts/slug", 404, r#"{"errors":[{"type":"NotFoundError"}]}"#, 1, ""),
    ("posts/slug", 404, "<html>", 2, ""),
    ("posts/slug", 404, "{}", 2, ""),
    ("posts/slug", 502, "", 2, ""),
    ("v1/data_sources", 200, r#"{"object":"list","results":[{"id":"page-1"}]}"#, 0, "page-1"),
    ("v1/data_sources", 200, r#"{"object":"list","results":[]}"#, 1, ""),
    ("v1/data_sources", 200, "{}", 2, ""),
    ("v1/data_sources", 400, r#"{"object":"error"}"#, 2, ""),
    ("state=all", 200, r#"[{"number":6,"body":null},{"number":5,"body":"x\n\n<!-- cola-ia:KEY -->"}]"#, 0, "5"),
    ("state=all", 200, r#"[{"number":6,"body":"KEY"}]"#, 1, ""),
    ("state=all", 200, "[]", 1, ""),
    ("state=all", 200, r#"{"message":"x"}"#, 2, ""),
    ("state=all", 403, "[]", 2, ""),
    ("conversations.history ||", 200, r#"{"ok":true,"messages":[{"ts":"1.5","metadata":{"event_payload":{"key":"KEY"}}}]}"#, 0, "1.5"),
    ("conversations.history ||", 200, r#"{"ok":true,"messages":[{"ts":"1.5"}]}"#, 1, ""),
    ("conversations.history ||", 200, r#"{"ok":true,"messages":[],"response_metadata":{"next_cursor":"more"}}"#, 2, ""),
    ("conversations.history ||", 200, r#"{"ok":false,"error":"ratelimited"}"#, 2, ""),
    ("conversations.history ||", 502, "<html>", 2, ""),
    ("me/all?", 200, r#"[{"id":7,"canonical_url":"CANONICAL"}]"#, 0, "7"),
    ("me/all?", 200, "[]", 1, ""),
    ("me/all?", 200, r#"[{"id":8,"canonical_url":null}]"#, 2, ""),
    ("me/all?", 401, r#"{"error":"unauthorized"}"#, 2, ""),
];

#[test]
fn lookups_of_recipes_say_absent_only_where_they_saw_all() {
    if !has_tools() {
        return;
    }
    let page = page(PAGES[0]);
    for (words, status, body, code, printed) in LOOKUPS {
        let ended = run(one(&page, words), status, &body.replace("KEY", KEY), BEGUN_AT);
        let seen = (ended.code, ended.printed.as_str());
        assert_eq!(seen, (Some(code), printed), "{words}: {status} {body}: {}", ended.asked);
    }
}

#[test]
fn lookups_go_back_to_an_hour_before_the_first_try() {
    if !has_tools() {
        return;
    }
    let page = page(PAGES[0]);
    for (words, since, always) in [
        ("v1/payment_intents || exit", "created[gte]=1796044929", "created[gte]=0"),
        ("state=all", "since=2026-11-30T13:22:09Z", "since=1970-01-01T00:00:00Z"),
        ("conversations.history ||", "oldest=1796044929", "oldest=0"),
    ] {
        for (begun_at, asked) in [(BEGUN_AT, since), ("", always)] {
            let ended = run(one(&page, words), 200, "[]", begun_at);
            assert!(ended.asked.contains(asked), "{words}: {}", ended.asked);
        }
    }
}

/// A block; what the destination answers; how it must end, what it leaves, and what it must have sent.
#[rustfmt::skip]
const SENDINGS: [(&str, &str, i32, &str, &str); 9] = [
    ("confirm=true", r#"{"id":"pi_1"}"#, 0, r#"{"resource_id":"pi_1"}"#, "Idempotency-Key: KEY"),
    ("source=html", r#"{"posts":[{"id":"p1"}]}"#, 0, r#"{"resource_id":"p1"}"#, r#""slug":"cola-abc""#),
    ("v1/pages", r#"{"id":"page-1"}"#, 0, r#"{"resource_id":"page-1"}"#, r#""content": "KEY""#),
    ("title: $title, body:", r#"{"number":5}"#, 0, r#"{"resource_id":5}"#, "<!-- cola-ia:KEY -->"),
    ("chat.postMessage", r#"{"ok":true,"ts":"1.5"}"#, 0, r#"{"resource_id":"1.5"}"#, r#""key": "KEY""#),
    ("chat.postMessage", r#"{"ok":false,"error":"ratelimited"}"#, 75, "", ""),
    ("chat.postMessage", r#"{"ok":false,"error":"is_archived"}"#, 65, "", ""),
    ("chat.postMessage", r#"{"ok":false,"error":"fatal_error"}"#, 2, "", ""),
    ("dev.to/api/articles <<<", r#"{"id":7}"#, 0, r#"{"resource_id":7}"#, r#""canonical_url": "CANONICAL""#),
];

#[test]
fn recipes_send_what_their_lookups_look_for() {
    if !has_tools() {
        return;
    }
    let page = page(PAGES[0]);
    for (words, body, code, result, sent) in SENDINGS {
        let ended = run(one(&page, words), 200, body, BEGUN_AT);
        let seen = (ended.code, ended.result.as_str());
        assert_eq!(seen, (Some(code), result), "{words}: {body}: {}", ended.asked);
        assert!(ended.asked.contains(&sent.replace("KEY", KEY)), "{words}: {}", ended.asked);
    }
}

#[track_caller]
fn one<'a>(page: &'a str, words: &str) -> &'a str {
    let with: Vec<_> = blocks(page, "bash").into_iter().filter(|block| block.contains(words)).collect();
    assert_eq!(with.len(), 1, "blocks with {words:?}");
    with[0]
}
