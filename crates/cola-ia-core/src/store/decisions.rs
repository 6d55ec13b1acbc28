//! What a person says about the other contents under an identity.

use crate::clock::Timestamp;
use crate::event::Fingerprint;
use crate::intake::EventNumber;

/// The three decisions, as words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DecisionKind {
    /// Its content stays a conflict: it is counted each time that it comes, and is no alarm any more.
    Keep,
    /// Its content becomes a revision of the event: from then on it is a duplicate, and workers get it.
    Accept,
    /// Its content entered as an event of its own.
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

/// A content of an event that a person accepted, besides the one that entered.
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
