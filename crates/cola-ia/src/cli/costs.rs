//! `costs`: what was spent, is at risk and was avoided.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::cost::decimal;
use cola_ia_core::effect::UtcDay;
use cola_ia_core::event::Source;
use cola_ia_core::filter::{Filter, Key};
use cola_ia_core::store::{CostSums, Costs, CostsBy, CostsRequest, Store};
use cola_ia_wire::CostsLine;
use pollster::block_on;

use super::add::push_json;
use super::budget::tell_unit;
use super::{Exit, Problem, Session, print};
use crate::lang::{Lang, Message};
use crate::print::{Cell, Table, id_on_a_line};

/// The options of `costs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostsOptions {
    /// `--by`, `--source`, `--since`, `--until`
    pub request: CostsRequest,
    /// `--json`
    pub json: bool,
}

/// What costs can be asked for.
pub const KEYS: [Key; 3] = [Key::Source, Key::Since, Key::Until];
/// The words of `--by`, in both languages.
pub const BY_WORDS: [(&str, &str, CostsBy); 3] =
    [("source", "origen", CostsBy::Source), ("model", "modelo", CostsBy::Model), ("day", "día", CostsBy::Day)];
/// What stands where no cost was reported.
const UNKNOWN: &str = "—";

/// The request of a filter. Costs are kept by the day: what begins or ends within one counts it whole.
pub fn request(filter: Filter, by: CostsBy) -> CostsRequest {
    let until = |until: Timestamp| {
        let day = UtcDay::of(until);
        if day.start() == until { day } else { day.next() }
    };
    CostsRequest { by, sources: filter.sources, since: filter.since.map(UtcDay::of), until: filter.until.map(until) }
}

/// Runs the command.
///
/// # Errors
/// The store's; that of stdout.
pub fn run(session: &Session, options: &CostsOptions, store: &dyn Store) -> Result<Exit, Problem> {
    let request = &options.request;
    let costs = block_on(store.costs(request.clone())).map_err(|error| Problem::from_store(&error))?;
    if options.json {
        let mut out = String::new();
        CostsLine::all(&costs, request.by).for_each(|line| push_json(&mut out, &line));
        return print(&out);
    }
    print(&as_table(&session.lang, &costs, request.by, session.colour.stdout))?;
    explain(session, request, &costs);
    Ok(Exit::Done)
}

/// A line each and, where there is not exactly one, the total last.
fn as_table(lang: &Lang, costs: &Costs, by: CostsBy, colour: bool) -> String {
    let name = match by {
        CostsBy::Source => "column-source",
        CostsBy::Model => "column-model",
        CostsBy::Day => "column-day",
    };
    let figures =
        ["column-costs", "column-spent", "column-at-risk", "column-avoided", "column-tokens-in", "column-tokens-out"];
    let head = std::iter::once(Cell::new(lang.word(name)));
    let mut table = Table::new(head.chain(figures.map(|key| Cell::number(lang.word(key)))).collect());
    for line in &costs.lines {
        let name = if line.name.is_empty() { "-".into() } else { id_on_a_line(&line.name) };
        table.push(row(&name, &line.sums));
    }
    if costs.lines.len() > 1 {
        table.push(row(&lang.word("column-total"), &costs.total));
    }
    table.render(colour)
}

fn row(name: &str, sums: &CostSums) -> Vec<Cell> {
    let told = |amount: Option<i64>| amount.map_or_else(|| UNKNOWN.to_owned(), decimal);
    vec![
        Cell::new(name),
        Cell::number(sums.count),
        Cell::number(told((sums.count > 0).then_some(sums.spent))),
        Cell::number(decimal(sums.at_risk)),
        Cell::number(told(sums.avoided())),
        Cell::number(sums.tokens_in),
        Cell::number(sums.tokens_out),
    ]
}

/// For stderr: what is counted, and what to know about it.
fn explain(session: &Session, request: &CostsRequest, costs: &Costs) {
    if costs.lines.is_empty() {
        session.note(&Message::new("costs-none"));
        session.hint(&Message::new("costs-none-hint"));
        return;
    }
    match (request.since, request.until) {
        (None, None) => {}
        (since, until) => {
            // The day with which it ends is meant with it.
            let last = until.map(|until| UtcDay(until.0.saturating_sub(1)));
            let day = |day: Option<UtcDay>| day.map_or_else(|| "…".to_owned(), |day| day.to_string());
            session.note(&Message::new("costs-between").with("since", day(since)).with("until", day(last)));
        }
    }
    if !request.sources.is_empty() {
        let sources: Vec<&str> = request.sources.iter().map(Source::as_str).collect();
        session.note(&Message::new("costs-sources").with("sources", sources.join(", ")));
    }
    tell_unit(session, costs.currency.as_deref());
}

#[cfg(test)]
mod tests {
    use cola_ia_core::store::CostLine;

    use super::*;
    use crate::lang::Language;

    fn line(name: &str, sums: CostSums) -> CostLine {
        CostLine { name: name.to_owned(), sums }
    }

    #[test]
    fn days_are_counted_whole() {
        let at = |text| Timestamp::parse_rfc3339(text);
        let day = |text| at(text).map(UtcDay::of);
        let of = |since, until| {
            let filter = Filter { since: at(since), until: at(until), ..Filter::default() };
            let request = request(filter, CostsBy::Day);
            (request.since, request.until)
        };
        let (midnight, next) = ("2026-01-31T00:00:00Z", "2026-02-01T00:00:00Z");
        assert_eq!(of(midnight, next), (day(midnight), day(next)));
        assert_eq!(of("2026-01-31T23:59:59Z", "2026-01-31T00:00:01Z"), (day(midnight), day(next)));
        assert_eq!(of("", ""), (None, None));
    }

    #[test]
    fn what_is_not_known_is_a_dash_and_one_line_has_no_total() {
        let paid = CostSums {
            count: 3,
            spent: 1_250_000,
            at_risk: 10_000,
            tokens_in: 1_200,
            tokens_out: 340,
            new: 5,
            repeated: 2,
            ..CostSums::default()
        };
        let unpaid = CostSums { at_risk: 500_000, tokens_in: 3, ..CostSums::default() };
        let costs = |lines: Vec<CostLine>| Costs { currency: Some("EUR".into()), lines, total: paid };
        let english = Lang::only(Language::English);
        let shown = as_table(&english, &costs(vec![line("", unpaid), line("m\u{202e}1", paid)]), CostsBy::Model, false);
        assert_eq!(
            shown,
            "MODEL       COSTS  SPENT  AT RISK  AVOIDED  TOKENS IN  TOKENS OUT\n\
             -               0      —      0.5        —          3           0\n\
             \"m\\u202e1\"      3   1.25     0.01      0.5       1200         340\n\
             TOTAL           3   1.25     0.01      0.5       1200         340\n"
        );
        let spanish =
            as_table(&Lang::only(Language::Spanish), &costs(vec![line("form", paid)]), CostsBy::Source, false);
        assert_eq!(spanish.lines().count(), 2, "{spanish}");
        assert_eq!(as_table(&english, &costs(vec![]), CostsBy::Day, false), "");
    }
}
