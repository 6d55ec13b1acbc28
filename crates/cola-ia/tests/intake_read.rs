//! Whole inputs: what enters, what is refused and what is rejected.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::collections::VecDeque;
use std::io::{self, Read, Write as _};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use cola_ia::intake::{InputEnd, InputErrorKind, Packing, Settings, Sink, read_input};
use cola_ia_core::intake::{Intake, Refusal, RefusalCode as R};

#[derive(Default)]
struct Heard {
    items: Vec<Intake>,
    rejected: Vec<u8>,
    idles: u32,
    /// Stop after so many items.
    patience: Option<usize>,
}

impl Sink for Heard {
    fn intake(&mut self, item: Intake) -> ControlFlow<()> {
        self.items.push(item);
        if self.patience == Some(self.items.len()) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn rejected(&mut self, raw: &[u8]) {
        self.rejected.extend(raw);
    }

    fn idle(&mut self) -> ControlFlow<()> {
        self.idles += 1;
        ControlFlow::Continue(())
    }
}

impl Heard {
    /// Each event as `line:id`, each refusal as `line:!code` and `×count` where it is not 1, in the order heard.
    fn told(&self) -> Vec<String> {
        let one = |item: &Intake| match item {
            Intake::Delivery(event) => format!("{}:{}", event.origin.line, event.id),
            Intake::Refusal(refusal) => {
                let count = if refusal.count == 1 { String::new() } else { format!("×{}", refusal.count) };
                format!("{}:!{}{count}", refusal.origin.line, refusal.code.as_str())
            }
        };
        self.items.iter().map(one).collect()
    }

