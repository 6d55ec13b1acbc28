//! The list of jobs: pages, order, filters.

use cola_ia_core::event::{Delivery, Source};
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::{EventNumber, Intake};
use cola_ia_core::job::JobState;
use cola_ia_core::store::{JobPage, PageRequest};

use super::check::{cases, ensure, ensure_eq};
use crate::events::{delivery, event, event_from, event_type, source};
use crate::harness::{Backend, Failure, Scratch};

cases![
    an_empty_store_has_an_empty_page,
    jobs_are_listed_newest_first,
    pages_miss_and_double_no_job_while_new_ones_arrive,
    next_is_given_only_where_more_is_left,
    a_page_has_from_one_to_a_thousand_jobs,
    below_may_be_any_number,
    jobs_are_filtered_by_source,
    jobs_are_filtered_by_state,
    jobs_are_filtered_by_type_and_reason,
    a_filtered_page_ends_with_the_last_job_that_matches,
];

fn page(below: Option<EventNumber>, limit: u32) -> PageRequest {
    PageRequest { below, limit }
}

fn all() -> Filter {
    Filter::default()
}

fn of(name: &str) -> Filter {
    Filter { sources: vec![source(name)], ..Filter::default() }
}

fn ids(page: &JobPage) -> Vec<&str> {
    page.jobs.iter().map(|job| job.id.as_str()).collect()
}

/// Events `0`, `1`, … of the default source, one text.
fn numbered(range: std::ops::Range<usize>) -> Vec<Intake> {
    range.map(|index| event(&index.to_string(), "x")).collect()
}

fn an_empty_store_has_an_empty_page(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let empty = JobPage { jobs: vec![], next: None };
    ensure_eq!(scratch.jobs(all(), page(None, 10))?, empty, "no filter");
    ensure_eq!(scratch.jobs(of("other"), page(Some(EventNumber(5)), 10))?, empty, "a filter");
    Ok(())
}

fn jobs_are_listed_newest_first(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("m", "x"), event_from("z", "a", "x"), event("m", "y")])?;
    scratch.accept(vec![event_from("b", "k", "x"), event("m", "x"), event("b", "x")])?;
    let found = scratch.jobs(all(), page(None, 10))?;
    ensure_eq!(ids(&found), ["b", "k", "a", "m"], "the ids");
    ensure!(found.jobs.is_sorted_by(|newer, older| newer.event > older.event), "the numbers do not go down");
    Ok(())
}

fn pages_miss_and_double_no_job_while_new_ones_arrive(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(numbered(0..25))?;
    let (mut seen, mut next) = (Vec::new(), None);
    for round in 0..7 {
        let found = scratch.jobs(all(), page(next, 4))?;
        ensure!(found.jobs.len() <= 4, "a page of 4 has {} jobs", found.jobs.len());
        ensure_eq!(found.next.is_none(), round == 6, "page {round} of 7 is the last");
        seen.extend(found.jobs.into_iter().map(|job| job.id));
        next = found.next;
        scratch.accept(numbered(25 + 3 * round..25 + 3 * (round + 1)))?;
    }
    let expected: Vec<_> = (0..25).rev().map(|index: usize| index.to_string()).collect();
    ensure_eq!(seen, expected, "the jobs that were there when the walk began, newest first");
    Ok(())
}

fn next_is_given_only_where_more_is_left(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let events: Vec<_> = scratch.accept(numbered(0..4))?.receipts.iter().map(|receipt| receipt.event).collect();
    for (limit, next) in [(1, events[3]), (3, events[1]), (4, None), (5, None)] {
        ensure_eq!(scratch.jobs(all(), page(None, limit))?.next, next, "after {limit} of 4");
    }
    let rest = scratch.jobs(all(), page(events[2], 2))?;
    ensure_eq!((ids(&rest), rest.next), (vec!["1", "0"], None), "the last two of 4");
    Ok(())
}

fn a_page_has_from_one_to_a_thousand_jobs(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let receipts = scratch.accept(numbered(0..1_003))?.receipts;
    for (limit, length) in [(0, 1), (1, 1), (999, 999), (1_000, 1_000), (1_001, 1_000), (u32::MAX, 1_000)] {
        let found = scratch.jobs(all(), page(None, limit))?;
        ensure_eq!(found.jobs.len(), length, "jobs in a page of {limit}");
        ensure_eq!(found.next, receipts[1_003 - length].event, "what is left after a page of {limit}");
    }
    let rest = scratch.jobs(all(), page(receipts[3].event, u32::MAX))?;
    ensure_eq!((ids(&rest), rest.next), (vec!["2", "1", "0"], None), "the last page");
    Ok(())
}

