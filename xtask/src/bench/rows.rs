//! The plain loop: rows that are ready in memory go into the same tables and indexes as the program's, in batches of 10,000, in
//! input order, durably. No parsing, no hashing, no verdicts: what SQLite alone can do with this schema.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, params_from_iter};

use super::input::{self, Event, Random};
use super::shape::{self, Form, Kind, NOISE_LEN, Shape, Statement};
use crate::failure::{Attempt, Failure};

pub(crate) const PART: &str = "rows";

/// Rows of one transaction.
const BATCH: usize = 10_000;

/// Foreign keys are not checked and the cache is not the smallest: the loop is given no handicap.
const SETTINGS: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF; \
                        PRAGMA cache_size = -65536;";

/// Events of the smaller sample store, and how many more the larger one has.
pub(crate) const SAMPLE: u64 = 8;
pub(crate) const SAMPLE_MORE: u64 = 5;

/// The child process: `SMALL LARGE SAMPLE_SEED STORE SEED COUNT`; prints its SQL, then the microseconds it took.
pub(crate) fn child(arguments: &[String]) -> Result<(), Failure> {
    let [small, large, sample_seed, store, seed, count] = arguments else {
        return Err(Failure::new("wants SMALL LARGE SAMPLE_SEED STORE SEED COUNT"));
    };
    let number = |text: &String| text.parse::<u64>().attempt(|| format!("read the number {text}"));
    let sample: Vec<_> = input::events(number(sample_seed)?, SAMPLE).collect();
    let shape = shape::read(Path::new(small), &sample, Path::new(large), SAMPLE_MORE)?;
    print!("{}", describe(&shape));
    let took = insert(&shape, Path::new(small), Path::new(store), number(seed)?, number(count)?)?;
    println!("{}", took.as_micros());
    Ok(())
}

/// The SQL of the loop; of the schema, what an event goes into.
fn describe(shape: &Shape) -> String {
    let mut text = format!("  PRAGMA page_size = {}; {SETTINGS}\n", shape.page_size);
    let is_touched = |statement: &&Statement| shape.touched.iter().any(|touched| touched.table == statement.table);
    let (statements, filled) = (shape.tables.iter().chain(&shape.others), shape.filled.len());
    for Statement { sql, .. } in statements.filter(is_touched) {
        let _ = writeln!(text, "  {};", sql.replace('\n', "\n  "));
    }
    let _ = writeln!(text, "  -- {filled} more tables, with their indexes, which no new event goes into");
    let _ = writeln!(text, "  -- for each event, {BATCH} events a transaction:");
    for touched in &shape.touched {
        let _ = writeln!(text, "  {};", touched.insert());
    }
    text
}

/// An event ready to be inserted.
struct Ready {
    number: i64,
    event: Event,
    noise: [u8; NOISE_LEN],
}

fn ready(seed: u64, count: u64) -> Vec<Ready> {
    let mut random = Random::new(!seed);
    (0..)
        .zip(input::events(seed, count))
        .map(|(number, event)| {
            let mut noise = [0; NOISE_LEN];
            for chunk in noise.chunks_exact_mut(8) {
                chunk.copy_from_slice(&random.next().to_le_bytes());
            }
            Ready { number, event, noise }
        })
        .collect()
}

impl Ready {
    fn value<'a>(&'a self, kind: &'a Kind) -> ToSqlOutput<'a> {
        match kind {
            Kind::Same(value) => ToSqlOutput::Borrowed(ValueRef::from(value)),
            Kind::Number { first } => ToSqlOutput::Owned(Value::Integer(first + self.number)),
            Kind::Id(form) => string(&self.event.id, *form),
            Kind::Text(form) => string(&self.event.text, *form),
            Kind::Bytes { len } => ToSqlOutput::Borrowed(ValueRef::Blob(&self.noise[..*len])),
            Kind::Noise { bits, signed } => ToSqlOutput::Owned(Value::Integer(self.integer(*bits, *signed))),
        }
    }

    fn integer(&self, bits: u32, signed: bool) -> i64 {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.noise[..8]);
        let number = i64::from_le_bytes(bytes);
        let magnitude = number & (i64::MAX >> (63 - bits.min(63)));
        if signed && self.noise[8] & 1 == 1 { -magnitude } else { magnitude }
    }
}

fn string(text: &str, form: Form) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(match form {
        Form::Text => ValueRef::Text(text.as_bytes()),
        Form::Blob => ValueRef::Blob(text.as_bytes()),
    })
}

fn insert(shape: &Shape, sample: &Path, store: &Path, seed: u64, count: u64) -> Result<Duration, Failure> {
    let rows = ready(seed, count);
    prepare_store(shape, sample, store).attempt(|| format!("make the tables of {}", store.display()))?;
    let started = Instant::now();
    let body = || -> rusqlite::Result<()> {
        let mut connection = Connection::open(store)?;
        connection.execute_batch(SETTINGS)?;
        connection.set_prepared_statement_cache_capacity(shape.touched.len() + 16);
        let statements: Vec<_> =
            shape.touched.iter().map(|touched| (touched.insert(), touched.parameters().collect::<Vec<_>>())).collect();
        for batch in rows.chunks(BATCH) {
            let transaction = connection.transaction()?;
            {
                let mut inserts = statements
                    .iter()
                    .map(|(sql, kinds)| Ok((transaction.prepare_cached(sql)?, kinds)))
                    .collect::<rusqlite::Result<Vec<_>>>()?;
                for row in batch {
                    for (insert, kinds) in &mut inserts {
                        insert.execute(params_from_iter(kinds.iter().map(|kind| row.value(kind))))?;
                    }
                }
            }
            transaction.commit()?;
        }
        connection.close().map_err(|(_, cause)| cause)
    };
    body().attempt(|| format!("insert into {}", store.display()))?;
    Ok(started.elapsed())
}