    fn refusal(&self, code: R) -> &Refusal {
        let mut all = self.items.iter().filter_map(|item| match item {
            Intake::Refusal(refusal) if refusal.code == code => Some(refusal),
            _ => None,
        });
        all.next().unwrap()
    }
}

fn read_with(settings: &Settings, input: impl Read) -> (Heard, InputEnd) {
    let mut heard = Heard::default();
    let end = read_input(&"f.jsonl".into(), input, settings, &Arc::default(), &mut heard);
    let accounted = end.blank + end.delivered + end.refused_lines + u64::from(end.unfinished.is_some());
    assert_eq!(end.lines, accounted, "every line is accounted for");
    (heard, end)
}

fn read(input: impl AsRef<[u8]>) -> (Heard, InputEnd) {
    read_with(&Settings::default(), input.as_ref())
}

#[track_caller]
fn check(input: impl AsRef<[u8]>, expected: &[&str]) -> (Heard, InputEnd) {
    let (heard, end) = read(input.as_ref());
    let shown = String::from_utf8_lossy(&input.as_ref()[..input.as_ref().len().min(400)]);
    assert_eq!(heard.told(), expected, "{shown}");
    (heard, end)
}

fn event(id: &str) -> String {
    format!("{{\"id\":\"{id}\",\"texto\":\"uno\"}}\n")
}

fn gzip_at(level: u32, bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(level));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    gzip_at(1, bytes)
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

#[test]
fn a_mark_at_the_start_crlf_and_blank_lines_are_no_error() {
    let input = b"\xef\xbb\xbf{\"id\":\"b1\",\"texto\":\"one\"}\r\n\r\n{\"id\":\"b2\",\"texto\":\"two\"}\r\n   \n{\"id\":\"b3\",\"texto\":\"three\"}";
    let (heard, end) = check(input, &["1:b1", "3:b2", "5:b3"]);
    assert_eq!((end.lines, end.blank, end.unfinished), (5, 2, None));
    assert!(heard.rejected.is_empty());
    // Twice in a row: the mark is in the middle now, and glued to an event.
    let (heard, _) = check([&input[..], input].concat(), &["1:b1", "3:b2", "5:!json_trailing", "7:b2", "9:b3"]);
    let glued = b"{\"id\":\"b3\",\"texto\":\"three\"}\xef\xbb\xbf{\"id\":\"b1\",\"texto\":\"one\"}\r\n";
    assert_eq!(heard.rejected, glued);
    check(format!("{}\u{feff}{}", event("a"), event("b")), &["1:a", "2:!json_syntax"]);
    check("\u{feff}", &[]);
    check("\u{feff}\n\n", &[]);
    check("", &[]);
    check("{\"id\":\"a\",\"texto\":\"b\u{2028}c\u{85}d\"}\n", &["1:a"]);
    check("{\"id\":\"a\",\"texto\":\"b\"}\r{\"id\":\"c\",\"texto\":\"d\"}\n", &["1:!json_trailing"]);
}

#[test]
fn an_unterminated_line_that_does_not_parse_is_unfinished() {
    let tails = [
        "{\"id\":\"t2\",\"te",
        "{",
        "{\"id\":\"t2\",",
        "[",
        "x",
        "{\"id\":\"t2\"}}",
        "\u{feff}{}",
        "{\"id\":NaN",
        "\"\\ud800\"",
        "{\"id\":\"a\r",
    ];
    for tail in tails {
        let (heard, end) = check(format!("{}{tail}", event("t1")), &["1:t1"]);
        assert_eq!((end.unfinished, end.lines), (Some(2), 2), "{tail}");
        assert!(heard.rejected.is_empty());
    }
    let (_, end) = check(b"{\"id\":\"t1\",\"texto\":\"caf\xc3", &[]);
    assert_eq!(end.unfinished, Some(1));
    // What parses is an event, or breaks a rule of the fields.
    check("{\"id\":\"t1\",\"texto\":\"x\"}", &["1:t1"]);
    check("{\"id\":\"t1\",\"texto\":\"x\"}\r", &["1:t1"]);
    let (heard, end) = check("{\"id\":5,\"texto\":\"x\"}", &["1:!id_number"]);
    assert_eq!((heard.rejected.as_slice(), end.unfinished), (&b"{\"id\":5,\"texto\":\"x\"}"[..], None));
    check("{\"id\":\"a\",\"id\":\"a\"}", &["1:!json_duplicate_key"]);
    check("[]", &["1:!json_not_object"]);
    check("  \t ", &[]);
}

#[test]
fn half_a_line_with_a_whole_one_glued_to_it_is_refused_alone() {
    let input = format!("{}{{\"id\":\"t2\",\"te{}{}", event("t1"), event("t3"), event("t4"));
    let (heard, _) = check(&input, &["1:t1", "2:!json_syntax", "3:t4"]);
    assert_eq!(heard.rejected, format!("{{\"id\":\"t2\",\"te{}", event("t3")).as_bytes());
}

#[test]
fn a_truncated_line_does_not_take_the_lines_after_it_with_it() {
    let truncated = [
        "{\"id\":\"t",
        "{",
        "[",
        "{\"id\":\"t1\"",
        "{\"id\":\"t1\",",
        "{\"id\":\"t1\",\"texto\":",
        "{\"id\":\"t1\",\"m\":[",
        "{\"id\":\"t1\",\"m\":[1,",
        "[{\"id\":\"x\"},",
        "{\"id\":\"t1\",\"m\":{\"n\":",
        "{\"m\":[{\"n\":[",
    ];
    for truncated in truncated {
        for after in 1..5 {
            let events: String = (0..after).map(|number| event(&format!("e{number}"))).collect();
            let (heard, end) = read(format!("{truncated}\n{events}"));
            let mut told = heard.told();
            told.sort();
            let mut expected = vec!["1:!json_syntax".to_owned()];
            expected.extend((0..after).map(|number| format!("{}:e{number}", number + 2)));
            assert_eq!(told, expected, "{truncated} and {after}");
            assert_eq!(heard.rejected, format!("{truncated}\n").as_bytes());
            assert_eq!(end.refused_lines, 1);
        }
    }
}

#[test]
fn faults_of_one_line_leave_the_others_alone() {
    let input = concat!(
        r#"{"id":"m1","texto":"a"}{"id":"m2","texto":"b"}"#,
        "\n",
        r#"{"id":"m3","texto":"c"},"#,
        "\n",
        r#"{"id":"m4","texto":"d","score":NaN}"#,
        "\n",
        r#"{"id":"m5","texto":"e","n":1e400}"#,
        "\n",
        r#"["m6","x"]"#,
        "\n",
        r#"{"id":"m7","texto":"good"}"#,
        "\n",
    );
    let expected =
        ["1:!json_trailing", "2:!json_trailing", "3:!json_not_a_number", "4:m5", "5:!json_not_object", "6:m7"];
    check(input, &expected);
    let input = b"{\"id\":\"e1\",\"texto\":\"caf\xe9\"}\n{\"id\":\"e1\xff\",\"texto\":\"x\"}\n{\"id\":\"e3\",\"texto\":\"real \xef\xbf\xbd sign\"}\n{\"id\":\"e4\",\"texto\":\"ok\"}\n";
    let (heard, _) = check(input, &["1:!utf8_invalid", "2:!utf8_invalid", "3:e3", "4:e4"]);
    assert!(input.starts_with(&heard.rejected));
}

const PRETTY: &str = "[\n    {\n        \"id\": \"p1\",\n        \"texto\": \"x\"\n    }\n]\n";
const SMALL: &str = "{\n  \"id\": \"a\",\n  \"texto\": \"b\"\n}\n";

#[test]
fn a_pretty_printed_document_is_one_refusal() {
    let (heard, end) = check(PRETTY, &["1:!json_document"]);
    assert_eq!((heard.refusal(R::JsonDocument).detail.as_str(), end.refused_lines), ("6", 6));
    assert_eq!(heard.rejected, PRETTY.as_bytes());
    check(PRETTY.trim_end(), &["1:!json_document"]);
    check(PRETTY.replace('\n', "\r\n"), &["1:!json_document"]);
    check(format!("\u{feff}{PRETTY}"), &["1:!json_document"]);
    check(SMALL, &["1:!json_document"]);
    check("[\n]\n", &["1:!json_document"]);
    check("{\"a\":\n1}\n", &["1:!json_document"]);
    // An array of events, one a line: those that stand alone are events.
    check(format!("[\n{},\n{}]\n", event("a").trim_end(), event("b")), &["3:b", "1:!json_document"]);
    // In another encoding, with what JSON does not have, deeper than a line may be.
    check(b"[\n{\n\"id\": \"caf\xe9\",\n\"n\": NaN\n}\n]\n", &["1:!json_document"]);
    check(format!("{}1\n{}", "[\n".repeat(100), "]\n".repeat(100)), &["1:!json_document"]);
}

#[test]
fn documents_in_a_row_are_one_refusal() {
    let (heard, _) = check(SMALL.repeat(1_000), &["1:!json_document×1000"]);
    assert_eq!(heard.refusal(R::JsonDocument).detail, "4000");
    check(format!("{SMALL}\n{SMALL}\r\n{PRETTY}"), &["1:!json_document×3"]);
    // Parted by commas, or glued end to start.
    check(SMALL.replace("}\n", "},\n").repeat(3), &["1:!json_document×3"]);
    check(SMALL.trim_end().repeat(3), &["1:!json_document×3"]);
    // Between events, twice.
    let input = format!("{}{SMALL}{SMALL}{}{SMALL}", event("a"), event("b"));
    check(input, &["1:a", "2:!json_document×2", "10:b", "11:!json_document"]);
}

#[test]
fn a_long_document_is_one_refusal_and_is_not_held() {
    let entry = "  {\n    \"id\": \"a\",\n    \"texto\": \"b\"\n  },\n";
    let document = format!("[\n{}  {{\n  }}\n]\n", entry.repeat(100_000));
    let (heard, end) = check(&document, &["1:!json_document"]);
    assert_eq!((end.lines, end.refused_lines), (400_004, 400_004));
    assert!(heard.rejected == document.as_bytes());
    let input = format!("{document}{}{document}", event("a"));
    check(input, &["1:!json_document", "400005:a", "400006:!json_document"]);
    // One that breaks off far into it: what follows is looked at on its own.
    let input = format!("[\n{}{}{}", entry.repeat(1_000), event("a"), event("b"));
    check(input, &["4002:a", "1:!json_document", "4003:b"]);
}

#[test]
fn the_beginning_of_a_document_counts_from_four_lines() {
    check("[\n{\n\"id\": \"a\",\n", &["1:!json_syntax", "2:!json_syntax", "3:!json_trailing"]);
    check("[\n{\n\"id\": \"a\",\n\"texto\": \"b\"\n", &["1:!json_document"]);
    let (heard, end) = check("[\n{\n\"id\": \"a\",\n\"texto\": \"b\"", &["1:!json_document"]);
    assert_eq!((heard.rejected.len(), end.unfinished), (27, None));
    let (heard, end) = check("{\n\"id\": \"a\"", &["1:!json_syntax"]);
    assert_eq!((heard.rejected.as_slice(), end.unfinished), (&b"{\n"[..], Some(2)));
}

#[test]
fn lines_that_turn_out_to_be_no_document_are_refused_one_by_one() {
    let input = "[\n{\n\"id\": \"a\",\n}\n{\n\"id\": \"b\"\n}\n";
    let expected = ["1:!json_syntax", "2:!json_syntax", "3:!json_trailing", "4:!json_syntax", "5:!json_document"];
    let (heard, _) = check(input, &expected);
    assert_eq!(heard.rejected, input.as_bytes());
}

#[test]
fn openers_without_end_take_bounded_time() {
    for line in ["[\n", "{\"a\":\n", "[1,\n", "{\"a\":[\n", "[\n]\n[\n", "[\n1\n2\n", "{\n{\n"] {
        let input = line.repeat(400_000 / line.len());
        let start = Instant::now();
        let (heard, end) = read(&input);
        assert_eq!(heard.rejected.len(), input.len());
        assert!(end.delivered == 0 && heard.items.len() < 10_100);
        assert!(start.elapsed().as_secs() < 30, "{line:?} took {:?}", start.elapsed());
    }
}

#[test]
fn packed_inputs_are_recognised_by_content() {
    let plain = event("a") + &event("b");
    let members = [gzip(event("a").as_bytes()), gzip(event("b").as_bytes())].concat();
    let skippable = b"\x50\x2a\x4d\x18\x01\0\0\0x".to_vec();
    let frames = [skippable.clone(), zstd(event("a").as_bytes()), skippable, zstd(event("b").as_bytes())].concat();
    for (bytes, packing) in [
        (plain.clone().into_bytes(), Packing::Plain),
        (gzip(plain.as_bytes()), Packing::Gzip),
        (members, Packing::Gzip),
        (zstd(plain.as_bytes()), Packing::Zstd),
        (frames, Packing::Zstd),
        (gzip(format!("\u{feff}{plain}").as_bytes()), Packing::Gzip),
    ] {
        let (_, end) = check(&bytes, &["1:a", "2:b"]);
        assert_eq!((end.packing, end.error.is_none()), (Some(packing), true));
        let consumed = Arc::new(AtomicU64::new(0));
        read_input(&"-".into(), &bytes[..], &Settings::default(), &consumed, &mut Heard::default());
        assert_eq!(consumed.load(Ordering::Relaxed), bytes.len() as u64);
    }
}

#[test]
fn what_a_damaged_input_still_gives_enters_before_the_error() {
    let plain: String = (0..2_000).map(|number| event(&format!("e{}", number * 7_919))).collect();
    for (bytes, cut, damaged) in [
        (gzip(plain.as_bytes()), InputErrorKind::GzipCut, InputErrorKind::GzipDamaged),
        (zstd(plain.as_bytes()), InputErrorKind::ZstdCut, InputErrorKind::ZstdDamaged),
    ] {
        let twice = [&bytes[..], &bytes[..]].concat();
        let (heard, end) = read(&twice[..bytes.len() + bytes.len() / 2]);
        assert_eq!(end.error.unwrap().kind, cut);
        assert!(heard.items.len() >= 2_000, "{}", heard.items.len());
        assert!(heard.items.iter().all(|item| matches!(item, Intake::Delivery(_))));
        let (heard, end) = read([&bytes[..], b"garbage"].concat());
        assert_eq!((end.error.unwrap().kind, heard.items.len()), (damaged, 2_000));
    }
    for (bytes, cut) in [(&b"\x1f\x8b"[..], InputErrorKind::GzipCut), (b"\x28\xb5\x2f\xfd", InputErrorKind::ZstdCut)] {
        assert_eq!(read(bytes).1.error.unwrap().kind, cut);
    }
    // Damaged where its first bytes could still be a byte order mark: one byte is no line, and the error is not lost.
    let stored = gzip_at(0, b"\xef\xbb\xbf");
    let (heard, end) = read(&stored[..stored.len() - 10]);
    assert_eq!((end.error.unwrap().kind, end.unfinished), (InputErrorKind::GzipCut, Some(1)));
    assert!(heard.items.is_empty());
    // Cut within a line: the whole lines enter, the torn one is unfinished.
    let stored = gzip_at(0, plain.as_bytes());
    let (heard, end) = read(&stored[..stored.len() - 20]);
    assert_eq!((end.error.unwrap().kind, end.unfinished), (InputErrorKind::GzipCut, Some(2_000)));
    assert_eq!(heard.items.len(), 1_999);
}

#[test]
fn a_read_error_comes_after_the_lines_before_it() {
    struct Fails;
    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("disk on fire"))
        }
    }
    let lines = event("a") + "{\"id\":\"b\"";
    let (heard, end) = read_with(&Settings::default(), lines.as_bytes().chain(Fails));
    let error = end.error.unwrap();
    assert_eq!((error.kind, error.detail.as_str()), (InputErrorKind::Io, "disk on fire"));
    assert_eq!((heard.told(), end.unfinished), (vec!["1:a".to_owned()], Some(2)));
    let (_, end) = read_with(&Settings::default(), Fails);
    assert_eq!(end.error.unwrap().kind, InputErrorKind::Io);
}

