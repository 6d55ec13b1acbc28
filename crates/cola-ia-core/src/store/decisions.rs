//! What a person says about the other contents under an identity.

use crate::clock::Timestamp;
use crate::event::{EventId, Fingerprint};
use crate::intake::EventNumber;
use crate::job::JobState;
use crate::verdict::Verdict;

/// What is to become of a conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Its content stays a conflict: it is counted each time that it comes, and is no alarm any more.
    Keep,
    /// Its content becomes a revision of the event: from then on it is a duplicate, and workers get it.
    Accept {
        /// Where the job is no longer pending, give it a new run: the next number, pending, no attempts. Else only a job
        /// that is pending is touched.
        run: bool,
    },
    /// Its content goes through the gate as an event of its own, of the same source, under this id.
    As(EventId),
}

impl Decision {
    /// The word for it.
    pub const fn kind(&self) -> DecisionKind {
        match self {
            Self::Keep => DecisionKind::Keep,
            Self::Accept { .. } => DecisionKind::Accept,
            Self::As(_) => DecisionKind::As,
        }
    }
}

/// The three decisions, as words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DecisionKind {
    /// See [`Decision::Keep`].
    Keep,
    /// See [`Decision::Accept`].
    Accept,
    /// See [`Decision::As`].
    As,
}

impl DecisionKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Keep, Self::Accept, Self::As];

    /// The word in JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Accept => "accept",
            Self::As => "as",
        }
    }

    /// The kind that [`as_str`](Self::as_str) gives this word for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// A call of [`Store::resolve`](super::Store::resolve).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolveRequest {
    /// The event.
    pub event: EventNumber,
    /// Which of its conflicts, by number, at most [`RESOLVE_MAX`], in the order in which they are decided. Empty: the one
    /// that is undecided, which must be exactly one.
    pub conflicts: Vec<u32>,
    /// What is to become of them. [`Decision::As`] is about one conflict.
    pub decision: Decision,
    /// Why, in a person's words; at most [`NOTE_MAX_BYTES`].
    pub note: Option<String>,
}

/// Most conflicts in one [`ResolveRequest`].
pub const RESOLVE_MAX: usize = 1_000;

/// Longest note, in bytes of UTF-8.
pub const NOTE_MAX_BYTES: usize = 4_096;

/// The answer to [`Store::resolve`](super::Store::resolve).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// When it was decided, by the store's clock.
    pub decided_at: Timestamp,
    /// The conflicts that were decided, in the order of the request.
    pub conflicts: Vec<u32>,
    /// The event's newest revision now; 1 is the content that entered.
    pub revision: u32,
    /// Where the event's job stands now.
    pub state: JobState,
    /// Its run now.
    pub run: u32,
    /// Whether this gave it a new run.
    pub rerun: bool,
    /// What the gate said to the content under its new id, [`Verdict::New`] or [`Verdict::Duplicate`], and the event there;
    /// only for [`Decision::As`].
    pub entered: Option<(Verdict, EventNumber)>,
}

/// A decision as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionView {
    /// What was decided.
    pub kind: DecisionKind,
    /// When.
    pub decided_at: Timestamp,
    /// Why, in a person's words.
    pub note: Option<String>,
    /// The event that the content became; only for [`DecisionKind::As`].
    pub entered: Option<EventNumber>,
}

/// A content of an event that a newer revision has replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionView {
    /// 1 is the content that entered; accepted ones follow.
    pub number: u32,
    /// SHA-256 of the content.
    pub fingerprint: Fingerprint,
    /// When it was accepted; when the event entered for revision 1.
    pub accepted_at: Timestamp,
    /// The conflict that it was; `None` for revision 1.
    pub conflict: Option<u32>,
    /// The content; `None` once pruned or erased.
    pub text: Option<String>,
}
