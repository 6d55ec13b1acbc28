//! Money in the model: sums by day, source and model, in a plain map.

use std::collections::{BTreeMap, BTreeSet};

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{Budget, Micros, Recorded, UtcDay};
use cola_ia_core::event::Source;
use cola_ia_core::store::export::{Outcome, Record};
use cola_ia_core::store::{
    BudgetView, CostLine, CostSums, Costs, CostsBy, CostsRequest, ERROR_CLASS_MAX_BYTES, ErrorKind, Report, StoreError,
    fitting, names_currency,
};
use cola_ia_core::verdict::Verdict;

use super::Memory;

/// What is added up of a day, a source and a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) costs: i64,
    pub(super) spent: i64,
    pub(super) reserved: i64,
    pub(super) tokens_in: i64,
    pub(super) tokens_out: i64,
    pub(super) replays: i64,
    pub(super) replayed: i64,
}

impl Sums {
    fn plus(self, more: Self) -> Self {
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

    /// An effect that happened. Where nobody said what it costs, nothing is counted.
    pub(super) fn of_record(record: &Recorded) -> Self {
        let Recorded { evidence, charged, .. } = record;
        Self {
            costs: i64::from(evidence.cost.is_some() || *charged > Micros::ZERO),
            spent: charged.get(),
            tokens_in: evidence.tokens_in.unwrap_or_default().max(0),
            tokens_out: evidence.tokens_out.unwrap_or_default().max(0),
            ..Self::default()
        }
    }

    /// A recorded result that was used again.
    pub(super) fn of_replay(charged: Micros) -> Self {
        Self { replays: 1, replayed: charged.get(), ..Self::default() }
    }

    /// An attempt that ended.
    fn of_attempt(report: &Report) -> Self {
        let cost = report.cost_micros.and_then(Micros::new);
        Self {
            costs: i64::from(cost.is_some()),
            spent: cost.unwrap_or_default().get(),
            tokens_in: report.tokens_in.unwrap_or_default().max(0),
            tokens_out: report.tokens_out.unwrap_or_default().max(0),
            ..Self::default()
        }
    }
}

/// All money that the store knows of.
#[derive(Debug, Default)]
pub(super) struct Money {
    pub(super) sums: BTreeMap<(UtcDay, Source, String), Sums>,
    pub(super) budgets: BTreeMap<Source, Micros>,
    currency: Option<String>,
}

impl Money {
    pub(super) fn add(&mut self, day: UtcDay, source: &Source, model: &str, more: Sums) {
        let key = (day, source.clone(), model.to_owned());
        match self.sums.get(&key).copied().unwrap_or_default().plus(more) {
            // Money that was released leaves nothing.
            sums if sums == Sums::default() => drop(self.sums.remove(&key)),
            sums => drop(self.sums.insert(key, sums)),
        }
    }

    /// What an attempt told at its end, in the day of its end.
    pub(super) fn add_attempt(&mut self, source: &Source, report: &Report, at: Timestamp) {
        let model = report.model.as_ref().map(|model| fitting(model, ERROR_CLASS_MAX_BYTES)).unwrap_or_default();
        self.add(UtcDay::of(at), source, &model, Sums::of_attempt(report));
    }

    /// Each sum stands at least where the record of an export says.
    pub(super) fn raise(&mut self, record: &Record, source: &Source) -> Outcome {
        let number = |field: &str| record.number(field).unwrap_or_default();
        let key = (UtcDay(number("day")), source.clone(), record.text("model").unwrap_or_default().to_owned());
        let here = self.sums.get(&key).copied().unwrap_or_default();
        let told = Sums {
            costs: number("costs"),
            spent: number("spent"),
            reserved: here.reserved,
            tokens_in: number("tokens_in"),
            tokens_out: number("tokens_out"),
            replays: number("replays"),
            replayed: number("replayed"),
        };
        let raised = Sums {
            costs: here.costs.max(told.costs),
            spent: here.spent.max(told.spent),
            reserved: here.reserved,
            tokens_in: here.tokens_in.max(told.tokens_in),
            tokens_out: here.tokens_out.max(told.tokens_out),
            replays: here.replays.max(told.replays),
            replayed: here.replayed.max(told.replayed),
        };
        if raised != here {
            self.sums.insert(key, raised);
            return Outcome::Entered;
        }
        if told == here { Outcome::Same } else { Outcome::Kept }
    }

