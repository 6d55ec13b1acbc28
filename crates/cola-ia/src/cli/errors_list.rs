//! `errors`: what was refused and which attempts went wrong, newest first.

use std::collections::VecDeque;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{Origin, Source};
use cola_ia_core::filter::{Filter, Key};
use cola_ia_core::intake::Refusal;
use cola_ia_core::store::{AttemptView, Cursor, DeliverySummary, Page, Store, StoreError};
use cola_ia_core::verdict::Verdict;
use cola_ia_wire::ErrorLine;
use pollster::block_on;

use super::add::push_json;
use super::errors::{Bounds, refusal_line};
use super::jobs::to_the_second;
use super::list::{ListOptions, next_page};
use super::show::how_it_ended;
use super::{Exit, Problem, Session, errors_group, print};
use crate::lang::{Lang, Language};
use crate::print::{Cell, Paint, Table, id_on_a_line, safe_line, short_line};

/// What the list of errors can be asked for.
pub const KEYS: [Key; 5] = [Key::Source, Key::Type, Key::Since, Key::Until, Key::Reason];

/// Characters of a line that are shown.
const LINE_MAX: usize = 400;

/// What kind of error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Something was refused.
    Intake,
    /// An attempt of a job went wrong.
    Attempt,
}

impl Kind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Intake, Self::Attempt];

    /// The word on stdout and of `--kind`.
    pub const fn word(self, language: Language) -> &'static str {
        match (self, language) {
            (Self::Intake, Language::English) => "intake",
            (Self::Intake, Language::Spanish) => "entrada",
            (Self::Attempt, Language::English) => "attempt",
            (Self::Attempt, Language::Spanish) => "intento",
        }
    }

    /// The kind that either language has this word for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| Language::ALL.iter().any(|language| kind.word(*language) == word))
    }
}

/// The options of `errors`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorsOptions {
    /// The page. Its `after` names a place in each of the two lists.
    pub list: ListOptions,
    /// `--kind`; both where none is named.
    pub kind: Option<Kind>,
    /// `--group`
    pub group: bool,
}

/// Where the next page starts in each of the two lists that one is made of: `7,12`. Empty: at its newest; `0`: it is at its
/// end, as nothing has a number below.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Places([Place; 2]);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Start,
    After(Cursor),
    End,
}

impl Places {
    /// `None`: no such place was given.
    fn parse(after: Option<&Cursor>) -> Option<Self> {
        let Some(Cursor(text)) = after else { return Some(Self([Place::Start, Place::Start])) };
        let (intake, attempt) = text.split_once(',')?;
        let place = |text: &str| match text {
            "" => Place::Start,
            "0" => Place::End,
            other => Place::After(Cursor(other.to_owned())),
        };
        Some(Self([place(intake), place(attempt)]))
    }

    /// `None` at the end of both.
    fn cursor(&self) -> Option<Cursor> {
        let text = |place: &Place| match place {
            Place::Start => String::new(),
            Place::After(Cursor(text)) => text.clone(),
            Place::End => "0".to_owned(),
        };
        let [intake, attempt] = &self.0;
        (self.0 != [Place::End, Place::End]).then(|| Cursor(format!("{},{}", text(intake), text(attempt))))
    }
}

enum Item {
    Intake(DeliverySummary),
    Attempt(AttemptView),
}

impl Item {
    fn at(&self) -> Timestamp {
        match self {
            Self::Intake(delivery) => delivery.received_at,
            Self::Attempt(attempt) => attempt.ended_at.unwrap_or(attempt.started_at),
        }
    }

    fn number(&self) -> i64 {
        match self {
            Self::Intake(delivery) => delivery.number.0,
            Self::Attempt(attempt) => attempt.attempt,
        }
    }
}

/// Prints the page that was asked for.
///
/// # Errors
/// The store's, and that of stdout.
pub fn run(session: &Session, options: &ErrorsOptions, store: &dyn Store, bounds: Bounds) -> Result<Exit, Problem> {
    if options.group {
        return errors_group::run(session, options, store);
    }
    let of_store = |error| Problem::from_store(&error);
    let (items, next) = gather(options, store).map_err(of_store)?;
    let text = if options.list.json {
        as_json(&items)
    } else {
        as_table(&session.lang, &items, bounds, session.colour.stdout)
    };
    print(&text)?;
    if let Some(next) = &next {
        session.hint(&next_page(next));
    } else if items.is_empty() {
        let key = match options.kind {
            None => "errors-none",
            Some(Kind::Intake) => "errors-none-intake",
            Some(Kind::Attempt) => "errors-none-attempt",
        };
        session.note(&options.list.nothing(store, key).map_err(of_store)?);
    }
    Ok(Exit::Done)
}

