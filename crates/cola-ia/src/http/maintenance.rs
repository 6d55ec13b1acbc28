//! What the server does by itself beside the routes: it takes up jobs whose workers are lost, lets go of what is no longer
//! needed, and makes backups. What fails is told loudly and tried again; the server goes on.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use cola_ia_core::job::Outcome;
use cola_ia_core::store::{Duty, LEASES_MAX, OpId, PruneRequest, Pruned, StoreError};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::App;

mod backup;

/// Between two looks for leases that have run out.
const RECOVER_EVERY: Duration = Duration::from_secs(3);
/// Between two times that counts of refusals are handed over.
const REFUSALS_EVERY: Duration = Duration::from_secs(10);
/// From the start to the first pruning: whoever starts again and again is to serve first.
const FIRST_PRUNE: Duration = Duration::from_mins(5);
/// Between two prunings.
const PRUNE_EVERY: Duration = Duration::from_hours(24);
/// After one that failed.
const PRUNE_AGAIN: Duration = Duration::from_hours(1);
/// How long a step can take before another server thinks that this one is gone.
const PRUNE_HELD: Duration = Duration::from_mins(5);
/// Between two of its steps, in which others write.
const BETWEEN_STEPS: Duration = Duration::from_millis(100);

/// Starts all of it. It ends by itself once the server is to stop.
pub(super) fn start(app: &Arc<App>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    tasks.spawn(until_stopped(app.clone(), recover(app.clone())));
    tasks.spawn(until_stopped(app.clone(), prune(app.clone())));
    tasks.spawn(until_stopped(app.clone(), refusals(app.clone())));
    // Backups of a database are its server's.
    if let (Some(every), Some(store)) = (app.settings.backup_every, app.settings.db.file()) {
        let keeping = backup::keep(app.clone(), store.to_path_buf(), every);
        tasks.spawn(until_stopped(app.clone(), keeping));
    }
    tasks
}

/// A call to the store that is left alone is whole or it is not there.
async fn until_stopped(app: Arc<App>, work: impl Future<Output = Infallible>) {
    let mut stopping = app.stopping.clone();
    tokio::select! {
        _ = stopping.wait_for(|stopping| *stopping) => {}
        never = work => match never {},
    }
}

async fn recover(app: Arc<App>) -> Infallible {
    loop {
        match recovered(&app).await {
            Ok(0) => {}
            Ok(count) => {
                app.metrics.maintained("recover", count);
                tracing::info!(count, "jobs whose workers were lost are taken up again");
            }
            Err(error) => failed(&app, "recover", &error),
        }
        sleep(RECOVER_EVERY).await;
    }
}

async fn recovered(app: &App) -> Result<u64, StoreError> {
    let mut count = 0;
    if !app.store.duty(Duty::Recover, 2 * RECOVER_EVERY).await? {
        return Ok(count);
    }
    loop {
        let recovered = app.store.recover(app.settings.retry, LEASES_MAX as u32, false).await?;
        for _ in &recovered.jobs {
            app.metrics.attempt(Outcome::Crashed);
        }
        count += recovered.jobs.len() as u64;
        if !recovered.more {
            return Ok(count);
        }
    }
}

async fn prune(app: Arc<App>) -> Infallible {
    sleep(FIRST_PRUNE).await;
    loop {
        let wait = match pruned(&app).await {
            Ok(pruned) => {
                if !pruned.is_empty() {
                    let Pruned { events, deliveries, ops, .. } = pruned;
                    app.metrics.maintained("prune", 1);
                    tracing::info!(events, deliveries, ops, "what was no longer needed is gone");
                }
                PRUNE_EVERY
            }
            Err(error) => {
                failed(&app, "prune", &error);
                PRUNE_AGAIN
            }
        };
        sleep(wait).await;
    }
}

/// Step by step, each looked at first: looking needs no lock.
async fn pruned(app: &App) -> Result<Pruned, StoreError> {
    let settings = &app.settings;
    let mut request =
        PruneRequest { texts: settings.retention_texts, deliveries: settings.retention_deliveries, after: None };
    let mut sum = Pruned::default();
    loop {
        // Asked before each step: who does it keeps it, and of several servers one does.
        if !app.store.duty(Duty::Prune, PRUNE_HELD).await? {
            return Ok(sum);
        }
        let found = app.store.prunable(request.clone()).await?;
        let step = if found.is_empty() {
            found
        } else {
            app.store.prune(OpId::new(&*app.clock, &*app.entropy), request.clone()).await?
        };
        sum.events += step.events;
        sum.deliveries += step.deliveries;
        sum.ops += step.ops;
        request.after = step.next;
        if step.next.is_none() {
            return Ok(sum);
        }
        sleep(BETWEEN_STEPS).await;
    }
}

async fn refusals(app: Arc<App>) -> Infallible {
    loop {
        sleep(REFUSALS_EVERY).await;
        app.refusals.turn();
    }
}

fn failed(app: &App, task: &'static str, error: &StoreError) {
    app.metrics.maintenance_failed(task);
    tracing::error!(task, code = error.code, facts = ?error.facts, "maintenance failed, and is tried again");
}
