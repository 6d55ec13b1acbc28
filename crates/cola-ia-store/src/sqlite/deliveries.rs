//! Every handing-over: in pages downwards, and followed upwards.
//!
//! A delivery that made an event is a row of `events`, any other one of `deliveries`; both draw from one series of numbers.

use cola_ia_core::event::EventType;
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::{DeliveryNumber, EventNumber, RefusalCode};
use cola_ia_core::store::{DeliverySummary, FOLLOW_MAX, Followed, Page};
use cola_ia_core::verdict::Verdict;
use rusqlite::{Connection, Row};

use super::conditions::Conditions;
use super::reader::Sight;
use super::stretch::{self, Question, Range, Stretch};
use super::{accept, cursor, row};

const NEW_COLUMNS: &str =
    "e.seq, 'new', e.received_at, e.seq, s.name, e.id, e.type, e.time, NULL, NULL, NULL, NULL, 1, NULL";
const NEW_JOINS: &str = "LEFT JOIN sources s ON s.source = e.source";
const OTHER_COLUMNS: &str = "d.seq, d.verdict, d.received_at, d.event, s.name, e.id, d.type, d.time, \
     d.conflict, d.code, d.detail, d.origin, d.count, d.replayed";
const OTHER_JOINS: &str = "LEFT JOIN sources s ON s.source = d.source LEFT JOIN events e ON e.seq = d.event";

/// A delivery from the columns above.
fn delivery(row: &Row<'_>) -> rusqlite::Result<DeliverySummary> {
    let verdict = accept::verdict_of(row.get_ref(1)?.as_str()?)?;
    let event: Option<i64> = row.get(3)?;
    let source: Option<String> = row.get(4)?;
    let id: Option<String> = row.get(5)?;
    // Where damage took an event or a source, it is said and nothing is left out.
    if verdict != Verdict::Invalid && (event.is_none() || source.is_none() || id.is_none()) {
        return Err(row::unexpected("event", "missing"));
    }
    Ok(DeliverySummary {
        number: DeliveryNumber(row.get(0)?),
        verdict,
        received_at: row::time(row, 2)?,
        event: event.map(EventNumber),
        source: source.as_deref().map(row::source).transpose()?,
        id,
        event_type: row.get::<_, Option<String>>(6)?.and_then(|name| EventType::new(name).ok()),
        time: row::maybe_time(row, 7)?,
        conflict: row.get(8)?,
        code: row.get::<_, Option<String>>(9)?.as_deref().map(refusal_code).transpose()?,
        detail: row.get(10)?,
        origin: row.get(11)?,
        count: row.get::<_, i64>(12)? as u64,
        replayed: row.get::<_, Option<bool>>(13)?.unwrap_or_default(),
    })
}

fn refusal_code(word: &str) -> rusqlite::Result<RefusalCode> {
    RefusalCode::from_word(word).ok_or_else(|| row::unexpected("code", word))
}

/// See [`Store::deliveries`](cola_ia_core::store::Store::deliveries).
pub(super) fn deliveries(
    sight: &Sight<'_>,
    filter: &Filter,
    below: Option<i64>,
    limit: u32,
) -> rusqlite::Result<Page<DeliverySummary>> {
    let limit = limit.clamp(1, 1_000) as usize;
    let range = Range::of(sight.connection, filter, below)?;
    let stretches = look(sight.connection, filter, range, limit)?;
    let (items, next) = stretch::merge(stretches, limit);
    Ok(Page { items, next: next.map(cursor::of_number) })
}

