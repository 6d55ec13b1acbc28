//! What two errors have in common when only their numbers and ids differ.

use std::collections::BTreeSet;

/// Characters of a shape. What differs only behind them is alike.
pub const SHAPE_MAX_CHARS: usize = 1_000;

/// What stands in place of a number or an id.
const FOLDED: char = '#';
/// Characters of Base64 from which on they are one id, if they mix digits, capitals and small letters.
const RUN_MIN: usize = 20;
/// Hexadecimal digits from which on a word of them is an id without a decimal digit too.
const HEX_MIN: usize = 8;
/// Characters from which on a word is an id, whatever it is made of.
const WORD_MAX: usize = 60;

/// The error with each number and each id folded into `#`, and white space into single spaces. Folded are:
///
/// - the event's own id, whatever it looks like, where it stands as a whole;
/// - a word (letters, digits, `_` and `-`) with a digit: `42`, `idea-42`, `0x1f`, `req_7f3k2`, a UUID;
/// - a word of at least 8 hexadecimal digits, and one of 60 characters or more;
/// - at least 20 characters of Base64 that mix digits, capitals and small letters;
/// - as one, what is joined by points, commas, colons, slashes or signs: `10.0.0.1:8080`, `2026-01-31T21:00:00.5Z`.
pub fn error_shape(error: &str, own_id: &str) -> String {
    let mut folded = String::with_capacity(error.len());
    let mut before = ' ';
    let mut rest = error;
    while let Some(first) = rest.chars().next() {
        let id = own_id_at(rest, own_id, before).or_else(|| run_at(rest, before)).or_else(|| word_at(rest, before));
        let length = if let Some(length) = id {
            folded.push(FOLDED);
            length
        } else {
            folded.push(if first.is_whitespace() || first.is_control() { ' ' } else { first });
            first.len_utf8()
        };
        before = rest[..length].chars().next_back().unwrap_or(first);
        rest = &rest[length..];
    }
    joined(&folded)
}

/// Letters and digits of any script: an id may be of any.
fn is_of_a_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

/// The shapes that this one has when one of its words is taken for an id. An id that by chance has no digit is told from a word
/// only by others that stand in its place.
pub fn with_a_word_folded(shape: &str) -> Vec<String> {
    let is_word = |word: &&str| !word.is_empty() && *word != "#";
    let words: BTreeSet<&str> = shape.split(|c| !is_of_a_word(c)).filter(is_word).collect();
    words.into_iter().map(|word| joined(&word_folded(shape, word))).collect()
}

fn word_folded(shape: &str, word: &str) -> String {
    let mut folded = String::with_capacity(shape.len());
    let mut rest = shape;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| !is_of_a_word(c)).unwrap_or(rest.len());
        let length = if end == 0 { first.len_utf8() } else { end };
        folded.push_str(if rest[..length] == *word { "#" } else { &rest[..length] });
        rest = &rest[length..];
    }
    folded
}

/// The length of a word that is an id, where the text starts with one.
fn word_at(text: &str, before: char) -> Option<usize> {
    if is_of_a_word(before) {
        return None;
    }
    let word = &text[..text.find(|c| !is_of_a_word(c)).unwrap_or(text.len())];
    let is_hex = word.len() >= HEX_MIN && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_id = is_hex || word.contains(char::is_numeric) || word.chars().count() >= WORD_MAX;
    is_id.then_some(word.len())
}

/// The length of the event's own id, where the text starts with it and it stands as a whole.
fn own_id_at(text: &str, own_id: &str, before: char) -> Option<usize> {
    let (first, last) = (own_id.chars().next()?, own_id.chars().next_back()?);
    let after = text.strip_prefix(own_id)?.chars().next();
    let goes_on = |one: char, other: char| one.is_alphanumeric() && other.is_alphanumeric();
    let is_whole = !goes_on(before, first) && !after.is_some_and(|after| goes_on(last, after));
    is_whole.then_some(own_id.len())
}

/// The length of a run of Base64, where the text starts with one that is long and mixed.
fn run_at(text: &str, before: char) -> Option<usize> {
    let is_of_a_run = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '_' | '-');
    if is_of_a_run(before) {
        return None;
    }
    let length = text.find(|c| !is_of_a_run(c)).unwrap_or(text.len());
    let run = &text.as_bytes()[..length];
    let has = |what: fn(&u8) -> bool| run.iter().any(what);
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    if length < RUN_MIN || !is_mixed {
        return None;
    }
    let padding = text[length..].bytes().take_while(|byte| *byte == b'=').count();
    Some(length + padding)
}

