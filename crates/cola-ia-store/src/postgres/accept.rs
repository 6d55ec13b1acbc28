//! The gate: each event of a batch enters once.
//!
//! Calls that wait together are one series of members, in the order of the calls. Who is new is decided by the unique key of
//! `events`: all are inserted, and the losers are read by a second statement, which sees what they lost against. Tables are
//! written in one order (ops, sources, signed bodies, events, conflicts), and rows of each in the order of their keys, so that
//! nobody waits in a circle.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use cola_ia_core::event::{Delivery, Fingerprint, Source};
use cola_ia_core::intake::{DeliveryNumber, EventNumber, Intake, Refusal};
use cola_ia_core::limits::BATCH_MAX_EVENTS;
use cola_ia_core::store::{Accepted, ErrorKind, OpId, Receipt, StoreError};
use cola_ia_core::verdict::Verdict;
use tokio_postgres::Row;

use super::counters::Tally;
use super::deliveries_in::Deliveries;
use super::erased;
use super::error::Fault;
use super::lane::Grouped;
use super::row::{Columns as _, unexpected};
use super::shared::Work;
use super::signed::Bodies;
use super::sql::params;
use super::tx::Tx;
use crate::common::batch::{Digest, said};
use crate::common::digest::digest;

/// A call of [`Store::accept`](cola_ia_core::store::Store::accept).
pub(super) struct Request {
    op: OpId,
    batch: Arc<Vec<Intake>>,
    /// Of the batch.
    digest: i64,
}

impl Request {
    /// # Errors
    /// `batch_too_long`.
    pub(super) fn new(op: OpId, batch: Arc<Vec<Intake>>) -> Result<Self, StoreError> {
        if batch.len() > BATCH_MAX_EVENTS {
            return Err(StoreError::new(ErrorKind::Invalid, "batch_too_long").with("limit", BATCH_MAX_EVENTS));
        }
        let mut told = Digest::default();
        for intake in batch.iter() {
            match intake {
                Intake::Delivery(delivery) => {
                    let identity = digest(&[delivery.source.as_str().as_bytes(), delivery.id.as_str().as_bytes()]);
                    told.delivery(identity, delivery);
                }
                Intake::Refusal(refusal) => told.refusal(refusal),
            }
        }
        Ok(Self { op, digest: told.word_of_all(), batch })
    }
}

/// Calls that enter together.
pub(super) struct Accepts;

impl Grouped for Accepts {
    type Request = Request;
    type Answer = Accepted;

    fn weight(request: &Request) -> usize {
        request.batch.len()
    }

    fn run<'a>(tx: &'a Tx, calls: &'a [Arc<Request>]) -> Work<'a, Vec<Result<Accepted, StoreError>>> {
        Box::pin(accept(tx, calls))
    }
}

async fn accept(tx: &Tx, calls: &[Arc<Request>]) -> Result<Vec<Result<Accepted, StoreError>>, Fault> {
    let (first, ours) = record_ops(tx, calls).await?;
    // Where each call's members begin in the series.
    let mut members: Vec<&Intake> = Vec::with_capacity(calls.iter().map(|call| call.batch.len()).sum());
    let begins: Vec<usize> = calls
        .iter()
        .zip(&ours)
        .map(|(call, is_ours)| {
            let begin = members.len();
            if *is_ours {
                members.extend(call.batch.iter());
            }
            begin
        })
        .collect();
    // Numbers were given before it was known which calls ran already: theirs stay unused.
    let mut numbers = Vec::with_capacity(members.len());
    let mut next = first;
    for (call, is_ours) in calls.iter().zip(&ours) {
        let len = call.batch.len() as i64;
        if *is_ours {
            numbers.extend(next..next + len);
        }
        next += len;
    }
    let receipts = judge(tx, &members, &numbers).await?;
    let mut answers: Vec<Result<Accepted, StoreError>> = Vec::with_capacity(calls.len());
    for (index, call) in calls.iter().enumerate() {
        answers.push(if ours[index] {
            let receipts = receipts[begins[index]..begins[index] + call.batch.len()].to_vec();
            Ok(Accepted { received_at: tx.now, receipts })
        } else {
            repeated(tx, call).await?
        });
    }
    Ok(answers)
}

