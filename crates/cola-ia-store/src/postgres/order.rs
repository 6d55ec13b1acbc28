//! What people order of jobs.

use std::collections::{HashMap, HashSet};

use cola_ia_core::effect::{Ledger, OrderDenied};
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::{Outcome, RetryPolicy};
use cola_ia_core::store::{Ended, ErrorKind, LEASES_MAX, OpId, Order, OrderRefused, StoreError};

use super::effects::case::{ReadCase, Records, ledger_of, of_all_runs, read_cases, write_effects};
use super::error::Fault;
use super::job_row::{self, JobRow, Moves};
use super::ops::Call;
use super::row::{Columns as _, unexpected};
use super::sql::params;
use super::tx::Tx;
use crate::common::digest::digest;
use crate::common::ordered::{packed, unpacked};

type Answer = Result<Ended, OrderRefused>;

/// See [`Store::order`](cola_ia_core::store::Store::order).
pub(super) async fn order(tx: &Tx, op: OpId, order: Order, jobs: &[EventNumber]) -> Result<Vec<Answer>, Fault> {
    if jobs.len() > LEASES_MAX {
        return Err(StoreError::new(ErrorKind::Invalid, "too_many_jobs").with("limit", LEASES_MAX).into());
    }
    let bytes: Vec<u8> = jobs.iter().flat_map(|event| event.0.to_le_bytes()).collect();
    let call = Call { op, verb: "order", request: digest(&[order.as_str().as_bytes(), &bytes]) };
    if let Some(first) = call.first_answer(tx).await? {
        return unpacked(&first.rest()).ok_or_else(|| unexpected("answer", "not of an order"));
    }
    let events: Vec<i64> = jobs.iter().map(|event| event.0).collect();
    let rows: Vec<JobRow> = job_row::find_many(tx, &events).await?.into_values().collect();
    let has_content = has_content(tx, &events).await?;
    let mut cases = match order {
        Order::Cancel | Order::Retry => read_cases(tx, rows, Records::Leave).await?,
        Order::Replay => of_all_runs(tx, rows).await?,
    };
    let ledger = ledger_of(tx, &cases, tx.now, &RetryPolicy::default()).await?;
    let places: HashMap<i64, usize> = cases.iter().enumerate().map(|(place, read)| (read.row.event, place)).collect();
    let mut moves = Moves::new(tx.now);
    // As each job is after the orders before.
    let mut now: HashMap<i64, JobRow> = cases.iter().map(|read| (read.row.event, read.row.clone())).collect();
    let mut answers = Vec::with_capacity(events.len());
    for event in &events {
        let read = places.get(event).map(|place| &mut cases[*place]);
        let row = now.get_mut(event);
        let (Some(read), Some(row)) = (read, row) else {
            answers.push(Err(OrderRefused::Missing));
            continue;
        };
        answers.push(follow(&ledger, &mut moves, order, read, row, has_content.contains(event)));
    }
    write_effects(tx, &mut cases, tx.now, &mut moves.sums, None).await?;
    moves.write(tx, None).await?;
    let followed: Vec<i64> =
        events.iter().zip(&answers).filter(|(_, answer)| answer.is_ok()).map(|(event, _)| *event).collect();
    if !followed.is_empty() {
        // What it leaves behind is pruned in its turn.
        let unprune = "UPDATE events SET pruned_at = NULL WHERE seq = ANY($1) AND pruned_at IS NOT NULL";
        tx.execute(unprune, params![followed]).await?;
    }
    call.record(tx, &packed(&answers)).await?;
    Ok(answers)
}

fn follow(
    ledger: &Ledger,
    moves: &mut Moves<'_>,
    order: Order,
    read: &mut ReadCase,
    row: &mut JobRow,
    has_content: bool,
) -> Answer {
    // An order that is refused leaves the case as it is.
    let mut case = read.case.clone();
    let denied = match order {
        Order::Cancel => ledger.cancel(&mut case),
        Order::Retry => ledger.retry(&mut case),
        Order::Replay => ledger.replay(&mut case),
    };
    match denied {
        Err(OrderDenied::State(state)) => return Err(OrderRefused::State(state)),
        _ if order != Order::Cancel && !has_content => return Err(OrderRefused::ContentGone),
        Err(OrderDenied::EffectsOpen) => return Err(OrderRefused::EffectsOpen),
        Err(OrderDenied::Abandoned) => return Err(OrderRefused::EffectAbandoned),
        Ok(()) => {}
    }
    read.case = case;
    let job = read.case.job.clone();
    // Written where it is as it was, too: it was ordered now.
    let ended = moves.put(row, job.clone(), Outcome::LeaseLost);
    row.leases = if job.run == row.job.run { row.leases } else { 0 };
    row.job = job;
    Ok(ended)
}

/// Those of these events that there is something of to work on.
async fn has_content(tx: &Tx, events: &[i64]) -> Result<HashSet<i64>, Fault> {
    let rows = tx
        .query(
            "SELECT seq FROM events WHERE seq = ANY($1) AND text IS NOT NULL
             UNION SELECT event FROM revisions WHERE event = ANY($1) AND text IS NOT NULL",
            params![events],
        )
        .await?;
    rows.iter().map(|row| row.read(0)).collect()
}
