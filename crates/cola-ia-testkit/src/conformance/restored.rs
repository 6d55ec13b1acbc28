//! A store that was put back from an older state says so until a person takes the mark away.

use std::sync::Arc;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::filter::Filter;
use cola_ia_core::job::JobState;
use cola_ia_core::store::{ErrorKind, Restored, RestoredMark};

use super::check::{cases, ensure_eq, refused, words};
use crate::clock::ManualClock;
use crate::events::{event, event_from};
use crate::harness::{Backend, Failure, Scratch};

cases![
    a_mark_stays_until_it_is_taken_away,
    of_two_marks_the_later_one_stands,
    a_mark_in_the_future_is_refused,
    the_same_op_of_a_mark_gives_the_first_answer,
    an_op_is_not_used_for_a_mark_and_something_else,
    a_mark_changes_no_event,
    a_mark_ends_leases_and_counts_it,
];

const START: i64 = ManualClock::START.as_micros();

fn at(micros: i64) -> RestoredMark {
    RestoredMark::At(Timestamp::from_micros(START + micros))
}

fn marked(micros: i64) -> Restored {
    Restored { restored_at: Some(Timestamp::from_micros(START + micros)), leases_voided: 0 }
}

const NONE: Restored = Restored { restored_at: None, leases_voided: 0 };

fn a_mark_stays_until_it_is_taken_away(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    ensure_eq!(scratch.restored_at()?, None, "the mark of a new store");
    ensure_eq!(scratch.restored(at(-5))?, marked(-5), "the answer to a mark");
    ensure_eq!(scratch.restored_at()?, marked(-5).restored_at, "the mark");
    scratch.clock().advance(1_000_000);
    scratch.reopen()?;
    ensure_eq!(scratch.restored_at()?, marked(-5).restored_at, "the mark after a reopen");
    ensure_eq!(scratch.restored(RestoredMark::Cleared)?, NONE, "the answer to taking it away");
    ensure_eq!(scratch.restored_at()?, None, "the mark after that");
    ensure_eq!(scratch.restored(RestoredMark::Cleared)?, NONE, "the answer where there is none");
    Ok(())
}

fn of_two_marks_the_later_one_stands(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.restored(at(-10))?;
    ensure_eq!(scratch.restored(at(-5))?, marked(-5), "the answer to a later mark");
    ensure_eq!(scratch.restored(at(-7))?, marked(-5), "the answer to an earlier mark");
    ensure_eq!(scratch.restored_at()?, marked(-5).restored_at, "the mark");
    Ok(())
}

fn a_mark_in_the_future_is_refused(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let op = scratch.op();
    refused("a mark after now", scratch.restored_as(op, at(1)), ErrorKind::Invalid, "restored_in_future")?;
    ensure_eq!(scratch.restored_at()?, None, "the mark after a refusal");
    ensure_eq!(scratch.restored_as(op, at(0))?, marked(0), "the same op, for a mark of now");
    Ok(())
}

fn the_same_op_of_a_mark_gives_the_first_answer(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let (set, cleared) = (scratch.op(), scratch.op());
    ensure_eq!(scratch.restored_as(set, at(-5))?, marked(-5), "the first answer");
    ensure_eq!(scratch.restored_as(cleared, RestoredMark::Cleared)?, NONE, "the answer to taking it away");
    ensure_eq!(scratch.restored_as(set, at(-5))?, marked(-5), "the repeat");
    ensure_eq!(scratch.restored_at()?, None, "the mark after the repeat");
    scratch.restored(at(-3))?;
    ensure_eq!(scratch.restored_as(cleared, RestoredMark::Cleared)?, NONE, "the other repeat");
    ensure_eq!(scratch.restored_at()?, marked(-3).restored_at, "the mark after the other repeat");
    Ok(())
}

fn an_op_is_not_used_for_a_mark_and_something_else(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let (mark, batch) = (scratch.op(), scratch.op());
    scratch.restored_as(mark, at(-5))?;
    scratch.accept_as(batch, &Arc::new(vec![event("a", "x")]))?;
    let reused = |what, answer| refused(what, answer, ErrorKind::Conflict, "op_reused");
    reused("another mark under its op", scratch.restored_as(mark, at(-4)))?;
    reused("taking it away under its op", scratch.restored_as(mark, RestoredMark::Cleared))?;
    reused("a mark under the op of a batch", scratch.restored_as(batch, at(-4)))?;
    let answer = scratch.accept_as(mark, &Arc::new(vec![event("b", "x")]));
    refused("a batch under the op of a mark", answer, ErrorKind::Conflict, "op_reused")?;
    ensure_eq!(scratch.restored_at()?, marked(-5).restored_at, "the mark after all that");
    Ok(())
}

fn a_mark_changes_no_event(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "x"), event("a", "y"), event("a", "x"), event("b", "x")])?;
    let state = |scratch: &Scratch| -> Result<_, Failure> { Ok((scratch.all_jobs()?, scratch.find(None, "a")?)) };
    let before = state(&scratch)?;
    scratch.clock().advance(1_000_000);
    scratch.restored(at(0))?;
    ensure_eq!(state(&scratch)?, before, "what the store holds after a mark");
    let answer = scratch.accept(vec![event("a", "x"), event("a", "z"), event("c", "x")])?;
    ensure_eq!(words(&answer), "duplicate conflict#2 new", "the verdicts after a mark");
    Ok(())
}

fn a_mark_ends_leases_and_counts_it(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "x"), event("b", "x"), event_from("form", "c", "x"), event("d", "x")])?;
    for (id, state) in [("a", JobState::Running), ("c", JobState::Running), ("d", JobState::Held)] {
        scratch.set_job(scratch.find_one(id)?.job.event, state)?;
    }
    let counted = |scratch: &Scratch| -> Result<[u64; 3], Failure> {
        let jobs = scratch.stats(Filter::default())?.total.jobs;
        Ok([JobState::Pending, JobState::Running, JobState::Held].map(|state| jobs[state as usize]))
    };
    ensure_eq!(counted(&scratch)?, [1, 2, 1], "jobs by state before a mark");
    ensure_eq!(scratch.restored(RestoredMark::Cleared)?, NONE, "taking a mark away ends no lease");
    ensure_eq!(counted(&scratch)?, [1, 2, 1], "jobs by state after that");
    scratch.clock().advance(1_000_000);
    let op = scratch.op();
    let answer = Restored { leases_voided: 2, ..marked(1_000_000) };
    ensure_eq!(scratch.restored_as(op, at(1_000_000))?, answer, "the answer to a mark");
    ensure_eq!(counted(&scratch)?, [3, 0, 1], "jobs by state after a mark");
    ensure_eq!(scratch.find_one("a")?.job.due_at, answer.restored_at, "when a job whose lease was ended is due");
    ensure_eq!(scratch.restored_as(op, at(1_000_000))?, answer, "the repeat");
    ensure_eq!(counted(&scratch)?, [3, 0, 1], "jobs by state after the repeat");
    Ok(())
}
