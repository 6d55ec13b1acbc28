//! What one transaction adds to the sums of money.

use std::collections::BTreeMap;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{Budget, Micros, Recorded, UtcDay};
use cola_ia_core::store::{ERROR_CLASS_MAX_BYTES, Report, fitting};
use rusqlite::{Connection, OptionalExtension as _};

use super::money::{self, MoneySums};

/// What one transaction adds. Written together: ends of many attempts of a source touch one row.
#[derive(Debug, Default)]
pub(super) struct Sums(BTreeMap<(UtcDay, i64, String), MoneySums>);

impl Sums {
    /// Money that tries hold from now on, or, negative, no longer hold. Of which model it will be nobody knows yet.
    pub(super) fn reserve(&mut self, day: UtcDay, source: i64, amount: i64) {
        self.add(day, source, "", MoneySums { reserved: amount, ..MoneySums::default() });
    }

    /// An effect that happened. Where nobody said what it costs, no cost is counted.
    pub(super) fn record(&mut self, source: i64, record: &Recorded) {
        let Recorded { evidence, charged, day, .. } = record;
        let cost = (evidence.cost.is_some() || *charged > Micros::ZERO).then_some(*charged);
        let sum = MoneySums::of_cost(cost, evidence.tokens_in, evidence.tokens_out);
        self.add(*day, source, evidence.model.as_deref().unwrap_or_default(), sum);
    }

    /// A recorded result that was used again.
    pub(super) fn replay(&mut self, at: Timestamp, source: i64, record: &Recorded) {
        let sum = MoneySums { replays: 1, replayed: record.charged.get(), ..MoneySums::default() };
        self.add(UtcDay::of(at), source, record.evidence.model.as_deref().unwrap_or_default(), sum);
    }

    /// An attempt that ended. A cost that is no amount of money is none.
    pub(super) fn attempt(&mut self, at: Timestamp, source: i64, report: &Report) {
        if report.cost_micros.is_none() && report.tokens_in.is_none() && report.tokens_out.is_none() {
            return;
        }
        let cost = report.cost_micros.and_then(Micros::new);
        let sum = MoneySums::of_cost(cost, report.tokens_in, report.tokens_out);
        let model = report.model.as_deref().map(|model| fitting(model, ERROR_CLASS_MAX_BYTES)).unwrap_or_default();
        self.add(UtcDay::of(at), source, &model, sum);
    }

    fn add(&mut self, day: UtcDay, source: i64, model: &str, more: MoneySums) {
        if more != MoneySums::default() {
            let sums = self.0.entry((day, source, model.to_owned())).or_default();
            *sums = sums.plus(more);
        }
    }

    /// Adds all of it to what is there.
    pub(super) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        self.0.iter().try_for_each(|((day, source, model), more)| money::add(connection, *day, *source, model, *more))
    }
}

/// The budget of a source on this day, if it has one, with the sums as they are in this transaction.
pub(super) fn budget(connection: &Connection, source: i64, day: UtcDay) -> rusqlite::Result<Option<Budget>> {
    let limit: Option<i64> = connection
        .prepare_cached("SELECT limit_micros FROM budgets WHERE source = ?1")?
        .query_row([source], |row| row.get(0))
        .optional()?;
    let Some(limit) = limit else { return Ok(None) };
    let (spent, reserved) = money::taken(connection, source, day)?;
    Ok(Some(Budget { limit, spent, reserved }))
}
