//! Where cola-ia keeps events and jobs: SQLite, one file; PostgreSQL, where one machine is not enough.
//!
//! This crate must not know HTTP, the command line or the language of people; it speaks in the types of `cola-ia-core`.

mod common;
pub mod doctor;
pub mod migration;
pub mod moved;
pub mod postgres;
pub mod sqlite;
