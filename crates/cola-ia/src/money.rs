//! Costs as workers tell them, on their way to the store: prices of models, and currencies.

use cola_ia_core::effect::Micros;
use cola_ia_core::price::Prices;
use cola_ia_core::store::{ErrorKind, Report, Store, StoreError};

use crate::config::Settings;
use crate::lang::Message;

/// What a request to a model costs by the configured prices; `None` where none is known or a count is missing. Of the attempt
/// or the effect as a whole: what is worked out here is rounded up.
pub fn price(settings: &Settings, model: &str, tokens_in: Option<i64>, tokens_out: Option<i64>) -> Option<Micros> {
    settings.prices.cost(model, tokens_in, tokens_out)
}

/// Fills in the cost of a report that tells model and tokens and no cost.
pub(crate) fn fill_in(prices: &Prices, report: &mut Report) {
    if report.cost_micros.is_none()
        && let Some(model) = &report.model
    {
        report.cost_micros = prices.cost(model, report.tokens_in, report.tokens_out).map(Micros::get);
    }
}

/// Why a cost is not counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uncounted {
    /// The currency that was told.
    pub told: String,
    /// The store's; `None`: what was told names none.
    pub here: Option<String>,
}

impl Uncounted {
    /// What people are told.
    pub fn message(&self) -> Message {
        match &self.here {
            Some(here) => Message::new("cost-other-currency").with("told", &self.told).with("currency", here),
            None => Message::new("cost-no-currency").with("told", &self.told),
        }
    }
}

/// Whether a currency as it was told is this one.
pub(crate) fn is_same(known: &str, told: &str) -> bool {
    known.eq_ignore_ascii_case(told)
}

/// Whether the store counts costs in this currency: it is its own, or it has none and takes this one, the first that is told.
/// Answers it as the store has it.
///
/// # Errors
/// The store's.
pub async fn takes(store: &dyn Store, told: &str) -> Result<Result<String, Uncounted>, StoreError> {
    let uncounted = |here| Ok(Err(Uncounted { told: told.to_owned(), here }));
    if let Some(here) = store.currency().await? {
        return if is_same(&here, told) { Ok(Ok(here)) } else { uncounted(Some(here)) };
    }
    let currency = told.to_ascii_uppercase();
    match store.set_currency(currency.clone()).await {
        Ok(()) => Ok(Ok(currency)),
        // Somebody else was first.
        Err(error) if error.code == "currency_other" => uncounted(error.fact("currency").map(str::to_owned)),
        Err(error) if error.kind == ErrorKind::Invalid && error.code == "currency_malformed" => uncounted(None),
        Err(error) => Err(error),
    }
}
