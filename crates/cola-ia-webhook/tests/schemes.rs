//! What holds of every scheme of the catalogue.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cola_ia_core::clock::Timestamp;
use cola_ia_core::intake::RefusalCode;
use cola_ia_webhook::{
    Algorithm, Header, Outcome, Receiver, Request, Sample, Scheme, Secret, SignFault, SignedRequest, TimeUnit,
    catalogue,
};
use common::{NOW, URL, code, events, raw_secret, receiver, refused, seconds, secret, spec, take};
use ed25519_dalek::Signer as _;
use p256::pkcs8::EncodePublicKey as _;

const SAMPLE: Sample<'_> = Sample { url: URL, id: "7", text: "un texto", event_type: "kind", body: None };

fn hex(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.concat()
}

/// A private key, and the public one as the scheme writes it.
struct Pair {
    ed25519: ed25519_dalek::SigningKey,
    p256: p256::ecdsa::SigningKey,
}

impl Pair {
    fn of(seed: u8) -> Self {
        Self {
            ed25519: ed25519_dalek::SigningKey::from_bytes(&[seed; 32]),
            p256: p256::ecdsa::SigningKey::from_slice(&[seed; 32]).unwrap(),
        }
    }

    fn public(&self, scheme: &Scheme) -> Secret {
        let bytes = self.ed25519.verifying_key().to_bytes();
        let text = match scheme.name.as_str() {
            "standard-webhooks-asymmetric" => format!("whpk_{}", STANDARD.encode(bytes)),
            "sendgrid" => STANDARD.encode(self.p256.verifying_key().to_public_key_der().unwrap()),
            _ => hex(&bytes),
        };
        Secret::parse(scheme, text.as_bytes()).unwrap()
    }

    /// The request that the provider would send: written out here, not with the crate's own templates.
    fn request(&self, scheme: &Scheme, now: Timestamp) -> SignedRequest {
        let time = (now.as_micros() / 1_000_000).to_string();
        let (body, headers): (&[u8], Vec<(&str, String)>) = match scheme.name.as_str() {
            "standard-webhooks-asymmetric" => {
                let body = br#"{"type":"kind","data":"un texto"}"#;
                let message = [b"m1.", time.as_bytes(), b".", &body[..]].concat();
                let signature = format!("v1a,{}", STANDARD.encode(self.ed25519.sign(&message).to_bytes()));
                let id = ("webhook-id", "m1".to_owned());
                (body, vec![id, ("webhook-timestamp", time), ("webhook-signature", signature)])
            }
            "sendgrid" => {
                let body = b"[{\"sg_event_id\":\"m1\",\"event\":\"open\",\"timestamp\":1750000000}]\r\n";
                let signature: p256::ecdsa::Signature = self.p256.sign(&[time.as_bytes(), &body[..]].concat());
                let signature = STANDARD.encode(signature.to_der());
                let names = ("X-Twilio-Email-Event-Webhook-Timestamp", "X-Twilio-Email-Event-Webhook-Signature");
                (body, vec![(names.0, time), (names.1, signature)])
            }
            _ => {
                let body: &[u8] = match scheme.name.as_str() {
                    "discord" => br#"{"id":"175928847299117063","type":2,"data":{"name":"x"}}"#,
                    _ => br#"{"type":1,"event":{"type":"APPLICATION_AUTHORIZED","timestamp":"2025-06-15T15:06:40Z","data":{}}}"#,
                };
                let signature = self.ed25519.sign(&[time.as_bytes(), body].concat()).to_bytes();
                let signature = hex(&signature);
                (body, vec![("X-Signature-Timestamp", time), ("X-Signature-Ed25519", signature)])
            }
        };
        let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        SignedRequest { method: "POST", url: URL.to_owned(), headers, body: body.to_vec() }
    }
}

/// A request to each scheme, with receivers that have the right secret, another one, and both in either order.
struct Case {
    scheme: &'static Scheme,
    request: SignedRequest,
    right: Receiver,
    wrong: Receiver,
    rotating: [Receiver; 2],
}

