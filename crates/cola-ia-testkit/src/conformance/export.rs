//! Export and import: everything survives, nothing is overwritten, twice is once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use cola_ia_core::clock::{Clock as _, Timestamp};
use cola_ia_core::event::{Delivery, EventId, Source};
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::{Intake, RefusalCode};
use cola_ia_core::job::JobState;
use cola_ia_core::store::export::{
    Contradiction, Field, IMPORT_MAX_RECORDS, ImportBatch, Kind, Outcome, Record, Shape, Value,
};
use cola_ia_core::store::{Decision, ErrorKind, OpId, Preview, PruneRequest, ResolveRequest};
use cola_ia_core::verdict::Verdict;

use super::check::{cases, ensure, ensure_eq, refused, words};
use crate::events::{delivery, event, event_from, event_type, refusal};
use crate::harness::{Backend, Failure, Scratch};

cases![
    an_empty_store_exports_nothing,
    an_export_says_all_that_was_taken_in,
    an_export_enters_an_empty_store_and_comes_out_the_same,
    an_imported_store_answers_as_the_first_one,
    importing_again_changes_nothing,
    an_export_grows_and_only_what_is_new_enters,
    every_event_of_the_start_is_exported_while_new_ones_arrive,
    a_page_is_about_as_long_as_asked_for,
    an_export_of_another_namespace_is_refused,
    an_empty_store_takes_the_namespace_over,
    what_went_on_here_stays,
    what_contradicts_is_told_and_nothing_is_overwritten,
    what_belongs_to_a_contradiction_stays_out,
    every_kind_enters_and_comes_out_the_same,
    what_ran_elsewhere_does_not_run_here,
    what_stands_without_what_it_belongs_to_is_refused_whole,
    the_same_op_of_an_import_gives_the_first_answer,
    an_import_longer_than_allowed_is_refused,
    an_erased_identity_stays_erased_where_its_export_enters,
    what_was_erased_here_is_not_brought_back,
    what_was_erased_there_is_told_here,
    what_was_pruned_here_is_not_brought_back,
    decisions_and_pruned_deliveries_enter_with_their_event,
    what_entered_is_found_and_counted_by_its_own_time,
    numbers_go_on_above_all_that_entered,
];

const SECOND: i64 = 1_000_000;

fn erase(scratch: &Scratch, id: &str) -> Result<(), Failure> {
    scratch.erase_as(|| scratch.op(), &Source::default(), id)?.ok_or("nothing was erased")?;
    Ok(())
}

/// Ends the job and prunes all that can be pruned, long after.
fn prune(scratch: &Scratch, id: &str) -> Result<(), Failure> {
    scratch.set_job(scratch.find_one(id)?.job.event, JobState::Done)?;
    scratch.clock().advance(30 * 86_400 * SECOND);
    let all = PruneRequest { texts: Some(Duration::ZERO), deliveries: Some(Duration::ZERO), after: None };
    let pruned = scratch.prune_as(|| scratch.op(), &all)?;
    ensure!(pruned.events > 0 && pruned.deliveries > 0, "nothing was pruned: {pruned:?}");
    Ok(())
}

fn decide(scratch: &Scratch, id: &str, conflicts: &[u32], decision: Decision) -> Result<(), Failure> {
    let event = scratch.find_one(id)?.job.event;
    let note = Some(format!("about {id}"));
    scratch.resolve_as(scratch.op(), &ResolveRequest { event, conflicts: conflicts.to_vec(), decision, note })?;
    Ok(())
}

fn an_erased_identity_stays_erased_where_its_export_enters(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let typed = || {
        let said = delivery(Source::DEFAULT, "ana", "z");
        Intake::Delivery(Delivery { event_type: Some(event_type("order.paid")), ..said })
    };
    scratch.accept(vec![event("ana", "x"), event("ana", "y"), event("other", "x"), event_from("web", "ana", "x")])?;
    erase(&scratch, "ana")?;
    let all = scratch.export_all(100)?;
    let mut elsewhere = Scratch::new(backend)?;
    elsewhere.import(all.namespace, &all.records)?;
    elsewhere.reopen()?;
    ensure_eq!(elsewhere.export_all(3)?, all, "the export of where it entered");
    ensure_eq!(elsewhere.find(None, "ana")?, scratch.find(None, "ana")?, "the event, by the id that it had");
    let hash = elsewhere.find(Some(Source::default()), "ana")?.remove(0).job.id;
    ensure_eq!(elsewhere.find(None, &hash)?.len(), 0, "events by the hash");
    // Twice in a batch, beside the same id of another source and an id that is new.
    let batch =
        || vec![event("ana", "x"), typed(), event("ana", "x"), event_from("web", "ana", "x"), event("new", "x")];
    ensure_eq!(elsewhere.preview(batch())?, scratch.preview(batch())?, "what the gate would say");
    let accepted = elsewhere.accept(batch())?;
    ensure_eq!(words(&accepted), "duplicate conflict#2 duplicate duplicate new", "what the gate says");
    let known = elsewhere.find(Some(Source::default()), "ana")?;
    ensure_eq!(known.len(), 1, "events of the id");
    ensure_eq!(known[0].duplicates, 2, "repeated deliveries");
    let kept = format!("{:?}", elsewhere.export_all(100)?.records);
    ensure!(!kept.contains("order.paid") && !kept.contains("\"z\""), "something is kept of it: {kept}");
    // It is erased, so erasing it again finds it.
    erase(&elsewhere, "ana")?;
    ensure_eq!(elsewhere.preview(vec![event("ana", "x")])?, [Preview::Known(Verdict::Duplicate)], "in the end");
    Ok(())
}

