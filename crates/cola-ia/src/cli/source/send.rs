//! `source test`: a signed sample for the running server.

use std::net::IpAddr;
use std::time::Duration;

use cola_ia_core::clock::{Clock as _, SystemClock, SystemEntropy};
use cola_ia_webhook::{Sample, Secret, SignFault, SignedRequest};
use cola_ia_wire::{SampleLine, VERSION};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

use super::{TestSource, configured, reachable, url_of};
use crate::cli::add::push_json;
use crate::cli::{Exit, Problem, Session, id, print};
use crate::config::{Settings, SourceConfig};
use crate::lang::Message;
use crate::print::{id_on_a_line, safe_line};

/// How long the whole exchange may take.
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// Of an answer no more is read.
const ANSWER_MAX_BYTES: usize = 64 << 10;

/// Sends the sample and prints what became of it.
///
/// # Errors
/// It cannot be signed; the server cannot be reached, or did not take it; stdout cannot be written.
pub(super) fn run(session: &Session, options: &TestSource, settings: &Settings) -> Result<Exit, Problem> {
    let source = configured(settings, &options.source)?;
    let opened = source.open(&session.environment, settings.max_text_bytes)?;
    let to = target(options, settings)?;
    // What the server takes for its own address is in its settings, wherever it is reached.
    let signed_url = url_of(settings, &source.name);
    let text = options.text.clone().unwrap_or_else(|| session.lang.t("sample-text", &[]));
    // Where nothing is signed, no secret is used.
    let secret = opened.secrets.first().cloned().or_else(|| Secret::token(b"-").ok());
    let Some(secret) = secret.filter(|_| source.unsigned || !opened.secrets.is_empty()) else {
        return Err(Problem::failed(Message::new("source-no-secret")).hint(Message::new("source-secret-hint")));
    };
    let sign = |id: &str| {
        let sample = Sample { url: &signed_url, id, text: &text, event_type: "test", body: None };
        opened.receiver.sign(&sample, SystemClock.now(), &secret)
    };
    let mut id = options.id.clone().unwrap_or_else(|| new_id("test-"));
    let mut signed = sign(&id);
    if signed == Err(SignFault::IdNotANumber) && options.id.is_none() {
        id = SystemClock.now().as_micros().to_string();
        signed = sign(&id);
    }
    let request = signed.map_err(|fault| unsignable(fault, &source.name.to_string()))?;
    let (status, body) = exchange(&to, &request, source)?;
    let verdict = verdict_in(&body);
    if options.json {
        let mut out = String::new();
        let line = SampleLine {
            v: VERSION,
            source: source.name.as_str().into(),
            id: id.as_str().into(),
            status,
            verdict: verdict.map(Into::into),
        };
        push_json(&mut out, &line);
        print(&out)?;
    } else if let Some(verdict) = verdict {
        let verdict = session.lang.verdict(verdict_of(verdict));
        print(&format!("{} {verdict}\n", id_on_a_line(&id)))?;
    }
    // A redirect of a form's page is its thanks.
    let taken = (200..300).contains(&status) || (source.form.is_some() && status == 303);
    if taken || verdict == Some("conflict") {
        session.note(&Message::new("sample-taken").with("url", &to).with("status", status));
        session.hint(&Message::new("sample-again-hint").with("source", &source.name).with("id", id_on_a_line(&id)));
        return Ok(Exit::Done);
    }
    let said: String = String::from_utf8_lossy(&body).chars().take(300).collect();
    let message = Message::new("sample-refused").with("url", &to).with("status", status).with("said", safe_line(&said));
    Err(Problem::failed(message).hint(Message::new("sample-refused-hint")))
}

fn new_id(prefix: &str) -> String {
    let mut out = prefix.to_owned();
    id::push_ids(&mut out, 1, &SystemClock, &SystemEntropy);
    out.trim_end().to_owned()
}

