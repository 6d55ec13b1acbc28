//! A store in one SQLite file.
//!
//! One thread writes, one reads; see `writer` and `reader`. What stands at the path is looked at before SQLite may touch
//! it (`file`); a new store is made whole and then linked into place (`create`).

mod accept;
mod attempts;
mod backup;
mod budgets;
mod changes;
mod check;
mod checkpoint;
mod claim;
mod conditions;
mod conflicts;
mod connection;
mod copy;
mod costs;
mod counters;
mod create;
mod currency;
mod deliveries;
pub mod doctor;
mod effects;
mod end;
mod erase;
mod error;
mod export;
mod file;
pub mod filesystem;
mod find_events;
mod home;
mod identify;
mod identities;
mod import;
mod job_row;
mod jobs;
mod lease;
mod locks;
mod migrate;
mod money;
mod moved;
mod ops;
mod order;
#[cfg(test)]
mod plans;
mod preview;
mod processes;
mod prune;
mod reader;
mod records;
mod recover;
mod resolve;
mod restore;
mod restored;
mod row;
mod rows;
mod shrink;
mod slot;
mod sources;
mod stats;
mod stretch;
mod sums;
mod take_over;
mod time_range;
mod tokens;
mod writer;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cola_ia_core::clock::{Clock, Entropy, SystemClock, SystemEntropy, Timestamp};
use cola_ia_core::effect::{Begin, Evidence, Micros, ReportAnswer, SettleAnswer, UtcDay};
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
use rusqlite::Connection;

pub use backup::{BackedUp, Stage, backup};
pub use connection::{Patience, Quiet};
pub use filesystem::Filesystem;
pub use identities::Packing;
pub use migrate::Migrated;
pub use processes::Process;
pub use restore::{RestoredFile, restore};
pub use shrink::Shrunk;
pub use take_over::{REPORTED_MAX, TakenOver, Untaken};

use crate::common::cursor;
use crate::migration::Migration;
use crate::moved::Moved;
use accept::Prepared;
use changes::Changes;
use connection::Wait;
use file::Found;
use reader::Reader;
use slot::Slots;
use writer::Writer;

/// How to open a store.
#[derive(Clone)]
pub struct Options {
    /// How long a lock that another process holds is waited for.
    pub lock_wait: Duration,
    /// Told while a lock is waited for.
    pub patience: Arc<dyn Patience>,
    /// Use a network filesystem all the same.
    pub allow_network_filesystem: bool,
    /// Asks what kind of filesystem a folder is on.
    pub filesystem: fn(&Path) -> io::Result<Filesystem>,
    /// The store's clock.
    pub clock: Arc<dyn Clock>,
    /// The store's randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Bits of the hash that gives an identity its slot in a new store: 64. Tests take fewer, so that slots collide.
    pub slot_bits: u32,
    /// Counts that pile up before they are added up. Tests take fewer.
    pub fold_after: u32,
    /// When identities go from rows to blocks. Tests take small sizes.
    pub packing: Packing,
    /// The schema's steps that this program knows. Tests take others.
    pub migrations: &'static [Migration],
}

impl Default for Options {
    fn default() -> Self {
        Self {
            lock_wait: Duration::from_mins(1),
            patience: Arc::new(Quiet),
            allow_network_filesystem: false,
            filesystem: filesystem::probe,
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SystemEntropy),
            slot_bits: 64,
            fold_after: counters::FOLD_AFTER,
            packing: Packing::USUAL,
            migrations: migrate::MIGRATIONS,
        }
    }
}

impl Options {
    fn wait(&self) -> Wait {
        Wait { limit: self.lock_wait, patience: self.patience.clone() }
    }
}

/// What opening did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opened {
    /// A new store was made.
    pub created: bool,
    /// The schema was brought up to date.
    pub migrated: Option<Migrated>,
    /// The article's database was taken over.
    pub taken_over: Option<TakenOver>,
    /// A backup was put in the place of a store without `restore`: the first call that changes something marks it as
    /// restored.
    pub backup_in_place: bool,
    /// The file is a copy that somebody made of a store: the first call that changes something writes that down.
    pub copied: bool,
}

