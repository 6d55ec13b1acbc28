//! A job with its effects: read before a verb, written back after it.
//!
//! Effects are read by their keys, one after the other: a run has one or two, and asking SQLite once more costs less than a
//! join. Of a job without effects nothing is read: its row says that there are none. Only what is different is written.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{
    Alarm, Case, Effect, EffectName, Ledger, Micros, Reason, Recorded, Try, TryOutcome, effect_key,
};
use cola_ia_core::job::{LeaseToken, Outcome, RetryPolicy};
use cola_ia_core::store::EffectView;
use rusqlite::{CachedStatement, Connection, params};

use super::super::job_row::{JobRow, Moves};
use super::super::sums::Sums;
use super::super::{restored, row};
use super::rows;
use crate::common::effect::{Kept, kept_span, moved, see, view};

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

/// Reads cases.
pub(in super::super) struct Cases<'c> {
    connection: &'c Connection,
    /// Prepared for the first job that has effects.
    of_run: Option<CachedStatement<'c>>,
}

/// A case, and what is needed to write back what becomes of it.
pub(in super::super) struct ReadCase<'c> {
    connection: &'c Connection,
    /// The job as it was read.
    pub(in super::super) row: JobRow,
    /// What the ledger changes.
    pub(in super::super) case: Case,
    before: Vec<Effect>,
    /// By the places of the effects in the case.
    pub(in super::super) kept: Vec<Kept>,
}

impl<'c> Cases<'c> {
    pub(in super::super) fn new(connection: &'c Connection) -> Self {
        Self { connection, of_run: None }
    }

    /// The job with the effects of its run, sorted by name.
    pub(in super::super) fn of_run(&mut self, row: JobRow, records: Records<'_>) -> rusqlite::Result<ReadCase<'c>> {
        let run = row.job.run;
        self.of_run_and(row, run, records)
    }

    /// The job with the effects of its run and of this one.
    pub(in super::super) fn of_run_and(
        &mut self,
        row: JobRow,
        run: u32,
        records: Records<'_>,
    ) -> rusqlite::Result<ReadCase<'c>> {
        if !row.has_effects {
            return ReadCase::of(self.connection, row, Vec::new(), records);
        }
        let select = match &mut self.of_run {
            Some(select) => select,
            none => none.insert(self.connection.prepare_cached(&format!(
                "SELECT {} FROM effects f WHERE f.event = ?1 AND f.run = ?2 ORDER BY f.name",
                rows::COLUMNS
            ))?),
        };
        let mut found: Vec<(Kept, Effect)> =
            select.query_map((row.event, row.job.run), rows::effect)?.collect::<rusqlite::Result<_>>()?;
        if run != row.job.run {
            for other in select.query_map((row.event, run), rows::effect)? {
                found.push(other?);
            }
        }
        ReadCase::of(self.connection, row, found, records)
    }

    /// The job with the effects of all its runs.
    pub(in super::super) fn of_all_runs(&mut self, row: JobRow) -> rusqlite::Result<ReadCase<'c>> {
        let found = if row.has_effects {
            self.connection
                .prepare_cached(&format!("SELECT {} FROM effects f WHERE f.event = ?1", rows::COLUMNS))?
                .query_map([row.event], rows::effect)?
                .collect::<rusqlite::Result<_>>()?
        } else {
            Vec::new()
        };
        ReadCase::of(self.connection, row, found, Records::Leave)
    }

    /// How a case is decided now.
    pub(in super::super) fn ledger(&self, at: Timestamp, policy: &RetryPolicy) -> rusqlite::Result<Ledger> {
        Ok(Ledger::new(at, restored::restored_at(self.connection)?, *policy))
    }

    /// How this case is decided now, if no verb begins an effect: without one, it says nothing that the store was restored.
    pub(in super::super) fn ledger_of(
        &self,
        read: &ReadCase<'_>,
        at: Timestamp,
        policy: &RetryPolicy,
    ) -> rusqlite::Result<Ledger> {
        if read.kept.is_empty() { Ok(Ledger::new(at, None, *policy)) } else { self.ledger(at, policy) }
    }
}

impl<'c> ReadCase<'c> {
    pub(super) fn of(
        connection: &'c Connection,
        row: JobRow,
        found: Vec<(Kept, Effect)>,
        records: Records<'_>,
    ) -> rusqlite::Result<Self> {
        let (mut kept, mut effects) = (Vec::with_capacity(found.len()), Vec::with_capacity(found.len()));
        for (known, mut effect) in found {
            effect.tries = rows::tries(connection, known.row)?;
            let wanted = match records {
                Records::Leave => false,
                Records::Of(name) => effect.name == *name,
                Records::Bring => true,
            };
            if wanted {
                effect.records = rows::records(connection, known.row)?;
            }
            kept.push(known);
            effects.push(effect);
        }
        let before = effects.clone();
        Ok(Self { connection, case: Case::new(row.job.clone(), effects), row, before, kept })
    }

