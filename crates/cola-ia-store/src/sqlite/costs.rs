//! What was spent, is at risk and was avoided: from sums alone, never from all attempts or deliveries.

use std::collections::{BTreeMap, HashMap, HashSet};

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::UtcDay;
use cola_ia_core::store::{CostLine, CostSums, Costs, CostsBy, CostsRequest};
use cola_ia_core::verdict::Verdict;
use rusqlite::{Connection, OptionalExtension as _};

use super::counters::{Counter, Span, each_delta};
use super::money::MoneySums;
use super::reader::Sight;
use super::records::Names;
use super::stats::COUNTS_BY_START;
use super::{accept, currency};

/// See [`Store::costs`](cola_ia_core::store::Store::costs).
pub(super) fn costs(sight: &Sight<'_>, request: &CostsRequest) -> rusqlite::Result<Costs> {
    let connection: &Connection = sight.connection;
    let mut lines = Lines::of(connection, request)?;
    let (from, to) = (request.since.map_or(i64::MIN, |day| day.0), request.until.map_or(i64::MAX, |day| day.0));
    let mut select = connection.prepare_cached(SUMS)?;
    let mut rows = select.query([from, to])?;
    while let Some(row) = rows.next()? {
        let (day, source) = (UtcDay(row.get(0)?), row.get(1)?);
        lines.money(day, source, row.get_ref(2)?.as_str()?, MoneySums::read(row, 3)?)?;
    }
    lines.deliveries(request)?;
    let currency = currency::currency(connection)?;
    let named = lines.by_name.into_iter().map(|(name, sums)| CostLine { name, sums }).collect();
    Ok(Costs { currency, lines: named, total: lines.total })
}

pub(super) const SUMS: &str =
    "SELECT day, source, model, costs, spent, reserved, tokens_in, tokens_out, replays, replayed FROM money
     WHERE day >= ?1 AND day < ?2";

struct Lines<'c> {
    connection: &'c Connection,
    by: CostsBy,
    /// Rows of the sources that are asked for; `None`: all.
    only: Option<Vec<i64>>,
    names: Names<'c>,
    by_name: BTreeMap<String, CostSums>,
    total: CostSums,
    /// Sources on which something was spent.
    paid: HashSet<i64>,
}

impl<'c> Lines<'c> {
    fn of(connection: &'c Connection, request: &CostsRequest) -> rusqlite::Result<Self> {
        let row = |name: &str| {
            let mut select = connection.prepare_cached("SELECT source FROM sources WHERE name = ?1")?;
            select.query_row([name], |row| row.get(0)).optional()
        };
        let only = match &request.sources[..] {
            [] => None,
            // One that nobody knows has no row.
            some => Some(some.iter().filter_map(|name| row(name.as_str()).transpose()).collect::<Result<_, _>>()?),
        };
        let (by_name, total, paid) = (BTreeMap::new(), CostSums::default(), HashSet::new());
        Ok(Self { connection, by: request.by, only, names: Names::new(connection), by_name, total, paid })
    }

    fn takes(&self, source: i64) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&source))
    }

    /// The line that something of this day, source and model belongs to.
    fn name(&mut self, day: UtcDay, source: i64, model: &str) -> rusqlite::Result<String> {
        Ok(match self.by {
            CostsBy::Source => self.names.of(source)?,
            CostsBy::Model => model.to_owned(),
            CostsBy::Day => day.to_string(),
        })
    }

    fn money(&mut self, day: UtcDay, source: i64, model: &str, sums: MoneySums) -> rusqlite::Result<()> {
        // Money that was reserved and released leaves a row of nothing.
        if self.takes(source) && sums != MoneySums::default() {
            if sums.spent > 0 {
                self.paid.insert(source);
            }
            let name = self.name(day, source, model)?;
            for line in [self.by_name.entry(name).or_default(), &mut self.total] {
                add(line, sums);
            }
        }
        Ok(())
    }

    /// Events that entered and repeated deliveries, as they were counted, to the lines that have money. Counts of a day lie
    /// within it, whichever span they are of. Lines of more than one source take only those on which something was spent: what
    /// the others repeat would not have been paid.
    fn deliveries(&mut self, request: &CostsRequest) -> rusqlite::Result<()> {
        let instant = |day: Option<UtcDay>| day.map(|day| day.start().as_micros());
        let (from, to) = (instant(request.since).unwrap_or(i64::MIN), instant(request.until).unwrap_or(i64::MAX));
        let mut counts: HashMap<(UtcDay, i64), [i64; 2]> = HashMap::new();
        let mut count = |at: i64, source: i64, verdict: Verdict, n: i64| {
            let place = match verdict {
                Verdict::New => 0,
                Verdict::Duplicate => 1,
                Verdict::Conflict | Verdict::Invalid => return,
            };
            if source != 0 && self.takes(source) {
                let sums = counts.entry((UtcDay::of(Timestamp::from_micros(at)), source)).or_default();
                sums[place] = sums[place].saturating_add(n);
            }
        };
        for span in Span::ALL {
            let mut select = self.connection.prepare_cached(COUNTS_BY_START)?;
            let mut rows = select.query([span.seconds, from, to])?;
            while let Some(row) = rows.next()? {
                let verdict = accept::verdict_of(row.get_ref(2)?.as_str()?)?;
                count(row.get(0)?, row.get(1)?, verdict, row.get(3)?);
            }
        }
        each_delta(self.connection, |delta| {
            if let Counter::Deliveries(verdict) = delta.counter
                // Without an end, what a clock far ahead has stamped counts too.
                && delta.at >= from
                && (delta.at < to || request.until.is_none())
            {
                count(delta.at, delta.source, verdict, delta.n);
            }
            Ok(())
        })?;
        for ((day, source), sums) in counts {
            let is_paid = self.paid.contains(&source);
            if is_paid {
                add_deliveries(&mut self.total, sums);
            }
            let is_counted = match self.by {
                CostsBy::Source => true,
                CostsBy::Day => is_paid,
                // By model, deliveries are not told apart.
                CostsBy::Model => false,
            };
            if is_counted {
                let name = self.name(day, source, "")?;
                if let Some(line) = self.by_name.get_mut(&name) {
                    add_deliveries(line, sums);
                }
            }
        }
        Ok(())
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
