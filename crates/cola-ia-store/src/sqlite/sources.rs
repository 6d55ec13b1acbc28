//! How sources stand with those who work on their jobs: failures in a row, and pauses.

use std::collections::BTreeMap;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::Source;
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::Streak;
use cola_ia_core::store::{ErrorKind, OpId, SourceView, StoreError};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::ops::{Call, digest};
use super::reader::Sight;
use super::row;
use super::writer::Scope;
pub(super) use crate::common::signs::Signs;

/// Writes the streaks that changed, and pauses sources.
pub(super) trait Append {
    fn write(&self, connection: &Connection, at: Timestamp, pause_after: Option<u32>) -> rusqlite::Result<()>;
}

impl Append for Signs {
    fn write(&self, connection: &Connection, at: Timestamp, pause_after: Option<u32>) -> rusqlite::Result<()> {
        for (source, signs) in &self.by_source {
            let (before, paused) = connection
                .prepare_cached("SELECT class, count, since, event, paused_at FROM source_streaks WHERE source = ?1")?
                .query_row([source], |row| Ok((streak(row, 0)?, row::maybe_time(row, 4)?)))
                .optional()?
                .unwrap_or_default();
            let (streak, too_many) = Signs::after(before.clone(), signs, at, pause_after);
            let paused = paused.or(too_many.then_some(at));
            if streak != before || too_many {
                put(connection, *source, streak.as_ref(), paused)?;
            }
        }
        Ok(())
    }
}

fn put(
    connection: &Connection,
    source: i64,
    streak: Option<&Streak>,
    paused_at: Option<Timestamp>,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO source_streaks (source, class, count, since, event, paused_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (source) DO UPDATE SET class = excluded.class, count = excluded.count,
                 since = excluded.since, event = excluded.event, paused_at = excluded.paused_at",
        )?
        .execute(params![
            source,
            streak.map(|streak| &streak.class),
            streak.map_or(0, |streak| streak.count),
            streak.map(|streak| streak.since.as_micros()),
            streak.map(|streak| streak.event.0),
            paused_at.map(Timestamp::as_micros),
        ])?;
    Ok(())
}

/// From the columns class, count, since, event.
fn streak(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Streak>> {
    let Some(class) = row.get(first)? else { return Ok(None) };
    let (count, since) = (row.get(first + 1)?, row::time(row, first + 2)?);
    Ok(Some(Streak { class, count, since, event: EventNumber(row.get(first + 3)?) }))
}

/// See [`Store::sources`](cola_ia_core::store::Store::sources).
pub(super) fn sources(sight: &Sight<'_>, filter: &Filter, now: Timestamp) -> rusqlite::Result<Vec<SourceView>> {
    let mut expired: BTreeMap<i64, u64> = BTreeMap::new();
    let mut select = sight.connection.prepare_cached(
        "SELECT source, count(*) FROM jobs WHERE state = 'running' AND state NOT IN ('pending', 'done')
             AND lease_until <= ?1 GROUP BY source",
    )?;
    let mut rows = select.query([now.as_micros()])?;
    while let Some(row) = rows.next()? {
        expired.insert(row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs());
    }
    let mut select = sight.connection.prepare_cached(
        "SELECT s.source, s.name, k.class, k.count, k.since, k.event, k.paused_at,
             (SELECT min(j.due_at) FROM jobs j WHERE j.source = s.source AND j.state = 'pending')
         FROM sources s LEFT JOIN source_streaks k ON k.source = s.source ORDER BY s.name",
    )?;
    let mut rows = select.query([])?;
    let mut views = Vec::new();
    while let Some(row) = rows.next()? {
        let source = row::source(row.get_ref(1)?.as_str()?)?;
        if filter.takes_source(Some(&source)) {
            let expired = expired.get(&row.get(0)?).copied().unwrap_or(0);
            let (paused_at, due_at) = (row::maybe_time(row, 6)?, row::maybe_time(row, 7)?);
            views.push(SourceView { source, streak: streak(row, 2)?, paused_at, expired, due_at });
        }
    }
    Ok(views)
}

/// See [`Store::resume`](cola_ia_core::store::Store::resume).
pub(super) fn resume(scope: &Scope<'_>, op: OpId, source: &Source) -> Result<bool, StoreError> {
    let sqlite = |cause: rusqlite::Error| scope.error(&cause);
    let call = Call { op, verb: "resume", request: digest(&[source.as_str().as_bytes()]) };
    if let Some(mut first) = call.first_answer(scope)? {
        return first.take().map(|paused| paused != 0).map_err(sqlite);
    }
    let row: Option<i64> = scope
        .connection
        .prepare_cached("SELECT source FROM sources WHERE name = ?1")
        .and_then(|mut select| select.query_row([source.as_str()], |row| row.get(0)).optional())
        .map_err(sqlite)?;
    let row = row.ok_or_else(|| StoreError::new(ErrorKind::Invalid, "source_unknown").with("source", source))?;
    let ended = scope
        .connection
        .prepare_cached("DELETE FROM source_streaks WHERE source = ?1 AND paused_at IS NOT NULL")
        .and_then(|mut delete| delete.execute([row]))
        .map_err(sqlite)?;
    call.record(scope, scope.clock.now(), &[ended as i64])?;
    Ok(ended > 0)
}
