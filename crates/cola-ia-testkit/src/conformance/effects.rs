//! May it be sent? And what a worker reports of what it sent.

use cola_ia_core::effect::{
    Alarm, Begin, BeginAnswer, EffectState, Evidence, Go, Policy, Reason, ReportAnswer, Witness,
};
use cola_ia_core::job::LeaseToken;
use cola_ia_core::store::{
    EFFECT_NOTE_MAX_BYTES, ERROR_CLASS_MAX_BYTES, EffectRef, Failure as NotDone, Looked, RESOURCE_ID_MAX_BYTES,
    RESULT_MAX_BYTES,
};

use super::check::{cases, ensure, ensure_eq};
use super::desk::{Desk, POLICY, SETTLED, at, hold, key, lookup, made, micros, name, retry, word};
use super::money::total;
use crate::harness::{Backend, Failure, block_on};

cases![
    the_first_begin_is_go_and_is_on_record,
    a_begin_repeated_gets_the_same_go,
    a_begin_id_makes_one_try,
    another_begin_id_makes_it_unknown,
    a_begin_without_the_lease_is_refused,
    a_done_effect_answers_what_is_recorded,
    under_lookup_somebody_looks_before_a_further_try,
    a_ticket_is_void_after_a_further_try,
    what_a_lookup_found_is_recorded,
    under_lookup_a_rejected_try_is_looked_after_too,
    a_key_is_used_again_within_its_time,
    what_is_cheap_or_may_be_doubled_is_tried_again,
    another_request_is_refused_only_in_place_of_a_resend,
    the_first_policy_is_kept,
    a_try_that_failed_beside_an_open_one_proves_nothing,
    a_late_done_is_recorded_and_other_late_words_are_not,
    a_done_of_a_lease_that_is_not_known_finds_its_job,
    evidence_over_failed_raises_an_alarm,
    a_second_resource_is_a_double_effect,
    what_is_done_stays_done,
    done_closes_all_tries_of_one_key,
    every_report_said_twice_is_said_once,
    reports_of_what_is_not_there_change_nothing,
    what_is_told_of_an_effect_is_cut_to_its_bounds,
];

fn the_first_begin_is_go_and_is_on_record(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, key(300))?;
    desk.at(5);
    (desk.expected, desk.request) = (Some(micros(7)), Some([3; 32]));
    let asked = desk.asked("pay", 1);
    let begun = desk.begun(asked.clone())?;
    let go = Go { number: 1, send_before: at(15), deadline: at(35), key_until: Some(at(305)) };
    ensure_eq!((begun.at, begun.answer), (at(5), BeginAnswer::Go(go)), "the answer");
    let view = desk.view()?;
    ensure_eq!((view.key, view.changed_at, view.replays), (begun.key, at(5), 0), "what is kept beside it");
    let effect = view.effect;
    ensure_eq!((effect.run, effect.state, effect.reason), (1, EffectState::Intended, None), "run and state");
    ensure_eq!((effect.policy, effect.begun_at, effect.alarm), (key(300), at(5), None), "policy and time");
    let [one] = &effect.tries[..] else { return Err(format!("one begin has {} tries", effect.tries.len()).into()) };
    ensure_eq!((one.begin_id, one.lease), (Some(asked.begin_id), Some(asked.lease)), "who began it");
    ensure_eq!((one.request, one.expected), (asked.request, asked.expected), "what it sends and may cost");
    ensure_eq!(
        (one.begun_at, one.send_before, one.deadline, one.key_until),
        (at(5), at(15), at(35), Some(at(305))),
        ""
    );
    ensure_eq!((one.outcome, one.reserved.map(|held| held.amount)), (None, asked.expected), "its outcome and money");
    Ok(())
}

fn a_begin_repeated_gets_the_same_go(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, hold())?;
    let first = desk.begun(desk.asked("pay", 1))?;
    desk.at(7);
    let again = desk.begun(desk.asked("pay", 1))?;
    ensure_eq!((again.answer, again.key), (first.answer.clone(), first.key.clone()), "the answer, seven seconds later");
    desk.scratch.reopen()?;
    ensure_eq!(desk.begun(desk.asked("pay", 1))?.answer, first.answer, "the answer after a reopen");
    ensure_eq!(desk.tries()?, ["open"], "tries");
    ensure_eq!(desk.state()?, EffectState::Intended, "the state");
    Ok(())
}

