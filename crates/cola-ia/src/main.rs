//! The binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    cola_ia::cli::run(std::env::args_os(), cola_ia::config::Environment::of_this_process()).into()
}
