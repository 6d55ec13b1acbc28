//! `/in/SOURCE`: what senders send by themselves.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use cola_ia_core::event::{Delivery, Origin, Source};
use cola_ia_core::intake::{Intake, RefusalCode};
use cola_ia_core::limits::BATCH_MAX_EVENTS;
use cola_ia_core::verdict::Verdict;
use cola_ia_webhook::{
    Found, HandshakeToken, Header, Outcome, Receiver, Refused, Reply, Request as WebhookRequest, status_of,
};
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::runtime::Handle;

use super::body::{self, NoBody, Whole};
use super::limits::{RETRY_AFTER_S, SMALL_BODY_BYTES, UNSIGNED_A_MINUTE};
use super::{App, Problem, Remote, form};
use crate::config::{FormConfig, Rate, SourceConfig};
use crate::private;

/// A sender, ready to receive.
pub struct InSource {
    /// Its name.
    pub name: Source,
    receiver: Receiver,
    form: Option<FormConfig>,
    limiter: Option<DefaultDirectRateLimiter>,
}

impl InSource {
    /// Of a source as it is configured. One without signatures has a limit though it says none.
    pub fn new(config: &SourceConfig, receiver: Receiver) -> Self {
        let usual = || {
            let count = NonZeroU32::new(UNSIGNED_A_MINUTE)?;
            config.unsigned.then_some(Rate { count, per: Duration::from_mins(1) })
        };
        let limiter = config.rate_limit.or_else(usual).and_then(|rate| {
            let each = rate.per.checked_div(rate.count.get())?;
            Some(RateLimiter::direct(Quota::with_period(each)?.allow_burst(rate.count)))
        });
        Self { name: config.name.clone(), receiver, form: config.form.clone(), limiter }
    }

    /// `Err`: too much has come, and how long to wait.
    fn within_rate(&self) -> Result<(), Duration> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        limiter.check().map_err(|not_until| not_until.wait_time_from(DefaultClock::default().now()))
    }
}

/// Answers whatever comes to `/in/{source}`.
pub(super) async fn receive(State(app): State<Arc<App>>, Path(name): Path<String>, request: Request) -> Response {
    let known = Source::new(&name).ok().filter(|name| app.sources.contains_key(name));
    let Some(name) = known else {
        return Problem::new(StatusCode::NOT_FOUND, "source_unknown").into_response();
    };
    let remote = request.extensions().get::<Remote>().map_or(IpAddr::from([0, 0, 0, 0]), |remote| remote.0);
    let (parts, body) = request.into_parts();
    let mut answered = judge(&app, &name, parts, body, remote).await;
    // Whoever looks at the log or the metrics knows whose it was.
    answered.extensions_mut().insert(name);
    answered
}

async fn judge(app: &Arc<App>, name: &Source, parts: Parts, body: Body, remote: IpAddr) -> Response {
    let source = &app.sources[name];
    let refuse = |code: RefusalCode, detail: &str| {
        app.refusals.note(name, code, detail, remote);
        Problem::of_refusal(status_of(code), code, detail)
    };
    if parts.method != axum::http::Method::POST {
        let head = parts.method == axum::http::Method::HEAD;
        let (url, headers) = (url_of(app, &parts), headers_of(&parts.headers));
        return match source.receiver.receive(&request_of(&parts, &url, &headers, b""), app.now()) {
            Outcome::Reply(reply) => reply_of(reply, head),
            // Without a body there is nothing to take.
            Outcome::Events(_) => StatusCode::OK.into_response(),
            Outcome::Refused(refused) => refuse(refused.code, &refused.detail).into_response(),
        };
    }
    if let Err(wait) = source.within_rate() {
        let problem = refuse(RefusalCode::RateLimited, "");
        return problem.retry_after(wait.as_secs() + 1).into_response();
    }
    if let Some(form) = &source.form
        && let Err(origin) = form::origin_allowed(form, &parts.headers)
    {
        return refuse(RefusalCode::OriginNotAllowed, &origin).into_response();
    }
    let whole = match body::read(app, &parts.headers, body, source.receiver.max_body_bytes()).await {
        Ok(whole) => whole,
        Err(NoBody::Refused(code, detail)) => {
            // What is not read must not be taken for the next request.
            return refuse(code, &detail).header(header::CONNECTION, close()).into_response();
        }
        Err(NoBody::Busy) => {
            return Problem::new(StatusCode::SERVICE_UNAVAILABLE, "server_busy")
                .retry_after(RETRY_AFTER_S)
                .header(header::CONNECTION, close())
                .into_response();
        }
        Err(NoBody::Gone) => return StatusCode::BAD_REQUEST.into_response(),
    };
    // A task of its own: what came whole enters though its sender goes away.
    let (app, name) = (Arc::clone(app), name.clone());
    let large = whole.bytes.len() > SMALL_BODY_BYTES;
    let entering = async move { enter(&app, &name, &parts, whole, remote).await };
    let entering = if large {
        // Reading it takes long enough to hold others up, who are served by the same few threads.
        let runtime = Handle::current();
        tokio::task::spawn_blocking(move || runtime.block_on(entering))
    } else {
        tokio::spawn(entering)
    };
    entering.await.unwrap_or_else(|_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "server_fault").into_response())
}

