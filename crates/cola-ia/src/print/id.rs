//! An id on a line of its own words.

use std::borrow::Cow;

use unicode_normalization::is_nfc;

use super::characters::{is_hidden, is_mark, push_escape};

/// The id as it stands on an output line: itself where it is plain, else as a JSON string that parses back to it.
///
/// Not plain is an id that could break the line, be taken for another or be lost in a terminal: one with a quotation mark,
/// a control, invisible, private or unassigned character, white space at an end (or other than U+0020 anywhere), a combining
/// mark at its start, or not in normalisation form C. In the JSON string those characters are `\uXXXX`; in an id that is not
/// in form C, everything outside ASCII is, so that it can be told from its composed twin. As a plain id has no quotation mark,
/// the two kinds cannot be confused.
pub fn id_on_a_line(id: &str) -> Cow<'_, str> {
    let visible_ascii = |byte: u8| byte != b'"' && (b'!'..=b'~').contains(&byte);
    if !id.is_empty() && id.bytes().all(visible_ascii) {
        return Cow::Borrowed(id);
    }
    let composed = is_nfc(id);
    let joins_what_is_before = id.chars().next().is_some_and(is_mark);
    let ends_in_space = id.trim().len() != id.len();
    if composed
        && !joins_what_is_before
        && !ends_in_space
        && !id.is_empty()
        && !id.chars().any(|c| c == '"' || is_hidden(c))
    {
        return Cow::Borrowed(id);
    }
    let mut out = String::with_capacity(id.len() + 16);
    out.push('"');
    // A mark behind an escape, or behind the opening quotation mark, would join its last character.
    let mut marks_join_ours = true;
    for character in id.chars() {
        let plain =
            !is_hidden(character) && (composed || character.is_ascii()) && !(marks_join_ours && is_mark(character));
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            _ if plain => out.push(character),
            _ => push_escape(&mut out, character),
        }
        marks_join_ours = !plain || matches!(character, '"' | '\\');
    }
    out.push('"');
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_plain_id_is_printed_as_it_is() {
        for id in ["idea-42", "pedido ñ 7", "a b", "日本-1", "Straße/ø", "a\\b", "caf\u{e9}", "'", "👍", "x\u{e9}"]
        {
            assert_eq!(id_on_a_line(id), id);
        }
    }

    #[test]
    fn an_id_that_could_be_mistaken_is_a_json_string() {
        let cases = [
            ("", r#""""#),
            ("say \"hi\"", r#""say \"hi\"""#),
            ("a ", r#""a ""#),
            (" a\\", r#"" a\\""#),
            ("a\u{a0}", r#""a\u00a0""#),
            ("a\u{3000}b", r#""a\u3000b""#),
            ("A\u{200b}", r#""A\u200b""#),
            ("a\nb", r#""a\u000ab""#),
            ("a\u{85}b", r#""a\u0085b""#),
            ("a\u{2028}b", r#""a\u2028b""#),
            ("a\u{202e}b", r#""a\u202eb""#),
            ("ñ\u{ad}", r#""ñ\u00ad""#),
            ("caf\u{e9} cafe\u{301}", r#""caf\u00e9 cafe\u0301""#),
            ("\u{301}a", r#""\u0301a""#),
            ("\n\u{303}", r#""\u000a\u0303""#),
            ("\"\u{303}e\u{302}\u{303}", r#""\"\u0303e\u0302\u0303""#),
            ("a\u{34f}b", r#""a\u034fb""#),
            ("\u{1160}", r#""\u1160""#),
            ("a\u{2800}", r#""a\u2800""#),
            ("ㅤ", r#""\u3164""#),
            ("❤\u{fe0f}", r#""❤\ufe0f""#),
            ("a\u{e0041}", r#""a\udb40\udc41""#),
            ("\u{e000}", r#""\ue000""#),
            ("\u{10ffff}", r#""\udbff\udfff""#),
            ("\u{378}", r#""\u0378""#),
            ("\u{fffe}", r#""\ufffe""#),
        ];
        for (id, printed) in cases {
            assert_eq!(id_on_a_line(id), printed, "{id:?}");
        }
    }

    fn any_id() -> impl Strategy<Value = String> {
        let odd = prop::sample::select(
            "\u{301}\u{e9}e\u{200b}\u{feff} \t\"\\\u{a0}\u{34f}\u{fe0f}\u{e0041}ñn\u{303}ㅤ".chars().collect::<Vec<_>>(),
        );
        prop::collection::vec(prop_oneof![odd, any::<char>(), prop::char::range(' ', '~')], 0..12)
            .prop_map(|characters| characters.into_iter().collect())
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back_to_the_id(id in any_id()) {
            let printed = id_on_a_line(&id).into_owned();
            if printed.starts_with('"') {
                prop_assert_eq!(serde_json::from_str::<String>(&printed).unwrap(), id);
            } else {
                prop_assert!(!printed.contains('"'));
                prop_assert_eq!(printed, id);
            }
        }

        #[test]
        fn what_is_printed_is_one_line_of_visible_characters(id in any_id()) {
            let printed = id_on_a_line(&id);
            prop_assert!(!printed.chars().any(is_hidden), "{:?}", printed);
            prop_assert_eq!(printed.trim(), printed.as_ref());
            prop_assert!(is_nfc(&printed));
        }

        #[test]
        fn two_ids_are_never_printed_alike(a in any_id(), b in any_id()) {
            use unicode_normalization::UnicodeNormalization as _;
            let same = |x: &str, y: &str| x.nfc().eq(y.nfc());
            prop_assert_eq!(a == b, same(&id_on_a_line(&a), &id_on_a_line(&b)));
        }
    }
}
