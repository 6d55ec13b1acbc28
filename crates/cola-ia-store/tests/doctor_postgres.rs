//! What a look at a store in PostgreSQL finds: nothing where all is well, and each fault that was planted.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod backend;

use std::sync::Arc;
use std::time::Duration;

use backend::postgres::{POSTGRES, Postgres, Schema};
use cola_ia_core::clock::{SystemClock, SystemEntropy};
use cola_ia_core::store::{OpId, Store as _};
use cola_ia_store::postgres::doctor::{self, Asked, Bounds, Fact, Finding, Severity};
use cola_ia_store::postgres::{Address, Options, PostgresStore};
use cola_ia_testkit::events::event;
use cola_ia_testkit::harness::block_on;

/// A schema with a store that has a few of everything that comes by itself; `None` where there is no server and none is required.
fn filled() -> Option<Schema> {
    Postgres::named("postgres", POSTGRES)?;
    let schema = Schema::new(&std::env::var(POSTGRES).ok()?);
    let (store, _) = PostgresStore::open(&schema.address().unwrap(), &Options::default()).unwrap();
    let batch = [("a", "x"), ("b", "x"), ("a", "x"), ("b", "y")].map(|(id, text)| event(id, text)).to_vec();
    block_on(store.accept(OpId::new(&SystemClock, &SystemEntropy), Arc::new(batch))).unwrap();
    Some(schema)
}

fn run(schema: &Schema, sql: &str) {
    schema.query(sql, &[]).unwrap();
}

fn examine(schema: &Schema, asked: Asked) -> Vec<Finding> {
    doctor::examine(&schema.address().unwrap(), &Options::default(), asked, &|_| {}, &|| false).unwrap()
}

/// What is found and is not of the server, which other tests use too and which need not be set up for keeping.
fn found(schema: &Schema, asked: Asked) -> Vec<(&'static str, Severity)> {
    let of_the_server = ["server_", "slot_", "prepared_", "transaction_", "connections", "clocks_"];
    let found = examine(schema, asked);
    let own = found.iter().filter(|finding| !of_the_server.iter().any(|prefix| finding.code.starts_with(prefix)));
    own.map(|finding| (finding.code, finding.severity)).collect()
}

#[test]
fn a_store_that_is_well_is_found_so() {
    let Some(schema) = filled() else { return };
    for (quick, tables) in [(false, "tables"), (true, "tables_quick")] {
        let well =
            [("versions_postgres", Severity::Ok), ("conflicts_undecided", Severity::Warning), (tables, Severity::Ok)];
        assert_eq!(found(&schema, Asked { quick, ..Asked::default() }), well);
    }
    let found = examine(&schema, Asked::default());
    let tables = found.iter().find(|finding| finding.code == "tables").unwrap();
    // Two events, two jobs, two deliveries, a conflict.
    assert_eq!(tables.fact("rows"), Some(&Fact::Number(7)));
    assert!(found.iter().any(|finding| finding.code.starts_with("connections")));
}

