//! Time that goes by in a store without anybody waiting for it.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

/// As if so much time had gone by: what is remembered of jobs, leases and tries lies further back. Nobody else may use the
/// store meanwhile.
#[track_caller]
pub(crate) fn later(store: &Path, time: Duration) {
    let micros = time.as_micros();
    let connection = Connection::open(store).unwrap();
    connection.busy_timeout(Duration::from_secs(30)).unwrap();
    let change = format!(
        "BEGIN IMMEDIATE;
         UPDATE effect_tries SET begun_at = begun_at - {micros}, send_before = send_before - {micros},
             deadline = deadline - {micros}, key_until = key_until - {micros};
         UPDATE jobs SET due_at = due_at - {micros}, lease_until = lease_until - {micros};
         COMMIT;"
    );
    connection.execute_batch(&change).unwrap();
}
