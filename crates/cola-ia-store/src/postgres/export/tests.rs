use cola_ia_core::store::Store as _;
use cola_ia_testkit::harness::block_on;

use super::super::tx::Kind as Of;
use super::super::{Address, Options, PostgresStore};
use super::*;

/// A store in a schema that is removed when dropped; `None` where there is no server and none is required.
struct Scratch(PostgresStore, String);

impl Scratch {
    fn new(name: &str) -> Option<Self> {
        let named = std::env::var("COLA_IA_TEST_POSTGRES");
        assert!(named.is_ok() || std::env::var_os("COLA_IA_REQUIRE_TOOLS").is_none(), "a server is required");
        let schema = format!("test_export_{name}_{}", std::process::id());
        let address = Address::parse(&named.ok()?, Some(&schema)).unwrap();
        Some(Self(PostgresStore::open(&address, &Options::default()).unwrap().0, schema))
    }

    fn run(&self, sql: &str) {
        let ran = block_on(self.0.call(Of::Alone, sql.to_owned(), |tx, sql| Box::pin(tx.batch(sql))));
        ran.unwrap();
    }

    /// All records, with the longest page.
    fn all(&self, limit: u32) -> (Vec<Record>, usize) {
        let (mut records, mut cursor, mut longest) = (Vec::new(), None, 0);
        loop {
            let mut page = block_on(self.0.export(cursor, limit)).unwrap();
            longest = longest.max(page.records.len());
            records.append(&mut page.records);
            cursor = page.next;
            if cursor.is_none() {
                return (records, longest);
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.run(&format!("DROP SCHEMA {} CASCADE", self.1));
    }
}

#[test]
fn no_page_scans_or_sorts_a_table() {
    let Some(scratch) = Scratch::new("plans") else { return };
    let kinds = [Kind::Event].into_iter().chain(OF_AN_EVENT);
    let mut statements: Vec<String> = kinds.map(|kind| of_events(kind, 1, 1 << 40)).collect();
    statements.extend([Kind::Conflict, Kind::Delivery].map(|kind| of_one_event(kind, 1, 1)));
    statements.extend([refused(1, 1 << 40), money(1)]);
    let plans = block_on(scratch.0.call(Of::View, statements.clone(), |tx, statements| {
        Box::pin(async move {
            tx.batch(ALONG_INDEXES).await?;
            let mut plans = Vec::new();
            for sql in statements {
                let rows = tx.query(&format!("EXPLAIN (COSTS OFF) {sql}"), params![]).await?;
                let lines = rows.iter().map(|row| row.read(0)).collect::<Result<Vec<String>, _>>()?;
                plans.push(lines.join("\n"));
            }
            Ok(plans)
        })
    }));
    for (sql, plan) in statements.iter().zip(plans.unwrap()) {
        // What an index has put in order is sorted within one event at most.
        let sorts =
            plan.lines().any(|line| line.trim_start().trim_start_matches("-> ").trim_start().starts_with("Sort ("))
                || plan.starts_with("Sort\n")
                || plan.contains("->  Sort\n");
        assert!(!plan.contains("Seq Scan") && !plan.contains("Bitmap") && !sorts, "{sql}\n{plan}");
    }
}

#[test]
fn an_event_with_more_than_a_page_comes_in_several() {
    let Some(scratch) = Scratch::new("long") else { return };
    scratch.run(
        "INSERT INTO sources VALUES (1, 'web');
         INSERT INTO events (seq, source, id, fingerprint, received_at, text)
             SELECT seq, 1, id, decode(repeat('00', 32), 'hex'), 1, 'x' FROM (VALUES (1, 'a'), (80001, 'b')) e(seq, id);
         INSERT INTO jobs (event, source) VALUES (1, 1), (80001, 1);
         INSERT INTO conflicts (event, number, fingerprint, first_at, last_at, text)
             SELECT 1, n, decode(lpad(to_hex(n), 64, '0'), 'hex'), 1, 1, 'y' FROM generate_series(1, 30000) n;
         INSERT INTO deliveries (seq, event, source, verdict, received_at)
             SELECT n, 1, 1, 'duplicate', 1 FROM generate_series(2, 70001) n;
         INSERT INTO deliveries (seq, verdict, received_at, code) VALUES (80000, 'invalid', 1, 'id_missing')",
    );
    let (records, longest) = scratch.all(10);
    assert!(longest <= EXPORT_EVENT_MAX_RECORDS + 10, "{longest}");
    let count = |kind| records.iter().filter(|record| record.kind() == kind).count();
    assert_eq!([Kind::Event, Kind::Job, Kind::Conflict, Kind::Delivery].map(count), [2, 2, 30_000, 70_001]);
    let order: Vec<_> = records.chunk_by(|a, b| a.kind() == b.kind()).map(|run| run[0].kind().as_str()).collect();
    assert_eq!(order, ["source", "event", "job", "conflict", "delivery", "event", "job", "delivery"]);
    assert!(records.windows(2).all(|pair| pair[0] != pair[1]));
    assert_eq!(scratch.all(10_000).0, records);
}

#[test]
fn a_page_of_long_texts_ends_early() {
    let Some(scratch) = Scratch::new("texts") else { return };
    scratch.run(
        "INSERT INTO sources VALUES (1, 'web');
         INSERT INTO events (seq, source, id, fingerprint, received_at, text)
             SELECT n, 1, 'id ' || n, decode(repeat('00', 32), 'hex'), 1, repeat('0', 1000000) FROM generate_series(1, 40) n;
         INSERT INTO jobs (event, source) SELECT seq, 1 FROM events",
    );
    let (records, longest) = scratch.all(10_000);
    assert_eq!(records.len(), 81);
    assert!(longest <= 12, "{longest} records of a page, of 1 MB each second one");
}

#[test]
fn a_row_that_belongs_to_nothing_is_damage() {
    let Some(scratch) = Scratch::new("damage") else { return };
    scratch.run("INSERT INTO deliveries (seq, verdict, received_at) VALUES (9, 'invalid', 1)");
    for (table, row) in [
        ("jobs", "(event, source) VALUES (1, 1)"),
        (
            "revisions",
            "(event, number, accepted_at, conflict, fingerprint) VALUES (1, 2, 1, 1, decode(repeat('00', 32), 'hex'))",
        ),
        ("deliveries", "(seq, event, verdict, received_at) VALUES (2, 1, 'duplicate', 1)"),
    ] {
        scratch.run(&format!("INSERT INTO {table} {row}"));
        let error = block_on(scratch.0.export(None, 10)).unwrap_err();
        assert_eq!(error.code, "store_damaged", "{table}");
        scratch.run(&format!("DELETE FROM {table} WHERE event = 1"));
    }
}
