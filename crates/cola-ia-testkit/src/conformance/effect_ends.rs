//! How the end of a lease and what becomes of a job go together with the effects of the job.

use cola_ia_core::effect::{Alarm, Decision, EffectName, EffectState, Evidence, Reason, ReportAnswer, SettleAnswer};
use cola_ia_core::job::{Ending, JobState, RetryPolicy};
use cola_ia_core::store::{
    Decision as OfConflict, EndRefused, Ended, ErrorKind, Order, OrderRefused, ResolveRequest, RestoredMark,
};

use super::check::{cases, ensure, ensure_eq, refused};
use super::desk::{Desk, FAILED, PERMANENT, POLICY, SECOND, SETTLED, at, hold, key, lookup, made, micros, word};
use crate::events::event;
use crate::harness::{Backend, Failure, block_on};

cases![
    every_end_of_a_lease_makes_intended_unknown,
    a_job_is_not_done_while_an_effect_is_open,
    a_job_that_would_end_is_held_until_its_effects_are_settled,
    a_late_done_wakes_a_held_job,
    a_held_answer_ends_the_lease_and_costs_no_attempt,
    a_settled_job_goes_on,
    a_held_job_is_not_tried_again_or_run_anew,
    an_abandoned_effect_ends_its_job,
    a_new_run_is_refused_while_an_effect_is_open,
    a_dry_recovery_moves_no_effect,
    an_erased_job_waits_for_its_open_effects,
];

fn every_end_of_a_lease_makes_intended_unknown(backend: &dyn Backend) -> Result<(), Failure> {
    type Finish = fn(&Desk) -> Result<(), Failure>;
    let unknown = (EffectState::Unknown, Some(Reason::LeaseEnded));
    let held = (EffectState::Held, Some(Reason::JobEnds));
    let ends: [(&str, Finish, _); 8] = [
        ("failed", |desk| desk.end(FAILED).map(drop), unknown),
        ("failed for good", |desk| desk.end(PERMANENT).map(drop), held),
        ("put off", |desk| desk.end(Ending::Later { not_before: at(50) }).map(drop), unknown),
        ("given back", |desk| desk.end(Ending::Released).map(drop), unknown),
        ("its worker was lost", |desk| desk.lose(), unknown),
        ("cancelled", |desk| desk.order(Order::Cancel).map(drop), held),
        ("the store was restored", |desk| Ok(desk.scratch.restored(RestoredMark::At(at(0))).map(drop)?), unknown),
        (
            "another process of its worker began",
            |desk| desk.begin(2).map(drop),
            (EffectState::Held, Some(Reason::NobodyCanTell)),
        ),
    ];
    for (end, finish, expected) in ends {
        let desk = Desk::new(backend, hold())?;
        desk.begin(1)?;
        desk.at(5);
        finish(&desk)?;
        desk.scratch.restored(RestoredMark::Cleared)?;
        let effect = desk.view()?.effect;
        ensure_eq!((effect.state, effect.reason), expected, "the effect, when the job was: {end}");
        ensure!(desk.job()?.state != JobState::Running, "the job still runs, which was: {end}");
    }
    Ok(())
}

fn a_job_is_not_done_while_an_effect_is_open(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = Desk::new(backend, hold())?;
    for (number, effect) in (1..).zip(["b", "c", "a"]) {
        desk.begin_of(effect, number)?;
    }
    desk.done_as(desk.of_effect("c", 1), made("r1"))?;
    block_on(desk.scratch.store().effect_unknown(desk.of_effect("a", 1), None, POLICY))?;
    let Err(EndRefused::Unresolved(open)) = desk.say(desk.leased.token, Ending::Done)? else {
        return Err("a job with open effects can be completed".into());
    };
    let open: Vec<_> = open.iter().map(EffectName::as_str).collect();
    ensure_eq!(open, ["a", "b"], "the effects that are open, by name");
    let until = desk.job()?.lease_until;
    ensure_eq!((desk.stands()?.0, until), (JobState::Running, Some(desk.leased.until)), "the job, which still runs");
    desk.done_as(desk.of_effect("b", 1), made("r2"))?;
    desk.done_as(desk.of_effect("a", 1), made("r3"))?;
    ensure_eq!(desk.end(Ending::Done)?, JobState::Done, "when all of them are settled");
    Ok(())
}

