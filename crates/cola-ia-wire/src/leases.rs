//! What workers and people say of jobs, and what errors have in common.

use std::borrow::Cow;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{EventType, Source};
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::LeaseToken;
use cola_ia_core::store::{EndRefused, Ended, LeaseLost, Leased, OrderRefused};
use serde::{Deserialize, Serialize};

use crate::VERSION;
use crate::effects::Effect;

/// A job in the hands of a worker: a line of `claim --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// The lease: 36 hexadecimal digits, to be sent with everything that is said of the job.
    pub lease: String,
    /// Until when it lasts, unless it is extended.
    pub lease_until: String,
    /// The attempt's number within the run, from 1.
    pub attempt: u32,
    /// The event's number; the job has the same.
    pub event: i64,
    /// The run, from 1.
    pub run: u32,
    /// The event's source.
    #[serde(borrow)]
    pub source: Cow<'a, str>,
    /// The event's id.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// What kind of event the sender says it is.
    #[serde(borrow)]
    pub r#type: Option<Cow<'a, str>>,
    /// When the event happened at the provider, as the provider says.
    pub time: Option<String>,
    /// When the event entered.
    pub received_at: String,
    /// The text to work on.
    #[serde(borrow)]
    pub text: Cow<'a, str>,
    /// The job's effects so far.
    #[serde(borrow)]
    pub effects: Vec<Effect<'a>>,
}

impl<'a> Lease<'a> {
    /// The line for a job that was leased.
    pub fn new(leased: &'a Leased) -> Self {
        let job = &leased.job;
        Self {
            v: VERSION,
            lease: leased.token.to_string(),
            lease_until: leased.until.to_rfc3339(),
            attempt: leased.attempt,
            event: job.event.0,
            run: job.run,
            source: Cow::Borrowed(job.source.as_str()),
            id: Cow::Borrowed(&job.id),
            r#type: job.event_type.as_ref().map(EventType::as_str).map(Cow::Borrowed),
            time: job.time.map(Timestamp::to_rfc3339),
            received_at: job.received_at.to_rfc3339(),
            text: Cow::Borrowed(&leased.text),
            effects: leased.effects.iter().map(Effect::new).collect(),
        }
    }
}

/// The answer to what was said of a lease: a line of `extend`, `complete`, `fail` and `release` with `--json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseAnswer<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// What was said: `extend`, `complete`, `fail` or `release`.
    #[serde(borrow)]
    pub verb: Cow<'a, str>,
    /// The lease.
    pub lease: String,
    /// `ok`; `lease_lost` or `effects_unresolved`: nothing was changed.
    #[serde(borrow)]
    pub result: Cow<'a, str>,
    /// The newest attempt of the job, where the lease is lost to another one.
    pub superseded_by: Option<u32>,
    /// Until when the lease lasts now; only for `extend`.
    pub lease_until: Option<String>,
    /// The job's state from then on; not for `extend`, and `null` inside of a job, whose worker records it when the command has
    /// ended.
    #[serde(borrow)]
    pub state: Option<Cow<'a, str>>,
    /// When the job is due again, where it is.
    pub due_at: Option<String>,
    /// The effects whose outcome is open, for which the job cannot be completed; else empty.
    #[serde(default)]
    pub unresolved: Vec<String>,
}

impl<'a> LeaseAnswer<'a> {
    /// The answer to `extend`.
    pub fn extended(lease: LeaseToken, answer: &Result<Timestamp, LeaseLost>) -> Self {
        let until = answer.as_ref().ok().copied().map(Timestamp::to_rfc3339);
        Self { lease_until: until, ..Self::of("extend", lease, answer.as_ref().err()) }
    }

    /// The answer to a verb that ends a lease; without [`Ended`] where a worker keeps it until its command has ended.
    pub fn ended(verb: &'a str, lease: LeaseToken, answer: &Result<Option<Ended>, EndRefused>) -> Self {
        let ended = answer.as_ref().ok().copied().flatten();
        let unresolved = match answer {
            Err(EndRefused::Unresolved(names)) => names.iter().map(|name| name.as_str().to_owned()).collect(),
            _ => Vec::new(),
        };
        let lost = match answer {
            Err(EndRefused::LeaseLost(lost)) => Some(lost),
            _ => None,
        };
        let of = Self::of(verb, lease, lost);
        Self {
            state: ended.map(|ended| Cow::Borrowed(ended.state.as_str())),
            due_at: ended.and_then(|ended| ended.due_at).map(Timestamp::to_rfc3339),
            result: if unresolved.is_empty() { of.result } else { Cow::Borrowed("effects_unresolved") },
            unresolved,
            ..of
        }
    }