/// A store in one SQLite file.
///
/// Dropping it waits for the calls that were made and, as the last user of the file, moves the log into it.
pub struct SqliteStore {
    /// `None` for a store that was opened for views only.
    writer: Option<Writer>,
    reader: Reader,
    changes: Changes,
    path: PathBuf,
    slots: Slots,
    preparer: Preparer,
    clock: Arc<dyn Clock>,
    wait: Wait,
}

/// Works out beforehand, on another thread, what a store needs of a batch that will be accepted soon and that does not depend
/// on what the store holds. It keeps the last one.
#[derive(Debug, Clone)]
pub struct Preparer {
    slots: Slots,
    ready: Arc<Mutex<Option<Prepared>>>,
}

impl Preparer {
    fn new(slots: Slots) -> Self {
        Self { slots, ready: Arc::default() }
    }

    /// A batch that is too long is left to be refused.
    pub fn prepare(&self, batch: &Arc<Vec<Intake>>) {
        let prepared = Prepared::new(Arc::clone(batch), self.slots).ok();
        *self.ready.lock().unwrap_or_else(PoisonError::into_inner) = prepared;
    }

    /// What was worked out of this very batch.
    fn take(&self, batch: &Arc<Vec<Intake>>) -> Option<Prepared> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        ready.take().filter(|prepared| prepared.is_of(batch))
    }
}

impl SqliteStore {
    /// What prepares batches for this store.
    pub fn preparer(&self) -> Preparer {
        self.preparer.clone()
    }

    /// Opens the store at `path` for intake: makes it where there is none, brings an older one up to date, and takes the
    /// article's database over.
    ///
    /// # Errors
    /// Every reason by its own code; whatever stands at the path is then as it was.
    pub fn open(path: &Path, options: &Options) -> Result<(Self, Opened), StoreError> {
        Self::open_to_write(path, options, true)
    }

    /// Makes a store, or opens one, and leaves the article's database alone (`store_article`).
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn init(path: &Path, options: &Options) -> Result<(Self, Opened), StoreError> {
        Self::open_to_write(path, options, false)
    }

    fn open_to_write(path: &Path, options: &Options, may_take_over: bool) -> Result<(Self, Opened), StoreError> {
        let mut opened = Opened::default();
        let wait = options.wait();
        let mut found = file::inspect(path)?;
        refuse_network(path, options)?;
        if found == Found::Absent {
            opened.created = create::create(path, options, &wait)?;
            found = file::inspect(path)?;
        }
        if settled(path, found, &wait)? != Found::Store && take_over::recognise(path, &wait)?.is_some() {
            if !may_take_over {
                return Err(error::at(path, ErrorKind::Invalid, "store_article"));
            }
            opened.taken_over = take_over::take_over(path, options, &wait)?;
        }
        let place = file::identity(path);
        known_version(path, options, &wait)?;
        let mut connection = connection::open_writer(path, &wait)?;
        if file::identity(path) != place {
            // A restore put another file there while its lock was waited for. This one has been replaced.
            drop(connection);
            return Self::open_to_write(path, options, may_take_over);
        }
        opened.migrated = migrate::migrate(&mut connection, path, options.migrations, &wait)?;
        let arrival = wait.for_lock(path, || home::arrival(&connection, path))?;
        (opened.backup_in_place, opened.copied) = (arrival.backup_in_place, arrival.copied);
        let slots = slots(path, &connection)?;
        let views = connection::open_reader(path, &wait)?;
        let store = Self {
            writer: Some(Writer::start(
                connection,
                path.to_owned(),
                options.clock.clone(),
                slots,
                options.fold_after,
                options.packing,
                wait.clone(),
                arrival.is_news(),
            )),
            reader: Reader::start(views, path, slots),
            changes: Changes::default(),
            path: path.to_owned(),
            slots,
            preparer: Preparer::new(slots),
            clock: options.clock.clone(),
            wait,
        };
        Ok((store, opened))
    }

