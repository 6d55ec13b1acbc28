//! The answers that no repeat gives again, and what a caller hears who lost one: nothing is done twice, and where things are can
//! be looked up. These are the exceptions of [`crate::faulty`]; every other answer is given again, which all cases show there.

use cola_ia_core::effect::{EffectState, ReportAnswer};
use cola_ia_core::job::JobState;
use cola_ia_core::store::Recovered;

use super::desk::{Desk, LEASE, POLICY, SETTLED, hold, lookup};
use crate::harness::block_on;
use crate::model::ModelBackend;

#[test]
fn a_begin_that_held_its_job_is_answered_lease_lost_when_it_is_said_again() {
    let desk = Desk::new(&ModelBackend, hold()).unwrap();
    desk.begin(1).unwrap();
    desk.unknown(1).unwrap();
    assert_eq!(desk.begin(2).unwrap(), "held nobody_can_tell");
    let (job, tries) = (desk.job().unwrap(), desk.tries().unwrap());
    assert_eq!(job.state, JobState::Held);
    assert_eq!(desk.begin(2).unwrap(), "LeaseLost");
    assert_eq!((desk.job().unwrap(), desk.tries().unwrap()), (job, tries), "nothing was begun");
}

#[test]
fn an_absence_that_counted_is_void_when_it_is_said_again() {
    let desk = Desk::new(&ModelBackend, lookup()).unwrap();
    desk.begin(1).unwrap();
    desk.unknown(1).unwrap();
    desk.at(SETTLED);
    assert_eq!(desk.begin(2).unwrap(), "check 1 from 0");
    assert_eq!(desk.absent(1).unwrap(), ReportAnswer::Recorded);
    assert_eq!(desk.absent(1).unwrap(), ReportAnswer::Void);
    assert_eq!((desk.state().unwrap(), desk.tries().unwrap()), (EffectState::Failed, vec!["absent"]));
    // Who hears `Void` begins again, as who hears `Recorded` does.
    assert_eq!(desk.begin(3).unwrap(), "go 2 before 100");
}

#[test]
fn a_recovery_that_is_repeated_finds_what_ran_out_since() {
    let desk = Desk::new(&ModelBackend, hold()).unwrap();
    desk.scratch.clock().advance(LEASE.as_micros() as i64 + 1);
    let recover = || block_on(desk.scratch.store().recover(POLICY, 10, false)).unwrap();
    assert_eq!(recover().jobs.len(), 1);
    let job = desk.job().unwrap();
    assert_eq!(recover(), Recovered::default());
    assert_eq!(desk.job().unwrap(), job);
}
