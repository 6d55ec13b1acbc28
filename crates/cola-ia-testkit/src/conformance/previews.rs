//! What the gate would say, with nothing recorded.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::Delivery;
use cola_ia_core::intake::{Intake, RefusalCode};
use cola_ia_core::store::Preview;
use cola_ia_core::verdict::Verdict;

use super::check::{cases, ensure_eq};
use crate::events::{delivery, event, event_from, event_type, refusal};
use crate::harness::{Backend, Failure, Scratch};

cases![preview_says_what_the_store_knows, preview_does_not_compare_members_with_each_other, preview_records_nothing,];

fn preview_says_what_the_store_knows(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    ensure_eq!(scratch.preview(Vec::new())?, vec![], "an empty batch");
    ensure_eq!(scratch.preview(vec![event("a", "x")])?, vec![Preview::Unknown], "in an empty store");
    scratch.accept(vec![event("a", "x"), event("b", "x"), event("a", "y")])?;
    let plain = delivery("default", "a", "x");
    let typed = Delivery { event_type: Some(event_type("t")), time: Some(Timestamp::from_micros(1)), ..plain };
    let batch = || {
        vec![
            event("c", "x"),
            event("a", "x"),
            refusal(RefusalCode::IdMissing, 3),
            event("b", "y"),
            event("a", "y"),
            event_from("other", "a", "x"),
            event("a ", "x"),
            Intake::Delivery(typed.clone()),
        ]
    };
    let expected = vec![
        Preview::Unknown,
        Preview::Known(Verdict::Duplicate),
        Preview::Known(Verdict::Invalid),
        Preview::Known(Verdict::Conflict),
        Preview::Known(Verdict::Conflict),
        Preview::Unknown,
        Preview::Unknown,
        Preview::Known(Verdict::Duplicate),
    ];
    ensure_eq!(scratch.preview(batch())?, expected, "the previews");
    scratch.reopen()?;
    ensure_eq!(scratch.preview(batch())?, expected, "the previews after a reopen");
    Ok(())
}

fn preview_does_not_compare_members_with_each_other(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let batch = vec![event("a", "x"), event("a", "x"), event("a", "y")];
    ensure_eq!(scratch.preview(batch)?, vec![Preview::Unknown; 3], "one identity three times in a batch");
    Ok(())
}

fn preview_records_nothing(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "x")])?;
    let state = |scratch: &Scratch| -> Result<_, Failure> {
        Ok((scratch.all_jobs()?, scratch.find_one("a")?, scratch.find(None, "b")?, scratch.refusals()?))
    };
    let before = state(&scratch)?;
    let batch = || vec![event("a", "x"), event("a", "y"), event("b", "x"), refusal(RefusalCode::IdMissing, 4)];
    let first = scratch.preview(batch())?;
    ensure_eq!(scratch.preview(batch())?, first, "a second preview");
    ensure_eq!(state(&scratch)?, before, "what the store holds");
    Ok(())
}
