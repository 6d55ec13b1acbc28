//! `work` with real commands: whatever happens to the worker, to a command or to the store, no job is lost, none is finished
//! twice, and no attempt is unrecorded.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use common::mounts::run_with_mounts;
use common::{PROGRAM, Place, check_exit, err, out, signal, until};
use nix::sys::signal::Signal;
use serde_json::Value;

/// A place where a failed job is tried again at once.
fn place() -> Place {
    Place::new()
        .with("COLA_IA_RETRY_FIRST", "0s")
        .with("COLA_IA_RETRY_MAX", "0s")
        .with("COLA_IA_LANG", "en")
        .with("PROGRAM", PROGRAM)
}

fn add(place: &Place, ids: impl IntoIterator<Item = String>) {
    let line = |id: String| format!("{{\"id\":\"{id}\",\"texto\":\"text of {id}\"}}\n");
    let lines: Vec<String> = ids.into_iter().map(line).collect();
    check_exit(&place.run_with(&["add", "-q", "-"], lines.concat().as_bytes()), 0);
}

/// `work OPTIONS -- sh -c SCRIPT`, with what it says in files.
struct Worker {
    child: Child,
    out: std::path::PathBuf,
    err: std::path::PathBuf,
}

impl Worker {
    fn start(place: &Place, name: &str, options: &[&str], script: &str) -> Self {
        let (out, err) = (place.path(&format!("{name}.out")), place.path(&format!("{name}.err")));
        let child = place
            .command(&[&["work"], options, &["--", "sh", "-c", script]].concat())
            .stdout(File::create(&out).unwrap())
            .stderr(File::create(&err).unwrap())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        Self { child, out, err }
    }

    fn said(&self) -> String {
        fs::read_to_string(&self.err).unwrap()
    }

    fn told(&self) -> String {
        fs::read_to_string(&self.out).unwrap()
    }

