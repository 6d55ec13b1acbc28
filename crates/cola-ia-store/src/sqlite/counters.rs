//! Counts of what came, and of jobs by state: rows are appended, and added up later.
//!
//! Each transaction that changes a count appends deltas through a [`Tally`], one row for each source and verdict: no two
//! transactions ever wait for one row, and a commit of one event writes one row. Once so many have piled up, the
//! transaction that appends the last of them adds all of them up into rows of a minute, and older minutes into hours and
//! days. That is part of its own commit, so whatever happens each delivery is counted once.
//!
//! Whoever lets deliveries in under another time than now (an import) writes the deltas with that time: [`numbers_between`]
//! finds deliveries by them.
//!
//! [`numbers_between`]: super::time_range::numbers_between

use std::collections::BTreeMap;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::job::JobState;
use cola_ia_core::lateness::Lateness;
use cola_ia_core::verdict::Verdict;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::row;
use crate::common::counters::{self, HOURS_KEPT, MINUTES_KEPT, encode, job_counter};
pub(super) use crate::common::counters::{Counter, Span, Tally};

/// Deltas after which they are added up. Reading them all takes about a millisecond.
pub(super) const FOLD_AFTER: u32 = 4_096;

/// Appends what a transaction adds, and adds up where enough have piled up.
pub(super) trait Append {
    fn write(&self, connection: &Connection, at: Timestamp, fold_after: u32) -> rusqlite::Result<()>;
}

impl Append for Tally {
    fn write(&self, connection: &Connection, at: Timestamp, fold_after: u32) -> rusqlite::Result<()> {
        let mut insert = connection.prepare_cached(
            "INSERT INTO counter_deltas (at, source, counter, n, first, last, late) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?;
        let mut last = 0;
        for ((source, verdict), sum) in &self.deliveries {
            let source = (*source != 0).then_some(*source);
            let late = (!sum.late.is_empty()).then(|| encode(&sum.late));
            last =
                insert.insert(params![at.as_micros(), source, verdict.as_str(), sum.n, sum.first, sum.last, late])?;
        }
        for ((source, state), n) in self.jobs.iter().filter(|(_, n)| **n != 0) {
            let nothing: Option<i64> = None;
            last = insert.insert(params![at.as_micros(), source, job_counter(*state), n, nothing, nothing, nothing])?;
        }
        // Adding up removes all of them, and SQLite then numbers from 1 again: the number says how many there are.
        if last >= i64::from(fold_after) {
            fold(connection, at)?;
        }
        Ok(())
    }
}

/// Counts deliveries of which no number is known: those that were pruned before they came here in an export. No jobs are counted
/// with them.
pub(super) fn count_gone(
    connection: &Connection,
    at: Timestamp,
    source: i64,
    verdict: Verdict,
    n: i64,
) -> rusqlite::Result<()> {
    let mut insert =
        connection.prepare_cached("INSERT INTO counter_deltas (at, source, counter, n) VALUES (?1, ?2, ?3, ?4)")?;
    insert.execute(params![at.as_micros(), (source != 0).then_some(source), verdict.as_str(), n])?;
    if verdict == Verdict::New {
        insert.execute(params![at.as_micros(), source, job_counter(JobState::Pending), -n])?;
    }
    Ok(())
}

fn counter_of(word: &str) -> rusqlite::Result<Counter> {
    counters::counter_of(word).ok_or_else(|| row::unexpected("counter", word))
}

/// A row of `counter_deltas`, but for its numbers.
pub(super) struct Delta<'a> {
    pub(super) at: i64,
    /// 0: none.
    pub(super) source: i64,
    pub(super) counter: Counter,
    pub(super) n: i64,
    late: Option<&'a [u8]>,
}