    /// The place of an effect.
    pub(super) fn place(&self, run: u32, name: &EffectName) -> Option<usize> {
        self.case.effects.iter().position(|effect| effect.run == run && effect.name == *name)
    }

    /// The effects as they are shown, in their places.
    pub(in super::super) fn into_views(mut self, connection: &Connection) -> rusqlite::Result<Vec<EffectView>> {
        if self.kept.is_empty() {
            return Ok(Vec::new());
        }
        see(&mut self.case, restored::restored_at(connection)?);
        Ok(self.kept.into_iter().zip(self.case.effects).map(view).collect())
    }

    /// The key of an effect of this job, recorded or not.
    pub(super) fn key(&self, run: u32, name: &EffectName) -> rusqlite::Result<String> {
        match self.place(run, name).and_then(|place| self.kept.get(place)) {
            Some(kept) => Ok(kept.key.clone()),
            None => self.new_key(run, name),
        }
    }

    fn new_key(&self, run: u32, name: &EffectName) -> rusqlite::Result<String> {
        self.connection
            .prepare_cached(
                "SELECT s.name, e.id, (SELECT namespace FROM store)
                 FROM events e JOIN sources s ON s.source = e.source WHERE e.seq = ?1",
            )?
            .query_row([self.row.event], |row| {
                let source = row::source(row.get_ref(0)?.as_str()?)?;
                Ok(effect_key(&row.get(2)?, &source, row.get_ref(1)?.as_str()?, run, name.as_str()))
            })
    }

    /// Writes what the verb changed: effects, money, and where the job moved, the job and the end of its attempt with this
    /// outcome. `attempt`: the lease of the verb and its attempt's row.
    pub(in super::super) fn write(
        &mut self,
        moves: &mut Moves<'_>,
        attempt: Option<(LeaseToken, i64)>,
        outcome: Outcome,
    ) -> rusqlite::Result<()> {
        self.write_effects(moves.at, &mut moves.sums, attempt)?;
        if self.case.job != self.row.job {
            moves.put(&self.row, self.case.job.clone(), outcome)?;
        }
        Ok(())
    }

    /// Writes what became of the effects and of their money.
    pub(in super::super) fn write_effects(
        &mut self,
        at: Timestamp,
        sums: &mut Sums,
        attempt: Option<(LeaseToken, i64)>,
    ) -> rusqlite::Result<()> {
        for place in 0..self.case.effects.len() {
            let effect = &self.case.effects[place];
            let before = self.before.get(place);
            if before == Some(effect) {
                continue;
            }
            match before {
                None => {
                    let key = self.new_key(effect.run, &effect.name)?;
                    let row = insert(self.connection, self.row.event, &key, effect, at)?;
                    let (note, replays, replayed_to) = (None, 0, None);
                    self.kept.push(Kept { row, key, changed_at: at, note, replays, replayed_to });
                }
                Some(before) if moved(before, effect) => {
                    if before.state != effect.state {
                        self.kept[place].changed_at = at;
                    }
                    update(self.connection, &self.kept[place], effect)?;
                }
                Some(_) => {}
            }
            let row = self.kept[place].row;
            let (tries, records) = before.map_or((&[][..], &[][..]), |before| (&before.tries, &before.records));
            write_tries(self.connection, row, tries, &effect.tries, attempt)?;
            for record in effect.records.iter().skip(records.len()) {
                sums.record(self.row.source, record);
            }
            if write_records(self.connection, row, records, &effect.records)? {
                self.has_made(effect)?;
            }
        }
        for change in self.case.money().filter(|change| change.reserved != 0) {
            sums.reserve(change.day, self.row.source, change.reserved);
        }
        Ok(())
    }

    /// Something new is known of what an effect made: the job made it. What comes to a job that is over is pruned in its turn.
    fn has_made(&self, effect: &Effect) -> rusqlite::Result<()> {
        if let Some(id) = effect.records.iter().find_map(|record| record.evidence.resource_id.as_deref()) {
            self.connection
                .prepare_cached("UPDATE jobs SET resource_id = ?2 WHERE event = ?1 AND resource_id IS NULL")?
                .execute((self.row.event, id))?;
        }
        if self.row.job.lease.is_none() {
            self.connection
                .prepare_cached("UPDATE events SET pruned_at = NULL WHERE seq = ?1 AND pruned_at IS NOT NULL")?
                .execute([self.row.event])?;
        }
        Ok(())
    }

    /// Counts that the effect's recorded result goes to the attempt of this lease.
    pub(super) fn count_replay(&mut self, place: usize, lease: LeaseToken) -> rusqlite::Result<()> {
        let kept = &mut self.kept[place];
        kept.replays = kept.replays.saturating_add(1);
        kept.replayed_to = Some(lease);
        self.connection
            .prepare_cached("UPDATE effects SET replays = ?2, replayed_to = ?3 WHERE effect = ?1")?
            .execute((kept.row, kept.replays, lease.0))?;
        Ok(())
    }

