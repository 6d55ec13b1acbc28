//! A store in PostgreSQL: whole commands against the same ones on a file, webhooks through a server, and jobs against another queue
//! on the same database. The server is one of our own, with the settings that PostgreSQL has where nobody says others.

use std::path::Path;

use super::gate::{Bench, Expected, rate};
use super::http::webhook_rate;
use super::options::Options;
use super::report::{self, Bound, Figures, Promise};
use super::{host, input};
use crate::failure::{Attempt, Failure};
use crate::postgres::{Flush, Servers};
use crate::repository::Repository;
use crate::run;

const SEED: u64 = 42;
const WEBHOOKS: u64 = 20_000;
/// Jobs of the other queue.
const JOBS: u64 = 20_000;

/// Of the rate of a file: 60,000 events a second where that does 300,000.
const ADD_OF_FILE: f64 = 0.2;
const WEBHOOKS_OF_FILE: f64 = 1.0 / 3.0;

/// The other queue: its packages by a lock file.
const OTHER: &str = "xtask/src/bench/graphile-worker";

/// Measures, in turn, and checks what is promised.
///
/// # Errors
/// If a command does not do what it should, or a promise is missed.
pub(crate) fn run(repository: &Repository, options: &Options) -> Result<(), Failure> {
    let bench = Bench::new(repository, options)?;
    let servers = Servers::start(repository, "bench", Flush::On)?;
    let database = servers
        .env()
        .into_iter()
        .find_map(|(name, address)| (name == "COLA_IA_TEST_POSTGRES").then_some(address))
        .ok_or_else(|| Failure::new("the servers name no address"))?;
    println!("\nmachine: {}", host::describe(&bench.folder));
    println!("{} events a file, {} runs", options.events, options.runs);
    let other = other_queue(repository)?;
    let file = bench.folder.join("events.jsonl");
    input::write_lines(&file, input::events(SEED, options.events))?;
    let all = || Expected::All { count: options.events, verdict: "nuevo" };
    let (mut of_file, mut ours, mut file_hooks, mut hooks, mut others) =
        (Figures::default(), Figures::default(), Figures::default(), Figures::default(), Figures::default());
    for run in 0..options.runs {
        let store = bench.folder.join(format!("add-{run}.sqlite3"));
        of_file.push(rate(options.events, bench.add(&bench.folder, &store, &file, all())?.wall));
        let address = format!("{database}?schema=add_{run}");
        ours.push(rate(options.events, bench.add(&bench.folder, Path::new(&address), &file, all())?.wall));
        file_hooks.push(webhook_rate(&bench, &format!("file-{run}"), None, WEBHOOKS)?);
        let address = format!("{database}?schema=hooks_{run}");
        hooks.push(webhook_rate(&bench, &format!("database-{run}"), Some(&address), WEBHOOKS)?);
        others.push(other(&database)?);
    }
    bench.remove_folder()?;
    println!("\n  {:<44} {:>10} {:>10} {:>10}", "a second", "least", "median", "most");
    println!("{}", report::rates("cola-ia add, a file", &of_file));
    println!("{}", report::rates("cola-ia add, PostgreSQL", &ours));
    println!("{}", report::rates("webhooks, a file", &file_hooks));
    println!("{}", report::rates("webhooks, PostgreSQL", &hooks));
    println!("{}", report::rates("graphile-worker, ten at once", &others));
    let commands = report::check(&[
        Promise::new("add, PostgreSQL / a file", ours.over(&of_file), Bound::AtLeast(ADD_OF_FILE)),
        Promise::new("webhooks, PostgreSQL / a file", hooks.over(&file_hooks), Bound::AtLeast(WEBHOOKS_OF_FILE)),
    ]);
    println!("\nthe store");
    let mut jobs =
        repository.cargo(["bench", "--quiet", "--locked", "--package", "cola-ia-store", "--bench", "postgres"]);
    jobs.envs(servers.env()).env("COLA_IA_BENCH_TEN_AT_ONCE", others.median().to_string());
    run::run(jobs.env("COLA_IA_BENCH_RUNS", options.runs.to_string()))
        .map_err(|_| Failure::new("a promise of the store was missed"))?;
    commands
}

/// Lays the other queue's packages out, and gives what measures it once: jobs a second.
fn other_queue(repository: &Repository) -> Result<impl Fn(&str) -> Result<f64, Failure>, Failure> {
    let folder = repository.target().join("bench-graphile-worker");
    std::fs::create_dir_all(&folder).attempt(|| format!("create {}", folder.display()))?;
    let script = repository.root().join(OTHER).join("bench.cjs");
    for name in ["package.json", "package-lock.json", ".npmrc"] {
        let from = repository.root().join(OTHER).join(name);
        std::fs::copy(&from, folder.join(name)).attempt(|| format!("copy {}", from.display()))?;
    }
    let install = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"];
    run::run(repository.command("npm").args(install).current_dir(&folder))?;
    let modules = folder.join("node_modules");
    Ok(move |database: &str| {
        let mut node = std::process::Command::new("node");
        node.arg(&script).args([database, &JOBS.to_string()]).env("NODE_PATH", &modules);
        let output = node.output().attempt(|| "start node".to_owned())?;
        let said = String::from_utf8_lossy(&output.stdout);
        said.trim().parse().map_err(|_| {
            Failure::new(format!("graphile-worker said `{said}`\n{}", String::from_utf8_lossy(&output.stderr)))
        })
    })
}
