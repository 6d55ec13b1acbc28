//! A store in memory, written to be obviously right: the oracle that other stores are compared with.
//!
//! One lock around plain maps and vectors; no index, no cache, nothing clever. Where a real store has a choice, this one
//! takes the plainest: delivery numbers are 1, 2, 3 without gaps. It keeps everything for ever and is no use beyond tests.

mod effects;
mod keeping;
mod leases;
mod money;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use cola_ia_core::clock::{Clock, Entropy as _, Timestamp};
use cola_ia_core::effect::{Begin, Evidence, Ledger, Micros, ReportAnswer, SettleAnswer};
use cola_ia_core::event::{Delivery, Fingerprint, Source};
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::{DeliveryNumber, EventNumber, Intake};
use cola_ia_core::job::{Job, JobState, Lease, LeaseToken, RetryPolicy};
use cola_ia_core::limits::BATCH_MAX_EVENTS;
use cola_ia_core::store;
use cola_ia_core::store::{
    Accepted, AttemptView, BudgetView, Claim, ClaimRequest, ConflictSummary, ConflictView, Costs, CostsRequest,
    DeliverySummary, DeliveryView, EffectBegun, EffectDecision, EffectListRequest, EffectRef, EffectSummary, End,
    EndRefused, Ended, EraseRequest, Erased, ErrorKind, EventHistory, ExportCursor, ExportPage, FollowFrom, Followed,
    HISTORY_MAX, ImportBatch, Imported, JobPage, JobSummary, LEASES_MAX, LeaseLost, ListRequest, Looked, OpId, Order,
    OrderRefused, Page, PageRequest, Preview, PruneRequest, Pruned, PrunedDeliveries, Receipt, Recovered,
    ResolveRequest, Resolved, Restored, RestoredMark, RevisionView, SourceView, Stats, Store, StoreError, Texts,
    TokenHash, TokenRequest, TokenView, erased_id,
};
use cola_ia_core::verdict::Verdict;

mod lists;
mod stats;

pub(crate) use lists::summary as delivery_summary;

use crate::clock::{ManualClock, SeededEntropy};
use crate::harness::{Backend, Failure, Place, RecordedRefusal};

mod export;

/// The kind of store that the model is.
#[derive(Debug, Clone, Copy, Default)]
pub struct ModelBackend;

impl Backend for ModelBackend {
    fn name(&self) -> &'static str {
        "model"
    }

    fn fresh(&self) -> Result<Box<dyn Place>, Failure> {
        Ok(Box::new(ModelMemory::default()))
    }
}

/// What a model store knows. It outlives the store as a file would; clones are the same memory.
#[derive(Debug, Clone, Default)]
pub struct ModelMemory(Arc<Mutex<Memory>>);

impl ModelMemory {
    /// A store over this memory.
    pub fn store(&self, clock: Arc<dyn Clock>) -> ModelStore {
        ModelStore { memory: self.clone(), clock }
    }

    /// Decides by what this makes of each ledger: for tests that expect a mistake to be found.
    pub fn twist(&self, twist: impl Fn(Ledger) -> Ledger + Send + Sync + 'static) {
        self.lock().twist = Some(Twist(Arc::new(twist)));
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().expect("nothing panics while it holds the model's lock")
    }
}

impl Place for ModelMemory {
    fn open(&self, clock: ManualClock, entropy: SeededEntropy) -> Result<Arc<dyn Store>, Failure> {
        let mut memory = self.lock();
        if memory.book.namespace == [0; 16] {
            entropy.fill(&mut memory.book.namespace);
        }
        drop(memory);
        Ok(Arc::new(self.store(Arc::new(clock))))
    }

    fn refusals(&self) -> Result<Vec<RecordedRefusal>, Failure> {
        Ok(self.lock().refusals.clone())
    }

    fn set_job(&self, event: EventNumber, state: JobState, at: Timestamp) -> Result<(), Failure> {
        let mut memory = self.lock();
        let number = event;
        let event = memory.by_number(event).ok_or("no such event")?;
        let token = LeaseToken::new([7; 16], number.0 as u16);
        let lease = Lease { token, until: at.after(Duration::from_hours(1)) };
        let job = Job {
            state,
            due_at: (state == JobState::Pending).then_some(at),
            lease: (state == JobState::Running).then_some(lease),
            ..event.machine.clone()
        };
        event.moves_to(job, at);
        memory.write_down(number);
        Ok(())
    }
}

