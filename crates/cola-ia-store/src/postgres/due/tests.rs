//! What a claim costs where much is stored.

use cola_ia_core::clock::Timestamp;
use cola_ia_testkit::harness::block_on;

use super::super::error::Fault;
use super::super::row::Columns as _;
use super::super::sql::params;
use super::super::tx::{Kind, Tx};
use super::super::{Address, Options, PostgresStore};
use super::{next_due, statement};

/// A store beside others on the server of the tests, in a schema that is left empty; `None` where there is none and none is
/// required.
fn store() -> Option<PostgresStore> {
    let named = std::env::var("COLA_IA_TEST_POSTGRES");
    assert!(named.is_ok() || std::env::var_os("COLA_IA_REQUIRE_TOOLS").is_none(), "a server is required");
    let address = Address::parse(&named.ok()?, Some(&format!("test_due_{}", std::process::id()))).unwrap();
    Some(PostgresStore::open(&address, &Options::default()).unwrap().0)
}

async fn plan(tx: &Tx, limit: i64, since: i64) -> Result<String, Fault> {
    let (name, none): (Option<&str>, &[i64]) = (None, &[]);
    let explain = format!("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) {}", statement());
    let rows = tx.query(&explain, params![name, 300_000, since, 2 * limit + 32, 4_096 + limit, limit, none]).await?;
    let lines = rows.iter().map(|row| row.read(0)).collect::<Result<Vec<&str>, _>>()?;
    Ok(lines.join("\n"))
}

#[test]
fn a_claim_reads_what_is_due_by_the_index_and_locks_no_more_than_it_takes() {
    let Some(store) = store() else { return };
    let plans = block_on(store.call(Kind::Hot, (), |tx, ()| {
        Box::pin(async move {
            tx.batch(
                "INSERT INTO sources (name) VALUES ('a'), ('b'), ('c');
                 INSERT INTO events (seq, source, received_at, id, fingerprint, text)
                     SELECT n, 1 + n % 3, n, 'job-' || n, '', 'a text' FROM generate_series(1, 201000) n;
                 INSERT INTO jobs (event, source, state, due_at)
                     SELECT n, 1 + n % 3, CASE WHEN n > 200000 THEN 'pending' ELSE 'done' END, n FROM generate_series(1, 201000) n",
            )
            .await?;
            let fresh = plan(tx, 100, i64::MIN).await?;
            tx.batch("ANALYZE jobs, events, sources").await?;
            let known = plan(tx, 1, i64::MIN).await?;
            let next = next_due(tx, None).await?;
            tx.batch(&format!("DROP SCHEMA test_due_{} CASCADE", std::process::id())).await?;
            Ok((fresh, known, next))
        })
    }));
    let (fresh, known, next) = plans.unwrap();
    assert_eq!(next, Some(Timestamp::from_micros(200_001)));
    for (plan, taken) in [(fresh, 100), (known, 1)] {
        assert!(plan.contains("using jobs_due on jobs p "), "{plan}");
        assert!(plan.contains("using jobs_pkey on jobs j"), "{plan}");
        assert!(!plan.contains("Seq Scan on jobs"), "{plan}");
        assert!(!plan.contains("Seq Scan on events"), "{plan}");
        let locks = plan.lines().find(|line| line.contains("LockRows")).expect("rows are locked");
        assert!(locks.contains(&format!("rows=1 loops={taken})")), "{plan}");
    }
}