    /// Waits for its end; the exit code.
    #[track_caller]
    fn ends(&mut self) -> Option<i32> {
        until("the end of the worker", || self.child.try_wait().unwrap()).code()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn work(place: &Place, options: &[&str], script: &str) -> std::process::Output {
    place.run(&[&["work", "--drain"], options, &["--", "sh", "-c", script]].concat())
}

fn show(place: &Place, id: &str) -> Value {
    let shown = place.run(&["show", "--json", "--", id]);
    check_exit(&shown, 0);
    serde_json::from_str(out(&shown).lines().next().unwrap()).unwrap()
}

fn state(place: &Place, id: &str) -> String {
    show(place, id)["state"].as_str().unwrap().to_owned()
}

/// The attempts of a job, oldest first: number and outcome.
fn attempts(job: &Value) -> Vec<(u64, String)> {
    let log = job["attempt_log"].as_array().unwrap();
    let of = |attempt: &Value| {
        (attempt["number"].as_u64().unwrap(), attempt["outcome"].as_str().unwrap_or("open").to_owned())
    };
    log.iter().rev().map(of).collect()
}

fn outcomes(place: &Place, id: &str) -> Vec<String> {
    attempts(&show(place, id)).into_iter().map(|(_, outcome)| outcome).collect()
}

fn states(place: &Place) -> BTreeMap<String, String> {
    let listed = place.run(&["jobs", "--json", "--limit", "1000"]);
    check_exit(&listed, 0);
    let of = |line: &str| -> (String, String) {
        let job: Value = serde_json::from_str(line).unwrap();
        (job["id"].as_str().unwrap().to_owned(), job["state"].as_str().unwrap().to_owned())
    };
    out(&listed).lines().map(of).collect()
}

fn text_of(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Waits until a file that a command writes is there with a whole line, and answers with that.
#[track_caller]
fn line_of(place: &Place, name: &str) -> String {
    until(name, || {
        let text = text_of(&place.path(name));
        text.ends_with('\n').then(|| text.trim_end().to_owned())
    })
}

fn is_alive(pid: &str) -> bool {
    // One that has ended and is not reaped yet has no command line.
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty())
}

#[test]
fn the_articles_flow_runs_by_two_commands_and_repeats_safely() {
    let place = Place::new();
    place.write(
        "eventos.jsonl",
        "{\"id\":\"idea-42\",\"texto\":\"Comparar dos modelos\"}\n{\"id\":\"idea-43\",\"texto\":\"ñ\"}\n",
    );
    let script = "cat >> hecho; echo >> hecho";
    for round in 0..2 {
        let added = place.run(&["add", "eventos.jsonl"]);
        let worked = work(&place, &[], script);
        check_exit(&worked, 0);
        let (verdict, expected) =
            if round == 0 { ("nuevo", "idea-42 terminado\nidea-43 terminado\n") } else { ("repetido", "") };
        assert_eq!(out(&added), format!("idea-42 {verdict}\nidea-43 {verdict}\n"));
        assert_eq!(out(&worked), expected);
        assert_eq!(text_of(&place.path("hecho")), "Comparar dos modelos\nñ\n");
    }
    let said = place.with("COLA_IA_LANG", "en").run(&["show", "idea-42"]);
    assert!(out(&said).contains("it ran and was done"), "{}", out(&said));
}

#[test]
fn the_articles_own_database_is_taken_over() {
    let place = Place::new();
    common::stored::make_article(&place.store(), common::stored::article_rows(3));
    let worked = work(&place, &[], "cat");
    check_exit(&worked, 0);
    assert_eq!(out(&worked), "viejo-0 terminado\n");
    assert!(err(&worked).contains("held"), "{}", err(&worked));
}

#[test]
fn a_killed_worker_is_recovered_within_a_lease() {
    let place = place();
    add(&place, ["a".to_owned()]);
    let script = "echo $$ > pid; echo $COLA_IA_ATTEMPT >> ran; test -e go || exec sleep 60";
    let mut killed = Worker::start(&place, "killed", &["--lease", "2s"], script);
    let orphan = line_of(&place, "pid");
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    let start = Instant::now();
    place.write("go", "");
    let after = work(&place, &["--lease", "2s"], script);
    check_exit(&after, 0);
    assert_eq!(out(&after), "", "while the lease lasts, nobody takes the job");
    assert!(err(&after).contains("in the hands of another worker"), "{}", err(&after));
    let next = Worker::start(&place, "next", &["--lease", "2s"], script);
    until("recovery", || (next.told() == "a done\n").then_some(()));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(next.said().contains("one job was in the hands of a worker that is lost"), "{}", next.said());
    assert_eq!(outcomes(&place, "a"), ["crashed", "done"]);
    assert_eq!(text_of(&place.path("ran")), "1\n2\n");
    let _ = place.tool("kill").args(["-9", &orphan]).status();
}

#[test]
fn a_command_that_is_killed_or_fails_is_an_error_and_bounded() {
    let place = place();
    add(&place, ["killed", "fails", "never", "late"].map(str::to_owned));
    let script = r#"case $COLA_IA_ID in
        killed) kill -9 $$ ;;
        fails) echo "no luck" >&2; exit 3 ;;
        never) exit 65 ;;
        late) trap '' TERM; sleep 60 & wait; wait ;;
    esac"#;
    let worked =
        work(&place, &["-j", "4", "--max-attempts", "2", "--timeout", "1s", "--grace", "200ms", "--json"], script);
    check_exit(&worked, 0);
    let expected = [
        ("fails", vec!["error", "error"], "exit_3"),
        ("killed", vec!["error", "error"], "signal_SIGKILL"),
        ("late", vec!["timed_out", "timed_out"], "timed_out"),
        ("never", vec!["error"], "exit_65"),
    ];
    for (id, ends, class) in expected {
        let job = show(&place, id);
        assert_eq!(job["state"], "failed", "{id}");
        assert_eq!(outcomes(&place, id), ends, "{id}");
        assert_eq!(job["attempt_log"][0]["error_class"], class, "{id}");
    }
    assert_eq!(show(&place, "killed")["attempt_log"][0]["signal"], 9);
    assert_eq!(show(&place, "never")["reason"], "permanent");
    assert_eq!(out(&worked).lines().count(), 7);
    assert!(
        err(&worked).contains("fails: attempt 2 failed (exit_3): no luck; it is not tried again"),
        "{}",
        err(&worked)
    );
    assert!(err(&worked).contains("0 done, 4 failed, 3 attempts to be repeated"), "{}", err(&worked));
}

