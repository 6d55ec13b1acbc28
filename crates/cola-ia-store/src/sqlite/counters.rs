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

use super::{accept, row};

/// Deltas after which they are added up. Reading them all takes about a millisecond.
pub(super) const FOLD_AFTER: u32 = 4_096;

/// Length of time that a row of `counters` stands for. The shorter ones lie within the longer ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    /// As stored.
    pub(super) seconds: i64,
}

impl Span {
    pub(super) const MINUTE: Self = Self { seconds: 60 };
    pub(super) const HOUR: Self = Self { seconds: 60 * 60 };
    pub(super) const DAY: Self = Self { seconds: 24 * 60 * 60 };
    /// The longest first.
    pub(super) const ALL: [Self; 3] = [Self::DAY, Self::HOUR, Self::MINUTE];

    pub(super) const fn micros(self) -> i64 {
        self.seconds * 1_000_000
    }

    /// The start of the one that the instant lies in.
    pub(super) fn start_of(self, micros: i64) -> i64 {
        micros.saturating_sub(micros.rem_euclid(self.micros()))
    }
}

/// Rows of a minute and of an hour are added up to longer ones once they are so old.
const MINUTES_KEPT: i64 = 2 * Span::DAY.micros();
const HOURS_KEPT: i64 = 62 * Span::DAY.micros();

/// What one transaction adds to the counts.
#[derive(Default)]
pub(super) struct Tally {
    deliveries: BTreeMap<(i64, Verdict), Sum>,
    jobs: BTreeMap<(i64, JobState), i64>,
}

/// A count of deliveries.
#[derive(Debug, Clone)]
pub(super) struct Sum {
    n: i64,
    /// Their numbers lie between these two.
    first: i64,
    last: i64,
    /// How late they came that carry a time.
    pub(super) late: Lateness,
}

impl Tally {
    /// A delivery of this number, that stands for `n` where refused ones are only counted. `source`: 0 for none. A new
    /// event's job is counted as pending by that.
    pub(super) fn delivery(&mut self, source: i64, verdict: Verdict, n: i64, number: i64) -> &mut Sum {
        let sum = self.deliveries.entry((source, verdict)).or_insert_with(|| Sum {
            n: 0,
            first: number,
            last: number,
            late: Lateness::default(),
        });
        sum.n = sum.n.saturating_add(n);
        sum.first = sum.first.min(number);
        sum.last = sum.last.max(number);
        sum
    }

    /// One more job of this source is in this state, or one less.
    pub(super) fn job(&mut self, source: i64, state: JobState, n: i64) {
        *self.jobs.entry((source, state)).or_default() += n;
    }

    /// A job goes from one state to another.
    pub(super) fn job_moves(&mut self, source: i64, from: JobState, to: JobState) {
        self.job(source, from, -1);
        self.job(source, to, 1);
    }

    /// Appends it, and adds up where enough have piled up.
    pub(super) fn write(&self, connection: &Connection, at: Timestamp, fold_after: u32) -> rusqlite::Result<()> {
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

/// What a delta is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counter {
    Deliveries(Verdict),
    Jobs(JobState),
}

const fn job_counter(state: JobState) -> &'static str {
    match state {
        JobState::Pending => "job_pending",
        JobState::Running => "job_running",
        JobState::Done => "job_done",
        JobState::Failed => "job_failed",
        JobState::Held => "job_held",
        JobState::Cancelled => "job_cancelled",
    }
}

fn counter_of(word: &str) -> rusqlite::Result<Counter> {
    match word.strip_prefix("job_") {
        Some(state) => JobState::from_word(state).map(Counter::Jobs).ok_or_else(|| row::unexpected("counter", word)),
        None => accept::verdict_of(word).map(Counter::Deliveries),
    }
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

/// Pairs of a bucket, zigzag, and its count, both as LEB128.
fn encode(late: &Lateness) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (bucket, n) in late.buckets() {
        let bucket = i64::from(bucket);
        push_number(&mut bytes, ((bucket << 1) ^ (bucket >> 63)) as u64);
        push_number(&mut bytes, n);
    }
    bytes
}

fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Adds what [`encode`] made.
pub(super) fn add_encoded(late: &mut Lateness, mut bytes: &[u8]) -> rusqlite::Result<()> {
    while !bytes.is_empty() {
        let (Some(bucket), Some(n)) = (number(&mut bytes), number(&mut bytes)) else {
            return Err(row::unexpected("lateness", "cut"));
        };
        let bucket = i16::try_from((bucket >> 1) as i64 ^ -((bucket & 1) as i64));
        late.add_many(bucket.map_err(|_| row::unexpected("lateness", "bucket"))?, n);
    }
    Ok(())
}

fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests;
