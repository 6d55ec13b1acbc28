//! What a refusal says it is about: a piece of the input that can be stored, printed and cut without harm.

use std::fmt::Write as _;

/// Longest piece of a line that is quoted where something else was expected, in bytes.
const EXCERPT_MAX_BYTES: usize = 32;

/// The text with each control character as `\u` and four digits.
///
/// A detail comes from what was just refused, so it may hold anything: U+0000, which a database may not take, or the escape
/// sequences of a terminal. The result is longer than the bound of a detail only where the text is, and is cut with it.
pub(super) fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(256));
    for character in text.chars() {
        // A detail is cut to 200 bytes later; there is no use in building one of a megabyte.
        if out.len() > 256 {
            break;
        }
        if character.is_control() {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{:04x}", u32::from(character));
        } else {
            out.push(character);
        }
    }
    out
}

/// What stands at this byte of the line, a short piece of it.
pub(super) fn excerpt(line: &str, at: usize) -> String {
    let start = line.floor_char_boundary(at.min(line.len()));
    let end = line.floor_char_boundary((start + EXCERPT_MAX_BYTES).min(line.len()));
    shown(&line[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_as_escapes() {
        assert_eq!(shown("a\0b\u{1b}[0m\u{85}ñ"), "a\\u0000b\\u001b[0m\\u0085ñ");
        assert!(shown(&"x".repeat(1 << 20)).len() < 300);
    }

    #[test]
    fn an_excerpt_starts_and_ends_at_characters() {
        assert_eq!(excerpt("abc", 1), "bc");
        assert_eq!(excerpt("abc", 9), "");
        let line = "ñ".repeat(40);
        assert_eq!(excerpt(&line, 3), "ñ".repeat(16));
    }
}
