//! What a person decides about conflicts.

use std::sync::Arc;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{Delivery, EventId, Fingerprint};
use cola_ia_core::intake::{EventNumber, Intake};
use cola_ia_core::job::JobState;
use cola_ia_core::store::{
    Decision, DecisionKind, ErrorKind, NOTE_MAX_BYTES, Preview, RESOLVE_MAX, ResolveRequest, Resolved, StoreError,
};
use cola_ia_core::verdict::Verdict;

use super::check::{cases, ensure, ensure_eq, refused, words};
use crate::events::{delivery, event, event_type};
use crate::harness::{Backend, Failure, Scratch};

cases![
    a_kept_conflict_stays_one_and_is_no_alarm,
    an_accepted_content_is_a_duplicate_from_then_on,
    a_job_that_does_not_wait_is_touched_only_by_a_new_run,
    a_content_enters_under_another_id_as_its_own_event,
    a_content_does_not_enter_under_an_id_that_is_known,
    without_a_number_exactly_one_conflict_must_be_undecided,
    what_was_acted_upon_is_not_decided_again,
    all_conflicts_of_a_call_are_decided_or_none,
    same_op_decides_once,
    a_repeated_batch_says_decided_as_it_was_then,
];

/// One event `id` with this many conflicts of the texts `c1`, `c2`, ….
fn with_conflicts(scratch: &Scratch, count: usize) -> Result<EventNumber, Failure> {
    let others = (1..=count).map(|number| event("id", &format!("c{number}")));
    scratch.accept([event("id", "x")].into_iter().chain(others).collect())?;
    Ok(scratch.find_one("id")?.job.event)
}

fn decide(
    scratch: &Scratch,
    event: EventNumber,
    conflicts: &[u32],
    decision: Decision,
) -> Result<Resolved, StoreError> {
    let request = ResolveRequest { event, conflicts: conflicts.to_vec(), decision, note: None };
    scratch.resolve_as(scratch.op(), &request)
}

const ACCEPT: Decision = Decision::Accept { run: false };

fn as_id(id: &str) -> Decision {
    Decision::As(EventId::new(id).expect("the test writes an id of the right form"))
}

/// The words of a batch, those that are no alarm with a `-`.
fn alarms(scratch: &Scratch, texts: &[&str]) -> Result<String, Failure> {
    let accepted = scratch.accept(texts.iter().map(|text| event("id", text)).collect())?;
    let words = words(&accepted);
    let marked = words.split(' ').zip(&accepted.receipts);
    Ok(marked
        .map(|(word, receipt)| format!("{word}{}", if receipt.decided { "-" } else { "" }))
        .collect::<Vec<_>>()
        .join(" "))
}

fn a_kept_conflict_stays_one_and_is_no_alarm(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    let number = with_conflicts(&scratch, 2)?;
    let at = scratch.clock().advance(1_000_000);
    let request = ResolveRequest {
        event: number,
        conflicts: vec![1],
        decision: Decision::Keep,
        note: Some("nota \u{202e}de Ana".to_owned()),
    };
    let resolved = scratch.resolve_as(scratch.op(), &request)?;
    let expected = Resolved {
        decided_at: at,
        conflicts: vec![1],
        revision: 1,
        state: JobState::Pending,
        run: 1,
        rerun: false,
        entered: None,
    };
    ensure_eq!(resolved, expected, "the answer");
    scratch.reopen()?;
    let previews = scratch.preview(vec![event("id", "c1"), event("id", "c2"), event("id", "x")])?;
    let known = Preview::Known;
    ensure_eq!(previews, vec![Preview::Decided, known(Verdict::Conflict), known(Verdict::Duplicate)], "the previews");
    ensure_eq!(alarms(&scratch, &["c1", "c2", "c3", "c1"])?, "conflict#1- conflict#2 conflict#3 conflict#1-", "again");
    let conflicts = scratch.find_one("id")?.conflicts;
    ensure_eq!(conflicts[0].count, 3, "it is counted");
    ensure_eq!(conflicts[0].text.as_deref(), Some("c1"), "its text is kept");
    let decisions = &conflicts[0].decisions;
    ensure_eq!(decisions.len(), 1, "decisions");
    ensure_eq!((decisions[0].kind, decisions[0].decided_at), (DecisionKind::Keep, at), "the decision");
    ensure_eq!(decisions[0].note, request.note, "the note");
    ensure!(conflicts[1].decisions.is_empty(), "the other one is undecided");
    Ok(())
}

