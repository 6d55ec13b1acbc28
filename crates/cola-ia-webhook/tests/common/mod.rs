//! Receivers and requests for tests.
#![allow(dead_code, clippy::unwrap_used, reason = "helpers of tests, of which each file uses a part")]

use cola_ia_core::clock::Timestamp;
use cola_ia_core::intake::RefusalCode;
use cola_ia_webhook::{
    Algorithm, Fallback, Found, Header, KeyForm, Outcome, Receiver, Refused, Reply, Request, Scheme, Secret,
    SignedRequest, Spec, find,
};

/// 2025-06-15T15:06:40Z.
pub(crate) const NOW: Timestamp = Timestamp::from_micros(1_750_000_000_000_000);
pub(crate) const URL: &str = "https://hooks.example/in/x";

/// So many seconds after [`NOW`].
pub(crate) fn seconds(after: i64) -> Timestamp {
    Timestamp::from_micros(NOW.as_micros() + after * 1_000_000)
}

/// A secret of the scheme's form, one of several.
pub(crate) fn raw_secret(scheme: &Scheme, which: u8) -> String {
    let digit = char::from(b'a' + which);
    match scheme.key {
        KeyForm::Utf8 => format!("top-secret-{digit}"),
        KeyForm::Base64 => format!("c2VjcmV0c2VjcmV0c2VjcmV0{digit}A=="),
        KeyForm::WhsecBase64 => format!("whsec_c2VjcmV0c2VjcmV0c2VjcmV0{digit}A=="),
        KeyForm::Hex => format!("00112233445566778899aabbccddeef{digit}"),
        KeyForm::WhpkBase64 | KeyForm::SpkiBase64 => unreachable!("public keys are made from private ones"),
    }
}

pub(crate) fn secret(scheme: &Scheme, which: u8) -> Secret {
    Secret::parse(scheme, raw_secret(scheme, which).as_bytes()).unwrap()
}

/// The source that needs least: the scheme, and its documented id where it has none.
pub(crate) fn spec(name: &str) -> Spec {
    let scheme = find(name).unwrap_or_else(|| panic!("no scheme {name}"));
    let fallback_id = scheme.id.as_slice().is_empty().then_some(Fallback::Documented);
    Spec { unsigned: scheme.algorithm == Algorithm::None, fallback_id, ..Spec::of(name) }
}

/// A source from its configuration.
pub(crate) fn spec_of(toml: &str) -> Spec {
    toml::from_str(toml).unwrap()
}

pub(crate) fn receiver(spec: &Spec) -> Receiver {
    let scheme = spec.resolve().unwrap();
    let secrets = if scheme.algorithm == Algorithm::None { vec![] } else { vec![secret(&scheme, 0)] };
    Receiver::new(spec, secrets, 1 << 20).unwrap()
}

/// A POST with these headers.
pub(crate) fn post(receiver: &Receiver, headers: &[(&str, &str)], body: &[u8], now: Timestamp) -> Outcome {
    let lines: Vec<Header<'_>> = headers.iter().map(|(name, value)| Header { name, value: value.as_bytes() }).collect();
    receiver.receive(&Request { method: "POST", url: URL, headers: &lines, body }, now)
}

/// What a signed request is.
pub(crate) fn take(receiver: &Receiver, signed: &SignedRequest, now: Timestamp) -> Outcome {
    let lines = signed.lines();
    receiver.receive(&Request { method: signed.method, url: &signed.url, headers: &lines, body: &signed.body }, now)
}

/// Signs this body as the receiver's first secret does, adds these headers, and takes it.
pub(crate) fn signed(receiver: &Receiver, headers: &[(&str, &str)], body: &[u8]) -> Outcome {
    take(receiver, &sign(receiver, headers, body), NOW)
}

pub(crate) fn sign(receiver: &Receiver, headers: &[(&str, &str)], body: &[u8]) -> SignedRequest {
    let sample = cola_ia_webhook::Sample { url: URL, id: "s1", text: "a text", event_type: "kind", body: Some(body) };
    let key = secret(receiver.scheme(), 0);
    let mut request = receiver.sign(&sample, NOW, &key).unwrap();
    for (name, value) in headers {
        request.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        request.headers.push(((*name).to_owned(), (*value).to_owned()));
    }
    request
}

#[track_caller]
pub(crate) fn events(outcome: Outcome) -> Vec<Found> {
    match outcome {
        Outcome::Events(events) => events,
        other => panic!("no events: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn event(outcome: Outcome) -> Found {
    let mut events = events(outcome);
    assert_eq!(events.len(), 1);
    events.remove(0)
}

#[track_caller]
pub(crate) fn refused(outcome: Outcome) -> Refused {
    match outcome {
        Outcome::Refused(refused) => refused,
        other => panic!("not refused: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn code(outcome: Outcome) -> (RefusalCode, u16) {
    let refused = refused(outcome);
    (refused.code, refused.status)
}

#[track_caller]
pub(crate) fn reply(outcome: Outcome) -> Reply {
    match outcome {
        Outcome::Reply(reply) => reply,
        other => panic!("no reply: {other:?}"),
    }
}