#[test]
fn other_formats_are_refused_as_a_whole() {
    let cases: [(&[u8], R, &str); 9] = [
        (b"BZh91AY&SY", R::FormatUnsupported, "bzip2"),
        (b"\xfd7zXZ\0\0\x04", R::FormatUnsupported, "xz"),
        (b"PK\x03\x04\x14\0", R::FormatUnsupported, "zip"),
        (b"7z\xbc\xaf\x27\x1c\0\x04", R::FormatUnsupported, "7z"),
        (b"SQLite format 3\0\x10\0", R::FormatUnsupported, "SQLite"),
        (b"%PDF-1.7\n{\"id\":\"a\",\"texto\":\"b\"}\n", R::FormatUnsupported, "PDF"),
        (b"\x7fELF\x02\x01\x01\0", R::FormatUnsupported, "ELF"),
        (b"\xff\xfe{\0\"\0i\0d\0\n\0", R::Utf16, "UTF-16LE"),
        (b"\xfe\xff\0{\0\"\0i\0d\0\n", R::Utf16, "UTF-16BE"),
    ];
    for (bytes, code, detail) in cases {
        for input in [bytes.to_vec(), gzip(bytes), zstd(bytes)] {
            let (heard, end) = read(&input);
            assert_eq!(heard.items.len(), 1);
            let refusal = heard.refusal(code);
            assert_eq!((refusal.detail.as_str(), refusal.count, refusal.origin.line), (detail, 1, 1));
            assert_eq!((heard.rejected.len(), end.packing, end.lines), (0, None, 0));
        }
    }
    let (heard, _) = read(gzip(&gzip(event("a").as_bytes())));
    assert_eq!(heard.refusal(R::FormatUnsupported).detail, "gzip");
}