fn what_was_erased_here_is_not_brought_back(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("ana", "secret"), event("ana", "secret too"), event("other", "x")])?;
    let copy = Scratch::new(backend)?;
    let before = scratch.export_all(100)?;
    copy.import(before.namespace, &before.records)?;
    // The copy goes on, and what came there is whole.
    copy.clock().advance(SECOND);
    copy.accept(vec![event("ana", "a third secret")])?;
    scratch.clock().advance(2 * SECOND);
    erase(&scratch, "ana")?;
    let erased = scratch.export_all(100)?;
    let newer = copy.export_all(100)?;
    for whole in [&before, &newer] {
        let outcomes = scratch.import(whole.namespace, &whole.records)?;
        let told = outcomes.iter().any(|outcome| matches!(outcome, Outcome::Contradicts(_)));
        ensure!(!told, "something contradicts: {outcomes:?}");
        let of_event = whole.records.iter().zip(&outcomes).filter(|(record, _)| record.kind() == Kind::Event);
        let of_event: Vec<_> = of_event.map(|(_, outcome)| *outcome).collect();
        ensure_eq!(of_event, [Outcome::Kept, Outcome::Same], "the events");
        let records = scratch.export_all(100)?.records;
        let but_counters = |records: &[Record]| -> Vec<Record> {
            records.iter().filter(|record| record.kind() != Kind::Counter).cloned().collect()
        };
        ensure_eq!(but_counters(&records), but_counters(&erased.records), "what is there");
    }
    Ok(())
}

fn what_was_erased_there_is_told_here(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("ana", "x"), event("ana", "y")])?;
    let copy = Scratch::new(backend)?;
    let before = scratch.export_all(100)?;
    copy.import(before.namespace, &before.records)?;
    erase(&scratch, "ana")?;
    let erased = scratch.export_all(100)?;
    let outcomes = copy.import(erased.namespace, &erased.records)?;
    let event = erased.records.iter().zip(&outcomes).find(|(record, _)| record.kind() == Kind::Event);
    let older = Outcome::Contradicts(Contradiction::Older);
    ensure_eq!(event.map(|(_, outcome)| *outcome), Some(older), "the event");
    ensure_eq!(copy.export_all(100)?, before, "what is there");
    Ok(())
}

fn what_was_pruned_here_is_not_brought_back(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "x"), event("a", "x"), event("a", "x"), event("b", "x")])?;
    let before = scratch.export_all(100)?;
    prune(&scratch, "a")?;
    let pruned = scratch.export_all(100)?;
    let outcomes = scratch.import(before.namespace, &before.records)?;
    ensure!(!outcomes.contains(&Outcome::Entered), "something entered: {outcomes:?}");
    ensure_eq!(scratch.export_all(100)?, pruned, "what is there");
    // Where nothing was pruned, what was pruned elsewhere stays.
    let copy = Scratch::new(backend)?;
    copy.import(before.namespace, &before.records)?;
    copy.import(pruned.namespace, &pruned.records)?;
    ensure_eq!(copy.find_one("a")?.duplicates, 2, "repeated deliveries of the copy");
    ensure_eq!(copy.find_one("a")?.pruned, None, "pruned ones of the copy");
    Ok(())
}

fn decisions_and_pruned_deliveries_enter_with_their_event(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let batch = ["x", "y", "z", "w", "x"].map(|text| event("a", text));
    scratch.accept(batch.into_iter().chain([event("b", "x")]).collect())?;
    let copy = Scratch::new(backend)?;
    let before = scratch.export_all(100)?;
    copy.import(before.namespace, &before.records)?;
    scratch.clock().advance(SECOND);
    decide(&scratch, "a", &[1], Decision::Keep)?;
    decide(&scratch, "a", &[1], Decision::Accept { run: false })?;
    decide(&scratch, "a", &[2], Decision::Keep)?;
    decide(&scratch, "a", &[3], Decision::As(EventId::new("c").map_err(RefusalCode::as_str)?))?;
    scratch.accept(vec![event("a", "z"), event("a", "y")])?;
    prune(&scratch, "a")?;
    let all = scratch.export_all(100)?;
    let elsewhere = Scratch::new(backend)?;
    elsewhere.import(all.namespace, &all.records)?;
    ensure_eq!(elsewhere.export_all(3)?, all, "the export of where it entered");
    for id in ["a", "b", "c"] {
        ensure_eq!(elsewhere.find_one(id)?, scratch.find_one(id)?, "the event {id}");
    }
    let again = || vec![event("a", "y"), event("a", "z"), event("a", "w"), event("a", "v"), event("c", "w")];
    ensure_eq!(elsewhere.preview(again())?, scratch.preview(again())?, "what the gate would say");
    // A copy in which nobody had decided yet is not half decided.
    let outcomes = copy.import(all.namespace, &all.records)?;
    let decisions = all.records.iter().zip(&outcomes).filter(|(record, _)| record.kind() == Kind::Decision);
    let decisions: BTreeSet<_> = decisions.map(|(_, outcome)| format!("{outcome:?}")).collect();
    ensure_eq!(decisions, BTreeSet::from(["Contradicts(Older)".to_owned()]), "decisions of an older copy");
    ensure!(copy.find_one("a")?.conflicts.iter().all(|conflict| conflict.decisions.is_empty()), "half decided");
    Ok(())
}

