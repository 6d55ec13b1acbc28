//! Asked of a server.

use super::*;

/// See [`Store::token_create`].
pub(super) async fn create(_store: &RemoteStore, _op: OpId, _request: TokenRequest) -> Result<TokenView, StoreError> {
    todo!()
}

/// See [`Store::token_revoke`].
pub(super) async fn revoke(_store: &RemoteStore, _op: OpId, _name: String) -> Result<bool, StoreError> {
    todo!()
}

/// See [`Store::token_find`].
pub(super) async fn find(_store: &RemoteStore, _hash: TokenHash) -> Result<Option<TokenView>, StoreError> {
    todo!()
}

/// See [`Store::tokens`].
pub(super) async fn all(_store: &RemoteStore) -> Result<Vec<TokenView>, StoreError> {
    todo!()
}
