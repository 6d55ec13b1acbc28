//! Schedules: each firing is an event.

mod plan;
mod run;

pub use plan::{LOOK_BACK_MAX, Plan, PlanFault};
pub use run::{Scheduler, run};

#[cfg(test)]
mod tests;