fn a_job_that_would_end_is_held_until_its_effects_are_settled(backend: &dyn Backend) -> Result<(), Failure> {
    type Finish = fn(&mut Desk) -> Result<(), Failure>;
    let ends: [(&str, Finish, &str, JobState); 4] = [
        ("failed for good", |desk| desk.end(PERMANENT).map(drop), "permanent", JobState::Failed),
        (
            "failed too often",
            |desk| {
                desk.end(FAILED)?;
                for _ in 0..2 {
                    desk.claim_again()?;
                    desk.end(FAILED)?;
                }
                Ok(())
            },
            "attempts_exhausted",
            JobState::Failed,
        ),
        (
            "lost too often",
            |desk| {
                desk.lose()?;
                for _ in 0..2 {
                    desk.claim_again()?;
                    desk.lose()?;
                }
                Ok(())
            },
            "crashes_exhausted",
            JobState::Failed,
        ),
        ("cancelled", |desk| desk.order(Order::Cancel).map(drop), "cancelled", JobState::Cancelled),
    ];
    for (end, finish, reason, last) in ends {
        let mut desk = Desk::new(backend, lookup())?;
        desk.begin(1)?;
        finish(&mut desk)?;
        ensure_eq!(desk.stands()?, (JobState::Held, reason.to_owned()), "a job that has {end}");
        let effect = desk.view()?.effect;
        ensure_eq!((effect.state, effect.reason), (EffectState::Held, Some(Reason::JobEnds)), "its effect ({end})");
        desk.at(1_000_000);
        ensure_eq!(desk.settle(1, Decision::Absent)?, SettleAnswer::Recorded, "a person's word ({end})");
        let reason = if last == JobState::Cancelled { "" } else { reason };
        ensure_eq!(desk.stands()?, (last, reason.to_owned()), "settled, a job that has {end}");
    }
    Ok(())
}

fn a_late_done_wakes_a_held_job(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = Desk::new(backend, hold())?;
    desk.begin(1)?;
    desk.end(PERMANENT)?;
    ensure_eq!(desk.job()?.state, JobState::Held, "a job that failed with its effect open");
    ensure_eq!(desk.done(1, made("r1"))?, ReportAnswer::LeaseLost, "the late done");
    ensure_eq!(desk.stands()?, (JobState::Failed, "permanent".to_owned()), "the job after that");
    let mut desk = Desk::new(backend, hold())?;
    desk.begin(1)?;
    let first = desk.leased.clone();
    desk.next_attempt(1)?;
    desk.begin(2)?;
    ensure_eq!(desk.job()?.state, JobState::Held, "a job of which only a person can tell");
    desk.leased = first;
    desk.at(7);
    desk.done(1, made("r1"))?;
    let job = desk.job()?;
    ensure_eq!(
        (job.state, job.due_at, job.reason.as_str()),
        (JobState::Pending, Some(at(7)), ""),
        "the job after that"
    );
    desk.claim_again()?;
    ensure_eq!(desk.begin(3)?, "done r1", "the next attempt's begin");
    Ok(())
}

fn a_held_answer_ends_the_lease_and_costs_no_attempt(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, hold())?;
    desk.begin(1)?;
    desk.next_attempt(1)?;
    desk.begin_of("other", 2)?;
    desk.at(6);
    ensure_eq!(desk.begin(3)?, "held nobody_can_tell", "the answer");
    ensure_eq!(desk.stands()?, (JobState::Held, "effect_unknown".to_owned()), "the job");
    ensure_eq!(desk.job()?.attempts, 1, "attempts that count");
    ensure_eq!(desk.view_of("other")?.effect.state, EffectState::Unknown, "another effect that was begun");
    let history = desk.scratch.find_one("a")?;
    let attempt = &history.attempts[0];
    let ended = (attempt.number, attempt.ended_at, attempt.outcome.as_deref());
    ensure_eq!(ended, (2, Some(at(6)), Some("released")), "the attempt");
    let answer = desk.say(desk.leased.token, Ending::Released)?;
    ensure_eq!(answer, Ok(Ended { state: JobState::Held, due_at: None }), "its worker's own release");
    ensure!(desk.say(desk.leased.token, Ending::Done)?.is_err(), "a lease that has ended completes its job");
    ensure_eq!(desk.begin(4)?, "LeaseLost", "a further begin");
    Ok(())
}

