//! Calls that changed something, by the name that their caller gave them: a repeated one gets the first answer.

use std::hash::{Hash, Hasher as _};

use cola_ia_core::clock::Timestamp;
use cola_ia_core::store::{ErrorKind, OpId, StoreError};
use rusqlite::{Connection, OptionalExtension as _, params};
use siphasher::sip::SipHasher13;

/// Tells one request from another, so that an op that is used again for something else is noticed. Not against attackers: who
/// makes the op makes the request.
pub(super) fn digest(request: impl Hash) -> i64 {
    let mut hasher = SipHasher13::new();
    request.hash(&mut hasher);
    hasher.finish() as i64
}

/// The answer that this op was given before.
pub(super) fn first_answer(
    connection: &Connection,
    op: OpId,
    verb: &str,
    request: i64,
) -> rusqlite::Result<Option<Result<Vec<u8>, StoreError>>> {
    let recorded = connection
        .prepare_cached("SELECT verb = ?2 AND request = ?3, answer FROM ops WHERE op = ?1")?
        .query_row(params![op.0, verb, request], |row| Ok((row.get(0)?, row.get::<_, Option<Vec<u8>>>(1)?)))
        .optional()?;
    Ok(recorded.map(|recorded| match recorded {
        (true, Some(answer)) => Ok(answer),
        _ => Err(StoreError::new(ErrorKind::Conflict, "op_reused")),
    }))
}

/// Records the answer to an op.
pub(super) fn record(
    connection: &Connection,
    op: OpId,
    verb: &str,
    request: i64,
    at: Timestamp,
    answer: &[u8],
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT INTO ops (op, verb, request, at, answer) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![op.0, verb, request, at.as_micros(), answer])?;
    Ok(())
}
