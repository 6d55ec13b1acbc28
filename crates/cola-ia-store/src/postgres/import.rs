//! Records of an export into this store: what is not there enters, what is there stays.
//!
//! A batch is read, decided and written: all that its records may meet is asked for first, with a statement for each table, and
//! what enters is written at the end in the same way. Nobody else changes anything meanwhile.

use cola_ia_core::store::export::{Imported, Outcome};
use cola_ia_core::store::{ErrorKind, OpId, StoreError};

use super::error::Fault;
use super::import_rows::Rows;
use super::row::Columns as _;
use super::sql::params;
use super::tx::Tx;
use super::{currency, migrate};
pub(super) use crate::common::import::Prepared;
use crate::common::import::{Entering, Stopped, packed, unpacked};

/// See [`Store::import`](cola_ia_core::store::Store::import).
pub(super) async fn import(tx: &Tx, op: OpId, prepared: &Prepared) -> Result<Imported, Fault> {
    if let Some(first_answer) = repeated(tx, op, prepared.request).await? {
        return Ok(first_answer);
    }
    let batch = &prepared.batch;
    settle_namespace(tx, batch.namespace).await?;
    if let Some(currency) = &batch.currency {
        currency::set_currency(tx, currency).await?;
    }
    let rows = Rows::read(tx, &batch.records).await?;
    let (outcomes, rows, an_event_entered) = {
        let mut entering = Entering::new(rows, tx.now);
        let outcomes = entering.records(&batch.records).map_err(|(place, stopped)| match stopped {
            Stopped::Failed(fault) => fault,
            Stopped::OutOfOrder => {
                StoreError::new(ErrorKind::Invalid, "import_out_of_order").with("record", place).into()
            }
        })?;
        let (rows, an_event_entered) = entering.finish()?;
        (outcomes, rows, an_event_entered)
    };
    rows.write(tx).await?;
    if an_event_entered {
        // Of two marks the later one counts, as after a restore.
        tx.execute("UPDATE store SET restored_at = greatest(restored_at, $1)", params![tx.now.as_micros()]).await?;
    }
    record(tx, op, prepared.request, &outcomes).await?;
    Ok(Imported { outcomes })
}

/// The answer that this op was given before.
async fn repeated(tx: &Tx, op: OpId, request: i64) -> Result<Option<Imported>, Fault> {
    let recorded = tx
        .maybe("SELECT verb = 'import' AND request = $2, answer FROM ops WHERE op = $1", params![&op.0[..], request])
        .await?;
    let Some(row) = recorded else { return Ok(None) };
    match (row.read(0)?, row.read::<Option<&[u8]>>(1)?.and_then(unpacked)) {
        (true, Some(outcomes)) => Ok(Some(Imported { outcomes })),
        _ => Err(StoreError::new(ErrorKind::Conflict, "op_reused").into()),
    }
}

async fn record(tx: &Tx, op: OpId, request: i64, outcomes: &[Outcome]) -> Result<(), Fault> {
    tx.execute(
        "INSERT INTO ops (op, verb, request, at, count, answer) VALUES ($1, 'import', $2, $3, $4, $5)",
        params![&op.0[..], request, tx.now.as_micros(), outcomes.len() as i64, packed(outcomes)],
    )
    .await
    .map(drop)
}

/// An empty store takes the namespace over, so that the keys of effects stay what they were.
async fn settle_namespace(tx: &Tx, namespace: [u8; 16]) -> Result<(), Fault> {
    let row = tx
        .one(
            "SELECT namespace, NOT EXISTS (SELECT 1 FROM events) AND NOT EXISTS (SELECT 1 FROM deliveries) FROM store",
            params![],
        )
        .await?;
    let (here, is_empty): ([u8; 16], bool) = (row.bytes(0)?, row.read(1)?);
    if here == namespace {
        return Ok(());
    }
    if !is_empty {
        return Err(migrate::at(tx, ErrorKind::Conflict, "import_other_namespace").into());
    }
    tx.execute("UPDATE store SET namespace = $1", params![&namespace[..]]).await.map(drop)
}
