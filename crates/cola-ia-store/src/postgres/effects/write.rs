//! What became of cases, in few statements: effects, tries, records, and the money of all of them.

use std::collections::HashMap;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{Alarm, Effect, Micros, Reason, Recorded, Try};
use cola_ia_core::job::LeaseToken;

use super::super::error::Fault;
use super::super::row::{Columns as _, unexpected};
use super::super::sql::params;
use super::super::sums::Sums;
use super::super::tx::Tx;
use super::case::{Identity, ReadCase};
use super::columns::{Records, Tries};
use crate::common::effect::{Kept, kept_span, moved};

/// Writes what became of the effects of these cases, and adds their money to the sums. `attempt`: the lease of the verb and its
/// attempt's row.
pub(in super::super) async fn write_effects(
    tx: &Tx,
    read: &mut [ReadCase],
    at: Timestamp,
    sums: &mut Sums,
    attempt: Option<(LeaseToken, i64)>,
) -> Result<(), Fault> {
    if read.iter().any(|read| read.case.effects.len() > read.kept.len()) {
        insert_effects(tx, read, at).await?;
    }
    let mut changed = Changed::default();
    for read in read.iter_mut() {
        for (place, effect) in read.case.effects.iter().enumerate() {
            let before = read.before.get(place);
            if before == Some(effect) {
                continue;
            }
            let kept = &mut read.kept[place];
            if let Some(before) = before
                && moved(before, effect)
            {
                if before.state != effect.state {
                    kept.changed_at = at;
                }
                changed.effects.push(kept, effect);
            }
            let (tries, records) = before.map_or((&[][..], &[][..]), |before| (&before.tries, &before.records));
            changed.tries(kept.row, tries, &effect.tries, attempt);
            for record in effect.records.iter().skip(records.len()) {
                sums.record(read.row.source, record);
            }
            if changed.records(kept.row, records, &effect.records) {
                changed.has_made(read.row.event, read.row.job.lease.is_none(), effect);
            }
        }
        for change in read.case.money().filter(|change| change.reserved != 0) {
            sums.reserve(change.day, read.row.source, change.reserved);
        }
    }
    changed.write(tx).await
}

/// Reads what the keys of new effects are made of, where it is not known yet.
pub(super) async fn identify(tx: &Tx, read: &mut [ReadCase]) -> Result<(), Fault> {
    let events: Vec<i64> = read
        .iter()
        .filter(|read| read.identity.is_none() && read.case.effects.len() > read.kept.len())
        .map(|read| read.row.event)
        .collect();
    if events.is_empty() {
        return Ok(());
    }
    let rows = tx
        .query(
            "SELECT e.seq, st.namespace, s.name, e.id
             FROM store st, events e JOIN sources s ON s.source = e.source WHERE e.seq = ANY($1)",
            params![events],
        )
        .await?;
    for row in rows {
        let event: i64 = row.read(0)?;
        let identity = Identity { namespace: row.bytes(1)?, source: row.source(2)?, id: row.read(3)? };
        for read in read.iter_mut().filter(|read| read.row.event == event) {
            read.identity = Some(identity.clone());
        }
    }
    Ok(())
}

/// Makes rows of effects that have none, and so gives them their places among the [`Kept`].
async fn insert_effects(tx: &Tx, read: &mut [ReadCase], at: Timestamp) -> Result<(), Fault> {
    identify(tx, read).await?;
    let mut new = NewEffects::default();
    for read in read.iter_mut() {
        for place in read.kept.len()..read.case.effects.len() {
            let effect = &read.case.effects[place];
            let key = read.new_key(effect.run, &effect.name)?;
            new.push(read.row.event, &key, effect);
            let (note, replays, replayed_to) = (None, 0, None);
            read.kept.push(Kept { row: 0, key, changed_at: at, note, replays, replayed_to });
        }
    }
    let mut rows: HashMap<String, i64> = HashMap::new();
    for row in new.insert(tx, at).await? {
        rows.insert(row.read(1)?, row.read(0)?);
    }
    for kept in read.iter_mut().flat_map(|read| &mut read.kept).filter(|kept| kept.row == 0) {
        kept.row = *rows.get(&kept.key).ok_or_else(|| unexpected("effect", &kept.key))?;
    }
    Ok(())
}

