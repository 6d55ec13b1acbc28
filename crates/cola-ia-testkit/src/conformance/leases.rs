//! Leases: who works on what, until when, and what is heard of those who lost theirs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use cola_ia_core::clock::{Clock as _, Timestamp};
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::{Ending, JobState, LeaseToken, RetryPolicy, Setback};
use cola_ia_core::store::{
    Claim, ClaimRequest, Decision, ERROR_CLASS_MAX_BYTES, ERROR_MAX_BYTES, End, EndRefused, Ended, ErrorKind,
    LEASES_MAX, LeaseLost, Leased, OUTPUT_MAX_BYTES, OpId, Order, OrderRefused, PruneRequest, RESOURCE_ID_MAX_BYTES,
    Recovered, Report, ResolveRequest, WORKER_NAME_MAX_BYTES,
};

use super::check::{cases, ensure, ensure_eq, refused};
use crate::clock::ManualClock;
use crate::events::{event, event_from, source};
use crate::harness::{Backend, Failure, Scratch, block_on};

cases![
    a_claim_leases_what_is_due_oldest_first,
    a_leased_job_is_nobody_elses,
    a_claim_can_be_of_one_source,
    a_claim_says_when_the_next_job_is_due,
    a_claim_repeated_gives_the_same_leases,
    a_lease_is_extended_and_never_shortened,
    a_completed_job_is_done_and_stays_so,
    a_failed_job_is_due_again_after_its_wait,
    attempts_are_counted_when_claimed_and_bounded,
    waiting_and_giving_back_cost_no_attempt,
    a_lost_worker_is_counted_apart,
    recovery_takes_only_what_ran_out_the_longest_first,
    a_dry_recovery_changes_nothing,
    a_late_word_changes_nothing_and_names_the_newer_attempt,
    what_was_said_before_is_answered_the_same,
    an_unknown_lease_is_lost,
    orders_are_followed_or_refused_each_for_itself,
    an_order_repeated_gives_the_first_answer,
    a_cancelled_job_is_lost_to_its_worker,
    a_replay_is_a_new_run_with_attempts_from_one,
    leases_outlive_a_reopening,
    a_call_takes_a_thousand_leases_at_most,
    claimers_that_meet_never_share_a_job,
    every_attempt_is_on_record_with_what_its_worker_told,
    what_a_worker_tells_is_cut_to_its_bounds,
    attempts_that_went_wrong_are_listed,
    a_worker_gets_the_content_that_was_accepted_last,
    what_has_no_text_is_not_worked_on_again,
    counts_of_jobs_follow_their_moves,
    failures_in_a_row_are_told_of_their_source,
    a_source_tells_when_its_first_job_is_due,
    a_source_is_paused_after_so_many_until_a_person_resumes_it,
    a_resumption_repeated_gives_the_first_answer,
    what_ran_out_is_told_apart_from_what_runs,
];

const MINUTE: Duration = Duration::from_mins(1);

/// No waits, so that nothing is left to the draw.
const AT_ONCE: RetryPolicy = RetryPolicy {
    max_attempts: 2,
    max_crashes: 2,
    first_wait: Duration::ZERO,
    max_wait: Duration::ZERO,
    pause_after: None,
};

const FAILED: Ending = Ending::Failed { setback: Setback::Error, not_before: None };

fn request(limit: u32) -> ClaimRequest {
    ClaimRequest { worker: "ana".to_owned(), lease: MINUTE, limit, source: None }
}

fn claim(scratch: &Scratch, limit: u32) -> Result<Claim, Failure> {
    Ok(block_on(scratch.store().claim(scratch.op(), request(limit)))?)
}

/// The one job that is due.
fn claim_one(scratch: &Scratch) -> Result<Leased, Failure> {
    let mut leases = claim(scratch, 1)?.leases;
    leases.pop().ok_or_else(|| "a job is due, and none is given".into())
}

fn say(scratch: &Scratch, token: LeaseToken, ending: Ending) -> Result<Result<Ended, EndRefused>, Failure> {
    let ends = Arc::new(vec![End { token, ending, report: Report::default() }]);
    let answers = block_on(scratch.store().end(ends, AT_ONCE))?;
    let count = answers.len();
    let Ok([answer]) = <[_; 1]>::try_from(answers) else {
        return Err(format!("one lease has {count} answers").into());
    };
    Ok(answer)
}

/// The answer to a word of a lease that was lost to this attempt.
const fn lost(superseded_by: Option<u32>) -> Result<Ended, EndRefused> {
    Err(EndRefused::LeaseLost(LeaseLost { superseded_by }))
}

fn end(scratch: &Scratch, token: LeaseToken, ending: Ending) -> Result<Ended, Failure> {
    say(scratch, token, ending)?.map_err(|lost| format!("{ending:?} is answered {lost:?}").into())
}

fn recover(scratch: &Scratch, limit: u32) -> Result<Recovered, Failure> {
    Ok(block_on(scratch.store().recover(AT_ONCE, limit, false))?)
}

fn order(scratch: &Scratch, what: Order, event: EventNumber) -> Result<Result<Ended, OrderRefused>, Failure> {
    let answers = block_on(scratch.store().order(scratch.op(), what, vec![event]))?;
    answers.into_iter().next().ok_or_else(|| "an order has no answer".into())
}

fn pass(scratch: &Scratch, time: Duration) {
    scratch.clock().advance(time.as_micros() as i64);
}

