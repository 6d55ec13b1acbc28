//! The list of conflicts.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::Fingerprint;
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::store::{BothTexts, ConflictSummary, DecisionKind, DecisionView, Page, TEXTS_MAX_BYTES, Texts};
use tokio_postgres::Row;

use super::conditions::Conditions;
use super::error::Fault;
use super::row::{Columns as _, unexpected};
use super::sql::params;
use super::summary;
use super::tx::Tx;
use crate::common::cursor;
use crate::common::stretch::ROWS_MAX;

const COLUMNS: &str = "c.event, s.name, e.id, c.number, c.fingerprint, c.type, c.time, c.count, c.first_at, c.last_at, \
     c.decision, c.decided_at, c.note, \
     (SELECT d.entered FROM decisions d WHERE d.event = c.event AND d.conflict = c.number ORDER BY d.number DESC LIMIT 1)";
const COLUMNS_LEN: usize = 14;

/// A place in the list: instant, event, number of the conflict.
type Place = [i64; 3];

/// See [`Store::conflicts`](cola_ia_core::store::Store::conflicts).
pub(super) async fn conflicts(
    tx: &Tx,
    filter: &Filter,
    after: Option<Place>,
    limit: u32,
    texts: Texts,
) -> Result<Page<ConflictSummary>, Fault> {
    let limit = limit.clamp(1, 1_000) as usize;
    let above = filter.until.map_or([i64::MAX; 3], |until| [until.as_micros(), i64::MIN, i64::MIN]);
    let start = after.map_or(above, |after| after.min(above));
    let least = filter.since.map_or(i64::MIN, Timestamp::as_micros);
    let rows = if filter.undecided == Some(true) { "c.decision IS NULL" } else { "true" };
    let mut conditions = Conditions::default();
    let places = start.map(|part| conditions.bind(part));
    let least_place = conditions.bind(least);
    if filter.undecided == Some(false) {
        conditions.and("c.decision IS NOT NULL");
    }
    conditions.of_sources("e.source", filter);
    conditions.of_types("c.type", filter);
    let looked = if conditions.is_empty() { limit + 1 } else { ROWS_MAX as usize };
    let walk = walk("*", rows, places.each_ref().map(|place| &place[..]), &least_place, &format!("LIMIT {looked}"));
    let sql = format!(
        "SELECT {COLUMNS}, {} FROM ({walk}) c
         LEFT JOIN events e ON e.seq = c.event LEFT JOIN sources s ON s.source = e.source
         WHERE {} ORDER BY c.first_at DESC, c.event DESC, c.number DESC LIMIT {}",
        if texts == Texts::Bring { WEIGHT } else { "0::bigint" },
        conditions.sql(),
        limit + 1,
    );
    let (mut items, mut bytes, mut more) = (Vec::new(), 0, false);
    for row in tx.query(&sql, &conditions.values()).await? {
        if items.len() == limit || bytes >= TEXTS_MAX_BYTES {
            more = true;
            break;
        }
        bytes += row.count::<usize>(COLUMNS_LEN)?;
        items.push(conflict(&row)?);
    }
    if texts == Texts::Bring {
        bring_texts(tx, &mut items).await?;
    }
    let next = if more {
        items.last().map(place)
    } else if conditions.is_empty() {
        None
    } else {
        floor(tx, rows, start, least).await?
    };
    Ok(Page { items, next: next.map(cursor::of_numbers) })
}

/// Conflicts below a place and not before an instant, the latest first: by the index of that order, before anything is asked of
/// them.
fn walk(columns: &str, rows: &str, [at, event, number]: [&str; 3], least: &str, bound: &str) -> String {
    format!(
        "SELECT {columns} FROM conflicts c
         WHERE {rows} AND (c.first_at, c.event, c.number) < ({at}, {event}, {number}) AND c.first_at >= {least}
         ORDER BY c.first_at DESC, c.event DESC, c.number DESC {bound}"
    )
}

/// Where a look ends after [`ROWS_MAX`] rows.
async fn floor(tx: &Tx, rows: &str, [at, event, number]: Place, least: i64) -> Result<Option<Place>, Fault> {
    let bound = format!("LIMIT 1 OFFSET {}", ROWS_MAX - 1);
    let sql = walk("c.first_at, c.event, c.number", rows, ["$1", "$2", "$3"], "$4", &bound);
    let row = tx.maybe(&sql, params![at, event, number, least]).await?;
    row.map(|row| Ok([row.read(0)?, row.read(1)?, row.read(2)?])).transpose()
}

/// Only now, when it is known which are given: both texts of a conflict may be large.
async fn bring_texts(tx: &Tx, items: &mut [ConflictSummary]) -> Result<(), Fault> {
    let events: Vec<i64> = items.iter().map(|item| item.event.0).collect();
    let numbers: Vec<i64> = items.iter().map(|item| i64::from(item.number)).collect();
    let sql = format!(
        "SELECT u.place, {IN_FORCE}, c.text
         FROM unnest($1, $2) WITH ORDINALITY u (event, number, place)
         JOIN conflicts c ON c.event = u.event AND c.number = u.number LEFT JOIN events e ON e.seq = c.event"
    );
    for row in tx.query(&sql, params![events, numbers]).await? {
        // Places are counted from 1.
        if let Some(item) = items.get_mut(row.count::<usize>(0)?.wrapping_sub(1)) {
            item.texts = Some(BothTexts { event: row.read(1)?, conflict: row.read(2)? });
        }
    }
    Ok(())
}

fn place(conflict: &ConflictSummary) -> Place {
    [conflict.first_at.as_micros(), conflict.event.0, i64::from(conflict.number)]
}

fn conflict(row: &Row) -> Result<ConflictSummary, Fault> {
    Ok(ConflictSummary {
        event: EventNumber(row.read(0)?),
        source: row.source(1)?,
        id: row.read(2)?,
        number: row.count(3)?,
        fingerprint: Fingerprint(row.bytes(4)?),
        event_type: summary::event_type(row, 5)?,
        time: row.maybe_time(6)?,
        count: row.count(7)?,
        first_at: row.time(8)?,
        last_at: row.time(9)?,
        decision: decision(row, 10)?,
        texts: None,
    })
}

/// The event's content that workers get: the newest that was accepted, or the one that entered.
const IN_FORCE: &str = "CASE WHEN EXISTS (SELECT 1 FROM revisions r WHERE r.event = c.event)
     THEN (SELECT r.text FROM revisions r WHERE r.event = c.event ORDER BY r.number DESC LIMIT 1) ELSE e.text END";

/// How many bytes both texts have. Their lengths are known without reading them.
const WEIGHT: &str = "(coalesce(octet_length(c.text), 0) + coalesce(CASE
     WHEN EXISTS (SELECT 1 FROM revisions r WHERE r.event = c.event)
     THEN (SELECT octet_length(r.text) FROM revisions r WHERE r.event = c.event ORDER BY r.number DESC LIMIT 1)
     ELSE octet_length(e.text) END, 0))::bigint";

/// The decision of four columns from this one on: what, when, why, and the event that the content became.
pub(super) fn decision(row: &Row, column: usize) -> Result<Option<DecisionView>, Fault> {
    let Some(word) = row.read::<Option<&str>>(column)? else { return Ok(None) };
    Ok(Some(DecisionView {
        kind: DecisionKind::from_word(word).ok_or_else(|| unexpected("decision", word))?,
        decided_at: row.time(column + 1)?,
        note: row.read(column + 2)?,
        entered: row.read::<Option<i64>>(column + 3)?.map(EventNumber),
    }))
}
