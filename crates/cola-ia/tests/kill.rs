//! `kill -9` at any moment: every verdict that was printed is in the store, nothing is there twice, and running the same
//! again completes it.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use common::input::{Gate, Line, joined, mixed, numbered};
use common::stored::{Stored, article_rows, make_article, stored};
use common::{Place, Random, STORE, check_exit, err, has_tool, out, signal};
use nix::sys::signal::Signal;

/// When to kill.
#[derive(Debug, Clone, Copy)]
enum When {
    /// So long after the start.
    After(Duration),
    /// So long after so many lines on stdout.
    Line(usize, Duration),
    /// Not at all.
    Never,
}

/// How the lines get to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// A file: large batches.
    File,
    /// A pipe that gets the next chunk when the last one is answered: a batch a chunk, or more.
    Pipe,
}

/// Lines of a chunk.
const CHUNK: usize = 20;

/// What came out before the end.
struct Ended {
    /// Whole lines only.
    printed: Vec<String>,
    /// By itself, and when.
    by_itself: Option<Duration>,
}

fn start(place: &Place, by: By) -> Child {
    let input = if by == By::File { "in.jsonl" } else { "-" };
    let stdin = if by == By::File { Stdio::null() } else { Stdio::piped() };
    place.command(&["add", input]).stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Runs `add` and kills it.
fn run(place: &Place, lines: &[Line], by: By, when: When) -> Ended {
    let began = Instant::now();
    let mut child = start(place, by);
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let stdin = child.stdin.take();
    let (ended, wait_for_end) = channel::<()>();
    let (answered, wait_for_answer) = channel::<usize>();
    let (mut printed, mut killed) = (Vec::new(), false);
    std::thread::scope(|scope| {
        if let Some(mut stdin) = stdin {
            scope.spawn(move || {
                let (mut due, mut seen) = (0, 0);
                for chunk in lines.chunks(CHUNK) {
                    // Whoever was killed reads no more.
                    if stdin.write_all(joined(chunk).as_bytes()).is_err() {
                        return;
                    }
                    due += chunk.iter().filter(|line| line.event.is_some()).count();
                    while seen < due {
                        let Ok(count) = wait_for_answer.recv() else { return };
                        seen = count;
                    }
                }
            });
        }
        if let When::After(delay) = when {
            let child = &child;
            scope.spawn(move || {
                // The process is not waited for before this thread ends: its number is still its own.
                if wait_for_end.recv_timeout(delay) == Err(RecvTimeoutError::Timeout) {
                    signal(child, Signal::SIGKILL);
                }
            });
        }
        let mut line = String::new();
        while stdout.read_line(&mut line).unwrap() > 0 && line.ends_with('\n') {
            printed.push(line.trim_end().to_owned());
            line.clear();
            let _ = answered.send(printed.len());
            if let When::Line(number, delay) = when
                && printed.len() >= number
                && !killed
            {
                killed = true;
                std::thread::park_timeout(delay);
                signal(&child, Signal::SIGKILL);
            }
        }
        // stdout is open until the very end of the process.
        drop((answered, ended));
    });
    let status = child.wait().unwrap();
    Ended { printed, by_itself: status.code().map(|_| began.elapsed()) }
}

/// Where the kills hit.
#[derive(Default)]
struct Histogram(BTreeMap<String, u64>);

impl Histogram {
    fn add(&mut self, place: impl Into<String>) {
        *self.0.entry(place.into()).or_default() += 1;
    }

    /// Not captured: it is what one wants to see of a run that passed.
    fn print(&self, title: &str) {
        let mut text = format!("{title}\n");
        for (place, count) in &self.0 {
            writeln!(text, "  {count:>4}  {place}").unwrap();
        }
        let _ = std::io::stderr().write_all(text.as_bytes());
    }

    fn of(&self, start: &str) -> u64 {
        self.0.iter().filter(|(place, _)| place.starts_with(start)).map(|(_, count)| count).sum()
    }
}

const NO_STORE: &str = "1 before the store existed";
const EMPTY: &str = "2 store made, nothing committed";
const PARTLY: &str = "3 batches committed";
const ALL: &str = "4 all committed, not ended";
const ENDED: &str = "5 ended before the kill";

/// One kill, all that must hold after it, and the same input again. Answers whether it hit.
fn kill_once(random: &mut Random, lines: &[Line], by: By, when: When, histogram: &Mutex<Histogram>) -> bool {
    let place = Place::new();
    if by == By::File {
        place.write("in.jsonl", joined(lines));
    }
    let ended = run(&place, lines, by, when);
    let expected = Gate::default().answers(lines);
    assert!(ended.printed.len() <= expected.len(), "{when:?}");
    assert_eq!(ended.printed, expected[..ended.printed.len()], "{when:?}");

    // A copy is looked at, so that SQLite's recovery is left to the program itself.
    let looked = place.store().exists().then(|| stored(&copied(&place), random.below(8) == 0));
    let mut gate = Gate::default();
    if let Some(found) = &looked {
        let taken = lines_taken(found);
        let answered = gate.answers(&lines[..taken]);
        assert_eq!(found.gate, gate, "the store is the first {taken} lines");
        assert!(answered.len() >= ended.printed.len(), "{} printed, {} stored", ended.printed.len(), answered.len());
    } else {
        assert!(ended.printed.is_empty(), "an answer without a store");
    }
    histogram.lock().unwrap().add(match &looked {
        _ if ended.by_itself.is_some() => ENDED.to_owned(),
        None => NO_STORE.to_owned(),
        Some(found) if found.batches == 0 => EMPTY.to_owned(),
        Some(found) if lines_taken(found) == lines.len() => ALL.to_owned(),
        Some(found) => format!("{PARTLY}: {}", bucket(found.batches)),
    });

    let again = run(&place, lines, by, When::Never);
    assert!(again.by_itself.is_some());
    assert_eq!(again.printed, gate.answers(lines), "again, after {when:?}");
    let end = stored(&place.store(), random.below(8) == 0);
    let mut whole = Gate::default();
    whole.answers(lines);
    assert_eq!(end.gate, whole, "the end, after {when:?}");
    let verdicts: Vec<_> = again.printed.iter().zip(&ended.printed).collect();
    assert!(verdicts.iter().all(|(now, _)| !now.ends_with(" nuevo")), "entered twice, after {when:?}: {verdicts:?}");
    // Killed while a store was made: its beginning may lie there, under a name of its own.
    let others = place.names().into_iter().filter(|name| ![STORE, "in.jsonl", "copy"].contains(&name.as_str()));
    for other in others {
        assert!(other.starts_with(".cola_ia.sqlite3.new-"), "{other} is left, after {when:?}");
    }
    ended.by_itself.is_none()
}

/// The store and its log as they are now, elsewhere.
fn copied(place: &Place) -> std::path::PathBuf {
    let folder = place.path("copy");
    std::fs::create_dir(&folder).unwrap();
    for name in [STORE.to_owned(), format!("{STORE}-wal")] {
        if place.path(&name).exists() {
            std::fs::copy(place.path(&name), folder.join(&name)).unwrap();
        }
    }
    folder.join(STORE)
}

fn lines_taken(found: &Stored) -> usize {
    found.gate.events.len() + found.deliveries.values().sum::<u64>() as usize
}

fn bucket(batches: u64) -> &'static str {
    match batches {
        0..=1 => "1",
        2..=4 => "2 to 4",
        5..=9 => "5 to 9",
        _ => "10 and more",
    }
}

