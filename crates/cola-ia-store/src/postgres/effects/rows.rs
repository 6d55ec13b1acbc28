//! Effects, tries and records as the ledger sees them, in their rows.

use cola_ia_core::effect::{
    Alarm, BeginId, Effect, EffectName, EffectState, Evidence, Micros, Otherwise, Policy, Reason, Recorded,
    Reservation, Try, TryOutcome, UtcDay, Witness,
};
use cola_ia_core::job::LeaseToken;
use tokio_postgres::Row;

use super::super::error::Fault;
use super::super::row::{Columns as _, unexpected};
use super::super::sql::{Param, param};
use super::super::tx::Tx;
use crate::common::effect::{Kept, span};

/// The columns of [`effect`], of `effects f`.
pub(super) const COLUMNS: &str = "f.effect, f.run, f.name, f.key, f.state, f.reason, f.key_ttl, f.lookup, f.settle, \
     f.otherwise, f.retry_below, f.begun_at, f.changed_at, f.look_first, f.alarm, f.note, f.replays, f.replayed_to";
/// How many they are.
pub(super) const COLUMNS_LEN: usize = 18;

/// An effect from [`COLUMNS`], without its tries and records.
pub(super) fn effect(row: &Row) -> Result<(Kept, Effect), Fault> {
    let name: &str = row.read(2)?;
    let kept = Kept {
        row: row.read(0)?,
        key: row.read(3)?,
        changed_at: row.time(12)?,
        note: row.read(15)?,
        replays: row.count(16)?,
        replayed_to: maybe_bytes(row, 17)?.map(LeaseToken),
    };
    let policy = Policy {
        key_ttl: row.read::<Option<i64>>(6)?.map(span),
        lookup: row.read(7)?,
        settle: span(row.read(8)?),
        otherwise: word(row, 9, "otherwise", Otherwise::from_word)?,
        retry_below: micros(row, 10)?,
    };
    let effect = Effect {
        run: row.count(1)?,
        name: EffectName::new(name).ok_or_else(|| unexpected("name", name))?,
        policy,
        state: word(row, 4, "state", EffectState::from_word)?,
        reason: maybe_word(row, 5, "reason", Reason::from_word)?,
        begun_at: row.time(11)?,
        tries: Vec::new(),
        records: Vec::new(),
        look_first: row.read(13)?,
        alarm: maybe_word(row, 14, "alarm", Alarm::from_word)?,
    };
    Ok((kept, effect))
}

/// Which effects are asked for: what stands behind `FROM`, with `effects f`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    from: &'static str,
    params: &'a [Param<'a>],
}

