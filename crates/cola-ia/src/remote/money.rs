//! Asked of a server.

use super::*;

/// See [`Store::costs`].
pub(super) async fn costs(_store: &RemoteStore, _request: CostsRequest) -> Result<Costs, StoreError> {
    todo!()
}

/// See [`Store::set_budget`].
pub(super) async fn set_budget(
    _store: &RemoteStore,
    _op: OpId,
    _source: Source,
    _limit: Option<Micros>,
) -> Result<(), StoreError> {
    todo!()
}

/// See [`Store::budgets`].
pub(super) async fn budgets(_store: &RemoteStore) -> Result<Vec<BudgetView>, StoreError> {
    todo!()
}

/// See [`Store::set_currency`].
pub(super) async fn set_currency(_store: &RemoteStore, _currency: String) -> Result<(), StoreError> {
    todo!()
}

/// See [`Store::currency`].
pub(super) async fn currency(_store: &RemoteStore) -> Result<Option<String>, StoreError> {
    todo!()
}
