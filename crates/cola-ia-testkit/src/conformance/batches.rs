//! A batch is one transaction, and has a bound.

use std::sync::Arc;

use cola_ia_core::event::Delivery;
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::Intake;
use cola_ia_core::limits::BATCH_MAX_EVENTS;
use cola_ia_core::store::{ErrorKind, PageRequest};
use cola_ia_core::verdict::Verdict;

use super::check::{cases, count, ensure, ensure_eq, refused, words};
use crate::events::{content, delivery, event};
use crate::harness::{Backend, Failure, Scratch};

cases![
    an_empty_batch_records_nothing,
    a_batch_of_the_greatest_length_enters,
    a_longer_batch_is_refused_and_changes_nothing,
];

/// Distinct ids over one text, made quickly: the longest batch is long.
fn many(length: usize) -> Vec<Intake> {
    let (model, text) = (delivery("default", "id", "x"), content("x"));
    let member = |index: usize| {
        let id = cola_ia_core::event::EventId::new(format!("id {index}")).expect("the id is well-formed");
        Intake::Delivery(Delivery { id, content: text.clone(), ..model.clone() })
    };
    (0..length).map(member).collect()
}

fn an_empty_batch_records_nothing(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let accepted = scratch.accept(Vec::new())?;
    ensure_eq!(accepted.receipts, vec![], "receipts of an empty batch in an empty store");
    ensure_eq!(scratch.all_jobs()?, vec![], "jobs after it");
    scratch.accept(vec![event("a", "x")])?;
    let before = (scratch.all_jobs()?, scratch.find_one("a")?);
    let received_at = scratch.clock().advance(1_000);
    let accepted = scratch.accept(Vec::new())?;
    ensure_eq!(accepted.receipts, vec![], "receipts of an empty batch");
    ensure_eq!(accepted.received_at, received_at, "the time of its answer");
    ensure_eq!((scratch.all_jobs()?, scratch.find_one("a")?), before, "jobs and event after it");
    Ok(())
}

fn a_batch_of_the_greatest_length_enters(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let accepted = scratch.accept(many(BATCH_MAX_EVENTS))?;
    ensure_eq!(accepted.receipts.len(), BATCH_MAX_EVENTS, "receipts");
    ensure_eq!(count(&accepted, Verdict::New), BATCH_MAX_EVENTS, "new events");
    ensure!(
        accepted.receipts.is_sorted_by(|left, right| left.number < right.number),
        "numbers do not grow within the batch"
    );
    for index in [0, 1, BATCH_MAX_EVENTS / 2, BATCH_MAX_EVENTS - 1] {
        let found = scratch.find_one(&format!("id {index}"))?;
        ensure_eq!(Some(found.job.event), accepted.receipts[index].event, "the number of event {index}");
    }
    let newest = scratch.jobs(Filter::default(), PageRequest { below: None, limit: 1 })?;
    ensure_eq!(newest.next, accepted.receipts[BATCH_MAX_EVENTS - 1].event, "the newest job is the last event");
    Ok(())
}

fn a_longer_batch_is_refused_and_changes_nothing(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let op = scratch.op();
    let answer = scratch.accept_as(op, &Arc::new(many(BATCH_MAX_EVENTS + 1)));
    refused("a batch with one event too many", answer, ErrorKind::Invalid, "batch_too_long")?;
    // One page: a store that took the batch would have a hundred of them.
    let page = scratch.jobs(Filter::default(), PageRequest { below: None, limit: 1 })?;
    ensure_eq!(page.jobs, vec![], "jobs after it");
    let accepted = scratch.accept_as(op, &Arc::new(many(2)))?;
    ensure_eq!(words(&accepted), "new new", "the same op with a shorter batch: the refused call recorded nothing");
    Ok(())
}