async fn enter(app: &App, name: &Source, parts: &Parts, whole: Whole, remote: IpAddr) -> Response {
    let source = &app.sources[name];
    let form = source.form.as_ref();
    if let Some(form) = form
        && form::is_trapped(form, &parts.headers, &whole.bytes)
    {
        // As if it had entered: who fills in everything learns nothing.
        app.refusals.note(name, RefusalCode::Honeypot, &format!("{} bytes", whole.received), remote);
        return form::thanks(form, Verdict::New)
            .unwrap_or_else(|| reply_of(source.receiver.answer(&[Verdict::New]), false));
    }
    let (url, headers) = (url_of(app, parts), headers_of(&parts.headers));
    let outcome = source.receiver.receive(&request_of(parts, &url, &headers, &whole.bytes), app.now());
    let found = match outcome {
        Outcome::Events(found) => found,
        Outcome::Reply(reply) => {
            if let Some(token) = &reply.token {
                keep_token(app, name, token);
            }
            return reply_of(reply, false);
        }
        Outcome::Refused(Refused { code, detail, status }) => {
            let told = if detail.is_empty() { String::new() } else { format!("{detail}; ") };
            app.refusals.note(name, code, &format!("{told}{} bytes", whole.received), remote);
            let problem = Problem::of_refusal(status, code, &detail);
            return if status == 401 { problem.header(header::WWW_AUTHENTICATE, signature()) } else { problem }
                .into_response();
        }
    };
    drop(headers);
    drop(whole);
    if found.len() > BATCH_MAX_EVENTS {
        let (code, detail) = (RefusalCode::TooManyEvents, found.len().to_string());
        app.refusals.note(name, code, &detail, remote);
        return Problem::of_refusal(status_of(code), code, &detail).into_response();
    }
    let times: Vec<_> = found.iter().filter_map(|found| found.time).collect();
    let members = deliveries(name, found, remote);
    let receipts = match app.gate.enter(members).await {
        Ok(receipts) => receipts,
        Err(error) => return Problem::of_store(&error).into_response(),
    };
    let verdicts: Vec<Verdict> = receipts.iter().map(|receipt| receipt.verdict).collect();
    for verdict in &verdicts {
        app.metrics.entered(name, *verdict);
    }
    let now = app.now();
    for time in times {
        app.metrics.late(name, time, now);
    }
    if let Some(form) = form
        && let Some(thanks) = form::thanks(form, verdicts.first().copied().unwrap_or(Verdict::New))
    {
        return thanks;
    }
    reply_of(source.receiver.answer(&verdicts), false)
}

/// A secret that a handshake brought goes to a private file beside the store, for the operator to put where the configuration looks
/// for it. It is told nowhere else.
fn keep_token(app: &App, name: &Source, token: &HandshakeToken) {
    let path = private::beside(&app.settings.db.base(), &format!("{name}.token"));
    match private::write(&path, token.reveal()) {
        Ok(()) => tracing::warn!(source = name.as_str(), file = %path.display(), "the secret of a handshake was kept"),
        Err(error) => tracing::error!(source = name.as_str(), %error, "the secret of a handshake could not be kept"),
    }
}

fn deliveries(name: &Source, found: Vec<Found>, remote: IpAddr) -> Vec<Intake> {
    let input: Arc<str> = format!("in/{name} from {remote}").into();
    let delivery = |(Found { id, content, event_type, time, body }, line)| {
        let origin = Origin { input: input.clone(), line };
        Intake::Delivery(Delivery { source: name.clone(), id, content, event_type, time, origin, body })
    };
    found.into_iter().zip(1..).map(delivery).collect()
}

fn headers_of(headers: &HeaderMap) -> Vec<Header<'_>> {
    headers.iter().map(|(name, value)| Header { name: name.as_str(), value: value.as_bytes() }).collect()
}

/// The address is the one that senders see: never what `Host` says, which a proxy may have changed.
fn url_of(app: &App, parts: &Parts) -> String {
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    match &app.settings.public_url {
        Some(public) => format!("{public}{path}"),
        None => format!("http://{}{path}", app.settings.listen),
    }
}

fn request_of<'a>(parts: &'a Parts, url: &'a str, headers: &'a [Header<'a>], body: &'a [u8]) -> WebhookRequest<'a> {
    WebhookRequest { method: parts.method.as_str(), url, headers, body }
}

fn reply_of(reply: Reply, head: bool) -> Response {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
    let body = if head { Vec::new() } else { reply.body };
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_TYPE);
    if let Some(content_type) = reply.content_type {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    for (name, value) in reply.headers {
        if let Ok(name) = HeaderName::try_from(name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    response
}

fn close() -> HeaderValue {
    HeaderValue::from_static("close")
}

fn signature() -> HeaderValue {
    HeaderValue::from_static("Signature")
}
