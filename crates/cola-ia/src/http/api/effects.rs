//! What workers and people say of effects.

use cola_ia_core::effect::{ReportAnswer, SettleAnswer};
use cola_ia_core::store::{EffectRef, Looked, StoreError, TokenScope};
use cola_ia_wire::v1::told::{
    BeginAsk, BeginSaid, DecideAsk, DecideSaid, DecidedWord, DoneAsk, FailedAsk, LookedAsk, ReportSaid, UnknownAsk,
};

use super::call::{json, store_error};
use super::{Access, Answer, Answering, Body, Call, Doc, Endpoint, Said, SchemaOf, Verb, schema};
use crate::http::metrics::EffectOutcome;

/// Bytes of the body.
const ASK_MAX_BYTES: usize = 1 << 20;
/// Bytes of what a person found, which may be many things.
const DECIDE_MAX_BYTES: usize = 16 << 20;

/// A word of a worker about an effect.
const fn told(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    text: &'static str,
    handler: fn(Call) -> Answering,
    shapes: &'static ([Body; 1], [Said; 1]),
) -> Endpoint {
    Endpoint {
        verb: Verb::Post,
        path,
        access: Access::Scoped(&[TokenScope::Work], handler),
        doc: Doc {
            group: "effects",
            id,
            summary,
            text,
            params: &[],
            op: false,
            bodies: &shapes.0,
            answers: &shapes.1,
            problems: &[],
        },
    }
}

const fn answered(schema: SchemaOf) -> [Said; 1] {
    [Said { status: 200, text: "The answer.", body: Some(Body::json(schema)) }]
}

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Post,
        path: "/effects/begin",
        access: Access::Scoped(&[TokenScope::Work], |call| Box::pin(begin(call))),
        doc: Doc {
            group: "effects",
            id: "effect_begin",
            summary: "May this effect be sent?",
            text: "The answer is given once it is durable. Effects are guarded, not made: what is sent between `go` and the report is the \
                   caller's. Where no answer came, ask again with the same `begin_id`.",
            params: &[],
            op: true,
            bodies: &[Body::json(schema::<BeginAsk>)],
            answers: &[Said { status: 200, text: "The answer.", body: Some(Body::json(schema::<BeginSaid>)) }],
            problems: &[],
        },
    },
    told(
        "/effects/done",
        "effect_done",
        "It happened",
        "Recorded in every state, from any lease and any number of times: it is the strongest evidence there is.",
        |call| Box::pin(done(call)),
        &([Body::json(schema::<DoneAsk>)], answered(schema::<ReportSaid>)),
    ),
    told(
        "/effects/failed",
        "effect_failed",
        "It did not happen by this try",
        "",
        |call| Box::pin(failed(call)),
        &([Body::json(schema::<FailedAsk>)], answered(schema::<ReportSaid>)),
    ),
    told(
        "/effects/unknown",
        "effect_unknown",
        "Its sender does not know whether it happened",
        "",
        |call| Box::pin(unknown(call)),
        &([Body::json(schema::<UnknownAsk>)], answered(schema::<ReportSaid>)),
    ),
    told(
        "/effects/resolve",
        "effect_resolve",
        "What a lookup brought that was started after a `check` answer",
        "A lookup that could not tell is not told.",
        |call| Box::pin(resolve(call)),
        &([Body::json(schema::<LookedAsk>)], answered(schema::<ReportSaid>)),
    ),
    Endpoint {
        verb: Verb::Post,
        path: "/effects/decide",
        access: Access::Scoped(&[TokenScope::Operate], |call| Box::pin(decide(call))),
        doc: Doc {
            group: "effects",
            id: "effect_decide",
            summary: "What a person found of an effect that is held",
            text: "",
            params: &[],
            op: true,
            bodies: &[Body::json(schema::<DecideAsk>)],
            answers: &[Said { status: 200, text: "The answer.", body: Some(Body::json(schema::<DecideSaid>)) }],
            problems: &[],
        },
    },
];

async fn begin(mut call: Call) -> Answer {
    let op = call.op()?;
    let mut ask: BeginAsk = call.json(ASK_MAX_BYTES).await?;
    let policy = ask.retry.take().unwrap_or_default().or(call.app.settings.retry);
    let begun = call.app.store.effect_begin(ask.read(op.0), policy).await.map_err(|error| store_error(&error))?;
    json(&BeginSaid::from(begun))
}

async fn done(mut call: Call) -> Answer {
    let DoneAsk { of, evidence, retry } = call.json(ASK_MAX_BYTES).await?;
    let policy = retry.unwrap_or_default().or(call.app.settings.retry);
    let answer = call.app.store.effect_done(of.into(), evidence.into(), policy).await;
    reported(&call, EffectOutcome::Done, answer)
}

async fn failed(mut call: Call) -> Answer {
    let FailedAsk { of, failure, note, retry } = call.json(ASK_MAX_BYTES).await?;
    let policy = retry.unwrap_or_default().or(call.app.settings.retry);
    let answer = call.app.store.effect_failed(of.into(), failure.into(), note, policy).await;
    reported(&call, EffectOutcome::Failed, answer)
}

async fn unknown(mut call: Call) -> Answer {
    let UnknownAsk { of, note, retry } = call.json(ASK_MAX_BYTES).await?;
    let policy = retry.unwrap_or_default().or(call.app.settings.retry);
    let answer = call.app.store.effect_unknown(of.into(), note, policy).await;
    reported(&call, EffectOutcome::Unknown, answer)
}

async fn resolve(mut call: Call) -> Answer {
    let LookedAsk { of, found, retry } = call.json(ASK_MAX_BYTES).await?;
    let policy = retry.unwrap_or_default().or(call.app.settings.retry);
    let outcome = if found.is_some() { EffectOutcome::Found } else { EffectOutcome::Absent };
    let looked = found.map_or(Looked::Absent, |evidence| Looked::Found(evidence.into()));
    let answer = call.app.store.effect_resolve(EffectRef::from(of), looked, policy).await;
    reported(&call, outcome, answer)
}

async fn decide(mut call: Call) -> Answer {
    let op = call.op()?;
    let mut ask: DecideAsk = call.json(DECIDE_MAX_BYTES).await?;
    let policy = ask.retry.take().unwrap_or_default().or(call.app.settings.retry);
    let outcome = match ask.decision {
        DecidedWord::Happened => EffectOutcome::DecidedFound,
        DecidedWord::DidNotHappen => EffectOutcome::DecidedAbsent,
        DecidedWord::Abandon => EffectOutcome::Abandoned,
    };
    let answer = call.app.store.effect_decide(op, ask.into(), policy).await.map_err(|error| store_error(&error))?;
    if answer == Some(SettleAnswer::Recorded) {
        call.app.metrics.effect(outcome);
    }
    json(&DecideSaid::from(answer))
}

/// The answer to a worker's word, which is counted where it counts.
fn reported(call: &Call, outcome: EffectOutcome, answer: Result<ReportAnswer, StoreError>) -> Answer {
    let answer = answer.map_err(|error| store_error(&error))?;
    if answer == ReportAnswer::Recorded {
        call.app.metrics.effect(outcome);
    }
    json(&ReportSaid::from(answer))
}
