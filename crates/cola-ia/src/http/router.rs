//! Which path leads where.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{DefaultBodyLimit, MatchedPath, Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use cola_ia_core::event::Source;

use super::{App, Problem, api, health, hosts, inbox, metrics, page};

/// The whole server.
pub fn router(app: Arc<App>) -> Router {
    let page = Router::new()
        .route("/", get(page::show))
        .route("/login", get(page::ask).post(page::enter))
        .route("/logout", axum::routing::post(page::leave))
        .layer(DefaultBodyLimit::max(page::FORM_MAX_BYTES));
    Router::new()
        .merge(page)
        .route("/in/{source}", any(inbox::receive))
        .route("/in/{source}/", any(inbox::receive))
        .route("/livez", get(health::live))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(metrics::show))
        .nest("/v1", api::router())
        .fallback(nothing)
        .layer(middleware::from_fn_with_state(app.clone(), hosts::known))
        .layer(middleware::from_fn_with_state(app.clone(), watched))
        .with_state(app)
}

async fn nothing() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "path_unknown")
}

/// Counts each request and tells of it, never with its query: senders put secrets there.
async fn watched(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map_or("(none)", MatchedPath::as_str).to_owned();
    let response = next.run(request).await.into_response();
    let took = started.elapsed();
    app.metrics.request(&route, &method, response.status(), took);
    let source = response.extensions().get::<Source>().map(Source::as_str).unwrap_or_default();
    let status = response.status().as_u16();
    let took_us = took.as_micros() as u64;
    if response.status().is_server_error() {
        tracing::warn!(method = method.as_str(), route, status, took_us, source, "request");
    } else {
        tracing::info!(method = method.as_str(), route, status, took_us, source, "request");
    }
    response
}
