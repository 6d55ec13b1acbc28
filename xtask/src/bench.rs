//! `cargo xtask bench`: builds the release binary and hands over to the measuring half of this program, itself built with
//! optimisation. Figures are ratios between commands of one run, because machines differ and drift.

mod options;

#[cfg(feature = "bench")]
mod api;
#[cfg(feature = "bench")]
mod article;
#[cfg(feature = "bench")]
mod gate;
#[cfg(feature = "bench")]
mod host;
#[cfg(feature = "bench")]
mod http;
#[cfg(feature = "bench")]
mod input;
#[cfg(feature = "bench")]
mod jobs;
#[cfg(feature = "bench")]
mod measure;
#[cfg(feature = "bench")]
mod postgres;
#[cfg(feature = "bench")]
mod report;
#[cfg(feature = "bench")]
mod rows;
#[cfg(feature = "bench")]
mod shape;
#[cfg(feature = "bench")]
mod views;
#[cfg(feature = "bench")]
mod wal;

use crate::failure::Failure;
use crate::repository::Repository;
use crate::run;
use options::Options;

/// The first argument of this program's measuring half; the second says which part of it.
pub(crate) const INNER: &str = "bench-inner";

/// Builds with optimisation, then measures.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), Failure> {
    let Some(options) = Options::parse(arguments)? else {
        print!("{}", options::HELP);
        return Ok(());
    };
    // One after the other: what the benchmark needs must not add features to what users get.
    if options.binary.is_none() {
        run::run(&mut repository.cargo(["build", "--release", "--locked", "--package", "cola-ia"]))?;
    }
    run::run(&mut repository.cargo(["build", "--release", "--locked", "--package", "xtask"]))?;
    let measuring = repository.target().join("release").join(format!("xtask{}", std::env::consts::EXE_SUFFIX));
    run::run(repository.command(measuring).args([INNER, options.part.name()]).args(arguments))
        .map_err(|_| Failure::new("the benchmark failed; what failed stands above"))
}

/// The measuring half: the parts that a person names, and the child processes that they start.
#[cfg(feature = "bench")]
pub(crate) fn inner(repository: &Repository, arguments: &[String]) -> Result<(), Failure> {
    let (part, rest) = arguments.split_first().map_or(("", &[][..]), |(part, rest)| (part.as_str(), rest));
    match part {
        "api" | "gate" | "http" | "jobs" | "postgres" | "views" | "wal" => match Options::parse(rest)? {
            Some(options) => match options.part {
                options::Part::Api => api::run(repository, &options),
                options::Part::Gate => gate::run(repository, &options),
                options::Part::Http => http::run(repository, &options),
                options::Part::Jobs => jobs::run(repository, &options),
                options::Part::Postgres => postgres::run(repository, &options),
                options::Part::Views => views::run(repository, &options),
                options::Part::Wal => wal::run(repository, &options),
            },
            None => Ok(()),
        },
        measure::PART => measure::child(rest),
        rows::PART => rows::child(rest),
        http::HELLO => http::hello(),
        article::PART => article::child(rest),
        other => Err(Failure::new(format!("no part `{other}`"))),
    }
}

#[cfg(not(feature = "bench"))]
pub(crate) fn inner(_: &Repository, _: &[String]) -> Result<(), Failure> {
    Err(Failure::new("this xtask was built without its benchmark").hint("`cargo xtask bench`"))
}
