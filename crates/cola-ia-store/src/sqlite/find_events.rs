//! One event with all that happened to its identity.

use cola_ia_core::event::{Fingerprint, Source};
use cola_ia_core::intake::{DeliveryNumber, EventNumber};
use cola_ia_core::store::{
    ConflictView, DecisionKind, DecisionView, DeliveryView, EventHistory, HISTORY_MAX, PrunedDeliveries, RevisionView,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::reader::Sight;
use super::{accept, attempts, effects, preview, row};

/// See [`Store::find_events`](cola_ia_core::store::Store::find_events).
pub(super) fn find_events(sight: &Sight<'_>, source: Option<&Source>, id: &str) -> rusqlite::Result<Vec<EventHistory>> {
    let sources: Vec<String> = match source {
        Some(source) => vec![source.as_str().to_owned()],
        None => sight
            .connection
            .prepare_cached("SELECT name FROM sources ORDER BY name")?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?,
    };
    let mut found = Vec::new();
    for source in sources {
        if let Some(event) = preview::find(sight, &source, id)? {
            found.push(history(sight.connection, event)?);
        }
    }
    Ok(found)
}

fn history(connection: &Connection, event: i64) -> rusqlite::Result<EventHistory> {
    let columns = row::JOB_COLUMNS_LEN;
    let sql = format!(
        "SELECT {}, e.fingerprint, e.text, j.changed_at, CASE j.state WHEN 'running' THEN j.worker END, j.result
         FROM jobs j {} WHERE j.event = ?1",
        row::JOB_COLUMNS,
        row::JOB_JOINS,
    );
    let mut history = connection.prepare_cached(&sql)?.query_row([event], |row| {
        Ok(EventHistory {
            job: row::job(row)?,
            fingerprint: Fingerprint(row.get(columns)?),
            text: row.get(columns + 1)?,
            revision: 1,
            changed_at: row::maybe_time(row, columns + 2)?,
            worker: row.get(columns + 3)?,
            result: row.get(columns + 4)?,
            duplicates: 0,
            pruned: None,
            revisions: Vec::new(),
            conflicts: Vec::new(),
            deliveries: Vec::new(),
            attempts: Vec::new(),
            effects: Vec::new(),
        })
    })?;
    let (accepted_at, text) = (history.job.received_at, history.text.take());
    let entered = RevisionView { number: 1, fingerprint: history.fingerprint, accepted_at, conflict: None, text };
    let (newest, before) = revisions(connection, event, entered)?;
    history.revision = newest.number;
    history.fingerprint = newest.fingerprint;
    history.text = newest.text;
    history.revisions = before;
    // Counted in the index alone: an id that somebody sends a million times has a million rows. What did not make the event
    // and is no conflict is a duplicate.
    let duplicates: i64 = connection
        .prepare_cached(
            "SELECT (SELECT count(*) FROM deliveries WHERE event = ?1)
                  - (SELECT coalesce(sum(count), 0) FROM conflicts WHERE event = ?1)",
        )?
        .query_row([event], |row| row.get(0))?;
    history.pruned = pruned(connection, event)?;
    history.duplicates = duplicates.max(0) as u64 + history.pruned.map_or(0, |pruned| pruned.count);
    history.conflicts = conflicts(connection, event)?;
    history.deliveries = deliveries(connection, event)?;
    history.attempts = attempts::of_event(connection, event)?;
    history.effects = effects::list::of_event(connection, event)?;
    Ok(history)
}

/// The newest revision, and the ones before it.
fn revisions(
    connection: &Connection,
    event: i64,
    entered: RevisionView,
) -> rusqlite::Result<(RevisionView, Vec<RevisionView>)> {
    let read = |row: &Row<'_>| {
        Ok(RevisionView {
            number: row.get(0)?,
            fingerprint: Fingerprint(row.get(1)?),
            accepted_at: row::time(row, 2)?,
            conflict: Some(row.get(3)?),
            text: row.get(4)?,
        })
    };
    let newest = connection
        .prepare_cached(
            "SELECT number, fingerprint, accepted_at, conflict, text FROM revisions
             WHERE event = ?1 ORDER BY number DESC LIMIT 1",
        )?
        .query_row([event], read)
        .optional()?;
    let Some(newest) = newest else { return Ok((entered, Vec::new())) };
    let mut before = vec![entered];
    let mut select = connection.prepare_cached(
        "SELECT number, fingerprint, accepted_at, conflict, text FROM revisions
         WHERE event = ?1 AND number < ?2 ORDER BY number LIMIT ?3",
    )?;
    for revision in select.query_map(params![event, newest.number, HISTORY_MAX as i64 - 1], read)? {
        before.push(revision?);
    }
    Ok((newest, before))
}

fn pruned(connection: &Connection, event: i64) -> rusqlite::Result<Option<PrunedDeliveries>> {
    connection
        .prepare_cached("SELECT count, first_at, last_at FROM pruned_deliveries WHERE event = ?1")?
        .query_row([event], |row| {
            Ok(PrunedDeliveries {
                count: row.get::<_, i64>(0)? as u64,
                first_at: row::time(row, 1)?,
                last_at: row::time(row, 2)?,
            })
        })
        .optional()
}

fn conflicts(connection: &Connection, event: i64) -> rusqlite::Result<Vec<ConflictView>> {
    connection
        .prepare_cached(
            "SELECT number, fingerprint, text, count, first_at, last_at, decision, decided_at, note FROM conflicts
             WHERE event = ?1 ORDER BY number LIMIT ?2",
        )?
        .query_map((event, HISTORY_MAX as i64), |row| {
            let number = row.get(0)?;
            Ok(ConflictView {
                number,
                fingerprint: Fingerprint(row.get(1)?),
                text: row.get(2)?,
                count: row.get::<_, i64>(3)? as u64,
                first_at: row::time(row, 4)?,
                last_at: row::time(row, 5)?,
                decisions: decisions(connection, event, number)?,
            })
        })?
        .collect()
}

fn decisions(connection: &Connection, event: i64, conflict: u32) -> rusqlite::Result<Vec<DecisionView>> {
    connection
        .prepare_cached(
            "SELECT decision, decided_at, note, entered FROM decisions
             WHERE event = ?1 AND conflict = ?2 ORDER BY number LIMIT ?3",
        )?
        .query_map(params![event, conflict, HISTORY_MAX as i64], |row| {
            let word = row.get_ref(0)?.as_str()?;
            Ok(DecisionView {
                kind: DecisionKind::from_word(word).ok_or_else(|| row::unexpected("decision", word))?,
                decided_at: row::time(row, 1)?,
                note: row.get(2)?,
                entered: row.get::<_, Option<i64>>(3)?.map(EventNumber),
            })
        })?
        .collect()
}

fn deliveries(connection: &Connection, event: i64) -> rusqlite::Result<Vec<DeliveryView>> {
    connection
        .prepare_cached(
            "SELECT seq, verdict, received_at, time, conflict, origin, replayed FROM deliveries
             WHERE event = ?1 ORDER BY seq DESC LIMIT ?2",
        )?
        .query_map((event, HISTORY_MAX as i64), |row| {
            Ok(DeliveryView {
                number: DeliveryNumber(row.get(0)?),
                verdict: accept::verdict_of(row.get_ref(1)?.as_str()?)?,
                received_at: row::time(row, 2)?,
                time: row::maybe_time(row, 3)?,
                conflict: row.get(4)?,
                origin: row.get(5)?,
                replayed: row.get::<_, Option<bool>>(6)?.unwrap_or_default(),
            })
        })?
        .collect()
}