/// Of each list as many as are asked for, merged by time.
fn gather(options: &ErrorsOptions, store: &dyn Store) -> Result<(Vec<Item>, Option<Cursor>), StoreError> {
    let list = &options.list;
    let Some(Places([intake, attempt])) = Places::parse(list.after.as_ref()) else {
        let error = StoreError::new(cola_ia_core::store::ErrorKind::Invalid, "cursor_unknown");
        return Err(error.with("cursor", list.after.as_ref().map_or("", |after| &after.0)));
    };
    let place = |place, kind| if options.kind.is_none_or(|asked| asked == kind) { place } else { Place::End };
    let refused = Filter { verdicts: vec![Verdict::Invalid], ..list.filter.clone() };
    let intake = Part::read(list, place(intake, Kind::Intake), |part| {
        let page = part.gather(|request| block_on(store.deliveries(refused.clone(), request)))?;
        Ok(Page { items: page.items.into_iter().map(Item::Intake).collect(), next: page.next })
    })?;
    let attempt = Part::read(list, place(attempt, Kind::Attempt), |part| {
        let page = part.gather(|request| block_on(store.attempts(list.filter.clone(), request)))?;
        Ok(Page { items: page.items.into_iter().map(Item::Attempt).collect(), next: page.next })
    })?;
    Ok(merge([intake, attempt], list.limit as usize))
}

/// One of the two lists.
struct Part {
    items: VecDeque<Item>,
    place: Place,
    has_more: bool,
}

impl Part {
    fn read(
        list: &ListOptions,
        place: Place,
        read: impl Fn(&ListOptions) -> Result<Page<Item>, StoreError>,
    ) -> Result<Self, StoreError> {
        let after = match &place {
            Place::End => return Ok(Self { items: VecDeque::new(), place, has_more: false }),
            Place::Start => None,
            Place::After(after) => Some(after.clone()),
        };
        let page = read(&ListOptions { after, ..list.clone() })?;
        Ok(Self { items: page.items.into(), place, has_more: page.next.is_some() })
    }
}

/// Each list keeps its own order, whatever the times say, so that no page misses or doubles anything.
fn merge(mut parts: [Part; 2], limit: usize) -> (Vec<Item>, Option<Cursor>) {
    let mut items = Vec::new();
    while items.len() < limit {
        let newest = parts.iter_mut().filter(|part| !part.items.is_empty());
        let Some(part) = newest.max_by_key(|part| part.items.front().map(Item::at)) else { break };
        if let Some(item) = part.items.pop_front() {
            part.place = Place::After(Cursor(item.number().to_string()));
            items.push(item);
        }
    }
    let places = parts.map(|part| if part.items.is_empty() && !part.has_more { Place::End } else { part.place });
    (items, Places(places).cursor())
}

fn as_json(items: &[Item]) -> String {
    let mut out = String::new();
    for item in items {
        let line = match item {
            Item::Intake(delivery) => ErrorLine::intake(delivery),
            Item::Attempt(attempt) => ErrorLine::attempt(attempt),
        };
        push_json(&mut out, &line);
    }
    out
}

fn as_table(lang: &Lang, items: &[Item], bounds: Bounds, colour: bool) -> String {
    let heads = ["column-time", "column-kind", "column-source", "column-what"];
    let mut table = Table::new(heads.map(|key| Cell::new(lang.word(key))).into());
    for item in items {
        let (kind, source, what) = match item {
            Item::Intake(delivery) => (Kind::Intake, delivery.source.as_ref(), refused(lang, delivery, bounds)),
            Item::Attempt(attempt) => (Kind::Attempt, Some(&attempt.source), went_wrong(lang, attempt)),
        };
        table.push(vec![
            Cell::new(to_the_second(item.at())),
            Cell::new(kind.word(lang.choice().words)).painted(Paint::Bad),
            Cell::new(source.map_or("-", Source::as_str)),
            Cell::new(what),
        ]);
    }
    table.render(colour)
}

/// As `add` said it.
fn refused(lang: &Lang, delivery: &DeliverySummary, bounds: Bounds) -> String {
    let origin = delivery.origin.as_deref().unwrap_or_default();
    let (input, line) = origin.rsplit_once(':').unwrap_or((origin, ""));
    let origin = Origin { input: input.into(), line: line.parse().unwrap_or_default() };
    let Some(code) = delivery.code else { return safe_line(input).into_owned() };
    let mut refusal = Refusal::new(code, origin).about(delivery.detail.as_deref().unwrap_or_default());
    refusal.count = delivery.count;
    short_line(&refusal_line(lang, &refusal, bounds), LINE_MAX).into_owned()
}

fn went_wrong(lang: &Lang, attempt: &AttemptView) -> String {
    let outcome = attempt.outcome.as_deref().unwrap_or("-");
    let place = format!("{}.{}", attempt.run, attempt.number);
    format!("{}  {place} {} {}", id_on_a_line(&attempt.id), safe_line(&lang.outcome(outcome)), how_it_ended(attempt))
}
