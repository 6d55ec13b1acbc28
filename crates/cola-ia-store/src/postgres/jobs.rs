//! The list of jobs.

use std::collections::BTreeSet;

use cola_ia_core::filter::Filter;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::JobState;
use cola_ia_core::store::{JobPage, JobSummary, PageRequest};

use super::conditions::Conditions;
use super::error::Fault;
use super::stretch::{self, Question, Range};
use super::summary;
use super::tx::Tx;
use crate::common::stretch::{Stretch, merge};

/// See [`Store::jobs`](cola_ia_core::store::Store::jobs).
pub(super) async fn jobs(tx: &Tx, filter: &Filter, page: PageRequest) -> Result<JobPage, Fault> {
    let limit = page.limit.clamp(1, 1_000) as usize;
    let range = Range::of(tx, filter, page.below.map(|below| below.0)).await?;
    let rare = |state: &JobState| !matches!(state, JobState::Pending | JobState::Done);
    let mut stretches = Vec::new();
    if !filter.states.is_empty() && filter.states.iter().all(rare) {
        // Each once: the same one twice would find each job twice.
        let states: BTreeSet<JobState> = filter.states.iter().copied().collect();
        for state in states {
            stretches.push(look(tx, Some(state), filter, range, limit).await?);
        }
    } else {
        stretches.push(look(tx, None, filter, range, limit).await?);
    }
    let (jobs, next) = merge(stretches, limit);
    Ok(JobPage { jobs, next: next.map(EventNumber) })
}

/// Looks downwards: through the index of the states that are rare, if `state` is one, or through all jobs.
async fn look(
    tx: &Tx,
    state: Option<JobState>,
    filter: &Filter,
    range: Range,
    limit: usize,
) -> Result<Stretch<JobSummary>, Fault> {
    let mut conditions = Conditions::default();
    if state.is_none() {
        conditions.one_of("j.state", filter.states.iter().map(|state| state.as_str()));
    }
    conditions.of_sources("j.source", filter);
    conditions.one_of("j.reason", filter.reasons.iter().map(String::as_str));
    conditions.of_types("e.type", filter);
    conditions.within("e.received_at", filter);
    let question = Question {
        columns: summary::COLUMNS,
        table: "jobs j",
        name: "j",
        number: "event",
        rows: if state.is_some() { "j.state NOT IN ('pending', 'done')" } else { "" },
        word: state.map(|state| ("state", state.as_str())),
        joins: summary::JOINS,
        conditions,
    };
    stretch::look(tx, question, range, limit, |row| summary::of(row).map(|job| (job.event.0, job))).await
}