#[test]
fn every_planted_fault_is_found() {
    let faults = [
        ("event_without_job", "DELETE FROM jobs WHERE event = (SELECT min(event) FROM jobs)"),
        ("event_without_source", "DELETE FROM sources"),
        ("number_twice", "UPDATE deliveries SET seq = (SELECT min(seq) FROM events) WHERE conflict IS NULL"),
        ("event_without_identity", "UPDATE events SET erased_at = 1, id = 'hash' WHERE id = 'a'"),
        ("identity_of_nothing", "INSERT INTO erased (source, id, event) VALUES (1, 'x', -5)"),
        ("job_without_event", "DELETE FROM events WHERE id = 'a'"),
        ("job_without_state", "UPDATE jobs SET state = 'lost'"),
        ("job_without_state", "UPDATE jobs SET state = 'running'"),
        ("delivery_of_nothing", "UPDATE deliveries SET event = 1 WHERE conflict IS NULL"),
        ("delivery_of_no_conflict", "DELETE FROM conflicts"),
        ("conflict_of_nothing", "UPDATE conflicts SET event = 1"),
        (
            "revision_of_nothing",
            "INSERT INTO revisions (event, number, accepted_at, conflict, fingerprint) VALUES (1, 2, 1, 1, '')",
        ),
        (
            "decision_of_nothing",
            "INSERT INTO decisions (event, conflict, number, decided_at, decision) VALUES (1, 1, 1, 1, 'keep')",
        ),
        ("pruned_of_nothing", "INSERT INTO pruned_deliveries VALUES (1, 1, 1, 1)"),
        (
            "attempt_of_nothing",
            "INSERT INTO attempts (event, run, number, started_at, lease, worker) VALUES (1, 1, 1, 1, '', 'w')",
        ),
        (
            "effect_of_nothing",
            "INSERT INTO effects (event, run, settle, begun_at, changed_at, lookup, name, key, state, otherwise)
             VALUES (1, 1, 1, 1, 1, false, 'n', 'k', 'done', 'hold')",
        ),
        (
            "try_of_nothing",
            "INSERT INTO effect_tries (effect, number, begun_at, send_before, deadline) VALUES (1, 1, 1, 1, 1)",
        ),
        (
            "record_of_nothing",
            "INSERT INTO effect_records (effect, number, at, charged_micros, day, witness) VALUES (1, 1, 1, 0, 1, 'w')",
        ),
        ("body_of_nothing", "INSERT INTO signed_bodies VALUES (1, 1, '')"),
        (
            "jobs_miscounted",
            "UPDATE jobs SET state = 'done', due_at = NULL WHERE event = (SELECT min(event) FROM jobs)",
        ),
        ("money_miscounted", "INSERT INTO money (day, source, model, reserved) VALUES (1, 1, '', 5)"),
        ("numbers_behind", "ALTER SEQUENCE blocks RESTART WITH 1"),
        ("numbers_behind", "ALTER TABLE sources ALTER COLUMN source RESTART WITH 1"),
        ("arrivals_ahead", "UPDATE arrivals SET tx = tx + 1000000000000"),
        ("table_missing", "DROP TABLE arrivals"),
        ("index_missing", "DROP INDEX jobs_due"),
        ("index_missing", "DROP INDEX events_identity"),
        ("index_missing", "ALTER TABLE sources DROP CONSTRAINT sources_name_key"),
        ("index_missing", "ALTER TABLE jobs DROP CONSTRAINT jobs_pkey"),
        ("table_unlogged", "ALTER TABLE jobs SET UNLOGGED"),
        ("table_untidied", "ALTER TABLE jobs SET (autovacuum_enabled = off)"),
        ("restored", "UPDATE store SET restored_at = 1, backed_up_at = 1"),
        ("jobs_past_lease", "UPDATE jobs SET state = 'running', lease = '', lease_until = 1"),
        ("jobs_held", "UPDATE jobs SET state = 'held'"),
        ("jobs_failed", "UPDATE jobs SET state = 'failed'"),
        ("jobs_waiting", "UPDATE jobs SET due_at = 1"),
        ("sources_paused", "INSERT INTO source_streaks (source, count, paused_at) SELECT source, 3, 1 FROM sources"),
        ("sources_failing", "INSERT INTO source_streaks (source, count, since) SELECT source, 50, 1 FROM sources"),
        (
            "double_effect",
            "INSERT INTO effects (event, run, settle, begun_at, changed_at, lookup, name, key, state, otherwise, alarm)
             SELECT event, 1, 1, 1, 1, false, 'n', 'k', 'done', 'hold', 'double_effect' FROM jobs LIMIT 1",
        ),
        ("store_needs_migration", "DELETE FROM cola_ia_migrations WHERE version > 3"),
        ("store_newer", "INSERT INTO cola_ia_migrations VALUES (1000, 'x', 1, 'x')"),
    ];
    for (code, plant) in faults {
        let Some(schema) = filled() else { return };
        run(&schema, plant);
        let found = found(&schema, Asked::default());
        assert!(found.iter().any(|(found, _)| *found == code), "{code} after {plant}: {found:?}");
        assert!(found.iter().all(|(code, _)| *code != "store_damaged"), "{plant}: {found:?}");
    }
}

#[test]
fn a_store_that_is_not_there_and_a_server_that_is_not_are_told() {
    let Some(schema) = filled() else { return };
    run(&schema, "DROP TABLE cola_ia_migrations");
    assert_eq!(found(&schema, Asked::default()), [("store_missing", Severity::Error)]);
    // Port 1 of the loopback: nobody listens there.
    let nobody = Address::parse("postgres://cola@127.0.0.1:1/cola", None).unwrap();
    let found = doctor::examine(&nobody, &Options::default(), Asked::default(), &|_| {}, &|| false).unwrap();
    let found: Vec<_> = found.iter().map(|finding| (finding.code, finding.severity)).collect();
    assert_eq!(found, [("store_unreachable", Severity::Error)]);
}

