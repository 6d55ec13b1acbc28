//! `deliveries`: every handing-over, newest first.

use cola_ia_core::event::Source;
use cola_ia_core::filter::Key;
use cola_ia_core::store::{DeliverySummary, Store};
use cola_ia_wire::DeliveryLine;
use pollster::block_on;

use super::add::push_json;
use super::jobs::to_the_second;
use super::list::{ListOptions, next_page};
use super::show::{DETAIL_MAX, paint_of_verdict, short_length};
use super::{Exit, Problem, Session, print};
use crate::lang::Lang;
use crate::print::{Cell, Table, id_on_a_line, short_line};

/// What the list of deliveries can be asked for.
pub const KEYS: [Key; 6] = [Key::Source, Key::Verdict, Key::Type, Key::Since, Key::Until, Key::Reason];

/// Prints the page that was asked for.
///
/// # Errors
/// The store's, and that of stdout.
pub fn run(session: &Session, options: &ListOptions, store: &dyn Store) -> Result<Exit, Problem> {
    let of_store = |error| Problem::from_store(&error);
    let page =
        options.gather(|request| block_on(store.deliveries(options.filter.clone(), request))).map_err(of_store)?;
    let text =
        if options.json { as_json(&page.items) } else { as_table(&session.lang, &page.items, session.colour.stdout) };
    print(&text)?;
    if let Some(next) = &page.next {
        session.hint(&next_page(next));
    } else if page.items.is_empty() {
        session.note(&options.nothing(store, "deliveries-none").map_err(of_store)?);
    }
    Ok(Exit::Done)
}

/// One [`DeliveryLine`] a line.
pub(super) fn as_json(deliveries: &[DeliverySummary]) -> String {
    let mut out = String::new();
    for delivery in deliveries {
        push_json(&mut out, &DeliveryLine::new(delivery));
    }
    out
}

fn as_table(lang: &Lang, deliveries: &[DeliverySummary], colour: bool) -> String {
    let word = |key| lang.word(key);
    let mut table = Table::new(vec![
        Cell::number(word("column-delivery")),
        Cell::new(word("column-verdict")),
        Cell::new(word("column-received")),
        Cell::number(word("column-late")),
        Cell::new(word("column-source")),
        Cell::new(word("column-id")),
    ]);
    for delivery in deliveries {
        let late = delivery.time.map(|time| delivery.received_at.as_micros().saturating_sub(time.as_micros()));
        table.push(vec![
            Cell::number(delivery.number.0),
            Cell::new(lang.verdict(delivery.verdict)).painted(paint_of_verdict(delivery.verdict)),
            Cell::new(to_the_second(delivery.received_at)),
            Cell::number(late.map_or_else(|| "-".to_owned(), short_length)),
            Cell::new(delivery.source.as_ref().map_or("-", Source::as_str)),
            Cell::new(what(delivery)),
        ]);
    }
    table.render(colour)
}

/// The id, with the number of the conflict, or why it is a duplicate where its id does not tell; of a refused one, where it was read and why it was refused.
pub(super) fn what(delivery: &DeliverySummary) -> String {
    if let Some(id) = &delivery.id {
        let conflict = delivery.conflict.map(|number| format!("  #{number}")).unwrap_or_default();
        let replayed = if delivery.replayed { "  replayed_body" } else { "" };
        return format!("{}{conflict}{replayed}", id_on_a_line(id));
    }
    let origin = short_line(delivery.origin.as_deref().unwrap_or("-"), DETAIL_MAX);
    let code = delivery.code.map_or("-", cola_ia_core::intake::RefusalCode::as_str);
    let detail = delivery.detail.as_deref().filter(|detail| !detail.is_empty());
    let detail = detail.map(|detail| format!(" ({})", short_line(detail, DETAIL_MAX))).unwrap_or_default();
    let count = if delivery.count > 1 { format!(" ×{}", delivery.count) } else { String::new() };
    format!("{origin}: {code}{detail}{count}")
}
