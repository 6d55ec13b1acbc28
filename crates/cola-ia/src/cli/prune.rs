//! `prune`: letting go of what is no longer needed, in small steps that can be interrupted anywhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cola_ia_core::clock::{SystemClock, SystemEntropy};
use cola_ia_core::store::{ErrorKind, OpId, PruneRequest, Pruned, Store, StoreError};
use cola_ia_store::sqlite::Shrunk;
use cola_ia_wire::Pruning;
use pollster::block_on;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::add::push_json;
use super::{Exit, Problem, Session, print};
use crate::config::Settings;
use crate::lang::Message;
use crate::store::{self, Chosen};

/// The options of `prune`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PruneOptions {
    /// `--older-than`
    pub older_than: Option<Duration>,
    /// `--dry-run`
    pub dry_run: bool,
    /// `--shrink`
    pub shrink: bool,
    /// `--json`
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// It could not go to its end; what went is gone, and running it again goes on.
pub fn run(session: &Session, options: PruneOptions, settings: &Settings) -> Result<Exit, Problem> {
    let interrupt =
        stop_at_a_signal().map_err(|cause| Problem::failed(Message::new("signals-failed").caused_by(&cause)))?;
    let failed = |error: StoreError| Problem::from_store(&error);
    if options.shrink && settings.server.is_none() {
        store::file(settings, "prune --shrink").map_err(failed)?;
    }
    let store = if options.dry_run { store::view(session, settings)? } else { store::change(session, settings)? };
    if options.shrink && store.is_remote() {
        return Err(Problem::usage(Message::new("prune-shrink-remote")).hint(Message::new("prune-shrink-remote-hint")));
    }
    let request = PruneRequest {
        texts: options.older_than.or(settings.retention_texts),
        deliveries: options.older_than.or(settings.retention_deliveries),
        after: None,
    };
    let (pruned, ended) = to_the_end(&*store, request, options.dry_run, &interrupt);
    let shrunk = match (&ended, &store) {
        (Ok(()), Chosen::File(file)) if options.shrink && !options.dry_run && pruned.next.is_none() => {
            Some(file.shrink().map_err(failed)?)
        }
        _ => None,
    };
    if options.json {
        let mut out = String::new();
        let shrunk = shrunk.map(|shrunk| [shrunk.from, shrunk.to]);
        push_json(&mut out, &Pruning::new(&pruned, options.dry_run, shrunk));
        print(&out)?;
    }
    told(session, options, &pruned, shrunk);
    ended.map_err(failed)?;
    if pruned.next.is_some() {
        return Err(failed(StoreError::new(ErrorKind::Unavailable, "interrupted")));
    }
    Ok(Exit::Done)
}

/// The first signal ends between two steps, the second one now: a step in flight is whole or it is not there.
pub(super) fn stop_at_a_signal() -> std::io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let exit = i32::from(Exit::Interrupted.code());
        signal_hook::flag::register_conditional_shutdown(signal, exit, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// Goes on step by step. Looking needs no lock, so that others write meanwhile; only what is found is removed under it. The
/// sum's `next` is where it was interrupted.
fn to_the_end(
    store: &dyn Store,
    mut request: PruneRequest,
    dry_run: bool,
    interrupt: &AtomicBool,
) -> (Pruned, Result<(), StoreError>) {
    let mut sum = Pruned::default();
    loop {
        let step = block_on(store.prunable(request.clone())).and_then(|found| {
            if dry_run || found.is_empty() {
                return Ok(found);
            }
            block_on(store.prune(OpId::new(&SystemClock, &SystemEntropy), request.clone()))
        });
        let step = match step {
            Ok(step) => step,
            Err(error) => return (sum, Err(error)),
        };
        sum.events += step.events;
        sum.deliveries += step.deliveries;
        sum.ops += step.ops;
        sum.next = step.next;
        request.after = step.next;
        if step.next.is_none() || interrupt.load(Ordering::SeqCst) {
            return (sum, Ok(()));
        }
    }
}

fn told(session: &Session, options: PruneOptions, pruned: &Pruned, shrunk: Option<Shrunk>) {
    let mut parts: Option<Message> = None;
    for (key, count) in
        [("prune-events", pruned.events), ("prune-deliveries", pruned.deliveries), ("prune-ops", pruned.ops)]
    {
        if count > 0 {
            let part = Message::new(key).number("count", count);
            parts = Some(match parts {
                None => part,
                Some(before) => Message::new("add-summary-and").message("before", before).message("last", part),
            });
        }
    }
    match parts {
        None => session.note(&Message::new("prune-nothing")),
        Some(parts) => {
            let key = if options.dry_run { "prune-would" } else { "prune-done" };
            session.note(&Message::new(key).message("parts", parts));
        }
    }
    match shrunk {
        Some(Shrunk { from, to }) => {
            session.note(&Message::new("prune-shrunk").with("from", mib(from)).with("to", mib(to)));
        }
        None if pruned.events > 0 && !options.dry_run => session.hint(&Message::new("prune-shrink-hint")),
        None => {}
    }
}

/// `12.3 MiB`, cut.
fn mib(bytes: u64) -> String {
    let tenths = bytes * 10 / (1 << 20);
    format!("{}.{} MiB", tenths / 10, tenths % 10)
}