fn an_accepted_content_is_a_duplicate_from_then_on(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    let number = with_conflicts(&scratch, 3)?;
    let before = scratch.find_one("id")?.job;
    let first = scratch.clock().advance(1_000_000);
    ensure_eq!(decide(&scratch, number, &[2], ACCEPT)?.revision, 2, "the first accepted one");
    let second = scratch.clock().advance(1_000_000);
    // Several at once, in the order of the call.
    ensure_eq!(decide(&scratch, number, &[3, 1], ACCEPT)?.revision, 4, "two more");
    scratch.reopen()?;
    let batch = || ["x", "c1", "c2", "c3", "c4"].map(|text| event("id", text)).to_vec();
    let mut expected = vec![Preview::Known(Verdict::Duplicate); 4];
    expected.push(Preview::Known(Verdict::Conflict));
    ensure_eq!(scratch.preview(batch())?, expected, "the previews");
    ensure_eq!(
        alarms(&scratch, &["x", "c1", "c2", "c3", "c4"])?,
        "duplicate duplicate duplicate duplicate conflict#4",
        "again"
    );

    let found = scratch.find_one("id")?;
    ensure_eq!(found.job, before, "a job that waits only gets the new text");
    ensure_eq!((found.text.as_deref(), found.revision), (Some("c1"), 4), "what workers get");
    ensure_eq!(found.fingerprint, Fingerprint::of("c1"), "its fingerprint");
    let revisions: Vec<_> = found
        .revisions
        .iter()
        .map(|revision| (revision.number, revision.text.as_deref(), revision.accepted_at, revision.conflict))
        .collect();
    let entered = found.job.received_at;
    ensure_eq!(
        revisions,
        vec![(1, Some("x"), entered, None), (2, Some("c2"), first, Some(2)), (3, Some("c3"), second, Some(3))],
        "the revisions before"
    );
    ensure_eq!(found.duplicates, 4, "duplicates");
    let conflicts: Vec<_> = found.conflicts.iter().map(|conflict| (conflict.count, conflict.decisions.len())).collect();
    ensure_eq!(conflicts, vec![(1, 1), (1, 1), (1, 1), (1, 0)], "what is a duplicate is no conflict any more");
    Ok(())
}

fn a_job_that_does_not_wait_is_touched_only_by_a_new_run(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let number = with_conflicts(&scratch, 8)?;
    let mut run = 1;
    for (conflict, state) in (1..).zip([JobState::Running, JobState::Done, JobState::Failed, JobState::Held]) {
        scratch.set_job(number, state)?;
        let before = scratch.find_one("id")?.job;
        let resolved = decide(&scratch, number, &[conflict], ACCEPT)?;
        ensure_eq!((resolved.state, resolved.rerun), (state, false), "accepted while {state:?}");
        ensure_eq!(scratch.find_one("id")?.job, before, "the job after that");

        let at = scratch.clock().advance(1_000_000);
        let resolved = decide(&scratch, number, &[conflict + 4], Decision::Accept { run: true })?;
        run += 1;
        ensure_eq!((resolved.state, resolved.run, resolved.rerun), (JobState::Pending, run, true), "with a new run");
        let job = scratch.find_one("id")?.job;
        ensure_eq!(
            (job.state, job.run, job.attempts, job.due_at),
            (JobState::Pending, run, 0, Some(at)),
            "the new run"
        );
    }
    // It waits already, and gets the new text as it is.
    scratch.accept(vec![event("id", "c9")])?;
    let resolved = decide(&scratch, number, &[9], Decision::Accept { run: true })?;
    ensure_eq!((resolved.run, resolved.rerun, resolved.revision), (run, false, 10), "a new run of a job that waits");
    Ok(())
}

