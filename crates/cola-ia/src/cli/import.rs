//! `import`: what is asked for, and what is said.

use std::path::PathBuf;

use cola_ia_core::store::export::{Contradiction, Kind, Outcome, Record};
use cola_ia_wire::{ImportKind, ImportTold, VERSION};

use super::add::{Input, push_json};
use super::{Exit, Session};
use crate::config::Warning;
use crate::lang::{Lang, Message};
use crate::print::{Paint, safe_line};

/// The options of `import`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportOptions {
    /// The export.
    pub input: Input,
    /// `--json`
    pub json: bool,
    /// Without `--no-progress`.
    pub progress: bool,
}

impl ImportOptions {
    /// What people call the input.
    pub fn name(&self) -> String {
        match &self.input {
            Input::Stdin => "-".to_owned(),
            Input::File(path) => PathBuf::clone(path).display().to_string(),
        }
    }
}

/// Lines that are told one by one on stderr; more are counted.
const TOLD_ONE_BY_ONE: u64 = 100;

/// What became of the records of a kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OfKind {
    entered: u64,
    same: u64,
    kept: u64,
    contradicting: u64,
}

/// What became of everything.
#[derive(Debug, Default)]
pub struct ImportTally {
    kinds: [OfKind; Kind::ALL.len()],
    refused: u64,
    told: u64,
    /// For stdout with `--json`: what did not enter.
    json: String,
}

/// A line and why it did not enter.
struct Told<'a> {
    line: u64,
    kind: Option<Kind>,
    event: Option<i64>,
    code: &'a str,
    detail: &'a str,
}

impl ImportTally {
    /// Counts what became of a record, and tells it where it contradicts.
    pub fn outcome(&mut self, session: &Session, input: &str, line: u64, record: &Record, outcome: Outcome) {
        let of_kind = &mut self.kinds[record.kind() as usize];
        match outcome {
            Outcome::Entered => of_kind.entered += 1,
            Outcome::Same => of_kind.same += 1,
            Outcome::Kept => of_kind.kept += 1,
            Outcome::Contradicts(how) => {
                of_kind.contradicting += 1;
                let event = record.event().map(|event| event.0);
                let told = Told { line, kind: Some(record.kind()), event, code: how.as_str(), detail: "" };
                self.tell(session, input, &told);
            }
        }
    }

    /// Counts and tells a line that is refused.
    pub fn refused(&mut self, session: &Session, input: &str, line: u64, code: &str, detail: &str) {
        self.refused += 1;
        self.tell(session, input, &Told { line, kind: None, event: None, code, detail });
    }

    fn tell(&mut self, session: &Session, input: &str, told: &Told<'_>) {
        push_json(
            &mut self.json,
            &ImportTold {
                v: VERSION,
                line: told.line,
                kind: told.kind.map(|kind| kind.as_str().into()),
                event: told.event,
                code: told.code.into(),
                detail: told.detail.into(),
            },
        );
        self.told += 1;
        if self.told > TOLD_ONE_BY_ONE {
            return;
        }
        let reason = session.lang.t(&format!("import-line-{}", told.code), &[]);
        let what = match (told.kind, told.event) {
            (Some(kind), Some(event)) => format!(" ({} {event})", kind.as_str()),
            (Some(kind), None) => format!(" ({})", kind.as_str()),
            (None, _) if told.detail.is_empty() => String::new(),
            (None, _) => format!(": {}", safe_line(told.detail)),
        };
        session.complain(&format!("{}:{}: {reason}{what} [{}]", safe_line(input), told.line, told.code));
    }

    /// What `--json` has to say so far, given away.
    pub fn take_json(&mut self) -> String {
        std::mem::take(&mut self.json)
    }

    /// The counts, one object a kind.
    pub fn as_json(&self) -> String {
        let mut out = String::new();
        for (kind, of_kind) in Kind::ALL.into_iter().zip(self.kinds) {
            let line = ImportKind {
                v: VERSION,
                kind: kind.as_str().into(),
                entered: of_kind.entered,
                same: of_kind.same,
                kept: of_kind.kept,
                contradicting: of_kind.contradicting,
            };
            push_json(&mut out, &line);
        }
        out
    }

    /// The counts for people: a head, then a line for each kind that came.
    pub fn as_table(&self, lang: &Lang, colour: bool) -> String {
        let head = ["column-kind", "column-entered", "column-same", "column-kept", "column-contradicting"]
            .map(|key| lang.word(key));
        let rows: Vec<[String; 5]> = Kind::ALL
            .into_iter()
            .zip(self.kinds)
            .filter(|(_, of_kind)| *of_kind != OfKind::default())
            .map(|(kind, of_kind)| {
                let OfKind { entered, same, kept, contradicting } = of_kind;
                let [entered, same, kept, contradicting] =
                    [entered, same, kept, contradicting].map(|count| count.to_string());
                [kind.as_str().to_owned(), entered, same, kept, contradicting]
            })
            .collect();
        if rows.is_empty() {
            return String::new();
        }
        let width = |at: usize| rows.iter().chain([&head]).map(|row| row[at].chars().count()).max().unwrap_or_default();
        let line = |row: &[String; 5]| {
            let numbers: String =
                (1..5).map(|at| format!("  {:>width$}", row[at], width = width(at))).collect::<Vec<_>>().concat();
            format!("{:<width$}{numbers}", row[0], width = width(0))
        };
        let mut out = Paint::Head.on(&line(&head), colour);
        out.push('\n');
        for row in &rows {
            out.push_str(&line(row));
            out.push('\n');
        }
        out
    }

    /// Whether something that was read is not in the store.
    pub fn left_something_out(&self) -> bool {
        self.refused + self.sum(|of| of.contradicting) > 0
    }

    fn sum(&self, count: impl Fn(&OfKind) -> u64) -> u64 {
        self.kinds.iter().map(count).sum()
    }

    /// What a person should know of it, and how the command ends.
    pub fn finish(&self, session: &Session) -> Exit {
        if self.told > TOLD_ONE_BY_ONE {
            session.complain(&session.lang.t("import-more", &[("count", (self.told - TOLD_ONE_BY_ONE).into())]));
        }
        let (entered, kept) = (self.sum(|of| of.entered), self.sum(|of| of.kept));
        let contradicting = self.sum(|of| of.contradicting);
        if entered == 0 {
            session.note(&Message::new("import-nothing-new"));
        }
        if kept > 0 {
            session.note(&Message::new("import-kept").number("count", kept));
        }
        if self.kinds[Kind::Event as usize].entered > 0 {
            session.note(&Message::new("import-restored"));
        }
        if contradicting > 0 {
            let message = Message::new("import-contradicting").number("count", contradicting);
            session.warn(&Warning { message, hint: Some(Message::new("import-contradicting-hint")) });
        }
        if self.refused > 0 {
            let message = Message::new("import-refused").number("count", self.refused);
            session.warn(&Warning { message, hint: Some(Message::new("import-refused-hint")) });
        }
        if self.left_something_out() { Exit::Refused } else { Exit::Done }
    }
}

/// The catalogue's keys of the codes that a line may be told with.
pub fn line_codes() -> impl Iterator<Item = &'static str> {
    cola_ia_wire::LINE_FAULTS.into_iter().chain(Contradiction::ALL.map(Contradiction::as_str)).chain([
        "export_order",
        "export_after_end",
        "export_incomplete",
        "line_too_long",
    ])
}
