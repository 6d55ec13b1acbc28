//! When a job is tried again.

use std::time::Duration;

use super::LeaseToken;
use crate::clock::Timestamp;

/// How often and when a job is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts of a run that may fail before the job is `failed`; at least 1.
    pub max_attempts: u32,
    /// Attempts of a run that may be lost with their worker before the job is `failed`; at least 1. They are counted apart: a
    /// machine that goes down is not the job's fault, and a job that brings its worker down must not do so for ever.
    pub max_crashes: u32,
    /// The longest wait after the first setback.
    pub first_wait: Duration,
    /// The longest wait after any.
    pub max_wait: Duration,
    /// A source of which so many jobs failed in a row with one class of errors is paused, until a person ends it; `None`:
    /// never.
    pub pause_after: Option<u32>,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 5,
            max_crashes: 3,
            first_wait: Duration::from_secs(10),
            max_wait: Duration::from_hours(1),
            pause_after: None,
        }
    }
}

/// A random number for the wait after one lease. It comes from the lease's token, which is random, so that nothing else has to
/// be drawn and every store finds the same wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw(pub u64);

impl Draw {
    /// The one of a lease.
    pub fn of(token: LeaseToken) -> Self {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&token.0[8..16]);
        let place = u64::from(u16::from_be_bytes([token.0[16], token.0[17]]));
        // SplitMix64: neighbours in one claim get waits that have nothing to do with each other.
        let mixed = u64::from_be_bytes(bytes).wrapping_add((place + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Self(mixed ^ (mixed >> 31))
    }

    /// From nothing to `most`, both included.
    fn up_to(self, most: u64) -> u64 {
        // The draw is a fraction of 2^64.
        ((u128::from(self.0) * (u128::from(most) + 1)) >> 64) as u64
    }
}

impl RetryPolicy {
    /// How long to wait after so many setbacks of one kind, from 1: somewhere between nothing and a bound that doubles each
    /// time. All of the wait is drawn ("full jitter"), so that jobs which failed together do not come back together.
    pub fn wait(&self, setbacks: u32, draw: Draw) -> Duration {
        let first = u64::try_from(self.first_wait.as_micros()).unwrap_or(u64::MAX);
        let most = u64::try_from(self.max_wait.as_micros()).unwrap_or(u64::MAX);
        let doubled =
            1_u64.checked_shl(setbacks.saturating_sub(1)).map_or(u64::MAX, |times| first.saturating_mul(times));
        Duration::from_micros(draw.up_to(doubled.min(most)))
    }
}

/// Reads the value of a `Retry-After` (RFC 9110, 10.2.3): a number of seconds, or an HTTP date in its present form
/// (`Sun, 06 Nov 1994 08:49:37 GMT`). A number with a fraction is rounded up: never earlier. `None` for anything else.
pub fn retry_after(value: &str, now: Timestamp) -> Option<Timestamp> {
    let value = value.trim();
    if value.starts_with(|first: char| first.is_ascii_digit()) {
        let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(fraction) || (value.contains('.') && fraction.is_empty()) {
            return None;
        }
        // More digits than a number holds are a wait without end, and are cut at the latest instant there is.
        let seconds = whole.parse::<u64>().unwrap_or(u64::MAX);
        let up = u64::from(fraction.bytes().any(|digit| digit != b'0'));
        return Some(now.after(Duration::from_secs(seconds.saturating_add(up))));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    value.ends_with("GMT").then(|| Timestamp::from_micros(date.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: RetryPolicy = RetryPolicy {
        max_attempts: 5,
        max_crashes: 3,
        first_wait: Duration::from_secs(10),
        max_wait: Duration::from_mins(5),
        pause_after: None,
    };

    #[test]
    fn the_longest_wait_doubles_up_to_its_bound() {
        let longest: Vec<u64> = (1..=7).map(|setbacks| POLICY.wait(setbacks, Draw(u64::MAX)).as_secs()).collect();
        assert_eq!(longest, [10, 20, 40, 80, 160, 300, 300]);
        assert_eq!(POLICY.wait(0, Draw(u64::MAX)).as_secs(), 10);
    }

    #[test]
    fn waits_are_spread_over_the_whole_of_it() {
        assert_eq!(POLICY.wait(3, Draw(0)), Duration::ZERO);
        assert_eq!(POLICY.wait(3, Draw(u64::MAX / 2)).as_secs(), 20);
        assert_eq!(POLICY.wait(3, Draw(u64::MAX / 4 * 3)).as_secs(), 30);
    }

    #[test]
    fn neighbours_in_a_claim_wait_differently() {
        let draws: std::collections::BTreeSet<u64> =
            (0..1_000).map(|place| Draw::of(LeaseToken::new([3; 16], place)).0 >> 52).collect();
        assert!(draws.len() > 800, "{}", draws.len());
    }

    #[test]
    fn nothing_overflows() {
        let policy = RetryPolicy { first_wait: Duration::MAX, max_wait: Duration::MAX, ..POLICY };
        assert_eq!(policy.wait(u32::MAX, Draw(u64::MAX)), Duration::from_micros(u64::MAX));
        assert_eq!(POLICY.wait(u32::MAX, Draw(u64::MAX)), Duration::from_mins(5));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = Timestamp::parse_rfc3339("2026-01-01T00:00:00Z").unwrap();
        let read = |value| retry_after(value, now).map(Timestamp::to_rfc3339);
        assert_eq!(read("120").as_deref(), Some("2026-01-01T00:02:00.000000Z"));
        assert_eq!(read(" 0 ").as_deref(), Some("2026-01-01T00:00:00.000000Z"));
        assert_eq!(read("1.001").as_deref(), Some("2026-01-01T00:00:02.000000Z"));
        assert_eq!(read("1.0").as_deref(), Some("2026-01-01T00:00:01.000000Z"));
        assert_eq!(read("Thu, 01 Jan 2026 00:10:00 GMT").as_deref(), Some("2026-01-01T00:10:00.000000Z"));
        assert_eq!(read("99999999999999999999999"), Some(Timestamp::LATEST.to_rfc3339()));
        for wrong in ["", "-1", "1s", "1.", "1e3", "soon", "2026-01-01T00:00:00Z", "Thu, 01 Jan 2026 00:10:00 +0200"] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }
}
