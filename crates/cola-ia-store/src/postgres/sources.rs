//! How sources stand with those who work on their jobs: failures in a row, and pauses.

use std::collections::BTreeMap;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::Source;
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::Streak;
use cola_ia_core::store::{ErrorKind, OpId, SourceView, StoreError};
use tokio_postgres::Row;

use super::error::Fault;
use super::ops::Call;
use super::row::Columns as _;
use super::sql::{micros, params};
use super::tx::Tx;
use crate::common::digest::digest;
pub(super) use crate::common::signs::Signs;

impl Signs {
    /// Writes the streaks that changed, and pauses sources. Where all went well, and before too, nothing is written or locked:
    /// those who work on one source do not wait for each other.
    pub(super) async fn write(&self, tx: &Tx, pause_after: Option<u32>) -> Result<(), Fault> {
        if self.by_source.is_empty() {
            return Ok(());
        }
        let sources: Vec<i64> = self.by_source.keys().copied().collect();
        let select = "SELECT source, class, count, since, event, paused_at FROM source_streaks WHERE source = ANY($1)";
        let seen = standing(tx, select, &sources).await?;
        let changed: Vec<i64> = self
            .by_source
            .iter()
            .filter(|(source, signs)| {
                let (before, _) = seen.get(source).cloned().unwrap_or_default();
                let (after, too_many) = Signs::after(before.clone(), signs, tx.now, pause_after);
                after != before || too_many
            })
            .map(|(source, _)| *source)
            .collect();
        if changed.is_empty() {
            return Ok(());
        }
        // Those that change have a row from now on, which is locked, in order, and read again: somebody else may have changed it.
        tx.execute(
            "INSERT INTO source_streaks (source, count) SELECT unnest($1), 0 ON CONFLICT (source) DO NOTHING",
            params![changed],
        )
        .await?;
        let locked = standing(tx, &format!("{select} ORDER BY source FOR UPDATE"), &changed).await?;
        for source in changed {
            let (before, paused) = locked.get(&source).cloned().unwrap_or_default();
            let signs = self.by_source.get(&source).map_or(&[][..], |signs| signs);
            let (streak, too_many) = Signs::after(before, signs, tx.now, pause_after);
            let paused = paused.or(too_many.then_some(tx.now));
            put(tx, source, streak.as_ref(), paused).await?;
        }
        Ok(())
    }
}

type Standing = (Option<Streak>, Option<Timestamp>);

async fn standing(tx: &Tx, sql: &str, sources: &[i64]) -> Result<BTreeMap<i64, Standing>, Fault> {
    let rows = tx.query(sql, params![sources]).await?;
    rows.iter().map(|row| Ok((row.read(0)?, (streak(row, 1)?, row.maybe_time(5)?)))).collect()
}

async fn put(tx: &Tx, source: i64, streak: Option<&Streak>, paused_at: Option<Timestamp>) -> Result<(), Fault> {
    tx.execute(
        "UPDATE source_streaks SET class = $2, count = $3, since = $4, event = $5, paused_at = $6 WHERE source = $1",
        params![
            source,
            streak.map(|streak| streak.class.as_str()),
            streak.map_or(0, |streak| i64::from(streak.count)),
            micros(streak.map(|streak| streak.since)),
            streak.map(|streak| streak.event.0),
            micros(paused_at),
        ],
    )
    .await
    .map(drop)
}

/// From the columns class, count, since, event.
fn streak(row: &Row, first: usize) -> Result<Option<Streak>, Fault> {
    let Some(class) = row.read(first)? else { return Ok(None) };
    let (count, since) = (row.count(first + 1)?, row.time(first + 2)?);
    Ok(Some(Streak { class, count, since, event: EventNumber(row.read(first + 3)?) }))
}

/// See [`Store::sources`](cola_ia_core::store::Store::sources).
pub(super) async fn sources(tx: &Tx, filter: &Filter) -> Result<Vec<SourceView>, Fault> {
    let rows = tx
        .query(
            "SELECT s.name, k.class, k.count, k.since, k.event, k.paused_at,
                 (SELECT j.due_at FROM jobs j WHERE j.source = s.source AND j.state = 'pending' ORDER BY j.due_at LIMIT 1),
                 coalesce(x.expired, 0)
             FROM sources s LEFT JOIN source_streaks k ON k.source = s.source
                 LEFT JOIN (SELECT source, count(*) AS expired FROM jobs
                            WHERE state = 'running' AND state NOT IN ('pending', 'done') AND lease_until <= $1
                            GROUP BY source) x ON x.source = s.source
             ORDER BY s.name",
            params![tx.now.as_micros()],
        )
        .await?;
    let mut views = Vec::new();
    for row in &rows {
        let source = row.source(0)?;
        if filter.takes_source(Some(&source)) {
            let (paused_at, due_at, expired) = (row.maybe_time(5)?, row.maybe_time(6)?, row.count(7)?);
            views.push(SourceView { source, streak: streak(row, 1)?, paused_at, expired, due_at });
        }
    }
    Ok(views)
}

/// See [`Store::resume`](cola_ia_core::store::Store::resume).
pub(super) async fn resume(tx: &Tx, op: OpId, source: &Source) -> Result<bool, Fault> {
    let call = Call { op, verb: "resume", request: digest(&[source.as_str().as_bytes()]) };
    if let Some(mut first) = call.first_answer(tx).await? {
        return Ok(first.take()? != 0);
    }
    let row = tx
        .source(source.as_str())
        .await?
        .ok_or_else(|| StoreError::new(ErrorKind::Invalid, "source_unknown").with("source", source))?;
    let ended =
        tx.execute("DELETE FROM source_streaks WHERE source = $1 AND paused_at IS NOT NULL", params![row]).await?;
    call.record(tx, &[ended as i64]).await?;
    Ok(ended > 0)
}
