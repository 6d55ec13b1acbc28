//! What one new event writes, read off a store that the program has just made: which tables get a row, and what kind of value
//! each column gets. The plain loop then follows the schema by itself, whatever the schema is.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::Value;

use super::input::Event;
use crate::failure::{Attempt, Failure};

/// The statements and insertions of the plain loop.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) page_size: u32,
    /// `CREATE` statements: tables first, then indexes, views and triggers, each in the order in which they were made.
    pub(crate) tables: Vec<Statement>,
    pub(crate) others: Vec<Statement>,
    /// Tables whose rows do not come from events; the loop finds them filled as the program left them.
    pub(crate) filled: Vec<String>,
    pub(crate) touched: Vec<Touched>,
}

/// A `CREATE` statement and the table that it is about.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) table: String,
    pub(crate) sql: String,
}

/// A table that gets one row for each new event.
#[derive(Debug)]
pub(crate) struct Touched {
    pub(crate) table: String,
    pub(crate) columns: Vec<(String, Kind)>,
}

/// Where a column's value comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// The same for every event: a state, a source, a time of arrival.
    Same(Value),
    /// The event's number, the first one's given.
    Number {
        first: i64,
    },
    Id(Form),
    Text(Form),
    /// Different bytes for each event, such as a fingerprint.
    Bytes {
        len: usize,
    },
    /// A different whole number for each event, such as a keyed hash, of so many bits.
    Noise {
        bits: u32,
        signed: bool,
    },
}

/// How a string is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Blob,
}

/// The most bytes of noise that an event has ready.
pub(crate) const NOISE_LEN: usize = 64;

impl Touched {
    /// The insertion: what is the same for every event is written out, each other value is a parameter.
    pub(crate) fn insert(&self) -> String {
        let names: Vec<_> = self.columns.iter().map(|(name, _)| quoted(name)).collect();
        let values: Vec<_> = self
            .columns
            .iter()
            .map(|(_, kind)| if let Kind::Same(value) = kind { literal(value) } else { "?".to_owned() })
            .collect();
        format!("INSERT INTO {} ({}) VALUES ({})", quoted(&self.table), names.join(", "), values.join(", "))
    }

    /// Where the parameters come from.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &Kind> {
        self.columns.iter().map(|(_, kind)| kind).filter(|kind| !matches!(kind, Kind::Same(_)))
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => format!("{number:?}"),
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Blob(bytes) => bytes.iter().fold("x'".to_owned(), |text, byte| format!("{text}{byte:02x}")) + "'",
    }
}

/// An identifier as SQL takes it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Compares a store with `events` (`small`) and one with more events (`large`, which has `more` of them in addition): a table that
/// has `more` rows more is written once for each event.
///
/// # Errors
/// If a column's values follow no kind that the loop can make, naming it.
pub(crate) fn read(small: &Path, events: &[Event], large: &Path, more: u64) -> Result<Shape, Failure> {
    let open = |path: &Path| Connection::open(path).attempt(|| format!("open {}", path.display()));
    let (small_store, large_store) = (open(small)?, open(large)?);
    let sql = |kind: &str| statements(&small_store, kind).attempt(|| format!("read the schema of {}", small.display()));
    let names = |store: &Connection| rows_of_tables(store).attempt(|| "count the rows of a store".to_owned());
    let (before, after) = (names(&small_store)?, names(&large_store)?);
    let mut shape = Shape {
        page_size: small_store
            .pragma_query_value(None, "page_size", |row| row.get(0))
            .attempt(|| format!("ask {} for its page size", small.display()))?,
        tables: sql("type = 'table'")?,
        others: sql("type <> 'table'")?,
        filled: Vec::new(),
        touched: Vec::new(),
    };
    for (table, count) in before {
        let grown = after.get(&table).copied().unwrap_or(0) - count;
        if grown == more as i64 && count == events.len() as i64 {
            let columns = columns(&small_store, &table, events)?;
            shape.touched.push(Touched { table, columns });
        } else if grown == more as i64 {
            return Err(Failure::new(format!("table {table} has {count} rows for {} events", events.len())));
        } else {
            shape.filled.push(table);
        }
    }
    if shape.touched.is_empty() {
        return Err(Failure::new(format!("no table of {} has a row for each event", small.display())));
    }
    Ok(shape)
}

