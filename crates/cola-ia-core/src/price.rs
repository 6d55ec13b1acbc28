//! Prices of models, and what tokens cost by them.
//!
//! Whole millionths only. The parts of a cost are added up exactly and rounded up once: nothing is ever counted as less than it
//! was, and nothing is rounded twice.

use std::collections::BTreeMap;

use crate::effect::Micros;

/// Tokens that a price is for.
const PER_TOKENS: i128 = 1_000_000;

/// What a model costs, in millionths of the store's currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Price {
    /// For a million tokens that go in.
    pub input: Micros,
    /// For a million tokens that come out.
    pub output: Micros,
    /// For each request, however many tokens it has.
    pub request: Micros,
}

impl Price {
    /// What one request with so many tokens costs. `None`: a count that it depends on was not told or is negative, or it is more
    /// than [`COST_MAX_MICROS`](crate::effect::COST_MAX_MICROS).
    pub fn cost(&self, tokens_in: Option<i64>, tokens_out: Option<i64>) -> Option<Micros> {
        let part = |price: Micros, tokens: Option<i64>| match tokens {
            // What costs nothing need not be counted.
            None if price == Micros::ZERO => Some(0),
            tokens => tokens.filter(|tokens| *tokens >= 0).map(|tokens| i128::from(tokens) * i128::from(price.get())),
        };
        // Each part is less than 2^63 times 10^15: the sum is far from the bounds.
        let parts = part(self.input, tokens_in)? + part(self.output, tokens_out)?;
        let whole = parts + i128::from(self.request.get()) * PER_TOKENS;
        let rounded_up = (whole + PER_TOKENS - 1) / PER_TOKENS;
        i64::try_from(rounded_up).ok().and_then(Micros::new)
    }
}

/// Prices by the names of models, as they are told with results, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prices(BTreeMap<String, Price>);

impl Prices {
    /// Sets the price of a model.
    pub fn insert(&mut self, model: String, price: Price) {
        self.0.insert(model, price);
    }

    /// All of them, by the names of models.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Price)> {
        self.0.iter().map(|(model, price)| (model.as_str(), price))
    }

    /// What one request to this model costs; `None` where no price is known or it cannot be worked out.
    pub fn cost(&self, model: &str, tokens_in: Option<i64>, tokens_out: Option<i64>) -> Option<Micros> {
        self.0.get(model)?.cost(tokens_in, tokens_out)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::effect::COST_MAX_MICROS;

    fn micros(text: &str) -> Micros {
        Micros::parse(text).unwrap()
    }

    fn price(input: &str, output: &str, request: &str) -> Price {
        Price { input: micros(input), output: micros(output), request: micros(request) }
    }

    #[test]
    fn a_cost_is_the_sum_of_its_parts_rounded_up_once() {
        let table = [
            (price("3", "15", "0"), 1_000_000, 1_000_000, Some(18_000_000)),
            (price("3", "15", "0"), 1_000, 500, Some(10_500)),
            // Each part alone would be rounded up to a millionth.
            (price("0.5", "0.5", "0"), 1, 1, Some(1)),
            (price("0.4", "0.4", "0"), 1, 1, Some(1)),
            (price("0.000001", "0", "0"), 1, 0, Some(1)),
            (price("0.000001", "0", "0"), 1_000_001, 0, Some(2)),
            (price("0", "0", "0.01"), 0, 0, Some(10_000)),
            (price("0.25", "0", "0.01"), 2, 0, Some(10_001)),
            (price("0", "0", "0"), i64::MAX, i64::MAX, Some(0)),
            (price("1000000000", "1000000000", "0"), i64::MAX, i64::MAX, None),
            (price("1000000000", "0", "0"), 1_000_000, 0, Some(COST_MAX_MICROS)),
            (price("1000000000", "0", "0"), 1_000_001, 0, None),
            (price("1", "1", "0"), -1, 5, None),
        ];
        for (price, tokens_in, tokens_out, cost) in table {
            let found = price.cost(Some(tokens_in), Some(tokens_out)).map(Micros::get);
            assert_eq!(found, cost, "{price:?} {tokens_in} {tokens_out}");
        }
    }

    #[test]
    fn a_count_that_was_not_told_matters_only_where_it_costs() {
        assert_eq!(price("1", "0", "0").cost(Some(2), None), Some(micros("0.000002")));
        assert_eq!(price("1", "1", "0").cost(Some(2), None), None);
        assert_eq!(price("0", "0", "0.5").cost(None, None), Some(micros("0.5")));
        assert_eq!(price("0", "1", "0.5").cost(Some(1), None), None);
    }

    #[test]
    fn models_are_told_apart_byte_for_byte() {
        let mut prices = Prices::default();
        prices.insert("m-1".into(), price("1", "2", "0"));
        assert!(prices.cost("m-1", Some(1), Some(1)).is_some());
        assert_eq!(prices.cost("M-1", Some(1), Some(1)), None);
        assert_eq!(prices.cost("m-1-2026", Some(1), Some(1)), None);
    }

    proptest! {
        #[test]
        fn it_is_the_least_whole_number_that_is_not_less(
            prices in (0..=COST_MAX_MICROS, 0..=COST_MAX_MICROS, 0..=COST_MAX_MICROS),
            tokens in (0..=i64::MAX, 0..=10_000_000_000_i64),
        ) {
            let one = |micros| Micros::new(micros).unwrap();
            let price = Price { input: one(prices.0), output: one(prices.1), request: one(prices.2) };
            let exact = i128::from(tokens.0) * i128::from(prices.0)
                + i128::from(tokens.1) * i128::from(prices.1)
                + i128::from(prices.2) * PER_TOKENS;
            match price.cost(Some(tokens.0), Some(tokens.1)) {
                Some(cost) => {
                    let cost = i128::from(cost.get()) * PER_TOKENS;
                    prop_assert!(cost >= exact && cost - exact < PER_TOKENS);
                }
                None => prop_assert!(exact > i128::from(COST_MAX_MICROS) * PER_TOKENS),
            }
        }

        #[test]
        fn more_tokens_never_cost_less(
            price in (0..=1_000_000_000_i64, 0..=1_000_000_000_i64),
            tokens in (0..=1_000_000_000_i64, 0..=1_000_000_000_i64),
            more in 0..=1_000_i64,
        ) {
            let one = |micros| Micros::new(micros).unwrap();
            let price = Price { input: one(price.0), output: one(price.1), request: Micros::ZERO };
            prop_assert!(price.cost(Some(tokens.0), Some(tokens.1)) <= price.cost(Some(tokens.0 + more), Some(tokens.1)));
            // Together it is never more than one by one, and less by at most what was rounded.
            let (both, input) = (price.cost(Some(tokens.0), Some(tokens.1)), price.cost(Some(tokens.0), Some(0)));
            let output = price.cost(Some(0), Some(tokens.1));
            if let (Some(both), Some(input), Some(output)) = (both, input, output) {
                prop_assert!((input.get() + output.get() - both.get()) <= 1 && both.get() <= input.get() + output.get());
            }
        }
    }
}