#[test]
fn a_worker_that_slept_past_its_lease_stops_its_command() {
    let place = place();
    add(&place, ["a".to_owned()]);
    let script = "test $COLA_IA_ATTEMPT != 1 || { echo $$ > pid; exec sleep 60; }";
    let options = ["--lease", "1s", "--drain"];
    let mut first = Worker::start(&place, "first", &options, script);
    let pid = line_of(&place, "pid");
    signal(&first.child, Signal::SIGSTOP);
    let second = Worker::start(&place, "second", &["--lease", "1s"], script);
    until("the second worker's result", || (second.told() == "a done\n").then_some(()));
    assert!(is_alive(&pid), "a stopped worker stops nothing");
    signal(&first.child, Signal::SIGCONT);
    assert_eq!(first.ends(), Some(0));
    assert!(!is_alive(&pid));
    assert_eq!(first.told(), "");
    assert!(first.said().contains("its lease ran out"), "{}", first.said());
    let job = show(&place, "a");
    assert_eq!(attempts(&job), [(1, "crashed".to_owned()), (2, "done".to_owned())]);
    assert_eq!((&job["state"], &job["attempt_log"][1]["late"]), (&"done".into(), &"extend".into()));
}

#[test]
fn a_result_that_comes_after_the_lease_was_lost_changes_nothing() {
    let place = place();
    add(&place, ["a".to_owned()]);
    // The first attempt ends while its worker is stopped.
    let script =
        "echo made by $COLA_IA_ATTEMPT; test $COLA_IA_ATTEMPT != 1 || { echo > begun; sleep 1; echo > ended; }";
    let mut first = Worker::start(&place, "first", &["--lease", "1s", "--drain"], script);
    line_of(&place, "begun");
    signal(&first.child, Signal::SIGSTOP);
    let second = Worker::start(&place, "second", &["--lease", "1s"], script);
    until("the second worker's result", || (second.told() == "a done\n").then_some(()));
    until("the end of the first command", || place.path("ended").exists().then_some(()));
    signal(&first.child, Signal::SIGCONT);
    assert_eq!(first.ends(), Some(0));
    assert_eq!(first.told(), "");
    let job = show(&place, "a");
    assert_eq!(job["state"], "done");
    assert_eq!(job["attempt_log"][0]["stdout"], "made by 2\n");
    assert!(!job["attempt_log"][1]["late"].is_null(), "{job}");
}

#[test]
fn a_store_that_is_locked_for_longer_than_a_lease_costs_no_job_and_no_result() {
    for lock_wait in ["60s", "0s"] {
        let place = place().with("COLA_IA_LOCK_WAIT", lock_wait);
        add(&place, ["a".to_owned()]);
        let script = "echo $COLA_IA_ATTEMPT >> ran; echo > begun; until test -e go; do sleep 0.05; done; echo > ended";
        let mut worker = Worker::start(&place, "worker", &["--lease", "1s", "--drain"], script);
        line_of(&place, "begun");
        let locker = rusqlite::Connection::open(place.store()).unwrap();
        locker.busy_timeout(Duration::from_secs(30)).unwrap();
        locker.execute_batch("BEGIN IMMEDIATE").unwrap();
        let since = Instant::now();
        // The result comes while the lock is held, and is kept.
        std::thread::sleep(Duration::from_millis(1_200));
        place.write("go", "");
        line_of(&place, "ended");
        std::thread::sleep(Duration::from_millis(3_200).saturating_sub(since.elapsed()));
        assert_eq!(worker.told(), "");
        locker.execute_batch("ROLLBACK").unwrap();
        assert_eq!(worker.ends(), Some(0));
        assert_eq!(worker.told(), "a done\n");
        let said = worker.said();
        assert_eq!(said.matches("the store cannot be used").count(), 1, "{said}");
        assert_eq!(said.matches("the store can be used again").count(), 1, "{said}");
        assert_eq!((text_of(&place.path("ran")), outcomes(&place, "a")), ("1\n".to_owned(), vec!["done".to_owned()]));
    }
}

#[test]
fn a_signal_ends_a_worker_that_waits_for_its_store() {
    let place = place().with("COLA_IA_LOCK_WAIT", "60s");
    add(&place, ["a".to_owned()]);
    let locker = rusqlite::Connection::open(place.store()).unwrap();
    locker
        .execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; UPDATE jobs SET run = run; COMMIT;")
        .unwrap();
    let begun = Instant::now();
    let mut worker = Worker::start(&place, "worker", &["--drain"], "echo >> ran");
    std::thread::sleep(Duration::from_millis(500));
    signal(&worker.child, Signal::SIGTERM);
    worker.ends();
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}: {}", begun.elapsed(), worker.said());
    assert!(!place.path("ran").exists());
}

