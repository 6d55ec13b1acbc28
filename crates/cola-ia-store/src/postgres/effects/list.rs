//! Effects as a list, and those of one job.

use std::collections::HashMap;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{Case, EffectState, Recorded};
use cola_ia_core::event::Source;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::store::{EffectFilter, EffectSummary, EffectView, Page, TEXTS_MAX_BYTES};

use super::super::error::Fault;
use super::super::job_row::{self, JobRow};
use super::super::restored;
use super::super::row::Columns as _;
use super::super::sql::params;
use super::super::tx::Tx;
use super::rows::{self, Asked};
use crate::common::cursor;
use crate::common::effect::{Kept, see, view};
use crate::common::stretch::{ROWS_MAX, Stretch, merge};

/// See [`Store::effect_list`](cola_ia_core::store::Store::effect_list).
pub(in super::super) async fn list(
    tx: &Tx,
    filter: &EffectFilter,
    below: Option<i64>,
    limit: u32,
) -> Result<Page<EffectSummary>, Fault> {
    let limit = limit.clamp(1, 1_000) as usize;
    let restored_at = restored::restored_at(tx).await?;
    let looked = Looked::of(tx, filter, restored_at.is_some(), below).await?;
    let (numbers, mut next) = looked.numbers(tx, filter, limit).await?;
    let mut found = seen(tx, &numbers, restored_at).await?;
    found.retain(|found| filter.states.is_empty() || filter.states.contains(&found.case.effects[0].state));
    if found.is_empty() {
        return Ok(Page { items: Vec::new(), next: next.map(cursor::of_number) });
    }
    if let Some(last) = last_that_fits(tx, &found).await? {
        next = Some(found[last].kept.row);
        found.truncate(last + 1);
    }
    Ok(Page { items: summaries(tx, found).await?, next: next.map(cursor::of_number) })
}

/// The latest effects of a job, newest first.
pub(in super::super) async fn of_event(tx: &Tx, event: i64, limit: usize) -> Result<Vec<EffectView>, Fault> {
    // By number behind the index: a run has a thousand at most.
    let rows = tx
        .query(
            "SELECT effect FROM effects WHERE event = $1 ORDER BY effect DESC LIMIT $2",
            params![event, i64::try_from(limit).unwrap_or(i64::MAX)],
        )
        .await?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let numbers = rows.iter().map(|row| row.read(0)).collect::<Result<Vec<i64>, Fault>>()?;
    let found = seen(tx, &numbers, restored::restored_at(tx).await?).await?;
    Ok(summaries(tx, found).await?.into_iter().map(|summary| summary.view).collect())
}

/// What a list is asked, in rows.
struct Looked {
    /// Rows of the sources; `None`: of all.
    sources: Option<Vec<i64>>,
    states: Vec<EffectState>,
    end: i64,
}

impl Looked {
    async fn of(tx: &Tx, filter: &EffectFilter, restored: bool, below: Option<i64>) -> Result<Self, Fault> {
        let mut states = filter.states.clone();
        if restored && states.contains(&EffectState::Unknown) && !states.contains(&EffectState::Failed) {
            // Of a job that goes on, a failed one is shown as unknown.
            states.push(EffectState::Failed);
        }
        let names: Vec<&str> = filter.sources.iter().map(Source::as_str).collect();
        let sources = match &names[..] {
            [] => None,
            some => Some(tx.sources(some).await?.into_values().collect()),
        };
        Ok(Self { sources, states, end: below.unwrap_or(i64::MAX) })
    }

