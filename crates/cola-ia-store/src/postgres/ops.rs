//! Calls by their op: a repeated one gets the first answer. For verbs that run alone and whose answers are a few numbers;
//! `accept` has its own.

use cola_ia_core::store::{ErrorKind, OpId, StoreError};

use super::error::Fault;
use super::row::{Columns as _, unexpected};
use super::sql::params;
use super::tx::Tx;

/// A call of a verb.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) op: OpId,
    pub(super) verb: &'static str,
    /// [`digest`](crate::common::digest::digest) of the request.
    pub(super) request: i64,
}

impl Call {
    /// The answer that this call was given before.
    pub(super) async fn first_answer(&self, tx: &Tx) -> Result<Option<Numbers>, Fault> {
        let recorded = tx
            .maybe(
                "SELECT verb = $2 AND request = $3, answer FROM ops WHERE op = $1",
                params![&self.op.0[..], self.verb, self.request],
            )
            .await?;
        let Some(row) = recorded else { return Ok(None) };
        match (row.read(0)?, row.read::<Option<&[u8]>>(1)?) {
            (true, Some(bytes)) => Ok(Some(Numbers::read(bytes))),
            _ => Err(StoreError::new(ErrorKind::Conflict, "op_reused").into()),
        }
    }

    /// Records the call with its answer.
    pub(super) async fn record(&self, tx: &Tx, answer: &[i64]) -> Result<(), Fault> {
        let bytes: Vec<u8> = answer.iter().flat_map(|number| number.to_le_bytes()).collect();
        tx.execute(
            "INSERT INTO ops (op, verb, request, at, answer) VALUES ($1, $2, $3, $4, $5)",
            params![&self.op.0[..], self.verb, self.request, tx.now.as_micros(), bytes],
        )
        .await
        .map(drop)
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
    pub(super) fn take(&mut self) -> Result<i64, Fault> {
        self.0.next().ok_or_else(|| unexpected("answer", "cut short"))
    }

    /// All that are left.
    pub(super) fn rest(self) -> Vec<i64> {
        self.0.collect()
    }
}
