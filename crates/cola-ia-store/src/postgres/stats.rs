//! What came and how late, from the counts; and how many jobs stand where.

use std::collections::BTreeMap;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::Source;
use cola_ia_core::filter::Filter;
use cola_ia_core::job::JobState;
use cola_ia_core::store::{Stats, StatsGroup};

use super::accept::verdict;
use super::counters::{Counter, Span, add_encoded, deltas};
use super::error::Fault;
use super::row::{Columns as _, unexpected};
use super::sql::params;
use super::tx::Tx;
use crate::common::groups::Groups;

/// See [`Store::stats`](cola_ia_core::store::Store::stats).
pub(super) async fn stats(tx: &Tx, filter: &Filter) -> Result<Stats, Fault> {
    let since = match filter.since {
        Some(since) => Some(widened_down(tx, since).await?),
        None => None,
    };
    let until = match filter.until {
        Some(until) => Some(widened_up(tx, until).await?),
        None => None,
    };
    let names: Vec<&str> = filter.sources.iter().map(Source::as_str).collect();
    // One that never came has no row.
    let only = if names.is_empty() { None } else { Some(tx.sources(&names).await?.into_values().collect()) };
    let mut groups = Groups { only, by_source: BTreeMap::new() };
    let (from, to) = (since.map_or(i64::MIN, Timestamp::as_micros), until.map_or(i64::MAX, Timestamp::as_micros));
    for span in Span::ALL {
        let asked = [span.seconds, from, to];
        for row in tx.query(COUNTS, params![asked[0], asked[1], asked[2]]).await? {
            groups.deliveries(row.read(0)?, verdict(&row, 1)?, row.read(2)?);
        }
        for row in tx.query(LATENESS, params![asked[0], asked[1], asked[2]]).await? {
            if let Some((group, _)) = groups.of(row.read(0)?) {
                add_encoded(&mut group.lateness, row.read(1)?)?;
            }
        }
    }
    for row in tx.query("SELECT source, state, n FROM job_counts", params![]).await? {
        let word: &str = row.read(1)?;
        let state = JobState::from_word(word).ok_or_else(|| unexpected("state", word))?;
        groups.jobs(row.read(0)?, state, row.read(2)?);
    }
    for delta in deltas(tx).await? {
        if let Some((state, n)) = delta.jobs() {
            groups.jobs(delta.source, state, n);
        }
        match delta.counter {
            // Without an end, what a clock far ahead has stamped counts too.
            Counter::Deliveries(verdict) if delta.at >= from && (delta.at < to || until.is_none()) => {
                groups.deliveries(delta.source, verdict, delta.n);
                if let Some((group, _)) = groups.of(delta.source) {
                    delta.add_lateness_to(&mut group.lateness)?;
                }
            }
            _ => {}
        }
    }
    Ok(Stats::of(since, until, named(tx, groups).await?))
}

const COUNTS: &str =
    "SELECT source, counter, sum(n)::bigint FROM counters WHERE span = $1 AND start >= $2 AND start < $3
     GROUP BY source, counter";

const LATENESS: &str = "SELECT source, late FROM counter_lateness WHERE span = $1 AND start >= $2 AND start < $3";

async fn named(tx: &Tx, groups: Groups) -> Result<Vec<StatsGroup>, Fault> {
    let rows: Vec<i64> = groups.by_source.keys().copied().filter(|source| *source != 0).collect();
    let mut names: BTreeMap<i64, Source> = BTreeMap::new();
    for row in tx.query("SELECT source, name FROM sources WHERE source = ANY($1)", params![rows]).await? {
        names.insert(row.read(0)?, row.source(1)?);
    }
    let with_names = groups.by_source.into_iter().map(|(source, (mut group, jobs))| {
        if source != 0 {
            let name = names.remove(&source).ok_or_else(|| unexpected("source", &source.to_string()))?;
            group.source = Some(name);
        }
        group.jobs = jobs.map(|n| n.max(0).unsigned_abs());
        Ok(group)
    });
    with_names.collect()
}

/// The start of the minute, or of what longer count the instant lies in.
async fn widened_down(tx: &Tx, since: Timestamp) -> Result<Timestamp, Fault> {
    Ok(Timestamp::from_micros(count_around(tx, since.as_micros()).await?.0))
}

/// The end of the minute, or of what longer count the instant lies in; the instant itself where it is between two.
async fn widened_up(tx: &Tx, until: Timestamp) -> Result<Timestamp, Fault> {
    let until = until.as_micros();
    let (start, span) = count_around(tx, until).await?;
    Ok(Timestamp::from_micros(if start == until { until } else { start.saturating_add(span.micros()) }))
}

/// The longest count that has the instant in it, else its minute: its start and how long it is.
async fn count_around(tx: &Tx, instant: i64) -> Result<(i64, Span), Fault> {
    for span in [Span::DAY, Span::HOUR] {
        let start = span.start_of(instant);
        let there = "SELECT 1 FROM counters WHERE span = $1 AND start = $2 LIMIT 1";
        if tx.maybe(there, params![span.seconds, start]).await?.is_some() {
            return Ok((start, span));
        }
    }
    Ok((Span::MINUTE.start_of(instant), Span::MINUTE))
}
