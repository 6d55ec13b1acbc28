//! The gate: each event of a batch enters once.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{Hash as _, Hasher as _};

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{Delivery, Fingerprint, Source};
use cola_ia_core::intake::{DeliveryNumber, EventNumber, Intake};
use cola_ia_core::limits::BATCH_MAX_EVENTS;
use cola_ia_core::store::{Accepted, ErrorKind, OpId, Receipt, StoreError};
use cola_ia_core::verdict::Verdict;
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, params};

use siphasher::sip::SipHasher13;

use super::slot::Slots;
use super::writer::Scope;

/// See [`Store::accept`](cola_ia_core::store::Store::accept).
pub(super) fn accept(scope: &Scope<'_>, op: OpId, batch: &[Intake]) -> Result<Accepted, StoreError> {
    let sqlite = |cause: rusqlite::Error| scope.error(&cause);
    if batch.len() > BATCH_MAX_EVENTS {
        return Err(StoreError::new(ErrorKind::Invalid, "batch_too_long").with("limit", BATCH_MAX_EVENTS));
    }
    let request = digest(batch);
    if let Some(first_answer) = repeated(scope.connection, op, request, batch.len()).map_err(sqlite)? {
        return first_answer;
    }
    let now = scope.clock.now();
    Gate::new(scope, now).and_then(|gate| gate.take(op, request, batch)).map_err(sqlite)
}

/// Tells one batch from another, so that an op that is used again for something else is noticed. Not against attackers: who
/// makes the op makes the batch.
fn digest(batch: &[Intake]) -> i64 {
    let mut digest = SipHasher13::new();
    for intake in batch {
        match intake {
            Intake::Delivery(delivery) => {
                let (time, event_type) = said(delivery);
                (delivery.source.as_str(), delivery.id.as_str(), time, event_type).hash(&mut digest);
                digest.write(&delivery.content.fingerprint().0);
            }
            Intake::Refusal(refusal) => (refusal.code, refusal.origin.line, refusal.count).hash(&mut digest),
        }
    }
    digest.finish() as i64
}

/// The answer that this op was given before, read back from what it recorded: member i of its batch has the number
/// `first + i`, as an event or as a delivery.
fn repeated(
    connection: &Connection,
    op: OpId,
    request: i64,
    len: usize,
) -> rusqlite::Result<Option<Result<Accepted, StoreError>>> {
    let recorded = connection
        .prepare_cached("SELECT verb, request, at, first FROM ops WHERE op = ?1")?
        .query_row([op.0], |row| {
            let same = row.get_ref(0)?.as_str()? == "accept" && row.get::<_, i64>(1)? == request;
            Ok((same, row.get(2)?, row.get::<_, Option<i64>>(3)?))
        })
        .optional()?;
    let Some((same, at, first)) = recorded else { return Ok(None) };
    let (true, Some(first)) = (same, first) else {
        return Ok(Some(Err(StoreError::new(ErrorKind::Conflict, "op_reused"))));
    };
    let mut receipts: Vec<_> = (first..first + len as i64)
        .map(|number| Receipt {
            number: DeliveryNumber(number),
            verdict: Verdict::New,
            event: Some(EventNumber(number)),
            conflict: None,
        })
        .collect();
    let mut others = connection.prepare_cached(
        "SELECT seq, verdict, event, conflict FROM deliveries WHERE seq >= ?1 AND seq < ?2 ORDER BY seq",
    )?;
    let mut rows = others.query([first, first + len as i64])?;
    while let Some(row) = rows.next()? {
        let receipt = &mut receipts[(row.get::<_, i64>(0)? - first) as usize];
        receipt.verdict = verdict_of(row.get_ref(1)?.as_str()?)?;
        receipt.event = row.get::<_, Option<i64>>(2)?.map(EventNumber);
        receipt.conflict = row.get(3)?;
    }
    Ok(Some(Ok(Accepted { received_at: Timestamp::from_micros(at), receipts })))
}

/// The verdict that a column says.
pub(super) fn verdict_of(word: &str) -> rusqlite::Result<Verdict> {
    Verdict::from_word(word).ok_or_else(|| super::row::unexpected("verdict", word))
}

/// How one identity of the batch fared.
#[derive(Clone, Copy)]
enum Fate {
    Refused,
    /// Its identity was not known.
    Enters,
    /// The event with this number has its identity and this content.
    Known(i64, Fingerprint),
}

/// A member of the batch on its way to a slot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    slot: i64,
    /// Place in the batch. The first of equal identities is the event, so it orders equal slots.
    index: u32,
}

