//! Decisions, pruning and erasure.

use std::borrow::Cow;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::Source;
use cola_ia_core::store::{self, DecisionKind, DecisionView, Pruned, Resolved, RevisionView};
use serde::{Deserialize, Serialize};

use crate::VERSION;

/// A content of an event that a newer revision has replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision<'a> {
    /// 1 is the content that entered.
    pub number: u32,
    /// SHA-256 of the content.
    pub fingerprint: String,
    /// The content; `null` once pruned or erased.
    #[serde(borrow)]
    pub text: Option<Cow<'a, str>>,
    /// When it entered or was accepted.
    pub accepted_at: String,
    /// The number of the conflict that it was; `null` for the content that entered.
    pub conflict: Option<u32>,
}

impl<'a> Revision<'a> {
    pub(crate) fn new(revision: &'a RevisionView) -> Self {
        Self {
            number: revision.number,
            fingerprint: revision.fingerprint.to_string(),
            text: revision.text.as_deref().map(Cow::Borrowed),
            accepted_at: revision.accepted_at.to_rfc3339(),
            conflict: revision.conflict,
        }
    }
}

/// Repeated deliveries that were pruned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrunedDeliveries {
    /// So many.
    pub count: u64,
    /// When the first of them came.
    pub first_at: String,
    /// When the last of them came.
    pub last_at: String,
}

/// A decision about a conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision<'a> {
    /// `keep`, `accept` or `as`.
    #[serde(borrow)]
    pub decision: Cow<'a, str>,
    /// When it was made.
    pub decided_at: String,
    /// Why, in a person's words.
    #[serde(borrow)]
    pub note: Option<Cow<'a, str>>,
    /// The number of the event that the content became; only for `as`.
    pub entered: Option<i64>,
}

impl<'a> Decision<'a> {
    pub(crate) fn new(decision: &'a DecisionView) -> Self {
        Self {
            decision: Cow::Borrowed(decision.kind.as_str()),
            decided_at: decision.decided_at.to_rfc3339(),
            note: decision.note.as_deref().map(Cow::Borrowed),
            entered: decision.entered.map(|event| event.0),
        }
    }
}

/// What `resolve` did: its one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution<'a> {
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
    /// `keep`, `accept` or `as`.
    #[serde(borrow)]
    pub decision: Cow<'a, str>,
    /// The numbers of the conflicts that were decided.
    pub conflicts: Vec<u32>,
    /// When.
    pub decided_at: String,
    /// The event's newest revision now.
    pub revision: u32,
    /// The state of the event's job now.
    #[serde(borrow)]
    pub state: Cow<'a, str>,
    /// The job's run now.
    pub run: u32,
    /// Whether this gave it a new run.
    pub rerun: bool,
    /// What the gate said to the content under its new id; only for `as`.
    #[serde(borrow)]
    pub entered: Option<Entry<'a>>,
}

/// What the gate said to a content under another id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry<'a> {
    /// `new`, or `duplicate` where the id is known and has this content.
    #[serde(borrow)]
    pub verdict: Cow<'a, str>,
    /// The other id.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// The number of its event.
    pub event: i64,
}

impl<'a> Resolution<'a> {
    /// The line for an answer about the event of this number and identity.
    pub fn new(
        event: i64,
        source: &'a Source,
        id: &'a str,
        decision: &'a store::Decision,
        resolved: &Resolved,
    ) -> Self {
        let other = if let store::Decision::As(other) = decision { other.as_str() } else { "" };
        Self {
            v: VERSION,
            event,
            source: Cow::Borrowed(source.as_str()),
            id: Cow::Borrowed(id),
            decision: Cow::Borrowed(DecisionKind::as_str(decision.kind())),
            conflicts: resolved.conflicts.clone(),
            decided_at: resolved.decided_at.to_rfc3339(),
            revision: resolved.revision,
            state: Cow::Borrowed(resolved.state.as_str()),
            run: resolved.run,
            rerun: resolved.rerun,
            entered: resolved.entered.map(|(verdict, event)| Entry {
                verdict: Cow::Borrowed(verdict.as_str()),
                id: Cow::Borrowed(other),
                event: event.0,
            }),
        }
    }
}

/// What `prune` did, or would: its one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pruning {
    /// [`VERSION`].
    pub v: u32,
    /// Nothing was removed.
    pub dry_run: bool,
    /// Whether it went to the end, and was not interrupted.
    pub finished: bool,
    /// Events whose texts and history went.
    pub events: u64,
    /// Repeated deliveries that went; they stay counted.
    pub deliveries: u64,
    /// Records of calls that went.
    pub ops: u64,
    /// Bytes of the store's files before and after `--shrink`; `null` without it.
    pub shrunk: Option<[u64; 2]>,
}

impl Pruning {
    /// The line for the sum of all steps.
    pub const fn new(pruned: &Pruned, dry_run: bool, shrunk: Option<[u64; 2]>) -> Self {
        Self {
            v: VERSION,
            dry_run,
            finished: pruned.next.is_none(),
            events: pruned.events,
            deliveries: pruned.deliveries,
            ops: pruned.ops,
            shrunk,
        }
    }
}

/// What `erase` did: its one line. The id is not in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erasure<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// The event's number.
    pub event: i64,
    /// The event's source.
    #[serde(borrow)]
    pub source: Cow<'a, str>,
    /// When its content went.
    pub erased_at: String,
    /// Whether its job had not finished and was cancelled.
    pub cancelled: bool,
    /// Whether no byte of it is left in the store's own files; `false` while somebody reads an older state.
    pub gone: bool,
}

impl<'a> Erasure<'a> {
    /// The line for an answer about an event of this source.
    pub fn new(source: &'a Source, erased: &store::Erased) -> Self {
        Self {
            v: VERSION,
            event: erased.event.0,
            source: Cow::Borrowed(source.as_str()),
            erased_at: Timestamp::to_rfc3339(erased.erased_at),
            cancelled: erased.cancelled,
            gone: erased.gone,
        }
    }
}
