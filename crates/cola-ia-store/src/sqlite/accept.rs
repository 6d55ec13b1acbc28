//! The gate: each event of a batch enters once.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{Delivery, Fingerprint, Source};
use cola_ia_core::intake::{DeliveryNumber, EventNumber, Intake, Refusal};
use cola_ia_core::limits::BATCH_MAX_EVENTS;
use cola_ia_core::store::{Accepted, ErrorKind, OpId, Receipt, StoreError};
use cola_ia_core::verdict::Verdict;
use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Row, params};

use super::counters::{Append as _, Tally};
use super::erase;
use super::identities::{self, Identity, Packing};
use super::preview;
use super::reader::Sight;
use super::rows::Rows;
use super::slot::Slots;
use super::writer::Scope;
use crate::common::batch::{Digest, said};

/// A batch with all that can be known of it before the transaction, so that the writer need not work it out.
#[derive(Debug)]
pub(super) struct Prepared {
    batch: Arc<Vec<Intake>>,
    /// In the order of their slots.
    candidates: Vec<Candidate>,
    request: i64,
    /// Whether a member came in signed bytes that count.
    has_bodies: bool,
}

impl Prepared {
    /// # Errors
    /// `batch_too_long`.
    pub(super) fn new(batch: Arc<Vec<Intake>>, slots: Slots) -> Result<Self, StoreError> {
        if batch.len() > BATCH_MAX_EVENTS {
            return Err(StoreError::new(ErrorKind::Invalid, "batch_too_long").with("limit", BATCH_MAX_EVENTS));
        }
        let mut candidates: Vec<Candidate> = Vec::with_capacity(batch.len());
        let mut digest = Digest::default();
        let mut has_bodies = false;
        for (intake, index) in batch.iter().zip(0..) {
            match intake {
                Intake::Delivery(delivery) => {
                    let slot = slots.of(delivery.source.as_str(), delivery.id.as_str());
                    candidates.push(Candidate { slot, index });
                    digest.delivery(slot, delivery);
                    has_bodies |= delivery.body.is_some();
                }
                Intake::Refusal(refusal) => digest.refusal(refusal),
            }
        }
        candidates.sort_unstable();
        Ok(Self { batch, candidates, request: digest.word_of_all(), has_bodies })
    }

    /// Whether it was made of this batch, and not of one that is like it.
    pub(super) fn is_of(&self, batch: &Arc<Vec<Intake>>) -> bool {
        Arc::ptr_eq(&self.batch, batch)
    }

    /// Members of the batch.
    pub(super) fn len(&self) -> usize {
        self.batch.len()
    }
}

/// See [`Store::accept`](cola_ia_core::store::Store::accept).
pub(super) fn accept(scope: &Scope<'_>, op: OpId, prepared: &Prepared) -> Result<Accepted, StoreError> {
    let sqlite = |cause: rusqlite::Error| scope.error(&cause);
    if let Some(first_answer) = repeated(scope.connection, op, prepared.request, prepared.len()).map_err(sqlite)? {
        return first_answer;
    }
    Gate::new(scope, &prepared.batch).and_then(|gate| gate.take(op, prepared)).map_err(sqlite)
}

/// Lets a batch through the gate as a part of another verb, which records the op.
pub(super) fn enter(scope: &Scope<'_>, prepared: &Prepared) -> Result<Vec<Receipt>, StoreError> {
    Gate::new(scope, &prepared.batch).and_then(|mut gate| gate.judge(prepared)).map_err(|cause| scope.error(&cause))
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
            decided: false,
            replayed: false,
        })
        .collect();
    let mut others = connection.prepare_cached(
        "SELECT seq, verdict, event, conflict, decided, replayed FROM deliveries WHERE seq >= ?1 AND seq < ?2 ORDER BY seq",
    )?;
    let mut rows = others.query([first, first + len as i64])?;
    let mut found = 0;
    while let Some(row) = rows.next()? {
        found += 1;
        let receipt = &mut receipts[(row.get::<_, i64>(0)? - first) as usize];
        receipt.verdict = verdict_of(row.get_ref(1)?.as_str()?)?;
        receipt.event = row.get::<_, Option<i64>>(2)?.map(EventNumber);
        receipt.conflict = row.get(3)?;
        receipt.decided = row.get::<_, Option<bool>>(4)?.unwrap_or_default();
        receipt.replayed = row.get::<_, Option<bool>>(5)?.unwrap_or_default();
    }
    // Repeated deliveries are pruned one day, and then nobody can say any more what the answer was.
    let entered: i64 = connection
        .prepare_cached("SELECT count(*) FROM events WHERE seq >= ?1 AND seq < ?2")?
        .query_row([first, first + len as i64], |row| row.get(0))?;
    if found + entered < len as i64 {
        return Ok(Some(Err(StoreError::new(ErrorKind::Conflict, "op_expired"))));
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
    /// The same of an event that was erased.
    Erased(i64, Fingerprint),
    /// Its identity was not known, and the bytes that it came in brought the event with this number under another id.
    Replayed(i64),
}