#[test]
fn a_full_disk_loses_no_result_and_repeats_no_command() {
    let place = Place::new().with("COLA_IA_LANG", "en");
    place.write("in.jsonl", "{\"id\":\"a\",\"texto\":\"x\"}\n{\"id\":\"b\",\"texto\":\"x\"}\n");
    let ran = run_with_mounts(
        &place,
        r#"
        mount -t tmpfs -o size=3m,mode=700 none mnt
        "$PROGRAM" --db mnt/s.sqlite3 add -q in.jsonl > /dev/null
        # The first command fills the disk on which its result is to be recorded.
        "$PROGRAM" --db mnt/s.sqlite3 work --drain -- sh -c '
            echo $COLA_IA_ID >> ran; test $COLA_IA_ID = b || cat /dev/zero > mnt/fill 2> /dev/null; exit 0' > out 2> err &
        until grep -q "cannot be used" err; do sleep 0.05; done
        sleep 0.5; cp out out_full; rm mnt/fill
        wait $!
        "$PROGRAM" --db mnt/s.sqlite3 show --json a > shown
        "#,
    );
    if !ran {
        return;
    }
    let text = |name| text_of(&place.path(name));
    assert_eq!(
        (text("out_full"), text("out"), text("ran")),
        (String::new(), "a done\nb done\n".into(), "a\nb\n".into())
    );
    let said = text("err");
    assert_eq!(said.matches("the store cannot be used").count(), 1, "{said}");
    assert!(said.contains("no room") && said.contains("2 done"), "{said}");
    let job: Value = serde_json::from_str(&text("shown")).unwrap();
    assert_eq!(attempts(&job), [(1, "done".to_owned())]);
}

#[test]
fn sigterm_gives_back_what_is_not_finished() {
    let place = place();
    add(&place, ["slow", "quick", "waits"].map(str::to_owned));
    let script = "echo > begun-$COLA_IA_ID; case $COLA_IA_ID in
        slow) exec sleep 60 ;;
        quick) trap 'echo finished; exit 0' TERM; while :; do sleep 0.05; done ;;
    esac";
    let mut worker = Worker::start(&place, "worker", &["-j", "2"], script);
    line_of(&place, "begun-slow");
    line_of(&place, "begun-quick");
    signal(&worker.child, Signal::SIGTERM);
    assert_eq!(worker.ends(), Some(0));
    assert_eq!(worker.told(), "quick done\n");
    assert!(worker.said().contains("1 done, 1 given back"), "{}", worker.said());
    let slow = show(&place, "slow");
    assert_eq!((&slow["state"], &slow["attempts"]), (&"pending".into(), &0.into()));
    assert_eq!(outcomes(&place, "slow"), ["released"]);
    assert_eq!(state(&place, "waits"), "pending");
}

#[test]
fn a_second_signal_ends_it_now() {
    for (first, second) in [(Signal::SIGTERM, Signal::SIGTERM), (Signal::SIGINT, Signal::SIGINT)] {
        let place = place();
        add(&place, ["a".to_owned()]);
        let script = "trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done";
        let mut worker = Worker::start(&place, "worker", &["--grace", "60s"], script);
        let pid = line_of(&place, "pid");
        let start = Instant::now();
        signal(&worker.child, first);
        until("the first signal's word", || worker.said().contains("stopping").then_some(()));
        assert!(worker.child.try_wait().unwrap().is_none() && is_alive(&pid));
        signal(&worker.child, second);
        assert_eq!(worker.ends(), Some(130));
        assert!(start.elapsed() < Duration::from_secs(30) && !is_alive(&pid));
        assert_eq!((state(&place, "a"), outcomes(&place, "a")), ("pending".to_owned(), vec!["released".to_owned()]));
    }
}

#[test]
fn an_interrupt_of_an_idle_worker_ends_it() {
    let place = place();
    for (sent, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 0), (Signal::SIGHUP, 0)] {
        add(&place, [sent.as_str().to_owned()]);
        let mut worker = Worker::start(&place, "worker", &[], "true");
        until("a job", || (!worker.told().is_empty()).then_some(()));
        signal(&worker.child, sent);
        assert_eq!(worker.ends(), Some(code), "{sent}");
    }
}

