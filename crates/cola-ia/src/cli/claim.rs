//! `claim`: jobs for a worker that is no child of ours.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use cola_ia_core::clock::{SystemClock, SystemEntropy, Timestamp};
use cola_ia_core::event::Source;
use cola_ia_core::filter::Filter;
use cola_ia_core::job::{Ending, RetryPolicy};
use cola_ia_core::store::{Claim, ClaimRequest, End, ErrorKind, LEASES_MAX, Leased, OpId, Report, Store, StoreError};
use cola_ia_wire::Lease;
use pollster::block_on;

use super::add::push_json;
use super::prune::stop_at_a_signal;
use super::show::length;
use super::{Exit, Problem, Session, standing};
use crate::config::Settings;
use crate::lang::Message;
use crate::print::id_on_a_line;
use crate::store;
use crate::worker_name::worker_name;

/// How often a waiting claim looks whether something has become due.
const LOOK: Duration = Duration::from_millis(50);
/// How often it looks whether a lease has run out.
const RECOVER: Duration = Duration::from_secs(1);

/// The options of `claim`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimOptions {
    /// `--source`
    pub source: Option<Source>,
    /// `--limit`
    pub limit: u32,
    /// `--worker`
    pub worker: Option<String>,
    /// `--wait`
    pub wait: Duration,
    /// `--text`
    pub text: Option<PathBuf>,
    /// `--json`
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// The store's; a job that could not be handed over, which is given back.
pub fn run(session: &Session, options: &ClaimOptions, settings: &Settings) -> Result<Exit, Problem> {
    let stop = stop_at_a_signal().map_err(|cause| Problem::failed(Message::new("signals-failed").caused_by(&cause)))?;
    let store = store::change(session, settings)?;
    let request = ClaimRequest {
        // This process is gone when the work is done: the one that called it does it.
        worker: options.worker.clone().unwrap_or_else(|| worker_name(std::os::unix::process::parent_id())),
        lease: settings.lease,
        limit: options.limit,
        source: options.source.clone(),
    };
    let start = Instant::now();
    let mut recovered: Option<Instant> = None;
    loop {
        // A server does it itself.
        if !store.is_remote() && recovered.is_none_or(|last| last.elapsed() >= RECOVER) {
            recover(session, &*store, settings.retry)?;
            recovered = Some(Instant::now());
        }
        let claim = block_on(store.claim(OpId::new(&SystemClock, &SystemEntropy), request.clone()))
            .map_err(|error| Problem::from_store(&error))?;
        if !claim.leases.is_empty() {
            return hand_over(session, options, &*store, &claim.leases, settings.retry);
        }
        let left = options.wait.saturating_sub(start.elapsed());
        if left.is_zero() {
            session.note(&nothing(&claim));
            warn_of_pauses(session, &*store, options.source.as_ref())?;
            return Ok(Exit::NothingToClaim);
        }
        let due = claim.next_due.map_or(LOOK, |due| until(due, claim.at));
        std::thread::sleep(LOOK.min(left).min(due));
        if stop.load(Ordering::SeqCst) {
            return Err(Problem::from_store(&StoreError::new(ErrorKind::Unavailable, "interrupted")));
        }
    }
}

fn until(due: Timestamp, now: Timestamp) -> Duration {
    Duration::from_micros(u64::try_from(due.as_micros().saturating_sub(now.as_micros())).unwrap_or_default())
}

/// Jobs whose workers are lost are taken up again: where only workers of this kind run, nobody else does it.
fn recover(session: &Session, store: &dyn Store, policy: RetryPolicy) -> Result<(), Problem> {
    let mut count = 0;
    loop {
        let recovered =
            block_on(store.recover(policy, LEASES_MAX as u32, false)).map_err(|error| Problem::from_store(&error))?;
        count += recovered.jobs.len() as u64;
        if !recovered.more {
            break;
        }
    }
    if count > 0 {
        session.note(&Message::new("claim-recovered").number("count", count));
    }
    Ok(())
}

fn nothing(claim: &Claim) -> Message {
    match claim.next_due {
        None => Message::new("claim-nothing"),
        Some(due) => {
            let time = length(due.as_micros().saturating_sub(claim.at.as_micros()).max(0));
            Message::new("claim-nothing-yet").with("due", due).with("time", time)
        }
    }
}

/// A paused source has nothing to claim, whatever waits.
fn warn_of_pauses(session: &Session, store: &dyn Store, source: Option<&Source>) -> Result<(), Problem> {
    let filter = Filter { sources: source.into_iter().cloned().collect(), ..Filter::default() };
    let views = block_on(store.sources(filter)).map_err(|error| Problem::from_store(&error))?;
    for warning in views.iter().filter_map(standing::paused) {
        session.warn(&warning);
    }
    Ok(())
}

/// Prints the jobs. What cannot be handed over is given back at once, at no attempt's cost: nobody would know its lease.
fn hand_over(
    session: &Session,
    options: &ClaimOptions,
    store: &dyn Store,
    leases: &[Leased],
    policy: RetryPolicy,
) -> Result<Exit, Problem> {
    let (handed, outcome) = hand_each(options, leases);
    let Err(problem) = outcome else { return Ok(Exit::Done) };
    let back: Vec<End> = leases[handed..]
        .iter()
        .map(|leased| End { token: leased.token, ending: Ending::Released, report: Report::default() })
        .collect();
    if let Err(error) = block_on(store.end(back.into(), policy)) {
        // They wait for their leases to run out.
        session.problem(&Problem::from_store(&error));
    }
    Err(problem)
}

/// How many were handed over, and why not all.
fn hand_each(options: &ClaimOptions, leases: &[Leased]) -> (usize, Result<(), Problem>) {
    if let (Some(path), [leased]) = (&options.text, leases)
        && let Err(cause) = write_text(path, &leased.text)
    {
        let message = Message::new("claim-text-failed").with("path", path.display()).caused_by(&cause);
        return (0, Err(Problem::failed(message)));
    }
    let mut stdout = std::io::stdout().lock();
    for (handed, leased) in leases.iter().enumerate() {
        let mut line = String::new();
        if options.json {
            push_json(&mut line, &Lease::new(leased));
        } else {
            line = format!("{} {}\n", leased.token, id_on_a_line(&leased.job.id));
        }
        if let Err(error) = stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush()) {
            return (handed, Err(Problem::stdout(&error)));
        }
    }
    (leases.len(), Ok(()))
}

/// The text as it is, without a line feed at its end, readable by its owner alone.
fn write_text(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}
