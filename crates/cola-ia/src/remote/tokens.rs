//! Who may do what.

use cola_ia_wire::v1::Carry as _;
use cola_ia_wire::v1::token::{TokenMade, TokenNamed, TokenRevoked, TokenWanted, Tokens};
use cola_ia_wire::v1::values::TokenHashHex;

#[allow(clippy::wildcard_imports, reason = "the parts of one implementation")]
use super::*;

/// See [`Store::token_create`].
pub(super) async fn create(store: &RemoteStore, op: OpId, request: TokenRequest) -> Result<TokenView, StoreError> {
    let made: TokenMade = store.ask(Ask::post("/tokens", &TokenWanted::from(request)).as_op(op)).await?;
    Ok(made.token.into())
}

/// See [`Store::token_revoke`].
pub(super) async fn revoke(store: &RemoteStore, op: OpId, name: String) -> Result<bool, StoreError> {
    let ask = Ask::post("/tokens/revoke", &TokenNamed { name }).as_op(op);
    store.ask::<TokenRevoked>(ask).await.map(|found| found.revoked)
}

/// See [`Store::token_find`].
pub(super) async fn find(store: &RemoteStore, hash: TokenHash) -> Result<Option<TokenView>, StoreError> {
    let found: Tokens = store.ask(Ask::get("/tokens", &[("hash", TokenHashHex(hash).to_string())])).await?;
    Ok(found.tokens.into_iter().next().map(Into::into))
}

/// See [`Store::tokens`].
pub(super) async fn all(store: &RemoteStore) -> Result<Vec<TokenView>, StoreError> {
    let found: Tokens = store.ask(Ask::get("/tokens", &[])).await?;
    Ok(found.tokens.carry())
}
