//! The engines as the suites of the testkit see them.

#![allow(dead_code, reason = "each test target uses a part")]

pub(crate) mod postgres;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::intake::{DeliveryNumber, EventNumber, RefusalCode};
use cola_ia_core::job::{JobState, LeaseToken};
use cola_ia_core::store::Store;
use cola_ia_store::sqlite::{Options, Packing, SqliteStore};
use cola_ia_testkit::clock::{ManualClock, SeededEntropy};
use cola_ia_testkit::harness::{Backend, Failure, Place, RecordedRefusal};

/// SQLite in a file of its own.
pub(crate) struct Sqlite {
    pub(crate) name: &'static str,
    /// Fewer than 64 make identities share slots; they then go from rows to blocks early, too.
    pub(crate) slot_bits: u32,
}

struct Folder {
    folder: tempfile::TempDir,
    slot_bits: u32,
}

impl Folder {
    fn path(&self) -> PathBuf {
        self.folder.path().join("store.sqlite3")
    }
}

impl Backend for Sqlite {
    fn name(&self) -> &'static str {
        self.name
    }

    fn fresh(&self) -> Result<Box<dyn Place>, Failure> {
        Ok(Box::new(Folder { folder: tempfile::tempdir()?, slot_bits: self.slot_bits }))
    }
}

impl Place for Folder {
    fn open(&self, clock: ManualClock, entropy: SeededEntropy) -> Result<Arc<dyn Store>, Failure> {
        let options = Options {
            clock: Arc::new(clock),
            entropy: Arc::new(entropy),
            slot_bits: self.slot_bits,
            // Where slots are few, counts are added up often too: the odd store of the two.
            fold_after: if self.slot_bits < 64 { 3 } else { Options::default().fold_after },
            packing: if self.slot_bits < 64 { Packing::TINY } else { Packing::USUAL },
            ..Options::default()
        };
        Ok(Arc::new(SqliteStore::open(&self.path(), &options)?.0))
    }

    fn refusals(&self) -> Result<Vec<RecordedRefusal>, Failure> {
        let connection = rusqlite::Connection::open(self.path())?;
        let mut select = connection.prepare(
            "SELECT seq, received_at, code, detail, origin, count FROM deliveries WHERE verdict = 'invalid' ORDER BY seq",
        )?;
        let rows = select.query_map([], |row| {
            Ok(RecordedRefusal {
                number: DeliveryNumber(row.get(0)?),
                received_at: Timestamp::from_micros(row.get(1)?),
                code: RefusalCode::from_word(&row.get::<_, String>(2)?).expect("a code of ours"),
                detail: row.get(3)?,
                origin: row.get(4)?,
                count: row.get::<_, i64>(5)? as u64,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn set_job(&self, event: EventNumber, state: JobState, at: Timestamp) -> Result<(), Failure> {
        let connection = rusqlite::Connection::open(self.path())?;
        let running = state == JobState::Running;
        let lease = running.then(|| LeaseToken::new([7; 16], event.0 as u16).0);
        let until = running.then(|| at.after(Duration::from_hours(1)).as_micros());
        let due_at = (state == JobState::Pending).then_some(at.as_micros());
        // The counts are told as a verb of the store would tell them.
        connection.execute(
            "INSERT INTO counter_deltas (at, source, counter, n)
             SELECT ?3, source, 'job_' || state, -1 FROM jobs WHERE event = ?1
             UNION ALL SELECT ?3, source, 'job_' || ?2, 1 FROM jobs WHERE event = ?1",
            (event.0, state.as_str(), at.as_micros()),
        )?;
        let changed = connection.execute(
            "UPDATE jobs SET state = ?2, due_at = ?3, lease = ?4, changed_at = ?5, lease_until = ?6,
                    worker = CASE WHEN ?4 IS NULL THEN NULL ELSE worker END
             WHERE event = ?1",
            (event.0, state.as_str(), due_at, lease, at.as_micros(), until),
        )?;
        if changed == 1 { Ok(()) } else { Err("no such job".into()) }
    }
}
