//! The page at `/`: what this is, and, for who has logged in, how many there are of what.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use cola_ia_core::filter::Filter;
use cola_ia_core::job::JobState;
use cola_ia_core::store::{Stats, TokenScope};
use cola_ia_core::verdict::Verdict;

use super::login::{same_origin, set_cookie};
use super::{App, Problem};
use crate::lang::{Lang, Language, Message};

/// The most of a form that is read.
pub(super) const FORM_MAX_BYTES: usize = 4 * 1024;
/// Sources that the page shows.
const SOURCES_MAX: usize = 100;

/// No script, nothing from elsewhere, in nobody's frame; and the link's code goes nowhere.
const HEADERS: [(&str, &str); 6] = [
    ("content-type", "text/html; charset=utf-8"),
    (
        "content-security-policy",
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    ),
    ("cache-control", "no-store"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("vary", "accept-language, cookie"),
];

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#222;\
background:#fff}table{border-collapse:collapse;margin:1rem 0}th,td{padding:.2rem .8rem .2rem 0;text-align:right}\
th:first-child,td:first-child{text-align:left}button{font:inherit;padding:.3rem 1rem}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}}";

/// `GET /`
pub(super) async fn show(State(app): State<Arc<App>>, method: Method, headers: HeaderMap) -> Result<Response, Problem> {
    let lang = lang_of(&headers);
    let caller = app.login.caller(&method, &headers, app.now())?;
    let mut body = String::new();
    paragraph(&mut body, &lang, &Message::new("page-what"));
    if caller.is_some_and(|caller| caller.allows(TokenScope::Read)) {
        let stats = app.store.stats(Filter::default()).await.map_err(|error| Problem::of_store(&error))?;
        counts(&mut body, &lang, &stats);
        let label = escape(&Message::new("page-leave").in_prose(&lang));
        let _ = write!(body, "<form method=\"post\" action=\"/logout\"><button>{label}</button></form>");
    } else {
        paragraph(&mut body, &lang, &Message::new("page-login"));
    }
    Ok(page(StatusCode::OK, &lang, &body))
}

/// The link's code.
#[derive(serde::Deserialize)]
pub(super) struct Code {
    #[serde(default)]
    code: String,
}

/// `GET /login`: a button. Whoever only looks at the link, as programs do that check it, uses nothing up.
pub(super) async fn ask(Query(Code { code }): Query<Code>, headers: HeaderMap) -> Response {
    let lang = lang_of(&headers);
    let mut body = String::new();
    paragraph(&mut body, &lang, &Message::new("page-code"));
    let (code, label) = (escape(&code), escape(&Message::new("page-enter").in_prose(&lang)));
    let _ = write!(
        body,
        "<form method=\"post\" action=\"/login\"><input type=\"hidden\" name=\"code\" value=\"{code}\">\
         <button>{label}</button></form>"
    );
    page(StatusCode::OK, &lang, &body)
}

/// `POST /login`: the code is used up, and a session begins.
pub(super) async fn enter(State(app): State<Arc<App>>, headers: HeaderMap, body: String) -> Result<Response, Problem> {
    same_origin(&headers)?;
    let code = form_urlencoded::parse(body.as_bytes()).find(|(name, _)| name == "code").map(|(_, value)| value);
    let lang = lang_of(&headers);
    let Some(cookie) = app.login.open(&code.unwrap_or_default(), &*app.entropy, app.now()) else {
        let mut body = String::new();
        paragraph(&mut body, &lang, &Message::new("page-code-spent"));
        return Ok(page(StatusCode::FORBIDDEN, &lang, &body));
    };
    let https = app.settings.public_url.as_deref().is_some_and(|url| url.starts_with("https:"));
    Ok(home([(header::SET_COOKIE, set_cookie(&cookie, https))]))
}

