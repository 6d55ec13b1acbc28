//! `errors --group`: errors that differ in numbers and ids only, counted together.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::error_shape::error_shape;
use cola_ia_core::event::Fingerprint;
use cola_ia_core::filter::Filter;
use cola_ia_core::store::{AttemptView, DeliverySummary, ListRequest, Page, Store, StoreError};
use cola_ia_core::verdict::Verdict;
use cola_ia_wire::{ErrorExample, ErrorGroup, VERSION};
use pollster::block_on;

use super::add::push_json;
use super::errors_list::{ErrorsOptions, Kind};
use super::jobs::to_the_second;
use super::{Exit, Problem, Session, print};
use crate::lang::{Lang, Language, Message};
use crate::print::{Cell, Paint, Table, id_on_a_line, short_line};

/// Groups that are told apart; what comes after is counted without a group. It bounds the memory.
const GROUPS_MAX: usize = 10_000;
/// Characters that are kept of a shape, and of an example.
const KEPT_CHARS: usize = 300;
/// Digits of a fingerprint.
const FINGERPRINT_DIGITS: usize = 16;
/// Errors of one call.
const PAGE: u32 = 1_000;

/// Errors that have the same fingerprint.
struct Group {
    kind: Kind,
    count: u64,
    first_at: Timestamp,
    last_at: Timestamp,
    outcome: Option<String>,
    class: Option<String>,
    exit_code: Option<i64>,
    signal: Option<i64>,
    shape: Option<String>,
    example: Example,
}

/// The newest of a group.
struct Example {
    event: Option<i64>,
    source: Option<String>,
    id: Option<String>,
    run: Option<u32>,
    attempt: Option<u32>,
    error: Option<String>,
    origin: Option<String>,
}

/// All groups, by fingerprint.
#[derive(Default)]
struct Groups {
    groups: HashMap<Fingerprint, Group>,
    /// Errors that would have made a group more than there may be.
    ungrouped: u64,
}

/// Prints the groups, the largest first.
///
/// # Errors
/// The store's, and that of stdout.
pub(super) fn run(session: &Session, options: &ErrorsOptions, store: &dyn Store) -> Result<Exit, Problem> {
    let Groups { groups, ungrouped } = gather(options, store).map_err(|error| Problem::from_store(&error))?;
    let mut sorted: Vec<(Fingerprint, Group)> = groups.into_iter().collect();
    sorted.sort_by(|(a_print, a), (b_print, b)| (b.count, b.last_at, b_print.0).cmp(&(a.count, a.last_at, a_print.0)));
    let left_out = sorted.len().saturating_sub(options.list.limit as usize);
    sorted.truncate(options.list.limit as usize);
    if options.list.json {
        print(&as_json(&sorted))?;
    } else {
        print(&as_table(&session.lang, &sorted, session.colour.stdout))?;
    }
    if sorted.is_empty() {
        session.note(&Message::new("errors-none"));
    }
    if left_out > 0 {
        session.hint(&Message::new("errors-groups-more").number("count", left_out as u64));
    }
    if ungrouped > 0 {
        session.note(&Message::new("errors-ungrouped").number("count", ungrouped).number("groups", GROUPS_MAX as u64));
    }
    Ok(Exit::Done)
}

/// Reads both lists to their ends, a page at a time.
fn gather(options: &ErrorsOptions, store: &dyn Store) -> Result<Groups, StoreError> {
    let mut groups = Groups::default();
    let asked = |kind| options.kind.is_none_or(|asked| asked == kind);
    let filter = &options.list.filter;
    if asked(Kind::Intake) {
        let refused = Filter { verdicts: vec![Verdict::Invalid], ..filter.clone() };
        each(|request| block_on(store.deliveries(refused.clone(), request)), |delivery| groups.refused(&delivery))?;
    }
    if asked(Kind::Attempt) {
        each(|request| block_on(store.attempts(filter.clone(), request)), |attempt| groups.went_wrong(&attempt))?;
    }
    Ok(groups)
}

fn each<T>(
    ask: impl Fn(ListRequest) -> Result<Page<T>, StoreError>,
    mut take: impl FnMut(T),
) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let page = ask(ListRequest { after, limit: PAGE })?;
        page.items.into_iter().for_each(&mut take);
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

impl Groups {
    fn refused(&mut self, delivery: &DeliverySummary) {
        let code = delivery.code.map_or("", |code| code.as_str());
        self.count(Fingerprint::of(&format!("intake\0{code}")), delivery.count, delivery.received_at, || Group {
            kind: Kind::Intake,
            count: 0,
            first_at: delivery.received_at,
            last_at: delivery.received_at,
            outcome: None,
            class: Some(code.to_owned()),
            exit_code: None,
            signal: None,
            shape: None,
            example: Example {
                event: None,
                source: delivery.source.as_ref().map(ToString::to_string),
                id: None,
                run: None,
                attempt: None,
                error: delivery.detail.clone(),
                origin: delivery.origin.clone(),
            },
        });
    }

