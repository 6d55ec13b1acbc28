//! Effects as a list, and those of one job.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{Case, EffectState};
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::store::{EffectFilter, EffectSummary, EffectView, HISTORY_MAX, Page, TEXTS_MAX_BYTES};
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::super::conditions::Conditions;
use super::super::job_row::{self, JobRow};
use super::super::reader::Sight;
use super::super::stretch::{self, Question, ROWS_MAX, Range, Stretch};
use super::super::{cursor, restored, row};
use super::rows;
use crate::common::effect::{see, view, weight};

/// What is joined to `effects f`. Outer joins: where damage took an event or a source, its effect is an error and not left out.
const JOINS: &str = "LEFT JOIN jobs j ON j.event = f.event LEFT JOIN events e ON e.seq = f.event \
     LEFT JOIN sources s ON s.source = e.source";

/// See [`Store::effect_list`](cola_ia_core::store::Store::effect_list).
pub(in super::super) fn list(
    sight: &Sight<'_>,
    filter: &EffectFilter,
    below: Option<i64>,
    limit: u32,
) -> rusqlite::Result<Page<EffectSummary>> {
    let connection = sight.connection;
    let limit = limit.clamp(1, 1_000) as usize;
    let restored_at = restored::restored_at(connection)?;
    let (numbers, mut next) = numbers(connection, filter, restored_at.is_some(), below, limit)?;
    let (mut items, mut bytes) = (Vec::with_capacity(numbers.len()), 0);
    for number in numbers {
        let Some(summary) = summary(connection, number, restored_at)? else { continue };
        if !filter.states.is_empty() && !filter.states.contains(&summary.view.effect.state) {
            continue;
        }
        bytes += weight(&summary.view.effect);
        items.push(summary);
        if bytes >= TEXTS_MAX_BYTES {
            next = Some(number);
            break;
        }
    }
    Ok(Page { items, next: next.map(cursor::of_number) })
}

/// The effects that the filter lets through by what is recorded, newest first, and below which number the next page starts.
fn numbers(
    connection: &Connection,
    filter: &EffectFilter,
    restored: bool,
    below: Option<i64>,
    limit: usize,
) -> rusqlite::Result<(Vec<i64>, Option<i64>)> {
    let mut states = filter.states.clone();
    if restored && states.contains(&EffectState::Unknown) && !states.contains(&EffectState::Failed) {
        // Of a job that goes on, a failed one is shown as unknown.
        states.push(EffectState::Failed);
    }
    let range = Range { first: i64::MIN, end: below.unwrap_or(i64::MAX) };
    let look = |table: &str, rows: &str, conditions: Conditions| {
        let question = Question { columns: "f.effect", table, number: "f.effect", rows, joins: JOINS, conditions };
        Stretch::look(connection, question, range, limit, |row| row.get(0).map(|number| (number, number)))
    };
    let conditions = || {
        let mut conditions = Conditions::default();
        conditions.of_sources("j.source", &Filter { sources: filter.sources.clone(), ..Filter::default() });
        conditions
    };
    let with_states = || {
        let mut conditions = conditions();
        // `+`: by number, not by an index that another order would have to be made of.
        conditions.one_of("+f.state", states.iter().map(|state| state.as_str()));
        conditions
    };
    let unsettled = |state: &EffectState| !matches!(state, EffectState::Done | EffectState::Failed);
    let stretches = if let Some(id) = &filter.resource_id {
        let mut conditions = with_states();
        if filter.alarmed {
            conditions.and("f.alarm IS NOT NULL");
        }
        if let Some(few) = of_resource(connection, id)? {
            return few_of(connection, few, conditions, range.end, limit);
        }
        // A resource that so many things made is no resource, but it is asked for.
        let id = conditions.bind(id.clone());
        conditions.and(format!(
            "(j.resource_id = {id} OR EXISTS
                 (SELECT 1 FROM effect_records r WHERE r.effect = f.effect AND r.resource_id = {id}))"
        ));
        vec![look("effects f", "", conditions)?]
    } else if filter.alarmed {
        vec![look("effects f INDEXED BY effects_alarm", "f.alarm IS NOT NULL", with_states())?]
    } else if !states.is_empty() && states.iter().all(unsettled) {
        let of_state = |state: &EffectState| {
            // The word is ours. Those of the index must stand there too, or it is not used.
            let rows = format!("f.state = '{}' AND f.state NOT IN ('done', 'failed')", state.as_str());
            look("effects f INDEXED BY effects_unsettled", &rows, conditions())
        };
        states.iter().map(of_state).collect::<rusqlite::Result<_>>()?
    } else {
        vec![look("effects f", "", with_states())?]
    };
    Ok(stretch::merge(stretches, limit))
}

