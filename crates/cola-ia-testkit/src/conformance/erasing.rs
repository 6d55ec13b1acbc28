//! What is left of an event that was erased: that it was there.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{Delivery, Fingerprint, Source};
use cola_ia_core::intake::{Intake, Refusal, RefusalCode};
use cola_ia_core::job::JobState;
use cola_ia_core::store::{Decision, Erased, ErrorKind, Preview, ResolveRequest, StoreError};
use cola_ia_core::verdict::Verdict;

use super::check::{cases, ensure, ensure_eq, refused, words};
use crate::events::{delivery, event, event_from, event_type, line};
use crate::harness::{Backend, Failure, Scratch};

cases![
    an_erased_event_is_only_known_to_have_been_there,
    an_erased_identity_is_judged_as_before_and_nothing_is_kept,
    erasing_ends_a_job_that_no_worker_has,
    refusals_that_name_an_erased_id_lose_their_detail,
    the_hash_of_an_erased_id_is_no_id,
    erasing_again_finds_nothing,
];

fn erase(scratch: &Scratch, id: &str) -> Result<Option<Erased>, StoreError> {
    scratch.erase_as(|| scratch.op(), &Source::default(), id)
}

fn said(id: &str, text: &str) -> Intake {
    Intake::Delivery(Delivery {
        event_type: Some(event_type("order.paid")),
        time: Some(Timestamp::from_micros(5)),
        ..delivery(Source::DEFAULT, id, text)
    })
}

fn an_erased_event_is_only_known_to_have_been_there(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    scratch.accept(vec![said("ana", "x"), said("ana", "y"), said("ana", "z"), said("ana", "x"), said("other", "x")])?;
    let before = scratch.find_one("ana")?;
    let decide = |conflict, decision| {
        let note = Some("about ana".to_owned());
        scratch.resolve_as(
            scratch.op(),
            &ResolveRequest { event: before.job.event, conflicts: vec![conflict], decision, note },
        )
    };
    decide(1, Decision::Accept { run: false })?;
    decide(2, Decision::Keep)?;
    let other = scratch.find_one("other")?;
    let at = scratch.clock().advance(1_000_000);
    let erased = erase(&scratch, "ana")?;
    // Whether bytes are left is for each engine's own tests: a server keeps old versions of rows.
    let gone = erased.is_some_and(|erased| erased.gone);
    let expected = Erased { event: before.job.event, erased_at: at, cancelled: true, gone, next: None };
    ensure_eq!(erased, Some(expected), "the answer");
    scratch.reopen()?;
    let after = scratch.find_one("ana")?;
    ensure_eq!(after.job.erased_at, Some(at), "when it was erased");
    ensure_eq!((after.job.event, after.job.time), (before.job.event, before.job.time), "number and time stay");
    ensure!(!after.job.id.contains("ana") && after.job.id.len() == 64, "the id is {:?}", after.job.id);
    ensure_eq!(after.job.event_type, None, "the type");
    ensure_eq!(after.text, None, "the text");
    ensure_eq!((after.fingerprint, after.revision), (Fingerprint::of("y"), 2), "the fingerprint stays");
    ensure!(after.revisions.iter().all(|revision| revision.text.is_none()), "texts of revisions: {after:?}");
    ensure!(after.conflicts.iter().all(|conflict| conflict.text.is_none()), "texts of conflicts: {after:?}");
    let notes = after.conflicts.iter().flat_map(|conflict| &conflict.decisions).map(|decision| &decision.note);
    ensure_eq!(notes.collect::<Vec<_>>(), vec![&None, &None], "the notes of the decisions");
    ensure_eq!((after.deliveries.len(), after.duplicates), (3, 1), "deliveries are still counted");
    ensure!(after.deliveries.iter().all(|one| one.origin.is_none()), "places where it was read: {after:?}");
    let listed: Vec<String> = scratch.all_jobs()?.into_iter().map(|job| job.id).collect();
    ensure_eq!(listed, vec!["other".to_owned(), after.job.id], "the list of jobs");
    ensure_eq!(scratch.find_one("other")?, other, "the other event");
    Ok(())
}

