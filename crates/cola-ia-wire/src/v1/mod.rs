//! The shapes of `/v1`: owned, read and written, each with `From` to and from the type of the core that it is of, without loss.
//!
//! - What a list or a word says is checked when it is read; what was read needs no second look.
//! - Fields that may say nothing are `null` where they do, and may be left out by who writes them.
//! - Instants are RFC 3339 in UTC with six digits, amounts of money whole millionths (`_micros`), lengths of time whole
//!   microseconds where they are not called otherwise.
//! - Where a shape of `--json` says the same, its names are used.

pub mod attempt;
pub mod conflict;
pub mod delivery;
pub mod effect;
pub mod erase;
pub mod event;
pub mod export;
pub mod filter;
pub mod job;
pub mod list;
pub mod money;
pub mod prune;
pub mod restored;
mod shape;
pub mod stats;
pub mod store;
pub mod token;
pub mod values;

pub use shape::Carry;
pub use values::Instant;

#[cfg(test)]
mod tests;
