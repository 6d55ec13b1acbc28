//! Content is the text, byte for byte; type and time go with the event and are no content.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{Delivery, EventType, Fingerprint};
use cola_ia_core::intake::Intake;
use cola_ia_core::limits::{TEXT_MAX_BYTES_DEFAULT, TYPE_MAX_BYTES};

use super::check::{cases, ensure_eq, words};
use crate::events::{delivery, event, event_type};
use crate::harness::{Backend, Failure, Scratch};

cases![
    texts_are_kept_byte_for_byte,
    texts_that_look_alike_are_other_contents,
    type_and_time_are_kept,
    type_and_time_make_no_conflict,
];

fn texts_are_kept_byte_for_byte(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    let every_control: String = (1..=0x9f).filter_map(char::from_u32).collect();
    let texts = [
        "x".to_owned(),
        "0".to_owned(),
        " x ".to_owned(),
        "x\n".to_owned(),
        "\r\nx\r".to_owned(),
        "\u{feff}x".to_owned(),
        every_control,
        "\u{fffd}".to_owned(),
        "\u{fffe}\u{ffff}\u{10ffff}\u{e000}".to_owned(),
        "cafe\u{301} caf\u{e9}".to_owned(),
        "'\"\\%_?1:a$1\\u0000\\x00".to_owned(),
        "\u{1b}[31m\u{202e}😀".to_owned(),
        "é".repeat(5_000),
        "x".repeat(TEXT_MAX_BYTES_DEFAULT),
    ];
    for (index, text) in texts.iter().enumerate() {
        scratch.accept(vec![event(&format!("id {index}"), text)])?;
    }
    scratch.reopen()?;
    for (index, text) in texts.iter().enumerate() {
        let found = scratch.find_one(&format!("id {index}"))?;
        ensure_eq!(found.text.as_ref(), Some(text), "text {index}");
        ensure_eq!(found.fingerprint, Fingerprint::of(text), "the fingerprint of text {index}");
    }
    Ok(())
}

fn texts_that_look_alike_are_other_contents(backend: &dyn Backend) -> Result<(), Failure> {
    let longest = "x".repeat(TEXT_MAX_BYTES_DEFAULT);
    let last_byte_differs = format!("{}y", &longest[1..]);
    let pairs = [
        ("x", "x "),
        ("x", " x"),
        ("x", "x\n"),
        ("x", "X"),
        ("a\nb", "a\r\nb"),
        ("caf\u{e9}", "cafe\u{301}"),
        ("x", "x\u{200b}"),
        ("x", "\u{feff}x"),
        ("1", "1.0"),
        ("{\"a\":1}", "{\"a\": 1}"),
        ("\u{fffd}", "\u{fffe}"),
        (&longest[1..], longest.as_str()),
        (longest.as_str(), last_byte_differs.as_str()),
    ];
    let scratch = Scratch::new(backend)?;
    for (index, (first, other)) in pairs.into_iter().enumerate() {
        let id = format!("id {index}");
        let accepted = scratch.accept(vec![event(&id, first)])?;
        ensure_eq!(words(&accepted), "new", "pair {index}");
        let accepted = scratch.accept(vec![event(&id, other), event(&id, first)])?;
        ensure_eq!(words(&accepted), "conflict#1 duplicate", "pair {index}");
    }
    Ok(())
}

fn type_and_time_are_kept(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    let longest = "t".repeat(TYPE_MAX_BYTES);
    let types = ["order.paid", " t ", "ñ", "1", "NULL", "'", longest.as_str()];
    let times = [
        0,
        1,
        -1,
        999_999,
        -62_135_596_800_000_000, // 0001-01-01T00:00:00Z
        253_402_300_799_999_999, // 9999-12-31T23:59:59.999999Z
        1_769_860_800_123_456,
        i64::MIN,
        i64::MAX,
    ];
    let known_types = types.iter().map(|name| Some(event_type(name))).chain([None]);
    let known_times = times.iter().map(|micros| Some(Timestamp::from_micros(*micros))).chain([None]);
    let mut expected: Vec<(Option<EventType>, Option<Timestamp>)> = known_types.map(|name| (name, None)).collect();
    expected.extend(known_times.map(|time| (Some(event_type("t")), time)));

    let member = |(index, (event_type, time)): (usize, &(Option<EventType>, Option<Timestamp>))| {
        let plain = delivery("default", &format!("id {index}"), "x");
        Intake::Delivery(Delivery { event_type: event_type.clone(), time: *time, ..plain })
    };
    scratch.accept(expected.iter().enumerate().map(member).collect())?;
    scratch.reopen()?;
    for (index, (event_type, time)) in expected.iter().enumerate() {
        let job = scratch.find_one(&format!("id {index}"))?.job;
        ensure_eq!(job.event_type, *event_type, "the type of event {index}");
        ensure_eq!(job.time, *time, "the time of event {index}");
    }
    let listed: Vec<_> = scratch.all_jobs()?.into_iter().rev().map(|job| (job.event_type, job.time)).collect();
    ensure_eq!(listed, expected, "types and times in the list of jobs");
    Ok(())
}

fn type_and_time_make_no_conflict(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let plain = || delivery("default", "id", "x");
    let member = |name: Option<&str>, micros: Option<i64>| {
        Intake::Delivery(Delivery {
            event_type: name.map(event_type),
            time: micros.map(Timestamp::from_micros),
            ..plain()
        })
    };
    scratch.accept(vec![member(Some("t"), Some(1))])?;
    let accepted = scratch.accept(vec![
        member(Some("u"), Some(1)),
        member(Some("t"), Some(2)),
        member(None, Some(1)),
        member(Some("t"), None),
        member(None, None),
    ])?;
    ensure_eq!(words(&accepted), "duplicate duplicate duplicate duplicate duplicate", "the verdicts");
    let job = scratch.find_one("id")?.job;
    ensure_eq!(job.event_type, Some(event_type("t")), "the first type is kept");
    ensure_eq!(job.time, Some(Timestamp::from_micros(1)), "the first time is kept");
    Ok(())
}