/// The store in memory.
pub struct ModelStore {
    memory: ModelMemory,
    clock: Arc<dyn Clock>,
}

#[derive(Debug, Default)]
struct Memory {
    last_number: i64,
    ops: BTreeMap<OpId, Call>,
    events: BTreeMap<Identity, Event>,
    /// Whether any of them was erased.
    has_erased: bool,
    refusals: Vec<RecordedRefusal>,
    restored_at: Option<Timestamp>,
    streaks: BTreeMap<Source, leases::Standing>,
    book: export::Book,
    money: money::Money,
    received: Vec<stats::Received>,
    /// Every delivery, in the order of arrival.
    log: Vec<DeliverySummary>,
    /// How often it was asked for changes.
    looks: u64,
    tokens: BTreeMap<String, (TokenHash, TokenView)>,
    twist: Option<Twist>,
}

/// See [`ModelMemory::twist`].
#[derive(Clone)]
struct Twist(Arc<dyn Fn(Ledger) -> Ledger + Send + Sync>);

impl fmt::Debug for Twist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Twist")
    }
}

/// A source and an id; of an event that was erased, what stands for its id behind a mark that no id has.
type Identity = (Source, String);

fn erased_identity(namespace: &[u8], source: &Source, id: &str) -> Identity {
    (source.clone(), format!("\0{}", erased_id(namespace, source.as_str(), id)))
}

/// A call that changed something, with its first answer.
#[derive(Debug, Clone)]
struct Call {
    at: Timestamp,
    first: First,
}

#[derive(Debug, Clone)]
enum First {
    Accept(Accepted),
    Restored(RestoredMark, Restored),
    Resolve(ResolveRequest, Resolved),
    Prune(PruneRequest, Pruned),
    Erase(EraseRequest, Option<Erased>),
    Import(Arc<ImportBatch>, Imported),
    Resume(Source, bool),
    Order(Order, Vec<EventNumber>, Vec<Result<Ended, OrderRefused>>),
    Decide(EffectDecision, SettleAnswer),
    SetBudget(Source, Option<Micros>),
    TokenCreate(TokenRequest, TokenView),
    TokenRevoke(String, bool),
}

#[derive(Debug)]
struct Event {
    job: JobSummary,
    /// When its job changed last; `None` while the job is as it was born.
    changed_at: Option<Timestamp>,
    /// What decides the job's moves; `job` says the same to people.
    machine: Job,
    attempts: Vec<leases::Attempt>,
    /// Those of all its runs, in the order in which they were begun.
    effects: Vec<effects::Kept>,
    /// Leases of its run.
    leases: u32,
    /// Who holds it.
    worker: Option<String>,
    result: Option<String>,
    /// The contents that are its own, by number from 1: what entered, then what was accepted.
    revisions: Vec<RevisionView>,
    /// By number, which is the place in this vector from 1.
    conflicts: Vec<Conflict>,
    /// The deliveries after the one that made the event, oldest first.
    later: Vec<DeliveryView>,
    pruned: Option<PrunedDeliveries>,
    pruned_at: Option<Timestamp>,
}

#[derive(Debug)]
struct Conflict {
    view: ConflictView,
    delivery: Delivery,
}

impl Memory {
    fn take(&mut self, member: &Intake, received_at: Timestamp) -> Receipt {
        let receipt = self.judge(member, received_at);
        let mut told = lists::summary(member, &receipt, received_at);
        if let (true, Some(event)) = (receipt.replayed, receipt.event) {
            told.id = self.by_number(event).map(|event| event.job.id.clone());
        }
        self.log.push(told);
        self.received.push(stats::Received::of(member, receipt.verdict, received_at));
        let known = match member {
            Intake::Delivery(_) if receipt.replayed => {
                receipt.event.and_then(|event| self.events.values().find(|known| known.job.event == event))
            }
            Intake::Delivery(delivery) => self.known(&delivery.source, delivery.id.as_str()),
            Intake::Refusal(_) => None,
        };
        let erased = known.filter(|known| known.job.erased_at.is_some()).map(|known| known.job.event);
        self.book.note(member, &receipt, received_at, erased.is_some());
        if let Some(event) = erased {
            self.forget_in_log(event);
        }
        receipt
    }

