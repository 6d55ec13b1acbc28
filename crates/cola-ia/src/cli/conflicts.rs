//! `conflicts`: other contents under known identities, newest first.

use cola_ia_core::filter::Key;
use cola_ia_core::store::{ConflictSummary, Cursor, DecisionKind, ListRequest, Store, Texts};
use cola_ia_wire::ConflictLine;
use pollster::block_on;

use super::add::push_json;
use super::jobs::to_the_second;
use super::list::{ListOptions, next_page};
use super::show::{decided, difference_lines};
use super::{Exit, Problem, Session, print};
use crate::lang::{Arg, Lang, Message};
use crate::print::{Cell, Paint, Table, id_on_a_line};

/// What the list of conflicts can be asked for.
pub const KEYS: [Key; 5] = [Key::Source, Key::Type, Key::Since, Key::Until, Key::Undecided];

/// The options of `conflicts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictsOptions {
    /// The page.
    pub list: ListOptions,
    /// `--diff`
    pub diff: bool,
}

/// Prints the page that was asked for.
///
/// # Errors
/// The store's, and that of stdout.
pub fn run(session: &Session, options: &ConflictsOptions, store: &dyn Store) -> Result<Exit, Problem> {
    let of_store = |error| Problem::from_store(&error);
    let (list, lang, colour) = (&options.list, &session.lang, session.colour.stdout);
    let next = if options.diff {
        print_with_texts(session, list, store)?
    } else {
        let ask = |request| block_on(store.conflicts(list.filter.clone(), request, Texts::Leave));
        let page = list.gather(ask).map_err(of_store)?;
        print(&if list.json { as_json(&page.items) } else { as_table(lang, &page.items, colour) })?;
        if page.items.is_empty() {
            session.note(&list.nothing(store, "conflicts-none").map_err(of_store)?);
        } else if !list.json {
            session.hint(&Message::new("conflicts-diff-hint"));
        }
        page.next
    };
    if let Some(next) = &next {
        session.hint(&next_page(next));
    }
    Ok(Exit::Done)
}

/// Prints part after part, as the store gives them: texts are long, and all of a page need not be there at once.
fn print_with_texts(session: &Session, list: &ListOptions, store: &dyn Store) -> Result<Option<Cursor>, Problem> {
    let of_store = |error| Problem::from_store(&error);
    let (mut after, mut printed) = (list.after.clone(), 0);
    loop {
        let request = ListRequest { after, limit: list.limit - printed };
        let part = block_on(store.conflicts(list.filter.clone(), request, Texts::Bring)).map_err(of_store)?;
        for conflict in &part.items {
            let text = if list.json {
                as_json(std::slice::from_ref(conflict))
            } else {
                let between = if printed > 0 { "\n" } else { "" };
                format!("{between}{}", as_block(&session.lang, conflict, session.colour.stdout))
            };
            print(&text)?;
            printed += 1;
        }
        if part.next.is_none() || printed >= list.limit {
            if printed == 0 {
                session.note(&list.nothing(store, "conflicts-none").map_err(of_store)?);
            }
            return Ok(part.next);
        }
        after = part.next;
    }
}

fn as_json(conflicts: &[ConflictSummary]) -> String {
    let mut out = String::new();
    for conflict in conflicts {
        push_json(&mut out, &ConflictLine::new(conflict));
    }
    out
}

fn as_table(lang: &Lang, conflicts: &[ConflictSummary], colour: bool) -> String {
    let word = |key| lang.word(key);
    let mut table = Table::new(vec![
        Cell::new(word("column-first")),
        Cell::new(word("column-last")),
        Cell::number(word("column-count")),
        Cell::new(word("column-decision")),
        Cell::new(word("column-source")),
        Cell::number(word("column-number")),
        Cell::new(word("column-id")),
    ]);
    for conflict in conflicts {
        let decision = conflict.decision.as_ref().map(|decision| decision.kind);
        let paint = if decision.is_none() { Paint::Alarm } else { Paint::Calm };
        table.push(vec![
            Cell::new(to_the_second(conflict.first_at)),
            Cell::new(to_the_second(conflict.last_at)),
            Cell::number(conflict.count),
            Cell::new(decision.map_or("-", DecisionKind::as_str)).painted(paint),
            Cell::new(conflict.source.as_str()),
            Cell::number(format!("#{}", conflict.number)),
            Cell::new(id_on_a_line(&conflict.id)),
        ]);
    }
    table.render(colour)
}

/// One conflict with the difference of both texts.
fn as_block(lang: &Lang, conflict: &ConflictSummary, colour: bool) -> String {
    let id = Paint::Head.on(&id_on_a_line(&conflict.id), colour);
    let args: &[(&str, Arg<'_>)] = &[("number", conflict.number.into()), ("count", conflict.count.into())];
    let head = Paint::Alarm.on(&lang.t("show-conflict", args), colour);
    let mut lines = vec![format!("{id}  {}  {head}", conflict.source)];
    let (first, last) = (conflict.first_at.to_rfc3339(), conflict.last_at.to_rfc3339());
    lines.push(format!("  {}", lang.t("conflicts-times", &[("first", first.into()), ("last", last.into())])));
    lines.extend(conflict.decision.as_ref().map(|decision| format!("  {}", decided(decision).in_prose(lang))));
    let texts = conflict.texts.clone().unwrap_or_default();
    match (&texts.event, &texts.conflict) {
        (Some(ours), Some(theirs)) => lines.extend(difference_lines(lang, ours, theirs, colour)),
        _ => lines.push(format!("  {}", lang.t("conflicts-texts-gone", &[]))),
    }
    lines.join("\n") + "\n"
}