fn ids(leases: &[Leased]) -> Vec<&str> {
    leases.iter().map(|leased| leased.job.id.as_str()).collect()
}

fn with_event(backend: &dyn Backend) -> Result<Scratch, Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "text of a")])?;
    Ok(scratch)
}

fn a_claim_leases_what_is_due_oldest_first(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event_from("z", "1", "one"), event("2", "two")])?;
    pass(&scratch, Duration::from_secs(1));
    scratch.accept(vec![event_from("b", "3", "three"), event("4", "four")])?;
    let first = claim(&scratch, 3)?;
    ensure_eq!(ids(&first.leases), ["1", "2", "3"], "the three that have been due longest");
    ensure_eq!(first.at, scratch.clock().advance(0), "the store's clock");
    let leased = &first.leases[0];
    ensure_eq!((leased.text.as_str(), leased.attempt), ("one", 1), "text and attempt");
    ensure_eq!(leased.until, first.at.after(MINUTE), "the lease's end");
    let job = &leased.job;
    ensure_eq!((job.state, job.run, job.attempts, job.due_at), (JobState::Running, 1, 1, None), "the job");
    ensure_eq!(scratch.find_one("1")?.job, *job, "the job that others see");
    let tokens: BTreeSet<_> = first.leases.iter().map(|leased| leased.token).collect();
    ensure_eq!(tokens.len(), 3, "different tokens");
    ensure_eq!(ids(&claim(&scratch, 3)?.leases), ["4"], "the rest");
    Ok(())
}

fn a_leased_job_is_nobody_elses(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = with_event(backend)?;
    claim_one(&scratch)?;
    ensure_eq!(ids(&claim(&scratch, 5)?.leases), [""; 0], "the same worker again");
    pass(&scratch, 2 * MINUTE);
    ensure_eq!(ids(&claim(&scratch, 5)?.leases), [""; 0], "a lease that ran out, before it is recovered");
    Ok(())
}

fn a_claim_can_be_of_one_source(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("1", "x"), event_from("web", "2", "x"), event_from("web.b", "3", "x")])?;
    let of = |name: &str| ClaimRequest { source: Some(source(name)), ..request(9) };
    let nobody = block_on(scratch.store().claim(scratch.op(), of("we")))?;
    ensure_eq!(ids(&nobody.leases), [""; 0], "a source that is not there");
    let web = block_on(scratch.store().claim(scratch.op(), of("web")))?;
    ensure_eq!(ids(&web.leases), ["2"], "one source");
    Ok(())
}

fn a_claim_says_when_the_next_job_is_due(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = with_event(backend)?;
    let leased = claim_one(&scratch)?;
    ensure_eq!(claim(&scratch, 1)?.next_due, None, "nothing waits");
    let later = scratch.clock().advance(0).after(MINUTE);
    end(&scratch, leased.token, Ending::Later { not_before: later })?;
    ensure_eq!(claim(&scratch, 1)?.next_due, Some(later), "one waits");
    pass(&scratch, Duration::from_micros(59_999_999));
    ensure_eq!(ids(&claim(&scratch, 1)?.leases), [""; 0], "a microsecond early");
    pass(&scratch, Duration::from_micros(1));
    let now = claim(&scratch, 1)?;
    ensure_eq!((ids(&now.leases), now.next_due), (vec!["a"], None), "when it is due");
    Ok(())
}

fn a_claim_repeated_gives_the_same_leases(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept((0..4).map(|index| event(&index.to_string(), "x")).collect())?;
    let op: OpId = scratch.op();
    let first = block_on(scratch.store().claim(op, request(3)))?;
    let again = block_on(scratch.store().claim(op, request(3)))?;
    ensure_eq!(again.leases, first.leases, "the leases");
    end(&scratch, first.leases[1].token, Ending::Done)?;
    let rest = block_on(scratch.store().claim(op, request(3)))?;
    ensure_eq!(ids(&rest.leases), ["0", "2"], "without the one that ended");
    for leased in &rest.leases {
        end(&scratch, leased.token, Ending::Done)?;
    }
    ensure_eq!(ids(&block_on(scratch.store().claim(op, request(3)))?.leases), [""; 0], "when all have ended");
    ensure_eq!(ids(&claim(&scratch, 9)?.leases), ["3"], "what is left for another claim");
    Ok(())
}

fn a_lease_is_extended_and_never_shortened(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = with_event(backend)?;
    let leased = claim_one(&scratch)?;
    let extend = |length| -> Result<_, Failure> { Ok(block_on(scratch.store().extend(vec![leased.token], length))?) };
    pass(&scratch, Duration::from_secs(30));
    ensure_eq!(extend(Duration::from_secs(1))?, [Ok(leased.until)], "less than it has");
    let longer = scratch.clock().advance(0).after(2 * MINUTE);
    ensure_eq!(extend(2 * MINUTE)?, [Ok(longer)], "more than it has");
    pass(&scratch, MINUTE);
    ensure_eq!(recover(&scratch, 9)?, Recovered::default(), "past its first end");
    Ok(())
}

