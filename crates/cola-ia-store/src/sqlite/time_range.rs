//! From times of reception to numbers of deliveries.
//!
//! When something was received is not indexed: an index over every event would cost the intake more than a view is worth. The
//! counts say which numbers each minute gave, and later each hour and each day.

use cola_ia_core::clock::Timestamp;
use rusqlite::Connection;

use super::counters::Span;

/// The numbers, first and last, between which all deliveries lie that were received from `since` to `until`, both of them
/// included: those that made an event and all others. More may lie between them, so the time is still to be compared; where
/// the clock was set back, the range is as wide as its detour. Where there is none, the first is above the last.
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
    let mut widen = |range: (Option<i64>, Option<i64>)| {
        if let (Some(least), Some(most)) = range {
            (first, last) = (first.min(least), last.max(most));
        }
    };
    for span in Span::ALL {
        let mut select = connection.prepare_cached(NUMBERS)?;
        widen(select.query_row([span.seconds, span.start_of(from), to], |row| Ok((row.get(0)?, row.get(1)?)))?);
    }
    // These are few, whatever the store holds; those that move jobs have no numbers.
    let mut select =
        connection.prepare_cached("SELECT min(first), max(last) FROM counter_deltas WHERE at >= ?1 AND at <= ?2")?;
    widen(select.query_row([from, to], |row| Ok((row.get(0)?, row.get(1)?)))?);
    Ok((first, last))
}

pub(super) const NUMBERS: &str =
    "SELECT min(first), max(last) FROM counter_numbers WHERE span = ?1 AND start >= ?2 AND start <= ?3";
