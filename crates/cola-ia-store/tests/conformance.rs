//! The cases that every store must pass, on SQLite; once more with slots so few that identities share them.

mod backend;

use backend::Sqlite;

fn main() -> std::process::ExitCode {
    cola_ia_testkit::runner::main(vec![
        Box::new(Sqlite { name: "sqlite", slot_bits: 64 }),
        // 2^18: a batch of the greatest size still finds a free slot within a few steps.
        Box::new(Sqlite { name: "sqlite_sharing_slots", slot_bits: 18 }),
    ])
}
