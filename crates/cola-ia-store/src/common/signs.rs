//! What ends of attempts say about their sources.

use std::collections::BTreeMap;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::{Sign, Streak};

/// What the attempts that end in one transaction say about their sources.
#[derive(Default)]
pub(crate) struct Signs {
    /// In the order in which they ended.
    pub(crate) by_source: BTreeMap<i64, Vec<(EventNumber, Sign)>>,
}

impl Signs {
    pub(crate) fn hear(&mut self, source: i64, event: i64, sign: Option<Sign>) {
        if let Some(sign) = sign {
            let signs = self.by_source.entry(source).or_default();
            // What went before a good one says nothing any more.
            if sign == Sign::Good {
                signs.clear();
            }
            signs.push((EventNumber(event), sign));
        }
    }

    /// The streak of a source after these signs, and whether that is to pause it.
    pub(crate) fn after(
        before: Option<Streak>,
        signs: &[(EventNumber, Sign)],
        at: Timestamp,
        pause_after: Option<u32>,
    ) -> (Option<Streak>, bool) {
        let after = |streak, (event, sign): &(EventNumber, Sign)| Streak::after(streak, *event, sign, at);
        let streak = signs.iter().fold(before, after);
        let too_many = streak.as_ref().is_some_and(|streak| streak.pauses(pause_after));
        (streak, too_many)
    }
}
