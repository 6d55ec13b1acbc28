//! From times of reception to numbers of deliveries.
//!
//! When something was received is not indexed: an index over every event would cost the intake more than a view is worth. The
//! counts say between which numbers each minute's lie, and later each hour's and each day's. Numbers of two transactions are in no
//! order, so the range is as wide as both.

use cola_ia_core::clock::Timestamp;

use super::counters::Span;
use super::error::Fault;
use super::row::Columns as _;
use super::sql::params;
use super::tx::Tx;

/// The numbers, first and last, between which all deliveries lie that were received from `since` to `until`, both of them
/// included: those that made an event and all others. More may lie between them, so the time is still to be compared. Where there
/// is none, the first is above the last.
pub(super) async fn numbers_between(
    tx: &Tx,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
) -> Result<(i64, i64), Fault> {
    if since.is_none() && until.is_none() {
        return Ok((1, i64::MAX));
    }
    let from = since.map_or(i64::MIN, Timestamp::as_micros);
    let to = until.map_or(i64::MAX, Timestamp::as_micros);
    let [day, hour, minute] = Span::ALL.map(|span| span.start_of(from));
    let row = tx
        .one(
            "SELECT min(first), max(last) FROM (
                 SELECT first, last FROM counter_numbers
                 WHERE (span = 86400 AND start >= $1 OR span = 3600 AND start >= $2 OR span = 60 AND start >= $3)
                     AND start <= $5
                 UNION ALL SELECT first, last FROM counter_deltas WHERE at >= $4 AND at <= $5 AND first IS NOT NULL) n",
            params![day, hour, minute, from, to],
        )
        .await?;
    let (first, last): (Option<i64>, Option<i64>) = (row.read(0)?, row.read(1)?);
    Ok((first.unwrap_or(i64::MAX), last.unwrap_or(0)))
}
