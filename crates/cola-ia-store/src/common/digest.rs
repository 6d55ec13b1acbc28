//! Digests of requests.

use std::hash::Hasher as _;

use siphasher::sip::SipHasher13;

/// Tells one request from another, so that an op that is used again for something else is noticed. It is stored: what goes
/// into it, and in which order, must not change.
pub(crate) fn digest(parts: &[&[u8]]) -> i64 {
    let mut hasher = SipHasher13::new();
    for part in parts {
        hasher.write(&(part.len() as u64).to_le_bytes());
        hasher.write(part);
    }
    hasher.finish() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_tells_its_parts_apart_and_stays_what_it_is() {
        assert_ne!(digest(&[b"ab", b"c"]), digest(&[b"a", b"bc"]));
        assert_ne!(digest(&[b"a", b""]), digest(&[b"a"]));
        // It is in stores: a change of it would refuse calls that are repeated after an upgrade.
        assert_eq!(digest(&[b"ab", b"c"]), 1_085_249_655_374_079_794);
    }
}
