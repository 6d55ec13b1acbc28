//! The library behind the binary: `main` only hands over the arguments and the environment.

pub mod add;
pub mod cli;
pub mod config;
pub mod effect;
pub mod http;
pub mod import;
pub mod intake;
pub mod lang;
pub mod money;
pub mod print;
pub mod remote;
pub mod result_file;
pub mod schedule;
pub mod store;
pub mod worker;
pub mod worker_name;
