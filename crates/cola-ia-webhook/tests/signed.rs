//! What a signed request may and may not be.

mod common;

use cola_ia_core::intake::RefusalCode;
use cola_ia_webhook::{Header, Outcome, Receiver, Request, Secret, Spec};
use common::{NOW, code, event, post, receiver, refused, secret, sign, signed, spec, spec_of, take};

const HMAC: &str = "scheme = 'hmac'";

#[test]
fn the_raw_bytes_are_signed_and_nothing_else() {
    let receiver = receiver(&spec_of(HMAC));
    let body = "{\"id\":\"w1\", \"texto\":\"\\u00e9 é 😀 <&>\\/\"}  \n".as_bytes();
    let request = sign(&receiver, &[], body);
    let found = event(take(&receiver, &request, NOW));
    assert_eq!(found.content.text(), "é é 😀 <&>/");
    for at in 0..body.len() {
        for mask in 1..=255_u8 {
            let mut changed = request.clone();
            changed.body[at] ^= mask;
            assert_eq!(code(take(&receiver, &changed, NOW)), (RefusalCode::SignatureInvalid, 401), "byte {at}");
        }
    }
    for changed in [&body[..body.len() - 1], &[body, b" "].concat(), b""] {
        let changed = cola_ia_webhook::SignedRequest { body: changed.to_vec(), ..request.clone() };
        assert_eq!(code(take(&receiver, &changed, NOW)).0, RefusalCode::SignatureInvalid);
    }
}

#[test]
fn a_contrary_charset_is_refused_and_never_read_as_another() {
    let receiver = receiver(&spec_of(HMAC));
    let body = "{\"id\":\"w1\",\"texto\":\"é\"}".as_bytes();
    for kind in ["application/json; charset=iso-8859-1", "application/json;charset=\"UTF-16\"", "image/png", "json"] {
        let outcome = signed(&receiver, &[("content-type", kind)], body);
        assert_eq!(code(outcome), (RefusalCode::MediaTypeUnsupported, 415), "{kind}");
    }
    for kind in ["application/json; charset=utf-8", "application/problem+json", "text/json"] {
        assert_eq!(event(signed(&receiver, &[("content-type", kind)], body)).content.text(), "é", "{kind}");
    }
    let latin = [&b"{\"id\":\"w1\",\"texto\":\""[..], b"\xe9\"}"].concat();
    assert_eq!(code(signed(&receiver, &[], &latin)), (RefusalCode::Utf8Invalid, 400));
}

#[test]
fn a_final_line_end_of_a_secret_does_not_matter() {
    let scheme = spec("github").resolve().unwrap();
    let written = Secret::parse(&scheme, b"topsecret\n").unwrap();
    let receiver = Receiver::new(&spec("github"), vec![written], 1 << 20).unwrap();
    let plain = Secret::parse(&scheme, b"topsecret").unwrap();
    let sample = cola_ia_webhook::Sample { url: common::URL, id: "d1", text: "t", event_type: "push", body: None };
    let request = receiver.sign(&sample, NOW, &plain).unwrap();
    event(take(&receiver, &request, NOW));
}

#[test]
fn no_source_is_without_a_secret_unless_by_name() {
    let fault = |spec: &Spec| Receiver::new(spec, vec![], 1 << 20).unwrap_err().code;
    assert_eq!(fault(&spec_of(HMAC)), "secret_needed");
    assert_eq!(fault(&spec("telegram")), "secret_needed");
    assert_eq!(fault(&spec_of("scheme = 'github'\npending = true")), "nothing_pending");
    assert!(Receiver::new(&spec_of("scheme = 'hmac'\nunsigned = true"), vec![], 1 << 20).is_ok());
}

