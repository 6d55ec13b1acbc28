//! What the store is, how sources stand, and whether something was committed.

use std::time::Duration;

use cola_ia_core::filter::Key;
use cola_ia_core::store::TokenScope;
use cola_ia_wire::v1::stats::Stats;
use cola_ia_wire::v1::store::{Changes, Namespace, Resumed, Sources};
use cola_ia_wire::v1::values::Hex;

use super::call::json;
use super::query::{SINCE, SOURCE, UNTIL, each, filter, read, read_source};
use super::{Access, Answer, Body, Call, Doc, Endpoint, Param, Said, Verb, schema};
use crate::http::Problem;

/// What is asked of a filter. The remote store says no more.
pub(crate) const STATS_BY: &[Key] = &[Key::Source, Key::Since, Key::Until];
pub(crate) const SOURCES_BY: &[Key] = &[Key::Source];

/// The longest that a request waits for something to be committed.
const WAIT_MAX: Duration = Duration::from_secs(30);

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/stats",
        // A worker that ends with `--drain` says how many jobs are left.
        access: Access::Scoped(&[TokenScope::Read, TokenScope::Work], |call| Box::pin(stats(call))),
        doc: Doc {
            group: "standing",
            id: "stats",
            summary: "What was received in a range of time, and how many jobs stand where now",
            text: "The range is widened to whole minutes, and where older counts are kept by the hour or the day, to those: the \
                   answer says the range that it counts.",
            params: &[SOURCE, SINCE, UNTIL],
            op: false,
            bodies: &[],
            answers: &[Said { status: 200, text: "The counts.", body: Some(Body::json(schema::<Stats>)) }],
            problems: &[],
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/sources",
        access: Access::Scoped(&[TokenScope::Read, TokenScope::Work], |call| Box::pin(sources(call))),
        doc: Doc {
            group: "standing",
            id: "listSources",
            summary: "How sources stand with those who work on their jobs",
            text: "",
            params: &[SOURCE],
            op: false,
            bodies: &[],
            answers: &[Said {
                status: 200,
                text: "The sources, sorted by name.",
                body: Some(Body::json(schema::<Sources>)),
            }],
            problems: &[],
        },
    },
    Endpoint {
        verb: Verb::Post,
        path: "/sources/{source}/resume",
        access: Access::Scoped(&[TokenScope::Operate], |call| Box::pin(resume(call))),
        doc: Doc {
            group: "standing",
            id: "resumeSource",
            summary: "End the pause of a source, and its streak of failures with it",
            text: "",
            params: &[Param { name: "source", text: "The source.", required: true, many: false }],
            op: true,
            bodies: &[],
            answers: &[Said { status: 200, text: "Whether it was paused.", body: Some(Body::json(schema::<Resumed>)) }],
            problems: &[(422, "source_unknown")],
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/namespace",
        access: Access::Scoped(&[TokenScope::Read, TokenScope::Work], |call| Box::pin(namespace(call))),
        doc: Doc {
            group: "standing",
            id: "namespace",
            summary: "What tells this store's events apart from those of any other, in the keys of effects",
            text: "",
            params: &[],
            op: false,
            bodies: &[],
            answers: &[Said { status: 200, text: "The namespace.", body: Some(Body::json(schema::<Namespace>)) }],
            problems: &[],
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/changes",
        access: Access::Scoped(&[TokenScope::Read, TokenScope::Work], |call| Box::pin(changes(call))),
        doc: Doc {
            group: "standing",
            id: "changes",
            summary: "A number that is another one after anybody has committed something",
            text: "A hint for who waits: it says nothing of what changed, and can move where nothing did.",
            params: &[
                Param {
                    name: "seen",
                    text: "Wait until the number is another one than this.",
                    required: false,
                    many: false,
                },
                Param {
                    name: "wait_ms",
                    text: "With `seen`: at most so long, in milliseconds; at most 30,000.",
                    required: false,
                    many: false,
                },
            ],
            op: false,
            bodies: &[],
            answers: &[Said { status: 200, text: "The number.", body: Some(Body::json(schema::<Changes>)) }],
            problems: &[],
        },
    },
];

async fn stats(call: Call) -> Answer {
    let filter = filter(&call, STATS_BY, |_, _| Ok(false))?;
    let found = call.app.store.stats(filter).await.map_err(|error| Problem::of_store(&error))?;
    json(&Stats::from(found))
}

async fn sources(call: Call) -> Answer {
    let filter = filter(&call, SOURCES_BY, |_, _| Ok(false))?;
    let found = call.app.store.sources(filter).await.map_err(|error| Problem::of_store(&error))?;
    json(&Sources { sources: found.into_iter().map(Into::into).collect() })
}

async fn resume(call: Call) -> Answer {
    let op = call.op()?;
    let source = read_source("source", call.param("source"))?;
    let resumed = call.app.store.resume(op, source).await.map_err(|error| Problem::of_store(&error))?;
    json(&Resumed { resumed })
}

async fn namespace(call: Call) -> Answer {
    let namespace = call.app.store.namespace().await.map_err(|error| Problem::of_store(&error))?;
    json(&Namespace { namespace: Hex(namespace) })
}

async fn changes(call: Call) -> Answer {
    let (mut seen, mut wait) = (None, Duration::ZERO);
    each(&call, |name, value| {
        match name {
            "seen" => seen = Some(read(name, value)?),
            "wait_ms" => wait = Duration::from_millis(read(name, value)?).min(WAIT_MAX),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let until = tokio::time::Instant::now() + wait;
    let mut stopping = call.app.stopping.clone();
    // Before the first look, so that nothing is missed in between.
    let mut wake = call.app.wakes.listen();
    loop {
        let changes: u64 = call.app.store.changes().await.map_err(|error| Problem::of_store(&error))?;
        if seen != Some(changes) || tokio::time::Instant::now() >= until || *stopping.borrow() {
            return json(&Changes { changes });
        }
        tokio::select! {
            () = wake.next() => {}
            () = tokio::time::sleep_until(until) => {}
            _ = stopping.changed() => {}
        }
    }
}
