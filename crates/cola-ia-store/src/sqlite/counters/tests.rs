use cola_ia_core::event::Source;
use cola_ia_core::filter::Filter;
use cola_ia_core::store::{Stats, StatsGroup};
use cola_ia_testkit::clock::SeededEntropy;
use rusqlite::TransactionBehavior;

use super::super::reader::Sight;
use super::super::slot::Slots;
use super::super::time_range::{self, numbers_between};
use super::super::{migrate, stats};
use super::*;

fn store() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    for step in migrate::MIGRATIONS {
        migrate::apply(&connection, step).unwrap();
    }
    connection.execute_batch("INSERT INTO sources VALUES (1, 'a'), (2, 'b'), (3, 'c')").unwrap();
    connection
}

fn ask(connection: &mut Connection, request: &Filter) -> Stats {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Deferred).unwrap();
    stats::stats(&Sight { connection: &transaction, slots: Slots::new([0; 16], 64) }, request).unwrap()
}

fn rows(connection: &Connection, what: &str) -> i64 {
    connection.query_row(&format!("SELECT count(*) FROM {what}"), [], |row| row.get(0)).unwrap()
}

fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros)
}

/// A delivery as it really was.
struct Came {
    at: i64,
    source: i64,
    verdict: Verdict,
    n: i64,
    number: i64,
    time: Option<i64>,
}

/// What the answer should be, counted one by one.
fn counted(came: &[Came], jobs: &BTreeMap<(i64, JobState), i64>, answer: &Stats) -> Stats {
    let (since, until) = (answer.since.map(Timestamp::as_micros), answer.until.map(Timestamp::as_micros));
    let groups = (0..=3).map(|source| {
        let name = ["", "a", "b", "c"][source];
        let mut group = StatsGroup { source: Source::new(name).ok(), ..StatsGroup::default() };
        for state in JobState::ALL {
            let n = jobs.get(&(source as i64, state)).copied().unwrap_or_default();
            group.jobs[state as usize] = n.unsigned_abs();
        }
        let is_in = |came: &&Came| {
            came.source == source as i64
                && since.is_none_or(|since| came.at >= since)
                && until.is_none_or(|until| came.at < until)
        };
        for came in came.iter().filter(is_in) {
            group.deliveries[came.verdict as usize] += came.n.unsigned_abs();
            if let Some(time) = came.time {
                group.lateness.add(at(came.at), at(time));
            }
        }
        group
    });
    Stats::of(answer.since, answer.until, groups.collect())
}

