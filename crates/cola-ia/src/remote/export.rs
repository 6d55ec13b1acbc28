//! Exports and imports, in the lines of an export's file.

use cola_ia_core::clock::{Clock as _, SystemClock};
use cola_ia_wire::v1::export::{ExportPlace, Imported as ImportedShape, read_page, write_batch};

#[allow(clippy::wildcard_imports, reason = "the parts of one implementation")]
use super::*;
use crate::http::api::keeping::LINES;

/// See [`Store::export`].
pub(super) async fn export(
    store: &RemoteStore,
    cursor: Option<ExportCursor>,
    limit: u32,
) -> Result<ExportPage, StoreError> {
    let mut pairs = vec![("limit", limit.to_string())];
    pairs.extend(cursor.map(|cursor| ("cursor", ExportPlace(cursor).to_string())));
    let body = store.ask_bytes(Ask::get("/export", &pairs)).await?;
    read_page(&body).map_err(|wrong| {
        let cause = format!("line {}: {} {}", wrong.line, wrong.fault.code, wrong.fault.detail);
        error::nonsense(store.server(), &cause.trim_end())
    })
}

/// See [`Store::import`].
pub(super) async fn import(store: &RemoteStore, op: OpId, batch: Arc<ImportBatch>) -> Result<Imported, StoreError> {
    let body = write_batch(&batch, SystemClock.now());
    store.ask::<ImportedShape>(Ask::lines("/import", LINES, body).as_op(op)).await.map(Into::into)
}
