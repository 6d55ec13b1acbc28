//! Pages of conflicts, newest first by when their content came first.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{EventType, Fingerprint};
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::store::{BothTexts, ConflictSummary, DecisionKind, DecisionView, Page, TEXTS_MAX_BYTES, Texts};
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::conditions::Conditions;
use super::reader::Sight;
use super::stretch::ROWS_MAX;
use super::{cursor, row};

const COLUMNS: &str = "c.event, s.name, e.id, c.number, c.fingerprint, c.type, c.time, c.count, c.first_at, c.last_at, \
     c.decision, c.decided_at, c.note, \
     (SELECT d.entered FROM decisions d WHERE d.event = c.event AND d.conflict = c.number ORDER BY d.number DESC LIMIT 1)";
const COLUMNS_LEN: usize = 14;

/// A place in the list: instant, event, number of the conflict.
type Place = [i64; 3];

/// See [`Store::conflicts`](cola_ia_core::store::Store::conflicts).
pub(super) fn conflicts(
    sight: &Sight<'_>,
    filter: &Filter,
    after: Option<Place>,
    limit: u32,
    texts: Texts,
) -> rusqlite::Result<Page<ConflictSummary>> {
    let limit = limit.clamp(1, 1_000) as usize;
    let above = filter.until.map_or([i64::MAX; 3], |until| [until.as_micros(), i64::MIN, i64::MIN]);
    let start = after.map_or(above, |after| after.min(above));
    let (table, rows) = match filter.undecided {
        Some(true) => ("conflicts c INDEXED BY conflicts_undecided", "c.decision IS NULL"),
        _ => ("conflicts c INDEXED BY conflicts_first", "true"),
    };
    let mut conditions = Conditions::default();
    if filter.undecided == Some(false) {
        conditions.and("c.decision IS NOT NULL");
    }
    conditions.of_sources("e.source", filter);
    conditions.of_types("c.type", filter);
    let floor = if conditions.is_empty() { None } else { floor(sight.connection, table, rows, start)? };
    let [at, event, number] = start.map(|part| conditions.bind(part));
    conditions.and(format!("(c.first_at, c.event, c.number) < ({at}, {event}, {number})"));
    let last = floor.unwrap_or([filter.since.map_or(i64::MIN, Timestamp::as_micros), i64::MIN, i64::MIN]);
    let [at, event, number] = last.map(|part| conditions.bind(part));
    conditions.and(format!("(c.first_at, c.event, c.number) >= ({at}, {event}, {number})"));
    // The floor may lie before the filter's time.
    conditions.within("c.first_at", &Filter { since: filter.since, ..Filter::default() });
    let columns = if texts == Texts::Bring { format!("{COLUMNS}, {IN_FORCE}, c.text") } else { COLUMNS.to_owned() };
    let sql = format!(
        "SELECT {columns} FROM {table} LEFT JOIN events e ON e.seq = c.event LEFT JOIN sources s ON s.source = e.source
         WHERE {rows} AND {} ORDER BY c.first_at DESC, c.event DESC, c.number DESC LIMIT {}",
        conditions.sql(),
        limit + 1,
    );
    let mut statement = sight.connection.prepare_cached(&sql)?;
    let mut found = statement.query(conditions.values())?;
    let (mut items, mut bytes, mut more) = (Vec::new(), 0, false);
    while let Some(row) = found.next()? {
        if items.len() == limit || bytes >= TEXTS_MAX_BYTES {
            more = true;
            break;
        }
        let item = conflict(row, texts)?;
        bytes += item.texts.as_ref().map_or(0, weight);
        items.push(item);
    }
    let next = if more { items.last().map(place) } else { floor };
    Ok(Page { items, next: next.map(cursor::of_numbers) })
}

/// Where a look ends after [`ROWS_MAX`] rows.
fn floor(connection: &Connection, table: &str, rows: &str, start: Place) -> rusqlite::Result<Option<Place>> {
    let sql = format!(
        "SELECT c.first_at, c.event, c.number FROM {table} WHERE {rows} AND (c.first_at, c.event, c.number) < (?1, ?2, ?3)
         ORDER BY c.first_at DESC, c.event DESC, c.number DESC LIMIT 1 OFFSET {}",
        ROWS_MAX - 1,
    );
    connection.prepare_cached(&sql)?.query_row(start, |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?])).optional()
}

fn place(conflict: &ConflictSummary) -> Place {
    [conflict.first_at.as_micros(), conflict.event.0, i64::from(conflict.number)]
}

fn weight(texts: &BothTexts) -> usize {
    [&texts.event, &texts.conflict].into_iter().flatten().map(String::len).sum()
}

fn conflict(row: &Row<'_>, texts: Texts) -> rusqlite::Result<ConflictSummary> {
    let texts = match texts {
        Texts::Leave => None,
        Texts::Bring => Some(BothTexts { event: row.get(COLUMNS_LEN)?, conflict: row.get(COLUMNS_LEN + 1)? }),
    };
    Ok(ConflictSummary {
        event: EventNumber(row.get(0)?),
        source: row::source(row.get_ref(1)?.as_str()?)?,
        id: row.get(2)?,
        number: row.get(3)?,
        fingerprint: Fingerprint(row.get(4)?),
        event_type: row.get::<_, Option<String>>(5)?.and_then(|name| EventType::new(name).ok()),
        time: row::maybe_time(row, 6)?,
        count: row.get::<_, i64>(7)? as u64,
        first_at: row::time(row, 8)?,
        last_at: row::time(row, 9)?,
        decision: decision(row, 10)?,
        texts,
    })
}

/// The event's content that workers get: the newest that was accepted, or the one that entered.
const IN_FORCE: &str = "CASE WHEN EXISTS (SELECT 1 FROM revisions r WHERE r.event = c.event)
     THEN (SELECT r.text FROM revisions r WHERE r.event = c.event ORDER BY r.number DESC LIMIT 1) ELSE e.text END";

/// The decision of four columns from this one on: what, when, why, and the event that the content became.
fn decision(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<DecisionView>> {
    let Some(word) = row.get::<_, Option<String>>(column)? else { return Ok(None) };
    Ok(Some(DecisionView {
        kind: DecisionKind::from_word(&word).ok_or_else(|| row::unexpected("decision", &word))?,
        decided_at: row::time(row, column + 1)?,
        note: row.get(column + 2)?,
        entered: row.get::<_, Option<i64>>(column + 3)?.map(EventNumber),
    }))
}