/// Transactions at random times over a hundred days, the clock going back too, added up at random moments: whatever is asked
/// in between, each delivery is counted once, and its number is in the range that its time gives.
#[test]
fn folds_at_random_moments_lose_and_double_nothing() {
    let seed = std::env::var("COLA_IA_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0xc01a);
    println!("COLA_IA_TEST_SEED={seed}");
    let random = SeededEntropy::new(seed);
    let below = |bound: i64| (random.next_u64() % bound.unsigned_abs()) as i64;
    for _ in 0..12 {
        let mut connection = store();
        let (mut came, mut jobs): (Vec<Came>, BTreeMap<(i64, JobState), i64>) = (Vec::new(), BTreeMap::new());
        let (mut now, mut number, mut was_longer) = (1_769_860_800_000_000, 0, [false; 3]);
        for _ in 0..300 {
            now += match below(10) {
                0 => -below(3 * Span::DAY.micros()),
                1..=3 => below(3 * Span::DAY.micros()),
                4..=6 => below(Span::HOUR.micros()),
                _ => below(1_000_000),
            };
            let mut tally = Tally::default();
            for _ in 0..below(5) {
                number += 1 + below(3);
                let verdict = Verdict::ALL[below(4) as usize];
                let refused = verdict == Verdict::Invalid;
                let source = if refused { 0 } else { 1 + below(3) };
                let n = if refused { 1 + below(50) } else { 1 };
                let time = (!refused && below(2) == 0).then(|| now - below(1 << 40) + 1_000);
                let sum = tally.delivery(source, verdict, n, number);
                if let Some(time) = time {
                    sum.late.add(at(now), at(time));
                }
                if verdict == Verdict::New {
                    *jobs.entry((source, JobState::Pending)).or_default() += 1;
                }
                came.push(Came { at: now, source, verdict, n, number, time });
            }
            let source = 1 + below(3);
            if let Some(waiting) = jobs.get_mut(&(source, JobState::Pending)).filter(|waiting| **waiting > 0) {
                *waiting -= 1;
                let to = JobState::ALL[1 + below(5) as usize];
                *jobs.entry((source, to)).or_default() += 1;
                tally.job_moves(source, JobState::Pending, to);
            }
            tally.write(&connection, at(now), 1 + below(60) as u32).unwrap();
            for (span, was) in Span::ALL.into_iter().zip(&mut was_longer) {
                *was |= rows(&connection, &format!("counters WHERE span = {}", span.seconds)) > 0;
            }
            let edge = || (below(4) > 0).then(|| at(now - below(90 * Span::DAY.micros())));
            let (since, until) = (edge(), edge());
            let answer = ask(&mut connection, &Filter { since, until, ..Filter::default() });
            assert_eq!(answer, counted(&came, &jobs, &answer));
            let widest = Span::DAY.micros();
            let wider = since.map(|since| since.as_micros() - answer.since.unwrap().as_micros());
            assert!(wider.is_none_or(|wider| (0..widest).contains(&wider)), "{since:?}: {answer:?}");
            let wider = until.map(|until| answer.until.unwrap().as_micros() - until.as_micros());
            assert!(wider.is_none_or(|wider| (0..widest).contains(&wider)), "{until:?}: {answer:?}");

            let (first, last) = numbers_between(&connection, since, until).unwrap();
            for came in &came {
                let asked = since.is_none_or(|since| came.at >= since.as_micros())
                    && until.is_none_or(|until| came.at <= until.as_micros());
                assert!(!asked || (first..=last).contains(&came.number), "{} of {first} to {last}", came.number);
            }
        }
        assert_eq!(was_longer, [true; 3], "minutes, hours and days were all seen");
    }
}

/// A store of version 1, as it counted: what was counted, which numbers that had and where its jobs stand is all kept.
#[test]
fn counts_of_an_older_store_are_taken_along() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate::apply(&connection, &migrate::MIGRATIONS[0]).unwrap();
    let minute = |minute: i64| minute * 60_000_000;
    connection
        .execute_batch(&format!(
            "INSERT INTO sources VALUES (1, 'a'), (2, 'b');
             INSERT INTO ops (op, verb, request, at, first, count) VALUES
                (x'01', 'accept', 0, {0}, 1, 3), (x'02', 'accept', 0, {0} + 7, 4, 2), (x'03', 'accept', 0, {1}, 6, 2),
                (x'04', 'accept', 0, {1}, 8, 0);
             INSERT INTO counter_deltas (at, source, counter, n) VALUES
                ({0}, 1, 'new', 2), ({0}, NULL, 'invalid', 90), ({0} + 7, 1, 'duplicate', 1), ({0} + 7, 2, 'new', 1),
                ({1}, 2, 'conflict', 2);
             INSERT INTO jobs (event, source, state) VALUES (1, 1, 'pending'), (2, 1, 'held'), (5, 2, 'pending');",
            minute(10),
            minute(-10) + 1,
        ))
        .unwrap();
    migrate::apply(&connection, &migrate::MIGRATIONS[1]).unwrap();

    let stats = ask(&mut connection, &Filter::default());
    assert_eq!(stats.total.deliveries, [3, 1, 2, 90]);
    let told: Vec<_> = stats.groups.iter().map(|group| (group.deliveries, group.jobs)).collect();
    let none = [0; 6];
    let expected = [([0, 0, 0, 90], none), ([2, 1, 0, 0], [1, 0, 0, 0, 1, 0]), ([1, 0, 2, 0], [1, 0, 0, 0, 0, 0])];
    assert_eq!(told, expected);
    let since = Filter { since: Some(at(0)), ..Filter::default() };
    assert_eq!(ask(&mut connection, &since).total.deliveries, [3, 1, 0, 90]);
    assert_eq!(numbers_between(&connection, Some(at(0)), None).unwrap(), (1, 5));
    assert_eq!(numbers_between(&connection, None, Some(at(0))).unwrap(), (6, 7));

    let mut tally = Tally::default();
    tally.delivery(1, Verdict::New, 1, 8);
    tally.write(&connection, at(minute(10)), 1).unwrap();
    assert_eq!(ask(&mut connection, &since).total.deliveries, [4, 1, 0, 90]);
}

