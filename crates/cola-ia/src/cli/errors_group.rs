//! `errors --group`: errors that differ in numbers and ids only, counted together.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use cola_ia_core::clock::Timestamp;
use cola_ia_core::error_shape::{error_shape, with_a_word_folded};
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
/// Words that must stand in place of a number or an id before they count as ids.
const WORDS_MIN: usize = 10;
/// Characters that are kept of an example, and shown of a shape.
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
    by_fingerprint: HashMap<Fingerprint, Group>,
    /// Errors that would have made a group more than there may be.
    ungrouped: u64,
    /// Errors so far.
    looked_at: u64,
    /// Errors before which merging again is not worth its time.
    merge_again_at: u64,
}

/// Prints the groups, the largest first.
///
/// # Errors
/// The store's, and that of stdout.
pub(super) fn run(session: &Session, options: &ErrorsOptions, store: &dyn Store) -> Result<Exit, Problem> {
    let Groups { by_fingerprint, ungrouped, .. } =
        gather(options, store).map_err(|error| Problem::from_store(&error))?;
    let mut sorted: Vec<(Fingerprint, Group)> = by_fingerprint.into_iter().collect();
    sorted.sort_by_key(|(fingerprint, group)| Reverse((group.count, group.last_at, fingerprint.0)));
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
        groups.merge();
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
        let at = attempt.ended_at.unwrap_or(attempt.started_at);
        let mut group = Group {
            kind: Kind::Attempt,
            count: 0,
            first_at: at,
            last_at: at,
            outcome: attempt.outcome.clone(),
            class: attempt.error_class.clone(),
            exit_code: attempt.exit_code,
            signal: attempt.signal,
            shape: None,
            example: Example {
                event: Some(attempt.event.0),
                source: Some(attempt.source.to_string()),
                id: Some(attempt.id.clone()),
                run: Some(attempt.run),
                attempt: Some(attempt.number),
                error: attempt.error.as_deref().map(beginning),
                origin: None,
            },
        };
        let common = group.common(shape.as_deref());
        group.shape = shape;
        self.count(common, 1, at, || group);
    }

    /// Lists come newest first: the one that makes a group is its newest.
    fn count(&mut self, common: Fingerprint, count: u64, at: Timestamp, make: impl FnOnce() -> Group) {
        self.looked_at += 1;
        let is_new = !self.by_fingerprint.contains_key(&common);
        if is_new && self.by_fingerprint.len() >= GROUPS_MAX && self.looked_at >= self.merge_again_at {
            self.merge();
            // Where it made little room it would not make more with the next error.
            if self.by_fingerprint.len() > GROUPS_MAX / 2 {
                self.merge_again_at = self.looked_at.saturating_mul(2);
            }
        }
        let is_full = self.by_fingerprint.len() >= GROUPS_MAX;
        let group = match self.by_fingerprint.entry(common) {
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

    /// Merges groups that differ in one word only, where others have a number or an id in its place: so many different words
    /// there are ids that by chance have no digit.
    fn merge(&mut self) {
        let mut merging: BTreeMap<[u8; 32], Vec<Fingerprint>> = BTreeMap::new();
        for (common, group) in &self.by_fingerprint {
            for shape in group.shape.iter().flat_map(|shape| with_a_word_folded(shape)) {
                let target = group.common(Some(&shape));
                if self.by_fingerprint.contains_key(&target) {
                    merging.entry(target.0).or_default().push(*common);
                }
            }
        }
        for (target, members) in merging {
            if members.len() < WORDS_MIN || !self.by_fingerprint.contains_key(&Fingerprint(target)) {
                continue;
            }
            for member in members {
                let Some(group) = self.by_fingerprint.remove(&member) else { continue };
                if let Some(into) = self.by_fingerprint.get_mut(&Fingerprint(target)) {
                    into.take(group);
                }
            }
        }
    }
}

impl Group {
    /// What makes the fingerprint of errors with this shape, how else they ended being the same.
    fn common(&self, shape: Option<&str>) -> Fingerprint {
        let word = |word: &Option<String>| word.clone().unwrap_or_default();
        Fingerprint::of(&format!(
            "attempt\0{}\0{}\0{:?}\0{:?}\0{}",
            word(&self.outcome),
            word(&self.class),
            self.exit_code,
            self.signal,
            shape.unwrap_or_default()
        ))
    }

    fn take(&mut self, other: Self) {
        self.count += other.count;
        self.first_at = self.first_at.min(other.first_at);
        if other.last_at > self.last_at {
            self.last_at = other.last_at;
            self.example = other.example;
        }
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
            shape: group.shape.as_deref().map(|shape| beginning(shape).into()),
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

#[cfg(test)]
mod tests {
    use cola_ia_core::event::Source;
    use cola_ia_core::intake::EventNumber;

    use super::*;

    fn failed(number: i64, error: &str) -> AttemptView {
        AttemptView {
            attempt: number,
            event: EventNumber(1),
            source: Source::default(),
            id: "idea-42".to_owned(),
            run: 1,
            number: 1,
            worker: "host:1".to_owned(),
            started_at: Timestamp::from_micros(number),
            ended_at: Some(Timestamp::from_micros(number + 1)),
            outcome: Some("error".to_owned()),
            exit_code: Some(1),
            signal: None,
            error_class: None,
            error: Some(error.to_owned()),
            cost_micros: None,
            tokens_in: None,
            tokens_out: None,
            model: None,
            late: None,
            stdout: None,
            stderr: None,
        }
    }

    /// Newest first, as the store lists them.
    fn grouped(errors: &[String]) -> Vec<(u64, String, i64)> {
        let mut groups = Groups::default();
        for (number, error) in errors.iter().enumerate().rev() {
            groups.went_wrong(&failed(number as i64, error));
        }
        groups.merge();
        assert_eq!(groups.ungrouped, 0);
        let mut told: Vec<(u64, String, i64)> = groups
            .by_fingerprint
            .into_values()
            .map(|group| (group.count, group.shape.unwrap_or_default(), group.last_at.as_micros()))
            .collect();
        told.sort();
        told
    }

    /// `n` in base 36, as short ids are: one of seven has no digit.
    fn short_id(mut n: u64) -> String {
        n = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8;
        (0..6)
            .map(|_| {
                let digit = char::from_digit((n % 36) as u32, 36).unwrap_or('0');
                n /= 36;
                digit
            })
            .collect()
    }

    #[test]
    fn ids_that_by_chance_have_no_digit_are_told_by_the_others() {
        let errors: Vec<String> = (0..20_000).map(|n| format!("no answer to {0}: {0} is busy", short_id(n))).collect();
        let without_digit = errors.iter().filter(|error| !error.contains(char::is_numeric)).count();
        assert!(without_digit > 1_000, "{without_digit}");
        assert_eq!(grouped(&errors), [(20_000, "no answer to #: # is busy".to_owned(), 20_000)]);
    }

    #[test]
    fn words_that_say_what_went_wrong_stay_apart() {
        let errors: Vec<String> = ["500", "timeout", "refused", "reset", "unreachable", "timeout"]
            .map(|what| format!("HTTP error {what}"))
            .into();
        let shapes: Vec<String> = grouped(&errors).into_iter().map(|(_, shape, _)| shape).collect();
        assert_eq!(shapes.len(), 5, "{shapes:?}");
    }

    #[test]
    fn there_are_only_so_many_groups_and_what_is_beyond_is_counted() {
        let mut groups = Groups::default();
        // Letters only, and no two alike but for them.
        let word = |n: usize| short_id(n as u64).replace(char::is_numeric, "q") + &"x".repeat(1 + n % 7);
        for n in 0..GROUPS_MAX + 500 {
            groups.went_wrong(&failed(n as i64, &format!("{} {} {}", word(n), word(n * 31 + 7), word(n * 17 + 3))));
        }
        assert_eq!(groups.by_fingerprint.len(), GROUPS_MAX);
        assert_eq!(
            groups.by_fingerprint.values().map(|group| group.count).sum::<u64>() + groups.ungrouped,
            GROUPS_MAX as u64 + 500
        );
    }
}
