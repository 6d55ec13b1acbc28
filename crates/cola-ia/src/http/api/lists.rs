//! Lists, page by page, and what arrives.

use cola_ia_core::filter::Key;
use cola_ia_core::store::{
    Cursor, EffectFilter, EffectListRequest, FOLLOW_MAX, FollowFrom, PageRequest, Texts, TokenScope,
};
use cola_ia_wire::v1::attempt::Attempt;
use cola_ia_wire::v1::conflict::Conflict;
use cola_ia_wire::v1::delivery::{Delivery, Followed};
use cola_ia_wire::v1::effect::{Effect, EffectItem};
use cola_ia_wire::v1::filter::take_effect_filter_pair;
use cola_ia_wire::v1::job::Job;
use cola_ia_wire::v1::list::{List, read_job_cursor};

use super::call::{json, query_malformed};
use super::query::{
    CURSOR, LIMIT, PAGE_DEFAULT, REASON, SINCE, SOURCE, STATE, TYPE, UNDECIDED, UNTIL, VERDICT, each, filter,
    first_page, page, read,
};
use super::{Access, Answer, Body, Call, Doc, Endpoint, Param, Said, SchemaOf, Verb, schema};
use crate::http::Problem;

/// What each list asks of a filter. The remote store says no more.
pub(crate) const JOBS_BY: &[Key] = &[Key::Source, Key::State, Key::Type, Key::Since, Key::Until, Key::Reason];
pub(crate) const DELIVERIES_BY: &[Key] = &[Key::Source, Key::Verdict, Key::Type, Key::Since, Key::Until, Key::Reason];
pub(crate) const CONFLICTS_BY: &[Key] = &[Key::Source, Key::Type, Key::Since, Key::Until, Key::Undecided];
pub(crate) const ATTEMPTS_BY: &[Key] = &[Key::Source, Key::Type, Key::Since, Key::Until, Key::Reason];

