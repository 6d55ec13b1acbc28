//! Counts of what came, and of jobs by state: rows are appended, and added up later.
//!
//! Each transaction that changes a count appends deltas through a [`Tally`], one row for each source and verdict: no two
//! transactions ever wait for one row. Once so many have piled up, one of them adds up what is there into rows of a minute, and
//! older minutes into hours and days, as a part of its own commit; others go on appending meanwhile.

use std::collections::BTreeMap;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::job::JobState;
use cola_ia_core::lateness::Lateness;
use cola_ia_core::verdict::Verdict;
use tokio_postgres::Row;

use super::error::Fault;
use super::row::{Columns as _, unexpected};
use super::shared::lock_of;
use super::sql::params;
use super::tx::Tx;
use crate::common::counters::{self, HOURS_KEPT, MINUTES_KEPT, encode, job_counter};
pub(super) use crate::common::counters::{Counter, Span, Tally};

/// Deltas that are added up at once.
const FOLD_MAX: i64 = 20_000;

impl Tally {
    /// Appends it, and adds up where enough have piled up.
    pub(super) async fn write(&self, tx: &Tx) -> Result<(), Fault> {
        self.write_at(tx, tx.now).await
    }

    /// The same, of another time.
    pub(super) async fn write_at(&self, tx: &Tx, at: Timestamp) -> Result<(), Fault> {
        let mut rows = Rows::default();
        rows.count(at, self);
        rows.append(tx).await
    }
}

/// Rows of `counter_deltas` on their way.
#[derive(Default)]
pub(super) struct Rows {
    ats: Vec<i64>,
    sources: Vec<Option<i64>>,
    counters: Vec<&'static str>,
    counts: Vec<i64>,
    firsts: Vec<Option<i64>>,
    lasts: Vec<Option<i64>>,
    late: Vec<Option<Vec<u8>>>,
}

impl Rows {
    /// Counts what came at an instant.
    pub(super) fn count(&mut self, at: Timestamp, tally: &Tally) {
        for ((source, verdict), sum) in &tally.deliveries {
            let late = (!sum.late.is_empty()).then(|| encode(&sum.late));
            self.push(at, *source, verdict.as_str(), sum.n, Some((sum.first, sum.last)), late);
        }
        for ((source, state), n) in tally.jobs.iter().filter(|(_, n)| **n != 0) {
            self.push(at, *source, job_counter(*state), *n, None, None);
        }
    }

    /// Counts deliveries of which no number is known: those that were pruned before they came here in an export. No jobs are
    /// counted with them.
    pub(super) fn count_gone(&mut self, at: Timestamp, source: i64, verdict: Verdict, n: i64) {
        self.push(at, source, verdict.as_str(), n, None, None);
        if verdict == Verdict::New {
            self.push(at, source, job_counter(JobState::Pending), -n, None, None);
        }
    }

    fn push(
        &mut self,
        at: Timestamp,
        source: i64,
        counter: &'static str,
        n: i64,
        numbers: Option<(i64, i64)>,
        late: Option<Vec<u8>>,
    ) {
        self.ats.push(at.as_micros());
        self.sources.push((source != 0).then_some(source));
        self.counters.push(counter);
        self.counts.push(n);
        self.firsts.push(numbers.map(|(first, _)| first));
        self.lasts.push(numbers.map(|(_, last)| last));
        self.late.push(late);
    }

    /// Appends them, and adds up where enough have piled up.
    pub(super) async fn append(self, tx: &Tx) -> Result<(), Fault> {
        if self.counts.is_empty() {
            return Ok(());
        }
        let Self { ats, sources, counters, counts, firsts, lasts, late } = self;
        let appended = counts.len() as i64;
        let last: i64 = tx
            .one(
                "WITH i AS (
                     INSERT INTO counter_deltas (at, source, counter, n, first, last, late)
                     SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7) RETURNING delta)
                 SELECT max(delta) FROM i",
                params![ats, sources, counters, counts, firsts, lasts, late],
            )
            .await?
            .read(0)?;
        // Numbers are of all that ever were: each so many, somebody comes by one of these.
        let every = i64::from(tx.shared.fold_after.max(1));
        if last / every > (last - appended) / every { fold(tx).await } else { Ok(()) }
    }
}

/// A row of `counter_deltas`, but for its numbers.
pub(super) struct Delta {
    pub(super) at: i64,
    /// 0: none.
    pub(super) source: i64,
    pub(super) counter: Counter,
    pub(super) n: i64,
    late: Option<Vec<u8>>,
}

impl Delta {
    /// From the columns at, source, counter, n, late.
    fn of(row: &Row) -> Result<Self, Fault> {
        let word: &str = row.read(2)?;
        let counter = counters::counter_of(word).ok_or_else(|| unexpected("counter", word))?;
        Ok(Self { at: row.read(0)?, source: row.read(1)?, counter, n: row.read(3)?, late: row.read(4)? })
    }

