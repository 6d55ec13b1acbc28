//! What a store promises: verbs, each one atomic transaction, batch-first.
//!
//! - No transaction, lock or row leaks out of a verb. An answer is given only after the commit that makes it true is durable.
//! - Each mutating call carries an [`OpId`] that its caller made and that is recorded in its transaction. Calling again with
//!   the same one changes nothing and gives the first answer, which settles a commit whose acknowledgement was lost.
//! - Views read one consistent state each and hold nothing between calls.
//!
//! The same conformance cases run on every implementation (`cola-ia-testkit`).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::clock::{Clock, Entropy, Timestamp};
use crate::effect::{Begin, Evidence, Micros, ReportAnswer, SettleAnswer};
use crate::event::{EventType, Fingerprint, Source};
use crate::filter::Filter;
use crate::intake::{DeliveryNumber, EventNumber, Intake};
use crate::job::{JobState, LeaseToken, RetryPolicy};
use crate::verdict::Verdict;

mod decisions;
mod effects;
mod erase;
pub mod export;
mod leases;
mod lists;
mod prune;
mod restored;
mod stats;
mod tokens;

pub use decisions::{
    Decision, DecisionKind, DecisionView, NOTE_MAX_BYTES, RESOLVE_MAX, ResolveRequest, Resolved, RevisionView,
};
pub use effects::{
    BudgetView, CostLine, CostSums, Costs, CostsBy, CostsRequest, EFFECT_NOTE_MAX_BYTES, EffectBegun, EffectDecision,
    EffectFilter, EffectListRequest, EffectRef, EffectSummary, EffectView, Failure, JobRun, Looked, names_currency,
};
pub use erase::{EraseRequest, Erased, erased_id, names};
pub use export::{ExportCursor, ExportPage, ImportBatch, Imported};
pub use leases::{
    Claim, ClaimRequest, ERROR_CLASS_MAX_BYTES, ERROR_MAX_BYTES, End, EndRefused, Ended, LEASES_MAX, LeaseLost, Leased,
    OUTPUT_MAX_BYTES, Order, OrderRefused, RESOURCE_ID_MAX_BYTES, RESULT_MAX_BYTES, Recovered, Report, SourceView,
    WORKER_NAME_MAX_BYTES, fitting, last_bytes,
};
pub use lists::{
    AttemptView, BothTexts, ConflictSummary, Cursor, DeliverySummary, FOLLOW_MAX, FollowFrom, Followed, ListRequest,
    Page, TEXTS_MAX_BYTES, Texts,
};
pub use prune::{OPS_KEPT, PruneCursor, PruneRequest, Pruned, PrunedDeliveries};
pub use restored::{Restored, RestoredMark};
pub use stats::{STATS_SOURCES_MAX, Stats, StatsGroup};
pub use tokens::{TOKEN_NAME_MAX_BYTES, TokenHash, TokenRequest, TokenScope, TokenView, token_malformed};

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
    /// A conflict that a person had decided to leave one when this came: no alarm. Only for [`Verdict::Conflict`].
    pub decided: bool,
    /// A duplicate by its signed bytes ([`Delivery::body`](crate::event::Delivery::body)): they came before under another id, that
    /// of `event`. Only for [`Verdict::Duplicate`].
    pub replayed: bool,
}

/// What [`Store::accept`] would answer, as far as the store's present events decide it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preview {
    /// The store does not know this identity.
    Unknown,
    /// The store knows it, or refuses it: this is the verdict.
    Known(Verdict),
    /// The store knows it: [`Verdict::Conflict`], with a content that a person decided to leave one.
    Decided,
}

impl Preview {
    /// The verdict, where the store knows the identity.
    pub const fn verdict(self) -> Option<Verdict> {
        match self {
            Self::Unknown => None,
            Self::Known(verdict) => Some(verdict),
            Self::Decided => Some(Verdict::Conflict),
        }
    }
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
    /// The event's id; once the event is erased, a hash of it in hex. A plain string: a store that took over an older file may
    /// hold ids that no longer would enter.
    pub id: String,
    /// When a person had the event erased.
    pub erased_at: Option<Timestamp>,
    /// The event's type.
    pub event_type: Option<EventType>,
    /// Where the job stands.
    pub state: JobState,
    /// Why the job is held, failed or cancelled, a stable code; empty where it needs no reason.
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
    /// While the job is running: when the lease ends, unless it is extended.
    pub lease_until: Option<Timestamp>,
}

