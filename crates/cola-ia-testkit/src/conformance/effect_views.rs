//! Keys of effects, and where effects are shown.

use std::collections::BTreeSet;
use std::sync::Arc;

use cola_ia_core::effect::{EffectState, Evidence, effect_key};
use cola_ia_core::event::Source;
use cola_ia_core::job::{Ending, LeaseToken};
use cola_ia_core::store::export::{Kind, Outcome, Value};
use cola_ia_core::store::{
    CostsBy, Cursor, EffectFilter, EffectListRequest, ErrorKind, ListRequest, Order, Report, RestoredMark,
};

use super::check::{cases, ensure, ensure_eq, refused};
use super::desk::{Desk, FAILED, POLICY, at, begin_id, claim_one, hold, key, made, micros, retry, word};
use super::money::costs as costs_of;
use crate::events::{event, event_from, source};
use crate::harness::{Backend, Failure, Scratch, block_on};

cases![
    a_key_is_of_the_run_and_the_name_alone,
    a_claim_brings_the_effects_so_far,
    effects_are_listed_newest_first_in_pages,
    effects_are_filtered_by_each_key,
    effects_are_found_by_their_resource,
    a_place_that_no_list_of_effects_gave_is_refused,
    effects_and_money_move_with_an_export,
    tries_and_effects_have_bounds,
];

fn a_key_is_of_the_run_and_the_name_alone(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, retry())?;
    let namespace = block_on(desk.scratch.store().namespace())?;
    let expected = |run, name| effect_key(&namespace, &Source::default(), "a", run, name);
    let begun = |desk: &Desk, name: &str, id| desk.begun(desk.asked(name, id)).map(|begun| begun.key);
    ensure_eq!(begun(&desk, "pay", 1)?, expected(1, "pay"), "the first attempt's key");
    ensure_eq!(begun(&desk, "post", 2)?, expected(1, "post"), "another effect's key");
    desk.request = Some([1; 32]);
    desk.next_attempt(1)?;
    ensure_eq!(begun(&desk, "pay", 3)?, expected(1, "pay"), "the second attempt's key, for another request");
    desk.scratch.reopen()?;
    ensure_eq!(begun(&desk, "pay", 3)?, expected(1, "pay"), "the key after a reopen");
    desk.done(1, made("r1"))?;
    ensure_eq!(begun(&desk, "pay", 4)?, expected(1, "pay"), "the key of what is done");
    desk.done_as(desk.of_effect("post", 1), made("r2"))?;
    desk.end(Ending::Done)?;
    desk.order(Order::Replay)?.map_err(|refused| format!("a replay is answered {refused:?}"))?;
    desk.claim_again()?;
    ensure_eq!(begun(&desk, "pay", 5)?, expected(2, "pay"), "the second run's key");
    ensure_eq!(desk.view()?.key, expected(2, "pay"), "the key that is shown");
    Ok(())
}

fn a_claim_brings_the_effects_so_far(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, hold())?;
    ensure_eq!(desk.leased.effects, [], "of a job that has begun none");
    for (number, name) in (1..).zip(["b", "c", "a"]) {
        desk.begin_of(name, number)?;
    }
    desk.done_as(desk.of_effect("b", 1), made("r1"))?;
    desk.next_attempt(1)?;
    let got: Vec<_> = desk.leased.effects.iter().map(|view| (view.effect.name.as_str(), view.effect.state)).collect();
    let unknown = EffectState::Unknown;
    ensure_eq!(got, [("a", unknown), ("b", EffectState::Done), ("c", unknown)], "the effects of the run, by name");
    let mut shown = desk.effects()?;
    shown.sort_by(|one, other| one.effect.name.cmp(&other.effect.name));
    ensure_eq!(desk.leased.effects, shown, "what a worker gets, and what is shown");
    for name in ["a", "c"] {
        desk.done_as(desk.of_effect(name, 1), made("r2"))?;
    }
    desk.end(Ending::Done)?;
    desk.order(Order::Replay)?.map_err(|refused| format!("a replay is answered {refused:?}"))?;
    desk.claim_again()?;
    ensure_eq!(desk.leased.effects, [], "of a new run");
    Ok(())
}

/// Five effects of two sources: `b` and `a` of `a`, `pay` of `x`, `c` of `a`, `d` of `x`.
fn five(backend: &dyn Backend) -> Result<Desk, Failure> {
    let mut desk = Desk::new(backend, hold())?;
    desk.scratch.accept(vec![event_from("web", "x", "text of x")])?;
    let first = desk.leased.clone();
    let second = claim_one(&desk.scratch)?;
    for (number, (lease, name)) in
        (1..).zip([(&first, "b"), (&first, "a"), (&second, "pay"), (&first, "c"), (&second, "d")])
    {
        desk.leased = lease.clone();
        desk.begin_of(name, number)?;
    }
    desk.done(1, made("r1"))?;
    block_on(desk.scratch.store().effect_unknown(desk.of_effect("d", 1), None, POLICY))?;
    desk.leased = first;
    Ok(desk)
}

