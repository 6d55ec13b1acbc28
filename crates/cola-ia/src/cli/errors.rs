//! What a store and the gate refuse, as sentences.

use cola_ia_core::intake::Refusal;
use cola_ia_core::store::StoreError;

use super::{Exit, Problem};
use crate::intake::{InputError, InputErrorKind};
use crate::lang::{Lang, Message};
use crate::print::safe_line;

/// A code of a store's error and the facts that its sentence shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreCode {
    /// The code.
    pub code: &'static str,
    /// The names of its facts.
    pub facts: &'static [&'static str],
}

const fn code(code: &'static str, facts: &'static [&'static str]) -> StoreCode {
    StoreCode { code, facts }
}

/// Every code that a store may answer with. Each has a sentence `store-CODE` in the catalogues and, where there is something
/// to do, `store-CODE-hint`.
pub const STORE_CODES: [StoreCode; 21] = [
    code("store_missing", &["path"]),
    code("store_parent_missing", &["path"]),
    code("store_not_writable", &["path", "cause"]),
    code("store_newer", &["path", "found", "known"]),
    code("store_needs_migration", &["path", "found", "known"]),
    code("store_foreign", &["path", "what"]),
    code("store_not_sqlite", &["path"]),
    code("store_empty_file", &["path"]),
    code("store_not_a_file", &["path"]),
    code("store_wal_orphan", &["path", "wal"]),
    code("store_network_fs", &["path", "filesystem"]),
    code("store_locked", &["path", "seconds"]),
    code("store_damaged", &["path", "cause"]),
    code("store_full", &["path", "cause"]),
    code("store_io", &["path", "cause"]),
    code("store_article", &["path"]),
    code("takeover_refused", &["path", "cause"]),
    code("op_reused", &[]),
    code("batch_too_long", &[]),
    code("interrupted", &[]),
    code("store_closed", &[]),
];

impl Problem {
    /// The sentence for a store's error, with the facts it carries. A fact that is missing is shown as `?`.
    pub fn from_store(error: &StoreError) -> Self {
        let exit = if error.code == "interrupted" { Exit::Interrupted } else { Exit::Failed };
        let Some(known) = STORE_CODES.iter().find(|known| known.code == error.code) else {
            return Self::new(exit, Message::new("store-unknown").with("code", error.code).with("facts", error));
        };
        let with_facts = |key: String| {
            known
                .facts
                .iter()
                .fold(Message::new(key), |message, fact| message.with(*fact, error.fact(fact).unwrap_or("?")))
        };
        let problem = Self::new(exit, with_facts(format!("store-{}", error.code)));
        problem.hint(with_facts(format!("store-{}-hint", error.code)))
    }
}

/// The sentence for an input that could not be read to its end.
pub fn input_error(input: &str, error: &InputError) -> Problem {
    let key = match error.kind {
        InputErrorKind::Io => "input-io",
        InputErrorKind::GzipCut => "input-gzip-cut",
        InputErrorKind::GzipDamaged => "input-gzip-damaged",
        InputErrorKind::ZstdCut => "input-zstd-cut",
        InputErrorKind::ZstdDamaged => "input-zstd-damaged",
        InputErrorKind::ZstdWindow => "input-zstd-window",
    };
    let problem = Problem::failed(Message::new(key).with("input", safe_line(input)).with("detail", &error.detail));
    match error.kind {
        InputErrorKind::Io | InputErrorKind::GzipCut | InputErrorKind::ZstdCut => {
            problem.hint(Message::new("input-cut-hint"))
        }
        InputErrorKind::GzipDamaged | InputErrorKind::ZstdDamaged => problem.hint(Message::new("input-damaged-hint")),
        InputErrorKind::ZstdWindow => problem.hint(Message::new("input-zstd-window-hint")),
    }
}

/// What was refused, on one line for stderr: `eventos.jsonl:3:14: <reason> [json_syntax]`.
///
/// The column is the byte of the line, from 1. Where the refusal stands for several lines, their number is said instead of
/// a place.
pub fn refusal_line(lang: &Lang, refusal: &Refusal) -> String {
    let detail = if refusal.detail.is_empty() { "" } else { refusal.detail.as_str() };
    let code = refusal.code.as_str();
    let reason = lang.t(&format!("refusal-{code}"), &[]);
    let input = safe_line(&refusal.origin.input);
    if refusal.count > 1 {
        let more = lang.t("refusal-counted", &[("count", refusal.count.into())]);
        return format!("{input}: {more}: {reason} [{code}]");
    }
    let column = refusal.column.map(|column| format!(":{column}")).unwrap_or_default();
    let about = if detail.is_empty() { String::new() } else { format!(": {}", safe_line(detail)) };
    format!("{input}:{}{column}: {reason}{about} [{code}]", refusal.origin.line)
}

/// What to do about refusals of this kind, if there is anything to say; once a run is enough.
pub fn refusal_hint(refusal: &Refusal) -> Message {
    Message::new(format!("refusal-{}-hint", refusal.code.as_str()))
}