fn statements(store: &Connection, condition: &str) -> rusqlite::Result<Vec<Statement>> {
    let query = format!(
        "SELECT tbl_name, sql FROM sqlite_schema WHERE {condition} AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND sql IS NOT NULL ORDER BY rowid"
    );
    store.prepare(&query)?.query_map([], |row| Ok(Statement { table: row.get(0)?, sql: row.get(1)? }))?.collect()
}

fn rows_of_tables(store: &Connection) -> rusqlite::Result<BTreeMap<String, i64>> {
    let query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    let names: Vec<String> = store.prepare(query)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    names
        .into_iter()
        .map(|name| {
            let count = store.query_row(&format!("SELECT count(*) FROM {}", quoted(&name)), [], |row| row.get(0))?;
            Ok((name, count))
        })
        .collect()
}

/// The columns that an event fills in one table; those that are always NULL are left out of the insertion.
fn columns(store: &Connection, table: &str, events: &[Event]) -> Result<Vec<(String, Kind)>, Failure> {
    let names = ordinary_columns(store, table).attempt(|| format!("read the columns of {table}"))?;
    let mut columns = Vec::new();
    for name in names {
        let query = format!("SELECT {} FROM {}", quoted(&name), quoted(table));
        let values: Vec<Value> = store
            .prepare(&query)
            .and_then(|mut query| query.query_map([], |row| row.get(0))?.collect())
            .attempt(|| format!("read {table}.{name}"))?;
        if values.iter().all(|value| *value == Value::Null) {
            continue;
        }
        let kind = kind_of(&values, events).ok_or_else(|| {
            Failure::new(format!("{table}.{name} has values that the plain loop cannot make, such as {:?}", values[0]))
                .hint("teach xtask/src/bench/shape.rs this kind of column")
        })?;
        columns.push((name, kind));
    }
    Ok(columns)
}

/// Not the generated ones, which no insertion may name.
fn ordinary_columns(store: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut query = store.prepare("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid")?;
    query.query_map([table], |row| row.get(0))?.collect()
}

/// The rows come in no certain order, so values are compared as sets.
fn kind_of(values: &[Value], events: &[Event]) -> Option<Kind> {
    if values.iter().all(|value| *value == values[0]) {
        return Some(Kind::Same(values[0].clone()));
    }
    if let Some(form) = form_of(values, events.iter().map(|event| event.id.as_str())) {
        return Some(Kind::Id(form));
    }
    if let Some(form) = form_of(values, events.iter().map(|event| event.text.as_str())) {
        return Some(Kind::Text(form));
    }
    match &values[0] {
        Value::Integer(_) => kind_of_integers(values),
        Value::Blob(bytes) => {
            let len = bytes.len();
            let same_len = values.iter().all(|value| matches!(value, Value::Blob(bytes) if bytes.len() == len));
            (same_len && (8..=NOISE_LEN).contains(&len)).then_some(Kind::Bytes { len })
        }
        _ => None,
    }
}

fn form_of<'a>(values: &[Value], expected: impl Iterator<Item = &'a str>) -> Option<Form> {
    let mut expected: Vec<&[u8]> = expected.map(str::as_bytes).collect();
    let mut found = Vec::new();
    let mut form = Form::Text;
    for value in values {
        match value {
            Value::Text(text) => found.push(text.as_bytes()),
            Value::Blob(bytes) => {
                form = Form::Blob;
                found.push(bytes.as_slice());
            }
            _ => return None,
        }
    }
    expected.sort_unstable();
    found.sort_unstable();
    (expected == found).then_some(form)
}

