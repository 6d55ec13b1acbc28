//! What a store and the gate refuse, as sentences.

use cola_ia_core::intake::{Refusal, RefusalCode};
use cola_ia_core::limits::ID_MAX_BYTES;
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

impl StoreCode {
    /// Its sentence and what to do about it, with the facts by their names.
    pub(super) fn messages(&self, fact: impl Fn(&str) -> String) -> (Message, Message) {
        let with_facts = |key: String| {
            self.facts.iter().fold(Message::new(key), |message, name| match fact(name) {
                cause if *name == "cause" => message.cause(*name, &cause),
                value => message.with(*name, value),
            })
        };
        (with_facts(format!("store-{}", self.code)), with_facts(format!("store-{}-hint", self.code)))
    }
}

const fn code(code: &'static str, facts: &'static [&'static str]) -> StoreCode {
    StoreCode { code, facts }
}

/// Every code that a store may answer with. Each has a sentence `store-CODE` in the catalogues and, where there is something
/// to do, `store-CODE-hint`.
pub const STORE_CODES: [StoreCode; 73] = [
    code("store_missing", &["path"]),
    code("store_parent_missing", &["path"]),
    code("store_not_writable", &["path", "cause"]),
    code("store_not_readable", &["path", "cause"]),
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
    code("store_unreachable", &["path", "cause"]),
    code("store_refuses", &["path", "cause"]),
    code("store_no_database", &["path", "cause"]),
    code("store_address", &["path", "cause"]),
    code("store_tls", &["path", "cause"]),
    code("store_encoding", &["path", "encoding"]),
    code("store_is_database", &["path", "command"]),
    code("store_article", &["path"]),
    code("store_in_use", &["path", "who"]),
    code("store_in_use_unseen", &["path"]),
    code("backup_exists", &["path"]),
    code("backup_is_store", &["path"]),
    code("backup_missing", &["path"]),
    code("backup_not_ours", &["path"]),
    code("backup_newer", &["path", "found", "known"]),
    code("backup_has_log", &["path", "wal"]),
    code("backup_unsound", &["path", "cause"]),
    code("backup_full", &["path", "cause"]),
    code("backup_io", &["path", "cause"]),
    code("restored_in_future", &["at", "now"]),
    code("takeover_refused", &["path", "cause"]),
    code("op_reused", &[]),
    code("op_expired", &[]),
    code("event_unknown", &["event"]),
    code("token_malformed", &["reason"]),
    code("token_name_taken", &["name"]),
    code("source_unknown", &["source"]),
    code("conflict_unknown", &["conflict"]),
    code("conflict_not_named", &[]),
    code("conflict_decided", &["conflict", "decision"]),
    code("content_gone", &["conflict"]),
    code("id_taken", &["source", "id"]),
    code("currency_malformed", &["currency"]),
    code("currency_other", &["currency"]),
    code("effects_open", &[]),
    code("resolve_too_many", &["limit"]),
    code("note_too_long", &["limit"]),
    code("job_running", &[]),
    code("batch_too_long", &[]),
    code("too_many_leases", &["limit"]),
    code("too_many_jobs", &["limit"]),
    code("import_other_namespace", &["path"]),
    code("import_out_of_order", &[]),
    code("store_moved", &["path"]),
    code("move_running", &["path", "count"]),
    code("cursor_unknown", &["cursor"]),
    code("server_address", &["cause"]),
    code("server_answer", &["server", "cause"]),
    code("server_certificates", &["cause"]),
    code("server_forbidden", &["server", "what"]),
    code("server_insecure", &["server"]),
    code("server_token", &[]),
    code("server_unauthorised", &["server"]),
    code("server_unreachable", &["server", "cause"]),
    code("server_untrusted", &["server", "cause"]),
    code("interrupted", &[]),
    code("store_closed", &[]),
];

impl Problem {
    /// The sentence for a store's error, with the facts it carries. A fact that is missing is shown as `?`.
    pub fn from_store(error: &StoreError) -> Self {
        let exit = match error.code {
            "interrupted" => Exit::Interrupted,
            // Whoever made the place up has made a mistake in the command.
            "cursor_unknown" => Exit::Usage,
            "server_unauthorised" | "server_forbidden" => Exit::NotAuthorised,
            _ => Exit::Failed,
        };
        let Some(known) = STORE_CODES.iter().find(|known| known.code == error.code) else {
            return Self::new(exit, Message::new("store-unknown").with("code", error.code).with("facts", error));
        };
        let (message, hint) = known.messages(|fact| error.fact(fact).unwrap_or("?").to_owned());
        Self::new(exit, message).hint(hint)
    }
}

/// The sentence for an input that could not be read to its end.
pub fn input_error(input: &str, error: &InputError) -> Problem {
    let message = Message::new(input_error_key(error.kind)).with("input", safe_line(input));
    let problem = Problem::failed(message.cause("detail", &error.detail));
    match error.kind {
        InputErrorKind::Io => problem.hint(Message::new("input-io-hint")),
        InputErrorKind::GzipCut | InputErrorKind::ZstdCut => problem.hint(Message::new("input-cut-hint")),
        InputErrorKind::GzipDamaged | InputErrorKind::ZstdDamaged => problem.hint(Message::new("input-damaged-hint")),
        InputErrorKind::ZstdWindow => problem.hint(Message::new("input-zstd-window-hint")),
    }
}

/// The catalogue's key of its sentence.
pub fn input_error_key(kind: InputErrorKind) -> String {
    format!("input-{}", kind.as_str().replace('_', "-"))
}

/// The bounds that an input is measured against, for sentences about what is longer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Longest line in bytes.
    pub line: usize,
    /// Longest text in bytes.
    pub text: usize,
}

