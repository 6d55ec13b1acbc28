//! A store behind a server: every verb is a request to `/v1`.
//!
//! It has a runtime of its own, so that whoever waits for an answer may do it on any thread, with a runtime or without. The halves
//! on the server's side are in [`http::api`](crate::http::api).

mod conflicts;
mod effects;
mod error;
mod events;
mod export;
mod intake;
mod keeping;
mod leases;
mod lists;
mod money;
mod orders;
mod standing;
mod tokens;
mod transport;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Bytes;
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
use serde::de::DeserializeOwned;
use tokio::runtime::Runtime;

pub use keeping::Received;
use transport::{Ask, Transport};

/// A store behind a server.
pub struct RemoteStore {
    transport: Transport,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

impl RemoteStore {
    /// The store behind the server at this address (`https://…`, or `http://` on this machine), with this token. Nothing is asked
    /// yet.
    ///
    /// # Errors
    /// `Invalid`: `server_address`, `server_insecure`, `server_token`. `Unavailable`: `server_certificates`.
    pub fn new(server: &str, token: &str) -> Result<Self, StoreError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("remote")
            .enable_all()
            .build()
            .map_err(|cause| StoreError::new(ErrorKind::Unavailable, "server_unreachable").with("cause", cause))?;
        let inside = runtime.enter();
        let transport = Transport::new(server, token)?;
        drop(inside);
        Ok(Self { transport, runtime: Some(runtime) })
    }

    /// The server's address.
    pub fn server(&self) -> &str {
        self.transport.server()
    }

    /// Asks, on the runtime of its own.
    async fn ask<T: DeserializeOwned + Send + 'static>(&self, ask: Ask) -> Result<T, StoreError> {
        let transport = self.transport.clone();
        let runtime = self.runtime.as_ref().expect("the runtime is there until the store is dropped");
        let asked = runtime.spawn(async move { transport.ask(&ask).await });
        asked.await.unwrap_or_else(|cause| Err(error::unreachable(self.server(), &cause)))
    }
}

impl RemoteStore {
    /// Asks for something that is not JSON.
    async fn ask_bytes(&self, ask: Ask) -> Result<Bytes, StoreError> {
        let transport = self.transport.clone();
        self.inside(async move { transport.ask_bytes(&ask).await }).await
    }

    /// Runs on the runtime of its own.
    async fn inside<T: Send + 'static>(
        &self,
        asking: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let runtime = self.runtime.as_ref().expect("the runtime is there until the store is dropped");
        runtime.spawn(asking).await.unwrap_or_else(|cause| Err(error::unreachable(self.server(), &cause)))
    }

    /// A claim that waits so long, 30 seconds at most, for something to be due.
    ///
    /// # Errors
    /// As [`Store::claim`].
    pub async fn claim_within(&self, op: OpId, request: ClaimRequest, wait: Duration) -> Result<Claim, StoreError> {
        leases::claim_within(self, op, request, wait).await
    }

    /// The answer to this is none of a server of ours.
    fn nonsense(&self, what: &str) -> StoreError {
        error::nonsense(self.server(), &what)
    }
}

/// The answers, as many as were asked for and each one that is understood.
fn each<T>(store: &RemoteStore, asked: usize, answers: Option<Vec<T>>) -> Result<Vec<T>, StoreError> {
    answers.filter(|answers| answers.len() == asked).ok_or_else(|| store.nonsense("answers"))
}

