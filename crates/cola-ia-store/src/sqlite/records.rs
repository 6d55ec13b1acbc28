//! Rows as records of an export, and back.

use std::collections::HashMap;

use cola_ia_core::store::export::{Kind, Record, Shape, Value};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, ToSql};

pub(super) use crate::common::records::{column, table};

/// The columns of a kind, for a `SELECT` from its table as `t`.
pub(super) fn columns(kind: Kind) -> String {
    kind.fields().iter().map(|field| format!("t.{}", column(kind, field))).collect::<Vec<_>>().join(", ")
}

/// Names of sources by their rows, read once each.
pub(super) struct Names<'c> {
    connection: &'c Connection,
    known: HashMap<i64, String>,
}

impl<'c> Names<'c> {
    pub(super) fn new(connection: &'c Connection) -> Self {
        Self { connection, known: HashMap::new() }
    }

    /// The name of this row. One that is not there is damage.
    pub(super) fn of(&mut self, source: i64) -> rusqlite::Result<String> {
        if let Some(name) = self.known.get(&source) {
            return Ok(name.clone());
        }
        let name: String = self
            .connection
            .prepare_cached("SELECT name FROM sources WHERE source = ?1")?
            .query_row([source], |row| row.get(0))?;
        self.known.insert(source, name.clone());
        Ok(name)
    }
}

/// The record of a row that starts with [`columns`].
pub(super) fn read(kind: Kind, row: &Row<'_>, names: &mut Names<'_>) -> rusqlite::Result<Record> {
    let mut values = Vec::with_capacity(kind.fields().len());
    for (index, field) in kind.fields().iter().enumerate() {
        values.push(match (row.get_ref(index)?, field.shape) {
            (ValueRef::Null, _) => Value::Null,
            // `sources` itself has the name, all else the row.
            (ValueRef::Integer(source), Shape::Source) => Value::Text(names.of(source)?),
            (ValueRef::Integer(number), _) => Value::Number(number),
            (ValueRef::Text(_), _) => Value::Text(row.get(index)?),
            (ValueRef::Blob(bytes), _) => Value::Bytes(bytes.to_vec()),
            (ValueRef::Real(_), _) => return Err(super::row::unexpected(field.name, "a real number")),
        });
    }
    Record::new(kind, values).map_err(|field| super::row::unexpected(field, "a value of another shape"))
}

/// A value on its way into a column. A source is not: its row is.
pub(super) struct Column<'a>(pub(super) &'a Value);

impl ToSql for Column<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Number(number) => ValueRef::Integer(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::{Options, SqliteStore};
    use super::*;

    /// Tables that are in no export, and why. A table that is missing here and in the shapes fails the test.
    const OTHER_TABLES: [(&str, &str); 14] = [
        (
            "store",
            "what this file is; namespace and currency are in the header, and a store that takes an export in is marked itself",
        ),
        ("identities", "follows from the events, under a key of this file alone"),
        ("identities_recent", "as identities"),
        ("identities_settled", "as identities"),
        ("identities_blocks", "as identities"),
        ("ops", "answers to calls that were made of this store; nobody repeats them to another one"),
        ("counter_deltas", "their sums are counters, and what enters is counted at the time at which it was received"),
        ("counters", "as counter_deltas"),
        ("counter_lateness", "as counter_deltas"),
        ("counter_numbers", "as counter_deltas"),
        ("job_counts", "follow from the jobs"),
        ("erased", "follows from the events"),
        ("tokens", "who may do something here may do nothing elsewhere"),
        ("source_streaks", "how work goes here and now: another store finds out for itself"),
    ];

    /// Columns of exported tables that are in no shape, and why.
    const OTHER_COLUMNS: [(&str, &str, &str); 4] = [
        ("sources", "source", "rows of this file: in an export a source is its name"),
        ("jobs", "source", "the event's"),
        ("signed_bodies", "source", "the event's"),
        ("money", "reserved", "follows from the tries that hold it"),
    ];

    #[test]
    fn every_column_of_every_table_is_exported_or_has_a_reason_not_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sqlite3");
        drop(SqliteStore::init(&path, &Options::default()).unwrap());
        let connection = Connection::open(&path).unwrap();
        let names = |sql: &str| -> BTreeSet<String> {
            let mut select = connection.prepare(sql).unwrap();
            let names = select.query_map([], |row| row.get(0)).unwrap();
            names.collect::<rusqlite::Result<_>>().unwrap()
        };
        let tables = names("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
        let exported: BTreeSet<&str> = Kind::ALL.into_iter().filter_map(table).collect();
        let others: BTreeSet<&str> = OTHER_TABLES.iter().map(|(table, _)| *table).collect();
        assert!(exported.is_disjoint(&others));
        let known: BTreeSet<String> = exported.union(&others).map(|name| (*name).to_owned()).collect();
        assert_eq!(tables, known, "a table is neither exported nor listed with a reason, or is gone");
        for kind in Kind::ALL {
            let Some(table) = table(kind) else { continue };
            let columns = names(&format!("SELECT name FROM pragma_table_info('{table}')"));
            let shape = kind.fields().iter().map(|field| column(kind, field));
            let others = OTHER_COLUMNS.iter().filter(|(of, ..)| *of == table).map(|(_, column, _)| *column);
            let known: BTreeSet<String> = shape.chain(others).map(str::to_owned).collect();
            assert_eq!(columns, known, "{table}: a column is neither exported nor listed with a reason, or is gone");
        }
        assert!(OTHER_TABLES.iter().all(|(_, why)| !why.is_empty()));
        assert!(OTHER_COLUMNS.iter().all(|(.., why)| !why.is_empty()));
    }

    /// A column that may not be NULL must be in every export, and the other way round.
    #[test]
    fn what_may_be_null_may_be_null_in_the_table() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sqlite3");
        drop(SqliteStore::init(&path, &Options::default()).unwrap());
        let connection = Connection::open(&path).unwrap();
        for kind in Kind::ALL {
            let Some(table) = table(kind) else { continue };
            for field in kind.fields() {
                let (not_null, of_key): (bool, bool) = connection
                    .query_row(
                        "SELECT \"notnull\", pk > 0 FROM pragma_table_info(?1) WHERE name = ?2",
                        (table, column(kind, field)),
                        |row| Ok((row.get(0)?, row.get(1)?)),
                    )
                    .unwrap();
                assert_eq!(field.nullable, !not_null && !of_key, "{table}.{}", field.name);
            }
        }
    }
}
