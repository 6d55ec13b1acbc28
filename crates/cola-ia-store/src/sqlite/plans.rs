//! No view scans a table that grows: SQLite's plan of every statement that the views run.
//!
//! The statements are not listed, they are overheard: a view is called with everything that changes its statements, on a
//! store with some rows, and what SQLite was given is explained. A new view adds its calls to [`views`].

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cola_ia_core::clock::{Clock as _, SystemClock, SystemEntropy, Timestamp};
use cola_ia_core::effect::{Begin, BeginId, Decision, EffectName, EffectState, Evidence, Micros, Policy, SettleAnswer};
use cola_ia_core::event::{EventType, Source};
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::{EventNumber, RefusalCode};
use cola_ia_core::job::{Ending, JobState, LeaseToken, RetryPolicy, Setback};
use cola_ia_core::store::{
    ClaimRequest, EffectDecision, EffectFilter, EffectRef, End, Failure, JobRun, Looked, OpId, Order, PageRequest,
    Report, Store as _, Texts,
};
use cola_ia_core::verdict::Verdict;
use cola_ia_testkit::clock::ManualClock;
use cola_ia_testkit::events::{event, event_from, refusal, source};
use cola_ia_testkit::harness::block_on;
use rusqlite::Connection;
use rusqlite::trace::{TraceEvent, TraceEventCodes};

use super::reader::Sight;
use super::writer::Scope;
use super::{
    Options, SqliteStore, attempts, claim, conflicts, deliveries, effects, end, find_events, jobs, order, preview,
    recover, slots, sources, stats,
};

/// Tables that grow with what comes in or is done. `counter_deltas` is not one: it is emptied every 4,096 rows.
const GROWING: [&str; 16] = [
    "attempts",
    "conflicts",
    "deliveries",
    "effect_records",
    "effect_tries",
    "effects",
    "events",
    "identities",
    "jobs",
    "money",
    "ops",
    "revisions",
    "decisions",
    "counters",
    "counter_lateness",
    "counter_numbers",
];

/// Every view, in every form that its statement can take.
fn views(sight: &Sight<'_>) {
    for filter in filters() {
        let below = PageRequest { below: Some(EventNumber(1_000)), limit: 10 };
        jobs::jobs(sight, &filter, below).unwrap();
        deliveries::deliveries(sight, &filter, Some(1_000), 10).unwrap();
        deliveries::latest(sight, &filter, 10).unwrap();
        stats::stats(sight, &filter).unwrap();
        sources::sources(sight, &filter, Timestamp::from_micros(i64::MAX)).unwrap();
        deliveries::follow(sight, &filter, 0).unwrap();
        attempts::attempts(sight, &filter, Some(1_000), 10).unwrap();
        for texts in [Texts::Leave, Texts::Bring] {
            conflicts::conflicts(sight, &filter, Some([i64::MAX, 1, 1]), 10, texts).unwrap();
        }
    }
    for filter in effect_filters() {
        effects::list::list(sight, &filter, Some(1_000), 10).unwrap();
    }
    find_events::find_events(sight, None, "a").unwrap();
    find_events::find_events(sight, Some(&source("form")), "a").unwrap();
    preview::preview(sight, &[event("a", "x"), event("not there", "x")]).unwrap();
    money_views(sight);
}

/// Views of money.
fn money_views(sight: &Sight<'_>) {
    use cola_ia_core::effect::UtcDay;
    use cola_ia_core::store::{CostsBy, CostsRequest};
    let today = UtcDay(20_000);
    for by in [CostsBy::Source, CostsBy::Model, CostsBy::Day] {
        for day in [None, Some(today)] {
            for sources in [vec![], vec![source("default"), source("form")]] {
                super::costs::costs(sight, &CostsRequest { by, sources, since: day, until: day }).unwrap();
            }
        }
    }
    // A view of budgets asks for the sums of each.
    sight.connection.execute("INSERT INTO budgets SELECT source, 5 FROM sources", []).unwrap();
    assert!(!super::budgets::budgets(sight, today).unwrap().is_empty());
}

