//! The conformance cases on the model: the oracle keeps its own rules.

use std::process::ExitCode;

fn main() -> ExitCode {
    cola_ia_testkit::runner::main(vec![Box::new(cola_ia_testkit::model::ModelBackend)])
}
