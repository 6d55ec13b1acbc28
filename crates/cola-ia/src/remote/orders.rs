//! What a person orders of a server's jobs.

use cola_ia_wire::v1::order::{OrderAnswers, OrderAsk, OrderSaid};

use super::{Ask, Ended, EventNumber, OpId, Order, OrderRefused, RemoteStore, StoreError, each};

/// See [`Store::order`](cola_ia_core::store::Store::order).
pub(super) async fn order(
    store: &RemoteStore,
    op: OpId,
    order: Order,
    jobs: Vec<EventNumber>,
) -> Result<Vec<Result<Ended, OrderRefused>>, StoreError> {
    let asked = jobs.len();
    let ask = OrderAsk { order: order.into(), jobs: jobs.into_iter().map(|event| event.0).collect() };
    let answers: OrderAnswers = store.ask(Ask::post("/jobs/order", &ask).as_op(op)).await?;
    each(store, asked, answers.jobs.into_iter().map(OrderSaid::read).collect())
}