#[test]
fn killed_again_and_again_it_loses_no_job_and_no_attempt() {
    let place = place().with("COLA_IA_MAX_CRASHES", "1000");
    let ids: Vec<String> = (0..40).map(|n| format!("job-{n}")).collect();
    add(&place, ids.clone());
    let script = "echo $COLA_IA_ID $COLA_IA_RUN $COLA_IA_ATTEMPT >> ran; sleep 0.05; echo $COLA_IA_ATTEMPT";
    let options = ["-j", "4", "--lease", "1s"];
    for _ in 0..20 {
        let mut worker = Worker::start(&place, "worker", &options, script);
        std::thread::sleep(Duration::from_millis(100));
        worker.child.kill().unwrap();
        worker.child.wait().unwrap();
    }
    until("all of it", || {
        check_exit(&work(&place, &options, script), 0);
        states(&place).values().all(|state| state == "done").then_some(())
    });
    let mut recorded = BTreeSet::new();
    for id in &ids {
        let job = show(&place, id);
        let attempts = attempts(&job);
        let done = attempts.iter().filter(|(_, outcome)| outcome == "done").count();
        assert_eq!(done, 1, "{id}: {attempts:?}");
        let numbers: Vec<u64> = attempts.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, (1..=attempts.len() as u64).collect::<Vec<_>>(), "{id}");
        assert!(attempts.iter().all(|(_, outcome)| ["done", "crashed"].contains(&&**outcome)), "{id}: {attempts:?}");
        // The result that is kept is the one of the attempt that finished it.
        let finished = &job["attempt_log"][0];
        assert_eq!(finished["stdout"].as_str().unwrap().trim(), finished["number"].to_string(), "{id}");
        recorded.extend(numbers.iter().map(|number| format!("{id} 1 {number}")));
    }
    let ran = text_of(&place.path("ran"));
    let lines: BTreeSet<&str> = ran.lines().collect();
    assert_eq!(lines.len(), ran.lines().count(), "no attempt ran twice");
    let unrecorded: Vec<_> = lines.iter().filter(|line| !recorded.contains(**line)).collect();
    assert!(unrecorded.is_empty(), "{unrecorded:?}");
}

#[test]
fn a_job_that_kills_its_worker_does_not_keep_the_others_from_ending() {
    let place = place();
    // The first that is due, so that it is claimed first each time.
    add(&place, std::iter::once("poison".to_owned()).chain((0..20).map(|n| format!("good-{n}"))));
    let script = "test $COLA_IA_ID != poison || kill -9 $PPID";
    until("the end of it", || {
        let ran = work(&place, &["-j", "2", "--lease", "1s"], script);
        if ran.status.success() {
            std::thread::sleep(Duration::from_millis(100));
        }
        states(&place).values().all(|state| state == "done" || state == "failed").then_some(())
    });
    let poison = show(&place, "poison");
    assert_eq!((&poison["state"], &poison["reason"]), (&"failed".into(), &"crashes_exhausted".into()));
    assert_eq!(outcomes(&place, "poison"), ["crashed"; 3]);
    let states = states(&place);
    let good = states.iter().filter(|(id, state)| id.starts_with("good") && *state == "done").count();
    assert_eq!(good, 20, "{states:?}");
}

/// Short commands are claimed ahead of their places; what then waits behind a long one goes back to whoever has a place.
#[test]
fn a_long_command_does_not_keep_what_was_claimed_ahead_of_it() {
    let place = place();
    let short = (0..100).map(|n| format!("short-{n}"));
    let after = (0..10).map(|n| format!("after-{n}"));
    add(&place, short.chain(std::iter::once("long".to_owned())).chain(after));
    let script = "test $COLA_IA_ID != long || until test -e go; do sleep 0.02; done";
    let mut first = Worker::start(&place, "first", &["-j", "1"], script);
    until("the long one", || (states(&place)["long"] == "running").then_some(()));
    // It may have been claimed ahead; the short ones before it end.
    until("the short ones", || {
        states(&place).iter().all(|(id, state)| !id.starts_with("short") || state == "done").then_some(())
    });
    let drained = work(&place, &[], script);
    check_exit(&drained, 0);
    until("the rest", || {
        let states = states(&place);
        let ended = states.iter().filter(|(id, state)| id.starts_with("after") && *state == "done").count();
        (ended == 10).then_some(()).or_else(|| {
            check_exit(&work(&place, &[], script), 0);
            None
        })
    });
    assert_eq!(states(&place)["long"], "running");
    fs::write(place.path("go"), "").unwrap();
    until("its end", || (states(&place)["long"] == "done").then_some(()));
    signal(&first.child, Signal::SIGTERM);
    first.child.wait().unwrap();
    let crashed = states(&place).keys().filter(|id| outcomes(&place, id).contains(&"crashed".to_owned())).count();
    assert_eq!(crashed, 0, "what went back costs nothing");
}

