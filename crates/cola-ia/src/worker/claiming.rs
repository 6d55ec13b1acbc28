//! Claiming jobs for free places, and waiting for them.

use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use cola_ia_core::clock::{Clock as _, SystemClock, SystemEntropy, Timestamp};
use cola_ia_core::job::{Ending, JobState, LeaseToken};
use cola_ia_core::store::{Claim, ClaimRequest, End, LEASES_MAX, Leased, OpId, Report};
use tokio::sync::OwnedSemaphorePermit;

use super::Worker;
use super::held::Grip;
use super::job::{record, work_on};
use super::keeper::started;
use super::outage::{Backoff, can_pass};
use super::stop::Stopping;
use crate::cli::Problem;
use crate::print::id_on_a_line;
use crate::remote::RemoteStore;

/// How often an idle worker looks whether anybody has committed something.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The longest that a server is asked to wait for something to be committed. A job that is due meanwhile is seen then.
const ASK_AGAIN: Duration = Duration::from_secs(5);
/// Ended jobs beyond the number of places whose ends wait to be recorded or said: with more, no new ones are begun.
const UNSAID_MAX: usize = 64;
/// After a command could not be started, no other is begun for so long.
const TROUBLE_WAIT: Duration = Duration::from_secs(1);

/// A job that was claimed ahead is given back when it has waited so long for a place.
const AHEAD_MAX: Duration = Duration::from_millis(200);

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
    let mut backoff = Backoff::default();
    let mut found_nothing = false;
    while let Some(room) = room(worker).await {
        // All before the claim, so that nothing that comes after it is missed; while there is work, nobody is going to wait.
        let is_idle = worker.live.load(Ordering::SeqCst) == 0;
        let unheard = worker.unheard.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let seen = if found_nothing { Some(worker.store.changes().await.unwrap_or_default()) } else { None };
        let op = unheard.unwrap_or_else(new_op);
        match worker.store.claim(op, request(worker, room)).await {
            // What a claim gave that was not heard has ended meanwhile; that says nothing of what is due now.
            Ok(claim) if claim.leases.is_empty() && unheard.is_some() => {}
            Ok(claim) if claim.leases.is_empty() => {
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
                begin(worker, claim).await;
            }
            // Perhaps it was committed all the same: the same call again gives the same leases.
            Err(error) if can_pass(&error) => {
                worker.not_heard(op);
                if worker.stopper.state() == Stopping::No {
                    worker.outage.failed(&error);
                }
                tokio::select! {
                    () = backoff.wait(&worker.stopper) => {}
                    () = worker.stopper.reaches(Stopping::InOrder) => {}
                }
            }
            Err(error) => worker.stopper.because(Problem::from_store(&error)),
        }
    }
    let unheard = std::mem::take(&mut *worker.unheard.lock().unwrap_or_else(PoisonError::into_inner));
    for op in unheard {
        give_back_unheard(worker, op).await;
    }
    Left::default()
}

fn new_op() -> OpId {
    OpId::new(&SystemClock, &SystemEntropy)
}

fn request(worker: &Worker, limit: u32) -> ClaimRequest {
    ClaimRequest { worker: worker.name.clone(), lease: worker.lease, limit, source: worker.how.source.clone() }
}

/// Asks once more what a claim gave that was not heard, and gives it back: the worker stops. Where the store still does not
/// answer, the leases run out.
async fn give_back_unheard(worker: &Arc<Worker>, op: OpId) {
    if let Ok(claim) = worker.store.claim(op, request(worker, 1)).await {
        begin(worker, claim).await;
    }
}

/// How many jobs to claim: for every place that is free, and as many ahead as will be begun very soon; `None`: it is to stop.
async fn room(worker: &Worker) -> Option<u32> {
    let waited = async {
        if worker.in_trouble.load(Ordering::Relaxed) {
            tokio::time::sleep(TROUBLE_WAIT).await;
        }
        loop {
            if let Some(room) = room_now(worker) {
                return room;
            }
            worker.ended.notified().await;
        }
    };
    tokio::select! {
        biased;
        () = worker.stopper.reaches(Stopping::InOrder) => None,
        room = waited => Some(room),
    }
}

/// Jobs that may wait for places. None where a job may lose no worker: one that was not begun must not fail for that.
fn ahead(worker: &Worker) -> usize {
    if worker.policy.max_crashes <= 1 { 0 } else { worker.pace.ahead(worker.how.jobs) }
}

fn room_now(worker: &Worker) -> Option<u32> {
    let (taken, live) = (worker.taken.load(Ordering::SeqCst), worker.live.load(Ordering::SeqCst));
    if worker.alone.load(Ordering::SeqCst) > 0 || live.saturating_sub(taken) > UNSAID_MAX {
        return None;
    }
    let (places, ahead) = (worker.how.jobs as usize, ahead(worker));
    // Several at once: a claim for each would cost what it is to save.
    let is_wanted = taken < places || (ahead > 0 && taken - places <= ahead / 2);
    is_wanted.then(|| (places + ahead - taken).min(LEASES_MAX) as u32)
}

