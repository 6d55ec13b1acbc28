//! A store in a schema of a PostgreSQL database.
//!
//! Everyday verbs (`accept`, `claim`, `extend`, `end`, those of effects) run many at once and meet only in the rows that they
//! lock; rare ones that go through much run alone, under an advisory lock of the store (`tx`). Calls that wait at the same
//! moment share a transaction (`lane`). Nothing is kept in a session, so a pooler may stand in between. Time is the server's.

mod accept;
mod address;
mod attempts;
mod budgets;
mod changes;
mod claim;
mod conditions;
mod conflicts;
mod costs;
mod counters;
mod currency;
mod deliveries;
mod deliveries_in;
pub mod doctor;
mod due;
mod duty;
mod effects;
mod end;
mod erase;
mod erased;
mod error;
mod export;
mod find_events;
mod follow;
mod import;
mod import_rows;
mod job_row;
mod jobs;
mod lane;
mod lease;
mod migrate;
mod money;
mod moved;
mod ops;
mod options;
mod order;
mod preview;
mod prune;
mod records;
mod recover;
mod resolve;
mod restored;
mod row;
mod shared;
mod signed;
mod sources;
mod sql;
mod stats;
mod stretch;
mod summary;
mod sums;
mod time_range;
mod tls;
mod tokens;
mod tx;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use cola_ia_core::clock::{Entropy as _, SystemEntropy, Timestamp};
use cola_ia_core::effect::{Begin, Evidence, Micros, ReportAnswer, SettleAnswer};
use cola_ia_core::event::Source;
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::{EventNumber, Intake};
use cola_ia_core::job::{LeaseToken, RetryPolicy};
use cola_ia_core::store::{
    Accepted, AttemptView, BudgetView, Claim, ClaimRequest, ConflictSummary, Costs, CostsRequest, DeliverySummary,
    Duty, EffectBegun, EffectDecision, EffectListRequest, EffectRef, EffectSummary, End, EndRefused, Ended,
    EraseRequest, Erased, ErrorKind, EventHistory, ExportCursor, ExportPage, Failure, FollowFrom, Followed,
    ImportBatch, Imported, JobPage, LEASES_MAX, LeaseLost, ListRequest, Looked, OpId, Order, OrderRefused, Page,
    PageRequest, Preview, PruneRequest, Pruned, Recovered, ResolveRequest, Resolved, Restored, RestoredMark,
    SourceView, Stats, Store, StoreError, Texts, TokenHash, TokenRequest, TokenView,
};
use tokio::sync::{mpsc, oneshot};

pub use address::{Address, DEFAULT_SCHEMA};
pub use migrate::Migrated;
pub use options::Options;

use lane::Lane;
use row::Columns as _;
use shared::{Shared, Verb, closed};
use tx::Kind;

use crate::moved::Moved;

use crate::common::cursor;

/// What opening did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Opened {
    /// A new store was made.
    pub created: bool,
    /// The schema was brought up to date.
    pub migrated: Option<Migrated>,
}

/// A store in a schema of a PostgreSQL database.
///
/// Dropping it waits for the calls that were made, and closes its connections.
pub struct PostgresStore {
    shared: Arc<Shared>,
    /// `None` for a store that was opened for views only.
    lanes: Option<Lanes>,
    runtime: tokio::runtime::Handle,
    duties: duty::Duties,
    /// Held by every call that runs.
    alive: Option<mpsc::Sender<()>>,
    keeper: Option<JoinHandle<()>>,
}

/// The verbs whose calls are many.
struct Lanes {
    accept: Lane<accept::Accepts>,
    claim: Lane<claim::Claims>,
    extend: Lane<end::Extends>,
    end: Lane<end::Ends>,
}

impl PostgresStore {
    /// Opens the store at this address: makes it where there is none (the database must be there), and brings an older one up
    /// to date.
    ///
    /// # Errors
    /// `store_unreachable`, `store_refuses`, `store_no_database`, `store_tls`, `store_encoding`, `store_newer`.
    pub fn open(address: &Address, options: &Options) -> Result<(Self, Opened), StoreError> {
        Self::start(address, options, true, |tx, options| {
            Box::pin(async move {
                let (created, migrated) = migrate::bring_up(tx, options.migrations).await?;
                follow::settle(tx).await?;
                Ok(Opened { created, migrated })
            })
        })
    }

