//! Lists of what happened: every delivery, every conflict, and what arrives while somebody follows.

use cola_ia_core::clock::{Clock as _, Timestamp};
use cola_ia_core::event::{Delivery, Fingerprint};
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::{Intake, Refusal, RefusalCode};
use cola_ia_core::store::{
    ConflictSummary, Cursor, DeliverySummary, ErrorKind, FollowFrom, ListRequest, TEXTS_MAX_BYTES, Texts,
};
use cola_ia_core::verdict::Verdict;

use super::check::{cases, ensure, ensure_eq, refused};
use crate::events::{delivery, event, event_from, event_type, line, refusal, source};
use crate::harness::{Backend, Failure, Scratch};

cases![
    every_delivery_is_listed_with_all_that_it_said,
    deliveries_are_filtered_by_each_key,
    a_time_takes_its_first_instant_and_not_its_last,
    pages_of_deliveries_miss_and_double_nothing_while_others_arrive,
    what_is_rare_is_found_behind_thousands_of_others,
    conflicts_are_listed_by_their_first_coming,
    conflicts_are_filtered_by_each_key,
    conflicts_bring_both_texts_if_they_are_asked_for,
    a_page_of_long_texts_comes_short_and_goes_on,
    a_follower_gets_each_delivery_once_in_order,
    a_follower_begins_with_the_latest,
    a_follower_gets_past_what_its_filter_leaves_out,
    a_follower_of_a_newer_store_goes_on_from_its_end,
    a_place_that_no_list_gave_is_refused,
];

fn all() -> Filter {
    Filter::default()
}

fn first(limit: u32) -> ListRequest {
    ListRequest { after: None, limit }
}

fn ids(found: &[DeliverySummary]) -> Vec<&str> {
    found.iter().map(|delivery| delivery.id.as_deref().unwrap_or("-")).collect()
}

fn typed(source_name: &str, id: &str, text: &str, name: &str, time: i64) -> Intake {
    Intake::Delivery(Delivery {
        event_type: Some(event_type(name)),
        time: Some(Timestamp::from_micros(time)),
        ..delivery(source_name, id, text)
    })
}

fn every_delivery_is_listed_with_all_that_it_said(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    let mut members = vec![
        event("a", "x"),
        typed("form", "b", "x", "order", 7),
        Intake::Refusal(Refusal { count: 12, ..Refusal::new(RefusalCode::IdBlank, line(9)).about("what") }),
    ];
    let first_at = scratch.clock().now();
    let mut receipts = scratch.accept(members.clone())?.receipts;
    let second_at = scratch.clock().advance(1_000_000);
    let again = vec![
        typed("form", "b", "x", "other", 8),
        typed("form", "b", "y", "third", 9),
        event("a", "x"),
        event("c", "x"),
    ];
    receipts.extend(scratch.accept(again.clone())?.receipts);
    members.extend(again);
    let mut expected: Vec<DeliverySummary> = Vec::new();
    for (index, (member, receipt)) in members.iter().zip(&receipts).enumerate() {
        let at = if index < 3 { first_at } else { second_at };
        expected.insert(0, crate::model::delivery_summary(member, receipt, at));
    }
    ensure_eq!(expected[0].id.as_deref(), Some("c"), "the expectation");
    for limit in [1, 2, 1_000] {
        ensure_eq!(scratch.all_deliveries(&all(), limit)?, expected, "the deliveries in pages of {limit}");
    }
    scratch.reopen()?;
    ensure_eq!(scratch.all_deliveries(&all(), 1_000)?, expected, "the deliveries after a reopen");
    Ok(())
}