fn names(desk: &Desk, filter: &EffectFilter, limit: u32) -> Result<Vec<String>, Failure> {
    Ok(desk.scratch.all_effects(filter, limit)?.iter().map(|one| one.view.effect.name.to_string()).collect())
}

fn effects_are_listed_newest_first_in_pages(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = five(backend)?;
    for limit in [1, 2, 3, 5, 9] {
        ensure_eq!(names(&desk, &EffectFilter::default(), limit)?, ["d", "c", "pay", "a", "b"], "in pages of {limit}");
    }
    let newest = desk.scratch.all_effects(&EffectFilter::default(), 9)?.remove(0);
    let job = desk.scratch.find_one("x")?;
    ensure_eq!((newest.event, newest.source, newest.id.as_str()), (job.job.event, source("web"), "x"), "whose it is");
    ensure_eq!(newest.view, job.effects[0], "the effect, as its job's history shows it");
    let page = ListRequest { after: None, limit: 0 };
    let page = block_on(desk.scratch.store().effect_list(EffectListRequest { page, ..EffectListRequest::default() }))?;
    ensure_eq!(page.items.len(), 1, "a page of none is taken as one of one");
    // What begins while pages are read is in none of the later ones.
    let request = |after| EffectListRequest { page: ListRequest { after, limit: 2 }, ..EffectListRequest::default() };
    let first = block_on(desk.scratch.store().effect_list(request(None)))?;
    desk.begin_of("e", 6)?;
    let second = block_on(desk.scratch.store().effect_list(request(first.next)))?;
    let got: Vec<_> = second.items.iter().map(|one| one.view.effect.name.as_str()).collect();
    ensure_eq!(got, ["pay", "a"], "the second page, after another one began");
    Ok(())
}

fn effects_are_filtered_by_each_key(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = five(backend)?;
    let of = |names: &[&str]| EffectFilter {
        sources: names.iter().map(|name| source(name)).collect(),
        ..EffectFilter::default()
    };
    let in_state = |states: &[EffectState]| EffectFilter { states: states.to_vec(), ..EffectFilter::default() };
    let alarmed = EffectFilter { alarmed: true, ..EffectFilter::default() };
    ensure_eq!(names(&desk, &of(&["web"]), 2)?, ["d", "pay"], "of one source");
    ensure_eq!(names(&desk, &of(&["web", Source::DEFAULT]), 2)?.len(), 5, "of both");
    ensure_eq!(names(&desk, &of(&["nobody"]), 2)?, [""; 0], "of a source that is not there");
    ensure_eq!(names(&desk, &in_state(&[EffectState::Intended]), 2)?, ["c", "a", "b"], "in one state");
    let open = [EffectState::Unknown, EffectState::Done, EffectState::Held];
    ensure_eq!(names(&desk, &in_state(&open), 1)?, ["d", "pay"], "in one of three states");
    ensure_eq!(names(&desk, &alarmed, 2)?, [""; 0], "that carry an alarm");
    let twice = [EffectState::Unknown, EffectState::Unknown];
    ensure_eq!(names(&desk, &in_state(&twice), 1)?, ["d"], "in one state, named twice");
    let both = EffectFilter { states: vec![EffectState::Unknown], ..of(&["web"]) };
    ensure_eq!(names(&desk, &both, 2)?, ["d"], "by two keys");
    let mut second = desk.of_effect("pay", 1);
    second.lease = claim_of(&desk, "x")?;
    desk.done_as(second, made("r2"))?;
    ensure_eq!(names(&desk, &alarmed, 2)?, ["pay"], "that carry an alarm, when one does");
    Ok(())
}

/// The lease of the job of this id, by whoever has it.
fn claim_of(desk: &Desk, id: &str) -> Result<LeaseToken, Failure> {
    let effects = desk.scratch.find_one(id)?.effects;
    let lease = effects.iter().flat_map(|view| &view.effect.tries).find_map(|one| one.lease);
    lease.ok_or_else(|| format!("no effect of {id} was begun under a lease").into())
}

fn effects_are_found_by_their_resource(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = five(backend)?;
    let made_it = |id: &str| EffectFilter { resource_id: Some(id.to_owned()), ..EffectFilter::default() };
    for (number, name) in [(1, "b"), (1, "a"), (1, "c")] {
        desk.done_as(desk.of_effect(name, number), made(&format!("made by {name}")))?;
    }
    let report = Report { resource_id: Some("the job's".to_owned()), ..Report::default() };
    desk.tell(desk.leased.token, Ending::Done, report)?.map_err(|refused| format!("done is answered {refused:?}"))?;
    ensure_eq!(names(&desk, &made_it("made by a"), 9)?, ["a"], "the one that made it");
    ensure_eq!(names(&desk, &made_it("r1"), 9)?, ["d", "pay"], "the one that made it, and others of a job that has it");
    ensure_eq!(names(&desk, &made_it("the job's"), 1)?, ["c", "a", "b"], "those of the job that says it made it");
    ensure_eq!(names(&desk, &made_it("made by"), 9)?, [""; 0], "a part of it");
    let ids: BTreeSet<_> = desk.scratch.all_effects(&made_it("r1"), 9)?.into_iter().map(|one| one.id).collect();
    ensure_eq!(ids.into_iter().collect::<Vec<_>>(), ["x"], "whose they are");
    Ok(())
}

