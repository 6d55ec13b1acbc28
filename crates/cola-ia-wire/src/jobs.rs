//! Jobs and their events.

use std::borrow::Cow;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::EventType;
use cola_ia_core::store::{ConflictView, DeliveryView, EventHistory, JobSummary};
use serde::{Deserialize, Serialize};

use crate::VERSION;
use crate::effects::Effect;
use crate::lists::{Attempt, late_ms};
use crate::retention::{Decision, PrunedDeliveries, Revision};

/// A job and the identity of its event: a line of `jobs --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// The event's number; the job has the same. Lists are ordered by it, newest first, and `--after` takes it.
    pub event: i64,
    /// The event's source.
    #[serde(borrow)]
    pub source: Cow<'a, str>,
    /// The event's id; once the event is erased, a hash of it in hex.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// When a person had the event erased.
    pub erased_at: Option<String>,
    /// What kind of event the sender says it is.
    #[serde(borrow)]
    pub r#type: Option<Cow<'a, str>>,
    /// `pending`, `running`, `done`, `failed`, `held` or `cancelled`.
    #[serde(borrow)]
    pub state: Cow<'a, str>,
    /// Why the job is held, failed or cancelled, a stable code.
    #[serde(borrow)]
    pub reason: Option<Cow<'a, str>>,
    /// The run, from 1.
    pub run: u32,
    /// Attempts of this run so far.
    pub attempts: u32,
    /// The resource that the job made.
    #[serde(borrow)]
    pub resource_id: Option<Cow<'a, str>>,
    /// When the event happened at the provider, as the provider says.
    pub time: Option<String>,
    /// When the event entered.
    pub received_at: String,
    /// When a pending job may be claimed.
    pub due_at: Option<String>,
    /// While the job is running: when its lease ends, unless it is extended.
    pub lease_until: Option<String>,
    /// Whether it runs on a lease that ran out: its worker is lost, and the job will be taken up again.
    pub expired: bool,
}

impl<'a> Job<'a> {
    /// The line for a job as it stands `now`.
    pub fn new(job: &'a JobSummary, now: Timestamp) -> Self {
        Self {
            v: VERSION,
            event: job.event.0,
            source: Cow::Borrowed(job.source.as_str()),
            id: Cow::Borrowed(&job.id),
            erased_at: job.erased_at.map(Timestamp::to_rfc3339),
            r#type: job.event_type.as_ref().map(EventType::as_str).map(Cow::Borrowed),
            state: Cow::Borrowed(job.state.as_str()),
            reason: (!job.reason.is_empty()).then_some(Cow::Borrowed(&job.reason)),
            run: job.run,
            attempts: job.attempts,
            resource_id: job.resource_id.as_deref().map(Cow::Borrowed),
            time: job.time.map(Timestamp::to_rfc3339),
            received_at: job.received_at.to_rfc3339(),
            due_at: job.due_at.map(Timestamp::to_rfc3339),
            lease_until: job.lease_until.map(Timestamp::to_rfc3339),
            expired: job.is_expired(now),
        }
    }
}

/// An event with all that happened to its identity: a line of `show --json`. It has the fields of [`Job`] and these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event<'a> {
    /// The job and the identity.
    #[serde(flatten, borrow)]
    pub job: Job<'a>,
    /// The content that workers get: what entered, or what was accepted last; `null` once pruned or erased.
    #[serde(borrow)]
    pub text: Option<Cow<'a, str>>,
    /// SHA-256 of that content.
    pub fingerprint: String,
    /// How long after the provider's time it was received, in milliseconds.
    pub late_ms: Option<i64>,
    /// When the job changed last; `null` while it is as it was born.
    pub changed_at: Option<String>,
    /// While the job is running: who holds its lease.
    #[serde(borrow)]
    pub worker: Option<Cow<'a, str>>,
    /// What the job gave, JSON as text; `null` where it gave nothing, and once pruned or erased.
    #[serde(borrow)]
    pub result: Option<Cow<'a, str>>,
    /// Its number: 1 is what entered, and each accepted content is one more.
    pub revision: u32,
    /// The contents before it, by number; at most 100.
    #[serde(borrow)]
    pub revisions: Vec<Revision<'a>>,
    /// How often an accepted content was delivered again, pruned deliveries included.
    pub duplicates: u64,
    /// Those of them that were pruned.
    pub pruned: Option<PrunedDeliveries>,
    /// The other contents that came under this identity, by number; at most 100.
    #[serde(borrow)]
    pub conflicts: Vec<Conflict<'a>>,
    /// The latest deliveries after the first, newest first; at most 100.
    #[serde(borrow)]
    pub deliveries: Vec<Delivery<'a>>,
    /// The latest attempts of the job, newest first; at most 100.
    #[serde(borrow)]
    pub attempt_log: Vec<Attempt<'a>>,
    /// The latest effects of the job, newest first; at most 100.
    #[serde(borrow)]
    pub effects: Vec<Effect<'a>>,
}

