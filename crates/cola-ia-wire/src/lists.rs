//! Lines of lists: deliveries, conflicts, attempts, effects.

use std::borrow::Cow;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{EventType, Source};
use cola_ia_core::intake::RefusalCode;
use cola_ia_core::store::{AttemptView, ConflictSummary, DeliverySummary};
use serde::{Deserialize, Serialize};

use crate::VERSION;
use crate::retention::Decision;

/// How long after the provider's time something was received, in whole milliseconds, rounded down; negative where one of the
/// two clocks is wrong.
pub(crate) fn late_ms(received_at: Timestamp, time: Option<Timestamp>) -> Option<i64> {
    let late = received_at.as_micros().checked_sub(time?.as_micros())?;
    Some(late.div_euclid(1_000))
}

/// One handing-over of an event: a line of `deliveries --json` and of `tail --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryLine<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// The delivery's number. The list is ordered by it, newest first.
    pub delivery: i64,
    /// `new`, `duplicate`, `conflict` or `invalid`.
    #[serde(borrow)]
    pub verdict: Cow<'a, str>,
    /// When it was received.
    pub received_at: String,
    /// Its event's number; `null` for a refused one.
    pub event: Option<i64>,
    /// Who sent it; `null` for a refused one that named nobody.
    #[serde(borrow)]
    pub source: Option<Cow<'a, str>>,
    /// The event's id; `null` for a refused one.
    #[serde(borrow)]
    pub id: Option<Cow<'a, str>>,
    /// The type, as this delivery says.
    #[serde(borrow)]
    pub r#type: Option<Cow<'a, str>>,
    /// When it happened at the provider, as this delivery says.
    pub time: Option<String>,
    /// How long after that it was received, in milliseconds.
    pub late_ms: Option<i64>,
    /// The number of the conflict that it belongs to.
    pub conflict: Option<u32>,
    /// Why it was refused, a stable code.
    #[serde(borrow)]
    pub code: Option<Cow<'a, str>>,
    /// What the refusal is about.
    #[serde(borrow)]
    pub detail: Option<Cow<'a, str>>,
    /// Where it was read, for a conflict or a refused one.
    #[serde(borrow)]
    pub origin: Option<Cow<'a, str>>,
    /// How many it stands for: 1, or more for refused ones that are only counted.
    pub count: u64,
    /// Why a duplicate is one where its id does not tell: `replayed_body`, the same signed bytes came before under another id.
    #[serde(borrow, default)]
    pub reason: Option<Cow<'a, str>>,
}

impl<'a> DeliveryLine<'a> {
    /// The line for a delivery.
    pub fn new(delivery: &'a DeliverySummary) -> Self {
        Self {
            v: VERSION,
            delivery: delivery.number.0,
            verdict: Cow::Borrowed(delivery.verdict.as_str()),
            received_at: delivery.received_at.to_rfc3339(),
            event: delivery.event.map(|event| event.0),
            source: delivery.source.as_ref().map(Source::as_str).map(Cow::Borrowed),
            id: delivery.id.as_deref().map(Cow::Borrowed),
            r#type: delivery.event_type.as_ref().map(EventType::as_str).map(Cow::Borrowed),
            time: delivery.time.map(Timestamp::to_rfc3339),
            late_ms: late_ms(delivery.received_at, delivery.time),
            conflict: delivery.conflict,
            code: delivery.code.map(RefusalCode::as_str).map(Cow::Borrowed),
            detail: delivery.detail.as_deref().map(Cow::Borrowed),
            origin: delivery.origin.as_deref().map(Cow::Borrowed),
            count: delivery.count,
            reason: delivery.replayed.then_some(Cow::Borrowed("replayed_body")),
        }
    }
}

/// Another content under a known identity: a line of `conflicts --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictLine<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// The event's number.
    pub event: i64,
    /// The event's source.
    #[serde(borrow)]
    pub source: Cow<'a, str>,
    /// The event's id.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// The conflict's number within the event, from 1.
    pub conflict: u32,
    /// SHA-256 of the other content.
    pub fingerprint: String,
    /// The type, as the first delivery of this content says.
    #[serde(borrow)]
    pub r#type: Option<Cow<'a, str>>,
    /// When it happened at the provider, as the first delivery of this content says.
    pub time: Option<String>,
    /// How often it came.
    pub count: u64,
    /// When it came first. The list is ordered by it, newest first.
    pub first_at: String,
    /// When it came last.
    pub last_at: String,
    /// What a person decided about it last.
    #[serde(borrow)]
    pub decision: Option<Decision<'a>>,
    /// With `--diff`: the event's content; `null` once pruned or erased, and without `--diff`.
    #[serde(borrow)]
    pub text: Option<Cow<'a, str>>,
    /// With `--diff`: the other content; `null` once pruned or erased, and without `--diff`.
    #[serde(borrow)]
    pub other_text: Option<Cow<'a, str>>,
}

