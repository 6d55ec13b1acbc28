//! What a person says about other contents, to a server.

use cola_ia_wire::v1::resolve::{ResolveAsk, Resolved as ResolvedShape};

use super::{Ask, OpId, RemoteStore, ResolveRequest, Resolved, StoreError};

/// See [`Store::resolve`](cola_ia_core::store::Store::resolve).
pub(super) async fn resolve(store: &RemoteStore, op: OpId, request: ResolveRequest) -> Result<Resolved, StoreError> {
    let ask = ResolveAsk::from(request);
    let resolved: ResolvedShape = store.ask(Ask::post("/conflicts/resolve", &ask).as_op(op)).await?;
    Ok(resolved.into())
}
