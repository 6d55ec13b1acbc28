//! Which numbers can have been given within a stretch of time.
//!
//! When something was received is not indexed: an index over every event would cost the intake more than a view is worth. The
//! counts say which numbers each minute gave, and later each hour and each day.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::filter::Filter;
use rusqlite::Connection;

use super::counters::Span;

/// A range of numbers of deliveries and events. What lies outside was not received in the stretch of time; what lies inside
/// may or may not have been: whoever reads it compares `received_at` all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NumberRange {
    /// The lowest.
    pub(super) first: i64,
    /// The one after the highest. Where there is none, not above the lowest.
    pub(super) end: i64,
}

/// The numbers that something between the filter's `since` and `until` can have.
pub(super) fn numbers(connection: &Connection, filter: &Filter) -> rusqlite::Result<NumberRange> {
    numbers_between(connection, filter.since, filter.until)
}

/// The numbers that something can have that was received from `since` on and before `until`. Where the clock was set back,
/// the range is as wide as its detour.
pub(super) fn numbers_between(
    connection: &Connection,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
) -> rusqlite::Result<NumberRange> {
    if since.is_none() && until.is_none() {
        return Ok(NumberRange { first: i64::MIN, end: i64::MAX });
    }
    let from = since.map_or(i64::MIN, Timestamp::as_micros);
    let to = until.map_or(i64::MAX, Timestamp::as_micros);
    let mut range = NumberRange { first: i64::MAX, end: i64::MIN };
    let mut widen = |first: i64, last: i64| {
        range.first = range.first.min(first);
        range.end = range.end.max(last.saturating_add(1));
    };
    for span in Span::ALL {
        let mut select = connection.prepare_cached(NUMBERS)?;
        let (first, last): (Option<i64>, Option<i64>) =
            select.query_row([span.seconds, span.start_of(from), to], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if let (Some(first), Some(last)) = (first, last) {
            widen(first, last);
        }
    }
    // These are few, whatever the store holds; those that move jobs have no numbers.
    let mut select =
        connection.prepare_cached("SELECT min(first), max(last) FROM counter_deltas WHERE at >= ?1 AND at <= ?2")?;
    if let (Some(first), Some(last)) = select.query_row([from, to], |row| Ok((row.get(0)?, row.get(1)?)))? {
        widen(first, last);
    }
    Ok(range)
}

pub(super) const NUMBERS: &str =
    "SELECT min(first), max(last) FROM counter_numbers WHERE span = ?1 AND start >= ?2 AND start <= ?3";
