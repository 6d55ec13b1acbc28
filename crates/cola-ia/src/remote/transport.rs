//! Requests to a server: one at a time or many, each answered within a time or repeated.
//!
//! A call that changes something carries its op id, and one that does not may be made twice anyway: whatever is lost is sent again
//! as it was, for a bounded time.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::{HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use cola_ia_core::store::{ErrorKind, OpId, StoreError};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error;
use crate::http::api::call::{OP_HEADER, op_text};

/// How long a connection may take to come about.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// How long an answer may take, beyond what the call itself says that it waits.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// For how long a call is repeated of which no answer came, or that cannot be done now.
const REPEAT_FOR: Duration = Duration::from_secs(10);
/// How long is waited before the first repetition; then twice as long each time …
const FIRST_WAIT: Duration = Duration::from_millis(50);
/// … up to this.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// The media type of most bodies.
const JSON: &str = "application/json";
/// The largest answer that is read.
pub(super) const ANSWER_MAX_BYTES: usize = 128 << 20;
/// How long a connection is kept that nobody uses.
const IDLE_FOR: Duration = Duration::from_mins(1);

/// A call.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    method: Method,
    /// Below `/v1`, with its query.
    path: String,
    op: Option<OpId>,
    body: Bytes,
    media_type: &'static str,
    wait: Duration,
}

impl Ask {
    /// Looks at a path, with these values of its query.
    pub(super) fn get(path: &str, pairs: &[(&str, String)]) -> Self {
        let mut path = path.to_owned();
        if !pairs.is_empty() {
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.extend_pairs(pairs);
            path.push('?');
            path.push_str(&query.finish());
        }
        Self { method: Method::GET, path, op: None, body: Bytes::new(), media_type: "", wait: Duration::ZERO }
    }

    /// Sends this as JSON.
    pub(super) fn post(path: &str, body: &impl Serialize) -> Self {
        Self::send(Method::POST, path, body)
    }

    /// Sends this as JSON, to be set.
    pub(super) fn put(path: &str, body: &impl Serialize) -> Self {
        Self::send(Method::PUT, path, body)
    }

    fn send(method: Method, path: &str, body: &impl Serialize) -> Self {
        // Shapes of ours are always JSON: their keys are strings.
        let body = serde_json::to_vec(body).expect("a shape of the wire is JSON");
        Self { method, path: path.to_owned(), op: None, body: body.into(), media_type: JSON, wait: Duration::ZERO }
    }

    /// Sends this body, of this media type.
    pub(super) fn lines(path: &str, media_type: &'static str, body: String) -> Self {
        let path = path.to_owned();
        Self { method: Method::POST, path, op: None, body: body.into(), media_type, wait: Duration::ZERO }
    }

    /// Sends nothing but the path.
    pub(super) fn bare(path: &str) -> Self {
        Self::lines(path, "", String::new())
    }

    /// Under this op id.
    #[expect(clippy::wrong_self_convention, reason = "the call is made as this op")]
    pub(super) fn as_op(mut self, op: OpId) -> Self {
        self.op = Some(op);
        self
    }

    /// It may take so much longer than others.
    pub(super) fn waiting(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }
}

/// Where the server is, and with which right it is asked. Cheap to clone.
#[derive(Clone)]
pub(super) struct Transport {
    client: AnyClient,
    /// Without a slash at its end.
    base: String,
    token: HeaderValue,
}

#[derive(Clone)]
enum AnyClient {
    Plain(Client<HttpConnector, Full<Bytes>>),
    Tls(Client<HttpsConnector<HttpConnector>, Full<Bytes>>),
}

impl Transport {
    /// Looks at the address; no connection is made yet. Needs a runtime.
    pub(super) fn new(server: &str, token: &str) -> Result<Self, StoreError> {
        let malformed = |why: &str| StoreError::new(ErrorKind::Invalid, "server_address").with("cause", why);
        let uri: Uri = server.trim_end_matches('/').parse().map_err(|_| malformed("url"))?;
        let authority = uri.authority().ok_or_else(|| malformed("host"))?;
        if authority.as_str().contains('@') {
            return Err(malformed("credentials"));
        }
        if uri.query().is_some() {
            return Err(malformed("query"));
        }
        let client = match uri.scheme_str() {
            Some("https") => AnyClient::Tls(tls()?),
            Some("http") if is_loopback(authority.host()) => AnyClient::Plain(plain()),
            Some("http") => {
                return Err(StoreError::new(ErrorKind::Invalid, "server_insecure").with("server", authority));
            }
            _ => return Err(malformed("scheme")),
        };
        let mut token = HeaderValue::from_str(&format!("Bearer {token}"))
            .map_err(|_| StoreError::new(ErrorKind::Invalid, "server_token"))?;
        token.set_sensitive(true);
        Ok(Self { client, base: server.trim_end_matches('/').to_owned(), token })
    }

    /// The server's address.
    pub(super) fn server(&self) -> &str {
        &self.base
    }

    /// Asks until there is an answer, and reads it.
    pub(super) async fn ask<T: DeserializeOwned>(&self, ask: &Ask) -> Result<T, StoreError> {
        let bytes = self.ask_bytes(ask).await?;
        serde_json::from_slice(&bytes).map_err(|cause| error::nonsense(&self.base, &cause))
    }

