//! Tables of lines and what they are refused for.

use cola_ia_core::intake::RefusalCode as R;

use super::*;

fn parse_with(settings: &Settings, line: &[u8]) -> Result<ParsedLine, ParseRefusal> {
    LineParser::new(settings).parse(line)
}

fn parse(line: impl AsRef<[u8]>) -> Result<ParsedLine, ParseRefusal> {
    parse_with(&Settings::default(), line.as_ref())
}

/// Code, column and detail of a refusal.
#[track_caller]
fn refused(line: impl AsRef<[u8]>) -> (R, u64, String) {
    let line = line.as_ref();
    match parse(line) {
        Ok(event) => panic!("{} entered as {event:?}", String::from_utf8_lossy(line)),
        Err(refusal) => (refusal.code, refusal.column.unwrap_or(0), refusal.detail),
    }
}

#[track_caller]
fn check(cases: &[(&str, R, u64, &str)]) {
    for (line, code, column, detail) in cases {
        assert_eq!(refused(line), (*code, *column, (*detail).to_owned()), "{line}");
    }
}

/// A good event with this in a field that is ignored.
fn with_ignored(value: &str) -> String {
    format!(r#"{{"id":"a","n":{value},"texto":"b"}}"#)
}

#[test]
fn an_event_is_read_from_either_spelling() {
    for line in [
        r#"{"id":"a","texto":"b","tipo":"t","fecha":"1970-01-01T00:00:01Z","origen":"s"}"#,
        r#"{"source":"s","time":"1970-01-01T00:00:01Z","type":"t","text":"b","id":"a"}"#,
        "\t{ \"id\" : \"a\" , \"\\u0074exto\":\"\\u0062\", \"tipo\":\"t\",\"time\":\"1970-01-01T00:00:01Z\",\"origen\":\"s\" } \r",
    ] {
        let event = parse(line).unwrap();
        assert_eq!((event.id.as_str(), event.content.text(), event.source.as_str()), ("a", "b", "s"));
        assert_eq!(event.event_type.unwrap().as_str(), "t");
        assert_eq!(event.time.unwrap().as_micros(), 1_000_000);
    }
    let event = parse(r#"{"id":"a","texto":"b","tipo":null,"time":null,"origen":null,"otra":[{}]}"#).unwrap();
    assert_eq!((event.event_type, event.time, event.source.as_str()), (None, None, "default"));
}

#[test]
fn ids_and_texts_are_kept_byte_for_byte() {
    for (written, meant) in [
        ("caf\u{e9}", "caf\u{e9}"),
        ("cafe\u{301}", "cafe\u{301}"),
        ("caf\\u00e9", "caf\u{e9}"),
        ("A ", "A "),
        (" A", " A"),
        ("A\u{200b}", "A\u{200b}"),
        ("\u{feff}A", "\u{feff}A"),
        ("\u{fffd}", "\u{fffd}"),
        ("\\ud83d\\ude00", "😀"),
        ("\\\\u0000", "\\u0000"),
        ("\\/\\\"", "/\""),
        ("01", "01"),
    ] {
        let event = parse(format!(r#"{{"id":"{written}","texto":"{written}"}}"#)).unwrap();
        assert_eq!((event.id.as_str(), event.content.text()), (meant, meant));
    }
    let text = parse(r#"{"id":"a","texto":"\b\f\n\r\t\u001b\u007f"}"#).unwrap().content;
    assert_eq!(text.text(), "\u{8}\u{c}\n\r\t\u{1b}\u{7f}");
}

#[test]
fn what_is_not_json_is_refused_where_it_shows() {
    check(&[
        ("hola", R::JsonSyntax, 1, "hola"),
        ("id,texto", R::JsonSyntax, 1, "id,texto"),
        ("{'id':'a'}", R::JsonSyntax, 2, "'id':'a'}"),
        ("{id:\"a\"}", R::JsonSyntax, 2, "id:\"a\"}"),
        (r#"{"id":"a" "texto":"b"}"#, R::JsonSyntax, 11, r#""texto":"b"}"#),
        (r#"{"id" "a"}"#, R::JsonSyntax, 7, r#""a"}"#),
        (r#"{"id":"a","texto":"b",}"#, R::JsonSyntax, 23, "}"),
        (r#"{"id":"a",,"texto":"b"}"#, R::JsonSyntax, 11, r#","texto":"b"}"#),
        (r#"{"id":"a","n":[1,]}"#, R::JsonSyntax, 18, "]}"),
        (r#"{"id":"a","n":[1 2]}"#, R::JsonSyntax, 18, "2]}"),
        (r#"{"id":"a","n":[}"#, R::JsonSyntax, 16, "}"),
        (r#"{"id":"a","n":[1}"#, R::JsonSyntax, 17, "}"),
        (r#"{"id":"a","n":}"#, R::JsonSyntax, 15, "}"),
        (r#"{"id":"a"// x"#, R::JsonSyntax, 10, "// x"),
        (r#"{"id":True}"#, R::JsonSyntax, 7, "True}"),
        (r#"{"id":undefined}"#, R::JsonSyntax, 7, "undefined}"),
        (r#"{"id":nul}"#, R::JsonSyntax, 10, "}"),
        (r#"{"id":"a\x"}"#, R::JsonSyntax, 10, "x\"}"),
        (r#"{"id":"a\u12"}"#, R::JsonSyntax, 13, "\"}"),
        (r#"["\u1"]"#, R::JsonSyntax, 6, "\"]"),
        (r#"["\uzzzz"]"#, R::JsonSyntax, 5, "zzzz\"]"),
        ("{\"id\":\"a\tb\"}", R::JsonSyntax, 9, "\\u0009b\"}"),
        ("{\"id\":\"a\0b\"}", R::JsonSyntax, 9, "\\u0000b\"}"),
        ("{\"id\":\"a\",\"x\u{1f}\":1}", R::JsonSyntax, 13, "\\u001f\":1}"),
        ("{\0\"id\":\"a\"}", R::JsonSyntax, 2, "\\u0000\"id\":\"a\"}"),
        ("{\"id\":\0\"a\"}", R::JsonSyntax, 7, "\\u0000\"a\"}"),
        ("\u{c}{}", R::JsonSyntax, 1, "\\u000c{}"),
        ("\u{a0}{}", R::JsonSyntax, 1, "\u{a0}{}"),
        ("\u{feff}{\"id\":\"a\",\"texto\":\"b\"}", R::JsonSyntax, 1, "\u{feff}{\"id\":\"a\",\"texto\":\"b\"}"),
        ("{\"id\":\"a\",\"texto\":\"b\"\u{feff}}", R::JsonSyntax, 22, "\u{feff}}"),
    ]);
}

#[test]
fn a_value_with_more_behind_it_does_not_enter() {
    check(&[
        (r#"{"id":"m1","texto":"a"}{"id":"m2","texto":"b"}"#, R::JsonTrailing, 24, r#"{"id":"m2","texto":"b"}"#),
        (r#"{"id":"m3","texto":"c"},"#, R::JsonTrailing, 24, ","),
        (r#"{"id":"m3","texto":"c"} x"#, R::JsonTrailing, 25, "x"),
        (r#"{"id":"m3","texto":"c"}]"#, R::JsonTrailing, 24, "]"),
        ("{\"id\":\"m3\",\"texto\":\"c\"}\0", R::JsonTrailing, 24, "\\u0000"),
        ("{\"id\":\"m3\",\"texto\":\"c\"}\u{feff}{\"id\":\"b1\"}", R::JsonTrailing, 24, "\u{feff}{\"id\":\"b1\"}"),
        ("{}{}", R::JsonTrailing, 3, "{}"),
        ("1 2", R::JsonTrailing, 3, "2"),
        ("\"id\",\"texto\"", R::JsonTrailing, 5, ",\"texto\""),
        ("\"meta\": {", R::JsonTrailing, 7, ": {"),
        ("2026-01-01 {\"id\":\"a\"}", R::JsonTrailing, 5, "-01-01 {\"id\":\"a\"}"),
    ]);
}

#[test]
fn numbers_of_any_size_are_ignored_and_wrong_ones_refused() {
    for number in [
        "0",
        "-0",
        "0.0",
        "-0.0e-999",
        "1e400",
        "1E+400",
        "1e-400",
        "1e99999999999999999999",
        "123.456e7",
        &"9".repeat(400),
        &"9".repeat(4_300),
        &"9".repeat(4_301),
        &"9".repeat(200_000),
        &format!("-{}.{}e-{}", "7".repeat(5_000), "0".repeat(5_000), "1".repeat(5_000)),
        &format!("{}0e1", "1".repeat(5_000)),
        &format!("1.{}", "3".repeat(9_000)),
        &format!("1e{}", "3".repeat(9_000)),
    ] {
        assert!(parse(with_ignored(number)).is_ok(), "{}", &number[..number.len().min(30)]);
        assert!(parse(with_ignored(&format!("[{number},[{number}],{{\"a\":{number}}}]"))).is_ok());
    }
    let at = r#"{"id":"a","n":"#.len() as u64 + 1;
    for (number, offset) in [
        ("01", 1),
        ("-01", 2),
        ("00", 1),
        ("+1", 0),
        (".5", 0),
        ("-.5", 1),
        ("1.", 2),
        ("1.e5", 2),
        ("0x1", 1),
        ("1e", 2),
        ("1e+", 3),
        ("-", 1),
        ("--1", 1),
        ("1_000", 1),
        ("1,5,", 2),
        ("0.1.2", 3),
        ("1e1.5", 3),
        ("1f", 1),
    ] {
        let (code, column, _) = refused(with_ignored(number));
        assert_eq!((code, column), (R::JsonSyntax, at + offset), "{number}");
    }
    for tail in [".", "e", "x", ".e1", "e+"] {
        let number = format!("{}{tail}", "9".repeat(5_000));
        let (code, column, _) = refused(with_ignored(&number));
        assert_eq!(code, R::JsonSyntax, "5,000 digits and {tail}");
        assert!((at + 5_000..=at + 5_000 + tail.len() as u64).contains(&column), "{column}");
    }
    let id = "9".repeat(5_000);
    assert_eq!(refused(format!(r#"{{"id":{id},"texto":"x"}}"#)).0, R::IdNumber);
}

#[test]
fn what_is_not_a_number_is_refused_as_that() {
    for word in ["NaN", "Infinity", "-Infinity", "-NaN", "+NaN", "nan", "inf", "-inf", "Inf", "INF", "+Infinity"] {
        for line in [with_ignored(word), with_ignored(&format!("[1,{{\"a\":{word}}}]")), word.to_owned()] {
            let (code, column, _) = refused(&line);
            assert_eq!((code, column as usize), (R::JsonNotANumber, line.find(word).unwrap() + 1), "{line}");
        }
    }
    for word in ["NaNa", "Infinit", "nano", "-Infinityx", "NaN1", "-"] {
        assert_eq!(refused(with_ignored(word)).0, R::JsonSyntax, "{word}");
    }
    assert!(parse(with_ignored("\"NaN\"")).is_ok());
}

#[test]
fn a_key_that_stands_twice_is_refused_at_any_depth() {
    check(&[
        (r#"{"id":"k1","texto":"pay 1","id":"k2"}"#, R::JsonDuplicateKey, 28, "id"),
        (r#"{"id":"k3","texto":"pay 1","texto":"pay 100"}"#, R::JsonDuplicateKey, 28, "texto"),
        (r#"{"id":"k4","texto":"x","meta":{"to":"a","to":"b"}}"#, R::JsonDuplicateKey, 41, "to"),
        (r#"{"id":"k4","texto":"x","meta":[0,[{"a":{"to":"a","x":1,"to":"a"}}]]}"#, R::JsonDuplicateKey, 56, "to"),
        (r#"{"id":"k5","texto":"x","\u0069d":"k5"}"#, R::JsonDuplicateKey, 24, "id"),
        (r#"{"id":"k6","texto":"x","":1,"":1}"#, R::JsonDuplicateKey, 29, ""),
        (r#"{"id":"k7","texto":"x","\ud83d\ude00":1,"😀":1}"#, R::JsonDuplicateKey, 41, "😀"),
        (r#"{"id":"k8","texto":"x","\n":1,"\u000A":1}"#, R::JsonDuplicateKey, 31, "\\u000a"),
        // The first in reading order, although the inner object ends before the outer one.
        (r#"{"a":1,"a":{"b":1,"b":2}}"#, R::JsonDuplicateKey, 8, "a"),
        (r#"{"a":{"b":1,"b":2},"a":1}"#, R::JsonDuplicateKey, 13, "b"),
    ]);
    for line in [
        r#"{"id":"a","texto":"b","ID":1,"Id":2,"id ":3}"#,
        r#"{"id":"a","texto":"b","x":{"id":1},"y":{"id":1},"z":[{"id":1},{"id":1}]}"#,
        r#"{"id":"a","texto":"b","\\u0069d":1}"#,
        "{\"id\":\"a\",\"texto\":\"b\",\"caf\u{e9}\":1,\"cafe\u{301}\":2}",
    ] {
        assert!(parse(line).is_ok(), "{line}");
    }
}

#[test]
fn half_a_surrogate_pair_is_refused_anywhere() {
    check(&[
        (r#"{"id":"a","texto":"\ud83d"}"#, R::JsonLoneSurrogate, 20, r#"\ud83d"}"#),
        (r#"{"id":"a\udc00","texto":"b"}"#, R::JsonLoneSurrogate, 9, r#"\udc00","texto":"b"}"#),
        (r#"{"id":"a","texto":"b","x":"\ud83dx"}"#, R::JsonLoneSurrogate, 28, r#"\ud83dx"}"#),
        (r#"{"id":"a","texto":"b","x":["\ud83d\n"]}"#, R::JsonLoneSurrogate, 29, r#"\ud83d\n"]}"#),
        (r#"{"id":"a","texto":"b","\ud83d\u0041":1}"#, R::JsonLoneSurrogate, 24, r#"\ud83d\u0041":1}"#),
        (r#"{"id":"a","texto":"b","x":{"k\uDFFF":1}}"#, R::JsonLoneSurrogate, 30, r#"\uDFFF":1}}"#),
        (r#"{"id":"a","texto":"\ud83d\ud83d\ude00"}"#, R::JsonLoneSurrogate, 20, r#"\ud83d\ud83d\ude00"}"#),
        (r#"{"id":"a","texto":"\ud83d\ude00\ude00"}"#, R::JsonLoneSurrogate, 32, r#"\ude00"}"#),
        (r#""\ud800""#, R::JsonLoneSurrogate, 2, r#"\ud800""#),
    ]);
    assert!(parse(with_ignored(r#""\ud83d\ude00\\ud83d\uFFFF""#)).is_ok());
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize, open: &str, inner: &str, close: &str| {
        with_ignored(&format!("{}{inner}{}", open.repeat(depth), close.repeat(depth)))
    };
    assert!(parse(nested(63, "[", "", "]")).is_ok());
    assert!(parse(nested(62, "{\"a\":", "{}", "}")).is_ok());
    let at = r#"{"id":"a","n":"#.len() as u64;
    let detail = format!("[{}", "]".repeat(31));
    assert_eq!(refused(nested(64, "[", "", "]")), (R::JsonTooDeep, at + 64, detail));
    assert_eq!(refused(nested(64, "{\"a\":", "1", "}")).0, R::JsonTooDeep);
    assert_eq!(refused(nested(200_000, "[", "", "]")).0, R::JsonTooDeep);
    assert_eq!(refused("[".repeat(200_000)).0, R::JsonTooDeep);
    assert_eq!(refused("{\"a\":".repeat(200_000)).0, R::JsonTooDeep);
}

#[test]
fn bytes_that_are_not_utf8_are_refused_and_never_replaced() {
    let cases: [(&[u8], u64, &str); 8] = [
        (b"{\"id\":\"e1\",\"texto\":\"caf\xe9\"}", 24, "0xE9"),
        (b"{\"id\":\"e1\xff\",\"texto\":\"x\"}", 10, "0xFF"),
        (b"{\"id\":\"e1\",\"texto\":\"\xed\xa0\x80\"}", 21, "0xED"),
        (b"{\"id\":\"e1\",\"texto\":\"\xc0\x80\"}", 21, "0xC0"),
        (b"{\"id\":\"e1\",\"texto\":\"\xf4\x90\x80\x80\"}", 21, "0xF4"),
        (b"{\"id\":\"e1\",\"texto\":\"x\",\"otra\":\"\x80\"}", 32, "0x80"),
        (b"{\"id\":\"e1\",\"texto\":\"x\",\"\xe9\":1}", 25, "0xE9"),
        (b"\xe9", 1, "0xE9"),
    ];
    for (line, column, detail) in cases {
        assert_eq!(refused(line), (R::Utf8Invalid, column, detail.to_owned()));
    }
    assert_eq!(parse("{\"id\":\"e3\",\"texto\":\"real \u{fffd} sign\"}").unwrap().content.text(), "real \u{fffd} sign");
}

#[test]
fn a_line_is_an_object() {
    check(&[
        (r#"["m6","x"]"#, R::JsonNotObject, 1, r#"["m6","x"]"#),
        (r#"[{"id":"a","texto":"b"}]"#, R::JsonNotObject, 1, r#"[{"id":"a","texto":"b"}]"#),
        (" \"x\"", R::JsonNotObject, 2, "\"x\""),
        ("12", R::JsonNotObject, 1, "12"),
        ("null", R::JsonNotObject, 1, "null"),
        ("true", R::JsonNotObject, 1, "true"),
        // Not an object comes before a key that stands twice.
        (r#"[{"a":1,"a":2}]"#, R::JsonNotObject, 1, r#"[{"a":1,"a":2}]"#),
    ]);
}

#[test]
fn ids_are_strings() {
    check(&[
        (r#"{"texto":"A"}"#, R::IdMissing, 0, ""),
        ("{}", R::IdMissing, 0, ""),
        (r#"{"id":1,"texto":"A"}"#, R::IdNumber, 7, "1"),
        (r#"{"id": 1.0,"texto":"C"}"#, R::IdNumber, 8, "1.0"),
        (r#"{"id":1e0,"texto":"D"}"#, R::IdNumber, 7, "1e0"),
        (r#"{"id":-0,"texto":"D"}"#, R::IdNumber, 7, "-0"),
        (r#"{"id":18446744073709551617,"texto":"D"}"#, R::IdNumber, 7, "18446744073709551617"),
        (r#"{"id":true,"texto":"F"}"#, R::IdNotString, 7, "true"),
        (r#"{"id":null,"texto":"G"}"#, R::IdNotString, 7, "null"),
        (r#"{"id":{"a":1},"texto":"I"}"#, R::IdNotString, 7, r#"{"a":1}"#),
        (r#"{"id":["a"],"texto":"I"}"#, R::IdNotString, 7, r#"["a"]"#),
        (r#"{"id":"","texto":"H"}"#, R::IdBlank, 7, ""),
        (r#"{"id":" \u3000","texto":"H"}"#, R::IdBlank, 7, " \u{3000}"),
        (r#"{"id":"z2\u0000","texto":"x"}"#, R::IdControl, 7, "z2\\u0000"),
        (r#"{"id":"a\nb","texto":"x"}"#, R::IdControl, 7, "a\\u000ab"),
        ("{\"id\":\"a\u{7f}\",\"texto\":\"x\"}", R::IdControl, 7, "a\\u007f"),
    ]);
    let long = |count: usize, character: &str| format!(r#"{{"id":"{}","texto":"x"}}"#, character.repeat(count));
    assert!(parse(long(1_024, "a")).is_ok());
    assert_eq!(refused(long(1_025, "a")), (R::IdTooLong, 7, "1025".to_owned()));
    assert_eq!(refused(long(342, "\\u20ac")), (R::IdTooLong, 7, "1026".to_owned()));
}

#[test]
fn texts_are_strings_within_their_bound() {
    check(&[
        (r#"{"id":"a"}"#, R::TextMissing, 0, ""),
        (r#"{"id":"a","texto":null}"#, R::TextNotString, 19, "null"),
        (r#"{"id":"a","text":5}"#, R::TextNotString, 18, "5"),
        (r#"{"id":"a","texto":{"a":1}}"#, R::TextNotString, 19, r#"{"a":1}"#),
        (r#"{"id":"a","texto":""}"#, R::TextBlank, 19, ""),
        (r#"{"id":"a","texto":"\n \t"}"#, R::TextBlank, 19, ""),
        (r#"{"id":"z1","texto":"a\u0000b"}"#, R::TextNul, 20, ""),
        (r#"{"id":"a","texto":"x","text":"x"}"#, R::FieldTwice, 23, "text"),
        (r#"{"id":"a","text":null,"texto":"x"}"#, R::FieldTwice, 23, "texto"),
    ]);
    assert_eq!(
        parse(r#"{"id":"z3","texto":"the six letters \\u0000"}"#).unwrap().content.text(),
        "the six letters \\u0000"
    );
    let settings = Settings { max_text_bytes: 4, ..Settings::default() };
    let bounded = |text: &str| {
        let line = format!(r#"{{"id":"a","texto":"{text}"}}"#);
        parse_with(&settings, line.as_bytes()).map_err(|refusal| (refusal.code, refusal.detail))
    };
    assert!(bounded("1234").is_ok());
    assert!(bounded("\\u00e9\\u00e9").is_ok());
    assert_eq!(bounded("12345").unwrap_err(), (R::TextTooLong, "5".to_owned()));
    assert_eq!(bounded("\\u00e9\\u00e9x").unwrap_err(), (R::TextTooLong, "5".to_owned()));
}

#[test]
fn optional_fields_are_checked() {
    let long = "t".repeat(257);
    check(&[
        (r#"{"id":"a","texto":"b","tipo":1}"#, R::TypeInvalid, 30, "1"),
        (r#"{"id":"a","texto":"b","type":" "}"#, R::TypeInvalid, 30, " "),
        (r#"{"id":"a","texto":"b","type":"a\u0000"}"#, R::TypeInvalid, 30, "a\\u0000"),
        (r#"{"id":"a","texto":"b","type":"x","tipo":null}"#, R::FieldTwice, 34, "tipo"),
        (r#"{"id":"a","texto":"b","fecha":"2026-01-01"}"#, R::TimeInvalid, 31, "2026-01-01"),
        (r#"{"id":"a","texto":"b","fecha":1767225600}"#, R::TimeInvalid, 31, "1767225600"),
        (r#"{"id":"a","texto":"b","fecha":""}"#, R::TimeInvalid, 31, ""),
        (r#"{"id":"a","texto":"b","fecha":"x","time":"x"}"#, R::FieldTwice, 35, "time"),
        (r#"{"id":"a","texto":"b","origen":"Mi Origen"}"#, R::SourceInvalid, 32, "Mi Origen"),
        (r#"{"id":"a","texto":"b","origen":""}"#, R::SourceInvalid, 32, ""),
        (r#"{"id":"a","texto":"b","origen":7}"#, R::SourceInvalid, 32, "7"),
        (r#"{"id":"a","texto":"b","origen":"x","source":"x"}"#, R::FieldTwice, 36, "source"),
        (r#"{"id":"a","texto":"b","s\u006furce":"x","origen":"x"}"#, R::FieldTwice, 41, "origen"),
    ]);
    assert_eq!(refused(format!(r#"{{"id":"a","texto":"b","tipo":"{long}"}}"#)).0, R::TypeInvalid);
    assert!(parse(format!(r#"{{"id":"a","texto":"b","tipo":"{}"}}"#, &long[1..])).is_ok());
}

#[test]
fn a_source_given_with_the_input_is_the_only_one() {
    let settings = Settings { source: Some(Source::new("web").unwrap()), ..Settings::default() };
    let mut parser = LineParser::new(&settings);
    let mut source = |line: &str| {
        parser.parse(line.as_bytes()).map(|event| event.source.to_string()).map_err(|refusal| refusal.code)
    };
    assert_eq!(source(r#"{"id":"a","texto":"b"}"#), Ok("web".to_owned()));
    assert_eq!(source(r#"{"id":"a","texto":"b","origen":"web"}"#), Ok("web".to_owned()));
    assert_eq!(source(r#"{"id":"a","texto":"b","origen":"mail"}"#), Err(R::SourceMismatch));
    assert_eq!(source(r#"{"id":"a","texto":"b","origen":"default"}"#), Err(R::SourceMismatch));
    assert_eq!(source(r#"{"id":"a","texto":"b","origen":"WEB"}"#), Err(R::SourceInvalid));
    let mut parser = LineParser::new(&Settings::default());
    for (line, expected) in [
        (r#"{"id":"a","texto":"b","origen":"web"}"#, "web"),
        (r#"{"id":"a","texto":"b"}"#, "default"),
        (r#"{"id":"a","texto":"b","origen":"mail"}"#, "mail"),
        (r#"{"id":"a","texto":"b","origen":"web"}"#, "web"),
    ] {
        assert_eq!(parser.parse(line.as_bytes()).unwrap().source.as_str(), expected);
    }
}

#[test]
fn the_first_rule_broken_is_the_one_reported() {
    for (line, code) in [
        // Not UTF-8 before all else.
        (&b"{\"id\":NaN,\"x\":\"\xff\"}"[..], R::Utf8Invalid),
        // Syntax before keys and fields, wherever it stands.
        (b"{\"id\":\"\",\"texto\":\"x\"", R::JsonSyntax),
        (b"{\"id\":1,\"id\":2,\"texto\":NaN}", R::JsonNotANumber),
        (b"{\"a\":1,\"a\":2}{}", R::JsonTrailing),
        (b"{\"a\":NaN,\"b\":\"\\ud800\"", R::JsonNotANumber),
        // Keys before fields.
        (b"{\"id\":1,\"texto\":2,\"id\":3}", R::JsonDuplicateKey),
        // Fields in their order.
        (b"{\"id\":1,\"texto\":\"x\",\"text\":\"x\",\"origen\":1}", R::FieldTwice),
        (b"{\"id\":1,\"texto\":1,\"origen\":1,\"tipo\":1,\"fecha\":1}", R::SourceInvalid),
        (b"{\"id\":1,\"texto\":1,\"tipo\":1,\"fecha\":1}", R::IdNumber),
        (b"{\"id\":\"a\",\"texto\":1,\"tipo\":1,\"fecha\":1}", R::TextNotString),
        (b"{\"id\":\"a\",\"texto\":\"x\",\"tipo\":1,\"fecha\":1}", R::TypeInvalid),
        (b"{\"id\":\"a\",\"texto\":\"x\",\"fecha\":1}", R::TimeInvalid),
    ] {
        assert_eq!(refused(line).0, code, "{}", String::from_utf8_lossy(line));
    }
}

#[test]
fn a_line_that_ends_too_early_is_told_from_a_wrong_one() {
    let whole = r#"{"id":"a","n":[1,{"b":true}],"texto":"\u00e9\n"}"#;
    let cut = |line: &str| parse(line).unwrap_err();
    for length in 1..whole.len() {
        let refusal = cut(&whole[..length]);
        assert_eq!(refusal.code, R::JsonSyntax, "{}", &whole[..length]);
        assert_ne!(refusal.cut, Cut::No, "{}", &whole[..length]);
        assert_eq!(refusal.column, Some(length as u64 + 1), "{}", &whole[..length]);
    }
    for line in ["{", "[", "[1", "[1,", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":[", "[{}", " [ "] {
        assert_eq!(cut(line).cut, Cut::BetweenTokens, "{line}");
    }
    for line in ["\"a", "{\"a", "[\"a\\", "[\"a\\u12", "[tru", "[-", "[1.", "[1e", "[\"\\ud83d", "[\"\\ud83d\\u", "-"] {
        assert_eq!(cut(line).cut, Cut::WithinToken, "{line}");
    }
    assert_eq!(cut("[\"a\\\\u1z").cut, Cut::WithinToken);
    for line in ["}", "[}", "{]", "[NaN", "{\"a\":1}{", "]", "{\"a\":01"] {
        assert_eq!(cut(line).cut, Cut::No, "{line}");
    }
}

#[test]
fn a_million_keys_are_no_trouble() {
    let mut line = String::from(r#"{"id":"a","texto":"b""#);
    for number in 0..700_000 {
        use std::fmt::Write as _;
        write!(line, ",\"{number:x}\":0").unwrap();
    }
    let mut parser = LineParser::new(&Settings::default());
    assert!(parser.parse(format!("{line}}}").as_bytes()).is_ok());
    let refusal = parser.parse(format!("{line},\"\\u0061b\":1}}").as_bytes()).unwrap_err();
    assert_eq!((refusal.code, refusal.detail.as_str()), (R::JsonDuplicateKey, "ab"));
    // The same key a million times, and a million objects.
    let same = format!(r#"{{"id":"a","texto":"b"{}}}"#, ",\"\":0".repeat(1_000_000));
    assert_eq!(parser.parse(same.as_bytes()).unwrap_err().code, R::JsonDuplicateKey);
    let objects = format!(r#"{{"id":"a","texto":"b","n":[{}0]}}"#, "{\"a\":1,\"b\":2},".repeat(300_000));
    assert!(parser.parse(objects.as_bytes()).is_ok());
}
