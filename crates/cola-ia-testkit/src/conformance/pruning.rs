//! What pruning removes, and what it must leave.

use std::sync::Arc;
use std::time::Duration;

use cola_ia_core::job::JobState;
use cola_ia_core::store::{
    Decision, ErrorKind, EventHistory, OPS_KEPT, PruneRequest, Pruned, PrunedDeliveries, ResolveRequest,
};

use super::check::{cases, ensure, ensure_eq, refused, words};
use crate::events::event;
use crate::harness::{Backend, Failure, Scratch, block_on};

cases![
    pruned_events_keep_identity_and_fingerprint,
    only_what_is_over_and_settled_is_pruned,
    what_happens_after_pruning_is_pruned_again,
    pruned_deliveries_stay_counted,
    what_a_repeated_call_needs_is_kept_for_a_week,
    no_number_is_given_twice_after_pruning,
    looking_for_what_to_prune_changes_nothing,
    same_op_prunes_once,
];

const DAY: i64 = 86_400_000_000;

const TEXTS: PruneRequest = PruneRequest { texts: Some(Duration::ZERO), deliveries: None, after: None };
const DELIVERIES: PruneRequest = PruneRequest { texts: None, deliveries: Some(Duration::ZERO), after: None };

fn prune(scratch: &Scratch, request: &PruneRequest) -> Result<Pruned, Failure> {
    scratch.prune_as(|| scratch.op(), request)
}

/// All texts that are shown of an event.
fn texts(event: &EventHistory) -> Vec<&str> {
    let others = event.conflicts.iter().map(|conflict| &conflict.text);
    let earlier = event.revisions.iter().map(|revision| &revision.text);
    [&event.text].into_iter().chain(earlier).chain(others).filter_map(Option::as_deref).collect()
}

fn keep_all(scratch: &Scratch, id: &str, decision: &Decision) -> Result<(), Failure> {
    let found = scratch.find_one(id)?;
    let conflicts = found.conflicts.iter().map(|conflict| conflict.number).collect();
    let request = ResolveRequest { event: found.job.event, conflicts, decision: decision.clone(), note: None };
    scratch.resolve_as(scratch.op(), &request)?;
    Ok(())
}

fn pruned_events_keep_identity_and_fingerprint(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "x"), event("b", "x"), event("b", "y"), event("b", "z"), event("c", "x")])?;
    keep_all(&scratch, "b", &Decision::Accept { run: false })?;
    for id in ["a", "b"] {
        scratch.set_job(scratch.find_one(id)?.job.event, JobState::Done)?;
    }
    let before = [scratch.find_one("a")?, scratch.find_one("b")?];
    let pruned = prune(&scratch, &TEXTS)?;
    ensure_eq!((pruned.events, pruned.deliveries, pruned.ops), (2, 0, 0), "what went");
    scratch.reopen()?;
    for (id, before) in ["a", "b"].into_iter().zip(before) {
        let after = scratch.find_one(id)?;
        ensure_eq!(texts(&after), Vec::<&str>::new(), "texts of {id}");
        ensure_eq!((after.job, after.fingerprint), (before.job, before.fingerprint), "job and fingerprint of {id}");
        ensure_eq!(after.deliveries, before.deliveries, "deliveries of {id}");
    }
    ensure_eq!(texts(&scratch.find_one("c")?), vec!["x"], "texts of c");
    let batch = vec![event("a", "x"), event("b", "x"), event("b", "y"), event("b", "z"), event("a", "new")];
    ensure_eq!(words(&scratch.accept(batch)?), "duplicate duplicate duplicate duplicate conflict#1", "all again");
    ensure_eq!(texts(&scratch.find_one("a")?), vec!["new"], "a conflict's text is kept");
    ensure_eq!(scratch.all_jobs()?.len(), 3, "jobs");
    Ok(())
}

