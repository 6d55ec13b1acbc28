//! How late deliveries come: a histogram that can be kept, added to another and asked for quantiles.
//!
//! Buckets are log-linear, as in Tene's `HdrHistogram`: eight to each doubling of the lateness, and one to each microsecond
//! below eight. A quantile is answered with the middle of its bucket, which is off by at most a sixteenth (6.25 %) of the
//! true value. Deliveries whose provider's time lies after their reception are no lateness: one of the two clocks is
//! wrong. They are kept apart, by how far ahead they were, and take no part in the quantiles of the others.

use std::time::Duration;

use crate::clock::Timestamp;

/// Buckets to each doubling, as a power of two.
const LINEAR_BITS: u32 = 3;
const LINEAR: u64 = 1 << LINEAR_BITS;

/// How many deliveries fell into each bucket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lateness {
    /// By bucket, as long as the last that holds something: adding up thousands of these is what a store spends its time on.
    late: Vec<u64>,
    ahead: Vec<u64>,
}

impl Lateness {
    /// Counts a delivery.
    pub fn add(&mut self, received_at: Timestamp, time: Timestamp) {
        self.add_many(bucket(received_at.as_micros().saturating_sub(time.as_micros())), 1);
    }

    /// Counts `n` deliveries in a bucket of [`buckets`](Self::buckets).
    pub fn add_many(&mut self, bucket: i16, n: u64) {
        if n > 0 {
            let side = if bucket < 0 { &mut self.ahead } else { &mut self.late };
            let at = usize::from(bucket.unsigned_abs());
            if side.len() <= at {
                side.resize(at + 1, 0);
            }
            side[at] = side[at].saturating_add(n);
        }
    }

    /// Counts what the other has counted.
    pub fn merge(&mut self, other: &Self) {
        other.buckets().for_each(|(bucket, n)| self.add_many(bucket, n));
    }

    /// The buckets that hold something, for a store to keep: below 0 those whose provider's clock was ahead.
    pub fn buckets(&self) -> impl Iterator<Item = (i16, u64)> + '_ {
        let ahead = filled(&self.ahead).map(|(bucket, n)| (-(bucket as i16), n));
        ahead.chain(filled(&self.late).map(|(bucket, n)| (bucket as i16, n)))
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.late.is_empty() && self.ahead.is_empty()
    }

    /// Deliveries that were received at their provider's time or after it.
    pub fn count(&self) -> u64 {
        sum(&self.late)
    }

    /// The lateness that `percent` of these (rounded up to a whole delivery) do not exceed; `None` where there are none.
    pub fn percentile(&self, percent: u8) -> Option<Duration> {
        nth(&self.late, percent)
    }

    /// Deliveries whose provider's time lies after their reception.
    pub fn ahead(&self) -> u64 {
        sum(&self.ahead)
    }

    /// How far ahead `percent` of these were at most; `None` where there are none.
    pub fn ahead_percentile(&self, percent: u8) -> Option<Duration> {
        nth(&self.ahead, percent)
    }
}

fn filled(side: &[u64]) -> impl Iterator<Item = (u16, u64)> + '_ {
    (0..).zip(side).filter(|(_, n)| **n > 0).map(|(bucket, n)| (bucket, *n))
}

fn sum(side: &[u64]) -> u64 {
    side.iter().fold(0, |sum, n| sum.saturating_add(*n))
}

fn nth(side: &[u64], percent: u8) -> Option<Duration> {
    let count: u128 = side.iter().map(|n| u128::from(*n)).sum();
    // The first is the first even of 0 percent.
    let wanted = (count * u128::from(percent.min(100))).div_ceil(100).max(1);
    let mut seen = 0;
    filled(side).find_map(|(bucket, n)| {
        seen += u128::from(n);
        (seen >= wanted).then(|| Duration::from_micros(middle(bucket)))
    })
}

/// The bucket of a lateness in microseconds. What is ahead has the bucket of its amount, negated: it is at least 1, so no
/// bucket is both.
fn bucket(micros: i64) -> i16 {
    let magnitude = bucket_of(micros.unsigned_abs()) as i16;
    if micros < 0 { -magnitude } else { magnitude }
}

