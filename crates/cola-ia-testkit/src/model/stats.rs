//! The model's counts: each delivery is looked at again.

use std::collections::BTreeMap;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::Source;
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::Intake;
use cola_ia_core::store::{Stats, StatsGroup};
use cola_ia_core::verdict::Verdict;

use super::Memory;

/// What came, with what was said of it.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) source: Option<Source>,
    pub(super) time: Option<Timestamp>,
    /// How many.
    pub(super) n: u64,
    pub(super) verdict: Verdict,
    pub(super) at: Timestamp,
}

impl Received {
    pub(super) fn of(member: &Intake, verdict: Verdict, at: Timestamp) -> Self {
        match member {
            Intake::Delivery(delivery) => {
                Self { source: Some(delivery.source.clone()), time: delivery.time, n: 1, verdict, at }
            }
            Intake::Refusal(refusal) => {
                Self { source: refusal.source.clone(), time: None, n: refusal.count, verdict, at }
            }
        }
    }
}

/// See [`Store::stats`](cola_ia_core::store::Store::stats). This store never keeps its counts by longer spans than a minute.
pub(super) fn stats(memory: &Memory, filter: &Filter) -> Stats {
    const MINUTE: i64 = 60_000_000;
    let since = filter.since.map(|since| since.as_micros().div_euclid(MINUTE) * MINUTE);
    let until = filter.until.map(|until| (until.as_micros() + MINUTE - 1).div_euclid(MINUTE) * MINUTE);
    let mut groups: BTreeMap<Option<Source>, StatsGroup> = BTreeMap::new();
    for received in &memory.received {
        let at = received.at.as_micros();
        let (source, time, n) = (received.source.as_ref(), received.time, received.n);
        if filter.takes_source(source) && since.is_none_or(|since| at >= since) && until.is_none_or(|until| at < until)
        {
            let group = groups.entry(source.cloned()).or_default();
            group.deliveries[received.verdict as usize] += n;
            if let Some(time) = time {
                group.lateness.add(received.at, time);
            }
        }
    }
    for event in memory.events.values().filter(|event| filter.takes_source(Some(&event.job.source))) {
        let group = groups.entry(Some(event.job.source.clone())).or_default();
        group.jobs[event.job.state as usize] += 1;
    }
    let groups = groups.into_iter().map(|(source, group)| StatsGroup { source, ..group }).collect();
    Stats::of(since.map(Timestamp::from_micros), until.map(Timestamp::from_micros), groups)
}
