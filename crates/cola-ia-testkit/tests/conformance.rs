//! The conformance cases on the model: the oracle keeps its own rules. Once more with calls that go wrong and are repeated.

use std::process::ExitCode;

use cola_ia_testkit::faulty::Troubled;
use cola_ia_testkit::model::ModelBackend;

fn main() -> ExitCode {
    cola_ia_testkit::runner::main(vec![
        Box::new(ModelBackend),
        Box::new(Troubled::new("model_in_trouble", ModelBackend, 0xc01a)),
        Box::new(Troubled::new("model_in_other_trouble", ModelBackend, 0x1a)),
    ])
}
