//! `work` on a machine whose clock is set while it runs: forward, back, and again. No job is lost, none is finished twice, no
//! attempt is unrecorded.
//!
//! The clock is that of the real program, unchanged: the system's function is replaced in front of it. That needs a C compiler,
//! which whoever links Rust programs has.

#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cola_ia_core::clock::{Clock as _, SystemClock};
use common::{PROGRAM, Place, check_exit, signal, until};
use nix::sys::signal::Signal;
use serde_json::Value;

/// A place where programs have the clock that [`set`] sets.
fn place() -> (Place, PathBuf) {
    let place = Place::new();
    let (library, offset) = (place.path("wall_clock.so"), place.path("offset"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/common/wall_clock.c");
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).status();
    assert!(compiled.expect("the C compiler `cc`, with which Rust programs are linked").success());
    set(&offset, 0);
    let place = place
        .with("LD_PRELOAD", lasting(&library))
        .with("WALL_CLOCK_OFFSET", lasting(&offset))
        .with("COLA_IA_RETRY_FIRST", "0s")
        .with("COLA_IA_RETRY_MAX", "0s")
        .with("COLA_IA_MAX_CRASHES", "1000")
        .with("COLA_IA_MAX_ATTEMPTS", "1000")
        .with("COLA_IA_LANG", "en")
        .with("PROGRAM", PROGRAM);
    (place, offset)
}

/// A place keeps its variables as long as the test.
fn lasting(path: &Path) -> &'static str {
    path.to_str().unwrap().to_owned().leak()
}

/// Sets the clock, so many seconds beside the true time.
fn set(offset: &Path, seconds: i64) {
    let new = offset.with_extension("new");
    fs::write(&new, seconds.to_string()).unwrap();
    fs::rename(new, offset).unwrap();
}

fn add(place: &Place, ids: impl Iterator<Item = String>) {
    let lines: Vec<String> = ids.map(|id| format!("{{\"id\":\"{id}\",\"texto\":\"text of {id}\"}}\n")).collect();
    check_exit(&place.run_with(&["add", "-q", "-"], lines.concat().as_bytes()), 0);
}