fn a_completed_job_is_done_and_stays_so(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = with_event(backend)?;
    let leased = claim_one(&scratch)?;
    let report = Report { resource_id: Some("post-7".to_owned()), ..Report::default() };
    let ends = Arc::new(vec![End { token: leased.token, ending: Ending::Done, report }]);
    let done = Ended { state: JobState::Done, due_at: None };
    ensure_eq!(block_on(scratch.store().end(ends, AT_ONCE))?, [Ok(done)], "the answer");
    let job = scratch.find_one("a")?.job;
    ensure_eq!((job.state, job.attempts, job.resource_id.as_deref()), (JobState::Done, 1, Some("post-7")), "the job");
    pass(&scratch, 9 * MINUTE);
    ensure_eq!(recover(&scratch, 9)?, Recovered::default(), "to be recovered");
    ensure_eq!(ids(&claim(&scratch, 9)?.leases), [""; 0], "to be claimed");
    Ok(())
}

fn a_failed_job_is_due_again_after_its_wait(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = with_event(backend)?;
    let now = scratch.clock().advance(0);
    let not_before = now.after(MINUTE);
    let ending = Ending::Failed { setback: Setback::TimedOut, not_before: Some(not_before) };
    let ended = end(&scratch, claim_one(&scratch)?.token, ending)?;
    ensure_eq!(ended, Ended { state: JobState::Pending, due_at: Some(not_before) }, "the answer");
    let job = scratch.find_one("a")?.job;
    ensure_eq!((job.state, job.attempts, job.due_at), (JobState::Pending, 1, Some(not_before)), "the job");
    Ok(())
}

fn attempts_are_counted_when_claimed_and_bounded(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = with_event(backend)?;
    let first = claim_one(&scratch)?;
    ensure_eq!(end(&scratch, first.token, FAILED)?.state, JobState::Pending, "after the first of two");
    let second = claim_one(&scratch)?;
    ensure_eq!((second.attempt, second.job.attempts), (2, 2), "the second attempt");
    ensure_eq!(end(&scratch, second.token, FAILED)?.state, JobState::Failed, "after the second of two");
    let job = scratch.find_one("a")?.job;
    ensure_eq!((job.state, job.reason.as_str()), (JobState::Failed, "attempts_exhausted"), "the job");
    ensure_eq!(order(&scratch, Order::Retry, job.event)?.map(|ended| ended.state), Ok(JobState::Pending), "retry");
    let third = claim_one(&scratch)?;
    ensure_eq!((third.attempt, third.job.attempts), (3, 1), "attempts go on in number and are counted anew");
    let permanent = Ending::Failed { setback: Setback::Permanent, not_before: None };
    ensure_eq!(end(&scratch, third.token, permanent)?.state, JobState::Failed, "a permanent error");
    ensure_eq!(scratch.find_one("a")?.job.reason, "permanent", "its reason");
    Ok(())
}

fn waiting_and_giving_back_cost_no_attempt(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = with_event(backend)?;
    for number in 1..=5 {
        let leased = claim_one(&scratch)?;
        ensure_eq!((leased.attempt, leased.job.attempts), (number, 1), "claim {number}");
        let now = scratch.clock().advance(0);
        let ending = if number % 2 == 0 { Ending::Released } else { Ending::Later { not_before: now } };
        let ended = end(&scratch, leased.token, ending)?;
        ensure_eq!(ended, Ended { state: JobState::Pending, due_at: Some(now) }, "after {ending:?}");
        ensure_eq!(scratch.find_one("a")?.job.attempts, 0, "attempts after {ending:?}");
    }
    Ok(())
}

fn a_lost_worker_is_counted_apart(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = with_event(backend)?;
    end(&scratch, claim_one(&scratch)?.token, FAILED)?;
    for (loss, state) in [(1, JobState::Pending), (2, JobState::Failed)] {
        let leased = claim_one(&scratch)?;
        pass(&scratch, MINUTE);
        let recovered = recover(&scratch, 9)?;
        let [(event, ended)] = recovered.jobs[..] else { return Err(format!("loss {loss}: {recovered:?}").into()) };
        ensure_eq!((event, ended.state), (leased.job.event, state), "loss {loss} of two");
    }
    let job = scratch.find_one("a")?.job;
    ensure_eq!((job.state, job.reason.as_str(), job.attempts), (JobState::Failed, "crashes_exhausted", 3), "the job");
    Ok(())
}

fn recovery_takes_only_what_ran_out_the_longest_first(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let mut events = Vec::new();
    for id in ["0", "1", "2", "3"] {
        scratch.accept(vec![event(id, "x")])?;
        events.push(claim_one(&scratch)?.job.event);
        pass(&scratch, Duration::from_secs(10));
    }
    scratch.clock().set(ManualClock::START.after(MINUTE + Duration::from_secs(20)));
    let recovered = recover(&scratch, 2)?;
    let jobs: Vec<_> = recovered.jobs.iter().map(|(event, _)| *event).collect();
    ensure_eq!((jobs, recovered.more), (vec![events[0], events[1]], true), "two of the three that ran out");
    let recovered = recover(&scratch, 2)?;
    let jobs: Vec<_> = recovered.jobs.iter().map(|(event, _)| *event).collect();
    ensure_eq!((jobs, recovered.more), (vec![events[2]], false), "the third, and not the one that runs");
    Ok(())
}

fn a_dry_recovery_changes_nothing(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = with_event(backend)?;
    let leased = claim_one(&scratch)?;
    pass(&scratch, MINUTE);
    let dry = block_on(scratch.store().recover(AT_ONCE, 9, true))?;
    ensure_eq!(scratch.find_one("a")?.job.state, JobState::Running, "the job's state");
    ensure_eq!(end(&scratch, leased.token, Ending::Done)?.state, JobState::Done, "its holder's word");
    ensure_eq!(dry.jobs.len(), 1, "what would be recovered");
    Ok(())
}