/// Each key alone, and with each of the others.
fn filters() -> Vec<Filter> {
    let verdicts = |verdicts: &[Verdict]| Filter { verdicts: verdicts.to_vec(), ..Filter::default() };
    let states = |states: &[JobState]| Filter { states: states.to_vec(), ..Filter::default() };
    let kinds = [
        Filter::default(),
        verdicts(&[Verdict::New]),
        verdicts(&[Verdict::Duplicate]),
        verdicts(&[Verdict::Conflict]),
        verdicts(&[Verdict::Invalid]),
        verdicts(&[Verdict::Conflict, Verdict::Invalid]),
        states(&[JobState::Pending]),
        states(&[JobState::Done, JobState::Failed]),
        states(&[JobState::Failed, JobState::Held]),
        Filter { undecided: Some(true), ..Filter::default() },
        Filter { undecided: Some(false), ..Filter::default() },
    ];
    let now = Some(Timestamp::from_micros(1_800_000_000_000_000));
    let with: [fn(&mut Filter, Option<Timestamp>); 6] = [
        |_, _| {},
        |filter, _| filter.sources = vec![source("default"), source("form")],
        |filter, _| filter.types = vec![EventType::new("a").unwrap()],
        |filter, now| filter.since = now,
        |filter, now| filter.until = now,
        |filter, _| filter.reasons = vec!["id_blank".into()],
    ];
    let mut filters = Vec::new();
    for kind in kinds {
        for first in with {
            for second in with {
                let mut filter = kind.clone();
                first(&mut filter, now);
                second(&mut filter, now);
                filters.push(filter);
            }
        }
    }
    filters
}

fn effect_filters() -> Vec<EffectFilter> {
    let states: [&[EffectState]; 4] =
        [&[], &[EffectState::Unknown, EffectState::Held], &[EffectState::Done], &[EffectState::Failed]];
    let mut filters = Vec::new();
    for states in states {
        for sources in [vec![], vec![source("form")]] {
            for resource_id in [None, Some("post"), Some("many")] {
                for alarmed in [false, true] {
                    let (states, resource_id) = (states.to_vec(), resource_id.map(str::to_owned));
                    filters.push(EffectFilter { sources: sources.clone(), states, resource_id, alarmed });
                }
            }
        }
    }
    filters
}

/// The statements that `run` gives SQLite on this connection, with `?1` and the like for their values.
fn overheard(connection: &mut Connection, run: impl FnOnce(&Sight<'_>)) -> BTreeSet<String> {
    let slots = slots("store".as_ref(), connection).unwrap();
    let heard = Arc::new(Mutex::new(BTreeSet::new()));
    let listener = Arc::clone(&heard);
    let hear = move |event: TraceEvent<'_>| {
        if let TraceEvent::Stmt(_, sql) = event {
            listener.lock().unwrap().insert(sql.to_owned());
        }
    };
    connection.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(hear)).unwrap();
    let transaction = connection.transaction().unwrap();
    run(&Sight { connection: &transaction, slots });
    drop(transaction);
    let heard = std::mem::take(&mut *heard.lock().unwrap());
    let is_planned = |sql: &String| ["SELECT", "UPDATE", "INSERT"].iter().any(|word| sql.starts_with(word));
    heard.into_iter().filter(is_planned).collect()
}

/// What is wrong with a plan: a growing table that is read whole, or rows of one that are sorted before a limit is applied.
fn faults(connection: &Connection, sql: &str) -> Vec<String> {
    let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let mut rows = explain.raw_query();
    let mut steps = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        steps.push(row.get::<_, String>(3).unwrap());
    }
    drop(rows);
    let names = names_of(sql);
    steps
        .into_iter()
        .filter(|step| {
            if step == "USE TEMP B-TREE FOR ORDER BY" {
                return true;
            }
            let Some(table) = step.strip_prefix("SCAN ").and_then(|rest| rest.split(' ').next()) else { return false };
            let table = names.get(table).map_or(table, String::as_str);
            GROWING.contains(&table)
        })
        .collect()
}