/// A member of the batch on its way to a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    slot: i64,
    /// Place in the batch. The first of equal identities is the event, so it orders equal slots.
    index: u32,
}

/// Stored events that are compared with at once.
const COMPARED_AT_ONCE: usize = 16 * Rows::MANY;

struct Gate<'a> {
    connection: &'a Connection,
    slots: Slots,
    packing: Packing,
    batch: &'a [Intake],
    /// The row of each member's source, 0 for refusals without one.
    sources: Vec<i64>,
    now: Timestamp,
    fold_after: u32,
    /// The number of the batch's first member.
    first: i64,
    events: Events<'a>,
    /// Whether a free slot does not say yet that an identity is new.
    erased_elsewhere: bool,
}

impl<'a> Gate<'a> {
    fn new(scope: &Scope<'a>, batch: &'a [Intake]) -> rusqlite::Result<Self> {
        let connection = scope.connection;
        let first = connection
            .prepare_cached(
                "SELECT 1 + max((SELECT coalesce(max(seq), 0) FROM events), (SELECT coalesce(max(seq), 0) FROM deliveries))",
            )?
            .query_row([], |row| row.get(0))?;
        Ok(Self {
            connection,
            slots: scope.slots,
            packing: scope.packing,
            batch,
            sources: sources(connection, batch)?,
            now: scope.clock.now(),
            fold_after: scope.fold_after,
            first,
            events: Events::new(connection)?,
            erased_elsewhere: erase::has_elsewhere(connection)?,
        })
    }

    fn take(mut self, op: OpId, prepared: &Prepared) -> rusqlite::Result<Accepted> {
        let receipts = self.judge(prepared)?;
        self.connection
            .prepare_cached(
                "INSERT INTO ops (op, verb, request, at, first, count) VALUES (?1, 'accept', ?2, ?3, ?4, ?5)",
            )?
            .execute(params![op.0, prepared.request, self.now.as_micros(), self.first, self.batch.len() as i64])?;
        Ok(Accepted { received_at: self.now, receipts })
    }

    fn judge(&mut self, prepared: &Prepared) -> rusqlite::Result<Vec<Receipt>> {
        if !prepared.has_bodies {
            let fates = self.decide(&prepared.candidates)?;
            self.insert_events(&fates)?;
            return self.record(&fates);
        }
        let bodies = Bodies::read(self.connection, self.batch, &self.sources)?;
        // What came in bytes that are known enters under no identity of its own, so it takes no slot.
        let others = prepared.candidates.iter().filter(|candidate| !bodies.are_known(candidate.index)).copied();
        let mut fates = self.decide(&others.collect::<Vec<_>>())?;
        self.insert_events(&fates)?;
        self.decide_known_bodies(&bodies, &mut fates)?;
        self.keep_bodies(&bodies, &fates)?;
        self.record(&fates)
    }

