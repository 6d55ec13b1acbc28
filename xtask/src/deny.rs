//! The rules of `deny.toml`: licences, bans and sources always, advisories where their database can be fetched.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::failure::Failure;
use crate::machine;
use crate::repository::Repository;
use crate::run::{self, Ended};

/// The release that is built where none is installed.
const VERSION: &str = "0.20.2";

/// How long the advisory database may take.
const FETCH_LIMIT: Duration = Duration::from_mins(2);

/// Checks the dependency tree. `Some` says what could not be checked.
///
/// # Errors
/// If a rule is broken or an advisory is found. A database that cannot be downloaded is no error: it is said.
pub(crate) fn check(repository: &Repository) -> Result<Option<String>, Failure> {
    let program = find_or_install(repository)?;
    let deny = || repository.command(&program);
    println!("{}", run::first_line(deny().arg("--version")).unwrap_or_default());
    run::run(deny().args(["--locked", "check", "bans", "licenses", "sources"]))?;
    if let Some(reason) = fetch_advisories(&mut deny())? {
        let remark = format!("advisories NOT checked: {reason}");
        println!("\nwarning: {remark}\n");
        return Ok(Some(remark));
    }
    // Offline, so that whatever fails now is a finding and not the network.
    run::run(deny().args(["--locked", "--offline", "check", "advisories"]))?;
    Ok(None)
}

/// Downloads the advisory database; `Some` is the reason why it is not here.
fn fetch_advisories(deny: &mut Command) -> Result<Option<String>, Failure> {
    Ok(match run::run_within(FETCH_LIMIT, deny.args(["fetch", "db", "index"]).env("GIT_TERMINAL_PROMPT", "0"))? {
        Ended::Success => None,
        Ended::Failure(said) => {
            eprint!("{said}");
            Some(format!("their database could not be downloaded ({})", cause(&said)))
        }
        Ended::TimedOut => Some(format!("their database did not arrive within {} s", FETCH_LIMIT.as_secs())),
    })
}

/// The last line of an error that says something.
fn cause(said: &str) -> &str {
    said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("no reason given")
}

fn find_or_install(repository: &Repository) -> Result<PathBuf, Failure> {
    if let Some(program) = machine::find_program("cargo-deny") {
        return Ok(program);
    }
    let folder = repository.target().join("tools");
    let program = folder.join("bin").join("cargo-deny");
    if !program.exists() {
        println!("cargo-deny is not installed: building {VERSION} into {} (some minutes, once)", folder.display());
        run::run(repository.cargo(["install", "cargo-deny", "--locked", "--version", VERSION, "--root"]).arg(&folder))?;
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cause_is_the_last_line_that_says_something() {
        assert_eq!(cause("[ERROR] failed to fetch\nfatal: no such host\n\n"), "fatal: no such host");
        assert_eq!(cause(" \n"), "no reason given");
    }
}
