//! What people order of jobs.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::{Denied, JobState, Outcome};
use cola_ia_core::store::{Ended, ErrorKind, LEASES_MAX, OpId, Order, OrderRefused, StoreError};

use super::job_row::{self, EndedAttempt, JobRow, Moved};
use super::ops;
use super::writer::Scope;

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
    let one = |event: &EventNumber| -> rusqlite::Result<Result<Ended, OrderRefused>> {
        let Some(JobRow { job, leases, .. }) = JobRow::find(scope.connection, event.0)? else {
            return Ok(Err(OrderRefused::Missing));
        };
        let moved = match order {
            Order::Cancel => job.cancel(),
            Order::Retry => job.retry(at),
            Order::Replay => job.replay(at),
        };
        let moved = match moved {
            Ok(moved) => moved,
            Err(Denied::State(state)) => return Ok(Err(OrderRefused::State(state))),
            Err(Denied::LeaseLost) => return Ok(Err(OrderRefused::State(job.state))),
        };
        let ended = job_row::ended(&moved);
        let leases = if moved.run == job.run { leases } else { 0 };
        let to = JobRow { event: event.0, job: moved, leases };
        job_row::write(scope.connection, &[Moved { to, worker: "", report: None }], at)?;
        if let Some(lease) = job.lease {
            let over = EndedAttempt { token: lease.token, outcome: Outcome::LeaseLost, ended, report: None };
            job_row::end_attempts(scope.connection, &[over], at)?;
        }
        Ok(Ok(ended))
    };
    let answered = || -> rusqlite::Result<Result<Vec<Result<Ended, OrderRefused>>, StoreError>> {
        let request = ops::digest((order as u8, jobs.iter().map(|event| event.0).collect::<Vec<_>>()));
        if let Some(first) = ops::first_answer(scope.connection, op, "order", request)? {
            return Ok(first.map(|bytes| bytes.chunks_exact(ANSWER).map(decode).collect()));
        }
        let answers: Vec<_> = jobs.iter().map(one).collect::<rusqlite::Result<_>>()?;
        let bytes: Vec<u8> = answers.iter().flat_map(encode).collect();
        ops::record(scope.connection, op, "order", request, at, &bytes)?;
        Ok(Ok(answers))
    };
    answered().map_err(|cause| scope.error(&cause))?
}

/// Bytes of one answer as it is kept with its op: what kind, the state, when due.
const ANSWER: usize = 10;

fn encode(answer: &Result<Ended, OrderRefused>) -> [u8; ANSWER] {
    let (kind, state, due) = match answer {
        Ok(Ended { state, due_at: None }) => (0, *state as u8, 0),
        Ok(Ended { state, due_at: Some(due) }) => (1, *state as u8, due.as_micros()),
        Err(OrderRefused::State(state)) => (2, *state as u8, 0),
        Err(OrderRefused::Missing) => (3, 0, 0),
    };
    let mut bytes = [kind, state, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes[2..].copy_from_slice(&due.to_be_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> Result<Ended, OrderRefused> {
    let state = JobState::ALL[usize::from(bytes[1]) % JobState::ALL.len()];
    let mut due = [0; 8];
    due.copy_from_slice(&bytes[2..]);
    let due_at = Timestamp::from_micros(i64::from_be_bytes(due));
    match bytes[0] {
        0 => Ok(Ended { state, due_at: None }),
        1 => Ok(Ended { state, due_at: Some(due_at) }),
        2 => Err(OrderRefused::State(state)),
        _ => Err(OrderRefused::Missing),
    }
}
