//! Pages of jobs.

use cola_ia_core::store::{JobFilter, JobPage, JobSummary, PageRequest};
use rusqlite::types::Value;

use super::reader::Sight;
use super::row;

/// See [`Store::jobs`](cola_ia_core::store::Store::jobs).
pub(super) fn jobs(sight: &Sight<'_>, filter: &JobFilter, page: PageRequest) -> rusqlite::Result<JobPage> {
    let limit = page.limit.clamp(1, 1_000) as usize;
    let mut values = Vec::new();
    let mut conditions = Vec::new();
    let mut bind = |value: Value| {
        values.push(value);
        format!("?{}", values.len())
    };
    if let Some(below) = page.below {
        conditions.push(format!("j.event < {}", bind(below.0.into())));
    }
    if let Some(source) = &filter.source {
        let name = bind(source.as_str().to_owned().into());
        conditions.push(format!("j.source = (SELECT source FROM sources WHERE name = {name})"));
    }
    if !filter.states.is_empty() {
        let states: Vec<_> = filter.states.iter().map(|state| bind(state.as_str().to_owned().into())).collect();
        conditions.push(format!("j.state IN ({})", states.join(", ")));
    }
    let condition = if conditions.is_empty() { "true".to_owned() } else { conditions.join(" AND ") };
    let sql = format!(
        "SELECT {} FROM {} WHERE {condition} ORDER BY j.event DESC LIMIT {}",
        row::JOB_COLUMNS,
        row::JOB_TABLES,
        // One more than is given tells whether another page follows.
        limit + 1,
    );
    let mut jobs: Vec<JobSummary> = sight
        .connection
        .prepare_cached(&sql)?
        .query_map(rusqlite::params_from_iter(values), row::job)?
        .collect::<rusqlite::Result<_>>()?;
    let more = jobs.len() > limit;
    jobs.truncate(limit);
    let next = if more { jobs.last().map(|job| job.event) } else { None };
    Ok(JobPage { jobs, next })
}
