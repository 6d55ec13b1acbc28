//! Lists that are read downwards by number, so many rows a call, from one table or from several.

use cola_ia_core::filter::Filter;
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::conditions::Conditions;
use super::time_range;

/// Rows that one call looks at in each table, whatever its filter lets through: the page comes short then, and the next call
/// goes on. A view is over in some milliseconds, and nothing long holds the log back.
pub(super) const ROWS_MAX: i64 = 4_000;

/// Where to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    /// The lowest number.
    pub(super) first: i64,
    /// The one after the highest.
    pub(super) end: i64,
}

impl Range {
    /// The numbers of what was received in the filter's time, below the place where the page starts.
    pub(super) fn of(connection: &Connection, filter: &Filter, below: Option<i64>) -> rusqlite::Result<Self> {
        let (first, last) = time_range::numbers_between(connection, filter.since, filter.until)?;
        let end = last.saturating_add(1);
        Ok(Self { first, end: below.map_or(end, |below| end.min(below)) })
    }
}

/// What a table is asked.
pub(super) struct Question<'a> {
    /// What is read of each row.
    pub(super) columns: &'a str,
    /// The table of the list and how its rows are found, as `jobs j` or `deliveries d INDEXED BY deliveries_refused`.
    pub(super) table: &'a str,
    /// The number's column.
    pub(super) number: &'a str,
    /// The condition of the index by which rows are found; empty for a table that is read by number.
    pub(super) rows: &'a str,
    /// What is joined to it for the columns and the conditions.
    pub(super) joins: &'a str,
    /// What the filter demands.
    pub(super) conditions: Conditions,
}

/// What was found in one table.
#[derive(Debug)]
pub(super) struct Stretch<T> {
    /// By number, highest first.
    found: Vec<(i64, T)>,
    /// Everything down to this number was looked at; `None`: there is nothing below.
    floor: Option<i64>,
}

impl<T> Stretch<T> {
    /// What was found by a statement with `LIMIT limit + 1` that looked down to `floor`.
    fn new(found: Vec<(i64, T)>, limit: usize, floor: Option<i64>) -> Self {
        let floor = if found.len() > limit { found.last().map(|(number, _)| *number) } else { floor };
        Self { found, floor }
    }

    /// Looks down a table: at `limit + 1` rows that the conditions let through, at [`ROWS_MAX`] rows in all.
    pub(super) fn look(
        connection: &Connection,
        question: Question<'_>,
        range: Range,
        limit: usize,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<(i64, T)>,
    ) -> rusqlite::Result<Self> {
        let Question { columns, table, number, rows, joins, mut conditions } = question;
        let rows = if rows.is_empty() { "true" } else { rows };
        let floor = if conditions.is_empty() {
            None
        } else {
            let sql = format!(
                "SELECT {number} FROM {table} WHERE {rows} AND {number} < ?1 AND {number} >= ?2
                 ORDER BY {number} DESC LIMIT 1 OFFSET {}",
                ROWS_MAX - 1,
            );
            connection.prepare_cached(&sql)?.query_row([range.end, range.first], |row| row.get(0)).optional()?
        };
        let (end, first) = (conditions.bind(range.end), conditions.bind(floor.unwrap_or(range.first)));
        let sql = format!(
            "SELECT {columns} FROM {table} {joins} WHERE {rows} AND {number} < {end} AND {number} >= {first} AND {}
             ORDER BY {number} DESC LIMIT {}",
            conditions.sql(),
            // One more than is given tells whether another page follows.
            limit + 1,
        );
        let found = connection
            .prepare_cached(&sql)?
            .query_map(conditions.values(), |row| read(row))?
            .collect::<rusqlite::Result<_>>()?;
        Ok(Self::new(found, limit, floor))
    }
}

/// The highest `limit` of several tables, and below which number the next page starts.
pub(super) fn merge<T>(stretches: Vec<Stretch<T>>, limit: usize) -> (Vec<T>, Option<i64>) {
    // Below the highest floor, one of the tables has not been looked at.
    let floor = stretches.iter().filter_map(|stretch| stretch.floor).max();
    let mut found: Vec<(i64, T)> = stretches
        .into_iter()
        .flat_map(|stretch| stretch.found)
        .filter(|(number, _)| floor.is_none_or(|floor| *number >= floor))
        .collect();
    found.sort_unstable_by_key(|(number, _)| std::cmp::Reverse(*number));
    let next = if found.len() > limit {
        found.truncate(limit);
        found.last().map(|(number, _)| *number)
    } else {
        floor
    };
    (found.into_iter().map(|(_, item)| item).collect(), next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(numbers: &[i64], limit: usize, floor: Option<i64>) -> Stretch<i64> {
        Stretch::new(numbers.iter().map(|number| (*number, *number)).collect(), limit, floor)
    }

    #[test]
    fn nothing_below_an_unseen_number_is_given() {
        // The second table was looked at down to 6 only.
        let merged = merge(vec![stretch(&[9, 5, 1], 4, None), stretch(&[8], 4, Some(6))], 4);
        assert_eq!(merged, (vec![9, 8], Some(6)));
        // Both to their end.
        let merged = merge(vec![stretch(&[9, 5, 1], 4, None), stretch(&[8], 4, None)], 4);
        assert_eq!(merged, (vec![9, 8, 5, 1], None));
        // More than fits.
        let merged = merge(vec![stretch(&[9, 5, 1], 2, None), stretch(&[8, 7, 6], 2, None)], 2);
        assert_eq!(merged, (vec![9, 8], Some(8)));
        // Nothing found, and more to look at.
        assert_eq!(merge(vec![stretch(&[], 2, Some(3))], 2), (vec![], Some(3)));
    }
}
