//! What must hold.

use super::lab::Lab;
use super::world::World;
use crate::effect::{Case, Effect, EffectState};
use crate::job::JobState;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Property {
    /// A key causes at most one real effect (all policies but retry).
    S1,
    /// What is `done` happened, what is `failed` did not.
    S2,
    /// No job ends with an effect open; a done job's effects are done or failed.
    S3,
    /// An ended lease changes nothing but evidence; evidence is never dropped; two ids raise the alarm.
    S4,
    /// An intended effect belongs to the current lease.
    S5,
    /// A repeated call gets the same answer; a begin id makes one try.
    I1,
    /// A new run begins with no effect of an earlier one open.
    R1,
    /// From everywhere a path leads to the job's end with no effect open (cancelling does not count as one).
    L1,
    /// While an attempt is left and nothing is decided, a path leads to job done with its effects done.
    L2,
    /// Reserved is what open tries hold, never negative; with spent within the budget; nothing once the effect closed.
    M1,
    /// Nothing really paid is missing from spent + reserved.
    M2,
}

pub(super) type Bad = (Property, String);

const ENDED: [JobState; 3] = [JobState::Done, JobState::Failed, JobState::Cancelled];

/// The first property of states that does not hold here.
pub(super) fn broken(lab: &mut Lab<'_>, world: &World) -> Option<Bad> {
    let (mut holds, mut ids, mut real, mut alarm) = (0, 0, 0, false);
    for (job, number) in world.cases.iter().enumerate() {
        let seen = lab.seen(*number, world.restored);
        let case = lab.case(seen);
        for run in 1..=case.job.run {
            for eff in 0..lab.scenario.effects as u8 {
                let happened = world.dest[lab.scenario.place(job as u8, run, eff)].real.len();
                real += happened as i64;
                let what = || format!("job {} run {run} e{}", job + 1, eff + 1);
                if happened > 1 && lab.scenario.promises_one() {
                    return Some((Property::S1, format!("{} really happened {happened} times", what())));
                }
                let Some(effect) = lab.effect_of(seen, run, eff) else { continue };
                let of_run = (run == case.job.run).then_some(case);
                let bad = broken_effect(lab, effect, happened, of_run, world.restored.is_some());
                if let Some((property, text)) = bad {
                    return Some((property, format!("{} {text}", what())));
                }
                holds += effect.at_risk();
                ids += effect.records.len() as i64;
                alarm |= effect.alarm.is_some();
            }
        }
    }
    let (reserved, spent, budget) = (world.reserved, world.spent, world.budget);
    if reserved < 0 || reserved != holds {
        return Some((Property::M1, format!("reserved is {reserved}, the tries hold {holds}")));
    }
    if spent != ids {
        return Some((Property::M1, format!("spent is {spent}, recorded are {ids}")));
    }
    if spent + reserved > budget && !alarm {
        return Some((Property::M1, format!("spent {spent} + reserved {reserved} is over the budget of {budget}")));
    }
    if real > spent + reserved {
        return Some((Property::M2, format!("really paid {real}, shown are spent {spent} + reserved {reserved}")));
    }
    None
}

/// `case`: where the effect is of its job's present run.
fn broken_effect(
    lab: &Lab<'_>,
    effect: &Effect,
    happened: usize,
    case: Option<&Case>,
    restored: bool,
) -> Option<(Property, String)> {
    let bad = |property, text: &str| Some((property, text.to_owned()));
    let state = effect.state;
    // Of a job that had ended in the backup, nobody asks again until it is tried again; then its effects are unknown.
    let outdated = restored && case.is_some_and(|case| ENDED.contains(&case.job.state));
    if state == EffectState::Failed && happened > 0 && !outdated {
        return bad(Property::S2, "is failed and did happen");
    }
    if state == EffectState::Done && happened == 0 {
        return bad(Property::S2, "is done and did not happen");
    }
    match case {
        Some(case) if ENDED.contains(&case.job.state) && state.is_open() => {
            return bad(Property::S3, "is open and its job has ended");
        }
        Some(case) if case.job.state == JobState::Done && state == EffectState::Abandoned => {
            return bad(Property::S3, "is abandoned and its job is done");
        }
        None if state.is_open() => return bad(Property::R1, "is open and a new run has begun"),
        _ => {}
    }
    if effect.records.len() > 1 && effect.alarm.is_none() {
        return bad(Property::S4, "has two resource ids and no alarm");
    }
    if state == EffectState::Intended {
        let lease = case.and_then(|case| case.job.lease).map(|lease| lease.token);
        if lease.is_none() || effect.tries.last().and_then(|newest| newest.lease) != lease {
            return bad(Property::S5, "is intended by nobody");
        }
    }
    let mut ids: Vec<_> = effect.tries.iter().filter_map(|one| one.begin_id).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() != effect.tries.iter().filter(|one| one.begin_id.is_some()).count() {
        return bad(Property::I1, "has two tries of one begin id");
    }
    let open = effect.open_tries().next().is_some();
    if state == EffectState::Failed && open || effect.tries.iter().any(|one| !one.is_open() && one.reserved.is_some()) {
        return bad(Property::M1, "is failed with a try left open, or a closed one holds money");
    }
    let scenario = lab.scenario;
    let exact = scenario.promises_one() && scenario.punctual && scenario.restore == 0;
    if state == EffectState::Done && exact && effect.at_risk() > 0 {
        return bad(Property::M1, "is done and still holds money");
    }
    None
}

/// What a path of L1 leads to.
pub(super) fn ended(lab: &mut Lab<'_>, world: &World) -> bool {
    world.cases.iter().all(|number| {
        let seen = lab.seen(*number, world.restored);
        let case = lab.case(seen);
        ENDED.contains(&case.job.state) && case.open().next().is_none()
    })
}

/// What a path of L2 leads to.
pub(super) fn succeeded(lab: &mut Lab<'_>, world: &World) -> bool {
    world.cases.iter().all(|number| {
        let case = lab.case(*number);
        case.job.state == JobState::Done && case.of_run().all(|effect| effect.state == EffectState::Done)
    })
}

/// Whether L2 may be asked here: not at the edges of the search.
pub(super) fn undecided(lab: &mut Lab<'_>, world: &World) -> bool {
    world.cases.iter().all(|number| {
        let seen = lab.seen(*number, world.restored);
        let case = lab.case(seen);
        let waits = matches!(case.job.state, JobState::Pending | JobState::Running | JobState::Held)
            && case.job.ends_as().is_none()
            && case.job.attempts < lab.scenario.attempts;
        (case.job.state == JobState::Done || waits)
            && (0..lab.scenario.effects as u8).all(|eff| match lab.effect_of(seen, case.job.run, eff) {
                Some(effect) => effect.tries.len() < lab.scenario.tries && effect.state != EffectState::Abandoned,
                // It will have one try more than anybody made.
                None => usize::from(world.restored.is_some()) < lab.scenario.tries,
            })
    })
}
