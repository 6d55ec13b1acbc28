//! What must be true of any request at all. The fuzzer and the generated tests call the same.

use std::sync::LazyLock;

use cola_ia_core::clock::Timestamp;

use crate::outcome::Outcome;
use crate::receiver::Receiver;
use crate::request::{Header, Request};
use crate::sample::Sample;
use crate::scheme::{Algorithm, KeyForm, catalogue};
use crate::secret::Secret;
use crate::spec::{Fallback, Format, Spec};

/// The secret of the receivers that are tried, which must never be seen. It is decoded as each scheme says.
const SECRET: &str = "whsec_NotToBeSeenNotToBeSeenNotToBeSeenNotToBeSeen";

static RECEIVERS: LazyLock<Vec<(Receiver, Secret)>> = LazyLock::new(|| {
    let mut receivers = Vec::new();
    for scheme in catalogue() {
        for format in [None, Some(Format::CloudEvents)] {
            let mut spec = Spec { format, unsigned: scheme.algorithm == Algorithm::None, ..Spec::of(&scheme.name) };
            if spec.resolve().is_err() {
                spec.fallback_id = Some(Fallback::Documented);
            }
            let secret = Secret::parse(scheme, key_of(scheme.key).as_bytes());
            if let (Ok(_), Ok(secret)) = (spec.resolve(), secret)
                && let Ok(receiver) = Receiver::new(&spec, vec![secret.clone()], 1 << 16)
            {
                receivers.push((receiver, secret));
            }
        }
    }
    receivers
});

fn key_of(form: KeyForm) -> &'static str {
    match form {
        KeyForm::Utf8 | KeyForm::WhsecBase64 => SECRET,
        KeyForm::Base64 => "NotToBeSeenNotToBeSeenNotToBeSeenNotToBeSeen",
        KeyForm::Hex => "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        KeyForm::WhpkBase64 => "whpk_ZlN4eg7dSSqi0moX9hQUk3orrOouK3QVQSlJa248c/g=",
        KeyForm::SpkiBase64 => {
            "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g=="
        }
    }
}

/// Takes any bytes for a request to any scheme, once as they are and once signed, and checks what holds of all.
///
/// The first line is the name of a scheme, or any bytes for one; then comes a byte that chooses what is done, and from the next on
/// lines of a header up to an empty one, and the body.
///
/// # Panics
/// If something does not hold: a panic is what the fuzzer looks for.
pub fn fuzz_one(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let [b'\n', choice, rest @ ..] = &data[end..] else {
        return;
    };
    let (receiver, secret) = receiver_of(&data[..end], choice & 16 != 0);
    let now = Timestamp::from_micros(1_750_000_000_000_000);
    let (head, body) =
        rest.windows(2).position(|pair| pair == b"\n\n").map_or((&b""[..], rest), |at| (&rest[..at], &rest[at + 2..]));
    let mut headers: Vec<Header<'_>> = head
        .split(|byte| *byte == b'\n')
        .filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            Some(Header { name: std::str::from_utf8(&line[..colon]).ok()?, value: &line[colon + 1..] })
        })
        .collect();
    let url = format!("https://hooks.example/in/x?{}", String::from_utf8_lossy(&rest[..rest.len().min(40)]));
    let method = ["POST", "POST", "POST", "GET"][*choice as usize % 4];
    check(receiver, &Request { method, url: &url, headers: &headers, body }, now);
    // The same bytes behind a good signature, so that what comes after it is reached.
    let sample = Sample { url: &url, id: "7", text: "a text", event_type: "kind", body: Some(body) };
    if let Ok(signed) = receiver.sign(&sample, now, secret) {
        headers.retain(|line| choice & 4 == 0 || !line.name.eq_ignore_ascii_case("content-type"));
        let own = |name: &str| headers.iter().any(|line| line.name.eq_ignore_ascii_case(name));
        let lines: Vec<Header<'_>> = signed
            .lines()
            .into_iter()
            .filter(|line| choice & 8 == 0 || !own(line.name))
            .chain(headers.iter().copied())
            .collect();
        check(receiver, &Request { method: "POST", url: &signed.url, headers: &lines, body }, now);
    }
}

