//! Lists that are read downwards by number, so many rows a call, from one table or from several.

use cola_ia_core::filter::Filter;
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::conditions::Conditions;
use super::time_range;
pub(super) use crate::common::stretch::{ROWS_MAX, Stretch, merge};

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

impl<T> Stretch<T> {
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
