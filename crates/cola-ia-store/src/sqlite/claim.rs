//! One identity for one event: what an import needs of the gate.

use rusqlite::{Connection, OptionalExtension as _};

use super::slot::Slots;

/// An identity that is to be an event.
pub(super) struct Identity<'a> {
    /// The row of its source.
    pub(super) source: i64,
    /// The name of its source.
    pub(super) name: &'a str,
    /// Its id, or what stands for it once erased.
    pub(super) id: &'a str,
}

/// Claims an identity for the event of this number, whose row is inserted next. Answers the event that has it now: this one,
/// or another that had it before.
///
/// The unique key decides; whoever holds the slot is compared byte for byte, as in the gate.
pub(super) fn claim(
    connection: &Connection,
    slots: Slots,
    identity: &Identity<'_>,
    event: i64,
) -> rusqlite::Result<i64> {
    let mut take = connection.prepare_cached("INSERT OR IGNORE INTO identities (slot, event) VALUES (?1, ?2)")?;
    let mut holder = connection.prepare_cached("SELECT event FROM identities WHERE slot = ?1")?;
    let mut same = connection.prepare_cached("SELECT source = ?2 AND id = ?3 FROM events WHERE seq = ?1")?;
    let mut slot = slots.of(identity.name, identity.id);
    loop {
        if take.execute((slot, event))? == 1 {
            return Ok(event);
        }
        let held: i64 = holder.query_row([slot], |row| row.get(0))?;
        let is_same: Option<bool> =
            same.query_row((held, identity.source, identity.id), |row| row.get(0)).optional()?;
        match is_same {
            Some(true) => return Ok(held),
            Some(false) => slot = Slots::after(slot),
            None => return Err(super::row::unexpected("slot of a missing event", &held.to_string())),
        }
    }
}
