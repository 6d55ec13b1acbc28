//! The points at which a worker can be stopped: before and after each call of a store verb and each request to a destination.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::{pending, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{Begin, Evidence, Micros, ReportAnswer, SettleAnswer};
use cola_ia_core::event::Source;
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::{EventNumber, Intake};
use cola_ia_core::job::{LeaseToken, RetryPolicy};
use cola_ia_core::store::{
    Accepted, AttemptView, BudgetView, Claim, ClaimRequest, ConflictSummary, Costs, CostsRequest, DeliverySummary,
    EffectBegun, EffectDecision, EffectListRequest, EffectRef, EffectSummary, End, EndRefused, Ended, EraseRequest,
    Erased, ErrorKind, EventHistory, ExportCursor, ExportPage, Failure, FollowFrom, Followed, ImportBatch, Imported,
    JobPage, LeaseLost, ListRequest, Looked, OpId, Order, OrderRefused, Page, PageRequest, Preview, PruneRequest,
    Pruned, Recovered, ResolveRequest, Resolved, Restored, RestoredMark, SourceView, Stats, Store, StoreError, Texts,
    TokenHash, TokenRequest, TokenView,
};

use super::{Interruption, Plan};
use crate::clock::ManualClock;
use crate::harness::block_on;

/// How long a step takes.
const STEP: Duration = Duration::from_millis(1);

/// On which side of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

/// A point that was passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    worker: usize,
    side: Side,
    call: &'static str,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.side == Side::Before { "before" } else { "after" };
        write!(f, "worker {}, {side} {}", self.worker, self.call)
    }
}

#[derive(Debug, Default)]
struct State {
    plan: Plan,
    points: Vec<Point>,
    dead: BTreeSet<usize>,
    frozen: BTreeMap<usize, u32>,
    restore: bool,
}

/// What all points of a run share.
#[derive(Debug)]
pub(super) struct Gate {
    state: Mutex<State>,
    clock: ManualClock,
}

impl Gate {
    pub(super) fn new(plan: Plan, clock: ManualClock) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State { plan, ..State::default() }), clock })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn points(&self) -> Vec<Point> {
        self.state().points.clone()
    }

    /// Whether this worker is frozen.
    pub(super) fn stands(&self, worker: usize) -> bool {
        self.state().frozen.contains_key(&worker)
    }

    pub(super) fn is_dead(&self, worker: usize) -> bool {
        self.state().dead.contains(&worker)
    }

    /// A round is over.
    pub(super) fn thaw(&self) {
        self.state().frozen.retain(|_, rounds| {
            *rounds = rounds.saturating_sub(1);
            *rounds > 0
        });
    }

    /// Whether everything is to be restored now.
    pub(super) fn takes_restore(&self) -> bool {
        std::mem::take(&mut self.state().restore)
    }

    /// Nobody lives who was here.
    pub(super) fn forget(&self) {
        self.state().frozen.clear();
    }

    /// Before a call. Whether it is not to be made.
    pub(super) async fn before(&self, worker: usize, call: &'static str) -> bool {
        self.pass(Point { worker, side: Side::Before, call }).await
    }

    /// After a call. Whether its answer is not to be heard.
    pub(super) async fn after(&self, worker: usize, call: &'static str) -> bool {
        self.pass(Point { worker, side: Side::After, call }).await
    }

    async fn pass(&self, point: Point) -> bool {
        self.clock.advance(STEP.as_micros() as i64);
        let planned = {
            let mut state = self.state();
            let number = state.points.len();
            state.points.push(point);
            let planned = state.plan.remove(&number);
            match planned {
                Some(Interruption::Kill) => drop(state.dead.insert(point.worker)),
                Some(Interruption::Freeze(rounds)) => drop(state.frozen.insert(point.worker, rounds)),
                Some(Interruption::Restore) => state.restore = true,
                Some(Interruption::Lose) | None => {}
            }
            planned
        };
        match planned {
            // Whoever polled it lets go of it.
            Some(Interruption::Kill | Interruption::Restore) => pending().await,
            Some(Interruption::Lose) => return true,
            Some(Interruption::Freeze(_)) | None => {}
        }
        // The other worker's turn; a frozen one is not polled.
        let mut waited = false;
        poll_fn(|_| if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }).await;
        false
    }
}

/// A store as one worker sees it: each verb has a point before and one after.
pub(super) struct Interrupting {
    inner: Arc<dyn Store>,
    gate: Arc<Gate>,
    worker: usize,
}

