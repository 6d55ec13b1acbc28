//! Pages of all that a store keeps.
//!
//! Events are walked by number and, beside them, the rows that belong to them, each table in the order of its own index: a
//! merge, so that an event without children costs nothing more. A page stops early and is one short read transaction.

use std::collections::BTreeMap;

use cola_ia_core::store::export::{
    EXPORT_EVENT_MAX_BYTES, EXPORT_EVENT_MAX_RECORDS, EXPORT_PAGE_MAX_BYTES, EXPORT_PAGE_MAX_RECORDS, ExportCursor,
    ExportHead, ExportPage, ExportStage, Kind, Record, Value,
};
use rusqlite::{CachedStatement, Connection, Params, Rows};

use super::reader::Sight;
use super::records::{Names, columns, read, table};
use super::{currency, migrate, row};
use crate::common::records::{OF_AN_EVENT, WITH_EVENT, by_event};

/// Deliveries that are looked at for refused ones in one page.
const LOOK_MAX: usize = 20_000;

/// See [`Store::export`](cola_ia_core::store::Store::export).
pub(super) fn export(sight: &Sight<'_>, cursor: Option<ExportCursor>, limit: u32) -> rusqlite::Result<ExportPage> {
    let connection: &Connection = sight.connection;
    let head = ExportHead {
        namespace: connection.query_row("SELECT namespace FROM store", [], |row| row.get(0))?,
        schema: migrate::version(connection)?,
        currency: currency::currency(connection)?,
    };
    let cursor = match cursor {
        Some(cursor) => cursor,
        None => ExportCursor { upto: highest(connection)?, next: ExportStage::Sources(0) },
    };
    let mut page = Page {
        connection,
        upto: cursor.upto,
        limit: limit.clamp(1, EXPORT_PAGE_MAX_RECORDS) as usize,
        names: Names::new(connection),
        records: Vec::new(),
        weight: 0,
    };
    let mut next = Some(cursor.next);
    while let Some(stage) = next
        && !page.is_full()
    {
        let looked_enough;
        (next, looked_enough) = match stage {
            ExportStage::Sources(after) => (Some(page.sources(after)?), false),
            ExportStage::Events(after) => (Some(page.events(after)?), false),
            ExportStage::Conflicts(event, after) => (Some(page.rest(event, after, i64::MIN)?), false),
            ExportStage::Deliveries(event, after) => (Some(page.rest(event, i64::MAX, after)?), false),
            ExportStage::Refused(after) => {
                let next = page.refused(after)?;
                (Some(next), next != ExportStage::Counters)
            }
            ExportStage::Counters => {
                page.budgets()?;
                page.counters()?;
                (Some(ExportStage::Money(i64::MIN)), false)
            }
            ExportStage::Money(after) => (page.money(after)?, false),
        };
        if looked_enough {
            break;
        }
    }
    let next = next.map(|next| ExportCursor { upto: page.upto, next });
    Ok(ExportPage { head, records: page.records, next })
}

fn highest(connection: &Connection) -> rusqlite::Result<i64> {
    let sql = "SELECT max((SELECT coalesce(max(seq), 0) FROM events), (SELECT coalesce(max(seq), 0) FROM deliveries))";
    connection.query_row(sql, [], |row| row.get(0))
}

/// Rows of a kind for the events from `?1` to `?2`, by event and then in the order of the export. The event is the column
/// behind the record's.
fn of_events(kind: Kind) -> String {
    let columns = columns(kind);
    // The effects lead: without the word SQLite may begin with the tries.
    let (from, event, order) = by_event(kind, "CROSS JOIN");
    format!("SELECT {columns}, {event} FROM {from} WHERE {event} >= ?1 AND {event} <= ?2 ORDER BY {event}{order}")
}

/// Rows of a kind for event `?1`, above number `?2`.
fn of_one_event(kind: Kind) -> String {
    let number = if kind == Kind::Delivery { "t.seq" } else { "t.number" };
    format!(
        "SELECT {}, t.event FROM {} t WHERE t.event = ?1 AND {number} > ?2 ORDER BY {number}",
        columns(kind),
        table(kind).unwrap_or_default(),
    )
}

/// Deliveries above `?1` up to `?2`, those of events too.
fn refused() -> String {
    let columns = columns(Kind::Delivery);
    format!("SELECT {columns}, t.seq FROM deliveries t WHERE t.seq > ?1 AND t.seq <= ?2 ORDER BY t.seq")
}

fn budgets() -> String {
    format!("SELECT {} FROM budgets t ORDER BY t.source", columns(Kind::Budget))
}

