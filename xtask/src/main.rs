//! The tasks of this repository: `cargo xtask help` lists them.
//!
//! Everything a contributor or a CI machine runs is here rather than in shell scripts, so that it is the same everywhere. This
//! program knows the repository, cargo and the tools of the machine; it knows nothing of what the product does, except for the
//! benchmark, which drives the built binary from outside.

mod bench;
mod ci;
mod deny;
mod failure;
mod generated;
mod machine;
mod packages;
mod postgres;
mod repository;
mod run;
mod steps;
mod test;
mod tools;
mod torture;

use std::process::ExitCode;

use failure::Failure;
use repository::Repository;

const HELP: &str = "\
Usage: cargo xtask TASK

  test       find or install what the tests need, then run all of them
  ci         test, then format, lints, dependency rules, documentation, generated files
  generate   write the generated files again
  bench      measure the release binary against plain loops (`cargo xtask bench --help`)
  postgres   start the PostgreSQL and PgBouncer of the tests, for tests that are run by hand (`cargo xtask postgres --help`)
  torture    interrupt effects and lose calls 50 times (or [TIMES]) as often as `test` does, with another [SEED], and explore wider
             worlds: half an hour or more
  tools      say which tools of the machine the tests need, and why
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("\n{failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<(), Failure> {
    let repository = Repository::find()?;
    let (task, rest) = arguments.split_first().map_or(("help", &[][..]), |(task, rest)| (task.as_str(), rest));
    match task {
        "bench" => return bench::run(&repository, rest),
        "torture" => return torture::run(&repository, rest),
        "postgres" => return postgres::run(&repository, rest),
        postgres::KEEPER => return postgres::keep(&repository, rest),
        bench::INNER => return bench::inner(&repository, rest),
        _ => {}
    }
    if let Some(unexpected) = rest.first() {
        return Err(Failure::new(format!("`{task}` takes no argument, got `{unexpected}`")));
    }
    match task {
        "test" => test::run(&repository),
        "ci" => ci::run(&repository),
        "generate" => generated::write(&repository),
        "tools" => {
            tools::list();
            Ok(())
        }
        "help" | "-h" | "--help" => {
            print!("{HELP}");
            Ok(())
        }
        other => Err(Failure::new(format!("no task `{other}`")).hint("`cargo xtask help` lists them")),
    }
}
