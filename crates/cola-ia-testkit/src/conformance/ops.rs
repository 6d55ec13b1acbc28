//! Repeating a call under its op id changes nothing and gives the first answer.

use std::sync::Arc;

use cola_ia_core::intake::RefusalCode;
use cola_ia_core::store::{ErrorKind, OpId};

use super::check::{cases, ensure, ensure_eq, refused, words};
use crate::events::{event, refusal};
use crate::harness::{Backend, Failure, Scratch};

cases![
    same_op_gives_the_first_answer,
    same_op_gives_the_first_answer_after_a_reopen,
    an_old_op_gives_its_answer_after_later_batches,
    same_op_of_an_empty_batch_gives_the_first_answer,
    an_op_for_another_batch_is_refused,
    ops_that_differ_in_one_bit_are_two_calls,
    the_same_batch_under_two_ops_is_two_calls,
];

fn same_op_gives_the_first_answer(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("known", "x")])?;
    let op = scratch.op();
    let batch = Arc::new(vec![
        event("a", "x"),
        event("a", "x"),
        event("a", "y"),
        event("known", "x"),
        event("known", "y"),
        refusal(RefusalCode::IdMissing, 6),
    ]);
    let first = scratch.accept_as(op, &batch)?;
    ensure_eq!(words(&first), "new duplicate conflict#1 duplicate conflict#1 invalid", "the first answer");
    let state = |scratch: &Scratch| -> Result<_, Failure> {
        Ok((scratch.all_jobs()?, scratch.find_one("a")?, scratch.find_one("known")?, scratch.refusals()?))
    };
    let before = state(&scratch)?;
    for round in 0..3 {
        scratch.clock().advance(60_000_000);
        ensure_eq!(scratch.accept_as(op, &batch)?, first, "repeat {round}");
        ensure_eq!(state(&scratch)?, before, "what the store holds after repeat {round}");
    }
    Ok(())
}

fn same_op_gives_the_first_answer_after_a_reopen(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    let op = scratch.op();
    let batch = Arc::new(vec![event("a", "x"), event("a", "y"), refusal(RefusalCode::IdMissing, 3)]);
    let first = scratch.accept_as(op, &batch)?;
    let before = (scratch.find_one("a")?, scratch.refusals()?);
    scratch.clock().advance(60_000_000);
    scratch.reopen()?;
    ensure_eq!(scratch.accept_as(op, &batch)?, first, "the repeat");
    ensure_eq!((scratch.find_one("a")?, scratch.refusals()?), before, "what the store holds after it");
    Ok(())
}

fn an_old_op_gives_its_answer_after_later_batches(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let mut calls = Vec::new();
    // What is new in one batch is a duplicate in the next ones, and conflicts get higher numbers.
    for round in 0..20 {
        let op = scratch.op();
        let batch = Arc::new(vec![
            event("a", "x"),
            event("a", &format!("other {}", round % 7)),
            event(&format!("id {}", round % 11), "x"),
            refusal(RefusalCode::TextBlank, round),
        ]);
        scratch.clock().advance(1_000);
        let first = scratch.accept_as(op, &batch)?;
        calls.push((op, batch, first));
    }
    let before = (scratch.all_jobs()?, scratch.find_one("a")?, scratch.refusals()?);
    // The oldest last.
    for (index, (op, batch, first)) in calls.iter().enumerate().rev() {
        ensure_eq!(scratch.accept_as(*op, batch)?, *first, "the repeat of call {index}");
    }
    ensure_eq!((scratch.all_jobs()?, scratch.find_one("a")?, scratch.refusals()?), before, "what the store holds");
    Ok(())
}

fn same_op_of_an_empty_batch_gives_the_first_answer(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let op = scratch.op();
    let first = scratch.accept_as(op, &Arc::default())?;
    scratch.clock().advance(60_000_000);
    ensure_eq!(scratch.accept_as(op, &Arc::default())?, first, "the repeat");
    let answer = scratch.accept_as(op, &Arc::new(vec![event("a", "x")]));
    refused("the op of an empty batch for another batch", answer, ErrorKind::Conflict, "op_reused")
}

fn an_op_for_another_batch_is_refused(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let op = scratch.op();
    let batch = Arc::new(vec![event("a", "x"), event("b", "x")]);
    let first = scratch.accept_as(op, &batch)?;
    let before = (scratch.all_jobs()?, scratch.find_one("a")?);
    let others =
        [vec![], vec![event("a", "x")], vec![event("c", "x")], vec![event("a", "x"), event("b", "x"), event("c", "x")]];
    for other in others {
        let what = format!("a batch of {} under the op of a batch of 2", other.len());
        refused(&what, scratch.accept_as(op, &Arc::new(other)), ErrorKind::Conflict, "op_reused")?;
        ensure_eq!((scratch.all_jobs()?, scratch.find_one("a")?), before, "what the store holds after {what}");
    }
    ensure_eq!(scratch.find(None, "c")?, vec![], "nothing of a refused call entered");
    ensure_eq!(scratch.accept_as(op, &batch)?, first, "the op still has its answer");
    Ok(())
}

fn ops_that_differ_in_one_bit_are_two_calls(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let batch = Arc::new(vec![event("a", "x")]);
    // Not made from a clock: a store must not read more into an op id than its 16 bytes.
    let all_zero = OpId([0; 16]);
    ensure_eq!(words(&scratch.accept_as(all_zero, &batch)?), "new", "the op of zeros");
    let others: Vec<OpId> = (0..128)
        .map(|bit| {
            let mut bytes = [0; 16];
            bytes[bit / 8] = 1 << (bit % 8);
            OpId(bytes)
        })
        .collect();
    for (bit, op) in others.iter().enumerate() {
        ensure_eq!(words(&scratch.accept_as(*op, &batch)?), "duplicate", "the op of bit {bit}");
    }
    ensure_eq!(words(&scratch.accept_as(all_zero, &batch)?), "new", "the op of zeros again");
    ensure_eq!(words(&scratch.accept_as(others[127], &batch)?), "duplicate", "the op of the last bit again");
    ensure_eq!(scratch.find_one("a")?.duplicates, 128, "duplicates");
    Ok(())
}

fn the_same_batch_under_two_ops_is_two_calls(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let batch = Arc::new(vec![event("a", "x"), event("b", "x")]);
    let first = scratch.accept_as(scratch.op(), &batch)?;
    let second = scratch.accept_as(scratch.op(), &batch)?;
    ensure_eq!((words(&first), words(&second)), ("new new".into(), "duplicate duplicate".into()), "the verdicts");
    ensure!(first.receipts[1].number < second.receipts[0].number, "the second call has numbers of its own");
    ensure_eq!(scratch.find_one("a")?.duplicates, 1, "duplicates");
    Ok(())
}