    fn of(verb: &'a str, lease: LeaseToken, lost: Option<&LeaseLost>) -> Self {
        Self {
            v: VERSION,
            verb: Cow::Borrowed(verb),
            lease: lease.to_string(),
            result: Cow::Borrowed(if lost.is_some() { "lease_lost" } else { "ok" }),
            superseded_by: lost.and_then(|lost| lost.superseded_by),
            lease_until: None,
            state: None,
            due_at: None,
            unresolved: Vec::new(),
        }
    }
}

/// What became of a job by an order: a line of `recover`, `cancel`, `retry` and `replay` with `--json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderAnswer<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// `recover`, `cancel`, `retry` or `replay`.
    #[serde(borrow)]
    pub order: Cow<'a, str>,
    /// Nothing was changed: this is what would become of it.
    pub dry_run: bool,
    /// The event's number; the job has the same.
    pub event: i64,
    /// The event's source.
    #[serde(borrow)]
    pub source: Cow<'a, str>,
    /// The event's id.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// Why it was not done: `missing`, `state`, `content_gone`, `effects_open` or `effect_abandoned`; `null` where it was.
    #[serde(borrow)]
    pub refused: Option<Cow<'a, str>>,
    /// The job's state from then on; `null` where it is not known.
    #[serde(borrow)]
    pub state: Option<Cow<'a, str>>,
    /// When the job is due, where it is.
    pub due_at: Option<String>,
}

impl<'a> OrderAnswer<'a> {
    /// The line for what an order did, or would do, with a job.
    pub fn new(
        order: &'a str,
        dry_run: bool,
        (event, source, id): (EventNumber, &'a Source, &'a str),
        answer: &Result<Ended, OrderRefused>,
    ) -> Self {
        let (refused, state) = match answer {
            Ok(ended) => (None, Some(ended.state)),
            Err(OrderRefused::Missing) => (Some("missing"), None),
            Err(OrderRefused::State(state)) => (Some("state"), Some(*state)),
            Err(OrderRefused::ContentGone) => (Some("content_gone"), None),
            Err(OrderRefused::EffectsOpen) => (Some("effects_open"), None),
            Err(OrderRefused::EffectAbandoned) => (Some("effect_abandoned"), None),
        };
        Self {
            v: VERSION,
            order: Cow::Borrowed(order),
            dry_run,
            event: event.0,
            source: Cow::Borrowed(source.as_str()),
            id: Cow::Borrowed(id),
            refused: refused.map(Cow::Borrowed),
            state: state.map(|state| Cow::Borrowed(state.as_str())),
            due_at: answer.as_ref().ok().and_then(|ended| ended.due_at).map(Timestamp::to_rfc3339),
        }
    }
}

/// What became of a source's pause: the line of `resume --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// The source.
    #[serde(borrow)]
    pub source: Cow<'a, str>,
    /// Whether it was paused until now.
    pub resumed: bool,
}

/// Errors that differ in numbers and ids only: a line of `errors --group --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorGroup<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// `intake`: something was refused; `attempt`: an attempt of a job went wrong.
    #[serde(borrow)]
    pub kind: Cow<'a, str>,
    /// What they have in common, as 16 hexadecimal digits: the same today and tomorrow.
    #[serde(borrow)]
    pub fingerprint: Cow<'a, str>,
    /// How many they are.
    pub count: u64,
    /// When the first of them was.
    pub first_at: String,
    /// When the last of them was.
    pub last_at: String,
    /// How the attempts ended: `error`, `crashed`, `timed_out` or `lease_lost`; `null` for `intake`.
    #[serde(borrow)]
    pub outcome: Option<Cow<'a, str>>,
    /// The code of the refusal, or the class of the error.
    #[serde(borrow)]
    pub class: Option<Cow<'a, str>>,
    /// The exit code of the attempts.
    pub exit_code: Option<i64>,
    /// The signal that ended the attempts.
    pub signal: Option<i64>,
    /// The error with numbers and ids as `#`; only its beginning where it is long.
    #[serde(borrow)]
    pub shape: Option<Cow<'a, str>>,
    /// The last of them.
    #[serde(borrow)]
    pub example: ErrorExample<'a>,
}

/// One of the errors of an [`ErrorGroup`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorExample<'a> {
    /// The job's event; `null` for `intake`.
    pub event: Option<i64>,
    /// The source; `null` where a refused delivery named none.
    #[serde(borrow)]
    pub source: Option<Cow<'a, str>>,
    /// The event's id; `null` for `intake`.
    #[serde(borrow)]
    pub id: Option<Cow<'a, str>>,
    /// The job's run; `null` for `intake`.
    pub run: Option<u32>,
    /// The attempt's number within the run; `null` for `intake`.
    pub attempt: Option<u32>,
    /// What was said of it.
    #[serde(borrow)]
    pub error: Option<Cow<'a, str>>,
    /// Where it was read; `null` for `attempt`.
    #[serde(borrow)]
    pub origin: Option<Cow<'a, str>>,
}
