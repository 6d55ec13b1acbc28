//! Sums of money by day of UTC, source and model: what one row says, and what one transaction adds.
//!
//! A sum that does not fit into a number is the largest one: what was paid is never refused.

use std::collections::BTreeMap;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{Micros, Recorded, UtcDay};
use cola_ia_core::store::{ERROR_CLASS_MAX_BYTES, Report, fitting};

/// What stands in a row of `money`, or is added to one. Money is in millionths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MoneySums {
    /// Costs that were counted: of attempts and of effects, where one was told or expected.
    pub(crate) costs: i64,
    /// Spent.
    pub(crate) spent: i64,
    /// Held by tries whose outcome is open; below 0 where it is released. Which model it will be nobody knows: it stands in the
    /// row of the model `''`.
    pub(crate) reserved: i64,
    /// Tokens that went into models.
    pub(crate) tokens_in: i64,
    /// Tokens that came out of them.
    pub(crate) tokens_out: i64,
    /// Results that were used again.
    pub(crate) replays: i64,
    /// What those had cost.
    pub(crate) replayed: i64,
}

impl MoneySums {
    /// What an attempt or an effect is counted as. `cost` is what was charged; `None` where none was told or expected.
    pub(crate) fn of_cost(cost: Option<Micros>, tokens_in: Option<i64>, tokens_out: Option<i64>) -> Self {
        Self {
            costs: cost.is_some().into(),
            spent: cost.unwrap_or_default().get(),
            tokens_in: tokens_in.unwrap_or_default().max(0),
            tokens_out: tokens_out.unwrap_or_default().max(0),
            ..Self::default()
        }
    }

    /// What of it is more than in `other`, each sum for itself.
    pub(crate) fn beyond(self, other: Self) -> Self {
        let more = |here: i64, there: i64| here.saturating_sub(there).max(0);
        Self {
            costs: more(self.costs, other.costs),
            spent: more(self.spent, other.spent),
            reserved: more(self.reserved, other.reserved),
            tokens_in: more(self.tokens_in, other.tokens_in),
            tokens_out: more(self.tokens_out, other.tokens_out),
            replays: more(self.replays, other.replays),
            replayed: more(self.replayed, other.replayed),
        }
    }

    /// With so much more.
    #[must_use]
    pub(crate) const fn plus(self, more: Self) -> Self {
        Self {
            costs: self.costs.saturating_add(more.costs),
            spent: self.spent.saturating_add(more.spent),
            reserved: self.reserved.saturating_add(more.reserved),
            tokens_in: self.tokens_in.saturating_add(more.tokens_in),
            tokens_out: self.tokens_out.saturating_add(more.tokens_out),
            replays: self.replays.saturating_add(more.replays),
            replayed: self.replayed.saturating_add(more.replayed),
        }
    }
}

/// What one transaction adds. Written together: ends of many attempts of a source touch one row.
#[derive(Debug, Default)]
pub(crate) struct Sums(BTreeMap<(UtcDay, i64, String), MoneySums>);

impl Sums {
    /// Money that tries hold from now on, or, negative, no longer hold. Of which model it will be nobody knows yet.
    pub(crate) fn reserve(&mut self, day: UtcDay, source: i64, amount: i64) {
        self.add(day, source, "", MoneySums { reserved: amount, ..MoneySums::default() });
    }

    /// An effect that happened. Where nobody said what it costs, no cost is counted.
    pub(crate) fn record(&mut self, source: i64, record: &Recorded) {
        let Recorded { evidence, charged, day, .. } = record;
        let cost = (evidence.cost.is_some() || *charged > Micros::ZERO).then_some(*charged);
        let sum = MoneySums::of_cost(cost, evidence.tokens_in, evidence.tokens_out);
        self.add(*day, source, evidence.model.as_deref().unwrap_or_default(), sum);
    }

    /// A recorded result that was used again.
    pub(crate) fn replay(&mut self, at: Timestamp, source: i64, record: &Recorded) {
        let sum = MoneySums { replays: 1, replayed: record.charged.get(), ..MoneySums::default() };
        self.add(UtcDay::of(at), source, record.evidence.model.as_deref().unwrap_or_default(), sum);
    }

    /// An attempt that ended. A cost that is no amount of money is none.
    pub(crate) fn attempt(&mut self, at: Timestamp, source: i64, report: &Report) {
        if report.cost_micros.is_none() && report.tokens_in.is_none() && report.tokens_out.is_none() {
            return;
        }
        let cost = report.cost_micros.and_then(Micros::new);
        let sum = MoneySums::of_cost(cost, report.tokens_in, report.tokens_out);
        let model = report.model.as_deref().map(|model| fitting(model, ERROR_CLASS_MAX_BYTES)).unwrap_or_default();
        self.add(UtcDay::of(at), source, &model, sum);
    }

    /// Adds to a day, a source and a model; `model` is empty where none was told.
    pub(crate) fn add(&mut self, day: UtcDay, source: i64, model: &str, more: MoneySums) {
        if more != MoneySums::default() {
            let sums = self.0.entry((day, source, model.to_owned())).or_default();
            *sums = sums.plus(more);
        }
    }

    /// What is added, by day, row of the source and model, in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (UtcDay, i64, &str, MoneySums)> {
        self.0.iter().map(|((day, source, model), more)| (*day, *source, model.as_str(), *more))
    }
}