impl JobSummary {
    /// Whether it runs on a lease that ran out: its worker is lost, and recovery will find it.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.state == JobState::Running && self.lease_until.is_none_or(|until| until <= now)
    }
}

/// One event with all that happened to its identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventHistory {
    /// The job and the identity.
    pub job: JobSummary,
    /// The content that workers get, the newest revision; `None` once pruned or erased.
    pub text: Option<String>,
    /// SHA-256 of that content.
    pub fingerprint: Fingerprint,
    /// When the job changed last; `None` while it is as it was born.
    pub changed_at: Option<Timestamp>,
    /// While the job is running: who holds its lease.
    pub worker: Option<String>,
    /// What the job gave, JSON, of the run that gave it last.
    pub result: Option<String>,
    /// The number of that revision: 1 is the content that entered, and each content that a person accepted is one more.
    pub revision: u32,
    /// The revisions before it, by number; at most [`HISTORY_MAX`].
    pub revisions: Vec<RevisionView>,
    /// How often an accepted content was delivered again, pruned deliveries included.
    pub duplicates: u64,
    /// Those of them that were pruned.
    pub pruned: Option<PrunedDeliveries>,
    /// The other contents that came under this identity, by number; at most [`HISTORY_MAX`].
    pub conflicts: Vec<ConflictView>,
    /// The latest deliveries after the first, newest first; at most [`HISTORY_MAX`].
    pub deliveries: Vec<DeliveryView>,
    /// The latest attempts of the job, newest first; at most [`HISTORY_MAX`].
    pub attempts: Vec<AttemptView>,
    /// The latest effects of the job, newest first; at most [`HISTORY_MAX`].
    pub effects: Vec<EffectView>,
}

