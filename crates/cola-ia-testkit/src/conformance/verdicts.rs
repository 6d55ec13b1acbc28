//! What the gate says, and which of several contents is the event.

use cola_ia_core::clock::{Clock as _, Timestamp};
use cola_ia_core::event::{Fingerprint, Source};
use cola_ia_core::intake::{EventNumber, RefusalCode};
use cola_ia_core::job::JobState;
use cola_ia_core::store::JobSummary;

use super::check::{cases, ensure, ensure_eq, words};
use crate::clock::ManualClock;
use crate::events::{event, event_from, refusal};
use crate::harness::{Backend, Failure, Scratch};

cases![
    an_unknown_identity_is_new_and_becomes_one_pending_job,
    the_same_content_again_is_a_duplicate,
    other_content_under_a_known_identity_is_a_conflict,
    first_content_keeps_the_identity,
    the_first_in_a_batch_is_the_event,
    repeats_inside_one_batch_are_judged_in_order,
    receipts_stand_in_the_order_of_the_batch,
    a_receipt_names_its_event,
    numbers_grow_within_and_across_batches,
    a_clock_that_steps_back_does_not_disturb_the_numbers,
];

fn an_unknown_identity_is_new_and_becomes_one_pending_job(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let now = scratch.clock().advance(1_234_567);
    let accepted = scratch.accept(vec![event("idea-42", "Hola")])?;
    ensure_eq!(words(&accepted), "new", "the verdict");
    ensure_eq!(accepted.received_at, now, "the time of the answer is the store's clock");

    let expected = JobSummary {
        event: EventNumber(accepted.receipts[0].number.0),
        source: Source::default(),
        id: "idea-42".to_owned(),
        erased_at: None,
        event_type: None,
        state: JobState::Pending,
        reason: String::new(),
        run: 1,
        attempts: 0,
        resource_id: None,
        time: None,
        received_at: now,
        due_at: Some(now),
        lease_until: None,
    };
    ensure_eq!(scratch.all_jobs()?, vec![expected.clone()], "the jobs");

    let found = scratch.find_one("idea-42")?;
    ensure_eq!(found.job, expected, "the job of the event");
    ensure_eq!(found.text.as_deref(), Some("Hola"), "the text");
    ensure_eq!(found.fingerprint, Fingerprint::of("Hola"), "the fingerprint");
    ensure_eq!(found.duplicates, 0, "nothing came again");
    ensure_eq!(found.conflicts, vec![], "nothing else came");
    ensure_eq!(found.deliveries, vec![], "the delivery that made the event is not listed");
    Ok(())
}

fn the_same_content_again_is_a_duplicate(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "x"), event("b", "x")])?;
    ensure_eq!(words(&scratch.accept(vec![event("b", "x"), event("c", "x")])?), "duplicate new", "in the next batch");
    ensure_eq!(words(&scratch.accept(vec![event("a", "x")])?), "duplicate", "batches later");
    ensure_eq!(scratch.all_jobs()?.len(), 3, "a duplicate makes no job");
    Ok(())
}

fn other_content_under_a_known_identity_is_a_conflict(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "x"), event("b", "x")])?;
    ensure_eq!(words(&scratch.accept(vec![event("a", "y"), event("b", "x")])?), "conflict#1 duplicate", "the verdicts");
    ensure_eq!(scratch.all_jobs()?.len(), 2, "a conflict makes no job");
    let found = scratch.find_one("a")?;
    ensure_eq!(found.text.as_deref(), Some("x"), "the event keeps its text");
    ensure_eq!(found.duplicates, 0, "a conflict is no duplicate");
    ensure_eq!(found.conflicts.len(), 1, "the conflict is kept");
    Ok(())
}

fn first_content_keeps_the_identity(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    for (text, expected) in [
        ("A", "new"),
        ("B", "conflict#1"),
        ("A", "duplicate"),
        ("B", "conflict#1"),
        ("C", "conflict#2"),
        ("C", "conflict#2"),
        ("A", "duplicate"),
        ("D", "conflict#3"),
        ("B", "conflict#1"),
    ] {
        ensure_eq!(words(&scratch.accept(vec![event("id", text)])?), expected, "text {text}");
        scratch.reopen()?;
    }
    let found = scratch.find_one("id")?;
    ensure_eq!(found.text.as_deref(), Some("A"), "the text");
    ensure_eq!(found.fingerprint, Fingerprint::of("A"), "the fingerprint");
    Ok(())
}

fn the_first_in_a_batch_is_the_event(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let accepted = scratch.accept(vec![event("id", "first"), event("id", "second"), event("id", "first")])?;
    ensure_eq!(words(&accepted), "new conflict#1 duplicate", "the verdicts");
    ensure_eq!(scratch.find_one("id")?.text.as_deref(), Some("first"), "the text");
    Ok(())
}

