//! The key of an effect.

use sha2::{Digest as _, Sha256};

use super::RequestHash;
use crate::event::Source;

/// The effect that a worker's command as a whole stands for, where it names none: its key is what `COLA_IA_KEY` holds.
pub const JOB_EFFECT: &str = "job";

/// The key of an effect, to be sent with the action so that its destination can tell a repetition.
///
/// It is the same on every attempt, after a restart, after an export and an import, and on every kind of store: it is made of
/// the store's namespace, the event's source and id, the run, and the effect's name, and never of attempt, lease or payload.
/// A new run has other keys, because a person wants the effects once more.
///
/// Base64url without padding (RFC 4648, section 5), 43 characters, of the SHA-256 of `cola-ia/effect/1` and the five fields;
/// before each stands its length in bytes as 32 bits, big-endian. The run is written in decimal digits. It never changes: keys
/// that were sent are remembered elsewhere.
pub fn effect_key(namespace: &[u8; 16], source: &Source, id: &str, run: u32, name: &str) -> String {
    let run = run.to_string();
    let fields = [namespace.as_slice(), source.as_str().as_bytes(), id.as_bytes(), run.as_bytes(), name.as_bytes()];
    base64url(&hash_of(b"cola-ia/effect/1", fields))
}

/// The hash of a request, from the fields that make it what it is: the same ones in the same order, or it is another request.
pub fn request_hash<'a>(fields: impl IntoIterator<Item = &'a [u8]>) -> RequestHash {
    hash_of(b"cola-ia/request/1", fields)
}

fn hash_of<'a>(domain: &[u8], fields: impl IntoIterator<Item = &'a [u8]>) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(domain);
    for field in fields {
        // Ids and names are far below 4 GiB; a longer field would only be hashed with a wrapped length.
        hash.update((field.len() as u32).to_be_bytes());
        hash.update(field);
    }
    hash.finalize().into()
}

fn base64url(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().enumerate().fold(0_u32, |group, (at, byte)| group | u32::from(*byte) << (16 - 8 * at));
        // Two bytes are three digits, and one is two.
        for digit in 0..=chunk.len() {
            text.push(char::from(DIGITS[(group >> (18 - 6 * digit)) as usize & 63]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str) -> Source {
        Source::new(name).unwrap()
    }

    /// Made with another program, by the description above.
    #[test]
    fn keys_are_what_they_were() {
        let namespace = std::array::from_fn(|at| at as u8);
        assert_eq!(
            effect_key(&namespace, &source("default"), "idea-42", 1, "job"),
            "mG_2lExkAGbqjBx8aa8SKixK57ewjsQ5SdshRZRQQtY"
        );
        assert_eq!(
            effect_key(&[0xff; 16], &source("form"), "pedido ñ 7", u32::MAX, "publish"),
            "PwNNlh2xrq4mmo_s4RFbdLar9YKI2sSTwGHKQL0Cg-8"
        );
    }

    #[test]
    fn each_field_makes_another_key() {
        let of = |namespace, name, id, run, effect| effect_key(&[namespace; 16], &source(name), id, run, effect);
        let keys = [
            of(0, "a", "b", 1, "job"),
            of(1, "a", "b", 1, "job"),
            of(0, "ab", "", 1, "job"),
            of(0, "a", "b1", 1, "job"),
            of(0, "a", "b", 11, "job"),
            of(0, "a", "b", 1, "1job"),
            of(0, "a", "b", 2, "job"),
        ];
        let apart: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(apart.len(), keys.len(), "{keys:?}");
        assert!(keys.iter().all(|key| key.len() == 43));
    }

    #[test]
    fn a_request_is_its_fields_and_not_their_joined_bytes() {
        let of = |fields: &[&str]| request_hash(fields.iter().map(|field| field.as_bytes()));
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
        for other in [&["ab"][..], &["b", "a"], &["a", "b", ""], &[]] {
            assert_ne!(of(&["a", "b"]), of(other), "{other:?}");
        }
    }

    /// RFC 4648, section 10.
    #[test]
    fn base64url_is_the_rfcs() {
        for (bytes, text) in
            [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64url(bytes.as_bytes()), text);
        }
        assert_eq!(base64url(&[0xfb, 0xff]), "-_8");
    }
}
