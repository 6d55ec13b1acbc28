//! `/v1`: the verbs of the store over HTTP.
//!
//! [`endpoints`] is the one table of what there is: method, path, who may, what answers, and how it is described. The routes, the
//! description at `/v1/openapi.json` and the test of every scope walk the same table, so that nothing can be there without a scope.

pub(crate) mod call;
mod conflicts;
mod describe;
mod effects;
mod endpoint;
mod events;
pub(crate) mod intake;
pub(crate) mod keeping;
pub(crate) mod leases;
mod lines;
pub(crate) mod lists;
mod money;
mod openapi;
mod orders;
mod query;
pub(crate) mod standing;
mod tokens;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRequestParts as _, RawPathParams, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::MethodRouter;

pub use call::{Call, Pair};
pub use describe::{Body, Doc, Param, Said, SchemaOf, Schemas, schema};
pub use endpoint::{Access, Answer, Answering, Endpoint, Verb};
pub use openapi::openapi;

use super::{App, Problem};

/// All of `/v1`.
pub fn endpoints() -> impl Iterator<Item = &'static Endpoint> {
    let groups: [&'static [Endpoint]; 12] = [
        intake::ENDPOINTS,
        events::ENDPOINTS,
        lists::ENDPOINTS,
        standing::ENDPOINTS,
        money::ENDPOINTS,
        keeping::ENDPOINTS,
        tokens::ENDPOINTS,
        leases::ENDPOINTS,
        orders::ENDPOINTS,
        conflicts::ENDPOINTS,
        effects::ENDPOINTS,
        openapi::ENDPOINTS,
    ];
    groups.into_iter().flatten()
}

/// The routes, to be nested under `/v1`.
pub fn router() -> Router<Arc<App>> {
    let mut paths: BTreeMap<&str, Vec<&'static Endpoint>> = BTreeMap::new();
    for endpoint in endpoints() {
        paths.entry(endpoint.path).or_default().push(endpoint);
    }
    let mut router = Router::new();
    for (path, endpoints) in paths {
        let allow = allow(&endpoints);
        let mut methods = MethodRouter::new();
        for endpoint in endpoints {
            let call = move |State(app): State<Arc<App>>, request: Request| serve(endpoint, app, request);
            methods = methods.on(endpoint.verb.filter(), call);
        }
        router = router.route(path, methods.fallback(move || std::future::ready(not_allowed(&allow))));
    }
    router.fallback(|| std::future::ready(Problem::new(StatusCode::NOT_FOUND, "path_unknown")))
}

/// The methods of a path, as the header `Allow` has them.
fn allow(endpoints: &[&Endpoint]) -> String {
    let words: Vec<&str> = endpoints.iter().map(|endpoint| endpoint.verb.allowed()).collect();
    words.join(",")
}

fn not_allowed(allow: &str) -> Problem {
    let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed");
    match HeaderValue::from_str(allow) {
        Ok(allow) => problem.header(header::ALLOW, allow),
        Err(_) => problem,
    }
}

async fn serve(endpoint: &'static Endpoint, app: Arc<App>, request: Request) -> Response {
    answer(endpoint, app, request).await.unwrap_or_else(Problem::into_response)
}

/// Who calls is asked before anything else is looked at.
async fn answer(endpoint: &'static Endpoint, app: Arc<App>, request: Request) -> Answer {
    let (scopes, handler) = match endpoint.access {
        Access::Open(handler) => return handler(&app),
        Access::Scoped(scopes, handler) => (scopes, handler),
    };
    let (mut parts, body) = request.into_parts();
    let caller = app.tokens.caller(&parts.headers).await?;
    if !scopes.iter().any(|scope| caller.allows(*scope)) {
        caller.must(scopes[0])?;
    }
    let params = match RawPathParams::from_request_parts(&mut parts, &()).await {
        Ok(params) => params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        Err(_) => return Err(Problem::new(StatusCode::BAD_REQUEST, "path_malformed")),
    };
    handler(Call::new(app, caller, params, parts, body)).await
}