fn case(scheme: &'static Scheme) -> Case {
    let spec = spec(&scheme.name);
    let with = |secrets: Vec<Secret>| Receiver::new(&spec, secrets, 1 << 20).unwrap();
    let (old, new, request);
    if scheme.algorithm.is_asymmetric() {
        let pair = Pair::of(7);
        (old, new) = (Pair::of(8).public(scheme), pair.public(scheme));
        request = pair.request(scheme, NOW);
    } else {
        (old, new) = (secret(scheme, 1), secret(scheme, 0));
        request =
            with(vec![new.clone()]).sign(&SAMPLE, NOW, &new).unwrap_or_else(|fault| panic!("{}: {fault}", scheme.name));
    }
    Case {
        scheme,
        request,
        right: with(vec![new.clone()]),
        wrong: with(vec![old.clone()]),
        rotating: [with(vec![old.clone(), new.clone()]), with(vec![new, old])],
    }
}

fn signed_schemes() -> impl Iterator<Item = Case> {
    catalogue().iter().filter(|scheme| scheme.algorithm != Algorithm::None).map(case)
}

#[test]
fn what_is_signed_is_accepted() {
    for case in signed_schemes() {
        let found = events(take(&case.right, &case.request, NOW));
        assert_eq!(found.len(), 1, "{}", case.scheme.name);
        if !case.scheme.algorithm.is_asymmetric() {
            let id = found[0].id.as_str();
            assert!(id.contains('7') || id.len() >= 64 || id.starts_with("2025-"), "{}: {id}", case.scheme.name);
            assert!(found[0].content.text().contains("un texto"), "{}", case.scheme.name);
        }
    }
}

#[test]
fn only_who_has_a_shared_secret_can_sign() {
    for scheme in catalogue().iter().filter(|scheme| scheme.algorithm.is_asymmetric()) {
        let case = case(scheme);
        let key = Pair::of(7).public(scheme);
        assert_eq!(case.right.sign(&SAMPLE, NOW, &key), Err(SignFault::Asymmetric), "{}", scheme.name);
    }
}

#[test]
fn another_secret_is_refused_and_one_of_several_is_enough() {
    for case in signed_schemes() {
        let name = &case.scheme.name;
        assert_eq!(code(take(&case.wrong, &case.request, NOW)), (RefusalCode::SignatureInvalid, 401), "{name}");
        for (place, receiver) in case.rotating.iter().enumerate() {
            events(take(receiver, &case.request, NOW));
            let lines = case.request.lines();
            let request = Request { method: "POST", url: &case.request.url, headers: &lines, body: &case.request.body };
            let steps = receiver.explain(&request, NOW);
            let step = steps.iter().find(|step| step.code == "signature").unwrap();
            let expected = [("secrets", "2".to_owned()), ("matched", (2 - place).to_string())];
            assert_eq!(step.facts, expected, "{name}");
        }
    }
}

/// Whether the scheme signs the whole body, or the parts of it that it signs.
fn signed_bytes(case: &Case) -> Vec<usize> {
    let body = &case.request.body;
    match (case.scheme.algorithm, case.scheme.name.as_str()) {
        (Algorithm::Token, _) => Vec::new(),
        (_, "mailgun") => {
            let text = std::str::from_utf8(body).unwrap();
            let value = |name: &str| {
                let start = text.find(&format!("\"{name}\":\"")).unwrap() + name.len() + 4;
                start..start + text[start..].find('"').unwrap()
            };
            let [token, time] = ["token", "timestamp"].map(value);
            let at = text.rfind("\"signature\":\"").unwrap() + 13;
            token.chain(time).chain(at..at + text[at..].find('"').unwrap()).collect()
        }
        _ => (0..body.len()).collect(),
    }
}

#[test]
fn every_changed_byte_of_a_body_is_refused() {
    for case in signed_schemes() {
        // Percent-encoded letters are the same in either case; the fields of a form are signed decoded.
        let masks: &[u8] = if case.scheme.name == "twilio" { &[0x01, 0x80] } else { &[0x01, 0x20, 0x80] };
        let mut tried = 0;
        for at in signed_bytes(&case) {
            for mask in masks {
                let mut changed = case.request.clone();
                changed.body[at] ^= mask;
                let refused = refused(take(&case.right, &changed, NOW));
                let of_body = case.scheme.name == "mailgun" || case.scheme.name == "twilio";
                assert!(
                    refused.code == RefusalCode::SignatureInvalid || of_body,
                    "{}: byte {at}: {refused:?}",
                    case.scheme.name
                );
                tried += 1;
            }
        }
        assert!(tried > 40 || case.scheme.algorithm == Algorithm::Token, "{}", case.scheme.name);
    }
}

