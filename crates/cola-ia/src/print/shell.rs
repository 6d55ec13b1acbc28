//! A word of a command that people copy from a message and paste into a shell.

use std::borrow::Cow;

use unicode_normalization::is_nfc;

use super::characters::{is_hidden, is_mark};

/// The word as a POSIX shell, and fish too, takes it back: quoted only where it must be.
///
/// `None` where it would not survive being read, copied and pasted: it has a character that cannot be seen, one that joins
/// what is before it, or is not in normalisation form C. That a word starts with a dash is the caller's affair.
pub fn shell_word(word: &str) -> Option<Cow<'_, str>> {
    if word.chars().any(is_hidden) || word.chars().next().is_some_and(is_mark) || !is_nfc(word) {
        return None;
    }
    let is_bare = |c: char| c.is_alphanumeric() || "_-./:@,+%".contains(c);
    if !word.is_empty() && word.chars().all(is_bare) {
        return Some(Cow::Borrowed(word));
    }
    let mut out = String::with_capacity(word.len() + 2);
    out.push('\'');
    for character in word.chars() {
        match character {
            // fish reads a backslash between quotation marks as an escape, a POSIX shell does not: both read it so outside.
            '\'' | '\\' => out.extend(['\'', '\\', character, '\'']),
            other => out.push(other),
        }
    }
    out.push('\'');
    Some(Cow::Owned(out))
}

/// As [`shell_word`] for a path, which must not be taken for an option.
pub fn shell_path(path: &str) -> Option<Cow<'_, str>> {
    if path.starts_with('-') {
        Some(Cow::Owned(shell_word(&format!("./{path}"))?.into_owned()))
    } else {
        shell_word(path)
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_word_is_quoted_only_where_it_must_be() {
        let cases = [
            ("idea-42", "idea-42"),
            ("a/b.c:d@e,f+g%h_i", "a/b.c:d@e,f+g%h_i"),
            ("señal", "señal"),
            ("", "''"),
            ("a b", "'a b'"),
            ("$(rm -r x)", "'$(rm -r x)'"),
            ("`x`", "'`x`'"),
            ("it's", r"'it'\''s'"),
            (r"a\", r"'a'\\''"),
            ("~", "'~'"),
            ("=ls", "'=ls'"),
            ("a;b|c&d>e", "'a;b|c&d>e'"),
            ("!!", "'!!'"),
            ("#x", "'#x'"),
            ("\"q\"", "'\"q\"'"),
            ("-42", "-42"),
        ];
        for (word, quoted) in cases {
            assert_eq!(shell_word(word).as_deref(), Some(quoted), "{word}");
        }
        assert_eq!(shell_path("-x y").as_deref(), Some("'./-x y'"));
        assert_eq!(shell_path("x").as_deref(), Some("x"));
    }

    #[test]
    fn what_does_not_survive_copying_is_not_offered() {
        for word in ["a\nb", "a\tb", "a\u{1b}[2J", "a\u{a0}b", "a\u{200b}", "cafe\u{301}", "\u{301}a", "a\u{202e}b"] {
            assert_eq!(shell_word(word), None, "{word:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_shell_takes_the_word_back(word in "[ -~áñ→]{0,24}") {
            let quoted = shell_word(&word).unwrap();
            let output = Command::new("sh").args(["-c", &format!("printf %s {quoted}")]).output().unwrap();
            // `printf` would take a word that starts with a dash for its format: `%s` comes first.
            prop_assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
        }
    }
}
