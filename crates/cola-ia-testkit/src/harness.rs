//! What a test needs of a kind of store, and one open store under test.

use std::error::Error;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use cola_ia_core::clock::{Clock as _, SystemEntropy, Timestamp};
use cola_ia_core::event::Source;
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::{DeliveryNumber, EventNumber, Intake, Refusal, RefusalCode};
use cola_ia_core::job::JobState;
use cola_ia_core::store::export::{Outcome, Record};
use cola_ia_core::store::{
    Accepted, AttemptView, ConflictSummary, Cursor, DeliverySummary, EffectFilter, EffectListRequest, EffectSummary,
    EraseRequest, Erased, EventHistory, ExportCursor, ExportPage, FollowFrom, Followed, ImportBatch, Imported, JobPage,
    JobSummary, ListRequest, OpId, Order, Page, PageRequest, Preview, PruneRequest, Pruned, ResolveRequest, Resolved,
    Restored, RestoredMark, Stats, Store, StoreError, Texts,
};

use crate::clock::{ManualClock, SeededEntropy};

/// Why a case failed: words for people.
pub type Failure = Box<dyn Error + Send + Sync>;

/// A kind of store, such as "SQLite in a file".
pub trait Backend: Send + Sync + 'static {
    /// Stands before the case's name: `sqlite::same_op_gives_the_first_answer`.
    fn name(&self) -> &'static str;

    /// A place where no store has been yet, shared with no other test.
    ///
    /// # Errors
    /// What stood in the way.
    fn fresh(&self) -> Result<Box<dyn Place>, Failure>;
}

/// Where one store lives while nobody has it open. Dropping it removes everything.
pub trait Place: Send + Sync {
    /// Opens the store, and makes it where there is none. It must take all time and randomness from what is given.
    ///
    /// # Errors
    /// What stood in the way.
    fn open(&self, clock: ManualClock, entropy: SeededEntropy) -> Result<Arc<dyn Store>, Failure>;

    /// Closes it in good order, with all its threads and connections. Nobody else holds it.
    ///
    /// # Errors
    /// What stood in the way.
    fn close(&self, store: Arc<dyn Store>) -> Result<(), Failure> {
        drop(store);
        Ok(())
    }

    /// All refusals recorded here, by number. The trait has no view of them yet, so a backend reads its tables. Called
    /// while the store is open.
    ///
    /// # Errors
    /// What stood in the way.
    fn refusals(&self) -> Result<Vec<RecordedRefusal>, Failure>;

    /// Puts a job into this state, as if it had come there at this moment. No verb moves jobs yet, so a backend writes to its
    /// tables. Called while the store is open.
    ///
    /// # Errors
    /// What stood in the way.
    fn set_job(&self, event: EventNumber, state: JobState, at: Timestamp) -> Result<(), Failure>;
}

/// A refusal as a store records it: all but the column, which is only told to the sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRefusal {
    /// The delivery's number, as its receipt said.
    pub number: DeliveryNumber,
    /// When the store received it.
    pub received_at: Timestamp,
    /// The reason.
    pub code: RefusalCode,
    /// What it is about.
    pub detail: String,
    /// Input and line, as in `-:7`.
    pub origin: String,
    /// How many it stands for.
    pub count: u64,
}

impl RecordedRefusal {
    /// What is to be recorded of this refusal.
    pub fn of(number: DeliveryNumber, received_at: Timestamp, refusal: &Refusal) -> Self {
        Self {
            number,
            received_at,
            code: refusal.code,
            detail: refusal.detail.clone(),
            origin: refusal.origin.to_string(),
            count: refusal.count,
        }
    }
}

/// One open store under test, with its clock; calls wait for their answer.
pub struct Scratch {
    // Before `place`, so that the store is closed before its place is removed.
    store: Option<Arc<dyn Store>>,
    place: Box<dyn Place>,
    clock: ManualClock,
    entropy: SeededEntropy,
    op_entropy: SeededEntropy,
}

impl Scratch {
    /// A new, empty store, at [`ManualClock::START`]. Two with the same calls make the same op ids.
    ///
    /// # Errors
    /// What stood in the way.
    pub fn new(backend: &dyn Backend) -> Result<Self, Failure> {
        let place = backend.fresh()?;
        let (clock, entropy) = (ManualClock::default(), SeededEntropy::new(1));
        let store = place.open(clock.clone(), entropy.clone())?;
        Ok(Self { store: Some(store), place, clock, entropy, op_entropy: SeededEntropy::new(2) })
    }