/// The tables behind the short names of a statement: `e` is `events` after `FROM events e`.
fn names_of(sql: &str) -> BTreeMap<String, String> {
    let words: Vec<&str> =
        sql.split(|c: char| c.is_whitespace() || "(),".contains(c)).filter(|w| !w.is_empty()).collect();
    let follows = words.windows(3).filter(|words| matches!(words[0], "FROM" | "JOIN"));
    follows.map(|words| (words[2].to_owned(), words[1].to_owned())).collect()
}

fn store_with_rows(folder: &std::path::Path) -> Connection {
    let path = folder.join("store.sqlite3");
    let (store, _) = SqliteStore::open(&path, &Options::default()).unwrap();
    let batch = vec![
        event("a", "x"),
        event("a", "x"),
        event("a", "y"),
        event_from("form", "a", "x"),
        refusal(RefusalCode::IdBlank, 1),
    ];
    block_on(store.accept(OpId::new(&SystemClock, &SystemEntropy), Arc::new(batch))).unwrap();
    drop(store);
    let connection = Connection::open(path).unwrap();
    // An effect to be found, and a resource of more jobs than one look goes through.
    connection
        .execute_batch(
            "INSERT INTO effects (effect, event, run, name, key, state, lookup, settle, otherwise, begun_at, changed_at)
             VALUES (1, 1, 1, 'publish', 'k', 'done', 0, 0, 'hold', 1, 1);
             INSERT INTO effect_records (effect, number, at, witness, resource_id, charged_micros, day)
             VALUES (1, 1, 1, 'sender', 'post', 0, 0);
             WITH RECURSIVE n (n) AS (SELECT 100000 UNION ALL SELECT n + 1 FROM n WHERE n < 104000)
             INSERT INTO jobs (event, source, resource_id, state) SELECT n, 1, 'many', 'done' FROM n",
        )
        .unwrap();
    connection
}

#[test]
fn no_view_scans_a_table_that_grows() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = store_with_rows(folder.path());
    let heard = overheard(&mut connection, views);
    assert!(heard.len() > 100, "only {} statements were heard", heard.len());
    let mut wrong = Vec::new();
    for sql in &heard {
        let faults = faults(&connection, sql);
        if !faults.is_empty() {
            wrong.push(format!("{sql}\n    {}", faults.join("\n    ")));
        }
    }
    assert!(wrong.is_empty(), "{} of {} statements:\n{}", wrong.len(), heard.len(), wrong.join("\n"));
}

/// Every verb about leases, in every form that its statements can take.
fn leases(sight: &Sight<'_>, clock: &ManualClock) {
    let scope = Scope {
        connection: sight.connection,
        path: Path::new("store"),
        clock,
        slots: sight.slots,
        fold_after: 1_000,
        packing: Options::default().packing,
    };
    let policy = RetryPolicy { max_attempts: 9, max_crashes: 9, ..RetryPolicy::default() };
    let minute = Duration::from_mins(1);
    let claim = |op: u8, source: Option<&str>| {
        let source = source.map(|name| Source::new(name).unwrap());
        let request = ClaimRequest { worker: "w".to_owned(), lease: minute, limit: 100, source };
        claim::claim(&scope, OpId([op; 16]), &request).unwrap().leases
    };
    let say = |token, ending| {
        let report = Report { resource_id: Some("post".to_owned()), ..Report::default() };
        end::end(&scope, &[End { token, ending, report }], &policy).unwrap();
    };
    let first = claim(1, Some("form"));
    let rest = claim(2, None);
    assert!(!first.is_empty() && !rest.is_empty());
    assert_eq!(claim(1, None), first);
    assert!(claim(3, None).is_empty());
    end::extend(&scope, &[rest[0].token, LeaseToken([9; 18])], minute).unwrap();
    say(rest[0].token, Ending::Failed { setback: Setback::Error, not_before: None });
    say(rest[0].token, Ending::Done);
    end::extend(&scope, &[rest[0].token], minute).unwrap();
    clock.advance(3_600_000_000);
    assert!(!recover::recover(&scope, &policy, 100, false).unwrap().jobs.is_empty());
    let jobs = [first[0].job.event, rest[0].job.event, EventNumber(77)];
    for (op, what) in (4..).zip([Order::Cancel, Order::Retry, Order::Cancel, Order::Replay]) {
        order::order(&scope, OpId([op; 16]), what, &jobs).unwrap();
    }
    order::order(&scope, OpId([4; 16]), Order::Cancel, &jobs).unwrap();
}

