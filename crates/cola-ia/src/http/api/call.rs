//! One request of a caller that is known.

use std::borrow::Cow;
use std::fmt::Display;
use std::sync::Arc;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use cola_ia_core::intake::RefusalCode;
use cola_ia_core::store::{OpId, StoreError};
use cola_ia_webhook::status_of;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Answer;
use crate::http::auth::Caller;
use crate::http::body::{self, NoBody, Whole};
use crate::http::limits::RETRY_AFTER_S;
use crate::http::{App, Problem};

/// The header that names a call, the same for its repetitions.
pub(crate) const OP_HEADER: &str = "idempotency-key";

/// A name and a value of a query.
pub type Pair<'a> = (Cow<'a, str>, Cow<'a, str>);

/// One request of a caller that is known.
pub struct Call {
    /// What every route has at hand.
    pub app: Arc<App>,
    /// Who calls.
    pub caller: Caller,
    /// The request's header.
    pub headers: HeaderMap,
    params: Vec<(String, String)>,
    query: String,
    body: Body,
}

impl Call {
    pub(super) fn new(app: Arc<App>, caller: Caller, params: Vec<(String, String)>, parts: Parts, body: Body) -> Self {
        let query = parts.uri.query().unwrap_or_default().to_owned();
        Self { app, caller, headers: parts.headers, params, query, body }
    }

    /// The op id of a call that changes something: the caller's, or a new one.
    ///
    /// # Errors
    /// 400 `op_malformed`.
    pub fn op(&self) -> Result<OpId, Problem> {
        let malformed = || Problem::new(StatusCode::BAD_REQUEST, "op_malformed").detail(OP_HEADER);
        let mut lines = self.headers.get_all(OP_HEADER).iter();
        let Some(line) = lines.next() else { return Ok(OpId::new(&*self.app.clock, &*self.app.entropy)) };
        let op = line.to_str().ok().and_then(read_op).filter(|_| lines.next().is_none());
        op.ok_or_else(malformed)
    }

    /// A value of the path.
    pub fn param(&self, name: &str) -> &str {
        self.params.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The names and values of the query, percent-decoded once.
    ///
    /// # Errors
    /// 400 `query_malformed` where that is not UTF-8.
    pub fn pairs(&self) -> Result<Vec<Pair<'_>>, Problem> {
        let pairs: Vec<_> = form_urlencoded::parse(self.query.as_bytes()).collect();
        let lossy = pairs.iter().any(|(name, value)| name.contains('\u{fffd}') || value.contains('\u{fffd}'));
        // A replacement character that was sent as one is a character as any other.
        if lossy && !self.query.to_ascii_lowercase().contains("%ef%bf%bd") {
            return Err(query_malformed("utf-8"));
        }
        Ok(pairs)
    }

    /// The body, as it comes.
    pub fn body(&mut self) -> Body {
        std::mem::take(&mut self.body)
    }

    /// The whole body, of at most so many bytes.
    ///
    /// # Errors
    /// 413 `body_too_large`, 415 where it is packed in a way that is not read, 408 where it comes too slowly, 503 where there is
    /// no room for it now, 400 where it ends too early.
    pub(crate) async fn bytes(&mut self, max: usize) -> Result<Whole, Problem> {
        let body = self.body();
        body::read(&self.app, &self.headers, body, max).await.map_err(|why| match why {
            NoBody::Refused(code, detail) => refused(code, status_of(code), &detail),
            NoBody::Busy => busy(),
            NoBody::Gone => refused(RefusalCode::BodyMalformed, 400, ""),
        })
    }

    /// The body, JSON of at most so many bytes.
    ///
    /// # Errors
    /// 415 where it says that it is something else, 413, 400 where it is not this JSON.
    pub async fn json<T: DeserializeOwned>(&mut self, max: usize) -> Result<T, Problem> {
        match self.media_type().as_deref() {
            Some("application/json") => {}
            other => return Err(unsupported(other.unwrap_or_default())),
        }
        let whole = self.bytes(max).await?;
        serde_json::from_slice(&whole.bytes)
            .map_err(|error| refused(RefusalCode::BodyMalformed, 400, &error.to_string()))
    }

    /// What the body says that it is, in lower case and without parameters.
    pub fn media_type(&self) -> Option<String> {
        let value = self.headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        Some(value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
    }
}

/// An op id as the header has it: 32 hexadecimal digits.
fn read_op(text: &str) -> Option<OpId> {
    let text = text.trim();
    if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u128::from_str_radix(text, 16).ok().map(|number| OpId(number.to_be_bytes()))
}

/// An op id as the header has it.
pub(crate) fn op_text(op: OpId) -> String {
    format!("{:032x}", u128::from_be_bytes(op.0))
}

/// 200 with this as JSON.
pub(crate) fn json(value: &impl Serialize) -> Answer {
    json_as(StatusCode::OK, value)
}

/// This as JSON, with this status.
pub(crate) fn json_as(status: StatusCode, value: &impl Serialize) -> Answer {
    let body = serde_json::to_vec(value).map_err(|error| {
        tracing::error!(%error, "an answer cannot be written");
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "server_fault")
    })?;
    let mut response: Response = (status, body).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// A request that is refused with a code of the intake.
pub(crate) fn refused(code: RefusalCode, status: u16, detail: &str) -> Problem {
    Problem::of_refusal(status, code, detail)
}

/// 503: there is no room for more now.
pub(crate) fn busy() -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "server_busy").retry_after(RETRY_AFTER_S)
}

/// What the store says went wrong.
pub(crate) fn store_error(error: &StoreError) -> Problem {
    Problem::of_store(error)
}

/// 422: what is asked makes no sense.
pub(crate) fn unprocessable(code: &str, what: &impl Display) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, code).detail(&what.to_string())
}

/// 415.
pub(crate) fn unsupported(found: &str) -> Problem {
    refused(RefusalCode::MediaTypeUnsupported, 415, found)
}

/// 400: a parameter of the query that is not understood.
pub(crate) fn query_malformed(what: &str) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "query_malformed").detail(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_op_id_is_read_as_it_was_written() {
        let op = OpId(std::array::from_fn(|at| at as u8 * 17));
        assert_eq!(op_text(op), "00112233445566778899aabbccddeeff");
        assert_eq!(read_op(&op_text(op)), Some(op));
        assert_eq!(read_op(&op_text(op).to_uppercase()), Some(op));
        for wrong in ["", "0", &"+1".repeat(16), &"0".repeat(33)] {
            assert_eq!(read_op(wrong), None, "{wrong:?}");
        }
    }
}
