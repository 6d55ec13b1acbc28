//! Plain forms of browsers: which pages may send them, what tells a machine, and where the browser goes afterwards.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use cola_ia_core::verdict::Verdict;
use cola_ia_webhook::form_fields;

use crate::config::FormConfig;

/// Whether the page that sends the form is one of the source's. Browsers say it of each form that is posted, and a page cannot
/// change it.
///
/// # Errors
/// What was said instead.
pub(super) fn origin_allowed(form: &FormConfig, headers: &HeaderMap) -> Result<(), String> {
    if form.allowed_origins.is_empty() {
        return Ok(());
    }
    let line = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let said = line(header::ORIGIN).map(str::to_owned).or_else(|| line(header::REFERER).and_then(origin_of));
    match said {
        Some(origin) if form.allowed_origins.contains(&origin.to_ascii_lowercase()) => Ok(()),
        said => Err(said.unwrap_or_else(|| "no origin".to_owned())),
    }
}

/// `https://example.org:8443` of `https://example.org:8443/page?x`.
fn origin_of(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    Some(format!("{scheme}://{host}"))
}

/// Whether the field that people do not see is filled in. What cannot be read as a form is refused as that afterwards.
pub(super) fn is_trapped(form: &FormConfig, headers: &HeaderMap, body: &[u8]) -> bool {
    let Some(trap) = &form.honeypot else { return false };
    let content_type = headers.get(header::CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    let fields = form_fields(content_type, body).ok().flatten().unwrap_or_default();
    fields.iter().any(|(name, value)| name == trap && !value.trim().is_empty())
}

/// Sends the browser on, where the configuration says where to; never where the request says.
pub(super) fn thanks(form: &FormConfig, verdict: Verdict) -> Option<Response> {
    let address = form.thanks.as_deref()?;
    let location = HeaderValue::from_str(address).ok()?;
    let mut response = StatusCode::SEE_OTHER.into_response();
    response.headers_mut().insert(header::LOCATION, location);
    response.headers_mut().insert("x-cola-ia-result", HeaderValue::from_static(verdict.as_str()));
    Some(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> FormConfig {
        FormConfig {
            allowed_origins: vec!["https://example.org".to_owned()],
            honeypot: Some("website".to_owned()),
            thanks: Some("/gracias".to_owned()),
        }
    }

    fn headers(lines: &[(header::HeaderName, &'static str)]) -> HeaderMap {
        lines.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn a_form_of_another_page_is_told_apart() {
        let allowed = |lines: &[_]| origin_allowed(&form(), &headers(lines)).is_ok();
        assert!(allowed(&[(header::ORIGIN, "https://example.org")]));
        assert!(allowed(&[(header::REFERER, "https://example.org/page?x=1")]));
        assert!(!allowed(&[(header::ORIGIN, "https://evil.example"), (header::REFERER, "https://example.org/")]));
        assert!(!allowed(&[(header::ORIGIN, "null")]));
        assert!(!allowed(&[(header::ORIGIN, "https://example.org.evil.example")]));
        assert!(!allowed(&[]));
    }

    #[test]
    fn a_machine_is_told_by_the_field_that_nobody_sees() {
        let plain = headers(&[(header::CONTENT_TYPE, "application/x-www-form-urlencoded")]);
        assert!(is_trapped(&form(), &plain, b"texto=a&website=http%3A%2F%2Fspam"));
        assert!(!is_trapped(&form(), &plain, b"texto=a&website="));
        assert!(!is_trapped(&form(), &plain, b"texto=a"));
        let parts = headers(&[(header::CONTENT_TYPE, "multipart/form-data; boundary=X")]);
        let body = b"--X\r\nContent-Disposition: form-data; name=\"website\"\r\n\r\nspam\r\n--X--\r\n";
        assert!(is_trapped(&form(), &parts, body));
    }
}
