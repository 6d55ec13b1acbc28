//! Workers: what runs a command for each job.

mod adopted;
pub mod child;
mod ended;
mod group;
mod pump;
mod start;
mod tail;
