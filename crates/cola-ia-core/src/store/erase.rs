//! A person's right to be forgotten.

use sha2::{Digest as _, Sha256};

use crate::clock::Timestamp;
use crate::event::{Fingerprint, Source};
use crate::intake::{DeliveryNumber, EventNumber};

/// One step of erasing an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EraseRequest {
    /// The event's source.
    pub source: Source,
    /// The event's id, byte for byte. A plain string: a store that took over an older file may hold ids that no longer would
    /// enter.
    pub id: String,
    /// The `next` of the step before; `None`: from the beginning.
    pub after: Option<DeliveryNumber>,
}

/// The answer to [`Store::erase`](super::Store::erase).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Erased {
    /// The event.
    pub event: EventNumber,
    /// When its texts, results and id went.
    pub erased_at: Timestamp,
    /// Whether this call cancelled its job, which had not finished. One with an effect of open outcome is not yet cancelled.
    pub cancelled: bool,
    /// With the last step: whether the store's own files hold no byte of it any more. `false`: somebody is reading an older
    /// state of the store, which keeps its log; erasing again later tells. Copies and backups are not the store's files. A store in
    /// a database never says so: its server keeps old versions of rows and its log by its own rules.
    pub gone: bool,
    /// Where the next step goes on: an event may have more deliveries than one step goes through. `None`: this was the last.
    pub next: Option<DeliveryNumber>,
}

/// What stands in the place of an erased event's id: SHA-256 of the store's namespace, the source, a byte that no source has,
/// and the id, in lower-case hex.
///
/// It tells whether an id is the one that was erased, and nobody can read the id from it. Who has the store and guesses the
/// id can make sure of the guess.
pub fn erased_id(namespace: &[u8], source: &str, id: &str) -> String {
    let mut hash = Sha256::new();
    for part in [namespace, source.as_bytes(), &[0xff], id.as_bytes()] {
        hash.update(part);
    }
    Fingerprint(hash.finalize().into()).to_string()
}

/// Whether a text, such as the detail of a refusal, names this id: as a word of its own, so that the id `1` does not take
/// every number that has the digit.
pub fn names(text: &str, id: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    !id.is_empty()
        && text.match_indices(id).any(|(start, found)| {
            let (before, after) = (&text[..start], &text[start + found.len()..]);
            !is_word(before.chars().next_back()) && !is_word(after.chars().next())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_tells_source_and_id_and_store_apart() {
        let hash = erased_id(b"namespace", "form", "ana@example.org");
        // Made with `printf 'namespaceform\xffana@example.org' | sha256sum`.
        assert_eq!(hash, "d4429dc27ebc0b5b2aa112392cc6e677fec246fd09ee78cde9168e0b31660f28");
        assert_ne!(hash, erased_id(b"namespace", "forma", "na@example.org"));
        assert_ne!(hash, erased_id(b"another", "form", "ana@example.org"));
    }

    #[test]
    fn an_id_is_named_as_a_word() {
        for (text, id) in [("ana", "ana"), ("\"ana\"", "ana"), ("id ana, twice", "ana"), ("anana ana", "ana")] {
            assert!(names(text, id), "{text}: {id}");
        }
        for (text, id) in [("anas", "ana"), ("banana", "ana"), ("42", "4"), ("éana", "ana"), ("", "ana"), ("x", "")] {
            assert!(!names(text, id), "{text}: {id}");
        }
    }
}
