//! Tokens, by the real binary.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use common::{Place, code, err, out};

#[test]
fn a_token_is_shown_once_and_kept_as_a_hash() {
    let place = Place::new();
    assert_eq!(code(&place.run(&["init"])), 0);
    let made = place.run(&[
        "--lang",
        "en",
        "token",
        "create",
        "site",
        "--scope",
        "ingest,read",
        "--source",
        "form",
        "--expires",
        "90d",
    ]);
    let token = out(&made).trim_end().to_owned();
    assert_eq!((code(&made), token.len()), (0, 47), "{}", err(&made));
    assert!(token.starts_with("cia_") && !err(&made).contains(&token), "{}", err(&made));
    for (name, bytes) in place.contents() {
        let bytes = bytes.unwrap_or_default();
        assert!(!bytes.windows(token.len()).any(|part| part == token.as_bytes()), "{name}");
    }
    let listed = out(&place.run(&["token", "list", "--json"]));
    assert!(
        listed.contains("\"name\":\"site\",\"state\":\"live\",\"scopes\":[\"ingest\",\"read\"],\"sources\":[\"form\"]"),
        "{listed}"
    );
    assert!(out(&place.run(&["--lang", "en", "token", "list"])).contains("live   ingest,read  form"));
    // A name is given once, revoked or not.
    for _ in 0..2 {
        assert_eq!(code(&place.run(&["token", "revoke", "site"])), 0);
        let again = place.run(&["token", "create", "site", "--scope", "read"]);
        assert!(code(&again) != 0 && again.stdout.is_empty(), "{}", err(&again));
    }
    assert!(out(&place.run(&["token", "list", "--json"])).contains("\"state\":\"revoked\""));
    assert!(err(&place.run(&["--lang", "en", "token", "revoke", "sit"])).contains("did you mean “site”?"));
}

#[test]
fn what_is_no_token_is_refused_before_anything_is_made() {
    let place = Place::new();
    assert_eq!(code(&place.run(&["init"])), 0);
    let cases: [&[&str]; 6] = [
        &["x"],
        &["x", "--scope", "everything"],
        &["x", "--scope", ","],
        &["x", "--scope", "ingest", "--source", "A"],
        &["x", "--scope", "read", "--expires", "soon"],
        &["x", "--scope", "read", "--expires", "0s"],
    ];
    for args in cases {
        let refused = place.run(&[&["token", "create"], args].concat());
        assert_eq!(code(&refused), 2, "{args:?}: {}", err(&refused));
        assert!(refused.stdout.is_empty());
    }
    let sourced = place.run(&["token", "create", "x", "--scope", "read", "--source", "form"]);
    assert!(code(&sourced) != 0 && sourced.stdout.is_empty(), "{}", err(&sourced));
    assert_eq!(out(&place.run(&["token", "list", "--json"])), "");
}
