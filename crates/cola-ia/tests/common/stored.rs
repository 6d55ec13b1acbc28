//! What is really in a store, asked of SQLite without the program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::input::Gate;

/// A store's content.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    /// Texts by id, and the conflicts: comparable with what should be there.
    pub(crate) gate: Gate,
    /// Committed batches.
    pub(crate) batches: u64,
    /// Deliveries that made no event, by verdict.
    pub(crate) deliveries: BTreeMap<String, u64>,
    /// Jobs by state.
    pub(crate) jobs: BTreeMap<String, u64>,
}

/// Reads a store of source `default` and checks what must hold of every store: each identity is one event, each event has one
/// job and one identity, nothing points to nothing, the counters add up. `thorough`: SQLite's own check of every page too.
#[track_caller]
pub(crate) fn stored(path: &Path, thorough: bool) -> Stored {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    connection.busy_timeout(std::time::Duration::from_secs(30)).unwrap();
    if thorough {
        let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(verdict, "ok");
    }
    let none = |what: &str, sql: &str| {
        let count: i64 = connection.query_row(&format!("SELECT count(*) FROM ({sql})"), [], |row| row.get(0)).unwrap();
        assert_eq!(count, 0, "{what}");
    };
    none("an identity twice", "SELECT 1 FROM events GROUP BY source, id HAVING count(*) > 1");
    none("an event without a job", "SELECT seq FROM events EXCEPT SELECT event FROM jobs");
    none("a job without an event", "SELECT event FROM jobs EXCEPT SELECT seq FROM events");
    identities(&connection);
    none("a conflict of nothing", "SELECT event FROM conflicts EXCEPT SELECT seq FROM events");
    none("a delivery of nothing", "SELECT event FROM deliveries WHERE event NOTNULL EXCEPT SELECT seq FROM events");
    none("a number twice", "SELECT seq FROM events INTERSECT SELECT seq FROM deliveries");
    none(
        "a sum that is not the rows'",
        "SELECT 'new' AS verdict, count(*) AS n FROM events HAVING n > 0
         UNION ALL SELECT verdict, sum(count) FROM deliveries GROUP BY verdict
         EXCEPT SELECT counter, sum(n) FROM
            (SELECT counter, n FROM counter_deltas UNION ALL SELECT counter, n FROM counters) GROUP BY counter",
    );
    none(
        "jobs by state that are not the rows'",
        "SELECT source, state, count(*) FROM jobs GROUP BY source, state
         EXCEPT SELECT source, state, sum(n) FROM
            (SELECT source, state, n FROM job_counts
             UNION ALL SELECT source, 'pending', n FROM counter_deltas WHERE counter = 'new'
             UNION ALL SELECT source, substr(counter, 5), n FROM counter_deltas WHERE counter LIKE 'job\\_%' ESCAPE '\\')
         GROUP BY source, state",
    );
    let rows = |sql: &str| -> Vec<(String, String)> {
        let mut select = connection.prepare(sql).unwrap();
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.collect::<rusqlite::Result<_>>().unwrap()
    };
    let counts = |sql: &str| -> BTreeMap<String, u64> {
        rows(sql).into_iter().map(|(word, count)| (word, count.parse().unwrap())).collect()
    };
    let events: BTreeMap<_, _> = rows("SELECT id, ifnull(text, '') FROM events").into_iter().collect();
    let conflicts: BTreeSet<_> =
        rows("SELECT id, ifnull(conflicts.text, '') FROM conflicts JOIN events ON event = seq").into_iter().collect();
    Stored {
        gate: Gate { events, conflicts },
        batches: connection.query_row("SELECT count(*) FROM ops", [], |row| row.get::<_, u32>(0)).unwrap().into(),
        deliveries: counts("SELECT verdict, CAST(sum(count) AS TEXT) FROM deliveries GROUP BY verdict"),
        jobs: counts("SELECT state, CAST(count(*) AS TEXT) FROM jobs GROUP BY state"),
    }
}

/// Each event has one identity, in one slot, and each identity its event; one that was erased in another store has none.
#[track_caller]
fn identities(connection: &Connection) {
    let mut slots = BTreeSet::new();
    let mut events: Vec<i64> = Vec::new();
    let mut take = |slot: i64, event: i64| {
        assert!(slots.insert(slot), "slot {slot} twice");
        events.push(event);
    };
    let mut rows = connection.prepare("SELECT slot, event FROM identities").unwrap();
    let mut rows = rows.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        take(row.get(0).unwrap(), row.get(1).unwrap());
    }
    for table in ["identities_recent", "identities_settled"] {
        let mut blocks = connection.prepare(&format!("SELECT entries FROM {table}")).unwrap();
        let mut blocks = blocks.query([]).unwrap();
        while let Some(block) = blocks.next().unwrap() {
            let entries = block.get_ref(0).unwrap().as_blob().unwrap();
            assert_eq!(entries.len() % 16, 0, "a block that was cut");
            for entry in entries.chunks_exact(16) {
                let [slot, event] = [&entry[..8], &entry[8..]].map(|word| i64::from_be_bytes(word.try_into().unwrap()));
                take(slot, event);
            }
        }
    }
    events.sort_unstable();
    let mut stored = connection
        .prepare("SELECT seq FROM events EXCEPT SELECT event FROM erased WHERE elsewhere = 1 ORDER BY seq")
        .unwrap();
    let stored: Vec<i64> = stored.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap();
    assert!(events == stored, "{} identities for {} events, or others", events.len(), stored.len());
}

/// Makes the article's database, as its script does, with rows (id, texto, estado).
pub(crate) fn make_article(path: &Path, rows: impl IntoIterator<Item = (String, String, &'static str)>) {
    let mut connection = Connection::open(path).unwrap();
    let transaction = connection.transaction().unwrap();
    transaction
        .execute_batch(
            "CREATE TABLE IF NOT EXISTS trabajos (id TEXT PRIMARY KEY, texto TEXT NOT NULL, huella TEXT NOT NULL,
             estado TEXT NOT NULL DEFAULT 'pendiente')",
        )
        .unwrap();
    for (id, text, state) in rows {
        let fingerprint = cola_ia_core::event::Fingerprint::of(&text).to_string();
        transaction.execute("INSERT INTO trabajos VALUES (?1, ?2, ?3, ?4)", (id, text, fingerprint, state)).unwrap();
    }
    transaction.commit().unwrap();
}

/// Rows `viejo-0`, … in the article's three states by turns.
pub(crate) fn article_rows(count: usize) -> impl Iterator<Item = (String, String, &'static str)> {
    let states = ["pendiente", "terminado", "en_proceso"];
    (0..count).map(move |n| (format!("viejo-{n}"), format!("texto viejo {n}"), states[n % 3]))
}
