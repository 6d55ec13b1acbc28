//! CloudEvents 1.0 over HTTP: binary, structured and batched mode.

mod common;

use cola_ia_core::intake::RefusalCode;
use cola_ia_webhook::Receiver;
use common::{NOW, code, event, events, receiver, refused, signed, spec_of};

const BINARY: [(&str, &str); 5] = [
    ("ce-specversion", "1.0"),
    ("ce-id", "A234"),
    ("ce-source", "/sensors/1#a"),
    ("ce-type", "com.example.read"),
    ("ce-time", "2025-06-15T15:06:40Z"),
];

fn hmac() -> Receiver {
    receiver(&spec_of("scheme = 'hmac'\nformat = 'cloudevents'"))
}

#[test]
fn binary_and_structured_mode_make_the_same_event() {
    let binary = event(signed(&hmac(), &BINARY, br#"{"t":21.50}"#));
    let structured = br#"{"specversion":"1.0","id":"A234","source":"/sensors/1#a","type":"com.example.read",
        "time":"2025-06-15T15:06:40Z","datacontenttype":"application/json","data":{"t":21.5}}"#;
    let structured =
        event(signed(&hmac(), &[("content-type", "application/cloudevents+json; charset=utf-8")], structured));
    assert_eq!(binary.id.as_str(), r"/sensors/1\#a#A234");
    assert_eq!(binary.event_type.as_ref().unwrap().as_str(), "com.example.read");
    assert_eq!(binary.time, Some(NOW));
    assert_eq!(binary.content.text(), r#"{"t":2.15e1}"#);
    assert_eq!(
        (&binary.id, &binary.content, &binary.event_type, binary.time),
        (&structured.id, &structured.content, &structured.event_type, structured.time)
    );
    assert!(binary.body.is_some(), "the headers are not signed");
    assert_eq!(structured.body, None);
}

#[test]
fn source_and_id_never_run_into_each_other() {
    let id = |source: &str, id: &str| {
        let headers = [BINARY[0], ("ce-id", id), ("ce-source", source), BINARY[3]];
        event(signed(&hmac(), &headers, b"{\"a\":1}")).id
    };
    assert_ne!(id("a#b", "c"), id("a", "b#c"));
    assert_ne!(id(r"a\", "b"), id("a", r"\b"));
    assert_eq!(id("caf%C3%A9", "1").as_str(), "café#1", "headers are percent-encoded");
    let own = receiver(&spec_of("scheme = 'token'\nformat = 'cloudevents'\nid = 'ce:id'"));
    assert_eq!(event(signed(&own, &BINARY, b"{\"a\":1}")).id.as_str(), "A234");
}

#[test]
fn data_is_a_string_a_value_or_base64_of_a_text() {
    let data = |member: &str| {
        let body = format!(r#"{{"specversion":"1.0","id":"1","source":"s","type":"t",{member}}}"#);
        signed(&hmac(), &[("content-type", "application/cloudevents+json")], body.as_bytes())
    };
    assert_eq!(event(data(r#""data":"hola""#)).content.text(), "hola");
    assert_eq!(event(data(r#""data":[1]"#)).content.text(), "[1e0]");
    assert_eq!(event(data(r#""data_base64":"aG9sYQ==""#)).content.text(), "hola");
    assert_eq!(code(data(r#""data_base64":"/w==""#)), (RefusalCode::MediaTypeUnsupported, 415));
    assert_eq!(code(data(r#""data_base64":"?""#)), (RefusalCode::BodyMalformed, 400));
    assert_eq!(code(data(r#""data":null"#)), (RefusalCode::TextMissing, 400));
    let text = [BINARY[0], BINARY[1], BINARY[2], ("content-type", "text/plain; charset=utf-8")];
    assert_eq!(event(signed(&hmac(), &text, "maña".as_bytes())).content.text(), "maña");
    let image = [BINARY[0], BINARY[1], BINARY[2], ("content-type", "image/png")];
    assert_eq!(code(signed(&hmac(), &image, b"x")), (RefusalCode::MediaTypeUnsupported, 415));
}

#[test]
fn a_batch_is_as_many_events() {
    let one = |id: &str| format!(r#"{{"specversion":"1.0","id":"{id}","source":"s","type":"t","data":"x"}}"#);
    let kind = ("content-type", "application/cloudevents-batch+json");
    let found = events(signed(&hmac(), &[kind], format!("[{},{}]", one("1"), one("2")).as_bytes()));
    assert_eq!(found.iter().map(|event| event.id.as_str()).collect::<Vec<_>>(), ["s#1", "s#2"]);
    assert!(events(signed(&hmac(), &[kind], b"[]")).is_empty());
    let wrong = refused(signed(&hmac(), &[kind], format!("[{},{{}}]", one("1")).as_bytes()));
    assert_eq!(wrong.code, RefusalCode::BodyMalformed);
    assert!(wrong.detail.starts_with("event 2: "));
}

#[test]
fn what_a_cloud_event_must_have_is_asked_for() {
    let without_time = &BINARY[..4];
    event(signed(&hmac(), without_time, b"{\"a\":1}"));
    // A sample's own headers stand in for those that are left out, so each is tried as empty too.
    let empty = |name: &str| {
        let headers: Vec<(&str, &str)> =
            BINARY.into_iter().map(|(known, value)| (known, if known == name { "" } else { value })).collect();
        code(signed(&hmac(), &headers, b"{\"a\":1}"))
    };
    assert_eq!(empty("ce-specversion"), (RefusalCode::BodyMalformed, 400));
    assert_eq!(empty("ce-id"), (RefusalCode::IdBlank, 400));
    assert_eq!(empty("ce-source"), (RefusalCode::IdBlank, 400));
    let plain = receiver(&spec_of("scheme = 'hmac'"));
    assert_eq!(
        code(signed(&plain, &BINARY, b"{\"a\":1}")),
        (RefusalCode::IdMissing, 400),
        "only where the source says so"
    );
    let twice = [BINARY[0], BINARY[1], BINARY[2], ("CE-ID", "B")];
    let mut request = common::sign(&hmac(), &twice[..3], b"{\"a\":1}");
    request.headers.push(("CE-ID".into(), "B".into()));
    assert_eq!(code(common::take(&hmac(), &request, NOW)), (RefusalCode::FieldTwice, 400));
}