/// Lets a batch through the gate as a part of another verb, which records the op.
pub(super) async fn enter(tx: &Tx, batch: &[Intake]) -> Result<Vec<Receipt>, Fault> {
    let first = tx.block().await?;
    let members: Vec<&Intake> = batch.iter().collect();
    let numbers: Vec<i64> = (first..first + batch.len() as i64).collect();
    judge(tx, &members, &numbers).await
}

/// Records each op that did not run yet, and gives numbers from one block to the members of all calls, in their order. Answers
/// the first number, and which calls are to run.
async fn record_ops(tx: &Tx, calls: &[Arc<Request>]) -> Result<(i64, Vec<bool>), Fault> {
    let mut offset = 0;
    let mut rows: Vec<(OpId, i64, i64, i64)> = Vec::with_capacity(calls.len());
    for call in calls {
        let len = call.batch.len() as i64;
        rows.push((call.op, call.digest, offset, len));
        offset += len;
    }
    // Of one that stands twice here the first runs.
    let mut firsts: HashMap<OpId, usize> = HashMap::with_capacity(calls.len());
    for (index, call) in calls.iter().enumerate() {
        firsts.entry(call.op).or_insert(index);
    }
    let mut index = 0;
    rows.retain(|(op, ..)| {
        index += 1;
        firsts.get(op) == Some(&(index - 1))
    });
    rows.sort_unstable();
    let ops: Vec<&[u8]> = rows.iter().map(|(op, ..)| &op.0[..]).collect();
    let requests: Vec<i64> = rows.iter().map(|(_, request, ..)| *request).collect();
    let offsets: Vec<i64> = rows.iter().map(|(.., offset, _)| *offset).collect();
    let counts: Vec<i64> = rows.iter().map(|(.., count)| *count).collect();
    let row = tx
        .one(
            "WITH b AS MATERIALIZED (SELECT nextval('blocks') << 17 AS first),
                  o AS (INSERT INTO ops (op, verb, request, at, first, count)
                        SELECT u.op, 'accept', u.request, $1, b.first + u.place, u.count
                        FROM b, unnest($2, $3, $4, $5) u(op, request, place, count)
                        ON CONFLICT (op) DO NOTHING RETURNING op)
             SELECT (SELECT first FROM b), (SELECT array_agg(op) FROM o)",
            params![tx.now.as_micros(), ops, requests, offsets, counts],
        )
        .await?;
    let recorded: Option<Vec<&[u8]>> = row.read(1)?;
    let recorded: std::collections::HashSet<&[u8]> = recorded.into_iter().flatten().collect();
    let ours = calls
        .iter()
        .enumerate()
        .map(|(index, call)| recorded.contains(&call.op.0[..]) && firsts.get(&call.op) == Some(&index))
        .collect();
    Ok((row.read(0)?, ours))
}

/// The answer that this op was given before, read back from what it recorded: member i of its batch has the number
/// `first + i`, as an event or as a delivery.
async fn repeated(tx: &Tx, call: &Request) -> Result<Result<Accepted, StoreError>, Fault> {
    let refused = |code| Ok(Err(StoreError::new(ErrorKind::Conflict, code)));
    let row = tx
        .one(
            "SELECT verb = 'accept' AND request = $2, at, first FROM ops WHERE op = $1",
            params![&call.op.0[..], call.digest],
        )
        .await?;
    let (true, Some(first)) = (row.read(0)?, row.read::<Option<i64>>(2)?) else { return refused("op_reused") };
    let len = call.batch.len() as i64;
    let mut receipts: Vec<_> = (first..first + len).map(entered).collect();
    let others = tx
        .query(
            "SELECT seq, verdict, event, conflict, decided, replayed FROM deliveries WHERE seq >= $1 AND seq < $2",
            params![first, first + len],
        )
        .await?;
    for row in &others {
        let receipt = &mut receipts[(row.read::<i64>(0)? - first) as usize];
        receipt.verdict = verdict(row, 1)?;
        receipt.event = row.read::<Option<i64>>(2)?.map(EventNumber);
        receipt.conflict = row.maybe_count(3)?;
        receipt.decided = row.read::<Option<bool>>(4)?.unwrap_or_default();
        receipt.replayed = row.read::<Option<bool>>(5)?.unwrap_or_default();
    }
    // Repeated deliveries are pruned one day, and then nobody can say any more what the answer was.
    let events: i64 = tx
        .one("SELECT count(*) FROM events WHERE seq >= $1 AND seq < $2", params![first, first + len])
        .await?
        .read(0)?;
    if others.len() as i64 + events < len {
        return refused("op_expired");
    }
    Ok(Ok(Accepted { received_at: row.time(1)?, receipts }))
}

