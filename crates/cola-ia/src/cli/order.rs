//! `cancel`, `retry` and `replay`: what a person orders of jobs.

use std::sync::atomic::Ordering;

use cola_ia_core::clock::{Clock as _, SystemClock, SystemEntropy, Timestamp};
use cola_ia_core::event::Source;
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::{Denied, Job, JobState};
use cola_ia_core::store::{Ended, ErrorKind, JobSummary, OpId, Order, OrderRefused, PageRequest, Store, StoreError};
use cola_ia_wire::OrderAnswer;
use pollster::block_on;

use super::add::push_json;
use super::prune::stop_at_a_signal;
use super::resolve::several_sources;
use super::show::not_found;
use super::{Exit, Problem, Session, print};
use crate::config::Settings;
use crate::lang::{Lang, Message};
use crate::print::id_on_a_line;
use crate::store;

/// Jobs of one call.
const PAGE: u32 = 1_000;

/// The options of the three.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderOptions {
    /// Which order.
    pub order: Order,
    /// Of which jobs.
    pub whose: Whose,
    /// `--dry-run`
    pub dry_run: bool,
    /// `--json`
    pub json: bool,
}

/// Whose jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose {
    /// That of one event.
    One {
        /// The id, byte for byte.
        id: String,
        /// `--source`
        source: Option<Source>,
    },
    /// All that the filter lets through.
    All(Filter),
}

/// Runs the command.
///
/// # Errors
/// A job does not take the order; the store's; that of stdout.
pub fn run(session: &Session, options: &OrderOptions, settings: &Settings) -> Result<Exit, Problem> {
    let store = if options.dry_run { store::view(session, settings)? } else { store::change(session, settings)? };
    match &options.whose {
        Whose::One { id, source } => one(session, options, &*store, id, source.as_ref()),
        Whose::All(filter) => all(session, options, &*store, filter),
    }
}

fn one(
    session: &Session,
    options: &OrderOptions,
    store: &dyn Store,
    id: &str,
    source: Option<&Source>,
) -> Result<Exit, Problem> {
    let found =
        block_on(store.find_events(source.cloned(), id.to_owned())).map_err(|error| Problem::from_store(&error))?;
    let event = match found.as_slice() {
        [event] => event,
        [] => return Err(not_found(store, source, id)?),
        several => return Err(several_sources(id, several)),
    };
    let answers =
        follow(options, store, std::slice::from_ref(&event.job)).map_err(|error| Problem::from_store(&error))?;
    print(&told(session, options, std::slice::from_ref(&event.job), &answers))?;
    match answers.first() {
        Some(Err(refused)) => Err(refusal(&session.lang, options.order, &event.job, *refused)),
        _ => Ok(Exit::Done),
    }
}

/// Page by page, from the newest job down: what comes meanwhile is newer than all of them, and no job is looked at twice.
fn all(session: &Session, options: &OrderOptions, store: &dyn Store, filter: &Filter) -> Result<Exit, Problem> {
    let interrupt =
        stop_at_a_signal().map_err(|cause| Problem::failed(Message::new("signals-failed").caused_by(&cause)))?;
    let (mut done, mut refused) = (0, 0);
    let mut below = None;
    let ended = loop {
        let step = block_on(store.jobs(filter.clone(), PageRequest { below, limit: PAGE }))
            .and_then(|page| Ok((follow(options, store, &page.jobs)?, page)));
        let (answers, page) = match step {
            Ok(step) => step,
            Err(error) => break Err(Problem::from_store(&error)),
        };
        let fine = answers.iter().filter(|answer| answer.is_ok()).count() as u64;
        done += fine;
        refused += answers.len() as u64 - fine;
        print(&told(session, options, &page.jobs, &answers))?;
        if !options.json {
            for (job, answer) in page.jobs.iter().zip(&answers) {
                if let Err(why) = answer {
                    let problem = refusal(&session.lang, options.order, job, *why);
                    session.complain(&problem.message().in_prose(&session.lang));
                }
            }
        }
        below = page.next;
        if below.is_none() {
            break Ok(());
        }
        if interrupt.load(Ordering::SeqCst) {
            break Err(Problem::from_store(&StoreError::new(ErrorKind::Unavailable, "interrupted")));
        }
    };
    summary(session, options, done, refused);
    ended?;
    Ok(if refused > 0 { Exit::Failed } else { Exit::Done })
}