    /// The store's clock.
    pub const fn clock(&self) -> &ManualClock {
        &self.clock
    }

    /// The store itself.
    pub fn store(&self) -> &dyn Store {
        &**self.store.as_ref().expect("the store is open but while it is reopened")
    }

    /// Closes the store and opens it again.
    ///
    /// # Errors
    /// What stood in the way; the store cannot be used then.
    pub fn reopen(&mut self) -> Result<(), Failure> {
        if let Some(store) = self.store.take() {
            self.place.close(store)?;
        }
        self.store = Some(self.place.open(self.clock.clone(), self.entropy.clone())?);
        Ok(())
    }

    /// An op id that this store has not seen.
    pub fn op(&self) -> OpId {
        OpId::new(&self.clock, &self.op_entropy)
    }

    /// [`Store::accept`] under a new op id.
    ///
    /// # Errors
    /// The store's; or there is not one receipt for each member.
    pub fn accept(&self, batch: Vec<Intake>) -> Result<Accepted, Failure> {
        let members = batch.len();
        let accepted = self.accept_as(self.op(), &Arc::new(batch))?;
        if accepted.receipts.len() != members {
            return Err(format!("a batch of {members} has {} receipts", accepted.receipts.len()).into());
        }
        Ok(accepted)
    }

    /// [`Store::accept`] under this op id.
    ///
    /// # Errors
    /// The store's.
    pub fn accept_as(&self, op: OpId, batch: &Arc<Vec<Intake>>) -> Result<Accepted, StoreError> {
        block_on(self.store().accept(op, Arc::clone(batch)))
    }

    /// [`Store::preview`].
    ///
    /// # Errors
    /// The store's.
    pub fn preview(&self, batch: Vec<Intake>) -> Result<Vec<Preview>, StoreError> {
        block_on(self.store().preview(Arc::new(batch)))
    }

    /// [`Store::find_events`].
    ///
    /// # Errors
    /// The store's.
    pub fn find(&self, source: Option<Source>, id: &str) -> Result<Vec<EventHistory>, StoreError> {
        block_on(self.store().find_events(source, id.to_owned()))
    }

    /// The one event with this id, of any source.
    ///
    /// # Errors
    /// The store's; or there is none, or more than one.
    pub fn find_one(&self, id: &str) -> Result<EventHistory, Failure> {
        let mut found = self.find(None, id)?;
        match (found.pop(), found.len()) {
            (Some(event), 0) => Ok(event),
            (_, others) => {
                Err(format!("id {id:?}: one event expected, found {}", others + usize::from(others > 0)).into())
            }
        }
    }

    /// [`Store::jobs`].
    ///
    /// # Errors
    /// The store's.
    pub fn jobs(&self, filter: Filter, page: PageRequest) -> Result<JobPage, StoreError> {
        block_on(self.store().jobs(filter, page))
    }

    /// [`Store::stats`].
    ///
    /// # Errors
    /// The store's.
    pub fn stats(&self, filter: Filter) -> Result<Stats, StoreError> {
        block_on(self.store().stats(filter))
    }

    /// All jobs, newest first, page by page.
    ///
    /// # Errors
    /// The store's; or the pages do not go down.
    pub fn all_jobs(&self) -> Result<Vec<JobSummary>, Failure> {
        let mut all = Vec::new();
        let mut below = None;
        loop {
            let page = self.jobs(Filter::default(), PageRequest { below, limit: 1_000 })?;
            all.extend(page.jobs);
            match (page.next, below) {
                (None, _) => return Ok(all),
                (Some(next), Some(below)) if next >= below => {
                    return Err(format!("a page below {below:?} is followed by one below {next:?}").into());
                }
                (next, _) => below = next,
            }
        }
    }

    /// [`Store::restored`] under a new op id.
    ///
    /// # Errors
    /// The store's.
    pub fn restored(&self, mark: RestoredMark) -> Result<Restored, StoreError> {
        self.restored_as(self.op(), mark)
    }

    /// [`Store::restored`] under this op id.
    ///
    /// # Errors
    /// The store's.
    pub fn restored_as(&self, op: OpId, mark: RestoredMark) -> Result<Restored, StoreError> {
        block_on(self.store().restored(op, mark))
    }

    /// [`Store::restored_at`].
    ///
    /// # Errors
    /// The store's.
    pub fn restored_at(&self) -> Result<Option<Timestamp>, StoreError> {
        block_on(self.store().restored_at())
    }