fn a_late_word_changes_nothing_and_names_the_newer_attempt(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = with_event(backend)?;
    let first = claim_one(&scratch)?;
    pass(&scratch, MINUTE);
    recover(&scratch, 9)?;
    ensure_eq!(say(&scratch, first.token, FAILED)?, lost(None), "before anybody else");
    let second = claim_one(&scratch)?;
    let before = scratch.find_one("a")?;
    let later = Ending::Later { not_before: second.until };
    for ending in [Ending::Done, FAILED, later, Ending::Released] {
        let answer = say(&scratch, first.token, ending)?;
        ensure_eq!(answer, lost(Some(2)), "{ending:?} of the first while the second works");
    }
    let answer = block_on(scratch.store().extend(vec![first.token], MINUTE))?;
    ensure_eq!(answer, [Err(LeaseLost { superseded_by: Some(2) })], "an extension of the first");
    ensure_eq!(scratch.find_one("a")?, before, "the event");
    ensure_eq!(end(&scratch, second.token, Ending::Done)?.state, JobState::Done, "the second's own word");
    ensure_eq!(say(&scratch, first.token, FAILED)?, lost(Some(2)), "after the second ended");
    ensure_eq!(scratch.find_one("a")?.job.state, JobState::Done, "the job");
    Ok(())
}

fn what_was_said_before_is_answered_the_same(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "x"), event("b", "x")])?;
    let leases = claim(&scratch, 2)?.leases;
    let not_before = leases[0].until;
    let failed = Ending::Failed { setback: Setback::Error, not_before: Some(not_before) };
    let first = end(&scratch, leases[0].token, failed)?;
    end(&scratch, leases[1].token, Ending::Done)?;
    pass(&scratch, 2 * MINUTE);
    let newer = claim_one(&scratch)?;
    ensure_eq!(say(&scratch, leases[0].token, failed)?, Ok(first), "a failure, told again while another works");
    let done = Ok(Ended { state: JobState::Done, due_at: None });
    ensure_eq!(say(&scratch, leases[1].token, Ending::Done)?, done, "a completion, told again");
    ensure_eq!(say(&scratch, leases[1].token, failed)?, lost(None), "a failure after a completion");
    ensure_eq!(end(&scratch, newer.token, Ending::Done)?.state, JobState::Done, "the newer attempt");
    Ok(())
}

fn an_unknown_lease_is_lost(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = with_event(backend)?;
    let leased = claim_one(&scratch)?;
    let mut other = leased.token;
    other.0[17] ^= 1;
    ensure_eq!(say(&scratch, other, Ending::Done)?, lost(None), "a token one bit away");
    let unknown = [Err(LeaseLost { superseded_by: None })];
    ensure_eq!(block_on(scratch.store().extend(vec![other], MINUTE))?, unknown, "an extension");
    ensure_eq!(scratch.find_one("a")?.job, leased.job, "the job");
    Ok(())
}

fn orders_are_followed_or_refused_each_for_itself(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let accepted = scratch.accept((0..3).map(|index| event(&index.to_string(), "x")).collect())?;
    let events: Vec<EventNumber> = accepted.receipts.iter().filter_map(|receipt| receipt.event).collect();
    let leased = claim_one(&scratch)?;
    end(&scratch, leased.token, Ending::Done)?;
    let nobody = EventNumber(events[2].0 + 1_000_000_000);
    let orders = vec![events[0], events[1], nobody];
    let answers = block_on(scratch.store().order(scratch.op(), Order::Cancel, orders))?;
    let cancelled = Ended { state: JobState::Cancelled, due_at: None };
    let expected = [Err(OrderRefused::State(JobState::Done)), Ok(cancelled), Err(OrderRefused::Missing)];
    ensure_eq!(answers, expected, "cancel a done, a pending and a missing job");
    let states: Vec<JobState> = scratch.all_jobs()?.iter().map(|job| job.state).collect();
    ensure_eq!(states, [JobState::Pending, JobState::Cancelled, JobState::Done], "the states, newest first");
    Ok(())
}

fn an_order_repeated_gives_the_first_answer(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = with_event(backend)?;
    let event = scratch.find_one("a")?.job.event;
    let op = scratch.op();
    let cancel = || block_on(scratch.store().order(op, Order::Cancel, vec![event]));
    let first = cancel()?;
    order(&scratch, Order::Retry, event)?.map_err(|refused| format!("retry: {refused:?}"))?;
    ensure_eq!(cancel()?, first, "the answer");
    ensure_eq!(scratch.find_one("a")?.job.state, JobState::Pending, "the job, which was not cancelled again");
    let other = block_on(scratch.store().order(op, Order::Retry, vec![event]));
    refused("the op for another order", other, ErrorKind::Conflict, "op_reused")
}