    /// The effects that the filter lets through by what is recorded, newest first, and below which number the next page starts.
    async fn numbers(&self, tx: &Tx, filter: &EffectFilter, limit: usize) -> Result<(Vec<i64>, Option<i64>), Fault> {
        let words: Vec<&str> = self.states.iter().map(|state| state.as_str()).collect();
        let unsettled = |state: &EffectState| !matches!(state, EffectState::Done | EffectState::Failed);
        let mut stretches = Vec::new();
        if let Some(id) = &filter.resource_id {
            let alarmed = if filter.alarmed { "f.alarm IS NOT NULL" } else { "true" };
            let few = of_resource(tx, id).await?;
            // A resource that so many things made is no resource, but it is asked for.
            let resource = few.is_none().then_some(&id[..]);
            stretches.push(self.look(tx, alarmed, few, &words, resource, limit).await?);
        } else if filter.alarmed {
            stretches.push(self.look(tx, "f.alarm IS NOT NULL", None, &words, None, limit).await?);
        } else if !self.states.is_empty() && self.states.iter().all(unsettled) {
            for state in &self.states {
                // The word is ours. Those of the index must stand there too, or it is not used.
                let rows = format!("f.state = '{}' AND f.state NOT IN ('done', 'failed')", state.as_str());
                stretches.push(self.look(tx, &rows, None, &[], None, limit).await?);
            }
        } else {
            stretches.push(self.look(tx, "true", None, &words, None, limit).await?);
        }
        Ok(merge(stretches, limit))
    }

    /// Looks down the effects of an index (`rows` is its condition) or the few that are given: at [`ROWS_MAX`] of them.
    async fn look(
        &self,
        tx: &Tx,
        rows: &str,
        few: Option<Vec<i64>>,
        states: &[&str],
        resource: Option<&str>,
        limit: usize,
    ) -> Result<Stretch<i64>, Fault> {
        let filters = self.sources.is_some() || !states.is_empty() || resource.is_some();
        let floor = if filters && few.is_none() {
            let sql = format!(
                "SELECT f.effect FROM effects f WHERE {rows} AND f.effect < $1
                 ORDER BY f.effect DESC LIMIT 1 OFFSET {}",
                ROWS_MAX - 1,
            );
            tx.maybe(&sql, params![self.end]).await?.map(|row| row.read(0)).transpose()?
        } else {
            None
        };
        let mut conditions = vec![rows.to_owned()];
        // Of jobs row by row: a join might read them all.
        let asked = [
            (few.is_some(), "f.effect = ANY($3)"),
            (self.sources.is_some(), "(SELECT j.source FROM jobs j WHERE j.event = f.event) = ANY($4)"),
            (!states.is_empty(), "f.state = ANY($5)"),
            (
                resource.is_some(),
                "(SELECT j.resource_id FROM jobs j WHERE j.event = f.event) = $6
                 OR EXISTS (SELECT 1 FROM effect_records r WHERE r.effect = f.effect AND r.resource_id = $6)",
            ),
        ];
        conditions.extend(asked.iter().filter(|(is, _)| *is).map(|(_, sql)| (*sql).to_owned()));
        let sql = format!(
            "SELECT f.effect FROM effects f
             WHERE f.effect < $1 AND f.effect >= $2 AND ({}) ORDER BY f.effect DESC LIMIT {}",
            conditions.join(") AND ("),
            // One more than is given tells whether another page follows.
            limit + 1,
        );
        let (few, sources) = (few.unwrap_or_default(), self.sources.clone().unwrap_or_default());
        let found = tx
            .query(&sql, params![self.end, floor.unwrap_or(i64::MIN), few, sources, states, resource])
            .await?
            .iter()
            .map(|row| row.read(0).map(|number| (number, number)))
            .collect::<Result<_, _>>()?;
        Ok(Stretch::new(found, limit, floor))
    }
}

/// The effects that made this resource, and those of jobs of which it is said; `None`: more than one look goes through.
async fn of_resource(tx: &Tx, id: &str) -> Result<Option<Vec<i64>>, Fault> {
    let mut found = Vec::new();
    if id.contains('\0') {
        // No text here has it, and the server would not even be asked.
        return Ok(Some(found));
    }
    let selects = [
        // Only counted: these jobs need not have effects.
        (false, "SELECT event FROM jobs WHERE resource_id = $1 LIMIT $2"),
        (true, "SELECT f.effect FROM jobs j JOIN effects f ON f.event = j.event WHERE j.resource_id = $1 LIMIT $2"),
        (true, "SELECT effect FROM effect_records WHERE resource_id = $1 LIMIT $2"),
    ];
    for (are_effects, sql) in selects {
        let rows = tx.query(sql, params![id, ROWS_MAX]).await?;
        if rows.len() as i64 == ROWS_MAX {
            return Ok(None);
        }
        if are_effects {
            for row in &rows {
                found.push(row.read(0)?);
            }
        }
    }
    Ok(Some(found))
}

