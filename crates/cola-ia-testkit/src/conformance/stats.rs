//! Counts of what came, how late it came, and how many jobs wait.

use std::sync::Arc;
use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::Delivery;
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::{Intake, Refusal, RefusalCode};
use cola_ia_core::job::JobState;
use cola_ia_core::store::StatsGroup;

use super::check::{cases, ensure, ensure_eq};
use crate::clock::ManualClock;
use crate::events::{delivery, event, event_from, line, refusal, source};
use crate::harness::{Backend, Failure, Scratch};

cases![
    an_empty_store_has_counted_nothing,
    each_delivery_is_counted_by_its_verdict,
    counts_are_told_by_source_and_in_total,
    stats_are_filtered_by_source,
    only_what_was_received_in_the_range_is_counted,
    a_range_is_widened_to_whole_minutes_and_says_so,
    jobs_are_counted_whenever_they_came,
    a_repeated_call_is_counted_once,
    lateness_is_of_all_deliveries_that_carry_a_time,
    a_provider_whose_clock_is_ahead_is_told_apart,
];

const SECOND: i64 = 1_000_000;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(ManualClock::START.as_micros() + seconds * SECOND)
}

fn between(since: i64, until: i64) -> Filter {
    Filter { since: Some(at(since)), until: Some(at(until)), ..Filter::default() }
}

/// New, duplicate, conflict, invalid.
fn counts(scratch: &Scratch, filter: Filter) -> Result<[u64; 4], Failure> {
    Ok(scratch.stats(filter)?.total.deliveries)
}

/// Happened at the provider so many seconds before the store's first instant.
fn late(id: &str, text: &str, seconds: i64) -> Intake {
    Intake::Delivery(Delivery { time: Some(at(-seconds)), ..delivery("default", id, text) })
}

fn an_empty_store_has_counted_nothing(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    for filter in [Filter::default(), between(-60, 60)] {
        let stats = scratch.stats(filter)?;
        ensure_eq!((&stats.total, stats.groups.len()), (&StatsGroup::default(), 0), "the counts");
        ensure_eq!(stats.total.lateness.percentile(50), None, "the lateness");
    }
    Ok(())
}

fn each_delivery_is_counted_by_its_verdict(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let counted = Intake::Refusal(Refusal { count: 40, ..Refusal::new(RefusalCode::JsonSyntax, line(9)) });
    scratch.accept(vec![event("a", "x"), event("a", "x"), event("b", "x"), event("a", "y"), counted])?;
    scratch.accept(vec![event("a", "x"), event("a", "y"), event("a", "x"), refusal(RefusalCode::IdMissing, 1)])?;
    ensure_eq!(counts(&scratch, Filter::default())?, [2, 3, 2, 41], "new, duplicate, conflict, invalid");
    ensure_eq!(scratch.stats(Filter::default())?.total.received(), 48, "all of them");
    Ok(())
}

fn counts_are_told_by_source_and_in_total(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event_from("z", "a", "x"), event_from("a.b", "a", "x"), refusal(RefusalCode::IdMissing, 1)])?;
    scratch.accept(vec![event_from("z", "a", "x"), event_from("z", "a", "y"), event_from("a.b", "b", "x")])?;
    let stats = scratch.stats(Filter::default())?;
    let told: Vec<_> = stats
        .groups
        .iter()
        .map(|group| (group.source.as_ref().map_or("", |source| source.as_str()), group.deliveries, group.jobs[0]))
        .collect();
    let expected = [("", [0, 0, 0, 1], 0), ("a.b", [2, 0, 0, 0], 2), ("z", [1, 1, 1, 0], 1)];
    ensure_eq!(told, expected, "the sources, those without one first");
    ensure_eq!((stats.total.deliveries, stats.total.jobs[0]), ([3, 1, 1, 1], 3), "the total");
    ensure_eq!(stats.more, 0, "sources in the total only");
    Ok(())
}

fn stats_are_filtered_by_source(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event_from("a", "1", "x"), event_from("ab", "1", "x"), event_from("ab", "1", "x")])?;
    scratch.accept(vec![refusal(RefusalCode::IdMissing, 1)])?;
    for (name, deliveries, pending) in [("a", [1, 0, 0, 0], 1), ("ab", [1, 1, 0, 0], 1), ("b", [0; 4], 0)] {
        let stats = scratch.stats(Filter { sources: vec![source(name)], ..Filter::default() })?;
        ensure_eq!((stats.total.deliveries, stats.total.jobs[0]), (deliveries, pending), "source {name}");
        ensure_eq!(stats.groups.len(), usize::from(pending > 0), "groups of source {name}");
    }
    let both = Filter { sources: vec![source("b"), source("ab"), source("a")], ..Filter::default() };
    ensure_eq!(counts(&scratch, both)?, [2, 1, 0, 0], "several sources");
    Ok(())
}