fn a_begin_id_makes_one_try(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = Desk::new(backend, hold())?;
    desk.begin(1)?;
    desk.not_sent(1)?;
    ensure_eq!(desk.begin(1)?, "used", "the same begin after its try has ended");
    ensure_eq!(desk.begin(2)?, "go 2 before 10", "another begin");
    ensure_eq!(desk.begin(1)?, "used", "the first one beside an open try");
    ensure_eq!(desk.begin_of("post", 1)?, "used", "the first one for another effect");
    ensure_eq!(desk.effects()?.len(), 1, "effects");
    ensure_eq!(desk.begin_of("post", 3)?, "go 1 before 10", "one of its own for another effect");
    Ok(())
}

fn another_begin_id_makes_it_unknown(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = Desk::new(backend, lookup())?;
    desk.begin(1)?;
    desk.at(3);
    // A process that was started anew does not know whether the first one sent.
    ensure_eq!(desk.begin(2)?, format!("wait {SETTLED}"), "another begin while the first one's try is open");
    let view = desk.view()?;
    ensure_eq!((view.effect.state, view.effect.reason), (EffectState::Unknown, Some(Reason::BegunAgain)), "the state");
    ensure_eq!(view.changed_at, at(3), "when it changed");
    ensure_eq!(desk.begin(1)?, "used", "the first begin from then on");
    Ok(())
}

fn a_begin_without_the_lease_is_refused(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, key(3_000))?;
    let first = desk.asked("pay", 1);
    desk.begun(first.clone())?;
    let nobody = Begin { lease: LeaseToken::new([9; 16], 9), ..desk.asked("other", 2) };
    let begun = desk.begun(nobody)?;
    ensure_eq!((word(&begun.answer).as_str(), begun.key.as_str()), ("LeaseLost", ""), "a lease that nobody gave");
    desk.next_attempt(20)?;
    let begun = desk.begun(first)?;
    ensure_eq!(
        (word(&begun.answer).as_str(), begun.key.as_str()),
        ("LeaseLost", ""),
        "the same begin of an ended lease"
    );
    ensure_eq!((desk.state()?, desk.effects()?.len()), (EffectState::Unknown, 1), "the effect");
    Ok(())
}

fn a_done_effect_answers_what_is_recorded(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, hold())?;
    desk.expected = Some(micros(9));
    desk.begin(1)?;
    let evidence = Evidence {
        resource_id: Some("r1".to_owned()),
        result: Some("{\"id\":1}".to_owned()),
        cost: Some(micros(4)),
        tokens_in: Some(100),
        tokens_out: Some(20),
        model: Some("small".to_owned()),
    };
    desk.at(2);
    ensure_eq!(desk.done(1, evidence.clone())?, ReportAnswer::Recorded, "the report");
    desk.next_attempt(50)?;
    let BeginAnswer::Done(known) = desk.begun(desk.asked("pay", 2))?.answer else {
        return Err("a later attempt is not answered what is recorded".into());
    };
    ensure_eq!((&known.evidence, known.number, known.at), (&evidence, Some(1), at(2)), "what was told");
    ensure_eq!((known.witness, known.charged), (Witness::Sender, micros(4)), "who told it and what was counted");
    let view = desk.view()?;
    ensure_eq!((view.resource_id(), view.charged()), (Some("r1"), Some(4)), "the view");
    ensure_eq!((view.effect.state, view.changed_at), (EffectState::Done, at(2)), "its state");
    ensure_eq!(desk.tries()?, ["done"], "its tries");
    ensure_eq!(desk.job()?.resource_id.as_deref(), Some("r1"), "the resource that the job made");
    Ok(())
}

fn under_lookup_somebody_looks_before_a_further_try(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = Desk::new(backend, lookup())?;
    desk.begin(1)?;
    ensure_eq!(desk.unknown(1)?, ReportAnswer::Recorded, "the report");
    desk.at(SETTLED - 1);
    ensure_eq!(desk.begin(2)?, "wait 90", "while what happened may not be seen yet");
    ensure_eq!(desk.absent(1)?, ReportAnswer::Wait { until: at(SETTLED) }, "an absence that was looked for too early");
    ensure_eq!(desk.state()?, EffectState::Unknown, "the state");
    desk.at(SETTLED);
    ensure_eq!(desk.begin(3)?, "check 1 from 0", "from deadline + settle on");
    ensure_eq!(desk.absent(1)?, ReportAnswer::Recorded, "the absence");
    ensure_eq!((desk.state()?, desk.tries()?), (EffectState::Failed, vec!["absent"]), "nothing happened");
    ensure_eq!(desk.begin(4)?, "go 2 before 100", "a further begin");
    Ok(())
}

