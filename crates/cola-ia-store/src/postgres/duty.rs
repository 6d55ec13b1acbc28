//! What one process does for all: a lease in the database says whose turn it is.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cola_ia_core::store::Duty;

use super::error::Fault;
use super::sql::params;
use super::tx::Tx;

/// What this process knows of duties: the database is asked twice in the time that one is held.
pub(super) struct Duties {
    /// This opened store, among all.
    pub(super) holder: [u8; 16],
    known: Mutex<HashMap<Duty, Known>>,
}

#[derive(Clone, Copy)]
struct Known {
    is_ours: bool,
    until: Instant,
}

impl Duties {
    pub(super) fn new(holder: [u8; 16]) -> Self {
        Self { holder, known: Mutex::default() }
    }

    /// The answer, where it need not be asked for.
    pub(super) fn known(&self, duty: Duty) -> Option<bool> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&duty).filter(|known| Instant::now() < known.until).map(|known| known.is_ours)
    }

    pub(super) fn learn(&self, duty: Duty, is_ours: bool, asked: Instant, length: Duration) {
        let known = Known { is_ours, until: asked + length / 2 };
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(duty, known);
    }
}

/// See [`Store::duty`](cola_ia_core::store::Store::duty).
pub(super) async fn take(tx: &Tx, holder: &[u8; 16], duty: Duty, length: Duration) -> Result<bool, Fault> {
    let until = tx.now.after(length).as_micros();
    let taken = tx
        .execute(
            "INSERT INTO duties (duty, holder, until) VALUES ($1, $2, $3)
             ON CONFLICT (duty) DO UPDATE SET holder = excluded.holder, until = excluded.until
             WHERE duties.holder = excluded.holder OR duties.until <= $4",
            params![duty.as_str(), &holder[..], until, tx.now.as_micros()],
        )
        .await?;
    Ok(taken == 1)
}
