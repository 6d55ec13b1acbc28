//! What a store remembers of an identity: duplicates, conflicts, deliveries.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{Delivery, Fingerprint};
use cola_ia_core::intake::Intake;
use cola_ia_core::store::{ConflictView, DeliveryView, HISTORY_MAX};
use cola_ia_core::verdict::Verdict;

use super::check::{cases, ensure_eq, words};
use crate::events::{delivery, event, event_from, line};
use crate::harness::{Backend, Failure, Scratch};

cases![
    duplicates_are_counted,
    conflicts_are_numbered_and_counted,
    conflicts_of_two_events_are_numbered_apart,
    the_text_of_each_conflict_is_kept,
    deliveries_after_the_first_are_listed_newest_first,
    a_delivery_tells_its_own_time,
    only_a_conflict_tells_where_it_was_read,
    long_histories_are_cut_and_counted_whole,
];

fn duplicates_are_counted(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "x"), event("a", "x"), event("b", "x"), event("a", "y")])?;
    scratch.accept(vec![event("a", "x"), event("b", "x"), event("a", "x")])?;
    ensure_eq!(scratch.find_one("a")?.duplicates, 3, "duplicates of a");
    ensure_eq!(scratch.find_one("b")?.duplicates, 1, "duplicates of b");
    Ok(())
}

fn conflicts_are_numbered_and_counted(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("id", "x")])?;
    let mut times = Vec::new();
    // By first arrival: neither by text nor by fingerprint.
    for texts in [vec!["m"], vec!["z", "a"], vec!["m", "m", "x", "a"], vec!["b"]] {
        times.push(scratch.clock().advance(1_000_000));
        scratch.accept(texts.into_iter().map(|text| event("id", text)).collect())?;
    }
    let conflict = |number, text: &str, count, first: usize, last: usize| ConflictView {
        number,
        fingerprint: Fingerprint::of(text),
        text: Some(text.to_owned()),
        count,
        first_at: times[first],
        last_at: times[last],
        decisions: Vec::new(),
    };
    let expected = vec![
        conflict(1, "m", 3, 0, 2),
        conflict(2, "z", 1, 1, 1),
        conflict(3, "a", 2, 1, 2),
        conflict(4, "b", 1, 3, 3),
    ];
    ensure_eq!(scratch.find_one("id")?.conflicts, expected, "the conflicts");
    Ok(())
}

fn conflicts_of_two_events_are_numbered_apart(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "x"), event("b", "x"), event_from("other", "a", "x")])?;
    let accepted = scratch.accept(vec![
        event("a", "y"),
        event("b", "z"),
        event("b", "y"),
        event_from("other", "a", "y"),
        event("a", "z"),
    ])?;
    ensure_eq!(words(&accepted), "conflict#1 conflict#1 conflict#2 conflict#1 conflict#2", "the verdicts");
    Ok(())
}

fn the_text_of_each_conflict_is_kept(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    let large = "ñ\n".repeat(100_000);
    let texts = ["x ", "X", "x\u{301}", "\u{1b}[0m\t\r\n.", large.as_str()];
    scratch.accept(vec![event("id", "x")])?;
    for text in texts {
        scratch.accept(vec![event("id", text)])?;
    }
    scratch.reopen()?;
    let conflicts = scratch.find_one("id")?.conflicts;
    let found: Vec<_> = conflicts.iter().map(|conflict| conflict.text.as_deref().unwrap_or("no text")).collect();
    ensure_eq!(found, texts, "the texts");
    for conflict in &conflicts {
        let text = conflict.text.as_deref().unwrap_or_default();
        ensure_eq!(conflict.fingerprint, Fingerprint::of(text), "the fingerprint of conflict {}", conflict.number);
    }
    Ok(())
}

fn deliveries_after_the_first_are_listed_newest_first(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let mut expected = Vec::new();
    for texts in ["AAB", "C", "BA"] {
        let received_at = scratch.clock().advance(1_000);
        let accepted = scratch.accept(texts.chars().map(|text| event("id", &text.to_string())).collect())?;
        for receipt in accepted.receipts {
            expected.push((receipt.number, receipt.verdict, receipt.conflict, received_at));
        }
    }
    // The first made the event.
    expected.remove(0);
    expected.reverse();
    let deliveries = scratch.find_one("id")?.deliveries;
    let found: Vec<_> = deliveries
        .iter()
        .map(|delivery| (delivery.number, delivery.verdict, delivery.conflict, delivery.received_at))
        .collect();
    ensure_eq!(found, expected, "the deliveries");
    Ok(())
}