    fn judge(&mut self, member: &Intake, received_at: Timestamp) -> Receipt {
        self.last_number += 1;
        let number = DeliveryNumber(self.last_number);
        match member {
            Intake::Refusal(refusal) => {
                self.refusals.push(RecordedRefusal::of(number, received_at, refusal));
                Receipt {
                    number,
                    verdict: Verdict::Invalid,
                    event: None,
                    conflict: None,
                    decided: false,
                    replayed: false,
                }
            }
            Intake::Delivery(delivery) => {
                let known = self.identity_of(&delivery.source, delivery.id.as_str());
                let replayed = delivery.body.and_then(|body| self.book.event_of_body(&delivery.source, body));
                if let Some(event) = known.and_then(|known| self.events.get_mut(&known)) {
                    event.deliver_again(delivery, number, received_at)
                } else if let Some(event) = replayed.and_then(|event| self.by_number(event)) {
                    event.replay(delivery, number, received_at)
                } else {
                    let identity = (delivery.source.clone(), delivery.id.as_str().to_owned());
                    let event = Event::new(delivery, number, received_at);
                    let receipt = Receipt {
                        number,
                        verdict: Verdict::New,
                        event: Some(event.job.event),
                        conflict: None,
                        decided: false,
                        replayed: false,
                    };
                    self.events.insert(identity, event);
                    receipt
                }
            }
        }
    }

    /// Under which identity the event lies that this id belongs to.
    fn identity_of(&self, source: &Source, id: &str) -> Option<Identity> {
        let plain = (source.clone(), id.to_owned());
        if self.events.contains_key(&plain) && !id.starts_with('\0') {
            return Some(plain);
        }
        let erased = self.has_erased.then(|| erased_identity(&self.book.namespace, source, id));
        erased.filter(|erased| self.events.contains_key(erased))
    }

    fn known(&self, source: &Source, id: &str) -> Option<&Event> {
        self.identity_of(source, id).and_then(|identity| self.events.get(&identity))
    }

    fn preview(&self, member: &Intake) -> Preview {
        let delivery = match member {
            Intake::Refusal(_) => return Preview::Known(Verdict::Invalid),
            Intake::Delivery(delivery) => delivery,
        };
        match self.known(&delivery.source, delivery.id.as_str()) {
            None => match delivery.body.and_then(|body| self.book.event_of_body(&delivery.source, body)) {
                Some(_) => Preview::Known(Verdict::Duplicate),
                None => Preview::Unknown,
            },
            Some(event) if event.has(delivery.content.fingerprint()) => Preview::Known(Verdict::Duplicate),
            Some(event) => match event.conflict_of(delivery.content.fingerprint()) {
                Some(conflict) if !conflict.decisions.is_empty() => Preview::Decided,
                _ => Preview::Known(Verdict::Conflict),
            },
        }
    }
}

impl Event {
    fn new(delivery: &Delivery, number: DeliveryNumber, received_at: Timestamp) -> Self {
        let job = JobSummary {
            event: EventNumber(number.0),
            source: delivery.source.clone(),
            id: delivery.id.as_str().to_owned(),
            erased_at: None,
            event_type: delivery.event_type.clone(),
            state: JobState::Pending,
            reason: String::new(),
            run: 1,
            attempts: 0,
            resource_id: None,
            time: delivery.time,
            received_at,
            due_at: Some(received_at),
            lease_until: None,
        };
        let entered = RevisionView {
            number: 1,
            fingerprint: delivery.content.fingerprint(),
            accepted_at: received_at,
            conflict: None,
            text: Some(delivery.content.text().to_owned()),
        };
        Self {
            job,
            machine: Job::born(received_at),
            attempts: Vec::new(),
            effects: Vec::new(),
            leases: 0,
            worker: None,
            result: None,
            changed_at: None,
            revisions: vec![entered],
            conflicts: Vec::new(),
            later: Vec::new(),
            pruned: None,
            pruned_at: None,
        }
    }

    /// Whether this content entered or was accepted.
    fn has(&self, content: Fingerprint) -> bool {
        self.revisions.iter().any(|revision| revision.fingerprint == content)
    }

    fn conflict_of(&self, content: Fingerprint) -> Option<&ConflictView> {
        self.conflicts.iter().map(|conflict| &conflict.view).find(|conflict| conflict.fingerprint == content)
    }