fn bucket_of(micros: u64) -> u16 {
    if micros < LINEAR {
        return micros as u16;
    }
    // At least one, because the first doubling has one microsecond a bucket too.
    let doubling = micros.ilog2() - LINEAR_BITS;
    let linear = (micros >> doubling) - LINEAR;
    (LINEAR + u64::from(doubling) * LINEAR + linear) as u16
}

/// The middle of a bucket, in microseconds.
fn middle(bucket: u16) -> u64 {
    let bucket = u64::from(bucket);
    if bucket < LINEAR {
        return bucket;
    }
    let (doubling, linear) = ((bucket - LINEAR) / LINEAR, bucket % LINEAR);
    let start = u128::from(LINEAR + linear) << doubling.min(64);
    u64::try_from(start + (((1_u128 << doubling.min(64)) - 1) / 2)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every power of two and its neighbours, and steps between.
    fn amounts() -> impl Iterator<Item = u64> {
        (0..63).flat_map(|bit| {
            let start = 1_u64 << bit;
            (0..16).map(move |step| start + (start / 16) * step).chain([start - 1, start + 1])
        })
    }

    #[test]
    fn a_bucket_is_off_by_a_sixteenth_at_most() {
        for micros in amounts() {
            let answered = middle(bucket_of(micros));
            assert!(answered.abs_diff(micros) * 16 <= micros, "{micros} is answered as {answered}");
        }
    }

    #[test]
    fn buckets_rise_with_what_they_hold() {
        let mut amounts: Vec<u64> = amounts().collect();
        amounts.sort_unstable();
        assert!(amounts.is_sorted_by_key(|micros| bucket_of(*micros)));
        assert!(amounts.is_sorted_by_key(|micros| middle(bucket_of(*micros))));
    }

    fn of(received_minus_time: impl IntoIterator<Item = i64>) -> Lateness {
        let mut lateness = Lateness::default();
        let time = Timestamp::from_micros(1_000_000_000);
        for micros in received_minus_time {
            lateness.add(Timestamp::from_micros(time.as_micros() + micros), time);
        }
        lateness
    }

    #[test]
    fn percentiles_are_those_of_the_exact_list_within_a_sixteenth() {
        // Seconds from 1 to 1,000, so that the exact answer is plain.
        let lateness = of((1..=1_000).map(|second| second * 1_000_000));
        assert_eq!(lateness.count(), 1_000);
        for (percent, exact) in [(0, 1.0), (1, 10.0), (50, 500.0), (95, 950.0), (100, 1_000.0)] {
            let answered = lateness.percentile(percent).unwrap().as_secs_f64();
            assert!((answered - exact).abs() <= exact / 16.0, "{percent}: {answered}, not {exact}");
        }
    }

    #[test]
    fn a_clock_ahead_is_counted_apart() {
        let lateness = of([0, 5, -5, -3_600_000_000]);
        assert_eq!((lateness.count(), lateness.ahead()), (2, 2));
        assert_eq!(lateness.percentile(50), Some(Duration::ZERO));
        assert_eq!(lateness.percentile(95), Some(Duration::from_micros(5)));
        assert_eq!(lateness.ahead_percentile(50), Some(Duration::from_micros(5)));
        let hour = lateness.ahead_percentile(95).unwrap().as_secs_f64();
        assert!((hour - 3_600.0).abs() <= 225.0, "{hour}");
        assert_eq!((of([-1]).percentile(50), of([1]).ahead_percentile(50)), (None, None));
    }

    #[test]
    fn merged_is_counted_together() {
        let (left, right) = (of([1, 2, 3, -7, 1 << 40]), of([3, 4, -7]));
        let mut merged = left.clone();
        merged.merge(&right);
        assert_eq!(merged, of([1, 2, 3, -7, 1 << 40, 3, 4, -7]));
    }

    #[test]
    fn extreme_instants_have_a_bucket() {
        let (least, most) = (Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MAX));
        let mut lateness = Lateness::default();
        lateness.add(most, least);
        lateness.add(least, most);
        assert_eq!((lateness.count(), lateness.ahead()), (1, 1));
        assert!(lateness.percentile(50).unwrap() > Duration::from_hours(24 * 365 * 200_000));
        assert!(lateness.ahead_percentile(50).unwrap() > Duration::from_hours(24 * 365 * 200_000));
    }
}
