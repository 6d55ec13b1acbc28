//! What came and how late, from the counts; and how many jobs stand where.

use std::collections::BTreeMap;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::Source;
use cola_ia_core::filter::Filter;
use cola_ia_core::job::JobState;
use cola_ia_core::store::{Stats, StatsGroup};
use rusqlite::{Connection, OptionalExtension as _};

use super::counters::{Counter, Span, add_encoded, each_delta};
use super::reader::Sight;
use super::{accept, row};
use crate::common::groups::Groups;

/// See [`Store::stats`](cola_ia_core::store::Store::stats).
pub(super) fn stats(sight: &Sight<'_>, filter: &Filter) -> rusqlite::Result<Stats> {
    let connection: &Connection = sight.connection;
    let since = filter.since.map(|since| widened_down(connection, since)).transpose()?;
    let until = filter.until.map(|until| widened_up(connection, until)).transpose()?;
    let only = match &filter.sources[..] {
        [] => None,
        // One that never came has no row.
        some => Some(
            some.iter().filter_map(|source| source_row(connection, source).transpose()).collect::<Result<_, _>>()?,
        ),
    };
    let mut groups = Groups { only, by_source: BTreeMap::new() };
    let (from, to) = (since.map_or(i64::MIN, Timestamp::as_micros), until.map_or(i64::MAX, Timestamp::as_micros));
    for span in Span::ALL {
        let mut select = connection.prepare_cached(COUNTS)?;
        let mut rows = select.query([span.seconds, from, to])?;
        while let Some(row) = rows.next()? {
            let verdict = accept::verdict_of(row.get_ref(1)?.as_str()?)?;
            groups.deliveries(row.get(0)?, verdict, row.get(2)?);
        }
        let mut select = connection.prepare_cached(LATENESS)?;
        let mut rows = select.query([span.seconds, from, to])?;
        while let Some(row) = rows.next()? {
            if let Some((group, _)) = groups.of(row.get(0)?) {
                add_encoded(&mut group.lateness, row.get_ref(1)?.as_blob()?)?;
            }
        }
    }
    let mut select = connection.prepare_cached("SELECT source, state, n FROM job_counts")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let word = row.get_ref(1)?.as_str()?;
        let state = JobState::from_word(word).ok_or_else(|| row::unexpected("state", word))?;
        groups.jobs(row.get(0)?, state, row.get(2)?);
    }
    each_delta(connection, |delta| {
        if let Some((state, n)) = delta.jobs() {
            groups.jobs(delta.source, state, n);
        }
        match delta.counter {
            // Without an end, what a clock far ahead has stamped counts too.
            Counter::Deliveries(verdict) if delta.at >= from && (delta.at < to || until.is_none()) => {
                groups.deliveries(delta.source, verdict, delta.n);
                groups.of(delta.source).map_or(Ok(()), |(group, _)| delta.add_lateness_to(&mut group.lateness))
            }
            _ => Ok(()),
        }
    })?;
    Ok(Stats::of(since, until, named(groups, connection)?))
}

pub(super) const COUNTS: &str =
    "SELECT source, counter, n FROM counters WHERE span = ?1 AND start >= ?2 AND start < ?3";

pub(super) const COUNTS_BY_START: &str =
    "SELECT start, source, counter, n FROM counters WHERE span = ?1 AND start >= ?2 AND start < ?3";

pub(super) const LATENESS: &str =
    "SELECT source, late FROM counter_lateness WHERE span = ?1 AND start >= ?2 AND start < ?3";

pub(super) const STARTS_THERE: &str = "SELECT 1 FROM counters WHERE span = ?1 AND start = ?2 LIMIT 1";

fn named(groups: Groups, connection: &Connection) -> rusqlite::Result<Vec<StatsGroup>> {
    let mut name = connection.prepare_cached("SELECT name FROM sources WHERE source = ?1")?;
    let named = groups.by_source.into_iter().map(|(source, (mut group, jobs))| {
        if source != 0 {
            let name: String = name.query_row([source], |row| row.get(0))?;
            group.source = Some(Source::new(&name).map_err(|_| row::unexpected("source", &name))?);
        }
        group.jobs = jobs.map(|n| n.max(0).unsigned_abs());
        Ok(group)
    });
    named.collect()
}

fn source_row(connection: &Connection, source: &Source) -> rusqlite::Result<Option<i64>> {
    let mut select = connection.prepare_cached("SELECT source FROM sources WHERE name = ?1")?;
    select.query_row([source.as_str()], |row| row.get(0)).optional()
}

/// The start of the minute, or of what longer count the instant lies in.
fn widened_down(connection: &Connection, since: Timestamp) -> rusqlite::Result<Timestamp> {
    Ok(Timestamp::from_micros(count_around(connection, since.as_micros())?.0))
}

/// The end of the minute, or of what longer count the instant lies in; the instant itself where it is between two.
fn widened_up(connection: &Connection, until: Timestamp) -> rusqlite::Result<Timestamp> {
    let until = until.as_micros();
    let (start, span) = count_around(connection, until)?;
    Ok(Timestamp::from_micros(if start == until { until } else { start.saturating_add(span.micros()) }))
}

/// The longest count that has the instant in it, else its minute: its start and how long it is.
fn count_around(connection: &Connection, instant: i64) -> rusqlite::Result<(i64, Span)> {
    let mut exists = connection.prepare_cached(STARTS_THERE)?;
    for span in [Span::DAY, Span::HOUR] {
        let start = span.start_of(instant);
        if exists.exists([span.seconds, start])? {
            return Ok((start, span));
        }
    }
    Ok((Span::MINUTE.start_of(instant), Span::MINUTE))
}