    /// Asks until there is an answer.
    pub(super) async fn ask_bytes(&self, ask: &Ask) -> Result<Bytes, StoreError> {
        let started = Instant::now();
        let mut wait = FIRST_WAIT;
        loop {
            let lost = match tokio::time::timeout(ANSWER_WITHIN + ask.wait, self.once(ask)).await {
                Ok(Ok((StatusCode::OK | StatusCode::CREATED, bytes))) => return Ok(bytes),
                Ok(Ok((status, bytes))) => {
                    let problem = error::of_answer(&self.base, status, &bytes);
                    if status != StatusCode::SERVICE_UNAVAILABLE {
                        return Err(problem);
                    }
                    problem
                }
                Ok(Err(error)) if error.kind != ErrorKind::Unavailable => return Err(error),
                Ok(Err(error)) => error,
                Err(_) => error::unreachable(&self.base, &"no answer in time"),
            };
            if started.elapsed() + wait > REPEAT_FOR + ask.wait {
                return Err(lost);
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(MAX_WAIT);
        }
    }

    /// Asks once.
    async fn once(&self, ask: &Ask) -> Result<(StatusCode, Bytes), StoreError> {
        let response = self.send(self.request(ask)?).await?;
        let status = response.status();
        match Limited::new(response.into_body(), ANSWER_MAX_BYTES).collect().await {
            Ok(whole) => Ok((status, whole.to_bytes())),
            Err(cause) if cause.is::<LengthLimitError>() => {
                Err(error::nonsense(&self.base, &"the answer is too large"))
            }
            Err(cause) => Err(error::unreachable(&self.base, &cause)),
        }
    }

    /// Asks once for what comes piece by piece; an error is read whole.
    pub(super) async fn stream(&self, ask: &Ask) -> Result<Response<Incoming>, StoreError> {
        let asked = tokio::time::timeout(ANSWER_WITHIN + ask.wait, self.send(self.request(ask)?)).await;
        let response = asked.map_err(|_| error::unreachable(&self.base, &"no answer in time"))??;
        let status = response.status();
        if status == StatusCode::OK {
            return Ok(response);
        }
        let body = Limited::new(response.into_body(), ANSWER_MAX_BYTES).collect().await;
        let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        Err(error::of_answer(&self.base, status, &body))
    }

    fn request(&self, ask: &Ask) -> Result<Request<Full<Bytes>>, StoreError> {
        let mut request = Request::builder()
            .method(ask.method.clone())
            .uri(format!("{}/v1{}", self.base, ask.path))
            .header(header::AUTHORIZATION, self.token.clone())
            .header(header::ACCEPT, "application/json")
            .header(header::USER_AGENT, concat!("cola-ia/", env!("CARGO_PKG_VERSION")));
        if !ask.media_type.is_empty() {
            request = request.header(header::CONTENT_TYPE, ask.media_type);
        }
        if let Some(op) = ask.op {
            request = request.header(OP_HEADER, op_text(op));
        }
        let malformed = |cause| StoreError::new(ErrorKind::Invalid, "server_address").with("cause", cause);
        request.body(Full::new(ask.body.clone())).map_err(malformed)
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, StoreError> {
        let answer = match &self.client {
            AnyClient::Plain(client) => client.request(request).await,
            AnyClient::Tls(client) => client.request(request).await,
        };
        answer.map_err(|cause| error::not_sent(&self.base, &cause))
    }
}

fn connector() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.set_connect_timeout(Some(CONNECT_WITHIN));
    connector.set_nodelay(true);
    connector
}

fn builder() -> hyper_util::client::legacy::Builder {
    let mut builder = Client::builder(TokioExecutor::new());
    builder.pool_idle_timeout(IDLE_FOR).pool_timer(TokioTimer::new());
    builder
}

fn plain() -> Client<HttpConnector, Full<Bytes>> {
    builder().build(connector())
}

fn tls() -> Result<Client<HttpsConnector<HttpConnector>, Full<Bytes>>, StoreError> {
    let mut inner = connector();
    inner.enforce_http(false);
    let roots = HttpsConnectorBuilder::new()
        .with_native_roots()
        .map_err(|cause| StoreError::new(ErrorKind::Unavailable, "server_certificates").with("cause", cause))?;
    Ok(builder().build(roots.https_only().enable_http1().wrap_connector(inner)))
}

/// Whether this is this machine itself, which nobody listens to on the way.
fn is_loopback(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']);
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_nowhere_in_the_clear() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let _inside = runtime.enter();
        let code = |server: &str| Transport::new(server, "cia_x").err().map(|error| error.code);
        for good in ["http://127.0.0.1:8787", "http://localhost:1/", "http://[::1]:8787/cola"] {
            assert_eq!(code(good), None, "{good}");
        }
        for insecure in ["http://cola.example", "http://10.0.0.1:8787", "http://127.0.0.1.example"] {
            assert_eq!(code(insecure), Some("server_insecure"), "{insecure}");
        }
        for wrong in ["", "cola.example", "ftp://cola.example", "https://u:p@cola.example", "https://cola.example/?a=b"]
        {
            assert_eq!(code(wrong), Some("server_address"), "{wrong}");
        }
        assert_eq!(Transport::new("http://127.0.0.1:1", "a\nb").err().map(|error| error.code), Some("server_token"));
    }
}