/// What was refused, on one line for stderr: `eventos.jsonl:3:14: <reason> [json_syntax]`.
///
/// The column is the byte of the line, from 1. Where the refusal stands for several lines, their number is said instead of
/// a place.
pub fn refusal_line(lang: &Lang, refusal: &Refusal, bounds: Bounds) -> String {
    let code = refusal.code.as_str();
    let reason = lang.t(&format!("refusal-{code}"), &[("count", refusal.count.into())]);
    let input = safe_line(&refusal.origin.input);
    // Documents in a row are one refusal that has a place.
    let is_placed = refusal.code == RefusalCode::JsonDocument && !refusal.detail.is_empty();
    if refusal.count > 1 && !is_placed {
        let more = lang.t("refusal-counted", &[("count", refusal.count.into())]);
        return format!("{input}: {more}: {reason} [{code}]");
    }
    let column = refusal.column.map(|column| format!(":{column}")).unwrap_or_default();
    let detail = detail(lang, refusal, bounds);
    let about = if detail.is_empty() { String::new() } else { format!(": {detail}") };
    format!("{input}:{}{column}: {reason}{about} [{code}]", refusal.origin.line)
}

/// What the refusal is about. A number gets its unit.
fn detail(lang: &Lang, refusal: &Refusal, bounds: Bounds) -> String {
    let most = match refusal.code {
        RefusalCode::LineTooLong => bounds.line,
        RefusalCode::TextTooLong => bounds.text,
        RefusalCode::IdTooLong => ID_MAX_BYTES,
        RefusalCode::JsonDocument if !refusal.detail.is_empty() => {
            let (first, last) = (refusal.origin.line.to_string(), refusal.detail.as_str());
            return lang.t("refusal-lines", &[("first", first.into()), ("last", last.into())]);
        }
        _ => return safe_line(&refusal.detail).into_owned(),
    };
    if refusal.detail.is_empty() {
        return String::new();
    }
    lang.t("refusal-bytes", &[("bytes", refusal.detail.as_str().into()), ("most", most.to_string().into())])
}

/// What to do about refusals of this kind, if there is anything to say; once a run is enough.
pub fn refusal_hint(refusal: &Refusal) -> Message {
    Message::new(format!("refusal-{}-hint", refusal.code.as_str()))
}