#[test]
fn texts_of_any_size_and_shape_arrive_as_they_are() {
    let place = place().with("COLA_IA_MAX_TEXT_BYTES", "4MiB");
    let texts = [
        "x".repeat(131_000),
        "ñ".repeat(66_000),
        "0123456789".repeat(300_000),
        "-n 'quoted' \"double\" $(touch pwned) `touch pwned`\n\\ * ; & | \u{1f600}\n".to_owned(),
    ];
    let line =
        |(n, text): (usize, &String)| serde_json::json!({ "id": format!("t{n}"), "texto": text }).to_string() + "\n";
    let lines: String = texts.iter().enumerate().map(line).collect();
    check_exit(&place.run_with(&["add", "-q", "-"], lines.as_bytes()), 0);
    let worked = place.run(&["work", "--drain", "-j", "2", "--", "sha256sum"]);
    check_exit(&worked, 0);
    for n in 0..texts.len() {
        let job = show(&place, &format!("t{n}"));
        let printed = job["attempt_log"][0]["stdout"].as_str().unwrap();
        assert_eq!(printed.split_whitespace().next(), job["fingerprint"].as_str(), "t{n}");
    }
    assert!(!place.path("pwned").exists());
}

#[test]
fn a_command_finds_its_job_and_nothing_else_of_ours() {
    let place = place().with("COLA_IA_DB", "cola_ia.sqlite3");
    let event = r#"{"id":"idea 42","texto":"t","tipo":"order.paid","origen":"shop"}"#;
    check_exit(&place.run_with(&["add", "-q", "-"], event.as_bytes()), 0);
    let script = "env | grep ^COLA_IA_ | sort; stat -c %a \"$COLA_IA_SOCKET\" \"${COLA_IA_SOCKET%/*}\"; \
                  cat >&2; test $COLA_IA_ATTEMPT != 1";
    check_exit(&work(&place, &["--stdin", "json"], script), 0);
    let job = show(&place, "idea 42");
    let outputs: Vec<&str> = [1, 0].map(|at: usize| job["attempt_log"][at]["stdout"].as_str().unwrap()).to_vec();
    let value = |at: usize, name: &str| {
        let line = outputs[at].lines().find_map(|line| line.strip_prefix(&format!("{name}=")));
        line.unwrap_or_else(|| panic!("{name} in {}", outputs[at])).to_owned()
    };
    for (name, expected) in [
        ("COLA_IA_ID", "idea 42"),
        ("COLA_IA_SOURCE", "shop"),
        ("COLA_IA_TYPE", "order.paid"),
        ("COLA_IA_JOB", "1"),
        ("COLA_IA_RUN", "1"),
        ("COLA_IA_ATTEMPT", "1"),
        ("COLA_IA_LANG", "en"),
    ] {
        assert_eq!(value(0, name), expected);
    }
    assert_eq!(value(1, "COLA_IA_ATTEMPT"), "2");
    assert_eq!(value(0, "COLA_IA_KEY"), value(1, "COLA_IA_KEY"), "the same key on every attempt");
    assert_eq!((value(0, "COLA_IA_KEY").len(), value(0, "COLA_IA_LEASE").len()), (43, 36));
    assert_ne!(value(0, "COLA_IA_LEASE"), value(1, "COLA_IA_LEASE"));
    let names: Vec<&str> = outputs[0].lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    assert_eq!(names.len(), 13, "{names:?}");
    assert!(outputs[0].ends_with("600\n700\n"), "{}", outputs[0]);
    let read: Value =
        serde_json::from_str(job["attempt_log"][1]["stderr"].as_str().unwrap().lines().next().unwrap()).unwrap();
    assert_eq!(
        (&read["text"], &read["id"], &read["lease"]),
        (&"t".into(), &"idea 42".into(), &value(0, "COLA_IA_LEASE").into())
    );
    let left: Vec<_> = fs::read_dir(std::env::temp_dir()).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(!left.contains(&Path::new(&value(0, "COLA_IA_SOCKET")).parent().unwrap().to_owned()));
}

