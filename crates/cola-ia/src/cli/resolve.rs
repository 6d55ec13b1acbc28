//! `resolve`: what a person decides about the conflicts of an event.

use cola_ia_core::clock::{SystemClock, SystemEntropy};
use cola_ia_core::event::Source;
use cola_ia_core::job::JobState;
use cola_ia_core::store::{
    ConflictView, Decision, EventHistory, HISTORY_MAX, OpId, ResolveRequest, Resolved, StoreError,
};
use cola_ia_core::verdict::Verdict;
use cola_ia_wire::Resolution;
use pollster::block_on;

use super::add::push_json;
use super::show::not_found;
use super::{Exit, Problem, Session, print};
use crate::config::Settings;
use crate::lang::{Lang, Message};
use crate::print::id_on_a_line;
use crate::store;

/// The options of `resolve`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolveOptions {
    /// The id, byte for byte.
    pub id: String,
    /// `--source`
    pub source: Option<Source>,
    /// `--conflict`
    pub conflicts: Vec<u32>,
    /// `--keep`, `--accept`, `--run`, `--as`
    pub decision: Decision,
    /// `--note`
    pub note: Option<String>,
    /// `--json`
    pub json: bool,
}

/// Characters of a text in the list of conflicts.
const TEXT_WIDTH: usize = 60;

/// Runs the command.
///
/// # Errors
/// Nothing was decided.
pub fn run(session: &Session, options: &ResolveOptions, settings: &Settings) -> Result<Exit, Problem> {
    let store = store::change(session, settings)?;
    let found = block_on(store.find_events(options.source.clone(), options.id.clone()))
        .map_err(|error| Problem::from_store(&error))?;
    let event = match found.as_slice() {
        [event] => event,
        [] => return Err(not_found(&*store, options.source.as_ref(), &options.id)?),
        several => return Err(several_sources(&options.id, several)),
    };
    if options.conflicts.is_empty() {
        the_one(session, options, event)?;
    }
    let request = ResolveRequest {
        event: event.job.event,
        conflicts: options.conflicts.clone(),
        decision: options.decision.clone(),
        note: options.note.clone(),
    };
    let resolved = match block_on(store.resolve(OpId::new(&SystemClock, &SystemEntropy), request)) {
        Ok(resolved) => resolved,
        Err(error) => return Err(refused(session, options, &error)?),
    };
    print(&answer(&session.lang, options, event, &resolved))?;
    for message in told(&session.lang, options, &resolved) {
        session.note(&message);
    }
    Ok(Exit::Done)
}

/// More than one source knows the id.
pub(super) fn several_sources(id: &str, events: &[EventHistory]) -> Problem {
    let sources: Vec<&str> = events.iter().map(|event| event.job.source.as_str()).collect();
    Problem::usage(Message::new("source-needed").with("id", id_on_a_line(id)))
        .hint(Message::new("source-needed-hint").with("sources", sources.join(", ")))
}

/// Where no conflict is named, exactly one may be undecided; else they are listed.
fn the_one(session: &Session, options: &ResolveOptions, event: &EventHistory) -> Result<(), Problem> {
    let undecided: Vec<&ConflictView> =
        event.conflicts.iter().filter(|conflict| conflict.decisions.is_empty()).collect();
    let id = id_on_a_line(&options.id);
    match undecided.as_slice() {
        [_] => Ok(()),
        // There may be more than are shown: the store knows.
        [] if event.conflicts.len() == HISTORY_MAX => Ok(()),
        [] if event.conflicts.is_empty() => Err(Problem::failed(Message::new("resolve-no-conflict").with("id", id))),
        [] => Err(Problem::failed(Message::new("resolve-all-decided").with("id", id))
            .hint(Message::new("resolve-all-decided-hint"))),
        several => {
            for conflict in several {
                session.note(&listed(&session.lang, conflict));
            }
            let count = several.len() as u64;
            Err(Problem::usage(Message::new("resolve-which").with("id", id).number("count", count))
                .hint(Message::new("resolve-which-hint")))
        }
    }
}

fn listed(lang: &Lang, conflict: &ConflictView) -> Message {
    let text = conflict.text.as_deref().map_or_else(|| lang.t("show-text-gone", &[]), start_of);
    Message::new("resolve-listed")
        .with("number", conflict.number)
        .number("count", conflict.count)
        .with("last", super::jobs::to_the_second(conflict.last_at))
        .with("text", text)
}

/// As much of a text as goes on a line.
fn start_of(text: &str) -> String {
    match text.char_indices().nth(TEXT_WIDTH) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Why nothing was decided. What the gate says to an id that has another content goes to stdout as its other answers do.
fn refused(session: &Session, options: &ResolveOptions, error: &StoreError) -> Result<Problem, Problem> {
    if let (Decision::As(id), "id_taken", false) = (&options.decision, error.code, options.json) {
        print(&verdict_line(&session.lang, id.as_str(), Verdict::Conflict))?;
    }
    Ok(Problem::from_store(error))
}

fn verdict_line(lang: &Lang, id: &str, verdict: Verdict) -> String {
    format!("{} {}\n", id_on_a_line(id), lang.verdict(verdict))
}

/// What goes to stdout: with `--as` the gate's answer, as `add` says it.
fn answer(lang: &Lang, options: &ResolveOptions, event: &EventHistory, resolved: &Resolved) -> String {
    let mut out = String::new();
    if options.json {
        let (number, source) = (event.job.event.0, &event.job.source);
        push_json(&mut out, &Resolution::new(number, source, &options.id, &options.decision, resolved));
    } else if let (Decision::As(id), Some((verdict, _))) = (&options.decision, resolved.entered) {
        out = verdict_line(lang, id.as_str(), verdict);
    }
    out
}

/// What goes to stderr.
fn told(lang: &Lang, options: &ResolveOptions, resolved: &Resolved) -> Vec<Message> {
    let numbers: Vec<String> = resolved.conflicts.iter().map(u32::to_string).collect();
    let about = |key: &'static str| {
        Message::new(key)
            .number("count", numbers.len() as u64)
            .with("numbers", numbers.join(", "))
            .with("id", id_on_a_line(&options.id))
    };
    match &options.decision {
        Decision::Keep => vec![about("resolve-kept")],
        Decision::As(other) => {
            let known = resolved.entered.is_some_and(|(verdict, _)| verdict == Verdict::Duplicate);
            let key = if known { "resolve-known" } else { "resolve-entered" };
            vec![about(key).with("other", id_on_a_line(other.as_str()))]
        }
        Decision::Accept { .. } => {
            let job = match resolved.state {
                JobState::Pending if resolved.rerun => {
                    Message::new("resolve-job-rerun").number("run", resolved.run.into())
                }
                JobState::Pending => Message::new("resolve-job-waits"),
                state => Message::new("resolve-job-untouched").with("state", lang.state(state)),
            };
            vec![about("resolve-accepted"), job]
        }
    }
}
