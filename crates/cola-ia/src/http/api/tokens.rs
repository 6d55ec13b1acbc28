//! Tokens: who may do what.

use axum::http::StatusCode;
use cola_ia_core::store::{TokenRequest, TokenScope};
use cola_ia_wire::v1::Carry as _;
use cola_ia_wire::v1::token::{TokenMade, TokenNamed, TokenRevoked, TokenWanted, Tokens};
use cola_ia_wire::v1::values::TokenHashHex;

use super::call::{json, json_as, query_malformed};
use super::query::each;
use super::{Access, Answer, Body, Call, Doc, Endpoint, Param, Said, Verb, schema};
use crate::http::Problem;
use crate::http::auth::{hash_of, new_token};

/// A token may name many sources.
const BODY_MAX_BYTES: usize = 256 << 10;

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/tokens",
        access: Access::Scoped(&[TokenScope::Admin], |call| Box::pin(list(call))),
        doc: Doc {
            group: "tokens",
            id: "listTokens",
            summary: "All tokens, revoked ones too, sorted by name",
            text: "Neither a token nor its hash is told.",
            params: &[Param {
                name: "hash",
                text: "Only the one with this hash: SHA-256, 64 hexadecimal digits in lower case.",
                required: false,
                many: false,
            }],
            op: false,
            bodies: &[],
            answers: &[Said { status: 200, text: "The tokens.", body: Some(Body::json(schema::<Tokens>)) }],
            problems: &[],
        },
    },
    Endpoint {
        verb: Verb::Post,
        path: "/tokens",
        access: Access::Scoped(&[TokenScope::Admin], |call| Box::pin(create(call))),
        doc: Doc {
            group: "tokens",
            id: "createToken",
            summary: "Make a token",
            text: "Without `hash` the server draws it and tells it this once. Nobody can be told it again: where the answer is lost, \
                   revoke it and make another one.",
            params: &[],
            op: true,
            bodies: &[Body::json(schema::<TokenWanted>)],
            answers: &[Said { status: 201, text: "The token.", body: Some(Body::json(schema::<TokenMade>)) }],
            problems: &[(409, "token_name_taken"), (422, "token_malformed")],
        },
    },
    Endpoint {
        verb: Verb::Post,
        path: "/tokens/revoke",
        access: Access::Scoped(&[TokenScope::Admin], |call| Box::pin(revoke(call))),
        doc: Doc {
            group: "tokens",
            id: "revokeToken",
            summary: "Revoke a token, for good",
            text: "Whoever bears it is nobody within a second.",
            params: &[],
            op: true,
            bodies: &[Body::json(schema::<TokenNamed>)],
            answers: &[Said {
                status: 200,
                text: "Whether it was good until now.",
                body: Some(Body::json(schema::<TokenRevoked>)),
            }],
            problems: &[],
        },
    },
];

async fn list(call: Call) -> Answer {
    let mut hash = None;
    each(&call, |name, value| {
        match name {
            "hash" => hash = Some(TokenHashHex::read(value).ok_or_else(|| query_malformed(name))?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let found = match hash {
        Some(hash) => call.app.store.token_find(hash.0).await.map(|found| found.into_iter().collect()),
        None => call.app.store.tokens().await,
    };
    let tokens = found.map_err(|error| Problem::of_store(&error))?;
    json(&Tokens { tokens: tokens.carry() })
}

async fn create(mut call: Call) -> Answer {
    let op = call.op()?;
    let wanted: TokenWanted = call.json(BODY_MAX_BYTES).await?;
    let (hash, secret) = match wanted.hash {
        Some(hash) => (hash.0, None),
        None => {
            let secret = new_token(&*call.app.entropy);
            (hash_of(&secret), Some(secret))
        }
    };
    let request = TokenRequest {
        name: wanted.name,
        hash,
        scopes: wanted.scopes.carry(),
        sources: wanted.sources.carry(),
        expires_at: wanted.expires_at.carry(),
    };
    let token = call.app.store.token_create(op, request).await.map_err(|error| Problem::of_store(&error))?;
    json_as(StatusCode::CREATED, &TokenMade { token: token.into(), secret })
}

async fn revoke(mut call: Call) -> Answer {
    let op = call.op()?;
    let named: TokenNamed = call.json(BODY_MAX_BYTES).await?;
    let revoked = call.app.store.token_revoke(op, named.name).await.map_err(|error| Problem::of_store(&error))?;
    json(&TokenRevoked { revoked })
}
