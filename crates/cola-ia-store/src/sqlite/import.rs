//! Records of an export into this store: what is not there enters, what is there stays.

use std::collections::HashMap;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::UtcDay;
use cola_ia_core::store::export::{Imported, Kind, Record, Role, Shape, Value};
use cola_ia_core::store::{ErrorKind, OpId, StoreError};
use cola_ia_core::verdict::Verdict;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension as _, ToSql, params};

use super::counters::{Append as _, Tally, count_gone};
use super::export::counters;
use super::identify::identify;
use super::identities::Packing;
use super::money::MoneySums;
use super::records::{Column, Names, column, columns, read, table};
use super::slot::Slots;
use super::writer::Scope;
use super::{currency, erase, money};
pub(super) use crate::common::import::Prepared;
use crate::common::import::{Counts, Entering, Here, Identified, Stopped, packed, unpacked};
use crate::common::records::has_row_of_source;

/// See [`Store::import`](cola_ia_core::store::Store::import).
pub(super) fn import(scope: &Scope<'_>, op: OpId, prepared: &Prepared) -> Result<Imported, StoreError> {
    let sqlite = |cause: rusqlite::Error| scope.error(&cause);
    if let Some(first_answer) = repeated(scope.connection, op, prepared.request).map_err(sqlite)? {
        return first_answer;
    }
    settle_namespace(scope, prepared.batch.namespace)?;
    if let Some(currency) = &prepared.batch.currency {
        currency::set_currency(scope, currency)?;
    }
    let now = scope.clock.now();
    let mut entering = Entering::new(Rows::new(scope), now);
    let outcomes = entering.records(&prepared.batch.records).map_err(|(place, stopped)| match stopped {
        Stopped::Failed(cause) => scope.error(&cause),
        Stopped::OutOfOrder => StoreError::new(ErrorKind::Invalid, "import_out_of_order").with("record", place),
    })?;
    let (_, an_event_entered) = entering.finish().map_err(sqlite)?;
    if an_event_entered {
        // Of two marks the later one counts, as after a restore.
        scope
            .connection
            .execute("UPDATE store SET restored_at = max(coalesce(restored_at, ?1), ?1)", [now.as_micros()])
            .map_err(sqlite)?;
    }
    scope
        .connection
        .prepare_cached("INSERT INTO ops (op, verb, request, at, count, answer) VALUES (?1, 'import', ?2, ?3, ?4, ?5)")
        .and_then(|mut insert| {
            let at = scope.clock.now().as_micros();
            insert.execute(params![op.0, prepared.request, at, outcomes.len() as i64, packed(&outcomes)])
        })
        .map_err(sqlite)?;
    Ok(Imported { outcomes })
}

/// The answer that this op was given before.
fn repeated(connection: &Connection, op: OpId, request: i64) -> rusqlite::Result<Option<Result<Imported, StoreError>>> {
    let recorded = connection
        .prepare_cached("SELECT verb, request, answer FROM ops WHERE op = ?1")?
        .query_row([op.0], |row| {
            let same = row.get_ref(0)?.as_str()? == "import" && row.get::<_, i64>(1)? == request;
            Ok((same, row.get::<_, Option<Vec<u8>>>(2)?))
        })
        .optional()?;
    let Some((same, answer)) = recorded else { return Ok(None) };
    Ok(Some(match answer.as_deref().map(unpacked) {
        Some(Some(outcomes)) if same => Ok(Imported { outcomes }),
        _ => Err(StoreError::new(ErrorKind::Conflict, "op_reused")),
    }))
}

/// An empty store takes the namespace over, so that the keys of effects stay what they were.
fn settle_namespace(scope: &Scope<'_>, namespace: [u8; 16]) -> Result<(), StoreError> {
    let sqlite = |cause: rusqlite::Error| scope.error(&cause);
    let (here, is_empty): ([u8; 16], bool) = scope
        .connection
        .query_row(
            "SELECT namespace, NOT EXISTS (SELECT 1 FROM events) AND NOT EXISTS (SELECT 1 FROM deliveries) FROM store",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .map_err(sqlite)?;
    if here == namespace {
        return Ok(());
    }
    if !is_empty {
        return Err(super::error::at(scope.path, ErrorKind::Conflict, "import_other_namespace"));
    }
    scope.connection.execute("UPDATE store SET namespace = ?1", [namespace]).map(drop).map_err(sqlite)
}

/// The rows of this store.
struct Rows<'c> {
    connection: &'c Connection,
    slots: Slots,
    packing: Packing,
    names: Names<'c>,
    statements: HashMap<Kind, Statements>,
    fold_after: u32,
}

struct Statements {
    insert: String,
    by_key: String,
}

