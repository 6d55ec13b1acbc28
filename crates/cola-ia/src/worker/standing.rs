//! Says once that jobs of a source fail one after the other, and that a source is paused.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::Source;
use cola_ia_core::filter::Filter;
use cola_ia_core::store::StoreError;

use super::Worker;
use crate::cli::standing;
use crate::config::Warning;

/// What was seen last.
#[derive(Debug, Default)]
pub(super) struct Standing(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    /// The store's number of changes; `None`: nobody has looked.
    changes: Option<u64>,
    /// Streaks and pauses, told apart by what stays the same while they last.
    told: BTreeSet<(Source, Option<String>, Timestamp)>,
}

/// Looks at the sources that are worked on. While nobody commits anything there is no news, and nothing is asked.
pub(super) async fn look(worker: &Worker) {
    // Whoever claims next meets the same error.
    for warning in news(worker).await.unwrap_or_default() {
        worker.voice.warning(warning);
    }
}

async fn news(worker: &Worker) -> Result<Vec<Warning>, StoreError> {
    let changes = worker.store.changes().await?;
    let seen = || worker.standing.0.lock().unwrap_or_else(PoisonError::into_inner);
    if seen().changes.replace(changes) == Some(changes) {
        return Ok(Vec::new());
    }
    let filter = Filter { sources: worker.how.source.iter().cloned().collect(), ..Filter::default() };
    let views = worker.store.sources(filter).await?;
    let told = std::mem::take(&mut seen().told);
    let mut now = BTreeSet::new();
    let mut warnings = Vec::new();
    for view in &views {
        if let Some(streak) = view.worth_a_warning() {
            let streak_of = (view.source.clone(), Some(streak.class.clone()), streak.since);
            if !told.contains(&streak_of) {
                warnings.push(standing::failing(&*worker.store, &view.source, streak).await?);
            }
            now.insert(streak_of);
        }
        if let Some(paused_at) = view.paused_at {
            let pause_of = (view.source.clone(), None, paused_at);
            if !told.contains(&pause_of) {
                warnings.extend(standing::paused(view));
            }
            now.insert(pause_of);
        }
    }
    seen().told = now;
    Ok(warnings)
}
