//! What one transaction adds to the sums of money, and what is left of a budget.

use cola_ia_core::effect::{Budget, UtcDay};
use rusqlite::{Connection, OptionalExtension as _};

use super::money;
pub(super) use crate::common::money::Sums;

/// Adds all of it to what is there.
pub(super) fn write(sums: &Sums, connection: &Connection) -> rusqlite::Result<()> {
    sums.iter().try_for_each(|(day, source, model, more)| money::add(connection, day, source, model, more))
}

/// The budget of a source on this day, if it has one, with the sums as they are in this transaction.
pub(super) fn budget(connection: &Connection, source: i64, day: UtcDay) -> rusqlite::Result<Option<Budget>> {
    let limit: Option<i64> = connection
        .prepare_cached("SELECT limit_micros FROM budgets WHERE source = ?1")?
        .query_row([source], |row| row.get(0))
        .optional()?;
    let Some(limit) = limit else { return Ok(None) };
    let (spent, reserved) = money::taken(connection, source, day)?;
    Ok(Some(Budget { limit, spent, reserved }))
}