/// Two sources, types, times, every verdict; a minute between the batches.
fn mixed(scratch: &Scratch) -> Result<[Timestamp; 3], Failure> {
    let batches = [
        vec![typed("a", "1", "x", "order", 1), typed("a.b", "2", "x", "idea", 2), event("3", "x")],
        vec![typed("a", "1", "x", "idea", 3), refusal(RefusalCode::IdBlank, 1), typed("a", "1", "y", "order", 4)],
        vec![refusal(RefusalCode::IdNumber, 2), typed("a.b", "2", "z", "idea", 5), typed("a", "1", "y", "late", 6)],
    ];
    let mut times = Vec::new();
    for batch in batches {
        times.push(scratch.clock().advance(60_000_000));
        scratch.accept(batch)?;
    }
    Ok([times[0], times[1], times[2]])
}

fn deliveries_are_filtered_by_each_key(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let [_, second, third] = mixed(&scratch)?;
    let verdicts = |verdicts: &[Verdict]| Filter { verdicts: verdicts.to_vec(), ..all() };
    let cases = [
        (all(), "1 2 - 1 - 1 3 2 1"),
        (Filter { sources: vec![source("a")], ..all() }, "1 1 1 1"),
        (Filter { sources: vec![source("a.b"), source("default")], ..all() }, "2 3 2"),
        (Filter { sources: vec![source("nobody")], ..all() }, ""),
        (verdicts(&[Verdict::New]), "3 2 1"),
        (verdicts(&[Verdict::Duplicate]), "1"),
        (verdicts(&[Verdict::Conflict]), "1 2 1"),
        (verdicts(&[Verdict::Invalid]), "- -"),
        (verdicts(&[Verdict::Invalid, Verdict::Conflict]), "1 2 - 1 -"),
        (verdicts(&[Verdict::New, Verdict::Invalid]), "- - 3 2 1"),
        (verdicts(&[Verdict::Duplicate, Verdict::Conflict]), "1 2 1 1"),
        (verdicts(&[Verdict::Duplicate, Verdict::Conflict, Verdict::Invalid]), "1 2 - 1 - 1"),
        (verdicts(&Verdict::ALL), "1 2 - 1 - 1 3 2 1"),
        (Filter { types: vec![event_type("idea")], ..all() }, "2 1 2"),
        (Filter { types: vec![event_type("order"), event_type("late")], ..all() }, "1 1 1"),
        (Filter { since: Some(second), until: Some(third), ..all() }, "1 - 1"),
        (Filter { since: Some(third), ..all() }, "1 2 -"),
        (Filter { until: Some(second), ..all() }, "3 2 1"),
        (Filter { reasons: vec!["id_blank".into()], ..all() }, "-"),
        (Filter { reasons: vec!["id_blank".into(), "id_number".into()], ..all() }, "- -"),
        (Filter { reasons: vec!["id_blank".into()], verdicts: vec![Verdict::New], ..all() }, ""),
        (Filter { sources: vec![source("a")], verdicts: vec![Verdict::Conflict], since: Some(third), ..all() }, "1"),
    ];
    for (filter, expected) in cases {
        for limit in [1, 2, 1_000] {
            let found = scratch.all_deliveries(&filter, limit)?;
            ensure_eq!(ids(&found).join(" "), expected, "\"{filter}\" in pages of {limit}");
            ensure!(found.is_sorted_by(|newer, older| newer.number > older.number), "\"{filter}\" is not sorted");
        }
    }
    Ok(())
}

fn a_time_takes_its_first_instant_and_not_its_last(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let at = scratch.clock().now();
    scratch.accept(vec![event("a", "x"), event("a", "y")])?;
    let moved = |micros: i64| Some(Timestamp::from_micros(at.as_micros() + micros));
    for (since, until, found) in [
        (moved(0), None, true),
        (moved(1), None, false),
        (None, moved(0), false),
        (None, moved(1), true),
        (moved(0), moved(1), true),
        (moved(1), moved(0), false),
    ] {
        let filter = Filter { since, until, ..all() };
        ensure_eq!(!scratch.all_deliveries(&filter, 10)?.is_empty(), found, "deliveries, \"{filter}\"");
        ensure_eq!(!scratch.all_conflicts(&filter, 10, Texts::Leave)?.is_empty(), found, "conflicts, \"{filter}\"");
        let page = cola_ia_core::store::PageRequest { below: None, limit: 10 };
        ensure_eq!(!scratch.jobs(filter.clone(), page)?.jobs.is_empty(), found, "jobs, \"{filter}\"");
    }
    Ok(())
}