    /// [`Store::export`].
    ///
    /// # Errors
    /// The store's.
    pub fn export(&self, cursor: Option<ExportCursor>, limit: u32) -> Result<ExportPage, StoreError> {
        block_on(self.store().export(cursor, limit))
    }

    /// All that the store exports, page by page of about so many records, as one import.
    ///
    /// # Errors
    /// The store's; or the pages do not end.
    pub fn export_all(&self, limit: u32) -> Result<ImportBatch, Failure> {
        let mut page = self.export(None, limit)?;
        let (namespace, currency) = (page.head.namespace, page.head.currency.clone());
        let mut all = ImportBatch { namespace, currency, records: page.records };
        for _ in 0..100_000 {
            let Some(cursor) = page.next else { return Ok(all) };
            page = self.export(Some(cursor), limit)?;
            all.records.append(&mut page.records);
        }
        Err("the pages of an export do not end".into())
    }

    /// [`Store::import`] under this op id.
    ///
    /// # Errors
    /// The store's.
    pub fn import_as(&self, op: OpId, batch: &Arc<ImportBatch>) -> Result<Imported, StoreError> {
        block_on(self.store().import(op, Arc::clone(batch)))
    }

    /// [`Store::import`] under a new op id.
    ///
    /// # Errors
    /// The store's; or there is not one outcome for each record.
    pub fn import(&self, namespace: [u8; 16], records: &[Record]) -> Result<Vec<Outcome>, Failure> {
        let batch = Arc::new(ImportBatch { namespace, currency: None, records: records.to_vec() });
        let outcomes = self.import_as(self.op(), &batch)?.outcomes;
        if outcomes.len() != records.len() {
            return Err(format!("{} records have {} outcomes", records.len(), outcomes.len()).into());
        }
        Ok(outcomes)
    }

    /// [`Store::deliveries`].
    ///
    /// # Errors
    /// The store's.
    pub fn deliveries(&self, filter: Filter, request: ListRequest) -> Result<Page<DeliverySummary>, StoreError> {
        block_on(self.store().deliveries(filter, request))
    }

    /// All deliveries that the filter lets through, newest first, in pages of `limit`.
    ///
    /// # Errors
    /// The store's; or the pages have no end.
    pub fn all_deliveries(&self, filter: &Filter, limit: u32) -> Result<Vec<DeliverySummary>, Failure> {
        walk(|after| self.deliveries(filter.clone(), ListRequest { after, limit }))
    }

    /// [`Store::conflicts`].
    ///
    /// # Errors
    /// The store's.
    pub fn conflicts(
        &self,
        filter: Filter,
        request: ListRequest,
        texts: Texts,
    ) -> Result<Page<ConflictSummary>, StoreError> {
        block_on(self.store().conflicts(filter, request, texts))
    }

    /// All conflicts that the filter lets through, newest first, in pages of `limit`.
    ///
    /// # Errors
    /// The store's; or the pages have no end.
    pub fn all_conflicts(&self, filter: &Filter, limit: u32, texts: Texts) -> Result<Vec<ConflictSummary>, Failure> {
        walk(|after| self.conflicts(filter.clone(), ListRequest { after, limit }, texts))
    }

    /// All attempts that went wrong and that the filter lets through, newest first, in pages of `limit`.
    ///
    /// # Errors
    /// The store's; or the pages have no end.
    pub fn all_attempts(&self, filter: &Filter, limit: u32) -> Result<Vec<AttemptView>, Failure> {
        walk(|after| block_on(self.store().attempts(filter.clone(), ListRequest { after, limit })))
    }

    /// All effects that the filter lets through, the one that was begun last first, in pages of `limit`.
    ///
    /// # Errors
    /// The store's; or the pages have no end.
    pub fn all_effects(&self, filter: &EffectFilter, limit: u32) -> Result<Vec<EffectSummary>, Failure> {
        walk(|after| {
            let request = EffectListRequest { filter: filter.clone(), page: ListRequest { after, limit } };
            block_on(self.store().effect_list(request))
        })
    }

    /// [`Store::follow`].
    ///
    /// # Errors
    /// The store's.
    pub fn follow(&self, filter: Filter, from: FollowFrom) -> Result<Followed, StoreError> {
        block_on(self.store().follow(filter, from))
    }

    /// [`Store::resolve`] under this op id.
    ///
    /// # Errors
    /// The store's.
    pub fn resolve_as(&self, op: OpId, request: &ResolveRequest) -> Result<Resolved, StoreError> {
        block_on(self.store().resolve(op, request.clone()))
    }

