//! The API: how fast workers claim and complete over HTTP.

use super::gate::Bench;
use super::host;
use super::options::Options;
use crate::failure::{Attempt, Failure};
use crate::repository::Repository;
use crate::run;

/// Measures it.
///
/// # Errors
/// If a promise is missed.
pub(crate) fn run(repository: &Repository, options: &Options) -> Result<(), Failure> {
    let bench = Bench::new(repository, options)?;
    println!("\nmachine: {}", host::describe(&bench.folder));
    std::fs::create_dir_all(&bench.folder).attempt(|| format!("create {}", bench.folder.display()))?;
    let mut workers = repository.cargo(["bench", "--quiet", "--locked", "--package", "cola-ia", "--bench", "api"]);
    workers.env("COLA_IA_BENCH_DIR", &bench.folder);
    workers.env("COLA_IA_BENCH_RUNS", options.runs.to_string());
    workers.env("COLA_IA_BENCH_JOBS", options.events.to_string());
    let measured = run::run(&mut workers).map_err(|_| Failure::new("a promise of the API was missed"));
    bench.remove_folder()?;
    measured
}
