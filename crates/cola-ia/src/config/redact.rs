//! Secrets are not printed.

/// What stands for a secret.
pub(crate) const REDACTED: &str = "***";

/// The text with the password of a URL in it (`scheme://user:password@host`, `?password=…`) replaced.
pub fn redact_url(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        return text.to_owned();
    };
    let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
    let authority_end = place.find('/').unwrap_or(place.len());
    // A password may hold `/` or `@` unescaped by mistake: the last `@` anywhere ends it.
    let place = match place.rfind('@') {
        Some(at) => match place[..at].split_once(':') {
            Some((user, _)) => format!("{user}:{REDACTED}{}", &place[at..]),
            None if at < authority_end => place.to_owned(),
            None => format!("{REDACTED}{}", &place[at..]),
        },
        None => place.to_owned(),
    };
    let query = query.map(|query| query.split('&').map(redact_pair).collect::<Vec<_>>().join("&"));
    match query {
        Some(query) => format!("{scheme}://{place}?{query}"),
        None => format!("{scheme}://{place}"),
    }
}

fn redact_pair(pair: &str) -> String {
    match pair.split_once('=') {
        Some((name, _)) if name.to_ascii_lowercase().contains("pass") => format!("{name}={REDACTED}"),
        _ => pair.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_an_address_is_never_shown() {
        let cases = [
            ("cola_ia.sqlite3", "cola_ia.sqlite3"),
            ("postgres://db.example/cola", "postgres://db.example/cola"),
            ("postgres://ana@db.example/cola", "postgres://ana@db.example/cola"),
            ("postgres://ana:s3cret@db.example:5432/cola", "postgres://ana:***@db.example:5432/cola"),
            ("postgres://ana:s3/cr@et@db.example/cola", "postgres://ana:***@db.example/cola"),
            ("postgres://db/cola?user=ana&password=s3cret&x=1", "postgres://db/cola?user=ana&password=***&x=1"),
            ("postgres://:s3cret@db", "postgres://:***@db"),
        ];
        for (address, shown) in cases {
            assert_eq!(redact_url(address), shown);
        }
    }
}
