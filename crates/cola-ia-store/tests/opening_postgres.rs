//! Opening a store in PostgreSQL.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod backend;

use std::sync::Arc;

use backend::postgres::{POSTGRES, Postgres, Schema};
use cola_ia_core::store::{Store as _, StoreError};
use cola_ia_store::migration::Migration;
use cola_ia_store::postgres::{Address, Migrated, Opened, Options, PostgresStore};
use cola_ia_testkit::harness::block_on;

/// A schema of its own; `None` where there is no server and none is required.
fn schema() -> Option<Schema> {
    Postgres::named("postgres", POSTGRES)?;
    Some(Schema::new(&std::env::var(POSTGRES).ok()?))
}

fn code<T>(answer: Result<T, StoreError>) -> &'static str {
    answer.err().map_or("none", |error| error.code)
}

#[test]
fn a_store_is_made_once_however_many_start_at_once() {
    let Some(schema) = schema() else { return };
    let address = schema.address().unwrap();
    let made: Vec<(bool, [u8; 16])> = std::thread::scope(|scope| {
        let starts: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let (store, opened) = PostgresStore::open(&address, &Options::default()).unwrap();
                    (opened.created, block_on(store.namespace()).unwrap())
                })
            })
            .collect();
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    assert_eq!(made.iter().filter(|(created, _)| *created).count(), 1);
    assert!(made.iter().all(|(_, namespace)| *namespace == made[0].1));
}

#[test]
fn views_and_changes_make_nothing() {
    let Some(schema) = schema() else { return };
    let address = schema.address().unwrap();
    assert_eq!(code(PostgresStore::view(&address, &Options::default())), "store_missing");
    assert_eq!(code(PostgresStore::change(&address, &Options::default())), "store_missing");
    drop(PostgresStore::open(&address, &Options::default()).unwrap());
    let view = PostgresStore::view(&address, &Options::default()).unwrap();
    assert_eq!(block_on(view.currency()).unwrap(), None);
    assert_eq!(code(block_on(view.set_currency("EUR".into()))), "store_not_writable");
}

const OLD: &[Migration] = &[Options::OLDEST];

#[test]
fn an_older_store_is_brought_up_to_date_and_a_newer_one_left_alone() {
    let Some(schema) = schema() else { return };
    let address = schema.address().unwrap();
    let old = Options { migrations: OLD, ..Options::default() };
    drop(PostgresStore::open(&address, &old).unwrap());
    assert_eq!(code(PostgresStore::view(&address, &Options::default())), "store_needs_migration");
    let to = Options::default().migrations.len() as u32;
    let (store, opened) = PostgresStore::change(&address, &Options::default()).unwrap();
    assert_eq!(opened, Opened { created: false, migrated: Some(Migrated { from: 1, to }) });
    drop(store);
    assert_eq!(code(PostgresStore::open(&address, &old)), "store_newer");
    assert_eq!(code(PostgresStore::view(&address, &old)), "store_newer");
}

#[test]
fn who_cannot_be_reached_and_who_refuses_are_told_apart() {
    let Some(schema) = schema() else { return };
    drop(schema);
    let right = std::env::var(POSTGRES).unwrap();
    let base = right.split('?').next().unwrap();
    let (server, _) = base.rsplit_once('/').unwrap();
    let open = |text: &str| PostgresStore::open(&Address::parse(text, None).unwrap(), &Options::default());
    assert_eq!(code(open(&format!("{server}/no_such_database_here"))), "store_no_database");
    // Port 1 of the loopback: nobody listens there.
    assert_eq!(code(open("postgres://cola@127.0.0.1:1/cola")), "store_unreachable");
}

#[test]
fn dropping_a_store_waits_for_the_calls_that_were_made() {
    let Some(schema) = schema() else { return };
    let address = schema.address().unwrap();
    let (store, _) = PostgresStore::open(&address, &Options::default()).unwrap();
    let store = Arc::new(store);
    let mut call = Box::pin(store.set_currency("EUR".into()));
    let waker = std::task::Waker::noop();
    // The first poll makes the call; whether it is answered already does not matter.
    let _ = call.as_mut().poll(&mut std::task::Context::from_waker(waker));
    drop(call);
    drop(store);
    let (again, _) = PostgresStore::open(&address, &Options::default()).unwrap();
    assert_eq!(block_on(again.currency()).unwrap().as_deref(), Some("EUR"));
}