    /// Finds who holds the slot of each identity, and takes the free ones, in the order of the slots: neighbours are read and
    /// written together, which is what makes random ids fast. Whoever finds its slot held is compared with the one that holds
    /// it, byte for byte.
    fn decide(&mut self, candidates: &[Candidate]) -> rusqlite::Result<Vec<Fate>> {
        let mut fates = vec![Fate::Refused; self.batch.len()];
        // Slots held by events that were there before: (event, candidate).
        let mut held: Vec<(i64, Candidate)> = Vec::new();
        // Slots held by another identity.
        let mut displaced: Vec<Candidate> = Vec::new();
        let mut taken: Vec<Identity> = Vec::new();
        let slots: Vec<i64> = candidates.iter().map(|candidate| candidate.slot).collect();
        for (holder, candidate) in
            identities::holders(self.connection, self.packing, &slots)?.into_iter().zip(candidates)
        {
            let fate = &mut fates[candidate.index as usize];
            if let Some(holder) = holder {
                held.push((holder, *candidate));
                continue;
            }
            let first = taken.last().filter(|taken| taken.slot == candidate.slot).map(|taken| taken.event);
            let Some(first) = first else {
                if let Some(erased) = self.erased_elsewhere(*candidate)? {
                    *fate = erased;
                    continue;
                }
                taken.push(Identity { slot: candidate.slot, event: self.number(*candidate) });
                *fate = Fate::Enters;
                continue;
            };
            match self.among(*candidate, first) {
                Some(known) => *fate = known,
                None => displaced.push(*candidate),
            }
        }
        drop(slots);
        identities::take(self.connection, self.packing, &taken)?;
        // Events are stored in the order of arrival; so are most repetitions.
        held.sort_unstable();
        for chunk in held.chunks(COMPARED_AT_ONCE) {
            self.compare(chunk, &mut fates, &mut displaced)?;
        }
        displaced.sort_unstable_by_key(|candidate| candidate.index);
        for candidate in displaced {
            fates[candidate.index as usize] = self.walk(candidate)?;
        }
        Ok(fates)
    }

    /// How a candidate with a free slot stands to the events that were erased in another store and imported. Nearly always
    /// there are none.
    fn erased_elsewhere(&self, candidate: Candidate) -> rusqlite::Result<Option<Fate>> {
        let Some(mine) = self.delivery(candidate).filter(|_| self.erased_elsewhere) else { return Ok(None) };
        let source = self.sources[candidate.index as usize];
        let found = erase::find_elsewhere(self.connection, source, mine.source.as_str(), mine.id.as_str())?;
        let Some(event) = found else { return Ok(None) };
        let entered = self
            .connection
            .prepare_cached("SELECT fingerprint FROM events WHERE seq = ?1")?
            .query_row([event], |row| row.get(0))?;
        Ok(Some(Fate::Erased(event, Fingerprint(entered))))
    }

    fn number(&self, candidate: Candidate) -> i64 {
        self.first + i64::from(candidate.index)
    }

    /// Compares with an event of this same batch; `None`: another identity.
    fn among(&self, candidate: Candidate, holder: i64) -> Option<Fate> {
        let mine = self.delivery(candidate)?;
        let held = delivery_at(self.batch, holder - self.first)?;
        let same = mine.source == held.source && mine.id == held.id;
        same.then(|| Fate::Known(holder, held.content.fingerprint()))
    }

    /// Compares with stored events, in the order of their numbers.
    fn compare(
        &mut self,
        chunk: &[(i64, Candidate)],
        fates: &mut [Fate],
        displaced: &mut Vec<Candidate>,
    ) -> rusqlite::Result<()> {
        let (batch, sources, connection) = (self.batch, &self.sources, self.connection);
        let mut waiting = chunk.iter().peekable();
        self.events.read(chunk, |row| {
            let event: i64 = row.get(0)?;
            while let Some((_, candidate)) = waiting.next_if(|(holder, _)| *holder == event) {
                let index = candidate.index as usize;
                let Some(mine) = delivery_at(batch, i64::from(candidate.index)) else { continue };
                match known(connection, row, sources[index], mine)? {
                    Some(fate) => fates[index] = fate,
                    None => displaced.push(*candidate),
                }
            }
            Ok(())
        })?;
        match waiting.next() {
            None => Ok(()),
            Some((holder, _)) => Err(super::row::unexpected("slot of a missing event", &holder.to_string())),
        }
    }

    /// Goes on to the next slots until one is free or held by the same identity.
    fn walk(&mut self, mut candidate: Candidate) -> rusqlite::Result<Fate> {
        loop {
            candidate.slot = Slots::after(candidate.slot);
            let Some(holder) = identities::holder(self.connection, candidate.slot)? else {
                if let Some(erased) = self.erased_elsewhere(candidate)? {
                    return Ok(erased);
                }
                identities::take(
                    self.connection,
                    self.packing,
                    &[Identity { slot: candidate.slot, event: self.number(candidate) }],
                )?;
                return Ok(Fate::Enters);
            };
            if holder >= self.first {
                if let Some(fate) = self.among(candidate, holder) {
                    return Ok(fate);
                }
                continue;
            }
            let (mut fates, mut displaced) = (vec![Fate::Refused; candidate.index as usize + 1], Vec::new());
            self.compare(&[(holder, candidate)], &mut fates, &mut displaced)?;
            if displaced.is_empty() {
                return Ok(fates[candidate.index as usize]);
            }
        }
    }

