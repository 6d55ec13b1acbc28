//! What a store promises: verbs, each one atomic transaction, batch-first.
//!
//! - No transaction, lock or row leaks out of a verb. An answer is given only after the commit that makes it true is durable.
//! - Each mutating call carries an [`OpId`] that its caller made and that is recorded in its transaction. Calling again with
//!   the same one changes nothing and gives the first answer, which settles a commit whose acknowledgement was lost.
//! - Views read one consistent state each and hold nothing between calls.
//!
//! The same conformance cases run on every implementation (`cola-ia-testkit`).

mod leases;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::clock::{Clock, Entropy, Timestamp};
use crate::event::{EventType, Fingerprint, Source};
use crate::intake::{DeliveryNumber, EventNumber, Intake};
use crate::job::{JobState, LeaseToken, RetryPolicy};
use crate::verdict::Verdict;

pub use leases::{
    Claim, ClaimRequest, ERROR_CLASS_MAX_BYTES, ERROR_MAX_BYTES, End, Ended, LEASES_MAX, LeaseLost, Leased,
    OUTPUT_MAX_BYTES, Order, OrderRefused, RESOURCE_ID_MAX_BYTES, RESULT_MAX_BYTES, Recovered, Report,
    WORKER_NAME_MAX_BYTES, fitting, last_bytes,
};

/// The caller's name for one mutating call: 16 bytes, of which the first six are the time in milliseconds, so that a store
/// appends them in order, and the rest is random.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub [u8; 16]);

impl OpId {
    /// A name that nobody has used.
    pub fn new(clock: &dyn Clock, entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; 16];
        entropy.fill(&mut bytes);
        let millis = clock.now().as_micros().div_euclid(1_000);
        bytes[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
        Self(bytes)
    }
}

/// The answer to [`Store::accept`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// When the store received the batch, by the store's clock.
    pub received_at: Timestamp,
    /// One receipt for each member of the batch, in its order.
    pub receipts: Vec<Receipt>,
}

/// The gate's answer to one delivery or refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    /// The delivery's number.
    pub number: DeliveryNumber,
    /// What the gate says.
    pub verdict: Verdict,
    /// The event with this identity; `None` for [`Verdict::Invalid`].
    pub event: Option<EventNumber>,
    /// The conflict's number within its event, from 1; only for [`Verdict::Conflict`].
    pub conflict: Option<u32>,
}

/// What [`Store::accept`] would answer, as far as the store's present events decide it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preview {
    /// The store does not know this identity.
    Unknown,
    /// The store knows it, or refuses it: this is the verdict.
    Known(Verdict),
}

/// Which jobs [`Store::jobs`] lists. Empty: all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// Only of this source.
    pub source: Option<Source>,
    /// Only in one of these states; empty: in any.
    pub states: Vec<JobState>,
}

/// One page of a list, highest number first. What is committed while pages are read may be missed or not: a page is a look,
/// not a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// Start below this number, the `next` of the page before; `None`: at the newest.
    pub below: Option<EventNumber>,
    /// At most so many, 1 to 1,000.
    pub limit: u32,
}

/// A page of jobs, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobPage {
    /// The jobs.
    pub jobs: Vec<JobSummary>,
    /// Where the next page starts; `None` where nothing is left.
    pub next: Option<EventNumber>,
}

/// A job and the identity of its event, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobSummary {
    /// The event's number; the job has the same.
    pub event: EventNumber,
    /// The event's source.
    pub source: Source,
    /// The event's id. A plain string: a store that took over an older file may hold ids that no longer would enter.
    pub id: String,
    /// The event's type.
    pub event_type: Option<EventType>,
    /// Where the job stands.
    pub state: JobState,
    /// Why the job is held or failed, a stable code; empty where it needs no reason.
    pub reason: String,
    /// The run, from 1.
    pub run: u32,
    /// Attempts of this run so far.
    pub attempts: u32,
    /// The resource that the job made.
    pub resource_id: Option<String>,
    /// When the event happened at the provider.
    pub time: Option<Timestamp>,
    /// When the event entered.
    pub received_at: Timestamp,
    /// When a pending job may be claimed.
    pub due_at: Option<Timestamp>,
}

/// One event with all that happened to its identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventHistory {
    /// The job and the identity.
    pub job: JobSummary,
    /// The content; `None` once pruned or erased.
    pub text: Option<String>,
    /// SHA-256 of the content that entered.
    pub fingerprint: Fingerprint,
    /// How often the same content was delivered again.
    pub duplicates: u64,
    /// The other contents that came under this identity, by number; at most [`HISTORY_MAX`].
    pub conflicts: Vec<ConflictView>,
    /// The latest deliveries after the first, newest first; at most [`HISTORY_MAX`].
    pub deliveries: Vec<DeliveryView>,
}

/// Most conflicts and most deliveries in one [`EventHistory`].
pub const HISTORY_MAX: usize = 100;

/// Another content under a known identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictView {
    /// From 1 within the event.
    pub number: u32,
    /// SHA-256 of the other content.
    pub fingerprint: Fingerprint,
    /// The other content; `None` once pruned or erased.
    pub text: Option<String>,
    /// How often it came.
    pub count: u64,
    /// When it came first.
    pub first_at: Timestamp,
    /// When it came last.
    pub last_at: Timestamp,
}

/// One delivery that did not make its event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryView {
    /// Its number.
    pub number: DeliveryNumber,
    /// What the gate said.
    pub verdict: Verdict,
    /// When the store received it.
    pub received_at: Timestamp,
    /// When it happened at the provider, as this delivery says.
    pub time: Option<Timestamp>,
    /// The conflict it belongs to.
    pub conflict: Option<u32>,
    /// Where it was read, for a conflict.
    pub origin: Option<String>,
}

