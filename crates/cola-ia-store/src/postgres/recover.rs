//! Ending leases that ran out.

use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::{Outcome, RetryPolicy, Sign};
use cola_ia_core::store::{LEASES_MAX, Recovered};

use super::effects::case::{Records, ledger_of, read_cases, write_effects};
use super::error::Fault;
use super::job_row::{self, JobRow, Moves};
use super::sql::params;
use super::tx::Tx;

/// See [`Store::recover`](cola_ia_core::store::Store::recover). What another one is about to recover is passed over.
pub(super) async fn recover(tx: &Tx, policy: &RetryPolicy, limit: u32, dry_run: bool) -> Result<Recovered, Fault> {
    let limit = (limit as usize).clamp(1, LEASES_MAX);
    // The index has the jobs that run; there are as many as workers have in hand.
    let lock = if dry_run { "" } else { "FOR UPDATE SKIP LOCKED" };
    let expired = format!(
        "SELECT {} FROM jobs j
         WHERE j.state = 'running' AND j.state NOT IN ('pending', 'done') AND j.lease_until <= $1
         ORDER BY j.lease_until, j.event LIMIT $2 {lock}",
        job_row::COLUMNS
    );
    let rows = tx.query(&expired, params![tx.now.as_micros(), limit as i64 + 1]).await?;
    let more = rows.len() > limit;
    let mut expired = Vec::with_capacity(limit);
    for row in rows.iter().take(limit) {
        // Asked for effects in any case: it may have begun one just before it was locked.
        expired.push(JobRow { has_effects: true, ..JobRow::of(row, 0)? });
    }
    let mut read = read_cases(tx, expired, Records::Leave).await?;
    let ledger = ledger_of(tx, &read, tx.now, policy).await?;
    let mut jobs = Vec::with_capacity(read.len());
    let mut moves = Moves::new(tx.now);
    for read in &mut read {
        if ledger.expire(&mut read.case).is_err() {
            continue;
        }
        jobs.push((EventNumber(read.row.event), job_row::ended(&read.case.job)));
        moves.signs.hear(read.row.source, read.row.event, Some(Sign::of_lost_worker()));
        moves.put(&read.row, read.case.job.clone(), Outcome::Crashed);
    }
    if !dry_run {
        write_effects(tx, &mut read, tx.now, &mut moves.sums, None).await?;
        moves.write(tx, policy.pause_after).await?;
    }
    Ok(Recovered { jobs, more })
}
