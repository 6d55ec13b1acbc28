//! The words of cola-ia: what an event, a verdict and a job are, and what a store must promise.
//!
//! Everything here is plain data and pure functions. This crate must not know SQL, HTTP, tokio or files: the stores, the
//! server and the command line all depend on it, and it depends on none of them.

pub mod age;
pub mod clock;
pub mod cost;
pub mod effect;
pub mod error_shape;
pub mod event;
pub mod filter;
pub mod intake;
pub mod job;
pub mod lateness;
pub mod limits;
pub mod price;
pub mod store;
pub mod verdict;
