//! `recover`: jobs whose workers are lost are taken up again.

use cola_ia_core::job::JobState;
use cola_ia_core::store::{Ended, JobSummary, LEASES_MAX};
use cola_ia_wire::OrderAnswer;
use pollster::block_on;

use super::add::push_json;
use super::order::push_moved;
use super::{Exit, Problem, Session, jobs, print};
use crate::config::Settings;
use crate::lang::Message;
use crate::store;

/// The options of `recover`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoverOptions {
    /// `--dry-run`
    pub dry_run: bool,
    /// `--json`
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// The store's; that of stdout.
pub fn run(session: &Session, options: RecoverOptions, settings: &Settings) -> Result<Exit, Problem> {
    let store = store::change(session, settings)?;
    let (mut again, mut failed) = (0_u64, 0_u64);
    let more = loop {
        let recovered = block_on(store.recover(settings.retry, LEASES_MAX as u32, options.dry_run))
            .map_err(|error| Problem::from_store(&error))?;
        let mut out = String::new();
        for (event, ended) in recovered.jobs {
            let counter = if ended.state == JobState::Failed { &mut failed } else { &mut again };
            *counter += 1;
            // A job is never removed.
            let Some(job) = block_on(jobs::find(&*store, event)).map_err(|error| Problem::from_store(&error))? else {
                continue;
            };
            push(&mut out, session, options, &job, ended);
        }
        print(&out)?;
        // A second look without a change would tell the same again.
        if !recovered.more || options.dry_run {
            break recovered.more;
        }
    };
    told(session, options, (again, failed), more);
    Ok(Exit::Done)
}

fn push(out: &mut String, session: &Session, options: RecoverOptions, job: &JobSummary, ended: Ended) {
    if options.json {
        let of = (job.event, &job.source, job.id.as_str());
        push_json(out, &OrderAnswer::new("recover", options.dry_run, of, &Ok(ended)));
    } else {
        push_moved(out, &session.lang, &job.id, ended);
    }
}

fn told(session: &Session, options: RecoverOptions, (again, failed): (u64, u64), more: bool) {
    if again + failed == 0 {
        session.note(&Message::new("recover-none"));
        return;
    }
    let key = if options.dry_run { "recover-would" } else { "recover-done" };
    session.note(&Message::new(key).number("count", again + failed));
    if failed > 0 {
        session.note(&Message::new("recover-failed").number("count", failed));
    }
    if more {
        session.note(&Message::new("recover-more"));
    }
}