fn a_place_that_no_list_of_effects_gave_is_refused(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = Desk::new(backend, hold())?;
    desk.scratch.accept(vec![event("b", "x")])?;
    desk.end(FAILED)?;
    for place in ["", "x", "1x", "newest"] {
        let page = ListRequest { after: Some(Cursor(place.to_owned())), limit: 3 };
        let request = EffectListRequest { page, ..EffectListRequest::default() };
        let answer = block_on(desk.scratch.store().effect_list(request));
        refused(place, answer, ErrorKind::Invalid, "cursor_unknown")?;
    }
    Ok(())
}

fn effects_and_money_move_with_an_export(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, key(9_000))?;
    let scratch = &desk.scratch;
    block_on(scratch.store().set_currency("EUR".to_owned()))?;
    block_on(scratch.store().set_budget(scratch.op(), Source::default(), Some(micros(100))))?;
    desk.expected = Some(micros(10));
    desk.request = Some([1; 32]);
    desk.begin_of("paid", 1)?;
    desk.done_as(desk.of_effect("paid", 1), Evidence { cost: Some(micros(7)), ..made("r1") })?;
    let first = desk.begun(desk.asked("pay", 2))?;
    desk.next_attempt(1)?;
    desk.begin_of("paid", 3)?;
    desk.begin(4)?;
    let report = Report { cost_micros: Some(5), model: Some("small".to_owned()), ..Report::default() };
    desk.tell(desk.leased.token, FAILED, report)?.map_err(|refused| format!("a failure is answered {refused:?}"))?;
    let all = desk.scratch.export_all(3)?;
    let other = Scratch::new(backend)?;
    other.clock().set(at(1));
    let outcomes = other.import_as(other.op(), &Arc::new(all.clone()))?.outcomes;
    ensure!(outcomes.iter().all(|outcome| *outcome == Outcome::Entered || *outcome == Outcome::Same), "{outcomes:?}");
    ensure_eq!(other.export_all(100)?, all, "the export of the store that it entered");
    other.restored(RestoredMark::Cleared)?;
    ensure_eq!(other.find_one("a")?, desk.scratch.find_one("a")?, "the event with its effects");
    let budgets = |scratch: &Scratch| block_on(scratch.store().budgets());
    ensure_eq!(budgets(&other)?, budgets(&desk.scratch)?, "budgets");
    let costs = |scratch: &Scratch| costs_of(scratch, CostsBy::Model);
    ensure_eq!(costs(&other)?, costs(&desk.scratch)?, "costs and currency");
    desk.scratch = other;
    desk.claim_again()?;
    ensure_eq!(desk.begin_of("paid", 5)?, "done r1", "what was done there");
    let again = desk.begun(desk.asked("pay", 6))?;
    ensure_eq!((word(&again.answer).as_str(), again.key), ("go 3 before 11", first.key), "what was open there");
    Ok(())
}

fn tries_and_effects_have_bounds(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = Desk::new(backend, retry())?;
    desk.begin(1)?;
    desk.end(FAILED)?;
    let mut all = desk.scratch.export_all(9)?;
    let number = Value::Number;
    // As many as there can be, but for one: an import brings them sooner than as many calls.
    let (mut tries, mut effects) = (Vec::new(), Vec::new());
    for record in &all.records {
        for more in 2..1_000 {
            match record.kind() {
                Kind::EffectTry => {
                    let id = begin_id(more as u32 + 1_000).0.to_vec();
                    tries.push(record.clone().with("number", number(more)).with("begin_id", Value::Bytes(id)));
                }
                Kind::Effect => effects.push(
                    record
                        .clone()
                        .with("effect", number(more + 1_000))
                        .with("name", Value::Text(format!("effect.{more}")))
                        .with("key", Value::Text(format!("key {more}")))
                        .with("state", Value::Text("failed".to_owned()))
                        .with("reason", Value::Null),
                ),
                _ => {}
            }
        }
    }
    let behind = all.records.iter().rposition(|record| record.kind() == Kind::EffectTry).ok_or("no try is exported")?;
    all.records.splice(behind + 1..=behind, tries);
    all.records.splice(behind..behind, effects);
    let mut other = Desk { scratch: Scratch::new(backend)?, ..desk };
    other.scratch.import(all.namespace, &all.records)?;
    other.scratch.restored(RestoredMark::Cleared)?;
    other.claim_again()?;
    ensure_eq!(other.begin(2)?, "go 1000 before 10", "the last try");
    ensure_eq!(other.begin(3)?, "TooMany", "one more");
    ensure_eq!(other.begin_of("last", 4)?, "go 1 before 10", "the last effect");
    ensure_eq!(other.begin_of("more", 5)?, "TooMany", "one more");
    Ok(())
}
