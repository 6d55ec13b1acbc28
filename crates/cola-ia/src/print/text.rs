//! Texts and names from outside on a terminal.

use std::borrow::Cow;

use super::characters::{is_bidi_control, push_escape};

/// The text with everything that could steer a terminal or reorder what is read shown as `\uXXXX`: controls other than
/// line feed and tab, escape sequences, bidirectional controls, line separators and the invisible tag characters.
/// Nothing else changes, and nothing is hidden: lookalikes and joiners stay.
pub fn safe_text(text: &str) -> Cow<'_, str> {
    escape(text, |c| c != '\n' && c != '\t' && is_unsafe(c))
}

/// As [`safe_text`], for one line: a line feed is shown as `\n` and a tab as `\t`.
pub fn safe_line(text: &str) -> Cow<'_, str> {
    escape(text, is_unsafe)
}

/// Bytes of a text that people are shown.
const SHOWN_MAX_BYTES: usize = 4_096;
/// Lines of a text that people are shown.
const SHOWN_MAX_LINES: usize = 60;

/// The beginning of a text as by [`safe_text`], and the bytes that are left out: 0 where all of it is there.
pub fn short_text(text: &str) -> (Cow<'_, str>, usize) {
    let bytes = text.floor_char_boundary(SHOWN_MAX_BYTES);
    let lines = text[..bytes].match_indices('\n').nth(SHOWN_MAX_LINES - 1).map_or(bytes, |(at, _)| at);
    let shown = if text.len() <= SHOWN_MAX_BYTES && lines == bytes { text } else { &text[..lines] };
    (safe_text(shown), text.len() - shown.len())
}

/// The beginning of a text as by [`safe_line`], with `…` where something is left out; at most `max` characters of it.
pub fn short_line(text: &str, max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max) {
        Some((at, _)) => Cow::Owned(format!("{}…", safe_line(&text[..at]))),
        None => safe_line(text),
    }
}

const fn is_unsafe(character: char) -> bool {
    character.is_ascii_control()
        || matches!(character, '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
        || is_bidi_control(character)
}

fn escape(text: &str, unsafe_here: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&unsafe_here) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\n' if unsafe_here('\n') => out.push_str("\\n"),
            '\t' if unsafe_here('\t') => out.push_str("\\t"),
            _ if unsafe_here(character) => push_escape(&mut out, character),
            _ => out.push(character),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_steers_a_terminal_is_shown() {
        assert_eq!(safe_text("plain ñ\n\tend"), "plain ñ\n\tend");
        assert_eq!(safe_text("\u{1b}[2Jgone"), "\\u001b[2Jgone");
        assert_eq!(safe_text("a\rb\u{7f}\u{9b}"), "a\\u000db\\u007f\\u009b");
        assert_eq!(safe_text("user\u{202e}fdp.exe"), "user\\u202efdp.exe");
        assert_eq!(safe_text("hi\u{e0041}"), "hi\\udb40\\udc41");
        assert_eq!(safe_text("👩\u{200d}💻"), "👩\u{200d}💻");
        assert_eq!(safe_line("two\nlines\t."), "two\\nlines\\t.");
    }

    #[test]
    fn a_long_text_is_cut_and_what_is_left_out_is_counted() {
        assert_eq!(short_text("a\nb\u{1b}"), ("a\nb\\u001b".into(), 0));
        let long = "ñ".repeat(4_000);
        let (shown, left) = short_text(&long);
        assert_eq!((shown.len(), left), (4_096, 8_000 - 4_096));
        let lines = "a\n".repeat(100);
        let (shown, left) = short_text(&lines);
        assert_eq!((shown.lines().count(), left), (60, 200 - 119));
        assert_eq!(short_text(&"x".repeat(4_096)).1, 0);
        assert_eq!(short_line("ab\ncd", 3), "ab\\n…");
        assert_eq!(short_line("abc", 3), "abc");
    }

    proptest! {
        #[test]
        fn nothing_unsafe_is_left(text in any::<String>()) {
            prop_assert!(!safe_line(&text).chars().any(is_unsafe));
            prop_assert!(!safe_text(&text).chars().any(|c| c != '\n' && c != '\t' && is_unsafe(c)));
        }

        #[test]
        fn showing_twice_changes_nothing_more(text in any::<String>()) {
            let once = safe_line(&text).into_owned();
            prop_assert_eq!(safe_line(&once).into_owned(), once);
        }
    }
}