    fn delivery(&self, candidate: Candidate) -> Option<&'a Delivery> {
        delivery_at(self.batch, i64::from(candidate.index))
    }

    /// Stores those that enter, in the order of the batch, and their jobs.
    fn insert_events(&self, fates: &[Fate]) -> rusqlite::Result<()> {
        let enter: Vec<(usize, &Delivery)> = fates
            .iter()
            .enumerate()
            .filter(|(_, fate)| matches!(fate, Fate::Enters))
            .filter_map(|(index, _)| delivery_at(self.batch, index as i64).map(|delivery| (index, delivery)))
            .collect();
        if enter.is_empty() {
            return Ok(());
        }
        let head = "INSERT OR FAIL INTO events (seq, source, id, fingerprint, received_at, time, type, text) VALUES ";
        let mut insert = Rows::new(self.connection, head, "(?, ?, ?, ?, ?, ?, ?, ?)", "");
        for chunk in enter.chunks(Rows::MANY) {
            insert.execute(chunk, |row, (index, delivery)| {
                let (time, event_type) = said(delivery);
                row.bind(self.first + *index as i64)?;
                row.bind(self.sources[*index])?;
                row.bind(delivery.id.as_str())?;
                row.bind(&delivery.content.fingerprint().0[..])?;
                row.bind(self.now.as_micros())?;
                row.bind(time)?;
                row.bind(event_type)?;
                row.bind(delivery.content.text())
            })?;
        }
        let mut insert =
            Rows::new(self.connection, "INSERT OR FAIL INTO jobs (event, source, due_at) VALUES ", "(?, ?, ?)", "");
        for chunk in enter.chunks(Rows::MANY) {
            insert.execute(chunk, |row, (index, _)| {
                row.bind(self.first + *index as i64)?;
                row.bind(self.sources[*index])?;
                row.bind(self.now.as_micros())
            })?;
        }
        Ok(())
    }

    /// Members in bytes that are known: where their identity is known before them, that decides; else they are replays.
    fn decide_known_bodies(&self, bodies: &Bodies, fates: &mut [Fate]) -> rusqlite::Result<()> {
        let sight = Sight { connection: self.connection, slots: self.slots };
        for (index, first) in &bodies.known {
            let Some(mine) = delivery_at(self.batch, *index as i64) else { continue };
            // A member behind this one may have made the event meanwhile: here it is not known yet.
            let known = preview::find(&sight, mine.source.as_str(), mine.id.as_str())?
                .filter(|event| *event < self.first + *index as i64);
            fates[*index] = if let Some(event) = known {
                let (entered, erased) = self
                    .connection
                    .prepare_cached("SELECT fingerprint, erased_at IS NOT NULL FROM events WHERE seq = ?1")?
                    .query_row([event], |row| Ok((Fingerprint(row.get(0)?), row.get(1)?)))?;
                if erased { Fate::Erased(event, entered) } else { Fate::Known(event, entered) }
            } else {
                Fate::Replayed(match *first {
                    First::Stored(event) => event,
                    First::Member(first) => self.event_of(first, fates[first]),
                })
            };
        }
        Ok(())
    }

    /// The event that a member of the batch is a delivery of.
    fn event_of(&self, index: usize, fate: Fate) -> i64 {
        match fate {
            Fate::Known(event, _) | Fate::Erased(event, _) | Fate::Replayed(event) => event,
            Fate::Enters | Fate::Refused => self.first + index as i64,
        }
    }

    /// Bytes that are new belong to the event that they brought, whatever was said of its content.
    fn keep_bodies(&self, bodies: &Bodies, fates: &[Fate]) -> rusqlite::Result<()> {
        let mut insert =
            self.connection.prepare_cached("INSERT INTO signed_bodies (source, body, event) VALUES (?1, ?2, ?3)")?;
        for index in &bodies.new {
            let Some(body) = delivery_at(self.batch, *index as i64).and_then(|delivery| delivery.body) else {
                continue;
            };
            insert.execute(params![self.sources[*index], body.0, self.event_of(*index, fates[*index])])?;
        }
        Ok(())
    }

    /// Records what did not enter, and says of each member what became of it.
    fn record(&self, fates: &[Fate]) -> rusqlite::Result<Vec<Receipt>> {
        let mut tally = Tally::default();
        let mut repeated: Vec<Repeated<'_>> = Vec::new();
        let mut deliveries = Deliveries::new(self.connection, self.now)?;
        let mut receipts = Vec::with_capacity(self.batch.len());
        for (((intake, fate), source), number) in self.batch.iter().zip(fates).zip(&self.sources).zip(self.first..) {
            let mut receipt = Receipt {
                number: DeliveryNumber(number),
                verdict: Verdict::New,
                event: Some(EventNumber(number)),
                conflict: None,
                decided: false,
                replayed: false,
            };
            let delivery = match (intake, *fate) {
                (Intake::Refusal(refusal), _) => {
                    deliveries.refusal(number, *source, refusal)?;
                    tally.delivery(*source, Verdict::Invalid, refusal.count as i64, number);
                    (receipt.verdict, receipt.event) = (Verdict::Invalid, None);
                    receipts.push(receipt);
                    continue;
                }
                (Intake::Delivery(delivery), Fate::Known(event, entered) | Fate::Erased(event, entered)) => {
                    receipt.event = Some(EventNumber(event));
                    let member = Repeated { number, event, delivery, erased: matches!(fate, Fate::Erased(..)) };
                    let content = delivery.content.fingerprint();
                    if content == entered || (event < self.first && deliveries.is_revision(event, content)?) {
                        receipt.verdict = Verdict::Duplicate;
                        repeated.push(member);
                    } else {
                        receipt.verdict = Verdict::Conflict;
                        let (conflict, decided) = deliveries.conflict(&member, *source)?;
                        (receipt.conflict, receipt.decided) = (Some(conflict), decided);
                    }
                    delivery
                }
                (Intake::Delivery(delivery), Fate::Replayed(event)) => {
                    (receipt.verdict, receipt.event) = (Verdict::Duplicate, Some(EventNumber(event)));
                    receipt.replayed = true;
                    deliveries.replay(number, event, *source, delivery)?;
                    delivery
                }
                (Intake::Delivery(delivery), Fate::Enters | Fate::Refused) => delivery,
            };
            self.count(&mut tally, *source, receipt.verdict, number, delivery);
            receipts.push(receipt);
        }
        self.insert_duplicates(&repeated)?;
        tally.write(self.connection, self.now, self.fold_after)?;
        Ok(receipts)
    }

    fn count(&self, tally: &mut Tally, source: i64, verdict: Verdict, number: i64, delivery: &Delivery) {
        let sum = tally.delivery(source, verdict, 1, number);
        if let Some(time) = delivery.time {
            sum.late.add(self.now, time);
        }
    }

    fn insert_duplicates(&self, repeated: &[Repeated<'_>]) -> rusqlite::Result<()> {
        if repeated.is_empty() {
            return Ok(());
        }
        let head = "INSERT OR FAIL INTO deliveries (seq, event, source, verdict, received_at, time, type) VALUES ";
        let mut insert = Rows::new(self.connection, head, "(?, ?, ?, 'duplicate', ?, ?, ?)", "");
        for chunk in repeated.chunks(Rows::MANY) {
            insert.execute(chunk, |row, member| {
                let (time, event_type) = said(member.delivery);
                row.bind(member.number)?;
                row.bind(member.event)?;
                row.bind(self.sources[(member.number - self.first) as usize])?;
                row.bind(self.now.as_micros())?;
                row.bind(time)?;
                row.bind(event_type.filter(|_| !member.erased))
            })?;
        }
        Ok(())
    }
}

