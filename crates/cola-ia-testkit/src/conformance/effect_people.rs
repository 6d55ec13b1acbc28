//! What a person says of an effect that is held.

use cola_ia_core::effect::{Alarm, Decision, EffectState, Evidence, SettleAnswer, Witness};
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::JobState;
use cola_ia_core::store::{EffectDecision, ErrorKind};

use super::check::{cases, ensure_eq, refused};
use super::desk::{Desk, FAILED, PERMANENT, POLICY, SETTLED, at, hold, made, micros, name, retry};
use crate::harness::{Backend, Failure, block_on};

cases![
    a_person_waits_for_what_may_still_happen,
    a_persons_word_names_the_try_that_was_looked_at,
    a_person_settles_only_what_is_held,
    what_a_person_found_is_recorded,
    two_resources_that_a_person_found_are_a_double_effect,
    a_decision_repeated_gives_the_first_answer,
];

/// A desk with `pay` held.
fn held(backend: &dyn Backend) -> Result<Desk, Failure> {
    let desk = Desk::new(backend, hold())?;
    desk.begin(1)?;
    desk.begin(2)?;
    Ok(desk)
}

fn a_person_waits_for_what_may_still_happen(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = held(backend)?;
    desk.at(SETTLED - 1);
    let wait = SettleAnswer::Wait { until: at(SETTLED) };
    ensure_eq!(desk.settle(1, Decision::Absent)?, wait, "an absence, too early");
    ensure_eq!((desk.state()?, desk.job()?.state), (EffectState::Held, JobState::Held), "effect and job");
    desk.at(SETTLED);
    ensure_eq!(desk.settle(1, Decision::Absent)?, SettleAnswer::Recorded, "an absence from then on");
    ensure_eq!((desk.state()?, desk.tries()?), (EffectState::Failed, vec!["absent"]), "the effect");
    let desk = held(backend)?;
    ensure_eq!(desk.settle(1, Decision::Found(vec![made("r1")]))?, SettleAnswer::Recorded, "one try, found at once");
    // Of two tries one may have been found, and the other may still happen.
    let desk = Desk::new(backend, retry())?;
    desk.begin(1)?;
    desk.begin(2)?;
    desk.end(PERMANENT)?;
    ensure_eq!(desk.settle(2, Decision::Found(vec![made("r1")]))?, wait, "one of two tries, found at once");
    ensure_eq!(desk.settle(2, Decision::Abandon)?, SettleAnswer::Recorded, "giving up needs no wait");
    Ok(())
}

fn a_persons_word_names_the_try_that_was_looked_at(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = held(backend)?;
    desk.at(SETTLED);
    for number in [0, 2] {
        ensure_eq!(desk.settle(number, Decision::Absent)?, SettleAnswer::Void, "a word on try {number} of one");
    }
    desk.settle(1, Decision::Absent)?;
    desk.claim_again()?;
    desk.begin(3)?;
    desk.begin(4)?;
    desk.at(1_000);
    ensure_eq!(desk.settle(1, Decision::Absent)?, SettleAnswer::Void, "a word on the try before the newest");
    ensure_eq!(desk.state()?, EffectState::Held, "the effect");
    ensure_eq!(desk.settle(2, Decision::Absent)?, SettleAnswer::Recorded, "a word on the newest");
    Ok(())
}

