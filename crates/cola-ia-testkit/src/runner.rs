//! Runs every conformance case on every backend, under `cargo test` and `cargo nextest` alike.

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};

use crate::conformance;
use crate::harness::Backend;

/// The whole `main` of a test target with `harness = false`: tests are named `backend::case`.
pub fn main(backends: Vec<Box<dyn Backend>>) -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = backends.into_iter().flat_map(|backend| trials_of(&Arc::from(backend))).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trials_of(backend: &Arc<dyn Backend>) -> Vec<Trial> {
    let trial = |case: &conformance::Case| {
        let (backend, run) = (Arc::clone(backend), case.run);
        let name = format!("{}::{}", backend.name(), case.name);
        Trial::test(name, move || run(&*backend).map_err(|failure| Failed::from(failure.to_string())))
    };
    conformance::cases().map(trial).collect()
}