fn only_what_is_over_and_settled_is_pruned(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    for state in JobState::ALL {
        scratch.accept(vec![event(state.as_str(), "x")])?;
        scratch.set_job(scratch.find_one(state.as_str())?.job.event, state)?;
    }
    scratch.accept(vec![event("undecided", "x"), event("undecided", "y"), event("kept", "x"), event("kept", "y")])?;
    keep_all(&scratch, "kept", &Decision::Keep)?;
    for id in ["undecided", "kept"] {
        scratch.set_job(scratch.find_one(id)?.job.event, JobState::Done)?;
    }
    let hour = PruneRequest { texts: Some(Duration::from_hours(1)), ..PruneRequest::default() };
    scratch.clock().advance(3_600_000_000 - 1);
    ensure_eq!(prune(&scratch, &hour)?.events, 0, "before an hour is over");
    scratch.clock().advance(1);
    ensure_eq!(prune(&scratch, &hour)?.events, 3, "after an hour");
    for state in JobState::ALL {
        let goes = matches!(state, JobState::Done | JobState::Cancelled);
        ensure_eq!(texts(&scratch.find_one(state.as_str())?).is_empty(), goes, "{state:?}");
    }
    ensure_eq!(texts(&scratch.find_one("undecided")?), vec!["x", "y"], "whoever decides needs both texts");
    ensure_eq!(texts(&scratch.find_one("kept")?).len(), 0, "texts of a decided conflict");
    Ok(())
}

fn what_happens_after_pruning_is_pruned_again(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "x")])?;
    let number = scratch.find_one("a")?.job.event;
    scratch.set_job(number, JobState::Done)?;
    ensure_eq!(prune(&scratch, &TEXTS)?.events, 1, "the first time");
    scratch.clock().advance(1_000_000);
    ensure_eq!(prune(&scratch, &TEXTS)?.events, 0, "nothing happened since");
    scratch.accept(vec![event("a", "y")])?;
    ensure_eq!(prune(&scratch, &TEXTS)?.events, 0, "a conflict is undecided");
    keep_all(&scratch, "a", &Decision::Accept { run: true })?;
    ensure_eq!(prune(&scratch, &TEXTS)?.events, 0, "its new run waits");
    ensure_eq!(scratch.find_one("a")?.text.as_deref(), Some("y"), "the text of the new run");
    scratch.clock().advance(1_000_000);
    scratch.set_job(number, JobState::Done)?;
    ensure_eq!(prune(&scratch, &TEXTS)?.events, 1, "the new run is over");
    ensure_eq!(texts(&scratch.find_one("a")?).len(), 0, "texts");
    Ok(())
}

fn pruned_deliveries_stay_counted(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "x"), event("a", "y")])?;
    let mut times = Vec::new();
    for _ in 0..3 {
        times.push(scratch.clock().advance(DAY));
        scratch.accept(vec![event("a", "x"), event("a", "x"), event("a", "y")])?;
    }
    scratch.clock().advance(9 * DAY);
    let ten_days = PruneRequest { deliveries: Some(Duration::from_hours(10 * 24)), ..PruneRequest::default() };
    ensure_eq!(prune(&scratch, &ten_days)?.deliveries, 4, "ten days and older");
    let expected = PrunedDeliveries { count: 4, first_at: times[0], last_at: times[1] };
    let found = scratch.find_one("a")?;
    ensure_eq!((found.pruned, found.duplicates), (Some(expected), 6), "the count");
    ensure_eq!(found.deliveries.len(), 6, "conflicts and younger ones are still listed");
    ensure_eq!(prune(&scratch, &DELIVERIES)?.deliveries, 2, "the others");
    scratch.reopen()?;
    let expected = PrunedDeliveries { count: 6, first_at: times[0], last_at: times[2] };
    let found = scratch.find_one("a")?;
    ensure_eq!((found.pruned, found.duplicates), (Some(expected), 6), "the count of all");
    ensure_eq!(found.conflicts[0].count, 4, "the count of the conflict");
    ensure_eq!(words(&scratch.accept(vec![event("a", "x")])?), "duplicate", "the same again");
    ensure_eq!(scratch.find_one("a")?.duplicates, 7, "the count after that");
    Ok(())
}