fn worker(place: &Place, script: &str) -> Child {
    let mut command = place.command(&["work", "-q", "-j", "2", "--lease", "2s", "--", "sh", "-c", script]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn jobs(place: &Place) -> Vec<Value> {
    let listed = place.run(&["jobs", "--json", "--limit", "1000"]);
    check_exit(&listed, 0);
    String::from_utf8(listed.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn all_done(place: &Place) -> Option<()> {
    jobs(place).iter().all(|job| job["state"] == "done").then_some(())
}

/// The attempts of a job, by how they ended.
fn outcomes(place: &Place, id: &str) -> Vec<(u64, String)> {
    let shown = place.run(&["show", "--json", "--", id]);
    check_exit(&shown, 0);
    let job: Value = serde_json::from_slice(&shown.stdout).unwrap();
    let log = job["attempt_log"].as_array().unwrap().iter().rev();
    log.map(|one| (one["number"].as_u64().unwrap(), one["outcome"].as_str().unwrap_or("open").to_owned())).collect()
}

/// Whatever ran is on record, and each job was finished once.
fn check(place: &Place, ids: &[String]) {
    let ran = fs::read_to_string(place.path("ran")).unwrap();
    for id in ids {
        let attempts = outcomes(place, id);
        let numbers: Vec<u64> = attempts.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, (1..=attempts.len() as u64).collect::<Vec<_>>(), "{id}: {attempts:?}");
        assert_eq!(attempts.iter().filter(|(_, outcome)| outcome == "done").count(), 1, "{id}: {attempts:?}");
        for line in ran.lines().filter(|line| line.starts_with(&format!("{id} "))) {
            let number: u64 = line.rsplit(' ').next().unwrap().parse().unwrap();
            assert!(numbers.contains(&number), "{line} is not on record: {attempts:?}");
        }
    }
    let mut lines: Vec<&str> = ran.lines().collect();
    lines.sort_unstable();
    let count = lines.len();
    lines.dedup();
    assert_eq!(lines.len(), count, "an attempt ran twice");
}

const SCRIPT: &str = "echo $COLA_IA_ID $COLA_IA_ATTEMPT >> ran; sleep 0.3";

#[test]
fn a_clock_that_jumps_ahead_takes_no_job_from_a_worker_that_lives() {
    let (place, offset) = place();
    add(&place, std::iter::once("long".to_owned()));
    let mut only = worker(&place, "echo $COLA_IA_ID $COLA_IA_ATTEMPT >> ran; until test -e go; do sleep 0.02; done");
    until("its start", || place.path("ran").exists().then_some(()));
    // The lease is over by the new time; whoever holds it says that it lives, and that counts.
    for hours in [1, 48] {
        set(&offset, hours * 3_600);
        let end = Instant::now() + Duration::from_secs(3);
        while Instant::now() < end {
            assert_eq!(jobs(&place)[0]["state"], "running");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    fs::write(place.path("go"), "").unwrap();
    until("its end", || all_done(&place));
    assert_eq!(outcomes(&place, "long"), [(1, "done".to_owned())]);
    // What comes by the new time is worked on at once.
    add(&place, std::iter::once("next".to_owned()));
    until("the next one", || all_done(&place));
    let now = SystemClock.now().after(Duration::from_hours(47)).to_rfc3339();
    let next = jobs(&place).into_iter().find(|job| job["id"] == "next").unwrap();
    assert!(next["received_at"].as_str().unwrap() > now.as_str(), "the program has the clock that was set: {next}");
    signal(&only, Signal::SIGTERM);
    only.wait().unwrap();
    check(&place, &["long".to_owned(), "next".to_owned()]);
}

#[test]
fn a_clock_that_is_set_back_loses_no_job() {
    let (place, offset) = place();
    set(&offset, 3_600);
    let ids: Vec<String> = (0..12).map(|n| format!("job-{n}")).collect();
    add(&place, ids[..6].iter().cloned());
    let mut workers = [worker(&place, SCRIPT), worker(&place, SCRIPT)];
    until("the first ones", || place.path("ran").exists().then_some(()));
    set(&offset, 3_600 - 3);
    add(&place, ids[6..].iter().cloned());
    until("all of them", || all_done(&place));
    // A worker that dies right after such a step: its lease lasts longer, by the step.
    add(&place, std::iter::once("orphan".to_owned()));
    until("its start", || fs::read_to_string(place.path("ran")).unwrap().contains("orphan").then_some(()));
    for one in &mut workers {
        one.kill().unwrap();
        one.wait().unwrap();
    }
    set(&offset, 3_600 - 6);
    let mut last = worker(&place, SCRIPT);
    until("the orphan", || all_done(&place));
    signal(&last, Signal::SIGTERM);
    last.wait().unwrap();
    check(&place, &ids);
    check(&place, &["orphan".to_owned()]);
}

#[test]
fn a_clock_that_jumps_about_loses_no_job_and_finishes_none_twice() {
    let (place, offset) = place();
    let seed = std::env::var("COLA_IA_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_261_130_u64);
    println!("seed {seed}");
    let mut state = seed;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let ids: Vec<String> = (0..40).map(|n| format!("job-{n}")).collect();
    add(&place, ids.iter().cloned());
    let mut workers: Vec<Child> = (0..2).map(|_| worker(&place, SCRIPT)).collect();
    let mut at = 0;
    for step in 0..12 {
        // Ahead by up to an hour, back by up to two seconds: what was put off until then is late by as much.
        at += if random(2) == 0 { random(3_600).cast_signed() } else { -random(3).cast_signed() };
        set(&offset, at);
        std::thread::sleep(Duration::from_millis(random(400)));
        if step % 4 == 3 {
            let mut lost = workers.remove(0);
            lost.kill().unwrap();
            lost.wait().unwrap();
            workers.push(worker(&place, SCRIPT));
        }
    }
    until("all of them", || all_done(&place));
    for one in &mut workers {
        signal(one, Signal::SIGTERM);
        one.wait().unwrap();
    }
    check(&place, &ids);
}