#[derive(Default)]
struct NewEffects {
    events: Vec<i64>,
    runs: Vec<i64>,
    names: Vec<String>,
    keys: Vec<String>,
    states: Vec<&'static str>,
    reasons: Vec<Option<&'static str>>,
    key_ttls: Vec<Option<i64>>,
    lookups: Vec<bool>,
    settles: Vec<i64>,
    otherwises: Vec<&'static str>,
    retries_below: Vec<Option<i64>>,
    begun: Vec<i64>,
    look_first: Vec<bool>,
    alarms: Vec<Option<&'static str>>,
}

impl NewEffects {
    fn push(&mut self, event: i64, key: &str, effect: &Effect) {
        let policy = &effect.policy;
        self.events.push(event);
        self.runs.push(effect.run.into());
        self.names.push(effect.name.as_str().to_owned());
        self.keys.push(key.to_owned());
        self.states.push(effect.state.as_str());
        self.reasons.push(effect.reason.map(Reason::as_str));
        self.key_ttls.push(policy.key_ttl.map(kept_span));
        self.lookups.push(policy.lookup);
        self.settles.push(kept_span(policy.settle));
        self.otherwises.push(policy.otherwise.as_str());
        self.retries_below.push(policy.retry_below.map(Micros::get));
        self.begun.push(effect.begun_at.as_micros());
        self.look_first.push(effect.look_first);
        self.alarms.push(effect.alarm.map(Alarm::as_str));
    }

    async fn insert(self, tx: &Tx, at: Timestamp) -> Result<Vec<tokio_postgres::Row>, Fault> {
        tx.query(
            "INSERT INTO effects (event, run, name, key, state, reason, key_ttl, lookup, settle, otherwise, retry_below,
                 begun_at, changed_at, look_first, alarm)
             SELECT event, run, name, key, state, reason, key_ttl, lookup, settle, otherwise, retry_below, begun_at, $15,
                 look_first, alarm
             FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) AS new
                 (event, run, name, key, state, reason, key_ttl, lookup, settle, otherwise, retry_below, begun_at,
                  look_first, alarm)
             RETURNING effect, key",
            params![
                self.events,
                self.runs,
                self.names,
                self.keys,
                self.states,
                self.reasons,
                self.key_ttls,
                self.lookups,
                self.settles,
                self.otherwises,
                self.retries_below,
                self.begun,
                self.look_first,
                self.alarms,
                at.as_micros(),
            ],
        )
        .await
    }
}

/// Rows that are different, or new.
#[derive(Default)]
struct Changed {
    effects: MovedEffects,
    new_tries: Tries,
    known_tries: Tries,
    new_records: Records,
    /// Effects, numbers and resource ids.
    known_records: (Vec<i64>, Vec<i64>, Vec<Option<String>>),
    /// Events and the resources that their jobs made.
    made: (Vec<i64>, Vec<String>),
    /// Events of which something came after the end of their jobs.
    told_late: Vec<i64>,
}

impl Changed {
    fn tries(&mut self, effect: i64, before: &[Try], tries: &[Try], attempt: Option<(LeaseToken, i64)>) {
        for (place, one) in tries.iter().enumerate() {
            let number = place as i64 + 1;
            match before.get(place) {
                Some(known) if known == one => {}
                Some(_) => self.known_tries.push(effect, number, one, None),
                None => {
                    // A new one is the verb's own, or nobody's.
                    let row = attempt.filter(|(lease, _)| one.lease == Some(*lease)).map(|(_, row)| row);
                    self.new_tries.push(effect, number, one, row);
                }
            }
        }
    }

