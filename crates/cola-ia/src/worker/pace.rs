//! How long commands take, to know how many jobs to claim ahead of their places.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What will be begun within so long may be claimed now. A claim is a commit: where commands take no longer than that, waiting
/// for it is what takes the time.
const AHEAD_FOR: Duration = Duration::from_millis(20);
/// Most jobs ahead of their places.
const AHEAD_JOBS_MAX: u64 = 64;
/// What is taken for granted before anything is known.
const SLOW: Duration = Duration::from_secs(1);
/// Commands that the average looks back at, about.
const WEIGHT: u64 = 8;

/// The moving average of how long commands take, in microseconds.
#[derive(Debug)]
pub(super) struct Pace(AtomicU64);

impl Default for Pace {
    fn default() -> Self {
        Self(AtomicU64::new(SLOW.as_micros() as u64))
    }
}

impl Pace {
    /// A command took so long.
    pub(super) fn heard(&self, took: Duration) {
        // Two at once may lose one: it is an average.
        let average = self.0.load(Ordering::Relaxed);
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX).min(u64::MAX / WEIGHT);
        self.0.store((average.min(u64::MAX / WEIGHT) * (WEIGHT - 1) + took) / WEIGHT, Ordering::Relaxed);
    }

    /// One that was claimed ahead had no place in time: whatever runs now takes long.
    pub(super) fn is_slow(&self) {
        self.0.store(SLOW.as_micros() as u64, Ordering::Relaxed);
    }

    /// Whether commands are so short that commits count.
    pub(super) fn is_short(&self, places: u32) -> bool {
        self.ahead(places) > 0
    }

    /// How many jobs may be claimed for places that are taken.
    pub(super) fn ahead(&self, places: u32) -> usize {
        let average = self.0.load(Ordering::Relaxed).max(1);
        (u64::from(places) * AHEAD_FOR.as_micros() as u64 / average).min(AHEAD_JOBS_MAX) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commands_that_are_known_to_be_short_are_claimed_ahead() {
        let pace = Pace::default();
        assert_eq!(pace.ahead(8), 0, "nothing is known yet");
        let short = Duration::from_millis(1);
        (0..3).for_each(|_| pace.heard(short));
        assert_eq!(pace.ahead(8), 0, "a few say little");
        (0..80).for_each(|_| pace.heard(short));
        // An average of whole microseconds stops a little above.
        assert!((19..=20).contains(&pace.ahead(1)) && pace.ahead(8) == AHEAD_JOBS_MAX as usize);
        pace.heard(Duration::from_secs(2));
        assert_eq!(pace.ahead(8), 0, "one that was long is reason enough");
        (0..80).for_each(|_| pace.heard(short));
        pace.is_slow();
        assert_eq!(pace.ahead(8), 0);
        pace.heard(Duration::MAX);
        assert_eq!(pace.ahead(u32::MAX), 0);
    }

    #[test]
    fn of_commands_that_take_long_none_is_claimed_ahead() {
        let pace = Pace::default();
        (0..200).for_each(|_| pace.heard(Duration::from_millis(25)));
        assert_eq!((pace.ahead(1), pace.ahead(4)), (0, 3), "what begins within the time, over all places");
    }
}
