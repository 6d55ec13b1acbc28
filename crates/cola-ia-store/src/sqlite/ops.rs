//! Calls by their op: a repeated one gets the first answer. For verbs whose answers are a few numbers; `accept` has its own.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::store::{ErrorKind, OpId, StoreError};
use rusqlite::{OptionalExtension as _, params};

use super::row;
use super::writer::Scope;
pub(super) use crate::common::digest::digest;

/// A call of a verb.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) op: OpId,
    pub(super) verb: &'static str,
    /// [`digest`] of the request.
    pub(super) request: i64,
}

impl Call {
    /// The answer that this call was given before.
    pub(super) fn first_answer(&self, scope: &Scope<'_>) -> Result<Option<Numbers>, StoreError> {
        let recorded = scope
            .connection
            .prepare_cached("SELECT verb = ?2 AND request = ?3, answer FROM ops WHERE op = ?1")
            .and_then(|mut select| {
                select
                    .query_row(params![self.op.0, self.verb, self.request], |row| {
                        Ok((row.get::<_, bool>(0)?, row.get::<_, Option<Vec<u8>>>(1)?))
                    })
                    .optional()
            })
            .map_err(|cause| scope.error(&cause))?;
        match recorded {
            None => Ok(None),
            Some((true, Some(bytes))) => Ok(Some(Numbers::read(&bytes))),
            Some(_) => Err(StoreError::new(ErrorKind::Conflict, "op_reused")),
        }
    }

    /// Records the call with its answer.
    pub(super) fn record(&self, scope: &Scope<'_>, at: Timestamp, answer: &[i64]) -> Result<(), StoreError> {
        let bytes: Vec<u8> = answer.iter().flat_map(|number| number.to_le_bytes()).collect();
        scope
            .connection
            .prepare_cached("INSERT INTO ops (op, verb, request, at, answer) VALUES (?1, ?2, ?3, ?4, ?5)")
            .and_then(|mut insert| insert.execute(params![self.op.0, self.verb, self.request, at.as_micros(), bytes]))
            .map(|_| ())
            .map_err(|cause| scope.error(&cause))
    }
}

/// A recorded answer, read from its front.
pub(super) struct Numbers(std::vec::IntoIter<i64>);

impl Numbers {
    fn read(bytes: &[u8]) -> Self {
        let (numbers, _) = bytes.as_chunks::<8>();
        Self(numbers.iter().map(|number| i64::from_le_bytes(*number)).collect::<Vec<_>>().into_iter())
    }

    /// The next number.
    pub(super) fn take(&mut self) -> rusqlite::Result<i64> {
        self.0.next().ok_or_else(|| row::unexpected("answer", "cut short"))
    }

    /// All that are left.
    pub(super) fn rest(self) -> Vec<i64> {
        self.0.collect()
    }
}
