//! Which numbers can have been given within a stretch of time.
//!
//! When something was received is not indexed: an index over every event would cost the intake more than a view is worth.
//! Numbers rise as things arrive, so a stretch of time is a range of numbers, as far as the clock did not step.

use cola_ia_core::filter::Filter;
use rusqlite::Connection;

/// A range of numbers of deliveries and events. What lies outside was not received in the stretch of time; what lies inside
/// may or may not have been: whoever reads it compares `received_at` all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NumberRange {
    /// The lowest.
    pub(super) first: i64,
    /// The one after the highest.
    pub(super) end: i64,
}

/// The numbers that something between the filter's `since` and `until` can have.
#[allow(clippy::unnecessary_wraps, reason = "whoever narrows the range reads the store")]
pub(super) fn numbers(_connection: &Connection, _filter: &Filter) -> rusqlite::Result<NumberRange> {
    Ok(NumberRange { first: i64::MIN, end: i64::MAX })
}