#[test]
fn no_verb_about_leases_scans_a_table_that_grows() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = store_with_rows(folder.path());
    let clock = ManualClock::at(SystemClock.now());
    let heard = overheard(&mut connection, |sight| leases(sight, &clock));
    let is_of_leases = |sql: &str| ["attempts", "jobs", "revisions"].iter().any(|table| sql.contains(table));
    let heard: Vec<&String> = heard.iter().filter(|sql| is_of_leases(sql)).collect();
    for of in
        ["UPDATE jobs SET state", "UPDATE jobs SET lease_until", "UPDATE attempts SET ended_at", "SET late", "LIMIT ?3"]
    {
        assert!(heard.iter().any(|sql| sql.contains(of)), "{of} was not heard: {heard:#?}");
    }
    // Recovery sorts the jobs that run, which are as many as workers have in hand: an index of the ends of leases would be
    // written three times a job.
    let is_recovery = |sql: &str| sql.contains("state = 'running'") && sql.contains("lease_until <= ?1");
    assert_eq!(heard.iter().filter(|sql| is_recovery(sql)).count(), 1, "{heard:#?}");
    let wrong: Vec<(&String, Vec<String>)> = heard
        .into_iter()
        .filter(|sql| !is_recovery(sql))
        .map(|sql| (sql, faults(&connection, sql)))
        .filter(|(_, faults)| !faults.is_empty())
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Every verb about effects, in every form that its statements can take.
fn effects(sight: &Sight<'_>, clock: &ManualClock) {
    let scope = Scope {
        connection: sight.connection,
        path: Path::new("store"),
        clock,
        slots: sight.slots,
        fold_after: 1_000,
        packing: Options::default().packing,
    };
    let policy = RetryPolicy::default();
    let request = ClaimRequest { worker: "w".to_owned(), lease: Duration::from_mins(1), limit: 1, source: None };
    let leased = claim::claim(&scope, OpId([1; 16]), &request).unwrap().leases.remove(0);
    let name = EffectName::new("invoice").unwrap();
    let begin = |id: u8| {
        let begin = Begin {
            lease: leased.token,
            name: name.clone(),
            begin_id: BeginId([id; 16]),
            policy: Policy { lookup: true, settle: Duration::ZERO, ..Policy::default() },
            request: None,
            expected: Micros::new(1),
            send_within: Duration::ZERO,
            call_time: Duration::ZERO,
        };
        effects::begin::begin(&scope, &begin, &policy).unwrap().answer
    };
    sight.connection.execute("INSERT INTO budgets SELECT source, 9 FROM sources", []).unwrap();
    let job = Some(JobRun { source: source("default"), id: "a".to_owned(), run: 1 });
    let of = |number| EffectRef { lease: leased.token, name: name.clone(), number, job: job.clone() };
    let evidence = |id: &str| Evidence { resource_id: Some(id.to_owned()), ..Evidence::default() };
    begin(1);
    effects::failed::failed(&scope, &of(1), Failure::Rejected, Some("n"), &policy).unwrap();
    effects::resolve::resolve(&scope, &of(1), &Looked::Absent, &policy).unwrap();
    begin(2);
    effects::unknown::unknown(&scope, &of(2), Some("n"), &policy).unwrap();
    let ends = [End { token: leased.token, ending: Ending::Done, report: Report::default() }];
    assert!(end::end(&scope, &ends, &policy).unwrap()[0].is_err());
    order::order(&scope, OpId([2; 16]), Order::Cancel, &[leased.job.event]).unwrap();
    let decide = |op: u8, number, decision| {
        let decision =
            EffectDecision { event: leased.job.event, name: name.clone(), number, decision, note: Some("n".into()) };
        effects::decide::decide(&scope, OpId([op; 16]), &decision, &policy).unwrap()
    };
    assert_eq!(decide(3, 1, Decision::Absent), Some(SettleAnswer::Void));
    assert_eq!(decide(4, 2, Decision::Found(vec![Evidence::default()])), Some(SettleAnswer::Recorded));
    effects::done::done(&scope, &of(2), &evidence("post-1"), &policy).unwrap();
    effects::done::done(&scope, &EffectRef { lease: LeaseToken([9; 18]), ..of(2) }, &evidence("post-2"), &policy)
        .unwrap();
    order::order(&scope, OpId([5; 16]), Order::Replay, &[leased.job.event]).unwrap();
}