/// The receipt of a member that made an event.
fn entered(number: i64) -> Receipt {
    Receipt {
        number: DeliveryNumber(number),
        verdict: Verdict::New,
        event: Some(EventNumber(number)),
        conflict: None,
        decided: false,
        replayed: false,
    }
}

/// The verdict that a column says.
pub(super) fn verdict(row: &Row, column: usize) -> Result<Verdict, Fault> {
    let word: &str = row.read(column)?;
    Verdict::from_word(word).ok_or_else(|| unexpected("verdict", word))
}

/// How one member of the series fared.
#[derive(Clone, Copy)]
pub(super) enum Fate {
    Refused,
    /// Its identity was not known.
    Enters,
    /// The event with this number has its identity and this content.
    Known(i64, Fingerprint),
    /// The same of an event that was erased.
    Erased(i64, Fingerprint),
    /// Its identity was not known, and the bytes that it came in brought the event with this number under another id. Whether
    /// that was erased.
    Replayed(i64, bool),
}

/// A series of members, with the row of each one's source (0 for refusals without one) and its number.
pub(super) struct Series<'a> {
    pub(super) members: &'a [&'a Intake],
    pub(super) numbers: &'a [i64],
    pub(super) sources: Vec<i64>,
}

impl<'a> Series<'a> {
    pub(super) fn delivery(&self, index: usize) -> Option<&'a Delivery> {
        match self.members.get(index)? {
            Intake::Delivery(delivery) => Some(delivery),
            Intake::Refusal(_) => None,
        }
    }

    /// The place of the member with this number; `None`: the number is another's.
    pub(super) fn place_of(&self, number: i64) -> Option<usize> {
        self.numbers.binary_search(&number).ok()
    }

    /// The event that a member is a delivery of.
    pub(super) fn event_of(&self, index: usize, fate: Fate) -> i64 {
        match fate {
            Fate::Known(event, _) | Fate::Erased(event, _) | Fate::Replayed(event, _) => event,
            Fate::Enters | Fate::Refused => self.numbers[index],
        }
    }
}

async fn judge(tx: &Tx, members: &[&Intake], numbers: &[i64]) -> Result<Vec<Receipt>, Fault> {
    if members.is_empty() {
        return Ok(Vec::new());
    }
    let series = Series { members, numbers, sources: sources(tx, members).await? };
    let bodies = Bodies::take(tx, &series).await?;
    let mut fates = decide(tx, &series, &bodies).await?;
    decide_known_bodies(tx, &series, &bodies, &mut fates).await?;
    bodies.keep(tx, &series, &fates).await?;
    record(tx, &series, &fates).await
}

/// Who a member is of, as far as it says.
fn named(intake: &Intake) -> Option<&Source> {
    match intake {
        Intake::Delivery(delivery) => Some(&delivery.source),
        Intake::Refusal(Refusal { source, .. }) => source.as_ref(),
    }
}