/// Money of days after `?1`. What is only reserved is no sum of an export, and what was released leaves a row of nothing.
fn money() -> String {
    format!(
        "SELECT {} FROM money t
         WHERE t.day > ?1 AND (t.costs, t.spent, t.tokens_in, t.tokens_out, t.replays, t.replayed) <> (0, 0, 0, 0, 0, 0)
         ORDER BY t.day, t.source, t.model",
        columns(Kind::Money)
    )
}

/// The rows of a kind, one ahead.
struct Stream<'s> {
    kind: Kind,
    rows: Rows<'s>,
    ahead: Option<(i64, Record)>,
}

impl<'s> Stream<'s> {
    fn start(
        kind: Kind,
        statement: &'s mut CachedStatement<'_>,
        params: impl Params,
        names: &mut Names<'_>,
    ) -> rusqlite::Result<Self> {
        let mut stream = Self { kind, rows: statement.query(params)?, ahead: None };
        stream.advance(names)?;
        Ok(stream)
    }

    fn advance(&mut self, names: &mut Names<'_>) -> rusqlite::Result<()> {
        self.ahead = match self.rows.next()? {
            Some(row) => Some((row.get(self.kind.fields().len())?, read(self.kind, row, names)?)),
            None => None,
        };
        Ok(())
    }

    /// The next row, if it belongs to this event. One of an event before, which has been passed, belongs to nothing.
    fn take(&mut self, event: i64, names: &mut Names<'_>) -> rusqlite::Result<Option<Record>> {
        match &self.ahead {
            Some((of, _)) if *of < event => {
                Err(row::unexpected(self.kind.as_str(), &format!("row of event {of}, which is missing")))
            }
            Some((of, _)) if *of == event => {
                let taken = self.ahead.take();
                self.advance(names)?;
                Ok(taken.map(|(_, record)| record))
            }
            _ => Ok(None),
        }
    }
}

struct Page<'c> {
    connection: &'c Connection,
    upto: i64,
    limit: usize,
    names: Names<'c>,
    records: Vec<Record>,
    weight: usize,
}

