//! Workers: what runs a command for each job.

pub mod child;