impl Drop for RemoteStore {
    fn drop(&mut self) {
        // Whoever drops it may be a task of another runtime, which must not wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[async_trait]
impl Store for RemoteStore {
    async fn accept(&self, op: OpId, batch: Arc<Vec<Intake>>) -> Result<Accepted, StoreError> {
        intake::accept(self, op, batch).await
    }

    async fn preview(&self, batch: Arc<Vec<Intake>>) -> Result<Vec<Preview>, StoreError> {
        intake::preview(self, batch).await
    }

    async fn resolve(&self, op: OpId, request: ResolveRequest) -> Result<Resolved, StoreError> {
        conflicts::resolve(self, op, request).await
    }

    async fn prune(&self, op: OpId, request: PruneRequest) -> Result<Pruned, StoreError> {
        keeping::prune(self, op, request).await
    }

    async fn prunable(&self, request: PruneRequest) -> Result<Pruned, StoreError> {
        keeping::prunable(self, request).await
    }

    async fn erase(&self, op: OpId, request: EraseRequest) -> Result<Option<Erased>, StoreError> {
        keeping::erase(self, op, request).await
    }

    async fn find_events(&self, source: Option<Source>, id: String) -> Result<Vec<EventHistory>, StoreError> {
        events::find_events(self, source, id).await
    }

    async fn export(&self, cursor: Option<ExportCursor>, limit: u32) -> Result<ExportPage, StoreError> {
        export::export(self, cursor, limit).await
    }

    async fn import(&self, op: OpId, batch: Arc<ImportBatch>) -> Result<Imported, StoreError> {
        export::import(self, op, batch).await
    }

    async fn jobs(&self, filter: Filter, page: PageRequest) -> Result<JobPage, StoreError> {
        lists::jobs(self, filter, page).await
    }

    async fn stats(&self, filter: Filter) -> Result<Stats, StoreError> {
        standing::stats(self, filter).await
    }

    async fn deliveries(&self, filter: Filter, request: ListRequest) -> Result<Page<DeliverySummary>, StoreError> {
        lists::deliveries(self, filter, request).await
    }

    async fn conflicts(
        &self,
        filter: Filter,
        request: ListRequest,
        texts: Texts,
    ) -> Result<Page<ConflictSummary>, StoreError> {
        lists::conflicts(self, filter, request, texts).await
    }

    async fn attempts(&self, filter: Filter, request: ListRequest) -> Result<Page<AttemptView>, StoreError> {
        lists::attempts(self, filter, request).await
    }

    async fn follow(&self, filter: Filter, from: FollowFrom) -> Result<Followed, StoreError> {
        lists::follow(self, filter, from).await
    }

    async fn restored(&self, op: OpId, mark: RestoredMark) -> Result<Restored, StoreError> {
        keeping::restored(self, op, mark).await
    }

    async fn restored_at(&self) -> Result<Option<Timestamp>, StoreError> {
        keeping::restored_at(self).await
    }

    async fn claim(&self, op: OpId, request: ClaimRequest) -> Result<Claim, StoreError> {
        leases::claim(self, op, request).await
    }

    async fn extend(
        &self,
        leases: Vec<LeaseToken>,
        length: Duration,
    ) -> Result<Vec<Result<Timestamp, LeaseLost>>, StoreError> {
        leases::extend(self, leases, length).await
    }

    async fn end(
        &self,
        ends: Arc<Vec<End>>,
        policy: RetryPolicy,
    ) -> Result<Vec<Result<Ended, EndRefused>>, StoreError> {
        leases::end(self, ends, policy).await
    }

    async fn recover(&self, policy: RetryPolicy, limit: u32, dry_run: bool) -> Result<Recovered, StoreError> {
        leases::recover(self, policy, limit, dry_run).await
    }

    async fn sources(&self, filter: Filter) -> Result<Vec<SourceView>, StoreError> {
        standing::sources(self, filter).await
    }

    async fn resume(&self, op: OpId, source: Source) -> Result<bool, StoreError> {
        standing::resume(self, op, source).await
    }

    async fn order(
        &self,
        op: OpId,
        order: Order,
        jobs: Vec<EventNumber>,
    ) -> Result<Vec<Result<Ended, OrderRefused>>, StoreError> {
        orders::order(self, op, order, jobs).await
    }

    async fn changes(&self) -> Result<u64, StoreError> {
        standing::changes(self).await
    }

    async fn namespace(&self) -> Result<[u8; 16], StoreError> {
        standing::namespace(self).await
    }

    async fn effect_begin(&self, begin: Begin, policy: RetryPolicy) -> Result<EffectBegun, StoreError> {
        effects::begin(self, begin, policy).await
    }

    async fn effect_done(
        &self,
        of: EffectRef,
        evidence: Evidence,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        effects::done(self, of, evidence, policy).await
    }

    async fn effect_failed(
        &self,
        of: EffectRef,
        failure: Failure,
        note: Option<String>,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        effects::failed(self, of, failure, note, policy).await
    }

    async fn effect_unknown(
        &self,
        of: EffectRef,
        note: Option<String>,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        effects::unknown(self, of, note, policy).await
    }

    async fn effect_resolve(
        &self,
        of: EffectRef,
        looked: Looked,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        effects::resolve(self, of, looked, policy).await
    }

    async fn effect_decide(
        &self,
        op: OpId,
        decision: EffectDecision,
        policy: RetryPolicy,
    ) -> Result<Option<SettleAnswer>, StoreError> {
        effects::decide(self, op, decision, policy).await
    }

    async fn effect_list(&self, request: EffectListRequest) -> Result<Page<EffectSummary>, StoreError> {
        lists::effects(self, request).await
    }

    async fn costs(&self, request: CostsRequest) -> Result<Costs, StoreError> {
        money::costs(self, request).await
    }

    async fn set_budget(&self, op: OpId, source: Source, limit: Option<Micros>) -> Result<(), StoreError> {
        money::set_budget(self, op, source, limit).await
    }

    async fn budgets(&self) -> Result<Vec<BudgetView>, StoreError> {
        money::budgets(self).await
    }

    async fn set_currency(&self, currency: String) -> Result<(), StoreError> {
        money::set_currency(self, currency).await
    }

    async fn currency(&self) -> Result<Option<String>, StoreError> {
        money::currency(self).await
    }

    async fn token_create(&self, op: OpId, request: TokenRequest) -> Result<TokenView, StoreError> {
        tokens::create(self, op, request).await
    }

    async fn token_revoke(&self, op: OpId, name: String) -> Result<bool, StoreError> {
        tokens::revoke(self, op, name).await
    }

    async fn token_find(&self, hash: TokenHash) -> Result<Option<TokenView>, StoreError> {
        tokens::find(self, hash).await
    }

    async fn tokens(&self) -> Result<Vec<TokenView>, StoreError> {
        tokens::all(self).await
    }
}