fn a_ticket_is_void_after_a_further_try(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, lookup())?;
    desk.begin(1)?;
    desk.unknown(1)?;
    desk.at(SETTLED);
    desk.begin(2)?;
    let old = desk.leased.token;
    desk.absent(1)?;
    desk.begin(3)?;
    desk.unknown(2)?;
    desk.at(1_000);
    ensure_eq!(desk.absent(1)?, ReportAnswer::Void, "the first ticket after a further try");
    ensure_eq!(desk.state()?, EffectState::Unknown, "the state");
    ensure_eq!(desk.begin(4)?, "check 2 from 0", "the newest try's ticket");
    desk.next_attempt(1_001)?;
    let of = EffectRef { lease: old, ..desk.of(2) };
    let answer = block_on(desk.scratch.store().effect_resolve(of, Looked::Absent, POLICY))?;
    ensure_eq!(answer, ReportAnswer::LeaseLost, "an absence of the lease that has ended");
    ensure_eq!(desk.state()?, EffectState::Unknown, "the state after that");
    ensure_eq!(desk.absent(2)?, ReportAnswer::Recorded, "an absence of the lease that holds");
    Ok(())
}

fn what_a_lookup_found_is_recorded(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, lookup())?;
    desk.begin(1)?;
    desk.next_attempt(SETTLED)?;
    ensure_eq!(desk.begin(2)?, "check 1 from 0", "the next attempt's begin");
    ensure_eq!(desk.found(1, made("r7"))?, ReportAnswer::Recorded, "what was found");
    let effect = desk.view()?.effect;
    ensure_eq!((effect.state, effect.records[0].witness), (EffectState::Done, Witness::Lookup), "the record");
    ensure_eq!(desk.begin(3)?, "done r7", "a further begin");
    ensure_eq!(desk.absent(1)?, ReportAnswer::Void, "an absence after that");
    ensure_eq!(desk.state()?, EffectState::Done, "the state after that");
    Ok(())
}

fn under_lookup_a_rejected_try_is_looked_after_too(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = Desk::new(backend, lookup())?;
    desk.begin(1)?;
    ensure_eq!(desk.rejected(1)?, ReportAnswer::Recorded, "the report");
    ensure_eq!(desk.state()?, EffectState::Failed, "the state");
    desk.at(SETTLED - 1);
    ensure_eq!(desk.begin(2)?, "wait 90", "a further begin, too early");
    desk.at(SETTLED);
    ensure_eq!(desk.begin(3)?, "check 1 from 0", "a further begin");
    ensure_eq!(desk.absent(1)?, ReportAnswer::Recorded, "nothing was found");
    ensure_eq!(desk.begin(4)?, "go 2 before 100", "a further begin after the look");
    ensure_eq!(desk.not_sent(2)?, ReportAnswer::Recorded, "nothing was sent");
    ensure_eq!(desk.begin(5)?, "go 3 before 100", "what was not sent needs no look");
    Ok(())
}

fn a_key_is_used_again_within_its_time(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, key(100))?;
    let first = desk.begun(desk.asked("pay", 1))?;
    desk.next_attempt(70)?;
    let again = desk.begun(desk.asked("pay", 2))?;
    // It may be sent until 80 and takes 20 more: the destination knows the key until 100.
    let go = Go { number: 2, send_before: at(80), deadline: at(100), key_until: Some(at(100)) };
    ensure_eq!((again.answer, again.key), (BeginAnswer::Go(go), first.key), "the next attempt, in time");
    ensure_eq!(desk.tries()?, ["open", "open"], "its tries");
    desk.unknown(2)?;
    desk.at(71);
    ensure_eq!(desk.begin(3)?, "held nobody_can_tell", "a second later");
    Ok(())
}

