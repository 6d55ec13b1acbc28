//! What was spent, is at risk and was avoided: from sums alone, never from all attempts or deliveries.

use std::collections::HashMap;

use cola_ia_core::effect::UtcDay;
use cola_ia_core::store::{Costs, CostsBy, CostsRequest};
use cola_ia_core::verdict::Verdict;

use super::error::Fault;
use super::row::{Columns as _, unexpected};
use super::sql::params;
use super::tx::Tx;
use super::{currency, money};
use crate::common::costs::Lines;

/// See [`Store::costs`](cola_ia_core::store::Store::costs).
pub(super) async fn costs(tx: &Tx, request: &CostsRequest) -> Result<Costs, Fault> {
    let names: Vec<&str> = request.sources.iter().map(cola_ia_core::event::Source::as_str).collect();
    // One that nobody knows has no row.
    let only: Vec<i64> = if names.is_empty() { Vec::new() } else { tx.sources(&names).await?.into_values().collect() };
    let all = request.sources.is_empty();
    let mut lines = Lines::new(request.by);
    let (from, to) = (request.since.map_or(i64::MIN, |day| day.0), request.until.map_or(i64::MAX, |day| day.0));
    for row in tx.query(&sums(request.by), params![from, to, all, only]).await? {
        lines.money(UtcDay(row.read(0)?), row.read(1)?, row.read(2)?, money::read(&row, 3)?);
    }
    let instant = |day: Option<UtcDay>| day.map(|day| day.start().as_micros());
    let from = instant(request.since).unwrap_or(i64::MIN);
    for row in tx.query(DELIVERIES, params![from, instant(request.until), all, only]).await? {
        let word: &str = row.read(2)?;
        let verdict = match word {
            "new" => Verdict::New,
            "duplicate" => Verdict::Duplicate,
            _ => return Err(unexpected("counter", word)),
        };
        lines.deliveries(UtcDay(row.read(0)?), row.read(1)?, verdict, row.read(3)?);
    }
    let mut names: HashMap<i64, String> = HashMap::new();
    if request.by == CostsBy::Source {
        for row in tx.query("SELECT source, name FROM sources", params![]).await? {
            names.insert(row.read(0)?, row.read(1)?);
        }
    }
    // A name that is not there is damage.
    let (lines, total) =
        lines.named(|source| names.remove(&source).ok_or_else(|| unexpected("source", &source.to_string())))?;
    Ok(Costs { currency: currency::currency(tx).await?, lines, total })
}

/// Sums of what a line is of, and of its sources: not every day's of every model's. The server adds up numbers that do not fit.
fn sums(by: CostsBy) -> String {
    let (day, model) = match by {
        CostsBy::Source => ("0::bigint", "''"),
        CostsBy::Model => ("0::bigint", "model"),
        CostsBy::Day => ("day", "''"),
    };
    let columns = ["costs", "spent", "reserved", "tokens_in", "tokens_out", "replays", "replayed"]
        .map(|column| format!("least(sum({column}), 9223372036854775807)::bigint"))
        .join(", ");
    format!(
        "SELECT {day}, source, {model}, {columns} FROM money
         WHERE day >= $1 AND day < $2 AND ($3 OR source = ANY($4)) GROUP BY 1, 2, 3"
    )
}

/// Events that entered and repeated deliveries, as they were counted. Counts of a day lie within it, whichever span they are of.
/// Without an end, what a clock far ahead has stamped counts too.
const DELIVERIES: &str = "
    SELECT floor(at / 86400000000.0)::bigint, source, counter, least(sum(n), 9223372036854775807)::bigint
    FROM (SELECT start AS at, source, counter, n FROM counters WHERE span = ANY('{60, 3600, 86400}'::bigint[])
          UNION ALL SELECT at, source, counter, n FROM counter_deltas) AS counted
    WHERE at >= $1 AND ($2 IS NULL OR at < $2) AND counter IN ('new', 'duplicate')
      AND source <> 0 AND ($3 OR source = ANY($4))
    GROUP BY 1, 2, 3";
