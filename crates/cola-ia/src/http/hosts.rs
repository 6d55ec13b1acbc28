//! Which hosts the server answers to: a page of another site whose name leads here (DNS rebinding) is refused.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::{App, Problem};
use crate::config::Settings;

/// Lets a request through whose `Host` is one of ours. Health checks of whatever name pass.
pub(super) async fn known(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let health = matches!(request.uri().path(), "/livez" | "/readyz");
    let mut lines = request.headers().get_all(header::HOST).iter();
    let host = lines.next().and_then(|host| host.to_str().ok()).filter(|_| lines.next().is_none());
    match host {
        _ if health => next.run(request).await,
        Some(host) if is_known(&app.settings, host) => next.run(request).await,
        Some(_) => Problem::new(StatusCode::MISDIRECTED_REQUEST, "host_not_allowed").into_response(),
        None => Problem::new(StatusCode::BAD_REQUEST, "host_missing").into_response(),
    }
}

/// Whether this is a name of the server's. An address is nobody's name: no other site can have it lead here.
fn is_known(settings: &Settings, host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let name = without_port(&host);
    let is_address = name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    let public = settings.public_url.as_deref().and_then(host_of);
    is_address
        || name == "localhost"
        || public.is_some_and(|public| public.eq_ignore_ascii_case(name))
        || settings.allowed_hosts.iter().any(|known| *known == host || *known == name)
}

/// The host of `https://HOST[:PORT][/…]`.
pub(super) fn host_of(url: &str) -> Option<&str> {
    let rest = url.split_once("://")?.1;
    Some(without_port(rest.split(['/', '?', '#']).next()?))
}

fn without_port(host: &str) -> &str {
    match (host.rsplit_once(':'), host.ends_with(']')) {
        (Some((name, port)), false) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_not_part_of_a_name() {
        for (host, name) in [
            ("a.example", "a.example"),
            ("a.example:80", "a.example"),
            ("[::1]", "[::1]"),
            ("[::1]:8787", "[::1]"),
            ("127.0.0.1:1", "127.0.0.1"),
        ] {
            assert_eq!(without_port(host), name);
        }
        assert_eq!(host_of("https://cola.example:8443/in"), Some("cola.example"));
    }
}