/// The schema of the program's store, and the rows in it that no event made.
fn prepare_store(shape: &Shape, sample: &Path, store: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open(store)?;
    connection.execute_batch(&format!("PRAGMA page_size = {}; PRAGMA foreign_keys = OFF;", shape.page_size))?;
    for Statement { sql, .. } in &shape.tables {
        connection.execute_batch(sql)?;
    }
    connection.execute("ATTACH DATABASE ? AS sample", [sample.to_string_lossy()])?;
    for table in shape.filled.iter().map(|table| shape::quoted(table)) {
        connection.execute_batch(&format!("INSERT INTO main.{table} SELECT * FROM sample.{table}"))?;
    }
    connection.execute_batch("DETACH DATABASE sample")?;
    for Statement { sql, .. } in &shape.others {
        connection.execute_batch(sql)?;
    }
    connection.close().map_err(|(_, cause)| cause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::params;
    use std::path::PathBuf;

    /// Three tables a new event goes into, one that a command goes into and one that is filled when the store is made.
    const SCHEMA: &str = "
        PRAGMA page_size = 8192;
        CREATE TABLE sources (source INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        CREATE TABLE identities (slot INTEGER PRIMARY KEY, event INTEGER NOT NULL REFERENCES events (seq));
        CREATE TABLE events (
            seq INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES sources (source), id TEXT NOT NULL,
            fingerprint BLOB NOT NULL, received_at INTEGER NOT NULL, type TEXT, text TEXT,
            text_len INTEGER GENERATED ALWAYS AS (length(text)) VIRTUAL
        );
        CREATE TABLE jobs (event INTEGER PRIMARY KEY, state TEXT NOT NULL DEFAULT 'pending', due_at INTEGER);
        CREATE TABLE deliveries (at INTEGER);
        CREATE INDEX jobs_live ON jobs (due_at) WHERE state = 'pending';
        INSERT INTO sources VALUES (1, 'default');";

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            Self(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn sample_store(path: &Path, count: u64) {
        let connection = Connection::open(path).unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        let mut random = Random::new(1);
        for (number, event) in (1i64..).zip(input::events(1, count)) {
            let slot = random.next() as i64;
            let at = 1_800_000_000_000_000 + number;
            let fingerprint = [number as u8; 32];
            connection
                .execute(
                    "INSERT INTO events VALUES (?, 1, ?, ?, ?, NULL, ?)",
                    params![number, event.id, fingerprint, at, event.text],
                )
                .unwrap();
            connection.execute("INSERT INTO identities VALUES (?, ?)", params![slot, number]).unwrap();
            connection.execute("INSERT INTO jobs (event) VALUES (?)", [number]).unwrap();
        }
        connection.execute("INSERT INTO deliveries VALUES (1)", []).unwrap();
    }

    #[test]
    fn loop_fills_exactly_the_tables_that_an_event_goes_into() {
        let folder = Folder::new("rows");
        let path = |name: &str| folder.0.join(name);
        sample_store(&path("small"), SAMPLE);
        sample_store(&path("large"), SAMPLE + SAMPLE_MORE);
        let sample: Vec<_> = input::events(1, SAMPLE).collect();
        let shape = shape::read(&path("small"), &sample, &path("large"), SAMPLE_MORE).unwrap();
        insert(&shape, &path("small"), &path("store"), 2, 25_000).unwrap();

        let store = Connection::open(path("store")).unwrap();
        let one = |query: &str| store.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
        for table in ["identities", "events", "jobs"] {
            assert_eq!(one(&format!("SELECT count(*) FROM {table}")), 25_000, "{table}");
        }
        assert_eq!(one("SELECT count(*) FROM sources"), 1);
        assert_eq!(one("SELECT count(*) FROM sqlite_schema WHERE name = 'jobs_live'"), 1);
        assert_eq!(
            one("SELECT count(*) FROM events WHERE length(id) = 36 AND length(fingerprint) = 32 AND text_len > 100"),
            25_000
        );
        assert_eq!(one("SELECT count(*) FROM identities JOIN events ON seq = event JOIN jobs USING (event)"), 25_000);
        assert_eq!(one("PRAGMA page_size"), 8_192);
        let mode: String = store.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
    }

    #[test]
    fn sql_of_the_loop_is_shown() {
        let folder = Folder::new("sql");
        let path = |name: &str| folder.0.join(name);
        sample_store(&path("small"), SAMPLE);
        sample_store(&path("large"), SAMPLE + SAMPLE_MORE);
        let sample: Vec<_> = input::events(1, SAMPLE).collect();
        let shape = shape::read(&path("small"), &sample, &path("large"), SAMPLE_MORE).unwrap();
        let text = describe(&shape);
        for part in [
            "CREATE TABLE events (",
            "CREATE INDEX jobs_live",
            "INSERT INTO \"identities\" (\"slot\", \"event\") VALUES (?, ?)",
            "INSERT INTO \"jobs\" (\"event\", \"state\") VALUES (?, 'pending')",
        ] {
            assert!(text.contains(part), "{part:?} in {text}");
        }
        assert!(!text.contains("deliveries") && text.contains("-- 2 more tables"), "{text}");
    }
}
