//! One identity for one event: what an import needs of the gate.

use rusqlite::{Connection, OptionalExtension as _};

use super::identities::{self, Packing};
use super::slot::Slots;

/// An identity that is to be an event.
pub(super) struct Claim<'a> {
    /// The row of its source.
    pub(super) source: i64,
    /// The name of its source.
    pub(super) name: &'a str,
    /// Its id, or what stands for it once erased.
    pub(super) id: &'a str,
    /// The event, whose row is inserted next.
    pub(super) event: i64,
}

/// Answers the event that has the identity from now on: this one, or another that had it before.
///
/// What is free is read and taken under the store's only write lock; whoever holds the slot is compared byte for byte, as in
/// the gate.
pub(super) fn claim(
    connection: &Connection,
    slots: Slots,
    packing: Packing,
    claim: &Claim<'_>,
) -> rusqlite::Result<i64> {
    let mut same = connection.prepare_cached("SELECT source = ?2 AND id = ?3 FROM events WHERE seq = ?1")?;
    let mut slot = slots.of(claim.name, claim.id);
    while let Some(held) = identities::holder(connection, slot)? {
        let is_same: Option<bool> = same.query_row((held, claim.source, claim.id), |row| row.get(0)).optional()?;
        match is_same {
            Some(true) => return Ok(held),
            Some(false) => slot = Slots::after(slot),
            None => return Err(super::row::unexpected("slot of a missing event", &held.to_string())),
        }
    }
    identities::take(connection, packing, &[identities::Identity { slot, event: claim.event }])?;
    Ok(claim.event)
}
