//! Effects, tries and records as the ledger sees them, in their rows.

use cola_ia_core::effect::{
    Alarm, BeginId, Effect, EffectName, EffectState, Evidence, Micros, Otherwise, Policy, Reason, Recorded,
    Reservation, Try, TryOutcome, UtcDay, Witness,
};
use cola_ia_core::job::LeaseToken;
use rusqlite::{Connection, Row};

use super::super::row;
use crate::common::effect::{Kept, span};

/// The columns of [`effect`], of `effects f`.
pub(super) const COLUMNS: &str = "f.effect, f.run, f.name, f.key, f.state, f.reason, f.key_ttl, f.lookup, f.settle, \
     f.otherwise, f.retry_below, f.begun_at, f.changed_at, f.look_first, f.alarm, f.note, f.replays, f.replayed_to";

/// An effect from [`COLUMNS`], without its tries and records.
pub(super) fn effect(row: &Row<'_>) -> rusqlite::Result<(Kept, Effect)> {
    let name = row.get_ref(2)?.as_str()?;
    let kept = Kept {
        row: row.get(0)?,
        key: row.get(3)?,
        changed_at: row::time(row, 12)?,
        note: row.get(15)?,
        replays: row.get(16)?,
        replayed_to: row.get::<_, Option<[u8; 18]>>(17)?.map(LeaseToken),
    };
    let policy = Policy {
        key_ttl: row.get::<_, Option<i64>>(6)?.map(span),
        lookup: row.get(7)?,
        settle: span(row.get(8)?),
        otherwise: word(row, 9, "otherwise", Otherwise::from_word)?,
        retry_below: micros(row, 10)?,
    };
    let effect = Effect {
        run: row.get(1)?,
        name: EffectName::new(name).ok_or_else(|| row::unexpected("name", name))?,
        policy,
        state: word(row, 4, "state", EffectState::from_word)?,
        reason: maybe_word(row, 5, "reason", Reason::from_word)?,
        begun_at: row::time(row, 11)?,
        tries: Vec::new(),
        records: Vec::new(),
        look_first: row.get(13)?,
        alarm: maybe_word(row, 14, "alarm", Alarm::from_word)?,
    };
    Ok((kept, effect))
}

/// The tries of an effect, by number.
pub(super) fn tries(connection: &Connection, effect: i64) -> rusqlite::Result<Vec<Try>> {
    connection
        .prepare_cached(
            "SELECT t.begin_id, a.lease, t.request, t.begun_at, t.send_before, t.deadline, t.key_until, t.outcome,
                    t.expected_micros, t.reserved_micros, t.reserved_day
             FROM effect_tries t LEFT JOIN attempts a ON a.attempt = t.attempt WHERE t.effect = ?1 ORDER BY t.number",
        )?
        .query_map([effect], |row| {
            let reserved = micros(row, 9)?.zip(row.get(10)?);
            Ok(Try {
                begin_id: row.get::<_, Option<[u8; 16]>>(0)?.map(BeginId),
                lease: row.get::<_, Option<[u8; 18]>>(1)?.map(LeaseToken),
                request: row.get(2)?,
                begun_at: row::time(row, 3)?,
                send_before: row::time(row, 4)?,
                deadline: row::time(row, 5)?,
                key_until: row::maybe_time(row, 6)?,
                outcome: maybe_word(row, 7, "outcome", TryOutcome::from_word)?,
                expected: micros(row, 8)?,
                reserved: reserved.map(|(amount, day)| Reservation { amount, day: UtcDay(day) }),
            })
        })?
        .collect()
}

/// What an effect made, by number.
pub(super) fn records(connection: &Connection, effect: i64) -> rusqlite::Result<Vec<Recorded>> {
    connection
        .prepare_cached(
            "SELECT try, at, witness, resource_id, result, cost_micros, tokens_in, tokens_out, model, charged_micros, day
             FROM effect_records WHERE effect = ?1 ORDER BY number",
        )?
        .query_map([effect], |row| {
            let evidence = Evidence {
                resource_id: row.get(3)?,
                result: row.get(4)?,
                cost: micros(row, 5)?,
                tokens_in: row.get(6)?,
                tokens_out: row.get(7)?,
                model: row.get(8)?,
            };
            Ok(Recorded {
                evidence,
                number: row.get(0)?,
                at: row::time(row, 1)?,
                witness: word(row, 2, "witness", Witness::from_word)?,
                charged: micros(row, 9)?.unwrap_or_default(),
                day: UtcDay(row.get(10)?),
            })
        })?
        .collect()
}

fn word<T>(row: &Row<'_>, column: usize, name: &str, read: fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    let word = row.get_ref(column)?.as_str()?;
    read(word).ok_or_else(|| row::unexpected(name, word))
}

fn maybe_word<T>(row: &Row<'_>, column: usize, name: &str, read: fn(&str) -> Option<T>) -> rusqlite::Result<Option<T>> {
    let word = row.get_ref(column)?.as_str_or_null()?;
    word.map(|word| read(word).ok_or_else(|| row::unexpected(name, word))).transpose()
}

fn micros(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Micros>> {
    let told: Option<i64> = row.get(column)?;
    told.map(|told| Micros::new(told).ok_or_else(|| row::unexpected("micros", &told.to_string()))).transpose()
}
