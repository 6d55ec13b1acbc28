//! `add`: what was asked for, and how its answers are said.

use std::path::PathBuf;

use cola_ia_core::event::{Delivery, Source};
use cola_ia_core::intake::{Refusal, RefusalCode};
use cola_ia_core::store::Receipt;
use cola_ia_core::verdict::Verdict;
use cola_ia_wire::{Entered, Refused};
use serde::Serialize;

use super::errors::{Bounds, refusal_hint, refusal_line};
use super::paste::show_command;
use super::{Exit, Session};
use crate::config::Settings;
use crate::lang::{Lang, Message};
use crate::print::id_on_a_line;

/// The options of `add`.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddOptions {
    /// What to read, in this order; at least one, stdin at most once.
    pub inputs: Vec<Input>,
    /// `--source`: the source of every event; one that names another is refused.
    pub source: Option<Source>,
    /// `--json`
    pub json: bool,
    /// `--fail-on conflict`
    pub fail_on_conflict: bool,
    /// `--rejects`: where the refused lines go.
    pub rejects: Option<PathBuf>,
    /// `--dry-run`
    pub dry_run: bool,
    /// Whether progress may be shown; it still needs a terminal.
    pub progress: bool,
}

/// Something to read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Input {
    /// `-`
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Input {
    /// What people call it.
    pub fn name(&self) -> String {
        match self {
            Self::Stdin => "-".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }
}

/// Adds the answer to one delivery to `out`, a whole line.
///
/// People's form is `ID VERDICT`, as the article's script prints it; with `json` it is a [`Entered`].
pub fn push_answer(out: &mut String, lang: &Lang, json: bool, delivery: &Delivery, receipt: &Receipt) {
    if json {
        push_json(out, &Entered::new(delivery, receipt));
    } else {
        push_words(out, lang, delivery, receipt.verdict);
    }
}

/// Adds what the answer would be, for a dry run: the same line, in JSON without numbers.
pub fn push_preview(out: &mut String, lang: &Lang, json: bool, delivery: &Delivery, answer: Foretold) {
    if json {
        push_json(out, &Entered::preview(delivery, answer.verdict, answer.decided));
    } else {
        push_words(out, lang, delivery, answer.verdict);
    }
}

/// What the gate would say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Foretold {
    /// Its verdict.
    pub verdict: Verdict,
    /// A conflict that a person has decided to leave one: no alarm.
    pub decided: bool,
}

/// Adds a refusal to what goes to stdout. In people's form that is nothing: there is no id to answer to, and stderr gets
/// [`Refusals::push`].
pub fn push_refusal(out: &mut String, json: bool, refusal: &Refusal) {
    if json {
        push_json(out, &Refused::new(refusal));
    }
}

fn push_words(out: &mut String, lang: &Lang, delivery: &Delivery, verdict: Verdict) {
    out.push_str(&id_on_a_line(delivery.id.as_str()));
    out.push(' ');
    out.push_str(lang.verdict(verdict));
    out.push('\n');
}

/// These shapes hold strings and numbers only, which always have a JSON form.
pub(super) fn push_json(out: &mut String, value: &impl Serialize) {
    if let Ok(json) = serde_json::to_string(value) {
        out.push_str(&json);
        out.push('\n');
    }
}

/// What goes to stderr about refusals: a line each, and each hint once.
#[derive(Debug, Default)]
pub struct Refusals {
    hinted: Vec<RefusalCode>,
    bounds: Bounds,
}

impl Refusals {
    /// Of inputs that are measured against these bounds.
    pub const fn new(bounds: Bounds) -> Self {
        Self { hinted: Vec::new(), bounds }
    }

    /// Adds the lines for one refusal to `out`. A hint that was given before is not repeated, and with `--quiet` none is given.
    pub fn push(&mut self, out: &mut String, session: &Session, refusal: &Refusal) {
        out.push_str(&refusal_line(&session.lang, refusal, self.bounds));
        out.push('\n');
        if session.quiet || self.hinted.contains(&refusal.code) {
            return;
        }
        self.hinted.push(refusal.code);
        let hint = refusal_hint(refusal);
        if session.lang.has(hint.key()) {
            out.push_str(&session.hint_line(&hint));
        }
    }
}

