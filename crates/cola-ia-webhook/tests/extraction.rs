//! What becomes an event: ids, texts, types, times, several in one body, and the same body under another id.

mod common;

use cola_ia_core::intake::RefusalCode;
use cola_ia_core::verdict::Verdict;
use cola_ia_webhook::{EVENTS_MAX, Receiver};
use common::{NOW, code, event, events, receiver, refused, secret, signed, spec, spec_of};

fn id_of(receiver: &Receiver, body: &str) -> String {
    event(signed(receiver, &[], body.as_bytes())).id.as_str().to_owned()
}

#[test]
fn an_id_that_is_none_is_refused_and_never_an_empty_key() {
    let in_body = receiver(&spec_of("scheme = 'hmac'"));
    let cases = [
        (r#"{"texto":"a"}"#, RefusalCode::IdMissing),
        (r#"{"id":"","texto":"a"}"#, RefusalCode::IdBlank),
        (r#"{"id":null,"texto":"a"}"#, RefusalCode::IdNotString),
        (r#"{"id":"  ","texto":"a"}"#, RefusalCode::IdBlank),
        (r#"{"id":7,"texto":"a"}"#, RefusalCode::IdNumber),
        (r#"{"id":true,"texto":"a"}"#, RefusalCode::IdNotString),
        (r#"{"id":["a"],"texto":"a"}"#, RefusalCode::IdNotString),
        (r#"{"id":"a\u0000b","texto":"a"}"#, RefusalCode::IdControl),
        (r#"{"id":"a\nb","texto":"a"}"#, RefusalCode::IdControl),
        ("[]", RefusalCode::IdMissing),
        ("3", RefusalCode::IdMissing),
        (r#"{"id":"1","id":"2","texto":"a"}"#, RefusalCode::JsonDuplicateKey),
        (r#"{"id":"1","texto":"\ud83d"}"#, RefusalCode::JsonLoneSurrogate),
        ("{", RefusalCode::JsonSyntax),
    ];
    for (body, expected) in cases {
        assert_eq!(code(signed(&in_body, &[], body.as_bytes())), (expected, 400), "{body}");
    }
    let long = format!("{{\"id\":\"{}\",\"texto\":\"a\"}}", "x".repeat(1_025));
    assert_eq!(code(signed(&in_body, &[], long.as_bytes())), (RefusalCode::IdTooLong, 400));

    let in_header = receiver(&spec("github"));
    for (value, expected) in [("", RefusalCode::IdBlank), ("  ", RefusalCode::IdBlank)] {
        assert_eq!(code(signed(&in_header, &[("X-GitHub-Delivery", value)], b"{\"a\":1}")), (expected, 400));
    }
    let mut missing = common::sign(&in_header, &[], b"{\"a\":1}");
    missing.headers.retain(|(name, _)| name != "X-GitHub-Delivery");
    assert_eq!(code(common::take(&in_header, &missing, NOW)), (RefusalCode::IdMissing, 400));
}

#[test]
fn ids_that_are_numbers_are_their_digits() {
    let telegram = receiver(&spec("telegram"));
    assert_eq!(id_of(&telegram, r#"{"update_id":10000000000000000000000001,"x":"a"}"#), "10000000000000000000000001");
    for (value, expected) in [
        ("\"7\"", RefusalCode::IdNotString),
        ("7.0", RefusalCode::IdNumber),
        ("7e1", RefusalCode::IdNumber),
        ("-0", RefusalCode::IdNumber),
        ("null", RefusalCode::IdNotString),
    ] {
        let body = format!("{{\"update_id\":{value}}}");
        assert_eq!(code(signed(&telegram, &[], body.as_bytes())), (expected, 400), "{value}");
    }
}

#[test]
fn the_place_of_the_id_is_the_sources_choice() {
    let body = br#"{"event":{"id":"E1","text":"hi"}}"#;
    let by_header = receiver(&spec_of("scheme = 'hmac'\nid = 'header:X-Delivery'"));
    let by_body = receiver(&spec_of("scheme = 'hmac'\nid = '/event/id'"));
    let ids = |receiver: &Receiver| -> Vec<String> {
        let found = (1..=5).map(|n| event(signed(receiver, &[("X-Delivery", &format!("x{n}"))], body)));
        found.map(|found| found.id.as_str().to_owned()).collect()
    };
    assert_eq!(ids(&by_header), ["x1", "x2", "x3", "x4", "x5"]);
    assert_eq!(ids(&by_body), ["E1"; 5]);
}

#[test]
fn the_same_signed_bytes_under_another_id_can_be_told() {
    let found =
        |receiver: &Receiver, id: &str, body: &[u8]| event(signed(receiver, &[("X-GitHub-Delivery", id)], body));
    let github = receiver(&spec("github"));
    let first = found(&github, "d1", b"{\"a\":1}");
    let again = found(&github, "d2", b"{\"a\":1}");
    assert_ne!(first.id, again.id);
    // SHA-256 of the signed bytes, which are the body.
    assert_eq!(first.body.unwrap().to_string(), "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862");
    assert_eq!(first.body, again.body);
    assert_ne!(found(&github, "d3", b"{\"a\": 1}").body, first.body);
    // Where the id is signed, or the source says so, or nothing is signed, there is nothing to tell.
    assert_eq!(event(signed(&receiver(&spec("stripe")), &[], b"{\"id\":\"e\"}")).body, None);
    assert_eq!(event(signed(&receiver(&spec("standard-webhooks")), &[], b"{\"a\":1}")).body, None);
    let enter = receiver(&spec_of("scheme = 'github'\nreplays = 'enter'"));
    assert_eq!(found(&enter, "d1", b"{\"a\":1}").body, None);
    assert_eq!(event(signed(&receiver(&spec("gitlab")), &[("Idempotency-Key", "k")], b"{\"a\":1}")).body, None);
    // Mailgun signs a token and not the event.
    let mailgun = receiver(&spec("mailgun"));
    let sample = cola_ia_webhook::Sample { url: common::URL, id: "m1", text: "t", event_type: "k", body: None };
    let request = mailgun.sign(&sample, NOW, &secret(mailgun.scheme(), 0)).unwrap();
    let mut forged = request.clone();
    forged.body = String::from_utf8(forged.body).unwrap().replace("\"id\":\"m1\"", "\"id\":\"m2\"").into_bytes();
    let [first, second] = [&request, &forged].map(|request| event(common::take(&mailgun, request, NOW)));
    assert_ne!(first.id, second.id);
    assert_eq!(first.body, second.body);
    assert!(first.body.is_some());
}

#[test]
fn joined_ids_are_never_those_of_other_values() {
    let receiver = receiver(&spec("calcom"));
    let id = |event: &str, uid: &str, at: &str| {
        id_of(&receiver, &format!(r#"{{"triggerEvent":"{event}","payload":{{"uid":"{uid}"}},"createdAt":"{at}"}}"#))
    };
    assert_eq!(id("BOOKED", "u1", "t"), "BOOKED:u1:t");
    assert_ne!(id("a:b", "c", "t"), id("a", "b:c", "t"));
    assert_ne!(id(r"a\\", ":b", "t"), id(r"a\\:", "b", "t"));
    let cases = [
        (r#"{"triggerEvent":"a","payload":{"uid":"u"}}"#, RefusalCode::IdMissing),
        (r#"{"triggerEvent":"a","payload":{"uid":""},"createdAt":"t"}"#, RefusalCode::IdBlank),
        (r#"{"triggerEvent":"a","payload":{"uid":null},"createdAt":"t"}"#, RefusalCode::IdNotString),
        (r#"{"triggerEvent":"a","payload":{"uid":{}},"createdAt":"t"}"#, RefusalCode::IdNotString),
    ];
    for (body, expected) in cases {
        assert_eq!(code(signed(&receiver, &[], body.as_bytes())), (expected, 400), "{body}");
    }
}

#[test]
fn a_hash_is_an_id_only_where_the_source_says_so() {
    assert_eq!(spec_of("scheme = 'calcom'").resolve().unwrap_err().code, "id_needed");
    let by_hash = receiver(&spec_of("scheme = 'hmac'\nfallback_id = 'body-sha256'"));
    let [one, same, other] =
        [r#"{"text":"a"}"#, r#"{"text":"a"}"#, r#"{"text":"a"} "#].map(|body| id_of(&by_hash, body));
    assert_eq!(one, same);
    assert_ne!(one, other, "of the raw bytes");
    assert_eq!(one.len(), 64);
    // Dropbox's bodies are equal for different changes.
    let dropbox = receiver(&spec("dropbox"));
    let request = common::sign(&dropbox, &[], b"{\"delta\":1}");
    let [first, second] = [0, 1].map(|after| event(common::take(&dropbox, &request, common::seconds(after))));
    assert_ne!(first.id, second.id);
    assert_eq!(first.body, None, "equal bodies are different events");
}

#[test]
fn an_array_is_as_many_events() {
    let hubspot = receiver(&spec("hubspot"));
    let element = |n: usize, attempt: usize| {
        format!(
            r#"{{"portalId":1,"subscriptionId":2,"eventId":{n},"objectId":3,"occurredAt":1750000000000,"subscriptionType":"contact.creation","attemptNumber":{attempt}}}"#
        )
    };
    let body = format!("[{},{}]", element(1, 0), element(2, 0));
    let found = events(signed(&hubspot, &[], body.as_bytes()));
    assert_eq!(
        found.iter().map(|event| event.id.as_str()).collect::<Vec<_>>(),
        ["1:2:1:3:1750000000000", "1:2:2:3:1750000000000"]
    );
    assert_eq!(found[0].event_type.as_ref().unwrap().as_str(), "contact.creation");
    assert_eq!(found[0].time, Some(NOW));
    // The number of the try is not part of the text, or every try would be a conflict.
    let again = events(signed(&hubspot, &[], format!("[{}]", element(1, 1)).as_bytes()));
    assert_eq!(again[0].content, found[0].content);

    assert!(events(signed(&hubspot, &[], b"[]")).is_empty());
    assert_eq!(code(signed(&hubspot, &[], b"{\"eventId\":1}")), (RefusalCode::IdMissing, 400));
    let refused = refused(signed(&hubspot, &[], format!("[{},{{}}]", element(1, 0)).as_bytes()));
    assert_eq!(refused.code, RefusalCode::IdMissing);
    assert!(refused.detail.starts_with("event 2: "), "{}", refused.detail);
}

#[test]
fn one_body_has_a_bound_of_events() {
    let receiver = receiver(&spec_of("scheme = 'hmac'\neach = '/events/*'\nid = '/id'\ntext = '/t'"));
    let body = |count: usize| {
        let elements: Vec<String> = (0..count).map(|n| format!("{{\"id\":\"e{n}\",\"t\":\"x\"}}")).collect();
        format!("{{\"events\":[{}]}}", elements.join(","))
    };
    assert_eq!(events(signed(&receiver, &[], body(EVENTS_MAX).as_bytes())).len(), EVENTS_MAX);
    assert_eq!(code(signed(&receiver, &[], body(EVENTS_MAX + 1).as_bytes())), (RefusalCode::TooManyEvents, 413));
}

#[test]
fn nested_arrays_fan_out_and_see_the_whole_body() {
    let whatsapp = receiver(&spec("whatsapp"));
    let body = br#"{"object":"whatsapp_business_account","entry":[{"changes":[{"field":"messages","value":{
        "messages":[{"id":"wamid.1","type":"text","timestamp":"1750000000","text":{"body":"hola"}}],
        "statuses":[{"id":"wamid.0","status":"sent","timestamp":"1750000000"},{"id":"wamid.0","status":"read","timestamp":"1750000000"}]}}]}]}"#;
    let found = events(signed(&whatsapp, &[], body));
    let seen: Vec<(&str, &str)> =
        found.iter().map(|event| (event.id.as_str(), event.event_type.as_ref().unwrap().as_str())).collect();
    assert_eq!(seen, [("wamid.1", "text"), ("wamid.0:sent", "sent"), ("wamid.0:read", "read")]);
    assert_eq!(found[0].content.text(), "hola");
    assert_eq!(found[0].time, Some(NOW));

    let meta = receiver(&spec("meta"));
    let body = br#"{"object":"page","entry":[{"messaging":[{"message":{"mid":"m1","text":"a"}},{"delivery":{"mids":["m0"]}}]}]}"#;
    let found = events(signed(&meta, &[], body));
    assert_eq!(found[0].id.as_str(), "m1");
    assert_eq!(found[1].id.as_str().len(), 64, "the hash of the element");
    assert_eq!(found[0].event_type.as_ref().unwrap().as_str(), "page");
}

#[test]
fn with_several_events_the_place_is_part_of_the_body_s_hash() {
    let receiver = receiver(&spec_of("scheme = 'hmac'\neach = '/*'\nid = '{header:X-Id}:{/n}'\ntext = 'body'"));
    let found = events(signed(&receiver, &[("X-Id", "a")], br#"[{"n":1},{"n":1}]"#));
    assert_ne!(found[0].body, found[1].body);
    let again = events(signed(&receiver, &[("X-Id", "b")], br#"[{"n":1},{"n":1}]"#));
    assert_eq!((found[0].body, found[1].body), (again[0].body, again[1].body));
}

#[test]
fn a_text_is_a_string_as_it_is_or_canonical_json() {
    let text = |places: &str, body: &str| {
        let receiver = receiver(&spec_of(&format!("scheme = 'hmac'\nid = '/id'\ntext = {places}")));
        signed(&receiver, &[], body.as_bytes())
    };
    let of = |places: &str, body: &str| event(text(places, body)).content.text().to_owned();
    assert_eq!(of("'/t'", r#"{"id":"1","t":" a\u0041 "}"#), " aA ");
    assert_eq!(of("'/t'", r#"{"id":"1","t":{"b":100,"a":[1.50,true,null]}}"#), r#"{"a":[1.5e0,true,null],"b":1e2}"#);
    assert_eq!(of("'/t'", r#"{"id":"1","t":9007199254740993}"#), "9.007199254740993e15");
    assert_eq!(of("['/a','/b']", r#"{"id":"1","a":null,"b":"x"}"#), "x");
    assert_eq!(of("['/a','/b']", r#"{"id":"1","a":" ","b":"x"}"#), "x");
    assert_eq!(of("'{/a}: {/b}'", r#"{"id":"1","a":"x","b":{"c":1}}"#), r#"x: {"c":1e0}"#);
    assert_eq!(of("'/list/*/t'", r#"{"id":"1","list":[{"t":"a"},{},{"t":null},{"t":2}]}"#), "a\n2e0");
    let cases = [
        (r#"{"id":"1"}"#, RefusalCode::TextMissing, 400),
        (r#"{"id":"1","t":null}"#, RefusalCode::TextMissing, 400),
        (r#"{"id":"1","t":" "}"#, RefusalCode::TextBlank, 400),
        (r#"{"id":"1","t":"a\u0000"}"#, RefusalCode::TextNul, 400),
    ];
    for (body, expected, status) in cases {
        assert_eq!(code(text("'/t'", body)), (expected, status), "{body}");
    }
}

#[test]
fn a_text_over_its_bound_is_refused() {
    let spec = spec_of("scheme = 'hmac'\nid = '/id'\ntext = ['/t', 'body']");
    let receiver = Receiver::new(&spec, vec![secret(&spec.resolve().unwrap(), 0)], 20).unwrap();
    for (body, fits) in [
        (r#"{"id":"1","t":"12345678901234567890"}"#, true),
        (r#"{"id":"1","t":"123456789012345678901"}"#, false),
        (r#"{"id":"1","t":["1234567890123456"]}"#, true),
        (r#"{"id":"1","t":["12345678901234567"]}"#, false),
        (r#"{"id":"1","u":"1234567890123456"}"#, false),
    ] {
        let outcome = signed(&receiver, &[], body.as_bytes());
        if fits {
            event(outcome);
        } else {
            assert_eq!(code(outcome), (RefusalCode::TextTooLong, 413), "{body}");
        }
    }
}

#[test]
fn what_differs_from_try_to_try_is_the_sources_to_leave_out() {
    let body = |time: &str| format!(r#"{{"id":"d1","texto":{{"pay":10}},"createdAt":"{time}"}}"#);
    let all = receiver(&spec_of("scheme = 'hmac'\ntext = 'body'"));
    let some = receiver(&spec_of("scheme = 'hmac'\ntext = 'body'\nignore = ['/createdAt']"));
    let text = |receiver: &Receiver, time: &str| event(signed(receiver, &[], body(time).as_bytes())).content;
    assert_ne!(text(&all, "T1"), text(&all, "T2"));
    assert_eq!(text(&some, "T1"), text(&some, "T2"));
    assert_eq!(text(&some, "T1").text(), r#"{"id":"d1","texto":{"pay":1e1}}"#);
    // Of a value within the event, too.
    let within = receiver(&spec_of("scheme = 'hmac'\ntext = '/texto'\nignore = ['/texto/pay', '/other']"));
    assert_eq!(text(&within, "T1").text(), "{}");
}

#[test]
fn types_and_times_are_strict_where_the_source_names_them() {
    let catalogue = receiver(&spec("openai"));
    let long = "x".repeat(300);
    let found = event(signed(&catalogue, &[], format!(r#"{{"type":"{long}","created_at":"never"}}"#).as_bytes()));
    assert_eq!((found.event_type, found.time), (None, None), "the catalogue only suggests");
    let own = receiver(&spec_of("scheme = 'openai'\ntype = '/type'\ntime = '/created_at'\ntime_unit = 'ms'"));
    let outcome = signed(&own, &[], format!(r#"{{"type":"{long}"}}"#).as_bytes());
    assert_eq!(code(outcome), (RefusalCode::TypeInvalid, 400));
    assert_eq!(code(signed(&own, &[], br#"{"created_at":"never"}"#)), (RefusalCode::TimeInvalid, 400));
    let found = event(signed(&own, &[], br#"{"type":"a","created_at":1750000000000}"#));
    assert_eq!((found.event_type.unwrap().as_str(), found.time), ("a", Some(NOW)));
    assert_eq!(event(signed(&own, &[], b"{\"x\":1}")).event_type, None, "they need not be there");
}

#[test]
fn github_sends_json_or_a_form_that_has_it() {
    let github = receiver(&spec("github"));
    let headers = [("X-GitHub-Delivery", "d1"), ("X-GitHub-Event", "issues")];
    let json = event(signed(&github, &headers, br#"{"action":"opened","n":1}"#));
    assert_eq!(json.event_type.as_ref().unwrap().as_str(), "issues.opened");
    assert_eq!(json.content.text(), r#"{"action":"opened","n":1e0}"#);
    let kind = ("content-type", "application/x-www-form-urlencoded");
    let headers = [headers[0], headers[1], kind];
    let form = event(signed(&github, &headers, b"payload=%7B%22action%22%3A%22opened%22%2C%22n%22%3A1%7D"));
    assert_eq!((form.event_type, form.content), (json.event_type, json.content));
    assert_eq!(code(signed(&github, &headers, b"payload=x")).0, RefusalCode::JsonSyntax);
    assert_eq!(code(signed(&github, &headers, b"payload=1&payload=2")).0, RefusalCode::FieldTwice);
    let push = event(signed(&github, &[("X-GitHub-Event", "push")], b"{\"a\":1}"));
    assert_eq!(push.event_type.unwrap().as_str(), "push");
}

#[test]
fn forms_have_fields_for_id_and_text() {
    let receiver = receiver(&spec_of("scheme = 'hmac'\nid = 'form:id'\ntext = ['form:mensaje', 'body']"));
    let kind = ("content-type", "application/x-www-form-urlencoded");
    let found = event(signed(&receiver, &[kind], b"id=f1&mensaje=hola+ma%C3%B1ana"));
    assert_eq!((found.id.as_str(), found.content.text()), ("f1", "hola mañana"));
    let whole = event(signed(&receiver, &[kind], b"id=f1&b=2&b=1&a=%22"));
    assert_eq!(whole.content.text(), r#"{"a":"\"","b":["2","1"],"id":"f1"}"#);
    assert_eq!(code(signed(&receiver, &[kind], b"id=f1&id=f2")).0, RefusalCode::FieldTwice);
    assert_eq!(code(signed(&receiver, &[kind], b"id=%ff&mensaje=a")).0, RefusalCode::Utf8Invalid);
    let kind = ("content-type", "multipart/form-data; boundary=X");
    let body = b"--X\r\nContent-Disposition: form-data; name=\"id\"\r\n\r\nf2\r\n--X\r\nContent-Disposition: form-data; name=\"mensaje\"\r\n\r\nhola\r\n--X--\r\n";
    let found = event(signed(&receiver, &[kind], body));
    assert_eq!((found.id.as_str(), found.content.text()), ("f2", "hola"));
    assert_eq!(code(signed(&receiver, &[kind], &body[..60])).0, RefusalCode::BodyMalformed);
    let plain = common::receiver(&spec_of("scheme = 'hmac'\nfallback_id = 'body-sha256'"));
    assert_eq!(event(signed(&plain, &[("content-type", "text/plain")], "hola ñ".as_bytes())).content.text(), "hola ñ");
}

#[test]
fn slack_sends_events_commands_and_interactions() {
    let slack = receiver(&spec("slack"));
    let found = event(signed(
        &slack,
        &[],
        br#"{"event_id":"Ev1","event_time":1750000000,"event":{"type":"message","text":"hola"}}"#,
    ));
    assert_eq!((found.id.as_str(), found.content.text(), found.time), ("Ev1", "hola", Some(NOW)));
    assert_eq!(found.event_type.unwrap().as_str(), "message");
    let kind = ("content-type", "application/x-www-form-urlencoded");
    let command = event(signed(&slack, &[kind], b"command=%2Fx&text=&trigger_id=T1"));
    assert_eq!(
        (command.id.as_str(), command.content.text()),
        ("T1", r#"{"command":"/x","text":"","trigger_id":"T1"}"#)
    );
    let interaction =
        event(signed(&slack, &[kind], b"payload=%7B%22type%22%3A%22block_actions%22%2C%22trigger_id%22%3A%22T2%22%7D"));
    assert_eq!((interaction.id.as_str(), interaction.event_type.unwrap().as_str()), ("T2", "block_actions"));
}

#[test]
fn too_deep_is_refused() {
    let receiver = receiver(&spec_of("scheme = 'hmac'\nfallback_id = 'body-sha256'"));
    let deep = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat().into_bytes();
    event(signed(&receiver, &[], &deep(64)));
    assert_eq!(code(signed(&receiver, &[], &deep(65))), (RefusalCode::JsonTooDeep, 400));
    assert_eq!(code(signed(&receiver, &[], &deep(1_000_000))), (RefusalCode::JsonTooDeep, 400));
}

#[test]
fn answers_say_what_became_of_the_events() {
    let plain = receiver(&spec_of("scheme = 'hmac'"));
    let body = |receiver: &Receiver, verdicts: &[Verdict]| {
        let reply = receiver.answer(verdicts);
        (reply.status, String::from_utf8(reply.body).unwrap())
    };
    assert_eq!(body(&plain, &[Verdict::New]), (200, r#"{"result":"new"}"#.into()));
    assert_eq!(body(&plain, &[Verdict::Conflict]), (200, r#"{"result":"conflict"}"#.into()));
    assert_eq!(body(&plain, &[]), (200, "{}".into()));
    assert_eq!(
        body(&plain, &[Verdict::Duplicate, Verdict::New]),
        (200, r#"{"result":"new","results":["duplicate","new"]}"#.into())
    );
    let loud = receiver(&spec_of("scheme = 'slack'\nconflict_status = 409"));
    assert_eq!(body(&loud, &[Verdict::Conflict]), (409, r#"{"result":"conflict"}"#.into()));
    assert_eq!(body(&loud, &[Verdict::New]), (200, String::new()));
    let twilio = receiver(&spec("twilio")).answer(&[Verdict::Duplicate]);
    assert_eq!((twilio.content_type, twilio.body.as_slice()), (Some("text/xml; charset=utf-8"), &b"<Response/>"[..]));
    let key = cola_ia_webhook::Secret::parse(
        cola_ia_webhook::find("discord").unwrap(),
        b"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    );
    let discord = Receiver::new(&spec("discord"), vec![key.unwrap()], 1 << 20).unwrap();
    assert_eq!(body(&discord, &[Verdict::New]), (200, "{\"type\":5}".into()));
}

#[test]
fn a_place_that_cannot_be_is_refused_at_the_start() {
    let fault = |toml: &str| {
        let spec = spec_of(toml);
        let scheme = spec.resolve().unwrap();
        Receiver::new(&spec, vec![secret(&scheme, 0)], 1 << 20).unwrap_err().code
    };
    assert_eq!(fault("scheme = 'hmac'\nid = 'id'"), "place");
    assert_eq!(fault("scheme = 'hmac'\nid = '{/a}{/b}'"), "place");
    assert_eq!(fault("scheme = 'hmac'\nid = '/a/*/id'"), "id_of_several");
    assert_eq!(fault("scheme = 'hmac'\neach = '/a'"), "pointer");
    assert_eq!(fault("scheme = 'hmac'\nignore = ['a']"), "pointer");
    assert_eq!(fault("scheme = 'hmac'\ntext = []"), "empty");
}