/// The time that a whole run takes, the middle one of three.
fn measured(lines: &[Line], by: By) -> Duration {
    let mut times: Vec<_> = (0..3)
        .map(|_| {
            let place = Place::new().file("in.jsonl", joined(lines));
            run(&place, lines, by, When::Never).by_itself.unwrap()
        })
        .collect();
    times.sort_unstable();
    times[1]
}

/// So many kills that hit, half by time, half by what was seen on stdout.
fn kills(mut random: Random, count: u64, lines: &[Line], by: By, histogram: &Mutex<Histogram>) {
    let time = measured(lines, by);
    let answers = lines.iter().filter(|line| line.event.is_some()).count() as u64;
    let (mut hits, mut tries) = (0, 0);
    while hits < count {
        let when = if tries % 2 == 0 {
            When::After(Duration::from_micros(random.below(time.as_micros() as u64)))
        } else {
            When::Line(1 + random.below(answers) as usize, Duration::from_micros(random.below(3_000)))
        };
        hits += u64::from(kill_once(&mut random, lines, by, when, histogram));
        tries += 1;
        assert!(tries < 10 * count, "only {hits} of {tries} kills hit");
    }
}

#[test]
fn every_printed_verdict_survives_a_kill() {
    let mut random = Random::seeded("every_printed_verdict_survives_a_kill");
    let (small, piped) = (mixed(&mut random, 300, 20), mixed(&mut random, 400, 20));
    // 16 MiB are a batch.
    let large = mixed(&mut random, 80, 900_000);
    let histogram = Mutex::new(Histogram::default());
    std::thread::scope(|scope| {
        let (one, two, three) = (random.split(), random.split(), random.split());
        scope.spawn(|| {
            kills(one, 85, &small, By::File, &histogram);
            kills(three, 20, &large, By::File, &histogram);
        });
        scope.spawn(|| kills(two, 100, &piped, By::Pipe, &histogram));
    });
    let histogram = histogram.into_inner().unwrap();
    histogram.print("kill -9 of add:");
    assert!(histogram.of(NO_STORE) > 0 && histogram.of(PARTLY) > 0, "the kills must be spread");
}

