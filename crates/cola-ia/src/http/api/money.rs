//! What was spent, and what may be.

use cola_ia_core::store::TokenScope;
use cola_ia_wire::v1::money::{BudgetLimit, Budgets, Costs, CostsQuery, Currency, CurrencySaid};

use super::call::{json, query_malformed};
use super::query::read_source;
use super::{Access, Answer, Body, Call, Doc, Endpoint, Param, Said, Verb, schema};
use crate::http::Problem;

/// An amount, or the name of a currency.
const BODY_MAX_BYTES: usize = 4 << 10;

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/costs",
        access: Access::Scoped(&[TokenScope::Read], |call| Box::pin(costs(call))),
        doc: Doc {
            group: "money",
            id: "costs",
            summary: "What was spent, is at risk and was avoided",
            text: "",
            params: &[
                Param {
                    name: "by",
                    text: "`source` (where nothing is said), `model` or `day`.",
                    required: false,
                    many: false,
                },
                Param { name: "source", text: "Of one of these sources.", required: false, many: true },
                Param {
                    name: "since",
                    text: "From this day of UTC on, such as `2026-11-30`.",
                    required: false,
                    many: false,
                },
                Param { name: "until", text: "Before this day of UTC.", required: false, many: false },
            ],
            op: false,
            bodies: &[],
            answers: &[Said { status: 200, text: "The sums.", body: Some(Body::json(schema::<Costs>)) }],
            problems: &[],
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/budgets",
        access: Access::Scoped(&[TokenScope::Read], |call| Box::pin(budgets(call))),
        doc: Doc {
            group: "money",
            id: "listBudgets",
            summary: "The budgets, sorted by source, with today's sums",
            text: "",
            params: &[],
            op: false,
            bodies: &[],
            answers: &[Said { status: 200, text: "The budgets.", body: Some(Body::json(schema::<Budgets>)) }],
            problems: &[],
        },
    },
    Endpoint {
        verb: Verb::Put,
        path: "/budgets/{source}",
        access: Access::Scoped(&[TokenScope::Operate], |call| Box::pin(set_budget(call))),
        doc: Doc {
            group: "money",
            id: "setBudget",
            summary: "Set the budget of a source, or take it away",
            text: "It holds from the next reservation on. The source need not have an event.",
            params: &[Param { name: "source", text: "The source.", required: true, many: false }],
            op: true,
            bodies: &[Body::json(schema::<BudgetLimit>)],
            answers: &[Said { status: 200, text: "As it stands now.", body: Some(Body::json(schema::<BudgetLimit>)) }],
            problems: &[],
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/currency",
        access: Access::Scoped(&[TokenScope::Read, TokenScope::Work], |call| Box::pin(currency(call))),
        doc: Doc {
            group: "money",
            id: "currency",
            summary: "The store's currency",
            text: "",
            params: &[],
            op: false,
            bodies: &[],
            answers: &[Said { status: 200, text: "The currency.", body: Some(Body::json(schema::<Currency>)) }],
            problems: &[],
        },
    },
    Endpoint {
        verb: Verb::Put,
        path: "/currency",
        access: Access::Scoped(&[TokenScope::Work], |call| Box::pin(set_currency(call))),
        doc: Doc {
            group: "money",
            id: "setCurrency",
            summary: "Say which currency the store's amounts are in",
            text: "Once said it stays; saying the same again changes nothing.",
            params: &[],
            op: false,
            bodies: &[Body::json(schema::<CurrencySaid>)],
            answers: &[Said { status: 200, text: "The currency.", body: Some(Body::json(schema::<Currency>)) }],
            problems: &[(409, "currency_other"), (422, "currency_malformed")],
        },
    },
];

async fn costs(call: Call) -> Answer {
    let query = {
        let pairs = call.pairs()?;
        CostsQuery::read(pairs.iter().map(|(name, value)| (&**name, &**value)))
            .map_err(|name| query_malformed(&name))?
    };
    let found = call.app.store.costs(query.0).await.map_err(|error| Problem::of_store(&error))?;
    json(&Costs::from(found))
}

async fn budgets(call: Call) -> Answer {
    let found = call.app.store.budgets().await.map_err(|error| Problem::of_store(&error))?;
    json(&Budgets { budgets: found.into_iter().map(Into::into).collect() })
}

async fn set_budget(mut call: Call) -> Answer {
    let op = call.op()?;
    let source = read_source("source", call.param("source"))?;
    let limit: BudgetLimit = call.json(BODY_MAX_BYTES).await?;
    let micros = limit.limit_micros.as_ref().map(|amount| amount.0);
    call.app.store.set_budget(op, source, micros).await.map_err(|error| Problem::of_store(&error))?;
    json(&limit)
}

async fn currency(call: Call) -> Answer {
    let currency = call.app.store.currency().await.map_err(|error| Problem::of_store(&error))?;
    json(&Currency { currency })
}

async fn set_currency(mut call: Call) -> Answer {
    let said: CurrencySaid = call.json(BODY_MAX_BYTES).await?;
    call.app.store.set_currency(said.currency.clone()).await.map_err(|error| Problem::of_store(&error))?;
    json(&Currency { currency: Some(said.currency) })
}