#[test]
fn after_a_rotation_the_old_secret_is_refused() {
    let spec = spec_of(HMAC);
    let scheme = spec.resolve().unwrap();
    let [old, new] = [0, 1].map(|which| secret(&scheme, which));
    let with = |secrets: Vec<Secret>| Receiver::new(&spec, secrets, 1 << 20).unwrap();
    let request = sign(&with(vec![old.clone()]), &[], br#"{"id":"1","texto":"a"}"#);
    event(take(&with(vec![old, new.clone()]), &request, NOW));
    assert_eq!(code(take(&with(vec![new]), &request, NOW)), (RefusalCode::SignatureInvalid, 401));
}

#[test]
fn a_request_without_a_signature_is_refused_before_it_is_read() {
    for name in ["github", "stripe", "slack", "telegram", "hmac", "token"] {
        let receiver = receiver(&spec(name));
        for body in [&b"{}"[..], b"", b"not json", b"\xff"] {
            let outcome = post(&receiver, &[("X-Slack-Request-Timestamp", "1750000000")], body, NOW);
            assert_eq!(code(outcome), (RefusalCode::SignatureMissing, 401), "{name}");
        }
    }
}

#[test]
fn an_id_that_would_make_the_signed_bytes_ambiguous_is_refused() {
    let receiver = receiver(&spec("standard-webhooks"));
    let request = sign(&receiver, &[], br#"{"type":"a"}"#);
    for id in ["a.1750000000", ".", "s1."] {
        let mut changed = request.clone();
        changed.headers.iter_mut().find(|(name, _)| name == "webhook-id").unwrap().1 = id.to_owned();
        let refused = refused(take(&receiver, &changed, NOW));
        assert_eq!((refused.code, refused.status), (RefusalCode::SignatureMissing, 401));
        assert!(refused.detail.contains("webhook-id"), "{}", refused.detail);
    }
    // The same bytes, split elsewhere: id `s1.1750000000`, and a time of the attacker's.
    let sample = cola_ia_webhook::Sample { url: common::URL, id: "a.b", text: "t", event_type: "k", body: None };
    let key = secret(receiver.scheme(), 0);
    assert_eq!(receiver.sign(&sample, NOW, &key), Err(cola_ia_webhook::SignFault::NotSignable));
}

#[test]
fn two_families_of_header_names_are_never_mixed() {
    let receiver = receiver(&spec("svix"));
    let request = sign(&receiver, &[], br#"{"type":"a"}"#);
    let renamed = |which: &dyn Fn(&str) -> bool| {
        let mut changed = request.clone();
        for (name, _) in &mut changed.headers {
            if which(name) {
                *name = name.replace("svix-", "webhook-");
            }
        }
        changed
    };
    event(take(&receiver, &renamed(&|_| true), NOW));
    refused(take(&receiver, &renamed(&|name| name == "svix-id"), NOW));
    refused(take(&receiver, &renamed(&|name| name == "svix-signature"), NOW));
    // Another id beside the signed one changes nothing.
    let mut both = request.clone();
    both.headers.push(("webhook-id".into(), "other".into()));
    assert_eq!(event(take(&receiver, &both, NOW)).id.as_str(), "s1");
}

#[test]
fn many_signatures_are_looked_at_and_not_any_number() {
    let receiver = receiver(&spec("standard-webhooks"));
    let request = sign(&receiver, &[], br#"{"type":"a"}"#);
    let with = |others: usize| {
        let mut changed = request.clone();
        let line = &mut changed.headers.iter_mut().find(|(name, _)| name == "webhook-signature").unwrap().1;
        *line = format!("{}{line}", "v1,AAAA ".repeat(others));
        take(&receiver, &changed, NOW)
    };
    event(with(15));
    assert_eq!(code(with(16)), (RefusalCode::SignatureMissing, 401));
}

#[test]
fn a_body_over_its_bound_is_refused() {
    let limits = [("github", 26_214_400), ("stripe", 5_242_880)];
    for (name, limit) in limits {
        assert_eq!(receiver(&spec(name)).max_body_bytes(), limit, "{name}");
    }
    let small = receiver(&spec_of("scheme = 'hmac'\nmax_body_bytes = 100"));
    let body = |bytes: usize| format!("{{\"id\":\"1\",\"texto\":\"{}\"}}", "x".repeat(bytes - 21)).into_bytes();
    event(signed(&small, &[], &body(100)));
    let refused = refused(signed(&small, &[], &body(101)));
    assert_eq!((refused.code, refused.status), (RefusalCode::BodyTooLarge, 413));
    assert_eq!(refused.detail, "101 bytes, allowed 100");
}

#[test]
fn what_only_looks_at_the_address_has_no_effect() {
    for name in ["github", "slack", "hmac", "unsigned", "trello"] {
        let receiver = receiver(&spec(name));
        let ask = |method| receiver.receive(&Request { method, url: common::URL, headers: &[], body: b"" }, NOW);
        for method in ["GET", "HEAD"] {
            let reply = common::reply(ask(method));
            assert_eq!((reply.status, reply.body.len()), (200, 0), "{name} {method}");
        }
        for method in ["PUT", "OPTIONS", "DELETE", "get", ""] {
            let reply = common::reply(ask(method));
            assert_eq!((reply.status, reply.headers), (405, vec![("allow", "GET, HEAD, POST")]), "{name} {method}");
        }
        assert!(matches!(ask("POST"), Outcome::Refused(_)), "{name}: a POST with nothing in it");
    }
}

#[test]
fn a_generic_source_signs_as_it_says() {
    let spec = spec_of(
        "scheme = 'hmac'\nalgorithm = 'hmac-sha512'\nkey = 'hex'\nencoding = 'base64'\ncontent = \"{method}\\n{url}\\n{ts}\\n{header:X-Id}\\n{body}\"\n\
         signature = { header = 'X-Sig', separator = ';', key = 's' }\ntimestamp = { key = 't', unit = 'rfc3339' }\ntolerance_s = 5\n\
         id = 'header:X-Id'\ntext = '/a'",
    );
    let receiver = receiver(&spec);
    let key = secret(receiver.scheme(), 0);
    let sample = cola_ia_webhook::Sample { url: common::URL, id: "7", text: "hola", event_type: "k", body: None };
    let request = receiver.sign(&sample, NOW, &key).unwrap();
    let found = event(take(&receiver, &request, NOW));
    assert_eq!((found.id.as_str(), found.content.text()), ("7", "hola"));
    assert_eq!(found.body, None, "the id is signed");
    assert_eq!(code(take(&receiver, &request, common::seconds(6))).0, RefusalCode::TimestampOutside);
    let mut moved = request.clone();
    moved.url.push('x');
    assert_eq!(code(take(&receiver, &moved, NOW)).0, RefusalCode::SignatureInvalid);
}

#[test]
fn a_token_stands_in_the_header_that_the_source_names() {
    let receiver = receiver(&spec_of("scheme = 'token'\nheader = 'X-My-Key'\nprefix = ''\nid = '/n'"));
    let body = br#"{"n":"1","text":"a"}"#;
    let token = common::raw_secret(receiver.scheme(), 0);
    assert_eq!(event(post(&receiver, &[("x-my-key", &token)], body, NOW)).body, None, "a token signs no body");
    for wrong in ["", "top", &format!("{token}x"), &format!("Bearer {token}"), "ñ"] {
        let refused = refused(post(&receiver, &[("x-my-key", wrong)], body, NOW));
        assert_eq!(refused.status, 401, "{wrong}");
    }
    let lines = [Header { name: "X-My-Key", value: b"\xff\xfe" }];
    let request = Request { method: "POST", url: common::URL, headers: &lines, body };
    assert_eq!(code(receiver.receive(&request, NOW)), (RefusalCode::SignatureMissing, 401));
}
