//! A loop that does what the article's script does: one `INSERT OR IGNORE` a transaction, in a rollback-journal database.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};

use super::input::{self, Event, Random};
use crate::failure::{Attempt, Failure};

pub(crate) const PART: &str = "article";

const SETTINGS: &str = "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL;";

const TABLE: &str = "CREATE TABLE trabajos (id TEXT PRIMARY KEY, texto TEXT NOT NULL, huella TEXT NOT NULL, \
                     estado TEXT NOT NULL DEFAULT 'pendiente')";

const INSERT: &str = "INSERT OR IGNORE INTO trabajos (id, texto, huella) VALUES (?, ?, ?)";

/// The child process: `STORE SEED COUNT`; prints its SQL, then the microseconds it took.
pub(crate) fn child(arguments: &[String]) -> Result<(), Failure> {
    let [store, seed, count] = arguments else { return Err(Failure::new("wants STORE SEED COUNT")) };
    let seed = seed.parse().attempt(|| format!("read the seed {seed}"))?;
    let count = count.parse().attempt(|| format!("read the count {count}"))?;
    println!("  {SETTINGS}\n  {TABLE}\n  {INSERT}   -- {count} times, a transaction each");
    let took = insert(Path::new(store), seed, count)?;
    println!("{}", took.as_micros());
    Ok(())
}

fn insert(store: &Path, seed: u64, count: u64) -> Result<Duration, Failure> {
    let mut random = Random::new(!seed);
    let rows: Vec<(Event, String)> = input::events(seed, count)
        .map(|event| {
            let fingerprint = (0..4).fold(String::new(), |digits, _| format!("{digits}{:016x}", random.next()));
            (event, fingerprint)
        })
        .collect();
    let started = Instant::now();
    let body = || -> rusqlite::Result<()> {
        let connection = Connection::open(store)?;
        connection.execute_batch(SETTINGS)?;
        connection.execute_batch(TABLE)?;
        let mut insert = connection.prepare(INSERT)?;
        for (Event { id, text }, fingerprint) in &rows {
            insert.execute(params![id, text, fingerprint])?;
        }
        drop(insert);
        connection.close().map_err(|(_, cause)| cause)
    };
    body().attempt(|| format!("insert into {}", store.display()))?;
    Ok(started.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loop_inserts_each_event_once() {
        let store = std::env::temp_dir().join(format!("xtask-article-{}.sqlite3", std::process::id()));
        insert(&store, 3, 40).unwrap();
        let connection = Connection::open(&store).unwrap();
        let count: i64 = connection.query_row("SELECT count(*) FROM trabajos", [], |row| row.get(0)).unwrap();
        let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
        drop(connection);
        std::fs::remove_file(&store).unwrap();
        assert_eq!((count, mode.as_str()), (40, "delete"));
    }
}
