//! Generated sequences of calls, answered by SQLite as by the model.

mod backend;

use backend::Sqlite;
use cola_ia_testkit::model::ModelBackend;
use cola_ia_testkit::sequences::{Plan, assert_agree};

#[test]
fn sqlite_agrees_with_the_model() {
    assert_agree(&ModelBackend, &Sqlite { name: "sqlite", slot_bits: 64 }, Plan::of(64));
}

/// Four slots for all identities: nearly every one is displaced.
#[test]
fn sqlite_agrees_with_the_model_where_slots_are_shared() {
    assert_agree(&ModelBackend, &Sqlite { name: "sqlite_sharing_slots", slot_bits: 2 }, Plan::of(64));
}
