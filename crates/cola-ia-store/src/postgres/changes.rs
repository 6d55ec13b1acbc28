//! Noticing that anybody has committed something: the server's list of transactions is another one then.

use super::error::Fault;
use super::row::Columns as _;
use super::sql::params;
use super::tx::Tx;
use crate::common::digest::digest;

/// See [`Store::changes`](cola_ia_core::store::Store::changes). Whoever else uses the server moves it too.
pub(super) async fn changes(tx: &Tx) -> Result<u64, Fault> {
    let row = tx.one("SELECT pg_catalog.pg_current_snapshot()::text", params![]).await?;
    Ok(digest(&[row.read::<&str>(0)?.as_bytes()]) as u64)
}