    /// Whether there is something to write.
    fn records(&mut self, effect: i64, before: &[Recorded], records: &[Recorded]) -> bool {
        let mut some = false;
        for (place, record) in records.iter().enumerate() {
            let number = place as i64 + 1;
            match before.get(place) {
                Some(known) if known == record => continue,
                Some(_) => {
                    // A resource id that was missing is all that is ever filled in.
                    self.known_records.0.push(effect);
                    self.known_records.1.push(number);
                    self.known_records.2.push(record.evidence.resource_id.clone());
                }
                None => self.new_records.push(effect, number, record),
            }
            some = true;
        }
        some
    }

    /// Something new is known of what an effect made: the job made it. What comes to a job that is over is pruned in its turn.
    fn has_made(&mut self, event: i64, is_over: bool, effect: &Effect) {
        if let Some(id) = effect.records.iter().find_map(|record| record.evidence.resource_id.as_ref())
            // The first one that is told of stays.
            && !self.made.0.contains(&event)
        {
            self.made.0.push(event);
            self.made.1.push(id.clone());
        }
        if is_over {
            self.told_late.push(event);
        }
    }

    /// All statements go to the server at once: they are of different rows.
    async fn write(self, tx: &Tx) -> Result<(), Fault> {
        tokio::try_join!(
            self.effects.update(tx),
            self.known_tries.update(tx),
            self.new_tries.insert(tx),
            self.new_records.insert(tx),
            fill_in(tx, self.known_records),
            made(tx, self.made),
            told_late(tx, self.told_late),
        )
        .map(drop)
    }
}

async fn fill_in(
    tx: &Tx,
    (effects, numbers, resources): (Vec<i64>, Vec<i64>, Vec<Option<String>>),
) -> Result<(), Fault> {
    if effects.is_empty() {
        return Ok(());
    }
    tx.execute(
        "UPDATE effect_records r SET resource_id = told.resource FROM unnest($1, $2, $3) AS told (effect, number, resource)
         WHERE r.effect = told.effect AND r.number = told.number",
        params![effects, numbers, resources],
    )
    .await
    .map(drop)
}

async fn made(tx: &Tx, (events, resources): (Vec<i64>, Vec<String>)) -> Result<(), Fault> {
    if events.is_empty() {
        return Ok(());
    }
    tx.execute(
        "UPDATE jobs j SET resource_id = made.resource FROM unnest($1, $2) AS made (event, resource)
         WHERE j.event = made.event AND j.resource_id IS NULL",
        params![events, resources],
    )
    .await
    .map(drop)
}

async fn told_late(tx: &Tx, events: Vec<i64>) -> Result<(), Fault> {
    if events.is_empty() {
        return Ok(());
    }
    tx.execute("UPDATE events SET pruned_at = NULL WHERE seq = ANY($1) AND pruned_at IS NOT NULL", params![events])
        .await
        .map(drop)
}

#[derive(Default)]
struct MovedEffects {
    effects: Vec<i64>,
    states: Vec<&'static str>,
    reasons: Vec<Option<&'static str>>,
    changed: Vec<i64>,
    look_first: Vec<bool>,
    alarms: Vec<Option<&'static str>>,
}

impl MovedEffects {
    fn push(&mut self, kept: &Kept, effect: &Effect) {
        self.effects.push(kept.row);
        self.states.push(effect.state.as_str());
        self.reasons.push(effect.reason.map(Reason::as_str));
        self.changed.push(kept.changed_at.as_micros());
        self.look_first.push(effect.look_first);
        self.alarms.push(effect.alarm.map(Alarm::as_str));
    }

    async fn update(self, tx: &Tx) -> Result<(), Fault> {
        if self.effects.is_empty() {
            return Ok(());
        }
        tx.execute(
            "UPDATE effects f SET state = moved.state, reason = moved.reason, changed_at = moved.changed_at,
                 look_first = moved.look_first, alarm = moved.alarm
             FROM unnest($1, $2, $3, $4, $5, $6) AS moved (effect, state, reason, changed_at, look_first, alarm)
             WHERE f.effect = moved.effect",
            params![self.effects, self.states, self.reasons, self.changed, self.look_first, self.alarms],
        )
        .await
        .map(drop)
    }
}