#[test]
fn an_index_whose_making_failed_is_found() {
    let Some(schema) = filled() else { return };
    run(&schema, "DROP INDEX jobs_due");
    run(&schema, "INSERT INTO jobs (event, source) SELECT n, 1 FROM generate_series(-3, -1) n");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let address = std::env::var(POSTGRES).unwrap();
        let (client, connection) = tokio_postgres::connect(&address, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        // Several rows have the same, so it fails, and what it began stays.
        let index = format!("CREATE UNIQUE INDEX CONCURRENTLY jobs_due ON {}.jobs ((1))", schema.name());
        client.batch_execute(&index).await.unwrap_err();
    });
    let found = examine(&schema, Asked::default());
    assert!(found.iter().any(|finding| finding.code == "index_invalid"), "{found:?}");
}

#[test]
fn who_no_longer_wants_to_know_is_told_nothing() {
    let Some(schema) = filled() else { return };
    let address = schema.address().unwrap();
    let stopped = doctor::examine(&address, &Options::default(), Asked::default(), &|_| {}, &|| true);
    assert_eq!(stopped.unwrap_err().code, "interrupted");
}

/// From here on everything is told.
fn bounds() -> Bounds {
    Bounds { held: Duration::ZERO, slot_bytes: 0, dead_rows: 1, transactions: 0 }
}

/// Looks until this is found.
fn wait_for(schema: &Schema, code: &str, bounds: Bounds) -> Finding {
    for _ in 0..100 {
        let found = examine(schema, Asked { bounds, quick: true });
        if let Some(finding) = found.into_iter().find(|finding| finding.code == code) {
            return finding;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{code} is not found");
}

#[test]
fn what_keeps_the_server_from_tidying_up_is_found() {
    let Some(schema) = filled() else { return };
    let aged = wait_for(&schema, "table_aged", bounds());
    assert_eq!((aged.severity, aged.fact("table").is_some()), (Severity::Warning, true));

    run(&schema, "INSERT INTO budgets SELECT n, 1 FROM generate_series(1, 1000) n");
    run(&schema, "DELETE FROM budgets");
    let bloated = wait_for(&schema, "table_bloated", bounds());
    assert_eq!(bloated.fact("table"), Some(&Fact::Text("budgets".into())));
    assert_eq!(bloated.fact("count"), Some(&Fact::Number(1_000)));

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let address = format!("{}?application_name=forgotten-shell", std::env::var(POSTGRES).unwrap());
    let (client, pid) = runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&address, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1").await.unwrap();
        let pid: i32 = client.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
        (client, i64::from(pid))
    });
    // Older ones of other tests end by themselves.
    let is_ours = |finding: &Finding| finding.fact("pid") == Some(&Fact::Number(pid));
    let mut old = wait_for(&schema, "transaction_old", bounds());
    for _ in 0..200 {
        if is_ours(&old) {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
        old = wait_for(&schema, "transaction_old", bounds());
    }
    assert!(is_ours(&old), "{old:?}");
    assert_eq!(old.fact("who"), Some(&Fact::Text("forgotten-shell".into())));
    drop(client);

    // A slot is the whole server's: it is gone again at once.
    let slot = format!("test_{}", std::process::id());
    run(&schema, &format!("SELECT pg_create_physical_replication_slot('{slot}', true)"));
    let found = examine(&schema, Asked { bounds: bounds(), quick: true });
    run(&schema, &format!("SELECT pg_drop_replication_slot('{slot}')"));
    let name = Fact::Text(slot);
    assert!(
        found.iter().any(|finding| finding.code == "slot_unused" && finding.fact("name") == Some(&name)),
        "{found:?}"
    );

    // Where the server allows for prepared transactions.
    let most =
        schema.query("SELECT current_setting('max_prepared_transactions')::bigint", &[]).unwrap()[0].get::<_, i64>(0);
    if most > 0 {
        runtime.block_on(async {
            let address = std::env::var(POSTGRES).unwrap();
            let (client, connection) = tokio_postgres::connect(&address, tokio_postgres::NoTls).await.unwrap();
            tokio::spawn(connection);
            let prepare = format!("BEGIN; SELECT pg_current_xact_id(); PREPARE TRANSACTION 'cola-{pid}'");
            client.batch_execute(&prepare).await.unwrap();
        });
        let old = wait_for(&schema, "prepared_old", bounds());
        runtime.block_on(async {
            let address = std::env::var(POSTGRES).unwrap();
            let (client, connection) = tokio_postgres::connect(&address, tokio_postgres::NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(&format!("ROLLBACK PREPARED 'cola-{pid}'")).await.unwrap();
        });
        assert!(old.fact("since_at").is_some());
    }
}