/// Most of each kind in one [`EventHistory`].
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
    /// What was decided about it, oldest first; empty: nothing yet.
    pub decisions: Vec<DecisionView>,
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
    /// A duplicate by its signed bytes: they came before under another id.
    pub replayed: bool,
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
    /// Of signed bytes ([`Delivery::body`](crate::event::Delivery::body)) the first delivery of a source decides: its event keeps
    /// them for good, also where it was a duplicate or in conflict, so that whoever saw those bytes pass cannot bring them in
    /// under an id of their own. An identity that is not known, in bytes that are, is a duplicate of their event
    /// ([`Receipt::replayed`]), and stays unknown: the id may still come in other bytes. A known identity is judged by its
    /// content, whosever bytes it comes in.
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

    /// Decides conflicts of an event, all of the request or none. Each decision is recorded with the store's time and the
    /// note. A kept conflict may be decided again; one that was accepted or entered elsewhere may not, because that has been
    /// acted upon.
    ///
    /// # Errors
    /// `Invalid`: `event_unknown`, `conflict_unknown`, `conflict_not_named` (none was named, and not exactly one is
    /// undecided), `resolve_too_many`, `note_too_long`. `Conflict`: `conflict_decided`; `content_gone` (accepting or entering
    /// a content that was erased or pruned); `id_taken` (the new id has another content); `effects_open` (a new run while an
    /// effect of an earlier one is open); `op_reused`. `Unavailable`, `Corrupt`.
    async fn resolve(&self, op: OpId, request: ResolveRequest) -> Result<Resolved, StoreError>;

    /// One bounded step of pruning. What went is gone whatever becomes of the next step; identity, fingerprints, times and
    /// counts stay: what was a duplicate or a conflict still is.
    ///
    /// # Errors
    /// `Conflict` (`op_reused`), `Unavailable`, `Corrupt`.
    async fn prune(&self, op: OpId, request: PruneRequest) -> Result<Pruned, StoreError>;

    /// What [`prune`](Self::prune) would let go of in the same step. Nothing is changed.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn prunable(&self, request: PruneRequest) -> Result<Pruned, StoreError>;

    /// Erases an event, in steps; `None`: there is no such event. The first step takes its texts (that of each conflict and
    /// revision too), type, notes, outputs, results and resource ids; its id gives place to a hash by which the identity is
    /// still known. A job that is not done is cancelled, with the reason `erased`. Where the outcome of an effect is open the
    /// job is held, with the reason `cancelled`, until that is settled: what may have been paid or published, its key and its
    /// money are still there for a person to see, and what is told of it then is recorded without texts.
    ///
    /// The other steps go through its deliveries (types, places where they were read) and through the details of refusals that
    /// name the id. What is delivered under the identity later is judged and counted as before, and nothing of its content is
    /// kept.
    ///
    /// Erasing an erased event goes through the same steps and finds nothing.
    ///
    /// # Errors
    /// `Conflict`: `job_running`, while a worker holds its lease; `op_reused`. `Unavailable`, `Corrupt`.
    async fn erase(&self, op: OpId, request: EraseRequest) -> Result<Option<Erased>, StoreError>;

    /// The events with this id, byte for byte: of one source, or of every source, sorted by the bytes of its name. Any string
    /// can be asked for; one that cannot be an id is not found.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn find_events(&self, source: Option<Source>, id: String) -> Result<Vec<EventHistory>, StoreError>;

    /// One page of an export: from the start, or where the page before ended. About `limit` records, 1 to
    /// [`EXPORT_PAGE_MAX_RECORDS`](export::EXPORT_PAGE_MAX_RECORDS), and
    /// [`EXPORT_PAGE_MAX_BYTES`](export::EXPORT_PAGE_MAX_BYTES).
    ///
    /// A page is one consistent look, and nothing is held between pages. The first one fixes the highest number: every event
    /// that the store held then is exported, with all that belongs to it as it was at one moment of its page. An event is
    /// in one page but for its conflicts and deliveries beyond
    /// [`EXPORT_EVENT_MAX_RECORDS`](export::EXPORT_EVENT_MAX_RECORDS). Later events are left out.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn export(&self, cursor: Option<ExportCursor>, limit: u32) -> Result<ExportPage, StoreError>;

    /// Enters records of an export that are not there yet, and overwrites nothing. The batch is one transaction.
    ///
    /// A store without events and deliveries takes the namespace over. Records come in the order of an export. What belongs
    /// to an event stands behind its event's record in the same batch, and a try behind its effect; whoever splits what
    /// belongs to one event repeats the event's record. An event that is not there enters only with its job's record next to
    /// it. Numbers and keys stay what they were.
    ///
    /// What is running is not running here: its job waits again, its open attempt has ended as `lease_lost` and its intended
    /// effects are `unknown` with their tries open, and the store is marked as restored.
    ///
    /// Money is counted as deliveries are. What enters is added to the sums: the cost and tokens of an attempt in the day of its
    /// end, those of an effect's record in its day, what a try still reserves in the day of the reservation. A record of money then
    /// raises each of its sums to what it says, where that is more. A budget that is here stays.
    ///
    /// A store without a currency takes that of the export over.
    ///
    /// # Errors
    /// `Unavailable`; `Conflict` (`op_reused`; `import_other_namespace`, for a store with content of another namespace;
    /// `currency_other`, for a store with another currency); `Invalid` (`batch_too_long`; `currency_malformed`;
    /// `import_out_of_order`, where a record stands without what it belongs to).
    async fn import(&self, op: OpId, batch: Arc<ImportBatch>) -> Result<Imported, StoreError>;

    /// One page of jobs, highest number first. A limit outside of 1 to 1,000 is taken as the nearer of the two.
    ///
    /// Of the filter, sources, states, types, times and reasons are asked; times are when the event was received. Where the
    /// filter lets little through, a page may come short, even empty, and with a `next`: a call looks at a bounded number of
    /// jobs.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn jobs(&self, filter: Filter, page: PageRequest) -> Result<JobPage, StoreError>;

    /// What was received in a range of time, by verdict and by source, and how late; and how many jobs are in each state now. Of
    /// the filter, sources and times are asked.
    ///
    /// The range is widened to whole minutes, and where the store keeps older counts by the hour or the day, to whole ones of
    /// these: the answer says the range that it counts, exactly. Reception is by the store's clock.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn stats(&self, filter: Filter) -> Result<Stats, StoreError>;

    /// One page of deliveries, every handing-over, highest number first.
    ///
    /// Of the filter, sources, verdicts, types, times (of reception) and reasons (codes of refusals) are asked.
    ///
    /// # Errors
    /// `Invalid` (`cursor_unknown`): the request's place was not given by this list. `Unavailable`, `Corrupt`.
    async fn deliveries(&self, filter: Filter, request: ListRequest) -> Result<Page<DeliverySummary>, StoreError>;

    /// One page of conflicts, newest first, by when their content came first.
    ///
    /// Of the filter, sources, types, times (of the first reception) and whether they are undecided are asked.
    ///
    /// # Errors
    /// `Invalid` (`cursor_unknown`), `Unavailable`, `Corrupt`.
    async fn conflicts(
        &self,
        filter: Filter,
        request: ListRequest,
        texts: Texts,
    ) -> Result<Page<ConflictSummary>, StoreError>;

    /// One page of attempts that went wrong (`error`, `crashed`, `timed_out`, `lease_lost`), the one that began last first.
    ///
    /// Of the filter, sources, types, times (when the attempt ended) and reasons (classes of errors) are asked.
    ///
    /// # Errors
    /// `Invalid` (`cursor_unknown`), `Unavailable`, `Corrupt`.
    async fn attempts(&self, filter: Filter, request: ListRequest) -> Result<Page<AttemptView>, StoreError>;

    /// What arrived after a place, in the order in which it was committed: each delivery once, and none that is committed
    /// later before it. A call never waits for something to arrive.
    ///
    /// The filter is asked as by [`deliveries`](Self::deliveries). Where it lets little through, a call may find nothing and
    /// say that there is more.
    ///
    /// # Errors
    /// `Invalid` (`cursor_unknown`), `Unavailable`, `Corrupt`.
    async fn follow(&self, filter: Filter, from: FollowFrom) -> Result<Followed, StoreError>;

    /// Marks the store as restored, or takes the mark away.
    ///
    /// A mark ends all leases: who held one has lost it, the job is pending again and has its attempt back, and each effect
    /// that it had begun is `unknown`. While the mark stands, every effect that is not `done`, recorded or not, counts as
    /// begun at that instant with its outcome open: it may have happened. Of two marks the later one stands. Taking the mark
    /// away where there is none changes nothing.
    ///
    /// # Errors
    /// `Invalid` (`restored_in_future`) where the instant has not come yet by the store's clock, which leaves the op unused;
    /// `Conflict` (`op_reused`); `Unavailable`.
    async fn restored(&self, op: OpId, mark: RestoredMark) -> Result<Restored, StoreError>;

    /// The mark that the store bears: when it was restored.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn restored_at(&self) -> Result<Option<Timestamp>, StoreError>;

    /// Leases jobs that are due, the oldest due first. Each becomes `running`, and its attempt is counted and recorded, in the
    /// transaction that leases it.
    ///
    /// The tokens are made of `op`, which must therefore be hard to guess; the same `op` again gives the leases that it gave
    /// before, as they are now, without those that have ended. A source that is paused is passed over.
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
    /// attempt, as late, and what it cost is counted, once: it was paid. Effects that the attempt had begun and not reported become `unknown` in the same transaction.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`; `Invalid` (`too_many_leases`).
    async fn end(&self, ends: Arc<Vec<End>>, policy: RetryPolicy)
    -> Result<Vec<Result<Ended, EndRefused>>, StoreError>;

    /// Ends leases that have run out, at most `limit` of them (1 to 1,000), the longest first: their workers are lost.
    /// `dry_run` tells and changes nothing. Whoever calls it twice recovers what ran out meanwhile, so it needs no op.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn recover(&self, policy: RetryPolicy, limit: u32, dry_run: bool) -> Result<Recovered, StoreError>;

    /// How sources stand with those who work on their jobs, sorted by name; all that the filter's sources name.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn sources(&self, filter: Filter) -> Result<Vec<SourceView>, StoreError>;

    /// Ends the pause of a source, and its streak of failures with it. `false`: it was not paused.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`; `Conflict` (`op_reused`); `Invalid` (`source_unknown`).
    async fn resume(&self, op: OpId, source: Source) -> Result<bool, StoreError>;

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

    /// A number that is another one after anybody, in whatever process, has committed something, so that who waits for work
    /// need not ask for it again and again. A hint: it can move where nothing changed, it says nothing of what did, and it
    /// means something only beside another number of the same opened store. Cheap enough to be asked 50 times a second.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn changes(&self) -> Result<u64, StoreError>;

    /// The store's namespace: what tells its events apart from those of any other store, in the keys of effects. It stays the
    /// same once the store has an event, through backups, restores and exports.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn namespace(&self) -> Result<[u8; 16], StoreError>;

    /// May this effect be sent? See [`Ledger::begin`](crate::effect::Ledger::begin). The answer is given once it is durable; the
    /// same begin id again gets it again. `policy` says where a job goes that this ends.
    ///
    /// # Errors
    /// `Unavailable`: it is not known whether the try was made; the same begin again tells. `Corrupt`.
    async fn effect_begin(&self, begin: Begin, policy: RetryPolicy) -> Result<EffectBegun, StoreError>;

    /// It happened. See [`Ledger::done`](crate::effect::Ledger::done): recorded in every state and from any lease. Texts are cut
    /// as those of a [`Report`].
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn effect_done(
        &self,
        of: EffectRef,
        evidence: Evidence,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError>;

    /// It did not happen by this try. See [`Ledger::failed`](crate::effect::Ledger::failed).
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn effect_failed(
        &self,
        of: EffectRef,
        failure: Failure,
        note: Option<String>,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError>;

    /// Its sender does not know. See [`Ledger::unknown`](crate::effect::Ledger::unknown).
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn effect_unknown(
        &self,
        of: EffectRef,
        note: Option<String>,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError>;

    /// What a lookup brought that was started after a `check` answer; `of` has its ticket. See
    /// [`Ledger::found`](crate::effect::Ledger::found) and [`Ledger::absent`](crate::effect::Ledger::absent).
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn effect_resolve(
        &self,
        of: EffectRef,
        looked: Looked,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError>;

    /// What a person says of an effect that is held. See [`Ledger::settle`](crate::effect::Ledger::settle). `None`: there is no
    /// such job.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`; `Conflict` (`op_reused`).
    async fn effect_decide(
        &self,
        op: OpId,
        decision: EffectDecision,
        policy: RetryPolicy,
    ) -> Result<Option<SettleAnswer>, StoreError>;

    /// One page of effects, the one that was begun last first. A call looks at a bounded number of rows.
    ///
    /// # Errors
    /// `Invalid` (`cursor_unknown`), `Unavailable`, `Corrupt`.
    async fn effect_list(&self, request: EffectListRequest) -> Result<Page<EffectSummary>, StoreError>;

    /// What was spent, is at risk and was avoided.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn costs(&self, request: CostsRequest) -> Result<Costs, StoreError>;

    /// Sets the budget of a source, or takes it away. It holds from the next reservation on. The source need not have an event.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`; `Conflict` (`op_reused`).
    async fn set_budget(&self, op: OpId, source: Source, limit: Option<Micros>) -> Result<(), StoreError>;

    /// The budgets, sorted by source, with today's sums.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn budgets(&self) -> Result<Vec<BudgetView>, StoreError>;

    /// Says which currency the store's amounts are in: three capital letters, as ISO 4217 has them. Once said it stays; saying
    /// the same again changes nothing.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`; `Invalid` (`currency_malformed`); `Conflict` (`currency_other`, with the one that it has).
    async fn set_currency(&self, currency: String) -> Result<(), StoreError>;

    /// The store's currency, if it was said.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn currency(&self) -> Result<Option<String>, StoreError>;

    /// Keeps a token by its hash. A name that was given once is never given again, revoked or not.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`; `Conflict` (`op_reused`; `token_name_taken`); `Invalid` (`token_malformed`: no scope, a source
    /// list without [`TokenScope::Ingest`], a name that is blank, too long or has control characters, a hash that another token
    /// has).
    async fn token_create(&self, op: OpId, request: TokenRequest) -> Result<TokenView, StoreError>;

    /// Revokes a token, for good: whoever bears it is nobody from then on. `false`: there is no such token, or it was revoked.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`; `Conflict` (`op_reused`).
    async fn token_revoke(&self, op: OpId, name: String) -> Result<bool, StoreError>;

    /// The token with this hash, whatever has become of it: the caller looks at its end and its revocation.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn token_find(&self, hash: TokenHash) -> Result<Option<TokenView>, StoreError>;

    /// All tokens, revoked ones too, sorted by name.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn tokens(&self) -> Result<Vec<TokenView>, StoreError>;

    /// Whether it falls to this opened store to do what one process does for all, from now on for `length`. Asked again before
    /// that is over it stays here; a process that ends or hangs loses it to another one then. It saves work and nothing depends
    /// on it: two that both do it do no harm. A store that is nobody else's says yes.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    async fn duty(&self, _duty: Duty, _length: Duration) -> Result<bool, StoreError> {
        Ok(true)
    }
}

/// What one process does for all that work with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Duty {
    /// Ending leases that ran out.
    Recover,
    /// Letting go of what is no longer needed.
    Prune,
    /// Entering what schedules make due.
    Schedules,
}

impl Duty {
    /// The word in SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Recover => "recover",
            Self::Prune => "prune",
            Self::Schedules => "schedules",
        }
    }
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
#[derive(Debug, Clone)]
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
