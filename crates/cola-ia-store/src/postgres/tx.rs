//! One transaction, as verbs see it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cola_ia_core::clock::Timestamp;
use deadpool_postgres::Object;
use tokio_postgres::{Row, SimpleQueryMessage};

use super::error::Fault;
use super::row::{Columns as _, unexpected};
use super::shared::Shared;
use super::sql::{Param, params};

/// Numbers come in blocks of so many bits.
pub(super) const BLOCK_BITS: u32 = 17;

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One consistent look.
    View,
    /// The same down an index, so many rows.
    List,
    /// Lists one after the other, each of the newest state.
    Follow,
    /// A verb of everyday work. Many run at once and meet only in the rows that they lock.
    Hot,
    /// A verb that is rare and goes through much: no other one that changes something runs beside it.
    Alone,
}

/// An open transaction. Verbs get it, and nobody keeps it.
pub(super) struct Tx {
    client: Object,
    pub(super) shared: Arc<Shared>,
    /// The store's present instant: that of the server when the transaction had its locks.
    pub(super) now: Timestamp,
    /// A statement failed: the server would take COMMIT for ROLLBACK without a word.
    failed: AtomicBool,
    /// Rows of sources were made here that nobody else can see yet.
    makes_sources: AtomicBool,
}

impl Tx {
    /// Begins: everything that needs no answer goes to the server at once.
    pub(super) async fn begin(shared: &Arc<Shared>, kind: Kind) -> Result<Self, Fault> {
        let client = shared.pool.get().await?;
        let said = client.simple_query(shared.begins.of(kind)).await;
        let now = match said {
            Ok(messages) => messages.iter().rev().find_map(|message| match message {
                SimpleQueryMessage::Row(row) => row.get(0).and_then(|micros| micros.parse().ok()),
                _ => None,
            }),
            Err(error) => {
                discard(client);
                return Err(error.into());
            }
        };
        let Some(now) = now else {
            discard(client);
            return Err(unexpected("clock", "no instant"));
        };
        let now = shared.clock.as_ref().map_or(Timestamp::from_micros(now), |clock| clock.now());
        Ok(Self {
            client,
            shared: Arc::clone(shared),
            now,
            failed: AtomicBool::new(false),
            makes_sources: AtomicBool::new(false),
        })
    }