/// Folded ones that are joined become one, white space becomes single spaces, and what is too long is cut.
fn joined(folded: &str) -> String {
    let mut shape = String::new();
    // What stood behind the last folded one and may join it to the next.
    let mut between = String::new();
    let mut count = 0;
    for c in folded.trim().chars() {
        if count >= SHAPE_MAX_CHARS {
            break;
        }
        let after_folded = shape.ends_with(FOLDED);
        if c == FOLDED && after_folded {
            between.clear();
            continue;
        }
        if after_folded && matches!(c, '.' | ',' | ':' | '/' | '+' | '-') {
            between.push(c);
            continue;
        }
        count += between.chars().count();
        shape.push_str(&between);
        between.clear();
        if !(c == ' ' && shape.ends_with(' ')) {
            shape.push(c);
            count += 1;
        }
    }
    shape.push_str(&between);
    shape
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_and_ids_are_folded_and_words_are_not() {
        let table = [
            ("", ""),
            ("the model said no", "the model said no"),
            ("HTTP 503: try again in 2.5 s", "HTTP #: try again in # s"),
            ("exit code -9", "exit code #"),
            ("no such file: /srv/app/main.py:42", "no such file: /srv/app/main.py:#"),
            ("request req_7f3k2 failed", "request # failed"),
            ("req_011CSHoEeqs5C35K2UUqR7Fy", "#"),
            ("user 550e8400-e29b-41d4-a716-446655440000 is unknown", "user # is unknown"),
            ("commit deadbeef and facade", "commit # and facade"),
            ("at 2026-01-31T21:00:00.123456+02:00, it broke", "at #, it broke"),
            ("connect to 10.0.0.1:8080 refused", "connect to # refused"),
            ("connect to [fe80::1%eth0]:80", "connect to [#%#]:#"),
            ("token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-123==", "token #=="),
            ("digest q83v+3xVx/9+aB1cD2eF3g==!", "digest #!"),
            ("1,234,567.89 of 2,000", "# of #"),
            ("tokens (1200, 300)", "tokens (#, #)"),
            ("ConnectionResetError in HTTPSConnectionPool", "ConnectionResetError in HTTPSConnectionPool"),
            (
                "{\"error\":{\"code\":429,\"message\":\"rate limit\"}}",
                "{\"error\":{\"code\":#,\"message\":\"rate limit\"}}",
            ),
            ("  two\n\tlines\r\n  and   more ", "two lines and more"),
            ("número ٣٤ y ½", "número # y #"),
            ("wait 5. Then 6: done", "wait #. Then #: done"),
            ("ends in 7.", "ends in #."),
            ("\u{1b}[31mred\u{1b}[0m", "[# [#"),
        ];
        for (error, shape) in table {
            assert_eq!(error_shape(error, "idea"), shape, "{error:?}");
        }
        assert_eq!(error_shape(&"x".repeat(WORD_MAX), ""), "#");
        assert_eq!(error_shape(&"ab ".repeat(SHAPE_MAX_CHARS), "").chars().count(), SHAPE_MAX_CHARS);
    }

    #[test]
    fn the_events_own_id_is_folded_only_as_a_whole() {
        let shape = |error: &str, id: &str| error_shape(error, id);
        assert_eq!(shape("no entry for ana.", "ana"), "no entry for #.");
        assert_eq!(shape("banana for ana", "ana"), "banana for #");
        assert_eq!(shape("no entry for ana maría@casa!", "ana maría@casa!"), "no entry for #");
        assert_eq!(shape("<<x>>x<<x>>", "<<x>>"), "#x#");
        assert_eq!(shape("anything", ""), "anything");
    }

    #[test]
    fn each_word_is_folded_in_all_its_places() {
        let shape = "no req_abc: # is not req_abc, no";
        let expected = [
            "no req_abc: # # not req_abc, no",
            "# req_abc: # is not req_abc, #",
            "no req_abc: # is # req_abc, no",
            "no #: # is not #, no",
        ];
        let folded = with_a_word_folded(shape);
        assert_eq!(folded.len(), 4, "{folded:?}");
        for one in expected {
            assert!(folded.iter().any(|shape| shape == one), "{one} in {folded:?}");
        }
        assert!(with_a_word_folded("# #").is_empty());
    }

    /// An id as programs make them.
    fn made_id() -> impl Strategy<Value = String> {
        let hex = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
        prop_oneof![
            "[0-9]{1,20}".boxed(),
            "-?[0-9]{1,6}\\.[0-9]{1,6}".boxed(),
            "[0-9a-f]{8,64}".boxed(),
            "[0-9A-F]{8,64}".boxed(),
            hex.boxed(),
            "[0-9A-HJKMNP-TV-Z]{25}7".boxed(),
            "[a-z]{2,8}[_-][0-9a-zA-Z]{0,20}[0-9][0-9a-zA-Z]{0,20}".boxed(),
            "[a-z]{1,5}-[a-z]{1,8}-[0-9]{1,8}".boxed(),
            "[A-Za-z0-9_-]{21}[0-9][A-Z][a-z][A-Za-z0-9_-]{0,40}".boxed(),
            "[A-Za-z0-9+/]{20,60}0aB={0,2}".boxed(),
            "[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}(:[0-9]{1,5})?".boxed(),
            "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?Z".boxed(),
            "0x[0-9a-f]{1,16}".boxed(),
        ]
    }

    fn check_folded(error: impl Fn(&str) -> String, one: &str, own: &str) {
        let expected = error("#");
        assert_eq!(error_shape(&error(one), own), expected, "{one:?}");
    }

    proptest! {
        #[test]
        fn ids_of_any_form_fold(id in made_id(), surroundings in 0..5_usize) {
            let around = [("no job ", " here"), ("job=", ""), ("(", ")"), ("said \"", "\" twice"), ("", ", and then")];
            let (before, after) = around[surroundings];
            check_folded(|id| format!("{before}{id}{after}"), &id, "");
        }

        #[test]
        fn the_own_id_folds_whatever_it_is(id in "\\PC{1,40}") {
            prop_assume!(!id.starts_with(char::is_whitespace) && !id.ends_with(char::is_whitespace));
            check_folded(|id| format!("no job {id} here"), &id, &id);
        }

        #[test]
        fn anything_can_be_folded(error in ".{0,400}", id in ".{0,8}") {
            let shape = error_shape(&error, &id);
            prop_assert!(!shape.contains("  ") && !shape.contains(|c: char| c.is_control()));
            prop_assert_eq!(error_shape(&shape, ""), shape.clone());
        }
    }
}
