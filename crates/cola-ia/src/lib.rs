//! The library behind the binary: `main` only hands over the arguments and the environment.

pub mod cli;
pub mod config;
pub mod lang;
pub mod print;
