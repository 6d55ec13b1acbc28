//! Marking a store as restored: what it does not know may have happened.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::store::{ErrorKind, OpId, Restored, RestoredMark, StoreError};
use rusqlite::{Connection, OptionalExtension as _};

use super::writer::Scope;

/// See [`Store::restored`](cola_ia_core::store::Store::restored).
pub(super) fn restored(scope: &Scope<'_>, op: OpId, mark: RestoredMark) -> Result<Restored, StoreError> {
    let sqlite = |cause: rusqlite::Error| scope.error(&cause);
    let request = match mark {
        RestoredMark::At(at) => at.as_micros(),
        // No instant that any clock gives.
        RestoredMark::Cleared => i64::MIN,
    };
    if let Some(first_answer) = repeated(scope.connection, op, request).map_err(sqlite)? {
        return first_answer;
    }
    let now = scope.clock.now();
    let answer = match mark {
        RestoredMark::At(at) if at > now => {
            return Err(StoreError::new(ErrorKind::Invalid, "restored_in_future").with("at", at).with("now", now));
        }
        RestoredMark::At(at) => set(scope.connection, at, now).map_err(sqlite)?,
        RestoredMark::Cleared => clear(scope.connection).map_err(sqlite)?,
    };
    record(scope.connection, op, request, now, answer).map_err(sqlite)?;
    Ok(answer)
}

/// Marks the store and voids all leases. Of two marks the later one counts: until then somebody may have gone on with what
/// the store does not know.
pub(super) fn set(connection: &Connection, at: Timestamp, now: Timestamp) -> rusqlite::Result<Restored> {
    let leases_voided = void_leases(connection, now)?;
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
    let at: Option<i64> = connection.query_row("SELECT restored_at FROM store", [], |row| row.get(0))?;
    Ok(at.map(Timestamp::from_micros))
}

/// Who held a lease when the backup was made has lost it: the job waits again and has its attempt back, and of what it had
/// begun nobody knows the outcome.
///
/// The conditions of the partial indices are repeated, because SQLite uses one only where it finds its words.
fn void_leases(connection: &Connection, now: Timestamp) -> rusqlite::Result<u64> {
    let now = now.as_micros();
    connection.execute(
        "UPDATE attempts SET ended_at = ?1, outcome = 'lease_lost'
         WHERE ended_at IS NULL
           AND lease IN (SELECT lease FROM jobs WHERE state = 'running' AND state NOT IN ('pending', 'done'))",
        [now],
    )?;
    connection.execute(
        "UPDATE effects SET state = 'unknown', changed_at = ?1
         WHERE state = 'intended' AND state IN ('intended', 'unknown', 'held')",
        [now],
    )?;
    let voided = connection.execute(
        "UPDATE jobs SET state = 'pending', due_at = ?1, attempts = max(attempts - 1, 0), reason = '',
                lease = NULL, lease_until = NULL, worker = NULL, changed_at = ?1
         WHERE state = 'running' AND state NOT IN ('pending', 'done')",
        [now],
    )?;
    Ok(voided as u64)
}

/// The answer that this op was given before.
fn repeated(connection: &Connection, op: OpId, request: i64) -> rusqlite::Result<Option<Result<Restored, StoreError>>> {
    let recorded: Option<Option<[u8; 16]>> = connection
        .prepare_cached("SELECT CASE WHEN verb = 'restored' AND request = ?2 THEN answer END FROM ops WHERE op = ?1")?
        .query_row((op.0, request), |row| row.get(0))
        .optional()?;
    Ok(recorded.map(|answer| answer.map(unpacked).ok_or(StoreError::new(ErrorKind::Conflict, "op_reused"))))
}

fn record(connection: &Connection, op: OpId, request: i64, now: Timestamp, answer: Restored) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT INTO ops (op, verb, request, at, answer) VALUES (?1, 'restored', ?2, ?3, ?4)")?
        .execute((op.0, request, now.as_micros(), packed(answer)))?;
    Ok(())
}

/// Both numbers, big-endian; no mark is the least number, which is no instant of any clock.
fn packed(answer: Restored) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&answer.restored_at.map_or(i64::MIN, Timestamp::as_micros).to_be_bytes());
    bytes[8..].copy_from_slice(&answer.leases_voided.to_be_bytes());
    bytes
}

fn unpacked(bytes: [u8; 16]) -> Restored {
    let half = |from: usize| {
        let mut half = [0; 8];
        half.copy_from_slice(&bytes[from..from + 8]);
        half
    };
    let at = i64::from_be_bytes(half(0));
    Restored {
        restored_at: (at != i64::MIN).then_some(Timestamp::from_micros(at)),
        leases_voided: u64::from_be_bytes(half(8)),
    }
}
