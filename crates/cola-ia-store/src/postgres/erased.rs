//! Identities that were erased: found by what stands for their ids.

use std::collections::HashMap;

use cola_ia_core::event::Fingerprint;
use cola_ia_core::store::erased_id;

use super::error::Fault;
use super::row::Columns as _;
use super::sql::params;
use super::tx::Tx;

/// An identity: the row of its source, the source's name, and the id.
pub(super) type Identity<'a> = (i64, &'a str, &'a str);

/// The events among these identities that were erased, with the content that entered, by the places of the identities. Nothing is
/// worked out where the store has none.
pub(super) async fn find(tx: &Tx, identities: &[Identity<'_>]) -> Result<HashMap<usize, (i64, Fingerprint)>, Fault> {
    let mut found = HashMap::new();
    if identities.is_empty() || tx.maybe("SELECT 1 FROM erased LIMIT 1", params![]).await?.is_none() {
        return Ok(found);
    }
    let namespace: Vec<u8> = tx.one("SELECT namespace FROM store", params![]).await?.read(0)?;
    let sources: Vec<i64> = identities.iter().map(|(source, ..)| *source).collect();
    let hashes: Vec<String> = identities.iter().map(|(_, name, id)| erased_id(&namespace, name, id)).collect();
    let rows = tx
        .query(
            "SELECT u.place - 1, x.event, x.fingerprint
             FROM unnest($1, $2) WITH ORDINALITY u(source, id, place),
                  LATERAL (SELECT r.event, e.fingerprint FROM erased r JOIN events e ON e.seq = r.event
                           WHERE r.source = u.source AND r.id = u.id LIMIT 1) x",
            params![sources, hashes],
        )
        .await?;
    for row in rows {
        found.insert(row.count(0)?, (row.read(1)?, Fingerprint(row.bytes(2)?)));
    }
    Ok(found)
}

/// Notes what stands for the id of an event that is erased now, or was in another store. Its row has it already.
pub(super) async fn remember(tx: &Tx, event: i64) -> Result<(), Fault> {
    tx.execute(
        "INSERT INTO erased (source, id, event) SELECT source, id, seq FROM events WHERE seq = $1 ON CONFLICT DO NOTHING",
        params![event],
    )
    .await
    .map(drop)
}
