//! Jobs: how fast the store leases and ends them, and how fast a worker starts commands.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::gate::{Bench, Expected, rate};
use super::measure::Measured;
use super::options::Options;
use super::report::{self, Bound, Figures, Promise};
use super::{host, input};
use crate::failure::{Attempt, Failure};
use crate::repository::Repository;
use crate::run;

const SEED: u64 = 42;

/// Commands at a time.
const PLACES: [u64; 3] = [1, 2, 8];

/// Of the rate at which a plain loop starts `true`.
const OF_PLAIN_STARTS: f64 = 0.6;

/// Measures the worker, then the store.
///
/// # Errors
/// If a command does not do what it should, or a promise is missed.
pub(crate) fn run(repository: &Repository, options: &Options) -> Result<(), Failure> {
    let bench = Bench::new(repository, options)?;
    println!("\nmachine: {}", host::describe(&bench.folder));
    println!("{} jobs whose command is `true`, {} runs, each figure of whole commands", options.events, options.runs);
    let mut promises = Vec::new();
    for places in PLACES {
        let (mut ours, mut plain) = (Figures::default(), Figures::default());
        for run in 0..options.runs {
            plain.push(rate(options.events, starts(options.events, places)?));
            ours.push(rate(options.events, works(&bench, places, run)?));
        }
        println!("-j {places}: a plain loop {:.0} a second, work {:.0}", plain.median(), ours.median());
        promises.push(Promise::new(
            format!("work -j {places} -- true / plain starts"),
            ours.over(&plain),
            Bound::AtLeast(OF_PLAIN_STARTS),
        ));
    }
    bench.remove_folder()?;
    let worker = report::check(&promises);
    println!("\nthe store");
    let mut leases =
        repository.cargo(["bench", "--quiet", "--locked", "--package", "cola-ia-store", "--bench", "leases"]);
    std::fs::create_dir_all(&bench.folder).attempt(|| format!("create {}", bench.folder.display()))?;
    run::run(leases.env("COLA_IA_BENCH_DIR", &bench.folder).env("COLA_IA_BENCH_RUNS", options.runs.to_string()))
        .map_err(|_| Failure::new("a promise of the store was missed"))?;
    bench.remove_folder()?;
    worker
}

/// Starts `true` so many times from so many threads.
fn starts(count: u64, threads: u64) -> Result<Duration, Failure> {
    let started = Instant::now();
    let each = count.div_ceil(threads);
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(move || {
                    (0..each).try_for_each(|_| {
                        let mut command = Command::new("true");
                        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
                        command.status().map(drop)
                    })
                })
            })
            .collect();
        running.into_iter().try_for_each(|thread| thread.join().expect("no start panics"))
    })
    .attempt(|| "start `true`".to_owned())?;
    Ok(started.elapsed() * u32::try_from(count).unwrap_or(u32::MAX) / u32::try_from(each * threads).unwrap_or(u32::MAX))
}

fn works(bench: &Bench<'_>, places: u64, run: u32) -> Result<Duration, Failure> {
    let store = bench.folder.join(format!("work-{places}-{run}.sqlite3"));
    let file = bench.folder.join("jobs.jsonl");
    input::write_lines(&file, input::events(SEED, bench.options.events))?;
    bench.add(&bench.folder, &store, &file, Expected::All { count: bench.options.events, verdict: "nuevo" })?;
    let places = places.to_string();
    let arguments = ["work", "--drain", "-j", &places, "--", "true"];
    let measured = Measured {
        program: &bench.binary,
        arguments: arguments.into_iter().map(std::path::Path::new).collect(),
        folder: &bench.folder,
        store: &store,
    };
    let usage = measured.run()?;
    if usage.exit_code != 0 {
        return Err(Failure::new(format!("`cola-ia work` ended with {}\n  {}", usage.exit_code, measured.complaint())));
    }
    Ok(usage.wall)
}
