//! What is kept of an attempt, the same in every engine.

use cola_ia_core::job::{Job, Outcome};
use cola_ia_core::store::{ERROR_CLASS_MAX_BYTES, Ended, Report, fitting, last_bytes};

/// How an attempt ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndedAttempt<'a> {
    /// Its row.
    pub(crate) attempt: i64,
    pub(crate) outcome: Outcome,
    /// Where it left its job.
    pub(crate) ended: Ended,
    /// What its worker tells of it.
    pub(crate) report: Option<&'a Report>,
}

pub(crate) fn cut(text: Option<&str>, max_bytes: usize) -> Option<String> {
    text.map(|text| fitting(text, max_bytes))
}

pub(crate) fn output(bytes: &[u8]) -> Option<&[u8]> {
    (!bytes.is_empty()).then(|| last_bytes(bytes))
}

/// What is answered of a job that moved.
pub(crate) fn ended(job: &Job) -> Ended {
    Ended { state: job.state, due_at: job.due_at }
}

/// What of a cost is told for the first time. Where a part of it is known, so is the model.
pub(crate) fn beyond(known: &Report, told: &Report) -> Option<Report> {
    let first = |known: Option<i64>, told: Option<i64>| if known.is_none() { told } else { None };
    let cost_micros = first(known.cost_micros, told.cost_micros);
    let tokens_in = first(known.tokens_in, told.tokens_in);
    let tokens_out = first(known.tokens_out, told.tokens_out);
    (cost_micros, tokens_in, tokens_out).ne(&(None, None, None)).then(|| {
        let is_unknown = (known.cost_micros, known.tokens_in, known.tokens_out) == (None, None, None);
        let told = || told.model.as_deref().map(|model| fitting(model, ERROR_CLASS_MAX_BYTES));
        let model = known.model.clone().or_else(|| if is_unknown { told() } else { None });
        Report { cost_micros, tokens_in, tokens_out, model, ..Report::default() }
    })
}