#[test]
fn a_long_line_is_refused_with_its_length_and_the_next_ones_enter() {
    let settings = Settings { max_line_bytes: 64, ..Settings::default() };
    let long = format!("{{\"id\":\"x\",\"texto\":\"{}\"}}\r\n", "x".repeat(400_000));
    let input = format!("{}{long}{}{}", event("a"), event("b"), "y".repeat(300_000));
    let (heard, end) = read_with(&settings, input.as_bytes());
    assert_eq!(heard.told(), ["1:a", "2:!line_too_long", "3:b", "4:!line_too_long"]);
    assert_eq!(heard.refusal(R::LineTooLong).detail, (long.len() - 2).to_string());
    assert_eq!(heard.rejected, format!("{long}{}", "y".repeat(300_000)).as_bytes());
    assert_eq!(end.unfinished, None);
    // It ends whatever was held before it.
    let input = format!("[\n1,\n{long}]\n");
    let (heard, _) = read_with(&settings, input.as_bytes());
    assert_eq!(heard.told(), ["1:!json_syntax", "2:!json_trailing", "3:!line_too_long", "4:!json_syntax"]);
    assert_eq!(heard.rejected, input.as_bytes());
}

#[test]
fn refusals_without_end_are_counted_by_code() {
    let settings = Settings { one_by_one: 3, ..Settings::default() };
    let input = "x\n{}\n[]\n".repeat(100) + &event("a");
    let (heard, end) = read_with(&settings, input.as_bytes());
    let expected = [
        "1:!json_syntax",
        "2:!id_missing",
        "3:!json_not_object",
        "301:a",
        "4:!json_syntax×99",
        "6:!json_not_object×99",
        "5:!id_missing×99",
    ];
    assert_eq!(heard.told(), expected);
    assert_eq!((heard.rejected.len(), end.refused_lines), (800, 300));
    let (heard, _) = read_with(&Settings { one_by_one: 0, ..settings }, &b"{\"id\":7,\"texto\":\"x\"}\n"[..]);
    assert_eq!(heard.told(), ["1:!id_number"]);
    assert_eq!(heard.refusal(R::IdNumber).detail, "7");
}