impl Delta<'_> {
    /// What it does to the number of jobs in a state.
    pub(super) fn jobs(&self) -> Option<(JobState, i64)> {
        match self.counter {
            Counter::Jobs(state) => Some((state, self.n)),
            Counter::Deliveries(Verdict::New) => Some((JobState::Pending, self.n)),
            Counter::Deliveries(_) => None,
        }
    }

    /// Adds how late its deliveries came.
    pub(super) fn add_lateness_to(&self, late: &mut Lateness) -> rusqlite::Result<()> {
        self.late.map_or(Ok(()), |bytes| add_encoded(late, bytes))
    }
}

/// Hands over each delta that was not added up. They are few: see [`FOLD_AFTER`].
pub(super) fn each_delta(
    connection: &Connection,
    mut take: impl FnMut(Delta<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut select = connection
        .prepare_cached("SELECT at, coalesce(source, 0), counter, n, late FROM counter_deltas ORDER BY delta")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        take(Delta {
            at: row.get(0)?,
            source: row.get(1)?,
            counter: counter_of(row.get_ref(2)?.as_str()?)?,
            n: row.get(3)?,
            late: row.get_ref(4)?.as_blob_or_null()?,
        })?;
    }
    Ok(())
}

/// Adds all deltas up.
fn fold(connection: &Connection, now: Timestamp) -> rusqlite::Result<()> {
    let mut counts: BTreeMap<(i64, i64, Verdict), i64> = BTreeMap::new();
    let mut lateness: BTreeMap<(i64, i64), Lateness> = BTreeMap::new();
    let mut jobs: BTreeMap<(i64, JobState), i64> = BTreeMap::new();
    let mut deltas = 0;
    each_delta(connection, |delta| {
        deltas += 1;
        if let Some((state, n)) = delta.jobs() {
            *jobs.entry((delta.source, state)).or_default() += n;
        }
        if let Counter::Deliveries(verdict) = delta.counter {
            let start = Span::MINUTE.start_of(delta.at);
            let n = counts.entry((start, delta.source, verdict)).or_default();
            *n = n.saturating_add(delta.n);
            if delta.late.is_some() {
                delta.add_lateness_to(lateness.entry((start, delta.source)).or_default())?;
            }
        }
        Ok(())
    })?;
    let mut count = connection.prepare_cached(
        "INSERT INTO counters (span, start, source, counter, n) VALUES (60, ?1, ?2, ?3, ?4)
         ON CONFLICT (span, start, source, counter) DO UPDATE SET n = n + excluded.n",
    )?;
    for ((start, source, verdict), n) in counts {
        count.execute(params![start, source, verdict.as_str(), n])?;
    }
    add_lateness(connection, Span::MINUTE, lateness)?;
    connection
        .prepare_cached(
            "INSERT INTO counter_numbers (span, start, first, last)
             SELECT 60, at - ((at % 60000000) + 60000000) % 60000000 AS minute, min(first), max(last) FROM counter_deltas
             WHERE first IS NOT NULL GROUP BY minute
             ON CONFLICT (span, start) DO UPDATE SET first = min(first, excluded.first), last = max(last, excluded.last)",
        )?
        .execute([])?;
    let mut count = connection.prepare_cached(
        "INSERT INTO job_counts (source, state, n) VALUES (?1, ?2, ?3)
         ON CONFLICT (source, state) DO UPDATE SET n = n + excluded.n",
    )?;
    for ((source, state), n) in jobs {
        count.execute(params![source, state.as_str(), n])?;
    }
    connection.prepare_cached("DELETE FROM counter_deltas")?.execute([])?;
    // Each delta became one row at most: twice as many keep up, and the pause stays short.
    let most = 2 * deltas;
    lengthen(connection, Span::MINUTE, Span::HOUR, now.as_micros().saturating_sub(MINUTES_KEPT), most)?;
    lengthen(connection, Span::HOUR, Span::DAY, now.as_micros().saturating_sub(HOURS_KEPT), most)
}

