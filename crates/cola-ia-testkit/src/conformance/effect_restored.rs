//! A store that was put back from an older state: what it does not know may have happened.

use cola_ia_core::effect::{Decision, EffectState, Evidence, Policy, Reason, ReportAnswer};
use cola_ia_core::job::{Ending, JobState};
use cola_ia_core::store::export::{Contradiction, ImportBatch, Kind, Outcome};
use cola_ia_core::store::{EffectFilter, RestoredMark};

use super::check::{cases, ensure, ensure_eq};
use super::desk::{Desk, FAILED, at, claim_one, hold, key, lookup, made, micros, retry};
use crate::events::event;
use crate::harness::{Backend, Failure, Scratch};

cases![
    a_restored_store_sends_nothing_unasked,
    what_a_restored_store_does_not_know_is_looked_up,
    a_restored_store_shows_what_it_does_not_know_as_begun,
    what_is_done_stays_done_in_a_restored_store,
    a_restored_store_hears_of_what_it_lost,
    taking_the_mark_away_ends_the_doubt,
    a_second_restore_makes_what_was_settled_unknown_again,
    what_was_done_elsewhere_is_told_where_its_effect_went_on,
    of_two_imports_the_later_mark_counts,
];

/// Marks the store as restored at this second, which is now, and claims the job again.
fn restore(desk: &mut Desk, second: u64) -> Result<(), Failure> {
    desk.at(second);
    desk.scratch.restored(RestoredMark::At(at(second)))?;
    desk.claim_again()
}

fn a_restored_store_sends_nothing_unasked(backend: &dyn Backend) -> Result<(), Failure> {
    let cheap = Policy { retry_below: Some(micros(50)), ..hold() };
    let table: [(&str, Policy, [&str; 2]); 5] = [
        ("a person decides", hold(), ["held restored"; 2]),
        ("it knows keys", key(9_000), ["held restored"; 2]),
        ("it can be asked", lookup(), ["wait 190"; 2]),
        ("what is cheap is repeated", cheap, ["held restored"; 2]),
        ("at least once, by name", retry(), ["go 2 before 110", "go 3 before 110"]),
    ];
    for (fact, policy, [unheard_of, failed]) in table {
        let mut desk = Desk::new(backend, policy.clone())?;
        desk.expected = Some(micros(40));
        restore(&mut desk, 100)?;
        ensure_eq!(desk.begin(1)?, unheard_of, "an effect that it never heard of ({fact})");
        let lost = desk.view()?.effect.tries.into_iter().next().ok_or("what was lost is no try")?;
        ensure_eq!((lost.begin_id, lost.begun_at), (None, at(100)), "the try that may have been made ({fact})");
        // Whoever went on with the store may have had this event too.
        desk.scratch.accept(vec![event("later", "x")])?;
        desk.leased = claim_one(&desk.scratch)?;
        ensure_eq!(desk.begin(2)?, unheard_of, "an effect of a new event ({fact})");
        let mut desk = Desk::new(backend, policy)?;
        desk.expected = Some(micros(40));
        desk.begin(1)?;
        desk.not_sent(1)?;
        restore(&mut desk, 100)?;
        ensure_eq!(desk.begin(2)?, failed, "an effect that had failed ({fact})");
    }
    Ok(())
}

fn what_a_restored_store_does_not_know_is_looked_up(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, lookup())?;
    restore(&mut desk, 100)?;
    desk.at(189);
    ensure_eq!(desk.begin(1)?, "wait 190", "before what was sent until the restore can be seen");
    desk.at(190);
    ensure_eq!(desk.begin(2)?, "check 1 from -", "from then on; when it was sent first nobody knows");
    ensure_eq!(desk.absent(1)?, ReportAnswer::Recorded, "nothing was found");
    ensure_eq!(desk.begin(3)?, "go 2 before 200", "a begin after the look");
    ensure_eq!(desk.tries()?, ["absent", "open"], "tries");
    Ok(())
}

fn a_restored_store_shows_what_it_does_not_know_as_begun(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, hold())?;
    desk.begin(1)?;
    desk.not_sent(1)?;
    desk.end(FAILED)?;
    let before = desk.view()?;
    ensure_eq!(before.effect.state, EffectState::Failed, "before");
    desk.at(100);
    desk.scratch.restored(RestoredMark::At(at(50)))?;
    let seen = desk.view()?;
    ensure_eq!((seen.effect.state, seen.effect.reason), (EffectState::Unknown, Some(Reason::Restored)), "the state");
    let [_, lost] = &seen.effect.tries[..] else {
        return Err(format!("one try and a lost one are shown as {seen:?}").into());
    };
    ensure_eq!((lost.begun_at, lost.begin_id, lost.outcome), (at(50), None, None), "the try that may have been made");
    // As long as the one that is known of: sent within ten seconds, and twenty more.
    ensure_eq!((lost.send_before, lost.deadline), (at(60), at(80)), "how long it may take");
    let shown = desk.scratch.all_effects(&EffectFilter::default(), 9)?;
    let shown: Vec<_> = shown.into_iter().map(|one| one.view).collect();
    ensure_eq!(shown.first(), Some(&seen), "the list of effects");
    desk.claim_again()?;
    ensure_eq!(desk.leased.effects, [seen], "what a worker gets");
    desk.scratch.restored(RestoredMark::Cleared)?;
    ensure_eq!(desk.view()?, before, "when the mark is taken away before anybody asked");
    Ok(())
}

