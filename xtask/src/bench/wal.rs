//! The write-ahead log beside readers: a large file goes in while other commands look at the store again and again.
//!
//! A log can only start anew while no reader needs its old part. A view that held a read transaction for long would let it grow
//! without bound; this tells how far it really grows.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::gate::{Bench, rate};
use super::options::Options;
use super::report::{self, Bound, Figures, Promise};
use super::{host, input};
use crate::failure::{Attempt, Failure};
use crate::repository::Repository;

const SEED: u64 = 42;

/// Events that the store has before, so that there is something to look at.
const BEFORE: u64 = 100_000;

/// The writer itself empties the log at 128 MiB; one batch more may be in it, and what is written while a view is at it.
const WAL_LIMIT_MIB: f64 = 256.0;

/// How often the log is looked at.
const STEP: Duration = Duration::from_millis(2);

/// Lets the file in beside the views and tells how large the log became.
///
/// # Errors
/// If a command does not do what it should, or the log is beyond its bound.
pub(crate) fn run(repository: &Repository, options: &Options) -> Result<(), Failure> {
    let bench = Bench::new(repository, options)?;
    println!("\nmachine: {}", host::describe(&bench.folder));
    let store = bench.folder.join("store.sqlite3");
    let first = bench.folder.join("before.jsonl");
    let id = input::events(!SEED, 1).next().map_or_else(String::new, |event| event.id);
    input::write_lines(&first, input::events(!SEED, BEFORE))?;
    finish("add", &mut started(&bench, &store, &["add", "-q", &first.to_string_lossy()])?)?;
    let file = bench.folder.join("events.jsonl");
    input::write_lines(&file, input::events(SEED, options.events))?;

    let views = match &options.views[..] {
        [] => vec!["jobs".to_owned(), format!("show {id}"), "stats --since 24h".to_owned()],
        named => named.to_vec(),
    };
    let beside = watch(&bench, &store, &file, &views)?;
    println!(
        "{} events in {:.1?}, {:.0} a second, beside",
        options.events,
        beside.took,
        rate(options.events, beside.took)
    );
    for (view, runs) in views.iter().zip(&beside.runs) {
        println!("  cola-ia {view}: {runs} times");
    }
    bench.remove_folder()?;
    let mut largest = Figures::default();
    largest.push(beside.largest as f64 / f64::from(1 << 20));
    report::check(&[Promise::new("MiB, largest log", largest, Bound::Below(WAL_LIMIT_MIB))])
}

/// What was seen while the file went in.
struct Beside {
    took: Duration,
    /// Bytes.
    largest: u64,
    /// How often each view ended.
    runs: Vec<u64>,
}

fn watch(bench: &Bench<'_>, store: &Path, file: &Path, views: &[String]) -> Result<Beside, Failure> {
    let log = PathBuf::from(format!("{}-wal", store.display()));
    let over = AtomicBool::new(false);
    let start = Instant::now();
    let mut add = started(bench, store, &["add", "-q", &file.to_string_lossy()])?;
    thread::scope(|scope| {
        let lookers: Vec<_> = views
            .iter()
            .map(|view| {
                let over = &over;
                scope.spawn(move || look(bench, store, view, over))
            })
            .collect();
        let mut largest = 0;
        let ended = loop {
            largest = largest.max(fs::metadata(&log).map_or(0, |log| log.len()));
            match add.try_wait() {
                Ok(None) => thread::sleep(STEP),
                ended => break ended,
            }
        };
        let took = start.elapsed();
        over.store(true, Ordering::SeqCst);
        let looked = lookers.into_iter().map(|looker| looker.join().map_err(|_| Failure::new("a looker panicked"))?);
        let runs = looked.collect::<Result<_, Failure>>()?;
        match ended.attempt(|| "wait for `cola-ia add`".to_owned())? {
            Some(status) if status.success() => Ok(Beside { took, largest, runs }),
            status => Err(Failure::new(format!("`cola-ia add` ended with {status:?}"))),
        }
    })
}

/// Runs a view again and again until it is over, and counts. One that never ends by itself is ended.
fn look(bench: &Bench<'_>, store: &Path, view: &str, over: &AtomicBool) -> Result<u64, Failure> {
    let words: Vec<&str> = view.split_whitespace().collect();
    let mut runs = 0;
    while !over.load(Ordering::SeqCst) {
        let mut child = started(bench, store, &words)?;
        loop {
            if let Some(status) = child.try_wait().attempt(|| format!("wait for `cola-ia {view}`"))? {
                if !status.success() {
                    return Err(Failure::new(format!("`cola-ia {view}` ended with {status}")));
                }
                runs += 1;
                break;
            }
            if over.load(Ordering::SeqCst) {
                child.kill().attempt(|| format!("end `cola-ia {view}`"))?;
                child.wait().attempt(|| format!("wait for `cola-ia {view}`"))?;
                break;
            }
            thread::sleep(STEP);
        }
    }
    Ok(runs)
}

fn started(bench: &Bench<'_>, store: &Path, words: &[&str]) -> Result<Child, Failure> {
    let mut command = Command::new(&bench.binary);
    command.args(words).current_dir(&bench.folder).stdin(Stdio::null()).stdout(Stdio::null());
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"COLA_IA_")) {
        command.env_remove(name);
    }
    let complaints = bench.folder.join("stderr");
    let complaints = File::options()
        .create(true)
        .append(true)
        .open(&complaints)
        .attempt(|| format!("open {}", complaints.display()))?;
    command.env("COLA_IA_DB", store).stderr(complaints);
    command.spawn().attempt(|| format!("start `cola-ia {}`", words.join(" ")))
}

fn finish(name: &str, child: &mut Child) -> Result<(), Failure> {
    let status = child.wait().attempt(|| format!("wait for `cola-ia {name}`"))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("`cola-ia {name}` ended with {status}"))) }
}