#[test]
fn every_changed_byte_of_a_signature_is_refused() {
    for case in signed_schemes() {
        let Some(header) = &case.scheme.signature.header else {
            continue;
        };
        let place = case.request.headers.iter().position(|(name, _)| name == header).unwrap();
        let value = case.request.headers[place].1.as_bytes();
        for at in 0..value.len() {
            for mask in [0x01, 0x02, 0x20, 0x80] {
                let mut changed = value.to_vec();
                changed[at] ^= mask;
                let mut lines = case.request.lines();
                lines[place] = Header { name: header, value: &changed };
                let url = &case.request.url;
                let request = Request { method: "POST", url, headers: &lines, body: &case.request.body };
                let refused = refused(case.right.receive(&request, NOW));
                assert!(matches!(refused.status, 400 | 401), "{}: byte {at}: {refused:?}", case.scheme.name);
            }
        }
        for cut in 0..value.len() {
            let mut lines = case.request.lines();
            lines[place] = Header { name: header, value: &value[..cut] };
            let request = Request { method: "POST", url: &case.request.url, headers: &lines, body: &case.request.body };
            refused(case.right.receive(&request, NOW));
        }
    }
}

#[test]
fn the_window_has_two_sides() {
    let mut tried = 0;
    for case in signed_schemes() {
        let Some(tolerance) = case.scheme.tolerance_s.map(|seconds| seconds as i64) else {
            events(take(&case.right, &case.request, seconds(100_000)));
            continue;
        };
        for skew in [-tolerance + 1, 0, tolerance - 1, tolerance] {
            events(take(&case.right, &case.request, seconds(skew)));
        }
        for skew in [-tolerance - 1, tolerance + 1] {
            let refused = refused(take(&case.right, &case.request, seconds(skew)));
            assert_eq!((refused.code, refused.status), (RefusalCode::TimestampOutside, 401), "{}", case.scheme.name);
            for part in
                [NOW.to_rfc3339(), seconds(skew).to_rfc3339(), format!("{skew}.000 s"), format!("{tolerance} s")]
            {
                assert!(refused.detail.contains(&part), "{}: {part} in {}", case.scheme.name, refused.detail);
            }
            assert!(refused.detail.len() <= 200, "the whole detail is kept");
        }
        tried += 1;
    }
    assert!(tried > 15);
}

#[test]
fn a_time_that_is_none_is_refused_and_never_a_panic() {
    for case in signed_schemes() {
        let Some(time) = &case.scheme.timestamp else {
            continue;
        };
        let strange = [
            "",
            "abc",
            "-1",
            "+1750000000",
            "99999999999999999999",
            "1750000000.5",
            "1e9",
            " ",
            "²",
            &"1".repeat(5_000),
        ];
        for value in strange {
            let mut changed = case.request.clone();
            if let Some(header) = &time.header {
                changed.headers.iter_mut().find(|(name, _)| name == header).unwrap().1 = value.to_owned();
            } else if let Some(key) = &time.key {
                let header = case.scheme.signature.header.as_ref().unwrap();
                let line = &mut changed.headers.iter_mut().find(|(name, _)| name == header).unwrap().1;
                let sent = if time.unit == TimeUnit::Ms { "1750000000000" } else { "1750000000" };
                *line = line.replace(&format!("{key}={sent}"), &format!("{key}={value}"));
            } else {
                continue;
            }
            assert_eq!(
                code(take(&case.right, &changed, NOW)),
                (RefusalCode::TimestampInvalid, 400),
                "{}: {value}",
                case.scheme.name
            );
        }
    }
}

