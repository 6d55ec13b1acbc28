//! Stores with one planted mistake each: the cases and the comparison are there to catch them.
//!
//! The table says of each mistake which cases it must break. Together its rows name every case, so that each case has been
//! seen to fail for the reason it is there for.

#![allow(clippy::unwrap_used)]

mod planted;
mod table;

use std::collections::BTreeSet;

use cola_ia_core::effect::Rule;
use cola_ia_testkit::conformance;
use cola_ia_testkit::harness::Backend;
use cola_ia_testkit::model::ModelBackend;
use cola_ia_testkit::sequences::{Plan, compare, differ_somewhere};

use planted::{BEYOND_A_STORE, Mistake, Planted};
use table::TABLE;

const PLAN: Plan = Plan { seed: 0xc01a, cases: 500 };

fn fails(backend: &dyn Backend, name: &str) -> bool {
    let case = conformance::cases().find(|case| case.name == name);
    let case = case.unwrap_or_else(|| panic!("the table names a case that is not there: {name}"));
    (case.run)(backend).is_err()
}

#[test]
fn each_mistake_breaks_the_cases_that_are_there_for_it() {
    let passed: Vec<String> = TABLE
        .iter()
        .flat_map(|row| row.breaks.iter().map(move |name| (row.mistake, *name)))
        .filter(|(mistake, name)| !fails(&Planted::new(*mistake), name))
        .map(|(mistake, name)| format!("{mistake:?} passes {name}"))
        .collect();
    assert!(passed.is_empty(), "{passed:#?}");
}

#[test]
fn every_case_has_been_seen_to_fail() {
    let broken: BTreeSet<&str> = TABLE.iter().flat_map(|row| row.breaks).copied().collect();
    let never: Vec<&str> = conformance::cases().map(|case| case.name).filter(|name| !broken.contains(name)).collect();
    assert!(never.is_empty(), "no mistake of the table breaks {never:#?}");
}

#[test]
fn every_mistake_is_in_the_table_once() {
    let rows: Vec<Mistake> = TABLE.iter().map(|row| row.mistake).collect();
    let rules = Rule::ALL.iter().filter(|rule| !BEYOND_A_STORE.contains(rule));
    let all: Vec<Mistake> = Mistake::ALL.iter().copied().chain(rules.map(|rule| Mistake::Without(*rule))).collect();
    assert_eq!(rows, all);
}

#[test]
fn without_a_mistake_the_wrapper_is_right() {
    let wrong: Vec<&str> = conformance::cases()
        .filter(|case| (case.run)(&Planted::new(Mistake::None)).is_err())
        .map(|case| case.name)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    compare(&ModelBackend, &Planted::new(Mistake::None), PLAN).unwrap();
}

#[test]
fn the_comparison_catches_what_it_can_reach() {
    let missed: Vec<Mistake> = TABLE
        .iter()
        .filter(|row| row.compared)
        .map(|row| row.mistake)
        .filter(|mistake| !differ_somewhere(&ModelBackend, &Planted::new(*mistake), PLAN))
        .collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_difference_is_told_with_its_seed_and_the_shortest_sequence() {
    let failure = compare(&ModelBackend, &Planted::new(Mistake::LastInBatchWins), PLAN).unwrap_err().to_string();
    assert!(failure.contains("COLA_IA_TEST_SEED=49178 "), "{failure}");
    let steps: Vec<&str> = failure.lines().filter(|line| line.starts_with("    ")).collect();
    // Two members in one batch: nothing shorter shows it.
    assert_eq!(steps.len(), 1, "{failure}");
    assert_eq!(steps[0].matches("Event {").count() + steps[0].matches("Refusal {").count(), 2, "{failure}");
}