/// Gives each job a task, which waits for a place.
///
/// A job that has lost workers and will be failed if it loses one more runs alone: whoever is failed for that has done it by
/// itself, and not a neighbour of it. The others of its kind in the same claim go back, so that it takes none of them along.
async fn begin(worker: &Arc<Worker>, claim: Claim) {
    // A worker that dies loses what it has claimed ahead too: jobs that have lost one already are not put at risk for a commit.
    if claim.leases.iter().any(|leased| leased.crashes > 0) {
        worker.pace.is_slow();
    }
    let is_last_chance = |leased: &Leased| leased.crashes > 0 && leased.crashes + 1 >= worker.policy.max_crashes;
    let (mut alone, together): (Vec<Leased>, Vec<Leased>) = claim.leases.into_iter().partition(is_last_chance);
    let mut back = if alone.is_empty() { Vec::new() } else { alone.split_off(1) };
    for leased in together {
        if worker.stopper.state() == Stopping::No {
            let places = Arc::clone(&worker.places);
            // One that is ahead of its place for too long is for whoever has one.
            let turn =
                Box::pin(async move { tokio::time::timeout(AHEAD_MAX, places.acquire_owned()).await.ok()?.ok() });
            spawn(worker, leased, turn, None).await;
        } else {
            back.push(leased);
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
        let turn: Turn = Box::pin(async move {
            let places = all.await.ok();
            // The ends of those before it too, and those that were claimed ahead.
            while others.held.count() > 1 {
                tokio::time::sleep(LOOK_FOR_OTHERS).await;
            }
            places
        });
        spawn(worker, leased, turn, Some(Alone::new(worker))).await;
    }
}

fn hold(worker: &Worker, leased: &Leased) -> Grip {
    worker.held.take(leased.token, leased.job.event, id_on_a_line(&leased.job.id).into_owned())
}

/// What a job waits for before it is begun: a place, or places. `None`: it does not get one.
type Turn = Pin<Box<dyn Future<Output = Option<OwnedSemaphorePermit>> + Send>>;

/// Gives a job its task. It stands in line for its turn from now on, before whatever is claimed next.
async fn spawn(worker: &Arc<Worker>, leased: Leased, mut turn: Turn, alone: Option<Alone>) {
    let live = Live::new(worker);
    let taken = Taken::new(worker);
    let at_once = started(&mut turn).await;
    let worker = Arc::clone(worker);
    tokio::spawn(async move {
        let holding = Holding(Arc::clone(&worker), leased.token);
        let turn = async {
            let permit = match at_once {
                Some(permit) => permit,
                None => turn.await,
            };
            permit.map(|permit| Place { alone, _permit: permit, _taken: taken })
        };
        work_on(worker, leased, turn).await;
        drop((holding, live));
    });
}

/// Where a job's command may run.
pub(super) struct Place {
    alone: Option<Alone>,
    _permit: OwnedSemaphorePermit,
    _taken: Taken,
}

/// Counts a job that has a place or waits for one.
struct Taken(Arc<Worker>);

impl Taken {
    fn new(worker: &Arc<Worker>) -> Self {
        worker.taken.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(worker))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::SeqCst);
        self.0.ended.notify_one();
    }
}

/// Counts a task, also where it panics.
struct Live(Arc<Worker>);

impl Live {
    fn new(worker: &Arc<Worker>) -> Self {
        worker.live.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(worker))
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.0.live.fetch_sub(1, Ordering::SeqCst);
        self.0.ended.notify_one();
    }
}

/// Lets go of a lease, also where its task panicked: nobody keeps it alive then.
struct Holding(Arc<Worker>, LeaseToken);

impl Drop for Holding {
    fn drop(&mut self) {
        self.0.held.let_go(self.1);
    }
}

impl Place {
    /// Whether nothing else may be begun until the end of this job is on record.
    pub(super) fn is_alone(&self) -> bool {
        self.alone.is_some()
    }
}

/// While there is one, nothing is claimed.
struct Alone(Arc<Worker>);

impl Alone {
    fn new(worker: &Arc<Worker>) -> Self {
        worker.alone.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(worker))
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        self.0.alone.fetch_sub(1, Ordering::SeqCst);
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
    if let Some(remote) = &worker.remote {
        return wait_for_server(worker, remote, seen, due_after.map(Duration::from_micros)).await;
    }
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

/// The same with a server, which answers when somebody has committed something: one request that waits, in place of many.
async fn wait_for_server(worker: &Worker, remote: &RemoteStore, seen: u64, due_after: Option<Duration>) {
    let most = due_after.unwrap_or(ASK_AGAIN).min(ASK_AGAIN);
    tokio::select! {
        biased;
        () = worker.stopper.reaches(Stopping::InOrder) => {}
        () = worker.ended.notified() => {}
        () = tokio::time::sleep(most) => {}
        changes = remote.changes_after(seen, most) => if let Err(error) = changes {
            worker.outage.failed(&error);
            tokio::time::sleep(TROUBLE_WAIT).await;
        }
    }
}

async fn left(worker: &Worker, claim: &Claim) -> Left {
    let counted = worker.jobs_in([JobState::Pending, JobState::Running]).await;
    let [waiting, elsewhere] = counted.unwrap_or_default();
    Left { waiting, next_due: claim.next_due, elsewhere }
}
