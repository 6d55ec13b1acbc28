//! A run of several steps: a heading each, how long it took, and a table at the end. The first failure ends the run.

use std::time::{Duration, Instant};

use crate::failure::Failure;

/// Steps done so far.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<Done>,
}

struct Done {
    name: &'static str,
    took: Duration,
    /// What the table must say beside "ok": what was not done.
    remark: Option<String>,
}

impl Steps {
    /// Runs one step; what it returns is a remark for the table, if any.
    pub(crate) fn step(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> Result<Option<String>, Failure>,
    ) -> Result<(), Failure> {
        println!("\n=== {name}");
        let started = Instant::now();
        let result = work();
        let took = started.elapsed();
        match result {
            Ok(remark) => {
                println!("--- {name}: ok, {}", seconds(took));
                self.done.push(Done { name, took, remark });
                Ok(())
            }
            Err(failure) => {
                println!("--- {name}: FAILED, {}", seconds(took));
                self.table();
                println!("  {name:<20} {:>9}  FAILED; the steps after it were not run", seconds(took));
                Err(failure)
            }
        }
    }

    /// Prints what was done.
    pub(crate) fn table(&self) {
        println!("\n=== summary");
        for Done { name, took, remark } in &self.done {
            let remark = remark.as_ref().map_or(String::new(), |remark| format!("; {remark}"));
            println!("  {name:<20} {:>9}  ok{remark}", seconds(*took));
        }
    }

    pub(crate) fn total(&self) -> String {
        seconds(self.done.iter().map(|done| done.took).sum())
    }
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}
