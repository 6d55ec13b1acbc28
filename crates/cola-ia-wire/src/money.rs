//! Money: what was spent, is at risk and was avoided, and budgets. All amounts are in millionths of the currency's unit.

use std::borrow::Cow;

use cola_ia_core::store::{BudgetView, CostSums, Costs, CostsBy};
use serde::{Deserialize, Serialize};

use crate::VERSION;

/// A line of `costs --json`. The total comes first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostsLine<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// `total`, `source`, `model` or `day`.
    #[serde(borrow)]
    pub scope: Cow<'a, str>,
    /// The source, the model or the day of UTC as `2026-11-30`; `null` for the total, and for what was told without a model.
    #[serde(borrow)]
    pub name: Option<Cow<'a, str>>,
    /// The currency; `null` while nobody has said it.
    #[serde(borrow)]
    pub currency: Option<Cow<'a, str>>,
    /// Costs that were counted; 0: nothing is known of money here.
    pub count: u64,
    /// Spent, of attempts and effects.
    pub spent_micros: i64,
    /// Reserved by tries whose outcome is open: it may have been paid.
    pub at_risk_micros: i64,
    /// Not paid a second time, an estimate; `null` where no cost was told.
    pub avoided_micros: Option<i64>,
    /// Tokens that went into models.
    pub tokens_in: i64,
    /// Tokens that came out of them.
    pub tokens_out: i64,
    /// Results that were used again.
    pub replays: u64,
    /// What those had cost.
    pub replayed_micros: i64,
    /// Events that entered; 0 for models, of which they are not told apart.
    pub new: u64,
    /// Repeated deliveries; 0 for models.
    pub repeated: u64,
}

impl<'a> CostsLine<'a> {
    /// The lines of an answer: the total, then each line.
    pub fn all(costs: &'a Costs, by: CostsBy) -> impl Iterator<Item = Self> + 'a {
        let scope = match by {
            CostsBy::Source => "source",
            CostsBy::Model => "model",
            CostsBy::Day => "day",
        };
        let line = move |scope: &'static str, name: &'a str, sums: &CostSums| Self {
            v: VERSION,
            scope: scope.into(),
            name: (!name.is_empty()).then_some(Cow::Borrowed(name)),
            currency: costs.currency.as_deref().map(Cow::Borrowed),
            count: sums.count,
            spent_micros: sums.spent,
            at_risk_micros: sums.at_risk,
            avoided_micros: sums.avoided(),
            tokens_in: sums.tokens_in,
            tokens_out: sums.tokens_out,
            replays: sums.replays,
            replayed_micros: sums.replayed,
            new: sums.new,
            repeated: sums.repeated,
        };
        let total = line("total", "", &costs.total);
        std::iter::once(total).chain(costs.lines.iter().map(move |one| line(scope, &one.name, &one.sums)))
    }
}

/// A budget: a line of `budget list --json`, and what `budget set --json` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetLine<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// The source.
    #[serde(borrow)]
    pub source: Cow<'a, str>,
    /// Today, a day of UTC, as `2026-11-30`.
    pub day: String,
    /// The currency; `null` while nobody has said it.
    #[serde(borrow)]
    pub currency: Option<Cow<'a, str>>,
    /// The most that may be spent in a day.
    pub limit_micros: i64,
    /// Spent today.
    pub spent_micros: i64,
    /// Reserved today by tries whose outcome is open.
    pub reserved_micros: i64,
}

impl<'a> BudgetLine<'a> {
    /// The line of a budget.
    pub fn new(view: &'a BudgetView, currency: Option<&'a str>) -> Self {
        Self {
            v: VERSION,
            source: view.source.as_str().into(),
            day: view.day.to_string(),
            currency: currency.map(Cow::Borrowed),
            limit_micros: view.limit.get(),
            spent_micros: view.spent,
            reserved_micros: view.reserved,
        }
    }
}

/// What `budget remove --json` answers.
///
/// ```
/// # use std::borrow::Cow;
/// let line = cola_ia_wire::BudgetRemoved { v: 1, source: Cow::Borrowed("web"), removed: true };
/// assert_eq!(serde_json::to_string(&line).unwrap(), r#"{"v":1,"source":"web","removed":true}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetRemoved<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// The source.
    #[serde(borrow)]
    pub source: Cow<'a, str>,
    /// `false`: it had none.
    pub removed: bool,
}

/// What `budget currency --json` answers.
///
/// ```
/// # use std::borrow::Cow;
/// let line = cola_ia_wire::CurrencyLine { v: 1, currency: Some(Cow::Borrowed("EUR")) };
/// assert_eq!(serde_json::to_string(&line).unwrap(), r#"{"v":1,"currency":"EUR"}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrencyLine<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// The currency of all amounts; `null` while nobody has said it.
    #[serde(borrow)]
    pub currency: Option<Cow<'a, str>>,
}

#[cfg(test)]
mod tests {
    use cola_ia_core::store::CostLine;

    use super::*;

    #[test]
    fn the_total_comes_first_and_what_is_not_known_is_null() {
        let sums = CostSums { count: 1, spent: 250_000, tokens_in: 7, ..CostSums::default() };
        let costs = Costs { currency: None, lines: vec![CostLine { name: String::new(), sums }], total: sums };
        let lines: Vec<CostsLine<'_>> = CostsLine::all(&costs, CostsBy::Model).collect();
        let scopes: Vec<_> = lines.iter().map(|line| (&*line.scope, line.name.as_deref())).collect();
        assert_eq!(scopes, [("total", None), ("model", None)]);
        assert_eq!(lines[1].avoided_micros, Some(0));
        let json = serde_json::to_string(&lines[0]).unwrap();
        let text = r#"{"v":1,"scope":"total","name":null,"currency":null,"count":1,"spent_micros":250000,"at_risk_micros":0,"avoided_micros":0,"tokens_in":7,"tokens_out":0,"replays":0,"replayed_micros":0,"new":0,"repeated":0}"#;
        assert_eq!(json, text);
        let none = Costs { currency: Some("EUR".into()), lines: Vec::new(), total: CostSums::default() };
        assert_eq!(CostsLine::all(&none, CostsBy::Day).next().unwrap().avoided_micros, None);
    }
}