fn what_entered_is_found_and_counted_by_its_own_time(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let start = scratch.clock().now();
    let timed = |id: &str, text: &str| {
        let time = Some(Timestamp::from_micros(start.as_micros() - 90 * SECOND));
        Intake::Delivery(Delivery { time, ..delivery(Source::DEFAULT, id, text) })
    };
    scratch.accept(vec![timed("a", "x"), event("b", "x"), event("b", "x"), refusal(RefusalCode::IdBlank, 4)])?;
    scratch.set_job(scratch.find_one("a")?.job.event, JobState::Failed)?;
    scratch.clock().advance(3_600 * SECOND);
    scratch.accept(vec![event("c", "x"), event("c", "y"), event_from("web", "d", "x")])?;
    let later = scratch.clock().advance(3_600 * SECOND);
    let all = scratch.export_all(100)?;
    let elsewhere = Scratch::new(backend)?;
    elsewhere.clock().set(Timestamp::from_micros(later.as_micros() + 86_400 * SECOND));
    elsewhere.import(all.namespace, &all.records)?;
    let hour = Timestamp::from_micros(start.as_micros() + 1_800 * SECOND);
    for (since, until) in [(None, None), (Some(start), Some(hour)), (Some(hour), None), (Some(later), None)] {
        let filter = Filter { since, until, ..Filter::default() };
        ensure_eq!(elsewhere.stats(filter.clone())?, scratch.stats(filter.clone())?, "counts from {since:?}");
        ensure_eq!(
            elsewhere.all_deliveries(&filter, 2)?,
            scratch.all_deliveries(&filter, 100)?,
            "deliveries from {since:?}"
        );
    }
    Ok(())
}

fn numbers_go_on_above_all_that_entered(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "x"), event("a", "x"), event("a", "x")])?;
    prune(&scratch, "a")?;
    let all = scratch.export_all(100)?;
    let elsewhere = Scratch::new(backend)?;
    elsewhere.import(all.namespace, &all.records)?;
    let here = scratch.accept(vec![event("b", "x")])?;
    let there = elsewhere.accept(vec![event("b", "x")])?;
    ensure!(there.receipts[0].number >= here.receipts[0].number, "{there:?} after {here:?}");
    Ok(())
}

/// New ones of two sources, a repeat, two conflicts, refusals.
fn mixed() -> Vec<Intake> {
    let typed = Intake::Delivery(cola_ia_core::event::Delivery {
        event_type: Some(event_type("order.paid")),
        time: Some(cola_ia_core::clock::Timestamp::from_micros(-5)),
        ..delivery("z", "b", "\u{1b}[31m \u{202e} \"\\\u{0}".trim_end_matches('\0'))
    });
    vec![
        event("a", "x"),
        typed,
        event("a", "x"),
        event("a", "y"),
        refusal(RefusalCode::IdMissing, 3),
        event_from("z", "a", "y"),
        event("a", "z"),
        event("a", "y"),
    ]
}

fn kinds(records: &[Record]) -> Vec<&'static str> {
    records.iter().map(|record| record.kind().as_str()).collect()
}

fn of_kind(records: &[Record], kind: Kind) -> Vec<&Record> {
    records.iter().filter(|record| record.kind() == kind).collect()
}

fn an_empty_store_exports_nothing(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    ensure_eq!(scratch.export_all(10)?.records, [], "the records");
    Ok(())
}

fn an_export_says_all_that_was_taken_in(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let receipts = scratch.accept(mixed())?.receipts;
    let records = scratch.export_all(1_000)?.records;
    ensure_eq!(
        kinds(&records),
        [
            "source", "source", "event", "job", "conflict", "conflict", "delivery", "delivery", "delivery", "delivery",
            "event", "job", "event", "job", "delivery", "counter", "counter", "counter", "counter", "counter"
        ],
        "the kinds in order"
    );
    let number = |place: usize| Value::Number(receipts[place].number.0);
    let events = of_kind(&records, Kind::Event);
    ensure_eq!(events[1].get("number"), &number(1), "the number of an event");
    ensure_eq!(events[1].text("source"), Some("z"), "the source of an event");
    ensure_eq!(events[1].text("type"), Some("order.paid"), "the type of an event");
    ensure_eq!(events[1].number("time"), Some(-5), "the provider's time of an event");
    let conflicts = of_kind(&records, Kind::Conflict);
    ensure_eq!((conflicts[0].number("count"), conflicts[0].text("text")), (Some(2), Some("y")), "a conflict");
    let deliveries = of_kind(&records, Kind::Delivery);
    ensure_eq!(deliveries[0].get("number"), &number(2), "the number of a delivery");
    ensure_eq!(deliveries[4].text("code"), Some("id_missing"), "the code of a refused delivery");
    let counters = of_kind(&records, Kind::Counter);
    let sum: i64 = counters.iter().filter_map(|counter| counter.number("n")).sum();
    ensure_eq!(sum, receipts.len() as i64, "the sum of all counters");
    Ok(())
}

/// Two stores: one with all of [`mixed`], and what it exports.
fn exported(backend: &dyn Backend) -> Result<(Scratch, ImportBatch), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(mixed())?;
    scratch.clock().advance(7_000_000);
    scratch.accept(vec![event("b", "x"), event("a", "z"), event_from("z", "b", "q")])?;
    let all = scratch.export_all(3)?;
    Ok((scratch, all))
}