    /// Opens a store that is there to change what it holds; one of an older program is brought up to date.
    ///
    /// # Errors
    /// `store_missing`; else as [`open`](Self::open).
    pub fn change(address: &Address, options: &Options) -> Result<(Self, Opened), StoreError> {
        Self::start(address, options, true, |tx, options| {
            Box::pin(async move {
                if migrate::found(tx).await? == migrate::Found::Nothing {
                    return Err(migrate::at(tx, ErrorKind::Invalid, "store_missing").into());
                }
                let (created, migrated) = migrate::bring_up(tx, options.migrations).await?;
                follow::settle(tx).await?;
                Ok(Opened { created, migrated })
            })
        })
    }

    /// Opens the store for views. Nothing is made or brought up to date.
    ///
    /// # Errors
    /// `store_missing`, `store_needs_migration`; else as [`open`](Self::open).
    pub fn view(address: &Address, options: &Options) -> Result<Self, StoreError> {
        let (store, _) = Self::start(address, options, false, |tx, options| {
            Box::pin(async move {
                let known = options.migrations;
                match migrate::found(tx).await? {
                    migrate::Found::Nothing => Err(migrate::at(tx, ErrorKind::Invalid, "store_missing").into()),
                    migrate::Found::Store(version) if (version as usize) < known.len() => {
                        let old = migrate::at(tx, ErrorKind::Invalid, "store_needs_migration");
                        Err(old.with("found", version).with("known", known.len()).into())
                    }
                    migrate::Found::Store(version) => {
                        migrate::refuse_newer(tx, known, version)?;
                        Ok(Opened::default())
                    }
                }
            })
        })?;
        Ok(store)
    }

    /// Marks the store as moved, or takes the mark away. A store that is marked can be read, and takes nothing in: whoever has it
    /// open is refused (`store_moved`).
    ///
    /// # Errors
    /// `Conflict` (`move_running`: a worker has a job in hand); `Unavailable`, `Corrupt`.
    pub async fn mark_moved(&self, mark: Option<Moved>) -> Result<(), StoreError> {
        self.call(Kind::Alone, mark, |tx, mark| Box::pin(moved::mark(tx, mark.as_ref()))).await
    }

    /// Where the store was moved, if it was.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    pub async fn moved(&self) -> Result<Option<Moved>, StoreError> {
        self.call(Kind::View, (), |tx, ()| Box::pin(moved::find(tx))).await
    }

    fn start(
        address: &Address,
        options: &Options,
        writes: bool,
        first: Verb<Options, Opened>,
    ) -> Result<(Self, Opened), StoreError> {
        let shared = Arc::new(Shared::new(address, options)?);
        let (runtime, alive, keeper) = keep()?;
        let mut holder = [0_u8; 16];
        // Not the store's randomness: who opens a store must not change what it gives.
        SystemEntropy.fill(&mut holder);
        let duties = duty::Duties::new(holder);
        let mut store = Self { shared, lanes: None, runtime, duties, alive: Some(alive), keeper: Some(keeper) };
        let kind = if writes { Kind::Alone } else { Kind::View };
        let (shared, options) = (Arc::clone(&store.shared), options.clone());
        let (reply, answer) = oneshot::channel();
        store.runtime.spawn(async move {
            let opened = shared.run(kind, &options, first).await;
            let _ = reply.send(opened);
        });
        let opened = answer.blocking_recv().unwrap_or_else(|_| Err(closed()))?;
        if writes && let Some(alive) = &store.alive {
            let (runtime, shared) = (&store.runtime, &store.shared);
            store.lanes = Some(Lanes {
                accept: Lane::start(runtime, shared, 2, alive),
                claim: Lane::start(runtime, shared, 2, alive),
                extend: Lane::start(runtime, shared, 1, alive),
                end: Lane::start(runtime, shared, 2, alive),
            });
        }
        Ok((store, opened))
    }

    /// Runs a verb in a transaction of this kind.
    async fn call<A, T>(&self, kind: Kind, asked: A, verb: Verb<A, T>) -> Result<T, StoreError>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        if matches!(kind, Kind::Hot | Kind::Alone) {
            self.lanes()?;
        }
        let (shared, alive) = (Arc::clone(&self.shared), self.alive.clone());
        let task = self.runtime.spawn(async move {
            let answer = shared.run(kind, &asked, verb).await;
            drop(alive);
            answer
        });
        task.await.unwrap_or_else(|_| Err(closed()))
    }

    fn lanes(&self) -> Result<&Lanes, StoreError> {
        self.lanes.as_ref().ok_or_else(|| {
            StoreError::new(ErrorKind::Invalid, "store_not_writable")
                .with("path", &self.shared.address)
                .with("cause", "opened for views")
        })
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        // The lanes end after the calls that wait, and the keeper after the last call.
        drop(self.lanes.take());
        drop(self.alive.take());
        if let Some(keeper) = self.keeper.take() {
            // A panic there was reported by its own message; there is nothing to add here.
            let _ = keeper.join();
        }
    }
}