#[test]
fn a_range_of_time_is_a_narrow_range_of_numbers() {
    let connection = store();
    for number in 1..=1_000 {
        let mut tally = Tally::default();
        tally.delivery(1, Verdict::Duplicate, 1, number);
        tally.write(&connection, at(number * 60_000_000), 64).unwrap();
    }
    let minute = |minute: i64| Some(at(minute * 60_000_000));
    assert_eq!(numbers_between(&connection, minute(500), minute(509)).unwrap(), (500, 509));
    assert_eq!(numbers_between(&connection, minute(999), None).unwrap(), (999, 1_000));
    assert_eq!(numbers_between(&connection, None, minute(3)).unwrap(), (1, 3));
    assert_eq!(numbers_between(&connection, None, None).unwrap(), (1, i64::MAX));
    let (first, last) = numbers_between(&connection, minute(2_000), None).unwrap();
    assert!(first > last, "nothing came then");
}

#[test]
fn deltas_are_few_whatever_comes() {
    let connection = store();
    for number in 1..=5_000 {
        let mut tally = Tally::default();
        tally.delivery(1 + number % 3, Verdict::New, 1, number);
        tally.write(&connection, at(number * 600_000_000), 100).unwrap();
        assert!(rows(&connection, "counter_deltas") < 100);
    }
    let kept = |span: Span| rows(&connection, &format!("counters WHERE span = {}", span.seconds));
    // 35 days of a commit in ten minutes: two days of minutes, with what lies between two foldings, and hours before.
    assert!(kept(Span::MINUTE) < 600, "{} rows of minutes", kept(Span::MINUTE));
    assert!(kept(Span::HOUR) > 1_000);
}

#[test]
fn a_commit_of_one_event_writes_one_row() {
    let connection = store();
    let mut tally = Tally::default();
    tally.delivery(1, Verdict::New, 1, 1).late.add(at(9_000_000), at(1));
    tally.write(&connection, at(9_000_000), FOLD_AFTER).unwrap();
    assert_eq!(rows(&connection, "counter_deltas"), 1);
}

#[test]
fn lateness_is_kept_as_it_was_counted() {
    let connection = store();
    let mut tally = Tally::default();
    let sum = tally.delivery(1, Verdict::New, 1, 1);
    for micros in [0, 1, -1, 9, i64::MAX, i64::MIN, 1 << 40, -(1 << 40)] {
        sum.late.add(at(micros), at(0));
    }
    sum.late.add_many(-3, u64::MAX);
    let late = sum.late.clone();
    tally.write(&connection, at(0), FOLD_AFTER).unwrap();
    each_delta(&connection, |delta| {
        let mut kept = Lateness::default();
        delta.add_lateness_to(&mut kept)?;
        assert_eq!(kept, late);
        Ok(())
    })
    .unwrap();
    connection.execute("UPDATE counter_deltas SET late = x'80'", []).unwrap();
    let read = each_delta(&connection, |delta| delta.add_lateness_to(&mut Lateness::default()));
    assert!(read.is_err(), "what was cut is damage");
}

/// Rows grow with the store: each statement finds them by the key, and `counter_deltas` alone is read whole, because it is
/// kept small.
#[test]
fn no_statement_scans_a_table_that_grows() {
    let connection = store();
    let others = [
        LAST_OF_THE_OLDEST,
        OLD_LATENESS,
        CLEAR_LATENESS,
        stats::COUNTS,
        stats::LATENESS,
        stats::STARTS_THERE,
        time_range::NUMBERS,
    ];
    for sql in LENGTHEN.into_iter().flatten().chain(others) {
        let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let plan: Vec<String> = explain.raw_query().mapped(|row| row.get(3)).collect::<rusqlite::Result<_>>().unwrap();
        let by_key = plan.iter().filter(|step| step.contains("USING PRIMARY KEY (span=? AND start")).count();
        let sorts = plan.iter().filter(|step| step.starts_with("USE TEMP B-TREE FOR GROUP BY")).count();
        assert!(by_key == 1 && by_key + sorts == plan.len(), "{sql}: {plan:?}");
    }
}
