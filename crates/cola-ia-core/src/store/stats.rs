//! What came and how late, counted; and how many jobs stand where.

use crate::clock::Timestamp;
use crate::event::Source;
use crate::job::JobState;
use crate::lateness::Lateness;
use crate::verdict::Verdict;

/// The answer to [`Store::stats`](super::Store::stats).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// Where the counts begin: what was asked for, or earlier by less than the minute (of older counts: the hour or the day)
    /// that it lies in.
    pub since: Option<Timestamp>,
    /// Where they end: what was asked for, or later by less than that.
    pub until: Option<Timestamp>,
    /// All of them together.
    pub total: StatsGroup,
    /// By source, sorted by its name, those without one first: the [`STATS_SOURCES_MAX`] that received the most.
    pub groups: Vec<StatsGroup>,
    /// How many sources are in the total only.
    pub more: u64,
}

/// Most groups in one [`Stats`].
pub const STATS_SOURCES_MAX: usize = 1_000;

/// What is counted of one source, or of all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatsGroup {
    /// The source; `None` for the total, and for what was refused without a source.
    pub source: Option<Source>,
    /// Deliveries by what the gate said, in the order of [`Verdict::ALL`].
    pub deliveries: [u64; 4],
    /// How late those came that carry a time. Those refused count with none.
    pub lateness: Lateness,
    /// Jobs by state now, whenever they came, in the order of [`JobState::ALL`].
    pub jobs: [u64; 6],
}

impl StatsGroup {
    /// Deliveries of this verdict.
    pub fn of(&self, verdict: Verdict) -> u64 {
        self.deliveries[verdict as usize]
    }

    /// All deliveries, refused ones too.
    pub fn received(&self) -> u64 {
        self.deliveries.iter().fold(0, |sum, n| sum.saturating_add(*n))
    }

    /// Jobs that stand so now.
    pub fn jobs_in(&self, state: JobState) -> u64 {
        self.jobs[state as usize]
    }

    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.deliveries == [0; 4] && self.jobs == [0; 6] && self.lateness.is_empty()
    }

    /// Counts what the other has counted.
    pub fn merge(&mut self, other: &Self) {
        self.deliveries.iter_mut().zip(other.deliveries).for_each(|(n, more)| *n = n.saturating_add(more));
        self.jobs.iter_mut().zip(other.jobs).for_each(|(n, more)| *n = n.saturating_add(more));
        self.lateness.merge(&other.lateness);
    }
}

impl Stats {
    /// Puts the groups of all sources together: the total, the order, and the bound.
    pub fn of(since: Option<Timestamp>, until: Option<Timestamp>, mut groups: Vec<StatsGroup>) -> Self {
        groups.retain(|group| !group.is_empty());
        let mut total = StatsGroup::default();
        for group in &groups {
            total.merge(group);
        }
        let more = groups.len().saturating_sub(STATS_SOURCES_MAX);
        groups
            .sort_by(|left, right| right.received().cmp(&left.received()).then_with(|| left.source.cmp(&right.source)));
        groups.truncate(STATS_SOURCES_MAX);
        groups.sort_by(|left, right| left.source.cmp(&right.source));
        Self { since, until, total, groups, more: more as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(source: &str, received: u64) -> StatsGroup {
        StatsGroup { source: Source::new(source).ok(), deliveries: [received, 0, 0, 0], ..StatsGroup::default() }
    }

    #[test]
    fn beyond_the_bound_those_that_received_least_are_in_the_total_only() {
        let names = (0..STATS_SOURCES_MAX + 2).map(|n| group(&format!("s{n:04}"), 1 + n as u64));
        let stats = Stats::of(None, None, names.collect());
        assert_eq!((stats.groups.len(), stats.more), (STATS_SOURCES_MAX, 2));
        assert_eq!(stats.groups[0], group("s0002", 3));
        assert!(stats.groups.is_sorted_by_key(|group| group.source.clone()));
        let sum = (1..=STATS_SOURCES_MAX as u64 + 2).sum::<u64>();
        assert_eq!(stats.total.received(), sum);
    }

    #[test]
    fn who_has_nothing_to_tell_is_not_named() {
        let mut waits = group("waits", 0);
        waits.jobs[0] = 1;
        let stats = Stats::of(None, None, vec![group("none", 0), waits.clone()]);
        assert_eq!(stats.groups, [waits]);
    }
}