/// The receiver of this scheme, of events as the scheme has them or of CloudEvents; where there is none, any.
fn receiver_of(name: &[u8], cloud_events: bool) -> &'static (Receiver, Secret) {
    let mut named = RECEIVERS.iter().filter(|(receiver, _)| receiver.scheme().name.as_bytes() == name);
    let number = name.iter().fold(0_usize, |number, byte| number.wrapping_mul(256).wrapping_add(usize::from(*byte)));
    let any = &RECEIVERS[number % RECEIVERS.len()];
    let first = named.next().unwrap_or(any);
    if cloud_events { named.next().unwrap_or(first) } else { first }
}

fn check(receiver: &Receiver, request: &Request<'_>, now: Timestamp) {
    let outcome = receiver.receive(request, now);
    assert_eq!(outcome, receiver.receive(request, now), "the same request is the same again");
    let steps = receiver.explain(request, now);
    let last = steps.last().expect("there is a last step");
    match &outcome {
        Outcome::Events(events) => {
            assert_eq!(last.code, "accepted");
            assert!(events.len() <= crate::EVENTS_MAX);
        }
        Outcome::Reply(reply) => {
            assert_eq!(last.code, "reply");
            assert!((200..=405).contains(&reply.status));
        }
        Outcome::Refused(refused) => {
            assert_eq!(last.code, "refused");
            assert!(matches!(refused.status, 400 | 401 | 413 | 415));
            assert!(!refused.detail.contains("NotToBeSeen"), "{}", refused.detail);
        }
    }
    for (name, value) in steps.iter().flat_map(|step| &step.facts) {
        // What the request itself says may be shown.
        let sent = request.url.contains("NotToBeSeen")
            || request.body.windows(11).any(|part| part == b"NotToBeSeen")
            || request.headers.iter().any(|line| line.value.windows(11).any(|part| part == b"NotToBeSeen"));
        assert!(sent || !value.contains("NotToBeSeen"), "{name} shows the secret");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_scheme_is_tried() {
        for scheme in catalogue() {
            assert!(RECEIVERS.iter().any(|(receiver, _)| receiver.scheme().name == scheme.name), "{}", scheme.name);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_strange(scheme in any::<u8>(), choice in any::<u8>(), rest in any::<Vec<u8>>()) {
            fuzz_one(&[&[scheme, b'\n', choice][..], &rest].concat());
        }

        #[test]
        fn no_headers_and_no_json_are_too_strange(
            scheme in any::<u8>(),
            choice in any::<u8>(),
            headers in prop::collection::vec(
                (
                    prop::sample::select(vec![
                        "content-type", "webhook-id", "webhook-timestamp", "webhook-signature", "svix-id", "x-hub-signature-256",
                        "x-github-delivery", "stripe-signature", "authorization", "ce-id", "ce-source", "ce-specversion", "ce-type",
                    ]),
                    prop_oneof![
                        Just("application/json".to_owned()),
                        Just("application/x-www-form-urlencoded".to_owned()),
                        Just("multipart/form-data; boundary=B".to_owned()),
                        Just("application/cloudevents+json".to_owned()),
                        Just("application/cloudevents-batch+json".to_owned()),
                        Just("1.0".to_owned()),
                        r"[ -~]{0,40}",
                    ],
                ),
                0..5,
            ),
            body in prop_oneof![
                r#"[\[\]{}:,"0-9a-z]{0,40}"#,
                r#"\{"(id|event_id|type|entry|data)":("a"|1|null|\{\}|\[\{"id":1\}\])\}"#,
                r#"\[(\{"id":"[a-z]?","source":"s","specversion":"1.0","sg_event_id":"x"\},?){1,3}\]"#,
                r"--B\r\nContent-Disposition: form-data; name=.id.\r\n\r\n[a-z]{0,5}\r\n--B--",
            ],
        ) {
            let head: Vec<String> = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
            fuzz_one(&[&[scheme, b'\n', choice][..], head.concat().as_bytes(), b"\n", body.as_bytes()].concat());
        }
    }
}