/// Does what is ordered, or says what it would do.
fn follow(
    options: &OrderOptions,
    store: &dyn Store,
    jobs: &[JobSummary],
) -> Result<Vec<Result<Ended, OrderRefused>>, StoreError> {
    if options.dry_run {
        let now = SystemClock.now();
        return Ok(jobs.iter().map(|job| would(options.order, job, now)).collect());
    }
    let events: Vec<EventNumber> = jobs.iter().map(|job| job.event).collect();
    if events.is_empty() {
        return Ok(Vec::new());
    }
    block_on(store.order(OpId::new(&SystemClock, &SystemEntropy), options.order, events))
}

/// What would become of a job, as far as its line in the list tells.
fn would(order: Order, summary: &JobSummary, now: Timestamp) -> Result<Ended, OrderRefused> {
    let job = Job { state: summary.state, run: summary.run, attempts: summary.attempts, ..Job::born(now) };
    let moved = match order {
        Order::Cancel => job.cancel(),
        Order::Retry => job.retry(now),
        Order::Replay => job.replay(now),
    };
    match moved {
        Ok(_) if order != Order::Cancel && summary.erased_at.is_some() => Err(OrderRefused::ContentGone),
        Ok(job) => Ok(Ended { state: job.state, due_at: job.due_at }),
        Err(Denied::State(_) | Denied::LeaseLost) => Err(OrderRefused::State(summary.state)),
    }
}

/// What goes to stdout: `ID STATE` for each job that was moved, or a JSON object for each.
fn told(
    session: &Session,
    options: &OrderOptions,
    jobs: &[JobSummary],
    answers: &[Result<Ended, OrderRefused>],
) -> String {
    let mut out = String::new();
    for (job, answer) in jobs.iter().zip(answers) {
        if options.json {
            let of = (job.event, &job.source, job.id.as_str());
            push_json(&mut out, &OrderAnswer::new(options.order.as_str(), options.dry_run, of, answer));
        } else if let Ok(ended) = answer {
            push_moved(&mut out, &session.lang, &job.id, *ended);
        }
    }
    out
}

/// `ID STATE`.
pub(super) fn push_moved(out: &mut String, lang: &Lang, id: &str, ended: Ended) {
    out.push_str(&id_on_a_line(id));
    out.push(' ');
    out.push_str(lang.state(ended.state));
    out.push('\n');
}

fn refusal(lang: &Lang, order: Order, job: &JobSummary, why: OrderRefused) -> Problem {
    let about = |key: &'static str| Message::new(key).with("id", id_on_a_line(&job.id));
    match why {
        OrderRefused::Missing => Problem::failed(about("order-missing")),
        OrderRefused::ContentGone => Problem::failed(about("order-content-gone")),
        OrderRefused::EffectsOpen => {
            Problem::failed(about("order-effects-open")).hint(Message::new("order-effects-open-hint"))
        }
        OrderRefused::EffectAbandoned => {
            Problem::failed(about("order-effect-abandoned")).hint(Message::new("order-replay-hint"))
        }
        OrderRefused::State(state) => {
            let problem = Problem::failed(about("order-state").with("state", lang.state(state)));
            match instead(order, state) {
                Some(key) => problem.hint(Message::new(key)),
                None => problem,
            }
        }
    }
}

/// What to do with a job whose state does not take the order.
const fn instead(order: Order, state: JobState) -> Option<&'static str> {
    match (order, state) {
        (Order::Retry | Order::Replay, JobState::Running) => Some("order-running-hint"),
        (Order::Retry, JobState::Done) => Some("order-replay-hint"),
        (Order::Replay, JobState::Held) => Some("order-held-hint"),
        (Order::Replay, JobState::Pending) => Some("order-waits-hint"),
        (Order::Cancel, JobState::Done) => Some("order-done-hint"),
        _ => None,
    }
}

fn summary(session: &Session, options: &OrderOptions, done: u64, refused: u64) {
    let key = match (options.order, options.dry_run) {
        _ if done + refused == 0 => "order-none",
        (_, true) => "order-would",
        (Order::Cancel, false) => "order-cancelled",
        (Order::Retry, false) => "order-retried",
        (Order::Replay, false) => "order-replayed",
    };
    session.note(&Message::new(key).number("count", done));
    if refused > 0 {
        session.note(&Message::new("order-refused").number("count", refused));
    }
}
