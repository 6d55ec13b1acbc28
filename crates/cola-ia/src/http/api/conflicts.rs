//! What a person says about the other contents under an identity.

use cola_ia_core::store::TokenScope;
use cola_ia_wire::v1::resolve::{ResolveAsk, Resolved};

use super::call::{json, store_error, unprocessable};
use super::{Access, Answer, Body, Call, Doc, Endpoint, Said, Verb, schema};

/// Bytes of the body.
const ASK_MAX_BYTES: usize = 1 << 20;

pub(super) const ENDPOINTS: &[Endpoint] = &[Endpoint {
    verb: Verb::Post,
    path: "/conflicts/resolve",
    access: Access::Scoped(&[TokenScope::Operate], |call| Box::pin(resolve(call))),
    doc: Doc {
        group: "conflicts",
        id: "resolve",
        summary: "Decide conflicts of an event",
        text: "All of the request or none.",
        params: &[],
        op: true,
        bodies: &[Body::json(schema::<ResolveAsk>)],
        answers: &[Said { status: 200, text: "What became of them.", body: Some(Body::json(schema::<Resolved>)) }],
        problems: &[
            (409, "conflict_decided"),
            (409, "content_gone"),
            (409, "id_taken"),
            (409, "effects_open"),
            (422, "event_unknown"),
            (422, "conflict_unknown"),
            (422, "conflict_not_named"),
            (422, "resolve_too_many"),
            (422, "note_too_long"),
            (422, "decision_malformed"),
        ],
    },
}];

async fn resolve(mut call: Call) -> Answer {
    let op = call.op()?;
    let ask: ResolveAsk = call.json(ASK_MAX_BYTES).await?;
    let request = ask.read().ok_or_else(|| unprocessable("decision_malformed", &"id"))?;
    let resolved = call.app.store.resolve(op, request).await.map_err(|error| store_error(&error))?;
    json(&Resolved::from(resolved))
}
