//! Asked of a server.

use super::*;

/// See [`Store::resolve`].
pub(super) async fn resolve(_store: &RemoteStore, _op: OpId, _request: ResolveRequest) -> Result<Resolved, StoreError> {
    todo!()
}
