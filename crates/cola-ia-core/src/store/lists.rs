//! Lists of what happened: deliveries, conflicts, failed attempts; and how they are paged and followed.

use crate::clock::Timestamp;
use crate::event::{EventType, Fingerprint, Source};
use crate::intake::{DeliveryNumber, EventNumber, RefusalCode};
use crate::verdict::Verdict;

use super::DecisionView;

/// A place in a list, made by the store that gives the list and read by no one else. It is short, of visible ASCII characters
/// without spaces, and can be kept: a later program of the same store reads it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cursor(pub String);

/// Which page of a list, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListRequest {
    /// Start behind this place, the `next` of the page before; `None`: at the newest.
    pub after: Option<Cursor>,
    /// At most so many; one outside of 1 to 1,000 is taken as the nearer of the two.
    pub limit: u32,
}

/// A page of a list. What is recorded while pages are read may be missed or not, and nothing stands twice.
///
/// A call looks at a bounded number of rows: where the filter lets little through, a page may come short, even empty, and
/// with a `next`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The items, newest first.
    pub items: Vec<T>,
    /// Where the next page starts; `None` where nothing is left.
    pub next: Option<Cursor>,
}

/// One handing-over of an event, as a line of a list: what entered, what was repeated, in conflict, or refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliverySummary {
    /// Its number.
    pub number: DeliveryNumber,
    /// What the gate said.
    pub verdict: Verdict,
    /// When the store received it.
    pub received_at: Timestamp,
    /// Its event: made by it or known before; `None` for a refused one.
    pub event: Option<EventNumber>,
    /// Who sent it; `None` for a refused one that named nobody.
    pub source: Option<Source>,
    /// The event's id; `None` for a refused one.
    pub id: Option<String>,
    /// The type, as this delivery says.
    pub event_type: Option<EventType>,
    /// When it happened at the provider, as this delivery says.
    pub time: Option<Timestamp>,
    /// The conflict that it belongs to.
    pub conflict: Option<u32>,
    /// Why it was refused.
    pub code: Option<RefusalCode>,
    /// What the refusal is about.
    pub detail: Option<String>,
    /// Where it was read, for a conflict or a refused one.
    pub origin: Option<String>,
    /// How many it stands for: 1, or more for refused ones that are only counted.
    pub count: u64,
    /// A duplicate by its signed bytes: they came before under another id.
    pub replayed: bool,
}

/// Another content under a known identity, as a line of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictSummary {
    /// The event.
    pub event: EventNumber,
    /// Its source.
    pub source: Source,
    /// Its id.
    pub id: String,
    /// The conflict's number within its event, from 1.
    pub number: u32,
    /// SHA-256 of the other content.
    pub fingerprint: Fingerprint,
    /// The type, as the first delivery of this content says.
    pub event_type: Option<EventType>,
    /// When it happened at the provider, as the first delivery of this content says.
    pub time: Option<Timestamp>,
    /// How often it came.
    pub count: u64,
    /// When it came first. The list is ordered by it.
    pub first_at: Timestamp,
    /// When it came last.
    pub last_at: Timestamp,
    /// What a person decided about it last.
    pub decision: Option<DecisionView>,
    /// Both contents, where they were asked for.
    pub texts: Option<BothTexts>,
}

/// The content that a conflict is compared with, and its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BothTexts {
    /// The event's; `None` once pruned or erased.
    pub event: Option<String>,
    /// The conflict's; `None` once pruned or erased.
    pub conflict: Option<String>,
}

/// Whether a list brings texts along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// It does not read them.
    Leave,
    /// It brings them. A page ends, with a `next`, once it holds [`TEXTS_MAX_BYTES`] of them.
    Bring,
}

/// Bytes of texts after which a page is full; one item more may be in it.
pub const TEXTS_MAX_BYTES: usize = 8 << 20;

/// How one lease of a job by one worker went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptView {
    /// Its number in the store.
    pub attempt: i64,
    /// The job's event.
    pub event: EventNumber,
    /// The event's source.
    pub source: Source,
    /// The event's id.
    pub id: String,
    /// The job's run.
    pub run: u32,
    /// Its number within the run, from 1.
    pub number: u32,
    /// Who held the lease.
    pub worker: String,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended; `None` while it goes on.
    pub ended_at: Option<Timestamp>,
    /// How it ended: `done`, `error`, `crashed`, `timed_out`, `released` or `lease_lost`.
    pub outcome: Option<String>,
    /// The command's exit code.
    pub exit_code: Option<i64>,
    /// The signal that ended the command.
    pub signal: Option<i64>,
    /// What kind of error it was, a stable code.
    pub error_class: Option<String>,
    /// What was said of the error.
    pub error: Option<String>,
    /// What it cost, in millionths of the currency's unit.
    pub cost_micros: Option<i64>,
    /// Tokens that went in.
    pub tokens_in: Option<i64>,
    /// Tokens that came out.
    pub tokens_out: Option<i64>,
    /// The model that was used.
    pub model: Option<String>,
    /// What the worker reported after it had lost its lease.
    pub late: Option<String>,
    /// The last part of what it wrote to stdout, bytes that are no UTF-8 replaced; only in a history.
    pub stdout: Option<String>,
    /// The last part of what it wrote to stderr, bytes that are no UTF-8 replaced; only in a history.
    pub stderr: Option<String>,
}

/// Where to follow from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FollowFrom {
    /// With the latest so many, at most 1,000.
    Latest(u32),
    /// Behind this place.
    After(Cursor),
}

/// What arrived, in the order in which it was committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// The deliveries, oldest first, at most [`FOLLOW_MAX`].
    pub items: Vec<DeliverySummary>,
    /// Where to go on.
    pub cursor: Cursor,
    /// Whether more is there already: ask again at once.
    pub more: bool,
    /// The store is behind the cursor: it was replaced by an older one. It is followed from its present end.
    pub rewound: bool,
}

/// Most deliveries in one [`Followed`].
pub const FOLLOW_MAX: usize = 1_000;