fn pages_of_deliveries_miss_and_double_nothing_while_others_arrive(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    mixed(&scratch)?;
    let expected = scratch.all_deliveries(&all(), 1_000)?;
    let (mut seen, mut after) = (Vec::new(), None);
    for round in 0..=expected.len() {
        let page = scratch.deliveries(all(), ListRequest { after, limit: 2 })?;
        ensure!(page.items.len() <= 2, "a page of 2 has {}", page.items.len());
        seen.extend(page.items);
        after = page.next;
        if after.is_none() {
            break;
        }
        scratch.accept(vec![event(&format!("new {round}"), "x"), event("3", "x"), refusal(RefusalCode::IdBlank, 1)])?;
    }
    ensure_eq!(seen, expected, "what was there when the walk began");
    Ok(())
}

fn what_is_rare_is_found_behind_thousands_of_others(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![typed("rare", "first", "x", "odd", 1), typed("rare", "first", "y", "odd", 2)])?;
    for part in 0..3 {
        let many = (0..3_000).flat_map(|index| {
            let id = format!("{part}.{index}");
            [event_from("many", &id, "x"), event_from("many", &id, "x")]
        });
        scratch.accept(many.collect())?;
    }
    let rare = || vec![source("rare")];
    let of_source = Filter { sources: rare(), ..all() };
    ensure_eq!(ids(&scratch.all_deliveries(&of_source, 10)?), ["first", "first"], "deliveries of the rare source");
    let typed = Filter { types: vec![event_type("odd")], ..all() };
    ensure_eq!(ids(&scratch.all_deliveries(&typed, 10)?), ["first", "first"], "deliveries of the rare type");
    let mut after = None;
    for _ in 0..100 {
        let page = scratch.jobs(of_source.clone(), cola_ia_core::store::PageRequest { below: after, limit: 10 })?;
        if !page.jobs.is_empty() {
            ensure_eq!((page.jobs[0].id.as_str(), page.next), ("first", None), "the job of the rare source");
            return Ok(());
        }
        after = page.next;
        ensure!(after.is_some(), "the job of the rare source is not found");
    }
    Err("the pages of jobs have no end".into())
}

fn conflicts_are_listed_by_their_first_coming(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let start = scratch.accept(vec![event("old", "x"), event("new", "x")])?;
    let numbers: Vec<_> = start.receipts.iter().filter_map(|receipt| receipt.event).collect();
    let mut times = Vec::new();
    for batch in [vec![typed("default", "new", "n1", "t", 3)], vec![event("old", "o1"), event("old", "o2")]] {
        times.push(scratch.clock().advance(1_000));
        scratch.accept(batch)?;
    }
    let last_at = scratch.clock().advance(1_000);
    scratch.accept(vec![typed("default", "new", "n1", "other", 4)])?;
    let conflict = |place: usize, id: &str, number, text: &str, time: usize| ConflictSummary {
        event: numbers[place],
        source: source("default"),
        id: id.to_owned(),
        number,
        fingerprint: Fingerprint::of(text),
        event_type: None,
        time: None,
        count: 1,
        first_at: times[time],
        last_at: times[time],
        decision: None,
        texts: None,
    };
    let expected = vec![
        conflict(0, "old", 2, "o2", 1),
        conflict(0, "old", 1, "o1", 1),
        ConflictSummary {
            event_type: Some(event_type("t")),
            time: Some(Timestamp::from_micros(3)),
            count: 2,
            last_at,
            ..conflict(1, "new", 1, "n1", 0)
        },
    ];
    for limit in [1, 2, 1_000] {
        ensure_eq!(scratch.all_conflicts(&all(), limit, Texts::Leave)?, expected, "conflicts in pages of {limit}");
    }
    Ok(())
}

