//! `cargo xtask test`: every test of the workspace, with every tool that a test needs.

use std::ffi::OsString;
use std::fs;

use crate::failure::{Attempt, Failure};
use crate::packages;
use crate::postgres::{Flush, Servers};
use crate::repository::Repository;
use crate::run::{self, Tally};
use crate::tools;

/// Set for the tests: a tool that is missing is a failure, not a reason to leave a test out.
const REQUIRE_TOOLS: (&str, &str) = ("COLA_IA_REQUIRE_TOOLS", "1");

/// The profile of `.config/nextest.toml` that writes a report.
const NEXTEST_PROFILE: &str = "full";

/// Finds or installs the tools, then runs all tests and the examples in the documentation.
pub(crate) fn run(repository: &Repository) -> Result<(), Failure> {
    println!("tools that the tests need:");
    tools::require()?;
    let packages = packages::require(repository)?;
    let servers = Servers::start(repository, "test", Flush::Off)?;
    let packages = packages.into_iter().map(|(name, path)| (name.to_owned(), path.into_os_string()));
    let servers_env = servers.env().into_iter().map(|(name, value)| (name, value.into()));
    let environment: Vec<_> = packages.chain(servers_env).collect();
    let tests = if run::succeeds(&mut repository.cargo(["nextest", "--version"])) {
        with_nextest(repository, environment)?
    } else {
        with_libtest(repository, environment)?
    };
    drop(servers);
    let (documentation, documentation_passed) = run::run_counting_tests(
        repository.cargo(["test", "--doc", "--workspace", "--locked"]).env(REQUIRE_TOOLS.0, REQUIRE_TOOLS.1),
    )?;
    let total = tests + documentation;
    println!("\ntests: {} passed, {} failed", total.passed, total.failed);
    if !documentation_passed {
        return Err(Failure::new("examples in the documentation failed"));
    }
    if tests.passed == 0 {
        return Err(Failure::new("no test was run"));
    }
    Ok(())
}

fn with_nextest(repository: &Repository, environment: Vec<(String, OsString)>) -> Result<Tally, Failure> {
    println!("\nrunning the tests with cargo-nextest");
    let report = repository.target().join("nextest").join(NEXTEST_PROFILE).join("junit.xml");
    // A report of an earlier run must not be taken for this one's.
    if report.exists() {
        fs::remove_file(&report).attempt(|| format!("remove {}", report.display()))?;
    }
    run::run(
        repository
            .cargo(["nextest", "run", "--workspace", "--locked", "--no-tests", "fail", "--profile", NEXTEST_PROFILE])
            .env(REQUIRE_TOOLS.0, REQUIRE_TOOLS.1)
            .envs(environment),
    )?;
    let text = fs::read_to_string(&report).attempt(|| format!("read {}", report.display()))?;
    tally_of_report(&text).ok_or_else(|| Failure::new(format!("no counts in {}", report.display())))
}

fn with_libtest(repository: &Repository, environment: Vec<(String, OsString)>) -> Result<Tally, Failure> {
    println!("\ncargo-nextest is not installed: running the tests with cargo test");
    let mut command = repository.cargo(["test", "--workspace", "--locked", "--all-targets", "--no-fail-fast"]);
    command.env(REQUIRE_TOOLS.0, REQUIRE_TOOLS.1).envs(environment);
    let (tally, passed) = run::run_counting_tests(&mut command)?;
    if passed { Ok(tally) } else { Err(Failure::new(format!("tests failed ({} of them)", tally.failed))) }
}

/// Reads `<testsuites tests="3" failures="0" errors="0" …>`.
fn tally_of_report(xml: &str) -> Option<Tally> {
    let element = xml.split_once("<testsuites ")?.1.split_once('>')?.0;
    let count =
        |name: &str| -> Option<u64> { element.split_once(&format!("{name}=\""))?.1.split_once('"')?.0.parse().ok() };
    let failed = count("failures")? + count("errors")?;
    Some(Tally { passed: count("tests")?.checked_sub(failed)?, failed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_from_the_report() {
        let report = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="7" failures="1" errors="1" uuid="x" time="0.1">
    <testsuite name="a" tests="3" disabled="0" errors="0" failures="0">"#;
        assert_eq!(tally_of_report(report), Some(Tally { passed: 5, failed: 2 }));
        assert_eq!(tally_of_report("<other/>"), None);
    }
}