/// Starts the threads that calls run on. They end when the last sender is gone; a thread of its own waits for that, because nobody
/// may wait inside of a caller's own runtime.
fn keep() -> Result<(tokio::runtime::Handle, mpsc::Sender<()>, JoinHandle<()>), StoreError> {
    let failed = |cause: std::io::Error| StoreError::new(ErrorKind::Unavailable, "store_io").with("cause", cause);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("store-postgres")
        .enable_all()
        .build()
        .map_err(failed)?;
    let (alive, mut last) = mpsc::channel::<()>(1);
    let handle = runtime.handle().clone();
    let keeper = std::thread::Builder::new()
        .name("store-keeper".into())
        .spawn(move || {
            runtime.block_on(async { while last.recv().await.is_some() {} });
            runtime.shutdown_timeout(Duration::from_secs(5));
        })
        .map_err(failed)?;
    Ok((handle, alive, keeper))
}

/// Refuses a call about more leases than one transaction takes.
fn bounded(count: usize) -> Result<(), StoreError> {
    if count > LEASES_MAX {
        return Err(StoreError::new(ErrorKind::Invalid, "too_many_leases").with("limit", LEASES_MAX));
    }
    Ok(())
}

#[async_trait]
impl Store for PostgresStore {
    async fn accept(&self, op: OpId, batch: Arc<Vec<Intake>>) -> Result<Accepted, StoreError> {
        self.lanes()?.accept.call(accept::Request::new(op, batch)?).await
    }

    async fn preview(&self, batch: Arc<Vec<Intake>>) -> Result<Vec<Preview>, StoreError> {
        self.call(Kind::View, batch, |tx, batch| Box::pin(preview::preview(tx, batch))).await
    }

    async fn find_events(&self, source: Option<Source>, id: String) -> Result<Vec<EventHistory>, StoreError> {
        self.call(Kind::View, (source, id), |tx, (source, id)| {
            Box::pin(find_events::find_events(tx, source.as_ref(), id))
        })
        .await
    }

    async fn export(&self, cursor: Option<ExportCursor>, limit: u32) -> Result<ExportPage, StoreError> {
        self.call(Kind::View, (cursor, limit), |tx, (cursor, limit)| Box::pin(export::export(tx, *cursor, *limit)))
            .await
    }

    async fn import(&self, op: OpId, batch: Arc<ImportBatch>) -> Result<Imported, StoreError> {
        let prepared = import::Prepared::new(batch)?;
        self.call(Kind::Alone, (op, prepared), |tx, (op, prepared)| Box::pin(import::import(tx, *op, prepared))).await
    }

    async fn jobs(&self, filter: Filter, page: PageRequest) -> Result<JobPage, StoreError> {
        self.call(Kind::List, (filter, page), |tx, (filter, page)| Box::pin(jobs::jobs(tx, filter, *page))).await
    }

    async fn restored(&self, op: OpId, mark: RestoredMark) -> Result<Restored, StoreError> {
        self.call(Kind::Alone, (op, mark), |tx, (op, mark)| Box::pin(restored::restored(tx, *op, *mark))).await
    }

    async fn restored_at(&self) -> Result<Option<Timestamp>, StoreError> {
        self.call(Kind::View, (), |tx, ()| Box::pin(restored::restored_at(tx))).await
    }

    async fn stats(&self, filter: Filter) -> Result<Stats, StoreError> {
        self.call(Kind::View, filter, |tx, filter| Box::pin(stats::stats(tx, filter))).await
    }

    async fn deliveries(&self, filter: Filter, request: ListRequest) -> Result<Page<DeliverySummary>, StoreError> {
        let below = request.after.as_ref().map(cursor::number).transpose()?;
        self.call(Kind::List, (filter, below, request.limit), |tx, (filter, below, limit)| {
            Box::pin(deliveries::deliveries(tx, filter, *below, *limit))
        })
        .await
    }

    async fn conflicts(
        &self,
        filter: Filter,
        request: ListRequest,
        texts: Texts,
    ) -> Result<Page<ConflictSummary>, StoreError> {
        let after = request.after.as_ref().map(cursor::numbers).transpose()?;
        self.call(Kind::List, (filter, after, request.limit, texts), |tx, (filter, after, limit, texts)| {
            Box::pin(conflicts::conflicts(tx, filter, *after, *limit, *texts))
        })
        .await
    }