fn conflicts_are_filtered_by_each_key(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let [_, second, third] = mixed(&scratch)?;
    let cases = [
        (all(), "2 1"),
        (Filter { sources: vec![source("a")], ..all() }, "1"),
        (Filter { sources: vec![source("b")], ..all() }, ""),
        (Filter { types: vec![event_type("idea")], ..all() }, "2"),
        (Filter { since: Some(third), ..all() }, "2"),
        (Filter { since: Some(second), until: Some(third), ..all() }, "1"),
        (Filter { undecided: Some(true), ..all() }, "2 1"),
        (Filter { undecided: Some(false), ..all() }, ""),
        (Filter { undecided: Some(true), sources: vec![source("a.b")], until: Some(third), ..all() }, ""),
    ];
    for (filter, expected) in cases {
        for limit in [1, 1_000] {
            let found = scratch.all_conflicts(&filter, limit, Texts::Leave)?;
            let found: Vec<&str> = found.iter().map(|conflict| conflict.id.as_str()).collect();
            ensure_eq!(found.join(" "), expected, "\"{filter}\" in pages of {limit}");
        }
    }
    Ok(())
}

fn conflicts_bring_both_texts_if_they_are_asked_for(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "one"), event("a", "two"), event("a", "three")])?;
    let found = scratch.all_conflicts(&all(), 10, Texts::Bring)?;
    let texts = |conflict: &ConflictSummary| {
        let texts = conflict.texts.clone().unwrap_or_default();
        (texts.event.unwrap_or_default(), texts.conflict.unwrap_or_default())
    };
    let expected = [("one", "three"), ("one", "two")].map(|(ours, theirs)| (ours.to_owned(), theirs.to_owned()));
    ensure_eq!(found.iter().map(texts).collect::<Vec<_>>(), expected, "the texts");
    let without = scratch.all_conflicts(&all(), 10, Texts::Leave)?;
    ensure!(without.iter().all(|conflict| conflict.texts.is_none()), "texts that nobody asked for");
    Ok(())
}

fn a_page_of_long_texts_comes_short_and_goes_on(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let long = "x".repeat(1 << 20);
    scratch.accept(vec![event("a", "x")])?;
    for number in 0..12 {
        scratch.accept(vec![event("a", &format!("{}{number}", &long[2..]))])?;
    }
    let page = scratch.conflicts(all(), first(1_000), Texts::Bring)?;
    let bytes: usize =
        page.items.iter().filter_map(|item| item.texts.as_ref()?.conflict.as_ref()).map(String::len).sum();
    ensure!(bytes <= TEXTS_MAX_BYTES + long.len() + 64, "a page has {bytes} bytes of texts");
    ensure!(page.next.is_some(), "a short page does not say that there is more");
    ensure_eq!(scratch.all_conflicts(&all(), 1_000, Texts::Bring)?.len(), 12, "all conflicts");
    Ok(())
}

fn a_follower_gets_each_delivery_once_in_order(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let start = scratch.follow(all(), FollowFrom::Latest(0))?;
    ensure_eq!((start.items.len(), start.more), (0, false), "an empty store");
    let (mut cursor, mut seen) = (start.cursor, Vec::new());
    for part in 0..3 {
        mixed(&scratch)?;
        let many = (0..700).flat_map(|index| {
            let id = format!("{part}.{index}");
            [event(&id, "x"), event(&id, "x"), event(&id, "y"), refusal(RefusalCode::IdBlank, 1)]
        });
        scratch.accept(many.collect())?;
        loop {
            let found = scratch.follow(all(), FollowFrom::After(cursor))?;
            ensure!(found.items.len() <= cola_ia_core::store::FOLLOW_MAX, "{} at once", found.items.len());
            ensure!(!found.rewound, "the store did not go back");
            seen.extend(found.items);
            cursor = found.cursor;
            if !found.more {
                break;
            }
        }
        let nothing = scratch.follow(all(), FollowFrom::After(cursor.clone()))?;
        ensure_eq!((nothing.items.len(), nothing.more), (0, false), "with nothing new");
    }
    let mut expected = scratch.all_deliveries(&all(), 1_000)?;
    expected.reverse();
    ensure_eq!(seen.len(), expected.len(), "how many were followed");
    ensure!(seen == expected, "what was followed is not what is listed, in the other order");
    Ok(())
}