fn what_is_cheap_or_may_be_doubled_is_tried_again(backend: &dyn Backend) -> Result<(), Failure> {
    let cheap = |below| Policy { retry_below: Some(micros(below)), ..hold() };
    let table = [
        ("at least once, by name", retry(), "go 2 before 10"),
        ("cheaper than the bound", cheap(6), "go 2 before 10"),
        ("as dear as the bound", cheap(5), "held nobody_can_tell"),
        ("at most once", hold(), "held nobody_can_tell"),
    ];
    for (fact, policy, answer) in table {
        let mut desk = Desk::new(backend, policy)?;
        desk.expected = Some(micros(5));
        desk.begin(1)?;
        desk.unknown(1)?;
        ensure_eq!(desk.begin(2)?, answer, "{fact}");
        ensure_eq!(desk.tries()?[0], "open", "{fact}: the first try's outcome");
    }
    Ok(())
}

fn another_request_is_refused_only_in_place_of_a_resend(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, key(100))?;
    desk.request = Some([1; 32]);
    desk.begin(1)?;
    desk.unknown(1)?;
    desk.request = Some([2; 32]);
    ensure_eq!(desk.begin(2)?, "OtherRequest", "something else under a key that is known");
    ensure_eq!(desk.tries()?, ["open"], "tries");
    desk.request = Some([1; 32]);
    ensure_eq!(desk.begin(3)?, "go 2 before 10", "the same");
    desk.request = Some([2; 32]);
    desk.done(2, made("r1"))?;
    ensure_eq!(desk.begin(4)?, "done r1", "something else, when it is done");
    let mut desk = Desk::new(backend, lookup())?;
    desk.request = Some([1; 32]);
    desk.begin(1)?;
    desk.unknown(1)?;
    desk.request = Some([2; 32]);
    ensure_eq!(desk.begin(2)?, "wait 90", "something else, under lookup, too early");
    desk.at(SETTLED);
    ensure_eq!(desk.begin(3)?, "check 1 from 0", "something else, under lookup");
    desk.absent(1)?;
    ensure_eq!(desk.begin(4)?, "go 2 before 100", "something else, when nothing is open");
    Ok(())
}

fn the_first_policy_is_kept(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, lookup())?;
    desk.begin(1)?;
    desk.unknown(1)?;
    desk.policy = retry();
    ensure_eq!(desk.begin(2)?, "wait 90", "another policy, by which it would go on");
    desk.at(SETTLED);
    desk.absent(1)?;
    ensure_eq!(desk.begin(3)?, "OtherPolicy", "another policy for a further try");
    ensure_eq!(desk.view()?.effect.policy, lookup(), "the policy");
    desk.policy = lookup();
    ensure_eq!(desk.begin(4)?, "go 2 before 100", "the first one's own");
    Ok(())
}

fn a_try_that_failed_beside_an_open_one_proves_nothing(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = Desk::new(backend, retry())?;
    desk.begin(1)?;
    desk.begin(2)?;
    ensure_eq!(desk.rejected(2)?, ReportAnswer::Recorded, "the second try's report");
    let effect = desk.view()?.effect;
    ensure_eq!((effect.state, effect.reason), (EffectState::Unknown, Some(Reason::OtherTryOpen)), "the state");
    ensure_eq!(desk.tries()?, ["open", "rejected"], "tries");
    ensure_eq!(desk.not_sent(1)?, ReportAnswer::Recorded, "the first try's report");
    ensure_eq!(
        (desk.state()?, desk.tries()?),
        (EffectState::Failed, vec!["not_sent", "rejected"]),
        "when none is open"
    );
    Ok(())
}

fn a_late_done_is_recorded_and_other_late_words_are_not(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, lookup())?;
    desk.begin(1)?;
    let (first, first_job) = (desk.leased.token, desk.leased.clone());
    desk.next_attempt(1)?;
    let second = std::mem::replace(&mut desk.leased, first_job);
    let before = desk.effects()?;
    ensure_eq!(desk.rejected(1)?, ReportAnswer::LeaseLost, "a late failure");
    ensure_eq!(desk.unknown(1)?, ReportAnswer::LeaseLost, "a late doubt");
    desk.at(1_000);
    ensure_eq!(desk.absent(1)?, ReportAnswer::LeaseLost, "a late absence");
    ensure_eq!(desk.effects()?, before, "the effect after that");
    let history = desk.scratch.find_one("a")?;
    let late = history.attempts.iter().find(|attempt| attempt.number == 1).and_then(|attempt| attempt.late.as_deref());
    ensure_eq!(late, Some("effect_failed"), "what is kept with the attempt: its first late word");
    ensure_eq!(desk.done(1, made("r1"))?, ReportAnswer::LeaseLost, "a late done");
    ensure_eq!((desk.state()?, desk.tries()?), (EffectState::Done, vec!["done"]), "the effect after that");
    ensure!(first != second.token, "two leases have one token");
    desk.leased = second;
    ensure_eq!(desk.begin(2)?, "done r1", "the answer to the attempt that works now");
    Ok(())
}

