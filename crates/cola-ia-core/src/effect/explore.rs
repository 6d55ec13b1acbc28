//! The ledger, explored.
//!
//! A small world (one or two jobs, one or two effects, two living workers of which one may be a zombie, the ledger, a
//! destination, a person) is explored over all interleavings of its steps; after each step the [properties](properties) are
//! checked. The ledger in it is the one that the stores call. Everything else is only there to be as unhelpful as the real
//! ones: calls arrive and their answers are lost, copies arrive later, workers die anywhere, requests take effect or not.
//!
//! With all rules every property holds in every scenario; without any one rule its counterexample is found.
//!
//! Time is whole ticks and stands still but for the step `tick`, which moves everything that the world remembers one tick into
//! the past. Instants so long ago that no answer depends on them any more are made one, so that the world is finite.

mod lab;
mod labels;
mod properties;
mod scenarios;
mod search;
mod steps;
mod world;

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::EffectState;

type Move = (Option<EffectState>, EffectState);

thread_local! {
    static MOVES: RefCell<BTreeSet<Move>> = const { RefCell::new(BTreeSet::new()) };
}

/// An effect has changed its state.
pub(super) fn moved(from: Option<EffectState>, to: EffectState) {
    MOVES.with_borrow_mut(|moves| moves.insert((from, to)));
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::time::Instant;

    use super::scenarios::{COUNTEREXAMPLES, DEEP, OWN, SCENARIOS, UNAVOIDABLE, named};
    use super::search::search;
    use super::*;
    use crate::effect::Rule;

    fn explore(scenarios: &[world::Scenario]) {
        let start = Instant::now();
        MOVES.with_borrow_mut(BTreeSet::clear);
        let (mut all, mut broken) = (0, String::new());
        for scenario in scenarios {
            let result = search(scenario, &[], scenario.check);
            all += result.states;
            println!("{:44} {:8} states, at most {} real", scenario.name, result.states, result.most);
            if let Some(found) = result.found {
                writeln!(broken, "{}: {found}", scenario.name).unwrap();
            }
        }
        println!("{:44} {all:8} states in {:.1} s", "", start.elapsed().as_secs_f64());
        assert!(broken.is_empty(), "{broken}");
    }

    #[test]
    fn with_every_rule_every_property_holds() {
        explore(SCENARIOS);
        let listed: BTreeSet<Move> = EffectState::MOVES.iter().map(|(from, to, _)| (*from, *to)).collect();
        let seen = MOVES.with_borrow(Clone::clone);
        assert_eq!(seen, listed, "the table of moves");
    }

    #[test]
    fn every_property_holds_where_policies_combine_and_jobs_are_tried_again() {
        explore(OWN);
    }

    #[test]
    fn without_any_one_rule_its_counterexample_is_found() {
        let mut missing = Vec::new();
        for (rule, scenario, property) in COUNTEREXAMPLES {
            let result = search(named(scenario), &[*rule], &[*property]);
            match result.found {
                Some(found) => println!(
                    "{:22} {:40} {property:?} broken in {} steps: {}",
                    rule.as_str(),
                    scenario,
                    found.trace.len(),
                    found.text
                ),
                None => missing.push(rule.as_str()),
            }
        }
        assert_eq!(missing, [""; 0]);
        let tried: BTreeSet<Rule> = COUNTEREXAMPLES.iter().map(|(rule, ..)| *rule).collect();
        assert_eq!(tried, Rule::ALL.iter().copied().collect(), "each rule has its counterexample");
    }

    /// What the promises rest on: with every rule each of these happens twice, and no ledger can help.
    #[test]
    fn what_no_ledger_can_close_is_what_the_documentation_says() {
        for (why, scenario) in UNAVOIDABLE {
            let found = search(scenario, &[], &[properties::Property::S1]).found;
            println!("{}: {why}: {:?} steps", scenario.name, found.as_ref().map(|found| found.trace.len()));
            assert!(found.is_some(), "{why}");
        }
    }

    /// The scenarios with wider bounds: minutes.
    #[test]
    #[ignore = "takes minutes and some GB of memory"]
    fn wider_worlds_hold_too() {
        explore(DEEP);
    }
}
