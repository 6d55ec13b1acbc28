//! From times of reception to numbers of deliveries.
//!
//! Deliveries are stored by number, not by time: no index on a time has to be kept up. Which numbers a time has is known
//! from the counts.

use cola_ia_core::clock::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};

use super::counters::{Counter, Span, each_delta};

/// The numbers, first and last, between which all deliveries lie that were received from `since` to `until`, both of them
/// included: those that made an event and all others. More may lie between them, so the time is still to be compared; where
/// the clock was set back, many more. Where there is none, the first is above the last.
pub(super) fn numbers_between(
    connection: &Connection,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
) -> rusqlite::Result<(i64, i64)> {
    if since.is_none() && until.is_none() {
        return Ok((1, i64::MAX));
    }
    let from = since.map_or(i64::MIN, Timestamp::as_micros);
    let to = until.map_or(i64::MAX, Timestamp::as_micros);
    let (mut first, mut last) = (i64::MAX, 0);
    for span in Span::ALL {
        let mut select = connection.prepare_cached(NUMBERS)?;
        let found: Option<(Option<i64>, Option<i64>)> = select
            .query_row([span.seconds, span.start_of(from), to], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        if let Some((Some(least), Some(most))) = found {
            (first, last) = (first.min(least), last.max(most));
        }
    }
    each_delta(connection, |delta| {
        if matches!(delta.counter, Counter::Deliveries(_)) && (from..=to).contains(&delta.at) {
            (first, last) = (first.min(delta.sum.first), last.max(delta.sum.last));
        }
        Ok(())
    })?;
    Ok((first, last))
}

pub(super) const NUMBERS: &str =
    "SELECT min(first), max(last) FROM counters WHERE span = ?1 AND start >= ?2 AND start <= ?3";