impl Page<'_> {
    fn is_full(&self) -> bool {
        self.records.len() >= self.limit || self.weight >= EXPORT_PAGE_MAX_BYTES
    }

    fn push(&mut self, record: Record) {
        self.weight += record.weight();
        self.records.push(record);
    }

    fn sources(&mut self, after: i64) -> rusqlite::Result<ExportStage> {
        let sql =
            format!("SELECT {}, t.source FROM sources t WHERE t.source > ?1 ORDER BY t.source", columns(Kind::Source));
        let mut select = self.connection.prepare_cached(&sql)?;
        let mut rows = select.query([after])?;
        let mut last = after;
        while !self.is_full() {
            let Some(row) = rows.next()? else { return Ok(ExportStage::Events(0)) };
            last = row.get(Kind::Source.fields().len())?;
            let record = read(Kind::Source, row, &mut self.names)?;
            self.push(record);
        }
        Ok(ExportStage::Sources(last))
    }

    /// Whole events while there is room.
    fn events(&mut self, after: i64) -> rusqlite::Result<ExportStage> {
        let connection = self.connection;
        let prepare = |kind: Kind| connection.prepare_cached(&of_events(kind));
        let range = (after + 1, self.upto);
        let mut events = prepare(Kind::Event)?;
        let mut events = Stream::start(Kind::Event, &mut events, range, &mut self.names)?;
        let mut statements = OF_AN_EVENT.into_iter().map(prepare).collect::<rusqlite::Result<Vec<_>>>()?;
        let mut streams = Vec::with_capacity(OF_AN_EVENT.len());
        for (kind, statement) in OF_AN_EVENT.into_iter().zip(&mut statements) {
            streams.push(Stream::start(kind, statement, range, &mut self.names)?);
        }
        let mut last = after;
        while !self.is_full() {
            let Some(event) = events.ahead.as_ref().map(|(event, _)| *event) else {
                // Whatever is left belongs to no event.
                for stream in &mut streams {
                    stream.take(i64::MAX, &mut self.names)?;
                }
                return Ok(ExportStage::Refused(0));
            };
            last = event;
            if let Some(record) = events.take(event, &mut self.names)? {
                self.push(record);
            }
            let (few, many) = streams.split_at_mut(WITH_EVENT);
            for stream in few {
                while let Some(record) = stream.take(event, &mut self.names)? {
                    self.push(record);
                }
            }
            if let Some(cut) = self.many(event, many)? {
                return Ok(cut);
            }
        }
        Ok(ExportStage::Events(last))
    }

    /// What is left of an event that is too large for a page.
    fn rest(&mut self, event: i64, conflicts: i64, deliveries: i64) -> rusqlite::Result<ExportStage> {
        let connection = self.connection;
        let after = [(Kind::Conflict, conflicts), (Kind::Delivery, deliveries)];
        let mut statements = after
            .into_iter()
            .map(|(kind, _)| connection.prepare_cached(&of_one_event(kind)))
            .collect::<rusqlite::Result<Vec<_>>>()?;
        let mut streams = Vec::with_capacity(after.len());
        for ((kind, after), statement) in after.into_iter().zip(&mut statements) {
            streams.push(Stream::start(kind, statement, (event, after), &mut self.names)?);
        }
        let cut = self.many(event, &mut streams)?;
        Ok(cut.unwrap_or(ExportStage::Events(event)))
    }

    /// The conflicts and deliveries of an event, which its senders can make as many as they like: as far as the bound, and
    /// where they go on.
    fn many(&mut self, event: i64, streams: &mut [Stream<'_>]) -> rusqlite::Result<Option<ExportStage>> {
        let (count, weight) = (self.records.len(), self.weight);
        for stream in streams {
            while let Some(record) = stream.take(event, &mut self.names)? {
                let number = record.number("number").unwrap_or_default();
                self.push(record);
                let is_cut = self.records.len() - count >= EXPORT_EVENT_MAX_RECORDS
                    || self.weight - weight >= EXPORT_EVENT_MAX_BYTES;
                if is_cut {
                    return Ok(Some(match stream.kind {
                        Kind::Conflict => ExportStage::Conflicts(event, number),
                        _ => ExportStage::Deliveries(event, number),
                    }));
                }
            }
        }
        Ok(None)
    }

    /// Refused deliveries. Few among many, so what is looked at is bounded and not only what is found.
    fn refused(&mut self, after: i64) -> rusqlite::Result<ExportStage> {
        let mut select = self.connection.prepare_cached(&refused())?;
        let mut rows = select.query((after, self.upto))?;
        let (mut last, mut looked) = (after, 0);
        let event = Kind::Delivery.fields().iter().position(|field| field.name == "event").unwrap_or_default();
        while !self.is_full() && looked < LOOK_MAX {
            let Some(row) = rows.next()? else { return Ok(ExportStage::Counters) };
            looked += 1;
            last = row.get(Kind::Delivery.fields().len())?;
            if row.get::<_, Option<i64>>(event)?.is_none() {
                let record = read(Kind::Delivery, row, &mut self.names)?;
                self.push(record);
            }
        }
        Ok(ExportStage::Refused(last))
    }

    /// As many as there are sources, at most.
    fn budgets(&mut self) -> rusqlite::Result<()> {
        let mut select = self.connection.prepare_cached(&budgets())?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let record = read(Kind::Budget, row, &mut self.names)?;
            self.push(record);
        }
        Ok(())
    }

    /// Whole days while there is room.
    fn money(&mut self, after: i64) -> rusqlite::Result<Option<ExportStage>> {
        let mut select = self.connection.prepare_cached(&money())?;
        let mut rows = select.query([after])?;
        let mut last = after;
        while let Some(row) = rows.next()? {
            let record = read(Kind::Money, row, &mut self.names)?;
            let day = record.number("day").unwrap_or_default();
            if day > last && self.is_full() {
                return Ok(Some(ExportStage::Money(last)));
            }
            last = day;
            self.push(record);
        }
        Ok(None)
    }

    fn counters(&mut self) -> rusqlite::Result<()> {
        for ((source, counter), n) in counters(self.connection)? {
            let source = match source {
                Some(source) => Value::Text(self.names.of(source)?),
                None => Value::Null,
            };
            let record = Record::new(Kind::Counter, vec![source, Value::Text(counter), Value::Number(n)]);
            self.push(record.map_err(|field| row::unexpected(field, "a counter of another shape"))?);
        }
        Ok(())
    }
}