fn an_export_enters_an_empty_store_and_comes_out_the_same(backend: &dyn Backend) -> Result<(), Failure> {
    let (first, all) = exported(backend)?;
    ensure_eq!(first.export_all(1_000)?, all, "the same export in long pages");
    let mut second = Scratch::new(backend)?;
    let outcomes = second.import(all.namespace, &all.records)?;
    let odd: Vec<_> = outcomes
        .iter()
        .zip(&all.records)
        .filter(|(outcome, record)| {
            // Sums of what just entered are there already.
            !(**outcome == Outcome::Entered || record.kind() == Kind::Counter && **outcome == Outcome::Same)
        })
        .collect();
    ensure!(odd.is_empty(), "did not enter: {odd:?}");
    ensure_eq!(second.export_all(4)?, all, "the export of the second store");
    second.reopen()?;
    ensure_eq!(second.export_all(1_000)?, all, "the export of the second store, after a reopen");
    Ok(())
}

fn an_imported_store_answers_as_the_first_one(backend: &dyn Backend) -> Result<(), Failure> {
    let (first, all) = exported(backend)?;
    let second = Scratch::new(backend)?;
    second.import(all.namespace, &all.records)?;
    ensure_eq!(second.all_jobs()?, first.all_jobs()?, "the jobs");
    ensure_eq!(second.find_one("a").map_err(|_| ()), first.find_one("a").map_err(|_| ()), "an id of two sources");
    ensure_eq!(second.find(None, "a")?, first.find(None, "a")?, "the histories");
    ensure_eq!(second.refusals()?, first.refusals()?, "the refusals");
    let again = vec![event("a", "x"), event("a", "y"), event("a", "new"), event("c", "x"), event_from("z", "b", "q")];
    ensure_eq!(second.preview(again.clone())?, first.preview(again.clone())?, "previews");
    let accepted = second.accept(again)?;
    ensure_eq!(words(&accepted), "duplicate conflict#1 conflict#3 new conflict#1", "the verdicts");
    let highest = all.records.iter().filter_map(|record| match record.kind() {
        Kind::Event | Kind::Delivery => record.number("number"),
        _ => None,
    });
    let highest = highest.max().unwrap_or_default();
    ensure!(
        accepted.receipts.iter().all(|receipt| receipt.number.0 > highest),
        "a number was given again: {accepted:?}"
    );
    Ok(())
}

fn importing_again_changes_nothing(backend: &dyn Backend) -> Result<(), Failure> {
    let (first, all) = exported(backend)?;
    let second = Scratch::new(backend)?;
    second.import(all.namespace, &all.records)?;
    for (name, store) in [("where it came from", &first), ("where it entered", &second)] {
        for record in 0..2 {
            let outcomes = store.import(all.namespace, &all.records)?;
            ensure!(outcomes.iter().all(|outcome| *outcome == Outcome::Same), "{name}, {record}: {outcomes:?}");
            ensure_eq!(store.export_all(100)?, all, "the export of the store {name}");
        }
    }
    Ok(())
}

fn an_export_grows_and_only_what_is_new_enters(backend: &dyn Backend) -> Result<(), Failure> {
    let (first, all) = exported(backend)?;
    let second = Scratch::new(backend)?;
    second.import(all.namespace, &all.records)?;
    first.accept(vec![event("later", "x"), event("b", "x"), event("c", "y")])?;
    let grown = first.export_all(100)?;
    let outcomes = second.import(grown.namespace, &grown.records)?;
    let new: Vec<_> =
        grown.records.iter().zip(&outcomes).filter(|(_, outcome)| **outcome == Outcome::Entered).collect();
    let new: Vec<_> = new.iter().map(|(record, _)| record.kind().as_str()).collect();
    ensure_eq!(new, ["delivery", "event", "job", "event", "job"], "what entered");
    ensure_eq!(second.export_all(100)?, grown, "the export of the second store");
    Ok(())
}

fn every_event_of_the_start_is_exported_while_new_ones_arrive(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let ids: Vec<String> = (0..20).map(|number| number.to_string()).collect();
    scratch.accept(ids.iter().map(|id| event(id, "x")).collect())?;
    let mut page = scratch.export(None, 3)?;
    let (mut records, mut rounds) = (page.records, 0);
    while let Some(cursor) = page.next {
        rounds += 1;
        // New ones, and more about the first and the last of the old ones.
        scratch.accept(vec![
            event(&format!("new {rounds}"), "x"),
            event("0", "x"),
            event("19", &rounds.to_string()),
        ])?;
        page = scratch.export(Some(cursor), 3)?;
        records.append(&mut page.records);
    }
    ensure!(rounds > 5, "only {rounds} pages");
    let found: Vec<_> = of_kind(&records, Kind::Event).iter().filter_map(|record| record.text("id")).collect();
    ensure_eq!(found, ids, "the events of the start, in order, and no other");
    // What belongs to an event is told as it was at one moment.
    let last = of_kind(&records, Kind::Conflict);
    let counted: i64 = last.iter().filter_map(|conflict| conflict.number("count")).sum();
    let told =
        of_kind(&records, Kind::Delivery).iter().filter(|record| record.text("verdict") == Some("conflict")).count();
    ensure_eq!(counted, told as i64, "deliveries of the conflicts that are told");
    let numbers: Vec<_> = of_kind(&records, Kind::Delivery).iter().map(|record| record.number("number")).collect();
    ensure_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), numbers.len(), "no delivery is told twice");
    let other = Scratch::new(backend)?;
    let outcomes = other.import(scratch.export(None, 1)?.head.namespace, &records)?;
    ensure!(!outcomes.iter().any(|outcome| matches!(outcome, Outcome::Contradicts(_))), "{outcomes:?}");
    ensure_eq!(other.all_jobs()?.len(), 20, "the jobs elsewhere");
    Ok(())
}