/// The tables and indexes in which such deliveries stand.
fn look(
    connection: &Connection,
    filter: &Filter,
    range: Range,
    limit: usize,
) -> rusqlite::Result<Vec<Stretch<DeliverySummary>>> {
    // Only what was refused has a code.
    let takes = |verdict| filter.takes_verdict(verdict) && (filter.reasons.is_empty() || verdict == Verdict::Invalid);
    let mut stretches = Vec::new();
    let read = |row: &Row<'_>| delivery(row).map(|delivery| (delivery.number.0, delivery));
    if takes(Verdict::New) {
        let mut conditions = Conditions::default();
        conditions.of_sources("e.source", filter);
        conditions.of_types("e.type", filter);
        conditions.within("e.received_at", filter);
        let question = Question {
            columns: NEW_COLUMNS,
            table: "events e",
            number: "e.seq",
            rows: "",
            joins: NEW_JOINS,
            conditions,
        };
        stretches.push(Stretch::look(connection, question, range, limit, read)?);
    }
    let mut others = |table: &str, rows: &str, verdicts: &[Verdict]| -> rusqlite::Result<()> {
        let mut conditions = Conditions::default();
        conditions.one_of("d.verdict", verdicts.iter().map(|verdict| verdict.as_str()));
        conditions.of_sources("d.source", filter);
        conditions.of_types("d.type", filter);
        conditions.within("d.received_at", filter);
        conditions.one_of("d.code", filter.reasons.iter().map(String::as_str));
        let question =
            Question { columns: OTHER_COLUMNS, table, number: "d.seq", rows, joins: OTHER_JOINS, conditions };
        stretches.push(Stretch::look(connection, question, range, limit, read)?);
        Ok(())
    };
    if takes(Verdict::Duplicate) {
        let verdicts: Vec<Verdict> =
            [Verdict::Duplicate, Verdict::Conflict, Verdict::Invalid].into_iter().filter(|v| takes(*v)).collect();
        others("deliveries d", "", if verdicts.len() == 3 { &[] } else { &verdicts })?;
    } else {
        if takes(Verdict::Conflict) {
            others("deliveries d INDEXED BY deliveries_conflict", "d.conflict IS NOT NULL", &[Verdict::Conflict])?;
        }
        if takes(Verdict::Invalid) {
            others("deliveries d INDEXED BY deliveries_refused", "d.code IS NOT NULL", &[])?;
        }
    }
    Ok(stretches)
}

/// The highest number that was given.
fn top(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "SELECT max((SELECT coalesce(max(seq), 0) FROM events), (SELECT coalesce(max(seq), 0) FROM deliveries))",
        )?
        .query_row([], |row| row.get(0))
}

/// The latest so many, oldest first, and the place behind them.
pub(super) fn latest(sight: &Sight<'_>, filter: &Filter, count: u32) -> rusqlite::Result<Followed> {
    let mut items = if count == 0 { Vec::new() } else { deliveries(sight, filter, None, count)?.items };
    items.reverse();
    Ok(Followed { items, cursor: cursor::of_number(top(sight.connection)?), more: false, rewound: false })
}

/// What came after a number. Here numbers rise in the order of commits: one writer gives them, inside its transactions.
pub(super) fn follow(sight: &Sight<'_>, filter: &Filter, after: i64) -> rusqlite::Result<Followed> {
    let top = top(sight.connection)?;
    if after > top {
        return Ok(Followed { items: Vec::new(), cursor: cursor::of_number(top), more: false, rewound: true });
    }
    let tables = [(NEW_COLUMNS, "events e", "e.seq", NEW_JOINS), (OTHER_COLUMNS, "deliveries d", "d.seq", OTHER_JOINS)];
    let (mut found, mut seen) = (Vec::new(), top);
    for (columns, table, number, joins) in tables {
        let sql =
            format!("SELECT {columns} FROM {table} {joins} WHERE {number} > ?1 ORDER BY {number} LIMIT {FOLLOW_MAX}");
        let part: Vec<DeliverySummary> =
            sight.connection.prepare_cached(&sql)?.query_map([after], delivery)?.collect::<rusqlite::Result<_>>()?;
        if let (FOLLOW_MAX, Some(last)) = (part.len(), part.last()) {
            seen = seen.min(last.number.0);
        }
        found.extend(part);
    }
    found.retain(|delivery| delivery.number.0 <= seen);
    found.sort_unstable_by_key(|delivery| delivery.number);
    if found.len() > FOLLOW_MAX {
        found.truncate(FOLLOW_MAX);
        seen = found.last().map_or(seen, |delivery| delivery.number.0);
    }
    found.retain(|delivery| {
        filter.takes_verdict(delivery.verdict)
            && filter.takes_source(delivery.source.as_ref())
            && filter.takes_type(delivery.event_type.as_ref())
            && filter.takes_time(delivery.received_at)
            && filter.takes_reason(delivery.code.map(RefusalCode::as_str))
    });
    Ok(Followed { items: found, cursor: cursor::of_number(seen), more: seen < top, rewound: false })
}
