//! What came and how late, counted; and how sources stand.

use cola_ia_core::job::Streak as FailureStreak;
use cola_ia_core::lateness::Lateness;
use cola_ia_core::store;
use cola_ia_core::store::SourceView;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Carry;
use super::shape::shape;
use super::values::{Instant, SourceName};

shape! {
    /// What was received in a range of time, and how many jobs stand where now.
    pub struct Stats of store::Stats {
        /// Where the counts begin: what was asked for, or earlier by less than the minute (of older counts: the hour or the
        /// day) that it lies in.
        since: Option<Instant>,
        /// Where they end: what was asked for, or later by less than that.
        until: Option<Instant>,
        /// All of them together.
        total: StatsGroup,
        /// By source, sorted by its name, those without one first: at most the 1,000 that received the most.
        groups: Vec<StatsGroup>,
        /// How many sources are in the total only.
        more: u64,
    }
}

shape! {
    /// What is counted of one source, or of all.
    pub struct StatsGroup of store::StatsGroup {
        /// The source; `null` for the total, and for what was refused without a source.
        source: Option<SourceName>,
        /// Deliveries by what the gate said.
        deliveries: VerdictCounts,
        /// How late those came that carry a time.
        lateness: LatenessCounts,
        /// Jobs by state now, whenever they came.
        jobs: StateCounts,
    }
}

/// Deliveries by what the gate said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct VerdictCounts {
    /// What entered.
    pub new: u64,
    /// What was known with the same content.
    pub duplicate: u64,
    /// What was known with another content.
    pub conflict: u64,
    /// What was refused.
    pub invalid: u64,
}

impl Carry<VerdictCounts> for [u64; 4] {
    fn carry(self) -> VerdictCounts {
        let [new, duplicate, conflict, invalid] = self;
        VerdictCounts { new, duplicate, conflict, invalid }
    }
}

impl Carry<[u64; 4]> for VerdictCounts {
    fn carry(self) -> [u64; 4] {
        [self.new, self.duplicate, self.conflict, self.invalid]
    }
}

/// Jobs by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StateCounts {
    /// They wait.
    pub pending: u64,
    /// They are leased.
    pub running: u64,
    /// They are finished.
    pub done: u64,
    /// They need a person.
    pub failed: u64,
    /// The outcome of an effect is unknown.
    pub held: u64,
    /// A person stopped them.
    pub cancelled: u64,
}

impl Carry<StateCounts> for [u64; 6] {
    fn carry(self) -> StateCounts {
        let [pending, running, done, failed, held, cancelled] = self;
        StateCounts { pending, running, done, failed, held, cancelled }
    }
}

impl Carry<[u64; 6]> for StateCounts {
    fn carry(self) -> [u64; 6] {
        [self.pending, self.running, self.done, self.failed, self.held, self.cancelled]
    }
}

/// How late deliveries came, by the clock of their provider. Percentiles are off by a sixteenth at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LatenessCounts {
    /// Those that came after the provider's time.
    pub count: u64,
    /// Half of them came no later than this, in milliseconds.
    pub p50_ms: Option<u64>,
    /// 95 of 100 of them came no later than this, in milliseconds.
    pub p95_ms: Option<u64>,
    /// Those that came before the provider's time: one of the two clocks is wrong.
    pub ahead: u64,
    /// All of them, counted: pairs of a bucket and how many are in it. Bucket 0 to 7 is so many microseconds; from there on
    /// each doubling has eight. Those that came before the provider's time have negative buckets.
    pub buckets: Vec<(i16, u64)>,
}

impl Carry<LatenessCounts> for Lateness {
    fn carry(self) -> LatenessCounts {
        let millis = |percent| self.percentile(percent).map(|late| u64::try_from(late.as_millis()).unwrap_or(u64::MAX));
        LatenessCounts {
            count: self.count(),
            p50_ms: millis(50),
            p95_ms: millis(95),
            ahead: self.ahead(),
            buckets: self.buckets().collect(),
        }
    }
}

impl Carry<Lateness> for LatenessCounts {
    fn carry(self) -> Lateness {
        let mut lateness = Lateness::default();
        self.buckets.into_iter().for_each(|(bucket, n)| lateness.add_many(bucket, n));
        lateness
    }
}

shape! {
    /// How a source stands with those who work on its jobs.
    pub struct SourceStanding of SourceView {
        /// The source.
        source: SourceName,
        /// Its jobs that fail one after the other, if the last one did.
        streak: Option<Streak>,
        /// Since when no job of it is leased; a person ends that.
        paused_at: Option<Instant>,
        /// Jobs whose leases have run out, and which nobody has recovered yet. They count as running.
        expired: u64,
        /// When the first of its pending jobs is due, or has been since.
        due_at: Option<Instant>,
    }
}

shape! {
    /// Failures of a source in a row, all of one class.
    pub struct Streak of FailureStreak {
        /// The class of errors.
        class: String,
        /// How many, from 1.
        count: u32,
        /// When the first of them ended.
        since: Instant,
        /// The job that failed last.
        event: i64,
    }
}