/// An effect with its job, as it is seen, without what it made.
struct Found {
    event: i64,
    source: Source,
    id: String,
    kept: Kept,
    /// With this effect alone.
    case: Case,
}

/// These effects, in this order. Those that are gone are left out; where damage took an event or a source, its effect is an
/// error.
async fn seen(tx: &Tx, numbers: &[i64], restored_at: Option<Timestamp>) -> Result<Vec<Found>, Fault> {
    const KEPT: usize = rows::COLUMNS_LEN;
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT {}, s.name, e.id, f.event, {}
         FROM unnest($1) WITH ORDINALITY AS asked (effect, place) JOIN effects f ON f.effect = asked.effect
         LEFT JOIN jobs j ON j.event = f.event LEFT JOIN events e ON e.seq = f.event
         LEFT JOIN sources s ON s.source = e.source ORDER BY asked.place",
        rows::COLUMNS,
        job_row::COLUMNS,
    );
    let mut found = Vec::new();
    for row in tx.query(&sql, params![numbers]).await? {
        let (kept, effect) = rows::effect(&row)?;
        let job = JobRow::of(&row, KEPT + 3)?.job;
        found.push(Found {
            event: row.read(KEPT + 2)?,
            source: row.source(KEPT)?,
            id: row.read(KEPT + 1)?,
            kept,
            case: Case::new(job, vec![effect]),
        });
    }
    let mut places: HashMap<i64, usize> = HashMap::new();
    for (place, found) in found.iter().enumerate() {
        places.insert(found.kept.row, place);
    }
    for (effect, one) in Asked::of_numbers(params![numbers]).tries(tx).await? {
        if let Some(place) = places.get(&effect) {
            found[*place].case.effects[0].tries.push(one);
        }
    }
    for found in &mut found {
        see(&mut found.case, restored_at);
    }
    Ok(found)
}

/// The place of the effect with whose results a page is full, if it is.
async fn last_that_fits(tx: &Tx, found: &[Found]) -> Result<Option<usize>, Fault> {
    let effects: Vec<i64> = found.iter().map(|found| found.kept.row).collect();
    let rows = tx
        .query(
            "SELECT effect, sum(octet_length(result))::bigint FROM effect_records
             WHERE effect = ANY($1) AND result IS NOT NULL GROUP BY effect",
            params![effects],
        )
        .await?;
    let mut weights = HashMap::new();
    for row in rows {
        weights.insert(row.read::<i64>(0)?, row.count::<usize>(1)?);
    }
    let mut bytes = 0;
    Ok(effects.iter().position(|effect| {
        bytes += weights.get(effect).copied().unwrap_or_default();
        bytes >= TEXTS_MAX_BYTES
    }))
}

/// The same with what they made.
async fn summaries(tx: &Tx, found: Vec<Found>) -> Result<Vec<EffectSummary>, Fault> {
    let numbers: Vec<i64> = found.iter().map(|found| found.kept.row).collect();
    let mut records: HashMap<i64, Vec<Recorded>> = HashMap::new();
    for (effect, record) in Asked::of_numbers(params![numbers]).records(tx, None).await? {
        records.entry(effect).or_default().push(record);
    }
    let summary = |Found { event, source, id, kept, mut case }: Found| {
        let mut effect = case.effects.pop()?;
        effect.records = records.remove(&kept.row).unwrap_or_default();
        Some(EffectSummary { event: EventNumber(event), source, id, view: view((kept, effect)) })
    };
    Ok(found.into_iter().filter_map(summary).collect())
}
