//! What people order of jobs.

use cola_ia_core::effect::OrderDenied;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::{Outcome, RetryPolicy};
use cola_ia_core::store::{Ended, ErrorKind, LEASES_MAX, OpId, Order, OrderRefused, StoreError};
use rusqlite::Connection;

use super::effects::case::{Cases, Records};
use super::job_row::{self, JobRow, Moves};
use super::ops::{Call, digest};
use super::row;
use super::writer::Scope;
use crate::common::ordered::{packed, unpacked};

/// See [`Store::order`](cola_ia_core::store::Store::order).
pub(super) fn order(
    scope: &Scope<'_>,
    op: OpId,
    order: Order,
    jobs: &[EventNumber],
) -> Result<Vec<Result<Ended, OrderRefused>>, StoreError> {
    if jobs.len() > LEASES_MAX {
        return Err(StoreError::new(ErrorKind::Invalid, "too_many_jobs").with("limit", LEASES_MAX));
    }
    let at = scope.clock.now();
    let sqlite = |cause: rusqlite::Error| scope.error(&cause);
    let events: Vec<u8> = jobs.iter().flat_map(|event| event.0.to_le_bytes()).collect();
    let call = Call { op, verb: "order", request: digest(&[order.as_str().as_bytes(), &events]) };
    if let Some(first) = call.first_answer(scope)? {
        return unpacked(&first.rest()).ok_or_else(|| sqlite(row::unexpected("answer", "not of an order")));
    }
    let follow_each = || -> rusqlite::Result<Vec<_>> {
        let mut cases = Cases::new(scope.connection);
        let mut moves = Moves::new(scope, at)?;
        let answers = jobs
            .iter()
            .map(|event| follow(scope.connection, &mut cases, &mut moves, order, *event))
            .collect::<Result<_, _>>()?;
        moves.count(None)?;
        Ok(answers)
    };
    let answers = follow_each().map_err(sqlite)?;
    call.record(scope, at, &packed(&answers))?;
    Ok(answers)
}

fn follow(
    connection: &Connection,
    cases: &mut Cases<'_>,
    moves: &mut Moves<'_>,
    order: Order,
    event: EventNumber,
) -> rusqlite::Result<Result<Ended, OrderRefused>> {
    let Some(row) = JobRow::find(connection, event.0)? else { return Ok(Err(OrderRefused::Missing)) };
    let mut read = match order {
        Order::Cancel | Order::Retry => cases.of_run(row, Records::Leave)?,
        Order::Replay => cases.of_all_runs(row)?,
    };
    let ledger = cases.ledger_of(&read, moves.at, &RetryPolicy::default())?;
    let denied = match order {
        Order::Cancel => ledger.cancel(&mut read.case),
        Order::Retry => ledger.retry(&mut read.case),
        Order::Replay => ledger.replay(&mut read.case),
    };
    match denied {
        Err(OrderDenied::State(state)) => return Ok(Err(OrderRefused::State(state))),
        _ if order != Order::Cancel && content_gone(connection, event)? => return Ok(Err(OrderRefused::ContentGone)),
        Err(OrderDenied::EffectsOpen) => return Ok(Err(OrderRefused::EffectsOpen)),
        Err(OrderDenied::Abandoned) => return Ok(Err(OrderRefused::EffectAbandoned)),
        Ok(()) => {}
    }
    // What it leaves behind is pruned in its turn.
    connection
        .prepare_cached("UPDATE events SET pruned_at = NULL WHERE seq = ?1 AND pruned_at IS NOT NULL")?
        .execute([event.0])?;
    read.write_effects(moves.at, &mut moves.sums, None)?;
    // Written where it is as it was, too: it was ordered now.
    moves.put(&read.row, read.case.job.clone(), Outcome::LeaseLost)?;
    Ok(Ok(job_row::ended(&read.case.job)))
}

fn content_gone(connection: &Connection, event: EventNumber) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT NOT EXISTS (SELECT 1 FROM events WHERE seq = ?1 AND text IS NOT NULL
             UNION ALL SELECT 1 FROM revisions WHERE event = ?1 AND text IS NOT NULL)",
        )?
        .query_row([event.0], |row| row.get(0))
}