fn a_delivery_tells_its_own_time(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let times = [Some(5), None, Some(-7), Some(5), Some(0), None];
    for (index, micros) in times.into_iter().enumerate() {
        let text = if index < 4 { "x" } else { "y" };
        let time = micros.map(Timestamp::from_micros);
        scratch.accept(vec![Intake::Delivery(Delivery { time, ..delivery("default", "id", text) })])?;
    }
    let found = scratch.find_one("id")?;
    ensure_eq!(found.job.time, Some(Timestamp::from_micros(5)), "the event's time is that of its first delivery");
    let listed: Vec<_> = found.deliveries.iter().map(|delivery| delivery.time.map(Timestamp::as_micros)).collect();
    let expected: Vec<_> = times[1..].iter().rev().copied().collect();
    ensure_eq!(listed, expected, "the times of the deliveries");
    Ok(())
}

fn only_a_conflict_tells_where_it_was_read(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let read_at =
        |text: &str, number| Intake::Delivery(Delivery { origin: line(number), ..delivery("default", "id", text) });
    scratch.accept(vec![read_at("x", 1), read_at("y", 22), read_at("x", 3)])?;
    let elsewhere = Delivery {
        origin: cola_ia_core::event::Origin { input: "cartas/año 2026: «día».jsonl".into(), line: 1 << 40 },
        ..delivery("default", "id", "y")
    };
    scratch.accept(vec![Intake::Delivery(elsewhere)])?;
    let found: Vec<_> = scratch
        .find_one("id")?
        .deliveries
        .into_iter()
        .map(|DeliveryView { verdict, origin, .. }| (verdict, origin))
        .collect();
    let expected = vec![
        (Verdict::Conflict, Some("cartas/año 2026: «día».jsonl:1099511627776".to_owned())),
        (Verdict::Duplicate, None),
        (Verdict::Conflict, Some("eventos.jsonl:22".to_owned())),
    ];
    ensure_eq!(found, expected, "verdicts and origins");
    Ok(())
}

fn long_histories_are_cut_and_counted_whole(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("id", "x")])?;
    let others = HISTORY_MAX + 30;
    let conflicts = scratch.accept((1..=others).map(|other| event("id", &format!("other {other}"))).collect())?;
    let numbers: Vec<_> = conflicts.receipts.iter().map(|receipt| receipt.conflict).collect();
    let expected: Vec<_> = (1..).map(Some).take(others).collect();
    ensure_eq!(numbers, expected, "conflicts beyond the bound are numbered too");

    let found = scratch.find_one("id")?;
    let listed: Vec<_> = found.conflicts.iter().map(|conflict| Some(conflict.number)).collect();
    ensure_eq!(listed, &expected[..HISTORY_MAX], "the conflicts with the lowest numbers are listed");
    let listed: Vec<_> = found.deliveries.iter().map(|delivery| delivery.number).collect();
    let expected: Vec<_> = conflicts.receipts.iter().rev().map(|receipt| receipt.number).take(HISTORY_MAX).collect();
    ensure_eq!(listed, expected, "the latest deliveries are listed");

    let duplicates = scratch.accept((0..others).map(|_| event("id", "x")).collect())?;
    let found = scratch.find_one("id")?;
    ensure_eq!(found.duplicates, others as u64, "duplicates beyond the bound are counted");
    let listed: Vec<_> = found.deliveries.iter().map(|delivery| delivery.number).collect();
    let expected: Vec<_> = duplicates.receipts.iter().rev().map(|receipt| receipt.number).take(HISTORY_MAX).collect();
    ensure_eq!(listed, expected, "the latest deliveries are listed, whatever their verdict");
    ensure_eq!(
        words(&scratch.accept(vec![event("id", &format!("other {others}"))])?),
        format!("conflict#{others}"),
        "a conflict beyond the bound is known again"
    );
    Ok(())
}
