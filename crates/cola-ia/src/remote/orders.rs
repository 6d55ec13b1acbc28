//! Asked of a server.

use super::*;

/// See [`Store::order`].
pub(super) async fn order(
    _store: &RemoteStore,
    _op: OpId,
    _order: Order,
    _jobs: Vec<EventNumber>,
) -> Result<Vec<Result<Ended, OrderRefused>>, StoreError> {
    todo!()
}