    async fn attempts(&self, filter: Filter, request: ListRequest) -> Result<Page<AttemptView>, StoreError> {
        let below = request.after.as_ref().map(cursor::number).transpose()?;
        self.call(Kind::List, (filter, below, request.limit), |tx, (filter, below, limit)| {
            Box::pin(attempts::attempts(tx, filter, *below, *limit))
        })
        .await
    }

    async fn follow(&self, filter: Filter, from: FollowFrom) -> Result<Followed, StoreError> {
        match from {
            FollowFrom::Latest(count) => {
                self.call(Kind::Follow, (filter, count), |tx, (filter, count)| {
                    Box::pin(follow::latest(tx, filter, *count))
                })
                .await
            }
            FollowFrom::After(cursor) => {
                let after = follow::Place::read(&cursor)?;
                self.call(Kind::Follow, (filter, after), |tx, (filter, after)| {
                    Box::pin(follow::follow(tx, filter, *after))
                })
                .await
            }
        }
    }

    async fn resolve(&self, op: OpId, request: ResolveRequest) -> Result<Resolved, StoreError> {
        self.call(Kind::Alone, (op, request), |tx, (op, request)| Box::pin(resolve::resolve(tx, *op, request))).await
    }

    async fn prune(&self, op: OpId, request: PruneRequest) -> Result<Pruned, StoreError> {
        self.call(Kind::Alone, (op, request), |tx, (op, request)| Box::pin(prune::prune(tx, *op, request))).await
    }

    async fn prunable(&self, request: PruneRequest) -> Result<Pruned, StoreError> {
        self.call(Kind::View, request, |tx, request| Box::pin(prune::prunable(tx, request))).await
    }

    async fn erase(&self, op: OpId, request: EraseRequest) -> Result<Option<Erased>, StoreError> {
        self.call(Kind::Alone, (op, request), |tx, (op, request)| Box::pin(erase::erase(tx, *op, request))).await
    }

    async fn claim(&self, op: OpId, request: ClaimRequest) -> Result<Claim, StoreError> {
        self.lanes()?.claim.call((op, request)).await
    }

    async fn extend(
        &self,
        leases: Vec<LeaseToken>,
        length: Duration,
    ) -> Result<Vec<Result<Timestamp, LeaseLost>>, StoreError> {
        bounded(leases.len())?;
        self.lanes()?.extend.call((leases, length)).await
    }

    async fn end(
        &self,
        ends: Arc<Vec<End>>,
        policy: RetryPolicy,
    ) -> Result<Vec<Result<Ended, EndRefused>>, StoreError> {
        bounded(ends.len())?;
        self.lanes()?.end.call((ends, policy)).await
    }

    async fn recover(&self, policy: RetryPolicy, limit: u32, dry_run: bool) -> Result<Recovered, StoreError> {
        let kind = if dry_run { Kind::View } else { Kind::Hot };
        self.call(kind, (policy, limit, dry_run), |tx, (policy, limit, dry_run)| {
            Box::pin(recover::recover(tx, policy, *limit, *dry_run))
        })
        .await
    }

    async fn sources(&self, filter: Filter) -> Result<Vec<SourceView>, StoreError> {
        self.call(Kind::View, filter, |tx, filter| Box::pin(sources::sources(tx, filter))).await
    }

    async fn resume(&self, op: OpId, source: Source) -> Result<bool, StoreError> {
        self.call(Kind::Alone, (op, source), |tx, (op, source)| Box::pin(sources::resume(tx, *op, source))).await
    }

    async fn order(
        &self,
        op: OpId,
        order: Order,
        jobs: Vec<EventNumber>,
    ) -> Result<Vec<Result<Ended, OrderRefused>>, StoreError> {
        self.call(Kind::Alone, (op, order, jobs), |tx, (op, order, jobs)| Box::pin(order::order(tx, *op, *order, jobs)))
            .await
    }

    async fn changes(&self) -> Result<u64, StoreError> {
        self.call(Kind::View, (), |tx, ()| Box::pin(changes::changes(tx))).await
    }

    async fn namespace(&self) -> Result<[u8; 16], StoreError> {
        self.call(Kind::View, (), |tx, ()| {
            Box::pin(async move { tx.one("SELECT namespace FROM store", &[]).await?.bytes(0) })
        })
        .await
    }

    async fn effect_begin(&self, begin: Begin, policy: RetryPolicy) -> Result<EffectBegun, StoreError> {
        self.call(Kind::Hot, (begin, policy), |tx, (begin, policy)| Box::pin(effects::begin::begin(tx, begin, policy)))
            .await
    }

