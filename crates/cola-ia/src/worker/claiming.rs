//! Claiming jobs for free places, and waiting for them.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use cola_ia_core::clock::{Clock as _, SystemClock, SystemEntropy, Timestamp};
use cola_ia_core::job::{Ending, JobState, LeaseToken};
use cola_ia_core::store::{Claim, ClaimRequest, End, Leased, OpId, Report};
use tokio::sync::OwnedSemaphorePermit;

use super::Worker;
use super::held::Grip;
use super::job::{record, work_on};
use super::keeper::started;
use super::outage::{Backoff, can_pass};
use super::stop::Stopping;
use crate::cli::Problem;
use crate::print::id_on_a_line;

/// How often an idle worker looks whether anybody has committed something.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Ended jobs beyond the number of places whose ends wait to be recorded or said: with more, no new ones are begun.
const UNSAID_MAX: usize = 64;
/// After a command could not be started, no other is begun for so long.
const TROUBLE_WAIT: Duration = Duration::from_secs(1);

/// How often a job that is to run alone looks whether it is.
const LOOK_FOR_OTHERS: Duration = Duration::from_millis(5);

/// What a worker leaves when it has nothing more to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Left {
    /// Jobs that wait for a later time.
    pub(crate) waiting: u64,
    /// When the first of them is due.
    pub(crate) next_due: Option<Timestamp>,
    /// Jobs in the hands of other workers.
    pub(crate) elsewhere: u64,
}

/// Claims as many jobs as there are free places, again and again, until it is to stop or, with `--drain`, until nothing is
/// due and nothing runs.
pub(super) async fn claim_until_the_end(worker: &Arc<Worker>) -> Left {
    let mut op = OpId::new(&SystemClock, &SystemEntropy);
    let mut backoff = Backoff::default();
    let (mut found_nothing, mut repeated) = (false, false);
    while let Some(places) = free_places(worker).await {
        // Both before the claim, so that nothing that comes after it is missed. While there is work, nobody is going to wait,
        // and the claim is to come right behind the end of the job whose place it fills.
        let is_idle = worker.live.load(Ordering::SeqCst) == 0;
        let seen = if found_nothing { Some(worker.store.changes().await.unwrap_or_default()) } else { None };
        let request = ClaimRequest {
            worker: worker.name.clone(),
            lease: worker.lease,
            limit: places.num_permits() as u32,
            source: worker.how.source.clone(),
        };
        match worker.store.claim(op, request).await {
            // What a claim gave that was not heard has ended meanwhile; that says nothing of what is due now.
            Ok(claim) if claim.leases.is_empty() && repeated => drop(places),
            Ok(claim) if claim.leases.is_empty() => {
                drop(places);
                worker.outage.is_over();
                backoff = Backoff::default();
                if worker.how.drain && is_idle {
                    return left(worker, &claim).await;
                }
                found_nothing = true;
                if let Some(seen) = seen {
                    wait_for_work(worker, &claim, seen).await;
                }
            }
            Ok(claim) => {
                found_nothing = false;
                worker.outage.is_over();
                backoff = Backoff::default();
                begin(worker, claim, places).await;
            }
            // Perhaps it was committed all the same: the same call again gives the same leases.
            Err(error) if can_pass(&error) => {
                drop(places);
                if worker.stopper.state() == Stopping::No {
                    worker.outage.failed(&error);
                }
                tokio::select! {
                    () = backoff.wait(&worker.stopper) => {}
                    () = worker.stopper.reaches(Stopping::InOrder) => {}
                }
                repeated = true;
                continue;
            }
            Err(error) => worker.stopper.because(Problem::from_store(&error)),
        }
        repeated = false;
        op = OpId::new(&SystemClock, &SystemEntropy);
    }
    Left::default()
}

/// Every place that is free, one at least; `None`: it is to stop.
async fn free_places(worker: &Worker) -> Option<OwnedSemaphorePermit> {
    let waited = async {
        if worker.in_trouble.load(Ordering::Relaxed) {
            tokio::time::sleep(TROUBLE_WAIT).await;
        }
        while worker.live.load(Ordering::SeqCst) > worker.how.jobs as usize + UNSAID_MAX {
            worker.ended.notified().await;
        }
        // The semaphore is never closed.
        let mut places = Arc::clone(&worker.places).acquire_owned().await.ok()?;
        let more = worker.places.available_permits();
        if more > 0
            && let Ok(more) = Arc::clone(&worker.places).try_acquire_many_owned(more as u32)
        {
            places.merge(more);
        }
        Some(places)
    };
    tokio::select! {
        biased;
        () = worker.stopper.reaches(Stopping::InOrder) => None,
        places = waited => places,
    }
}

