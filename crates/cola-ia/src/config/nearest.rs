//! "Did you mean".

/// The candidate that differs from the word by a slip of the finger or two: at most one letter in three left out, added,
/// exchanged or replaced, and in a word of three or less not the first. Capitals, and `-` for `_`, do not count.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |word: &str| word.to_lowercase().replace('-', "_");
    let word = plain(word);
    let near = |candidate: &&'a str| {
        let candidate = plain(candidate);
        let slips = strsim::osa_distance(&word, &candidate);
        let longest = word.chars().count().max(candidate.chars().count());
        // Of a short word the first letter is most of it: `ksh` is not `zsh`.
        let alike = longest > 3 || word.chars().next() == candidate.chars().next();
        (slips * 3 <= longest && alike).then_some(slips)
    };
    candidates
        .into_iter()
        .filter_map(|candidate| near(&candidate).map(|slips| (slips, candidate)))
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_recognised_and_another_word_is_not() {
        let names = ["db", "default_source", "max_text_bytes", "max_line_bytes", "lock_wait"];
        let cases = [
            ("max_text_byte", Some("max_text_bytes")),
            ("Lock-Wait", Some("lock_wait")),
            ("lokc_wiat", Some("lock_wait")),
            ("dbb", Some("db")),
            ("sources", None),
            ("foo", None),
            ("bd", None),
            ("eb", None),
            ("max_bytes", None),
            ("", None),
        ];
        for (word, meant) in cases {
            assert_eq!(nearest(word, names), meant, "{word}");
        }
        assert_eq!(nearest("shwo", ["jobs", "show"]), Some("show"));
        assert_eq!(nearest("work", ["id", "man", "add", "show", "jobs"]), None);
    }
}