/// `POST /logout`: the session ends.
pub(super) async fn leave(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Problem> {
    same_origin(&headers)?;
    app.login.close(&headers);
    Ok(home([]))
}

fn home<const N: usize>(lines: [(HeaderName, HeaderValue); N]) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static("/"));
    response.headers_mut().extend(lines);
    response
}

fn counts(out: &mut String, lang: &Lang, stats: &Stats) {
    let heads = Verdict::ALL.map(|verdict| lang.verdict(verdict)).into_iter();
    let heads: Vec<_> = heads.chain(JobState::ALL.map(|state| lang.state(state))).collect();
    let _ = write!(out, "<table><tr><th></th>");
    for head in heads {
        let _ = write!(out, "<th>{}</th>", escape(&head.replace('_', " ")));
    }
    let _ = write!(out, "</tr>");
    let mut row = |name: &str, group: &cola_ia_core::store::StatsGroup| {
        let _ = write!(out, "<tr><td>{}</td>", escape(name));
        for count in group.deliveries.iter().chain(&group.jobs) {
            let _ = write!(out, "<td>{count}</td>");
        }
        let _ = write!(out, "</tr>");
    };
    for group in stats.groups.iter().take(SOURCES_MAX) {
        row(group.source.as_ref().map_or("-", |source| source.as_str()), group);
    }
    row(&Message::new("page-total").in_prose(lang), &stats.total);
    let _ = write!(out, "</table>");
}

fn paragraph(out: &mut String, lang: &Lang, message: &Message) {
    let _ = write!(out, "<p>{}</p>", escape(&message.in_prose(lang)));
}

fn page(status: StatusCode, lang: &Lang, body: &str) -> Response {
    let tag = lang.choice().prose.tag();
    let html = format!(
        "<!doctype html><html lang=\"{tag}\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>cola-ia</title><style>{STYLE}</style>\
         <h1>cola-ia</h1>{body}</html>"
    );
    let mut response = (status, html).into_response();
    for (name, value) in HEADERS {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

/// `<`, `>`, `&` and quotation marks mean nothing any more.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// The language that the browser prefers among those that there are; English where it names none of them.
fn lang_of(headers: &HeaderMap) -> Lang {
    let line = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    Lang::only(preferred(line))
}

fn preferred(line: &str) -> Language {
    let mut best: Option<(f32, Language)> = None;
    for range in line.split(',') {
        let (tag, weight) = range.split_once(';').unwrap_or((range, "q=1"));
        let tag = tag.trim().split('-').next().unwrap_or_default().to_ascii_lowercase();
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse().ok()).unwrap_or(0.0);
        if let Some(language) = Language::from_tag(&tag)
            && weight > best.map_or(0.0, |(best, _)| best)
        {
            best = Some((weight, language));
        }
    }
    best.map_or(Language::English, |(_, language)| language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browser_chooses_the_language() {
        for (line, language) in [
            ("", Language::English),
            ("es", Language::Spanish),
            ("es-ES,es;q=0.9,en;q=0.8", Language::Spanish),
            ("en-GB;q=0.7, ES-mx;q=0.8", Language::Spanish),
            ("de,en;q=0.5,es;q=0.4", Language::English),
            ("es;q=0,fr", Language::English),
            ("es;q=x", Language::English),
        ] {
            assert_eq!(preferred(line), language, "{line}");
        }
    }

    #[test]
    fn nothing_of_a_name_is_markup() {
        assert_eq!(escape("<a b='c'>&\"d"), "&lt;a b=&#39;c&#39;&gt;&amp;&quot;d");
    }

    #[tokio::test]
    async fn the_code_comes_back_as_text_alone() {
        let response = ask(Query(Code { code: "\"><script>".to_owned() }), HeaderMap::new()).await;
        assert!(response.headers()["content-security-policy"].to_str().unwrap().starts_with("default-src 'none'"));
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let body = String::from_utf8(body.to_vec()).unwrap();
        assert!(body.contains("value=\"&quot;&gt;&lt;script&gt;\"") && !body.contains("<script"), "{body}");
    }
}