#[test]
fn a_header_that_stands_twice_is_refused() {
    for case in signed_schemes() {
        let time = case.scheme.timestamp.as_ref().and_then(|time| time.header.as_ref());
        let id = case.scheme.id.as_slice().iter().filter_map(|place| place.strip_prefix("header:")).map(str::to_owned);
        let names = case.scheme.signature.header.iter().chain(time).cloned().chain(id);
        for name in names {
            let mut changed = case.request.clone();
            let line = changed.headers.iter().find(|(known, _)| *known == name).unwrap().clone();
            changed.headers.push((name.to_ascii_uppercase(), line.1));
            let refused = refused(take(&case.right, &changed, NOW));
            assert!(matches!(refused.status, 400 | 401), "{}: {name}", case.scheme.name);
            assert!(matches!(
                refused.code,
                RefusalCode::SignatureMissing | RefusalCode::FieldTwice | RefusalCode::TimestampInvalid
            ));
        }
    }
}

#[test]
fn no_step_shows_a_secret_or_an_expected_signature() {
    for case in signed_schemes().filter(|case| !case.scheme.algorithm.is_asymmetric()) {
        // A request whose signature is another's: what is expected in its place must not be told.
        let header = case.scheme.signature.header.as_deref();
        let signature_in_body = case.scheme.signature.pointer.is_some();
        let other = case.wrong.sign(&SAMPLE, NOW, &secret(case.scheme, 1)).unwrap();
        let lines = other.lines();
        let request = Request { method: "POST", url: &other.url, headers: &lines, body: &other.body };
        let steps = case.right.explain(&request, NOW);
        let right = case
            .request
            .headers
            .iter()
            .find(|(name, _)| Some(name.as_str()) == header)
            .map(|(_, value)| value.as_str());
        let shown = format!("{steps:?}");
        assert!(right.is_some() || signature_in_body);
        assert!(!right.is_some_and(|right| {
            shown.contains(right.rsplit(['=', ',']).find(|part| part.len() > 8).unwrap_or(right))
        }));
        assert!(!shown.contains(&raw_secret(case.scheme, 0)), "{shown}");
        assert!(!format!("{:?}", case.right).contains(&raw_secret(case.scheme, 0)));
        let codes: Vec<&str> = steps.iter().map(|step| step.code).collect();
        assert_eq!(codes.first(), Some(&"method"), "{}", case.scheme.name);
        assert_eq!(codes.last(), Some(&"refused"), "{}", case.scheme.name);
        assert!(codes.contains(&"signature"), "{}: {codes:?}", case.scheme.name);
        assert!(!steps.iter().find(|step| step.code == "signature").unwrap().passed);
    }
}

#[test]
fn names_are_sorted_and_in_one_form() {
    let names: Vec<&str> = catalogue().iter().map(|scheme| scheme.name.as_str()).collect();
    assert!(names.is_sorted());
    assert!(names.len() >= 55, "{}", names.len());
    for scheme in catalogue() {
        assert!(scheme.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
        assert!(!scheme.docs.is_empty() && !scheme.title.is_empty());
    }
    let unverified: Vec<&str> =
        catalogue().iter().filter(|scheme| !scheme.is_verified()).map(|scheme| scheme.name.as_str()).collect();
    for name in ["adyen-platform", "beehiiv", "bitbucket", "make", "n8n", "sentry", "vercel", "zapier"] {
        assert!(unverified.contains(&name), "{name}");
    }
    assert!(!unverified.contains(&"github") && !unverified.contains(&"stripe"));
}

#[test]
fn unsigned_intake_is_open_to_all_and_only_by_name() {
    let open = receiver(&spec("unsigned"));
    let body = br#"{"id":"1","texto":"hola","tipo":"saludo","fecha":"2025-06-15T15:06:40Z"}"#;
    let Outcome::Events(found) = common::post(&open, &[], body, NOW) else { panic!("it is open") };
    assert_eq!(found[0].id.as_str(), "1");
    assert_eq!(found[0].content.text(), "hola");
    assert_eq!(found[0].event_type.as_ref().unwrap().as_str(), "saludo");
    assert_eq!(found[0].time, Some(NOW));
    assert_eq!(found[0].body, None);
}