fn unsignable(fault: SignFault, source: &str) -> Problem {
    let key = match fault {
        SignFault::Asymmetric => "sample-asymmetric",
        SignFault::IdNotANumber => "sample-id-not-a-number",
        SignFault::SignatureInBody | SignFault::NotSignable => "sample-not-signable",
    };
    let problem = Problem::failed(Message::new(key).with("source", source));
    if fault == SignFault::Asymmetric { problem.hint(Message::new("sample-asymmetric-hint")) } else { problem }
}

/// Where it is sent: `--url` (the server's address, with `/in/NAME` or without), else as the settings say.
fn target(asked: &TestSource, settings: &Settings) -> Result<String, Problem> {
    let path = format!("/in/{}", asked.source);
    let base = match &asked.url {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None => settings.public_url.clone().unwrap_or_else(|| format!("http://{}", reachable(settings))),
    };
    let url = if base.ends_with(&path) { base } else { base + &path };
    let refused = |key: &'static str| Problem::usage(Message::new(key).with("url", &url));
    let parsed: hyper::Uri = url.parse().map_err(|_| refused("sample-not-a-url"))?;
    let (Some(scheme), Some(host)) = (parsed.scheme_str(), parsed.host()) else {
        return Err(refused("sample-not-a-url"));
    };
    let unbracketed = host.trim_start_matches('[').trim_end_matches(']');
    let here = unbracketed == "localhost" || unbracketed.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    match scheme {
        "https" => Ok(url),
        "http" if here => Ok(url),
        "http" => Err(refused("sample-not-https")),
        _ => Err(refused("sample-not-a-url")),
    }
}

/// The server's status and the beginning of what it said. Redirects are not followed: they would carry the sample elsewhere.
fn exchange(to: &str, signed: &SignedRequest, source: &SourceConfig) -> Result<(u16, Vec<u8>), Problem> {
    let failed = |cause: String| {
        Problem::failed(Message::new("sample-unreachable").with("url", to).with("cause", cause))
            .hint(Message::new("sample-unreachable-hint"))
    };
    // What the scheme added to the address is sent too.
    let query = signed.url.split_once('?').map_or_else(String::new, |(_, query)| format!("?{query}"));
    let mut request = hyper::Request::builder().method(signed.method).uri(format!("{to}{query}"));
    for (name, value) in &signed.headers {
        request = request.header(name, value);
    }
    if let Some(origin) = source.form.as_ref().and_then(|form| form.allowed_origins.first()) {
        request = request.header("origin", origin);
    }
    let body = Full::new(Bytes::from(signed.body.clone()));
    let request = request.body(body).map_err(|error| failed(error.to_string()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(error.to_string()))?;
    runtime.block_on(async {
        let connector = hyper_rustls::HttpsConnectorBuilder::new().with_native_roots();
        let connector = connector.map_err(|error| failed(error.to_string()))?.https_or_http().enable_http1().build();
        let client = Client::builder(TokioExecutor::new()).build(connector);
        let exchanged = tokio::time::timeout(TIME_LIMIT, async {
            let answer = client.request(request).await.map_err(|error| failed(root_cause(&error)))?;
            let status = answer.status().as_u16();
            // An answer that is too long, or breaks off, has said its status all the same.
            let body = Limited::new(answer.into_body(), ANSWER_MAX_BYTES).collect().await;
            Ok((status, body.map(|body| body.to_bytes().to_vec()).unwrap_or_default()))
        });
        exchanged.await.unwrap_or_else(|_| Err(failed(format!("{} s", TIME_LIMIT.as_secs()))))
    })
}

/// The innermost cause says most.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

fn verdict_in(body: &[u8]) -> Option<&'static str> {
    let answer: serde_json::Value = serde_json::from_slice(body).ok()?;
    let word = answer.get("result")?.as_str()?;
    ["new", "duplicate", "conflict"].into_iter().find(|known| *known == word)
}

fn verdict_of(word: &str) -> cola_ia_core::verdict::Verdict {
    use cola_ia_core::verdict::Verdict;
    match word {
        "duplicate" => Verdict::Duplicate,
        "conflict" => Verdict::Conflict,
        _ => Verdict::New,
    }
}