/// What must be there once the article's database is taken over and `in.jsonl` is in.
#[track_caller]
fn check_taken_over(place: &Place, rows: usize) {
    let end = stored(&place.store(), true);
    let mut expected = Gate::default();
    for (id, text, _) in article_rows(rows) {
        expected.verdict(&id, &text);
    }
    for n in 0..3 {
        expected.verdict(&format!("a-{n}"), &format!("texto {n}"));
    }
    assert_eq!(end.gate, expected);
    let third = rows as u64 / 3;
    let states = [("done", third), ("held", third), ("pending", third + 3)];
    assert_eq!(end.jobs, states.map(|(state, count)| (state.to_owned(), count)).into_iter().collect());
    // The file as it was, whole, under one of its names.
    let copies =
        place.names().into_iter().filter(|name| name.contains(".antes-de-cola-ia") && !name.ends_with("-journal"));
    for copy in copies {
        if copy.ends_with(".partial") {
            continue;
        }
        let copy = rusqlite::Connection::open(place.path(&copy)).unwrap();
        let count: i64 = copy.query_row("SELECT count(*) FROM trabajos", [], |row| row.get(0)).unwrap();
        assert_eq!(count, rows as i64);
        let mark: i64 = copy.query_row("PRAGMA application_id", [], |row| row.get(0)).unwrap();
        assert_eq!(mark, 0);
    }
    assert!(place.path("cola_ia.sqlite3.antes-de-cola-ia").exists());
}

fn article_place(rows: usize) -> Place {
    let place = Place::new().file("in.jsonl", numbered("a", 3));
    make_article(&place.store(), article_rows(rows));
    place
}

/// Killed: looked at by the program first, then taken over to the end.
#[track_caller]
fn check_again(place: &Place, rows: usize, moment: &str) {
    let view = place.run(&["jobs"]);
    let said = err(&view);
    assert!(
        view.status.success() || said.contains("“cola-ia add” takes it over") || said.contains("cola-ia add"),
        "{moment}: jobs says {said}"
    );
    let again = place.run(&["add", "in.jsonl"]);
    assert!(again.status.success(), "{moment}: add says {}", err(&again));
    assert_eq!(out(&again).lines().count(), 3);
    check_taken_over(place, rows);
}

#[test]
fn a_kill_during_a_take_over_leaves_the_old_or_the_new() {
    const ROWS: usize = 3_000;
    let mut random = Random::seeded("a_kill_during_a_take_over_leaves_the_old_or_the_new");
    let mut times: Vec<_> =
        (0..3).map(|_| run(&article_place(ROWS), &[], By::File, When::Never).by_itself.unwrap()).collect();
    times.sort_unstable();
    let span = times[1].as_micros() as u64;
    let mut histogram = Histogram::default();
    while histogram.of("") - histogram.of(ENDED) < 30 {
        assert!(histogram.of("") < 300, "the kills must hit");
        let place = article_place(ROWS);
        let delay = Duration::from_micros(random.below(span));
        let ended = run(&place, &[], By::File, When::After(delay));
        histogram.add(match ended.by_itself {
            Some(_) => ENDED,
            None if place.names().iter().any(|name| name.ends_with("-wal")) => "taken over, in use",
            None if place.names().iter().any(|name| name.ends_with("sqlite3-journal")) => "in its transaction",
            None if place.names().iter().any(|name| name.ends_with(".partial")) => "while the copy was made",
            None if place.names().iter().any(|name| name.ends_with(".antes-de-cola-ia")) => "copied",
            None => "before anything",
        });
        check_again(&place, ROWS, &format!("after {delay:?}"));
    }
    histogram.print("kill -9 of a take-over:");
}