fn a_cancelled_job_is_lost_to_its_worker(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = with_event(backend)?;
    let leased = claim_one(&scratch)?;
    ensure_eq!(order(&scratch, Order::Cancel, leased.job.event)?.map(|ended| ended.state), Ok(JobState::Cancelled), "");
    let gone = [Err(LeaseLost { superseded_by: None })];
    ensure_eq!(block_on(scratch.store().extend(vec![leased.token], MINUTE))?, gone, "a heartbeat");
    ensure_eq!(say(&scratch, leased.token, Ending::Done)?, lost(None), "a completion");
    ensure_eq!(scratch.find_one("a")?.job.state, JobState::Cancelled, "the job");
    Ok(())
}

fn a_replay_is_a_new_run_with_attempts_from_one(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = with_event(backend)?;
    let first = claim_one(&scratch)?;
    let event = first.job.event;
    let running = Err(OrderRefused::State(JobState::Running));
    ensure_eq!(order(&scratch, Order::Replay, event)?, running, "a replay of what runs");
    end(&scratch, first.token, Ending::Done)?;
    ensure!(order(&scratch, Order::Replay, event)?.is_ok(), "a done job is not replayed");
    let again = claim_one(&scratch)?;
    ensure_eq!((again.job.run, again.attempt, again.job.attempts), (2, 1, 1), "run, attempt and count");
    ensure_eq!(say(&scratch, first.token, FAILED)?, lost(None), "the first run's lease");
    Ok(())
}

fn leases_outlive_a_reopening(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = with_event(backend)?;
    let leased = claim_one(&scratch)?;
    scratch.reopen()?;
    ensure_eq!(ids(&claim(&scratch, 9)?.leases), [""; 0], "to be claimed after a reopening");
    ensure_eq!(end(&scratch, leased.token, Ending::Done)?.state, JobState::Done, "the holder's word");
    Ok(())
}

fn a_call_takes_a_thousand_leases_at_most(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept((0..=LEASES_MAX).map(|index| event(&index.to_string(), "x")).collect())?;
    ensure_eq!(claim(&scratch, 5_000)?.leases.len(), LEASES_MAX, "leases of a claim");
    ensure_eq!(claim(&scratch, 0)?.leases.len(), 1, "leases of a claim of none");
    let tokens: Vec<_> = (0..=LEASES_MAX as u16).map(|place| LeaseToken::new([1; 16], place)).collect();
    let extended = block_on(scratch.store().extend(tokens, MINUTE));
    refused("too many extensions", extended, ErrorKind::Invalid, "too_many_leases")
}

fn claimers_that_meet_never_share_a_job(backend: &dyn Backend) -> Result<(), Failure> {
    const JOBS: usize = 120;
    let scratch = Scratch::new(backend)?;
    scratch.accept((0..JOBS).map(|index| event(&index.to_string(), "x")).collect())?;
    let ops: Vec<Vec<OpId>> = (0..4).map(|_| (0..JOBS).map(|_| scratch.op()).collect()).collect();
    let store = scratch.store();
    let taken: Vec<Result<Vec<String>, String>> = std::thread::scope(|scope| {
        let claimers: Vec<_> = ops
            .into_iter()
            .map(|ops| {
                scope.spawn(move || {
                    let mut mine = Vec::new();
                    for op in ops {
                        let claim = block_on(store.claim(op, request(3))).map_err(|error| error.to_string())?;
                        if claim.leases.is_empty() {
                            break;
                        }
                        mine.extend(claim.leases.into_iter().map(|leased| leased.job.id));
                    }
                    Ok(mine)
                })
            })
            .collect();
        claimers.into_iter().map(|claimer| claimer.join().expect("a claimer does not panic")).collect()
    });
    let mut all = Vec::new();
    for ids in taken {
        all.extend(ids?);
    }
    let count = all.len();
    let distinct: BTreeSet<String> = all.into_iter().collect();
    ensure_eq!((count, distinct.len()), (JOBS, JOBS), "jobs taken, different jobs taken");
    Ok(())
}

