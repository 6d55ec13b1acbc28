//! What was spent, and what may be.

use cola_ia_core::effect::Micros;
use cola_ia_core::event::Source;
use cola_ia_core::store;
use cola_ia_core::store::{BudgetView, CostLine, CostSums, CostsBy, CostsRequest};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::shape::{shape, words};
use super::values::{Amount, DayText, SourceName};

shape! {
    /// What was spent, is at risk and was avoided.
    pub struct Costs of store::Costs {
        /// The store's currency, as it was set or first told.
        currency: Option<String>,
        /// The lines, sorted by name.
        lines: Vec<CostsOf>,
        /// All of them together.
        total: Sums,
    }
}

shape! {
    /// A line of costs.
    pub struct CostsOf of CostLine {
        /// The source, the model (empty: without one) or the day as `2026-11-30`.
        name: String,
        /// Its sums.
        #[serde(flatten)]
        sums: Sums,
    }
}

shape! {
    /// Money, in millionths of the store's currency. Sums that do not fit are the largest number.
    #[derive(Copy)]
    pub struct Sums of CostSums {
        /// Costs that were counted: attempts and effects for which a cost was told or expected.
        count: u64,
        /// Spent.
        spent_micros = spent: i64,
        /// Reserved by tries whose outcome is open: it may have been paid.
        at_risk_micros = at_risk: i64,
        /// Tokens that went into models.
        tokens_in: i64,
        /// Tokens that came out of them.
        tokens_out: i64,
        /// Results that were used again instead of paid again.
        replays: u64,
        /// What those had cost.
        replayed_micros = replayed: i64,
        /// Events that entered; 0 by model.
        new: u64,
        /// Deliveries that were repetitions and made no job; 0 by model.
        repeated: u64,
    }
}

shape! {
    /// The most that may be spent on a source's jobs in one day of UTC, and today's sums.
    pub struct Budget of BudgetView {
        /// The source.
        source: SourceName,
        /// The limit.
        limit_micros = limit: Amount,
        /// Today by the store's clock.
        day: DayText,
        /// Spent today, in millionths.
        spent_micros = spent: i64,
        /// Reserved today by tries whose outcome is open, in millionths.
        reserved_micros = reserved: i64,
    }
}

/// A source's budget from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BudgetLimit {
    /// The most that may be spent in one day of UTC; `null` takes the budget away. It must be said.
    #[serde(deserialize_with = "said")]
    #[schema(required = true)]
    pub limit_micros: Option<Amount>,
}

/// What must be there, even as `null`: left out by mistake it must not take a budget away.
fn said<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Amount>, D::Error> {
    Option::deserialize(deserializer)
}

impl From<Option<Micros>> for BudgetLimit {
    fn from(limit: Option<Micros>) -> Self {
        Self { limit_micros: limit.map(Amount) }
    }
}

/// All budgets, sorted by source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Budgets {
    /// The budgets.
    pub budgets: Vec<Budget>,
}

/// The store's currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Currency {
    /// Three capital letters, as ISO 4217 has them; `null` in an answer: none was said yet.
    pub currency: Option<String>,
}

/// The currency to be said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CurrencySaid {
    /// Three capital letters, as ISO 4217 has them. Once said it stays.
    pub currency: String,
}

/// The words for how costs are put together.
trait CostsWord: Sized {
    /// The word.
    fn as_str(&self) -> &'static str;
    /// What the word says.
    fn from_word(word: &str) -> Option<Self>;
}

impl CostsWord for CostsBy {
    fn as_str(&self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Model => "model",
            Self::Day => "day",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::Source, Self::Model, Self::Day].into_iter().find(|by| by.as_str() == word)
    }
}

words! {
    /// How costs are put together.
    CostsByWord of CostsBy = ["source", "model", "day"];
}

/// Which costs: parameters of a query. `source` may stand several times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostsQuery(pub CostsRequest);

impl CostsQuery {
    /// The parameters.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        let request = &self.0;
        let mut pairs = vec![("by", request.by.as_str().to_owned())];
        pairs.extend(request.sources.iter().map(|source| ("source", source.to_string())));
        pairs.extend(request.since.map(|day| ("since", DayText(day).to_string())));
        pairs.extend(request.until.map(|day| ("until", DayText(day).to_string())));
        pairs
    }

    /// Reads the parameters.
    ///
    /// # Errors
    /// The name of the first one that is not understood.
    pub fn read<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let mut request = CostsRequest { by: CostsBy::Source, sources: Vec::new(), since: None, until: None };
        for (name, value) in pairs {
            let understood = match name {
                "by" => CostsBy::from_word(value).map(|by| request.by = by),
                "source" => Source::new(value).ok().map(|source| request.sources.push(source)),
                "since" => super::values::read_day(value).map(|day| request.since = Some(day)),
                "until" => super::values::read_day(value).map(|day| request.until = Some(day)),
                _ => None,
            };
            understood.ok_or_else(|| name.to_owned())?;
        }
        Ok(Self(request))
    }
}
