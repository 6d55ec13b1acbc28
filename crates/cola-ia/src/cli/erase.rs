//! `erase`: a person's right to be forgotten.

use cola_ia_core::clock::{SystemClock, SystemEntropy};
use cola_ia_core::event::Source;
use cola_ia_core::store::{EraseRequest, Erased, EventHistory, OpId, Store, StoreError};
use cola_ia_wire::Erasure;
use pollster::block_on;

use super::add::push_json;
use super::resolve::several_sources;
use super::show::not_found;
use super::{Exit, Problem, Session, print};
use crate::config::{Settings, Warning};
use crate::lang::Message;
use crate::print::{id_on_a_line, safe_line};
use crate::store;

/// The options of `erase`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EraseOptions {
    /// The id, byte for byte.
    pub id: String,
    /// `--source`
    pub source: Option<Source>,
    /// `--yes`
    pub yes: bool,
    /// `--json`
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// Nothing was erased, or not to the end; running it again goes on.
pub fn run(session: &Session, options: &EraseOptions, settings: &Settings) -> Result<Exit, Problem> {
    let failed = |error: StoreError| Problem::from_store(&error);
    let store = store::change(session, settings)?;
    let found = block_on(store.find_events(options.source.clone(), options.id.clone())).map_err(failed)?;
    let event = match found.as_slice() {
        [event] => event,
        [] => return Err(not_found(&*store, options.source.as_ref(), &options.id)?),
        several => return Err(several_sources(&options.id, several)),
    };
    if !options.yes {
        return Err(unconfirmed(session, options, event));
    }
    let before = event.job.erased_at;
    let erased = erase(&*store, &event.job.source, &options.id).map_err(failed)?;
    // Identities are never removed: what was found is still there.
    let Some(erased) = erased else { return Err(not_found(&*store, options.source.as_ref(), &options.id)?) };
    if options.json {
        let mut out = String::new();
        push_json(&mut out, &Erasure::new(&event.job.source, &erased));
        print(&out)?;
    }
    match before {
        Some(at) => session.note(&Message::new("erase-again").with("time", at)),
        None => session.note(&Message::new("erase-done").with("id", id_on_a_line(&options.id))),
    }
    if erased.cancelled {
        session.note(&Message::new("erase-cancelled"));
    }
    if let Some(resource) = &event.job.resource_id {
        session.hint(&Message::new("erase-resource-hint").with("resource", safe_line(resource)));
    }
    let entered = event.conflicts.iter().flat_map(|conflict| &conflict.decisions).filter_map(|made| made.entered);
    let entered: Vec<String> = entered.map(|event| event.0.to_string()).collect();
    if !entered.is_empty() {
        session.hint(&Message::new("erase-entered-hint").with("events", entered.join(", ")));
    }
    if !erased.gone && settings.server.is_none() && settings.db.file().is_none() {
        let hint = Some(Message::new("erase-database-kept-hint"));
        session.warn(&Warning { message: Message::new("erase-database-kept"), hint });
    } else if !erased.gone {
        let hint = Some(Message::new("erase-log-kept-hint"));
        session.warn(&Warning { message: Message::new("erase-log-kept"), hint });
    }
    session.hint(&Message::new("erase-copies-hint"));
    Ok(Exit::Done)
}

/// All steps; the answer is the last one's.
fn erase(store: &dyn Store, source: &Source, id: &str) -> Result<Option<Erased>, StoreError> {
    let mut request = EraseRequest { source: source.clone(), id: id.to_owned(), after: None };
    let mut cancelled = false;
    loop {
        let op = OpId::new(&SystemClock, &SystemEntropy);
        let Some(erased) = block_on(store.erase(op, request.clone()))? else { return Ok(None) };
        cancelled |= erased.cancelled;
        if erased.next.is_none() {
            return Ok(Some(Erased { cancelled, ..erased }));
        }
        request.after = erased.next;
    }
}

/// What would go, and how to say yes.
fn unconfirmed(session: &Session, options: &EraseOptions, event: &EventHistory) -> Problem {
    let texts = u64::from(event.text.is_some())
        + event.revisions.iter().filter(|revision| revision.text.is_some()).count() as u64
        + event.conflicts.iter().filter(|conflict| conflict.text.is_some()).count() as u64;
    session.note(
        &Message::new("erase-would")
            .with("id", id_on_a_line(&options.id))
            .with("source", &event.job.source)
            .number("count", texts)
            .with("state", session.lang.state(event.job.state)),
    );
    Problem::usage(Message::new("erase-needs-yes")).hint(Message::new("erase-needs-yes-hint"))
}
