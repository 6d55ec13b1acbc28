//! Signed bytes whose signature does not cover the id: sent again under another id, they bring nothing new.

use cola_ia_core::event::{Delivery, Fingerprint};
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::{Intake, Refusal, RefusalCode};
use cola_ia_core::job::JobState;
use cola_ia_core::store::export::{Kind, Outcome};
use cola_ia_core::store::{Accepted, Preview, PruneRequest};
use cola_ia_core::verdict::Verdict;

use super::check::{cases, ensure, ensure_eq, words};
use crate::events::{delivery, event, line, source};
use crate::harness::{Backend, Failure, Scratch};

cases![
    a_body_under_another_id_is_a_duplicate_of_its_event,
    a_body_of_another_source_is_another_one,
    a_known_id_is_judged_by_its_content_whatever_its_body,
    an_id_that_was_only_replayed_is_free,
    bodies_are_judged_in_the_order_of_a_batch,
    the_same_op_gets_the_same_replays_again,
    a_replay_is_foretold,
    bodies_outlive_pruning_erasing_and_reopening,
    bodies_move_with_an_export,
    a_body_that_is_known_here_stays_with_its_event,
    a_refusal_of_a_source_is_found_by_it,
];

const BODY: u8 = 7;

fn signed(source_name: &str, id: &str, text: &str, body: u8) -> Intake {
    Intake::Delivery(Delivery { body: Some(Fingerprint([body; 32])), ..delivery(source_name, id, text) })
}

fn replays(accepted: &Accepted) -> Vec<bool> {
    accepted.receipts.iter().map(|receipt| receipt.replayed).collect()
}

fn a_body_under_another_id_is_a_duplicate_of_its_event(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let first = scratch.accept(vec![signed("hook", "a", "x", BODY)])?;
    let again = scratch.accept(vec![signed("hook", "b", "x", BODY), signed("hook", "c", "x", BODY)])?;
    ensure_eq!(words(&again), "duplicate duplicate", "the verdicts");
    ensure_eq!(replays(&again), [true, true], "by their bytes");
    ensure!(again.receipts.iter().all(|receipt| receipt.event == first.receipts[0].event), "of the first event");
    ensure_eq!(scratch.all_jobs()?.len(), 1, "jobs");
    let known = scratch.find(Some(source("hook")), "a")?;
    ensure_eq!(known[0].duplicates, 2, "duplicates");
    ensure!(known[0].deliveries.iter().all(|delivery| delivery.replayed), "the history tells it");
    ensure_eq!(scratch.find(Some(source("hook")), "b")?, vec![], "an event of the other id");
    let told = scratch.all_deliveries(&Filter::default(), 10)?;
    ensure_eq!(told.iter().map(|told| told.replayed).collect::<Vec<_>>(), [true, true, false], "the list tells it");
    // Of the same id it is a plain duplicate.
    let same = scratch.accept(vec![signed("hook", "a", "x", BODY)])?;
    ensure_eq!((words(&same).as_str(), replays(&same)), ("duplicate", vec![false]), "the same id");
    Ok(())
}

fn a_body_of_another_source_is_another_one(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let accepted = scratch.accept(vec![signed("hook", "a", "x", BODY), signed("web", "b", "x", BODY)])?;
    ensure_eq!(words(&accepted), "new new", "the verdicts");
    ensure_eq!(words(&scratch.accept(vec![event("c", "x")])?), "new", "without a body");
    Ok(())
}

