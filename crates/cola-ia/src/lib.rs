//! The library behind the binary.

pub mod intake;
