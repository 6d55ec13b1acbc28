//! Whether the server lives, and whether it can take something: for whoever watches over it. Both are open and bare.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;

use super::App;

/// The longest that the store is waited for.
const STORE_WAIT: Duration = Duration::from_secs(2);

/// `/livez`: the process answers.
pub(super) async fn live() -> &'static str {
    "ok\n"
}

/// `/readyz`: the store answers, and the server is not about to stop.
pub(super) async fn ready(State(app): State<Arc<App>>) -> (StatusCode, &'static str) {
    if app.is_stopping() {
        return (StatusCode::SERVICE_UNAVAILABLE, "stopping\n");
    }
    match tokio::time::timeout(STORE_WAIT, app.store.changes()).await {
        Ok(Ok(_)) => (StatusCode::OK, "ok\n"),
        _ => (StatusCode::SERVICE_UNAVAILABLE, "store\n"),
    }
}
