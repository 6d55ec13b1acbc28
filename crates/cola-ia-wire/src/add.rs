//! One line for each thing that `add` read.

use std::borrow::Cow;

use cola_ia_core::event::Delivery;
use cola_ia_core::intake::Refusal;
use cola_ia_core::store::Receipt;
use cola_ia_core::verdict::Verdict;
use serde::{Deserialize, Serialize};

use crate::VERSION;

/// The verdict on an event, `new`, `duplicate` or `conflict`.
///
/// ```
/// # use std::borrow::Cow;
/// let line = cola_ia_wire::Entered {
///     v: 1,
///     verdict: Cow::Borrowed("new"),
///     source: Cow::Borrowed("default"),
///     id: Cow::Borrowed("idea-42"),
///     delivery: Some(1),
///     event: Some(1),
///     conflict: None,
///     decided: None,
/// };
/// let json = r#"{"v":1,"verdict":"new","source":"default","id":"idea-42","delivery":1,"event":1}"#;
/// assert_eq!(serde_json::to_string(&line).unwrap(), json);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entered<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// `new`, `duplicate` or `conflict`.
    #[serde(borrow)]
    pub verdict: Cow<'a, str>,
    /// The event's source.
    #[serde(borrow)]
    pub source: Cow<'a, str>,
    /// The event's id.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// The number of this delivery; `null` in a dry run, which records nothing.
    pub delivery: Option<i64>,
    /// The number of the event with this identity: the delivery's own where it is new; `null` in a dry run.
    pub event: Option<i64>,
    /// The conflict's number within the event, from 1. Only there where the verdict is `conflict`, and not in a dry run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<u32>,
    /// Whether a person has decided that this content stays a conflict, so that it is no alarm. Only there where the verdict is
    /// `conflict`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<bool>,
}

impl<'a> Entered<'a> {
    /// What was read and what the store answered.
    pub fn new(delivery: &'a Delivery, receipt: &Receipt) -> Self {
        Self {
            delivery: Some(receipt.number.0),
            event: receipt.event.map(|event| event.0),
            conflict: receipt.conflict,
            ..Self::preview(delivery, receipt.verdict, receipt.decided)
        }
    }

    /// What the store would answer. `decided` is about a conflict.
    pub fn preview(delivery: &'a Delivery, verdict: Verdict, decided: bool) -> Self {
        Self {
            v: VERSION,
            verdict: Cow::Borrowed(verdict.as_str()),
            source: Cow::Borrowed(delivery.source.as_str()),
            id: Cow::Borrowed(delivery.id.as_str()),
            delivery: None,
            event: None,
            conflict: None,
            decided: (verdict == Verdict::Conflict).then_some(decided),
        }
    }
}

/// What could not become an event.
///
/// ```
/// # use std::borrow::Cow;
/// let line = cola_ia_wire::Refused {
///     v: 1,
///     verdict: Cow::Borrowed("invalid"),
///     input: Cow::Borrowed("eventos.jsonl"),
///     line: 3,
///     column: Some(14),
///     code: Cow::Borrowed("json_duplicate_key"),
///     detail: Cow::Borrowed("id"),
///     count: 1,
/// };
/// let json = r#"{"v":1,"verdict":"invalid","input":"eventos.jsonl","line":3,"column":14,"code":"json_duplicate_key","detail":"id","count":1}"#;
/// assert_eq!(serde_json::to_string(&line).unwrap(), json);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// `invalid`.
    #[serde(borrow)]
    pub verdict: Cow<'a, str>,
    /// The input's name as it was given; `-` for stdin.
    #[serde(borrow)]
    pub input: Cow<'a, str>,
    /// The line, from 1, blank ones counted; the first one where it stands for several.
    pub line: u64,
    /// The byte of the line at which the reason shows, from 1; `null` where it is about the whole line.
    pub column: Option<u64>,
    /// The reason, stable, explained in `docs/ERRORS.md`.
    #[serde(borrow)]
    pub code: Cow<'a, str>,
    /// What it is about: a key, a value, a found length. May be empty; at most 200 bytes.
    #[serde(borrow)]
    pub detail: Cow<'a, str>,
    /// How many lines it stands for: 1, or more where an input had so many that they are only counted.
    pub count: u64,
}

impl<'a> Refused<'a> {
    /// The line for a refusal.
    pub fn new(refusal: &'a Refusal) -> Self {
        Self {
            v: VERSION,
            verdict: Cow::Borrowed(Verdict::Invalid.as_str()),
            input: Cow::Borrowed(&refusal.origin.input),
            line: refusal.origin.line,
            column: refusal.column,
            code: Cow::Borrowed(refusal.code.as_str()),
            detail: Cow::Borrowed(&refusal.detail),
            count: refusal.count,
        }
    }
}
