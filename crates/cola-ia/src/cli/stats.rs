//! `stats`: what came, how late, and how many jobs wait.

use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::Source;
use cola_ia_core::filter::{Filter, Key};
use cola_ia_core::job::JobState;
use cola_ia_core::store::{Stats, StatsGroup};
use cola_ia_core::verdict::Verdict;
use cola_ia_wire::StatsLine;

use super::Session;
use super::add::push_json;
use super::jobs::to_the_second;
use super::show::length;
use crate::lang::{Lang, Message};
use crate::print::Paint;

/// The options of `stats`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatsOptions {
    /// `--filter`, `--source`, `--since`, `--until`
    pub filter: Filter,
    /// `--json`
    pub json: bool,
}

/// What counts can be asked for.
pub const KEYS: [Key; 3] = [Key::Source, Key::Since, Key::Until];

/// The time that is counted where no start is named.
const SINCE_DEFAULT_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

/// With the start that stands for none: a day before the end, or before now.
pub fn with_start(filter: Filter, now: Timestamp) -> Filter {
    let end = filter.until.unwrap_or(now);
    let start = Timestamp::from_micros(end.as_micros().saturating_sub(SINCE_DEFAULT_MICROS));
    Filter { since: filter.since.or(Some(start)), ..filter }
}

/// One [`StatsLine`] a line.
pub fn as_json(stats: &Stats) -> String {
    let mut out = String::new();
    StatsLine::all(stats).for_each(|line| push_json(&mut out, &line));
    out
}

/// Two tables: deliveries, and jobs; a line a source and, where there is not exactly one, the total last.
pub fn as_tables(lang: &Lang, stats: &Stats, colour: bool) -> String {
    let mut heads = vec![lang.word("column-source"), lang.word("column-received")];
    heads.extend(Verdict::ALL.map(|verdict| lang.verdict(verdict).to_uppercase()));
    heads.extend(["column-late-half", "column-late-most"].map(|key| lang.word(key)));
    let deliveries = table(lang, stats, &heads, colour, |group| {
        let late = |percent| group.lateness.percentile(percent).map_or_else(|| "-".to_owned(), rough);
        let mut cells = vec![group.received().to_string()];
        cells.extend(group.deliveries.map(|n| n.to_string()));
        cells.extend([late(50), late(95)]);
        cells
    });
    let mut heads = vec![lang.word("column-source")];
    heads.extend(JobState::ALL.map(|state| lang.state(state).to_uppercase()));
    let jobs = table(lang, stats, &heads, colour, |group| group.jobs.map(|n| n.to_string()).to_vec());
    format!("{deliveries}\n{jobs}")
}

fn table(
    lang: &Lang,
    stats: &Stats,
    heads: &[String],
    colour: bool,
    cells: impl Fn(&StatsGroup) -> Vec<String>,
) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for group in &stats.groups {
        let source = group.source.as_ref().map_or("-", |source| source.as_str());
        rows.push([vec![source.to_owned()], cells(group)].concat());
    }
    if stats.groups.len() != 1 {
        rows.push([vec![lang.word("column-total")], cells(&stats.total)].concat());
    }
    let width = |column: usize| {
        let lengths = rows.iter().map(Vec::as_slice).chain([heads]).map(|row| row[column].chars().count());
        lengths.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let mut out = Paint::Head.on(&line(heads, &widths), colour);
    for row in &rows {
        out.push('\n');
        out.push_str(&line(row, &widths));
    }
    out.push('\n');
    out
}

/// The name to the left, figures to the right.
fn line(cells: &[String], widths: &[usize]) -> String {
    let aligned = cells.iter().zip(widths).enumerate().map(|(column, (cell, width))| match column {
        0 => format!("{cell:<width$}"),
        _ => format!("{cell:>width$}"),
    });
    aligned.collect::<Vec<_>>().join("  ")
}

/// A length of time no finer than it is known, within a sixteenth.
fn rough(length_of_time: Duration) -> String {
    match length_of_time.as_secs() {
        0 => format!("{} ms", length_of_time.as_millis()),
        1..60 => format!("{:.1} s", length_of_time.as_secs_f64()),
        _ => length(i64::try_from(length_of_time.as_micros()).unwrap_or(i64::MAX)),
    }
}

/// For stderr: what is counted, and what is odd about it.
pub fn explain(session: &Session, options: &StatsOptions, stats: &Stats) {
    let since = stats.since.map_or_else(String::new, to_the_second);
    session.note(&match stats.until {
        Some(until) => Message::new("stats-between").with("since", since).with("until", to_the_second(until)),
        None => Message::new("stats-since").with("since", since),
    });
    if stats.groups.is_empty() && !options.filter.sources.is_empty() {
        let sources: Vec<&str> = options.filter.sources.iter().map(Source::as_str).collect();
        session.note(&Message::new("jobs-no-source").with("source", sources.join(", ")));
    }
    let late = &stats.total.lateness;
    if let Some(ahead) = late.ahead_percentile(95) {
        session.note(&Message::new("stats-ahead").number("count", late.ahead()).with("time", rough(ahead)));
    }
    if stats.more > 0 {
        session.note(&Message::new("stats-more").number("count", stats.more));
    }
}

#[cfg(test)]
mod tests;
