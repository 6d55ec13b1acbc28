//! Sums of money by day of UTC, source and model. Who records a cost adds to them in the same transaction; budgets and views
//! read them, and never all that was ever paid.
//!
//! A sum that does not fit into a number is the largest one: what was paid is never refused.

use cola_ia_core::effect::{Micros, UtcDay};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

/// What stands in a row of `money`, or is added to one. Money is in millionths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct MoneySums {
    /// Costs that were counted: of attempts and of effects, where one was told or expected.
    pub(super) costs: i64,
    /// Spent.
    pub(super) spent: i64,
    /// Held by tries whose outcome is open; below 0 where it is released. Which model it will be nobody knows: it stands in the
    /// row of the model `''`.
    pub(super) reserved: i64,
    /// Tokens that went into models.
    pub(super) tokens_in: i64,
    /// Tokens that came out of them.
    pub(super) tokens_out: i64,
    /// Results that were used again.
    pub(super) replays: i64,
    /// What those had cost.
    pub(super) replayed: i64,
}

impl MoneySums {
    /// From seven columns in the order of the fields.
    pub(super) fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            costs: row.get(first)?,
            spent: row.get(first + 1)?,
            reserved: row.get(first + 2)?,
            tokens_in: row.get(first + 3)?,
            tokens_out: row.get(first + 4)?,
            replays: row.get(first + 5)?,
            replayed: row.get(first + 6)?,
        })
    }

    /// What an attempt or an effect is counted as. `cost` is what was charged; `None` where none was told or expected.
    pub(super) fn of_cost(cost: Option<Micros>, tokens_in: Option<i64>, tokens_out: Option<i64>) -> Self {
        Self {
            costs: cost.is_some().into(),
            spent: cost.unwrap_or_default().get(),
            tokens_in: tokens_in.unwrap_or_default().max(0),
            tokens_out: tokens_out.unwrap_or_default().max(0),
            ..Self::default()
        }
    }

    /// What of it is more than in `other`, each sum for itself.
    pub(super) fn beyond(self, other: Self) -> Self {
        let more = |here: i64, there: i64| here.saturating_sub(there).max(0);
        Self {
            costs: more(self.costs, other.costs),
            spent: more(self.spent, other.spent),
            reserved: more(self.reserved, other.reserved),
            tokens_in: more(self.tokens_in, other.tokens_in),
            tokens_out: more(self.tokens_out, other.tokens_out),
            replays: more(self.replays, other.replays),
            replayed: more(self.replayed, other.replayed),
        }
    }

    /// With so much more.
    #[must_use]
    pub(super) const fn plus(self, more: Self) -> Self {
        Self {
            costs: self.costs.saturating_add(more.costs),
            spent: self.spent.saturating_add(more.spent),
            reserved: self.reserved.saturating_add(more.reserved),
            tokens_in: self.tokens_in.saturating_add(more.tokens_in),
            tokens_out: self.tokens_out.saturating_add(more.tokens_out),
            replays: self.replays.saturating_add(more.replays),
            replayed: self.replayed.saturating_add(more.replayed),
        }
    }
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
    let sums = select.query_row(params![day.0, source, model], |row| MoneySums::read(row, 0)).optional()?;
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