/// The sums of all deliveries by source and verdict. What is added up is a few thousand rows for each source.
pub(super) fn counters(connection: &Connection) -> rusqlite::Result<BTreeMap<(Option<i64>, String), i64>> {
    connection
        .prepare_cached(
            "SELECT source, counter, sum(n) FROM (
                 SELECT nullif(source, 0) AS source, counter, n FROM counters
                 UNION ALL SELECT source, counter, n FROM counter_deltas WHERE counter NOT LIKE 'job%')
             GROUP BY source, counter",
        )?
        .query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use cola_ia_core::store::Store as _;
    use cola_ia_testkit::harness::block_on;

    use super::super::{Options, SqliteStore};
    use super::*;

    fn store() -> (tempfile::TempDir, PathBuf, SqliteStore) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sqlite3");
        let (store, _) = SqliteStore::init(&path, &Options::default()).unwrap();
        (folder, path, store)
    }

    fn plan(connection: &Connection, sql: &str) -> String {
        let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let count = explain.parameter_count();
        let steps =
            explain.query_map(rusqlite::params_from_iter(vec![1; count]), |row| row.get::<_, String>(3)).unwrap();
        steps.collect::<rusqlite::Result<Vec<_>>>().unwrap().join("; ")
    }

    #[test]
    fn no_page_scans_or_sorts_a_table() {
        let (_folder, path, _store) = store();
        let connection = Connection::open(path).unwrap();
        let mut statements: Vec<String> = [Kind::Event].into_iter().chain(OF_AN_EVENT).map(of_events).collect();
        statements.extend([Kind::Conflict, Kind::Delivery].map(of_one_event));
        statements.extend([refused(), money()]);
        for sql in statements {
            let plan = plan(&connection, &sql);
            assert!(!plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{sql}\n{plan}");
        }
    }

    /// All records, with the longest page.
    fn all(store: &SqliteStore, limit: u32) -> (Vec<Record>, usize) {
        let (mut records, mut cursor, mut longest) = (Vec::new(), None, 0);
        loop {
            let mut page = block_on(store.export(cursor, limit)).unwrap();
            longest = longest.max(page.records.len());
            records.append(&mut page.records);
            cursor = page.next;
            if cursor.is_none() {
                return (records, longest);
            }
        }
    }

    #[test]
    fn an_event_with_more_than_a_page_comes_in_several() {
        let (_folder, path, store) = store();
        let connection = Connection::open(path).unwrap();
        // Numbers of one series, as the gate gives them: the event, its conflicts, repeats, a refused one, another event.
        connection
            .execute_batch(
                "INSERT INTO sources VALUES (1, 'web');
                 INSERT INTO events VALUES (1, 1, 'a', zeroblob(32), 1, NULL, NULL, 'x', NULL, NULL), (80001, 1, 'b', zeroblob(32), 1, NULL, NULL, 'x', NULL, NULL);
                 INSERT INTO jobs (event, source) VALUES (1, 1), (80001, 1);
                 WITH RECURSIVE n(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 30000)
                 INSERT INTO conflicts (event, number, fingerprint, first_at, last_at, text)
                 SELECT 1, n, CAST(printf('%032x', n) AS BLOB), 1, 1, 'y' FROM n;
                 WITH RECURSIVE n(n) AS (VALUES (2) UNION ALL SELECT n + 1 FROM n WHERE n < 70000)
                 INSERT INTO deliveries (seq, event, source, verdict, received_at) SELECT n, 1, 1, 'duplicate', 1 FROM n;
                 INSERT INTO deliveries (seq, verdict, received_at, code) VALUES (80000, 'invalid', 1, 'id_missing');",
            )
            .unwrap();
        let (records, longest) = all(&store, 10);
        assert!(longest <= EXPORT_EVENT_MAX_RECORDS + 10, "{longest}");
        let count = |kind| records.iter().filter(|record| record.kind() == kind).count();
        assert_eq!([Kind::Event, Kind::Job, Kind::Conflict, Kind::Delivery].map(count), [2, 2, 30_000, 70_000]);
        let order: Vec<_> = records.chunk_by(|a, b| a.kind() == b.kind()).map(|run| run[0].kind().as_str()).collect();
        assert_eq!(order, ["source", "event", "job", "conflict", "delivery", "event", "job", "delivery"]);
        assert!(records.windows(2).all(|pair| pair[0] != pair[1]));
        assert_eq!(all(&store, 10_000).0, records);
    }

    #[test]
    fn a_page_of_long_texts_ends_early() {
        let (_folder, path, store) = store();
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch(
                "INSERT INTO sources VALUES (1, 'web');
                 WITH RECURSIVE n(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 40)
                 INSERT INTO events SELECT n, 1, 'id ' || n, zeroblob(32), 1, NULL, NULL, hex(zeroblob(500000)), NULL, NULL FROM n;
                 INSERT INTO jobs (event, source) SELECT seq, 1 FROM events;",
            )
            .unwrap();
        let (records, longest) = all(&store, 10_000);
        assert_eq!(records.len(), 81);
        assert!(longest <= 12, "{longest} records of a page, of 1 MB each second one");
    }

    #[test]
    fn a_row_that_belongs_to_nothing_is_damage() {
        for (table, statement) in [
            ("jobs", "INSERT INTO jobs (event, source) VALUES (1, 1)"),
            ("revisions", "INSERT INTO revisions VALUES (1, 2, zeroblob(32), 1, 1, NULL)"),
            ("deliveries", "INSERT INTO deliveries (seq, event, verdict, received_at) VALUES (2, 1, 'duplicate', 1)"),
        ] {
            let (_folder, path, store) = store();
            let connection = Connection::open(path).unwrap();
            connection.execute_batch(statement).unwrap();
            connection
                .execute_batch("INSERT INTO deliveries (seq, verdict, received_at) VALUES (9, 'invalid', 1)")
                .unwrap();
            let error = block_on(store.export(None, 10)).unwrap_err();
            assert_eq!(error.code, "store_damaged", "{table}");
        }
    }
}
