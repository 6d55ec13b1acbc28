//! Counts of what came, and of jobs by state, as far as no database is asked: what a transaction adds, and how counts are written
//! down.

use std::collections::BTreeMap;

use cola_ia_core::job::JobState;
use cola_ia_core::lateness::Lateness;
use cola_ia_core::verdict::Verdict;

/// Length of time that a row of `counters` stands for. The shorter ones lie within the longer ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    /// As stored.
    pub(crate) seconds: i64,
}

impl Span {
    pub(crate) const MINUTE: Self = Self { seconds: 60 };
    pub(crate) const HOUR: Self = Self { seconds: 60 * 60 };
    pub(crate) const DAY: Self = Self { seconds: 24 * 60 * 60 };
    /// The longest first.
    pub(crate) const ALL: [Self; 3] = [Self::DAY, Self::HOUR, Self::MINUTE];

    pub(crate) const fn micros(self) -> i64 {
        self.seconds * 1_000_000
    }

    /// The start of the one that the instant lies in.
    pub(crate) fn start_of(self, micros: i64) -> i64 {
        micros.saturating_sub(micros.rem_euclid(self.micros()))
    }
}

/// Rows of a minute and of an hour are added up to longer ones once they are so old.
pub(crate) const MINUTES_KEPT: i64 = 2 * Span::DAY.micros();
pub(crate) const HOURS_KEPT: i64 = 62 * Span::DAY.micros();

/// What one transaction adds to the counts.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) deliveries: BTreeMap<(i64, Verdict), Sum>,
    pub(crate) jobs: BTreeMap<(i64, JobState), i64>,
}

/// A count of deliveries.
#[derive(Debug, Clone)]
pub(crate) struct Sum {
    pub(crate) n: i64,
    /// Their numbers lie between these two.
    pub(crate) first: i64,
    pub(crate) last: i64,
    /// How late they came that carry a time.
    pub(crate) late: Lateness,
}

impl Tally {
    /// A delivery of this number, that stands for `n` where refused ones are only counted. `source`: 0 for none. A new
    /// event's job is counted as pending by that.
    pub(crate) fn delivery(&mut self, source: i64, verdict: Verdict, n: i64, number: i64) -> &mut Sum {
        let sum = self.deliveries.entry((source, verdict)).or_insert_with(|| Sum {
            n: 0,
            first: number,
            last: number,
            late: Lateness::default(),
        });
        sum.n = sum.n.saturating_add(n);
        sum.first = sum.first.min(number);
        sum.last = sum.last.max(number);
        sum
    }

    /// One more job of this source is in this state, or one less.
    pub(crate) fn job(&mut self, source: i64, state: JobState, n: i64) {
        *self.jobs.entry((source, state)).or_default() += n;
    }

    /// A job goes from one state to another.
    pub(crate) fn job_moves(&mut self, source: i64, from: JobState, to: JobState) {
        self.job(source, from, -1);
        self.job(source, to, 1);
    }
}

/// What a delta is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counter {
    Deliveries(Verdict),
    Jobs(JobState),
}

pub(crate) const fn job_counter(state: JobState) -> &'static str {
    match state {
        JobState::Pending => "job_pending",
        JobState::Running => "job_running",
        JobState::Done => "job_done",
        JobState::Failed => "job_failed",
        JobState::Held => "job_held",
        JobState::Cancelled => "job_cancelled",
    }
}

/// The counter that [`Tally`] wrote this word for.
pub(crate) fn counter_of(word: &str) -> Option<Counter> {
    match word.strip_prefix("job_") {
        Some(state) => JobState::from_word(state).map(Counter::Jobs),
        None => Verdict::from_word(word).map(Counter::Deliveries),
    }
}

/// Pairs of a bucket, zigzag, and its count, both as LEB128.
pub(crate) fn encode(late: &Lateness) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (bucket, n) in late.buckets() {
        let bucket = i64::from(bucket);
        push_number(&mut bytes, ((bucket << 1) ^ (bucket >> 63)) as u64);
        push_number(&mut bytes, n);
    }
    bytes
}

fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Adds what [`encode`] made. `None`: it is cut, or names no bucket.
pub(crate) fn add_encoded(late: &mut Lateness, mut bytes: &[u8]) -> Option<()> {
    while !bytes.is_empty() {
        let (bucket, n) = (number(&mut bytes)?, number(&mut bytes)?);
        let bucket = i16::try_from((bucket >> 1) as i64 ^ -((bucket & 1) as i64)).ok()?;
        late.add_many(bucket, n);
    }
    Some(())
}

fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