fn an_erased_identity_is_judged_as_before_and_nothing_is_kept(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    scratch.accept(vec![said("ana", "x"), said("ana", "y")])?;
    let number = scratch.find_one("ana")?.job.event;
    let accept = Decision::Accept { run: false };
    let request = ResolveRequest { event: number, conflicts: vec![1], decision: accept.clone(), note: None };
    scratch.resolve_as(scratch.op(), &request)?;
    erase(&scratch, "ana")?;
    scratch.reopen()?;
    let batch = || vec![said("ana", "x"), said("ana", "y"), said("ana", "z"), event_from("other", "ana", "z")];
    let previews = scratch.preview(batch())?;
    let known = Preview::Known;
    ensure_eq!(
        previews,
        vec![known(Verdict::Duplicate), known(Verdict::Duplicate), known(Verdict::Conflict), Preview::Unknown],
        "the previews"
    );
    ensure_eq!(words(&scratch.accept(batch())?), "duplicate duplicate conflict#2 new", "the verdicts");
    ensure_eq!(words(&scratch.accept(batch())?), "duplicate duplicate conflict#2 duplicate", "and again");
    let found = &scratch.find(Some(Source::default()), "ana")?[0];
    ensure_eq!((found.job.event, found.duplicates), (number, 4), "they are counted");
    let conflict = &found.conflicts[1];
    ensure_eq!((conflict.fingerprint, conflict.count), (Fingerprint::of("z"), 2), "the conflict is counted");
    ensure_eq!(conflict.text, None, "the text of the conflict");
    ensure!(found.deliveries.iter().all(|one| one.origin.is_none()), "places where it was read: {found:?}");
    let request = ResolveRequest { event: number, conflicts: vec![2], decision: accept, note: None };
    refused("a content that is gone", scratch.resolve_as(scratch.op(), &request), ErrorKind::Conflict, "content_gone")?;
    let keep = ResolveRequest { decision: Decision::Keep, ..request };
    scratch.resolve_as(scratch.op(), &keep)?;
    ensure!(scratch.accept(vec![said("ana", "z")])?.receipts[0].decided, "it can be kept");
    Ok(())
}

fn erasing_ends_a_job_that_no_worker_has(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    for state in JobState::ALL {
        let id = state.as_str();
        scratch.accept(vec![event(id, "x")])?;
        let number = scratch.find_one(id)?.job.event;
        scratch.set_job(number, state)?;
        let before = scratch.find_one(id)?;
        if state == JobState::Running {
            refused("while a worker has it", erase(&scratch, id), ErrorKind::Conflict, "job_running")?;
            ensure_eq!(scratch.find_one(id)?, before, "what the store holds");
            continue;
        }
        let stays = matches!(state, JobState::Done | JobState::Cancelled);
        ensure_eq!(erase(&scratch, id)?.map(|erased| erased.cancelled), Some(!stays), "{id}: cancelled");
        let job = scratch.find_one(id)?.job;
        let expected = if stays { (state, "") } else { (JobState::Cancelled, "erased") };
        ensure_eq!((job.state, job.reason.as_str()), expected, "{id}: the job");
        ensure_eq!(job.due_at, None, "{id}: when it is due");
    }
    Ok(())
}

fn refusals_that_name_an_erased_id_lose_their_detail(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let about = |number, detail: &str| Intake::Refusal(Refusal::new(RefusalCode::IdNumber, line(number)).about(detail));
    scratch.accept(vec![about(1, "4711"), about(2, "47110"), about(3, "id 4711"), event("4711", "x")])?;
    erase(&scratch, "4711")?;
    let details: Vec<_> = scratch.refusals()?.into_iter().map(|refusal| (refusal.code, refusal.detail)).collect();
    let code = RefusalCode::IdNumber;
    let expected = vec![(code, String::new()), (code, "47110".to_owned()), (code, String::new())];
    ensure_eq!(details, expected, "the details");
    Ok(())
}

fn the_hash_of_an_erased_id_is_no_id(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("ana", "x")])?;
    erase(&scratch, "ana")?;
    let hash = scratch.find_one("ana")?.job.id;
    ensure_eq!(scratch.find(None, &hash)?, vec![], "the event by its hash");
    ensure_eq!(words(&scratch.accept(vec![event(&hash, "x")])?), "new", "an event that is called so");
    let found = scratch.find_one(&hash)?;
    ensure_eq!((found.job.id, found.job.erased_at), (hash, None), "that event");
    ensure!(scratch.find_one("ana")?.job.event != found.job.event, "they are two events");
    Ok(())
}

fn erasing_again_finds_nothing(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("ana", "x"), event_from("other", "ana", "x")])?;
    ensure_eq!(erase(&scratch, "nobody")?, None, "an id that is not known");
    ensure_eq!(erase(&scratch, "")?, None, "no id");
    let op = scratch.op();
    let first = scratch.erase_as(|| op, &Source::default(), "ana")?;
    let before = scratch.find(None, "ana")?;
    ensure_eq!(before.iter().filter(|event| event.job.erased_at.is_some()).count(), 1, "of one source only");
    scratch.clock().advance(1_000_000);
    scratch.reopen()?;
    ensure_eq!(scratch.erase_as(|| op, &Source::default(), "ana")?, first, "the repeat");
    let again = erase(&scratch, "ana")?;
    let expected = first.map(|first| Erased { cancelled: false, ..first });
    ensure_eq!(again, expected, "erasing it again");
    ensure_eq!(scratch.find(None, "ana")?, before, "what the store holds");
    let answer = scratch.erase_as(|| op, &Source::default(), "another");
    refused("the op for another id", answer, ErrorKind::Conflict, "op_reused")
}
