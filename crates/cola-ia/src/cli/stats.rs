//! `stats`: what came, how late, and how many jobs wait.

use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::Source;
use cola_ia_core::filter::{Filter, Key};
use cola_ia_core::job::JobState;
use cola_ia_core::store::{SourceView, Stats, StatsGroup, Store, StoreError};
use cola_ia_core::verdict::Verdict;
use cola_ia_wire::StatsLine;
use pollster::block_on;

use super::add::push_json;
use super::jobs::to_the_second;
use super::{Exit, Problem, Session, print, standing};
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

/// Runs the command.
///
/// # Errors
/// The store's; that of stdout.
pub fn run(session: &Session, options: &StatsOptions, store: &dyn Store) -> Result<Exit, Problem> {
    let failed = |error: StoreError| Problem::from_store(&error);
    let stats = block_on(store.stats(options.filter.clone())).map_err(failed)?;
    let sources = block_on(store.sources(options.filter.clone())).map_err(failed)?;
    if options.json {
        print(&as_json(&stats, &sources))?;
    } else {
        print(&as_tables(&session.lang, &stats, &sources, session.colour.stdout))?;
        explain(session, options, &stats);
    }
    for warning in block_on(standing::warnings(store, &sources)).map_err(failed)? {
        session.warn(&warning);
    }
    Ok(Exit::Done)
}

/// One [`StatsLine`] a line.
fn as_json(stats: &Stats, sources: &[SourceView]) -> String {
    let mut out = String::new();
    StatsLine::all(stats, sources).for_each(|line| push_json(&mut out, &line));
    out
}

/// Two tables: deliveries, and jobs; a line for each source that has any and, where there is not exactly one, the total last.
/// `sources`: how they stand.
fn as_tables(lang: &Lang, stats: &Stats, sources: &[SourceView], colour: bool) -> String {
    let mut heads = vec![lang.word("column-source"), lang.word("column-received")];
    heads.extend(Verdict::ALL.map(|verdict| lang.verdict(verdict).to_uppercase()));
    heads.extend(["column-late-half", "column-late-most"].map(|key| lang.word(key)));
    let came = |group: &StatsGroup| group.received() > 0;
    let deliveries = table(lang, stats, &heads, colour, came, |group| {
        let late = |percent| group.lateness.percentile(percent).map_or_else(|| "-".to_owned(), rough);
        let mut cells = vec![group.received().to_string()];
        cells.extend(group.deliveries.map(|n| n.to_string()));
        cells.extend([late(50), late(95)]);
        cells
    });
    let mut heads = vec![lang.word("column-source")];
    for state in JobState::ALL {
        heads.push(lang.state(state).to_uppercase());
        // They are among those before them.
        if state == JobState::Running {
            heads.push(lang.word("column-expired"));
        }
    }
    let all_expired = sources.iter().map(|view| view.expired).sum::<u64>();
    let expired = |group: &StatsGroup| match &group.source {
        Some(source) => SourceView::find(sources, source).map_or(0, |view| view.expired),
        // What was refused has no jobs: it is the total.
        None => all_expired,
    };
    let any_jobs = |group: &StatsGroup| group.jobs != [0; 6];
    let jobs = table(lang, stats, &heads, colour, any_jobs, |group| {
        let of_state = |state| {
            let count = group.jobs_in(state).to_string();
            let expired = (state == JobState::Running).then(|| expired(group).to_string());
            std::iter::once(count).chain(expired)
        };
        JobState::ALL.into_iter().flat_map(of_state).collect()
    });
    format!("{deliveries}\n{jobs}")
}

fn table(
    lang: &Lang,
    stats: &Stats,
    heads: &[String],
    colour: bool,
    stands: impl Fn(&StatsGroup) -> bool,
    cells: impl Fn(&StatsGroup) -> Vec<String>,
) -> String {
    let row = |name: &str, group: &StatsGroup| [vec![name.to_owned()], cells(group)].concat();
    let of_source = |group: &StatsGroup| row(group.source.as_ref().map_or("-", Source::as_str), group);
    let mut rows: Vec<Vec<String>> = stats.groups.iter().filter(|group| stands(group)).map(of_source).collect();
    if rows.len() != 1 {
        rows.push(row(&lang.word("column-total"), &stats.total));
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

/// A length of time no finer than it is known, within a sixteenth: two digits, or what is left of days.
fn rough(length: Duration) -> String {
    let seconds = length.as_secs_f64();
    let (amount, unit) = match length.as_secs() {
        0 => return format!("{} ms", length.as_millis()),
        1..60 => (seconds, "s"),
        60..3_600 => (seconds / 60.0, "min"),
        3_600..86_400 => (seconds / 3_600.0, "h"),
        _ => (seconds / 86_400.0, "d"),
    };
    if amount < 9.95 { format!("{amount:.1} {unit}") } else { format!("{amount:.0} {unit}") }
}

/// For stderr: what is counted, and what is odd about it.
fn explain(session: &Session, options: &StatsOptions, stats: &Stats) {
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
    if stats.total.of(Verdict::Invalid) > 0 {
        session.hint(&Message::new("stats-refused-hint"));
    }
    if stats.more > 0 {
        session.note(&Message::new("stats-more").number("count", stats.more));
    }
}

#[cfg(test)]
mod tests;
