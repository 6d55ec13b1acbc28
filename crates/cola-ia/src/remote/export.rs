//! Asked of a server.

use super::*;

/// See [`Store::export`].
pub(super) async fn export(
    _store: &RemoteStore,
    _cursor: Option<ExportCursor>,
    _limit: u32,
) -> Result<ExportPage, StoreError> {
    todo!()
}

/// See [`Store::import`].
pub(super) async fn import(_store: &RemoteStore, _op: OpId, _batch: Arc<ImportBatch>) -> Result<Imported, StoreError> {
    todo!()
}
