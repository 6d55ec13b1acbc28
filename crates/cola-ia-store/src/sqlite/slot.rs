//! Where an identity stands in the table of identities.

use std::hash::Hasher as _;

use siphasher::sip::SipHasher13;

/// Gives each (source, id) its slot: SipHash-1-3 under a key that only the store knows.
///
/// A slot finds an identity fast (an integer key, narrow rows); it never decides whether two identities are the same.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slots {
    key: [u8; 16],
    mask: u64,
}

impl Slots {
    /// `bits` of the hash are used, 1 to 64. Fewer than 64 make collisions, for tests.
    pub(super) fn new(key: [u8; 16], bits: u32) -> Self {
        Self { key, mask: u64::MAX >> (64 - bits.clamp(1, 64)) }
    }

    /// The first slot to try.
    pub(super) fn of(&self, source: &str, id: &str) -> i64 {
        let mut hasher = SipHasher13::new_with_key(&self.key);
        hasher.write(source.as_bytes());
        // No source has this byte, so ("a", "bc") and ("ab", "c") differ.
        hasher.write_u8(0xff);
        hasher.write(id.as_bytes());
        (hasher.finish() & self.mask) as i64
    }

    /// The slot to try after this one, which another identity holds.
    pub(super) fn after(slot: i64) -> i64 {
        slot.wrapping_add(1)
    }
}