/// An attempt that tells all it can.
fn told() -> Report {
    Report {
        exit_code: Some(3),
        signal: Some(9),
        error_class: Some("exit_3".to_owned()),
        error: Some("it broke \u{1b}[31m ñ".to_owned()),
        resource_id: Some("post-991".to_owned()),
        result: Some(r#"{"a":1}"#.to_owned()),
        cost_micros: Some(1_500),
        tokens_in: Some(12),
        tokens_out: Some(34),
        model: Some("m-1".to_owned()),
        stdout: b"out \xff".to_vec(),
        stderr: b"err\n".to_vec(),
    }
}

fn tell(scratch: &Scratch, token: LeaseToken, ending: Ending, report: Report) -> Result<(), Failure> {
    let ends = Arc::new(vec![End { token, ending, report }]);
    let answers = block_on(scratch.store().end(ends, AT_ONCE))?;
    ensure!(answers.iter().all(Result::is_ok), "the lease is held, and it is answered {answers:?}");
    Ok(())
}

fn every_attempt_is_on_record_with_what_its_worker_told(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = with_event(backend)?;
    let started_at = scratch.clock().now();
    let first = claim_one(&scratch)?;
    let running = scratch.find_one("a")?;
    ensure_eq!(running.worker.as_deref(), Some("ana"), "who holds it");
    ensure_eq!(running.job.lease_until, Some(first.until), "until when");
    ensure_eq!(running.attempts.len(), 1, "attempts while it runs");
    ensure_eq!(running.attempts[0].outcome, None, "its outcome while it runs");
    pass(&scratch, Duration::from_secs(7));
    let ended_at = scratch.clock().now();
    tell(&scratch, first.token, FAILED, told())?;
    let second = claim_one(&scratch)?;
    pass(&scratch, MINUTE);
    recover(&scratch, 10)?;
    let late = say(&scratch, second.token, Ending::Done)?;
    ensure!(late.is_err(), "the lease ran out, and its end is answered {late:?}");
    let history = scratch.find_one("a")?;
    ensure_eq!(history.worker, None, "who holds it in the end");
    ensure_eq!(history.job.resource_id.as_deref(), Some("post-991"), "the job's resource");
    ensure_eq!(history.result, told().result, "the job's result");
    let [lost, failed] = &history.attempts[..] else {
        return Err(format!("two attempts are {} on record", history.attempts.len()).into());
    };
    ensure_eq!((lost.run, lost.number, lost.outcome.as_deref()), (1, 2, Some("crashed")), "the newest is first");
    ensure_eq!(lost.late.as_deref(), Some("complete"), "what it said late");
    ensure_eq!((failed.run, failed.number, failed.outcome.as_deref()), (1, 1, Some("error")), "the first one");
    ensure_eq!((failed.started_at, failed.ended_at), (started_at, Some(ended_at)), "its times");
    ensure_eq!(failed.worker, "ana", "its worker");
    ensure_eq!((failed.exit_code, failed.signal), (Some(3), Some(9)), "how its command ended");
    ensure_eq!(failed.error_class.as_deref(), Some("exit_3"), "its class");
    ensure_eq!(failed.error.as_deref(), told().error.as_deref(), "its error");
    ensure_eq!(
        (failed.cost_micros, failed.tokens_in, failed.tokens_out),
        (Some(1_500), Some(12), Some(34)),
        "its cost"
    );
    ensure_eq!(failed.model.as_deref(), Some("m-1"), "its model");
    ensure_eq!(failed.stdout.as_deref(), Some("out \u{fffd}"), "its output");
    ensure_eq!(failed.stderr.as_deref(), Some("err\n"), "its error output");
    ensure_eq!(failed.late, None, "what it said late");
    Ok(())
}

fn what_a_worker_tells_is_cut_to_its_bounds(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = with_event(backend)?;
    let long = "ñ\0".repeat(70_000);
    let request = ClaimRequest { worker: long.clone(), ..request(1) };
    let leased = block_on(scratch.store().claim(scratch.op(), request))?.leases.remove(0);
    let report = Report {
        error_class: Some(long.clone()),
        error: Some(long.clone()),
        resource_id: Some(long.clone()),
        result: Some(long.clone()),
        model: Some(long.clone()),
        stdout: long.clone().into_bytes(),
        stderr: long.clone().into_bytes(),
        ..Report::default()
    };
    tell(&scratch, leased.token, FAILED, report)?;
    let history = scratch.find_one("a")?;
    let attempt = &history.attempts[0];
    // A replaced U+0000 takes three bytes.
    ensure!(attempt.worker.len() <= 2 * WORKER_NAME_MAX_BYTES, "a worker's name of {} bytes", attempt.worker.len());
    ensure!(!attempt.worker.contains('\0'), "a worker's name has U+0000");
    for (what, kept, most) in [
        ("a class", attempt.error_class.as_deref(), ERROR_CLASS_MAX_BYTES),
        ("an error", attempt.error.as_deref(), ERROR_MAX_BYTES),
        ("a resource", history.job.resource_id.as_deref(), RESOURCE_ID_MAX_BYTES),
        ("a model", attempt.model.as_deref(), ERROR_CLASS_MAX_BYTES),
    ] {
        let kept = kept.unwrap_or_default();
        ensure!(!kept.contains('\0') && kept.replace('\u{2400}', "0").len() <= most, "{what} has {} bytes", kept.len());
    }
    ensure_eq!(attempt.stdout.as_ref().map(String::len), Some(OUTPUT_MAX_BYTES), "bytes of an output");
    Ok(())
}

fn attempts_that_went_wrong_are_listed(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("good", "x"), event_from("web", "bad", "x"), event("lost", "x"), event("back", "x")])?;
    let leases = claim(&scratch, 4)?.leases;
    let of = |id: &str| leases.iter().find(|leased| leased.job.id == id).expect("it was claimed").token;
    end(&scratch, of("good"), Ending::Done)?;
    end(&scratch, of("back"), Ending::Released)?;
    tell(&scratch, of("bad"), FAILED, told())?;
    let failed_at = scratch.clock().now();
    pass(&scratch, 2 * MINUTE);
    recover(&scratch, 10)?;
    let listed = |filter: &Filter| -> Result<Vec<(String, Option<String>)>, Failure> {
        let attempts = scratch.all_attempts(filter, 1)?;
        Ok(attempts.into_iter().map(|attempt| (attempt.id, attempt.outcome)).collect())
    };
    let bad = ("bad".to_owned(), Some("error".to_owned()));
    let lost = ("lost".to_owned(), Some("crashed".to_owned()));
    ensure_eq!(listed(&Filter::default())?, [lost.clone(), bad.clone()], "all");
    let web = Filter { sources: vec![source("web")], ..Filter::default() };
    ensure_eq!(listed(&web)?, std::slice::from_ref(&bad), "of one source");
    let class = Filter { reasons: vec!["exit_3".to_owned()], ..Filter::default() };
    ensure_eq!(listed(&class)?, [bad], "of one class");
    let since = Filter { since: Some(failed_at.after(MINUTE)), ..Filter::default() };
    ensure_eq!(listed(&since)?, [lost], "that ended later");
    let outputs = scratch.all_attempts(&Filter::default(), 10)?;
    ensure!(outputs.iter().all(|attempt| attempt.stdout.is_none()), "a list brings outputs along: {outputs:?}");
    Ok(())
}