#[test]
fn a_rejects_file_can_be_mended_and_read_again() {
    let numbers = ["{\"id\":1,\"texto\":\"x\"}\r\n", "{\"id\":2,\"texto\":\"y\"}\n"];
    let input = format!("{}{}\n{}{}", event("a"), numbers[0], event("b"), numbers[1]);
    let (heard, _) = read(input);
    assert_eq!(heard.rejected, numbers.concat().as_bytes());
    let mended = numbers.concat().replace(":1", ":\"1\"").replace(":2", ":\"2\"");
    check(mended, &["1:1", "2:2"]);
}

#[test]
fn a_sink_that_breaks_hears_nothing_more() {
    let input = format!("{}x\n[\n1\n]\n{}{{\"id\":7}}\n{}", event("a"), event("b"), event("c"));
    for patience in 1..8 {
        let mut heard = Heard { patience: Some(patience), ..Heard::default() };
        let end = read_input(&"-".into(), input.as_bytes(), &Settings::default(), &Arc::default(), &mut heard);
        assert_eq!((heard.items.len(), end.stopped), (patience.min(6), patience <= 6));
    }
}

/// Gives its parts one after the other, with nothing to give between them.
struct Pauses(VecDeque<Option<Vec<u8>>>);

impl Pauses {
    fn new(parts: &[&str]) -> Self {
        Self(parts.iter().flat_map(|part| [Some(part.as_bytes().to_vec()), None]).collect())
    }
}

