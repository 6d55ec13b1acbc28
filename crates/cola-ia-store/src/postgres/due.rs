//! Finding jobs that are due, the one that has been due longest first.
//!
//! An index has them by source, in the order in which they are due. Where somebody keeps an old snapshot open, leased jobs stay in
//! it as dead entries, before the first one that is pending; so the process remembers how far claims have come, and looks from
//! there. That is a hint: jobs become due before it (a clock elsewhere, an import), so once a second, and whenever there are too few,
//! everything is looked through.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::Source;

use super::claim::{Due, EVENT_COLUMNS, EVENT_JOINS};
use super::error::Fault;
use super::job_row;
use super::row::Columns as _;
use super::sql::params;
use super::tx::Tx;

/// How long it is relied on that nothing became due before the watermark.
const RELIED_ON: Duration = Duration::from_secs(1);

/// Jobs of a source that are looked at beyond those that are wanted: others may be leasing these just now.
const SPARE: usize = 32;
/// The same, where that was not enough.
const SPARE_MANY: usize = 4_096;

/// Of `sources s`: those that are claimed from.
const SOURCES: &str = "($1::text IS NULL OR s.name = $1) \
     AND s.source <> ALL (ARRAY(SELECT k.source FROM source_streaks k WHERE k.paused_at IS NOT NULL))";

/// What was found.
pub(super) struct Found {
    /// Locked jobs, the one that has been due longest first; maybe fewer than are due.
    pub(super) jobs: Vec<Due>,
    /// When the next one is due, where there is none now.
    pub(super) next: Option<Timestamp>,
}

/// Locks jobs that are due, of this source or of any, and reads them with what their workers get.
pub(super) async fn find(tx: &Tx, source: Option<&Source>, limit: usize) -> Result<Found, Fault> {
    let marks = &tx.shared.watermarks;
    let since = marks.since(source, tx.now);
    let (mut jobs, mut next) = (look(tx, source, since, limit, SPARE, &[]).await?, None);
    let is_short = jobs.len() < limit;
    if is_short && since.is_some() {
        let known: Vec<i64> = jobs.iter().map(Due::event).collect();
        jobs.extend(look(tx, source, None, limit - known.len(), SPARE_MANY, &known).await?);
        jobs.sort_unstable_by_key(Due::place);
    }
    if jobs.is_empty() {
        next = next_due(tx, source).await?;
        if next.is_some_and(|due| due <= tx.now) {
            // There are some: others had all that were looked at.
            jobs = look(tx, source, None, limit, SPARE_MANY, &[]).await?;
        }
    }
    let until = jobs.last().and_then(|last| last.place().0).filter(|_| jobs.len() >= limit);
    marks.put(source, tx.now, since.is_none() || is_short, until);
    Ok(Found { jobs, next })
}

/// Locks so many jobs that have been due since then, but for those that are known. What others have locked is passed over.
async fn look(
    tx: &Tx,
    source: Option<&Source>,
    since: Option<Timestamp>,
    limit: usize,
    spare: usize,
    known: &[i64],
) -> Result<Vec<Due>, Fault> {
    let (name, since) = (source.map(Source::as_str), since.map_or(i64::MIN, Timestamp::as_micros));
    let deep = limit.saturating_mul(2).saturating_add(spare) as i64;
    let wide = limit.saturating_add(SPARE_MANY) as i64;
    let rows =
        tx.query(&statement(), params![name, tx.now.as_micros(), since, deep, wide, limit as i64, known]).await?;
    let mut found = rows.iter().map(Due::of).collect::<Result<Vec<_>, _>>()?;
    found.sort_unstable_by_key(Due::place);
    Ok(found)
}

/// What [`look`] asks. `$1`: the source; `$2`: now; `$3`: since when; `$4`: how many of each source are looked at, `$5` of all;
/// `$6`: how many are locked; `$7`: but for these.
fn statement() -> String {
    // Candidates are not locked: of each source as many are read as are wanted of all. They are locked one after the other, and no
    // more than are wanted; that is a join by the key, which no plan can turn round. Whoever had one meanwhile has changed its row,
    // so what says that it is due is asked of the row that is locked.
    format!(
        "WITH taken AS MATERIALIZED (
             SELECT j.* FROM (
                 SELECT d.due_at, d.event FROM sources s CROSS JOIN LATERAL (
                     SELECT p.due_at, p.event FROM jobs p
                     WHERE p.state = 'pending' AND p.source = s.source AND p.due_at >= $3 AND p.due_at <= $2
                     ORDER BY p.due_at, p.event LIMIT $4) d
                 WHERE {SOURCES} ORDER BY d.due_at, d.event LIMIT $5) due
             CROSS JOIN LATERAL (
                 SELECT j.event, j.state, j.run, j.attempts, j.crashes, j.due_at, j.lease, j.lease_until, j.reason, j.leases,
                     j.source, j.resource_id
                 FROM jobs j WHERE j.event = due.event AND j.state = 'pending' AND j.due_at <= $2 AND j.event <> ALL($7)
                 FOR UPDATE SKIP LOCKED) j
             LIMIT $6)
         SELECT {}, {EVENT_COLUMNS} FROM taken j {EVENT_JOINS}",
        job_row::COLUMNS
    )
}

/// When the next job is due, of this source or of any.
async fn next_due(tx: &Tx, source: Option<&Source>) -> Result<Option<Timestamp>, Fault> {
    let sql = format!(
        "SELECT min(d.due_at) FROM sources s CROSS JOIN LATERAL (
             SELECT p.due_at FROM jobs p WHERE p.state = 'pending' AND p.source = s.source ORDER BY p.due_at, p.event LIMIT 1) d
         WHERE {SOURCES}"
    );
    tx.one(&sql, params![source.map(Source::as_str)]).await?.maybe_time(0)
}

/// How far claims have come, by what they ask for.
#[derive(Default)]
pub(super) struct Watermarks(Mutex<HashMap<Option<Source>, Watermark>>);

#[derive(Clone, Copy)]
struct Watermark {
    /// Everything that was due before it has been leased, as far as is known.
    until: Timestamp,
    /// When everything was looked through.
    looked: Timestamp,
}

/// Watermarks that are kept: beyond it all are found again.
const WATERMARKS_MAX: usize = 10_000;

impl Watermarks {
    /// From when on there is something to be found. `None`: everything is to be looked through.
    fn since(&self, source: Option<&Source>, now: Timestamp) -> Option<Timestamp> {
        let marks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Only while the clock goes forwards.
        let relied_on = |mark: &&Watermark| mark.looked <= now && now < mark.looked.after(RELIED_ON);
        marks.get(&source.cloned()).filter(relied_on).map(|mark| mark.until)
    }

    /// Claims have come so far. `None`: there was less than was wanted, and what comes next may be due at any time.
    fn put(&self, source: Option<&Source>, now: Timestamp, looked: bool, until: Option<Timestamp>) {
        let mut marks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = source.cloned();
        let Some(until) = until else {
            marks.remove(&key);
            return;
        };
        if marks.len() >= WATERMARKS_MAX && !marks.contains_key(&key) {
            marks.clear();
        }
        let mark = marks.entry(key).or_insert(Watermark { until, looked: now });
        mark.until = until;
        if looked {
            mark.looked = now;
        }
    }

    /// Jobs may have become due earlier.
    pub(super) fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests;
