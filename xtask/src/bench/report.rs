//! Figures of several runs, and whether a promise holds.

use std::fmt;

use crate::failure::Failure;

/// One figure over the runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures(Vec<f64>);

impl Figures {
    pub(crate) fn push(&mut self, figure: f64) {
        self.0.push(figure);
    }

    /// Run by run, so that a machine that slows down between runs changes both sides alike.
    pub(crate) fn over(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(figure, other)| figure / other).collect())
    }

    pub(crate) fn min(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub(crate) fn max(&self) -> f64 {
        self.0.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// The middle one, or the mean of the two in the middle.
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        match sorted.len() {
            0 => f64::NAN,
            len if len % 2 == 1 => sorted[middle],
            _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
        }
    }
}

/// What is compared with a bound.
pub(crate) struct Promise {
    name: String,
    figures: Figures,
    bound: Bound,
}

#[derive(Clone, Copy)]
pub(crate) enum Bound {
    AtLeast(f64),
    /// In every run.
    Below(f64),
    /// In the middle one.
    MedianBelow(f64),
}

impl Promise {
    pub(crate) fn new(name: impl Into<String>, figures: Figures, bound: Bound) -> Self {
        Self { name: name.into(), figures, bound }
    }

    pub(crate) fn holds(&self) -> bool {
        match self.bound {
            Bound::AtLeast(bound) => self.figures.median() >= bound,
            // A limit holds in every run, not in the middle one.
            Bound::Below(bound) => self.figures.max() < bound,
            Bound::MedianBelow(bound) => self.figures.median() < bound,
        }
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figures = &self.figures;
        let wanted = match self.bound {
            Bound::AtLeast(bound) => format!("at least {bound:.2}"),
            Bound::Below(bound) | Bound::MedianBelow(bound) => format!("below {bound:.0}"),
        };
        write!(
            out,
            "  {:<44} {:>9.2} ({:.2} – {:.2}), {wanted}: {}",
            self.name,
            match self.bound {
                Bound::AtLeast(_) | Bound::MedianBelow(_) => figures.median(),
                Bound::Below(_) => figures.max(),
            },
            figures.min(),
            figures.max(),
            if self.holds() { "holds" } else { "MISSED" }
        )
    }
}

/// Prints every promise.
///
/// # Errors
/// If one is missed.
pub(crate) fn check(promises: &[Promise]) -> Result<(), Failure> {
    println!("\npromises: median or worst (least – most)");
    for promise in promises {
        println!("{promise}");
    }
    match promises.iter().filter(|promise| !promise.holds()).count() {
        0 => Ok(()),
        missed => Err(Failure::new(format!("{missed} of {} promises missed", promises.len()))),
    }
}

/// A line of rates: smallest, middle, largest.
pub(crate) fn rates(name: &str, figures: &Figures) -> String {
    let whole = |figure: f64| thousands(figure.round() as u64);
    format!("  {name:<44} {:>10} {:>10} {:>10}", whole(figures.min()), whole(figures.median()), whole(figures.max()))
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(list: &[f64]) -> Figures {
        Figures(list.to_vec())
    }

    #[test]
    fn median_is_the_middle_one() {
        let check = |list: &[f64], median: f64| assert!((figures(list).median() - median).abs() < 1e-9, "{list:?}");
        check(&[3.0, 1.0, 2.0], 2.0);
        check(&[4.0, 1.0], 2.5);
        check(&[7.0], 7.0);
        assert!(figures(&[]).median().is_nan());
    }

    #[test]
    fn promise_of_a_rate_is_about_the_median_and_one_of_memory_about_the_worst() {
        let holds = |list: &[f64], bound| Promise::new("x", figures(list), bound).holds();
        assert!(holds(&[0.4, 0.5, 0.6], Bound::AtLeast(0.5)));
        assert!(!holds(&[0.4, 0.4, 0.6], Bound::AtLeast(0.5)));
        assert!(!holds(&[], Bound::AtLeast(0.5)));
        assert!(holds(&[100.0, 127.0], Bound::Below(128.0)));
        assert!(!holds(&[100.0, 128.0], Bound::Below(128.0)));
        assert!(
            holds(&[1.0, 2.0, 90.0], Bound::MedianBelow(50.0)) && !holds(&[1.0, 50.0, 50.0], Bound::MedianBelow(50.0))
        );
    }

    #[test]
    fn ratios_are_taken_run_by_run() {
        let ratios = figures(&[10.0, 30.0]).over(&figures(&[5.0, 10.0]));
        assert_eq!((ratios.min(), ratios.max()), (2.0, 3.0));
    }

    #[test]
    fn large_numbers_are_grouped() {
        let check = |number, text: &str| assert_eq!(thousands(number), text);
        check(0, "0");
        check(999, "999");
        check(1_000, "1,000");
        check(12_345_678, "12,345,678");
    }
}