fn a_done_of_a_lease_that_is_not_known_finds_its_job(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = Desk::new(backend, hold())?;
    let stranger = LeaseToken::new([9; 16], 9);
    let of = EffectRef { lease: stranger, ..desk.of(1) };
    ensure_eq!(desk.done_as(of, made("r1"))?, ReportAnswer::LeaseLost, "without a job");
    ensure_eq!(desk.effects()?, [], "what is kept of that");
    let of = EffectRef { lease: stranger, ..desk.of_job(1) };
    ensure_eq!(desk.done_as(of.clone(), made("r1"))?, ReportAnswer::LeaseLost, "with its job");
    let view = desk.view()?;
    ensure_eq!((view.effect.state, view.resource_id()), (EffectState::Done, Some("r1")), "what is kept of that");
    ensure_eq!(view.effect.policy, Policy::default(), "the policy of what nobody began here");
    let looked = Looked::Found(made("r2"));
    let of = EffectRef { name: name("post"), ..of };
    let answer = block_on(desk.scratch.store().effect_resolve(of, looked, POLICY))?;
    ensure_eq!(answer, ReportAnswer::LeaseLost, "what a lookup found, with its job");
    ensure_eq!(desk.view_of("post")?.resource_id(), Some("r2"), "what is kept of that");
    ensure_eq!(desk.begin(2)?, "done r1", "a begin after that");
    Ok(())
}

fn evidence_over_failed_raises_an_alarm(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, hold())?;
    desk.begin(1)?;
    desk.rejected(1)?;
    ensure_eq!(desk.view()?.effect.alarm, None, "the alarm of what failed");
    let late = desk.leased.clone();
    desk.next_attempt(1)?;
    desk.leased = late;
    ensure_eq!(desk.done(1, made("r1"))?, ReportAnswer::LeaseLost, "a done after that");
    let effect = desk.view()?.effect;
    ensure_eq!((effect.state, effect.alarm), (EffectState::Done, Some(Alarm::LateEvidence)), "the effect");
    Ok(())
}

fn a_second_resource_is_a_double_effect(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = Desk::new(backend, retry())?;
    desk.begin(1)?;
    desk.begin(2)?;
    desk.done(2, made("r2"))?;
    ensure_eq!(desk.view()?.effect.alarm, None, "the alarm of one resource");
    ensure_eq!(desk.tries()?, ["open", "done"], "tries: the first one's outcome is another thing");
    ensure_eq!(desk.done(2, made("r2"))?, ReportAnswer::Recorded, "the same again");
    ensure_eq!(desk.view()?.effect.records.len(), 1, "resources after the same again");
    ensure_eq!(desk.done(1, made("r1"))?, ReportAnswer::Recorded, "another one");
    let effect = desk.view()?.effect;
    let ids: Vec<_> = effect.records.iter().filter_map(|record| record.evidence.resource_id.as_deref()).collect();
    ensure_eq!((ids, effect.alarm), (vec!["r2", "r1"], Some(Alarm::DoubleEffect)), "resources and alarm");
    ensure_eq!(desk.begin(3)?, "done r2", "a further begin gets the first one");
    Ok(())
}

fn what_is_done_stays_done(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, lookup())?;
    desk.begin(1)?;
    desk.done(1, made("r1"))?;
    let done = desk.effects()?;
    desk.at(1_000);
    ensure_eq!(desk.rejected(1)?, ReportAnswer::Recorded, "a failure of the same try");
    ensure_eq!(desk.unknown(1)?, ReportAnswer::Recorded, "a doubt about it");
    ensure_eq!(desk.absent(1)?, ReportAnswer::Void, "an absence");
    desk.next_attempt(1_001)?;
    ensure_eq!(desk.effects()?, done, "the effect after all that, and the end of the lease");
    Ok(())
}

