//! Making a store in a schema, and bringing an older one up to date: one transaction under the store's own lock, so that any
//! number of processes can start at once.

use cola_ia_core::clock::{Entropy as _, SystemEntropy};
use cola_ia_core::store::{ErrorKind, StoreError};

use super::error::Fault;
use super::row::Columns as _;
use super::shared::quoted;
use super::sql::params;
use super::tx::Tx;
use crate::migration::{Migration, Plan, plan};

/// The schema's steps, with the numbers of the other engine's. Shipped ones are never edited.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, name: "gate", sql: include_str!("../../migrations/postgres/0001_gate.sql") },
    Migration { version: 2, name: "keeping", sql: include_str!("../../migrations/postgres/0002_keeping.sql") },
    Migration { version: 3, name: "leases", sql: include_str!("../../migrations/postgres/0003_leases.sql") },
    Migration { version: 4, name: "effects", sql: include_str!("../../migrations/postgres/0004_effects.sql") },
    Migration { version: 5, name: "server", sql: include_str!("../../migrations/postgres/0005_server.sql") },
];

/// What was done to a store of an older program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    /// The schema's version before.
    pub from: u32,
    /// The schema's version now.
    pub to: u32,
}

/// What stands in a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// No store.
    Nothing,
    /// A store of this version.
    Store(u32),
}

/// Looks what stands in the schema.
pub(super) async fn found(tx: &Tx) -> Result<Found, Fault> {
    let schema = &tx.shared.address.schema;
    let there: bool = tx
        .one(
            "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                            WHERE n.nspname = $1 AND c.relname = 'cola_ia_migrations')",
            params![schema.as_str()],
        )
        .await?
        .read(0)?;
    if !there {
        return Ok(Found::Nothing);
    }
    let version = tx.one("SELECT coalesce(max(version), 0) FROM cola_ia_migrations", params![]).await?.count(0)?;
    Ok(if version == 0 { Found::Nothing } else { Found::Store(version) })
}

/// Refuses a store that a newer program made.
pub(super) fn refuse_newer(tx: &Tx, known: &[Migration], version: u32) -> Result<(), Fault> {
    match plan(known, version) {
        Plan::Apply(_) => Ok(()),
        Plan::Newer(newest) => {
            Err(at(tx, ErrorKind::Invalid, "store_newer").with("found", version).with("known", newest).into())
        }
    }
}

/// An error about this store.
pub(super) fn at(tx: &Tx, kind: ErrorKind, code: &'static str) -> StoreError {
    StoreError::new(kind, code).with("path", &tx.shared.address)
}

/// Makes the store where there is none, or brings it up to date. Answers whether it was made, and what was done else.
pub(super) async fn bring_up(tx: &Tx, known: &[Migration]) -> Result<(bool, Option<Migrated>), Fault> {
    let version = match found(tx).await? {
        Found::Store(version) => version,
        Found::Nothing => 0,
    };
    refuse_newer(tx, known, version)?;
    let Plan::Apply(steps) = plan(known, version) else { return Ok((false, None)) };
    let Some(last) = steps.last() else { return Ok((false, None)) };
    if version == 0 {
        check_encoding(tx).await?;
        let schema = &tx.shared.address.schema;
        // Asked first: who may use a schema need not be allowed to make one.
        let there = tx
            .maybe("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1", params![schema.as_str()])
            .await?
            .is_some();
        if !there {
            tx.batch(&format!("CREATE SCHEMA {}", quoted(schema))).await?;
        }
        tx.batch(
            "CREATE TABLE IF NOT EXISTS cola_ia_migrations (
                 version bigint PRIMARY KEY, name text NOT NULL, applied_at bigint NOT NULL, applied_by text NOT NULL)",
        )
        .await?;
    }
    for step in steps {
        tx.batch(step.sql).await?;
        tx.execute(
            "INSERT INTO cola_ia_migrations (version, name, applied_at, applied_by) VALUES ($1, $2, $3, $4)",
            params![i64::from(step.version), step.name, tx.now.as_micros(), env!("CARGO_PKG_VERSION")],
        )
        .await?;
    }
    if version > 0 {
        return Ok((false, Some(Migrated { from: version, to: last.version })));
    }
    let (mut namespace, mut incarnation) = ([0_u8; 16], [0_u8; 16]);
    tx.shared.entropy.fill(&mut namespace);
    // Not the store's randomness: two stores that are given the same must not take each other's places for theirs.
    SystemEntropy.fill(&mut incarnation);
    tx.execute(
        "INSERT INTO store (one, namespace, incarnation, created_at, created_by) VALUES (1, $1, $2, $3, $4)",
        params![&namespace[..], &incarnation[..], tx.now.as_micros(), env!("CARGO_PKG_VERSION")],
    )
    .await?;
    Ok((true, None))
}

/// Ids and texts are bytes of UTF-8: a database with another encoding would change them.
async fn check_encoding(tx: &Tx) -> Result<(), Fault> {
    let encoding: String = tx.one("SELECT pg_catalog.current_setting('server_encoding')", params![]).await?.read(0)?;
    if encoding == "UTF8" {
        return Ok(());
    }
    Err(at(tx, ErrorKind::Invalid, "store_encoding").with("encoding", encoding).into())
}