impl Statements {
    fn of(kind: Kind) -> Self {
        let table = table(kind).unwrap_or_default();
        let mut names: Vec<_> = kind.fields().iter().map(|field| column(kind, field)).collect();
        if has_row_of_source(kind) {
            names.push("source");
        }
        let places: Vec<_> = (1..=names.len()).map(|place| format!("?{place}")).collect();
        let keys = kind.fields().iter().filter(|field| field.role == Role::Key);
        let key: Vec<_> =
            keys.enumerate().map(|(place, field)| format!("t.{} = ?{}", column(kind, field), place + 1)).collect();
        Self {
            insert: format!(
                "INSERT INTO {table} ({}) VALUES ({}) ON CONFLICT DO NOTHING",
                names.join(", "),
                places.join(", ")
            ),
            by_key: format!("SELECT {} FROM {table} t WHERE {}", columns(kind), key.join(" AND ")),
        }
    }
}

impl<'c> Rows<'c> {
    fn new(scope: &Scope<'c>) -> Self {
        let connection = scope.connection;
        let tables = Kind::ALL.into_iter().filter(|kind| table(*kind).is_some());
        Self {
            connection,
            slots: scope.slots,
            packing: scope.packing,
            names: Names::new(connection),
            statements: tables.map(|kind| (kind, Statements::of(kind))).collect(),
            fold_after: scope.fold_after,
        }
    }
}

impl Here for Rows<'_> {
    type Error = rusqlite::Error;

    fn source(&mut self, name: &str) -> rusqlite::Result<(i64, bool)> {
        let mut insert = self.connection.prepare_cached(&self.statements[&Kind::Source].insert)?;
        let made = insert.execute([name])? == 1;
        let mut select = self.connection.prepare_cached("SELECT source FROM sources WHERE name = ?1")?;
        Ok((select.query_row([name], |row| row.get(0))?, made))
    }

    fn by_key(&mut self, record: &Record) -> rusqlite::Result<Option<Record>> {
        let mut select = self.connection.prepare_cached(&self.statements[&record.kind()].by_key)?;
        let mut rows = select.query(rusqlite::params_from_iter(record.key().into_iter().map(Column)))?;
        rows.next()?.map(|row| read(record.kind(), row, &mut self.names)).transpose()
    }

    fn has_number(&mut self, kind: Kind, number: i64) -> rusqlite::Result<bool> {
        let table = table(kind).unwrap_or_default();
        self.connection
            .prepare_cached(&format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE seq = ?1)"))?
            .query_row([number], |row| row.get(0))
    }

    fn identify(&mut self, identified: &Identified<'_>) -> rusqlite::Result<i64> {
        identify(self.connection, self.slots, self.packing, identified)
    }

    fn insert(&mut self, record: &Record, source: i64) -> rusqlite::Result<bool> {
        let kind = record.kind();
        let mut insert = self.connection.prepare_cached(&self.statements[&kind].insert)?;
        let row = Sql::Integer(source);
        let mut values: Vec<&dyn ToSql> = Vec::with_capacity(record.values().len() + 1);
        let columns: Vec<Column<'_>> = record.values().iter().map(Column).collect();
        for (field, column) in kind.fields().iter().zip(&columns) {
            let is_row = field.shape == Shape::Source && *column.0 != Value::Null;
            values.push(if is_row { &row } else { column });
        }
        if has_row_of_source(kind) {
            values.push(&row);
        }
        Ok(insert.execute(values.as_slice())? == 1)
    }

    fn remember_erased(&mut self, event: i64) -> rusqlite::Result<()> {
        erase::remember(self.connection, event, true)
    }

    fn was_pruned(&mut self, event: i64, at: i64) -> rusqlite::Result<bool> {
        self.connection
            .prepare_cached("SELECT 1 FROM pruned_deliveries WHERE event = ?1 AND ?2 BETWEEN first_at AND last_at")?
            .exists([event, at])
    }

    fn budget(&mut self, source: i64, limit: i64) -> rusqlite::Result<Option<i64>> {
        let mut insert = self
            .connection
            .prepare_cached("INSERT INTO budgets (source, limit_micros) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
        if insert.execute([source, limit])? == 1 {
            return Ok(None);
        }
        self.connection
            .prepare_cached("SELECT limit_micros FROM budgets WHERE source = ?1")?
            .query_row([source], |row| row.get(0))
            .map(Some)
    }

    fn money(&mut self, day: UtcDay, source: i64, model: &str) -> rusqlite::Result<MoneySums> {
        money::sums(self.connection, day, source, model)
    }

    fn add_money(&mut self, day: UtcDay, source: i64, model: &str, more: MoneySums) -> rusqlite::Result<()> {
        money::add(self.connection, day, source, model, more)
    }

    fn counts(&mut self) -> rusqlite::Result<Counts> {
        counters(self.connection)
    }

    fn count(&mut self, at: Timestamp, tally: &Tally) -> rusqlite::Result<()> {
        tally.write(self.connection, at, self.fold_after)
    }

    fn count_gone(&mut self, at: Timestamp, source: i64, verdict: Verdict, n: i64) -> rusqlite::Result<()> {
        count_gone(self.connection, at, source, verdict, n)
    }
}
