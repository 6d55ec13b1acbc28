//! Lines of costs, from sums of money and counts of deliveries.

use std::collections::{BTreeMap, HashMap, HashSet};

use cola_ia_core::effect::UtcDay;
use cola_ia_core::store::{CostLine, CostSums, CostsBy};
use cola_ia_core::verdict::Verdict;

use super::money::MoneySums;

/// Puts costs together. Sources are known by their rows until the end.
pub(crate) struct Lines {
    by: CostsBy,
    sums: HashMap<Line, CostSums>,
    total: CostSums,
    /// Sources on which something was spent.
    paid: HashSet<i64>,
    /// Events that entered and repeated deliveries, of a day and a source.
    counts: HashMap<(UtcDay, i64), [i64; 2]>,
}

/// What a line is of.
#[derive(PartialEq, Eq, Hash)]
enum Line {
    Source(i64),
    Model(String),
    Day(UtcDay),
}

impl Lines {
    pub(crate) fn new(by: CostsBy) -> Self {
        let (sums, total, paid, counts) = (HashMap::new(), CostSums::default(), HashSet::new(), HashMap::new());
        Self { by, sums, total, paid, counts }
    }

    /// The line that something of this day, source and model belongs to.
    fn line(&self, day: UtcDay, source: i64, model: &str) -> Line {
        match self.by {
            CostsBy::Source => Line::Source(source),
            CostsBy::Model => Line::Model(model.to_owned()),
            CostsBy::Day => Line::Day(day),
        }
    }

    pub(crate) fn money(&mut self, day: UtcDay, source: i64, model: &str, sums: MoneySums) {
        // Money that was reserved and released leaves a row of nothing.
        if sums == MoneySums::default() {
            return;
        }
        if sums.spent > 0 {
            self.paid.insert(source);
        }
        let line = self.line(day, source, model);
        for line in [self.sums.entry(line).or_default(), &mut self.total] {
            add(line, sums);
        }
    }

    /// So many deliveries of a day and a source, once all that is counted lies within the days that are asked for.
    pub(crate) fn deliveries(&mut self, day: UtcDay, source: i64, verdict: Verdict, n: i64) {
        let place = match verdict {
            Verdict::New => 0,
            Verdict::Duplicate => 1,
            Verdict::Conflict | Verdict::Invalid => return,
        };
        let sums = self.counts.entry((day, source)).or_default();
        sums[place] = sums[place].saturating_add(n);
    }

    /// The lines by their names, and all of them together.
    ///
    /// Events that entered and repeated deliveries go to the lines that have money. Lines of more than one source take only those
    /// of sources on which something was spent: what the others repeat would not have been paid.
    pub(crate) fn named<E>(
        mut self,
        mut name_of: impl FnMut(i64) -> Result<String, E>,
    ) -> Result<(Vec<CostLine>, CostSums), E> {
        for ((day, source), deliveries) in std::mem::take(&mut self.counts) {
            let is_paid = self.paid.contains(&source);
            if is_paid {
                add_deliveries(&mut self.total, deliveries);
            }
            let is_counted = match self.by {
                CostsBy::Source => true,
                CostsBy::Day => is_paid,
                // By model, deliveries are not told apart.
                CostsBy::Model => false,
            };
            let line = self.line(day, source, "");
            if is_counted && let Some(line) = self.sums.get_mut(&line) {
                add_deliveries(line, deliveries);
            }
        }
        let mut by_name = BTreeMap::new();
        for (line, sums) in self.sums {
            let name = match line {
                Line::Source(source) => name_of(source)?,
                Line::Model(model) => model,
                Line::Day(day) => day.to_string(),
            };
            by_name.insert(name, sums);
        }
        Ok((by_name.into_iter().map(|(name, sums)| CostLine { name, sums }).collect(), self.total))
    }
}

fn add(line: &mut CostSums, more: MoneySums) {
    line.count = line.count.saturating_add(more.costs.max(0).unsigned_abs());
    line.spent = line.spent.saturating_add(more.spent);
    line.at_risk = line.at_risk.saturating_add(more.reserved);
    line.tokens_in = line.tokens_in.saturating_add(more.tokens_in);
    line.tokens_out = line.tokens_out.saturating_add(more.tokens_out);
    line.replays = line.replays.saturating_add(more.replays.max(0).unsigned_abs());
    line.replayed = line.replayed.saturating_add(more.replayed);
}

fn add_deliveries(line: &mut CostSums, [new, repeated]: [i64; 2]) {
    line.new = line.new.saturating_add(new.max(0).unsigned_abs());
    line.repeated = line.repeated.saturating_add(repeated.max(0).unsigned_abs());
}
