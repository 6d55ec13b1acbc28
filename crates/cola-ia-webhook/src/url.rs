//! The spellings of an address that a sender may have signed.

use crate::scheme::Scheme;

/// The address as it is, and as the scheme's senders are known to write it otherwise.
pub(crate) fn spellings(scheme: &Scheme, url: &str) -> Vec<String> {
    let mut spellings = vec![url.to_owned()];
    if scheme.url_ports {
        spellings.extend(other_port(url));
    }
    if !scheme.url_decoded.is_empty() {
        let decoded = decoded(url, &scheme.url_decoded);
        if !spellings.contains(&decoded) {
            spellings.push(decoded);
        }
    }
    spellings
}

/// The address without the port that its scheme has by default, or with it.
fn other_port(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let port = match scheme {
        "https" => ":443",
        "http" => ":80",
        _ => return None,
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let has_port = host.rsplit_once(']').map_or(host, |(_, rest)| rest).contains(':');
    match authority.strip_suffix(port) {
        Some(bare) if has_port => Some(format!("{scheme}://{bare}{path}")),
        _ if has_port => None,
        _ => Some(format!("{scheme}://{authority}{port}{path}")),
    }
}

/// The address with these characters written as they are.
fn decoded(url: &str, characters: &str) -> String {
    let mut decoded = String::with_capacity(url.len());
    let mut rest = url;
    while let Some(at) = rest.find('%') {
        decoded.push_str(&rest[..at]);
        let byte = rest.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok()).map(char::from);
        if let Some(character) = byte.filter(|character| characters.contains(*character)) {
            decoded.push(character);
            rest = &rest[at + 3..];
        } else {
            decoded.push('%');
            rest = &rest[at + 1..];
        }
    }
    decoded + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_port_is_put_in_or_taken_away() {
        let cases = [
            ("https://a.example/x?y=:443", Some("https://a.example:443/x?y=:443")),
            ("https://a.example:443/x", Some("https://a.example/x")),
            ("http://u:p@a.example", Some("http://u:p@a.example:80")),
            ("http://[::1]/x", Some("http://[::1]:80/x")),
            ("https://a.example:8443/x", None),
            ("http://a.example:443/x", None),
            ("nothing", None),
        ];
        for (url, expected) in cases {
            assert_eq!(other_port(url).as_deref(), expected, "{url}");
        }
        assert_eq!(decoded("/a%3Ab%2f%41%", ":/"), "/a:b/%41%");
    }
}