fn below_may_be_any_number(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let first = scratch.accept(vec![event("a", "x"), event("a", "y"), event("b", "x")])?;
    let second = scratch.accept(vec![event("a", "x"), event("c", "x")])?;
    let number = |receipt: &cola_ia_core::store::Receipt| receipt.number.0;
    let (a, conflict, b) = (number(&first.receipts[0]), number(&first.receipts[1]), number(&first.receipts[2]));
    let c = number(&second.receipts[1]);
    for (below, expected) in [
        (i64::MIN, vec![]),
        (-1, vec![]),
        (0, vec![]),
        (a, vec![]),
        (conflict, vec!["a"]),
        (b, vec!["a"]),
        (b + 1, vec!["b", "a"]),
        (c, vec!["b", "a"]),
        (c + 1, vec!["c", "b", "a"]),
        (i64::MAX, vec!["c", "b", "a"]),
    ] {
        let found = scratch.jobs(all(), page(Some(EventNumber(below)), 10))?;
        ensure_eq!((ids(&found), found.next), (expected, None), "below {below}");
    }
    Ok(())
}

fn jobs_are_filtered_by_source(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![
        event_from("a", "1", "x"),
        event_from("a.b", "2", "x"),
        event_from("a", "3", "x"),
        event("4", "x"),
        event_from("a-b", "5", "x"),
        event_from("a", "6", "x"),
        event_from("a_b", "7", "x"),
    ])?;
    for (name, expected) in [
        ("a", vec!["6", "3", "1"]),
        ("a.b", vec!["2"]),
        ("a_b", vec!["7"]),
        (Source::DEFAULT, vec!["4"]),
        ("b", vec![]),
        ("ab", vec![]),
    ] {
        ensure_eq!(ids(&scratch.jobs(of(name), page(None, 10))?), expected, "source {name}");
    }
    Ok(())
}

fn jobs_are_filtered_by_state(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "x"), event_from("other", "b", "x")])?;
    let others: Vec<_> = JobState::ALL.into_iter().filter(|state| *state != JobState::Pending).collect();
    let mut tables = vec![
        (vec![], vec!["b", "a"]),
        (vec![JobState::Pending], vec!["b", "a"]),
        (vec![JobState::Done, JobState::Pending], vec!["b", "a"]),
        (vec![JobState::Pending, JobState::Pending], vec!["b", "a"]),
        (JobState::ALL.to_vec(), vec!["b", "a"]),
        (others.clone(), vec![]),
    ];
    tables.extend(others.into_iter().map(|state| (vec![state], vec![])));
    for (states, expected) in tables {
        let filter = Filter { states: states.clone(), ..Filter::default() };
        ensure_eq!(ids(&scratch.jobs(filter, page(None, 10))?), expected, "states {states:?}");
        let filter = Filter { sources: vec![source("other")], states: states.clone(), ..Filter::default() };
        let of_source: Vec<_> = expected.into_iter().filter(|id| *id == "b").collect();
        ensure_eq!(ids(&scratch.jobs(filter, page(None, 10))?), of_source, "source other, states {states:?}");
    }
    Ok(())
}

fn jobs_are_filtered_by_type_and_reason(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let of_type = |id: &str, name: &str| {
        Intake::Delivery(Delivery { event_type: Some(event_type(name)), ..delivery("default", id, "x") })
    };
    scratch.accept(vec![of_type("1", "idea"), of_type("2", "order"), event("3", "x"), of_type("4", "idea")])?;
    for (names, expected) in
        [(vec!["idea"], vec!["4", "1"]), (vec!["order", "idea"], vec!["4", "2", "1"]), (vec!["x"], vec![])]
    {
        let types = names.iter().map(|name| event_type(name)).collect();
        let found = scratch.jobs(Filter { types, ..all() }, page(None, 10))?;
        ensure_eq!(ids(&found), expected, "types {names:?}");
    }
    let found = scratch.jobs(Filter { reasons: vec!["effect_unknown".to_owned()], ..all() }, page(None, 10))?;
    ensure_eq!(ids(&found), Vec::<&str>::new(), "a reason that no job has");
    Ok(())
}

fn a_filtered_page_ends_with_the_last_job_that_matches(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    // Only jobs of another source are older than the last two of this one.
    let names = ["other", "other", "a", "other", "a", "other", "a", "other"];
    let batch = names.iter().enumerate().map(|(index, name)| event_from(name, &index.to_string(), "x")).collect();
    let receipts = scratch.accept(batch)?.receipts;
    let first = scratch.jobs(of("a"), page(None, 1))?;
    ensure_eq!((ids(&first), first.next), (vec!["6"], receipts[6].event), "the first page");
    let rest = scratch.jobs(of("a"), page(first.next, 2))?;
    ensure_eq!((ids(&rest), rest.next), (vec!["4", "2"], None), "the last page, with other jobs below it");
    Ok(())
}