    fn deliver_again(&mut self, delivery: &Delivery, number: DeliveryNumber, received_at: Timestamp) -> Receipt {
        let event = Some(self.job.event);
        let receipt = if self.has(delivery.content.fingerprint()) {
            Receipt { number, verdict: Verdict::Duplicate, event, conflict: None, decided: false, replayed: false }
        } else {
            let (conflict, decided) = self.count_conflict(delivery, received_at);
            Receipt { number, verdict: Verdict::Conflict, event, conflict: Some(conflict), decided, replayed: false }
        };
        let is_told = receipt.verdict == Verdict::Conflict && self.job.erased_at.is_none();
        self.later.push(DeliveryView {
            number,
            verdict: receipt.verdict,
            received_at,
            time: delivery.time,
            conflict: receipt.conflict,
            origin: is_told.then(|| delivery.origin.to_string()),
            replayed: false,
        });
        receipt
    }

    /// The same signed bytes under another id.
    fn replay(&mut self, delivery: &Delivery, number: DeliveryNumber, received_at: Timestamp) -> Receipt {
        let (event, verdict) = (Some(self.job.event), Verdict::Duplicate);
        self.later.push(DeliveryView {
            number,
            verdict,
            received_at,
            time: delivery.time,
            conflict: None,
            origin: None,
            replayed: true,
        });
        Receipt { number, verdict, event, conflict: None, decided: false, replayed: true }
    }

    /// The conflict's number, and whether it has been decided.
    fn count_conflict(&mut self, delivery: &Delivery, received_at: Timestamp) -> (u32, bool) {
        let fingerprint = delivery.content.fingerprint();
        if let Some(known) = self.conflicts.iter_mut().find(|conflict| conflict.view.fingerprint == fingerprint) {
            known.view.count += 1;
            known.view.last_at = received_at;
            return (known.view.number, !known.view.decisions.is_empty());
        }
        let number = u32::try_from(self.conflicts.len()).expect("a test makes few conflicts") + 1;
        let text = self.job.erased_at.is_none().then(|| delivery.content.text().to_owned());
        let view = ConflictView {
            number,
            fingerprint,
            text,
            count: 1,
            first_at: received_at,
            last_at: received_at,
            decisions: Vec::new(),
        };
        self.conflicts.push(Conflict { view, delivery: delivery.clone() });
        (number, false)
    }

    fn history(&self, ledger: &Ledger) -> EventHistory {
        let duplicates = self.later.iter().filter(|delivery| delivery.verdict == Verdict::Duplicate).count();
        let (newest, before) = self.revisions.split_last().expect("the content that entered is one");
        EventHistory {
            job: self.job.clone(),
            changed_at: self.changed_at,
            worker: self.worker.clone(),
            result: self.result.clone(),
            text: newest.text.clone(),
            fingerprint: newest.fingerprint,
            revision: newest.number,
            revisions: before.iter().take(HISTORY_MAX).cloned().collect(),
            duplicates: duplicates as u64 + self.pruned.map_or(0, |pruned| pruned.count),
            pruned: self.pruned,
            conflicts: self.conflicts.iter().take(HISTORY_MAX).map(|conflict| conflict.view.clone()).collect(),
            deliveries: self.later.iter().rev().take(HISTORY_MAX).cloned().collect(),
            attempts: self.attempt_views(),
            effects: self.effect_views(ledger),
        }
    }
}

#[async_trait]
impl Store for ModelStore {
    async fn accept(&self, op: OpId, batch: Arc<Vec<Intake>>) -> Result<Accepted, StoreError> {
        if batch.len() > BATCH_MAX_EVENTS {
            return Err(StoreError::new(ErrorKind::Invalid, "batch_too_long").with("length", batch.len()));
        }
        let mut memory = self.memory.lock();
        if let Some(call) = memory.ops.get(&op) {
            return match &call.first {
                First::Accept(first) if first.receipts.len() == batch.len() => Ok(first.clone()),
                _ => Err(op_reused()),
            };
        }
        let received_at = self.clock.now();
        let receipts: Vec<Receipt> = batch.iter().map(|member| memory.take(member, received_at)).collect();
        let accepted = Accepted { received_at, receipts };
        memory.ops.insert(op, Call { at: received_at, first: First::Accept(accepted.clone()) });
        Ok(accepted)
    }