/// The signed bytes that members of a batch came in.
#[derive(Default)]
struct Bodies {
    /// Members whose bytes are new, in the order of the batch.
    new: Vec<usize>,
    /// Members whose bytes came before, in the order of the batch, and with which event.
    known: Vec<(usize, First)>,
}

/// Who came first in the same bytes.
#[derive(Clone, Copy)]
enum First {
    /// A delivery of this event.
    Stored(i64),
    /// A member of the same batch, at this place.
    Member(usize),
}

impl Bodies {
    fn read(connection: &Connection, batch: &[Intake], sources: &[i64]) -> rusqlite::Result<Self> {
        let mut find = connection.prepare_cached("SELECT event FROM signed_bodies WHERE source = ?1 AND body = ?2")?;
        let mut firsts: HashMap<(i64, Fingerprint), First> = HashMap::new();
        let mut bodies = Self::default();
        for (index, intake) in batch.iter().enumerate() {
            let Intake::Delivery(Delivery { body: Some(body), .. }) = intake else { continue };
            let source = sources[index];
            let first = match firsts.entry((source, *body)) {
                Entry::Occupied(first) => Some(*first.get()),
                Entry::Vacant(place) => {
                    let stored =
                        find.query_row(params![source, body.0], |row| row.get(0)).optional()?.map(First::Stored);
                    place.insert(stored.unwrap_or(First::Member(index)));
                    stored
                }
            };
            match first {
                Some(first) => bodies.known.push((index, first)),
                None => bodies.new.push(index),
            }
        }
        Ok(bodies)
    }

