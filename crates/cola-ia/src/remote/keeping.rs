//! Asked of a server.

use super::*;

/// See [`Store::prune`].
pub(super) async fn prune(_store: &RemoteStore, _op: OpId, _request: PruneRequest) -> Result<Pruned, StoreError> {
    todo!()
}

/// See [`Store::prunable`].
pub(super) async fn prunable(_store: &RemoteStore, _request: PruneRequest) -> Result<Pruned, StoreError> {
    todo!()
}

/// See [`Store::erase`].
pub(super) async fn erase(
    _store: &RemoteStore,
    _op: OpId,
    _request: EraseRequest,
) -> Result<Option<Erased>, StoreError> {
    todo!()
}

/// See [`Store::restored`].
pub(super) async fn restored(_store: &RemoteStore, _op: OpId, _mark: RestoredMark) -> Result<Restored, StoreError> {
    todo!()
}

/// See [`Store::restored_at`].
pub(super) async fn restored_at(_store: &RemoteStore) -> Result<Option<Timestamp>, StoreError> {
    todo!()
}
