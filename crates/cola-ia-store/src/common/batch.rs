//! What can be known of a batch without a store.

use std::hash::Hasher as _;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::Delivery;
use cola_ia_core::intake::Refusal;
use siphasher::sip::SipHasher13;

/// Tells one batch from another, so that an op that is used again for something else is noticed. Not against attackers: who
/// makes the op makes the batch. It is stored, so what goes into it is spelled out here.
#[derive(Debug, Default)]
pub(crate) struct Digest(u64);

impl Digest {
    /// The digest of all that was told.
    pub(crate) const fn word_of_all(&self) -> i64 {
        self.0 as i64
    }

    fn word(&mut self, word: i64) {
        // The multiplier of SplitMix64, odd, so that nothing is lost.
        self.0 = (self.0.rotate_left(23) ^ word as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let mut hasher = SipHasher13::new();
        hasher.write(bytes);
        self.word(hasher.finish() as i64);
    }

    /// `identity` stands for source and id: it is the same for ever in one store.
    pub(crate) fn delivery(&mut self, identity: i64, delivery: &Delivery) {
        let (time, event_type) = said(delivery);
        self.word(identity);
        let mut start = [0; 8];
        start.copy_from_slice(&delivery.content.fingerprint().0[..8]);
        self.word(i64::from_le_bytes(start));
        self.word(time.unwrap_or_default());
        if let Some(name) = event_type {
            self.bytes(name.as_bytes());
        }
        if let Some(body) = &delivery.body {
            self.bytes(&body.0);
        }
    }

    pub(crate) fn refusal(&mut self, refusal: &Refusal) {
        self.bytes(refusal.code.as_str().as_bytes());
        self.word(refusal.origin.line as i64);
        self.word(refusal.count as i64);
        if let Some(source) = &refusal.source {
            self.bytes(source.as_str().as_bytes());
        }
    }
}

/// Time and type, as a delivery says.
pub(crate) fn said(delivery: &Delivery) -> (Option<i64>, Option<&str>) {
    (delivery.time.map(Timestamp::as_micros), delivery.event_type.as_ref().map(cola_ia_core::event::EventType::as_str))
}
