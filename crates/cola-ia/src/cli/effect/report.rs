//! `effect done`, `failed`, `unknown`, and `resolve` of a worker: what it says of a try.

use cola_ia_core::effect::{Evidence, ReportAnswer};
use cola_ia_core::store::{Looked, RESOURCE_ID_MAX_BYTES};
use cola_ia_wire::EffectAnswer;

use super::super::add::push_json;
use super::super::report::{ReportOptions, file_of, read_result};
use super::super::{Exit, Problem, Session, print};
use super::{ResultFrom, TryOptions, TrySaid, told, words};
use crate::config::{Settings, Warning};
use crate::effect::holder::Holder;
use crate::effect::{Unheard, Word, evidence};
use crate::lang::Message;
use crate::result_file::ResultFile;

/// Runs the command.
///
/// # Errors
/// There is no answer; what is said came too late, or speaks of nothing.
pub(super) fn run(session: &Session, options: &TryOptions, settings: &Settings) -> Result<Exit, Problem> {
    let word = word(&options.said)?;
    let holder = Holder::of(session, settings, options.lease)?;
    let report = holder.report(&options.name, options.number, &word).map_err(|unheard| match unheard {
        Unheard::Again(problem) => problem.hint(Message::new("effect-report-again-hint")),
        Unheard::Never(problem) => problem,
    })?;
    if let Some(message) = holder.uncounted() {
        session.warn(&Warning { message, hint: None });
    }
    let answer = EffectAnswer::reported(&options.name, report);
    let mut out = String::new();
    if options.json {
        push_json(&mut out, &answer);
    } else {
        out = words::reported(&answer, report);
    }
    print(&out)?;
    let about = |key: &'static str| Message::new(key).with("name", &options.name).with("number", options.number);
    let is_evidence = matches!(word, Word::Done(..) | Word::Looked(Looked::Found(_)));
    match report {
        ReportAnswer::Recorded => Ok(Exit::Done),
        ReportAnswer::LeaseLost if is_evidence => Err(told::late(&options.name)),
        ReportAnswer::LeaseLost => Err(told::lease_lost(&options.name)),
        ReportAnswer::Wait { until } => {
            session.note(&told::wait(&options.name, until));
            Ok(Exit::Later)
        }
        ReportAnswer::Void => {
            Err(Problem::new(Exit::EffectRefused, about("effect-void")).hint(Message::new("effect-void-hint")))
        }
        ReportAnswer::Missing => Err(Problem::new(Exit::EffectRefused, about("effect-no-try"))),
    }
}

/// What is told of what was sent: flags over what the file says.
///
/// # Errors
/// The file cannot be read, or is not as it must be.
pub(in crate::cli) fn told_file(result: Option<ResultFrom>, report: &ReportOptions) -> Result<ResultFile, Problem> {
    let mut file = match result {
        None => ResultFile::default(),
        Some(ResultFrom::Json(text)) => read_result(text.as_bytes(), "--result")?,
        Some(ResultFrom::Input(input)) => file_of(&input)?,
    };
    file.currency = file.currency.filter(|_| report.cost_micros.is_none());
    file.cost_micros = report.cost_micros.or(file.cost_micros);
    file.tokens_in = report.tokens_in.or(file.tokens_in);
    file.tokens_out = report.tokens_out.or(file.tokens_out);
    file.model = report.model.clone().or(file.model);
    Ok(file)
}

fn word(said: &TrySaid) -> Result<Word, Problem> {
    Ok(match said {
        TrySaid::Failed(failure, note) => Word::Failed(*failure, note.clone()),
        TrySaid::Unknown(note) => Word::Unknown(note.clone()),
        TrySaid::Absent => Word::Looked(Looked::Absent),
        TrySaid::Happened { resource_id, result, report, looked } => {
            let mut file = told_file(result.clone(), report)?;
            file.resource_id = resource_id.clone().or(file.resource_id);
            let currency = file.currency.clone();
            let refused = match &file.resource_id {
                Some(id) => id.trim().is_empty() || id.len() > RESOURCE_ID_MAX_BYTES,
                None => *looked,
            };
            let mut evidence: Evidence = evidence(file);
            if refused {
                let limit = RESOURCE_ID_MAX_BYTES as u64;
                return Err(Problem::usage(Message::new("usage-resource-too-long").number("limit", limit)));
            }
            if *looked {
                evidence.cost = evidence.cost.filter(|_| currency.is_none());
                Word::Looked(Looked::Found(evidence))
            } else {
                Word::Done(evidence, currency)
            }
        }
    })
}
