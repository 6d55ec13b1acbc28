//! What proves a store: an oracle, cases that every store must pass, and generated sequences that compare two stores.
//!
//! - [`model`]: a store in memory, written to be obviously right; the oracle.
//! - [`clock`]: time and randomness that tests decide.
//! - [`harness`]: what a test needs of a kind of store, and one open store under test.
//! - [`destination`]: a place where effects really happen, as unhelpful as those outside.
//! - [`driver`]: workers that are stopped at every point, and what must hold after that.
//! - [`faulty`]: a store whose calls go wrong before or after they are done, and one that repeats them.
//! - [`proxy`]: a relay before a PostgreSQL server that cuts connections, at commits above all.
//! - [`events`]: short ways to write deliveries and refusals.
//! - [`conformance`]: the cases, written once; [`runner`] runs them on any number of stores.
//! - [`sequences`]: random sequences of calls, run on two stores and compared answer by answer.
//!
//! This crate knows the `Store` trait and nothing of any store but the model. It is not published.

pub mod clock;
pub mod conformance;
pub mod destination;
pub mod driver;
pub mod events;
pub mod faulty;
pub mod harness;
pub mod model;
pub mod proxy;
mod report;
pub mod runner;
pub mod sequences;
mod wrapped;