fn what_a_repeated_call_needs_is_kept_for_a_week(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let batch = Arc::new(vec![event("a", "x"), event("a", "x"), event("b", "x"), event("a", "y")]);
    let op = scratch.op();
    let first = scratch.accept_as(op, &batch)?;
    let week = i64::try_from(OPS_KEPT.as_micros())?;
    scratch.clock().advance(week - 1);
    ensure_eq!(prune(&scratch, &DELIVERIES)?, Pruned::default(), "before a week is over");
    ensure_eq!(scratch.accept_as(op, &batch)?, first, "the repeat");
    scratch.clock().advance(1);
    let pruned = prune(&scratch, &DELIVERIES)?;
    ensure_eq!((pruned.ops, pruned.deliveries), (1, 1), "after a week");
    // The call is forgotten: it is another one now.
    ensure_eq!(words(&scratch.accept_as(op, &batch)?), "duplicate duplicate duplicate conflict#1", "the same op again");
    Ok(())
}

fn no_number_is_given_twice_after_pruning(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "x")])?;
    let last = scratch.accept(vec![event("a", "x"), event("a", "x")])?.receipts[1].number;
    scratch.clock().advance(30 * DAY);
    // A store that goes by what is there keeps the one with the highest number.
    let first = prune(&scratch, &DELIVERIES)?.deliveries;
    ensure!(first == 1 || first == 2, "{first} of two repeats went");
    let next = scratch.accept(vec![event("a", "x")])?.receipts[0].number;
    ensure!(next > last, "{next:?} was given after {last:?}");
    scratch.clock().advance(30 * DAY);
    ensure_eq!(prune(&scratch, &DELIVERIES)?.deliveries, 1, "the other one of these two, or the third");
    scratch.reopen()?;
    let after = scratch.accept(vec![event("b", "x")])?.receipts[0].number;
    ensure!(after > next, "{after:?} was given after {next:?}");
    ensure_eq!(scratch.find_one("a")?.duplicates, 3, "duplicates");
    Ok(())
}

fn looking_for_what_to_prune_changes_nothing(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "x"), event("a", "x"), event("b", "x")])?;
    scratch.set_job(scratch.find_one("a")?.job.event, JobState::Done)?;
    scratch.clock().advance(30 * DAY);
    let before = (scratch.find_one("a")?, scratch.find_one("b")?);
    let mut request = PruneRequest { texts: Some(Duration::ZERO), deliveries: Some(Duration::ZERO), after: None };
    let mut found = Pruned::default();
    loop {
        let step = block_on(scratch.store().prunable(request.clone()))?;
        ensure_eq!(block_on(scratch.store().prunable(request.clone()))?, step, "a second look");
        found.events += step.events;
        found.deliveries += step.deliveries;
        found.ops += step.ops;
        if step.next.is_none() {
            break;
        }
        request.after = step.next;
    }
    ensure_eq!((found.events, found.deliveries, found.ops), (1, 1, 1), "what is found");
    ensure_eq!((scratch.find_one("a")?, scratch.find_one("b")?), before, "what the store holds");
    Ok(())
}

fn same_op_prunes_once(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "x"), event("b", "x")])?;
    let (a, b) = (scratch.find_one("a")?.job.event, scratch.find_one("b")?.job.event);
    scratch.set_job(a, JobState::Done)?;
    // The step that goes through events, wherever the steps before it end.
    let mut request = TEXTS.clone();
    let op = loop {
        let (op, step) = (scratch.op(), block_on(scratch.store().prunable(request.clone()))?);
        if step.events > 0 {
            break op;
        }
        ensure!(step.next.is_some(), "no step finds the event");
        request.after = step.next;
    };
    let first = block_on(scratch.store().prune(op, request.clone()))?;
    ensure_eq!(first.events, 1, "the first answer");
    scratch.set_job(b, JobState::Done)?;
    scratch.clock().advance(1_000_000);
    ensure_eq!(block_on(scratch.store().prune(op, request.clone()))?, first, "the repeat");
    ensure_eq!(texts(&scratch.find_one("b")?), vec!["x"], "what came later is not touched by it");
    let other = PruneRequest { texts: Some(Duration::from_secs(1)), ..request };
    refused("the op for another age", block_on(scratch.store().prune(op, other)), ErrorKind::Conflict, "op_reused")
}
