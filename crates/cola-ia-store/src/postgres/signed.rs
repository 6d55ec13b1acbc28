//! Signed bytes: of those of a source the first delivery decides, and keeps them for good.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use cola_ia_core::event::Fingerprint;

use super::accept::{Fate, Series};
use super::error::Fault;
use super::row::{Columns as _, unexpected};
use super::sql::params;
use super::tx::Tx;

/// The signed bytes that members of a series came in.
#[derive(Default)]
pub(super) struct Bodies {
    /// Members whose bytes are new, in the order of the series.
    new: Vec<usize>,
    /// Members whose bytes came before, in the order of the series, and with which event.
    pub(super) known: Vec<(usize, First)>,
}

/// Who came first in the same bytes.
#[derive(Clone, Copy)]
pub(super) enum First {
    /// A delivery of this event; whether that was erased.
    Stored(i64, bool),
    /// A member of the same series, at this place.
    Member(usize),
}

impl First {
    /// The event that the bytes brought, and whether it was erased.
    pub(super) fn event(self, series: &Series<'_>, fates: &[Fate]) -> (i64, bool) {
        match self {
            Self::Stored(event, is_erased) => (event, is_erased),
            Self::Member(first) => {
                let is_erased = matches!(fates[first], Fate::Erased(..) | Fate::Replayed(_, true));
                (series.event_of(first, fates[first]), is_erased)
            }
        }
    }
}

impl Bodies {
    /// Takes the bytes that are new: whoever brings the same ones at the same moment waits, and finds them known. They belong to
    /// the member's own number until [`keep`](Self::keep) says otherwise.
    pub(super) async fn take(tx: &Tx, series: &Series<'_>) -> Result<Self, Fault> {
        // The first member in each bytes, and all others with theirs.
        let mut first_of: HashMap<(i64, Fingerprint), usize> = HashMap::new();
        let mut later: Vec<(usize, usize)> = Vec::new();
        for index in 0..series.members.len() {
            let Some(body) = series.delivery(index).and_then(|delivery| delivery.body) else { continue };
            match first_of.entry((series.sources[index], body)) {
                Entry::Occupied(first) => later.push((index, *first.get())),
                Entry::Vacant(place) => drop(place.insert(index)),
            }
        }
        if first_of.is_empty() {
            return Ok(Self::default());
        }
        let mut keys: Vec<((i64, Fingerprint), usize)> = first_of.into_iter().collect();
        keys.sort_unstable_by_key(|((source, body), _)| (*source, body.0));
        let sources: Vec<i64> = keys.iter().map(|((source, _), _)| *source).collect();
        let bodies: Vec<&[u8]> = keys.iter().map(|((_, body), _)| &body.0[..]).collect();
        let events: Vec<i64> = keys.iter().map(|(_, index)| series.numbers[*index]).collect();
        let taken = tx
            .query(
                "INSERT INTO signed_bodies (source, body, event) SELECT * FROM unnest($1, $2, $3)
                 ON CONFLICT (source, body) DO NOTHING RETURNING event",
                params![sources, bodies, events],
            )
            .await?;
        let mut stored: HashMap<usize, First> = HashMap::new();
        if taken.len() < keys.len() {
            let rows = tx
                .query(
                    "SELECT u.place - 1, b.event, b.is_erased
                     FROM unnest($1, $2) WITH ORDINALITY u(source, body, place),
                          LATERAL (SELECT s.event, coalesce((SELECT e.erased_at IS NOT NULL FROM events e
                                                             WHERE e.seq = s.event), false) AS is_erased
                                   FROM signed_bodies s WHERE s.source = u.source AND s.body = u.body LIMIT 1) b",
                    params![sources, bodies],
                )
                .await?;
            for row in &rows {
                let index = keys[row.count::<usize>(0)?].1;
                let event: i64 = row.read(1)?;
                if event != series.numbers[index] {
                    stored.insert(index, First::Stored(event, row.read(2)?));
                }
            }
            if stored.len() + taken.len() != keys.len() {
                return Err(unexpected("signed bytes", "neither taken nor there"));
            }
        }
        let mut new: Vec<usize> =
            keys.iter().map(|(_, index)| *index).filter(|index| !stored.contains_key(index)).collect();
        new.sort_unstable();
        let others = later.into_iter().map(|(index, first)| {
            let first = stored.get(&first).copied().unwrap_or(First::Member(first));
            (index, first)
        });
        let mut known: Vec<(usize, First)> =
            stored.iter().map(|(index, first)| (*index, *first)).chain(others).collect();
        known.sort_unstable_by_key(|(index, _)| *index);
        Ok(Self { new, known })
    }

    pub(super) fn are_known(&self, index: usize) -> bool {
        self.known.binary_search_by_key(&index, |(index, _)| *index).is_ok()
    }

    /// Bytes that are new belong to the event that they brought, whatever was said of its content.
    pub(super) async fn keep(&self, tx: &Tx, series: &Series<'_>, fates: &[Fate]) -> Result<(), Fault> {
        let (mut sources, mut bodies, mut events) = (Vec::new(), Vec::new(), Vec::new());
        for index in &self.new {
            let event = series.event_of(*index, fates[*index]);
            let Some(body) = series.delivery(*index).and_then(|delivery| delivery.body) else { continue };
            if event != series.numbers[*index] {
                sources.push(series.sources[*index]);
                bodies.push(body.0.to_vec());
                events.push(event);
            }
        }
        if events.is_empty() {
            return Ok(());
        }
        tx.execute(
            "UPDATE signed_bodies s SET event = u.event FROM unnest($1, $2, $3) u(source, body, event)
             WHERE s.source = u.source AND s.body = u.body",
            params![sources, bodies, events],
        )
        .await
        .map(drop)
    }
}
