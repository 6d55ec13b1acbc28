//! Identity is (source, id), byte for byte.

use cola_ia_core::event::Source;
use cola_ia_core::limits::ID_MAX_BYTES;
use cola_ia_core::verdict::Verdict;

use super::check::{cases, count, ensure_eq, words};
use crate::events::{event, event_from, source};
use crate::harness::{Backend, Failure, Scratch};

cases![
    ids_that_look_alike_are_other_events,
    ids_that_look_like_numbers_are_strings,
    ids_that_could_break_a_query_are_only_ids,
    long_ids_differ_in_their_last_byte,
    one_id_under_two_sources_is_two_events,
    source_and_id_do_not_run_into_each_other,
    events_of_every_source_are_found_sorted_by_source,
    an_id_that_is_not_there_finds_nothing,
];

/// Each id is an event of its own, is found with its own text under that id alone, and is known again after a reopen.
fn all_differ(backend: &dyn Backend, ids: &[&str]) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    let text = |index: usize| format!("text {index}");
    let batch = || ids.iter().enumerate().map(|(index, id)| event(id, &text(index))).collect();
    let accepted = scratch.accept(batch())?;
    for (id, receipt) in ids.iter().zip(&accepted.receipts) {
        ensure_eq!(receipt.verdict, Verdict::New, "the verdict on id {id:?}");
    }
    scratch.reopen()?;
    for (index, id) in ids.iter().enumerate() {
        let found = scratch.find_one(id)?;
        ensure_eq!(found.job.id, *id, "the id itself");
        ensure_eq!(found.text, Some(text(index)), "the text of id {id:?}");
    }
    ensure_eq!(count(&scratch.accept(batch())?, Verdict::Duplicate), ids.len(), "duplicates of {ids:?}");
    Ok(())
}

fn ids_that_look_alike_are_other_events(backend: &dyn Backend) -> Result<(), Failure> {
    all_differ(
        backend,
        &[
            "caf\u{e9}",
            "cafe\u{301}",
            "cafe",
            "CAF\u{c9}",
            "Café ",
            " café",
            "a",
            "A",
            "a ",
            " a",
            "a  ",
            "a\u{a0}",
            "a\u{200b}",
            "\u{200b}a",
            "\u{feff}a",
            "a\u{fe0f}",
            "\u{430}", // Cyrillic
            "ａ",      // full width
            "ß",
            "ss",
            "ẞ",
            "i",
            "I",
            "İ",
            "ı",
            "\u{fffd}",
            "\u{fffe}",
            "\u{ffff}",
            "\u{10ffff}",
            "\u{85}x", // C1 control, allowed
            "x",
        ],
    )
}

fn ids_that_look_like_numbers_are_strings(backend: &dyn Backend) -> Result<(), Failure> {
    all_differ(
        backend,
        &[
            "1",
            "01",
            "1.0",
            "1e0",
            "+1",
            "-1",
            "0x1",
            "١",
            "9007199254740993",
            "9007199254740992",
            "9007199254740993.0",
            "9223372036854775807",
            "9223372036854775808",
            "1e400",
            "Infinity",
            "NaN",
            "null",
            "NULL",
            "true",
        ],
    )
}

fn ids_that_could_break_a_query_are_only_ids(backend: &dyn Backend) -> Result<(), Failure> {
    all_differ(
        backend,
        &[
            "'",
            "''",
            "\"",
            "`",
            "'; DROP TABLE event; --",
            "' OR '1'='1",
            "%",
            "_",
            "a%",
            "a_",
            "ab",
            "a*",
            "a?",
            "[a]",
            "\\",
            "\\\\",
            "\\%",
            "\\'",
            "\\u0000",
            "?1",
            ":id",
            "$1",
            "@id",
            "{}",
            "😀",
            "👩\u{200d}👩\u{200d}👧",
            "👩",
            "שלום",
            "\u{202e}abc",
            "abc",
            "مرحبا",
            "日本",
        ],
    )
}

