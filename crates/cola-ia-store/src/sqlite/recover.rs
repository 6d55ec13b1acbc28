//! Ending leases that ran out.

use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::{Outcome, RetryPolicy, Sign};
use cola_ia_core::store::{LEASES_MAX, Recovered, StoreError};

use super::effects::case::{Cases, Records};
use super::job_row::{self, JobRow, Moves};
use super::writer::Scope;

/// See [`Store::recover`](cola_ia_core::store::Store::recover).
pub(super) fn recover(
    scope: &Scope<'_>,
    policy: &RetryPolicy,
    limit: u32,
    dry_run: bool,
) -> Result<Recovered, StoreError> {
    let at = scope.clock.now();
    let limit = (limit as usize).clamp(1, LEASES_MAX);
    let recovered = || -> rusqlite::Result<Recovered> {
        // The index has the jobs that run; there are as many as workers have in hand.
        let mut expired: Vec<i64> = scope
            .connection
            .prepare_cached(
                "SELECT event FROM jobs
                 WHERE state = 'running' AND state NOT IN ('pending', 'done') AND lease_until <= ?1
                 ORDER BY lease_until, event LIMIT ?2",
            )?
            .query_map((at.as_micros(), limit as i64 + 1), |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let more = expired.len() > limit;
        expired.truncate(limit);
        let mut jobs = Vec::with_capacity(expired.len());
        let mut cases = Cases::new(scope.connection);
        let mut moves = Moves::new(scope, at)?;
        for event in expired {
            let Some(row) = JobRow::find(scope.connection, event)? else { continue };
            let (source, mut read) = (row.source, cases.of_run(row, Records::Leave)?);
            if cases.ledger_of(&read, at, policy)?.expire(&mut read.case).is_err() {
                continue;
            }
            jobs.push((EventNumber(event), job_row::ended(&read.case.job)));
            if !dry_run {
                moves.signs.hear(source, event, Some(Sign::of_lost_worker()));
                read.write(&mut moves, None, Outcome::Crashed)?;
            }
        }
        moves.count(policy.pause_after)?;
        Ok(Recovered { jobs, more })
    };
    recovered().map_err(|cause| scope.error(&cause))
}