    /// [`Store::erase`] under these op ids, one a step, until the last step. The answer is the last step's; `cancelled` is
    /// that of any.
    ///
    /// # Errors
    /// The store's.
    pub fn erase_as(
        &self,
        mut op: impl FnMut() -> OpId,
        source: &Source,
        id: &str,
    ) -> Result<Option<Erased>, StoreError> {
        let mut request = EraseRequest { source: source.clone(), id: id.to_owned(), after: None };
        let mut cancelled = false;
        loop {
            let Some(erased) = block_on(self.store().erase(op(), request.clone()))? else { return Ok(None) };
            cancelled |= erased.cancelled;
            if erased.next.is_none() {
                return Ok(Some(Erased { cancelled, ..erased }));
            }
            request.after = erased.next;
        }
    }

    /// Prunes to the end, as the command does: each step is looked at before, and only one that finds something is taken. The
    /// answer is the sum of all steps. What a look promises must be what the step does.
    ///
    /// # Errors
    /// The store's; or a look and its step differ.
    pub fn prune_as(&self, mut op: impl FnMut() -> OpId, request: &PruneRequest) -> Result<Pruned, Failure> {
        let mut request = PruneRequest { after: None, ..request.clone() };
        let mut sum = Pruned::default();
        loop {
            let step = block_on(self.store().prunable(request.clone()))?;
            if !step.is_empty() {
                let done = block_on(self.store().prune(op(), request.clone()))?;
                if done != step {
                    return Err(format!("{request:?} promised {step:?} and did {done:?}").into());
                }
            }
            sum.events += step.events;
            sum.deliveries += step.deliveries;
            sum.ops += step.ops;
            if step.next.is_none() {
                return Ok(sum);
            }
            request.after = step.next;
        }
    }

    /// [`Place::set_job`], now. A worker that holds the job loses it first.
    ///
    /// # Errors
    /// What stood in the way.
    pub fn set_job(&self, event: EventNumber, state: JobState) -> Result<(), Failure> {
        let running = Filter { states: vec![JobState::Running], ..Filter::default() };
        let page = PageRequest { below: Some(EventNumber(event.0 + 1)), limit: 1 };
        if self.jobs(running, page)?.jobs.iter().any(|job| job.event == event) {
            // Not of the seed: the other store of a comparison cancels under an op of its own.
            let op = OpId::new(&self.clock, &SystemEntropy);
            block_on(self.store().order(op, Order::Cancel, vec![event]))?;
        }
        self.place.set_job(event, state, self.clock.now())
    }

    /// All refusals that the store recorded, by number.
    ///
    /// # Errors
    /// What stood in the way.
    pub fn refusals(&self) -> Result<Vec<RecordedRefusal>, Failure> {
        self.place.refusals()
    }
}

/// All items of a list, page by page.
fn walk<T>(page: impl Fn(Option<Cursor>) -> Result<Page<T>, StoreError>) -> Result<Vec<T>, Failure> {
    let (mut all, mut after) = (Vec::new(), None);
    // Far more pages than a test has.
    for _ in 0..100_000 {
        let found = page(after)?;
        all.extend(found.items);
        after = found.next;
        if after.is_none() {
            return Ok(all);
        }
    }
    Err(format!("the pages have no end: {after:?}").into())
}

/// How long a store may take for one answer before [`block_on`] calls it lost. Far beyond what any test needs.
pub const ANSWER_WITHIN: Duration = Duration::from_mins(2);

/// Waits on this thread until the future is done; any thread may wake it.
///
/// # Panics
/// When there is no answer within [`ANSWER_WITHIN`]: a lost wake-up fails a test and does not hang it.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    let deadline = Instant::now() + ANSWER_WITHIN;
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        assert!(!left.is_zero(), "no answer within {ANSWER_WITHIN:?}");
        thread::park_timeout(left);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn an_answer_from_another_thread_is_waited_for() {
        let done = Arc::new(AtomicBool::new(false));
        let mut started = false;
        let future = std::future::poll_fn(|context| {
            if done.load(Ordering::SeqCst) {
                return Poll::Ready(7);
            }
            if !started {
                started = true;
                let (waker, done) = (context.waker().clone(), Arc::clone(&done));
                thread::spawn(move || {
                    done.store(true, Ordering::SeqCst);
                    waker.wake();
                });
            }
            Poll::Pending
        });
        assert_eq!(block_on(future), 7);
    }
}