fn repeats_inside_one_batch_are_judged_in_order(backend: &dyn Backend) -> Result<(), Failure> {
    // Texts in one batch; before it, the store is empty or holds the text "A".
    let tables = [
        (false, "AABB", "new duplicate conflict#1 conflict#1"),
        (false, "ABAB", "new conflict#1 duplicate conflict#1"),
        (false, "ABBA", "new conflict#1 conflict#1 duplicate"),
        (false, "BAC", "new conflict#1 conflict#2"),
        (false, "ACBBCA", "new conflict#1 conflict#2 conflict#2 conflict#1 duplicate"),
        (true, "AABB", "duplicate duplicate conflict#1 conflict#1"),
        (true, "BA", "conflict#1 duplicate"),
        (true, "BCB", "conflict#1 conflict#2 conflict#1"),
    ];
    for (known, texts, expected) in tables {
        let scratch = Scratch::new(backend)?;
        if known {
            scratch.accept(vec![event("id", "A")])?;
        }
        let batch = texts.chars().map(|text| event("id", &text.to_string())).collect();
        ensure_eq!(words(&scratch.accept(batch)?), expected, "texts {texts}, A known before: {known}");
    }
    Ok(())
}

fn receipts_stand_in_the_order_of_the_batch(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("m", "x"), event("b", "x")])?;
    // Neither sorted by id nor by verdict.
    let accepted = scratch.accept(vec![
        event("z", "x"),
        event("m", "y"),
        refusal(RefusalCode::IdMissing, 3),
        event("a", "x"),
        event("b", "x"),
        event("z", "y"),
        refusal(RefusalCode::TextBlank, 7),
        event("m", "x"),
        event_from("other", "m", "x"),
    ])?;
    ensure_eq!(
        words(&accepted),
        "new conflict#1 invalid new duplicate conflict#1 invalid duplicate new",
        "the verdicts"
    );
    Ok(())
}

fn a_receipt_names_its_event(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let first = scratch.accept(vec![event("a", "x"), event("b", "x")])?;
    let second =
        scratch.accept(vec![event("b", "y"), event("a", "x"), event("c", "x"), refusal(RefusalCode::IdBlank, 4)])?;
    for receipt in [first.receipts[0], first.receipts[1], second.receipts[2]] {
        ensure_eq!(receipt.event, Some(EventNumber(receipt.number.0)), "a new event has its delivery's number");
    }
    ensure_eq!(second.receipts[0].event, first.receipts[1].event, "a conflict names the event");
    ensure_eq!(second.receipts[1].event, first.receipts[0].event, "a duplicate names the event");
    ensure_eq!(second.receipts[3].event, None, "a refusal has no event");
    for (id, receipt) in [("a", first.receipts[0]), ("b", first.receipts[1]), ("c", second.receipts[2])] {
        ensure_eq!(Some(scratch.find_one(id)?.job.event), receipt.event, "the event of {id}");
    }
    Ok(())
}

fn numbers_grow_within_and_across_batches(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    let mut numbers = Vec::new();
    for round in 0..4 {
        let accepted = scratch.accept(vec![
            event("z", "x"),
            event(&format!("new {round}"), "x"),
            refusal(RefusalCode::IdMissing, 3),
            event("z", &format!("y {round}")),
            event("a", "x"),
        ])?;
        numbers.extend(accepted.receipts.iter().map(|receipt| receipt.number));
        if round == 1 {
            scratch.reopen()?;
        }
    }
    ensure!(numbers.is_sorted_by(|left, right| left < right), "numbers do not grow: {numbers:?}");
    Ok(())
}

fn a_clock_that_steps_back_does_not_disturb_the_numbers(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let hour = 3_600_000_000;
    let start = ManualClock::START.as_micros();
    let times = [start, start - hour, start - 2 * hour, start + hour, -1, start];
    let mut numbers = Vec::new();
    for (index, micros) in times.into_iter().enumerate() {
        scratch.clock().set(Timestamp::from_micros(micros));
        let accepted = scratch.accept(vec![event(&format!("id {index}"), "x"), event("id 0", "x")])?;
        ensure_eq!(accepted.received_at, scratch.clock().now(), "what the clock showed at batch {index}");
        numbers.extend(accepted.receipts.iter().map(|receipt| receipt.number));
    }
    ensure!(numbers.is_sorted_by(|left, right| left < right), "numbers do not grow: {numbers:?}");

    let listed: Vec<_> = scratch.all_jobs()?.into_iter().map(|job| (job.id, job.received_at.as_micros())).collect();
    let expected: Vec<_> = times.iter().enumerate().rev().map(|(index, at)| (format!("id {index}"), *at)).collect();
    ensure_eq!(listed, expected, "jobs stand by number, not by time");

    let deliveries = scratch.find_one("id 0")?.deliveries;
    let listed: Vec<_> = deliveries.iter().map(|delivery| delivery.received_at.as_micros()).collect();
    let expected: Vec<_> = times.iter().rev().copied().collect();
    ensure_eq!(listed, expected, "deliveries stand by number, not by time");
    Ok(())
}
