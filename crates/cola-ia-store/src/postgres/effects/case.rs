//! A job with its effects: read before a verb, written back after it.
//!
//! Whoever reads a case to change it has locked its job, and has read `has_effects` after that: all that belongs to a job is
//! guarded by that lock. Of jobs without effects nothing is read. Many cases are read and written in a few statements, and only
//! what is different is written.

use std::collections::HashMap;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{Case, Effect, EffectName, Ledger, Recorded, Try, effect_key};
use cola_ia_core::event::Source;
use cola_ia_core::job::{LeaseToken, Outcome, RetryPolicy};
use cola_ia_core::store::EffectView;

use super::super::error::Fault;
use super::super::job_row::{JobRow, Moves};
use super::super::restored;
use super::super::row::unexpected;
use super::super::sql::params;
use super::super::tx::Tx;
use super::rows::Asked;
pub(in super::super) use super::write::write_effects;
use crate::common::effect::{Kept, see, view};

/// Of which effects of a case the records are read: each may have a result of 64 KiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Records<'a> {
    /// Of none: the verb does not look at them.
    Leave,
    /// Of the ones with this name.
    Of(&'a EffectName),
    /// Of all.
    Bring,
}

/// A case, and what is needed to write back what becomes of it.
pub(in super::super) struct ReadCase {
    /// The job as it was read.
    pub(in super::super) row: JobRow,
    /// What the ledger changes.
    pub(in super::super) case: Case,
    pub(super) before: Vec<Effect>,
    /// By the places of the effects in the case.
    pub(in super::super) kept: Vec<Kept>,
    /// Read when it is needed.
    pub(super) identity: Option<Identity>,
}

/// What keys of effects are made of.
#[derive(Debug, Clone)]
pub(super) struct Identity {
    pub(super) namespace: [u8; 16],
    pub(super) source: Source,
    pub(super) id: String,
}

/// The jobs with the effects of their runs, sorted by name.
pub(in super::super) async fn read_cases(
    tx: &Tx,
    jobs: Vec<JobRow>,
    records: Records<'_>,
) -> Result<Vec<ReadCase>, Fault> {
    let (mut events, mut runs) = (Vec::new(), Vec::new());
    for job in jobs.iter().filter(|job| job.has_effects) {
        events.push(job.event);
        runs.push(i64::from(job.job.run));
    }
    of(tx, jobs, &events, &runs, records).await
}

/// The job with the effects of its run and of this one.
pub(in super::super) async fn of_run_and(
    tx: &Tx,
    job: JobRow,
    run: u32,
    records: Records<'_>,
) -> Result<ReadCase, Fault> {
    let (mut events, mut runs) = (Vec::new(), Vec::new());
    if job.has_effects {
        events.push(job.event);
        runs.push(i64::from(job.job.run));
        if run != job.job.run {
            events.push(job.event);
            runs.push(i64::from(run));
        }
    }
    let mut read = of(tx, vec![job], &events, &runs, records).await?;
    read.pop().ok_or_else(|| unexpected("case", "none"))
}

/// The jobs with the effects of all their runs.
pub(in super::super) async fn of_all_runs(tx: &Tx, jobs: Vec<JobRow>) -> Result<Vec<ReadCase>, Fault> {
    let events: Vec<i64> = jobs.iter().filter(|job| job.has_effects).map(|job| job.event).collect();
    if events.is_empty() {
        return Ok(assemble(jobs, Vec::new(), Vec::new(), Vec::new()));
    }
    read(tx, jobs, Asked::of_events(params![events]), Records::Leave).await
}

async fn of(
    tx: &Tx,
    jobs: Vec<JobRow>,
    events: &[i64],
    runs: &[i64],
    records: Records<'_>,
) -> Result<Vec<ReadCase>, Fault> {
    if events.is_empty() {
        return Ok(assemble(jobs, Vec::new(), Vec::new(), Vec::new()));
    }
    read(tx, jobs, Asked::of_runs(params![events, runs]), records).await
}

/// Everything is asked at once. Nobody changes it in between: the jobs are locked, or it is one consistent look.
async fn read(tx: &Tx, jobs: Vec<JobRow>, asked: Asked<'_>, records: Records<'_>) -> Result<Vec<ReadCase>, Fault> {
    let records = async {
        match records {
            Records::Leave => Ok(Vec::new()),
            Records::Of(name) => asked.records(tx, Some(name)).await,
            Records::Bring => asked.records(tx, None).await,
        }
    };
    let (effects, tries, records) = tokio::try_join!(asked.effects(tx), asked.tries(tx), records)?;
    Ok(assemble(jobs, effects, tries, records))
}

/// Cases in the order of the jobs, of effects that came in any order.
fn assemble(
    jobs: Vec<JobRow>,
    effects: Vec<(i64, Kept, Effect)>,
    tries: Vec<(i64, Try)>,
    records: Vec<(i64, Recorded)>,
) -> Vec<ReadCase> {
    let (mut tries_of, mut records_of) = (by_effect(tries), by_effect(records));
    let mut of_event: HashMap<i64, Vec<(Kept, Effect)>> = HashMap::new();
    for (event, kept, mut effect) in effects {
        effect.tries = tries_of.remove(&kept.row).unwrap_or_default();
        effect.records = records_of.remove(&kept.row).unwrap_or_default();
        of_event.entry(event).or_default().push((kept, effect));
    }
    let case = |row: JobRow| {
        let mut found = of_event.remove(&row.event).unwrap_or_default();
        found.sort_by(|(_, one), (_, other)| (one.run, one.name.as_str()).cmp(&(other.run, other.name.as_str())));
        let (kept, effects): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let before = effects.clone();
        ReadCase { case: Case::new(row.job.clone(), effects), row, before, kept, identity: None }
    };
    jobs.into_iter().map(case).collect()
}

