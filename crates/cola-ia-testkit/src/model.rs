//! A store in memory, written to be obviously right: the oracle that other stores are compared with.
//!
//! One lock around plain maps and vectors; no index, no cache, nothing clever. Where a real store has a choice, this one
//! takes the plainest: delivery numbers are 1, 2, 3 without gaps. It keeps everything for ever and is no use beyond tests.

mod leases;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use cola_ia_core::clock::{Clock, Timestamp};
use cola_ia_core::event::{Content, Delivery, EventId, Source};
use cola_ia_core::intake::{DeliveryNumber, EventNumber, Intake};
use cola_ia_core::job::{Job, JobState, LeaseToken, RetryPolicy};
use cola_ia_core::limits::BATCH_MAX_EVENTS;
use cola_ia_core::store::{
    Accepted, Claim, ClaimRequest, ConflictView, DeliveryView, End, Ended, ErrorKind, EventHistory, HISTORY_MAX,
    JobFilter, JobPage, JobSummary, LEASES_MAX, LeaseLost, OpId, Order, OrderRefused, PageRequest, Preview, Receipt,
    Recovered, Store, StoreError,
};
use cola_ia_core::verdict::Verdict;

use crate::clock::{ManualClock, SeededEntropy};
use crate::harness::{Backend, Failure, Place, RecordedRefusal};

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

    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().expect("nothing panics while it holds the model's lock")
    }
}

impl Place for ModelMemory {
    fn open(&self, clock: ManualClock, _entropy: SeededEntropy) -> Result<Arc<dyn Store>, Failure> {
        Ok(Arc::new(self.store(Arc::new(clock))))
    }

    fn refusals(&self) -> Result<Vec<RecordedRefusal>, Failure> {
        Ok(self.lock().refusals.clone())
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
    ops: BTreeMap<OpId, Accepted>,
    events: BTreeMap<(Source, EventId), Event>,
    refusals: Vec<RecordedRefusal>,
    orders: leases::Orders,
}

#[derive(Debug)]
struct Event {
    job: JobSummary,
    /// What decides the job's moves; `job` says the same to people.
    machine: Job,
    attempts: Vec<leases::Attempt>,
    content: Content,
    /// By number, which is the place in this vector from 1.
    conflicts: Vec<ConflictView>,
    /// The deliveries after the one that made the event, oldest first.
    later: Vec<DeliveryView>,
}

impl Memory {
    fn judge(&mut self, member: &Intake, received_at: Timestamp) -> Receipt {
        self.last_number += 1;
        let number = DeliveryNumber(self.last_number);
        match member {
            Intake::Refusal(refusal) => {
                self.refusals.push(RecordedRefusal::of(number, received_at, refusal));
                Receipt { number, verdict: Verdict::Invalid, event: None, conflict: None }
            }
            Intake::Delivery(delivery) => {
                let identity = (delivery.source.clone(), delivery.id.clone());
                if let Some(event) = self.events.get_mut(&identity) {
                    event.deliver_again(delivery, number, received_at)
                } else {
                    let event = Event::new(delivery, number, received_at);
                    let receipt =
                        Receipt { number, verdict: Verdict::New, event: Some(event.job.event), conflict: None };
                    self.events.insert(identity, event);
                    receipt
                }
            }
        }
    }

    fn preview(&self, member: &Intake) -> Preview {
        let delivery = match member {
            Intake::Refusal(_) => return Preview::Known(Verdict::Invalid),
            Intake::Delivery(delivery) => delivery,
        };
        match self.events.get(&(delivery.source.clone(), delivery.id.clone())) {
            None => Preview::Unknown,
            Some(event) if event.content == delivery.content => Preview::Known(Verdict::Duplicate),
            Some(_) => Preview::Known(Verdict::Conflict),
        }
    }
}

impl Event {
    fn new(delivery: &Delivery, number: DeliveryNumber, received_at: Timestamp) -> Self {
        let job = JobSummary {
            event: EventNumber(number.0),
            source: delivery.source.clone(),
            id: delivery.id.as_str().to_owned(),
            event_type: delivery.event_type.clone(),
            state: JobState::Pending,
            reason: String::new(),
            run: 1,
            attempts: 0,
            resource_id: None,
            time: delivery.time,
            received_at,
            due_at: Some(received_at),
        };
        Self {
            job,
            machine: Job::born(received_at),
            attempts: Vec::new(),
            content: delivery.content.clone(),
            conflicts: Vec::new(),
            later: Vec::new(),
        }
    }