#[test]
fn a_result_file_is_kept_and_can_ask_for_later() {
    let place = place();
    add(&place, ["done", "later", "odd"].map(str::to_owned));
    let script = r#"case $COLA_IA_ID in
        done) echo '{"resource_id":"post-7","cost":"0.0000001","tokens_in":3,"model":"m","note":1.10}' > $COLA_IA_RESULT ;;
        later) echo '{"retry_after":3600,"error":"busy"}' > $COLA_IA_RESULT; exit 75 ;;
        odd) echo 'not json' > $COLA_IA_RESULT ;;
    esac"#;
    let worked = work(&place, &[], script);
    check_exit(&worked, 0);
    assert_eq!(out(&worked), "done done\nlater pending\nodd done\n");
    assert!(err(&worked).contains("one job waits until") && err(&worked).contains("odd: COLA_IA_RESULT is no JSON"));
    let job = show(&place, "done");
    let attempt = &job["attempt_log"][0];
    assert_eq!(job["resource_id"], "post-7");
    assert_eq!(
        (&attempt["cost_micros"], &attempt["tokens_in"], &attempt["model"]),
        (&1.into(), &3.into(), &"m".into())
    );
    let later = show(&place, "later");
    assert_eq!((&later["state"], &later["attempts"]), (&"pending".into(), &0.into()));
    assert_eq!(later["attempt_log"][0]["error"], "busy");
    let wait = |from: &Value, to: &Value| {
        let at = |instant: &Value| {
            cola_ia_core::clock::Timestamp::parse_rfc3339(instant.as_str().unwrap()).unwrap().as_micros()
        };
        at(to) - at(from)
    };
    assert!(wait(&later["attempt_log"][0]["started_at"], &later["due_at"]) >= 3_600_000_000);
    assert_eq!(show(&place, "odd")["attempt_log"][0]["error"], "COLA_IA_RESULT is no JSON object: not json");
}

#[test]
fn a_command_says_how_its_job_ends_without_a_store() {
    let place = place();
    add(&place, ["complete", "fail", "release", "extend", "other"].map(str::to_owned));
    let script = r#"cd /; case $COLA_IA_ID in
        complete) "$PROGRAM" complete --resource-id post-1 && exit 3 ;;
        fail) "$PROGRAM" fail "$COLA_IA_LEASE" --class busy --error 'no luck' --permanent ;;
        release) "$PROGRAM" release --retry-after 3600; exit 1 ;;
        extend) "$PROGRAM" extend --json ;;
        other) "$PROGRAM" complete 000000000000000000000000000000000000 ;;
    esac"#;
    let worked = work(&place, &["--max-attempts", "1"], script);
    check_exit(&worked, 0);
    assert_eq!(
        out(&worked),
        "complete done\nfail failed\nrelease pending\nextend done\nother failed\n",
        "{}",
        err(&worked)
    );
    let complete = show(&place, "complete");
    assert_eq!((&complete["resource_id"], &complete["attempt_log"][0]["exit_code"]), (&"post-1".into(), &3.into()));
    let fail = show(&place, "fail");
    assert_eq!((&fail["reason"], &fail["attempt_log"][0]["error_class"]), (&"permanent".into(), &"busy".into()));
    assert_eq!(outcomes(&place, "release"), ["released"]);
    let extended = show(&place, "extend");
    let answer: Value = serde_json::from_str(extended["attempt_log"][0]["stdout"].as_str().unwrap()).unwrap();
    assert_eq!((&answer["result"], answer["lease_until"].is_string()), (&"ok".into(), true));
    let other = show(&place, "other");
    assert!(other["attempt_log"][0]["stderr"].as_str().unwrap().contains("store"), "{other}");
}