    /// Of all models.
    fn of_day(&self, source: &Source, day: UtcDay) -> Sums {
        let of_it = self.sums.iter().filter(|((of, name, _), _)| *of == day && name == source);
        of_it.fold(Sums::default(), |sum, (_, more)| sum.plus(*more))
    }

    pub(super) fn budget(&self, source: &Source, day: UtcDay) -> Option<Budget> {
        let limit = self.budgets.get(source)?.get();
        let Sums { spent, reserved, .. } = self.of_day(source, day);
        Some(Budget { limit, spent, reserved })
    }

    pub(super) fn set_budget(&mut self, source: &Source, limit: Option<Micros>) {
        match limit {
            Some(limit) => self.budgets.insert(source.clone(), limit),
            None => self.budgets.remove(source),
        };
    }

    pub(super) fn budgets(&self, now: Timestamp) -> Vec<BudgetView> {
        let day = UtcDay::of(now);
        let view = |(source, limit): (&Source, &Micros)| {
            let Sums { spent, reserved, .. } = self.of_day(source, day);
            BudgetView { source: source.clone(), limit: *limit, day, spent, reserved }
        };
        self.budgets.iter().map(view).collect()
    }

    /// Whether amounts of this currency can be the store's.
    pub(super) fn takes_currency(&self, currency: &str) -> Result<(), StoreError> {
        if !names_currency(currency) {
            return Err(StoreError::new(ErrorKind::Invalid, "currency_malformed").with("currency", currency));
        }
        match &self.currency {
            Some(other) if other != currency => {
                Err(StoreError::new(ErrorKind::Conflict, "currency_other").with("currency", other))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn set_currency(&mut self, currency: String) -> Result<(), StoreError> {
        self.takes_currency(&currency)?;
        self.currency = Some(currency);
        Ok(())
    }

    pub(super) fn currency(&self) -> Option<String> {
        self.currency.clone()
    }
}

/// See [`Store::costs`](cola_ia_core::store::Store::costs).
pub(super) fn costs(memory: &Memory, request: &CostsRequest) -> Costs {
    let in_range =
        |day: UtcDay| request.since.is_none_or(|since| day >= since) && request.until.is_none_or(|until| day < until);
    let of_source = |source: &Source| request.sources.is_empty() || request.sources.contains(source);
    let mut lines: BTreeMap<String, CostSums> = BTreeMap::new();
    let mut total = CostSums::default();
    let mut paid: BTreeSet<&Source> = BTreeSet::new();
    for ((day, source, model), sums) in &memory.money.sums {
        if in_range(*day) && of_source(source) {
            let name = match request.by {
                CostsBy::Source => source.as_str().to_owned(),
                CostsBy::Model => model.clone(),
                CostsBy::Day => day.to_string(),
            };
            add(lines.entry(name).or_default(), sums);
            add(&mut total, sums);
            if sums.spent > 0 {
                paid.insert(source);
            }
        }
    }
    for received in &memory.received {
        let day = UtcDay::of(received.at);
        let Some(source) = received.source.as_ref().filter(|source| in_range(day) && of_source(source)) else {
            continue;
        };
        let name = match request.by {
            CostsBy::Source => source.as_str().to_owned(),
            CostsBy::Model => String::new(),
            CostsBy::Day => day.to_string(),
        };
        let count = |sums: &mut CostSums| match received.verdict {
            Verdict::New => sums.new += received.n,
            Verdict::Duplicate => sums.repeated += received.n,
            Verdict::Conflict | Verdict::Invalid => {}
        };
        // What a source repeats on which nothing was spent would not have been paid.
        if paid.contains(source) {
            count(&mut total);
        }
        if (request.by == CostsBy::Source || request.by == CostsBy::Day && paid.contains(source))
            && let Some(line) = lines.get_mut(&name)
        {
            count(line);
        }
    }
    let lines = lines.into_iter().map(|(name, sums)| CostLine { name, sums }).collect();
    Costs { currency: memory.money.currency(), lines, total }
}

fn add(to: &mut CostSums, sums: &Sums) {
    to.count = to.count.saturating_add(sums.costs as u64);
    to.spent = to.spent.saturating_add(sums.spent);
    to.at_risk = to.at_risk.saturating_add(sums.reserved);
    to.tokens_in = to.tokens_in.saturating_add(sums.tokens_in);
    to.tokens_out = to.tokens_out.saturating_add(sums.tokens_out);
    to.replays = to.replays.saturating_add(sums.replays as u64);
    to.replayed = to.replayed.saturating_add(sums.replayed);
}