fn only_what_was_received_in_the_range_is_counted(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    // At minutes 0, 1, …, 9, then one that a clock set back has stamped with minute 2.
    for minute in (0..10).chain([2]) {
        scratch.clock().set(at(minute * 60));
        let mut batch = vec![event("a", "x"), event("a", "y")];
        batch.extend((0..minute).map(|number| refusal(RefusalCode::IdMissing, number.unsigned_abs())));
        scratch.accept(batch)?;
    }
    for (since, until, expected) in [
        (0, 60, [1, 0, 1, 0]),
        (60, 120, [0, 1, 1, 1]),
        (120, 180, [0, 2, 2, 4]),
        (0, 600, [1, 10, 11, 47]),
        (540, 6_000, [0, 1, 1, 9]),
        (600, 6_000, [0; 4]),
        (-600, 0, [0; 4]),
        (300, 240, [0; 4]),
    ] {
        ensure_eq!(counts(&scratch, between(since, until))?, expected, "from second {since} to {until}");
    }
    let open = |since, until| Filter { since, until, ..Filter::default() };
    ensure_eq!(counts(&scratch, open(Some(at(480)), None))?, [0, 2, 2, 17], "without an end");
    ensure_eq!(counts(&scratch, open(None, Some(at(120))))?, [1, 1, 2, 1], "without a start");
    Ok(())
}

fn a_range_is_widened_to_whole_minutes_and_says_so(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    for second in [0, 30, 59, 60, 119, 120] {
        scratch.clock().set(at(second));
        scratch.accept(vec![event("a", "x")])?;
    }
    for (asked, told, expected) in [
        ((30, 31), (0, 60), 3),
        ((59, 60), (0, 60), 3),
        ((60, 61), (60, 120), 2),
        ((1, 119), (0, 120), 5),
        ((0, 121), (0, 180), 6),
    ] {
        let stats = scratch.stats(between(asked.0, asked.1))?;
        ensure_eq!((stats.since, stats.until), (Some(at(told.0)), Some(at(told.1))), "the range of {asked:?}");
        ensure_eq!(stats.total.received(), expected, "what came in {asked:?}");
    }
    let open = scratch.stats(Filter::default())?;
    ensure_eq!((open.since, open.until), (None, None), "no range");
    Ok(())
}

fn jobs_are_counted_whenever_they_came(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    for number in 0..30 {
        scratch.accept(vec![event(&number.to_string(), "x"), event("0", "x"), event("0", "y")])?;
    }
    for reopened in [false, true] {
        let total = scratch.stats(between(3_600, 7_200))?.total;
        ensure_eq!(total.deliveries, [0; 4], "nothing came in the range; reopened: {reopened}");
        ensure_eq!(total.jobs_in(JobState::Pending), 30, "what waits; reopened: {reopened}");
        ensure_eq!(total.jobs, [30, 0, 0, 0, 0, 0], "all states; reopened: {reopened}");
        scratch.reopen()?;
    }
    Ok(())
}

fn a_repeated_call_is_counted_once(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let batch = Arc::new(vec![late("a", "x", 5), event("a", "x"), event("a", "y"), refusal(RefusalCode::IdMissing, 1)]);
    let op = scratch.op();
    scratch.accept_as(op, &batch)?;
    let once = scratch.stats(Filter::default())?;
    ensure_eq!(once.total.deliveries, [1, 1, 1, 1], "the first call");
    scratch.accept_as(op, &batch)?;
    ensure_eq!(scratch.stats(Filter::default())?, once, "the repeated call");
    Ok(())
}

fn near(found: Option<Duration>, seconds: f64) -> bool {
    found.is_some_and(|found| (found.as_secs_f64() - seconds).abs() <= seconds / 10.0)
}

fn lateness_is_of_all_deliveries_that_carry_a_time(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    // New ones come 1 to 10 seconds late, a repetition and a conflict a day; others do not say.
    scratch.accept((1..=10).map(|seconds| late(&seconds.to_string(), "x", seconds)).collect())?;
    let lateness = scratch.stats(Filter::default())?.total.lateness;
    ensure_eq!(lateness.count(), 10, "those that carry a time");
    ensure!(near(lateness.percentile(50), 5.0), "half of them are 5 s late: {:?}", lateness.percentile(50));
    ensure!(near(lateness.percentile(95), 10.0), "95 of 100 are 10 s late: {:?}", lateness.percentile(95));
    scratch.accept(vec![late("1", "x", 86_400), late("2", "y", 86_400), event("3", "x"), event("new", "x")])?;
    let lateness = scratch.stats(Filter::default())?.total.lateness;
    ensure_eq!(lateness.count(), 12, "with the repetition and the conflict");
    ensure!(near(lateness.percentile(95), 86_400.0), "now 95 of 100 are a day late: {:?}", lateness.percentile(95));
    Ok(())
}

fn a_provider_whose_clock_is_ahead_is_told_apart(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![late("a", "x", 2), late("b", "x", -3_600), late("c", "x", 0)])?;
    let lateness = scratch.stats(Filter::default())?.total.lateness;
    ensure_eq!((lateness.count(), lateness.ahead()), (2, 1), "late, and ahead");
    ensure_eq!(lateness.percentile(50), Some(Duration::ZERO), "the half that is not late");
    ensure!(near(lateness.percentile(95), 2.0), "the latest: {:?}", lateness.percentile(95));
    ensure!(near(lateness.ahead_percentile(95), 3_600.0), "how far ahead: {:?}", lateness.ahead_percentile(95));
    Ok(())
}