struct Gate<'a> {
    connection: &'a Connection,
    slots: Slots,
    now: Timestamp,
    first: i64,
    claim_slot: CachedStatement<'a>,
    holder_of_slot: CachedStatement<'a>,
    event: CachedStatement<'a>,
}

impl<'a> Gate<'a> {
    fn new(scope: &Scope<'a>, now: Timestamp) -> rusqlite::Result<Self> {
        let connection = scope.connection;
        let first = connection
            .prepare_cached(
                "SELECT 1 + max((SELECT coalesce(max(seq), 0) FROM events), (SELECT coalesce(max(seq), 0) FROM deliveries))",
            )?
            .query_row([], |row| row.get(0))?;
        Ok(Self {
            connection,
            slots: scope.slots,
            now,
            first,
            claim_slot: connection
                .prepare_cached("INSERT INTO identities (slot, event) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?,
            holder_of_slot: connection.prepare_cached("SELECT event FROM identities WHERE slot = ?1")?,
            event: connection.prepare_cached("SELECT source, id, fingerprint FROM events WHERE seq = ?1")?,
        })
    }

    fn take(mut self, op: OpId, request: i64, batch: &[Intake]) -> rusqlite::Result<Accepted> {
        let sources = self.sources(batch)?;
        let fates = self.decide(batch, &sources)?;
        let mut tally = Tally::default();
        let mut receipts = Vec::with_capacity(batch.len());
        self.insert_events(batch, &fates, &sources)?;
        let mut deliveries = Deliveries::new(self.connection, self.now)?;
        for (index, (intake, fate)) in batch.iter().zip(&fates).enumerate() {
            let number = self.first + index as i64;
            let (verdict, event, conflict) = match (intake, *fate) {
                (Intake::Delivery(_), Fate::Enters) => (Verdict::New, Some(number), None),
                (Intake::Delivery(delivery), Fate::Known(event, fingerprint)) => {
                    if delivery.content.fingerprint() == fingerprint {
                        deliveries.duplicate(number, event, delivery)?;
                        (Verdict::Duplicate, Some(event), None)
                    } else {
                        let conflict = deliveries.conflict(number, event, delivery)?;
                        (Verdict::Conflict, Some(event), Some(conflict))
                    }
                }
                (Intake::Refusal(refusal), _) => {
                    deliveries.refusal(number, refusal)?;
                    tally.add(None, Verdict::Invalid, refusal.count as i64);
                    (Verdict::Invalid, None, None)
                }
                (Intake::Delivery(_), Fate::Refused) => unreachable!("only refusals are refused"),
            };
            if let Intake::Delivery(_) = intake {
                tally.add(Some(sources[index]), verdict, 1);
            }
            receipts.push(Receipt { number: DeliveryNumber(number), verdict, event: event.map(EventNumber), conflict });
        }
        tally.write(self.connection, self.now)?;
        self.connection
            .prepare_cached(
                "INSERT INTO ops (op, verb, request, at, first, count) VALUES (?1, 'accept', ?2, ?3, ?4, ?5)",
            )?
            .execute(params![op.0, request, self.now.as_micros(), self.first, batch.len() as i64])?;
        Ok(Accepted { received_at: self.now, receipts })
    }

    /// The row of each member's source, 0 for refusals; new sources are made.
    fn sources(&self, batch: &[Intake]) -> rusqlite::Result<Vec<i64>> {
        let mut known: HashMap<&Source, i64> = HashMap::new();
        let mut last: Option<(&Source, i64)> = None;
        let mut rows = Vec::with_capacity(batch.len());
        for intake in batch {
            let Intake::Delivery(Delivery { source, .. }) = intake else {
                rows.push(0);
                continue;
            };
            // Neighbours nearly always have the same source.
            let row = match last {
                Some((same, row)) if same == source => row,
                _ => match known.entry(source) {
                    Entry::Occupied(row) => *row.get(),
                    Entry::Vacant(place) => *place.insert(self.source(source.as_str())?),
                },
            };
            last = Some((source, row));
            rows.push(row);
        }
        Ok(rows)
    }

    /// The row of a source, made where it is new.
    fn source(&self, name: &str) -> rusqlite::Result<i64> {
        self.connection
            .prepare_cached("INSERT INTO sources (name) VALUES (?1) ON CONFLICT DO NOTHING")?
            .execute([name])?;
        self.connection
            .prepare_cached("SELECT source FROM sources WHERE name = ?1")?
            .query_row([name], |row| row.get(0))
    }

    /// Claims a slot for each identity, in the order of the slots: neighbours in the table are written together, which is
    /// what makes random ids fast. Whoever finds its slot taken is compared with the one that holds it, byte for byte.
    fn decide(&mut self, batch: &[Intake], sources: &[i64]) -> rusqlite::Result<Vec<Fate>> {
        let mut candidates: Vec<Candidate> = Vec::with_capacity(batch.len());
        for (intake, index) in batch.iter().zip(0..) {
            if let Intake::Delivery(delivery) = intake {
                candidates
                    .push(Candidate { slot: self.slots.of(delivery.source.as_str(), delivery.id.as_str()), index });
            }
        }
        candidates.sort_unstable();

        let mut fates = vec![Fate::Refused; batch.len()];
        // Slots held by events that were there before: (event, candidate).
        let mut held: Vec<(i64, Candidate)> = Vec::new();
        // Slots held by another identity.
        let mut displaced: Vec<Candidate> = Vec::new();
        for candidate in candidates {
            match self.claim(candidate)? {
                None => fates[candidate.index as usize] = Fate::Enters,
                Some(holder) if holder >= self.first => match self.among(batch, candidate, holder) {
                    Some(fate) => fates[candidate.index as usize] = fate,
                    None => displaced.push(candidate),
                },
                Some(holder) => held.push((holder, candidate)),
            }
        }
        // Events are stored in the order of arrival; so are most repetitions.
        held.sort_unstable();
        for (holder, candidate) in held {
            match self.stored(batch, sources, candidate, holder)? {
                Some(fate) => fates[candidate.index as usize] = fate,
                None => displaced.push(candidate),
            }
        }
        displaced.sort_unstable_by_key(|candidate| candidate.index);
        for candidate in displaced {
            fates[candidate.index as usize] = self.walk(batch, sources, candidate)?;
        }
        Ok(fates)
    }

    /// Takes the slot, or names the event that holds it.
    fn claim(&mut self, candidate: Candidate) -> rusqlite::Result<Option<i64>> {
        let number = self.first + i64::from(candidate.index);
        if self.claim_slot.execute([candidate.slot, number])? == 1 {
            return Ok(None);
        }
        self.holder_of_slot.query_row([candidate.slot], |row| row.get(0)).map(Some)
    }

    /// Compares with an event of this same batch; `None`: another identity.
    fn among(&self, batch: &[Intake], candidate: Candidate, holder: i64) -> Option<Fate> {
        let mine = delivery_at(batch, i64::from(candidate.index))?;
        let held = delivery_at(batch, holder - self.first)?;
        let same = mine.source == held.source && mine.id == held.id;
        same.then(|| Fate::Known(holder, held.content.fingerprint()))
    }

    /// Compares with a stored event; `None`: another identity.
    fn stored(
        &mut self,
        batch: &[Intake],
        sources: &[i64],
        candidate: Candidate,
        holder: i64,
    ) -> rusqlite::Result<Option<Fate>> {
        let Some(mine) = delivery_at(batch, i64::from(candidate.index)) else { return Ok(None) };
        self.event.query_row([holder], |row| {
            let same = row.get::<_, i64>(0)? == sources[candidate.index as usize]
                && row.get_ref(1)?.as_str()? == mine.id.as_str();
            same.then(|| row.get(2).map(|fingerprint| Fate::Known(holder, Fingerprint(fingerprint)))).transpose()
        })
    }

    /// Goes on to the next slots until one is free or held by the same identity.
    fn walk(&mut self, batch: &[Intake], sources: &[i64], mut candidate: Candidate) -> rusqlite::Result<Fate> {
        loop {
            candidate.slot = Slots::after(candidate.slot);
            let Some(holder) = self.claim(candidate)? else { return Ok(Fate::Enters) };
            let fate = if holder >= self.first {
                self.among(batch, candidate, holder)
            } else {
                self.stored(batch, sources, candidate, holder)?
            };
            if let Some(fate) = fate {
                return Ok(fate);
            }
        }
    }

    /// Stores those that enter, in the order of the batch, and their jobs.
    fn insert_events(&self, batch: &[Intake], fates: &[Fate], sources: &[i64]) -> rusqlite::Result<()> {
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO events (seq, source, id, fingerprint, received_at, time, type, text)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?;
        let mut entered = false;
        for (((intake, fate), source), number) in batch.iter().zip(fates).zip(sources).zip(self.first..) {
            if let (Intake::Delivery(delivery), Fate::Enters) = (intake, fate) {
                entered = true;
                insert.execute(params![
                    number,
                    source,
                    delivery.id.as_str(),
                    delivery.content.fingerprint().0,
                    self.now.as_micros(),
                    delivery.time.map(Timestamp::as_micros),
                    delivery.event_type.as_ref().map(cola_ia_core::event::EventType::as_str),
                    delivery.content.text(),
                ])?;
            }
        }
        if entered {
            // One statement for all: half the time of one a job.
            self.connection
                .prepare_cached(
                    "INSERT INTO jobs (event, source, due_at) SELECT seq, source, received_at FROM events WHERE seq >= ?1",
                )?
                .execute([self.first])?;
        }
        Ok(())
    }
}

fn delivery_at(batch: &[Intake], index: i64) -> Option<&Delivery> {
    match batch.get(usize::try_from(index).ok()?)? {
        Intake::Delivery(delivery) => Some(delivery),
        Intake::Refusal(_) => None,
    }
}

/// Records what did not enter.
struct Deliveries<'a> {
    now: Timestamp,
    duplicate: CachedStatement<'a>,
    conflict: CachedStatement<'a>,
    in_conflict: CachedStatement<'a>,
    refusal: CachedStatement<'a>,
}