    /// Keeps what a sender or a person said of an effect.
    pub(super) fn put_note(&self, run: u32, name: &EffectName, note: Option<&str>) -> rusqlite::Result<()> {
        if let (Some(note), Some(place)) = (note, self.place(run, name)) {
            self.connection
                .prepare_cached("UPDATE effects SET note = ?2 WHERE effect = ?1")?
                .execute((self.kept[place].row, note))?;
        }
        Ok(())
    }
}

fn insert(connection: &Connection, event: i64, key: &str, effect: &Effect, at: Timestamp) -> rusqlite::Result<i64> {
    let policy = &effect.policy;
    connection
        .prepare_cached(
            "INSERT INTO effects (event, run, name, key, state, reason, key_ttl, lookup, settle, otherwise, retry_below,
                 begun_at, changed_at, look_first, alarm)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        )?
        .insert(params![
            event,
            effect.run,
            effect.name.as_str(),
            key,
            effect.state.as_str(),
            effect.reason.map(Reason::as_str),
            policy.key_ttl.map(kept_span),
            policy.lookup,
            kept_span(policy.settle),
            policy.otherwise.as_str(),
            policy.retry_below.map(Micros::get),
            effect.begun_at.as_micros(),
            at.as_micros(),
            effect.look_first,
            effect.alarm.map(Alarm::as_str),
        ])
}

fn update(connection: &Connection, kept: &Kept, effect: &Effect) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE effects SET state = ?2, reason = ?3, changed_at = ?4, look_first = ?5, alarm = ?6 WHERE effect = ?1",
        )?
        .execute(params![
            kept.row,
            effect.state.as_str(),
            effect.reason.map(Reason::as_str),
            kept.changed_at.as_micros(),
            effect.look_first,
            effect.alarm.map(Alarm::as_str),
        ])?;
    Ok(())
}

fn write_tries(
    connection: &Connection,
    effect: i64,
    before: &[Try],
    tries: &[Try],
    attempt: Option<(LeaseToken, i64)>,
) -> rusqlite::Result<()> {
    for (number, one) in (1_i64..).zip(tries) {
        let known = before.get(number as usize - 1);
        if known == Some(one) {
            continue;
        }
        let begin_id = one.begin_id.map(|id| id.0);
        let (send_before, deadline) = (one.send_before.as_micros(), one.deadline.as_micros());
        let outcome = one.outcome.map(TryOutcome::as_str);
        let reserved = one.reserved.map(|held| held.amount.get());
        let day = one.reserved.map(|held| held.day.0);
        if known.is_some() {
            connection
                .prepare_cached(
                    "UPDATE effect_tries SET begin_id = ?3, send_before = ?4, deadline = ?5, outcome = ?6,
                         reserved_micros = ?7, reserved_day = ?8 WHERE effect = ?1 AND number = ?2",
                )?
                .execute(params![effect, number, begin_id, send_before, deadline, outcome, reserved, day])?;
            continue;
        }
        // A new one is the verb's own, or nobody's.
        let attempt = attempt.filter(|(lease, _)| one.lease == Some(*lease)).map(|(_, row)| row);
        connection
            .prepare_cached(
                "INSERT INTO effect_tries (effect, number, begin_id, attempt, request, begun_at, send_before, deadline,
                     key_until, outcome, expected_micros, reserved_micros, reserved_day)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            )?
            .execute(params![
                effect,
                number,
                begin_id,
                attempt,
                one.request,
                one.begun_at.as_micros(),
                send_before,
                deadline,
                one.key_until.map(Timestamp::as_micros),
                outcome,
                one.expected.map(Micros::get),
                reserved,
                day,
            ])?;
    }
    Ok(())
}

/// Whether there was something to write.
fn write_records(
    connection: &Connection,
    effect: i64,
    before: &[Recorded],
    records: &[Recorded],
) -> rusqlite::Result<bool> {
    let mut written = false;
    for (number, record) in (1_i64..).zip(records) {
        let known = before.get(number as usize - 1);
        if known == Some(record) {
            continue;
        }
        written = true;
        let evidence = &record.evidence;
        if known.is_some() {
            // A resource id that was missing is all that is ever filled in.
            connection
                .prepare_cached("UPDATE effect_records SET resource_id = ?3 WHERE effect = ?1 AND number = ?2")?
                .execute(params![effect, number, evidence.resource_id])?;
            continue;
        }
        connection
            .prepare_cached(
                "INSERT INTO effect_records (effect, number, try, at, witness, resource_id, result, cost_micros, tokens_in,
                     tokens_out, model, charged_micros, day)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            )?
            .execute(params![
                effect,
                number,
                record.number,
                record.at.as_micros(),
                record.witness.as_str(),
                evidence.resource_id,
                evidence.result,
                evidence.cost.map(Micros::get),
                evidence.tokens_in,
                evidence.tokens_out,
                evidence.model,
                record.charged.get(),
                record.day.0,
            ])?;
    }
    Ok(written)
}
