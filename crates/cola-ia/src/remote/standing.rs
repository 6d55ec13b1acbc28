//! Asked of a server.

use super::*;

/// See [`Store::stats`].
pub(super) async fn stats(_store: &RemoteStore, _filter: Filter) -> Result<Stats, StoreError> {
    todo!()
}

/// See [`Store::sources`].
pub(super) async fn sources(_store: &RemoteStore, _filter: Filter) -> Result<Vec<SourceView>, StoreError> {
    todo!()
}

/// See [`Store::resume`].
pub(super) async fn resume(_store: &RemoteStore, _op: OpId, _source: Source) -> Result<bool, StoreError> {
    todo!()
}

/// See [`Store::changes`].
pub(super) async fn changes(_store: &RemoteStore) -> Result<u64, StoreError> {
    todo!()
}

/// See [`Store::namespace`].
pub(super) async fn namespace(_store: &RemoteStore) -> Result<[u8; 16], StoreError> {
    todo!()
}