impl<'a> ConflictLine<'a> {
    /// The line for a conflict.
    pub fn new(conflict: &'a ConflictSummary) -> Self {
        let texts = conflict.texts.as_ref();
        Self {
            v: VERSION,
            event: conflict.event.0,
            source: Cow::Borrowed(conflict.source.as_str()),
            id: Cow::Borrowed(&conflict.id),
            conflict: conflict.number,
            fingerprint: conflict.fingerprint.to_string(),
            r#type: conflict.event_type.as_ref().map(EventType::as_str).map(Cow::Borrowed),
            time: conflict.time.map(Timestamp::to_rfc3339),
            count: conflict.count,
            first_at: conflict.first_at.to_rfc3339(),
            last_at: conflict.last_at.to_rfc3339(),
            decision: conflict.decision.as_ref().map(Decision::new),
            text: texts.and_then(|texts| texts.event.as_deref()).map(Cow::Borrowed),
            other_text: texts.and_then(|texts| texts.conflict.as_deref()).map(Cow::Borrowed),
        }
    }
}

/// How one lease of a job by one worker went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt<'a> {
    /// Its number in the store.
    pub attempt: i64,
    /// The job's run.
    pub run: u32,
    /// Its number within the run, from 1.
    pub number: u32,
    /// Who held the lease.
    #[serde(borrow)]
    pub worker: Cow<'a, str>,
    /// When it began.
    pub started_at: String,
    /// When it ended.
    pub ended_at: Option<String>,
    /// `done`, `error`, `crashed`, `timed_out`, `released` or `lease_lost`; `null` while it goes on.
    #[serde(borrow)]
    pub outcome: Option<Cow<'a, str>>,
    /// The command's exit code.
    pub exit_code: Option<i64>,
    /// The signal that ended the command.
    pub signal: Option<i64>,
    /// What kind of error it was, a stable code.
    #[serde(borrow)]
    pub error_class: Option<Cow<'a, str>>,
    /// What was said of the error.
    #[serde(borrow)]
    pub error: Option<Cow<'a, str>>,
    /// What it cost, in millionths of the currency's unit.
    pub cost_micros: Option<i64>,
    /// Tokens that went in.
    pub tokens_in: Option<i64>,
    /// Tokens that came out.
    pub tokens_out: Option<i64>,
    /// The model that was used.
    #[serde(borrow)]
    pub model: Option<Cow<'a, str>>,
    /// What the worker reported after it had lost its lease.
    #[serde(borrow)]
    pub late: Option<Cow<'a, str>>,
    /// The last part of what it wrote to stdout; only in `show`.
    #[serde(borrow)]
    pub stdout: Option<Cow<'a, str>>,
    /// The last part of what it wrote to stderr; only in `show`.
    #[serde(borrow)]
    pub stderr: Option<Cow<'a, str>>,
}

impl<'a> Attempt<'a> {
    pub(crate) fn new(attempt: &'a AttemptView) -> Self {
        let text = |text: &'a Option<String>| text.as_deref().map(Cow::Borrowed);
        Self {
            attempt: attempt.attempt,
            run: attempt.run,
            number: attempt.number,
            worker: Cow::Borrowed(&attempt.worker),
            started_at: attempt.started_at.to_rfc3339(),
            ended_at: attempt.ended_at.map(Timestamp::to_rfc3339),
            outcome: text(&attempt.outcome),
            exit_code: attempt.exit_code,
            signal: attempt.signal,
            error_class: text(&attempt.error_class),
            error: text(&attempt.error),
            cost_micros: attempt.cost_micros,
            tokens_in: attempt.tokens_in,
            tokens_out: attempt.tokens_out,
            model: text(&attempt.model),
            late: text(&attempt.late),
            stdout: text(&attempt.stdout),
            stderr: text(&attempt.stderr),
        }
    }
}

/// What went wrong: a line of `errors --json`, told apart by `kind`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ErrorLine<'a> {
    /// `intake`: something was refused. It has the fields of [`DeliveryLine`].
    #[serde(borrow)]
    Intake(DeliveryLine<'a>),
    /// `attempt`: an attempt of a job went wrong.
    #[serde(borrow)]
    Attempt(FailedAttempt<'a>),
}

/// An attempt that went wrong, with the identity of its event. It has the fields of [`Attempt`] and these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedAttempt<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// The job's event.
    pub event: i64,
    /// The event's source.
    #[serde(borrow)]
    pub source: Cow<'a, str>,
    /// The event's id.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// The attempt.
    #[serde(flatten, borrow)]
    pub attempt: Attempt<'a>,
}

impl<'a> ErrorLine<'a> {
    /// The line for something that was refused.
    pub fn intake(delivery: &'a DeliverySummary) -> Self {
        Self::Intake(DeliveryLine::new(delivery))
    }

    /// The line for an attempt.
    pub fn attempt(attempt: &'a AttemptView) -> Self {
        Self::Attempt(FailedAttempt {
            v: VERSION,
            event: attempt.event.0,
            source: Cow::Borrowed(attempt.source.as_str()),
            id: Cow::Borrowed(&attempt.id),
            attempt: Attempt::new(attempt),
        })
    }
}
