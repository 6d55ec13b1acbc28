//! What is wrong with a store, with its server and with what is around both: findings, each a code with facts.
//!
//! It only looks, and holds no transaction for long but for the counts of jobs and money of a thorough look, which are one
//! statement each. It works on what cannot be opened, too: then it says why.

mod holders;
mod keeping;
mod schema;
mod server;
mod tables;
mod waiting;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cola_ia_core::store::{ErrorKind, StoreError};

use super::address::Address;
use super::options::Options;
use super::shared::{Shared, Verb};
use super::tx::Kind;
use super::{migrate, row::Columns as _, sql::params};
pub use crate::doctor::{Fact, Finding, Look, Severity};

/// What is asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked {
    /// Only the newest rows are looked at, and nothing is counted.
    pub quick: bool,
    /// From where on something is told.
    pub bounds: Bounds,
}

/// From where on something is told. Tests take others.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// How long somebody may keep the server from tidying up.
    pub held: Duration,
    /// What an unused replication slot may keep.
    pub slot_bytes: i64,
    /// Rows of a table that are dead and not tidied up, where they are more than the living.
    pub dead_rows: i64,
    /// Age of a table in transactions. At 2^31 the server takes no more writes.
    pub transactions: i64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { held: Duration::from_mins(10), slot_bytes: 256 << 20, dead_rows: 100_000, transactions: 600_000_000 }
    }
}

/// Looks at the store at this address and at its server. `stop` is asked now and then whether nobody wants to know any more.
/// Answers in the order in which it looked.
///
/// # Errors
/// `interrupted`.
pub fn examine(
    address: &Address,
    options: &Options,
    asked: Asked,
    look: &dyn Fn(Look),
    stop: &dyn Fn() -> bool,
) -> Result<Vec<Finding>, StoreError> {
    let mut findings = Vec::new();
    let examination = match Shared::new(address, options) {
        Ok(shared) => Examination { shared: Arc::new(shared), options, asked, look, stop },
        Err(failed) => return Ok(vec![Finding::failed(Severity::Error, &failed)]),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|cause| StoreError::new(ErrorKind::Unavailable, "store_io").with("cause", cause))?;
    match runtime.block_on(examination.run(&mut findings)) {
        Err(failed) if failed.code == "interrupted" => return Err(failed),
        // What cannot be read any further ends it with a finding.
        Err(failed) => findings.push(Finding::failed(Severity::Error, &failed)),
        Ok(()) => {}
    }
    Ok(findings)
}

struct Examination<'a> {
    shared: Arc<Shared>,
    options: &'a Options,
    asked: Asked,
    look: &'a dyn Fn(Look),
    stop: &'a dyn Fn() -> bool,
}

impl Examination<'_> {
    async fn run(&self, findings: &mut Vec<Finding>) -> Result<(), StoreError> {
        let before = SystemTime::now();
        let server = self.view(&(), |tx, ()| Box::pin(server::look(tx))).await?;
        findings.extend(server.findings(&self.shared.address.to_string()));
        findings.extend(server.clock(before, SystemTime::now()));
        if server.is_too_old() || !self.versions(&server, findings).await? {
            return Ok(());
        }
        let bounds = self.asked.bounds;
        findings.extend(self.view(&bounds, |tx, bounds| Box::pin(holders::look(tx, bounds))).await?);
        let known = self.options.migrations;
        let found = self.view(&known, |tx, known| Box::pin(schema::look(tx, known))).await?;
        // A table that is not there cannot be asked.
        let is_whole = found.iter().all(|finding| finding.code != "table_missing");
        findings.extend(found);
        findings.extend(self.view(&bounds, |tx, bounds| Box::pin(keeping::look(tx, bounds))).await?);
        if !is_whole {
            return Ok(());
        }
        findings.extend(self.view(&(), |tx, ()| Box::pin(waiting::look(tx))).await?);
        tables::examine(self, findings).await
    }

    /// Whether there is a store and this program knows its schema.
    async fn versions(&self, server: &server::Server, findings: &mut Vec<Finding>) -> Result<bool, StoreError> {
        let found = self.view(&(), |tx, ()| Box::pin(migrate::found(tx))).await?;
        let path = &self.shared.address;
        let known = self.options.migrations.len() as u32;
        let migrate::Found::Store(version) = found else {
            findings.push(Finding::new(Severity::Error, "store_missing").text("path", path));
            return Ok(false);
        };
        if version != known {
            let (severity, code) = if version > known {
                (Severity::Error, "store_newer")
            } else {
                (Severity::Warning, "store_needs_migration")
            };
            let finding = Finding::new(severity, code).text("path", path);
            findings.push(finding.text("found", version).text("known", known));
            return Ok(false);
        }
        let made_by = self.view(&(), |tx, ()| {
            Box::pin(async move { tx.one("SELECT created_by FROM store", params![]).await?.read::<String>(0) })
        });
        findings.push(
            Finding::new(Severity::Ok, "versions_postgres")
                .text("program", env!("CARGO_PKG_VERSION"))
                .text("server", &server.version)
                .number("schema", version)
                .text("made_by", made_by.await?),
        );
        Ok(true)
    }

    /// Looks in a transaction of its own.
    async fn view<A, T>(&self, asked: &A, verb: Verb<A, T>) -> Result<T, StoreError> {
        if (self.stop)() {
            return Err(StoreError::new(ErrorKind::Unavailable, "interrupted"));
        }
        self.shared.run(Kind::View, asked, verb).await
    }
}