impl Interrupting {
    pub(super) fn new(inner: Arc<dyn Store>, gate: Arc<Gate>, worker: usize) -> Self {
        Self { inner, gate, worker }
    }
}

fn lost() -> StoreError {
    StoreError::new(ErrorKind::Unavailable, "store_io")
}

macro_rules! verbs {
    ($(fn $verb:ident($($name:ident: $type:ty),*) -> $answer:ty;)*) => {
        #[async_trait]
        impl Store for Interrupting {
            $(async fn $verb(&self, $($name: $type),*) -> Result<$answer, StoreError> {
                if self.gate.before(self.worker, stringify!($verb)).await {
                    return Err(lost());
                }
                // Here and now: which worker moves next is decided at the points alone.
                let answer = block_on(self.inner.$verb($($name),*));
                if self.gate.after(self.worker, stringify!($verb)).await {
                    return Err(lost());
                }
                answer
            })*
        }
    };
}

verbs! {
    fn accept(op: OpId, batch: Arc<Vec<Intake>>) -> Accepted;
    fn preview(batch: Arc<Vec<Intake>>) -> Vec<Preview>;
    fn resolve(op: OpId, request: ResolveRequest) -> Resolved;
    fn prune(op: OpId, request: PruneRequest) -> Pruned;
    fn prunable(request: PruneRequest) -> Pruned;
    fn erase(op: OpId, request: EraseRequest) -> Option<Erased>;
    fn find_events(source: Option<Source>, id: String) -> Vec<EventHistory>;
    fn export(cursor: Option<ExportCursor>, limit: u32) -> ExportPage;
    fn import(op: OpId, batch: Arc<ImportBatch>) -> Imported;
    fn jobs(filter: Filter, page: PageRequest) -> JobPage;
    fn stats(filter: Filter) -> Stats;
    fn deliveries(filter: Filter, request: ListRequest) -> Page<DeliverySummary>;
    fn conflicts(filter: Filter, request: ListRequest, texts: Texts) -> Page<ConflictSummary>;
    fn attempts(filter: Filter, request: ListRequest) -> Page<AttemptView>;
    fn follow(filter: Filter, from: FollowFrom) -> Followed;
    fn restored(op: OpId, mark: RestoredMark) -> Restored;
    fn restored_at() -> Option<Timestamp>;
    fn claim(op: OpId, request: ClaimRequest) -> Claim;
    fn extend(leases: Vec<LeaseToken>, length: Duration) -> Vec<Result<Timestamp, LeaseLost>>;
    fn end(ends: Arc<Vec<End>>, policy: RetryPolicy) -> Vec<Result<Ended, EndRefused>>;
    fn recover(policy: RetryPolicy, limit: u32, dry_run: bool) -> Recovered;
    fn sources(filter: Filter) -> Vec<SourceView>;
    fn resume(op: OpId, source: Source) -> bool;
    fn order(op: OpId, order: Order, jobs: Vec<EventNumber>) -> Vec<Result<Ended, OrderRefused>>;
    fn changes() -> u64;
    fn namespace() -> [u8; 16];
    fn effect_begin(begin: Begin, policy: RetryPolicy) -> EffectBegun;
    fn effect_done(of: EffectRef, evidence: Evidence, policy: RetryPolicy) -> ReportAnswer;
    fn effect_failed(of: EffectRef, failure: Failure, note: Option<String>, policy: RetryPolicy) -> ReportAnswer;
    fn effect_unknown(of: EffectRef, note: Option<String>, policy: RetryPolicy) -> ReportAnswer;
    fn effect_resolve(of: EffectRef, looked: Looked, policy: RetryPolicy) -> ReportAnswer;
    fn effect_decide(op: OpId, decision: EffectDecision, policy: RetryPolicy) -> Option<SettleAnswer>;
    fn effect_list(request: EffectListRequest) -> Page<EffectSummary>;
    fn costs(request: CostsRequest) -> Costs;
    fn set_budget(op: OpId, source: Source, limit: Option<Micros>) -> ();
    fn budgets() -> Vec<BudgetView>;
    fn set_currency(currency: String) -> ();
    fn currency() -> Option<String>;
    fn token_create(op: OpId, request: TokenRequest) -> TokenView;
    fn token_revoke(op: OpId, name: String) -> bool;
    fn token_find(hash: TokenHash) -> Option<TokenView>;
    fn tokens() -> Vec<TokenView>;
}
