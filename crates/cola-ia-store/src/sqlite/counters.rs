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
use rusqlite::{Connection, OptionalExtension as _, Row, params};

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) n: i64,
    /// Their numbers lie between these two.
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) late: Lateness,
}

impl Sum {
    fn none() -> Self {
        Self { n: 0, first: i64::MAX, last: i64::MIN, late: Lateness::default() }
    }

    fn merge(&mut self, other: &Self) {
        self.n = self.n.saturating_add(other.n);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.late.merge(&other.late);
    }

    /// From four columns: n, first, last, late.
    pub(super) fn read(row: &Row<'_>, column: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            n: row.get(column)?,
            first: row.get(column + 1)?,
            last: row.get(column + 2)?,
            late: late(row, column + 3)?,
        })
    }
}

impl Tally {
    /// A delivery of this number, that stands for `n` where refused ones are only counted. `source`: 0 for none. A new
    /// event's job is counted as pending by that.
    pub(super) fn delivery(&mut self, source: i64, verdict: Verdict, n: i64, number: i64) -> &mut Sum {
        let sum = self.deliveries.entry((source, verdict)).or_insert_with(Sum::none);
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

/// A row of `counter_deltas`.
pub(super) struct Delta {
    pub(super) at: i64,
    /// 0: none.
    pub(super) source: i64,
    pub(super) counter: Counter,
    pub(super) sum: Sum,
}

/// Hands over each delta that was not added up. They are few: see [`FOLD_AFTER`].
pub(super) fn each_delta(
    connection: &Connection,
    mut take: impl FnMut(Delta) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut select = connection.prepare_cached(EACH_DELTA)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        take(Delta {
            at: row.get(0)?,
            source: row.get(1)?,
            counter: counter_of(row.get_ref(2)?.as_str()?)?,
            sum: Sum::read(row, 3)?,
        })?;
    }
    Ok(())
}

/// A delta of jobs has no numbers: such as include none.
const EACH_DELTA: &str =
    "SELECT at, coalesce(source, 0), counter, n, coalesce(first, 9223372036854775807), coalesce(last, 0), late
     FROM counter_deltas ORDER BY delta";

/// What a delta does to the number of jobs in a state.
pub(super) fn jobs_of(delta: &Delta) -> Option<(JobState, i64)> {
    match delta.counter {
        Counter::Jobs(state) => Some((state, delta.sum.n)),
        Counter::Deliveries(Verdict::New) => Some((JobState::Pending, delta.sum.n)),
        Counter::Deliveries(_) => None,
    }
}

/// Where a sum stands in `counters`.
type Place = (i64, i64, Verdict);

/// Adds all deltas up.
fn fold(connection: &Connection, now: Timestamp) -> rusqlite::Result<()> {
    let mut sums: BTreeMap<Place, Sum> = BTreeMap::new();
    let mut jobs: BTreeMap<(i64, JobState), i64> = BTreeMap::new();
    let mut deltas = 0;
    each_delta(connection, |delta| {
        deltas += 1;
        if let Some((state, n)) = jobs_of(&delta) {
            *jobs.entry((delta.source, state)).or_default() += n;
        }
        if let Counter::Deliveries(verdict) = delta.counter {
            let place = (Span::MINUTE.start_of(delta.at), delta.source, verdict);
            sums.entry(place).or_insert_with(Sum::none).merge(&delta.sum);
        }
        Ok(())
    })?;
    add_to(connection, Span::MINUTE, &mut sums)?;
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

/// Adds the oldest rows of one span, up to `most` of them, to those of a longer one, where that lies before an instant.
fn lengthen(connection: &Connection, from: Span, to: Span, before: i64, most: i64) -> rusqlite::Result<()> {
    let mut sums: BTreeMap<Place, Sum> = BTreeMap::new();
    let mut moved: Vec<Place> = Vec::new();
    let mut select = connection.prepare_cached(OLDEST)?;
    let mut rows = select.query([from.seconds, to.start_of(before), most])?;
    while let Some(row) = rows.next()? {
        let place = (row.get(0)?, row.get(1)?, accept::verdict_of(row.get_ref(2)?.as_str()?)?);
        let longer = (to.start_of(place.0), place.1, place.2);
        sums.entry(longer).or_insert_with(Sum::none).merge(&Sum::read(row, 3)?);
        moved.push(place);
    }
    add_to(connection, to, &mut sums)?;
    let mut delete = connection
        .prepare_cached("DELETE FROM counters WHERE span = ?1 AND start = ?2 AND source = ?3 AND counter = ?4")?;
    for (start, source, verdict) in moved {
        delete.execute(params![from.seconds, start, source, verdict.as_str()])?;
    }
    Ok(())
}

const OLDEST: &str = "SELECT start, source, counter, n, first, last, late FROM counters
     WHERE span = ?1 AND start < ?2 ORDER BY start, source, counter LIMIT ?3";

/// Adds sums to the rows of a span.
fn add_to(connection: &Connection, span: Span, sums: &mut BTreeMap<Place, Sum>) -> rusqlite::Result<()> {
    let mut kept = connection.prepare_cached(
        "SELECT n, first, last, late FROM counters WHERE span = ?1 AND start = ?2 AND source = ?3 AND counter = ?4",
    )?;
    let mut put = connection.prepare_cached(
        "INSERT OR REPLACE INTO counters (span, start, source, counter, n, first, last, late)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    for ((start, source, verdict), sum) in sums {
        let place = params![span.seconds, *start, *source, verdict.as_str()];
        if let Some(kept) = kept.query_row(place, |row| Sum::read(row, 0)).optional()? {
            sum.merge(&kept);
        }
        let late = (!sum.late.is_empty()).then(|| encode(&sum.late));
        put.execute(params![span.seconds, *start, *source, verdict.as_str(), sum.n, sum.first, sum.last, late])?;
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

fn late(row: &Row<'_>, column: usize) -> rusqlite::Result<Lateness> {
    let mut late = Lateness::default();
    let Some(mut bytes) = row.get_ref(column)?.as_blob_or_null()? else { return Ok(late) };
    while !bytes.is_empty() {
        let (Some(bucket), Some(n)) = (number(&mut bytes), number(&mut bytes)) else {
            return Err(row::unexpected("lateness", "cut"));
        };
        let bucket = i16::try_from((bucket >> 1) as i64 ^ -((bucket & 1) as i64));
        late.add_many(bucket.map_err(|_| row::unexpected("lateness", "bucket"))?, n);
    }
    Ok(late)
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
