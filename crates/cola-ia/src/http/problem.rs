//! Errors as RFC 9457 has them: `application/problem+json`.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cola_ia_core::intake::RefusalCode;
use cola_ia_core::store::{ErrorKind, StoreError};
use cola_ia_wire::Problem as Body;

use super::limits::RETRY_AFTER_S;

/// An answer that is an error.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The HTTP status.
    pub status: StatusCode,
    /// What is told.
    pub body: Box<Body>,
    /// Other header lines.
    pub headers: Vec<(header::HeaderName, HeaderValue)>,
}

impl Problem {
    /// An error with this stable code.
    pub fn new(status: StatusCode, code: &str) -> Self {
        let title = status.canonical_reason().unwrap_or("Error");
        Self { status, body: Box::new(Body::new(status.as_u16(), title, code)), headers: Vec::new() }
    }

    /// With what it is about.
    #[must_use]
    pub fn detail(mut self, detail: &str) -> Self {
        if !detail.is_empty() {
            self.body.detail = Some(detail.to_owned());
        }
        self
    }

    /// With a header line.
    #[must_use]
    pub fn header(mut self, name: header::HeaderName, value: impl Into<HeaderValue>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// To be tried again a little later.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        self.header(header::RETRY_AFTER, seconds.max(1))
    }

    /// A store's error.
    pub fn of_store(error: &StoreError) -> Self {
        let status = match error.kind {
            ErrorKind::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorKind::Conflict | ErrorKind::LeaseLost => StatusCode::CONFLICT,
            ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::Corrupt => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let mut problem = Self::new(status, error.code);
        problem.body.kind = Some(kind_word(error.kind).to_owned());
        problem.body.facts = error.facts.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        if error.kind == ErrorKind::Unavailable { problem.retry_after(RETRY_AFTER_S) } else { problem }
    }

    /// A refusal of what came.
    pub fn of_refusal(status: u16, code: RefusalCode, detail: &str) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
        Self::new(status, code.as_str()).detail(detail)
    }
}

/// The word of a kind of error in JSON.
pub(crate) fn kind_word(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Invalid => "invalid",
        ErrorKind::Conflict => "conflict",
        ErrorKind::LeaseLost => "lease_lost",
        ErrorKind::Unavailable => "unavailable",
        ErrorKind::Corrupt => "corrupt",
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        // A map of strings is always JSON.
        let body = serde_json::to_vec(&self.body).unwrap_or_default();
        let mut response = (self.status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        for (name, value) in self.headers {
            headers.insert(name, value);
        }
        response
    }
}