/// The row of each member's source, 0 for refusals without one; new sources are made.
async fn sources(tx: &Tx, members: &[&Intake]) -> Result<Vec<i64>, Fault> {
    let mut names: Vec<&str> = Vec::new();
    for name in members.iter().filter_map(|intake| named(intake)).map(Source::as_str) {
        // Neighbours nearly always have the same source.
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    names.sort_unstable();
    names.dedup();
    let rows = tx.make_sources(&names).await?;
    members
        .iter()
        .map(|intake| match named(intake) {
            None => Ok(0),
            Some(source) => {
                rows.get(source.as_str()).copied().ok_or_else(|| unexpected("source that was made", source.as_str()))
            }
        })
        .collect()
}

/// Inserts the first member of each identity, but for those that were erased, and finds who holds the identities of the others.
async fn decide(tx: &Tx, series: &Series<'_>, bodies: &Bodies) -> Result<Vec<Fate>, Fault> {
    let mut fates = vec![Fate::Refused; series.members.len()];
    // Members by identity, the first one first.
    let mut first_of: HashMap<(i64, &str), usize> = HashMap::with_capacity(series.members.len());
    let mut firsts: Vec<usize> = Vec::with_capacity(series.members.len());
    let mut later: Vec<(usize, usize)> = Vec::new();
    for index in 0..series.members.len() {
        // What came in bytes that are known enters under no identity of its own.
        let Some(delivery) = series.delivery(index).filter(|_| !bodies.are_known(index)) else { continue };
        match first_of.entry((series.sources[index], delivery.id.as_str())) {
            Entry::Occupied(first) => later.push((index, *first.get())),
            Entry::Vacant(place) => {
                place.insert(index);
                firsts.push(index);
            }
        }
    }
    drop(first_of);
    let identities = identities(series, &firsts);
    for (place, (event, entered)) in erased::find(tx, &identities).await? {
        fates[firsts[place]] = Fate::Erased(event, entered);
    }
    let mut candidates: Vec<usize> =
        firsts.into_iter().filter(|index| matches!(fates[*index], Fate::Refused)).collect();
    candidates.sort_unstable_by_key(|index| {
        (series.sources[*index], series.delivery(*index).map(|delivery| delivery.id.as_str().as_bytes()))
    });
    for number in insert(tx, series, &candidates).await? {
        let place = series.place_of(number).ok_or_else(|| unexpected("number of an event", "not in its batch"))?;
        fates[place] = Fate::Enters;
    }
    let lost: Vec<usize> = candidates.into_iter().filter(|index| matches!(fates[*index], Fate::Refused)).collect();
    let holders = holders(tx, series, &lost).await?;
    for (place, index) in lost.into_iter().enumerate() {
        let (event, entered) = holders.get(&place).ok_or_else(|| unexpected("holder of an identity", "none"))?;
        fates[index] = Fate::Known(*event, *entered);
    }
    for (index, first) in later {
        fates[index] = match fates[first] {
            Fate::Enters => match series.delivery(first) {
                Some(held) => Fate::Known(series.numbers[first], held.content.fingerprint()),
                None => Fate::Refused,
            },
            other => other,
        };
    }
    Ok(fates)
}

fn identities<'a>(series: &Series<'a>, indices: &[usize]) -> Vec<erased::Identity<'a>> {
    let of = |index: &usize| {
        let delivery = series.delivery(*index)?;
        Some((series.sources[*index], delivery.source.as_str(), delivery.id.as_str()))
    };
    indices.iter().filter_map(of).collect()
}

/// Stores these, and their jobs. Answers the numbers of those whose identity was free.
async fn insert(tx: &Tx, series: &Series<'_>, indices: &[usize]) -> Result<Vec<i64>, Fault> {
    if indices.is_empty() {
        return Ok(Vec::new());
    }
    let count = indices.len();
    let (mut numbers, mut sources, mut times) =
        (Vec::with_capacity(count), Vec::with_capacity(count), Vec::with_capacity(count));
    let (mut ids, mut texts): (Vec<&str>, Vec<&str>) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let mut fingerprints: Vec<&[u8]> = Vec::with_capacity(count);
    let mut types: Vec<Option<&str>> = Vec::with_capacity(count);
    let contents: Vec<Fingerprint> = indices
        .iter()
        .filter_map(|index| series.delivery(*index))
        .map(|delivery| delivery.content.fingerprint())
        .collect();
    for (index, content) in indices.iter().zip(&contents) {
        let Some(delivery) = series.delivery(*index) else { continue };
        let (time, event_type) = said(delivery);
        numbers.push(series.numbers[*index]);
        sources.push(series.sources[*index]);
        times.push(time);
        ids.push(delivery.id.as_str());
        fingerprints.push(&content.0[..]);
        types.push(event_type);
        texts.push(delivery.content.text());
    }
    let rows = tx
        .query(
            "WITH i AS (
                 INSERT INTO events (seq, source, received_at, time, id, fingerprint, type, text)
                 SELECT u.seq, u.source, $1, u.at, u.id, u.fingerprint, u.type, u.text
                 FROM unnest($2, $3, $4, $5, $6, $7, $8) u(seq, source, at, id, fingerprint, type, text)
                 ON CONFLICT (source, id) WHERE erased_at IS NULL DO NOTHING RETURNING seq, source),
               j AS (INSERT INTO jobs (event, source, due_at) SELECT seq, source, $1 FROM i)
             SELECT seq FROM i",
            params![tx.now.as_micros(), numbers, sources, times, ids, fingerprints, types, texts],
        )
        .await?;
    rows.iter().map(|row| row.read(0)).collect()
}