    /// What it does to the number of jobs in a state.
    pub(super) fn jobs(&self) -> Option<(JobState, i64)> {
        match self.counter {
            Counter::Jobs(state) => Some((state, self.n)),
            Counter::Deliveries(Verdict::New) => Some((JobState::Pending, self.n)),
            Counter::Deliveries(_) => None,
        }
    }

    /// Adds how late its deliveries came.
    pub(super) fn add_lateness_to(&self, late: &mut Lateness) -> Result<(), Fault> {
        self.late.as_deref().map_or(Ok(()), |bytes| add_encoded(late, bytes))
    }
}

/// Each delta that was not added up.
pub(super) async fn deltas(tx: &Tx) -> Result<Vec<Delta>, Fault> {
    let rows = tx
        .query("SELECT at, coalesce(source, 0), counter, n, late FROM counter_deltas ORDER BY delta", params![])
        .await?;
    rows.iter().map(Delta::of).collect()
}

/// Adds what [`encode`] made.
pub(super) fn add_encoded(late: &mut Lateness, bytes: &[u8]) -> Result<(), Fault> {
    counters::add_encoded(late, bytes).ok_or_else(|| unexpected("lateness", "cut"))
}

/// Adds up the deltas that are there; nothing where somebody does so just now.
async fn fold(tx: &Tx) -> Result<(), Fault> {
    let lock = lock_of(&tx.shared.address.schema).wrapping_add(1);
    if !tx.one("SELECT pg_try_advisory_xact_lock($1)", params![lock]).await?.read::<bool>(0)? {
        return Ok(());
    }
    let rows = tx
        .query(
            "DELETE FROM counter_deltas WHERE delta IN (
                 SELECT delta FROM counter_deltas ORDER BY delta LIMIT $1 FOR UPDATE SKIP LOCKED)
             RETURNING at, coalesce(source, 0), counter, n, late, first, last",
            params![FOLD_MAX],
        )
        .await?;
    let mut counts: BTreeMap<(i64, i64, &'static str), i64> = BTreeMap::new();
    let mut lateness: BTreeMap<(i64, i64), Lateness> = BTreeMap::new();
    let mut numbers: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    let mut jobs: BTreeMap<(i64, &'static str), i64> = BTreeMap::new();
    for row in &rows {
        let delta = Delta::of(row)?;
        let start = Span::MINUTE.start_of(delta.at);
        if let Some((state, n)) = delta.jobs() {
            *jobs.entry((delta.source, state.as_str())).or_default() += n;
        }
        if let Counter::Deliveries(verdict) = delta.counter {
            let n = counts.entry((start, delta.source, verdict.as_str())).or_default();
            *n = n.saturating_add(delta.n);
            if delta.late.is_some() {
                delta.add_lateness_to(lateness.entry((start, delta.source)).or_default())?;
            }
        }
        if let (Some(first), Some(last)) = (row.read::<Option<i64>>(5)?, row.read::<Option<i64>>(6)?) {
            let kept = numbers.entry(start).or_insert((first, last));
            *kept = (kept.0.min(first), kept.1.max(last));
        }
    }
    add_counts(tx, &counts).await?;
    add_lateness(tx, Span::MINUTE, lateness).await?;
    add_numbers(tx, &numbers).await?;
    add_jobs(tx, &jobs).await?;
    // Each delta became one row at most: twice as many keep up, and the pause stays short.
    let (now, most) = (tx.now.as_micros(), 2 * rows.len() as i64);
    lengthen(tx, Span::MINUTE, Span::HOUR, now.saturating_sub(MINUTES_KEPT), most).await?;
    lengthen(tx, Span::HOUR, Span::DAY, now.saturating_sub(HOURS_KEPT), most).await
}

async fn add_counts(tx: &Tx, counts: &BTreeMap<(i64, i64, &'static str), i64>) -> Result<(), Fault> {
    let starts: Vec<i64> = counts.keys().map(|(start, ..)| *start).collect();
    let sources: Vec<i64> = counts.keys().map(|(_, source, _)| *source).collect();
    let words: Vec<&str> = counts.keys().map(|(.., word)| *word).collect();
    let sums: Vec<i64> = counts.values().copied().collect();
    tx.execute(
        "INSERT INTO counters (span, start, source, counter, n) SELECT 60, * FROM unnest($1, $2, $3, $4)
         ON CONFLICT (span, start, source, counter) DO UPDATE SET n = counters.n + excluded.n",
        params![starts, sources, words, sums],
    )
    .await
    .map(drop)
}

async fn add_numbers(tx: &Tx, numbers: &BTreeMap<i64, (i64, i64)>) -> Result<(), Fault> {
    let starts: Vec<i64> = numbers.keys().copied().collect();
    let firsts: Vec<i64> = numbers.values().map(|(first, _)| *first).collect();
    let lasts: Vec<i64> = numbers.values().map(|(_, last)| *last).collect();
    tx.execute(
        "INSERT INTO counter_numbers (span, start, first, last) SELECT 60, * FROM unnest($1, $2, $3)
         ON CONFLICT (span, start) DO UPDATE SET first = least(counter_numbers.first, excluded.first),
             last = greatest(counter_numbers.last, excluded.last)",
        params![starts, firsts, lasts],
    )
    .await
    .map(drop)
}

async fn add_jobs(tx: &Tx, jobs: &BTreeMap<(i64, &'static str), i64>) -> Result<(), Fault> {
    let sources: Vec<i64> = jobs.keys().map(|(source, _)| *source).collect();
    let states: Vec<&str> = jobs.keys().map(|(_, state)| *state).collect();
    let sums: Vec<i64> = jobs.values().copied().collect();
    tx.execute(
        "INSERT INTO job_counts (source, state, n) SELECT * FROM unnest($1, $2, $3)
         ON CONFLICT (source, state) DO UPDATE SET n = job_counts.n + excluded.n",
        params![sources, states, sums],
    )
    .await
    .map(drop)
}

/// Adds lateness by start and source to the rows of a span. Nobody else does: the caller has the lock.
async fn add_lateness(tx: &Tx, span: Span, mut lateness: BTreeMap<(i64, i64), Lateness>) -> Result<(), Fault> {
    if lateness.is_empty() {
        return Ok(());
    }
    let starts: Vec<i64> = lateness.keys().map(|(start, _)| *start).collect();
    let sources: Vec<i64> = lateness.keys().map(|(_, source)| *source).collect();
    let kept = tx
        .query(
            "SELECT l.start, l.source, l.late FROM counter_lateness l JOIN unnest($2, $3) u(start, source)
                 ON l.start = u.start AND l.source = u.source WHERE l.span = $1",
            params![span.seconds, starts, sources],
        )
        .await?;
    for row in &kept {
        let late = lateness.entry((row.read(0)?, row.read(1)?)).or_default();
        add_encoded(late, row.read(2)?)?;
    }
    let encoded: Vec<Vec<u8>> = lateness.values().map(encode).collect();
    tx.execute(
        "INSERT INTO counter_lateness (span, start, source, late) SELECT $1, * FROM unnest($2, $3, $4)
         ON CONFLICT (span, start, source) DO UPDATE SET late = excluded.late",
        params![span.seconds, starts, sources, encoded],
    )
    .await
    .map(drop)
}

/// Adds the oldest rows of one span, about `most` of them, to those of a longer one, where that lies before an instant.
async fn lengthen(tx: &Tx, from: Span, to: Span, before: i64, most: i64) -> Result<(), Fault> {
    let until = to.start_of(before).saturating_sub(1);
    let oldest = "SELECT start FROM counters WHERE span = $1 AND start <= $2 ORDER BY span, start";
    if tx.maybe(&format!("{oldest} LIMIT 1"), params![from.seconds, until]).await?.is_none() {
        return Ok(());
    }
    let last = tx.maybe(&format!("{oldest} LIMIT 1 OFFSET $3"), params![from.seconds, until, most]).await?;
    let until = last.map_or(Ok(until), |row| row.read(0))?;
    for sql in [
        "WITH d AS (DELETE FROM counters WHERE span = $1 AND start <= $2 RETURNING start, source, counter, n)
         INSERT INTO counters (span, start, source, counter, n)
         SELECT $3, start - ((start % $4) + $4) % $4 AS longer, source, counter, sum(n)::bigint FROM d
         GROUP BY longer, source, counter
         ON CONFLICT (span, start, source, counter) DO UPDATE SET n = counters.n + excluded.n",
        "WITH d AS (DELETE FROM counter_numbers WHERE span = $1 AND start <= $2 RETURNING start, first, last)
         INSERT INTO counter_numbers (span, start, first, last)
         SELECT $3, start - ((start % $4) + $4) % $4 AS longer, min(first), max(last) FROM d GROUP BY longer
         ON CONFLICT (span, start) DO UPDATE SET first = least(counter_numbers.first, excluded.first),
             last = greatest(counter_numbers.last, excluded.last)",
    ] {
        tx.execute(sql, params![from.seconds, until, to.seconds, to.micros()]).await?;
    }
    let rows = tx
        .query(
            "DELETE FROM counter_lateness WHERE span = $1 AND start <= $2 RETURNING start, source, late",
            params![from.seconds, until],
        )
        .await?;
    let mut lateness: BTreeMap<(i64, i64), Lateness> = BTreeMap::new();
    for row in &rows {
        add_encoded(lateness.entry((to.start_of(row.read(0)?), row.read(1)?)).or_default(), row.read(2)?)?;
    }
    add_lateness(tx, to, lateness).await
}
