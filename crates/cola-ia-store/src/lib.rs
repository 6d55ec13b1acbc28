//! Where cola-ia keeps events and jobs. The first engine is SQLite, one file.
//!
//! This crate must not know HTTP, the command line or the language of people; it speaks in the types of `cola-ia-core`.

pub mod migration;
pub mod sqlite;