    /// All rows.
    pub(super) async fn query(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, Fault> {
        self.heard(self.client.query_typed(sql, params).await)
    }

    /// The row that may be there.
    pub(super) async fn maybe(&self, sql: &str, params: &[Param<'_>]) -> Result<Option<Row>, Fault> {
        Ok(self.query(sql, params).await?.into_iter().next())
    }

    /// The row that must be there.
    pub(super) async fn one(&self, sql: &str, params: &[Param<'_>]) -> Result<Row, Fault> {
        self.maybe(sql, params).await?.ok_or_else(|| unexpected("row", "none"))
    }

    /// How many rows a statement changed.
    pub(super) async fn execute(&self, sql: &str, params: &[Param<'_>]) -> Result<u64, Fault> {
        self.heard(self.client.execute_typed(sql, params).await)
    }

    /// Statements without parameters.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), Fault> {
        self.heard(self.client.batch_execute(sql).await)
    }

    fn heard<T>(&self, answer: Result<T, tokio_postgres::Error>) -> Result<T, Fault> {
        if answer.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        Ok(answer?)
    }

    /// The first number of a block that nobody else has: 2^17 numbers, more than a batch has members.
    pub(super) async fn block(&self) -> Result<i64, Fault> {
        let block: i64 = self.one("SELECT nextval('blocks')", params![]).await?.read(0)?;
        Ok(block << BLOCK_BITS)
    }

    /// The row of a source, if it is known.
    pub(super) async fn source(&self, name: &str) -> Result<Option<i64>, Fault> {
        Ok(self.sources(&[name]).await?.remove(name))
    }

    /// The rows of those of these sources that are known.
    pub(super) async fn sources(&self, names: &[&str]) -> Result<HashMap<String, i64>, Fault> {
        let (mut known, missing) = self.shared.names.known(names);
        if !missing.is_empty() {
            let rows = self.query("SELECT name, source FROM sources WHERE name = ANY($1)", params![missing]).await?;
            for row in rows {
                known.insert(row.read(0)?, row.read(1)?);
            }
            if !self.makes_sources.load(Ordering::Relaxed) {
                self.shared.names.learn(&known);
            }
        }
        Ok(known)
    }

    /// The rows of these sources; those that are not known yet are made.
    pub(super) async fn make_sources(&self, names: &[&str]) -> Result<HashMap<String, i64>, Fault> {
        // Sorted, so that two who make the same ones wait for each other in one order.
        let mut sorted = names.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        self.make_sources_in_order(&sorted).await
    }

    /// The same, numbered in this order; for verbs that run alone. No name comes twice.
    pub(super) async fn make_sources_in_order(&self, names: &[&str]) -> Result<HashMap<String, i64>, Fault> {
        let known = self.sources(names).await?;
        let missing: Vec<&str> = names.iter().copied().filter(|name| !known.contains_key(*name)).collect();
        if missing.is_empty() {
            return Ok(known);
        }
        self.makes_sources.store(true, Ordering::Relaxed);
        self.execute(
            "INSERT INTO sources (name) SELECT name FROM unnest($1) WITH ORDINALITY u(name, place) ORDER BY place
             ON CONFLICT (name) DO NOTHING",
            params![missing],
        )
        .await?;
        self.sources(names).await
    }

    /// Commits. An error without a code of the server's leaves open whether it was done.
    pub(super) async fn commit(self) -> Result<(), Fault> {
        if self.failed.load(Ordering::Relaxed) {
            self.roll_back().await;
            return Err(unexpected("transaction", "a statement failed, and its verb went on"));
        }
        let said = self.client.batch_execute("COMMIT").await;
        if said.is_err() {
            discard(self.client);
        }
        Ok(said?)
    }

    /// Undoes all of it.
    pub(super) async fn roll_back(self) {
        if self.client.batch_execute("ROLLBACK").await.is_err() {
            discard(self.client);
        }
    }
}

/// Closes a connection of which it is not known how it stands.
fn discard(client: Object) {
    drop(Object::take(client));
}

/// For a page, the order of an index and its rows one by one. Where the planner knows little of a table, as after a large import, or
/// thinks that a filter lets through little, it would rather read all of it.
const IN_ORDER: &str = "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off; \
     SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; ";

/// What a transaction of each kind begins with.
pub(super) struct Begins {
    view: String,
    list: String,
    follow: String,
    hot: String,
    alone: String,
}

impl Begins {
    /// For a schema, named and quoted.
    pub(super) fn new(schema: &str, lock: i64) -> Self {
        // A lock is waited for by the server, and then the whole transaction runs again; a client that hangs holds nobody up for
        // long. Plans of a moment are not worth compiling.
        let begin = |level: &str, more: &str| {
            format!(
                "BEGIN ISOLATION LEVEL {level}; SET LOCAL search_path TO {schema}; SET LOCAL lock_timeout = '10s'; \
                 SET LOCAL idle_in_transaction_session_timeout = '60s'; SET LOCAL jit = off; {more}\
                 SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
            )
        };
        Self {
            view: begin("REPEATABLE READ READ ONLY", ""),
            list: begin("REPEATABLE READ READ ONLY", IN_ORDER),
            follow: begin("READ COMMITTED READ ONLY", IN_ORDER),
            hot: begin("READ COMMITTED", &format!("SELECT pg_advisory_xact_lock_shared({lock}); ")),
            alone: begin("READ COMMITTED", &format!("SELECT pg_advisory_xact_lock({lock}); ")),
        }
    }

    fn of(&self, kind: Kind) -> &str {
        match kind {
            Kind::View => &self.view,
            Kind::List => &self.list,
            Kind::Follow => &self.follow,
            Kind::Hot => &self.hot,
            Kind::Alone => &self.alone,
        }
    }
}
