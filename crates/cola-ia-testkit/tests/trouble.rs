//! A store whose calls go wrong before or after, repeated, passes every case: with more seeds than the named backends have.

use std::env;

use cola_ia_testkit::conformance;
use cola_ia_testkit::faulty::Troubled;
use cola_ia_testkit::model::ModelBackend;

/// How many seeds; `COLA_IA_TORTURE` times as many.
const SEEDS: u64 = 2;

fn number(variable: &str, default: u64) -> u64 {
    env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn trouble_of_any_seed_is_over_when_calls_are_repeated() {
    let first = number("COLA_IA_TORTURE_SEED", 1);
    let seeds = first..first.saturating_add(SEEDS * number("COLA_IA_TORTURE", 1));
    let mut failed = Vec::new();
    for seed in seeds.clone() {
        let backend = Troubled::new("model_in_trouble", ModelBackend, seed);
        let wrong = conformance::cases().filter_map(|case| Some((case.name, (case.run)(&backend).err()?)));
        failed.extend(wrong.map(|(name, failure)| format!("seed {seed}: {name}: {failure}")));
    }
    println!("{} seeds from {first} on", seeds.count());
    assert!(failed.is_empty(), "{failed:#?}");
}
