//! The ledger of effects with the real program: by hand, inside of a job, as one line, and as a whole command. Whatever is killed,
//! nothing is sent twice that the policy does not allow.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::process::{Child, Output, Stdio};
use std::time::Duration;

use common::{PROGRAM, Place, check_exit, code, err, out, signal, until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

fn place() -> Place {
    Place::new()
        .with("COLA_IA_RETRY_FIRST", "0s")
        .with("COLA_IA_RETRY_MAX", "0s")
        .with("COLA_IA_GRACE", "0s")
        .with("COLA_IA_LANG", "en")
        .with("PROGRAM", PROGRAM)
}

/// A place with one event, `idea-42`.
fn with_event() -> Place {
    let place = place();
    check_exit(&place.run_with(&["add", "-q", "-"], b"{\"id\":\"idea-42\",\"texto\":\"a text\"}\n"), 0);
    place
}

/// Claims the one job; its lease.
fn claim(place: &Place) -> String {
    let claimed = place.run(&["claim", "--lease", "1h"]);
    check_exit(&claimed, 0);
    out(&claimed).split(' ').next().unwrap().to_owned()
}

fn effect(place: &Place, lease: &str, args: &[&str]) -> Output {
    let mut command = place.command(&[&["effect"], args].concat());
    command.env("COLA_IA_LEASE", lease).output().unwrap()
}

/// `effect run NAME OPTIONS -- sh -c SCRIPT`
fn run(place: &Place, lease: &str, options: &[&str], script: &str) -> Output {
    effect(place, lease, &[&["run"], options, &["--", "sh", "-c", script]].concat())
}

fn show(place: &Place) -> Value {
    let shown = place.run(&["show", "--json", "idea-42"]);
    check_exit(&shown, 0);
    serde_json::from_str(out(&shown).lines().next().unwrap()).unwrap()
}

fn state(place: &Place) -> String {
    show(place)["state"].as_str().unwrap().to_owned()
}

/// State and reason of the one effect.
fn stands(place: &Place) -> (String, Option<String>) {
    let shown = show(place);
    let effect = &shown["effects"][0];
    (effect["state"].as_str().unwrap().to_owned(), effect["reason"].as_str().map(str::to_owned))
}

/// How often the destination was called: each call is a line.
fn sent(place: &Place) -> usize {
    fs::read_to_string(place.path("sent")).unwrap_or_default().lines().count()
}

const POST: &str = r#"echo x >>sent; echo '{"resource_id":"post-9"}' >"$COLA_IA_RESULT""#;

#[test]
fn every_end_of_a_command_is_an_answer() {
    let time_over = r#"trap "" TERM; sleep 60 & echo $! >pid; wait; wait; sleep 60"#;
    for (script, options, exit, state, said) in [
        (POST, &[][..], 0, "done", "post-9\n"),
        (r"printf 'two\nlines\n\n'", &[], 0, "done", "two\nlines\n"),
        (r#"echo noise; echo '{"a":1,"cost":0.5}' >"$COLA_IA_RESULT""#, &[], 0, "done", "{\"a\":1}\n"),
        ("true", &[], 0, "done", ""),
        ("echo no >&2; exit 65", &[], 65, "failed", ""),
        ("exit 75", &[], 75, "failed", ""),
        ("echo noise; exit 3", &[], 70, "unknown", ""),
        ("kill -9 $$", &[], 70, "unknown", ""),
        (time_over, &["--timeout", "1s"], 70, "unknown", ""),
    ] {
        let place = with_event();
        let lease = claim(&place);
        let ran = run(&place, &lease, &[&["publish"], options].concat(), script);
        check_exit(&ran, exit);
        assert_eq!((out(&ran).as_str(), stands(&place).0.as_str()), (said, state), "{script}: {}", err(&ran));
        assert!(!err(&ran).contains('⟨'), "{}", err(&ran));
        if exit == 65 {
            assert_eq!(show(&place)["effects"][0]["note"], "exit 65: no");
            assert!(err(&ran).starts_with("no\n"), "{}", err(&ran));
        }
        if let Ok(pid) = fs::read_to_string(place.path("pid")) {
            let pid = Pid::from_raw(pid.trim().parse().unwrap());
            until("the end of the whole group", || kill(pid, None).is_err().then_some(()));
        }
    }
    let place = with_event().file("script", "#!/no/such/interpreter\n");
    let lease = claim(&place);
    fs::set_permissions(place.path("script"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    check_exit(&effect(&place, &lease, &["run", "publish", "--", "./script"]), 75);
    assert_eq!(stands(&place).0, "failed", "nothing was sent");
    check_exit(&effect(&place, &lease, &["run", "other", "--", "./none"]), 1);
    assert_eq!(show(&place)["effects"].as_array().unwrap().len(), 1, "a command that is not there begins nothing");
}

#[test]
fn what_is_recorded_is_given_again_and_nothing_is_sent_again() {
    let place = with_event();
    let lease = claim(&place);
    for round in 0..2 {
        let ran = run(&place, &lease, &["publish"], &format!("{POST}; cat"));
        check_exit(&ran, 0);
        assert_eq!(out(&ran), "post-9\n", "round {round}");
    }
    assert_eq!(sent(&place), 1);
    check_exit(&place.run(&["complete", &lease]), 0);
    let found = place.run(&["effect", "find", "--resource", "post-9", "--json"]);
    check_exit(&found, 0);
    let line: Value = serde_json::from_str(&out(&found)).unwrap();
    assert_eq!((&line["id"], &line["name"], &line["state"]), (&json!("idea-42"), &json!("publish"), &json!("done")));
    assert_eq!(line["records"][0]["resource_id"], "post-9");
    assert_eq!(line["try_log"][0]["outcome"], "done");
    check_exit(&place.run(&["effect", "find", "--resource", "post-10"]), 1);
}

#[test]
fn a_command_gets_the_key_its_input_and_nothing_of_the_store() {
    let place = with_event();
    let lease = claim(&place);
    let mut command = place.command(&[
        "effect",
        "run",
        "publish",
        "--",
        "sh",
        "-c",
        r#"cat; echo "|$COLA_IA_EFFECT_KEY|$COLA_IA_EFFECT_TRY|$COLA_IA_DB|$COLA_IA_LEASE""#,
    ]);
    let store = place.store();
    command.env("COLA_IA_LEASE", &lease).env("COLA_IA_DB", &store).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"its input").unwrap();
    let ran = child.wait_with_output().unwrap();
    let key = show(&place)["effects"][0]["key"].as_str().unwrap().to_owned();
    assert_eq!(out(&ran), format!("its input|{key}|1||{lease}\n"));
}

#[test]
fn a_lookup_decides_after_the_wait() {
    let begin = ["begin", "publish", "--lookup", "--settle", "0", "--send-within", "1", "--call-time", "0"];
    for (lookup, exit, state, sent_after) in [
        (r#"echo "$COLA_IA_EFFECT_KEY" >looked; test "$1" = "$COLA_IA_EFFECT_KEY" && echo post-7"#, 0, "done", 0),
        ("exit 1 #", 0, "done", 1),
        ("exit 2 #", 75, "unknown", 0),
        ("kill -9 $$ #", 75, "unknown", 0),
        ("./no-such-lookup", 75, "unknown", 0),
    ] {
        let place = with_event();
        let lease = claim(&place);
        check_exit(&effect(&place, &lease, &begin), 0);
        // Somebody else begins: too early to look.
        let wait = effect(&place, &lease, &begin);
        check_exit(&wait, 75);
        assert!(out(&wait).starts_with("wait until=2"), "{}", out(&wait));
        let place = place.file("look.sh", format!("#!/bin/sh\n{lookup}\n"));
        let line = format!("sh -c '{}' lookup", lookup.replace('\'', r"'\''"));
        let options = ["publish", "--lookup", &line, "--settle", "0"];
        let ran = until("the end of the wait", || {
            let ran = run(&place, &lease, &options, POST);
            (!err(&ran).contains("could not be seen yet")).then_some(ran)
        });
        check_exit(&ran, exit);
        assert_eq!((stands(&place).0.as_str(), sent(&place)), (state, sent_after), "{lookup}: {}", err(&ran));
        if sent_after == 0 && exit == 0 {
            assert_eq!(out(&ran), "post-7\n");
            assert_eq!(show(&place)["effects"][0]["records"][0]["witness"], "lookup");
        }
    }
}

/// `work OPTIONS -- sh -c SCRIPT`, which a test kills.
struct Worker(Child);

impl Worker {
    fn start(place: &Place, options: &[&str], script: &str) -> Self {
        let args = [&["work", "--lease", "1s"], options, &["--", "sh", "-c", script]].concat();
        Self(place.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Killed together with the command, which has written its number.
    fn killed_in_the_middle(mut self, place: &Place) {
        let pid =
            until("the command", || fs::read_to_string(place.path("pid")).ok().and_then(|pid| pid.trim().parse().ok()));
        self.0.kill().unwrap();
        self.0.wait().unwrap();
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        fs::remove_file(place.path("pid")).unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn work(place: &Place, options: &[&str], script: &str) -> Output {
    place.run(&[&["work", "--drain", "--lease", "1s"], options, &["--", "sh", "-c", script]].concat())
}

/// Works until the job is not waiting for anything any more.
fn work_until(place: &Place, wanted: &str, script: &str) {
    until(wanted, || {
        check_exit(&work(place, &[], script), 0);
        (state(place) == wanted).then_some(())
    });
}

#[test]
fn a_worker_that_is_killed_in_the_middle_goes_on_by_policy() {
    let sends = "echo x >>sent; [ -e second ] && exit 0; echo $$ >pid; sleep 60";
    for (policy, wanted, calls) in [
        ("", "held", 1),
        ("--otherwise retry", "done", 2),
        ("--key-ttl 1h", "done", 2),
        ("--max-cost 0.02 --retry-below 0.05", "done", 2),
        ("--max-cost 0.07 --retry-below 0.05", "held", 1),
    ] {
        let place = with_event();
        let script = format!(r#""$PROGRAM" effect run publish {policy} -- sh -c '{sends}'"#);
        Worker::start(&place, &[], &script).killed_in_the_middle(&place);
        place.write("second", "");
        work_until(&place, wanted, &script);
        assert_eq!(sent(&place), calls, "{policy}");
        let (state, reason) = stands(&place);
        if wanted == "held" {
            assert_eq!((state.as_str(), reason.as_deref()), ("held", Some("nobody_can_tell")));
            let shown = show(&place);
            // Neither the attempt that was answered `held` nor its reason is held against the job.
            assert_eq!(shown["attempt_log"][0]["outcome"], "released", "{shown}");
            let told = place.run(&["show", "idea-42"]);
            assert!(out(&told).contains("cola-ia effect resolve --happened RESOURCE --try 1 idea-42 publish"));
        }
    }
}

/// The number of the effect's command, which does not listen to a signal that asks it to end.
#[cfg(target_os = "linux")]
fn stubborn(place: &Place) -> i32 {
    until("the command", || fs::read_to_string(place.path("pid")).ok().and_then(|pid| pid.trim().parse().ok()))
}

#[cfg(target_os = "linux")]
const STUBBORN: &str = r#"trap "" TERM; echo $$ >pid.new; mv pid.new pid; while :; do sleep 0.05; done"#;

#[cfg(target_os = "linux")]
fn is_gone(pid: i32) -> Option<()> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    (stat.is_empty() || stat.contains(") Z ")).then_some(())
}

/// It would send on after the deadline, with nobody there to say so.
#[cfg(target_os = "linux")]
#[test]
fn the_command_of_an_effect_does_not_outlive_its_job() {
    let script = format!("\"$PROGRAM\" effect run publish -- sh -c '{STUBBORN}'");
    // A second signal to the worker.
    let place = with_event();
    let mut worker = Worker::start(&place, &["--grace", "1m"], &script);
    let pid = stubborn(&place);
    for _ in 0..2 {
        kill(Pid::from_raw(worker.0.id().cast_signed()), Signal::SIGTERM).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    worker.0.wait().unwrap();
    until("its end after a second signal", || is_gone(pid));
    // The end of the job's time, and of a grace that is shorter than that of `effect run`.
    let place = with_event();
    let ended = work(&place, &["--grace", "100ms", "--timeout", "1s", "--max-attempts", "1"], &script);
    check_exit(&ended, 0);
    is_gone(stubborn(&place)).expect("it has ended with the time of its job");
    // The end of a script that did not wait for it.
    let place = with_event();
    let left = format!("{script} & until [ -e pid ]; do sleep 0.02; done; exit 1");
    check_exit(&work(&place, &["--max-attempts", "1"], &left), 0);
    is_gone(stubborn(&place)).expect("it has ended with the script that started it");
}

#[test]
fn outside_of_work_the_lease_is_renewed_at_once() {
    let place = with_event();
    let claimed = place.run(&["claim", "--lease", "1s"]);
    check_exit(&claimed, 0);
    let lease = out(&claimed).split(' ').next().unwrap().to_owned();
    let sent = run(&place, &lease, &["publish"], "sleep 2; \"$PROGRAM\" recover; echo post-1");
    check_exit(&sent, 0);
    check_exit(&place.run(&["complete", &lease]), 0);
}

#[test]
fn a_held_job_is_settled_by_hand() {
    let held = || {
        let place = with_event();
        let script = r#""$PROGRAM" effect run publish --send-within 1 --timeout 1 -- sh -c 'echo x >>sent; exit 3'"#;
        let said = work(&place, &["--json"], script);
        check_exit(&said, 0);
        until("held", || {
            check_exit(&work(&place, &[], script), 0);
            (state(&place) == "held").then_some(())
        });
        (place, script)
    };
    let resolve =
        |place: &Place, args: &[&str]| place.run(&[&["effect", "resolve", "idea-42", "publish"], args].concat());
    // It happened: the next attempt uses that.
    let (place, script) = held();
    let wrong = resolve(&place, &["--happened", "post-9", "--try", "7"]);
    check_exit(&wrong, 9);
    assert!(err(&wrong).contains("another try was made since try 7"), "{}", err(&wrong));
    check_exit(&place.run(&["effect", "resolve", "idea-42", "other", "--abandon"]), 1);
    check_exit(&place.run(&["effect", "resolve", "idea-43", "publish", "--abandon"]), 1);
    check_exit(&place.run(&["effect", "resolve", "idea-42", "--abandon"]), 2);
    let told = resolve(&place, &["--happened", "post-9", "--note", "seen", "--json"]);
    check_exit(&told, 0);
    let line: Value = serde_json::from_str(&out(&told)).unwrap();
    assert_eq!((&line["result"], &line["try"], &line["state"]), (&json!("recorded"), &json!(1), &json!("pending")));
    check_exit(&resolve(&place, &["--happened", "post-9"]), 9);
    work_until(&place, "done", script);
    let shown = show(&place);
    assert_eq!((sent(&place), &shown["resource_id"]), (1, &json!("post-9")));
    assert_eq!(shown["effects"][0]["note"], "seen");
    // It did not: the next attempt sends. Only when what was sent cannot happen any more.
    let (place, _) = held();
    let ended = until("the time in which it may still happen", || {
        let ended = resolve(&place, &["--did-not-happen"]);
        if code(&ended) == 9 {
            assert!(err(&ended).contains("may still happen"), "{}", err(&ended));
            // The deadline of the first try and the default settle are more than a test waits for.
            return Some(Err(()));
        }
        Some(Ok(ended))
    });
    assert_eq!(ended.err(), Some(()), "absent counts only after deadline and settle");
    // Nobody will find out.
    let told = resolve(&place, &["--abandon"]);
    check_exit(&told, 0);
    assert_eq!(out(&told), "idea-42 failed\n");
    check_exit(&place.run(&["retry", "idea-42"]), 1);
    // And then it turns out to have happened.
    let shown = show(&place);
    assert_eq!(shown["effects"][0]["state"], "abandoned");
    check_exit(&place.run(&["effect", "list", "--state", "abandonado"]), 0);
    check_exit(&place.run(&["effect", "list", "--state", "lost"]), 2);
}

#[test]
fn an_absence_said_by_a_person_lets_it_be_sent_again() {
    let place = with_event();
    let lease = claim(&place);
    let begin = ["begin", "publish", "--send-within", "0", "--call-time", "0", "--settle", "0"];
    check_exit(&effect(&place, &lease, &begin), 0);
    let held = effect(&place, &lease, &begin);
    check_exit(&held, 9);
    assert_eq!(out(&held), "held reason=nobody_can_tell\n");
    assert_eq!(state(&place), "held");
    // The lease has ended with the answer; a worker's own release is answered the same.
    check_exit(&place.run(&["release", &lease]), 0);
    check_exit(&place.run(&["effect", "resolve", "idea-42", "publish", "--did-not-happen", "--try", "1"]), 0);
    let lease = claim(&place);
    let go = effect(&place, &lease, &begin);
    assert!(out(&go).starts_with("go key=") && out(&go).contains(" try=2 "), "{}", out(&go));
}

#[test]
fn begin_by_hand_says_its_word_first() {
    let place = with_event();
    let lease = claim(&place);
    let id = "00112233445566778899aabbccddeeff";
    let first = effect(&place, &lease, &["begin", "pay", "--key-ttl", "1h", "--begin-id", id]);
    check_exit(&first, 0);
    // A repeated one gets the same answer, with the same instant.
    assert_eq!(out(&effect(&place, &lease, &["begin", "pay", "--key-ttl", "1h", "--begin-id", id])), out(&first));
    assert!(out(&first).contains(" key_until="));
    let json = effect(&place, &lease, &["begin", "pay", "--key-ttl", "1h", "--json"]);
    let answer: Value = serde_json::from_str(&out(&json)).unwrap();
    assert_eq!((&answer["result"], &answer["try"]), (&json!("go"), &json!(2)));
    check_exit(&effect(&place, &lease, &["begin", "pay", "--key-ttl", "1h", "--begin-id", id]), 9);
    let other = effect(&place, &lease, &["begin", "pay", "--otherwise", "retry"]);
    check_exit(&other, 9);
    assert_eq!(out(&other), "refused reason=other_policy\n");
    let refused = effect(&place, &lease, &["failed", "pay", "--try", "9", "--rejected"]);
    check_exit(&refused, 9);
    assert_eq!(out(&refused), "missing\n");
    check_exit(&effect(&place, &lease, &["failed", "pay", "--try", "1"]), 2);
    check_exit(&effect(&place, &lease, &["unknown", "pay", "--try", "2", "--note", "no answer"]), 0);
    let result = r#"{"resource_id":"pay-1","cost":0.25,"lines":[1,2]}"#;
    check_exit(&effect(&place, &lease, &["done", "pay", "--try", "1", "--result", result]), 0);
    check_exit(&effect(&place, &lease, &["done", "pay", "--try", "1", "--result", "{"]), 2);
    let done = effect(&place, &lease, &["begin", "pay", "--key-ttl", "1h"]);
    let key = show(&place)["effects"][0]["key"].as_str().unwrap().to_owned();
    assert_eq!(out(&done), format!("done key={key} resource_id=pay-1 result='{{\"lines\":[1,2]}}' cost=0.25\n"));
    // A zombie's evidence counts, its other words do not.
    check_exit(&place.run(&["release", &lease]), 0);
    let late = effect(&place, &lease, &["done", "pay", "--try", "1", "--resource", "pay-2"]);
    check_exit(&late, 7);
    assert_eq!(out(&late), "lease_lost\n");
    assert_eq!(show(&place)["effects"][0]["alarm"], "double_effect");
    let alarmed = place.run(&["effect", "list", "--alarm"]);
    assert!(out(&alarmed).contains("pay-1  double_effect"), "{}", out(&alarmed));
    check_exit(&effect(&place, &lease, &["begin", "pay", "--key-ttl", "1h"]), 7);
}

#[test]
fn another_request_under_a_known_key_is_refused() {
    let place = with_event();
    let lease = claim(&place);
    check_exit(&run(&place, &lease, &["pay", "--key-ttl", "1h"], "exit 3"), 70);
    let other = run(&place, &lease, &["pay", "--key-ttl", "1h"], "exit 0");
    check_exit(&other, 9);
    assert!(err(&other).contains("something else would be sent"), "{}", err(&other));
    // What may differ is left out.
    let options = ["again", "--key-ttl", "1h", "--request", "payment of idea-42"];
    check_exit(&run(&place, &lease, &options, "exit 3"), 70);
    check_exit(&run(&place, &lease, &options, "exit 0"), 0);
}

#[test]
fn inside_of_a_job_neither_lease_nor_store_is_needed() {
    let place = with_event();
    // In another folder, where there is no store.
    let script = r#"mkdir -p elsewhere && cd elsewhere
        say() { "$PROGRAM" effect "$@" >>../said; }
        say begin draft --max-cost 0.02 --retry-below 0.05
        say done draft --try 1 --resource draft-1 --cost 0.01
        say begin draft --max-cost 0.02 --retry-below 0.05
        say begin publish --lookup --settle 0 --send-within 0 --call-time 0
        say failed publish --try 1 --not-sent
        say begin publish --lookup --settle 0 --send-within 0 --call-time 0
        say unknown publish --try 2
        say begin publish --lookup --settle 0 --send-within 0 --call-time 0
        say resolve publish --ticket 2 --absent
        say begin publish --lookup --settle 0 --send-within 0 --call-time 0
        say resolve publish --ticket 3 --found post-9
        say list"#;
    let ran = work(&place, &["--json"], script);
    check_exit(&ran, 0);
    let said = String::from_utf8(place.read("said")).unwrap();
    let words: Vec<&str> = said.lines().map(|line| line.split(' ').next().unwrap()).collect();
    let expected = [
        "go", "recorded", "done", "go", "recorded", "go", "recorded", "check", "recorded", "go", "recorded", "publish",
        "draft",
    ];
    assert_eq!(words, expected, "{said}");
    // The job has made what its last effect has made; what its effects cost is not counted twice.
    let worked: Value = serde_json::from_str(out(&ran).lines().next().unwrap()).unwrap();
    assert_eq!(
        (&worked["state"], &worked["resource_id"], &worked["cost_micros"]),
        (&json!("done"), &json!("post-9"), &Value::Null)
    );
}

#[test]
fn a_job_waits_as_long_as_its_effect_does() {
    let place = with_event();
    let script = r#""$PROGRAM" effect begin publish --lookup --send-within 0 --call-time 1h --settle 0 >>said || exit $?
        "$PROGRAM" effect begin publish --lookup --send-within 0 --call-time 1h --settle 0 >>said || exit $?"#;
    let ran = work(&place, &["--json"], script);
    let worked: Value = serde_json::from_str(out(&ran).lines().next().unwrap()).unwrap();
    assert_eq!((&worked["outcome"], &worked["state"]), (&json!("released"), &json!("pending")));
    let said = String::from_utf8(place.read("said")).unwrap();
    let until = said.lines().nth(1).unwrap().split(' ').nth(1).unwrap().strip_prefix("until=").unwrap();
    assert_eq!(worked["due_at"], until, "{said}");
    assert_eq!(show(&place)["attempts"], 0, "it costs no attempt");
}

#[test]
fn effect_run_inside_of_a_job_tells_the_job_what_it_made_or_waits_for() {
    let place = with_event();
    let script = r#"echo '{"note":"mine"}' >"$COLA_IA_RESULT"
        "$PROGRAM" effect run publish -- sh -c 'echo "{\"resource_id\":\"post-9\",\"title\":\"t\",\"cost\":2}" >"$COLA_IA_RESULT"' >out"#;
    check_exit(&work(&place, &[], script), 0);
    let shown = show(&place);
    assert_eq!(shown["resource_id"], "post-9");
    let result: Value = serde_json::from_str(shown["result"].as_str().unwrap()).unwrap();
    assert_eq!(result, json!({"note": "mine", "title": "t"}));
    assert_eq!(shown["attempt_log"][0]["cost_micros"], Value::Null);
    assert_eq!(shown["effects"][0]["cost_micros"], 2_000_000);
    assert_eq!(place.read("out"), b"{\"title\":\"t\"}\n");
    // An unknown outcome is a failed attempt with a class of its own.
    let place = with_event();
    let script = r#""$PROGRAM" effect run publish -- sh -c 'exit 3'"#;
    let ran = work(&place, &["--json", "--max-attempts", "1"], script);
    let worked: Value = serde_json::from_str(out(&ran).lines().next().unwrap()).unwrap();
    assert_eq!((&worked["error_class"], &worked["state"]), (&json!("effect_unknown"), &json!("held")));
}

#[test]
fn the_socket_speaks_one_object_a_line_and_cuts_nothing() {
    let place = with_event();
    let worker = Worker::start(
        &place,
        &[],
        r#"echo "$COLA_IA_SOCKET" >socket.new; mv socket.new socket; until [ -e end ]; do sleep 0.02; done"#,
    );
    let path = until("the socket", || fs::read_to_string(place.path("socket")).ok());
    let stream = UnixStream::connect(path.trim()).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let mut ask = |request: Value| -> Value {
        (&stream).write_all(format!("{request}\n").as_bytes()).unwrap();
        serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap()
    };
    let id = "0".repeat(32);
    let go = ask(json!({"v":1,"verb":"effect_begin","name":"publish","begin_id":id}));
    assert_eq!((&go["result"], &go["try"]), (&json!("go"), &json!(1)));
    let long = format!("\"{}\"", "x".repeat(70_000));
    let id_too_long = "x".repeat(1_025);
    for (more, code) in [
        (json!({"verb":"effect_done","name":"publish","try":1,"result":"{"}), "result_syntax"),
        (json!({"verb":"effect_done","name":"publish","try":1,"result":long}), "result_too_long"),
        (json!({"verb":"effect_done","name":"publish","try":1,"resource_id":id_too_long}), "resource_id_too_long"),
        (json!({"verb":"effect_done","name":"publish"}), "try_missing"),
        (json!({"verb":"effect_done","name":"Publish","try":1}), "name_syntax"),
        (json!({"verb":"effect_failed","name":"publish","try":1,"outcome":"lost"}), "outcome_unknown"),
        (json!({"verb":"effect_burn","name":"publish","try":1}), "verb_unknown"),
        (json!({"verb":"effect_begin","name":"publish"}), "begin_id_syntax"),
        (json!({"verb":"effect_begin","name":"publish","settle_ms":"1s"}), "request_syntax"),
        (
            json!({"verb":"effect_resolve","name":"publish","try":1,"outcome":"found","resource_id":""}),
            "resource_id_empty",
        ),
        (json!({"verb":"effect_resolve","name":"publish","try":1,"outcome":"found"}), "resource_id_missing"),
        (json!({"verb":"complete","result":"{"}), "result_syntax"),
        (json!({"verb":"complete","result":long}), "result_too_long"),
        (json!({"verb":"complete","resource_id":id_too_long}), "resource_id_too_long"),
        (json!({"verb":"fail","error_class":"a b"}), "error_class_syntax"),
        (json!({"verb":"fail","cost_micros":-1}), "cost_range"),
        (json!({"verb":"burn"}), "verb_unknown"),
        (json!({"verb":"extend","lease_ms":0}), "lease_range"),
        (json!({"verb":"extend","lease_ms":u64::MAX}), "lease_range"),
    ] {
        let mut request = json!({"v":1});
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = ask(request);
        assert_eq!((&answer["result"], &answer["code"]), (&json!("invalid"), &json!(code)));
    }
    assert_eq!(ask(json!({"v":2,"verb":"effect_list"}))["code"], "request_version");
    let done = ask(json!({"v":1,"verb":"effect_done","name":"publish","try":1,"resource_id":"post-9"}));
    assert_eq!(done["result"], "recorded");
    let list = ask(json!({"v":1,"verb":"effect_list"}));
    assert_eq!(list["effects"][0]["resource_id"], "post-9");
    let again = ask(json!({"v":1,"verb":"effect_begin","name":"publish","begin_id":"1".repeat(32)}));
    assert_eq!((&again["result"], &again["record"]["resource_id"]), (&json!("done"), &json!("post-9")));
    place.write("end", "");
    until("the end of the job", || (state(&place) == "done").then_some(()));
    drop(worker);
    assert_eq!(show(&place)["resource_id"], "post-9");
}

#[test]
fn a_whole_command_can_be_one_effect() {
    // Done once: what happened before is used, and the command is not run.
    let place = with_event();
    let script = r#"test "$COLA_IA_EFFECT_KEY" = "$COLA_IA_KEY" || exit 65
        echo x >>sent; echo '{"resource_id":"post-9","cost":1,"tokens_in":3}' >"$COLA_IA_RESULT""#;
    let options = ["--effect", "job", "--json"];
    let ran = work(&place, &options, script);
    check_exit(&ran, 0);
    let worked: Value = serde_json::from_str(out(&ran).lines().next().unwrap()).unwrap();
    assert_eq!(
        (&worked["state"], &worked["resource_id"], &worked["cost_micros"]),
        (&json!("done"), &json!("post-9"), &Value::Null)
    );
    let shown = show(&place);
    assert_eq!(
        (&shown["effects"][0]["state"], &shown["effects"][0]["cost_micros"]),
        (&json!("done"), &json!(1_000_000))
    );
    // 65 and 75 are what they are for any command.
    for (exit, wanted, effect) in [(65, "failed", "failed"), (75, "pending", "failed")] {
        let place = with_event();
        check_exit(&work(&place, &["--effect", "publish", "--json"], &format!("exit {exit}")), 0);
        assert_eq!((state(&place).as_str(), stands(&place).0.as_str()), (wanted, effect), "{exit}");
    }
    // Nobody knows: tried again, and then a person decides.
    let place = with_event();
    let ran = work(&place, &["--effect", "publish", "--json"], "echo x >>sent; echo oops >&2; exit 3");
    check_exit(&ran, 0);
    let lines: Vec<Value> = out(&ran).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["error_class"], &lines[0]["error"]), (&json!("effect_unknown"), &json!("exit 3: oops")));
    until("held", || {
        work(&place, &["--effect", "publish"], "echo x >>sent; exit 3");
        (state(&place) == "held").then_some(())
    });
    assert_eq!((sent(&place), stands(&place).0.as_str()), (1, "held"));
    // Tried again by name, until its attempts are used up; then it is held, for it may have happened.
    let place = with_event();
    let retry = ["--effect", "publish", "--otherwise", "retry", "--max-attempts", "2"];
    until("held", || {
        check_exit(&work(&place, &retry, "echo x >>sent; kill -9 $$"), 0);
        (state(&place) == "held").then_some(())
    });
    assert_eq!(sent(&place), 2);
    check_exit(&place.run(&["work", "--settle", "3", "--", "true"]), 2);
}

#[test]
fn a_signal_is_passed_on_and_the_end_of_the_command_reported() {
    for (trap, exit, state) in
        [("echo $$ >ended; exit 0", 0, "done"), ("exit 75", 75, "failed"), ("exit 1", 70, "unknown")]
    {
        let place = with_event().with("COLA_IA_GRACE", "5s");
        let lease = claim(&place);
        let script = format!("trap '{trap}' TERM; echo $$ >pid; while :; do sleep 0.02; done");
        let mut command = place.command(&["effect", "run", "publish", "--", "sh", "-c", &script]);
        let mut child =
            command.env("COLA_IA_LEASE", &lease).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("the command", || place.path("pid").exists().then_some(()));
        signal(&child, Signal::SIGTERM);
        let ended = until("the end", || child.try_wait().unwrap());
        assert_eq!((ended.code(), stands(&place).0.as_str()), (Some(exit), state), "{trap}");
    }
}

#[test]
fn a_lease_lasts_as_long_as_the_command_that_was_begun_with_it() {
    let place = with_event().with("COLA_IA_LEASE_TIME", "1s");
    let claimed = place.run(&["claim"]);
    let lease = out(&claimed).split(' ').next().unwrap().to_owned();
    check_exit(&run(&place, &lease, &["publish"], "sleep 2.5; echo done"), 0);
    check_exit(&place.run(&["complete", &lease]), 0);
}

#[test]
fn people_are_told_in_their_language() {
    let place = with_event().with("COLA_IA_LANG", "es");
    let lease = claim(&place);
    check_exit(&run(&place, &lease, &["publish"], "exit 3"), 70);
    let held = run(&place, &lease, &["publish"], "exit 3");
    check_exit(&held, 9);
    assert!(err(&held).contains("queda retenido hasta que mire una persona"), "{}", err(&held));
    let told = out(&place.run(&["show", "idea-42"]));
    assert!(told.contains("efecto publish: retenido") && told.contains("--did-not-happen"), "{told}");
    let listed = out(&place.run(&["effect", "list", "--state", "retenido"]));
    assert!(listed.starts_with("ESTADO    EFECTO"), "{listed}");
}

#[test]
fn a_budget_is_asked_before_anything_is_sent() {
    let place = with_event();
    check_exit(&place.run(&["budget", "set", "default", "0.05"]), 0);
    let lease = claim(&place);
    let unpriced = run(&place, &lease, &["draft"], POST);
    check_exit(&unpriced, 9);
    assert!(err(&unpriced).contains("what it may cost was not said"), "{}", err(&unpriced));
    let dear = run(&place, &lease, &["draft", "--max-cost", "0.06"], POST);
    check_exit(&dear, 75);
    assert!(err(&dear).contains("the budget of the day is used up"), "{}", err(&dear));
    let begun = effect(&place, &lease, &["begin", "draft", "--max-cost", "0.06"]);
    check_exit(&begun, 75);
    assert!(out(&begun).starts_with("refused reason=budget until="), "{}", out(&begun));
    assert_eq!(sent(&place), 0);
    check_exit(&run(&place, &lease, &["draft", "--max-cost", "0.04"], POST), 0);
    // Inside of a job it comes back when the budget does, at no attempt's cost.
    check_exit(&place.run(&["release", &lease]), 0);
    let ran = work(&place, &["--json"], r#""$PROGRAM" effect run publish --max-cost 0.04 -- true"#);
    let worked: Value = serde_json::from_str(out(&ran).lines().next().unwrap()).unwrap();
    let midnight = |due: &Value| due.as_str().unwrap().contains("T00:00:0");
    assert!(worked["outcome"] == "released" && midnight(&worked["due_at"]), "{worked}");
}

#[test]
fn an_effect_is_priced_by_its_model_and_counted_once() {
    for inside in [true, false] {
        let prices = "[prices.\"large-2\"]\ninput = 2.5\noutput = 10\n";
        let place = with_event().file("cola-ia.toml", prices);
        let script = r#"sh -c 'echo "{\"model\":\"large-2\",\"tokens_in\":1001,\"tokens_out\":2}" >"$COLA_IA_RESULT"'"#;
        if inside {
            check_exit(&work(&place, &[], &format!(r#""$PROGRAM" effect run draft -- {script}"#)), 0);
        } else {
            check_exit(&run(&place, &claim(&place), &["draft"], script), 0);
        }
        assert_eq!(show(&place)["effects"][0]["cost_micros"], 2_523, "{inside}");
        let costs = place.run(&["costs", "--by", "model", "--json"]);
        let lines: Vec<Value> = out(&costs).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of_model = lines.iter().find(|line| line["name"] == "large-2").unwrap();
        assert_eq!((&of_model["spent_micros"], &of_model["count"]), (&json!(2_523), &json!(1)));
    }
    // A cost in another currency is not counted as one of ours.
    let place = with_event();
    check_exit(&place.run(&["budget", "currency", "EUR"]), 0);
    let lease = claim(&place);
    let ran = run(&place, &lease, &["draft"], r#"echo '{"cost":5,"currency":"USD"}' >"$COLA_IA_RESULT""#);
    check_exit(&ran, 0);
    assert!(err(&ran).contains("USD"), "{}", err(&ran));
    assert_eq!(show(&place)["effects"][0]["cost_micros"], 0);
}

/// What was spent of the default budget today, in millionths.
fn spent(place: &Place) -> Value {
    let costs = place.run(&["costs", "--json"]);
    check_exit(&costs, 0);
    let lines: Vec<Value> = out(&costs).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.iter().filter_map(|line| line["spent_micros"].as_i64()).max().into()
}

#[test]
fn what_a_try_cost_that_came_to_nothing_is_the_attempts() {
    let paid = r#"echo x >>sent; echo '{"cost":0.5,"tokens_in":3,"model":"m"}' >"$COLA_IA_RESULT""#;
    for exit in [65, 75] {
        // A whole command.
        let place = place();
        check_exit(&place.run(&["init", "--quiet"]), 0);
        check_exit(&place.run(&["budget", "set", "default", "1"]), 0);
        let lines: Vec<String> = (0..6).map(|id| format!("{{\"id\":\"{id}\",\"texto\":\"x\"}}")).collect();
        let lines = lines.join("\n");
        check_exit(&place.run_with(&["add", "-q", "-"], lines.as_bytes()), 0);
        let options = ["--drain", "--effect", "draft", "--max-cost", "0.5", "--jobs", "1"];
        let script = format!("{paid}; exit {exit}");
        let mut command = place.command(&[&["work"], &options[..], &["--", "sh", "-c", &script]].concat());
        check_exit(&command.output().unwrap(), 0);
        assert_eq!((sent(&place), spent(&place)), (2, json!(1_000_000)), "{exit}");
        // A command inside of a job, with what the job itself tells.
        let place = with_event();
        let place = place.file("pay.sh", format!("{paid}; exit {exit}\n"));
        let script = r#"echo '{"cost":"0.25","tokens_in":1}' >"$COLA_IA_RESULT"
            "$PROGRAM" effect run draft -- sh ./pay.sh"#;
        let ran = work(&place, &["--json"], script);
        let worked: Value = serde_json::from_str(out(&ran).lines().next().unwrap()).unwrap();
        assert_eq!((&worked["cost_micros"], spent(&place)), (&json!(750_000), json!(750_000)), "{exit} {}", err(&ran));
    }
    // What the command says on its socket is what the effect cost.
    let place = with_event();
    check_exit(&work(&place, &["--effect", "draft"], r#""$PROGRAM" complete --cost 0.1"#), 0);
    assert_eq!((&show(&place)["effects"][0]["cost_micros"], spent(&place)), (&json!(100_000), json!(100_000)));
}

#[test]
fn a_text_is_never_given_as_an_empty_one() {
    let place = with_event();
    let lease = claim(&place);
    let priced = r#"echo a text; echo '{"cost":0.02,"model":"m"}' >"$COLA_IA_RESULT""#;
    for _ in 0..2 {
        let ran = run(&place, &lease, &["priced"], priced);
        check_exit(&ran, 0);
        assert_eq!(out(&ran), "a text\n");
    }
    // Too long once it is quoted: there now, and not the next time.
    let long = "yes '\"' | head -c 60000";
    let ran = run(&place, &lease, &["quoted"], long);
    check_exit(&ran, 0);
    assert!(out(&ran).len() >= 59_999 && err(&ran).contains("too long"), "{}", err(&ran));
    // Longer than what is read of it: never.
    let ran = run(&place, &lease, &["long"], "yes | head -c 70000");
    check_exit(&ran, 1);
    assert_eq!(out(&ran), "");
    for name in ["quoted", "long"] {
        let ran = run(&place, &lease, &[name], long);
        check_exit(&ran, 1);
        assert!(out(&ran).is_empty() && err(&ran).contains("it has happened"), "{}", err(&ran));
    }
}

#[test]
fn an_empty_id_is_not_found_and_nothing_is_dropped_silently() {
    let place = with_event();
    let lease = claim(&place);
    for id in ["", " "] {
        check_exit(&effect(&place, &lease, &["resolve", "p", "--ticket", "1", "--found", id]), 2);
        check_exit(&effect(&place, &lease, &["done", "p", "--try", "1", "--resource", id]), 2);
        check_exit(&effect(&place, &lease, &["resolve", "idea-42", "p", "--happened", id]), 2);
    }
    for refused in [
        &["effect", "run", "p", "--timeout", "0s", "--", "true"][..],
        &["effect", "run", "p", "--send-within", "0s", "--", "true"],
        &["work", "--effect", "p", "--send-within", "0s", "--", "true"],
        &["work", "--effect", "p", "--timeout", "0s", "--", "true"],
        &["work", "--effect", "p", "--timeout", "never", "--", "true"],
        &["effect", "resolve", "idea-42", "p", "--happened", "a", "--happened", "b", "--cost", "1"],
        &["effect", "resolve", "idea-42", "p", "--abandon", "--cost", "1"],
        &["effect", "resolve", "p", "--ticket", "1", "--absent", "--cost", "1"],
    ] {
        check_exit(&place.run(refused), 2);
    }
    check_exit(&run(&place, &lease, &["publish"], "exit 3"), 70);
    check_exit(&run(&place, &lease, &["publish"], "true"), 9);
    let told = ["--happened", "post-1", "--cost", "0.1", "--result", "{\"a\":1}", "--model", "m", "--tokens-in", "7"];
    check_exit(&place.run(&[&["effect", "resolve", "idea-42", "publish"], &told[..]].concat()), 0);
    let shown = &show(&place)["effects"][0];
    assert_eq!((&shown["state"], &shown["cost_micros"]), (&json!("done"), &json!(100_000)), "{shown}");
}

#[test]
fn a_worker_says_why_it_goes_round() {
    let place = with_event();
    until("the lookup", || {
        let options = ["--effect", "publish", "--lookup", "exit 7", "--settle", "0s", "--timeout", "1s"];
        let ran = work(&place, &options, "exit 3");
        err(&ran).contains("effect_lookup").then_some(())
    });
}