    async fn preview(&self, batch: Arc<Vec<Intake>>) -> Result<Vec<Preview>, StoreError> {
        let memory = self.memory.lock();
        Ok(batch.iter().map(|member| memory.preview(member)).collect())
    }

    async fn find_events(&self, source: Option<Source>, id: String) -> Result<Vec<EventHistory>, StoreError> {
        let memory = self.memory.lock();
        let mut sources: Vec<&Source> = memory.events.keys().map(|(source, _)| source).collect();
        sources.dedup();
        let asked = sources.into_iter().filter(|known| source.as_ref().is_none_or(|source| source == *known));
        let ledger = memory.plain_ledger(self.clock.now());
        Ok(asked.filter_map(|source| memory.known(source, &id)).map(|event| event.history(&ledger)).collect())
    }

    async fn export(&self, cursor: Option<ExportCursor>, limit: u32) -> Result<ExportPage, StoreError> {
        let memory = self.memory.lock();
        Ok(memory.book.page(&memory.money, cursor, limit))
    }

    async fn import(&self, op: OpId, batch: Arc<ImportBatch>) -> Result<Imported, StoreError> {
        export::import(&mut self.memory.lock(), self.clock.now(), op, batch)
    }

    async fn jobs(&self, filter: Filter, page: PageRequest) -> Result<JobPage, StoreError> {
        let memory = self.memory.lock();
        let wanted = |job: &&JobSummary| {
            page.below.is_none_or(|below| job.event < below)
                && filter.takes_source(Some(&job.source))
                && filter.takes_state(job.state)
                && filter.takes_type(job.event_type.as_ref())
                && filter.takes_time(job.received_at)
                && filter.takes_reason(Some(&job.reason))
        };
        let mut jobs: Vec<JobSummary> =
            memory.events.values().map(|event| &event.job).filter(wanted).cloned().collect();
        jobs.sort_by_key(|job| std::cmp::Reverse(job.event));
        let limit = page.limit.clamp(1, 1_000) as usize;
        let more = jobs.len() > limit;
        jobs.truncate(limit);
        let next = if more { jobs.last().map(|job| job.event) } else { None };
        Ok(JobPage { jobs, next })
    }

    async fn restored(&self, op: OpId, mark: RestoredMark) -> Result<Restored, StoreError> {
        let mut memory = self.memory.lock();
        match memory.ops.get(&op).map(|call| &call.first) {
            Some(First::Restored(asked, first)) if *asked == mark => return Ok(*first),
            Some(_) => return Err(op_reused()),
            None => {}
        }
        let now = self.clock.now();
        memory.restored_at = match mark {
            RestoredMark::At(at) if at > now => {
                return Err(StoreError::new(ErrorKind::Invalid, "restored_in_future").with("at", at));
            }
            RestoredMark::At(at) => memory.restored_at.max(Some(at)),
            RestoredMark::Cleared => None,
        };
        let leases_voided = if mark == RestoredMark::Cleared { 0 } else { memory.void_leases(now) };
        let answer = Restored { restored_at: memory.restored_at, leases_voided };
        memory.ops.insert(op, Call { at: now, first: First::Restored(mark, answer) });
        Ok(answer)
    }

    async fn changes(&self) -> Result<u64, StoreError> {
        // Allowed to move where nothing changed.
        let mut memory = self.memory.lock();
        memory.looks += 1;
        Ok(memory.looks)
    }

    async fn namespace(&self) -> Result<[u8; 16], StoreError> {
        Ok(self.memory.lock().book.namespace)
    }