impl Read for Pauses {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.0.pop_front() {
            None => Ok(0),
            Some(None) => Err(io::ErrorKind::WouldBlock.into()),
            Some(Some(mut part)) => {
                let rest = part.split_off(part.len().min(buf.len()));
                buf[..part.len()].copy_from_slice(&part);
                if !rest.is_empty() {
                    self.0.push_front(Some(rest));
                }
                Ok(part.len())
            }
        }
    }
}

#[test]
fn nothing_is_held_while_the_input_is_idle() {
    let told = |parts: &[&str]| {
        let (heard, end) = read_with(&Settings::default(), Pauses::new(parts));
        assert!(heard.idles as usize >= parts.len() && !end.stopped);
        heard.told()
    };
    let parts = ["{", "\"id\":\"a\",\"texto\":\"b\"}\n", "{\"id\":\"t2\",\"te", "xto\":\"x\"}\n"];
    assert_eq!(told(&parts), ["1:a", "2:t2"]);
    // One truncated line: a refusal as soon as nothing follows. A document: one refusal, although it goes on later.
    assert_eq!(told(&["{\"id\":\n", &event("b")]), ["1:!json_syntax", "2:b"]);
    let parts = ["[\n1,\n2,\n3,\n", "4,\n5\n]\n", "[\n]\n", &event("b")];
    assert_eq!(told(&parts), ["1:!json_document", "8:!json_document", "10:b"]);
}

#[test]
fn an_event_is_handed_over_before_the_reader_is_asked_again() {
    // A reader that would wait for ever must not be asked while a whole line is there.
    struct OneLine(Option<String>);
    impl Read for OneLine {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let line = self.0.take().expect("asked again before the line was handed over");
            buf[..line.len()].copy_from_slice(line.as_bytes());
            Ok(line.len())
        }
    }
    let mut heard = Heard { patience: Some(1), ..Heard::default() };
    let end = read_input(&"-".into(), OneLine(Some(event("a"))), &Settings::default(), &Arc::default(), &mut heard);
    assert!(end.stopped && heard.items.len() == 1);
}