fn kind_of_integers(values: &[Value]) -> Option<Kind> {
    /// Arrival times of one command lie closer together; as microseconds since 1970 they are above the second bound.
    const SAME_COMMAND_MICROS: i128 = 60_000_000;
    const YEAR_2001_MICROS: i64 = 1_000_000_000_000_000;

    let mut numbers = Vec::new();
    for value in values {
        let Value::Integer(number) = value else { return None };
        numbers.push(*number);
    }
    numbers.sort_unstable();
    let first = *numbers.first()?;
    let spread = i128::from(*numbers.last()?) - i128::from(first);
    if first > YEAR_2001_MICROS && spread < SAME_COMMAND_MICROS {
        return Some(Kind::Same(Value::Integer(first)));
    }
    if numbers.windows(2).any(|pair| pair[0] == pair[1]) {
        return None;
    }
    if spread + 1 == numbers.len() as i128 {
        return Some(Kind::Number { first });
    }
    let largest = numbers.iter().map(|number| number.unsigned_abs()).max()?;
    Some(Kind::Noise { bits: u64::BITS - largest.leading_zeros(), signed: first < 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::input;

    fn integers(numbers: &[i64]) -> Vec<Value> {
        numbers.iter().map(|number| Value::Integer(*number)).collect()
    }

    #[test]
    fn values_that_never_change_are_part_of_the_insertion() {
        let columns = [
            ("event", Kind::Number { first: 1 }),
            ("state", Kind::Same(Value::Text("it's".to_owned()))),
            ("key", Kind::Same(Value::Blob(vec![0, 255]))),
            ("run", Kind::Same(Value::Integer(1))),
        ];
        let columns = columns.map(|(name, kind)| (name.to_owned(), kind)).to_vec();
        let touched = Touched { table: "jobs".to_owned(), columns };
        assert_eq!(
            touched.insert(),
            r#"INSERT INTO "jobs" ("event", "state", "key", "run") VALUES (?, 'it''s', x'00ff', 1)"#
        );
        assert_eq!(touched.parameters().collect::<Vec<_>>(), [&Kind::Number { first: 1 }]);
    }

    #[test]
    fn kinds_are_told_from_values() {
        let events: Vec<_> = input::events(1, 3).collect();
        let check = |values: &[Value], kind: Option<Kind>| assert_eq!(kind_of(values, &events), kind, "{values:?}");
        let text = |text: &str| Value::Text(text.to_owned());
        let reversed = |of: fn(&Event) -> &str| events.iter().rev().map(|event| text(of(event))).collect::<Vec<_>>();
        check(&reversed(|event| &event.id), Some(Kind::Id(Form::Text)));
        check(&reversed(|event| &event.text), Some(Kind::Text(Form::Text)));
        let blobs: Vec<_> = events.iter().map(|event| Value::Blob(event.text.clone().into_bytes())).collect();
        check(&blobs, Some(Kind::Text(Form::Blob)));
        check(&[text("pending"), text("pending"), text("pending")], Some(Kind::Same(text("pending"))));
        check(&integers(&[3, 1, 2]), Some(Kind::Number { first: 1 }));
        check(&integers(&[-9, 1 << 62, 5]), Some(Kind::Noise { bits: 63, signed: true }));
        check(&integers(&[900, 1, 5]), Some(Kind::Noise { bits: 10, signed: false }));
        let now = 1_800_000_000_000_000;
        check(&integers(&[now + 5, now, now + 9]), Some(Kind::Same(Value::Integer(now))));
        let bytes = |first| Value::Blob(vec![first; 32]);
        check(&[bytes(1), bytes(2), bytes(3)], Some(Kind::Bytes { len: 32 }));
        check(&[text("a"), text("b"), text("c")], None);
        check(&integers(&[1, 1, 2]), None);
    }
}