fn a_settled_job_goes_on(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, hold())?;
    for (number, effect) in (1..).zip(["pay", "post"]) {
        desk.begin_of(effect, number)?;
    }
    desk.next_attempt(1)?;
    desk.begin_of("pay", 3)?;
    desk.at(1_000);
    ensure_eq!(desk.settle(1, Decision::Found(vec![made("r1")]))?, SettleAnswer::Recorded, "a person's word");
    ensure_eq!(desk.stands()?, (JobState::Pending, String::new()), "the job, of which no effect is held any more");
    desk.claim_again()?;
    ensure_eq!(desk.begin_of("pay", 4)?, "done r1", "the settled one");
    ensure_eq!(desk.begin_of("post", 5)?, "held nobody_can_tell", "the one that was open too");
    desk.settle_of("post", 1, Decision::Absent)?;
    desk.claim_again()?;
    ensure_eq!(desk.begin_of("post", 6)?, "go 2 before 1010", "nothing had happened");
    Ok(())
}

fn a_held_job_is_not_tried_again_or_run_anew(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = Desk::new(backend, hold())?;
    desk.begin(1)?;
    desk.begin(2)?;
    ensure_eq!(desk.order(Order::Retry)?, Err(OrderRefused::EffectsOpen), "retry");
    ensure_eq!(desk.order(Order::Replay)?, Err(OrderRefused::State(JobState::Held)), "replay");
    ensure_eq!(desk.stands()?, (JobState::Held, "effect_unknown".to_owned()), "the job");
    let cancelled = desk.order(Order::Cancel)?.map(|ended| ended.state);
    ensure_eq!(cancelled, Ok(JobState::Held), "a cancelled one is held until its effect is settled");
    ensure_eq!(desk.settle(1, Decision::Abandon)?, SettleAnswer::Recorded, "a person's word");
    ensure_eq!(desk.job()?.state, JobState::Cancelled, "the job after that");
    Ok(())
}

fn an_abandoned_effect_ends_its_job(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, hold())?;
    let first = desk.begun(desk.asked("pay", 1))?;
    desk.begin(2)?;
    ensure_eq!(desk.settle(1, Decision::Abandon)?, SettleAnswer::Recorded, "a person gives up");
    ensure_eq!(desk.state()?, EffectState::Abandoned, "the effect");
    ensure_eq!(desk.stands()?, (JobState::Failed, "effect_abandoned".to_owned()), "the job");
    ensure_eq!(desk.order(Order::Retry)?, Err(OrderRefused::EffectAbandoned), "retry");
    ensure!(desk.order(Order::Replay)?.is_ok(), "a job whose effect was given up has no new run");
    desk.claim_again()?;
    let again = desk.begun(desk.asked("pay", 3))?;
    ensure_eq!(word(&again.answer), "go 1 before 10", "the new run's begin");
    ensure!(again.key != first.key, "two runs have one key");
    ensure_eq!(desk.done(1, made("r2"))?, ReportAnswer::Recorded, "the new run's report");
    let effects = desk.effects()?;
    let runs: Vec<_> = effects.iter().map(|view| (view.effect.run, view.effect.state)).collect();
    ensure_eq!(runs, [(2, EffectState::Done), (1, EffectState::Abandoned)], "the effects of both runs, newest first");
    Ok(())
}

