//! The parser against another one, `serde_json`, on generated lines.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::fmt::Write as _;

use cola_ia::intake::{LineParser, ParsedLine, Settings};
use cola_ia_core::intake::RefusalCode as R;
use proptest::prelude::*;
use serde::de::IgnoredAny;

fn parse(line: &[u8]) -> Result<ParsedLine, R> {
    LineParser::new(&Settings::default()).parse(line).map_err(|refusal| refusal.code)
}

/// The same event as `serde_json` reads it.
#[derive(serde::Deserialize)]
struct Oracle {
    id: String,
    texto: String,
}

/// A character written as it is, or as one of its escapes, by a number.
fn written(character: char, how: u8, out: &mut String) {
    let must_escape = matches!(character, '"' | '\\') || character < ' ';
    let short = match character {
        '"' => Some('"'),
        '\\' => Some('\\'),
        '/' => Some('/'),
        '\u{8}' => Some('b'),
        '\u{c}' => Some('f'),
        '\n' => Some('n'),
        '\r' => Some('r'),
        '\t' => Some('t'),
        _ => None,
    };
    match (how % 4, short) {
        (0 | 1, _) if !must_escape => out.push(character),
        (0..=2, Some(short)) => out.extend(['\\', short]),
        _ => {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = if how >= 128 { write!(out, "\\u{unit:04x}") } else { write!(out, "\\u{unit:04X}") };
            }
        }
    }
}

fn string(text: &str, hows: &[u8]) -> String {
    let mut out = String::from("\"");
    for (index, character) in text.chars().enumerate() {
        written(character, hows[index % hows.len()], &mut out);
    }
    out.push('"');
    out
}

/// A JSON value without objects of more than one key, so that no key stands twice.
fn any_value() -> impl Strategy<Value = String> {
    let number = "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,6})?";
    let word = prop::sample::select(vec!["true", "false", "null"]).prop_map(str::to_owned);
    let text =
        (any::<String>(), prop::collection::vec(any::<u8>(), 1..5)).prop_map(|(text, hows)| string(&text, &hows));
    prop_oneof![number, word, text].prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|values| format!("[{}]", values.join(" ,\t"))),
            inner.prop_map(|value| format!("{{ \"k\": {value}\r}}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_event_comes_back_byte_for_byte(
        id in "[^\\x00-\\x1f\\x7f]{1,40}".prop_filter("blank", |id| !id.trim().is_empty()),
        text in any::<String>().prop_filter("blank or U+0000", |text| !text.trim().is_empty() && !text.contains('\0')),
        hows in prop::collection::vec(any::<u8>(), 1..9),
        ignored in any_value(),
        spaces in prop::collection::vec(prop::sample::select(vec!["", " ", "\t", "\r", "  "]), 1..7),
        order in Just(vec![0, 1, 2]).prop_shuffle(),
    ) {
        let fields = [
            (string("id", &hows), string(&id, &hows)),
            (string("texto", &hows), string(&text, &hows)),
            (string("x", &hows), ignored),
        ];
        let mut space = spaces.iter().cycle().copied();
        let mut next = || space.next().unwrap_or_default();
        let members: Vec<String> = order
            .iter()
            .map(|index| format!("{}{}{}:{}{}{}", next(), fields[*index].0, next(), next(), fields[*index].1, next()))
            .collect();
        let line = format!("{}{{{}}}{}", next(), members.join(","), next());
        let event = parse(line.as_bytes()).map_err(|code| TestCaseError::fail(format!("{code:?}: {line}")))?;
        prop_assert_eq!(event.id.as_str(), &id);
        prop_assert_eq!(event.content.text(), &text);
        let oracle: Oracle = serde_json::from_str(&line).unwrap();
        prop_assert_eq!(event.id.as_str(), oracle.id);
        prop_assert_eq!(event.content.text(), oracle.texto);
    }

    /// Whatever is done to a line, both parsers agree on whether it is JSON, but for what only one of them forbids.
    #[test]
    fn both_parsers_agree_on_what_is_json(
        value in any_value(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), prop::sample::select(
            &b"{}[]:,\"\\/ \t\r0123456789+-.eEntfaluNI\0\x01\x1f\x7f\x80\xc3\xa9\xff'x"[..],
        )), 0..4),
    ) {
        let mut line = format!("{{\"id\":\"a\",\"texto\":\"b\",\"x\":{value}}}").into_bytes();
        for (index, insert, byte) in edits {
            let at = index.index(line.len());
            if insert { line.insert(at, byte) } else { line[at] = byte }
        }
        let ours = parse(&line);
        // Passing over a value, serde_json looks neither at the encoding nor at surrogates.
        let theirs = serde_json::from_slice::<IgnoredAny>(&line).is_ok() && std::str::from_utf8(&line).is_ok();
        let shown = String::from_utf8_lossy(&line);
        match ours {
            Ok(_) => prop_assert!(theirs, "only we take {}", shown),
            Err(
                R::Utf8Invalid | R::JsonSyntax | R::JsonTrailing | R::JsonNotANumber
            ) => prop_assert!(!theirs, "only we refuse {}: {:?}", shown, ours),
            Err(R::JsonLoneSurrogate | R::JsonTooDeep) => {}
            Err(_) => prop_assert!(theirs, "only we think that {} is JSON", shown),
        }
    }
}
