//! What senders ask before, or between, their events.

mod common;

use cola_ia_core::intake::RefusalCode;
use cola_ia_webhook::{Outcome, Receiver, Reply, Request, Secret};
use common::{NOW, code, event, post, receiver, reply, secret, signed, spec, spec_of};

fn get(receiver: &Receiver, query: &str) -> Reply {
    let url = format!("{}?{query}", common::URL);
    reply(receiver.receive(&Request { method: "GET", url: &url, headers: &[], body: b"" }, NOW))
}

#[test]
fn slack_s_challenge_is_echoed_once_it_is_verified_and_only_for_slack() {
    let body = br#"{"type":"url_verification","challenge":"<b>abc</b>","token":"x"}"#;
    let answer = reply(signed(&receiver(&spec("slack")), &[], body));
    assert_eq!((answer.status, answer.body.as_slice()), (200, &b"<b>abc</b>"[..]));
    assert_eq!(answer.content_type, Some("text/plain; charset=utf-8"));
    assert_eq!(answer.headers, [("x-content-type-options", "nosniff")]);
    let unsigned = post(&receiver(&spec("slack")), &[("X-Slack-Request-Timestamp", "1750000000")], body, NOW);
    assert_eq!(code(unsigned).1, 401);
    event(signed(&receiver(&spec("github")), &[], body));
    assert_eq!(code(signed(&receiver(&spec("hmac")), &[], body)), (RefusalCode::IdMissing, 400));
}

#[test]
fn meta_s_challenge_needs_the_verify_token() {
    let mut spec = spec("meta");
    spec.verify_token = Some(Secret::token(b"second secret\n").unwrap());
    let meta = receiver(&spec);
    let right = get(&meta, "hub.mode=subscribe&hub.verify_token=second+secret&hub.challenge=C%2B1");
    assert_eq!((right.status, right.body.as_slice()), (200, &b"C+1"[..]));
    for query in [
        "hub.mode=subscribe&hub.verify_token=other&hub.challenge=C",
        "hub.mode=subscribe&hub.challenge=C",
        "hub.mode=subscribe&hub.verify_token=second+secret&hub.verify_token=x&hub.challenge=C",
        "hub.mode=subscribe&hub.verify_token=second+secret",
    ] {
        let wrong = get(&meta, query);
        assert_eq!((wrong.status, wrong.body.len()), (403, 0), "{query}");
    }
    // The app's secret is another one, and a source with no verify token has no right one.
    let app = common::raw_secret(meta.scheme(), 0);
    assert_eq!(get(&meta, &format!("hub.mode=subscribe&hub.verify_token={app}&hub.challenge=C")).status, 403);
    let without = receiver(&common::spec("meta"));
    assert_eq!(get(&without, "hub.mode=subscribe&hub.verify_token=&hub.challenge=C").status, 403);
    assert_eq!(get(&meta, "a=b").status, 200);
    let long = format!("hub.mode=subscribe&hub.verify_token=second+secret&hub.challenge={}", "x".repeat(1_025));
    assert_eq!(get(&meta, &long).status, 400);
}

#[test]
fn dropbox_s_challenge_is_echoed() {
    let answer = get(&receiver(&spec("dropbox")), "challenge=abc");
    assert_eq!((answer.status, answer.body.as_slice()), (200, &b"abc"[..]));
    assert_eq!(answer.headers, [("x-content-type-options", "nosniff")]);
    assert!(get(&receiver(&spec("github")), "challenge=abc").body.is_empty());
}

#[test]
fn zoom_s_validation_is_computed_with_the_secret_that_signed() {
    let spec = spec("zoom");
    let scheme = spec.resolve().unwrap();
    // From the file of vectors: the answer to this token under this secret.
    let known = Secret::parse(&scheme, b"inbox-test-secret").unwrap();
    let receiver = Receiver::new(&spec, vec![secret(&scheme, 0), known.clone()], 1 << 20).unwrap();
    let body = br#"{"event":"endpoint.url_validation","payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"}}"#;
    let sample = cola_ia_webhook::Sample { url: common::URL, id: "1", text: "t", event_type: "k", body: Some(body) };
    let request = receiver.sign(&sample, NOW, &known).unwrap();
    let answer = reply(common::take(&receiver, &request, NOW));
    assert_eq!(
        String::from_utf8(answer.body).unwrap(),
        "{\"plainToken\":\"qgg8vlvZRS6UYooatFL8Aw\",\"encryptedToken\":\"d9e512fff810e9c266d8921e7c5e2637248e85021e65e16d7ef523ce16d55da0\"}"
    );
    assert_eq!(answer.content_type, Some("application/json"));
}