fn a_follower_begins_with_the_latest(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    mixed(&scratch)?;
    let latest = scratch.follow(all(), FollowFrom::Latest(4))?;
    ensure_eq!(ids(&latest.items), ["1", "-", "2", "1"], "the latest four");
    let of_source = Filter { sources: vec![source("a.b")], ..all() };
    let latest = scratch.follow(of_source, FollowFrom::Latest(1))?;
    ensure_eq!(ids(&latest.items), ["2"], "the latest of a source");
    scratch.accept(vec![event("next", "x")])?;
    let next = scratch.follow(all(), FollowFrom::After(latest.cursor))?;
    ensure_eq!(ids(&next.items), ["next"], "what came afterwards");
    Ok(())
}

fn a_follower_gets_past_what_its_filter_leaves_out(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let mut cursor = scratch.follow(all(), FollowFrom::Latest(0))?.cursor;
    scratch.accept((0..2_500).map(|index| event(&index.to_string(), "x")).collect())?;
    scratch.accept(vec![event_from("rare", "a", "x")])?;
    let filter = Filter { sources: vec![source("rare")], ..all() };
    let mut seen = Vec::new();
    for _ in 0..100 {
        let found = scratch.follow(filter.clone(), FollowFrom::After(cursor))?;
        seen.extend(found.items);
        cursor = found.cursor;
        if !found.more {
            ensure_eq!(ids(&seen), ["a"], "what the filter lets through");
            return Ok(());
        }
    }
    Err("there is always more".into())
}

fn a_follower_of_a_newer_store_goes_on_from_its_end(backend: &dyn Backend) -> Result<(), Failure> {
    let newer = Scratch::new(backend)?;
    mixed(&newer)?;
    let cursor = newer.follow(all(), FollowFrom::Latest(0))?.cursor;
    // As after a restore: this store has not come so far.
    let older = Scratch::new(backend)?;
    older.accept(vec![event("a", "x")])?;
    let found = older.follow(all(), FollowFrom::After(cursor))?;
    ensure_eq!((found.items.len(), found.rewound), (0, true), "the first look");
    older.accept(vec![event("b", "x")])?;
    let found = older.follow(all(), FollowFrom::After(found.cursor))?;
    ensure_eq!((ids(&found.items), found.rewound), (vec!["b"], false), "what came afterwards");
    Ok(())
}

fn a_place_that_no_list_gave_is_refused(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    mixed(&scratch)?;
    for wrong in ["", "x", "1.2", "9223372036854775808", "1;2", "-", "\u{661}"] {
        let request = || ListRequest { after: Some(Cursor(wrong.into())), limit: 10 };
        let code = "cursor_unknown";
        refused("deliveries", scratch.deliveries(all(), request()), ErrorKind::Invalid, code)?;
        refused("conflicts", scratch.conflicts(all(), request(), Texts::Leave), ErrorKind::Invalid, code)?;
        let attempts = crate::harness::block_on(scratch.store().attempts(all(), request()));
        refused("attempts", attempts, ErrorKind::Invalid, code)?;
        let place = FollowFrom::After(Cursor(wrong.into()));
        refused("follow", scratch.follow(all(), place), ErrorKind::Invalid, code)?;
    }
    Ok(())
}