/// Adds the oldest rows of one span, about `most` of them, to those of a longer one, where that lies before an instant.
fn lengthen(connection: &Connection, from: Span, to: Span, before: i64, most: i64) -> rusqlite::Result<()> {
    let until = to.start_of(before).saturating_sub(1);
    let last: Option<i64> = connection
        .prepare_cached(LAST_OF_THE_OLDEST)?
        .query_row([from.seconds, until, most], |row| row.get(0))
        .optional()?;
    let until = last.unwrap_or(until);
    for [lengthen, clear] in LENGTHEN {
        connection.prepare_cached(lengthen)?.execute([from.seconds, until, to.seconds, to.micros()])?;
        connection.prepare_cached(clear)?.execute([from.seconds, until])?;
    }
    let mut lateness: BTreeMap<(i64, i64), Lateness> = BTreeMap::new();
    let mut select = connection.prepare_cached(OLD_LATENESS)?;
    let mut rows = select.query([from.seconds, until])?;
    while let Some(row) = rows.next()? {
        let longer = (to.start_of(row.get(0)?), row.get(1)?);
        add_encoded(lateness.entry(longer).or_default(), row.get_ref(2)?.as_blob()?)?;
    }
    add_lateness(connection, to, lateness)?;
    connection.prepare_cached(CLEAR_LATENESS)?.execute([from.seconds, until])?;
    Ok(())
}

const LAST_OF_THE_OLDEST: &str =
    "SELECT start FROM counters WHERE span = ?1 AND start <= ?2 ORDER BY span, start LIMIT 1 OFFSET ?3";

/// Rows of a span up to an instant go into those of a longer one, and are removed.
const LENGTHEN: [[&str; 2]; 2] = [
    [
        "INSERT INTO counters (span, start, source, counter, n)
         SELECT ?3, start - ((start % ?4) + ?4) % ?4 AS longer, source, counter, sum(n) FROM counters
         WHERE span = ?1 AND start <= ?2 GROUP BY longer, source, counter
         ON CONFLICT (span, start, source, counter) DO UPDATE SET n = n + excluded.n",
        "DELETE FROM counters WHERE span = ?1 AND start <= ?2",
    ],
    [
        "INSERT INTO counter_numbers (span, start, first, last)
         SELECT ?3, start - ((start % ?4) + ?4) % ?4 AS longer, min(first), max(last) FROM counter_numbers
         WHERE span = ?1 AND start <= ?2 GROUP BY longer
         ON CONFLICT (span, start) DO UPDATE SET first = min(first, excluded.first), last = max(last, excluded.last)",
        "DELETE FROM counter_numbers WHERE span = ?1 AND start <= ?2",
    ],
];
const OLD_LATENESS: &str = "SELECT start, source, late FROM counter_lateness WHERE span = ?1 AND start <= ?2";
const CLEAR_LATENESS: &str = "DELETE FROM counter_lateness WHERE span = ?1 AND start <= ?2";

/// Adds lateness by start and source to the rows of a span.
fn add_lateness(connection: &Connection, span: Span, lateness: BTreeMap<(i64, i64), Lateness>) -> rusqlite::Result<()> {
    let mut kept = connection
        .prepare_cached("SELECT late FROM counter_lateness WHERE span = ?1 AND start = ?2 AND source = ?3")?;
    let mut put = connection.prepare_cached(
        "INSERT OR REPLACE INTO counter_lateness (span, start, source, late) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for ((start, source), mut late) in lateness {
        let mut rows = kept.query([span.seconds, start, source])?;
        if let Some(row) = rows.next()? {
            add_encoded(&mut late, row.get_ref(0)?.as_blob()?)?;
        }
        drop(rows);
        put.execute(params![span.seconds, start, source, encode(&late)])?;
    }
    Ok(())
}

/// Adds what [`encode`] made.
pub(super) fn add_encoded(late: &mut Lateness, bytes: &[u8]) -> rusqlite::Result<()> {
    counters::add_encoded(late, bytes).ok_or_else(|| row::unexpected("lateness", "cut"))
}

#[cfg(test)]
mod tests;
