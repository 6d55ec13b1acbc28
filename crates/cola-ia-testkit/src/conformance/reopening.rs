//! What was answered is there when the store is opened again.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::Delivery;
use cola_ia_core::intake::{Intake, RefusalCode};

use super::check::{cases, ensure, ensure_eq, words};
use crate::events::{delivery, event, event_from, event_type, refusal};
use crate::harness::{Backend, Failure, Scratch};

cases![everything_survives_a_reopen, an_empty_store_survives_a_reopen, two_stores_know_nothing_of_each_other];

fn everything_survives_a_reopen(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    let rich = Delivery {
        event_type: Some(event_type("order.paid")),
        time: Some(Timestamp::from_micros(-1)),
        ..delivery("shop", "a", &"é".repeat(40_000))
    };
    scratch.accept(vec![event("a", "x"), Intake::Delivery(rich), refusal(RefusalCode::IdMissing, 3)])?;
    scratch.clock().advance(1_000_000);
    scratch.accept(vec![event("a", "y"), event("a", "x"), event_from("shop", "b", "x"), event("a", "y")])?;
    let state = |scratch: &Scratch| -> Result<_, Failure> {
        Ok((scratch.all_jobs()?, scratch.find(None, "a")?, scratch.find(None, "b")?, scratch.refusals()?))
    };
    let before = state(&scratch)?;
    for round in 0..3 {
        scratch.clock().advance(1_000_000);
        scratch.reopen()?;
        ensure_eq!(state(&scratch)?, before, "what the store holds after reopen {round}");
    }
    let last = before.0.first().map(|job| job.event.0);
    let accepted =
        scratch.accept(vec![event("a", "x"), event("a", "z"), event_from("shop", "b", "y"), event("c", "x")])?;
    ensure_eq!(words(&accepted), "duplicate conflict#2 conflict#1 new", "the verdicts after it");
    ensure!(last < Some(accepted.receipts[0].number.0), "numbers go on growing after a reopen");
    Ok(())
}

fn an_empty_store_survives_a_reopen(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    scratch.reopen()?;
    ensure_eq!(scratch.all_jobs()?, vec![], "jobs");
    ensure_eq!(words(&scratch.accept(vec![event("a", "x")])?), "new", "the first verdict");
    scratch.reopen()?;
    ensure_eq!(words(&scratch.accept(vec![event("a", "x")])?), "duplicate", "the second verdict");
    Ok(())
}

fn two_stores_know_nothing_of_each_other(backend: &dyn Backend) -> Result<(), Failure> {
    let (left, right) = (Scratch::new(backend)?, Scratch::new(backend)?);
    ensure_eq!(words(&left.accept(vec![event("a", "x")])?), "new", "the verdict of one store");
    // Its op ids repeat those of the other; this one is new to both.
    right.op();
    ensure_eq!(words(&right.accept(vec![event("a", "x")])?), "new", "the verdict of the other store");
    ensure_eq!(left.find_one("a")?.duplicates, 0, "what the one knows of the other");
    Ok(())
}
