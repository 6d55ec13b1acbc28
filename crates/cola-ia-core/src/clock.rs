//! Instants, and where "now" and randomness come from. Both are injected, so that tests decide them.

use std::fmt;

/// An instant: microseconds since 1970-01-01T00:00:00Z. Leap seconds are not counted, as in POSIX time.
///
/// Stored as an integer and compared as one, so that no two spellings of an instant can ever disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// An instant from microseconds since the epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the epoch.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// The last instant that can be written: the end of the year 9999, less a day for every offset.
    pub const LATEST: Self = Self(253_402_214_400_000_000);

    /// So much later, [`LATEST`](Self::LATEST) at most.
    #[must_use]
    pub fn after(self, wait: std::time::Duration) -> Self {
        let wait = i64::try_from(wait.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(wait).min(Self::LATEST.0).max(self.0))
    }

    /// Reads an RFC 3339 date-time with its offset, such as `2026-01-31T23:00:00+02:00`.
    ///
    /// Lower-case `t` and `z` and a space for `T` are RFC 3339 too. Digits below a microsecond are cut off; second 60
    /// is read as second 59. `None` for anything else: a date alone, a local time without offset, a Unix number.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        if !has_rfc3339_shape(text.as_bytes()) {
            return None;
        }
        let instant: jiff::Timestamp = text.parse().ok()?;
        Some(Self(instant.as_microsecond()))
    }

    /// RFC 3339 in UTC with all six digits: `2026-01-31T21:00:00.000000Z`. An instant outside the years -9999 to 9999,
    /// which no clock of ours gives, is printed as its microseconds.
    pub fn to_rfc3339(self) -> String {
        jiff::Timestamp::from_microsecond(self.0).map_or_else(|_| self.0.to_string(), |instant| format!("{instant:.6}"))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_rfc3339())
    }
}

/// jiff reads more than RFC 3339 (basic forms, bracketed zones, no seconds); this says what is the RFC's own shape.
fn has_rfc3339_shape(bytes: &[u8]) -> bool {
    let digits =
        |range: std::ops::Range<usize>| bytes.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    let is = |at: usize, any_of: &[u8]| bytes.get(at).is_some_and(|byte| any_of.contains(byte));
    let head = digits(0..4)
        && is(4, b"-")
        && digits(5..7)
        && is(7, b"-")
        && digits(8..10)
        && is(10, b"Tt ")
        && digits(11..13)
        && is(13, b":")
        && digits(14..16)
        && is(16, b":")
        && digits(17..19);
    if !head {
        return false;
    }
    let mut at = 19;
    if is(at, b".") {
        let fraction = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if fraction == 0 {
            return false;
        }
        at += 1 + fraction;
    }
    if is(at, b"Zz") {
        return bytes.len() == at + 1;
    }
    is(at, b"+-") && digits(at + 1..at + 3) && is(at + 3, b":") && digits(at + 4..at + 6) && bytes.len() == at + 6
}

/// Where "now" comes from.
pub trait Clock: Send + Sync + 'static {
    /// The present instant. It can step backwards: callers must not assume that it only grows.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp(jiff::Timestamp::now().as_microsecond())
    }
}

/// Where randomness comes from.
pub trait Entropy: Send + Sync + 'static {
    /// Fills `bytes` with random ones.
    ///
    /// # Panics
    /// When the operating system has none to give: nothing safe can be done without it.
    fn fill(&self, bytes: &mut [u8]);
}

/// The operating system's randomness.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system gives random bytes");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc3339_is_read_and_nothing_else() {
        let micros = |text| Timestamp::parse_rfc3339(text).map(Timestamp::as_micros);
        assert_eq!(micros("1970-01-01T00:00:01Z"), Some(1_000_000));
        assert_eq!(micros("1970-01-01t00:00:01.5z"), Some(1_500_000));
        assert_eq!(micros("1970-01-01 02:00:00+02:00"), Some(0));
        assert_eq!(micros("1970-01-01T00:00:00.0000019Z"), Some(1));
        assert_eq!(micros("2016-12-31T23:59:60Z"), micros("2016-12-31T23:59:59Z"));
        for wrong in [
            "",
            "2026",
            "2026-01-01",
            "2026-01-01T05:00Z",
            "2026-01-01T05:00:00",
            "20260101T050000Z",
            "2026-01-01T05:00:00Z[UTC]",
            "2026-13-01T00:00:00Z",
            "2026-02-30T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T05:00:00.Z",
            "1767225600",
            "2026-01-01T05:00:00+0200",
            "2026-01-01T05:00:00Zx",
            "+2026-01-01T05:00:00Z",
        ] {
            assert_eq!(Timestamp::parse_rfc3339(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_instant_is_printed_in_utc_with_six_digits() {
        assert_eq!(Timestamp::from_micros(1_500_000).to_rfc3339(), "1970-01-01T00:00:01.500000Z");
        assert_eq!(Timestamp::from_micros(i64::MAX).to_rfc3339(), i64::MAX.to_string());
    }
}