impl<'a> Deliveries<'a> {
    fn new(connection: &'a Connection, now: Timestamp) -> rusqlite::Result<Self> {
        Ok(Self {
            now,
            duplicate: connection.prepare_cached(
                "INSERT INTO deliveries (seq, event, verdict, received_at, time, type)
                 VALUES (?1, ?2, 'duplicate', ?3, ?4, ?5)",
            )?,
            conflict: connection.prepare_cached(
                "INSERT INTO conflicts (event, number, fingerprint, first_at, last_at, time, type, text)
                 VALUES (?1, (SELECT coalesce(max(number), 0) + 1 FROM conflicts WHERE event = ?1), ?2, ?3, ?3, ?4, ?5, ?6)
                 ON CONFLICT (event, fingerprint) DO UPDATE SET count = count + 1, last_at = excluded.last_at
                 RETURNING number",
            )?,
            in_conflict: connection.prepare_cached(
                "INSERT INTO deliveries (seq, event, verdict, received_at, time, type, conflict, origin)
                 VALUES (?1, ?2, 'conflict', ?3, ?4, ?5, ?6, ?7)",
            )?,
            refusal: connection.prepare_cached(
                "INSERT INTO deliveries (seq, verdict, received_at, code, detail, origin, count)
                 VALUES (?1, 'invalid', ?2, ?3, ?4, ?5, ?6)",
            )?,
        })
    }

