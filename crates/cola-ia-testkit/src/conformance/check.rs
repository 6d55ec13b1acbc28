//! How a case says what it found.

use std::fmt::Debug;

use cola_ia_core::store::{Accepted, ErrorKind, StoreError};
use cola_ia_core::verdict::Verdict;

use crate::harness::Failure;
use crate::report::differ;

/// The cases of one area: their functions' names are their names.
macro_rules! cases {
    ($($name:ident),+ $(,)?) => {
        pub(super) const CASES: &[super::Case] =
            &[$(super::Case { name: stringify!($name), run: $name },)+];
    };
}
pub(super) use cases;

/// Ends the case with these words unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($words:tt)+) => {
        if !$condition {
            return Err(format!($($words)+).into());
        }
    };
}
pub(super) use ensure;

/// Ends the case with these words and both values unless they are equal.
macro_rules! ensure_eq {
    ($found:expr, $expected:expr, $($words:tt)+) => {
        match (&$found, &$expected) {
            (found, expected) => {
                if *found != *expected {
                    return Err($crate::conformance::check::unexpected(&format!($($words)+), found, expected));
                }
            }
        }
    };
}
pub(super) use ensure_eq;

pub(super) fn unexpected(words: &str, found: &dyn Debug, expected: &dyn Debug) -> Failure {
    differ(words, ("found", found), ("expected", expected))
}

/// The verdicts in order, conflicts with their number: `new duplicate conflict#1 invalid`.
pub(super) fn words(accepted: &Accepted) -> String {
    let word = |receipt: &cola_ia_core::store::Receipt| match receipt.conflict {
        Some(conflict) => format!("{}#{conflict}", receipt.verdict.as_str()),
        None => receipt.verdict.as_str().to_owned(),
    };
    accepted.receipts.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// How many receipts have this verdict.
pub(super) fn count(accepted: &Accepted, verdict: Verdict) -> usize {
    accepted.receipts.iter().filter(|receipt| receipt.verdict == verdict).count()
}

/// Fails unless the call failed in this way.
pub(super) fn refused<T: Debug>(
    what: &str,
    answer: Result<T, StoreError>,
    kind: ErrorKind,
    code: &str,
) -> Result<(), Failure> {
    match answer {
        Err(error) if error.kind == kind && error.code == code => Ok(()),
        Err(error) => Err(unexpected(what, &(error.kind, error.code), &(kind, code))),
        Ok(value) => Err(unexpected(what, &value, &(kind, code))),
    }
}
