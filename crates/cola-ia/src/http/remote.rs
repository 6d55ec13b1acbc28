//! Where a request comes from: the connection's other end, or whom a proxy that is trusted names.

use std::net::IpAddr;

use axum::http::HeaderMap;

/// What proxies write their clients' addresses to, each behind those that it was given.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// Where a request comes from, as far as we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remote(pub IpAddr);

impl Remote {
    /// Of a request on a connection from `peer`. Anybody can write such a header, so it is read from its end, and only as far as
    /// those go who are trusted: the first one who is not is where it comes from.
    pub(super) fn of(peer: IpAddr, headers: &HeaderMap, trusted: &[IpAddr]) -> Self {
        let is_trusted = |address: &IpAddr| trusted.iter().any(|one| one.to_canonical() == *address);
        let mut remote = peer.to_canonical();
        let lines = headers.get_all(FORWARDED_FOR).iter().rev();
        let mut named = lines.flat_map(|line| line.to_str().unwrap_or_default().rsplit(','));
        while is_trusted(&remote)
            && let Some(Ok(next)) = named.next().map(|text| text.trim().parse::<IpAddr>())
        {
            remote = next.to_canonical();
        }
        Self(remote)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_trusted_proxy_says_is_believed() {
        let trusted = ["127.0.0.1", "10.0.0.7"].map(|text| text.parse().unwrap());
        for (peer, lines, expected) in [
            ("192.0.2.1", &[][..], "192.0.2.1"),
            ("192.0.2.1", &["203.0.113.5"], "192.0.2.1"),
            ("127.0.0.1", &[], "127.0.0.1"),
            ("127.0.0.1", &["203.0.113.5"], "203.0.113.5"),
            ("::ffff:127.0.0.1", &["203.0.113.5"], "203.0.113.5"),
            // What a sender wrote itself stands in front.
            ("127.0.0.1", &["198.51.100.9, 203.0.113.5"], "203.0.113.5"),
            ("127.0.0.1", &["198.51.100.9", "2001:db8::1, 10.0.0.7"], "2001:db8::1"),
            ("127.0.0.1", &["10.0.0.7"], "10.0.0.7"),
            ("127.0.0.1", &["203.0.113.5, unknown"], "127.0.0.1"),
            ("127.0.0.1", &["203.0.113.5:4711"], "127.0.0.1"),
        ] {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(FORWARDED_FOR, line.parse().unwrap());
            }
            let remote = Remote::of(peer.parse().unwrap(), &headers, &trusted);
            assert_eq!(remote.0.to_string(), expected, "{peer} {lines:?}");
        }
    }
}