/// The calls that change what is on the disk. Between two of them nothing happens that a kill could tell.
const CHANGES: &str = "fsync,fdatasync,unlink,unlinkat,link,linkat,rename,renameat,renameat2,ftruncate,pwrite64";

/// Runs `add` and kills it when a thread makes the n-th of the calls that change the disk.
fn killed_at_call(place: &Place, number: u64) -> bool {
    let status = place
        .tool("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e"])
        .arg(format!("trace={CHANGES}"))
        .arg("-e")
        .arg(format!("inject={CHANGES}:signal=SIGKILL:when={number}"))
        .args([common::PROGRAM, "add", "in.jsonl"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    !status.success()
}

fn can_inject() -> bool {
    let place = Place::new();
    has_tool(
        "strace",
        place.tool("strace").args(["-f", "-qq", "-o", "/dev/null", "-e", "inject=fsync:signal=SIGKILL:when=9", "true"]),
    )
}

/// Goes through the calls one by one, every `step`-th of them.
fn each_call(random: &mut Random, step: u64, make: impl Fn() -> Place, check: impl Fn(&Place, &str)) -> u64 {
    let mut number = 1 + random.below(step);
    let mut kills = 0;
    loop {
        let place = make();
        let killed = killed_at_call(&place, number);
        check(&place, &format!("killed at call {number}"));
        if !killed {
            assert!(kills > 10, "it was never killed");
            return kills;
        }
        kills += 1;
        number += step;
    }
}

#[test]
fn a_take_over_can_be_killed_at_each_of_its_writes() {
    if !can_inject() {
        return;
    }
    let mut random = Random::seeded("a_take_over_can_be_killed_at_each_of_its_writes");
    each_call(&mut random, 3, || article_place(30), |place, moment| check_again(place, 30, moment));
}

#[test]
fn a_new_store_can_be_killed_at_each_of_its_writes() {
    if !can_inject() {
        return;
    }
    let mut random = Random::seeded("a_new_store_can_be_killed_at_each_of_its_writes");
    let check = |place: &Place, moment: &str| {
        let again = place.run(&["add", "in.jsonl"]);
        assert!(again.status.success(), "{moment}: {}", err(&again));
        let end = stored(&place.store(), false);
        assert_eq!((end.gate.events.len(), end.jobs.len()), (3, 1), "{moment}");
    };
    each_call(&mut random, 5, || Place::new().file("in.jsonl", numbered("a", 3)), check);
}

#[test]
fn a_kill_among_processes_that_start_together_harms_no_other() {
    let mut random = Random::seeded("a_kill_among_processes_that_start_together_harms_no_other");
    let whole = Instant::now();
    check_exit(&Place::new().file("in.jsonl", numbered("a", 50)).run(&["add", "in.jsonl"]), 0);
    let span = whole.elapsed().as_micros() as u64 * 4;
    for round in 0..12 {
        let place = Place::new();
        if round % 2 == 1 {
            make_article(&place.store(), article_rows(30));
        }
        for process in 0..8 {
            place.write(&format!("{process}.jsonl"), numbered(&format!("p{process}"), 50) + &numbered("common", 20));
        }
        let mut children: Vec<Child> = (0..8)
            .map(|process| {
                let input = format!("{process}.jsonl");
                place.command(&["add", &input]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        let victims = 1 + random.below(4) as usize;
        for victim in children.iter_mut().take(victims) {
            std::thread::park_timeout(Duration::from_micros(random.below(span / 4)));
            let _ = victim.kill();
        }
        for (process, child) in children.into_iter().enumerate() {
            let output = child.wait_with_output().unwrap();
            if process >= victims {
                check_exit(&output, 0);
                assert_eq!(out(&output).lines().count(), 70);
            }
        }
        for process in 0..victims {
            check_exit(&place.run(&["add", &format!("{process}.jsonl")]), 0);
        }
        let end = stored(&place.store(), true);
        let old = if round % 2 == 1 { 30 } else { 0 };
        assert_eq!(end.gate.events.len(), 8 * 50 + 20 + old, "round {round}");
        assert!(end.gate.conflicts.is_empty());
    }
}
