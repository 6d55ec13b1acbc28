//! `cargo xtask ci`: what a change must pass, in the order in which its failures matter.

use crate::failure::Failure;
use crate::repository::Repository;
use crate::steps::Steps;
use crate::{deny, generated, run, test};

/// Runs every check; the first that fails ends the run.
pub(crate) fn run(repository: &Repository) -> Result<(), Failure> {
    let mut steps = Steps::default();
    let plain = |result: Result<(), Failure>| result.map(|()| None);
    steps.step("test", || plain(test::run(repository)))?;
    steps.step("format", || plain(run::run(&mut repository.cargo(["fmt", "--all", "--check"]))))?;
    steps.step("clippy", || {
        let arguments = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
        plain(run::run(&mut repository.cargo(arguments)))
    })?;
    steps.step("dependencies", || deny::check(repository))?;
    steps.step("documentation", || {
        let arguments = ["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"];
        plain(run::run(repository.cargo(arguments).env("RUSTDOCFLAGS", "-D warnings")))
    })?;
    steps.step("generated files", || plain(generated::check(repository)))?;
    steps.table();
    println!("\nall checks passed in {}", steps.total());
    Ok(())
}