impl<'a> Asked<'a> {
    /// Those of these runs: two arrays, events and runs.
    pub(super) const fn of_runs(params: &'a [Param<'a>]) -> Self {
        let from = "unnest($1, $2) AS asked (event, run) JOIN effects f ON f.event = asked.event AND f.run = asked.run";
        Self { from, params }
    }

    /// Those of all runs of these events.
    pub(super) const fn of_events(params: &'a [Param<'a>]) -> Self {
        Self { from: "unnest($1) AS asked (event) JOIN effects f ON f.event = asked.event", params }
    }

    /// Those of these numbers.
    pub(super) const fn of_numbers(params: &'a [Param<'a>]) -> Self {
        Self { from: "unnest($1) AS asked (effect) JOIN effects f ON f.effect = asked.effect", params }
    }

    /// The effects with their events, in any order, without tries and records.
    pub(super) async fn effects(self, tx: &Tx) -> Result<Vec<(i64, Kept, Effect)>, Fault> {
        let sql = format!("SELECT {COLUMNS}, f.event FROM {}", self.from);
        let read = |row: &Row| {
            let (kept, effect) = effect(row)?;
            Ok((row.read(COLUMNS_LEN)?, kept, effect))
        };
        tx.query(&sql, self.params).await?.iter().map(read).collect()
    }

    /// Their tries with the rows of the effects, by number.
    pub(super) async fn tries(self, tx: &Tx) -> Result<Vec<(i64, Try)>, Fault> {
        let sql = format!(
            "SELECT t.effect, t.begin_id, a.lease, t.request, t.begun_at, t.send_before, t.deadline, t.key_until,
                    t.outcome, t.expected_micros, t.reserved_micros, t.reserved_day
             FROM {} JOIN effect_tries t ON t.effect = f.effect LEFT JOIN attempts a ON a.attempt = t.attempt
             ORDER BY t.effect, t.number",
            self.from,
        );
        tx.query(&sql, self.params).await?.iter().map(|row| Ok((row.read(0)?, one_try(row)?))).collect()
    }

    /// What they made, by number: those of this name, or all.
    pub(super) async fn records(self, tx: &Tx, name: Option<&EffectName>) -> Result<Vec<(i64, Recorded)>, Fault> {
        let condition = name.map_or_else(String::new, |_| format!("WHERE f.name = ${}", self.params.len() + 1));
        let sql = format!(
            "SELECT r.effect, r.try, r.at, r.witness, r.resource_id, r.result, r.cost_micros, r.tokens_in, r.tokens_out,
                    r.model, r.charged_micros, r.day
             FROM {} JOIN effect_records r ON r.effect = f.effect {condition} ORDER BY r.effect, r.number",
            self.from,
        );
        let name = name.map(EffectName::as_str);
        let mut params = self.params.to_vec();
        params.extend(name.as_ref().map(param));
        tx.query(&sql, &params).await?.iter().map(|row| Ok((row.read(0)?, record(row)?))).collect()
    }
}

fn one_try(row: &Row) -> Result<Try, Fault> {
    let reserved = micros(row, 10)?.zip(row.read(11)?);
    Ok(Try {
        begin_id: maybe_bytes(row, 1)?.map(BeginId),
        lease: maybe_bytes(row, 2)?.map(LeaseToken),
        request: maybe_bytes(row, 3)?,
        begun_at: row.time(4)?,
        send_before: row.time(5)?,
        deadline: row.time(6)?,
        key_until: row.maybe_time(7)?,
        outcome: maybe_word(row, 8, "outcome", TryOutcome::from_word)?,
        expected: micros(row, 9)?,
        reserved: reserved.map(|(amount, day)| Reservation { amount, day: UtcDay(day) }),
    })
}

fn record(row: &Row) -> Result<Recorded, Fault> {
    let evidence = Evidence {
        resource_id: row.read(4)?,
        result: row.read(5)?,
        cost: micros(row, 6)?,
        tokens_in: row.read(7)?,
        tokens_out: row.read(8)?,
        model: row.read(9)?,
    };
    Ok(Recorded {
        evidence,
        number: row.maybe_count(1)?,
        at: row.time(2)?,
        witness: word(row, 3, "witness", Witness::from_word)?,
        charged: micros(row, 10)?.unwrap_or_default(),
        day: UtcDay(row.read(11)?),
    })
}

fn word<T>(row: &Row, column: usize, name: &str, read: fn(&str) -> Option<T>) -> Result<T, Fault> {
    let word: &str = row.read(column)?;
    read(word).ok_or_else(|| unexpected(name, word))
}

fn maybe_word<T>(row: &Row, column: usize, name: &str, read: fn(&str) -> Option<T>) -> Result<Option<T>, Fault> {
    let word: Option<&str> = row.read(column)?;
    word.map(|word| read(word).ok_or_else(|| unexpected(name, word))).transpose()
}

fn micros(row: &Row, column: usize) -> Result<Option<Micros>, Fault> {
    let told: Option<i64> = row.read(column)?;
    told.map(|told| Micros::new(told).ok_or_else(|| unexpected("micros", &told.to_string()))).transpose()
}

fn maybe_bytes<const N: usize>(row: &Row, column: usize) -> Result<Option<[u8; N]>, Fault> {
    let bytes: Option<&[u8]> = row.read(column)?;
    bytes.map(|bytes| bytes.try_into().map_err(|_| unexpected("bytes", &bytes.len().to_string()))).transpose()
}