    /// Marks the store as moved, or takes the mark away. A store that is marked can be read, and takes nothing in: whoever has it
    /// open is refused (`store_moved`).
    ///
    /// # Errors
    /// `Conflict` (`move_running`: a worker has a job in hand); `Unavailable`, `Corrupt`.
    pub async fn mark_moved(&self, mark: Option<Moved>) -> Result<(), StoreError> {
        self.writer()?.call(1, move |scope| moved::mark(scope, mark.as_ref())).await
    }

    /// Where the store was moved, if it was.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    pub async fn moved(&self) -> Result<Option<Moved>, StoreError> {
        self.reader.call(|sight| moved::find(sight.connection)).await
    }

    /// Opens the store at `path` for views. Nothing is made, brought up to date or taken over.
    ///
    /// # Errors
    /// `store_missing`, `store_needs_migration`, `store_article`; else as [`open`](Self::open).
    pub fn view(path: &Path, options: &Options) -> Result<Self, StoreError> {
        let wait = options.wait();
        let found = file::inspect(path)?;
        if found == Found::Absent {
            return Err(error::at(path, ErrorKind::Invalid, "store_missing"));
        }
        refuse_network(path, options)?;
        if settled(path, found, &wait)? != Found::Store && take_over::recognise(path, &wait)?.is_some() {
            return Err(error::at(path, ErrorKind::Invalid, "store_article"));
        }
        let place = file::identity(path);
        let version = known_version(path, options, &wait)?;
        let known = options.migrations.len() as u32;
        if version < known {
            return Err(error::at(path, ErrorKind::Invalid, "store_needs_migration")
                .with("found", version)
                .with("known", known));
        }
        let views = connection::open_reader(path, &wait)?;
        if file::identity(path) != place {
            // As in `open_to_write`.
            drop(views);
            return Self::view(path, options);
        }
        let slots = slots(path, &views)?;
        Ok(Self {
            writer: None,
            reader: Reader::start(views, path, slots),
            changes: Changes::default(),
            path: path.to_owned(),
            slots,
            preparer: Preparer::new(slots),
            clock: options.clock.clone(),
            wait,
        })
    }

    /// Opens a store that is there to change what it holds; one of an older program is brought up to date. Nothing is made
    /// and the article's database is left alone.
    ///
    /// # Errors
    /// `store_missing`, `store_article`; else as [`open`](Self::open).
    pub fn change(path: &Path, options: &Options) -> Result<(Self, Opened), StoreError> {
        if file::inspect(path)? == Found::Absent {
            return Err(error::at(path, ErrorKind::Invalid, "store_missing"));
        }
        Self::open_to_write(path, options, false)
    }

    /// Gives the room of what was removed back to the disk: the file is written anew. Nobody else can write meanwhile, and
    /// the disk must have room for the file twice more.
    ///
    /// # Errors
    /// `store_full`, `store_locked`; whatever SQLite says. The store is then as it was.
    pub fn shrink(&self) -> Result<Shrunk, StoreError> {
        shrink::shrink(&self.path, &self.wait)
    }

    fn writer(&self) -> Result<&Writer, StoreError> {
        self.writer.as_ref().ok_or_else(|| {
            error::at(&self.path, ErrorKind::Invalid, "store_not_writable").with("cause", "opened for views")
        })
    }
}

/// Settles what only SQLite can tell: waits for a take-over that is under way, and rolls back one that was killed.
fn settled(path: &Path, mut found: Found, wait: &Wait) -> Result<Found, StoreError> {
    while found == Found::Claimed {
        let connection = connection::open_plain(path).map_err(|cause| error::sqlite(path, &cause))?;
        let signature: u32 =
            wait.for_lock(path, || connection.query_row("PRAGMA application_id", [], |row| row.get(0)))?;
        if signature == file::APPLICATION_ID {
            return Ok(Found::Store);
        }
        drop(connection);
        found = file::inspect(path)?;
    }
    Ok(found)
}

