//! One identity for one event: what an import needs of the gate.

use rusqlite::Connection;

use super::identities::{self, Packing};
use super::reader::Sight;
use super::slot::Slots;
use super::{erase, preview};
use crate::common::import::Identified;

/// Answers the event that has the identity from now on: this one, or another that had it before.
///
/// What is free is read and taken under the store's only write lock; whoever holds the slot is compared byte for byte, as in
/// the gate. One that was erased takes no slot: nobody can know here which one its id leads to. [`erase::remember`] notes it
/// once its row is there.
pub(super) fn identify(
    connection: &Connection,
    slots: Slots,
    packing: Packing,
    identified: &Identified<'_>,
) -> rusqlite::Result<i64> {
    if identified.erased {
        for elsewhere in [false, true] {
            if let Some(event) = erase::find_hash(connection, elsewhere, identified.source, identified.id)? {
                return Ok(event);
            }
        }
        return Ok(identified.event);
    }
    if let Some(event) = preview::find(&Sight { connection, slots }, identified.name, identified.id)? {
        return Ok(event);
    }
    let mut slot = slots.of(identified.name, identified.id);
    while identities::holder(connection, slot)?.is_some() {
        slot = Slots::after(slot);
    }
    identities::take(connection, packing, &[identities::Identity { slot, event: identified.event }])?;
    Ok(identified.event)
}