    fn are_known(&self, index: u32) -> bool {
        self.known.binary_search_by_key(&(index as usize), |(index, _)| *index).is_ok()
    }
}

/// A delivery under an identity that was known.
struct Repeated<'a> {
    number: i64,
    event: i64,
    delivery: &'a Delivery,
    /// Nothing of what it says is kept but its time.
    erased: bool,
}

/// How a delivery from this row of `sources` stands to the event that holds its slot; `None`: another identity.
fn known(connection: &Connection, row: &Row<'_>, source: i64, mine: &Delivery) -> rusqlite::Result<Option<Fate>> {
    if row.get::<_, i64>(1)? != source {
        return Ok(None);
    }
    let (event, id) = (row.get(0)?, row.get_ref(2)?.as_str()?);
    if row.get_ref(4)? == ValueRef::Null {
        return Ok((id == mine.id.as_str()).then_some(Fate::Known(event, Fingerprint(row.get(3)?))));
    }
    let hash = erase::hash(connection, mine.source.as_str(), mine.id.as_str())?;
    Ok((id == hash).then_some(Fate::Erased(event, Fingerprint(row.get(3)?))))
}

/// Reads the events that hold slots.
struct Events<'a> {
    each: Rows<'a>,
    stretch: CachedStatement<'a>,
}

impl<'a> Events<'a> {
    fn new(connection: &'a Connection) -> rusqlite::Result<Self> {
        let select = "SELECT seq, source, id, fingerprint, erased_at FROM events WHERE seq";
        Ok(Self {
            each: Rows::new(connection, format!("{select} IN (VALUES "), "(?)", ") ORDER BY seq"),
            stretch: connection.prepare_cached(&format!("{select} BETWEEN ?1 AND ?2 ORDER BY seq"))?,
        })
    }

    /// In the order of their numbers, and perhaps others between them: where they lie close together, as the repetitions of a
    /// file do, reading on costs less than asking for each.
    fn read(
        &mut self,
        holders: &[(i64, Candidate)],
        mut take: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let (Some((first, _)), Some((last, _))) = (holders.first(), holders.last()) else { return Ok(()) };
        if last - first > 2 * holders.len() as i64 {
            return self.each.query(holders, |row, (holder, _)| row.bind(*holder), take);
        }
        let mut rows = self.stretch.query((first, last))?;
        while let Some(row) = rows.next()? {
            take(row)?;
        }
        Ok(())
    }
}

/// The row of each member's source, 0 for refusals without one; new sources are made.
fn sources(connection: &Connection, batch: &[Intake]) -> rusqlite::Result<Vec<i64>> {
    let mut known: HashMap<&Source, i64> = HashMap::new();
    let mut last: Option<(&Source, i64)> = None;
    let mut rows = Vec::with_capacity(batch.len());
    for intake in batch {
        let source = match intake {
            Intake::Delivery(delivery) => &delivery.source,
            Intake::Refusal(Refusal { source: Some(source), .. }) => source,
            Intake::Refusal(_) => {
                rows.push(0);
                continue;
            }
        };
        // Neighbours nearly always have the same source.
        let row = match last {
            Some((same, row)) if same == source => row,
            _ => match known.entry(source) {
                Entry::Occupied(row) => *row.get(),
                Entry::Vacant(place) => *place.insert(source_row(connection, source.as_str())?),
            },
        };
        last = Some((source, row));
        rows.push(row);
    }
    Ok(rows)
}

