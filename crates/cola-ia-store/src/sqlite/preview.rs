//! What the gate would say, without a trace.

use cola_ia_core::event::Delivery;
use cola_ia_core::intake::Intake;
use cola_ia_core::store::Preview;
use cola_ia_core::verdict::Verdict;
use rusqlite::OptionalExtension as _;

use super::erase;
use super::identities;
use super::reader::Sight;
use super::slot::Slots;

/// See [`Store::preview`](cola_ia_core::store::Store::preview).
pub(super) fn preview(sight: &Sight<'_>, batch: &[Intake]) -> rusqlite::Result<Vec<Preview>> {
    batch
        .iter()
        .map(|intake| match intake {
            Intake::Delivery(delivery) => one(sight, delivery),
            Intake::Refusal(_) => Ok(Preview::Known(Verdict::Invalid)),
        })
        .collect()
}

fn one(sight: &Sight<'_>, delivery: &Delivery) -> rusqlite::Result<Preview> {
    let Some(event) = find(sight, delivery.source.as_str(), delivery.id.as_str())? else {
        return Ok(if is_replay(sight, delivery)? { Preview::Known(Verdict::Duplicate) } else { Preview::Unknown });
    };
    let entered: [u8; 32] = sight
        .connection
        .prepare_cached("SELECT fingerprint FROM events WHERE seq = ?1")?
        .query_row([event], |row| row.get(0))?;
    let content = delivery.content.fingerprint().0;
    let is = |sql: &str| sight.connection.prepare_cached(sql)?.exists((event, content));
    if entered == content || is("SELECT 1 FROM revisions WHERE event = ?1 AND fingerprint = ?2")? {
        return Ok(Preview::Known(Verdict::Duplicate));
    }
    let decided = "SELECT 1 FROM conflicts WHERE event = ?1 AND fingerprint = ?2 AND decision IS NOT NULL";
    Ok(if is(decided)? { Preview::Decided } else { Preview::Known(Verdict::Conflict) })
}

/// Whether the bytes that it came in are known.
fn is_replay(sight: &Sight<'_>, delivery: &Delivery) -> rusqlite::Result<bool> {
    let Some(body) = delivery.body else { return Ok(false) };
    sight
        .connection
        .prepare_cached(
            "SELECT 1 FROM signed_bodies WHERE source = (SELECT source FROM sources WHERE name = ?1) AND body = ?2",
        )?
        .exists((delivery.source.as_str(), body.0))
}

/// The event with this identity: along the slots until it is there or a slot is free.
pub(super) fn find(sight: &Sight<'_>, source: &str, id: &str) -> rusqlite::Result<Option<i64>> {
    let known: Option<i64> = sight
        .connection
        .prepare_cached("SELECT source FROM sources WHERE name = ?1")?
        .query_row([source], |row| row.get(0))
        .optional()?;
    let Some(known) = known else { return Ok(None) };
    let mut identity =
        sight.connection.prepare_cached("SELECT source = ?2, id, erased_at IS NOT NULL FROM events WHERE seq = ?1")?;
    let mut slot = sight.slots.of(source, id);
    loop {
        let Some(event) = identities::holder(sight.connection, slot)? else {
            if erase::has_elsewhere(sight.connection)? {
                return erase::find_elsewhere(sight.connection, known, source, id);
            }
            return Ok(None);
        };
        // An event that is not there is damage: never taken for another identity.
        let same = identity.query_row((event, known), |row| {
            let held = row.get_ref(1)?.as_str()?;
            Ok(row.get(0)? && if row.get(2)? { held == erase::hash(sight.connection, source, id)? } else { held == id })
        })?;
        if same {
            return Ok(Some(event));
        }
        slot = Slots::after(slot);
    }
}
