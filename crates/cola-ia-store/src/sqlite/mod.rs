//! A store in one SQLite file.
//!
//! One thread writes, one reads; see `writer` and `reader`. What stands at the path is looked at before SQLite may touch
//! it (`file`); a new store is made whole and then linked into place (`create`).

mod accept;
mod checkpoint;
mod claim;
mod connection;
mod copy;
mod create;
mod end;
mod error;
mod file;
pub mod filesystem;
mod find_events;
mod identities;
mod job_row;
mod jobs;
mod migrate;
mod ops;
mod order;
mod preview;
mod reader;
mod recover;
mod row;
mod rows;
mod slot;
mod take_over;
mod writer;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cola_ia_core::clock::{Clock, Entropy, SystemClock, SystemEntropy, Timestamp};
use cola_ia_core::event::Source;
use cola_ia_core::intake::{EventNumber, Intake};
use cola_ia_core::job::{LeaseToken, RetryPolicy};
use cola_ia_core::store::{
    Accepted, Claim, ClaimRequest, End, Ended, ErrorKind, EventHistory, JobFilter, JobPage, LeaseLost, OpId, Order,
    OrderRefused, PageRequest, Preview, Recovered, Store, StoreError,
};
use rusqlite::Connection;

pub use connection::{Patience, Quiet};
pub use filesystem::Filesystem;
pub use identities::Packing;
pub use migrate::Migrated;
pub use take_over::{REPORTED_MAX, TakenOver, Untaken};

use crate::migration::Migration;
use accept::Prepared;
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
}

/// A store in one SQLite file.
///
/// Dropping it waits for the calls that were made and, as the last user of the file, moves the log into it.
pub struct SqliteStore {
    /// `None` for a store that was opened for views only.
    writer: Option<Writer>,
    reader: Reader,
    path: PathBuf,
    slots: Slots,
}

impl SqliteStore {
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
        known_version(path, options, &wait)?;
        let mut connection = connection::open_writer(path, &wait)?;
        opened.migrated = migrate::migrate(&mut connection, path, options.migrations, &wait)?;
        let slots = slots(path, &connection)?;
        let views = connection::open_reader(path, &wait)?;
        let store = Self {
            writer: Some(Writer::start(
                connection,
                path.to_owned(),
                options.clock.clone(),
                slots,
                options.packing,
                wait,
            )),
            reader: Reader::start(views, path, slots),
            path: path.to_owned(),
            slots,
        };
        Ok((store, opened))
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
        let version = known_version(path, options, &wait)?;
        let known = options.migrations.len() as u32;
        if version < known {
            return Err(error::at(path, ErrorKind::Invalid, "store_needs_migration")
                .with("found", version)
                .with("known", known));
        }
        let views = connection::open_reader(path, &wait)?;
        let slots = slots(path, &views)?;
        Ok(Self { writer: None, reader: Reader::start(views, path, slots), path: path.to_owned(), slots })
    }
}

impl SqliteStore {
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
    connection
        .query_row("SELECT slot_key, slot_bits FROM store", [], |row| Ok(Slots::new(row.get(0)?, row.get(1)?)))
        .map_err(|cause| error::sqlite(path, &cause))
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
        let prepared = Prepared::new(batch, self.slots)?;
        self.writer()?.call(prepared.len(), move |scope| accept::accept(scope, op, &prepared)).await
    }

    async fn preview(&self, batch: Arc<Vec<Intake>>) -> Result<Vec<Preview>, StoreError> {
        self.reader.call(move |sight| preview::preview(sight, &batch)).await
    }

    async fn find_events(&self, source: Option<Source>, id: String) -> Result<Vec<EventHistory>, StoreError> {
        self.reader.call(move |sight| find_events::find_events(sight, source.as_ref(), &id)).await
    }

    async fn jobs(&self, filter: JobFilter, page: PageRequest) -> Result<JobPage, StoreError> {
        self.reader.call(move |sight| jobs::jobs(sight, &filter, page)).await
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

    async fn end(&self, ends: Arc<Vec<End>>, policy: RetryPolicy) -> Result<Vec<Result<Ended, LeaseLost>>, StoreError> {
        end::bounded(ends.len())?;
        self.writer()?.call(ends.len(), move |scope| end::end(scope, &ends, &policy)).await
    }

    async fn recover(&self, policy: RetryPolicy, limit: u32, dry_run: bool) -> Result<Recovered, StoreError> {
        let weight = limit as usize;
        self.writer()?.call(weight, move |scope| recover::recover(scope, &policy, limit, dry_run)).await
    }

    async fn order(
        &self,
        op: OpId,
        order: Order,
        jobs: Vec<EventNumber>,
    ) -> Result<Vec<Result<Ended, OrderRefused>>, StoreError> {
        self.writer()?.call(jobs.len(), move |scope| order::order(scope, op, order, &jobs)).await
    }
}
