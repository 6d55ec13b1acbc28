//! The difference of two texts as people read it, whatever the texts are: safe on a terminal, short, and found in bounded
//! time.
//!
//! Lines that only one text has stand behind `-` and `+`. Within a line that was changed, what went stands in `[-…-]` and
//! what came in `{+…+}`, so that it is read without colour too. What both have at their beginning and end is left out but for
//! its nearest part; what is left out anywhere is marked with `…`.

use std::time::Duration;

use similar::{ChangeTag, DiffTag, TextDiff};
use unicode_normalization::UnicodeNormalization as _;

use super::characters::push_escape;
use super::{Paint, safe_text};

/// Bytes of each text that are compared, from a little before the first difference.
const COMPARED_MAX_BYTES: usize = 32 << 10;
/// Bytes that both texts have and that are shown around a difference.
const AROUND_BYTES: usize = 120;
/// Lines that are shown.
const LINES_MAX: usize = 60;
/// Characters of one part of a line that are shown.
const PART_MAX: usize = 400;
/// Time for each comparison; what is found by then is good enough to read.
const TIME: Duration = Duration::from_millis(25);

/// The lines of a difference, without line feeds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// The lines.
    pub lines: Vec<String>,
    /// Whether something that differs is not shown.
    pub is_cut: bool,
}

/// Compares the text that was there with the one that came.
pub fn difference(ours: &str, theirs: &str, colour: bool) -> Difference {
    let window = Window::of(ours, theirs);
    let mut out = Out { lines: Vec::new(), colour, is_cut: window.is_cut };
    if window.skips_start {
        out.push(' ', "…");
    }
    // The last line is a line as the others.
    let (ours, theirs) = (format!("{}\n", window.ours), format!("{}\n", window.theirs));
    let lines = TextDiff::configure().timeout(TIME).diff_lines(&ours, &theirs);
    let (old, new) = (lines.old_slices(), lines.new_slices());
    for (at, group) in lines.grouped_ops(1).iter().enumerate() {
        if at > 0 {
            out.push(' ', "…");
        }
        for op in group {
            let (removed, added) = (old[op.old_range()].concat(), new[op.new_range()].concat());
            match op.tag() {
                DiffTag::Equal => out.block(' ', None, &shortened(&removed)),
                DiffTag::Delete => out.block('-', Some(Paint::Bad), &shown(&removed)),
                DiffTag::Insert => out.block('+', Some(Paint::Good), &shown(&added)),
                DiffTag::Replace => {
                    let (removed, added) = marked(&removed, &added);
                    out.block('-', Some(Paint::Bad), &removed);
                    out.block('+', Some(Paint::Good), &added);
                }
            }
        }
    }
    if window.skips_end {
        out.push(' ', "…");
    }
    if out.lines.len() > LINES_MAX {
        out.lines.truncate(LINES_MAX);
        out.is_cut = true;
    }
    Difference { lines: out.lines, is_cut: out.is_cut }
}

struct Out {
    lines: Vec<String>,
    colour: bool,
    is_cut: bool,
}

impl Out {
    fn push(&mut self, sign: char, line: &str) {
        self.lines.push(format!("{sign} │ {line}").trim_end().to_owned());
    }

    fn block(&mut self, sign: char, paint: Option<Paint>, block: &str) {
        // A block of lines ends in a line feed; the last line of a text may not.
        for line in block.strip_suffix('\n').unwrap_or(block).split('\n') {
            match paint {
                Some(paint) if !line.trim_end().is_empty() => {
                    let line = paint.on(line.trim_end(), self.colour);
                    self.push(sign, &line);
                }
                _ => self.push(sign, line),
            }
        }
    }
}

/// The parts of both texts that are compared.
struct Window<'a> {
    ours: &'a str,
    theirs: &'a str,
    skips_start: bool,
    skips_end: bool,
    is_cut: bool,
}

