//! Which characters cannot be seen for what they are.

use unicode_properties::{GeneralCategory as C, UnicodeGeneralCategory as _};

/// Whether people cannot see the character, or see it as another: controls, format characters, separators other than the
/// plain space, what is private or not assigned, and what Unicode says to show as nothing.
pub(super) fn is_hidden(character: char) -> bool {
    if (' '..='~').contains(&character) {
        return false;
    }
    let by_category = matches!(
        character.general_category(),
        C::Control
            | C::Format
            | C::LineSeparator
            | C::ParagraphSeparator
            | C::SpaceSeparator
            | C::Surrogate
            | C::PrivateUse
            | C::Unassigned
    );
    by_category || is_shown_as_nothing(character)
}

/// Default-ignorable characters that have a visible category, and the two blanks that have one too.
const fn is_shown_as_nothing(character: char) -> bool {
    matches!(
        character,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2800}'
            | '\u{3164}' | '\u{ffa0}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether the character changes the direction of what stands around it.
pub(super) const fn is_bidi_control(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether the character is a combining mark, which joins whatever stands before it.
pub(super) fn is_mark(character: char) -> bool {
    matches!(character.general_category(), C::NonspacingMark | C::SpacingMark | C::EnclosingMark)
}

/// Adds `\uXXXX`, two of them for a character above U+FFFF, as in JSON.
pub(super) fn push_escape(out: &mut String, character: char) {
    use std::fmt::Write as _;
    for unit in character.encode_utf16(&mut [0; 2]) {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\u{unit:04x}");
    }
}
