//! The verbs of effects, each one file: lock the job, read a [`case::ReadCase`], ask the core's ledger, write what became
//! different.

pub(super) mod begin;
pub(super) mod case;
mod columns;
pub(super) mod decide;
pub(super) mod done;
pub(super) mod failed;
mod holder;
pub(super) mod list;
pub(super) mod resolve;
mod rows;
mod told;
pub(super) mod unknown;
mod write;
