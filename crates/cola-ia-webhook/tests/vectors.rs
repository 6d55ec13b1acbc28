//! Requests that providers published, and ones computed from the schemes: see fixtures/README.md.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::intake::RefusalCode;
use cola_ia_webhook::{Accepts, Header, Outcome, Places, Receiver, Request, Secret, Spec, catalogue};
use serde_json::Value;

fn vectors() -> Vec<Value> {
    serde_json::from_str(include_str!("fixtures/vectors.json")).unwrap()
}

/// A source that takes any body of the scheme, so that the signature alone decides.
fn open_spec(scheme: &str) -> Spec {
    Spec {
        id: Some(Places::One("sha256:body".into())),
        text: Some(Places::One("body".into())),
        event_type: Some(Places::None),
        time: Some(Places::None),
        each: Some(Places::None),
        accepts: Some(vec![Accepts::Json, Accepts::Form, Accepts::Text]),
        ..Spec::of(scheme)
    }
}

/// The instant that the request itself says, else any.
fn own_time(vector: &Value) -> Timestamp {
    if let Some(now) = vector["now"].as_i64() {
        return Timestamp::from_micros(now * 1_000_000);
    }
    let body = vector["body"].as_str().unwrap();
    let mut texts = vector["headers"].as_object().unwrap().values().filter_map(Value::as_str).chain([body]);
    // A number of 10 or 13 digits is a time of these years.
    let is_time = |run: &&str| matches!(run.len(), 10 | 13) && run.starts_with('1');
    let digits =
        texts.find_map(|text| text.split(|letter: char| !letter.is_ascii_digit()).find(is_time)).unwrap_or_default();
    let number: i64 = digits.parse().unwrap_or(0);
    Timestamp::from_micros(number * if digits.len() == 13 { 1_000 } else { 1_000_000 })
}

fn judge(vector: &Value) -> Outcome {
    let text = |name: &str| vector[name].as_str().unwrap_or_default();
    let spec = open_spec(text("scheme"));
    let secret = Secret::parse(&spec.resolve().unwrap(), text("secret").as_bytes()).unwrap();
    let receiver = Receiver::new(&spec, vec![secret], 1 << 20).unwrap();
    let body = text("body");
    let kind = match body.as_bytes()[0] {
        b'{' | b'[' => "application/json",
        _ if body.contains('=') => "application/x-www-form-urlencoded",
        _ => "text/plain",
    };
    let headers = vector["headers"].as_object().unwrap();
    let mut lines: Vec<Header<'_>> =
        headers.iter().map(|(name, value)| Header { name, value: value.as_str().unwrap().as_bytes() }).collect();
    if !headers.contains_key("content-type") {
        lines.push(Header { name: "Content-Type", value: kind.as_bytes() });
    }
    let url = vector["url"].as_str().unwrap_or(common::URL);
    receiver.receive(&Request { method: "POST", url, headers: &lines, body: body.as_bytes() }, own_time(vector))
}

#[test]
fn every_vector_is_judged_as_it_should_be() {
    for vector in vectors() {
        let outcome = judge(&vector);
        let label = format!("{}: {}", vector["scheme"], vector["why"]);
        match (vector["accepted"].as_bool().unwrap(), &outcome) {
            (true, Outcome::Events(_)) => {}
            // A handshake, whose signature is looked at before it is answered.
            (true, Outcome::Reply(reply)) if vector["scheme"] == "discord" => assert_eq!(reply.status, 200),
            // The vector of an unnamed author lacks the signed time that the body must have: its signature is good.
            (true, Outcome::Refused(refused)) if vector["scheme"] == "linear" && vector["body"] == "{\"id\":1}" => {
                assert_eq!(refused.code, RefusalCode::TimestampInvalid, "{label}");
            }
            (false, Outcome::Refused(refused)) => assert!(matches!(refused.status, 400 | 401), "{label}"),
            _ => panic!("{label}: {outcome:?}"),
        }
    }
}

#[test]
fn each_refusal_of_a_vector_has_its_reason() {
    let expected = [
        ("standard-webhooks", "webhook-id is missing", RefusalCode::IdMissing),
        ("standard-webhooks", "webhook-timestamp is missing", RefusalCode::TimestampInvalid),
        ("standard-webhooks", "webhook-signature is missing", RefusalCode::SignatureMissing),
        ("standard-webhooks", "another time with the old signature", RefusalCode::SignatureInvalid),
        ("svix", "a time before 1970", RefusalCode::TimestampInvalid),
        ("stripe", "500 seconds later", RefusalCode::TimestampOutside),
        ("stripe", "without the last line end", RefusalCode::SignatureInvalid),
        ("sendgrid", "without the last line end", RefusalCode::SignatureInvalid),
        ("sendgrid", "a time that is none", RefusalCode::TimestampInvalid),
        ("square", "a slash more in the address", RefusalCode::SignatureInvalid),
        ("twilio", "JSON that the hash is not of", RefusalCode::SignatureInvalid),
        ("twilio", "a form that says it is JSON", RefusalCode::SignatureInvalid),
    ];
    let vectors = vectors();
    for (scheme, why, code) in expected {
        let vector = vectors.iter().find(|vector| vector["scheme"] == scheme && vector["why"] == why).unwrap();
        assert_eq!(common::code(judge(vector)).0, code, "{scheme}: {why}");
    }
}

#[test]
fn the_official_vectors_of_the_known_providers_are_there() {
    let vectors = vectors();
    let official = |name: &str| vectors.iter().any(|vector| vector["scheme"] == name && vector["official"] == true);
    for name in [
        "standard-webhooks",
        "standard-webhooks-asymmetric",
        "svix",
        "openai",
        "github",
        "bitbucket",
        "jira",
        "stripe",
        "sanity",
        "slack",
        "square",
        "twilio",
        "sendgrid",
    ] {
        assert!(official(name), "{name}");
    }
    assert!(vectors.iter().all(|vector| catalogue().iter().any(|scheme| vector["scheme"] == scheme.name.as_str())));
}
