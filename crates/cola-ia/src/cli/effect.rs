//! `effect`: the ledger of effects by hand, and what people see and say of it.

mod begin;
mod decide;
mod list;
pub(super) mod report;
pub(crate) mod told;
mod words;

pub(super) use list::paint_of;
pub(super) use words::units;

use cola_ia_core::effect::{BeginId, Decision, EffectName, EffectState, RequestHash};
use cola_ia_core::event::Source;
use cola_ia_core::job::LeaseToken;
use cola_ia_core::store::{Cursor, Failure};

use super::add::Input;
use super::report::ReportOptions;
use super::{Exit, Problem, Session};
use crate::config::Settings;
use crate::effect::{EffectOptions, EffectRunOptions, run as run_command};

/// What is asked of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectCommandOptions {
    /// `effect begin`
    Begin(BeginOptions),
    /// `effect done`, `failed`, `unknown`, and `resolve` of a worker.
    Report(TryOptions),
    /// `effect resolve ID NAME`, of a person.
    Decide(DecideOptions),
    /// `effect run`
    Run(EffectRunOptions),
    /// `effect list`, `effect find`
    List(EffectListOptions),
}

/// The options of `effect begin`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeginOptions {
    /// The effect and its policy.
    pub effect: EffectOptions,
    /// `--lease`
    pub lease: Option<LeaseToken>,
    /// `--begin-id`; `None`: a new one.
    pub begin_id: Option<BeginId>,
    /// `--request`, `--request-hash`
    pub request: Option<RequestHash>,
    /// `--json`
    pub json: bool,
}

/// What a worker says of a try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TryOptions {
    /// The effect.
    pub name: EffectName,
    /// `--lease`
    pub lease: Option<LeaseToken>,
    /// `--try`, or `--ticket`.
    pub number: u32,
    /// What is said.
    pub said: TrySaid,
    /// `--json`
    pub json: bool,
}

/// What is said of a try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrySaid {
    /// It happened; `looked`: a lookup found it.
    Happened {
        /// `--resource`, `--found`
        resource_id: Option<String>,
        /// `--result`, `--result-file`
        result: Option<ResultFrom>,
        /// `--cost`, …
        report: ReportOptions,
        /// `resolve`, and not `done`.
        looked: bool,
    },
    /// `failed`
    Failed(Failure, Option<String>),
    /// `unknown`
    Unknown(Option<String>),
    /// `resolve --absent`
    Absent,
}

/// Where a result comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultFrom {
    /// The JSON itself.
    Json(String),
    /// A file or stdin.
    Input(Input),
}

/// The options of `effect resolve` of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecideOptions {
    /// The event's id, byte for byte.
    pub id: String,
    /// `--source`
    pub source: Option<Source>,
    /// The effect.
    pub name: EffectName,
    /// `--try`: the newest when the person looked; `None`: the newest now.
    pub number: Option<u32>,
    /// `--happened`, `--did-not-happen`, `--abandon`
    pub decision: Decision,
    /// `--note`
    pub note: Option<String>,
    /// `--json`
    pub json: bool,
}

/// The options of `effect list` and `effect find`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectListOptions {
    /// `--state`
    pub states: Vec<EffectState>,
    /// `--source`
    pub sources: Vec<Source>,
    /// `--resource`, of `find`.
    pub resource_id: Option<String>,
    /// `--alarm`
    pub alarmed: bool,
    /// `--limit`; `None`: all.
    pub limit: Option<u32>,
    /// `--after`
    pub after: Option<Cursor>,
    /// `--json`
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// It could not be done, or the ledger does not allow it.
pub fn run(session: &Session, options: &EffectCommandOptions, settings: &Settings) -> Result<Exit, Problem> {
    match options {
        EffectCommandOptions::Begin(options) => begin::run(session, options, settings),
        EffectCommandOptions::Report(options) => report::run(session, options, settings),
        EffectCommandOptions::Decide(options) => decide::run(session, options, settings),
        EffectCommandOptions::Run(options) => run_command(session, options, settings),
        EffectCommandOptions::List(options) => list::run(session, options, settings),
    }
}
