//! Money as it is added up: by day of UTC, source and model.

use std::collections::BTreeMap;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{Budget, Micros, Recorded, UtcDay};
use cola_ia_core::store::{ERROR_CLASS_MAX_BYTES, Report, fitting};
use rusqlite::{Connection, OptionalExtension as _, params};

/// What is added to a row of `money`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sum {
    costs: i64,
    spent: i64,
    reserved: i64,
    tokens_in: i64,
    tokens_out: i64,
    replays: i64,
    replayed: i64,
}

/// What one transaction adds. Written together: ends of many attempts of a source touch one row.
#[derive(Debug, Default)]
pub(super) struct Sums(BTreeMap<(UtcDay, i64, String), Sum>);

impl Sums {
    /// Money that tries hold from now on, or, negative, no longer hold. Of which model it will be nobody knows yet.
    pub(super) fn reserve(&mut self, day: UtcDay, source: i64, amount: i64) {
        self.add(day, source, "", Sum { reserved: amount, ..Sum::default() });
    }

    /// An effect that happened. Where nobody said what it costs, no cost is counted.
    pub(super) fn record(&mut self, source: i64, record: &Recorded) {
        let Recorded { evidence, charged, day, .. } = record;
        let sum = Sum {
            costs: (evidence.cost.is_some() || *charged > Micros::ZERO).into(),
            spent: charged.get(),
            tokens_in: tokens(evidence.tokens_in),
            tokens_out: tokens(evidence.tokens_out),
            ..Sum::default()
        };
        self.add(*day, source, evidence.model.as_deref().unwrap_or_default(), sum);
    }

    /// A recorded result that was used again.
    pub(super) fn replay(&mut self, at: Timestamp, source: i64, record: &Recorded) {
        let sum = Sum { replays: 1, replayed: record.charged.get(), ..Sum::default() };
        self.add(UtcDay::of(at), source, record.evidence.model.as_deref().unwrap_or_default(), sum);
    }

    /// An attempt that ended. A cost that is no amount of money is none.
    pub(super) fn attempt(&mut self, at: Timestamp, source: i64, report: &Report) {
        if report.cost_micros.is_none() && report.tokens_in.is_none() && report.tokens_out.is_none() {
            return;
        }
        let cost = report.cost_micros.and_then(Micros::new);
        let sum = Sum {
            costs: cost.is_some().into(),
            spent: cost.unwrap_or_default().get(),
            tokens_in: tokens(report.tokens_in),
            tokens_out: tokens(report.tokens_out),
            ..Sum::default()
        };
        let model = report.model.as_deref().map(|model| fitting(model, ERROR_CLASS_MAX_BYTES)).unwrap_or_default();
        self.add(UtcDay::of(at), source, &model, sum);
    }

    fn add(&mut self, day: UtcDay, source: i64, model: &str, more: Sum) {
        if more == Sum::default() {
            return;
        }
        let sum = self.0.entry((day, source, model.to_owned())).or_default();
        *sum = Sum {
            costs: sum.costs.saturating_add(more.costs),
            spent: sum.spent.saturating_add(more.spent),
            reserved: sum.reserved.saturating_add(more.reserved),
            tokens_in: sum.tokens_in.saturating_add(more.tokens_in),
            tokens_out: sum.tokens_out.saturating_add(more.tokens_out),
            replays: sum.replays.saturating_add(more.replays),
            replayed: sum.replayed.saturating_add(more.replayed),
        };
    }

    /// Adds all of it to what is there. Sums that do not fit are the largest number: here, because SQLite would make a floating
    /// one of them.
    pub(super) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        for ((day, source, model), more) in &self.0 {
            let mut find = connection.prepare_cached(
                "SELECT costs, spent, reserved, tokens_in, tokens_out, replays, replayed FROM money
                 WHERE day = ?1 AND source = ?2 AND model = ?3",
            )?;
            let there: [i64; 7] = find
                .query_row(params![day.0, source, model], |row| {
                    let mut there = [0; 7];
                    there.iter_mut().enumerate().try_for_each(|(at, sum)| row.get(at).map(|value| *sum = value))?;
                    Ok(there)
                })
                .optional()?
                .unwrap_or_default();
            let added =
                [more.costs, more.spent, more.reserved, more.tokens_in, more.tokens_out, more.replays, more.replayed];
            let [costs, spent, reserved, tokens_in, tokens_out, replays, replayed] =
                std::array::from_fn(|at| there[at].saturating_add(added[at]));
            connection
                .prepare_cached(
                    "INSERT INTO money (day, source, model, costs, spent, reserved, tokens_in, tokens_out, replays, replayed)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
                     ON CONFLICT (day, source, model) DO UPDATE SET costs = excluded.costs, spent = excluded.spent,
                         reserved = excluded.reserved, tokens_in = excluded.tokens_in, tokens_out = excluded.tokens_out,
                         replays = excluded.replays, replayed = excluded.replayed",
                )?
                .execute(params![
                    day.0, source, model, costs, spent, reserved, tokens_in, tokens_out, replays, replayed
                ])?;
        }
        Ok(())
    }
}

fn tokens(told: Option<i64>) -> i64 {
    told.unwrap_or_default().max(0)
}

/// The budget of a source on this day, if it has one, with the sums as they are in this transaction.
pub(super) fn budget(connection: &Connection, source: i64, day: UtcDay) -> rusqlite::Result<Option<Budget>> {
    let limit: Option<i64> = connection
        .prepare_cached("SELECT limit_micros FROM budgets WHERE source = ?1")?
        .query_row([source], |row| row.get(0))
        .optional()?;
    let Some(limit) = limit else { return Ok(None) };
    let mut budget = Budget { limit, spent: 0, reserved: 0 };
    let mut select = connection.prepare_cached("SELECT spent, reserved FROM money WHERE day = ?1 AND source = ?2")?;
    let mut rows = select.query((day.0, source))?;
    while let Some(row) = rows.next()? {
        budget.spent = budget.spent.saturating_add(row.get(0)?);
        budget.reserved = budget.reserved.saturating_add(row.get(1)?);
    }
    Ok(Some(budget))
}
