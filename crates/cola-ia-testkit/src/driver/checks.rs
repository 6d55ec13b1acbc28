//! What must hold when everything has ended: what the ledger says is what the destination counted, and what was promised.

use cola_ia_core::effect::EffectState;
use cola_ia_core::job::JobState;
use cola_ia_core::store::EffectSummary;

use super::{Promise, World};
use crate::harness::{Failure, block_on};

pub(super) fn check(world: &mut World<'_>) -> Result<(), Failure> {
    let jobs = world.jobs()?;
    if jobs.len() != world.scenario.jobs.len() {
        return Err(format!("of {} jobs there are {}", world.scenario.jobs.len(), jobs.len()).into());
    }
    let effects = world.effects()?;
    for job in &jobs {
        let of_job: Vec<&EffectSummary> = effects.iter().filter(|effect| effect.event == job.event).collect();
        for (place, plan) in world.scenario.effects.iter().enumerate() {
            let found = of_job.iter().find(|effect| effect.view.effect.name.as_str() == plan.name);
            let what = format!("{} of {} ({})", plan.name, job.id, job.state.as_str());
            let Some(summary) = found else {
                if job.state == JobState::Done {
                    return Err(format!("{what} was never begun").into());
                }
                continue;
            };
            let (effect, real) = (&summary.view.effect, world.real(place, &job.id));
            agree(effect.state, &real, plan.promise, &what)?;
            let recorded: Vec<&str> =
                effect.records.iter().filter_map(|record| record.evidence.resource_id.as_deref()).collect();
            let open = effect.open_tries().next().is_some();
            if recorded.len() < real.len() && !open {
                return Err(format!("{what}: {real:?} are there, and of them {recorded:?} on record").into());
            }
            if let Some(unreal) = recorded.iter().find(|id| !real.iter().any(|real| real == *id)) {
                return Err(format!("{what}: {unreal} is recorded, and is not there").into());
            }
            if effect.state == EffectState::Done && plan.promise == Promise::Once && recorded.len() != 1 {
                return Err(format!("{what}: recorded are {recorded:?}").into());
            }
            if job.state == JobState::Done && effect.state != EffectState::Done {
                return Err(format!("{what} is {}", effect.state.as_str()).into());
            }
        }
    }
    attempts_are_on_record(world)?;
    money_is_in_order(world, &effects)
}

/// The ledger and the destination say the same, or the difference is shown.
fn agree(state: EffectState, real: &[String], promise: Promise, what: &str) -> Result<(), Failure> {
    let happened = real.len();
    let bad = match state {
        EffectState::Intended => Some("is intended by nobody"),
        EffectState::Done if happened == 0 => Some("is done, and did not happen"),
        EffectState::Failed if happened > 0 => Some("is failed, and did happen"),
        _ if happened > 1 && promise != Promise::AtLeastOnce => Some("happened more than once"),
        _ => None,
    };
    bad.map_or(Ok(()), |bad| Err(format!("{what} {bad}: {real:?}").into()))
}

/// Attempts are numbered without gaps, each has ended, and one finished the job.
fn attempts_are_on_record(world: &World<'_>) -> Result<(), Failure> {
    for id in world.scenario.jobs {
        let found = block_on(world.store.find_events(None, (*id).to_owned()))?;
        let [event] = &found[..] else { return Err(format!("{id} is there {} times", found.len()).into()) };
        let mut numbers: Vec<u32> = event.attempts.iter().map(|attempt| attempt.number).collect();
        numbers.sort_unstable();
        let open = event.attempts.iter().filter(|attempt| attempt.outcome.is_none()).count();
        let done = event.attempts.iter().filter(|attempt| attempt.outcome.as_deref() == Some("done")).count();
        let wanted: Vec<u32> = (1..=numbers.len() as u32).collect();
        let expected = usize::from(event.job.state == JobState::Done);
        // A job whose effects were settled by a person may end without a further attempt.
        if numbers != wanted || open > 0 || done > 1 || (done == 1 && expected == 0) {
            return Err(format!("{id}: attempts {numbers:?}, {open} open, {done} done").into());
        }
    }
    Ok(())
}

/// What is reserved is what open tries hold, and nothing is where none is open.
fn money_is_in_order(world: &World<'_>, effects: &[EffectSummary]) -> Result<(), Failure> {
    let holds: i64 = effects.iter().map(|effect| effect.view.effect.at_risk()).sum();
    for budget in block_on(world.store.budgets())? {
        if budget.reserved != holds {
            return Err(format!("{} is reserved, and tries hold {holds}", budget.reserved).into());
        }
    }
    Ok(())
}