fn a_page_is_about_as_long_as_asked_for(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept((0..100).map(|number| event(&number.to_string(), "x")).collect())?;
    for limit in [0, 1, 7, 50] {
        let mut cursor = None;
        loop {
            let page = scratch.export(cursor, limit)?;
            // An event comes with its job.
            ensure!(page.records.len() <= limit.max(1) as usize + 1, "{} records of {limit}", page.records.len());
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
    }
    Ok(())
}

/// No store has this namespace by chance.
const OTHER: [u8; 16] = *b"another namespac";

fn an_export_of_another_namespace_is_refused(backend: &dyn Backend) -> Result<(), Failure> {
    let (_, all) = exported(backend)?;
    for content in [event("a", "x"), refusal(RefusalCode::IdMissing, 1)] {
        let scratch = Scratch::new(backend)?;
        scratch.accept(vec![content])?;
        let before = scratch.export_all(10)?;
        let batch = Arc::new(ImportBatch { namespace: OTHER, ..all.clone() });
        let answer = scratch.import_as(scratch.op(), &batch);
        refused("an import of another namespace", answer, ErrorKind::Conflict, "import_other_namespace")?;
        ensure_eq!(scratch.export_all(10)?, before, "the export afterwards");
    }
    Ok(())
}

fn an_empty_store_takes_the_namespace_over(backend: &dyn Backend) -> Result<(), Failure> {
    let (_, all) = exported(backend)?;
    let mut scratch = Scratch::new(backend)?;
    ensure!(scratch.export(None, 1)?.head.namespace != OTHER, "another namespace than that of the test");
    scratch.import(OTHER, &all.records[..2])?;
    scratch.reopen()?;
    ensure_eq!(scratch.export(None, 1)?.head.namespace, OTHER, "the namespace");
    let outcomes = scratch.import(OTHER, &all.records)?;
    ensure!(!outcomes.iter().any(|outcome| matches!(outcome, Outcome::Contradicts(_))), "{outcomes:?}");
    let answer = scratch.import_as(scratch.op(), &Arc::new(all));
    refused("an import of the namespace before", answer, ErrorKind::Conflict, "import_other_namespace")
}

fn what_went_on_here_stays(backend: &dyn Backend) -> Result<(), Failure> {
    let (first, all) = exported(backend)?;
    first.clock().advance(1_000_000);
    first.accept(vec![event("a", "y"), event("c", "x")])?;
    let before = first.export_all(100)?;
    let outcomes = first.import(all.namespace, &all.records)?;
    let kept = all.records.iter().zip(&outcomes).filter(|(_, outcome)| **outcome != Outcome::Same);
    let kept: Vec<_> = kept.map(|(record, outcome)| (record.kind(), *outcome)).collect();
    let expected = [(Kind::Conflict, Outcome::Kept), (Kind::Counter, Outcome::Kept), (Kind::Counter, Outcome::Kept)];
    ensure_eq!(kept, expected, "what differs");
    ensure_eq!(first.export_all(100)?, before, "the export afterwards");
    Ok(())
}

/// The first record of this kind.
fn first_of(records: &[Record], kind: Kind) -> Result<&Record, Failure> {
    records.iter().find(|record| record.kind() == kind).ok_or_else(|| format!("no {kind:?}").into())
}

fn what_contradicts_is_told_and_nothing_is_overwritten(backend: &dyn Backend) -> Result<(), Failure> {
    use Contradiction::{Differs, IdentityTaken, NumberTaken, Older};
    let (scratch, all) = exported(backend)?;
    let event = first_of(&all.records, Kind::Event)?;
    let job = first_of(&all.records, Kind::Job)?;
    let conflict = first_of(&all.records, Kind::Conflict)?;
    let delivery = first_of(&all.records, Kind::Delivery)?;
    let free = Value::Number(1_000_000);
    let text = |text: &str| Value::Text(text.to_owned());
    let taken = delivery.get("number").clone();
    let job_of = |number: &Value| job.clone().with("event", number.clone());
    let last = |records: Vec<Record>| -> Result<Outcome, Failure> {
        Ok(*scratch.import(all.namespace, &records)?.last().ok_or("no outcome")?)
    };
    let cases = [
        ("another id", vec![event.clone().with("id", text("other"))], Differs),
        ("another content", vec![event.clone().with("fingerprint", Value::Bytes(vec![7; 32]))], Differs),
        (
            "an older conflict here",
            vec![event.clone(), conflict.clone().with("last_at", Value::Number(i64::MAX))],
            Older,
        ),
        ("an older job here", vec![event.clone(), job.clone().with("changed_at", Value::Number(0))], Older),
        ("another time", vec![event.clone().with("time", Value::Number(5))], Differs),
        ("another verdict", vec![event.clone(), delivery.clone().with("verdict", text("conflict"))], Differs),
        (
            "a delivery with an event's number",
            vec![event.clone(), delivery.clone().with("number", event.get("number").clone())],
            NumberTaken,
        ),
        (
            "a conflict of a content that is known",
            vec![event.clone(), conflict.clone().with("number", Value::Number(9))],
            NumberTaken,
        ),
    ];
    let before = scratch.export_all(100)?;
    for (name, records, expected) in cases {
        ensure_eq!(last(records)?, Outcome::Contradicts(expected), "{name}");
        ensure_eq!(scratch.export_all(100)?, before, "the export after {name}");
    }
    for (name, number, id, expected) in [
        ("an identity with another number", &free, event.get("id").clone(), IdentityTaken),
        ("an event with a delivery's number", &taken, text("unheard of"), NumberTaken),
    ] {
        let records = [event.clone().with("number", number.clone()).with("id", id), job_of(number)];
        let outcomes = scratch.import(all.namespace, &records)?;
        let expected = [Outcome::Contradicts(expected), Outcome::Contradicts(Contradiction::Belongs)];
        ensure_eq!(outcomes, expected, "{name}");
        ensure_eq!(scratch.export_all(100)?, before, "the export after {name}");
    }
    Ok(())
}

fn what_belongs_to_a_contradiction_stays_out(backend: &dyn Backend) -> Result<(), Failure> {
    let (_, all) = exported(backend)?;
    let other = Scratch::new(backend)?;
    // The same numbers for another identity: a store that went another way.
    other.import(all.namespace, &[])?;
    other.accept(vec![event("quite", "another")])?;
    let before = other.find_one("quite")?;
    let outcomes = other.import(all.namespace, &all.records)?;
    let event = first_of(&all.records, Kind::Event)?.event();
    for (record, outcome) in all.records.iter().zip(outcomes) {
        let expected = match record.kind() {
            _ if record.event().is_none() || record.event() != event => continue,
            Kind::Event => Outcome::Contradicts(Contradiction::Differs),
            _ => Outcome::Contradicts(Contradiction::Belongs),
        };
        ensure_eq!(outcome, expected, "{record:?}");
    }
    ensure_eq!(other.find_one("quite")?, before, "the event that was there");
    Ok(())
}

/// A record with something in every field, or as little as can be, but for what is set.
fn filled(kind: Kind, bare: bool, set: &[(&str, Value)]) -> Record {
    let value = |(place, field): (usize, &Field)| {
        if let Some((_, value)) = set.iter().find(|(name, _)| *name == field.name) {
            return value.clone();
        }
        match field.shape {
            _ if bare && field.nullable => Value::Null,
            Shape::Flag => Value::Number(1),
            Shape::Number | Shape::UpTo(_) | Shape::Instant | Shape::Day => Value::Number(place as i64 + 1),
            Shape::EffectName => Value::Text(field.name.to_owned()),
            Shape::Id | Shape::Type => Value::Text(format!("{} \u{202e}", field.name)),
            Shape::Text | Shape::Content => Value::Text(format!("{} \u{1b}\u{202e}", field.name)),
            Shape::Word(words) => Value::Text(words[words.len() - 1].to_owned()),
            Shape::Source => Value::Text("web".to_owned()),
            Shape::Bytes(length) => Value::Bytes(vec![place as u8; length.max(3)]),
            Shape::Output => Value::Bytes(vec![0xff, place as u8]),
        }
    };
    Record::new(kind, kind.fields().iter().enumerate().map(value).collect()).expect("a record of its shape")
}

/// One event with something of every kind, in this state of its job; its last attempt and effect may be under way.
fn everything(event: i64, state: &str, is_open: bool) -> Vec<Record> {
    let n = Value::Number;
    let t = |text: &str| Value::Text(text.to_owned());
    let mark = |plus: i64, length: usize| Value::Bytes(vec![(event + plus) as u8; length]);
    let unless_open = |value: Value| if is_open { Value::Null } else { value };
    let of_event = |more: &[(&'static str, Value)]| [&[("event", n(event))], more].concat();
    let leased = |value: Value| if state == "running" { value } else { Value::Null };
    let effect_state = if is_open { "intended" } else { "held" };
    let all = |kind, set: &[(&'static str, Value)]| filled(kind, false, set);
    vec![
        all(
            Kind::Event,
            &[
                ("number", n(event)),
                ("id", t(&format!("id {event}"))),
                ("fingerprint", mark(0, 32)),
                ("erased_at", Value::Null),
                ("text", Value::Null),
            ],
        ),
        all(
            Kind::Job,
            &of_event(&[
                ("state", t(state)),
                ("lease", leased(mark(0, 16))),
                ("lease_until", leased(n(50))),
                ("worker", leased(t("worker"))),
            ]),
        ),
        all(Kind::Revision, &of_event(&[("number", n(2)), ("fingerprint", mark(1, 32))])),
        all(
            Kind::Attempt,
            &of_event(&[("attempt", n(100 + event)), ("run", n(1)), ("number", n(1)), ("lease", mark(0, 16))]),
        ),
        filled(
            Kind::Attempt,
            true,
            &of_event(&[
                ("attempt", n(200 + event)),
                ("run", n(2)),
                ("number", n(1)),
                ("lease", mark(100, 16)),
                ("ended_at", unless_open(n(8))),
                ("outcome", unless_open(t("done"))),
            ]),
        ),
        all(
            Kind::Effect,
            &of_event(&[
                ("effect", n(300 + event)),
                ("name", t("publish")),
                ("key", t(&format!("key {event}"))),
                ("state", t(effect_state)),
            ]),
        ),
        filled(
            Kind::Effect,
            true,
            &of_event(&[
                ("effect", n(350 + event)),
                ("name", t("send")),
                ("key", t(&format!("other key {event}"))),
                ("state", t("done")),
            ]),
        ),
        // Only an open try holds money.
        all(Kind::EffectTry, &[("effect", n(300 + event)), ("number", n(1)), ("outcome", Value::Null)]),
        filled(Kind::EffectTry, true, &[("effect", n(350 + event)), ("number", n(1))]),
        all(Kind::EffectRecord, &[("effect", n(300 + event)), ("number", n(1))]),
        filled(Kind::EffectRecord, true, &[("effect", n(350 + event)), ("number", n(1))]),
        all(Kind::Decision, &of_event(&[("conflict", n(1)), ("number", n(1)), ("decision", t("accept"))])),
        filled(Kind::Decision, true, &of_event(&[("conflict", n(1)), ("number", n(2)), ("decision", t("keep"))])),
        all(Kind::Pruned, &of_event(&[("count", n(3))])),
        all(Kind::SignedBody, &of_event(&[("body", mark(9, 32))])),
        all(Kind::Conflict, &of_event(&[("number", n(1)), ("fingerprint", mark(1, 32))])),
        all(Kind::Delivery, &of_event(&[("number", n(400 + event)), ("verdict", t("conflict")), ("count", n(1))])),
    ]
}

fn every_kind_enters_and_comes_out_the_same(backend: &dyn Backend) -> Result<(), Failure> {
    let mut records = vec![Record::new(Kind::Source, vec![Value::Text("web".into())])?];
    for (event, state) in (1..).zip(JobState::ALL.into_iter().filter(|state| *state != JobState::Running)) {
        records.extend(everything(event, state.as_str(), false));
    }
    let counter = |name: &str, n| {
        Record::new(Kind::Counter, vec![Value::Text("web".into()), Value::Text(name.into()), Value::Number(n)])
    };
    records.push(Record::new(Kind::Budget, vec![Value::Text("web".into()), Value::Number(9)])?);
    // More than the rows say: some were pruned.
    records.extend([counter("conflict", 7)?, counter("duplicate", 15)?, counter("new", 5)?]);
    // More than the rows say: results were used again. The attempts' and the effects' own days and models.
    let model = filled(Kind::Attempt, false, &[]).text("model").unwrap_or_default().to_owned();
    let day = filled(Kind::EffectRecord, false, &[]).number("day").unwrap_or_default();
    for (day, model) in [(0, model.as_str()), (day, ""), (day, &model), (day + 1, "")] {
        let set = [("day", Value::Number(day)), ("model", Value::Text(model.to_owned()))];
        let more =
            ["costs", "spent", "tokens_in", "tokens_out", "replays", "replayed"].map(|sum| (sum, Value::Number(1_000)));
        records.push(filled(Kind::Money, false, &[&set[..], &more[..]].concat()));
    }
    let mut scratch = Scratch::new(backend)?;
    let outcomes = scratch.import(OTHER, &records)?;
    ensure!(!outcomes.iter().any(|outcome| matches!(outcome, Outcome::Contradicts(_))), "{outcomes:?}");
    ensure_eq!(scratch.export_all(3)?.records, records, "what comes out");
    let outcomes = scratch.import(OTHER, &records)?;
    ensure!(outcomes.iter().all(|outcome| *outcome == Outcome::Same), "the second time: {outcomes:?}");
    scratch.reopen()?;
    ensure_eq!(scratch.export_all(1_000)?.records, records, "what comes out after a reopen");
    // A field that never changes contradicts, whatever kind it is of.
    for index in 1..17 {
        let record = &records[index];
        let other = match record.kind() {
            Kind::Revision => record.clone().with("accepted_at", Value::Number(77)),
            Kind::Attempt => record.clone().with("worker", Value::Text("another".into())),
            Kind::Effect => record.clone().with("key", Value::Text("another".into())),
            Kind::EffectTry => record.clone().with("deadline", Value::Number(77)),
            Kind::EffectRecord => record.clone().with("charged_micros", Value::Number(77)),
            Kind::Decision => record.clone().with("decided_at", Value::Number(77)),
            _ => continue,
        };
        let mut changed = records[..index].to_vec();
        changed.push(other);
        let outcome = scratch.import(OTHER, &changed)?.pop();
        ensure_eq!(outcome, Some(Outcome::Contradicts(Contradiction::Differs)), "another {:?}", record.kind());
    }
    // Keys that only one may have.
    for (kind, number, key) in [(Kind::Attempt, "attempt", "lease"), (Kind::Effect, "effect", "key")] {
        let of = |event: i64| everything(event, "done", false).into_iter().find(|record| record.kind() == kind);
        let (Some(first), Some(second)) = (of(1), of(2)) else { return Err("no such record".into()) };
        let thief = first.with(number, Value::Number(999)).with(key, second.get(key).clone());
        let outcome = scratch.import(OTHER, &[records[1].clone(), thief])?.pop();
        ensure_eq!(outcome, Some(Outcome::Contradicts(Contradiction::NumberTaken)), "a {key} that is taken");
    }
    ensure_eq!(scratch.export_all(3)?.records, records, "what comes out in the end");
    Ok(())
}

fn what_ran_elsewhere_does_not_run_here(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let mut records = vec![Record::new(Kind::Source, vec![Value::Text("web".into())])?];
    records.extend(everything(1, "running", true));
    scratch.import(OTHER, &records)?;
    let now = Value::Number(scratch.clock().now().as_micros());
    let word = |word: &str| Value::Text(word.to_owned());
    let expected: Vec<Record> = records
        .iter()
        .map(|record| match record.kind() {
            Kind::Job => record
                .clone()
                .with("state", word("pending"))
                .with("due_at", now.clone())
                .with("attempts", Value::Number(record.number("attempts").unwrap_or_default() - 1))
                .with("reason", word(""))
                .with("changed_at", now.clone())
                .with("lease", Value::Null)
                .with("lease_until", Value::Null)
                .with("worker", Value::Null),
            Kind::Attempt if record.number("ended_at").is_none() => {
                let ended = record.clone().with("ended_at", now.clone()).with("outcome", word("lease_lost"));
                ended.with("to_state", word("pending")).with("to_due", now.clone())
            }
            Kind::Effect if record.text("state") == Some("intended") => {
                let unknown = record.clone().with("state", word("unknown")).with("reason", word("lease_ended"));
                unknown.with("changed_at", now.clone())
            }
            _ => record.clone(),
        })
        .collect();
    let all = scratch.export_all(100)?.records;
    ensure_eq!(&all[..records.len()], &expected[..], "what entered");
    ensure_eq!(scratch.restored_at()?, Some(scratch.clock().now()), "the mark of what may have gone on elsewhere");
    // The clock stands still or steps back: what is here is the later one all the same.
    scratch.clock().advance(-1_000_000_000_000);
    let outcomes = scratch.import(OTHER, &records)?;
    let is_kept = |record: &Record| match record.kind() {
        Kind::Job => true,
        Kind::Effect => record.text("state") == Some("intended"),
        Kind::Attempt => record.number("ended_at").is_none(),
        _ => false,
    };
    for (record, outcome) in records.iter().zip(outcomes) {
        ensure_eq!(outcome, if is_kept(record) { Outcome::Kept } else { Outcome::Same }, "again: {record:?}");
    }
    ensure_eq!(scratch.export_all(100)?.records, all, "what comes out after the second time");
    Ok(())
}

fn what_stands_without_what_it_belongs_to_is_refused_whole(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let (first, second) = (everything(1, "done", false), everything(2, "done", false));
    let without = |kind: Kind| first.iter().filter(|record| record.kind() != kind).cloned().collect::<Vec<_>>();
    let mut mixed_up = first.clone();
    mixed_up.push(second[12].clone());
    let cases = [
        ("an event alone", first[..1].to_vec()),
        ("an event with another's job", vec![first[0].clone(), second[1].clone()]),
        ("no event", without(Kind::Event)),
        ("no effect for its try", without(Kind::Effect)),
        ("another event's delivery", mixed_up),
    ];
    for (name, records) in cases {
        let answer =
            scratch.import_as(scratch.op(), &Arc::new(ImportBatch { namespace: OTHER, currency: None, records }));
        refused(name, answer, ErrorKind::Invalid, "import_out_of_order")?;
        ensure_eq!(scratch.export_all(10)?.records, [], "the export after {name}");
        ensure!(scratch.export(None, 1)?.head.namespace != OTHER, "the namespace was taken over by {name}");
    }
    // What is left of an event comes behind its record, without the job's.
    scratch.import(OTHER, &first[..14])?;
    let rest: Vec<Record> = [0, 14, 15].map(|index| first[index].clone()).into();
    let outcomes = scratch.import(OTHER, &rest)?;
    ensure_eq!(outcomes, [Outcome::Same, Outcome::Entered, Outcome::Entered], "the rest of an event");
    Ok(())
}

fn the_same_op_of_an_import_gives_the_first_answer(backend: &dyn Backend) -> Result<(), Failure> {
    let (_, all) = exported(backend)?;
    let mut scratch = Scratch::new(backend)?;
    let op = scratch.op();
    let batch = Arc::new(all);
    let first = scratch.import_as(op, &batch)?;
    let before = scratch.export_all(100)?;
    for _ in 0..2 {
        ensure_eq!(scratch.import_as(op, &batch)?, first, "the answer");
        scratch.reopen()?;
    }
    ensure_eq!(scratch.export_all(100)?, before, "the export afterwards");
    let mut shorter = (*batch).clone();
    shorter.records.pop();
    let answer = scratch.import_as(op, &Arc::new(shorter));
    refused("the op with another batch", answer, ErrorKind::Conflict, "op_reused")?;
    let answer = scratch.accept_as(op, &Arc::new(vec![event("n", "x")]));
    refused("the op of an import for a batch of events", answer, ErrorKind::Conflict, "op_reused")?;
    let accepted: OpId = scratch.op();
    let verdict = scratch.accept_as(accepted, &Arc::new(vec![event("n", "x")]))?.receipts[0].verdict;
    ensure_eq!(verdict, Verdict::New, "an event under another op");
    let answer = scratch.import_as(accepted, &batch);
    refused("the op of a batch of events for an import", answer, ErrorKind::Conflict, "op_reused")
}

fn an_import_longer_than_allowed_is_refused(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let source = Record::new(Kind::Source, vec![Value::Text("web".into())])?;
    let batch =
        |length| Arc::new(ImportBatch { namespace: OTHER, currency: None, records: vec![source.clone(); length] });
    let answer = scratch.import_as(scratch.op(), &batch(IMPORT_MAX_RECORDS + 1));
    refused("one more than allowed", answer, ErrorKind::Invalid, "batch_too_long")?;
    ensure_eq!(scratch.export_all(10)?.records, [], "the export afterwards");
    ensure_eq!(
        scratch.import_as(scratch.op(), &batch(IMPORT_MAX_RECORDS))?.outcomes.len(),
        IMPORT_MAX_RECORDS,
        "outcomes"
    );
    Ok(())
}