fn a_content_enters_under_another_id_as_its_own_event(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let plain = delivery("form", "id", "c1");
    let other = Delivery { event_type: Some(event_type("t")), time: Some(Timestamp::from_micros(7)), ..plain.clone() };
    scratch.accept(vec![Intake::Delivery(delivery("form", "id", "x")), Intake::Delivery(other)])?;
    let old = scratch.find_one("id")?.job.event;
    let at = scratch.clock().advance(1_000_000);
    let resolved = decide(&scratch, old, &[], as_id("id-2"))?;
    let new = scratch.find_one("id-2")?;
    ensure_eq!(resolved.entered, Some((Verdict::New, new.job.event)), "the answer");
    ensure_eq!((new.job.source.as_str(), new.job.state, new.job.run), ("form", JobState::Pending, 1), "its job");
    ensure_eq!((new.job.received_at, new.job.due_at), (at, Some(at)), "its times");
    ensure_eq!(
        (new.job.time, &new.job.event_type),
        (Some(Timestamp::from_micros(7)), &Some(event_type("t"))),
        "it says"
    );
    ensure_eq!(new.text.as_deref(), Some("c1"), "its text");
    ensure_eq!(scratch.all_jobs()?.len(), 2, "jobs");

    let conflict = &scratch.find_one("id")?.conflicts[0];
    let decisions: Vec<_> = conflict.decisions.iter().map(|made| (made.kind, made.entered)).collect();
    ensure_eq!(decisions, vec![(DecisionKind::As, Some(new.job.event))], "the decision");
    let renamed = Delivery { id: EventId::new("id-2").expect("an id"), ..plain.clone() };
    let accepted = scratch.accept(vec![Intake::Delivery(plain), Intake::Delivery(renamed)])?;
    ensure_eq!(words(&accepted), "conflict#1 duplicate", "both deliveries again");
    ensure!(accepted.receipts[0].decided, "the conflict is no alarm");
    Ok(())
}

fn a_content_does_not_enter_under_an_id_that_is_known(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let number = with_conflicts(&scratch, 2)?;
    scratch.accept(vec![event("same", "c1"), event("other", "y")])?;
    let state = |scratch: &Scratch| -> Result<_, Failure> {
        Ok((scratch.find_one("id")?, scratch.find_one("other")?, scratch.all_jobs()?))
    };
    let before = state(&scratch)?;
    let answer = decide(&scratch, number, &[1], as_id("other"));
    refused("an id with another content", answer, ErrorKind::Conflict, "id_taken")?;
    refused("its own id", decide(&scratch, number, &[1], as_id("id")), ErrorKind::Conflict, "id_taken")?;
    refused("two contents", decide(&scratch, number, &[1, 2], as_id("new")), ErrorKind::Invalid, "resolve_too_many")?;
    ensure_eq!(state(&scratch)?, before, "what the store holds");

    let same = scratch.find_one("same")?.job.event;
    let resolved = decide(&scratch, number, &[1], as_id("same"))?;
    ensure_eq!(resolved.entered, Some((Verdict::Duplicate, same)), "an id with the same content");
    ensure_eq!(scratch.find_one("same")?.duplicates, 1, "it is a delivery like any other");
    ensure_eq!(scratch.all_jobs()?.len(), 3, "jobs");
    ensure_eq!(scratch.find_one("id")?.conflicts[0].decisions[0].entered, Some(same), "the decision");
    Ok(())
}

fn without_a_number_exactly_one_conflict_must_be_undecided(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let number = with_conflicts(&scratch, 3)?;
    let not_named = |what: &str, answer| refused(what, answer, ErrorKind::Invalid, "conflict_not_named");
    not_named("of three", decide(&scratch, number, &[], Decision::Keep))?;
    decide(&scratch, number, &[3], Decision::Keep)?;
    not_named("of two that are left", decide(&scratch, number, &[], ACCEPT))?;
    decide(&scratch, number, &[1], Decision::Keep)?;
    ensure_eq!(decide(&scratch, number, &[], Decision::Keep)?.conflicts, vec![2], "the one that is left");
    not_named("of none", decide(&scratch, number, &[], Decision::Keep))?;
    let nobody = EventNumber(number.0 + 1_000);
    refused("an event that is not there", decide(&scratch, nobody, &[], ACCEPT), ErrorKind::Invalid, "event_unknown")
}

fn what_was_acted_upon_is_not_decided_again(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let number = with_conflicts(&scratch, 2)?;
    // What was only kept may be seen otherwise later.
    for (decision, kinds) in [
        (Decision::Keep, vec![DecisionKind::Keep]),
        (Decision::Keep, vec![DecisionKind::Keep; 2]),
        (ACCEPT, vec![DecisionKind::Keep, DecisionKind::Keep, DecisionKind::Accept]),
    ] {
        decide(&scratch, number, &[1], decision)?;
        let conflict = &scratch.find_one("id")?.conflicts[0];
        let made: Vec<_> = conflict.decisions.iter().map(|made| made.kind).collect();
        ensure_eq!(made, kinds, "each decision is recorded");
    }
    decide(&scratch, number, &[2], as_id("id-2"))?;
    let before = (scratch.find_one("id")?, scratch.all_jobs()?);
    for conflict in [1, 2] {
        for decision in [Decision::Keep, ACCEPT, as_id("id-3")] {
            let what = format!("conflict {conflict}, {decision:?}");
            let answer = decide(&scratch, number, &[conflict], decision);
            refused(&what, answer, ErrorKind::Conflict, "conflict_decided")?;
        }
    }
    ensure_eq!((scratch.find_one("id")?, scratch.all_jobs()?), before, "what the store holds");
    Ok(())
}

