//! Sums of money by day of UTC, source and model. Who records a cost adds to them in the same transaction; budgets and views
//! read them, and never all that was ever paid.

use cola_ia_core::effect::UtcDay;
use tokio_postgres::Row;

use super::error::Fault;
use super::row::Columns as _;
use super::sql::params;
use super::tx::Tx;
pub(super) use crate::common::money::MoneySums;

/// From seven columns in the order of the fields.
pub(super) fn read(row: &Row, first: usize) -> Result<MoneySums, Fault> {
    Ok(MoneySums {
        costs: row.read(first)?,
        spent: row.read(first + 1)?,
        reserved: row.read(first + 2)?,
        tokens_in: row.read(first + 3)?,
        tokens_out: row.read(first + 4)?,
        replays: row.read(first + 5)?,
        replayed: row.read(first + 6)?,
    })
}

/// What is spent and reserved on a day of each of these sources, all their models together; nothing of one on which nothing
/// was.
pub(super) async fn taken(tx: &Tx, sources: &[i64], day: UtcDay) -> Result<Vec<(i64, i64)>, Fault> {
    let rows = tx
        .query("SELECT source, spent, reserved FROM money WHERE day = $1 AND source = ANY($2)", params![day.0, sources])
        .await?;
    // Added up here: the server would refuse a sum that does not fit.
    let mut taken = vec![(0_i64, 0_i64); sources.len()];
    for row in rows {
        let (source, spent, reserved): (i64, i64, i64) = (row.read(0)?, row.read(1)?, row.read(2)?);
        if let Some(place) = sources.iter().position(|one| *one == source) {
            let sums = &mut taken[place];
            *sums = (sums.0.saturating_add(spent), sums.1.saturating_add(reserved));
        }
    }
    Ok(taken)
}
