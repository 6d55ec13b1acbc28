//! What came, how late, and where jobs stand.

use std::borrow::Cow;
use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::Source;
use cola_ia_core::job::JobState;
use cola_ia_core::store::{SourceView, Stats, StatsGroup};
use cola_ia_core::verdict::Verdict;
use serde::{Deserialize, Serialize};

use crate::VERSION;

/// The counts of all sources, of one, or of what named none: a line of `stats --json`. The total comes first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatsLine<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// `total`, `source`, or `none` for what was refused without a source.
    #[serde(borrow)]
    pub scope: Cow<'a, str>,
    /// The source; `null` but for the scope `source`.
    #[serde(borrow)]
    pub source: Option<Cow<'a, str>>,
    /// Deliveries that were received from here on: what was asked for or, less than a minute, an hour or a day before it, the
    /// start of the count that it lies in; `null`: from the first.
    pub since: Option<String>,
    /// Deliveries that were received before this; `null`: to the last.
    pub until: Option<String>,
    /// All deliveries, refused ones too.
    pub received: u64,
    /// Deliveries that became an event.
    pub new: u64,
    /// Deliveries with a known identity and the same content.
    pub duplicate: u64,
    /// Deliveries with a known identity and another content.
    pub conflict: u64,
    /// Deliveries that were refused.
    pub invalid: u64,
    /// How late those came that carry a time.
    pub lateness: LatenessOf,
    /// Jobs by state now, whenever they came.
    pub jobs: JobCounts,
    /// Of the running ones, those whose leases have run out: their workers are lost, and they wait to be recovered.
    pub expired: u64,
    /// Of a source: its jobs that fail one after the other; `null` where the last one did not.
    #[serde(borrow)]
    pub failing: Option<Failing<'a>>,
    /// Of a source: since when no job of it is given to workers; `null` where they are.
    pub paused_at: Option<String>,
    /// In the total: how many sources have no line of their own, because they are beyond the first 1,000.
    pub sources_left_out: Option<u64>,
}

/// Lateness: reception by the store's clock minus the provider's time. Each length of time is within 6.25 % of the true one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatenessOf {
    /// Deliveries that were received at their provider's time or after it.
    pub count: u64,
    /// Half of these came so late or less, in milliseconds; `null` where there are none.
    pub p50_ms: Option<u64>,
    /// 95 of 100 came so late or less.
    pub p95_ms: Option<u64>,
    /// Deliveries whose provider's time lies after their reception: a clock is wrong. They are not in the other figures.
    pub ahead: u64,
    /// Half of these were so far ahead or less.
    pub ahead_p50_ms: Option<u64>,
    /// 95 of 100 were so far ahead or less.
    pub ahead_p95_ms: Option<u64>,
}

/// Jobs by state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is the state of its name")]
pub struct JobCounts {
    pub pending: u64,
    pub running: u64,
    pub done: u64,
    pub failed: u64,
    pub held: u64,
    pub cancelled: u64,
}

/// Jobs of a source that failed in a row, all with one class of error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failing<'a> {
    /// The class of errors; `crashed` for lost workers.
    #[serde(borrow)]
    pub class: Cow<'a, str>,
    /// How many.
    pub count: u32,
    /// When the first of them ended.
    pub since: String,
    /// The event of the job that failed last.
    pub event: i64,
}

impl<'a> StatsLine<'a> {
    /// The lines of an answer: the total, then each source. `sources`: how those of the answer stand, sorted by name.
    pub fn all(stats: &'a Stats, sources: &'a [SourceView]) -> impl Iterator<Item = Self> + 'a {
        let total = Self {
            expired: sources.iter().map(|view| view.expired).sum(),
            sources_left_out: Some(stats.more),
            ..Self::new(stats, &stats.total, "total")
        };
        let of_group = move |group: &'a StatsGroup| {
            let line = Self::new(stats, group, if group.source.is_some() { "source" } else { "none" });
            match group.source.as_ref().and_then(|source| SourceView::find(sources, source)) {
                Some(view) => line.standing(view),
                None => line,
            }
        };
        std::iter::once(total).chain(stats.groups.iter().map(of_group))
    }

    fn standing(self, view: &'a SourceView) -> Self {
        let failing = view.streak.as_ref().map(|streak| Failing {
            class: Cow::Borrowed(&streak.class),
            count: streak.count,
            since: streak.since.to_rfc3339(),
            event: streak.event.0,
        });
        Self { expired: view.expired, failing, paused_at: view.paused_at.map(Timestamp::to_rfc3339), ..self }
    }

    fn new(stats: &Stats, group: &'a StatsGroup, scope: &'static str) -> Self {
        let ms = |length: Option<Duration>| length.map(|length| u64::try_from(length.as_millis()).unwrap_or(u64::MAX));
        let late = &group.lateness;
        Self {
            v: VERSION,
            scope: Cow::Borrowed(scope),
            source: group.source.as_ref().map(Source::as_str).map(Cow::Borrowed),
            since: stats.since.map(Timestamp::to_rfc3339),
            until: stats.until.map(Timestamp::to_rfc3339),
            received: group.received(),
            new: group.of(Verdict::New),
            duplicate: group.of(Verdict::Duplicate),
            conflict: group.of(Verdict::Conflict),
            invalid: group.of(Verdict::Invalid),
            lateness: LatenessOf {
                count: late.count(),
                p50_ms: ms(late.percentile(50)),
                p95_ms: ms(late.percentile(95)),
                ahead: late.ahead(),
                ahead_p50_ms: ms(late.ahead_percentile(50)),
                ahead_p95_ms: ms(late.ahead_percentile(95)),
            },
            jobs: JobCounts {
                pending: group.jobs_in(JobState::Pending),
                running: group.jobs_in(JobState::Running),
                done: group.jobs_in(JobState::Done),
                failed: group.jobs_in(JobState::Failed),
                held: group.jobs_in(JobState::Held),
                cancelled: group.jobs_in(JobState::Cancelled),
            },
            expired: 0,
            failing: None,
            paused_at: None,
            sources_left_out: None,
        }
    }
}
