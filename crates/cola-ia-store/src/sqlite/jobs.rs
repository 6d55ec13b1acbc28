//! Pages of jobs.

use std::collections::BTreeSet;

use cola_ia_core::filter::Filter;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::JobState;
use cola_ia_core::store::{JobPage, JobSummary, PageRequest};
use rusqlite::Connection;

use super::conditions::Conditions;
use super::reader::Sight;
use super::row;
use super::stretch::{self, Question, Range, Stretch};

/// See [`Store::jobs`](cola_ia_core::store::Store::jobs).
pub(super) fn jobs(sight: &Sight<'_>, filter: &Filter, page: PageRequest) -> rusqlite::Result<JobPage> {
    let limit = page.limit.clamp(1, 1_000) as usize;
    let range = Range::of(sight.connection, filter, page.below.map(|below| below.0))?;
    let rare = |state: &JobState| !matches!(state, JobState::Pending | JobState::Done);
    let stretches = if !filter.states.is_empty() && filter.states.iter().all(rare) {
        let of_state = |state: &JobState| look(sight.connection, Some(*state), filter, range, limit);
        // Each once: the same one twice would find each job twice.
        let states: BTreeSet<JobState> = filter.states.iter().copied().collect();
        states.iter().map(of_state).collect::<rusqlite::Result<_>>()?
    } else {
        vec![look(sight.connection, None, filter, range, limit)?]
    };
    let (jobs, next) = stretch::merge(stretches, limit);
    Ok(JobPage { jobs, next: next.map(EventNumber) })
}

/// Looks downwards: through the index of the states that are rare, if `state` is one, or through all jobs.
fn look(
    connection: &Connection,
    state: Option<JobState>,
    filter: &Filter,
    range: Range,
    limit: usize,
) -> rusqlite::Result<Stretch<JobSummary>> {
    let mut conditions = Conditions::default();
    // The word is ours. That of the index must stand there too, or it is not used.
    let rows = state.map(|state| format!("j.state = '{}' AND j.state NOT IN ('pending', 'done')", state.as_str()));
    if state.is_none() {
        // `+`: by number, not by an index that another order would have to be made of.
        conditions.one_of("+j.state", filter.states.iter().map(|state| state.as_str()));
    }
    conditions.of_sources("+j.source", filter);
    conditions.one_of("j.reason", filter.reasons.iter().map(String::as_str));
    conditions.of_types("e.type", filter);
    conditions.within("e.received_at", filter);
    let question = Question {
        columns: row::JOB_COLUMNS,
        table: if state.is_some() { "jobs j INDEXED BY jobs_state" } else { "jobs j" },
        number: "j.event",
        rows: rows.as_deref().unwrap_or_default(),
        joins: row::JOB_JOINS,
        conditions,
    };
    Stretch::look(connection, question, range, limit, |row| row::job(row).map(|job| (job.event.0, job)))
}
