//! `resume`: a person ends the pause of a source.

use cola_ia_core::clock::{SystemClock, SystemEntropy};
use cola_ia_core::event::Source;
use cola_ia_core::filter::Filter;
use cola_ia_core::store::{OpId, Store, StoreError};
use cola_ia_wire::{Resumed, VERSION};
use pollster::block_on;

use super::add::push_json;
use super::{Exit, Problem, Session, print};
use crate::config::{Settings, nearest};
use crate::lang::Message;
use crate::store;

/// The options of `resume`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeOptions {
    /// `SOURCE`, `--source`
    pub source: Source,
    /// `--json`
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// There is no such source; the store's; that of stdout.
pub fn run(session: &Session, options: &ResumeOptions, settings: &Settings) -> Result<Exit, Problem> {
    let store = store::change(session, settings)?;
    let source = &options.source;
    let op = OpId::new(&SystemClock, &SystemEntropy);
    let resumed = block_on(store.resume(op, source.clone())).map_err(|error| refused(&*store, source, &error))?;
    if options.json {
        let mut out = String::new();
        push_json(&mut out, &Resumed { v: VERSION, source: source.as_str().into(), resumed });
        print(&out)?;
    }
    let key = if resumed { "resume-done" } else { "resume-not-paused" };
    session.note(&Message::new(key).with("source", source));
    Ok(Exit::Done)
}

/// Why it was not done; of a name that no source has, also the one that may have been meant.
fn refused(store: &dyn Store, source: &Source, error: &StoreError) -> Problem {
    let problem = Problem::from_store(error);
    if error.code != "source_unknown" {
        return problem;
    }
    // Without them there is no second hint, that is all.
    let known = block_on(store.sources(Filter::default())).unwrap_or_default();
    match nearest(source.as_str(), known.iter().map(|view| view.source.as_str())) {
        Some(meant) => problem.hint(Message::new("did-you-mean").with("meant", meant)),
        None => problem,
    }
}
