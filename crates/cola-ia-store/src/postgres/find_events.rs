//! One event with all that happened to its identity.

use std::collections::HashMap;

use cola_ia_core::event::{Fingerprint, Source};
use cola_ia_core::intake::DeliveryNumber;
use cola_ia_core::store::{
    ConflictView, DecisionView, DeliveryView, EventHistory, HISTORY_MAX, PrunedDeliveries, RevisionView,
};
use tokio_postgres::Row;

use super::accept::verdict;
use super::conflicts::decision;
use super::error::Fault;
use super::row::{Columns as _, unexpected};
use super::sql::params;
use super::tx::Tx;
use super::{attempts, effects, preview, summary};

/// See [`Store::find_events`](cola_ia_core::store::Store::find_events).
pub(super) async fn find_events(tx: &Tx, source: Option<&Source>, id: &str) -> Result<Vec<EventHistory>, Fault> {
    let sources: Vec<String> = match source {
        Some(source) => vec![source.as_str().to_owned()],
        None => {
            let rows = tx.query("SELECT name FROM sources ORDER BY name", params![]).await?;
            rows.iter().map(|row| row.read(0)).collect::<Result<_, _>>()?
        }
    };
    let mut found = Vec::new();
    for source in sources {
        if let Some(event) = preview::find(tx, &source, id).await? {
            found.push(history(tx, event).await?);
        }
    }
    Ok(found)
}

async fn history(tx: &Tx, event: i64) -> Result<EventHistory, Fault> {
    let columns = summary::COLUMNS_LEN;
    let sql = format!(
        "SELECT {}, e.fingerprint, e.text, j.changed_at, CASE j.state WHEN 'running' THEN j.worker END, j.result,
             (SELECT count(*) FROM deliveries d WHERE d.event = $1)
                 - (SELECT coalesce(sum(c.count), 0)::bigint FROM conflicts c WHERE c.event = $1)
         FROM jobs j {} WHERE j.event = $1",
        summary::COLUMNS,
        summary::JOINS,
    );
    let row = tx.one(&sql, params![event]).await?;
    let job = summary::of(&row)?;
    let entered = RevisionView {
        number: 1,
        fingerprint: Fingerprint(row.bytes(columns)?),
        accepted_at: job.received_at,
        conflict: None,
        text: row.read(columns + 1)?,
    };
    let (newest, revisions) = revisions(tx, event, entered).await?;
    let pruned = pruned(tx, event).await?;
    // What did not make the event and is no conflict is a duplicate.
    let duplicates: i64 = row.read(columns + 5)?;
    Ok(EventHistory {
        job,
        fingerprint: newest.fingerprint,
        text: newest.text,
        revision: newest.number,
        changed_at: row.maybe_time(columns + 2)?,
        worker: row.read(columns + 3)?,
        result: row.read(columns + 4)?,
        duplicates: duplicates.max(0) as u64 + pruned.map_or(0, |pruned| pruned.count),
        pruned,
        revisions,
        conflicts: conflicts(tx, event).await?,
        deliveries: deliveries(tx, event).await?,
        attempts: attempts::of_event(tx, event).await?,
        effects: effects::list::of_event(tx, event, HISTORY_MAX).await?,
    })
}

/// The newest revision, and the ones before it.
async fn revisions(tx: &Tx, event: i64, entered: RevisionView) -> Result<(RevisionView, Vec<RevisionView>), Fault> {
    let read = |row: &Row| -> Result<RevisionView, Fault> {
        Ok(RevisionView {
            number: row.count(0)?,
            fingerprint: Fingerprint(row.bytes(1)?),
            accepted_at: row.time(2)?,
            conflict: Some(row.count(3)?),
            text: row.read(4)?,
        })
    };
    let columns = "SELECT number, fingerprint, accepted_at, conflict, text FROM revisions WHERE event = $1";
    let newest = tx.maybe(&format!("{columns} ORDER BY number DESC LIMIT 1"), params![event]).await?;
    let Some(newest) = newest else { return Ok((entered, Vec::new())) };
    let newest = read(&newest)?;
    let mut before = vec![entered];
    let sql = format!("{columns} AND number < $2 ORDER BY number LIMIT {}", HISTORY_MAX - 1);
    for row in tx.query(&sql, params![event, i64::from(newest.number)]).await? {
        before.push(read(&row)?);
    }
    Ok((newest, before))
}

async fn pruned(tx: &Tx, event: i64) -> Result<Option<PrunedDeliveries>, Fault> {
    let sql = "SELECT count, first_at, last_at FROM pruned_deliveries WHERE event = $1";
    let Some(row) = tx.maybe(sql, params![event]).await? else { return Ok(None) };
    Ok(Some(PrunedDeliveries { count: row.count(0)?, first_at: row.time(1)?, last_at: row.time(2)? }))
}

async fn conflicts(tx: &Tx, event: i64) -> Result<Vec<ConflictView>, Fault> {
    let sql = format!(
        "SELECT number, fingerprint, text, count, first_at, last_at FROM conflicts
         WHERE event = $1 ORDER BY number LIMIT {HISTORY_MAX}"
    );
    let mut decisions = decisions(tx, event).await?;
    let rows = tx.query(&sql, params![event]).await?;
    let view = |row: &Row| {
        let number = row.count(0)?;
        Ok(ConflictView {
            number,
            fingerprint: Fingerprint(row.bytes(1)?),
            text: row.read(2)?,
            count: row.count(3)?,
            first_at: row.time(4)?,
            last_at: row.time(5)?,
            decisions: decisions.remove(&number).unwrap_or_default(),
        })
    };
    rows.iter().map(view).collect()
}

/// The first decisions of each conflict, oldest first.
async fn decisions(tx: &Tx, event: i64) -> Result<HashMap<u32, Vec<DecisionView>>, Fault> {
    let sql = format!(
        "SELECT conflict, decision, decided_at, note, entered FROM decisions
         WHERE event = $1 AND number <= {HISTORY_MAX} ORDER BY conflict, number"
    );
    let mut by_conflict: HashMap<u32, Vec<DecisionView>> = HashMap::new();
    for row in tx.query(&sql, params![event]).await? {
        let view = decision(&row, 1)?.ok_or_else(|| unexpected("decision", "none"))?;
        by_conflict.entry(row.count(0)?).or_default().push(view);
    }
    Ok(by_conflict)
}

async fn deliveries(tx: &Tx, event: i64) -> Result<Vec<DeliveryView>, Fault> {
    let sql = format!(
        "SELECT seq, verdict, received_at, time, conflict, origin, replayed FROM deliveries
         WHERE event = $1 ORDER BY seq DESC LIMIT {HISTORY_MAX}"
    );
    let view = |row: &Row| {
        Ok(DeliveryView {
            number: DeliveryNumber(row.read(0)?),
            verdict: verdict(row, 1)?,
            received_at: row.time(2)?,
            time: row.maybe_time(3)?,
            conflict: row.maybe_count(4)?,
            origin: row.read(5)?,
            replayed: row.read::<Option<bool>>(6)?.unwrap_or_default(),
        })
    };
    tx.query(&sql, params![event]).await?.iter().map(view).collect()
}