fn a_new_run_is_refused_while_an_effect_is_open(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, key(300))?;
    let first = desk.leased.clone();
    desk.scratch.accept(vec![event("a", "another text")])?;
    desk.begin(1)?;
    let resolve = |desk: &Desk| {
        let (event, decision) = (desk.event(), OfConflict::Accept { run: true });
        let request = ResolveRequest { event, conflicts: vec![1], decision, note: None };
        desk.scratch.resolve_as(desk.scratch.op(), &request)
    };
    let before = desk.scratch.find_one("a")?;
    refused("a new run, while its worker has it", resolve(&desk), ErrorKind::Conflict, "effects_open")?;
    ensure_eq!(desk.scratch.find_one("a")?, before, "the event");
    desk.end(PERMANENT)?;
    refused("a new run, while it is held", resolve(&desk), ErrorKind::Conflict, "effects_open")?;
    desk.at(SETTLED);
    desk.settle(1, Decision::Absent)?;
    let resolved = resolve(&desk)?;
    ensure_eq!((resolved.state, resolved.run, resolved.rerun), (JobState::Pending, 2, true), "when it is settled");
    desk.claim_again()?;
    ensure_eq!(desk.leased.text, "another text", "what the new run works on");
    ensure_eq!(desk.begin(2)?, "go 1 before 100", "the new run's begin");
    // Evidence of the first run's effect says nothing of the second one's.
    let second = std::mem::replace(&mut desk.leased, first);
    ensure_eq!(desk.done(1, made("r1"))?, ReportAnswer::LeaseLost, "a late done of the first run");
    desk.leased = second;
    let effects = desk.effects()?;
    let states: Vec<_> = effects.iter().map(|view| (view.effect.run, view.effect.state, view.effect.alarm)).collect();
    let late = (1, EffectState::Done, Some(Alarm::LateEvidence));
    ensure_eq!(states, [(2, EffectState::Intended, None), late], "the effects of both runs");
    Ok(())
}

fn a_dry_recovery_moves_no_effect(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = Desk::new(backend, hold())?;
    desk.begin(1)?;
    let before = desk.effects()?;
    desk.scratch.clock().set(desk.leased.until.after(SECOND));
    let once_lost = RetryPolicy { max_crashes: 1, ..POLICY };
    let dry = block_on(desk.scratch.store().recover(once_lost, 9, true))?;
    let held = Ended { state: JobState::Held, due_at: None };
    ensure_eq!(dry.jobs, [(desk.event(), held)], "what would become of the job");
    ensure_eq!(desk.effects()?, before, "the effect");
    let recovered = block_on(desk.scratch.store().recover(once_lost, 9, false))?;
    ensure_eq!(recovered, dry, "what became of it then");
    ensure_eq!(desk.state()?, EffectState::Held, "the effect then");
    Ok(())
}

fn an_erased_job_waits_for_its_open_effects(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, lookup())?;
    desk.begin_of("known", 1)?;
    desk.done_as(desk.of_effect("known", 1), Evidence { result: Some("{}".to_owned()), ..made("r1") })?;
    desk.begin(2)?;
    let first = desk.leased.clone();
    desk.end(FAILED)?;
    let erase = |desk: &Desk| desk.scratch.erase_as(|| desk.scratch.op(), &first.job.source, "a");
    let erased = erase(&desk)?.ok_or("the event is there, and is not erased")?;
    ensure!(!erased.cancelled, "a job with an open effect is cancelled at once");
    ensure_eq!(desk.stands()?, (JobState::Held, "cancelled".to_owned()), "the job");
    ensure_eq!(desk.state()?, EffectState::Held, "the open effect");
    let known = desk.view_of("known")?;
    let evidence = &known.effect.records[0].evidence;
    ensure_eq!((&evidence.resource_id, &evidence.result), (&None, &None), "what is known of the one that is done");
    ensure_eq!(known.effect.state, EffectState::Done, "its state");
    // What is told from then on is recorded, and its texts are not.
    desk.leased = first.clone();
    desk.expected = None;
    let evidence = Evidence { result: Some("{}".to_owned()), cost: Some(micros(3)), ..made("r2") };
    ensure_eq!(desk.done(1, evidence)?, ReportAnswer::LeaseLost, "a late done");
    let effect = desk.view()?.effect;
    let expected = Evidence { cost: Some(micros(3)), ..Evidence::default() };
    ensure_eq!((effect.state, &effect.records[0].evidence), (EffectState::Done, &expected), "the effect");
    ensure_eq!(desk.job()?.state, JobState::Cancelled, "the job after that");
    ensure_eq!(erase(&desk)?.map(|erased| erased.cancelled), Some(false), "erasing it again cancels nothing");
    Ok(())
}