#[test]
fn a_command_that_cannot_be_started_costs_no_attempt() {
    let place = place();
    add(&place, ["a".to_owned(), "b".to_owned()]);
    place.write("plain", "x");
    for (command, hint) in
        [("nope", "looked for in PATH"), ("plain", "./plain"), ("./plain", "chmod"), ("echo $X", "sh -c")]
    {
        let ran = place.run(&["work", "--drain", "--", command]);
        check_exit(&ran, 1);
        assert!(err(&ran).contains(hint) && out(&ran).is_empty(), "{}", err(&ran));
    }
    // It goes away while the worker runs.
    let script = r#"printf '#!/bin/sh\nrm "$0"\n' > once; chmod +x once; exec "$PROGRAM" work --drain -- ./once"#;
    let ran = place.tool("sh").args(["-c", script]).output().unwrap();
    check_exit(&ran, 1);
    assert_eq!(out(&ran), "a done\n");
    assert!(err(&ran).contains("there is no program “./once”"), "{}", err(&ran));
    let job = show(&place, "b");
    assert_eq!((&job["state"], &job["attempts"]), (&"pending".into(), &0.into()));
    assert_eq!(outcomes(&place, "b"), ["released"]);
    // It may not be executed any more: that may pass, so the job waits.
    let script = r#"printf '#!/bin/sh\nchmod -x "$0"\n' > once; chmod +x once; exec "$PROGRAM" work --drain -- ./once"#;
    add(&place, ["c".to_owned()]);
    let ran = place.tool("sh").args(["-c", script]).output().unwrap();
    check_exit(&ran, 0);
    assert_eq!(out(&ran), "b done\n");
    assert!(err(&ran).contains("the command for c could not be started"), "{}", err(&ran));
    assert!(err(&ran).contains("one job waits until"), "{}", err(&ran));
    let job = show(&place, "c");
    assert_eq!((&job["attempts"], &job["attempt_log"][0]["error_class"]), (&0.into(), &"not_started".into()));
}

#[test]
fn it_runs_as_many_at_a_time_as_it_is_told_and_holds_no_more() {
    let place = place();
    add(&place, (0..6).map(|n| format!("j{n}")));
    let script = "echo > begun-$COLA_IA_ID; until test -e go; do sleep 0.05; done";
    let mut worker = Worker::start(&place, "worker", &["-j", "3", "--drain"], script);
    for n in 0..3 {
        line_of(&place, &format!("begun-j{n}"));
    }
    let running = states(&place).values().filter(|state| *state == "running").count();
    assert_eq!(running, 3);
    place.write("go", "");
    assert_eq!(worker.ends(), Some(0));
    assert!(worker.said().contains("6 done"), "{}", worker.said());
}

/// Time that the process has run on a processor.
fn busy(child: &Child) -> Duration {
    let tasks = fs::read_dir(format!("/proc/{}/task", child.id())).unwrap().flatten();
    let nanos = tasks.map(|task| {
        let text = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        text.split(' ').next().and_then(|nanos| nanos.parse::<u64>().ok()).unwrap_or_default()
    });
    Duration::from_nanos(nanos.sum())
}

#[test]
fn an_idle_worker_starts_at_once_and_costs_next_to_nothing() {
    let place = place();
    add(&place, ["first".to_owned()]);
    let worker = Worker::start(&place, "worker", &[], "date +%s%N");
    until("the first job", || worker.told().contains("first done").then_some(()));
    let (before, start) = (busy(&worker.child), Instant::now());
    std::thread::sleep(Duration::from_secs(3));
    let share = busy(&worker.child).saturating_sub(before).as_secs_f64() / start.elapsed().as_secs_f64();
    // Built for tests it takes a few times what it takes in use; a busy loop would take all of it.
    assert!(share < 0.05, "{:.2} % of a core", share * 100.0);
    let mut latencies: Vec<f64> = (0..9)
        .map(|n| {
            let id = format!("e{n}");
            add(&place, [id.clone()]);
            until("its end", || worker.told().contains(&format!("{id} done")).then_some(()));
            let job = show(&place, &id);
            let started: f64 = job["attempt_log"][0]["stdout"].as_str().unwrap().trim().parse().unwrap();
            let received = job["received_at"].as_str().unwrap();
            let received = cola_ia_core::clock::Timestamp::parse_rfc3339(received).unwrap().as_micros();
            started / 1e6 - received as f64 / 1e3
        })
        .collect();
    latencies.sort_by(f64::total_cmp);
    println!("share {share:.4}, milliseconds from the event to its command: {latencies:.1?}");
    assert!(latencies[4] < 50.0, "{latencies:.1?}");
}
