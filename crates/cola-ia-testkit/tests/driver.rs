//! Workers stopped at every point: nothing happens twice, no job is lost, and what is not known is shown. And the driver itself:
//! it finds each of a list of mistakes.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::sync::Arc;

use cola_ia_core::effect::Rule;
use cola_ia_testkit::driver::{Mistake, SCENARIOS, Subject, amount, each_point, pairs, run, seed};
use cola_ia_testkit::harness::{Backend, Failure, Place};
use cola_ia_testkit::model::{ModelBackend, ModelMemory};

fn model() -> Subject {
    Subject::new(Arc::new(ModelBackend))
}

#[test]
fn without_an_interruption_every_scenario_ends() {
    for scenario in SCENARIOS {
        let passed = run(&model(), scenario, &[].into()).unwrap();
        println!("{:32} {:4} points", scenario.name, passed.points.len());
    }
}

#[test]
fn a_worker_may_stop_at_any_point() {
    let (mut points, mut runs) = (0, 0);
    for scenario in SCENARIOS {
        let tried = each_point(&model(), scenario).unwrap();
        points += tried.points;
        runs += tried.runs;
    }
    println!("{points} points, {runs} runs");
}

#[test]
fn workers_may_stop_at_any_two_points() {
    let tried = pairs(&model(), SCENARIOS, seed(), amount(2_000)).unwrap();
    println!("{} points, {} runs, seed {}", tried.points, tried.runs, seed());
}

/// A model whose ledger does without a rule.
struct Without(Rule);

impl Backend for Without {
    fn name(&self) -> &'static str {
        self.0.as_str()
    }

    fn fresh(&self) -> Result<Box<dyn Place>, Failure> {
        let (memory, rule) = (ModelMemory::default(), self.0);
        memory.twist(move |ledger| ledger.without(rule));
        Ok(Box::new(memory))
    }
}

/// The driver finds this, in a scenario of this name, and says so in these words.
fn is_found(mistake: &str, subject: &Subject, scenario: &str, said: &str) {
    let scenario = SCENARIOS.iter().find(|one| one.name == scenario).unwrap();
    let found = each_point(subject, scenario).expect_err(mistake).to_string();
    println!("{mistake}: {found}");
    assert!(found.contains(said), "{mistake}: {found}");
}

fn without(rule: Rule) -> Subject {
    Subject::new(Arc::new(Without(rule)))
}

#[test]
fn a_key_that_includes_the_attempt_is_found() {
    is_found("key of the attempt", &model().with(Mistake::KeyOfTheAttempt), "key", "happened more than once");
}

#[test]
fn an_end_of_a_lease_that_leaves_intended_is_found() {
    is_found("any_end", &without(Rule::AnyEnd), "lookup, given up in silence", "have not ended");
}

#[test]
fn an_absence_before_settle_is_found() {
    is_found("settle", &model().with(Mistake::SettleIgnored), "lookup", "happened more than once");
    let early = without(Rule::SettleFromDeadline);
    is_found("settle_from_deadline", &early, "lookup, late", "happened more than once");
}

#[test]
fn a_stale_done_that_overwrites_is_found() {
    is_found("stale done", &without(Rule::EvidenceKept), "retry", "on record");
}

#[test]
fn an_ignored_ttl_is_found() {
    is_found("ttl", &model().with(Mistake::TtlIgnored), "key that is forgotten", "happened more than once");
}

#[test]
fn a_go_of_a_restored_store_is_found() {
    is_found("restored", &without(Rule::RestoreUnknown), "hold", "happened more than once");
}

#[test]
fn a_job_completed_with_an_unknown_effect_is_found() {
    is_found("complete", &without(Rule::CompleteSettled), "a careless worker", "is unknown");
}

#[test]
fn a_budget_that_reserves_nothing_is_found() {
    is_found("budget", &without(Rule::ReserveCounts), "two workers, money for one", "the budget is");
}
