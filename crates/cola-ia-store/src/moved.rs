//! The mark of a store that was moved to another place. From then on it can be read, and takes nothing in: triggers refuse it,
//! whoever has the store open, so that two copies never go on beside each other.
//!
//! The mark is kept among the calls (`ops`), under an op that nobody draws, and is never pruned.

use cola_ia_core::store::export::Kind;

use crate::common::records::table;

/// Where a store was moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The place, as people call it; without a password.
    pub to: String,
    /// All of it is there.
    pub is_over: bool,
}

/// The op of the mark.
pub(crate) const OP: &[u8] = b"store was moved\0";
/// Its verb.
pub(crate) const VERB: &str = "moved";
/// Its instant, after that of every other call.
pub(crate) const AT: i64 = i64::MAX;

impl Moved {
    pub(crate) fn packed(&self) -> Vec<u8> {
        let mut bytes = vec![u8::from(self.is_over)];
        bytes.extend(self.to.as_bytes());
        bytes
    }

    pub(crate) fn unpacked(bytes: &[u8]) -> Option<Self> {
        let (is_over, to) = bytes.split_first()?;
        Some(Self { to: String::from_utf8(to.to_vec()).ok()?, is_over: *is_over != 0 })
    }
}

/// Tables in which nothing changes any more.
pub(crate) fn frozen() -> impl Iterator<Item = &'static str> {
    Kind::ALL.into_iter().filter_map(table).chain(["tokens", "source_streaks"])
}