/// The stored events that hold the identities of these members, with the content that entered, by their places.
async fn holders(tx: &Tx, series: &Series<'_>, indices: &[usize]) -> Result<HashMap<usize, (i64, Fingerprint)>, Fault> {
    let mut found = HashMap::with_capacity(indices.len());
    if indices.is_empty() {
        return Ok(found);
    }
    let identities = identities(series, indices);
    let sources: Vec<i64> = identities.iter().map(|(source, ..)| *source).collect();
    let ids: Vec<&str> = identities.iter().map(|(.., id)| *id).collect();
    for row in tx.query(HOLDERS, params![sources, ids]).await? {
        found.insert(row.count(0)?, (row.read(1)?, Fingerprint(row.bytes(2)?)));
    }
    Ok(found)
}

/// One look into the index for each identity, however many there are.
pub(super) const HOLDERS: &str = "SELECT u.place - 1, e.seq, e.fingerprint
     FROM unnest($1, $2) WITH ORDINALITY u(source, id, place),
          LATERAL (SELECT seq, fingerprint FROM events
                   WHERE source = u.source AND id = u.id AND erased_at IS NULL LIMIT 1) e";

/// Members in bytes that are known: where their identity is known before them, that decides; else they are replays.
async fn decide_known_bodies(tx: &Tx, series: &Series<'_>, bodies: &Bodies, fates: &mut [Fate]) -> Result<(), Fault> {
    if bodies.known.is_empty() {
        return Ok(());
    }
    let indices: Vec<usize> = bodies.known.iter().map(|(index, _)| *index).collect();
    let holders = holders(tx, series, &indices).await?;
    let erased = erased::find(tx, &identities(series, &indices)).await?;
    for (place, (index, first)) in bodies.known.iter().enumerate() {
        // A member behind this one may have made the event meanwhile: here it is not known yet.
        let holder = holders.get(&place).filter(|(event, _)| series.place_of(*event).is_none_or(|made| made < *index));
        fates[*index] = match (holder, erased.get(&place)) {
            (Some((event, entered)), _) => Fate::Known(*event, *entered),
            (None, Some((event, entered))) => Fate::Erased(*event, *entered),
            (None, None) => {
                let (event, is_erased) = first.event(series, fates);
                Fate::Replayed(event, is_erased)
            }
        };
    }
    Ok(())
}

/// Records what did not enter, and says of each member what became of it.
async fn record(tx: &Tx, series: &Series<'_>, fates: &[Fate]) -> Result<Vec<Receipt>, Fault> {
    let mut tally = Tally::default();
    let mut deliveries = Deliveries::new(tx, series, fates).await?;
    let mut receipts = Vec::with_capacity(series.members.len());
    for (index, intake) in series.members.iter().enumerate() {
        let (number, source) = (series.numbers[index], series.sources[index]);
        let mut receipt = entered(number);
        let delivery = match intake {
            Intake::Refusal(refusal) => {
                deliveries.refusal(index, refusal);
                tally.delivery(source, Verdict::Invalid, refusal.count as i64, number);
                (receipt.verdict, receipt.event) = (Verdict::Invalid, None);
                receipts.push(receipt);
                continue;
            }
            Intake::Delivery(delivery) => delivery,
        };
        if !matches!(fates[index], Fate::Enters) {
            deliveries.repeated(index, fates[index], delivery, &mut receipt);
        }
        let sum = tally.delivery(source, receipt.verdict, 1, number);
        if let Some(time) = delivery.time {
            sum.late.add(tx.now, time);
        }
        receipts.push(receipt);
    }
    deliveries.write(tx).await?;
    arrive(tx, series).await?;
    tally.write(tx).await?;
    Ok(receipts)
}

/// Notes which numbers this transaction gave: who follows reads them once it is committed.
async fn arrive(tx: &Tx, series: &Series<'_>) -> Result<(), Fault> {
    let (Some(first), Some(last)) = (series.numbers.first(), series.numbers.last()) else { return Ok(()) };
    tx.execute(
        "INSERT INTO arrivals (tx, first, last, at) VALUES (pg_current_xact_id()::text::bigint, $1, $2, $3)",
        params![*first, *last, tx.now.as_micros()],
    )
    .await
    .map(drop)
}