impl<'a> Event<'a> {
    /// The line for an event as it stands `now`.
    pub fn new(history: &'a EventHistory, now: Timestamp) -> Self {
        Self {
            job: Job::new(&history.job, now),
            text: history.text.as_deref().map(Cow::Borrowed),
            fingerprint: history.fingerprint.to_string(),
            late_ms: late_ms(history.job.received_at, history.job.time),
            changed_at: history.changed_at.map(Timestamp::to_rfc3339),
            worker: history.worker.as_deref().map(Cow::Borrowed),
            result: history.result.as_deref().map(Cow::Borrowed),
            revision: history.revision,
            revisions: history.revisions.iter().map(Revision::new).collect(),
            duplicates: history.duplicates,
            pruned: history.pruned.map(|pruned| PrunedDeliveries {
                count: pruned.count,
                first_at: pruned.first_at.to_rfc3339(),
                last_at: pruned.last_at.to_rfc3339(),
            }),
            conflicts: history.conflicts.iter().map(Conflict::new).collect(),
            deliveries: history.deliveries.iter().map(Delivery::new).collect(),
            attempt_log: history.attempts.iter().map(Attempt::new).collect(),
            effects: history.effects.iter().map(Effect::new).collect(),
        }
    }
}

/// Another content under a known identity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict<'a> {
    /// From 1 within the event.
    pub number: u32,
    /// SHA-256 of the other content.
    pub fingerprint: String,
    /// The other content; `null` once pruned or erased.
    #[serde(borrow)]
    pub text: Option<Cow<'a, str>>,
    /// How often it came.
    pub count: u64,
    /// When it came first.
    pub first_at: String,
    /// When it came last.
    pub last_at: String,
    /// What was decided about it, oldest first; empty: nothing yet.
    #[serde(borrow)]
    pub decisions: Vec<Decision<'a>>,
}

impl<'a> Conflict<'a> {
    fn new(conflict: &'a ConflictView) -> Self {
        Self {
            number: conflict.number,
            fingerprint: conflict.fingerprint.to_string(),
            text: conflict.text.as_deref().map(Cow::Borrowed),
            count: conflict.count,
            first_at: conflict.first_at.to_rfc3339(),
            last_at: conflict.last_at.to_rfc3339(),
            decisions: conflict.decisions.iter().map(Decision::new).collect(),
        }
    }
}

/// One delivery that did not make its event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery<'a> {
    /// Its number.
    pub number: i64,
    /// `duplicate` or `conflict`.
    #[serde(borrow)]
    pub verdict: Cow<'a, str>,
    /// When it was received.
    pub received_at: String,
    /// When it happened at the provider, as this delivery says.
    pub time: Option<String>,
    /// How long after that it was received, in milliseconds.
    pub late_ms: Option<i64>,
    /// The number of the conflict that it belongs to.
    pub conflict: Option<u32>,
    /// Where it was read; only kept for a conflict.
    #[serde(borrow)]
    pub origin: Option<Cow<'a, str>>,
    /// Why a duplicate is one where its id does not tell: `replayed_body`, the same signed bytes came before under another id.
    #[serde(borrow, default)]
    pub reason: Option<Cow<'a, str>>,
}

impl<'a> Delivery<'a> {
    fn new(delivery: &'a DeliveryView) -> Self {
        Self {
            number: delivery.number.0,
            verdict: Cow::Borrowed(delivery.verdict.as_str()),
            received_at: delivery.received_at.to_rfc3339(),
            time: delivery.time.map(Timestamp::to_rfc3339),
            late_ms: late_ms(delivery.received_at, delivery.time),
            conflict: delivery.conflict,
            origin: delivery.origin.as_deref().map(Cow::Borrowed),
            reason: delivery.replayed.then_some(Cow::Borrowed("replayed_body")),
        }
    }
}