#[test]
fn no_verb_about_effects_scans_a_table_that_grows() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = store_with_rows(folder.path());
    let clock = ManualClock::at(SystemClock.now());
    let heard = overheard(&mut connection, |sight| effects(sight, &clock));
    for of in [
        "INSERT INTO effects",
        "UPDATE effects SET state",
        "UPDATE effects SET note",
        "INSERT INTO effect_tries",
        "UPDATE effect_tries",
        "INSERT INTO effect_records",
        "UPDATE effect_records",
        "UPDATE jobs SET resource_id",
        "INSERT INTO money",
        "FROM budgets",
    ] {
        assert!(heard.iter().any(|sql| sql.contains(of)), "{of} was not heard: {heard:#?}");
    }
    let wrong: Vec<(&String, Vec<String>)> =
        heard.iter().map(|sql| (sql, faults(&connection, sql))).filter(|(_, faults)| !faults.is_empty()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What a job without effects pays for them: one question a lease and one an end.
#[test]
fn a_job_without_effects_is_asked_once_whether_it_has_any() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = store_with_rows(folder.path());
    connection.execute("DELETE FROM effects", []).unwrap();
    let clock = ManualClock::at(SystemClock.now());
    let heard = overheard(&mut connection, |sight| leases(sight, &clock));
    let about = |sql: &&String| ["effect", "restored_at", "money"].iter().any(|word| sql.contains(word));
    let asked: Vec<&String> = heard.iter().filter(about).collect();
    // That of a new run asks for the effects of all runs.
    assert_eq!(asked.len(), 2, "{asked:#?}");
}

#[test]
fn a_scan_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = store_with_rows(folder.path());
    let heard = overheard(&mut connection, |sight| {
        let count = |sql: &str| sight.connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        count("SELECT count(*) FROM events e WHERE e.received_at > 5");
        count("SELECT count(*) FROM deliveries WHERE received_at > 5");
        count("SELECT count(*) FROM sources");
        count("SELECT max(seq) FROM events");
        count("SELECT coalesce(max(event), 0) FROM jobs j WHERE j.event < 5");
    });
    let wrong: Vec<Vec<String>> = heard.iter().map(|sql| faults(&connection, sql)).collect();
    assert_eq!(wrong.iter().filter(|faults| !faults.is_empty()).count(), 2, "{heard:#?} {wrong:#?}");
}