#[test]
fn notion_s_first_request_is_taken_only_while_the_source_waits() {
    let body = br#"{"verification_token":"secret_abc"}"#;
    let waiting = Receiver::new(&spec_of("scheme = 'notion'\npending = true"), vec![], 1 << 20).unwrap();
    let answer = reply(post(&waiting, &[], body, NOW));
    assert_eq!(answer.status, 200);
    assert_eq!(answer.token.as_ref().unwrap().reveal(), "secret_abc");
    assert!(!format!("{answer:?}").contains("secret_abc"));
    let request = Request { method: "POST", url: common::URL, headers: &[], body };
    assert!(!format!("{:?}", waiting.explain(&request, NOW)).contains("secret_abc"));
    // Nobody can send events to it, or replace the key of one that has it.
    assert_eq!(code(post(&waiting, &[], br#"{"id":"1"}"#, NOW)).1, 401);
    let ready = receiver(&spec("notion"));
    let other = common::sign(&ready, &[], br#"{"id":"1"}"#);
    assert_eq!(code(common::take(&waiting, &other, NOW)), (RefusalCode::SignatureInvalid, 401));
    assert_eq!(code(post(&ready, &[], body, NOW)), (RefusalCode::SignatureMissing, 401));
}

#[test]
fn woocommerce_s_test_of_the_address_is_answered() {
    let woo = receiver(&spec("woocommerce"));
    let kind = ("content-type", "application/x-www-form-urlencoded");
    assert_eq!(reply(post(&woo, &[kind], b"webhook_id=12", NOW)).status, 200);
    for body in [&b"webhook_id=x"[..], b"webhook_id=", b"webhook_id=1&a=2", b"other=1", b"{}"] {
        assert_eq!(code(post(&woo, &[kind], body, NOW)).1, 401, "{}", String::from_utf8_lossy(body));
    }
    let signature = ("X-WC-Webhook-Signature", "AAAA");
    assert_eq!(code(post(&woo, &[kind, signature], b"webhook_id=12", NOW)).1, 401);
}

#[test]
fn discord_s_pings_are_answered_once_they_are_verified() {
    // The key pair of RFC 8032's first test; the signature is the one of the file of vectors.
    let public = b"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    let signature = "eeac82a5684c4878e8a1064ae0f07384996378feddb0d3cc4f1d685302b7fa4569cb84c25e94d5a31f15c3e2214a5280d919e1fa0418f0110753419fb7c7d605";
    let headers = [("X-Signature-Timestamp", "1750000000"), ("X-Signature-Ed25519", signature)];
    let with = |name: &str| {
        let spec = spec(name);
        let key = Secret::parse(&spec.resolve().unwrap(), public).unwrap();
        Receiver::new(&spec, vec![key], 1 << 20).unwrap()
    };
    let answer = reply(post(&with("discord"), &headers, b"{\"type\":1}", NOW));
    assert_eq!((answer.status, answer.body.as_slice()), (200, &b"{\"type\":1}"[..]));
    // Discord sends wrong signatures on purpose and wants 401.
    assert_eq!(code(post(&with("discord"), &headers, b"{\"type\":0}", NOW)), (RefusalCode::SignatureInvalid, 401));
    // Of the other product, 1 is an event and 0 the ping, which is answered with nothing.
    let ping = br#"{"application_id":"1100000000000000001","type":0,"version":1}"#;
    let signed = [
        ("X-Signature-Timestamp", "1750000000"),
        (
            "X-Signature-Ed25519",
            "97cf7fb7ac26c669a3b197156bd994273e34c0a8ed819a399bca24194d487863b0192cc1e459470f438bd618c8c96708a28e39e4420491fd0bfdf3dbe3431b03",
        ),
    ];
    let answer = reply(post(&with("discord-events"), &signed, ping, NOW));
    assert_eq!((answer.status, answer.body.as_slice(), answer.content_type), (204, &b""[..], None));
    let later = [("X-Signature-Timestamp", "1750000001"), signed[1]];
    assert_eq!(code(post(&with("discord-events"), &later, ping, NOW)), (RefusalCode::SignatureInvalid, 401));
    assert!(
        matches!(post(&with("discord-events"), &headers, b"{\"type\":1}", NOW), Outcome::Refused(refused) if refused.status == 400)
    );
}
