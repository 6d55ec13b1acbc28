//! Time and randomness that tests decide.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use cola_ia_core::clock::{Clock, Entropy, Timestamp};

/// A clock that stands still until it is moved. Clones are the same clock.
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// 2026-01-31T12:00:00Z, where tests begin.
    pub const START: Timestamp = Timestamp::from_micros(1_769_860_800_000_000);

    /// A clock that shows this instant.
    pub fn at(now: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(now.as_micros())))
    }

    /// Shows this instant from now on.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.as_micros(), Ordering::SeqCst);
    }

    /// Moves by so many microseconds, backwards if negative; gives the new instant. It stops at the ends of its range.
    pub fn advance(&self, micros: i64) -> Timestamp {
        let moved = |now: i64| Some(now.saturating_add(micros));
        let before = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, moved).unwrap_or_else(|now| now);
        Timestamp::from_micros(before.saturating_add(micros))
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::at(Self::START)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

/// Randomness that is the same for the same seed: `SplitMix64` (Steele, Lea, Flood, OOPSLA 2014). Clones share one series.
#[derive(Debug, Clone)]
pub struct SeededEntropy(Arc<AtomicU64>);

impl SeededEntropy {
    const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

    /// The series of this seed, from its start.
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(AtomicU64::new(seed)))
    }

    /// The next 64 bits.
    pub fn next_u64(&self) -> u64 {
        let mut bits = self.0.fetch_add(Self::GAMMA, Ordering::SeqCst).wrapping_add(Self::GAMMA);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_of_a_clock_are_one_clock() {
        let clock = ManualClock::default();
        let other = clock.clone();
        assert_eq!(other.advance(5), Timestamp::from_micros(ManualClock::START.as_micros() + 5));
        assert_eq!(other.now(), clock.now());
        clock.set(Timestamp::from_micros(-1));
        assert_eq!(other.now().as_micros(), -1);
    }

    #[test]
    fn the_start_is_what_its_documentation_says() {
        assert_eq!(ManualClock::START.to_rfc3339(), "2026-01-31T12:00:00.000000Z");
    }

    #[test]
    fn the_series_is_splitmix64() {
        // The first outputs for seed 1234567 of the reference implementation, https://prng.di.unimi.it/splitmix64.c
        let entropy = SeededEntropy::new(1_234_567);
        assert_eq!(entropy.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(entropy.next_u64(), 3_203_168_211_198_807_973);
        let mut bytes = [0; 11];
        SeededEntropy::new(1_234_567).fill(&mut bytes);
        assert_eq!(bytes[..8], 6_457_827_717_110_365_317_u64.to_le_bytes());
        assert_eq!(bytes[8..], 3_203_168_211_198_807_973_u64.to_le_bytes()[..3]);
    }
}