/// The effects that made this resource, and those of jobs of which it is said; `None`: more than one look goes through.
fn of_resource(connection: &Connection, id: &str) -> rusqlite::Result<Option<Vec<i64>>> {
    let mut found = Vec::new();
    let selects = [
        "SELECT effect FROM effect_records WHERE resource_id = ?1 LIMIT ?2",
        "SELECT f.effect FROM jobs j CROSS JOIN effects f ON f.event = j.event WHERE j.resource_id = ?1 LIMIT ?2",
        "SELECT event FROM jobs WHERE resource_id = ?1 LIMIT ?2",
    ];
    for (place, sql) in selects.into_iter().enumerate().rev() {
        let numbers: Vec<i64> = connection
            .prepare_cached(sql)?
            .query_map((id, ROWS_MAX), |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        if numbers.len() as i64 == ROWS_MAX {
            return Ok(None);
        }
        // The last one only counts the jobs: they need not have effects.
        if place < 2 {
            found.extend(numbers);
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(Some(found))
}

/// Of these effects, by rising number, those below a number that the conditions let through.
fn few_of(
    connection: &Connection,
    few: Vec<i64>,
    mut conditions: Conditions,
    end: i64,
    limit: usize,
) -> rusqlite::Result<(Vec<i64>, Option<i64>)> {
    let filters = !conditions.is_empty();
    let number = conditions.bind(0_i64);
    conditions.and(format!("f.effect = {number}"));
    let sql = format!("SELECT f.effect FROM effects f {JOINS} WHERE {}", conditions.sql());
    let mut select = connection.prepare_cached(&sql)?;
    let mut values = conditions.into_values();
    let mut found = Vec::new();
    for number in few.into_iter().rev().filter(|number| *number < end) {
        if filters {
            if let Some(last) = values.last_mut() {
                *last = number.into();
            }
            if !select.exists(rusqlite::params_from_iter(&values))? {
                continue;
            }
        }
        if found.len() == limit {
            return Ok((found.clone(), found.last().copied()));
        }
        found.push(number);
    }
    Ok((found, None))
}

fn summary(
    connection: &Connection,
    number: i64,
    restored_at: Option<Timestamp>,
) -> rusqlite::Result<Option<EffectSummary>> {
    const KEPT: usize = 18;
    let sql = format!(
        "SELECT {}, s.name, e.id, f.event, {} FROM effects f {JOINS} WHERE f.effect = ?1",
        rows::COLUMNS,
        job_row::COLUMNS,
    );
    let read = |row: &Row<'_>| {
        let (kept, effect) = rows::effect(row)?;
        let (source, id) = (row::source(row.get_ref(KEPT)?.as_str()?)?, row.get(KEPT + 1)?);
        Ok((kept, effect, source, id, row.get(KEPT + 2)?, JobRow::of(row, KEPT + 3)?.job))
    };
    let found = connection.prepare_cached(&sql)?.query_row([number], read).optional()?;
    let Some((kept, mut effect, source, id, event, job)) = found else { return Ok(None) };
    effect.tries = rows::tries(connection, number)?;
    effect.records = rows::records(connection, number)?;
    let mut case = Case::new(job, vec![effect]);
    see(&mut case, restored_at);
    let view = case.effects.pop().map(|effect| view((kept, effect)));
    Ok(view.map(|view| EffectSummary { event: EventNumber(event), source, id, view }))
}

/// The latest effects of a job, newest first.
pub(in super::super) fn of_event(connection: &Connection, event: i64) -> rusqlite::Result<Vec<EffectView>> {
    // In the index alone: a run has a thousand at most.
    let mut numbers: Vec<i64> = connection
        .prepare_cached("SELECT effect FROM effects WHERE event = ?1")?
        .query_map([event], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    numbers.sort_unstable_by_key(|number| std::cmp::Reverse(*number));
    numbers.truncate(HISTORY_MAX);
    let restored_at = restored::restored_at(connection)?;
    let each = numbers.into_iter().map(|number| Ok(summary(connection, number, restored_at)?.map(|found| found.view)));
    each.filter_map(Result::transpose).collect()
}
