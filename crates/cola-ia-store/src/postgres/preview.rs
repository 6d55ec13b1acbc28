//! What the gate would say, without a trace.

use std::collections::HashMap;

use cola_ia_core::event::{Delivery, Fingerprint};
use cola_ia_core::intake::Intake;
use cola_ia_core::store::Preview;
use cola_ia_core::verdict::Verdict;

use super::accept::HOLDERS;
use super::erased;
use super::error::Fault;
use super::row::Columns as _;
use super::sql::params;
use super::tx::Tx;

/// See [`Store::preview`](cola_ia_core::store::Store::preview).
pub(super) async fn preview(tx: &Tx, batch: &[Intake]) -> Result<Vec<Preview>, Fault> {
    let deliveries: Vec<(usize, &Delivery)> = batch
        .iter()
        .enumerate()
        .filter_map(|(index, intake)| match intake {
            Intake::Delivery(delivery) => Some((index, delivery)),
            Intake::Refusal(_) => None,
        })
        .collect();
    let names: Vec<&str> = deliveries.iter().map(|(_, delivery)| delivery.source.as_str()).collect();
    let rows = tx.sources(&names).await?;
    let mut answers = vec![Preview::Known(Verdict::Invalid); batch.len()];
    // One whose source never came is not known.
    let mut asked: Vec<(usize, i64, &Delivery)> = Vec::with_capacity(deliveries.len());
    for (index, delivery) in deliveries {
        answers[index] = Preview::Unknown;
        if let Some(source) = rows.get(delivery.source.as_str()) {
            asked.push((index, *source, delivery));
        }
    }
    let known = known(tx, &asked).await?;
    let replays = replays(tx, &asked).await?;
    for (place, (index, _, delivery)) in asked.iter().enumerate() {
        answers[*index] = match known.get(&place) {
            Some(Known { entered, .. }) if *entered == delivery.content.fingerprint() => {
                Preview::Known(Verdict::Duplicate)
            }
            Some(Known { is_revision: true, .. }) => Preview::Known(Verdict::Duplicate),
            Some(Known { is_decided: true, .. }) => Preview::Decided,
            Some(_) => Preview::Known(Verdict::Conflict),
            None if replays.contains(&place) => Preview::Known(Verdict::Duplicate),
            None => Preview::Unknown,
        };
    }
    Ok(answers)
}

/// What is known of an identity and a content that comes under it.
struct Known {
    entered: Fingerprint,
    is_revision: bool,
    is_decided: bool,
}

async fn known(tx: &Tx, asked: &[(usize, i64, &Delivery)]) -> Result<HashMap<usize, Known>, Fault> {
    let sources: Vec<i64> = asked.iter().map(|(_, source, _)| *source).collect();
    let ids: Vec<&str> = asked.iter().map(|(.., delivery)| delivery.id.as_str()).collect();
    let mut held: HashMap<usize, (i64, Fingerprint)> = HashMap::new();
    for row in tx.query(HOLDERS, params![sources, ids]).await? {
        held.insert(row.count(0)?, (row.read(1)?, Fingerprint(row.bytes(2)?)));
    }
    let identities: Vec<erased::Identity<'_>> =
        asked.iter().map(|(_, source, delivery)| (*source, delivery.source.as_str(), delivery.id.as_str())).collect();
    for (place, found) in erased::find(tx, &identities).await? {
        held.entry(place).or_insert(found);
    }
    let others: Vec<(usize, i64, Fingerprint)> = held
        .iter()
        .map(|(place, (event, entered))| (*place, *event, *entered, asked[*place].2.content.fingerprint()))
        .filter(|(.., entered, content)| entered != content)
        .map(|(place, event, _, content)| (place, event, content))
        .collect();
    let mut known: HashMap<usize, Known> = held
        .into_iter()
        .map(|(place, (_, entered))| (place, Known { entered, is_revision: false, is_decided: false }))
        .collect();
    if others.is_empty() {
        return Ok(known);
    }
    let places: Vec<i64> = others.iter().map(|(place, ..)| *place as i64).collect();
    let events: Vec<i64> = others.iter().map(|(_, event, _)| *event).collect();
    let contents: Vec<&[u8]> = others.iter().map(|(.., content)| &content.0[..]).collect();
    let rows = tx
        .query(
            "SELECT u.place,
                 EXISTS (SELECT 1 FROM revisions r WHERE r.event = u.event AND r.fingerprint = u.content),
                 EXISTS (SELECT 1 FROM conflicts c WHERE c.event = u.event AND c.fingerprint = u.content
                                                         AND c.decision IS NOT NULL)
             FROM unnest($1, $2, $3) u(place, event, content)",
            params![places, events, contents],
        )
        .await?;
    for row in &rows {
        if let Some(known) = known.get_mut(&row.count::<usize>(0)?) {
            (known.is_revision, known.is_decided) = (row.read(1)?, row.read(2)?);
        }
    }
    Ok(known)
}

/// Those that come in bytes that are known.
async fn replays(tx: &Tx, asked: &[(usize, i64, &Delivery)]) -> Result<Vec<usize>, Fault> {
    let (mut places, mut sources, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
    for (place, (_, source, delivery)) in asked.iter().enumerate() {
        if let Some(body) = &delivery.body {
            places.push(place as i64);
            sources.push(*source);
            bodies.push(&body.0[..]);
        }
    }
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let rows = tx
        .query(
            "SELECT u.place FROM unnest($1, $2, $3) u(place, source, body)
             WHERE EXISTS (SELECT 1 FROM signed_bodies s WHERE s.source = u.source AND s.body = u.body)",
            params![places, sources, bodies],
        )
        .await?;
    rows.iter().map(|row| row.count(0)).collect()
}

/// The event with this identity, erased or not.
pub(super) async fn find(tx: &Tx, source: &str, id: &str) -> Result<Option<i64>, Fault> {
    let Some(row) = tx.source(source).await? else { return Ok(None) };
    // No id has it, and no column takes it.
    if id.contains('\0') {
        return Ok(None);
    }
    let held = tx
        .maybe("SELECT seq FROM events WHERE source = $1 AND id = $2 AND erased_at IS NULL", params![row, id])
        .await?;
    if let Some(held) = held {
        return held.read(0).map(Some);
    }
    Ok(erased::find(tx, &[(row, source, id)]).await?.remove(&0).map(|(event, _)| event))
}
