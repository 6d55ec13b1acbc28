//! One statement for many rows.
//!
//! A statement costs about as much to start and end as a row costs to write. Sixty-four rows a statement make that cost
//! vanish; what is left over goes one by one.
//!
//! Such statements say `OR FAIL` or `OR IGNORE`: with the default, `OR ABORT`, SQLite keeps a copy of every page that a
//! statement of many rows touches, to undo it alone. Ours need no such undoing: the caller's savepoint or transaction does it.

use rusqlite::{CachedStatement, Connection, Row, ToSql};

/// A statement that ends in a list of `VALUES`, prepared for many rows and for one.
pub(super) struct Rows<'c> {
    many: CachedStatement<'c>,
    one: CachedStatement<'c>,
}

/// Where the values of a row go, one after the other.
pub(super) struct Binding<'s, 'c> {
    statement: &'s mut CachedStatement<'c>,
    next: usize,
}

impl Binding<'_, '_> {
    pub(super) fn bind(&mut self, value: impl ToSql) -> rusqlite::Result<()> {
        self.next += 1;
        self.statement.raw_bind_parameter(self.next, value)
    }
}

impl<'c> Rows<'c> {
    /// Rows of the large statement.
    pub(super) const MANY: usize = 64;

    /// `head`, rows such as `(?, 'x', ?)`, `tail`.
    pub(super) fn new(connection: &'c Connection, head: &str, row: &str, tail: &str) -> rusqlite::Result<Self> {
        let many = format!("{head}{}{tail}", vec![row; Self::MANY].join(", "));
        Ok(Self {
            many: connection.prepare_cached(&many)?,
            one: connection.prepare_cached(&format!("{head}{row}{tail}"))?,
        })
    }

    /// Runs it for every item and counts the rows that it changed.
    pub(super) fn execute<T>(
        &mut self,
        items: &[T],
        mut bind: impl FnMut(&mut Binding<'_, 'c>, &T) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<usize> {
        let mut changed = 0;
        self.each(items, &mut bind, |statement| {
            changed += statement.raw_execute()?;
            Ok(())
        })?;
        Ok(changed)
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
        items: &[T],
        bind: &mut impl FnMut(&mut Binding<'_, 'c>, &T) -> rusqlite::Result<()>,
        mut run: impl FnMut(&mut CachedStatement<'c>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        for chunk in items.chunks(Self::MANY) {
            if chunk.len() == Self::MANY {
                let mut binding = Binding { statement: &mut self.many, next: 0 };
                chunk.iter().try_for_each(|item| bind(&mut binding, item))?;
                run(&mut self.many)?;
            } else {
                for item in chunk {
                    bind(&mut Binding { statement: &mut self.one, next: 0 }, item)?;
                    run(&mut self.one)?;
                }
            }
        }
        Ok(())
    }
}
