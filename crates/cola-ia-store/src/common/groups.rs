//! Counts by source, on their way into an answer.

use std::collections::BTreeMap;

use cola_ia_core::job::JobState;
use cola_ia_core::store::StatsGroup;
use cola_ia_core::verdict::Verdict;

/// Sums by the row of their source. What leaves a state is below 0 until what was there before is added.
pub(crate) struct Groups {
    /// Rows of the sources that are asked for; `None`: all.
    pub(crate) only: Option<Vec<i64>>,
    pub(crate) by_source: BTreeMap<i64, (StatsGroup, [i64; 6])>,
}

impl Groups {
    /// The group of a source, if it is asked for.
    pub(crate) fn of(&mut self, source: i64) -> Option<&mut (StatsGroup, [i64; 6])> {
        let asked = self.only.as_ref().is_none_or(|only| only.contains(&source));
        asked.then(|| self.by_source.entry(source).or_default())
    }

    pub(crate) fn deliveries(&mut self, source: i64, verdict: Verdict, more: i64) {
        if let Some((group, _)) = self.of(source) {
            let n = &mut group.deliveries[verdict as usize];
            *n = n.saturating_add(more.unsigned_abs());
        }
    }

    pub(crate) fn jobs(&mut self, source: i64, state: JobState, n: i64) {
        if let Some((_, jobs)) = self.of(source) {
            jobs[state as usize] += n;
        }
    }
}
