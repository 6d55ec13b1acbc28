//! PostgreSQL as the suites of the testkit see it: a schema a test, on a server whose address the environment says.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::intake::{DeliveryNumber, EventNumber, RefusalCode};
use cola_ia_core::job::{JobState, LeaseToken};
use cola_ia_core::store::Store;
use cola_ia_store::postgres::{Address, Options, PostgresStore};
use cola_ia_testkit::clock::{ManualClock, SeededEntropy};
use cola_ia_testkit::harness::{Backend, Failure, Place, RecordedRefusal};
use tokio_postgres::NoTls;
use tokio_postgres::types::ToSql;

/// Where a server is that the tests may use, and where a pooler before it is.
pub(crate) const POSTGRES: &str = "COLA_IA_TEST_POSTGRES";
pub(crate) const PGBOUNCER: &str = "COLA_IA_TEST_PGBOUNCER";

/// A server.
pub(crate) struct Postgres {
    name: &'static str,
    address: String,
}

impl Postgres {
    /// The server that the environment names. `None` where it names none and tools may be missing.
    ///
    /// # Panics
    /// It names none, and all tools are required.
    pub(crate) fn named(name: &'static str, variable: &str) -> Option<Self> {
        let Ok(address) = std::env::var(variable) else {
            assert!(
                std::env::var_os("COLA_IA_REQUIRE_TOOLS").is_none(),
                "{variable} is not set: `cargo xtask test` and `cargo xtask postgres` start a server and set it"
            );
            return None;
        };
        Some(Self { name, address })
    }
}

/// The servers that the environment names.
pub(crate) fn servers() -> Vec<Box<dyn Backend>> {
    let named = [Postgres::named("postgres", POSTGRES), Postgres::named("pgbouncer", PGBOUNCER)];
    named.into_iter().flatten().map(|server| Box::new(server) as Box<dyn Backend>).collect()
}

impl Backend for Postgres {
    fn name(&self) -> &'static str {
        self.name
    }

    fn fresh(&self) -> Result<Box<dyn Place>, Failure> {
        Ok(Box::new(Schema::new(&self.address)))
    }
}

/// A schema of its own, removed when dropped.
pub(crate) struct Schema {
    address: String,
    name: String,
}

impl Schema {
    pub(crate) fn new(address: &str) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |elapsed| elapsed.as_micros());
        let name = format!("test_{}_{now:x}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self { address: address.to_owned(), name }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn address(&self) -> Result<Address, Failure> {
        Ok(Address::parse(&self.address, Some(&self.name))?)
    }

    /// Runs a statement in the schema, and reads its rows.
    pub(crate) fn query(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<Vec<tokio_postgres::Row>, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            // A pooler may hand each transaction to another connection, so all is in one.
            let (mut client, connection) = tokio_postgres::connect(&self.address, NoTls).await?;
            let task = tokio::spawn(connection);
            let transaction = client.transaction().await?;
            // Somebody else's statements of the same names may be left in it.
            transaction.batch_execute(&format!("DEALLOCATE ALL; SET LOCAL search_path TO {}", self.name)).await?;
            let rows = transaction.query(sql, params).await?;
            transaction.commit().await?;
            drop(client);
            let _ = task.await;
            Ok(rows)
        })
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        if let Err(failure) = self.query(&format!("DROP SCHEMA IF EXISTS {} CASCADE", self.name), &[]) {
            eprintln!("schema {} is left: {failure}", self.name);
        }
    }
}

impl Place for Schema {
    fn open(&self, clock: ManualClock, entropy: SeededEntropy) -> Result<Arc<dyn Store>, Failure> {
        let options = Options {
            clock: Some(Arc::new(clock)),
            entropy: Arc::new(entropy),
            connections: 4,
            fold_after: 16,
            ..Options::default()
        };
        Ok(Arc::new(PostgresStore::open(&self.address()?, &options)?.0))
    }

    fn refusals(&self) -> Result<Vec<RecordedRefusal>, Failure> {
        let rows = self.query(
            "SELECT seq, received_at, code, detail, origin, count FROM deliveries WHERE verdict = 'invalid' ORDER BY seq",
            &[],
        )?;
        let refusal = |row: &tokio_postgres::Row| RecordedRefusal {
            number: DeliveryNumber(row.get(0)),
            received_at: Timestamp::from_micros(row.get(1)),
            code: RefusalCode::from_word(row.get(2)).expect("a code of ours"),
            detail: row.get(3),
            origin: row.get(4),
            count: row.get::<_, i64>(5) as u64,
        };
        Ok(rows.iter().map(refusal).collect())
    }

    fn set_job(&self, event: EventNumber, state: JobState, at: Timestamp) -> Result<(), Failure> {
        let running = state == JobState::Running;
        let lease = running.then(|| LeaseToken::new([7; 16], event.0 as u16).0.to_vec());
        let until = running.then(|| at.after(Duration::from_hours(1)).as_micros());
        let due_at = (state == JobState::Pending).then_some(at.as_micros());
        // The counts are told as a verb of the store would tell them.
        self.query(
            "INSERT INTO counter_deltas (at, source, counter, n)
             SELECT $3::bigint, source, 'job_' || state, -1 FROM jobs WHERE event = $1
             UNION ALL SELECT $3, source, 'job_' || $2::text, 1 FROM jobs WHERE event = $1",
            &[&event.0, &state.as_str(), &at.as_micros()],
        )?;
        let changed = self.query(
            "UPDATE jobs SET state = $2, due_at = $3, lease = $4, changed_at = $5, lease_until = $6,
                    worker = CASE WHEN $4::bytea IS NULL THEN NULL ELSE worker END
             WHERE event = $1 RETURNING event",
            &[&event.0, &state.as_str(), &due_at, &lease, &at.as_micros(), &until],
        )?;
        if changed.len() == 1 { Ok(()) } else { Err("no such job".into()) }
    }
}