fn a_person_settles_only_what_is_held(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, hold())?;
    desk.at(SETTLED);
    ensure_eq!(desk.settle(1, Decision::Absent)?, SettleAnswer::Missing, "an effect that nobody began");
    let elsewhere = EffectDecision { event: EventNumber(1_000_000_000), ..desk.decision(1, Decision::Absent) };
    let answer = block_on(desk.scratch.store().effect_decide(desk.scratch.op(), elsewhere, POLICY))?;
    ensure_eq!(answer, None, "a job that is not there");
    desk.begin(1)?;
    desk.at(1_000);
    let words = [Decision::Absent, Decision::Abandon, Decision::Found(vec![made("r1")])];
    let all_void = |desk: &Desk, state| -> Result<(), Failure> {
        for word in &words {
            ensure_eq!(desk.settle(1, word.clone())?, SettleAnswer::Void, "{word:?} of what is {state:?}");
        }
        ensure_eq!(desk.state()?, state, "the state after all that");
        Ok(())
    };
    all_void(&desk, EffectState::Intended)?;
    desk.end(FAILED)?;
    all_void(&desk, EffectState::Unknown)?;
    desk.claim_again()?;
    desk.begin(2)?;
    ensure_eq!(desk.settle(1, Decision::Found(Vec::new()))?, SettleAnswer::Void, "found, with nothing that is there");
    ensure_eq!(desk.settle(1, words[2].clone())?, SettleAnswer::Recorded, "a word on what is held");
    all_void(&desk, EffectState::Done)
}

fn what_a_person_found_is_recorded(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = held(backend)?;
    desk.at(7);
    let evidence = Evidence { cost: Some(micros(3)), ..made("r1") };
    let decision = desk.decision(1, Decision::Found(vec![evidence.clone()]));
    desk.decide(EffectDecision { note: Some("seen in the list".to_owned()), ..decision })?;
    let view = desk.view()?;
    let record = &view.effect.records[0];
    ensure_eq!((&record.evidence, record.witness, record.at), (&evidence, Witness::Person, at(7)), "the record");
    ensure_eq!(view.note.as_deref(), Some("seen in the list"), "the note");
    ensure_eq!((desk.state()?, desk.tries()?), (EffectState::Done, vec!["done"]), "the effect");
    ensure_eq!((view.changed_at, view.effect.alarm), (at(7), None), "when, and no alarm");
    Ok(())
}

fn two_resources_that_a_person_found_are_a_double_effect(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = Desk::new(backend, retry())?;
    desk.begin(1)?;
    desk.begin(2)?;
    desk.end(PERMANENT)?;
    desk.at(1_000);
    let found = Decision::Found(vec![made("r1"), made("r2")]);
    ensure_eq!(desk.settle(2, found)?, SettleAnswer::Recorded, "a person's word");
    let effect = desk.view()?.effect;
    let ids: Vec<_> = effect.records.iter().filter_map(|record| record.evidence.resource_id.as_deref()).collect();
    ensure_eq!((ids, effect.alarm), (vec!["r1", "r2"], Some(Alarm::DoubleEffect)), "resources and alarm");
    ensure_eq!(desk.job()?.state, JobState::Failed, "the job, which was to fail");
    Ok(())
}

fn a_decision_repeated_gives_the_first_answer(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = held(backend)?;
    let (early, op) = (desk.scratch.op(), desk.scratch.op());
    let decision = desk.decision(1, Decision::Absent);
    let decide =
        |op, decision: &EffectDecision| block_on(desk.scratch.store().effect_decide(op, decision.clone(), POLICY));
    let wait = Some(SettleAnswer::Wait { until: at(SETTLED) });
    ensure_eq!(decide(early, &decision)?, wait, "too early");
    desk.at(SETTLED);
    ensure_eq!(decide(early, &decision)?, wait, "the same call again, in time");
    ensure_eq!(desk.state()?, EffectState::Held, "the effect");
    ensure_eq!(decide(op, &decision)?, Some(SettleAnswer::Recorded), "another call");
    let before = desk.scratch.find_one("a")?;
    ensure_eq!(decide(op, &decision)?, Some(SettleAnswer::Recorded), "the same call again");
    ensure_eq!(desk.scratch.find_one("a")?, before, "the event");
    let others = [
        EffectDecision { number: 2, ..decision.clone() },
        EffectDecision { name: name("post"), ..decision.clone() },
        EffectDecision { decision: Decision::Abandon, ..decision.clone() },
        EffectDecision { note: Some("why".to_owned()), ..decision },
    ];
    for other in others {
        refused("another decision under its op", decide(op, &other), ErrorKind::Conflict, "op_reused")?;
    }
    Ok(())
}