    fn duplicate(&mut self, number: i64, event: i64, delivery: &Delivery) -> rusqlite::Result<()> {
        let (time, event_type) = said(delivery);
        self.duplicate.execute(params![number, event, self.now.as_micros(), time, event_type])?;
        Ok(())
    }

    fn conflict(&mut self, number: i64, event: i64, delivery: &Delivery) -> rusqlite::Result<u32> {
        let (time, event_type) = said(delivery);
        let now = self.now.as_micros();
        let content = &delivery.content;
        let conflict: u32 = self
            .conflict
            .query_row(params![event, content.fingerprint().0, now, time, event_type, content.text()], |row| {
                row.get(0)
            })?;
        let origin = delivery.origin.to_string();
        self.in_conflict.execute(params![number, event, now, time, event_type, conflict, origin])?;
        Ok(conflict)
    }

    fn refusal(&mut self, number: i64, refusal: &cola_ia_core::intake::Refusal) -> rusqlite::Result<()> {
        self.refusal.execute(params![
            number,
            self.now.as_micros(),
            refusal.code.as_str(),
            refusal.detail,
            refusal.origin.to_string(),
            refusal.count as i64,
        ])?;
        Ok(())
    }
}

fn said(delivery: &Delivery) -> (Option<i64>, Option<&str>) {
    (delivery.time.map(Timestamp::as_micros), delivery.event_type.as_ref().map(cola_ia_core::event::EventType::as_str))
}

/// What the transaction adds to the counters.
#[derive(Default)]
struct Tally(Vec<(Option<i64>, Verdict, i64)>);

impl Tally {
    fn add(&mut self, source: Option<i64>, verdict: Verdict, n: i64) {
        // A handful of pairs at the most; the last one is nearly always the one.
        match self.0.iter_mut().rev().find(|(known, word, _)| *known == source && *word == verdict) {
            Some((_, _, sum)) => *sum += n,
            None => self.0.push((source, verdict, n)),
        }
    }

    fn write(&self, connection: &Connection, now: Timestamp) -> rusqlite::Result<()> {
        let mut insert =
            connection.prepare_cached("INSERT INTO counter_deltas (at, source, counter, n) VALUES (?1, ?2, ?3, ?4)")?;
        for (source, verdict, n) in &self.0 {
            insert.execute(params![now.as_micros(), source, verdict.as_str(), n])?;
        }
        Ok(())
    }
}