fn a_known_id_is_judged_by_its_content_whatever_its_body(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![signed("hook", "a", "x", 1), signed("hook", "b", "y", 2)])?;
    let accepted = scratch.accept(vec![
        // The bytes of the other event.
        signed("hook", "a", "y", 2),
        signed("hook", "b", "y", 1),
        // Bytes that nobody knows yet.
        signed("hook", "a", "x", 3),
        signed("hook", "a", "z", 4),
    ])?;
    ensure_eq!(words(&accepted), "conflict#1 duplicate duplicate conflict#2", "the verdicts");
    ensure_eq!(replays(&accepted), [false; 4], "by their bytes");
    // Whatever brought bytes first decides whose they are.
    let replayed = scratch.accept(vec![signed("hook", "c", "x", 3), signed("hook", "d", "z", 4)])?;
    ensure_eq!((words(&replayed).as_str(), replays(&replayed)), ("duplicate duplicate", vec![true; 2]), "replays");
    let event = scratch.find(Some(source("hook")), "a")?[0].job.event;
    ensure!(replayed.receipts.iter().all(|receipt| receipt.event == Some(event)), "of the event that they came for");
    Ok(())
}

fn an_id_that_was_only_replayed_is_free(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![signed("hook", "a", "x", 1), signed("hook", "b", "x", 1)])?;
    ensure_eq!(words(&scratch.accept(vec![signed("hook", "b", "y", 2)])?), "new", "the id with bytes of its own");
    Ok(())
}

fn bodies_are_judged_in_the_order_of_a_batch(backend: &dyn Backend) -> Result<(), Failure> {
    // Many ids, so that any order of their slots is tried.
    for round in 0..40 {
        let scratch = Scratch::new(backend)?;
        let id = |name: &str| format!("{name}-{round}");
        let accepted = scratch.accept(vec![
            signed("hook", &id("a"), "x", 1),
            signed("hook", &id("b"), "x", 1),
            signed("hook", &id("b"), "y", 2),
            signed("hook", &id("b"), "x", 1),
            signed("hook", &id("c"), "y", 2),
            signed("hook", &id("a"), "x", 2),
            event("a", "x"),
            signed("hook", &id("d"), "x", 1),
        ])?;
        let expected = "new duplicate new conflict#1 duplicate duplicate new duplicate";
        ensure_eq!(words(&accepted), expected, "the verdicts of round {round}");
        let expected = [false, true, false, false, true, false, false, true];
        ensure_eq!(replays(&accepted), expected, "by their bytes, in round {round}");
        let of = |index: usize| accepted.receipts[index].event;
        ensure_eq!((of(1), of(3), of(4), of(7)), (of(0), of(2), of(2), of(0)), "the events of round {round}");
    }
    Ok(())
}

fn the_same_op_gets_the_same_replays_again(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let op = scratch.op();
    let batch = vec![signed("hook", "a", "x", 1), signed("hook", "b", "x", 1), signed("hook", "b", "y", 2)].into();
    let first = scratch.accept_as(op, &batch)?;
    ensure_eq!(scratch.accept_as(op, &batch)?, first, "the answer");
    Ok(())
}

fn a_replay_is_foretold(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![signed("hook", "a", "x", 1)])?;
    let foretold = scratch.preview(vec![
        signed("hook", "b", "x", 1),
        signed("hook", "b", "x", 2),
        signed("web", "b", "x", 1),
        signed("hook", "a", "y", 1),
    ])?;
    let known = |verdict| Preview::Known(verdict);
    let expected = [known(Verdict::Duplicate), Preview::Unknown, Preview::Unknown, known(Verdict::Conflict)];
    ensure_eq!(foretold, expected, "what the gate would say");
    Ok(())
}

fn bodies_outlive_pruning_erasing_and_reopening(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    scratch.accept(vec![signed("hook", "a", "x", 1), signed("hook", "c", "x", 1), signed("hook", "b", "y", 2)])?;
    for id in ["a", "b"] {
        scratch.set_job(scratch.find(Some(source("hook")), id)?[0].job.event, JobState::Done)?;
    }
    let clock = scratch.clock().clone();
    clock.advance(8 * 86_400_000_000);
    let age = Some(std::time::Duration::ZERO);
    let request = PruneRequest { deliveries: age, texts: age, ..PruneRequest::default() };
    let pruned = scratch.prune_as(|| scratch.op(), &request)?;
    ensure_eq!((pruned.events, pruned.deliveries), (2, 1), "what was pruned");
    scratch.erase_as(|| scratch.op(), &source("hook"), "b")?;
    let both_replay = |scratch: &Scratch, first: &str, second: &str| -> Result<(), Failure> {
        let accepted = scratch.accept(vec![signed("hook", first, "x", 1), signed("hook", second, "y", 2)])?;
        ensure_eq!((words(&accepted).as_str(), replays(&accepted)), ("duplicate duplicate", vec![true; 2]), "replays");
        Ok(())
    };
    both_replay(&scratch, "d", "e")?;
    scratch.reopen()?;
    both_replay(&scratch, "f", "g")?;
    Ok(())
}