fn a_worker_gets_the_content_that_was_accepted_last(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "x"), event("a", "y"), event("a", "z")])?;
    let number = scratch.find_one("a")?.job.event;
    for conflict in [2, 1] {
        let decision = Decision::Accept { run: false };
        let request = ResolveRequest { event: number, conflicts: vec![conflict], decision, note: None };
        scratch.resolve_as(scratch.op(), &request)?;
    }
    ensure_eq!(claim_one(&scratch)?.text, "y", "the text");
    Ok(())
}

fn what_has_no_text_is_not_worked_on_again(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = with_event(backend)?;
    let leased = claim_one(&scratch)?;
    end(&scratch, leased.token, Ending::Done)?;
    let number = leased.job.event;
    pass(&scratch, Duration::from_hours(48));
    let texts = PruneRequest { texts: Some(Duration::from_hours(24)), deliveries: None, after: None };
    scratch.prune_as(|| scratch.op(), &texts)?;
    ensure_eq!(scratch.find_one("a")?.text, None, "its text once pruned");
    ensure_eq!(order(&scratch, Order::Replay, number)?, Err(OrderRefused::ContentGone), "a replay");
    ensure_eq!(scratch.find_one("a")?.job.state, JobState::Done, "its state");
    Ok(())
}

fn counts_of_jobs_follow_their_moves(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept((0..6).map(|n| event(&format!("e{n}"), "x")).collect())?;
    let leases = claim(&scratch, 5)?.leases;
    end(&scratch, leases[0].token, Ending::Done)?;
    end(&scratch, leases[1].token, Ending::Failed { setback: Setback::Permanent, not_before: None })?;
    end(&scratch, leases[2].token, Ending::Released)?;
    order(&scratch, Order::Cancel, leases[3].job.event)?.map_err(|refused| format!("{refused:?}"))?;
    let jobs = scratch.stats(Filter::default())?.total.jobs;
    let of = |state: JobState| jobs[state as usize];
    ensure_eq!(
        [JobState::Pending, JobState::Running, JobState::Done, JobState::Failed, JobState::Cancelled].map(of),
        [2, 1, 1, 1, 1],
        "jobs by state"
    );
    Ok(())
}

fn failing(scratch: &Scratch, leased: &Leased, class: &str, policy: RetryPolicy) -> Result<(), Failure> {
    let report = Report { error_class: Some(class.to_owned()), ..Report::default() };
    let ends = Arc::new(vec![End { token: leased.token, ending: FAILED, report }]);
    let answers = block_on(scratch.store().end(ends, policy))?;
    ensure!(answers.iter().all(Result::is_ok), "the lease is held, and it is answered {answers:?}");
    Ok(())
}

fn streak_of(scratch: &Scratch, name: &str) -> Result<Option<(String, u32, Timestamp)>, Failure> {
    let filter = Filter { sources: vec![source(name)], ..Filter::default() };
    let views = block_on(scratch.store().sources(filter))?;
    let [view] = &views[..] else { return Err(format!("one source is told as {views:?}").into()) };
    ensure_eq!(view.source, source(name), "the source");
    Ok(view.streak.clone().map(|streak| (streak.class, streak.count, streak.since)))
}

fn a_source_tells_when_its_first_job_is_due(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let due = || -> Result<Vec<Option<Timestamp>>, Failure> {
        Ok(block_on(scratch.store().sources(Filter::default()))?.into_iter().map(|view| view.due_at).collect())
    };
    let (first, second) = (Duration::from_secs(1), Duration::from_secs(2));
    let start = scratch.clock().now();
    scratch.accept(vec![event("a", "x")])?;
    pass(&scratch, first);
    let later = scratch.clock().now();
    scratch.accept(vec![event("b", "x"), event_from("web", "w", "x")])?;
    ensure_eq!(due()?, [Some(start), Some(later)], "of each source the first");
    let leased = claim_one(&scratch)?;
    ensure_eq!(due()?, [Some(later), Some(later)], "one that runs is not due");
    pass(&scratch, second);
    let others = claim(&scratch, 2)?.leases;
    ensure_eq!(due()?, [None, None], "all run");
    let not_before = Timestamp::from_micros(scratch.clock().now().as_micros() + 60_000_000);
    end(&scratch, others[0].token, Ending::Done)?;
    end(&scratch, leased.token, Ending::Failed { setback: Setback::Error, not_before: Some(not_before) })?;
    ensure_eq!(due()?[0], Some(not_before), "one that is put off is due when it may be tried again");
    Ok(())
}

