//! The library behind the binary.