fn bodies_move_with_an_export(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![signed("hook", "a", "x", 1), signed("hook", "b", "x", 1), event("c", "x")])?;
    let all = scratch.export_all(2)?;
    let copy = Scratch::new(backend)?;
    copy.import(all.namespace, &all.records)?;
    ensure_eq!(copy.export_all(100)?.records, all.records, "what comes out");
    let accepted = copy.accept(vec![signed("hook", "d", "x", 1)])?;
    ensure_eq!((words(&accepted).as_str(), replays(&accepted)), ("duplicate", vec![true]), "a replay");
    let again = copy.import(all.namespace, &all.records)?;
    ensure!(!again.contains(&Outcome::Entered), "the second time something enters: {again:?}");
    Ok(())
}

fn a_body_that_is_known_here_stays_with_its_event(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![signed("hook", "a", "x", 1)])?;
    let before = scratch.export_all(100)?;
    let copy = Scratch::new(backend)?;
    copy.import(before.namespace, &before.records)?;
    // The same bytes come to both after that, each for an event of its own.
    scratch.accept(vec![signed("hook", "other", "y", 2)])?;
    let first = copy.accept(vec![event("filler", "x"), signed("hook", "own", "y", 2)])?;
    let theirs = scratch.export_all(100)?;
    // Its number is taken here by another event, and so nothing of it enters; the bytes stay where they are.
    let outcomes = copy.import(theirs.namespace, &theirs.records)?;
    let bodies = theirs.records.iter().zip(&outcomes).filter(|(record, _)| record.kind() == Kind::SignedBody);
    ensure!(bodies.clone().all(|(_, outcome)| *outcome != Outcome::Entered), "bytes of another event enter");
    let replayed = copy.accept(vec![signed("hook", "third", "y", 2)])?;
    ensure_eq!(replayed.receipts[0].event, first.receipts[1].event, "the event of the bytes");
    Ok(())
}

fn a_refusal_of_a_source_is_found_by_it(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    let refused = |named: &str| {
        Intake::Refusal(Refusal::new(RefusalCode::SignatureInvalid, line(1)).of(source(named)).about("64 bytes"))
    };
    let nobody = Intake::Refusal(Refusal::new(RefusalCode::JsonSyntax, line(1)));
    scratch.accept(vec![refused("hook"), refused("web"), nobody, refused("hook")])?;
    scratch.reopen()?;
    let hook = Filter { sources: vec![source("hook")], ..Filter::default() };
    let found = scratch.all_deliveries(&hook, 10)?;
    ensure_eq!(found.len(), 2, "refusals of the source");
    ensure!(found.iter().all(|told| told.source == Some(source("hook"))), "the list names it");
    let stats = scratch.stats(hook)?;
    ensure_eq!(stats.total.of(Verdict::Invalid), 2, "counted for the source");
    let by_source: Vec<_> = scratch.stats(Filter::default())?.groups;
    let by_source: Vec<_> = by_source.iter().map(|group| (group.source.clone(), group.of(Verdict::Invalid))).collect();
    let expected = [(None, 1), (Some(source("hook")), 2), (Some(source("web")), 1)];
    ensure_eq!(by_source, expected, "counted by source");
    let copy = Scratch::new(backend)?;
    let all = scratch.export_all(100)?;
    copy.import(all.namespace, &all.records)?;
    ensure_eq!(copy.export_all(100)?.records, all.records, "what comes out of a copy");
    Ok(())
}