/// The verbs.
#[async_trait]
pub trait Store: Send + Sync {
    /// Lets each event of the batch in once.
    ///
    /// The batch is one transaction: all of it is recorded, or nothing. Members are judged in their order: where an identity
    /// stands twice in a batch, the first is the event. A new event and its job are born together. Every member is recorded,
    /// duplicates and refusals too. The batch may be empty and must not be longer than
    /// [`BATCH_MAX_EVENTS`](crate::limits::BATCH_MAX_EVENTS).
    ///
    /// The batch is shared, not given away, so that its caller can repeat the call with the same `op`.
    ///
    /// # Errors
    /// `Unavailable` where it could not be stored (nothing of it is); `Conflict` (`op_reused`) where `op` was used for another
    /// verb or another batch; `Invalid` (`batch_too_long`), which leaves the op unused.
    async fn accept(&self, op: OpId, batch: Arc<Vec<Intake>>) -> Result<Accepted, StoreError>;

    /// What [`accept`](Self::accept) would say to each member of the batch against the events that the store holds now.
    /// Members of the batch are not compared with each other. Nothing is recorded.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn preview(&self, batch: Arc<Vec<Intake>>) -> Result<Vec<Preview>, StoreError>;

    /// The events with this id, byte for byte: of one source, or of every source, sorted by the bytes of its name. Any string
    /// can be asked for; one that cannot be an id is not found.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn find_events(&self, source: Option<Source>, id: String) -> Result<Vec<EventHistory>, StoreError>;

    /// One page of jobs, highest number first. A limit outside of 1 to 1,000 is taken as the nearer of the two.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn jobs(&self, filter: JobFilter, page: PageRequest) -> Result<JobPage, StoreError>;

    /// Leases jobs that are due, the oldest due first. Each becomes `running`, and its attempt is counted and recorded, in the
    /// transaction that leases it.
    ///
    /// The tokens are made of `op`, which must therefore be hard to guess; the same `op` again gives the leases that it gave
    /// before, as they are now, without those that have ended.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn claim(&self, op: OpId, request: ClaimRequest) -> Result<Claim, StoreError>;

    /// Makes leases last `length` from now on, and answers when each ends. A lease is never shortened. Saying it twice is
    /// saying it once, so it needs no op.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`; `Invalid` (`too_many_leases`).
    async fn extend(
        &self,
        leases: Vec<LeaseToken>,
        length: Duration,
    ) -> Result<Vec<Result<Timestamp, LeaseLost>>, StoreError>;

    /// Ends leases: completed, failed, put off, given back. Each is answered for itself. What an attempt said before, said
    /// again, gets the same answer again; anything else from a lease that has ended changes nothing but is recorded with its
    /// attempt, as late.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`; `Invalid` (`too_many_leases`).
    async fn end(&self, ends: Arc<Vec<End>>, policy: RetryPolicy) -> Result<Vec<Result<Ended, LeaseLost>>, StoreError>;

    /// Ends leases that have run out, at most `limit` of them (1 to 1,000), the longest first: their workers are lost.
    /// `dry_run` tells and changes nothing. Whoever calls it twice recovers what ran out meanwhile, so it needs no op.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn recover(&self, policy: RetryPolicy, limit: u32, dry_run: bool) -> Result<Recovered, StoreError>;

    /// Does with each job what a person orders, or says why not.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`; `Conflict` (`op_reused`); `Invalid` (`too_many_jobs`).
    async fn order(
        &self,
        op: OpId,
        order: Order,
        jobs: Vec<EventNumber>,
    ) -> Result<Vec<Result<Ended, OrderRefused>>, StoreError>;
}

/// What a caller can do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The call is wrong and will stay wrong.
    Invalid,
    /// It contradicts what is recorded.
    Conflict,
    /// The lease is no longer the caller's.
    LeaseLost,
    /// It could not be done now, or, where a commit itself failed, it is not known whether it was done. Trying again with the
    /// same [`OpId`] is safe and tells.
    Unavailable,
    /// What is stored cannot be trusted or is not a store of ours; nothing was changed.
    Corrupt,
}

/// Why a store could not do what it was asked.
///
/// It carries no prose: the code is stable and explained in `docs/ERRORS.md`, and who talks to people says it in their
/// language with the facts.
#[derive(Debug)]
pub struct StoreError {
    /// What to do about it.
    pub kind: ErrorKind,
    /// What happened, stable.
    pub code: &'static str,
    /// With which values, by name.
    pub facts: Vec<(&'static str, String)>,
}

impl StoreError {
    /// An error without facts.
    pub const fn new(kind: ErrorKind, code: &'static str) -> Self {
        Self { kind, code, facts: Vec::new() }
    }

    /// With one more fact.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.facts.push((name, value.to_string()));
        self
    }

    /// The fact of this name.
    pub fn fact(&self, name: &str) -> Option<&str> {
        self.facts.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

/// For logs: the code and its facts. People get the sentence of the catalogue.
impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code)?;
        self.facts.iter().try_for_each(|(name, value)| write!(f, " {name}={value:?}"))
    }
}

impl std::error::Error for StoreError {}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed;
    impl Clock for Fixed {
        fn now(&self) -> Timestamp {
            Timestamp::from_micros(0x0102_0304_0506 * 1_000 + 999)
        }
    }
    impl Entropy for Fixed {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(0xee);
        }
    }

    #[test]
    fn an_op_id_starts_with_its_millisecond() {
        let OpId(bytes) = OpId::new(&Fixed, &Fixed);
        assert_eq!(bytes[..6], [1, 2, 3, 4, 5, 6]);
        assert_eq!(bytes[6..], [0xee; 10]);
    }
}
