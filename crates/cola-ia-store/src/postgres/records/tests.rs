use std::collections::{BTreeMap, BTreeSet};

use cola_ia_testkit::harness::block_on;

use super::super::sql::params;
use super::super::tx::Kind as Of;
use super::super::{Address, Options, PostgresStore};
use super::*;

/// Tables that are in no export, and why. A table that is missing here and in the shapes fails the test.
const OTHER_TABLES: [(&str, &str); 13] = [
    (
        "store",
        "what this schema is; namespace and currency are in the header, and a store that takes an export in is marked itself",
    ),
    ("cola_ia_migrations", "which steps this schema has been through"),
    ("ops", "answers to calls that were made of this store; nobody repeats them to another one"),
    ("arrivals", "in which order this store came to know it all"),
    ("counter_deltas", "their sums are counters, and what enters is counted at the time at which it was received"),
    ("counters", "as counter_deltas"),
    ("counter_lateness", "as counter_deltas"),
    ("counter_numbers", "as counter_deltas"),
    ("job_counts", "follow from the jobs"),
    ("erased", "follows from the events"),
    ("tokens", "who may do something here may do nothing elsewhere"),
    ("source_streaks", "how work goes here and now: another store finds out for itself"),
    ("duties", "which process does now what one does for all"),
];

/// Columns of exported tables that are in no shape, and why.
const OTHER_COLUMNS: [(&str, &str, &str); 4] = [
    ("sources", "source", "rows of this schema: in an export a source is its name"),
    ("jobs", "source", "the event's"),
    ("signed_bodies", "source", "the event's"),
    ("money", "reserved", "follows from the tries that hold it"),
];

/// Each column of each table, and whether it may be NULL and is of no primary key. `None` where there is no server and none is
/// required.
fn schema() -> Option<BTreeMap<(String, String), bool>> {
    let named = std::env::var("COLA_IA_TEST_POSTGRES");
    assert!(named.is_ok() || std::env::var_os("COLA_IA_REQUIRE_TOOLS").is_none(), "a server is required");
    let name = format!("test_records_{}_{:?}", std::process::id(), std::thread::current().id());
    let name: String = name.to_lowercase().chars().filter(|c| c.is_alphanumeric() || *c == '_').collect();
    let address = Address::parse(&named.ok()?, Some(&name)).unwrap();
    let (store, _) = PostgresStore::open(&address, &Options::default()).unwrap();
    let columns = block_on(store.call(Of::Alone, name, |tx, name| {
        Box::pin(async move {
            let rows = tx
                .query(
                    "SELECT c.table_name::text, c.column_name::text, c.is_nullable = 'YES'
                     FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
                     WHERE table_schema = $1 AND t.table_type = 'BASE TABLE'",
                    params![name.as_str()],
                )
                .await?;
            tx.batch(&format!("DROP SCHEMA {name} CASCADE")).await?;
            rows.iter().map(|row| Ok(((row.read(0)?, row.read(1)?), row.read(2)?))).collect::<Result<_, Fault>>()
        })
    }));
    Some(columns.unwrap())
}

#[test]
fn every_column_of_every_table_is_exported_or_has_a_reason_not_to_be() {
    let Some(schema) = schema() else { return };
    let tables: BTreeSet<&str> = schema.keys().map(|(table, _)| table.as_str()).collect();
    let exported: BTreeSet<&str> = Kind::ALL.into_iter().filter_map(table).collect();
    let others: BTreeSet<&str> = OTHER_TABLES.iter().map(|(table, _)| *table).collect();
    assert!(exported.is_disjoint(&others));
    let known: BTreeSet<&str> = exported.union(&others).copied().collect();
    assert_eq!(tables, known, "a table is neither exported nor listed with a reason, or is gone");
    for kind in Kind::ALL {
        let Some(table) = table(kind) else { continue };
        let columns: BTreeSet<&str> =
            schema.keys().filter(|(of, _)| of == table).map(|(_, column)| column.as_str()).collect();
        let shape = kind.fields().iter().map(|field| column(kind, field));
        let others = OTHER_COLUMNS.iter().filter(|(of, ..)| *of == table).map(|(_, column, _)| *column);
        let known: BTreeSet<&str> = shape.chain(others).collect();
        assert_eq!(columns, known, "{table}: a column is neither exported nor listed with a reason, or is gone");
    }
    assert!(OTHER_TABLES.iter().all(|(_, why)| !why.is_empty()));
    assert!(OTHER_COLUMNS.iter().all(|(.., why)| !why.is_empty()));
}

/// A column that may not be NULL must be in every export, and the other way round.
#[test]
fn what_may_be_null_may_be_null_in_the_table() {
    let Some(schema) = schema() else { return };
    for kind in Kind::ALL {
        let Some(table) = table(kind) else { continue };
        for field in kind.fields() {
            let nullable = schema[&(table.to_owned(), column(kind, field).to_owned())];
            assert_eq!(field.nullable, nullable, "{table}.{}", field.name);
        }
    }
}