fn all_conflicts_of_a_call_are_decided_or_none(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let number = with_conflicts(&scratch, 2)?;
    let before = scratch.find_one("id")?;
    refused(
        "one that is not there",
        decide(&scratch, number, &[1, 3], ACCEPT),
        ErrorKind::Invalid,
        "conflict_unknown",
    )?;
    let too_many: Vec<u32> = (1..=RESOLVE_MAX as u32 + 1).collect();
    let answer = decide(&scratch, number, &too_many, Decision::Keep);
    refused("too many", answer, ErrorKind::Invalid, "resolve_too_many")?;
    let note = Some("x".repeat(NOTE_MAX_BYTES + 1));
    let request = ResolveRequest { event: number, conflicts: vec![1], decision: Decision::Keep, note };
    refused("a long note", scratch.resolve_as(scratch.op(), &request), ErrorKind::Invalid, "note_too_long")?;
    ensure_eq!(scratch.find_one("id")?, before, "what the store holds");
    ensure_eq!(decide(&scratch, number, &[2, 1, 2], ACCEPT)?.conflicts, vec![2, 1], "one that is named twice");
    ensure_eq!(scratch.find_one("id")?.revision, 3, "revisions");
    Ok(())
}

fn same_op_decides_once(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    let number = with_conflicts(&scratch, 3)?;
    scratch.set_job(number, JobState::Done)?;
    let requests = [
        (vec![1], Decision::Accept { run: true }, Some("why")),
        (vec![2], as_id("id-2"), None),
        (vec![3], Decision::Keep, None),
    ];
    for (conflicts, decision, note) in requests {
        let request = ResolveRequest { event: number, conflicts, decision, note: note.map(str::to_owned) };
        let op = scratch.op();
        let first = scratch.resolve_as(op, &request)?;
        let before = (scratch.find_one("id")?, scratch.all_jobs()?);
        scratch.clock().advance(1_000_000);
        scratch.reopen()?;
        ensure_eq!(scratch.resolve_as(op, &request)?, first, "the repeat of {request:?}");
        ensure_eq!((scratch.find_one("id")?, scratch.all_jobs()?), before, "what the store holds after it");
        let others = [
            ResolveRequest { conflicts: vec![1, 2, 3], ..request.clone() },
            ResolveRequest { decision: as_id("id-3"), ..request.clone() },
            ResolveRequest { note: Some("another".to_owned()), ..request.clone() },
        ];
        for other in &others {
            let answer = scratch.resolve_as(op, other);
            refused(&format!("the op for {other:?}"), answer, ErrorKind::Conflict, "op_reused")?;
        }
        let answer = scratch.accept_as(op, &Arc::new(vec![event("a", "x")]));
        refused("the op for a batch", answer, ErrorKind::Conflict, "op_reused")?;
    }
    let op = scratch.op();
    scratch.accept_as(op, &Arc::default())?;
    let request = ResolveRequest { event: number, conflicts: vec![3], decision: ACCEPT, note: None };
    refused("the op of a batch", scratch.resolve_as(op, &request), ErrorKind::Conflict, "op_reused")
}

fn a_repeated_batch_says_decided_as_it_was_then(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let number = with_conflicts(&scratch, 1)?;
    let batch = Arc::new(vec![event("id", "c1")]);
    let (before, after) = (scratch.op(), scratch.op());
    let undecided = scratch.accept_as(before, &batch)?;
    decide(&scratch, number, &[1], Decision::Keep)?;
    let kept = scratch.accept_as(after, &batch)?;
    decide(&scratch, number, &[1], ACCEPT)?;
    ensure_eq!((undecided.receipts[0].decided, kept.receipts[0].decided), (false, true), "the first answers");
    ensure_eq!(scratch.accept_as(before, &batch)?, undecided, "the repeat of the first");
    ensure_eq!(scratch.accept_as(after, &batch)?, kept, "the repeat of the second");
    Ok(())
}
