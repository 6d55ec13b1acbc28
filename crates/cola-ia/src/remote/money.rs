//! What was spent, and what may be.

use cola_ia_wire::v1::money::{BudgetLimit, Budgets, Costs as CostsShape, CostsQuery, Currency, CurrencySaid};

#[allow(clippy::wildcard_imports, reason = "the parts of one implementation")]
use super::*;

/// See [`Store::costs`].
pub(super) async fn costs(store: &RemoteStore, request: CostsRequest) -> Result<Costs, StoreError> {
    store.ask::<CostsShape>(Ask::get("/costs", &CostsQuery(request).pairs())).await.map(Into::into)
}

/// See [`Store::set_budget`].
pub(super) async fn set_budget(
    store: &RemoteStore,
    op: OpId,
    source: Source,
    limit: Option<Micros>,
) -> Result<(), StoreError> {
    let path = format!("/budgets/{source}");
    store.ask::<BudgetLimit>(Ask::put(&path, &BudgetLimit::from(limit)).as_op(op)).await.map(|_| ())
}

/// See [`Store::budgets`].
pub(super) async fn budgets(store: &RemoteStore) -> Result<Vec<BudgetView>, StoreError> {
    let found: Budgets = store.ask(Ask::get("/budgets", &[])).await?;
    Ok(found.budgets.into_iter().map(Into::into).collect())
}

/// See [`Store::set_currency`].
pub(super) async fn set_currency(store: &RemoteStore, currency: String) -> Result<(), StoreError> {
    store.ask::<Currency>(Ask::put("/currency", &CurrencySaid { currency })).await.map(|_| ())
}

/// See [`Store::currency`].
pub(super) async fn currency(store: &RemoteStore) -> Result<Option<String>, StoreError> {
    store.ask::<Currency>(Ask::get("/currency", &[])).await.map(|found| found.currency)
}