fn by_effect<T>(rows: Vec<(i64, T)>) -> HashMap<i64, Vec<T>> {
    let mut by_effect: HashMap<i64, Vec<T>> = HashMap::new();
    for (effect, one) in rows {
        by_effect.entry(effect).or_default().push(one);
    }
    by_effect
}

/// How a case is decided now.
pub(in super::super) async fn ledger(tx: &Tx, at: Timestamp, policy: &RetryPolicy) -> Result<Ledger, Fault> {
    Ok(Ledger::new(at, restored::restored_at(tx).await?, *policy))
}

/// How these cases are decided now, if no verb begins an effect: without one, it says nothing that the store was restored.
pub(in super::super) async fn ledger_of(
    tx: &Tx,
    read: &[ReadCase],
    at: Timestamp,
    policy: &RetryPolicy,
) -> Result<Ledger, Fault> {
    if read.iter().all(|read| read.kept.is_empty()) {
        Ok(Ledger::new(at, None, *policy))
    } else {
        ledger(tx, at, policy).await
    }
}

/// Writes what a verb changed: effects, money, and where a job moved, the job and the end of its attempt with this outcome, which
/// [`Moves::write`] does. `attempt`: the lease of the verb and its attempt's row.
pub(in super::super) async fn write(
    tx: &Tx,
    read: &mut [ReadCase],
    moves: &mut Moves<'_>,
    attempt: Option<(LeaseToken, i64)>,
    outcome: Outcome,
) -> Result<(), Fault> {
    write_effects(tx, read, moves.at, &mut moves.sums, attempt).await?;
    for read in read.iter().filter(|read| read.case.job != read.row.job) {
        moves.put(&read.row, read.case.job.clone(), outcome);
    }
    Ok(())
}

/// The effects of each case as they are shown, in their places.
pub(in super::super) async fn views(tx: &Tx, read: Vec<ReadCase>) -> Result<Vec<Vec<EffectView>>, Fault> {
    if read.iter().all(|read| read.kept.is_empty()) {
        return Ok(read.iter().map(|_| Vec::new()).collect());
    }
    let restored_at = restored::restored_at(tx).await?;
    let one = |mut read: ReadCase| {
        see(&mut read.case, restored_at);
        read.kept.into_iter().zip(read.case.effects).map(view).collect()
    };
    Ok(read.into_iter().map(one).collect())
}

impl ReadCase {
    /// The place of an effect.
    pub(super) fn place(&self, run: u32, name: &EffectName) -> Option<usize> {
        self.case.effects.iter().position(|effect| effect.run == run && effect.name == *name)
    }

    /// The key of an effect of this job, recorded or not. It is known who the event is.
    pub(super) fn key(&self, run: u32, name: &EffectName) -> Result<String, Fault> {
        match self.place(run, name).and_then(|place| self.kept.get(place)) {
            Some(kept) => Ok(kept.key.clone()),
            None => self.new_key(run, name),
        }
    }

    /// The key of an effect that is not recorded.
    pub(super) fn new_key(&self, run: u32, name: &EffectName) -> Result<String, Fault> {
        let Some(Identity { namespace, source, id }) = &self.identity else {
            return Err(unexpected("event", &self.row.event.to_string()));
        };
        Ok(effect_key(namespace, source, id, run, name.as_str()))
    }

    /// Writes what the verb changed. For many cases: [`write()`].
    pub(in super::super) async fn write(
        &mut self,
        tx: &Tx,
        moves: &mut Moves<'_>,
        attempt: Option<(LeaseToken, i64)>,
        outcome: Outcome,
    ) -> Result<(), Fault> {
        write(tx, std::slice::from_mut(self), moves, attempt, outcome).await
    }

    /// Counts that the effect's recorded result goes to the attempt of this lease.
    pub(super) async fn count_replay(&mut self, tx: &Tx, place: usize, lease: LeaseToken) -> Result<(), Fault> {
        let kept = &mut self.kept[place];
        kept.replays = kept.replays.saturating_add(1);
        kept.replayed_to = Some(lease);
        tx.execute(
            "UPDATE effects SET replays = $2, replayed_to = $3 WHERE effect = $1",
            params![kept.row, i64::from(kept.replays), &lease.0[..]],
        )
        .await
        .map(drop)
    }

    /// Keeps what a sender or a person said of an effect.
    pub(super) async fn put_note(&self, tx: &Tx, run: u32, name: &EffectName, note: Option<&str>) -> Result<(), Fault> {
        if let (Some(note), Some(place)) = (note, self.place(run, name)) {
            tx.execute("UPDATE effects SET note = $2 WHERE effect = $1", params![self.kept[place].row, note]).await?;
        }
        Ok(())
    }

    /// The effects as they are shown, in their places. For many cases: [`views`].
    pub(in super::super) async fn into_views(self, tx: &Tx) -> Result<Vec<EffectView>, Fault> {
        Ok(views(tx, vec![self]).await?.pop().unwrap_or_default())
    }
}
