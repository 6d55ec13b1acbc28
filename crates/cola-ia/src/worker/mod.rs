//! Workers: what runs a command for each job.

pub mod child;
mod ended;
mod group;
mod pump;
mod start;
mod tail;
