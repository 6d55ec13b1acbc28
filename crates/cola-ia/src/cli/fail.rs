//! `fail`: an attempt went wrong.

use cola_ia_core::clock::{Clock as _, SystemClock, Timestamp};
use cola_ia_core::job::{Ending, LeaseToken, Setback, retry_after};

use super::add::Input;
use super::report::{ReportOptions, end_of_output, last_line};
use super::{Exit, Problem, Session, holder};
use crate::config::Settings;
use crate::lang::Message;

/// The options of `fail`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailOptions {
    /// The lease; `None`: the environment's.
    pub lease: Option<LeaseToken>,
    /// `--class`
    pub class: Option<String>,
    /// `--error`
    pub error: Option<String>,
    /// `--stderr`
    pub stderr: Option<Input>,
    /// `--permanent`
    pub permanent: bool,
    /// `--retry-after`
    pub not_before: Option<Timestamp>,
    /// `--result`, `--cost`, …
    pub report: ReportOptions,
    /// `--json`
    pub json: bool,
}

/// The instant that a `Retry-After` names, which stands at this place.
///
/// # Errors
/// It names none.
pub(super) fn not_before(place: &str, told: &str) -> Result<Timestamp, Problem> {
    retry_after(told, SystemClock.now()).ok_or_else(|| {
        Problem::usage(Message::new("usage-not-retry-after").with("option", place).with("value", told))
            .hint(Message::new("usage-retry-after-hint"))
    })
}

/// Runs the command.
///
/// # Errors
/// The lease is lost; the result cannot be read; the store's; that of stdout.
pub fn run(session: &Session, options: &FailOptions, settings: &Settings) -> Result<Exit, Problem> {
    let file = options.report.file()?;
    let in_file = file.retry_after.as_deref().map(|told| not_before("retry_after", told)).transpose()?;
    let not_before = options.not_before.or(in_file);
    let currency = options.report.currency(&file);
    let mut report = options.report.over(file);
    report.error_class = options.class.clone().or(report.error_class);
    if let Some(input) = &options.stderr {
        report.stderr = end_of_output(input)?;
    }
    report.error = options.error.clone().or(report.error).or_else(|| last_line(&report.stderr));
    let setback = if options.permanent { Setback::Permanent } else { Setback::Error };
    let ending = Ending::Failed { setback, not_before };
    holder::end(session, settings, ("fail", options.json), options.lease, (ending, report, currency))
}