/// Gives each job a place and a task.
///
/// A job that has lost workers and will be failed if it loses one more runs alone: whoever is failed for that has done it by
/// itself, and not a neighbour of it. The others of its kind in the same claim go back, so that it takes none of them along.
async fn begin(worker: &Arc<Worker>, claim: Claim, mut places: OwnedSemaphorePermit) {
    let is_last_chance = |leased: &Leased| leased.crashes > 0 && leased.crashes + 1 >= worker.policy.max_crashes;
    let (mut alone, together): (Vec<Leased>, Vec<Leased>) = claim.leases.into_iter().partition(is_last_chance);
    let mut back = if alone.is_empty() { Vec::new() } else { alone.split_off(1) };
    for leased in together {
        match places.split(1) {
            Some(place) if worker.stopper.state() == Stopping::No => {
                spawn(worker, leased, std::future::ready(Some(place)));
            }
            _ => back.push(leased),
        }
    }
    if worker.stopper.state() != Stopping::No {
        back.append(&mut alone);
    }
    // Until they are on record they are held, and have heartbeats: that may take longer than a lease.
    let waiting: Vec<&Leased> = back.iter().chain(&alone).collect();
    let grips = waiting.iter().map(|leased| hold(worker, leased)).collect::<Vec<_>>();
    // On record before it begins.
    for leased in &back {
        let end = End { token: leased.token, ending: Ending::Released, report: Report::default() };
        if let (Some(Ok(_)), _) = record(worker, end, None).await
            && worker.stopper.state() != Stopping::No
        {
            worker.count_released();
        }
        worker.held.let_go(leased.token);
    }
    // Its task takes it over.
    alone.retain(|leased| {
        let is_lost = worker.held.is_lost(leased.token);
        if is_lost {
            worker.held.let_go(leased.token);
        }
        !is_lost
    });
    drop(grips);
    for leased in alone {
        // Every place there is: whoever asks next stands behind.
        let all = Arc::clone(&worker.places).acquire_many_owned(worker.how.jobs);
        let others = Arc::clone(worker);
        let mut turn: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(async move {
            let places = all.await.ok();
            // The ends of those before it too.
            while others.held.count() > 1 {
                tokio::time::sleep(LOOK_FOR_OTHERS).await;
            }
            places
        });
        // It stands in line from now on, before the next claim.
        match started(&mut turn).await {
            Some(place) => spawn(worker, leased, std::future::ready(place)),
            None => spawn(worker, leased, turn),
        }
    }
    drop(places);
}

fn hold(worker: &Worker, leased: &Leased) -> Grip {
    worker.held.take(leased.token, leased.job.event, id_on_a_line(&leased.job.id).into_owned())
}

fn spawn(
    worker: &Arc<Worker>,
    leased: Leased,
    turn: impl Future<Output = Option<OwnedSemaphorePermit>> + Send + 'static,
) {
    worker.live.fetch_add(1, Ordering::SeqCst);
    let worker = Arc::clone(worker);
    tokio::spawn(async move {
        let live = Live(Arc::clone(&worker), leased.token);
        work_on(worker, leased, turn).await;
        drop(live);
    });
}

/// Counts a task off, also where it panicked: nobody keeps its lease alive then.
struct Live(Arc<Worker>, LeaseToken);

impl Drop for Live {
    fn drop(&mut self) {
        self.0.held.let_go(self.1);
        self.0.live.fetch_sub(1, Ordering::SeqCst);
        self.0.ended.notify_one();
    }
}

/// Waits until there may be work: somebody has committed something, a job of ours has ended, the next one is due, or it is to
/// stop.
async fn wait_for_work(worker: &Worker, claim: &Claim, seen: u64) {
    let begun = Instant::now();
    let due_after = claim.next_due.map(|due| due.as_micros().saturating_sub(claim.at.as_micros()).max(0) as u64);
    // By either clock: one may have been set, and a machine that slept was not asked.
    let is_due = || {
        due_after.is_some_and(|micros| begun.elapsed() >= Duration::from_micros(micros))
            || claim.next_due.is_some_and(|due| SystemClock.now() >= due)
    };
    loop {
        tokio::select! {
            biased;
            () = worker.stopper.reaches(Stopping::InOrder) => return,
            () = worker.ended.notified() => return,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
        match worker.store.changes().await {
            Ok(now) if now != seen => return,
            Ok(_) => {}
            Err(error) => {
                worker.outage.failed(&error);
                tokio::time::sleep(TROUBLE_WAIT).await;
                return;
            }
        }
        if is_due() {
            return;
        }
    }
}

async fn left(worker: &Worker, claim: &Claim) -> Left {
    let counted = worker.jobs_in([JobState::Pending, JobState::Running]).await;
    let [waiting, elsewhere] = counted.unwrap_or_default();
    Left { waiting, next_due: claim.next_due, elsewhere }
}