    async fn effect_done(
        &self,
        of: EffectRef,
        evidence: Evidence,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        self.call(Kind::Hot, (of, evidence, policy), |tx, (of, evidence, policy)| {
            Box::pin(effects::done::done(tx, of, evidence, policy))
        })
        .await
    }

    async fn effect_failed(
        &self,
        of: EffectRef,
        failure: Failure,
        note: Option<String>,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        self.call(Kind::Hot, (of, failure, note, policy), |tx, (of, failure, note, policy)| {
            Box::pin(effects::failed::failed(tx, of, *failure, note.as_deref(), policy))
        })
        .await
    }

    async fn effect_unknown(
        &self,
        of: EffectRef,
        note: Option<String>,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        self.call(Kind::Hot, (of, note, policy), |tx, (of, note, policy)| {
            Box::pin(effects::unknown::unknown(tx, of, note.as_deref(), policy))
        })
        .await
    }

    async fn effect_resolve(
        &self,
        of: EffectRef,
        looked: Looked,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        self.call(Kind::Hot, (of, looked, policy), |tx, (of, looked, policy)| {
            Box::pin(effects::resolve::resolve(tx, of, looked, policy))
        })
        .await
    }

    async fn effect_decide(
        &self,
        op: OpId,
        decision: EffectDecision,
        policy: RetryPolicy,
    ) -> Result<Option<SettleAnswer>, StoreError> {
        self.call(Kind::Alone, (op, decision, policy), |tx, (op, decision, policy)| {
            Box::pin(effects::decide::decide(tx, *op, decision, policy))
        })
        .await
    }

    async fn effect_list(&self, request: EffectListRequest) -> Result<Page<EffectSummary>, StoreError> {
        let below = request.page.after.as_ref().map(cursor::number).transpose()?;
        self.call(Kind::View, (request, below), |tx, (request, below)| {
            Box::pin(effects::list::list(tx, &request.filter, *below, request.page.limit))
        })
        .await
    }

    async fn costs(&self, request: CostsRequest) -> Result<Costs, StoreError> {
        self.call(Kind::View, request, |tx, request| Box::pin(costs::costs(tx, request))).await
    }

    async fn set_budget(&self, op: OpId, source: Source, limit: Option<Micros>) -> Result<(), StoreError> {
        self.call(Kind::Alone, (op, source, limit), |tx, (op, source, limit)| {
            Box::pin(budgets::set_budget(tx, *op, source, *limit))
        })
        .await
    }

    async fn budgets(&self) -> Result<Vec<BudgetView>, StoreError> {
        self.call(Kind::View, (), |tx, ()| Box::pin(budgets::budgets(tx))).await
    }

    async fn set_currency(&self, currency: String) -> Result<(), StoreError> {
        self.call(Kind::Alone, currency, |tx, currency| Box::pin(currency::set_currency(tx, currency))).await
    }

    async fn currency(&self) -> Result<Option<String>, StoreError> {
        self.call(Kind::View, (), |tx, ()| Box::pin(currency::currency(tx))).await
    }

    async fn token_create(&self, op: OpId, request: TokenRequest) -> Result<TokenView, StoreError> {
        self.call(Kind::Alone, (op, request), |tx, (op, request)| Box::pin(tokens::create(tx, *op, request))).await
    }

    async fn token_revoke(&self, op: OpId, name: String) -> Result<bool, StoreError> {
        self.call(Kind::Alone, (op, name), |tx, (op, name)| Box::pin(tokens::revoke(tx, *op, name))).await
    }

    async fn token_find(&self, hash: TokenHash) -> Result<Option<TokenView>, StoreError> {
        self.call(Kind::View, hash, |tx, hash| Box::pin(tokens::find(tx, *hash))).await
    }

    async fn tokens(&self) -> Result<Vec<TokenView>, StoreError> {
        self.call(Kind::View, (), |tx, ()| Box::pin(tokens::all(tx))).await
    }

    async fn duty(&self, duty: Duty, length: Duration) -> Result<bool, StoreError> {
        // A clock that a test turns does not turn what is remembered by real time.
        if self.shared.clock.is_none()
            && let Some(known) = self.duties.known(duty)
        {
            return Ok(known);
        }
        let (asked, holder) = (Instant::now(), self.duties.holder);
        let is_ours = self
            .call(Kind::Hot, (holder, duty, length), |tx, (holder, duty, length)| {
                Box::pin(duty::take(tx, holder, *duty, *length))
            })
            .await?;
        self.duties.learn(duty, is_ours, asked, length);
        Ok(is_ours)
    }
}
