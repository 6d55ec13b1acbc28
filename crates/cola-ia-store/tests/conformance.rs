//! The cases that every store must pass: on SQLite, once more with slots so few that identities share them, and once with calls that
//! go wrong before or after the store and are repeated; on PostgreSQL, and on PostgreSQL behind a pooler.

mod backend;

use backend::Sqlite;
use cola_ia_testkit::faulty::Troubled;
use cola_ia_testkit::harness::Backend;

const SQLITE: Sqlite = Sqlite { name: "sqlite", slot_bits: 64 };

fn main() -> std::process::ExitCode {
    let mut backends: Vec<Box<dyn Backend>> = vec![
        Box::new(SQLITE),
        // 2^18: a batch of the greatest size still finds a free slot within a few steps.
        Box::new(Sqlite { name: "sqlite_sharing_slots", slot_bits: 18 }),
        Box::new(Troubled::new("sqlite_in_trouble", SQLITE, 0xc01a)),
    ];
    backends.extend(backend::postgres::servers());
    cola_ia_testkit::runner::main(backends)
}