/// What one `add` did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Events that entered.
    pub new: u64,
    /// Same identity, same content.
    pub duplicates: u64,
    /// Same identity, other content, and nobody has decided about it: alarms.
    pub conflicts: u64,
    /// Same identity, a content that a person has decided to leave a conflict.
    pub decided: u64,
    /// Refused.
    pub refused: u64,
    /// Of these, refused as lines and not as an input as a whole: only they can be kept.
    pub refused_lines: u64,
    /// Inputs whose last line is unfinished.
    pub unfinished: u64,
    /// The identity of the first conflict.
    pub first_conflict: Option<(Source, String)>,
}

impl Tally {
    /// Counts one verdict that stands for `count` lines.
    pub const fn count(&mut self, verdict: Verdict, count: u64) {
        match verdict {
            Verdict::New => self.new += count,
            Verdict::Duplicate => self.duplicates += count,
            Verdict::Conflict => self.conflicts += count,
            Verdict::Invalid => self.refused += count,
        }
    }

    /// Counts the verdict of one delivery. `decided`: the conflict is no alarm.
    pub fn delivery(&mut self, delivery: &Delivery, verdict: Verdict, decided: bool) {
        if decided {
            self.decided += 1;
            return;
        }
        self.count(verdict, 1);
        if verdict == Verdict::Conflict && self.first_conflict.is_none() {
            self.first_conflict = Some((delivery.source.clone(), delivery.id.as_str().to_owned()));
        }
    }

    /// Counts a refusal.
    pub const fn refusal(&mut self, refusal: &Refusal) {
        self.count(Verdict::Invalid, refusal.count);
        if !matches!(refusal.code, RefusalCode::Utf16 | RefusalCode::FormatUnsupported) {
            self.refused_lines += refusal.count;
        }
    }

    /// The sentence for stderr: `3 events: 1 new, 1 duplicate, 1 conflict`.
    pub fn summary(&self, dry_run: bool) -> Message {
        let key = if dry_run { "add-summary-dry-run" } else { "add-summary" };
        let counted = |key: &'static str, count: u64| Message::new(key).number("count", count);
        let mut parts = counted("add-summary-new", self.new);
        for (key, count) in [
            ("add-summary-duplicates", self.duplicates),
            ("add-summary-conflicts", self.conflicts),
            ("add-summary-decided", self.decided),
            ("add-summary-refused", self.refused),
            ("add-summary-unfinished", self.unfinished),
        ] {
            if count > 0 {
                parts = Message::new("add-summary-and").message("before", parts).message("last", counted(key, count));
            }
        }
        Message::new(key).message("parts", parts)
    }

    /// What to do next about conflicts and refusals.
    pub fn hints(&self, options: &AddOptions, settings: &Settings) -> Vec<Message> {
        let mut hints = Vec::new();
        if let Some((source, id)) = &self.first_conflict {
            hints.push(if options.dry_run {
                // The store may not have it.
                Message::new("add-conflicts-hint-id").with("id", id_on_a_line(id))
            } else {
                let command = show_command(settings, source, id).unwrap_or_else(|| "cola-ia show ID".to_owned());
                Message::new("add-conflicts-hint").with("command", command)
            });
        }
        match &options.rejects {
            Some(rejects) if self.refused_lines > 0 => {
                hints.push(Message::new("add-rejects-hint").with("path", rejects.display()));
            }
            None if self.refused_lines > 0 => hints.push(Message::new("add-refused-hint")),
            _ => {}
        }
        if self.unfinished > 0 {
            hints.push(Message::new("add-unfinished-hint"));
        }
        hints
    }

    /// How the command ends, where nothing stopped it. A conflict that was asked about says more than a refusal, and a
    /// refusal more than an unfinished line.
    pub const fn exit(&self, fail_on_conflict: bool) -> Exit {
        if fail_on_conflict && self.conflicts > 0 {
            Exit::Conflicts
        } else if self.refused > 0 {
            Exit::Refused
        } else if self.unfinished > 0 {
            Exit::Unfinished
        } else {
            Exit::Done
        }
    }
}

#[cfg(test)]
mod tests;
