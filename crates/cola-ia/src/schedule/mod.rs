//! Schedules: each firing is an event.

mod plan;

pub use plan::{LOOK_BACK_MAX, Plan, PlanFault};
