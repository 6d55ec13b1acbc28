//! `complete`: a job is done.

use cola_ia_core::job::{Ending, LeaseToken};

use super::add::Input;
use super::report::{ReportOptions, text_as_result};
use super::{Exit, Problem, Session, holder};
use crate::config::Settings;
use crate::lang::Message;

/// The options of `complete`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompleteOptions {
    /// The lease; `None`: the environment's.
    pub lease: Option<LeaseToken>,
    /// `--resource-id`
    pub resource_id: Option<String>,
    /// `--result-text`
    pub result_text: Option<Input>,
    /// `--result`, `--cost`, …
    pub report: ReportOptions,
    /// `--json`
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// The lease is lost; the result cannot be read; the store's; that of stdout.
pub fn run(session: &Session, options: &CompleteOptions, settings: &Settings) -> Result<Exit, Problem> {
    let file = options.report.file()?;
    let currency = options.report.currency(&file);
    let mut report = options.report.over(file);
    if let Some(input) = &options.result_text {
        if report.result.is_some() {
            return Err(Problem::usage(Message::new("usage-result-both")));
        }
        report.result = Some(text_as_result(input)?);
    }
    report.resource_id = options.resource_id.clone().or(report.resource_id);
    holder::end(session, settings, ("complete", options.json), options.lease, (Ending::Done, report, currency))
}
