//! Pages of all that a store keeps.
//!
//! Events are walked by number and, beside them, the rows that belong to them, each table in the order of its own index: a
//! merge, as far as the page has room. A page is one look; its cursors end with it.
//!
//! Numbers are no order of commits here: an event that is committed while an export runs may have a lower number than one that
//! was there at its start. It is then in the export whole, or not at all.

use std::collections::VecDeque;

use cola_ia_core::store::export::{
    EXPORT_EVENT_MAX_BYTES, EXPORT_EVENT_MAX_RECORDS, EXPORT_PAGE_MAX_BYTES, EXPORT_PAGE_MAX_RECORDS, ExportCursor,
    ExportHead, ExportPage, ExportStage, Kind, Record, Value,
};

use super::error::Fault;
use super::records::{columns, read, table};
use super::row::{Columns as _, unexpected};
use super::sql::params;
use super::tx::Tx;
use super::{currency, migrate};
use crate::common::records::{OF_AN_EVENT, WITH_EVENT, by_event};

/// Deliveries that are looked at for refused ones in one page.
const LOOK_MAX: i64 = 100_000;

/// Rows that the first fetch of a cursor takes. The next one takes twice as many while they are light.
const FETCH_FIRST: usize = 16;
const FETCH_MAX: usize = 1_024;
/// What a fetch should weigh at most, about.
const FETCH_WEIGHT: usize = EXPORT_PAGE_MAX_BYTES / 8;

/// Each table is read along its index, however few rows the server believes that there are: a page stops early.
const ALONG_INDEXES: &str = "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off; \
     SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL cursor_tuple_fraction = 0.0001";

/// See [`Store::export`](cola_ia_core::store::Store::export).
pub(super) async fn export(tx: &Tx, cursor: Option<ExportCursor>, limit: u32) -> Result<ExportPage, Fault> {
    let migrate::Found::Store(schema) = migrate::found(tx).await? else {
        return Err(unexpected("store", "none"));
    };
    let head = ExportHead {
        namespace: tx.one("SELECT namespace FROM store", params![]).await?.bytes(0)?,
        schema,
        currency: currency::currency(tx).await?,
    };
    let cursor = match cursor {
        Some(cursor) => cursor,
        None => ExportCursor { upto: highest(tx).await?, next: ExportStage::Sources(0) },
    };
    tx.batch(ALONG_INDEXES).await?;
    let limit = limit.clamp(1, EXPORT_PAGE_MAX_RECORDS) as usize;
    let mut page = Page { tx, upto: cursor.upto, limit, records: Vec::new(), weight: 0, cursors: 0 };
    let mut next = Some(cursor.next);
    while let Some(stage) = next
        && !page.is_full()
    {
        let looked_enough;
        (next, looked_enough) = match stage {
            ExportStage::Sources(after) => (Some(page.sources(after).await?), false),
            ExportStage::Events(after) => (Some(page.events(after).await?), false),
            ExportStage::Conflicts(event, after) => (Some(page.rest(event, after, i64::MIN).await?), false),
            ExportStage::Deliveries(event, after) => (Some(page.rest(event, i64::MAX, after).await?), false),
            ExportStage::Refused(after) => {
                let next = page.refused(after).await?;
                (Some(next), next != ExportStage::Counters)
            }
            ExportStage::Counters => {
                page.budgets().await?;
                page.counters().await?;
                (Some(ExportStage::Money(i64::MIN)), false)
            }
            ExportStage::Money(after) => (page.money(after).await?, false),
        };
        if looked_enough {
            break;
        }
    }
    let next = next.map(|next| ExportCursor { upto: page.upto, next });
    Ok(ExportPage { head, records: page.records, next })
}

async fn highest(tx: &Tx) -> Result<i64, Fault> {
    let sql =
        "SELECT greatest((SELECT coalesce(max(seq), 0) FROM events), (SELECT coalesce(max(seq), 0) FROM deliveries))";
    tx.one(sql, params![]).await?.read(0)
}

/// Rows of a kind for the events of this range, by event and then in the order of the export. The event is the column behind the
/// record's.
fn of_events(kind: Kind, first: i64, last: i64) -> String {
    let columns = columns(kind);
    let (from, event, order) = by_event(kind, "JOIN");
    // The partial index of deliveries wants its words.
    let known = if kind == Kind::Delivery { " AND t.event IS NOT NULL" } else { "" };
    format!(
        "SELECT {columns}, {event} FROM {from} WHERE {event} >= {first} AND {event} <= {last}{known} ORDER BY {event}{order}"
    )
}

/// Rows of a kind for an event, above a number.
fn of_one_event(kind: Kind, event: i64, after: i64) -> String {
    let number = if kind == Kind::Delivery { "t.seq" } else { "t.number" };
    format!(
        "SELECT {}, t.event FROM {} t WHERE t.event = {event} AND {number} > {after} ORDER BY {number}",
        columns(kind),
        table(kind).unwrap_or_default(),
    )
}