fn failures_in_a_row_are_told_of_their_source(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    scratch.accept((0..5).map(|n| event(&format!("e{n}"), "x")).chain([event_from("web", "w", "x")]).collect())?;
    ensure_eq!(streak_of(&scratch, "default")?, None, "before any attempt");
    let leases = claim(&scratch, 6)?.leases;
    let web = leases.iter().find(|leased| leased.job.id == "w").expect("it was claimed");
    let own: Vec<&Leased> = leases.iter().filter(|leased| leased.job.id != "w").collect();
    let first_at = scratch.clock().now();
    failing(&scratch, own[0], "http_503", AT_ONCE)?;
    pass(&scratch, Duration::from_secs(1));
    failing(&scratch, own[1], "http_503", AT_ONCE)?;
    end(&scratch, web.token, Ending::Done)?;
    end(&scratch, own[2].token, Ending::Released)?;
    ensure_eq!(streak_of(&scratch, "default")?, Some(("http_503".to_owned(), 2, first_at)), "two of one class");
    ensure_eq!(streak_of(&scratch, "web")?, None, "another source");
    let other_at = scratch.clock().now();
    failing(&scratch, own[3], "http_401", AT_ONCE)?;
    ensure_eq!(streak_of(&scratch, "default")?, Some(("http_401".to_owned(), 1, other_at)), "one of another class");
    scratch.reopen()?;
    ensure_eq!(streak_of(&scratch, "default")?, Some(("http_401".to_owned(), 1, other_at)), "after a reopening");
    end(&scratch, own[4].token, Ending::Done)?;
    ensure_eq!(streak_of(&scratch, "default")?, None, "after a job that went well");
    let lost = claim_one(&scratch)?;
    pass(&scratch, MINUTE);
    recover(&scratch, 10)?;
    ensure_eq!(
        streak_of(&scratch, lost.job.source.as_str())?,
        Some(("crashed".to_owned(), 1, scratch.clock().now())),
        "after a lost worker"
    );
    Ok(())
}

/// A source of three jobs, of which two failed, paused by that.
fn paused(backend: &dyn Backend) -> Result<Scratch, Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "x"), event("b", "x"), event("c", "x"), event_from("web", "w", "x")])?;
    let leases = claim(&scratch, 2)?.leases;
    let policy = RetryPolicy { pause_after: Some(2), ..AT_ONCE };
    failing(&scratch, &leases[0], "http_401", policy)?;
    failing(&scratch, &leases[1], "http_401", policy)?;
    Ok(scratch)
}

fn a_source_is_paused_after_so_many_until_a_person_resumes_it(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = paused(backend)?;
    let at = scratch.clock().now();
    let views = block_on(scratch.store().sources(Filter::default()))?;
    let paused_at: Vec<_> = views.iter().map(|view| (view.source.as_str(), view.paused_at)).collect();
    ensure_eq!(paused_at, [("default", Some(at)), ("web", None)], "who is paused since when");
    let given = claim(&scratch, 10)?;
    ensure_eq!(ids(&given.leases), ["w"], "what is leased meanwhile");
    end(&scratch, given.leases[0].token, Ending::Done)?;
    let none = claim(&scratch, 10)?;
    ensure_eq!((none.leases.len(), none.next_due), (0, None), "what is left");
    let resume = |name: &str| block_on(scratch.store().resume(scratch.op(), source(name)));
    ensure_eq!(resume("web")?, false, "an end of no pause");
    refused("a source that never was", resume("nobody"), ErrorKind::Invalid, "source_unknown")?;
    ensure_eq!(resume("default")?, true, "the end of the pause");
    ensure_eq!(streak_of(&scratch, "default")?, None, "its failures");
    ensure_eq!(claim(&scratch, 10)?.leases.len(), 3, "jobs that are leased again");
    Ok(())
}

fn a_resumption_repeated_gives_the_first_answer(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = paused(backend)?;
    let op = scratch.op();
    let resume = |op, name: &str| block_on(scratch.store().resume(op, source(name)));
    ensure_eq!(resume(op, "default")?, true, "the first");
    ensure_eq!(resume(op, "default")?, true, "the same again");
    ensure_eq!(resume(scratch.op(), "default")?, false, "another one");
    refused("another source under its op", resume(op, "web"), ErrorKind::Conflict, "op_reused")
}

fn what_ran_out_is_told_apart_from_what_runs(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    scratch.accept(vec![event("a", "x"), event("b", "x"), event_from("web", "w", "x")])?;
    let leases = claim(&scratch, 3)?.leases;
    pass(&scratch, Duration::from_secs(30));
    block_on(scratch.store().extend(vec![leases[1].token], MINUTE))?;
    pass(&scratch, Duration::from_secs(30));
    let now = scratch.clock().now();
    let jobs = scratch.all_jobs()?;
    let expired: Vec<_> = jobs.iter().map(|job| (job.id.as_str(), job.is_expired(now))).collect();
    ensure_eq!(expired, [("w", true), ("b", false), ("a", true)], "whose lease ran out");
    let until: Vec<_> = jobs.iter().map(|job| job.lease_until).collect();
    let b = Timestamp::from_micros(leases[1].until.as_micros() + 30_000_000);
    ensure_eq!(until, [Some(leases[2].until), Some(b), Some(leases[0].until)], "until when");
    let views = block_on(scratch.store().sources(Filter::default()))?;
    let counts: Vec<_> = views.iter().map(|view| (view.source.as_str(), view.expired)).collect();
    ensure_eq!(counts, [("default", 1), ("web", 1)], "how many of each source");
    recover(&scratch, 10)?;
    let jobs = scratch.all_jobs()?;
    ensure_eq!(jobs.iter().filter(|job| job.is_expired(now)).count(), 0, "after a recovery");
    ensure_eq!(jobs[0].lease_until, None, "of a job that does not run");
    Ok(())
}
