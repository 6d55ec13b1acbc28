//! Marking a store as restored: what it does not know may have happened.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::Ledger;
use cola_ia_core::job::{Outcome, RetryPolicy};
use cola_ia_core::store::{ErrorKind, OpId, Restored, RestoredMark, StoreError};
use rusqlite::Connection;

use super::effects::case::{Cases, Records};
use super::job_row::{JobRow, Moves};
use super::ops::{self, Call, Numbers};
use super::writer::Scope;

/// See [`Store::restored`](cola_ia_core::store::Store::restored).
pub(super) fn restored(scope: &Scope<'_>, op: OpId, mark: RestoredMark) -> Result<Restored, StoreError> {
    let sqlite = |cause: rusqlite::Error| scope.error(&cause);
    let request = match mark {
        RestoredMark::At(at) => ops::digest(&[b"at", &at.as_micros().to_le_bytes()]),
        RestoredMark::Cleared => ops::digest(&[b"cleared"]),
    };
    let call = Call { op, verb: "restored", request };
    if let Some(first) = call.first_answer(scope)? {
        return unpacked(first).map_err(sqlite);
    }
    let now = scope.clock.now();
    let answer = match mark {
        RestoredMark::At(at) if at > now => {
            return Err(StoreError::new(ErrorKind::Invalid, "restored_in_future").with("at", at).with("now", now));
        }
        RestoredMark::At(at) => set(scope.connection, at, now, scope.fold_after).map_err(sqlite)?,
        RestoredMark::Cleared => clear(scope.connection).map_err(sqlite)?,
    };
    call.record(scope, now, &packed(answer))?;
    Ok(answer)
}

/// Marks the store and voids all leases. Of two marks the later one counts: until then somebody may have gone on with what
/// the store does not know.
pub(super) fn set(
    connection: &Connection,
    at: Timestamp,
    now: Timestamp,
    fold_after: u32,
) -> rusqlite::Result<Restored> {
    let leases_voided = void_leases(connection, now, fold_after)?;
    let restored_at = connection.query_row(
        "UPDATE store SET restored_at = max(?1, coalesce(restored_at, ?1), coalesce(backed_up_at, ?1))
         RETURNING restored_at",
        [at.as_micros()],
        |row| row.get(0),
    )?;
    Ok(Restored { restored_at: Some(Timestamp::from_micros(restored_at)), leases_voided })
}

/// The store knows again all that happened, says a person. It is no longer a backup either.
fn clear(connection: &Connection) -> rusqlite::Result<Restored> {
    connection.execute("UPDATE store SET restored_at = NULL, backed_up_at = NULL, copied_at = NULL", [])?;
    Ok(Restored { restored_at: None, leases_voided: 0 })
}

/// When the store was restored, until a person clears it.
pub(super) fn restored_at(connection: &Connection) -> rusqlite::Result<Option<Timestamp>> {
    let at: Option<i64> =
        connection.prepare_cached("SELECT restored_at FROM store")?.query_row([], |row| row.get(0))?;
    Ok(at.map(Timestamp::from_micros))
}

/// Who held a lease when the backup was made has lost it: the job waits again and has its attempt back, and of what it had
/// begun nobody knows the outcome. There are as many as workers had in hand.
fn void_leases(connection: &Connection, at: Timestamp, fold_after: u32) -> rusqlite::Result<u64> {
    // The words of the partial index stand there too, or it is not used.
    let running: Vec<i64> = connection
        .prepare("SELECT event FROM jobs WHERE state = 'running' AND state NOT IN ('pending', 'done') ORDER BY event")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let ledger = Ledger::new(at, None, RetryPolicy::default());
    let mut cases = Cases::new(connection);
    let mut moves = Moves::on(connection, fold_after, at)?;
    for event in &running {
        let Some(row) = JobRow::find(connection, *event)? else { continue };
        let mut read = cases.of_run(row, Records::Leave)?;
        ledger.void_lease(&mut read.case);
        read.write(&mut moves, None, Outcome::LeaseLost)?;
    }
    moves.count(None)?;
    Ok(running.len() as u64)
}

/// No mark is the least number, which is no instant of any clock.
fn packed(answer: Restored) -> [i64; 2] {
    [answer.restored_at.map_or(i64::MIN, Timestamp::as_micros), answer.leases_voided as i64]
}

fn unpacked(mut numbers: Numbers) -> rusqlite::Result<Restored> {
    let at = numbers.take()?;
    let leases_voided = numbers.take()? as u64;
    Ok(Restored { restored_at: (at != i64::MIN).then_some(Timestamp::from_micros(at)), leases_voided })
}
