//! Pages of jobs.

use cola_ia_core::filter::Filter;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::JobState;
use cola_ia_core::store::{JobPage, JobSummary, PageRequest};
use rusqlite::Connection;

use super::conditions::Conditions;
use super::reader::Sight;
use super::stretch::{self, Stretch};
use super::time_range::NumberRange;
use super::{row, time_range};

/// See [`Store::jobs`](cola_ia_core::store::Store::jobs).
pub(super) fn jobs(sight: &Sight<'_>, filter: &Filter, page: PageRequest) -> rusqlite::Result<JobPage> {
    let limit = page.limit.clamp(1, 1_000) as usize;
    let mut range = time_range::numbers(sight.connection, filter)?;
    range.end = page.below.map_or(range.end, |below| range.end.min(below.0));
    let rare = |state: &JobState| !matches!(state, JobState::Pending | JobState::Done);
    let stretches = if !filter.states.is_empty() && filter.states.iter().all(rare) {
        let of_state = |state: &JobState| look(sight.connection, Some(*state), filter, range, limit);
        filter.states.iter().map(of_state).collect::<rusqlite::Result<_>>()?
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
    range: NumberRange,
    limit: usize,
) -> rusqlite::Result<Stretch<JobSummary>> {
    let mut conditions = Conditions::default();
    let end = conditions.bind(range.end);
    conditions.and(format!("j.event < {end}"));
    let rows = if let Some(state) = state {
        // The words are ours. That of the index must stand there too, or it is not used.
        let is_state = format!("j.state = '{}' AND j.state NOT IN ('pending', 'done')", state.as_str());
        conditions.and(&*is_state);
        format!("FROM jobs j WHERE j.event < ?1 AND {is_state}")
    } else {
        conditions.one_of("+j.state", filter.states.iter().map(|state| state.as_str()));
        "FROM jobs j WHERE j.event < ?1".to_owned()
    };
    let unfiltered = conditions.len();
    conditions.of_sources("+j.source", filter);
    conditions.one_of("j.reason", filter.reasons.iter().map(String::as_str));
    conditions.of_types("e.type", filter);
    conditions.within("e.received_at", filter);
    let all_pass = conditions.len() == unfiltered && (state.is_some() || filter.states.is_empty());
    let floor = if all_pass { None } else { stretch::floor(connection, "j.event", &rows, range.end)? };
    let floor = floor.filter(|floor| *floor > range.first);
    let first = conditions.bind(floor.unwrap_or(range.first));
    conditions.and(format!("j.event >= {first}"));
    let sql = format!(
        "SELECT {} FROM {} WHERE {} ORDER BY j.event DESC LIMIT {}",
        row::JOB_COLUMNS,
        row::JOB_TABLES,
        conditions.sql(),
        // One more than is given tells whether another page follows.
        limit + 1,
    );
    let found = connection
        .prepare_cached(&sql)?
        .query_map(conditions.values(), row::job)?
        .map(|job| job.map(|job| (job.event.0, job)))
        .collect::<rusqlite::Result<_>>()?;
    Ok(Stretch::new(found, limit, floor))
}
