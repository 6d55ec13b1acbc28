//! The verbs of effects, each one file: read a [`case::ReadCase`], ask the core's ledger, write what became different.

pub(super) mod begin;
pub(super) mod case;
pub(super) mod decide;
pub(super) mod done;
pub(super) mod failed;
pub(super) mod list;
pub(super) mod resolve;
mod rows;
#[cfg(test)]
mod tests;
mod told;
pub(super) mod unknown;