/// The schema's version, refused where a newer program made it. Nothing is written, not even on closing.
fn known_version(path: &Path, options: &Options, wait: &Wait) -> Result<u32, StoreError> {
    let connection = connection::open_untouched(path)?;
    let version = wait.for_lock(path, || migrate::version(&connection))?;
    migrate::refuse_newer(path, options.migrations, version)?;
    Ok(version)
}

/// What the store's row says about slots.
fn slots(path: &Path, connection: &Connection) -> Result<Slots, StoreError> {
    slots_of(connection).map_err(|cause| error::sqlite(path, &cause))
}

fn slots_of(connection: &Connection) -> rusqlite::Result<Slots> {
    connection.query_row("SELECT slot_key, slot_bits FROM store", [], |row| Ok(Slots::new(row.get(0)?, row.get(1)?)))
}

fn refuse_network(path: &Path, options: &Options) -> Result<(), StoreError> {
    if options.allow_network_filesystem {
        return Ok(());
    }
    // SQLite follows links: the side files stand beside the real one.
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match (options.filesystem)(file::folder_of(&real)) {
        Ok(Filesystem::Network(name)) => {
            Err(error::at(path, ErrorKind::Invalid, "store_network_fs").with("filesystem", name))
        }
        Ok(Filesystem::Local) => Ok(()),
        Err(cause) => Err(error::io(path, &cause)),
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn accept(&self, op: OpId, batch: Arc<Vec<Intake>>) -> Result<Accepted, StoreError> {
        let writer = self.writer()?;
        let prepared = match self.preparer.take(&batch) {
            Some(prepared) => prepared,
            None => Prepared::new(batch, self.slots)?,
        };
        writer.call(prepared.len(), move |scope| accept::accept(scope, op, &prepared)).await
    }

    async fn preview(&self, batch: Arc<Vec<Intake>>) -> Result<Vec<Preview>, StoreError> {
        self.reader.call(move |sight| preview::preview(sight, &batch)).await
    }

    async fn find_events(&self, source: Option<Source>, id: String) -> Result<Vec<EventHistory>, StoreError> {
        self.reader.call(move |sight| find_events::find_events(sight, source.as_ref(), &id)).await
    }

    async fn export(&self, cursor: Option<ExportCursor>, limit: u32) -> Result<ExportPage, StoreError> {
        self.reader.call(move |sight| export::export(sight, cursor, limit)).await
    }

    async fn import(&self, op: OpId, batch: Arc<ImportBatch>) -> Result<Imported, StoreError> {
        let writer = self.writer()?;
        let prepared = import::Prepared::new(batch)?;
        writer.call(prepared.len(), move |scope| import::import(scope, op, &prepared)).await
    }

    async fn jobs(&self, filter: Filter, page: PageRequest) -> Result<JobPage, StoreError> {
        self.reader.call(move |sight| jobs::jobs(sight, &filter, page)).await
    }

    async fn restored(&self, op: OpId, mark: RestoredMark) -> Result<Restored, StoreError> {
        self.writer()?.call(1, move |scope| restored::restored(scope, op, mark)).await
    }

    async fn restored_at(&self) -> Result<Option<Timestamp>, StoreError> {
        self.reader.call(|sight| restored::restored_at(sight.connection)).await
    }

    async fn stats(&self, filter: Filter) -> Result<Stats, StoreError> {
        self.reader.call(move |sight| stats::stats(sight, &filter)).await
    }

    async fn deliveries(&self, filter: Filter, request: ListRequest) -> Result<Page<DeliverySummary>, StoreError> {
        let below = request.after.as_ref().map(cursor::number).transpose()?;
        self.reader.call(move |sight| deliveries::deliveries(sight, &filter, below, request.limit)).await
    }

    async fn conflicts(
        &self,
        filter: Filter,
        request: ListRequest,
        texts: Texts,
    ) -> Result<Page<ConflictSummary>, StoreError> {
        let after = request.after.as_ref().map(cursor::numbers).transpose()?;
        self.reader.call(move |sight| conflicts::conflicts(sight, &filter, after, request.limit, texts)).await
    }

    async fn attempts(&self, filter: Filter, request: ListRequest) -> Result<Page<AttemptView>, StoreError> {
        let below = request.after.as_ref().map(cursor::number).transpose()?;
        self.reader.call(move |sight| attempts::attempts(sight, &filter, below, request.limit)).await
    }

    async fn follow(&self, filter: Filter, from: FollowFrom) -> Result<Followed, StoreError> {
        match from {
            FollowFrom::Latest(count) => self.reader.call(move |sight| deliveries::latest(sight, &filter, count)).await,
            FollowFrom::After(place) => {
                let after = cursor::number(&place)?;
                self.reader.call(move |sight| deliveries::follow(sight, &filter, after)).await
            }
        }
    }

    async fn resolve(&self, op: OpId, request: ResolveRequest) -> Result<Resolved, StoreError> {
        self.writer()?.call(1, move |scope| resolve::resolve(scope, op, &request)).await
    }

    async fn prune(&self, op: OpId, request: PruneRequest) -> Result<Pruned, StoreError> {
        self.writer()?.call(1, move |scope| prune::prune(scope, op, &request)).await
    }

    async fn prunable(&self, request: PruneRequest) -> Result<Pruned, StoreError> {
        let now = self.clock.now();
        self.reader.call(move |sight| prune::prunable(sight.connection, now, &request)).await
    }

    async fn erase(&self, op: OpId, request: EraseRequest) -> Result<Option<Erased>, StoreError> {
        let erased = self.writer()?.call(1, move |scope| erase::erase(scope, op, &request)).await?;
        match erased {
            Some(erased) if erased.next.is_none() => {
                let gone = shrink::empty_log(self.path.clone(), self.wait.clone()).await?;
                Ok(Some(Erased { gone, ..erased }))
            }
            other => Ok(other),
        }
    }

    async fn claim(&self, op: OpId, request: ClaimRequest) -> Result<Claim, StoreError> {
        let weight = request.limit as usize;
        self.writer()?.call(weight, move |scope| claim::claim(scope, op, &request)).await
    }

    async fn extend(
        &self,
        leases: Vec<LeaseToken>,
        length: Duration,
    ) -> Result<Vec<Result<Timestamp, LeaseLost>>, StoreError> {
        end::bounded(leases.len())?;
        self.writer()?.call(leases.len(), move |scope| end::extend(scope, &leases, length)).await
    }

    async fn end(
        &self,
        ends: Arc<Vec<End>>,
        policy: RetryPolicy,
    ) -> Result<Vec<Result<Ended, EndRefused>>, StoreError> {
        end::bounded(ends.len())?;
        self.writer()?.call(ends.len(), move |scope| end::end(scope, &ends, &policy)).await
    }

    async fn recover(&self, policy: RetryPolicy, limit: u32, dry_run: bool) -> Result<Recovered, StoreError> {
        let weight = limit as usize;
        self.writer()?.call(weight, move |scope| recover::recover(scope, &policy, limit, dry_run)).await
    }

    async fn sources(&self, filter: Filter) -> Result<Vec<SourceView>, StoreError> {
        let now = self.clock.now();
        self.reader.call(move |sight| sources::sources(sight, &filter, now)).await
    }

    async fn resume(&self, op: OpId, source: Source) -> Result<bool, StoreError> {
        self.writer()?.call(1, move |scope| sources::resume(scope, op, &source)).await
    }

    async fn order(
        &self,
        op: OpId,
        order: Order,
        jobs: Vec<EventNumber>,
    ) -> Result<Vec<Result<Ended, OrderRefused>>, StoreError> {
        self.writer()?.call(jobs.len(), move |scope| order::order(scope, op, order, &jobs)).await
    }

    async fn changes(&self) -> Result<u64, StoreError> {
        self.changes.look(&self.path)
    }

    async fn namespace(&self) -> Result<[u8; 16], StoreError> {
        self.reader.call(|sight| sight.connection.query_row("SELECT namespace FROM store", [], |row| row.get(0))).await
    }

    async fn effect_begin(&self, begin: Begin, policy: RetryPolicy) -> Result<EffectBegun, StoreError> {
        self.writer()?.call(1, move |scope| effects::begin::begin(scope, &begin, &policy)).await
    }

    async fn effect_done(
        &self,
        of: EffectRef,
        evidence: Evidence,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        self.writer()?.call(1, move |scope| effects::done::done(scope, &of, &evidence, &policy)).await
    }

    async fn effect_failed(
        &self,
        of: EffectRef,
        failure: Failure,
        note: Option<String>,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        let said =
            move |scope: &writer::Scope<'_>| effects::failed::failed(scope, &of, failure, note.as_deref(), &policy);
        self.writer()?.call(1, said).await
    }

    async fn effect_unknown(
        &self,
        of: EffectRef,
        note: Option<String>,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        self.writer()?.call(1, move |scope| effects::unknown::unknown(scope, &of, note.as_deref(), &policy)).await
    }

    async fn effect_resolve(
        &self,
        of: EffectRef,
        looked: Looked,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        self.writer()?.call(1, move |scope| effects::resolve::resolve(scope, &of, &looked, &policy)).await
    }

    async fn effect_decide(
        &self,
        op: OpId,
        decision: EffectDecision,
        policy: RetryPolicy,
    ) -> Result<Option<SettleAnswer>, StoreError> {
        self.writer()?.call(1, move |scope| effects::decide::decide(scope, op, &decision, &policy)).await
    }

    async fn effect_list(&self, request: EffectListRequest) -> Result<Page<EffectSummary>, StoreError> {
        let below = request.page.after.as_ref().map(cursor::number).transpose()?;
        self.reader.call(move |sight| effects::list::list(sight, &request.filter, below, request.page.limit)).await
    }

    async fn costs(&self, request: CostsRequest) -> Result<Costs, StoreError> {
        self.reader.call(move |sight| costs::costs(sight, &request)).await
    }

    async fn set_budget(&self, op: OpId, source: Source, limit: Option<Micros>) -> Result<(), StoreError> {
        self.writer()?.call(1, move |scope| budgets::set_budget(scope, op, &source, limit)).await
    }

    async fn budgets(&self) -> Result<Vec<BudgetView>, StoreError> {
        let today = UtcDay::of(self.clock.now());
        self.reader.call(move |sight| budgets::budgets(sight, today)).await
    }

    async fn set_currency(&self, currency: String) -> Result<(), StoreError> {
        self.writer()?.call(1, move |scope| currency::set_currency(scope, &currency)).await
    }

    async fn currency(&self) -> Result<Option<String>, StoreError> {
        self.reader.call(|sight| currency::currency(sight.connection)).await
    }

    async fn token_create(&self, op: OpId, request: TokenRequest) -> Result<TokenView, StoreError> {
        self.writer()?.call(1, move |scope| tokens::create(scope, op, &request)).await
    }

    async fn token_revoke(&self, op: OpId, name: String) -> Result<bool, StoreError> {
        self.writer()?.call(1, move |scope| tokens::revoke(scope, op, &name)).await
    }

    async fn token_find(&self, hash: TokenHash) -> Result<Option<TokenView>, StoreError> {
        self.reader.call(move |sight| tokens::find(sight.connection, hash)).await
    }

    async fn tokens(&self) -> Result<Vec<TokenView>, StoreError> {
        self.reader.call(|sight| tokens::all(sight.connection)).await
    }
}