fn long_ids_differ_in_their_last_byte(backend: &dyn Backend) -> Result<(), Failure> {
    let longest = "x".repeat(ID_MAX_BYTES);
    let tail = |tail: &str| format!("{}{tail}", "x".repeat(ID_MAX_BYTES - tail.len()));
    let beyond_1000 = format!("{}y", "x".repeat(1_000));
    let ids = [
        longest.clone(),
        tail("y"),
        tail("yx"),
        tail(" "),
        tail("é"),
        beyond_1000.clone(),
        format!("{beyond_1000}z"),
        longest[..1_000].to_owned(),
        longest[..1_001].to_owned(),
        longest[..1_023].to_owned(),
        longest[..255].to_owned(),
        longest[..256].to_owned(),
        "€".repeat(ID_MAX_BYTES / 3),
        "€".repeat(ID_MAX_BYTES / 3 - 1),
    ];
    all_differ(backend, &ids.each_ref().map(String::as_str))
}

fn one_id_under_two_sources_is_two_events(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let accepted = scratch.accept(vec![event_from("a", "id", "x"), event_from("b", "id", "y")])?;
    ensure_eq!(words(&accepted), "new new", "in one batch");
    let accepted =
        scratch.accept(vec![event_from("c", "id", "x"), event_from("b", "id", "y"), event_from("a", "id", "y")])?;
    ensure_eq!(words(&accepted), "new duplicate conflict#1", "in the next batch");
    for (name, text) in [("a", "x"), ("b", "y"), ("c", "x")] {
        let found = scratch.find(Some(source(name)), "id")?;
        ensure_eq!(found.len(), 1, "events of source {name}");
        ensure_eq!(found[0].job.source, source(name), "the source");
        ensure_eq!(found[0].text.as_deref(), Some(text), "the text of source {name}");
    }
    Ok(())
}

fn source_and_id_do_not_run_into_each_other(backend: &dyn Backend) -> Result<(), Failure> {
    let longest = "s".repeat(64);
    let pairs = [
        ("a", "b:c"),
        ("a.b", "c"),
        ("a", "b.c"),
        ("a", ".b.c"),
        ("a.b", ".c"),
        ("ab", "c"),
        ("a", "bc"),
        ("a", "b c"),
        ("a-b", "c"),
        ("a", "-b-c"),
        ("a_b", "c"),
        ("abc", "abc"),
        ("a", "a"),
        (longest.as_str(), "s"),
        (&longest[..63], "ss"),
        (&longest[..63], "s"),
    ];
    let scratch = Scratch::new(backend)?;
    for (name, id) in pairs {
        let accepted = scratch.accept(vec![event_from(name, id, &format!("{name}|{id}"))])?;
        ensure_eq!(words(&accepted), "new", "source {name:?}, id {id:?}");
    }
    for (name, id) in pairs {
        let found = scratch.find(Some(source(name)), id)?;
        let texts: Vec<_> = found.iter().map(|event| event.text.clone().unwrap_or_default()).collect();
        ensure_eq!(texts, vec![format!("{name}|{id}")], "source {name:?}, id {id:?}");
    }
    Ok(())
}

fn events_of_every_source_are_found_sorted_by_source(backend: &dyn Backend) -> Result<(), Failure> {
    // By bytes, as a list of names in ASCII is sorted; a locale would put the signs elsewhere.
    let sorted = ["0", "9a", "a", "a-", "a-b", "a.b", "a0", "a_b", "aa", "ab", "b", "default", "z"];
    let scratch = Scratch::new(backend)?;
    for name in ["b", "a_b", "z", "0", "ab", "a", "default", "a-b", "a.b", "aa", "9a", "a-", "a0"] {
        scratch.accept(vec![event_from(name, "id", "x"), event_from(name, "other", "x")])?;
    }
    let found = scratch.find(None, "id")?;
    let names: Vec<_> = found.iter().map(|event| event.job.source.as_str()).collect();
    ensure_eq!(names, sorted, "the sources");
    ensure_eq!(found.iter().filter(|event| event.job.id == "id").count(), sorted.len(), "events with the id itself");
    Ok(())
}

fn an_id_that_is_not_there_finds_nothing(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let too_long = "x".repeat(ID_MAX_BYTES + 1);
    scratch.accept(vec![event("a", "x"), event(&too_long[..ID_MAX_BYTES], "x"), event("%", "x")])?;
    // Some of them could not be ids at all.
    for id in ["b", "", " ", "a ", "a\0", "a\0b", "\0", "a\n", "a%", "_", "__", "A", too_long.as_str()] {
        ensure_eq!(scratch.find(None, id)?, vec![], "id {id:?}, any source");
        ensure_eq!(scratch.find(Some(Source::default()), id)?, vec![], "id {id:?}, default source");
    }
    ensure_eq!(scratch.find(Some(source("other")), "a")?, vec![], "a source that is not there");
    Ok(())
}