const fn answers(text: &'static str, of: SchemaOf) -> Said {
    Said { status: 200, text, body: Some(Body::json(of)) }
}

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/jobs",
        access: Access::Scoped(&[TokenScope::Read], |call| Box::pin(jobs(call))),
        doc: Doc {
            group: "lists",
            id: "listJobs",
            summary: "Jobs, newest first",
            text: "Times are when the event was received.",
            params: &[SOURCE, STATE, TYPE, SINCE, UNTIL, REASON, LIMIT, CURSOR],
            op: false,
            bodies: &[],
            answers: &[answers("A page.", schema::<List<Job>>)],
            problems: &[],
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/deliveries",
        access: Access::Scoped(&[TokenScope::Read], |call| Box::pin(deliveries(call))),
        doc: Doc {
            group: "lists",
            id: "listDeliveries",
            summary: "Every handing-over of an event, newest first",
            text: "What entered, what was repeated, in conflict, or refused; `reason` is the code of a refusal.",
            params: &[SOURCE, VERDICT, TYPE, SINCE, UNTIL, REASON, LIMIT, CURSOR],
            op: false,
            bodies: &[],
            answers: &[answers("A page.", schema::<List<Delivery>>)],
            problems: &[(422, "cursor_unknown")],
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/conflicts",
        access: Access::Scoped(&[TokenScope::Read], |call| Box::pin(conflicts(call))),
        doc: Doc {
            group: "lists",
            id: "listConflicts",
            summary: "Other contents under known identities, newest first",
            text: "",
            params: &[
                SOURCE,
                TYPE,
                SINCE,
                UNTIL,
                UNDECIDED,
                LIMIT,
                CURSOR,
                Param {
                    name: "texts",
                    text: "`true`: with both contents; a page ends once it holds 8 MiB of them.",
                    required: false,
                    many: false,
                },
            ],
            op: false,
            bodies: &[],
            answers: &[answers("A page.", schema::<List<Conflict>>)],
            problems: &[(422, "cursor_unknown")],
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/errors",
        access: Access::Scoped(&[TokenScope::Read], |call| Box::pin(attempts(call))),
        doc: Doc {
            group: "lists",
            id: "listErrors",
            summary: "Attempts that went wrong, the one that began last first",
            text: "Times are when the attempt ended; `reason` is a class of errors. What was refused is among the deliveries, with \
                   the verdict `invalid`.",
            params: &[SOURCE, TYPE, SINCE, UNTIL, REASON, LIMIT, CURSOR],
            op: false,
            bodies: &[],
            answers: &[answers("A page.", schema::<List<Attempt>>)],
            problems: &[(422, "cursor_unknown")],
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/effects",
        access: Access::Scoped(&[TokenScope::Read], |call| Box::pin(effects(call))),
        doc: Doc {
            group: "effects",
            id: "listEffects",
            summary: "Effects, the one that was begun last first",
            text: "",
            params: &[
                Param { name: "source", text: "Of one of these sources.", required: false, many: true },
                Param { name: "state", text: "In one of these states.", required: false, many: true },
                Param {
                    name: "resource_id",
                    text: "That made this resource, or of whose job it is said.",
                    required: false,
                    many: false,
                },
                Param {
                    name: "alarmed",
                    text: "`true`: only those that carry an alarm.",
                    required: false,
                    many: false,
                },
                LIMIT,
                CURSOR,
            ],
            op: false,
            bodies: &[],
            answers: &[answers("A page.", schema::<List<EffectItem>>)],
            problems: &[(422, "cursor_unknown")],
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/follow",
        access: Access::Scoped(&[TokenScope::Read], |call| Box::pin(follow(call))),
        doc: Doc {
            group: "lists",
            id: "follow",
            summary: "What arrived after a place, in the order in which it was committed",
            text: "Each delivery once, and none that is committed later before it. Never waits: `GET /v1/changes` does.",
            params: &[
                SOURCE,
                VERDICT,
                TYPE,
                SINCE,
                UNTIL,
                REASON,
                Param {
                    name: "latest",
                    text: "Without `cursor`: begin with the latest so many, at most 1,000; 0 where it is not said.",
                    required: false,
                    many: false,
                },
                Param { name: "cursor", text: "The `cursor` of the answer before.", required: false, many: false },
            ],
            op: false,
            bodies: &[],
            answers: &[answers("What arrived.", schema::<Followed>)],
            problems: &[(422, "cursor_unknown")],
        },
    },
];

async fn jobs(call: Call) -> Answer {
    let mut request = PageRequest { below: None, limit: PAGE_DEFAULT };
    let filter = filter(&call, JOBS_BY, |name, value| {
        match name {
            "limit" => request.limit = read(name, value)?,
            "cursor" => request.below = Some(read_job_cursor(value).ok_or_else(|| query_malformed(name))?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let found = call.app.store.jobs(filter, request).await.map_err(|error| Problem::of_store(&error))?;
    json(&List::from(found))
}

async fn deliveries(call: Call) -> Answer {
    let mut request = first_page();
    let filter = filter(&call, DELIVERIES_BY, |name, value| page(&mut request, name, value))?;
    let found = call.app.store.deliveries(filter, request).await.map_err(|error| Problem::of_store(&error))?;
    json(&List::<Delivery>::from(found))
}

async fn conflicts(call: Call) -> Answer {
    let (mut request, mut texts) = (first_page(), false);
    let filter = filter(&call, CONFLICTS_BY, |name, value| match name {
        "texts" => read(name, value).map(|wanted| texts = wanted).map(|()| true),
        _ => page(&mut request, name, value),
    })?;
    let texts = if texts { Texts::Bring } else { Texts::Leave };
    let found = call.app.store.conflicts(filter, request, texts).await.map_err(|error| Problem::of_store(&error))?;
    json(&List::<Conflict>::from(found))
}

async fn attempts(call: Call) -> Answer {
    let mut request = first_page();
    let filter = filter(&call, ATTEMPTS_BY, |name, value| page(&mut request, name, value))?;
    let found = call.app.store.attempts(filter, request).await.map_err(|error| Problem::of_store(&error))?;
    json(&List::<Attempt>::from(found))
}

async fn effects(call: Call) -> Answer {
    let (mut request, mut filter) = (first_page(), EffectFilter::default());
    each(&call, |name, value| match take_effect_filter_pair(&mut filter, name, value) {
        Some(true) => Ok(true),
        Some(false) => page(&mut request, name, value),
        None => Err(query_malformed(name)),
    })?;
    let request = EffectListRequest { filter, page: request };
    let found = call.app.store.effect_list(request).await.map_err(|error| Problem::of_store(&error))?;
    let mut list = List::<EffectItem>::from(found);
    if !call.caller.allows(TokenScope::Work) {
        list.items.iter_mut().for_each(|item| hide_leases(&mut item.effect));
    }
    json(&list)
}

/// A lease opens its job: who only looks is not told it.
pub(super) fn hide_leases(effect: &mut Effect) {
    effect.effect.try_log.iter_mut().for_each(|one| one.lease = None);
}

async fn follow(call: Call) -> Answer {
    let (mut cursor, mut latest) = (None, 0);
    let filter = filter(&call, DELIVERIES_BY, |name, value| {
        match name {
            "cursor" => cursor = Some(Cursor(value.to_owned())),
            "latest" => latest = read(name, value)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let from = cursor.map_or(FollowFrom::Latest(latest.min(FOLLOW_MAX as u32)), FollowFrom::After);
    let found = call.app.store.follow(filter, from).await.map_err(|error| Problem::of_store(&error))?;
    json(&Followed::from(found))
}