fn what_is_done_stays_done_in_a_restored_store(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, hold())?;
    desk.begin(1)?;
    desk.done(1, made("r1"))?;
    restore(&mut desk, 100)?;
    ensure_eq!(desk.begin(2)?, "done r1", "the answer");
    ensure_eq!((desk.state()?, desk.tries()?), (EffectState::Done, vec!["done"]), "the effect");
    Ok(())
}

fn a_restored_store_hears_of_what_it_lost(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, hold())?;
    let mut of = desk.of_job(1);
    of.lease.0[0] ^= 1;
    desk.end(FAILED)?;
    restore(&mut desk, 100)?;
    ensure_eq!(desk.begin(1)?, "held restored", "a begin");
    ensure_eq!(desk.done_as(of, made("r1"))?, ReportAnswer::LeaseLost, "a done of a lease that it lost");
    ensure_eq!((desk.state()?, desk.job()?.state), (EffectState::Done, JobState::Pending), "effect and job");
    desk.claim_again()?;
    ensure_eq!(desk.begin(2)?, "done r1", "a begin after that");
    Ok(())
}

fn taking_the_mark_away_ends_the_doubt(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, hold())?;
    restore(&mut desk, 100)?;
    desk.scratch.restored(RestoredMark::Cleared)?;
    ensure_eq!(desk.begin(1)?, "go 1 before 110", "a begin after that");
    Ok(())
}

fn a_second_restore_makes_what_was_settled_unknown_again(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, lookup())?;
    restore(&mut desk, 100)?;
    desk.at(190);
    desk.begin(1)?;
    desk.absent(1)?;
    ensure_eq!(desk.state()?, EffectState::Failed, "settled");
    restore(&mut desk, 500)?;
    ensure_eq!(desk.state()?, EffectState::Unknown, "after a second restore");
    ensure_eq!(desk.begin(2)?, "wait 590", "a begin");
    Ok(())
}

/// A copy of the desk's store, as an export brings it.
fn copied(backend: &dyn Backend, desk: &Desk) -> Result<Scratch, Failure> {
    let copy = Scratch::new(backend)?;
    let ImportBatch { namespace, records, .. } = desk.scratch.export_all(100)?;
    copy.import(namespace, &records)?;
    Ok(copy)
}

/// A copy of a store goes on by itself: a person says that nothing has happened. Then the export of the first one says it has, or
/// that it is being tried again.
fn what_was_done_elsewhere_is_told_where_its_effect_went_on(backend: &dyn Backend) -> Result<(), Failure> {
    for (fact, is_done, untold) in [("it is done", true, Kind::EffectRecord), ("it is tried", false, Kind::EffectTry)] {
        let mut desk = Desk::new(backend, hold())?;
        desk.expected = Some(micros(9));
        desk.begin(1)?;
        let scratch = copied(backend, &desk)?;
        desk.at(1);
        if is_done {
            desk.done(1, Evidence { cost: Some(micros(5)), ..made("r1") })?;
            desk.end(Ending::Done)?;
        } else {
            desk.not_sent(1)?;
            desk.begin(2)?;
        }
        scratch.clock().set(at(600));
        scratch.restored(RestoredMark::Cleared)?;
        let copy = Desk { leased: claim_one(&scratch)?, scratch, policy: hold(), expected: None, request: None };
        copy.begin(3)?;
        copy.settle(1, Decision::Absent)?;
        let before = copy.scratch.export_all(100)?;
        let ImportBatch { namespace, records, .. } = desk.scratch.export_all(100)?;
        // Sums say nothing of where something is left out: see `Store::import`.
        let records: Vec<_> =
            records.into_iter().filter(|record| !matches!(record.kind(), Kind::Money | Kind::Counter)).collect();
        let outcomes = copy.scratch.import(namespace, &records)?;
        let told: Vec<_> = records.iter().zip(&outcomes).filter(|(record, _)| record.kind() == untold).collect();
        ensure!(told.iter().all(|(_, told)| **told != Outcome::Entered), "{fact}: {told:?}");
        ensure_eq!(
            told.last().map(|(_, told)| **told),
            Some(Outcome::Contradicts(Contradiction::Older)),
            "what is not known here ({fact})"
        );
        ensure_eq!(copy.scratch.export_all(100)?, before, "all that is here ({fact})");
    }
    Ok(())
}

fn of_two_imports_the_later_mark_counts(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = Desk::new(backend, hold())?;
    let copy = copied(backend, &desk)?;
    ensure_eq!(copy.restored_at()?, Some(at(0)), "the mark of the first import");
    desk.scratch.accept(vec![event("b", "x")])?;
    let ImportBatch { namespace, records, .. } = desk.scratch.export_all(100)?;
    copy.clock().set(at(600));
    copy.import(namespace, &records)?;
    ensure_eq!(copy.restored_at()?, Some(at(600)), "the mark after an event more has entered");
    copy.clock().set(at(300));
    desk.scratch.accept(vec![event("c", "x")])?;
    copy.import(namespace, &desk.scratch.export_all(100)?.records)?;
    ensure_eq!(copy.restored_at()?, Some(at(600)), "the mark where the clock was put back");
    copy.clock().set(at(900));
    copy.import(namespace, &records)?;
    ensure_eq!(copy.restored_at()?, Some(at(600)), "the mark after an import of which nothing enters");
    Ok(())
}
