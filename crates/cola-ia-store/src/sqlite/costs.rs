//! What was spent, is at risk and was avoided: from sums alone, never from all attempts or deliveries.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::UtcDay;
use cola_ia_core::store::{Costs, CostsRequest};
use rusqlite::{Connection, OptionalExtension as _};

use super::counters::{Counter, Span, each_delta};
use super::reader::Sight;
use super::records::Names;
use super::stats::COUNTS_BY_START;
use super::{accept, currency, money};
use crate::common::costs::Lines;

/// See [`Store::costs`](cola_ia_core::store::Store::costs).
pub(super) fn costs(sight: &Sight<'_>, request: &CostsRequest) -> rusqlite::Result<Costs> {
    let connection: &Connection = sight.connection;
    let only = rows_of(connection, request)?;
    let takes = |source: i64| only.as_ref().is_none_or(|only| only.contains(&source));
    let mut lines = Lines::new(request.by);
    let (from, to) = (request.since.map_or(i64::MIN, |day| day.0), request.until.map_or(i64::MAX, |day| day.0));
    let mut select = connection.prepare_cached(SUMS)?;
    let mut rows = select.query([from, to])?;
    while let Some(row) = rows.next()? {
        let (day, source) = (UtcDay(row.get(0)?), row.get(1)?);
        if takes(source) {
            lines.money(day, source, row.get_ref(2)?.as_str()?, money::read(row, 3)?);
        }
    }
    deliveries(connection, request, &mut lines, takes)?;
    let currency = currency::currency(connection)?;
    let mut names = Names::new(connection);
    let (lines, total) = lines.named(|source| names.of(source))?;
    Ok(Costs { currency, lines, total })
}

pub(super) const SUMS: &str =
    "SELECT day, source, model, costs, spent, reserved, tokens_in, tokens_out, replays, replayed FROM money
     WHERE day >= ?1 AND day < ?2";

/// Rows of the sources that are asked for; `None`: all.
fn rows_of(connection: &Connection, request: &CostsRequest) -> rusqlite::Result<Option<Vec<i64>>> {
    let row = |name: &str| {
        let mut select = connection.prepare_cached("SELECT source FROM sources WHERE name = ?1")?;
        select.query_row([name], |row| row.get(0)).optional()
    };
    match &request.sources[..] {
        [] => Ok(None),
        // One that nobody knows has no row.
        some => some.iter().filter_map(|name| row(name.as_str()).transpose()).collect::<Result<_, _>>().map(Some),
    }
}

/// Events that entered and repeated deliveries, as they were counted. Counts of a day lie within it, whichever span they are of.
fn deliveries(
    connection: &Connection,
    request: &CostsRequest,
    lines: &mut Lines,
    takes: impl Fn(i64) -> bool,
) -> rusqlite::Result<()> {
    let instant = |day: Option<UtcDay>| day.map(|day| day.start().as_micros());
    let (from, to) = (instant(request.since).unwrap_or(i64::MIN), instant(request.until).unwrap_or(i64::MAX));
    let day = |at: i64| UtcDay::of(Timestamp::from_micros(at));
    for span in Span::ALL {
        let mut select = connection.prepare_cached(COUNTS_BY_START)?;
        let mut rows = select.query([span.seconds, from, to])?;
        while let Some(row) = rows.next()? {
            let (source, verdict) = (row.get(1)?, accept::verdict_of(row.get_ref(2)?.as_str()?)?);
            if source != 0 && takes(source) {
                lines.deliveries(day(row.get(0)?), source, verdict, row.get(3)?);
            }
        }
    }
    each_delta(connection, |delta| {
        if let Counter::Deliveries(verdict) = delta.counter
            // Without an end, what a clock far ahead has stamped counts too.
            && delta.at >= from
            && (delta.at < to || request.until.is_none())
            && delta.source != 0
            && takes(delta.source)
        {
            lines.deliveries(day(delta.at), delta.source, verdict, delta.n);
        }
        Ok(())
    })
}
