//! What comes to the gate, handed to a server.

use cola_ia_wire::v1::intake::{Batch, Previews, Receipts};

use super::{Accepted, Arc, Ask, Intake, OpId, Preview, RemoteStore, StoreError};

/// See [`Store::accept`](cola_ia_core::store::Store::accept).
pub(super) async fn accept(store: &RemoteStore, op: OpId, batch: Arc<Vec<Intake>>) -> Result<Accepted, StoreError> {
    let receipts: Receipts = store.ask(Ask::post("/batches", &Batch::of(&batch)).as_op(op)).await?;
    Ok(receipts.into())
}

/// See [`Store::preview`](cola_ia_core::store::Store::preview).
pub(super) async fn preview(store: &RemoteStore, batch: Arc<Vec<Intake>>) -> Result<Vec<Preview>, StoreError> {
    let previews: Previews = store.ask(Ask::post("/batches/preview", &Batch::of(&batch))).await?;
    Ok(previews.previews.into_iter().map(Preview::from).collect())
}