    fn deliver_again(&mut self, delivery: &Delivery, number: DeliveryNumber, received_at: Timestamp) -> Receipt {
        let (verdict, conflict, origin) = if delivery.content == self.content {
            (Verdict::Duplicate, None, None)
        } else {
            let conflict = self.count_conflict(&delivery.content, received_at);
            (Verdict::Conflict, Some(conflict), Some(delivery.origin.to_string()))
        };
        self.later.push(DeliveryView { number, verdict, received_at, time: delivery.time, conflict, origin });
        Receipt { number, verdict, event: Some(self.job.event), conflict }
    }

    fn count_conflict(&mut self, content: &Content, received_at: Timestamp) -> u32 {
        let fingerprint = content.fingerprint();
        if let Some(known) = self.conflicts.iter_mut().find(|conflict| conflict.fingerprint == fingerprint) {
            known.count += 1;
            known.last_at = received_at;
            return known.number;
        }
        let number = u32::try_from(self.conflicts.len()).expect("a test makes few conflicts") + 1;
        self.conflicts.push(ConflictView {
            number,
            fingerprint,
            text: Some(content.text().to_owned()),
            count: 1,
            first_at: received_at,
            last_at: received_at,
        });
        number
    }

    fn history(&self) -> EventHistory {
        let duplicates = self.later.iter().filter(|delivery| delivery.verdict == Verdict::Duplicate).count();
        EventHistory {
            job: self.job.clone(),
            text: Some(self.content.text().to_owned()),
            fingerprint: self.content.fingerprint(),
            duplicates: duplicates as u64,
            conflicts: self.conflicts.iter().take(HISTORY_MAX).cloned().collect(),
            deliveries: self.later.iter().rev().take(HISTORY_MAX).cloned().collect(),
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
        if let Some(first) = memory.ops.get(&op) {
            return if first.receipts.len() == batch.len() {
                Ok(first.clone())
            } else {
                Err(StoreError::new(ErrorKind::Conflict, "op_reused").with("length", batch.len()))
            };
        }
        let received_at = self.clock.now();
        let receipts = batch.iter().map(|member| memory.judge(member, received_at)).collect();
        let accepted = Accepted { received_at, receipts };
        memory.ops.insert(op, accepted.clone());
        Ok(accepted)
    }

    async fn preview(&self, batch: Arc<Vec<Intake>>) -> Result<Vec<Preview>, StoreError> {
        let memory = self.memory.lock();
        Ok(batch.iter().map(|member| memory.preview(member)).collect())
    }

    async fn find_events(&self, source: Option<Source>, id: String) -> Result<Vec<EventHistory>, StoreError> {
        let memory = self.memory.lock();
        let wanted = |job: &JobSummary| job.id == id && source.as_ref().is_none_or(|source| *source == job.source);
        // The map is sorted by source first.
        Ok(memory.events.values().filter(|event| wanted(&event.job)).map(Event::history).collect())
    }

    async fn jobs(&self, filter: JobFilter, page: PageRequest) -> Result<JobPage, StoreError> {
        let memory = self.memory.lock();
        let wanted = |job: &&JobSummary| {
            page.below.is_none_or(|below| job.event < below)
                && filter.source.as_ref().is_none_or(|source| *source == job.source)
                && (filter.states.is_empty() || filter.states.contains(&job.state))
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

    async fn end(&self, ends: Arc<Vec<End>>, policy: RetryPolicy) -> Result<Vec<Result<Ended, LeaseLost>>, StoreError> {
        bounded(ends.len())?;
        Ok(self.memory.lock().end(&ends, &policy, self.clock.now()))
    }

    async fn recover(&self, policy: RetryPolicy, limit: u32, dry_run: bool) -> Result<Recovered, StoreError> {
        Ok(self.memory.lock().recover(&policy, limit, dry_run, self.clock.now()))
    }

    async fn order(
        &self,
        op: OpId,
        order: Order,
        jobs: Vec<EventNumber>,
    ) -> Result<Vec<Result<Ended, OrderRefused>>, StoreError> {
        self.memory.lock().order(op, order, &jobs, self.clock.now())
    }
}

fn bounded(count: usize) -> Result<(), StoreError> {
    if count > LEASES_MAX {
        return Err(StoreError::new(ErrorKind::Invalid, "too_many_leases"));
    }
    Ok(())
}