/// Refused deliveries above a number, up to another one.
fn refused(after: i64, upto: i64) -> String {
    format!(
        "SELECT {}, t.seq FROM deliveries t WHERE t.event IS NULL AND t.seq > {after} AND t.seq <= {upto} ORDER BY t.seq",
        columns(Kind::Delivery)
    )
}

/// Money of days after this one. What is only reserved is no sum of an export, and what was released leaves a row of nothing.
fn money(after: i64) -> String {
    format!(
        "SELECT {}, t.day FROM money t
         WHERE t.day > {after}
             AND (t.costs, t.spent, t.tokens_in, t.tokens_out, t.replays, t.replayed) <> (0, 0, 0, 0, 0, 0)
         ORDER BY t.day, t.source, t.model",
        columns(Kind::Money)
    )
}

/// The rows of a kind, some ahead.
struct Stream {
    kind: Kind,
    cursor: String,
    ahead: VecDeque<(i64, Record)>,
    fetch: usize,
    is_over: bool,
}

impl Stream {
    /// The number beside the next row.
    async fn peek(&mut self, tx: &Tx) -> Result<Option<i64>, Fault> {
        if self.ahead.is_empty() && !self.is_over {
            let rows = tx.query(&format!("FETCH {} FROM {}", self.fetch, self.cursor), params![]).await?;
            self.is_over = rows.len() < self.fetch;
            let mut weight = 0;
            for row in &rows {
                let record = read(self.kind, row)?;
                weight += record.weight();
                self.ahead.push_back((row.read(self.kind.fields().len())?, record));
            }
            self.fetch = if weight < FETCH_WEIGHT / 2 {
                (self.fetch * 2).min(FETCH_MAX)
            } else if weight > FETCH_WEIGHT {
                (self.fetch / 2).max(1)
            } else {
                self.fetch
            };
        }
        Ok(self.ahead.front().map(|(number, _)| *number))
    }

    /// The next row, if it belongs to this event. One of an event before, which has been passed, belongs to nothing.
    async fn take(&mut self, event: i64, tx: &Tx) -> Result<Option<Record>, Fault> {
        match self.peek(tx).await? {
            Some(of) if of < event => {
                Err(unexpected(self.kind.as_str(), &format!("row of event {of}, which is missing")))
            }
            Some(of) if of == event => Ok(self.ahead.pop_front().map(|(_, record)| record)),
            _ => Ok(None),
        }
    }
}

struct Page<'t> {
    tx: &'t Tx,
    upto: i64,
    limit: usize,
    records: Vec<Record>,
    weight: usize,
    /// How many cursors were opened.
    cursors: usize,
}

