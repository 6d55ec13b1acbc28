//! Rows as records of an export, and back. The shapes are the core's; here is only which table and column each one is.

use std::collections::HashMap;

use cola_ia_core::store::export::{Field, Kind, Record, Shape, Value};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, ToSql};

/// The table of a kind; `None` for counters, which are sums.
pub(super) const fn table(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::Source => "sources",
        Kind::Event => "events",
        Kind::Job => "jobs",
        Kind::Revision => "revisions",
        Kind::Attempt => "attempts",
        Kind::Effect => "effects",
        Kind::EffectTry => "effect_tries",
        Kind::Conflict => "conflicts",
        Kind::Delivery => "deliveries",
        Kind::Counter => return None,
    })
}

/// The column of a field. Most have its name.
pub(super) fn column(kind: Kind, field: &Field) -> &'static str {
    match (kind, field.name) {
        (Kind::Event | Kind::Delivery, "number") => "seq",
        (Kind::Source, "name") => "name",
        (_, name) => name,
    }
}

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
