//! `/v1/events`: what is known of an identity, and its end.

use cola_ia_core::store::TokenScope;
use cola_ia_wire::v1::erase::{EraseAnswer, EraseStep};
use cola_ia_wire::v1::event::{Event, Events};

use super::call::{json, query_malformed};
use super::query::{each, read_source};
use super::{Access, Answer, Body, Call, Doc, Endpoint, Param, Said, Verb, schema};
use crate::http::Problem;

/// An id is at most 1,024 bytes, each six in JSON.
const ERASE_MAX_BYTES: usize = 16 << 10;

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/events",
        access: Access::Scoped(&[TokenScope::Read], |call| Box::pin(find(call))),
        doc: Doc {
            group: "events",
            id: "findEvents",
            summary: "The events with an id, with all that happened to them",
            text: "Of one source, or of every source that knows the id, sorted by its name.",
            params: &[
                Param { name: "id", text: "The id, byte for byte.", required: true, many: false },
                Param { name: "source", text: "Only of this source.", required: false, many: false },
            ],
            op: false,
            bodies: &[],
            answers: &[Said {
                status: 200,
                text: "The events; none where nobody knows the id.",
                body: Some(Body::json(schema::<Events>)),
            }],
            problems: &[],
        },
    },
    Endpoint {
        verb: Verb::Post,
        path: "/events/erase",
        access: Access::Scoped(&[TokenScope::Admin], |call| Box::pin(erase(call))),
        doc: Doc {
            group: "events",
            id: "eraseEvent",
            summary: "One step of erasing an event",
            text: "Again with `after` set to the answer's `next`, until that is null. A hash stands in the place of the id: what is \
                   delivered under the identity later is still judged.",
            params: &[],
            op: true,
            bodies: &[Body::json(schema::<EraseStep>)],
            answers: &[Said { status: 200, text: "What it did.", body: Some(Body::json(schema::<EraseAnswer>)) }],
            problems: &[(409, "job_running")],
        },
    },
];

async fn find(call: Call) -> Answer {
    let (mut id, mut source) = (None, None);
    each(&call, |name, value| {
        match name {
            "id" => id = Some(value.to_owned()),
            "source" => source = Some(read_source(name, value)?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let id = id.ok_or_else(|| query_malformed("id"))?;
    let found = call.app.store.find_events(source, id).await.map_err(|error| Problem::of_store(&error))?;
    let mut events: Vec<Event> = found.into_iter().map(Event::from).collect();
    // A lease opens its job: it is for those who work.
    if !call.caller.allows(TokenScope::Work) {
        events.iter_mut().flat_map(|event| &mut event.effects).for_each(super::lists::hide_leases);
    }
    json(&Events { events })
}

async fn erase(mut call: Call) -> Answer {
    let op = call.op()?;
    let step: EraseStep = call.json(ERASE_MAX_BYTES).await?;
    let erased = call.app.store.erase(op, step.into()).await.map_err(|error| Problem::of_store(&error))?;
    json(&EraseAnswer { erased: erased.map(Into::into) })
}
