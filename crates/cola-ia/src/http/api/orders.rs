//! What a person orders of jobs.

use cola_ia_core::intake::EventNumber;
use cola_ia_core::store::TokenScope;
use cola_ia_wire::v1::order::{OrderAnswers, OrderAsk, OrderSaid};

use super::call::{json, store_error};
use super::{Access, Answer, Body, Call, Doc, Endpoint, Said, Verb, schema};

/// Bytes of the body.
const ASK_MAX_BYTES: usize = 1 << 20;

pub(super) const ENDPOINTS: &[Endpoint] = &[Endpoint {
    verb: Verb::Post,
    path: "/jobs/order",
    access: Access::Scoped(&[TokenScope::Operate], |call| Box::pin(order(call))),
    doc: Doc {
        group: "jobs",
        id: "order",
        summary: "Cancel jobs, try them again, or work on them once more",
        text: "Each job is answered for itself.",
        params: &[],
        op: true,
        bodies: &[Body::json(schema::<OrderAsk>)],
        answers: &[Said {
            status: 200,
            text: "An answer for each job.",
            body: Some(Body::json(schema::<OrderAnswers>)),
        }],
        problems: &[(422, "too_many_jobs")],
    },
}];

async fn order(mut call: Call) -> Answer {
    let op = call.op()?;
    let ask: OrderAsk = call.json(ASK_MAX_BYTES).await?;
    let jobs = ask.jobs.into_iter().map(EventNumber).collect();
    let answers = call.app.store.order(op, ask.order.into(), jobs).await.map_err(|error| store_error(&error))?;
    json(&OrderAnswers { jobs: answers.into_iter().map(OrderSaid::from).collect() })
}
