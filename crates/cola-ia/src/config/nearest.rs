//! "Did you mean".

/// The candidate that is most like the word, if any is like it at all.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Below this, two words have little in common: `db` and `lang`.
    const LIKE: f64 = 0.8;
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates {
        let likeness = strsim::jaro(&word.to_lowercase(), &candidate.to_lowercase());
        if likeness > LIKE && best.is_none_or(|(most, _)| likeness > most) {
            best = Some((likeness, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_recognised_and_another_word_is_not() {
        let names = ["db", "default_source", "max_text_bytes", "max_line_bytes", "lock_wait"];
        assert_eq!(nearest("max_text_byte", names), Some("max_text_bytes"));
        assert_eq!(nearest("Lock-Wait", names), Some("lock_wait"));
        assert_eq!(nearest("dbb", names), Some("db"));
        assert_eq!(nearest("sources", names), None);
        assert_eq!(nearest("", names), None);
    }
}