impl<'a> Window<'a> {
    fn of(ours: &'a str, theirs: &'a str) -> Self {
        let alike = |(a, b): &(u8, u8)| a == b;
        let start = ours.bytes().zip(theirs.bytes()).take_while(alike).count();
        let most = ours.len().min(theirs.len()) - start;
        let end = ours.bytes().rev().zip(theirs.bytes().rev()).take(most).take_while(alike).count();
        let first = ours.floor_char_boundary(start.saturating_sub(AROUND_BYTES));
        let cut = |text: &'a str| {
            let last = text.ceil_char_boundary((text.len() - end).saturating_add(AROUND_BYTES).min(text.len()));
            let bounded = text.floor_char_boundary(last.min(first + COMPARED_MAX_BYTES));
            (&text[first..bounded], bounded < last, last < text.len())
        };
        // Both begin at the same place: what is before it is the same in both.
        let ((ours, ours_is_cut, skips_end), (theirs, theirs_is_cut, _)) = (cut(ours), cut(theirs));
        Self { ours, theirs, skips_start: first > 0, skips_end, is_cut: ours_is_cut || theirs_is_cut }
    }
}

/// Both blocks of lines, with marks around the words that differ.
fn marked(removed: &str, added: &str) -> (String, String) {
    let words = TextDiff::configure().timeout(TIME).diff_words(removed, added);
    // Neighbours of one kind are one part.
    let mut parts: Vec<(ChangeTag, String)> = Vec::new();
    for change in words.iter_all_changes() {
        match parts.last_mut() {
            Some((tag, text)) if *tag == change.tag() => text.push_str(change.value()),
            _ => parts.push((change.tag(), change.value().to_owned())),
        }
    }
    let (mut left, mut right) = (String::new(), String::new());
    if !parts.iter().any(|(tag, text)| *tag == ChangeTag::Equal && !text.trim().is_empty()) {
        return show_both(removed, added);
    }
    for (at, (tag, text)) in parts.iter().enumerate() {
        // What replaces a part stands right behind it.
        let other = match tag {
            ChangeTag::Equal => None,
            ChangeTag::Delete => parts.get(at + 1).filter(|(tag, _)| *tag == ChangeTag::Insert),
            ChangeTag::Insert => {
                at.checked_sub(1).and_then(|at| parts.get(at)).filter(|(tag, _)| *tag == ChangeTag::Delete)
            }
        };
        let text_shown = match other {
            Some((_, other)) if look_alike(text, other) => escaped(text),
            _ => shown(text),
        };
        match tag {
            ChangeTag::Equal => {
                let text = shortened(text);
                left.push_str(&text);
                right.push_str(&text);
            }
            ChangeTag::Delete => in_marks(&mut left, "[-", &text_shown, "-]"),
            ChangeTag::Insert => in_marks(&mut right, "{+", &text_shown, "+}"),
        }
    }
    (left, right)
}

/// Whole blocks that have nothing in common need no marks.
fn show_both(removed: &str, added: &str) -> (String, String) {
    if look_alike(removed, added) { (escaped(removed), escaped(added)) } else { (shown(removed), shown(added)) }
}

/// A mark does not go over the end of a line.
fn in_marks(out: &mut String, open: &str, text: &str, close: &str) {
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        if !line.is_empty() {
            out.push_str(open);
            out.push_str(line);
            out.push_str(close);
        }
    }
}

/// Whether both are read as the same: they differ in how characters are composed only.
fn look_alike(one: &str, other: &str) -> bool {
    one.nfkc().eq(other.nfkc())
}

/// Everything outside ASCII as `\uXXXX`, so that what looks alike can be told apart.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in shown(text).chars() {
        if character.is_ascii() || character == '…' {
            out.push(character);
        } else {
            push_escape(&mut out, character);
        }
    }
    out
}

/// The text, safe, and cut where it is long.
fn shown(text: &str) -> String {
    match text.char_indices().nth(PART_MAX) {
        Some((at, _)) => format!("{}…", safe_text(&text[..at])),
        None => safe_text(text).into_owned(),
    }
}

