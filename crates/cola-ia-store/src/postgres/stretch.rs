//! Lists that are read downwards by number, so many rows a call.
//!
//! Numbers have gaps of any size and no order between transactions: what bounds a call is a count of rows in an index, never a
//! difference of numbers.

use cola_ia_core::filter::Filter;
use tokio_postgres::Row;

use super::conditions::Conditions;
use super::error::Fault;
use super::row::Columns as _;
use super::sql::params;
use super::time_range;
use super::tx::Tx;
use crate::common::stretch::{ROWS_MAX, Stretch};

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
    pub(super) async fn of(tx: &Tx, filter: &Filter, below: Option<i64>) -> Result<Self, Fault> {
        let (first, last) = time_range::numbers_between(tx, filter.since, filter.until).await?;
        let end = last.saturating_add(1);
        Ok(Self { first, end: below.map_or(end, |below| end.min(below)) })
    }
}

/// What a table is asked.
pub(super) struct Question<'a> {
    /// What is read of each row.
    pub(super) columns: &'a str,
    /// The table of the list, as `jobs j`.
    pub(super) table: &'a str,
    /// What it is called there, as `j`.
    pub(super) name: &'a str,
    /// The number's column, as `event`.
    pub(super) number: &'a str,
    /// The condition of the index by which rows are found; empty for a table that is read by number.
    pub(super) rows: &'a str,
    /// The column that stands before the number in that index, and the one word of it that is looked for.
    pub(super) word: Option<(&'a str, &'a str)>,
    /// What is joined to it for the columns and the conditions.
    pub(super) joins: &'a str,
    /// What the filter demands.
    pub(super) conditions: Conditions,
}

impl Question<'_> {
    /// The rows of a range, highest number first. The conditions of the filter are not among them and the planner may not move
    /// them here: it knows nothing of where in a table its values lie, and would go through all that have one to find a few.
    fn walk(&self, columns: &str, [end, first]: [&str; 2], bound: &str) -> String {
        let Self { table, name, number, .. } = self;
        let rows = if self.rows.is_empty() { "true" } else { self.rows };
        let range = match self.word {
            None => format!("{name}.{number} < {end} AND {name}.{number} >= {first}"),
            // Compared together, they are in the order of that index alone.
            Some((column, word)) => format!(
                "({name}.{column}, {name}.{number}) < ('{word}', {end})
                 AND ({name}.{column}, {name}.{number}) >= ('{word}', {first})"
            ),
        };
        format!("SELECT {columns} FROM {table} WHERE {rows} AND {range} ORDER BY {} {bound}", self.order())
    }

    fn order(&self) -> String {
        let Self { name, number, .. } = self;
        match self.word {
            None => format!("{name}.{number} DESC"),
            Some((column, _)) => format!("{name}.{column} DESC, {name}.{number} DESC"),
        }
    }
}

/// Looks down a table: at `limit + 1` rows that the conditions let through, at [`ROWS_MAX`] rows in all.
pub(super) async fn look<T>(
    tx: &Tx,
    mut question: Question<'_>,
    range: Range,
    limit: usize,
    mut read: impl FnMut(&Row) -> Result<(i64, T), Fault>,
) -> Result<Stretch<T>, Fault> {
    let mut conditions = std::mem::take(&mut question.conditions);
    let places = [conditions.bind(range.end), conditions.bind(range.first)];
    // One more than is given tells whether another page follows.
    let wanted = limit + 1;
    let looked = if conditions.is_empty() { wanted } else { ROWS_MAX as usize };
    let sql = format!(
        "SELECT {} FROM ({}) {} {} WHERE {} ORDER BY {} LIMIT {wanted}",
        question.columns,
        question.walk("*", places.each_ref().map(|place| &place[..]), &format!("LIMIT {looked}")),
        question.name,
        question.joins,
        conditions.sql(),
        question.order(),
    );
    let found: Vec<(i64, T)> =
        tx.query(&sql, &conditions.values()).await?.iter().map(&mut read).collect::<Result<_, _>>()?;
    let floor = if conditions.is_empty() || found.len() > limit {
        None
    } else {
        let number = format!("{}.{}", question.name, question.number);
        let sql = question.walk(&number, ["$1", "$2"], &format!("LIMIT 1 OFFSET {}", ROWS_MAX - 1));
        tx.maybe(&sql, params![range.end, range.first]).await?.map(|row| row.read(0)).transpose()?
    };
    Ok(Stretch::new(found, limit, floor))
}