    async fn restored_at(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.memory.lock().restored_at)
    }

    async fn stats(&self, filter: Filter) -> Result<Stats, StoreError> {
        Ok(stats::stats(&self.memory.lock(), &filter))
    }

    async fn deliveries(&self, filter: Filter, request: ListRequest) -> Result<Page<DeliverySummary>, StoreError> {
        self.memory.lock().deliveries(&filter, &request)
    }

    async fn conflicts(
        &self,
        filter: Filter,
        request: ListRequest,
        texts: Texts,
    ) -> Result<Page<ConflictSummary>, StoreError> {
        self.memory.lock().conflicts(&filter, &request, texts)
    }

    async fn attempts(&self, filter: Filter, request: ListRequest) -> Result<Page<AttemptView>, StoreError> {
        self.memory.lock().attempts(&filter, &request)
    }

    async fn follow(&self, filter: Filter, from: FollowFrom) -> Result<Followed, StoreError> {
        self.memory.lock().follow(&filter, &from)
    }

    async fn resolve(&self, op: OpId, request: ResolveRequest) -> Result<Resolved, StoreError> {
        let mut memory = self.memory.lock();
        match memory.ops.get(&op).map(|call| &call.first) {
            Some(First::Resolve(asked, first)) if *asked == request => return Ok(first.clone()),
            Some(_) => return Err(op_reused()),
            None => {}
        }
        let at = self.clock.now();
        let resolved = memory.resolve(&request, at)?;
        memory.write_down(request.event);
        memory.ops.insert(op, Call { at, first: First::Resolve(request, resolved.clone()) });
        Ok(resolved)
    }

    async fn prune(&self, op: OpId, request: PruneRequest) -> Result<Pruned, StoreError> {
        let mut memory = self.memory.lock();
        match memory.ops.get(&op).map(|call| &call.first) {
            Some(First::Prune(asked, first)) if *asked == request => return Ok(*first),
            Some(_) => return Err(op_reused()),
            None => {}
        }
        let at = self.clock.now();
        let pruned = memory.prunable(&request, at);
        memory.prune(&request, at);
        memory.ops.insert(op, Call { at, first: First::Prune(request, pruned) });
        Ok(pruned)
    }

    async fn prunable(&self, request: PruneRequest) -> Result<Pruned, StoreError> {
        Ok(self.memory.lock().prunable(&request, self.clock.now()))
    }

    async fn erase(&self, op: OpId, request: EraseRequest) -> Result<Option<Erased>, StoreError> {
        let mut memory = self.memory.lock();
        match memory.ops.get(&op).map(|call| &call.first) {
            Some(First::Erase(asked, first)) if *asked == request => return Ok(*first),
            Some(_) => return Err(op_reused()),
            None => {}
        }
        let at = self.clock.now();
        let erased = memory.erase(&request, at)?;
        if erased.is_some() {
            memory.ops.insert(op, Call { at, first: First::Erase(request, erased) });
        }
        Ok(erased)
    }

    async fn claim(&self, op: OpId, request: ClaimRequest) -> Result<Claim, StoreError> {
        Ok(self.memory.lock().claim(op, &request, self.clock.now()))
    }

    async fn extend(
        &self,
        leases: Vec<LeaseToken>,
        length: Duration,
    ) -> Result<Vec<Result<Timestamp, LeaseLost>>, StoreError> {
        bounded(leases.len())?;
        Ok(self.memory.lock().extend(&leases, length, self.clock.now()))
    }

    async fn end(
        &self,
        ends: Arc<Vec<End>>,
        policy: RetryPolicy,
    ) -> Result<Vec<Result<Ended, EndRefused>>, StoreError> {
        bounded(ends.len())?;
        Ok(self.memory.lock().end(&ends, &policy, self.clock.now()))
    }

    async fn recover(&self, policy: RetryPolicy, limit: u32, dry_run: bool) -> Result<Recovered, StoreError> {
        Ok(self.memory.lock().recover(&policy, limit, dry_run, self.clock.now()))
    }

    async fn sources(&self, filter: Filter) -> Result<Vec<SourceView>, StoreError> {
        Ok(self.memory.lock().sources(&filter, self.clock.now()))
    }

    async fn resume(&self, op: OpId, source: Source) -> Result<bool, StoreError> {
        self.memory.lock().resume(op, &source, self.clock.now())
    }

    async fn order(
        &self,
        op: OpId,
        order: Order,
        jobs: Vec<EventNumber>,
    ) -> Result<Vec<Result<Ended, OrderRefused>>, StoreError> {
        self.memory.lock().order(op, order, &jobs, self.clock.now())
    }

    async fn effect_begin(&self, begin: Begin, policy: RetryPolicy) -> Result<EffectBegun, StoreError> {
        Ok(self.memory.lock().effect_begin(&begin, &policy, self.clock.now()))
    }

    async fn effect_done(
        &self,
        of: EffectRef,
        evidence: Evidence,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        Ok(self.memory.lock().effect_done(&of, &evidence, &policy, self.clock.now()))
    }

    async fn effect_failed(
        &self,
        of: EffectRef,
        failure: store::Failure,
        note: Option<String>,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        Ok(self.memory.lock().effect_failed(&of, failure, note.as_ref(), &policy, self.clock.now()))
    }

    async fn effect_unknown(
        &self,
        of: EffectRef,
        note: Option<String>,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        Ok(self.memory.lock().effect_unknown(&of, note.as_ref(), &policy, self.clock.now()))
    }

    async fn effect_resolve(
        &self,
        of: EffectRef,
        looked: Looked,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        Ok(self.memory.lock().effect_resolve(&of, &looked, &policy, self.clock.now()))
    }

    async fn effect_decide(
        &self,
        op: OpId,
        decision: EffectDecision,
        policy: RetryPolicy,
    ) -> Result<Option<SettleAnswer>, StoreError> {
        self.memory.lock().effect_decide(op, &decision, &policy, self.clock.now())
    }

    async fn effect_list(&self, request: EffectListRequest) -> Result<Page<EffectSummary>, StoreError> {
        self.memory.lock().effect_list(&request, self.clock.now())
    }

    async fn costs(&self, request: CostsRequest) -> Result<Costs, StoreError> {
        Ok(money::costs(&self.memory.lock(), &request))
    }

    async fn set_budget(&self, op: OpId, source: Source, limit: Option<Micros>) -> Result<(), StoreError> {
        self.memory.lock().set_budget(op, &source, limit, self.clock.now())
    }

    async fn budgets(&self) -> Result<Vec<BudgetView>, StoreError> {
        Ok(self.memory.lock().money.budgets(self.clock.now()))
    }

    async fn set_currency(&self, currency: String) -> Result<(), StoreError> {
        self.memory.lock().money.set_currency(currency)
    }

    async fn currency(&self) -> Result<Option<String>, StoreError> {
        Ok(self.memory.lock().money.currency())
    }

    async fn token_create(&self, op: OpId, request: TokenRequest) -> Result<TokenView, StoreError> {
        let request = request.checked()?;
        let mut memory = self.memory.lock();
        match memory.ops.get(&op).map(|call| &call.first) {
            Some(First::TokenCreate(same, view)) if *same == request => return Ok(view.clone()),
            Some(_) => return Err(op_reused()),
            None => {}
        }
        if memory.tokens.contains_key(&request.name) {
            return Err(StoreError::new(ErrorKind::Conflict, "token_name_taken"));
        }
        if memory.tokens.values().any(|(hash, _)| *hash == request.hash) {
            return Err(store::token_malformed("hash"));
        }
        let at = self.clock.now();
        let TokenRequest { name, hash, scopes, sources, expires_at } = request.clone();
        let view = TokenView { name: name.clone(), scopes, sources, created_at: at, expires_at, revoked_at: None };
        memory.tokens.insert(name, (hash, view.clone()));
        memory.ops.insert(op, Call { at, first: First::TokenCreate(request, view.clone()) });
        Ok(view)
    }

    async fn token_revoke(&self, op: OpId, name: String) -> Result<bool, StoreError> {
        let mut memory = self.memory.lock();
        match memory.ops.get(&op).map(|call| &call.first) {
            Some(First::TokenRevoke(same, revoked)) if *same == name => return Ok(*revoked),
            Some(_) => return Err(op_reused()),
            None => {}
        }
        let at = self.clock.now();
        let live = memory.tokens.get_mut(&name).filter(|(_, view)| view.revoked_at.is_none());
        let revoked = live.map(|(_, view)| view.revoked_at = Some(at)).is_some();
        memory.ops.insert(op, Call { at, first: First::TokenRevoke(name, revoked) });
        Ok(revoked)
    }

    async fn token_find(&self, hash: TokenHash) -> Result<Option<TokenView>, StoreError> {
        let memory = self.memory.lock();
        Ok(memory.tokens.values().find(|(known, _)| *known == hash).map(|(_, view)| view.clone()))
    }

    async fn tokens(&self) -> Result<Vec<TokenView>, StoreError> {
        Ok(self.memory.lock().tokens.values().map(|(_, view)| view.clone()).collect())
    }
}

fn op_reused() -> StoreError {
    StoreError::new(ErrorKind::Conflict, "op_reused")
}

fn bounded(count: usize) -> Result<(), StoreError> {
    if count > LEASES_MAX {
        return Err(StoreError::new(ErrorKind::Invalid, "too_many_leases"));
    }
    Ok(())
}
