//! Sums of money by day of UTC, source and model. Who records a cost adds to them in the same transaction; budgets and views
//! read them, and never all that was ever paid.
//!
//! A sum that does not fit into a number is the largest one: what was paid is never refused.

use cola_ia_core::effect::UtcDay;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

pub(super) use crate::common::money::MoneySums;

/// From seven columns in the order of the fields.
pub(super) fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<MoneySums> {
    Ok(MoneySums {
        costs: row.get(first)?,
        spent: row.get(first + 1)?,
        reserved: row.get(first + 2)?,
        tokens_in: row.get(first + 3)?,
        tokens_out: row.get(first + 4)?,
        replays: row.get(first + 5)?,
        replayed: row.get(first + 6)?,
    })
}

/// Adds to the sums of a day, a source and a model; `model` is empty where none was told.
pub(super) fn add(
    connection: &Connection,
    day: UtcDay,
    source: i64,
    model: &str,
    more: MoneySums,
) -> rusqlite::Result<()> {
    if more == MoneySums::default() {
        return Ok(());
    }
    let after = sums(connection, day, source, model)?.plus(more);
    let MoneySums { costs, spent, reserved, tokens_in, tokens_out, replays, replayed } = after;
    connection
        .prepare_cached(
            // Added up here: SQLite would make a floating number of a sum that does not fit.
            "INSERT INTO money (day, source, model, costs, spent, reserved, tokens_in, tokens_out, replays, replayed)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT (day, source, model) DO UPDATE SET costs = excluded.costs, spent = excluded.spent,
                 reserved = excluded.reserved, tokens_in = excluded.tokens_in, tokens_out = excluded.tokens_out,
                 replays = excluded.replays, replayed = excluded.replayed",
        )?
        .execute(params![day.0, source, model, costs, spent, reserved, tokens_in, tokens_out, replays, replayed])?;
    Ok(())
}

/// What stands there; nothing where there is no row.
pub(super) fn sums(connection: &Connection, day: UtcDay, source: i64, model: &str) -> rusqlite::Result<MoneySums> {
    let mut select = connection.prepare_cached(
        "SELECT costs, spent, reserved, tokens_in, tokens_out, replays, replayed FROM money
         WHERE day = ?1 AND source = ?2 AND model = ?3",
    )?;
    let sums = select.query_row(params![day.0, source, model], |row| read(row, 0)).optional()?;
    Ok(sums.unwrap_or_default())
}

/// What is spent and reserved on a day of a source, all its models together.
pub(super) fn taken(connection: &Connection, source: i64, day: UtcDay) -> rusqlite::Result<(i64, i64)> {
    let mut select = connection.prepare_cached("SELECT spent, reserved FROM money WHERE day = ?1 AND source = ?2")?;
    let mut rows = select.query([day.0, source])?;
    let (mut spent, mut reserved) = (0_i64, 0_i64);
    while let Some(row) = rows.next()? {
        spent = spent.saturating_add(row.get(0)?);
        reserved = reserved.saturating_add(row.get(1)?);
    }
    Ok((spent, reserved))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The store's tables, in memory.
    fn tables() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        for step in super::super::migrate::MIGRATIONS {
            connection.execute_batch(step.sql).unwrap();
        }
        connection
    }

    fn sums(spent: i64, reserved: i64) -> MoneySums {
        MoneySums { costs: 1, spent, reserved, ..MoneySums::default() }
    }

    #[test]
    fn sums_of_a_source_are_added_over_its_models_and_never_overflow() {
        let connection = tables();
        let day = UtcDay(20_000);
        let add = |day, source, model, more| super::add(&connection, day, source, model, more).unwrap();
        assert_eq!(taken(&connection, 1, day).unwrap(), (0, 0));
        add(day, 1, "", sums(0, 30));
        add(day, 1, "", sums(0, -10));
        add(day, 1, "small", sums(5, 0));
        add(day, 1, "large", sums(7, 0));
        add(day, 2, "large", sums(1_000, 0));
        add(day.next(), 1, "large", sums(1_000, 0));
        assert_eq!(taken(&connection, 1, day).unwrap(), (12, 20));
        add(day, 1, "large", sums(i64::MAX, 0));
        assert_eq!(taken(&connection, 1, day).unwrap(), (i64::MAX, 20));
        let rows: i64 = connection.query_row("SELECT count(*) FROM money", [], |row| row.get(0)).unwrap();
        add(day, 3, "", MoneySums::default());
        assert_eq!(connection.query_row("SELECT count(*) FROM money", [], |row| row.get(0)), Ok(rows));
        let costs: i64 = connection
            .query_row("SELECT costs FROM money WHERE source = 1 AND model = '' ", [], |row| row.get(0))
            .unwrap();
        assert_eq!(costs, 2);
    }
}
