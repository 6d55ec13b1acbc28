//! The cases that every store must pass, written once against the trait.
//!
//! A case's name is a fact about a store. A case makes its own stores through the [`Backend`], says in words what it
//! found wrong, and demands nothing that the trait does not promise: numbers grow, but need not be without gaps. That each
//! case can fail is shown by the planted mistakes of this crate's own tests.

use crate::harness::{Backend, Failure};

mod batches;
mod bodies;
mod check;
mod concurrency;
mod content;
mod decisions;
mod desk;
mod effect_ends;
mod effect_people;
mod effect_restored;
mod effect_views;
mod effects;
mod erasing;
mod export;
mod histories;
mod identity;
mod jobs;
mod leases;
mod lists;
mod money;
mod ops;
mod previews;
mod pruning;
mod refusals;
mod reopening;
#[cfg(test)]
mod repeats;
mod restored;
mod stats;
mod tokens;
mod verdicts;

/// One fact about a store.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// The fact.
    pub name: &'static str,
    /// Tries it on this kind of store.
    pub run: fn(&dyn Backend) -> Result<(), Failure>,
}

/// All cases, in an order in which the first failure is likely the cause of the others.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    let areas: [&'static [Case]; 27] = [
        verdicts::CASES,
        histories::CASES,
        identity::CASES,
        content::CASES,
        refusals::CASES,
        batches::CASES,
        bodies::CASES,
        ops::CASES,
        previews::CASES,
        jobs::CASES,
        export::CASES,
        stats::CASES,
        tokens::CASES,
        lists::CASES,
        decisions::CASES,
        pruning::CASES,
        erasing::CASES,
        leases::CASES,
        effects::CASES,
        effect_ends::CASES,
        effect_people::CASES,
        effect_views::CASES,
        effect_restored::CASES,
        money::CASES,
        reopening::CASES,
        restored::CASES,
        concurrency::CASES,
    ];
    areas.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_name_stands_twice() {
        let names: BTreeSet<_> = cases().map(|case| case.name).collect();
        assert_eq!(names.len(), cases().count());
    }
}