fn done_closes_all_tries_of_one_key(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, key(300))?;
    desk.begin(1)?;
    desk.next_attempt(1)?;
    desk.begin(2)?;
    ensure_eq!(desk.done(2, made("r1"))?, ReportAnswer::Recorded, "the report");
    ensure_eq!(desk.tries()?, ["done", "done"], "tries");
    Ok(())
}

fn every_report_said_twice_is_said_once(backend: &dyn Backend) -> Result<(), Failure> {
    type Say = fn(&Desk) -> Result<ReportAnswer, Failure>;
    let reports: [(&str, Say); 6] = [
        ("done", |desk| desk.done(1, Evidence { cost: Some(micros(3)), ..made("r1") })),
        ("done without an id", |desk| desk.done(1, Evidence::default())),
        ("rejected", |desk| desk.rejected(1)),
        ("not sent", |desk| desk.not_sent(1)),
        ("unknown", |desk| desk.unknown(1)),
        ("found", |desk| desk.found(1, made("r1"))),
    ];
    for (what, say) in reports {
        let mut desk = Desk::new(backend, lookup())?;
        desk.expected = Some(micros(5));
        desk.begin(1)?;
        ensure_eq!(say(&desk)?, ReportAnswer::Recorded, "{what}");
        let (once, sums) = (desk.effects()?, total(&desk.scratch)?);
        desk.at(4);
        ensure_eq!(say(&desk)?, ReportAnswer::Recorded, "{what}, said again");
        ensure_eq!(desk.effects()?, once, "the effect after {what} was said again");
        ensure_eq!(total(&desk.scratch)?, sums, "the money after {what} was said again");
    }
    let desk = Desk::new(backend, lookup())?;
    desk.begin(1)?;
    desk.unknown(1)?;
    desk.at(SETTLED);
    desk.absent(1)?;
    let once = desk.effects()?;
    ensure_eq!(desk.absent(1)?, ReportAnswer::Void, "absent, said again");
    ensure_eq!(desk.effects()?, once, "the effect after absent was said again");
    Ok(())
}

fn reports_of_what_is_not_there_change_nothing(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = Desk::new(backend, hold())?;
    for (what, answer) in [("failed", desk.rejected(1)?), ("unknown", desk.unknown(1)?), ("absent", desk.absent(1)?)] {
        ensure_eq!(answer, ReportAnswer::Missing, "{what} of an effect that nobody began");
    }
    ensure_eq!(desk.effects()?, [], "effects");
    desk.begin(1)?;
    for number in [0, 2] {
        ensure_eq!(desk.rejected(number)?, ReportAnswer::Missing, "try {number} of one has failed");
        ensure_eq!(desk.unknown(number)?, ReportAnswer::Missing, "try {number} of one is unknown");
    }
    ensure_eq!(desk.state()?, EffectState::Intended, "the state");
    Ok(())
}

fn what_is_told_of_an_effect_is_cut_to_its_bounds(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = Desk::new(backend, hold())?;
    desk.begin(1)?;
    let long = |most: usize| "ñ".repeat(most / 2 + 1);
    let store = desk.scratch.store();
    let note = Some(long(EFFECT_NOTE_MAX_BYTES));
    block_on(store.effect_failed(desk.of(1), NotDone::NotSent, note, POLICY))?;
    ensure_eq!(desk.view()?.note.map(|note| note.len()), Some(EFFECT_NOTE_MAX_BYTES), "bytes of the note");
    desk.begin(2)?;
    block_on(store.effect_unknown(desk.of(2), Some("a\0b".to_owned()), POLICY))?;
    ensure_eq!(desk.view()?.note.as_deref(), Some("a\u{2400}b"), "a note with U+0000");
    let evidence = Evidence {
        resource_id: Some(long(RESOURCE_ID_MAX_BYTES)),
        result: Some(long(RESULT_MAX_BYTES)),
        model: Some(long(ERROR_CLASS_MAX_BYTES)),
        ..Evidence::default()
    };
    desk.done(2, evidence)?;
    let view = desk.view()?;
    let kept = &view.effect.records[0].evidence;
    let bytes = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let found = [bytes(&kept.resource_id), bytes(&kept.result), bytes(&kept.model)];
    ensure_eq!(found, [RESOURCE_ID_MAX_BYTES, RESULT_MAX_BYTES, ERROR_CLASS_MAX_BYTES], "bytes of the evidence");
    ensure_eq!(view.note.as_deref(), Some("a\u{2400}b"), "the note, which stays");
    Ok(())
}
