//! A store around a store: what happens around each call of a verb is written once, for all verbs.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
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
    Erased, EventHistory, ExportCursor, ExportPage, Failure, FollowFrom, Followed, ImportBatch, Imported, JobPage,
    LeaseLost, ListRequest, Looked, OpId, Order, OrderRefused, Page, PageRequest, Preview, PruneRequest, Pruned,
    Recovered, ResolveRequest, Resolved, Restored, RestoredMark, SourceView, Stats, Store, StoreError, Texts,
    TokenHash, TokenRequest, TokenView,
};

/// An answer that is waited for.
pub(crate) type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Makes a call of the wrapped store, with the same arguments each time.
pub(crate) trait Call<'a, T>: Fn() -> Answer<'a, T> + Send + Sync + 'a {}

impl<'a, T, F: Fn() -> Answer<'a, T> + Send + Sync + 'a> Call<'a, T> for F {}

/// What happens around a call.
pub(crate) trait Around: Send + Sync {
    /// Answers a call of this verb, which it may make any number of times.
    fn around<'a, T: Send + 'static>(
        &'a self,
        verb: &'static str,
        call: impl Call<'a, T>,
    ) -> impl Future<Output = Result<T, StoreError>> + Send;
}

/// A store with something around each call.
pub(crate) struct Wrapped<A> {
    pub(crate) inner: Arc<dyn Store>,
    pub(crate) around: A,
}

macro_rules! verbs {
    ($(fn $verb:ident($($name:ident: $type:ty),*) -> $answer:ty;)*) => {
        #[async_trait]
        impl<A: Around> Store for Wrapped<A> {
            $(async fn $verb(&self, $($name: $type),*) -> Result<$answer, StoreError> {
                self.around.around(stringify!($verb), move || self.inner.$verb($(Clone::clone(&$name)),*)).await
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
