//! `budget`: what may be spent on a source's jobs in a day, and the currency of all amounts.

use std::borrow::Cow;

use cola_ia_core::clock::{SystemClock, SystemEntropy};
use cola_ia_core::cost::decimal;
use cola_ia_core::effect::Micros;
use cola_ia_core::event::Source;
use cola_ia_core::store::{BudgetView, OpId, Store, StoreError};
use cola_ia_wire::{BudgetLine, BudgetRemoved, CurrencyLine, VERSION};
use pollster::block_on;

use super::add::push_json;
use super::{Exit, Problem, Session, print};
use crate::config::Settings;
use crate::lang::{Lang, Message};
use crate::print::{Cell, Paint, Table};
use crate::store;

/// The options of `budget`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetOptions {
    /// What is to be done.
    pub action: BudgetAction,
    /// `--json`
    pub json: bool,
}

/// What `budget` is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BudgetAction {
    /// `list`, or nothing
    List,
    /// `set`
    Set(Source, Micros),
    /// `remove`
    Remove(Source),
    /// `currency`; without one it is told
    Currency(Option<String>),
}

/// Runs the command.
///
/// # Errors
/// The store's; that of stdout.
pub fn run(session: &Session, options: &BudgetOptions, settings: &Settings) -> Result<Exit, Problem> {
    match &options.action {
        BudgetAction::List => list(session, options.json, &*store::view(session, settings)?),
        BudgetAction::Set(source, limit) => {
            set(session, options.json, &*store::change(session, settings)?, source, *limit)
        }
        BudgetAction::Remove(source) => remove(session, options.json, &*store::change(session, settings)?, source),
        BudgetAction::Currency(None) => {
            let currency = of_store(store::view(session, settings)?.currency())?;
            tell_currency(session, options.json, currency.as_deref())
        }
        BudgetAction::Currency(Some(currency)) => {
            of_store(store::change(session, settings)?.set_currency(currency.clone()))?;
            tell_currency(session, options.json, Some(currency))
        }
    }
}

fn of_store<T>(asked: impl Future<Output = Result<T, StoreError>>) -> Result<T, Problem> {
    block_on(asked).map_err(|error| Problem::from_store(&error))
}

fn list(session: &Session, json: bool, store: &dyn Store) -> Result<Exit, Problem> {
    let budgets = of_store(store.budgets())?;
    let currency = of_store(store.currency())?;
    if json {
        let mut out = String::new();
        for view in &budgets {
            push_json(&mut out, &BudgetLine::new(view, currency.as_deref()));
        }
        return print(&out);
    }
    print(&as_table(&session.lang, &budgets, session.colour.stdout))?;
    match budgets.first() {
        Some(first) => {
            session.note(&Message::new("budget-day").with("day", first.day));
            tell_unit(session, currency.as_deref());
        }
        None => session.note(&Message::new("budget-none")),
    }
    Ok(Exit::Done)
}

/// A line a source; what is left may be below nothing, where a cost was higher than expected.
fn as_table(lang: &Lang, budgets: &[BudgetView], colour: bool) -> String {
    let figures = ["column-limit", "column-spent", "column-reserved", "column-left"];
    let head = std::iter::once(Cell::new(lang.word("column-source")));
    let mut table = Table::new(head.chain(figures.map(|key| Cell::number(lang.word(key)))).collect());
    for view in budgets {
        let left = view.limit.get().saturating_sub(view.spent).saturating_sub(view.reserved);
        let cell = Cell::number(decimal(left));
        table.push(vec![
            Cell::new(view.source.as_str()),
            Cell::number(decimal(view.limit.get())),
            Cell::number(decimal(view.spent)),
            Cell::number(decimal(view.reserved)),
            if left <= 0 { cell.painted(Paint::Alarm) } else { cell },
        ]);
    }
    table.render(colour)
}

fn set(session: &Session, json: bool, store: &dyn Store, source: &Source, limit: Micros) -> Result<Exit, Problem> {
    let op = OpId::new(&SystemClock, &SystemEntropy);
    of_store(store.set_budget(op, source.clone(), Some(limit)))?;
    let currency = of_store(store.currency())?;
    if json {
        let budgets = of_store(store.budgets())?;
        let mut out = String::new();
        // Somebody may have taken it away since.
        if let Some(view) = budgets.iter().find(|view| view.source == *source) {
            push_json(&mut out, &BudgetLine::new(view, currency.as_deref()));
        }
        print(&out)?;
    }
    session.note(&Message::new("budget-set").with("source", source).with("amount", decimal(limit.get())));
    tell_unit(session, currency.as_deref());
    Ok(Exit::Done)
}

fn remove(session: &Session, json: bool, store: &dyn Store, source: &Source) -> Result<Exit, Problem> {
    let removed = of_store(store.budgets())?.iter().any(|view| view.source == *source);
    let op = OpId::new(&SystemClock, &SystemEntropy);
    of_store(store.set_budget(op, source.clone(), None))?;
    if json {
        let mut out = String::new();
        push_json(&mut out, &BudgetRemoved { v: VERSION, source: source.as_str().into(), removed });
        print(&out)?;
    }
    let key = if removed { "budget-removed" } else { "budget-had-none" };
    session.note(&Message::new(key).with("source", source));
    Ok(Exit::Done)
}

fn tell_currency(session: &Session, json: bool, currency: Option<&str>) -> Result<Exit, Problem> {
    let mut out = String::new();
    if json {
        push_json(&mut out, &CurrencyLine { v: VERSION, currency: currency.map(Cow::Borrowed) });
    } else if let Some(currency) = currency {
        out = format!("{currency}\n");
    }
    print(&out)?;
    if currency.is_none() {
        tell_unit(session, None);
    }
    Ok(Exit::Done)
}

/// In which currency the amounts are.
pub(super) fn tell_unit(session: &Session, currency: Option<&str>) {
    if let Some(currency) = currency {
        session.note(&Message::new("costs-currency").with("currency", currency));
    } else {
        session.note(&Message::new("costs-no-currency"));
        session.hint(&Message::new("costs-no-currency-hint"));
    }
}
