//! From times of reception to numbers of deliveries.
//!
//! When something was received is not indexed: an index over every event would cost the intake more than a view is worth.

use cola_ia_core::clock::Timestamp;
use rusqlite::Connection;

/// The numbers, first and last, between which all deliveries lie that were received from `since` to `until`, both of them
/// included: those that made an event and all others. More may lie between them, so the time is still to be compared. Where
/// there is none, the first is above the last.
#[allow(clippy::unnecessary_wraps, reason = "whoever narrows the range reads the store")]
pub(super) fn numbers_between(
    _connection: &Connection,
    _since: Option<Timestamp>,
    _until: Option<Timestamp>,
) -> rusqlite::Result<(i64, i64)> {
    Ok((1, i64::MAX))
}
