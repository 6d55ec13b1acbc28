//! How a difference is shown to people.

use std::fmt::Debug;

use crate::harness::Failure;

/// Both values under these words, each with its name. Of long ones, what stands around their first difference.
pub(crate) fn differ(words: &str, left: (&str, &dyn Debug), right: (&str, &dyn Debug)) -> Failure {
    let shown = [format!("{:?}", left.1), format!("{:?}", right.1)];
    let common = shown[0].bytes().zip(shown[1].bytes()).take_while(|(left, right)| left == right).count();
    let width = left.0.len().max(right.0.len());
    let [left_shown, right_shown] = shown.each_ref().map(|shown| excerpt(shown, common));
    format!("{words}\n{:>width$}: {left_shown}\n{:>width$}: {right_shown}", left.0, right.0).into()
}

/// A value as people can still read it: a text of 1 MiB is cut on both sides of this byte.
fn excerpt(shown: &str, at: usize) -> String {
    const MAX_BYTES: usize = 2_000;
    const BEFORE: usize = 400;
    if shown.len() <= MAX_BYTES {
        return shown.to_owned();
    }
    let start = shown.floor_char_boundary(at.saturating_sub(BEFORE));
    let end = shown.floor_char_boundary(start + MAX_BYTES);
    let mark = |cut: usize| if cut == 0 { String::new() } else { format!(" … {cut} bytes … ") };
    format!("{}{}{}", mark(start), &shown[start..end], mark(shown.len() - end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_deep_in_a_long_value_is_shown() {
        let long = |end: &str| format!("{}{end}{}", "ñ".repeat(5_000), "x".repeat(5_000));
        let failure = differ("the text", ("found", &long("LEFT")), ("expected", &long("RIGHT"))).to_string();
        assert!(failure.contains("ñLEFTx") && failure.contains("ñRIGHTx") && failure.len() < 5_000, "{failure}");
    }

    #[test]
    fn short_values_are_shown_whole() {
        assert_eq!(differ("a", ("b", &1), ("cde", &"x")).to_string(), "a\n  b: 1\ncde: \"x\"");
    }
}