impl Page<'_> {
    fn is_full(&self) -> bool {
        self.records.len() >= self.limit || self.weight >= EXPORT_PAGE_MAX_BYTES
    }

    fn push(&mut self, record: Record) {
        self.weight += record.weight();
        self.records.push(record);
    }

    /// Opens a cursor for each of these statements, all at once.
    async fn open(&mut self, statements: impl IntoIterator<Item = (Kind, String)>) -> Result<Vec<Stream>, Fault> {
        let (mut streams, mut declared) = (Vec::new(), String::new());
        for (kind, sql) in statements {
            self.cursors += 1;
            let cursor = format!("page_{}", self.cursors);
            for part in ["DECLARE ", &cursor, " NO SCROLL CURSOR FOR ", &sql, ";\n"] {
                declared.push_str(part);
            }
            streams.push(Stream { kind, cursor, ahead: VecDeque::new(), fetch: FETCH_FIRST, is_over: false });
        }
        self.tx.batch(&declared).await?;
        Ok(streams)
    }

    async fn sources(&mut self, after: i64) -> Result<ExportStage, Fault> {
        let room = self.limit - self.records.len();
        let rows = self
            .tx
            .query(
                "SELECT t.name, t.source FROM sources t WHERE t.source > $1 ORDER BY t.source LIMIT $2",
                params![after, room as i64],
            )
            .await?;
        let mut last = after;
        for row in &rows {
            last = row.read(1)?;
            self.push(read(Kind::Source, row)?);
        }
        Ok(if rows.len() < room { ExportStage::Events(0) } else { ExportStage::Sources(last) })
    }

    /// Whole events while there is room.
    async fn events(&mut self, after: i64) -> Result<ExportStage, Fault> {
        let (tx, first, upto) = (self.tx, after + 1, self.upto);
        let kinds = [Kind::Event].into_iter().chain(OF_AN_EVENT);
        let mut streams = self.open(kinds.map(|kind| (kind, of_events(kind, first, upto)))).await?;
        let (events, streams) = streams.split_at_mut(1);
        let mut last = after;
        while !self.is_full() {
            let Some(event) = events[0].peek(tx).await? else {
                // Whatever is left belongs to no event.
                for stream in streams {
                    stream.take(i64::MAX, tx).await?;
                }
                return Ok(ExportStage::Refused(0));
            };
            last = event;
            let (few, many) = streams.split_at_mut(WITH_EVENT);
            for stream in events.iter_mut().chain(few) {
                while let Some(record) = stream.take(event, tx).await? {
                    self.push(record);
                }
            }
            if let Some(cut) = self.many(event, many).await? {
                return Ok(cut);
            }
        }
        Ok(ExportStage::Events(last))
    }

    /// What is left of an event that is too large for a page.
    async fn rest(&mut self, event: i64, conflicts: i64, deliveries: i64) -> Result<ExportStage, Fault> {
        let after = [(Kind::Conflict, conflicts), (Kind::Delivery, deliveries)];
        let mut streams = self.open(after.map(|(kind, after)| (kind, of_one_event(kind, event, after)))).await?;
        let cut = self.many(event, &mut streams).await?;
        Ok(cut.unwrap_or(ExportStage::Events(event)))
    }

    /// The conflicts and deliveries of an event, which its senders can make as many as they like: as far as the bound, and
    /// where they go on.
    async fn many(&mut self, event: i64, streams: &mut [Stream]) -> Result<Option<ExportStage>, Fault> {
        let (count, weight) = (self.records.len(), self.weight);
        for stream in streams {
            while let Some(record) = stream.take(event, self.tx).await? {
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
    async fn refused(&mut self, after: i64) -> Result<ExportStage, Fault> {
        let bound = self
            .tx
            .maybe(
                "SELECT seq FROM deliveries WHERE seq > $1 AND seq <= $2 ORDER BY seq OFFSET $3 LIMIT 1",
                params![after, self.upto, LOOK_MAX],
            )
            .await?;
        let upto: i64 = bound.as_ref().map_or(Ok(self.upto), |row| row.read(0))?;
        let mut streams = self.open([(Kind::Delivery, refused(after, upto))]).await?;
        let mut last = after;
        while !self.is_full() {
            let Some(number) = streams[0].peek(self.tx).await? else {
                return Ok(if bound.is_some() { ExportStage::Refused(upto) } else { ExportStage::Counters });
            };
            last = number;
            if let Some(record) = streams[0].take(number, self.tx).await? {
                self.push(record);
            }
        }
        Ok(ExportStage::Refused(last))
    }

    /// As many as there are sources, at most.
    async fn budgets(&mut self) -> Result<(), Fault> {
        let sql = format!("SELECT {} FROM budgets t ORDER BY t.source", columns(Kind::Budget));
        for row in &self.tx.query(&sql, params![]).await? {
            self.push(read(Kind::Budget, row)?);
        }
        Ok(())
    }

    /// Whole days while there is room.
    async fn money(&mut self, after: i64) -> Result<Option<ExportStage>, Fault> {
        let mut streams = self.open([(Kind::Money, money(after))]).await?;
        let mut last = after;
        while let Some(day) = streams[0].peek(self.tx).await? {
            if day > last && self.is_full() {
                return Ok(Some(ExportStage::Money(last)));
            }
            last = day;
            if let Some(record) = streams[0].take(day, self.tx).await? {
                self.push(record);
            }
        }
        Ok(None)
    }

    async fn counters(&mut self) -> Result<(), Fault> {
        for Sum { source, counter, n, .. } in counters(self.tx).await? {
            let source = source.map_or(Value::Null, Value::Text);
            let record = Record::new(Kind::Counter, vec![source, Value::Text(counter), Value::Number(n)]);
            self.push(record.map_err(|field| unexpected(field, "a counter of another shape"))?);
        }
        Ok(())
    }
}

/// The sum of all deliveries of a source and a verdict.
pub(super) struct Sum {
    /// The row of the source; 0: none.
    pub(super) row: i64,
    /// Its name.
    pub(super) source: Option<String>,
    pub(super) counter: String,
    pub(super) n: i64,
}

/// The sums of all deliveries by source and verdict. What is added up is a few thousand rows for each source.
pub(super) async fn counters(tx: &Tx) -> Result<Vec<Sum>, Fault> {
    let rows = tx
        .query(
            "SELECT c.source, (SELECT s.name FROM sources s WHERE s.source = c.source), c.counter,
                 least(sum(c.n), 9223372036854775807)::bigint
             FROM (SELECT source, counter, n FROM counters
                   UNION ALL SELECT coalesce(source, 0), counter COLLATE \"C\", n FROM counter_deltas
                       WHERE counter NOT LIKE 'job%') c
             GROUP BY c.source, c.counter ORDER BY c.source, c.counter COLLATE \"C\"",
            params![],
        )
        .await?;
    rows.iter()
        .map(|row| Ok(Sum { row: row.read(0)?, source: row.read(1)?, counter: row.read(2)?, n: row.read(3)? }))
        .collect()
}

#[cfg(test)]
mod tests;
