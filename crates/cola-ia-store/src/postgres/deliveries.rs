//! The list of deliveries: those that made an event stand in `events`, all others in `deliveries`.

use cola_ia_core::filter::Filter;
use cola_ia_core::intake::{DeliveryNumber, EventNumber, RefusalCode};
use cola_ia_core::store::{DeliverySummary, Page};
use cola_ia_core::verdict::Verdict;
use tokio_postgres::Row;

use super::accept::verdict;
use super::conditions::Conditions;
use super::error::Fault;
use super::row::{Columns as _, unexpected};
use super::stretch::{self, Question, Range};
use super::summary;
use super::tx::Tx;
use crate::common::cursor;
use crate::common::stretch::{Stretch, merge};

pub(super) const NEW_COLUMNS: &str = "e.seq, 'new', e.received_at, e.seq, s.name, e.id, e.type, e.time, \
     NULL::bigint, NULL::text, NULL::text, NULL::text, 1::bigint, NULL::boolean";
pub(super) const NEW_JOINS: &str = "LEFT JOIN sources s ON s.source = e.source";
pub(super) const OTHER_COLUMNS: &str = "d.seq, d.verdict, d.received_at, d.event, s.name, e.id, d.type, d.time, \
     d.conflict, d.code, d.detail, d.origin, d.count, d.replayed";
pub(super) const OTHER_JOINS: &str = "LEFT JOIN sources s ON s.source = d.source LEFT JOIN events e ON e.seq = d.event";

/// A delivery from the columns above.
pub(super) fn delivery(row: &Row) -> Result<DeliverySummary, Fault> {
    let verdict = verdict(row, 1)?;
    let event: Option<i64> = row.read(3)?;
    let has_source = row.read::<Option<&str>>(4)?.is_some();
    let id: Option<String> = row.read(5)?;
    // Where damage took an event or a source, it is said and nothing is left out.
    if verdict != Verdict::Invalid && (event.is_none() || !has_source || id.is_none()) {
        return Err(unexpected("event", "missing"));
    }
    let code = |word: &str| RefusalCode::from_word(word).ok_or_else(|| unexpected("code", word));
    Ok(DeliverySummary {
        number: DeliveryNumber(row.read(0)?),
        verdict,
        received_at: row.time(2)?,
        event: event.map(EventNumber),
        source: if has_source { Some(row.source(4)?) } else { None },
        id,
        event_type: summary::event_type(row, 6)?,
        time: row.maybe_time(7)?,
        conflict: row.maybe_count(8)?,
        code: row.read::<Option<&str>>(9)?.map(code).transpose()?,
        detail: row.read(10)?,
        origin: row.read(11)?,
        count: row.count(12)?,
        replayed: row.read::<Option<bool>>(13)?.unwrap_or_default(),
    })
}

/// See [`Store::deliveries`](cola_ia_core::store::Store::deliveries).
pub(super) async fn deliveries(
    tx: &Tx,
    filter: &Filter,
    below: Option<i64>,
    limit: u32,
) -> Result<Page<DeliverySummary>, Fault> {
    let limit = limit.clamp(1, 1_000) as usize;
    let range = Range::of(tx, filter, below).await?;
    let stretches = look(tx, filter, range, limit).await?;
    let (items, next) = merge(stretches, limit);
    Ok(Page { items, next: next.map(cursor::of_number) })
}

/// The tables and indexes in which such deliveries stand.
async fn look(tx: &Tx, filter: &Filter, range: Range, limit: usize) -> Result<Vec<Stretch<DeliverySummary>>, Fault> {
    // Only what was refused has a code.
    let takes = |verdict| filter.takes_verdict(verdict) && (filter.reasons.is_empty() || verdict == Verdict::Invalid);
    let mut stretches = Vec::new();
    let read = |row: &Row| delivery(row).map(|delivery| (delivery.number.0, delivery));
    if takes(Verdict::New) {
        let mut conditions = Conditions::default();
        conditions.of_sources("e.source", filter);
        conditions.of_types("e.type", filter);
        conditions.within("e.received_at", filter);
        let question = Question {
            columns: NEW_COLUMNS,
            table: "events e",
            name: "e",
            number: "seq",
            rows: "",
            word: None,
            joins: NEW_JOINS,
            conditions,
        };
        stretches.push(stretch::look(tx, question, range, limit, read).await?);
    }
    let mut asked: Vec<(&str, Vec<Verdict>)> = Vec::new();
    if takes(Verdict::Duplicate) {
        let verdicts: Vec<Verdict> =
            [Verdict::Duplicate, Verdict::Conflict, Verdict::Invalid].into_iter().filter(|v| takes(*v)).collect();
        asked.push(("", if verdicts.len() == 3 { Vec::new() } else { verdicts }));
    } else {
        if takes(Verdict::Conflict) {
            asked.push(("d.conflict IS NOT NULL", vec![Verdict::Conflict]));
        }
        if takes(Verdict::Invalid) {
            asked.push(("d.code IS NOT NULL", Vec::new()));
        }
    }
    for (rows, verdicts) in asked {
        let mut conditions = Conditions::default();
        conditions.one_of("d.verdict", verdicts.iter().map(|verdict| verdict.as_str()));
        conditions.of_sources("d.source", filter);
        conditions.of_types("d.type", filter);
        conditions.within("d.received_at", filter);
        conditions.one_of("d.code", filter.reasons.iter().map(String::as_str));
        let question = Question {
            columns: OTHER_COLUMNS,
            table: "deliveries d",
            name: "d",
            number: "seq",
            rows,
            word: None,
            joins: OTHER_JOINS,
            conditions,
        };
        stretches.push(stretch::look(tx, question, range, limit, read).await?);
    }
    Ok(stretches)
}