    fn went_wrong(&mut self, attempt: &AttemptView) {
        let shape = attempt.error.as_deref().map(|error| error_shape(error, &attempt.id));
        let word = |word: &Option<String>| word.clone().unwrap_or_default();
        let common = format!(
            "attempt\0{}\0{}\0{:?}\0{:?}\0{}",
            word(&attempt.outcome),
            word(&attempt.error_class),
            attempt.exit_code,
            attempt.signal,
            word(&shape)
        );
        let at = attempt.ended_at.unwrap_or(attempt.started_at);
        self.count(Fingerprint::of(&common), 1, at, || Group {
            kind: Kind::Attempt,
            count: 0,
            first_at: at,
            last_at: at,
            outcome: attempt.outcome.clone(),
            class: attempt.error_class.clone(),
            exit_code: attempt.exit_code,
            signal: attempt.signal,
            shape: shape.as_deref().map(beginning),
            example: Example {
                event: Some(attempt.event.0),
                source: Some(attempt.source.to_string()),
                id: Some(attempt.id.clone()),
                run: Some(attempt.run),
                attempt: Some(attempt.number),
                error: attempt.error.as_deref().map(beginning),
                origin: None,
            },
        });
    }

    /// Lists come newest first: the one that makes a group is its newest, but for clocks that were set back.
    fn count(&mut self, common: Fingerprint, count: u64, at: Timestamp, make: impl FnOnce() -> Group) {
        let is_full = self.groups.len() >= GROUPS_MAX;
        let group = match self.groups.entry(common) {
            Entry::Occupied(group) => group.into_mut(),
            Entry::Vacant(_) if is_full => {
                self.ungrouped += count;
                return;
            }
            Entry::Vacant(place) => place.insert(make()),
        };
        group.count += count;
        group.first_at = group.first_at.min(at);
        group.last_at = group.last_at.max(at);
    }
}

fn beginning(text: &str) -> String {
    text.chars().take(KEPT_CHARS).collect()
}

fn digits(fingerprint: Fingerprint) -> String {
    fingerprint.to_string()[..FINGERPRINT_DIGITS].to_owned()
}

fn as_json(groups: &[(Fingerprint, Group)]) -> String {
    let mut out = String::new();
    for (fingerprint, group) in groups {
        let example = &group.example;
        let line = ErrorGroup {
            v: VERSION,
            kind: group.kind.word(Language::English).into(),
            fingerprint: digits(*fingerprint).into(),
            count: group.count,
            first_at: group.first_at.to_rfc3339(),
            last_at: group.last_at.to_rfc3339(),
            outcome: group.outcome.as_deref().map(Into::into),
            class: group.class.as_deref().map(Into::into),
            exit_code: group.exit_code,
            signal: group.signal,
            shape: group.shape.as_deref().map(Into::into),
            example: ErrorExample {
                event: example.event,
                source: example.source.as_deref().map(Into::into),
                id: example.id.as_deref().map(Into::into),
                run: example.run,
                attempt: example.attempt,
                error: example.error.as_deref().map(Into::into),
                origin: example.origin.as_deref().map(Into::into),
            },
        };
        push_json(&mut out, &line);
    }
    out
}

fn as_table(lang: &Lang, groups: &[(Fingerprint, Group)], colour: bool) -> String {
    if groups.is_empty() {
        return String::new();
    }
    let heads = ["column-count", "column-kind", "column-first", "column-last", "column-what"];
    let [count, rest @ ..] = heads.map(|key| lang.word(key));
    let heads = std::iter::once(Cell::number(count)).chain(rest.map(Cell::new)).collect();
    let mut table = Table::new(heads);
    for (_, group) in groups {
        table.push(vec![
            Cell::number(group.count),
            Cell::new(group.kind.word(lang.choice().words)).painted(Paint::Bad),
            Cell::new(to_the_second(group.first_at)),
            Cell::new(to_the_second(group.last_at)),
            Cell::new(what(lang, group)),
        ]);
    }
    table.render(colour)
}

/// Characters of an example that are shown.
const EXAMPLE_CHARS: usize = 60;

/// What they have in common, and where the newest stands.
fn what(lang: &Lang, group: &Group) -> String {
    let code = group.class.as_deref().filter(|_| group.kind == Kind::Intake);
    let reason = code.map(|code| lang.t(&format!("refusal-{code}"), &[("count", group.count.into())]));
    let parts = [
        group.outcome.as_deref().map(|outcome| lang.outcome(outcome).into_owned()),
        reason,
        group.class.as_ref().map(|class| format!("[{class}]")),
        group.exit_code.map(|code| format!("exit {code}")),
        group.signal.map(|signal| format!("signal {signal}")),
        group.shape.clone(),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let said = short_line(&parts.join(" "), KEPT_CHARS).into_owned();
    let id = group.example.id.as_deref().map(id_on_a_line).map(|id| short_line(&id, EXAMPLE_CHARS).into_owned());
    match id.or_else(|| group.example.origin.as_deref().map(|origin| short_line(origin, EXAMPLE_CHARS).into_owned())) {
        Some(newest) => format!("{said}  ({newest})"),
        None => said,
    }
}
