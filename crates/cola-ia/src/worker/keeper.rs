//! Heartbeats for the leases in hand, from outside of the commands, and recovery of what others lost.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant, SystemTime};

use cola_ia_core::job::JobState;
use cola_ia_core::store::{Duty, LEASES_MAX, StoreError};

use super::Worker;
use super::adopted::reap_adopted;
use super::outage::can_pass;
use super::standing;
use super::stop::Stopping;
use crate::lang::Message;

/// How often leases that ran out are looked for: while there is nothing else to do, and while there is.
const RECOVER_IDLE: Duration = Duration::from_secs(1);
const RECOVER_BUSY: Duration = Duration::from_secs(3);
/// How long one process recovers for all before it must say so again.
const RECOVERY_HELD: Duration = Duration::from_secs(6);
/// How often it is looked how sources stand, while things change.
const LOOK_AT_SOURCES: Duration = Duration::from_secs(3);
/// Leases that one step of recovery ends.
const RECOVER_STEP: u32 = 100;
/// The longest wait between two looks at the clock: a machine that slept does not say so.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Keeps the leases until everything has ended.
pub(super) async fn keep(worker: &Worker) {
    let beat = worker.lease / 3;
    let mut next_beat = Due::after(beat);
    let mut next_recovery = Due::after(RECOVER_IDLE);
    let mut next_look = Due::after(LOOK_AT_SOURCES);
    loop {
        // The lease comes first: a worker that was stopped for long finds out that it lost it before it does anything else.
        if next_beat.is_now() {
            let extended = extend_all(worker).await;
            // A heartbeat that failed is tried again soon, long before the lease is over.
            next_beat = Due::after(if extended { beat } else { (beat / 10).min(LOOK_AGAIN) });
        }
        if next_recovery.is_now() && worker.stopper.state() == Stopping::No {
            recover(worker).await;
            next_recovery = Due::after(if worker.held.is_empty() { RECOVER_IDLE } else { RECOVER_BUSY });
        }
        if next_look.is_now() && worker.stopper.state() == Stopping::No {
            standing::look(worker).await;
            next_look = Due::after(LOOK_AT_SOURCES);
        }
        // Also while no command runs.
        reap_adopted();
        tokio::time::sleep(next_beat.left().min(next_recovery.left()).clamp(Duration::from_millis(1), LOOK_AGAIN))
            .await;
    }
}

/// An instant by two clocks: one stands still while the machine sleeps, the other can be set.
struct Due {
    steady: Instant,
    wall: Option<SystemTime>,
}

impl Due {
    fn after(wait: Duration) -> Self {
        Self { steady: Instant::now() + wait, wall: SystemTime::now().checked_add(wait) }
    }

    /// Whether either of them has reached it.
    fn is_now(&self) -> bool {
        Instant::now() >= self.steady || self.wall.is_some_and(|wall| SystemTime::now() >= wall)
    }

    fn left(&self) -> Duration {
        self.steady.saturating_duration_since(Instant::now())
    }
}

/// One heartbeat for every lease. Answers whether the store took it.
pub(super) async fn extend_all(worker: &Worker) -> bool {
    let answered = {
        // No end may come between what is looked up here and what is asked for.
        let order = worker.order.lock().await;
        let tokens = worker.held.to_extend();
        let mut calls = Vec::new();
        for chunk in tokens.chunks(LEASES_MAX) {
            let mut call = worker.store.extend(chunk.to_vec(), worker.lease);
            let first = started(&mut call).await;
            calls.push((chunk.to_vec(), call, first));
        }
        // Over a network one call may overtake another: none is made until these are answered.
        if worker.remote.is_some() {
            for (_, call, first) in &mut calls {
                if first.is_none() {
                    *first = Some(call.await);
                }
            }
        }
        drop(order);
        calls
    };
    let mut all_well = true;
    for (tokens, call, first) in answered {
        let answers = match first {
            Some(answers) => answers,
            None => call.await,
        };
        match answers {
            Ok(answers) => {
                worker.outage.is_over();
                for (token, answer) in tokens.into_iter().zip(answers) {
                    if let Err(lost) = answer
                        && let Some(id) = worker.held.lose(token)
                    {
                        worker.voice.warn(lost_message(id, lost.superseded_by));
                    }
                }
            }
            Err(error) => {
                worker.outage.failed(&error);
                all_well = false;
            }
        }
    }
    all_well
}

fn lost_message(id: String, superseded_by: Option<u32>) -> Message {
    match superseded_by {
        Some(attempt) => Message::new("work-lost-to").with("id", id).with("attempt", attempt),
        None => Message::new("work-lost").with("id", id),
    }
}

/// Makes a call without waiting for its answer: who calls next stands behind it. The answer, where it is there already.
pub(super) async fn started<T>(call: &mut Pin<Box<dyn Future<Output = T> + Send + '_>>) -> Option<T> {
    poll_fn(|context| {
        Poll::Ready(match call.as_mut().poll(context) {
            Poll::Ready(answer) => Some(answer),
            Poll::Pending => None,
        })
    })
    .await
}

/// Ends the leases of workers that are lost. Our own that ran out (a lock was held for long, the machine slept) are extended
/// instead: their commands run, and nobody else has taken them.
pub(super) async fn recover(worker: &Worker) {
    // A server does it itself, whoever works with it.
    if worker.remote.is_some() {
        return;
    }
    match recovered(worker).await {
        Ok((0, _)) => {}
        Ok((count, failed)) => {
            let mut message = Message::new("work-recovered").number("count", count);
            if failed > 0 {
                let failed = Message::new("work-recovered-failed").number("count", failed);
                message = Message::new("work-recovered-and").message("recovered", message).message("failed", failed);
            }
            worker.voice.note(message);
        }
        Err(error) if can_pass(&error) => worker.outage.failed(&error),
        // Whoever claims next meets the same error and stops.
        Err(_) => {}
    }
}

async fn recovered(worker: &Worker) -> Result<(u64, u64), StoreError> {
    let (mut count, mut failed) = (0, 0);
    if !worker.store.duty(Duty::Recover, RECOVERY_HELD).await? {
        return Ok((count, failed));
    }
    loop {
        let expired = worker.store.recover(worker.policy, RECOVER_STEP, true).await?;
        worker.outage.is_over();
        let own = worker.held.events();
        if expired.jobs.is_empty() {
            return Ok((count, failed));
        }
        // Just before, so that none of ours runs out in between.
        if !own.is_empty() && !extend_all(worker).await {
            return Ok((count, failed));
        }
        if expired.jobs.iter().all(|(event, _)| own.contains(event)) {
            return Ok((count, failed));
        }
        let done = worker.store.recover(worker.policy, RECOVER_STEP, false).await?;
        count += done.jobs.len() as u64;
        failed += done.jobs.iter().filter(|(_, ended)| ended.state == JobState::Failed).count() as u64;
        if !done.more {
            return Ok((count, failed));
        }
    }
}
