//! `cargo xtask torture`: more of what the tests try at random, and what takes too long for them.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::failure::Failure;
use crate::repository::Repository;
use crate::run;

/// How many times as many runs as the tests make.
const TIMES: u64 = 50;

/// What is run: package, test target, tests whose names contain this, and whether they are left out otherwise.
const RUNS: [(&str, &[&str], &str, bool); 6] = [
    ("cola-ia-testkit", &["--test", "trouble"], "any_seed", false),
    ("cola-ia-testkit", &["--test", "driver"], "two_points", false),
    ("cola-ia-store", &["--test", "driver"], "any_point", false),
    ("cola-ia-store", &["--test", "driver"], "two_points", false),
    ("cola-ia", &["--test", "publicar"], "drawn_by_a_seed", false),
    ("cola-ia-core", &["--lib"], "wider_worlds", true),
];

/// Runs them one after the other, with `[TIMES [SEED]]`; without a seed another one each time, which is printed.
///
/// # Errors
/// What the arguments are not; that a run failed.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), Failure> {
    let number = |index: usize| {
        let text = arguments.get(index)?;
        Some(text.parse::<u64>().map_err(|_| Failure::new(format!("`{text}` is no number"))))
    };
    let times = number(0).transpose()?.unwrap_or(TIMES);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let seed = number(1).transpose()?.unwrap_or(now);
    println!("{times} times as many runs as in the tests, seed {seed}");
    for (package, target, name, is_ignored) in RUNS {
        println!("\n{package}: {name}");
        let mut command = repository.cargo(["test", "--quiet", "--locked", "--package", package]);
        command.args(target).args(["--", "--nocapture", name]);
        if is_ignored {
            command.arg("--ignored");
        }
        run::run(command.env("COLA_IA_TORTURE", times.to_string()).env("COLA_IA_TORTURE_SEED", seed.to_string()))?;
    }
    Ok(())
}