/// The row of a source, made where it is new.
pub(super) fn source_row(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.prepare_cached("INSERT INTO sources (name) VALUES (?1) ON CONFLICT DO NOTHING")?.execute([name])?;
    connection.prepare_cached("SELECT source FROM sources WHERE name = ?1")?.query_row([name], |row| row.get(0))
}

fn delivery_at(batch: &[Intake], index: i64) -> Option<&Delivery> {
    match batch.get(usize::try_from(index).ok()?)? {
        Intake::Delivery(delivery) => Some(delivery),
        Intake::Refusal(_) => None,
    }
}

/// Records conflicts and refusals, one by one: they are few.
struct Deliveries<'a> {
    now: Timestamp,
    conflict: CachedStatement<'a>,
    in_conflict: CachedStatement<'a>,
    revision: CachedStatement<'a>,
    refusal: CachedStatement<'a>,
    replay: CachedStatement<'a>,
}

impl<'a> Deliveries<'a> {
    fn new(connection: &'a Connection, now: Timestamp) -> rusqlite::Result<Self> {
        Ok(Self {
            now,
            conflict: connection.prepare_cached(
                "INSERT INTO conflicts (event, number, fingerprint, first_at, last_at, time, type, text)
                 VALUES (?1, (SELECT coalesce(max(number), 0) + 1 FROM conflicts WHERE event = ?1), ?2, ?3, ?3, ?4, ?5, ?6)
                 ON CONFLICT (event, fingerprint) DO UPDATE SET count = count + 1, last_at = excluded.last_at
                 RETURNING number, decision IS NOT NULL",
            )?,
            in_conflict: connection.prepare_cached(
                "INSERT INTO deliveries (seq, event, source, verdict, received_at, time, type, conflict, origin, decided)
                 VALUES (?1, ?2, ?3, 'conflict', ?4, ?5, ?6, ?7, ?8, ?9)",
            )?,
            revision: connection.prepare_cached("SELECT 1 FROM revisions WHERE event = ?1 AND fingerprint = ?2")?,
            refusal: connection.prepare_cached(
                "INSERT INTO deliveries (seq, verdict, received_at, code, detail, origin, count, source)
                 VALUES (?1, 'invalid', ?2, ?3, ?4, ?5, ?6, ?7)",
            )?,
            replay: connection.prepare_cached(
                "INSERT INTO deliveries (seq, event, source, verdict, received_at, time, type, replayed)
                 VALUES (?1, ?2, ?3, 'duplicate', ?4, ?5,
                         CASE WHEN (SELECT erased_at IS NULL FROM events WHERE seq = ?2) THEN ?6 END, 1)",
            )?,
        })
    }

    /// The same bytes under another id. Of one that was erased, nothing is kept but its time.
    fn replay(&mut self, number: i64, event: i64, source: i64, delivery: &Delivery) -> rusqlite::Result<()> {
        let (time, event_type) = said(delivery);
        self.replay.execute(params![number, event, source, self.now.as_micros(), time, event_type])?;
        Ok(())
    }

    /// Whether this content was accepted for the event, besides the one that entered.
    fn is_revision(&mut self, event: i64, content: Fingerprint) -> rusqlite::Result<bool> {
        self.revision.exists(params![event, content.0])
    }

    /// The conflict's number, and whether it has been decided.
    fn conflict(&mut self, member: &Repeated<'_>, source: i64) -> rusqlite::Result<(u32, bool)> {
        let Repeated { number, event, delivery, erased } = *member;
        let (time, event_type) = said(delivery);
        let event_type = event_type.filter(|_| !erased);
        let text = (!erased).then(|| delivery.content.text());
        let origin = (!erased).then(|| delivery.origin.to_string());
        let now = self.now.as_micros();
        let fingerprint = delivery.content.fingerprint().0;
        let (conflict, decided): (u32, bool) =
            self.conflict.query_row(params![event, fingerprint, now, time, event_type, text], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        let mark = decided.then_some(1);
        self.in_conflict.execute(params![number, event, source, now, time, event_type, conflict, origin, mark])?;
        Ok((conflict, decided))
    }

    fn refusal(&mut self, number: i64, source: i64, refusal: &Refusal) -> rusqlite::Result<()> {
        self.refusal.execute(params![
            number,
            self.now.as_micros(),
            refusal.code.as_str(),
            refusal.detail,
            refusal.origin.to_string(),
            refusal.count as i64,
            (source != 0).then_some(source),
        ])?;
        Ok(())
    }
}