/// What both have, with its middle left out where it is long.
fn shortened(text: &str) -> String {
    if text.len() <= 2 * AROUND_BYTES + 16 {
        return safe_text(text).into_owned();
    }
    let start = &text[..text.floor_char_boundary(AROUND_BYTES)];
    let end = &text[text.ceil_char_boundary(text.len() - AROUND_BYTES)..];
    format!("{} … {}", safe_text(start), safe_text(end))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use proptest::prelude::*;

    use super::*;

    fn lines(ours: &str, theirs: &str) -> Vec<String> {
        difference(ours, theirs, false).lines
    }

    #[test]
    fn a_changed_word_is_marked() {
        assert_eq!(
            lines("Comparar dos modelos en mi producto", "Comparar tres modelos en mi producto"),
            ["- │ Comparar [-dos-] modelos en mi producto", "+ │ Comparar {+tres+} modelos en mi producto"]
        );
        assert_eq!(lines("one two", "something else"), ["- │ one two", "+ │ something else"]);
    }

    #[test]
    fn lines_that_came_and_went_stand_behind_their_signs() {
        assert_eq!(lines("a\nb\nc\nd", "a\nc\nd\ne"), ["  │ a", "- │ b", "  │ c", "  │ d", "+ │ e"]);
        assert_eq!(lines("a", "a\n"), ["  │ a", "+ │"]);
    }

    #[test]
    fn what_looks_alike_is_told_apart() {
        assert_eq!(
            lines("un café solo", "un cafe\u{301} solo"),
            ["- │ un [-caf\\u00e9-] solo", "+ │ un {+cafe\\u0301+} solo"]
        );
        assert_eq!(lines("x y", "x y "), ["- │ x y", "+ │ x y{+ +}"]);
        assert_eq!(lines("a\r\nb", "a\nb").first().map(String::as_str), Some("- │ a[-\\u000d-]"));
    }

    #[test]
    fn what_is_alike_and_long_is_left_out() {
        let long = "palabra ".repeat(120_000);
        let found = difference(&format!("{long}uno {long}"), &format!("{long}dos {long}"), false);
        assert_eq!(found.lines.len(), 4, "{found:?}");
        assert!(found.lines[1].contains("[-uno-]") && found.lines[2].contains("{+dos+}"), "{found:?}");
        assert!(found.lines.iter().all(|line| line.chars().count() < 400) && !found.is_cut, "{found:?}");
    }

    #[test]
    fn two_texts_of_a_mebibyte_take_no_time_and_no_room() {
        let bytes = 1 << 20;
        let words = |step: usize| (0..).map(move |word: usize| (word * step % 9_973).to_string() + " ");
        let text = |step| {
            words(step)
                .scan(0, |length, word| {
                    *length += word.len();
                    (*length < bytes).then_some(word)
                })
                .collect::<String>()
        };
        let line_by_line = |step| text(step).replace(' ', "\n");
        for (ours, theirs) in [
            (text(7), text(11)),
            (line_by_line(7), line_by_line(11)),
            ("x".repeat(bytes), "y".repeat(bytes)),
            ("\u{1b}[2J".repeat(bytes / 4), "\u{202e}".repeat(bytes / 3)),
            ("\n".repeat(bytes), " ".repeat(bytes)),
        ] {
            let start = Instant::now();
            let found = difference(&ours, &theirs, false);
            assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
            assert!(found.lines.len() <= LINES_MAX, "{}", found.lines.len());
            assert!(found.lines.iter().map(String::len).sum::<usize>() < 60_000);
        }
    }

    proptest! {
        #[test]
        fn no_text_reaches_the_terminal_as_it_is(ours in "\\PC{0,40}|[\u{1b}\u{202e}\u{9b}\r\na ]{0,30}", theirs in any::<String>()) {
            for line in lines(&ours, &theirs) {
                prop_assert_eq!(safe_text(&line), line.as_str());
                prop_assert!(!line.contains('\n'));
            }
        }

        #[test]
        fn texts_that_differ_have_a_difference(ours in "[ab \n]{0,12}", theirs in "[ab \n]{0,12}") {
            let found = lines(&ours, &theirs);
            let has_sign = found.iter().any(|line| line.starts_with(['-', '+']));
            prop_assert_eq!(has_sign, ours != theirs, "{:?}", found);
        }
    }
}
