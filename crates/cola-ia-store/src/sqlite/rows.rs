//! One statement for many rows.
//!
//! A statement costs about as much to start and end as a row costs to insert. Sixty-four rows a statement make that cost
//! vanish; what is left over goes by eights, and then one by one. An update gains nothing by that: SQLite would write all
//! its rows into a table of their own first.
//!
//! Such statements say `OR FAIL` or `OR IGNORE`: with the default, `OR ABORT`, SQLite keeps a copy of every page that a
//! statement of many rows touches, to undo it alone. Ours need no such undoing: the caller's savepoint or transaction does it.

use std::borrow::Cow;

use rusqlite::{CachedStatement, Connection, Row, ToSql};

/// A statement with a list of `VALUES`, prepared for as many rows as are there.
pub(super) struct Rows<'c> {
    connection: &'c Connection,
    /// What stands before the rows, a row, and what stands behind them.
    parts: (Cow<'static, str>, &'static str, &'static str),
    /// By the place of their size in [`SIZES`].
    prepared: [Option<CachedStatement<'c>>; 3],
}

/// Rows of a statement.
const SIZES: [usize; 3] = [64, 8, 1];

/// Where the values of a row go, one after the other.
pub(super) struct Binding<'a, 'c> {
    statement: &'a mut CachedStatement<'c>,
    next: usize,
}

impl Binding<'_, '_> {
    pub(super) fn bind(&mut self, value: impl ToSql) -> rusqlite::Result<()> {
        self.next += 1;
        self.statement.raw_bind_parameter(self.next, value)
    }
}

impl<'c> Rows<'c> {
    /// Rows of the largest statement.
    pub(super) const MANY: usize = SIZES[0];

    /// `head`, rows such as `(?, 'x', ?)`, `tail`.
    pub(super) fn new(
        connection: &'c Connection,
        head: impl Into<Cow<'static, str>>,
        row: &'static str,
        tail: &'static str,
    ) -> Self {
        Self { connection, parts: (head.into(), row, tail), prepared: [None, None, None] }
    }

    /// Runs it for every item.
    pub(super) fn execute<T>(
        &mut self,
        items: &[T],
        mut bind: impl FnMut(&mut Binding<'_, 'c>, &T) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        self.each(items, &mut bind, |statement| statement.raw_execute().map(drop))
    }

    /// Runs it for every item and hands over each row that it gives.
    pub(super) fn query<T>(
        &mut self,
        items: &[T],
        mut bind: impl FnMut(&mut Binding<'_, 'c>, &T) -> rusqlite::Result<()>,
        mut take: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        self.each(items, &mut bind, |statement| {
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                take(row)?;
            }
            Ok(())
        })
    }

    fn each<T>(
        &mut self,
        mut items: &[T],
        bind: &mut impl FnMut(&mut Binding<'_, 'c>, &T) -> rusqlite::Result<()>,
        mut run: impl FnMut(&mut CachedStatement<'c>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        for (place, size) in SIZES.into_iter().enumerate() {
            let (whole, rest) = items.split_at(items.len() / size * size);
            for chunk in whole.chunks_exact(size) {
                let statement = self.prepared(place)?;
                let mut binding = Binding { statement, next: 0 };
                chunk.iter().try_for_each(|item| bind(&mut binding, item))?;
                run(statement)?;
            }
            items = rest;
        }
        Ok(())
    }

    fn prepared(&mut self, place: usize) -> rusqlite::Result<&mut CachedStatement<'c>> {
        let slot = &mut self.prepared[place];
        if slot.is_none() {
            let (head, row, tail) = &self.parts;
            let sql = format!("{head}{}{tail}", vec![*row; SIZES[place]].join(", "));
            *slot = Some(self.connection.prepare_cached(&sql)?);
        }
        Ok(slot.as_mut().expect("it was put there"))
    }
}
