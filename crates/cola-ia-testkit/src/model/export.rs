//! What the model exports: a book of records beside its own memory, in which each answer of the gate is noted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{
    Alarm, BeginId, Effect, EffectName, EffectState, Evidence, Micros, Otherwise, Policy, Reason, Recorded,
    Reservation, Try, TryOutcome, UtcDay, Witness,
};
use cola_ia_core::event::{Content, Delivery, EventId, EventType, Fingerprint, Origin, Source};
use cola_ia_core::intake::{DeliveryNumber, EventNumber, Intake, RefusalCode};
use cola_ia_core::job::{Job, JobState, Lease, LeaseToken, Outcome as JobOutcome};
use cola_ia_core::store::export::{
    Contradiction, ExportCursor, ExportHead, ExportPage, ExportStage, IMPORT_MAX_RECORDS, ImportBatch, Imported, Kind,
    Outcome, Record, Value,
};
use cola_ia_core::store::{
    ConflictView, DecisionKind, DecisionView, DeliverySummary, DeliveryView, Ended, ErrorKind, JobSummary, OpId,
    PrunedDeliveries, Receipt, Report, RevisionView, StoreError, erased_id, names,
};
use cola_ia_core::verdict::Verdict;

use super::effects::Kept;
use super::leases::Attempt;
use super::money::{Money, Sums};
use super::stats::Received;
use super::{Call, Conflict, Event, First, Identity, Memory};
use crate::harness::RecordedRefusal;

/// All records that the model would export.
#[derive(Debug, Default)]
pub(super) struct Book {
    /// Zeros until it is opened at its place for the first time.
    pub(super) namespace: [u8; 16],
    sources: Vec<String>,
    /// By kind and key, all but sources and counters.
    records: BTreeMap<(Kind, Vec<Value>), Record>,
    /// By the place of the source and the name.
    counters: BTreeMap<(Option<usize>, String), i64>,
    /// What an import has counted.
    counted: Vec<Received>,
}

/// A record and where it stands among those of its event.
type Placed<'r> = (Kind, Vec<Value>, &'r Record);

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn maybe(value: Option<Value>) -> Value {
    value.unwrap_or(Value::Null)
}

fn optional(kept: Option<&str>) -> Value {
    maybe(kept.map(text))
}

fn at(instant: Timestamp) -> Value {
    Value::Number(instant.as_micros())
}

fn number(number: impl Into<i64>) -> Value {
    Value::Number(number.into())
}

fn bytes(fingerprint: Fingerprint) -> Value {
    Value::Bytes(fingerprint.0.to_vec())
}

fn record(kind: Kind, values: impl Into<Vec<Value>>) -> Record {
    Record::new(kind, values.into()).expect("the model makes records of the right shape")
}

fn key(record: &Record) -> (Kind, Vec<Value>) {
    (record.kind(), record.key().into_iter().cloned().collect())
}

impl Book {
    /// Notes what the gate said to one member of a batch.
    pub(super) fn note(&mut self, member: &Intake, receipt: &Receipt, received_at: Timestamp, erased: bool) {
        let own = number(receipt.number.0);
        let now = at(received_at);
        match (member, receipt.event) {
            (Intake::Refusal(refusal), _) => {
                let source = refusal.source.as_ref().map(|source| self.source(source.as_str()));
                self.count(source, Verdict::Invalid, refusal.count as i64);
                self.insert(record(
                    Kind::Delivery,
                    [
                        own,
                        Value::Null,
                        maybe(refusal.source.as_ref().map(|source| text(source.as_str()))),
                        text("invalid"),
                        now,
                        Value::Null,
                        Value::Null,
                        Value::Null,
                        text(refusal.code.as_str()),
                        text(&refusal.detail),
                        text(&refusal.origin.to_string()),
                        Value::Null,
                        Value::Null,
                        number(refusal.count as i64),
                    ],
                ));
            }
            (Intake::Delivery(delivery), Some(event)) => {
                let source = self.source(delivery.source.as_str());
                self.count(Some(source), receipt.verdict, 1);
                match receipt.verdict {
                    Verdict::New => self.note_new(delivery, own, now),
                    _ => self.note_again(delivery, receipt, event, &now, erased),
                }
                // Bytes that are new belong to the event that they brought.
                if let Some(body) = delivery.body
                    && self.event_of_body(&delivery.source, body).is_none()
                {
                    self.insert(record(Kind::SignedBody, [number(event.0), bytes(body)]));
                }
            }
            (Intake::Delivery(_), None) => {}
        }
    }

    /// The event that these bytes of the source brought.
    pub(super) fn event_of_body(&self, source: &Source, body: Fingerprint) -> Option<EventNumber> {
        let body = bytes(body);
        let known = self.of_kind(Kind::SignedBody).filter(|known| *known.get("body") == body);
        let mut of_source = known.filter(|known| {
            let event = self.records.get(&(Kind::Event, vec![known.get("event").clone()]));
            event.is_some_and(|event| event.text("source") == Some(source.as_str()))
        });
        of_source.next().and_then(Record::event)
    }

    /// Whether another event of its source has the bytes that this record names.
    fn has_body_of(&self, record: &Record) -> bool {
        let event = self.records.get(&(Kind::Event, vec![record.get("event").clone()]));
        let source = event.and_then(|event| event.text("source")).map(|name| Source::new(name).expect("a source"));
        let Value::Bytes(body) = record.get("body") else { return false };
        let body = Fingerprint(body.as_slice().try_into().expect("32 bytes"));
        source.is_some_and(|source| self.event_of_body(&source, body).is_some())
    }

    fn note_new(&mut self, delivery: &Delivery, own: Value, now: Value) {
        let (time, event_type) = said(delivery);
        let job = [
            own.clone(),
            text("pending"),
            now.clone(),
            number(1),
            number(0),
            number(0),
            text(""),
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            number(0),
        ];
        self.insert(record(
            Kind::Event,
            [
                own,
                text(delivery.source.as_str()),
                text(delivery.id.as_str()),
                bytes(delivery.content.fingerprint()),
                now,
                time,
                event_type,
                Value::Null,
                Value::Null,
                text(delivery.content.text()),
            ],
        ));
        self.insert(record(Kind::Job, job));
    }

    fn note_again(&mut self, delivery: &Delivery, receipt: &Receipt, event: EventNumber, now: &Value, erased: bool) {
        let (time, event_type) = said(delivery);
        // Of an event that was erased nothing is kept but the time.
        let kept = |value: Value| if erased { Value::Null } else { value };
        let event_type = kept(event_type);
        let event = number(event.0);
        if let Some(conflict) = receipt.conflict {
            let known = self.records.get_mut(&(Kind::Conflict, vec![event.clone(), number(conflict)]));
            if let Some(known) = known {
                let count = known.number("count").unwrap_or_default() + 1;
                *known = known.clone().with("count", number(count)).with("last_at", now.clone());
            } else {
                self.insert(record(
                    Kind::Conflict,
                    [
                        event.clone(),
                        number(conflict),
                        bytes(delivery.content.fingerprint()),
                        now.clone(),
                        now.clone(),
                        number(1),
                        time.clone(),
                        event_type.clone(),
                        Value::Null,
                        Value::Null,
                        Value::Null,
                        kept(text(delivery.content.text())),
                    ],
                ));
            }
        }
        self.insert(record(
            Kind::Delivery,
            [
                number(receipt.number.0),
                event,
                text(delivery.source.as_str()),
                text(receipt.verdict.as_str()),
                now.clone(),
                time,
                event_type,
                maybe(receipt.conflict.map(number)),
                Value::Null,
                Value::Null,
                kept(maybe(receipt.conflict.map(|_| text(&delivery.origin.to_string())))),
                maybe(receipt.decided.then(|| number(1))),
                maybe(receipt.replayed.then(|| number(1))),
                number(1),
            ],
        ));
    }

    /// Writes down what became of an event: its content, its job, and decisions.
    pub(super) fn write_down(&mut self, event: &Event) {
        let own = number(event.job.event.0);
        let erased = event.job.erased_at.is_some();
        self.change(Kind::Event, std::slice::from_ref(&own), |record| {
            record
                .with("id", text(&event.job.id))
                .with("type", maybe(event.job.event_type.as_ref().map(|name| text(name.as_str()))))
                .with("erased_at", maybe(event.job.erased_at.map(at)))
                .with("pruned_at", maybe(event.pruned_at.map(at)))
                .with("text", optional(event.revisions[0].text.as_deref()))
        });
        self.change(Kind::Job, std::slice::from_ref(&own), |record| {
            let Event { job, machine, .. } = event;
            record
                .with("state", text(job.state.as_str()))
                .with("run", number(job.run))
                .with("attempts", number(job.attempts))
                .with("crashes", number(machine.crashes))
                .with("reason", text(&job.reason))
                .with("changed_at", maybe(event.changed_at.map(at)))
                .with("due_at", maybe(job.due_at.map(at)))
                .with("lease", maybe(machine.lease.map(|lease| Value::Bytes(lease.token.0.to_vec()))))
                .with("lease_until", maybe(machine.lease.map(|lease| at(lease.until))))
                .with("worker", optional(event.worker.as_deref()))
                .with("resource_id", optional(job.resource_id.as_deref()))
                .with("result", optional(event.result.as_deref()))
                .with("leases", number(event.leases))
        });
        for attempt in &event.attempts {
            self.insert(attempt_record(&own, attempt));
        }
        for kept in &event.effects {
            for record in effect_records(&own, kept, &event.attempts) {
                self.write_down_of_effect(record);
            }
        }
        for revision in &event.revisions[1..] {
            self.insert(record(
                Kind::Revision,
                [
                    own.clone(),
                    number(revision.number),
                    bytes(revision.fingerprint),
                    at(revision.accepted_at),
                    maybe(revision.conflict.map(number)),
                    optional(revision.text.as_deref()),
                ],
            ));
        }
        for conflict in &event.conflicts {
            let view = &conflict.view;
            let last = view.decisions.last();
            self.change(Kind::Conflict, &[own.clone(), number(view.number)], |record| {
                let event_type = if erased { Value::Null } else { record.get("type").clone() };
                record
                    .with("type", event_type)
                    .with("decision", maybe(last.map(|last| text(last.kind.as_str()))))
                    .with("decided_at", maybe(last.map(|last| at(last.decided_at))))
                    .with("note", optional(last.and_then(|last| last.note.as_deref())))
                    .with("text", optional(view.text.as_deref()))
            });
            for (made, place) in view.decisions.iter().zip(1..) {
                self.insert(record(
                    Kind::Decision,
                    [
                        own.clone(),
                        number(view.number),
                        Value::Number(place),
                        text(made.kind.as_str()),
                        at(made.decided_at),
                        maybe(made.entered.map(|event| number(event.0))),
                        optional(made.note.as_deref()),
                    ],
                ));
            }
        }
        for later in event.later.iter().filter(|_| erased) {
            self.change(Kind::Delivery, &[number(later.number.0)], |record| {
                record.with("type", Value::Null).with("origin", Value::Null)
            });
        }
        self.write_down_pruned(event);
    }

    pub(super) fn write_down_pruned(&mut self, event: &Event) {
        if let Some(pruned) = event.pruned {
            let own = number(event.job.event.0);
            let count = Value::Number(pruned.count as i64);
            self.insert(record(Kind::Pruned, [own, count, at(pruned.first_at), at(pruned.last_at)]));
        }
    }

    pub(super) fn forget_delivery(&mut self, delivery: DeliveryNumber) {
        self.records.remove(&(Kind::Delivery, vec![number(delivery.0)]));
    }

    /// A try that came with an import knows its attempt even where that did not come.
    fn write_down_of_effect(&mut self, record: Record) {
        let known = self.records.get(&key(&record)).filter(|known| known.kind() == Kind::EffectTry);
        let record = match known.map(|known| known.get("attempt").clone()) {
            Some(attempt) => record.with("attempt", attempt),
            None => record,
        };
        self.insert(record);
    }

    /// Refused deliveries lose a detail that names an id.
    pub(super) fn forget_details(&mut self, id: &str) {
        let naming = |record: &&Record| record.text("detail").is_some_and(|detail| names(detail, id));
        let keys: Vec<_> = self.of_kind(Kind::Delivery).filter(naming).map(key).collect();
        for (kind, key) in keys {
            self.change(kind, &key, |record| record.with("detail", text("")));
        }
    }

    fn change(&mut self, kind: Kind, key: &[Value], change: impl FnOnce(Record) -> Record) {
        if let Some(record) = self.records.get_mut(&(kind, key.to_vec())) {
            *record = change(record.clone());
        }
    }

    fn insert(&mut self, record: Record) {
        self.records.insert(key(&record), record);
    }

    pub(super) fn sources(&self) -> Vec<Source> {
        self.sources.iter().map(|name| Source::new(name).expect("a source")).collect()
    }

    /// A source that somebody named.
    pub(super) fn knows(&mut self, source: &Source) {
        self.source(source.as_str());
    }

    /// The place of a source, made where it is new.
    fn source(&mut self, name: &str) -> usize {
        self.sources.iter().position(|known| known == name).unwrap_or_else(|| {
            self.sources.push(name.to_owned());
            self.sources.len() - 1
        })
    }

    fn count(&mut self, source: Option<usize>, verdict: Verdict, n: i64) {
        *self.counters.entry((source, verdict.as_str().to_owned())).or_default() += n;
    }

    fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Record> {
        self.records
            .range((kind, Vec::new())..)
            .map(|(_, record)| record)
            .take_while(move |record| record.kind() == kind)
    }

    fn highest(&self) -> i64 {
        let numbers = self.of_kind(Kind::Event).chain(self.of_kind(Kind::Delivery));
        numbers.filter_map(|record| record.number("number")).max().unwrap_or_default()
    }

    /// All records in the order of an export, up to this number, in groups that no page divides. With each, the place in the
    /// export at which it is the next one.
    fn groups(&self, money: &Money, upto: i64) -> Vec<(ExportStage, Vec<Record>)> {
        let mut of_event: BTreeMap<i64, Vec<Placed<'_>>> = BTreeMap::new();
        let mut refused: Vec<Record> = Vec::new();
        for record in self.records.values() {
            let event = match record.kind() {
                Kind::EffectTry | Kind::EffectRecord => {
                    let effect = (Kind::Effect, vec![record.get("effect").clone()]);
                    self.records.get(&effect).and_then(Record::event)
                }
                _ => record.event(),
            };
            match event {
                Some(event) => of_event.entry(event.0).or_default().push((record.kind(), self.place(record), record)),
                None if record.number("number").is_some_and(|number| number <= upto) => refused.push(record.clone()),
                None => {}
            }
        }
        let sources = self.sources.iter().map(|name| record(Kind::Source, [text(name)])).collect();
        let mut groups = vec![(ExportStage::Sources(0), sources)];
        for (event, mut records) in of_event.into_iter().filter(|(event, _)| *event <= upto) {
            records.sort();
            let records = records.into_iter().map(|(_, _, record)| record.clone()).collect();
            groups.push((ExportStage::Events(event - 1), records));
        }
        groups.push((ExportStage::Refused(0), refused));
        let counters = self.counters.iter().map(|((source, counter), n)| {
            let source = source.map(|place| text(&self.sources[place]));
            record(Kind::Counter, [maybe(source), text(counter), number(*n)])
        });
        // Those of a source that was named first come first.
        let named = |source: &Source| self.sources.iter().position(|name| name == source.as_str());
        let mut budgets: Vec<_> = money.budgets.iter().collect();
        budgets.sort_by_key(|(source, _)| named(source));
        let budgets = budgets
            .into_iter()
            .map(|(source, limit)| record(Kind::Budget, [text(source.as_str()), Value::Number(limit.get())]));
        groups.push((ExportStage::Counters, budgets.chain(counters).collect()));
        let mut days: BTreeMap<UtcDay, Vec<(Option<usize>, Record)>> = BTreeMap::new();
        for ((day, source, model), sums) in &money.sums {
            if (Sums { reserved: 0, ..*sums }) != Sums::default() {
                days.entry(*day).or_default().push((named(source), money_record(*day, source, model, sums)));
            }
        }
        for (day, mut records) in days {
            records.sort_by_key(|(place, _)| *place);
            let records = records.into_iter().map(|(_, record)| record).collect();
            groups.push((ExportStage::Money(day.0 - 1), records));
        }
        groups
    }

    /// Where it stands among the records of its kind and event.
    fn place(&self, record: &Record) -> Vec<Value> {
        let values = |record: &Record, names: &[&str]| names.iter().map(|name| record.get(name).clone()).collect();
        match record.kind() {
            Kind::Attempt => values(record, &["run", "number", "attempt"]),
            Kind::Effect => values(record, &["run", "name"]),
            Kind::EffectTry | Kind::EffectRecord => {
                let effect = &self.records[&(Kind::Effect, vec![record.get("effect").clone()])];
                let mut place: Vec<Value> = values(effect, &["run", "name"]);
                place.push(record.get("number").clone());
                place
            }
            _ => record.key().into_iter().cloned().collect(),
        }
    }

    /// Whole groups, until there are as many records as asked for.
    pub(super) fn page(&self, money: &Money, cursor: Option<ExportCursor>, limit: u32) -> ExportPage {
        let start = ExportCursor { upto: self.highest(), next: ExportStage::Sources(0) };
        let cursor = cursor.unwrap_or(start);
        let groups = self.groups(money, cursor.upto);
        let mut left = groups.into_iter().skip_while(|(stage, _)| order(*stage) < order(cursor.next)).peekable();
        let mut records = Vec::new();
        while records.len() < limit.max(1) as usize
            && let Some((_, mut group)) = left.next()
        {
            records.append(&mut group);
        }
        let next = left.peek().map(|(stage, _)| ExportCursor { next: *stage, ..cursor });
        let head = ExportHead { namespace: self.namespace, schema: 0, currency: money.currency() };
        ExportPage { head, records, next }
    }

    fn is_empty(&self) -> bool {
        self.of_kind(Kind::Event).next().is_none() && self.of_kind(Kind::Delivery).next().is_none()
    }

    /// Whether something else has what only one may have.
    fn is_taken(&self, record: &Record) -> bool {
        let unique: &[&[&str]] = match record.kind() {
            Kind::Conflict | Kind::Revision => &[&["event", "fingerprint"]],
            Kind::Attempt => &[&["lease"]],
            Kind::Effect => &[&["key"], &["event", "run", "name"]],
            _ => &[],
        };
        unique.iter().any(|fields| {
            self.of_kind(record.kind()).any(|known| fields.iter().all(|field| known.get(field) == record.get(field)))
        })
    }
}

fn said(delivery: &Delivery) -> (Value, Value) {
    let event_type = delivery.event_type.as_ref().map(|name| text(name.as_str()));
    (maybe(delivery.time.map(at)), maybe(event_type))
}

/// Where a place stands in an export; the model's groups have only these.
const fn order(stage: ExportStage) -> (u8, i64) {
    match stage {
        ExportStage::Sources(number) => (0, number),
        ExportStage::Events(number) | ExportStage::Conflicts(number, _) | ExportStage::Deliveries(number, _) => {
            (1, number)
        }
        ExportStage::Refused(number) => (2, number),
        ExportStage::Counters => (3, 0),
        ExportStage::Money(day) => (4, day),
    }
}

/// See [`Store::import`](cola_ia_core::store::Store::import).
pub(super) fn import(
    memory: &mut Memory,
    now: Timestamp,
    op: OpId,
    batch: Arc<ImportBatch>,
) -> Result<Imported, StoreError> {
    if batch.records.len() > IMPORT_MAX_RECORDS {
        return Err(StoreError::new(ErrorKind::Invalid, "batch_too_long"));
    }
    match memory.ops.get(&op).map(|call| &call.first) {
        Some(First::Import(same, imported)) if *same == batch => return Ok(imported.clone()),
        Some(_) => return Err(StoreError::new(ErrorKind::Conflict, "op_reused")),
        None => {}
    }
    if memory.book.namespace != batch.namespace && !memory.book.is_empty() {
        return Err(StoreError::new(ErrorKind::Conflict, "import_other_namespace"));
    }
    if let Some(currency) = &batch.currency {
        memory.money.takes_currency(currency)?;
    }
    check_order(&memory.book, &batch.records)?;
    if let Some(currency) = &batch.currency {
        memory.money.set_currency(currency.clone())?;
    }
    memory.book.namespace = batch.namespace;
    let mut contradicted: BTreeSet<(Kind, Option<i64>)> = BTreeSet::new();
    let mut event = Of::default();
    let mut outcomes = Vec::new();
    for record in &batch.records {
        if record.kind() == Kind::Event {
            let there = memory.book.records.get(&key(record));
            let erased_here = !record.is_erased() && there.is_some_and(Record::is_erased);
            event = Of { erased_here, ..Of::default() };
        }
        let outcome = if belongs_to(record).is_some_and(|parent| contradicted.contains(&parent)) {
            Outcome::Contradicts(Contradiction::Belongs)
        } else {
            event.stays_out(&memory.book, record).unwrap_or_else(|| one(memory, record, now))
        };
        if (record.kind(), outcome) == (Kind::Event, Outcome::Entered) {
            // What was done elsewhere after the export is not known here.
            memory.restored_at = memory.restored_at.max(Some(now));
        }
        match (record.kind(), outcome) {
            (Kind::Event, Outcome::Contradicts(_)) => {
                contradicted.insert((Kind::Event, record.number("number")));
            }
            (Kind::Effect, Outcome::Contradicts(_)) => {
                contradicted.insert((Kind::Effect, record.number("effect")));
            }
            (Kind::Effect, Outcome::Kept) => {
                event.went_on.insert(record.number("effect"));
            }
            (Kind::Event, Outcome::Entered) => (event.entered, event.pruned_alike) = (true, true),
            (Kind::Pruned, Outcome::Entered | Outcome::Same) => event.pruned_alike = true,
            (Kind::Pruned, _) => event.pruned_alike = false,
            _ => {}
        }
        outcomes.push(outcome);
    }
    memory.rebuild();
    let imported = Imported { outcomes };
    memory.ops.insert(op, Call { at: now, first: First::Import(batch, imported.clone()) });
    Ok(imported)
}

/// The event that records belong to.
#[derive(Default)]
struct Of {
    /// It entered just now.
    entered: bool,
    /// It was erased here, and not there.
    erased_here: bool,
    /// As much was pruned there as here.
    pruned_alike: bool,
    /// Its effects that were here already and have gone on since.
    went_on: BTreeSet<Option<i64>>,
}

impl Of {
    /// What becomes of a record that is not here and does not enter.
    fn stays_out(&self, book: &Book, record: &Record) -> Option<Outcome> {
        let is_own = matches!(belongs_to(record), Some((Kind::Event | Kind::Effect, _)));
        if self.entered || !is_own || book.records.contains_key(&key(record)) {
            return None;
        }
        let pruned = book.records.get(&(Kind::Pruned, vec![event_of(record)]));
        let was_pruned = |pruned: &Record| {
            let received_at = record.number("received_at");
            received_at >= pruned.number("first_at") && received_at <= pruned.number("last_at")
        };
        match record.kind() {
            _ if self.erased_here => Some(Outcome::Kept),
            Kind::Decision => Some(Outcome::Contradicts(Contradiction::Older)),
            Kind::EffectTry | Kind::EffectRecord if self.went_on.contains(&record.number("effect")) => {
                Some(Outcome::Contradicts(Contradiction::Older))
            }
            Kind::Pruned => Some(Outcome::Kept),
            Kind::Delivery if record.text("verdict") == Some("duplicate") && !self.pruned_alike => {
                pruned.is_some_and(was_pruned).then_some(Outcome::Kept)
            }
            _ => None,
        }
    }
}

fn event_of(record: &Record) -> Value {
    maybe(record.event().map(|event| number(event.0)))
}

fn belongs_to(record: &Record) -> Option<(Kind, Option<i64>)> {
    match record.kind() {
        Kind::Source | Kind::Event | Kind::Budget | Kind::Counter | Kind::Money => None,
        Kind::EffectTry | Kind::EffectRecord => Some((Kind::Effect, record.number("effect"))),
        _ => record.event().map(|event| (Kind::Event, Some(event.0))),
    }
}

/// What belongs to something stands behind it, with no other event between.
fn check_order(book: &Book, records: &[Record]) -> Result<(), StoreError> {
    let mut parents: BTreeSet<(Kind, Option<i64>)> = BTreeSet::new();
    for (index, record) in records.iter().enumerate() {
        let stands = belongs_to(record).is_none_or(|parent| parents.contains(&parent));
        let next = records.get(index + 1);
        let is_alone = record.kind() == Kind::Event
            && would_enter(book, record)
            && next.is_none_or(|next| next.kind() != Kind::Job || next.event() != record.event());
        if !stands || is_alone {
            return Err(StoreError::new(ErrorKind::Invalid, "import_out_of_order"));
        }
        match record.kind() {
            Kind::Event => parents = BTreeSet::from([(Kind::Event, record.number("number"))]),
            Kind::Effect => drop(parents.insert((Kind::Effect, record.number("effect")))),
            _ => {}
        }
    }
    Ok(())
}

fn would_enter(book: &Book, record: &Record) -> bool {
    !book.records.contains_key(&key(record)) && !book.records.contains_key(&(Kind::Delivery, key(record).1))
}

fn one(memory: &mut Memory, record: &Record, now: Timestamp) -> Outcome {
    let Memory { book, money, .. } = memory;
    match record.kind() {
        Kind::Budget => {
            let name = record.text("source").unwrap_or_default();
            book.source(name);
            let limit = Micros::new(record.number("limit_micros").unwrap_or_default()).expect("an amount");
            let source = Source::new(name).expect("a source");
            match money.budgets.get(&source) {
                Some(here) if *here == limit => Outcome::Same,
                Some(_) => Outcome::Kept,
                None => {
                    money.budgets.insert(source, limit);
                    Outcome::Entered
                }
            }
        }
        Kind::Money => {
            let name = record.text("source").unwrap_or_default();
            book.source(name);
            money.raise(record, &Source::new(name).expect("a source"))
        }
        Kind::Source => {
            let before = book.sources.len();
            if book.source(record.text("name").unwrap_or_default()) == before {
                Outcome::Entered
            } else {
                Outcome::Same
            }
        }
        Kind::Counter => {
            let source = record.text("source").map(|name| book.source(name));
            let here =
                book.counters.entry((source, record.text("counter").unwrap_or_default().to_owned())).or_default();
            let n = record.number("n").unwrap_or_default();
            let outcome = match n.cmp(here) {
                std::cmp::Ordering::Greater => Outcome::Entered,
                std::cmp::Ordering::Equal => Outcome::Same,
                std::cmp::Ordering::Less => Outcome::Kept,
            };
            let missing = (n - *here).max(0);
            *here += missing;
            if let Some(verdict) = Verdict::from_word(record.text("counter").unwrap_or_default()) {
                let source = record.text("source");
                book.counted.push(counted(source, None, missing, verdict, Timestamp::from_micros(0)));
            }
            outcome
        }
        kind => {
            let twin = match kind {
                Kind::Event => Some(Kind::Delivery),
                Kind::Delivery => Some(Kind::Event),
                _ => None,
            };
            if let Some(there) = book.records.get(&key(record)) {
                return record.against(there);
            }
            // Whoever brought the same bytes here stays the first.
            if kind == Kind::SignedBody && book.has_body_of(record) {
                return Outcome::Kept;
            }
            if book.is_taken(record) || twin.is_some_and(|twin| book.records.contains_key(&(twin, key(record).1))) {
                return Outcome::Contradicts(Contradiction::NumberTaken);
            }
            if kind == Kind::Event && book.of_kind(kind).any(|known| is_identity_of(&book.namespace, known, record)) {
                return Outcome::Contradicts(Contradiction::IdentityTaken);
            }
            enter(book, money, record, now);
            Outcome::Entered
        }
    }
}

/// Whether what comes has the identity of what is known.
fn is_identity_of(namespace: &[u8], known: &Record, comes: &Record) -> bool {
    let (Some(source), Some(id)) = (comes.text("source"), comes.text("id")) else { return false };
    let id = match (known.is_erased(), comes.is_erased()) {
        (true, false) => erased_id(namespace, source, id),
        (false, true) => return false,
        _ => id.to_owned(),
    };
    known.text("source") == Some(source) && known.text("id") == Some(&id)
}

fn counted(source: Option<&str>, time: Option<i64>, n: i64, verdict: Verdict, at: Timestamp) -> Received {
    let source = source.map(|name| Source::new(name).expect("a source"));
    Received { source, time: time.map(Timestamp::from_micros), n: n as u64, verdict, at }
}

fn enter(book: &mut Book, money: &mut Money, record: &Record, now: Timestamp) {
    let later = |field: &str| number(record.number(field).unwrap_or(i64::MIN).max(now.as_micros()));
    let word = |field: &str| record.text(field).unwrap_or_default().to_owned();
    let entering = match record.kind() {
        Kind::Job if word("state") == "running" => ["lease", "lease_until", "worker"]
            .into_iter()
            .fold(record.clone(), |record, field| record.with(field, Value::Null))
            .with("state", text("pending"))
            .with("due_at", at(now))
            .with("attempts", number((record.number("attempts").unwrap_or_default() - 1).max(0)))
            .with("reason", text(""))
            .with("changed_at", later("changed_at")),
        Kind::Attempt if record.number("ended_at").is_none() => {
            let ended = record.clone().with("ended_at", later("started_at")).with("outcome", text("lease_lost"));
            ended.with("to_state", text("pending")).with("to_due", at(now))
        }
        Kind::Effect if word("state") == "intended" => {
            let unknown = record.clone().with("state", text("unknown")).with("reason", text("lease_ended"));
            unknown.with("changed_at", later("changed_at"))
        }
        // Money is held by open tries, of some day.
        Kind::EffectTry if record.number("reserved_day").is_none() || record.text("outcome").is_some() => {
            record.clone().with("reserved_micros", Value::Null).with("reserved_day", Value::Null)
        }
        _ => record.clone(),
    };
    match record.kind() {
        Kind::Event => {
            let source = book.source(&word("source"));
            book.count(Some(source), Verdict::New, 1);
            let received_at = instant(record, "received_at");
            book.counted.push(counted(record.text("source"), record.number("time"), 1, Verdict::New, received_at));
        }
        Kind::Delivery => {
            let source = record.text("source").map(|name| book.source(name));
            let verdict = Verdict::from_word(&word("verdict")).expect("a verdict");
            let n = record.number("count").unwrap_or_default();
            book.count(source, verdict, n);
            let received_at = instant(record, "received_at");
            book.counted.push(counted(record.text("source"), record.number("time"), n, verdict, received_at));
        }
        Kind::Pruned => {
            let event = &book.records[&(Kind::Event, vec![record.get("event").clone()])];
            let name = event.text("source").unwrap_or_default().to_owned();
            let source = book.source(&name);
            let n = record.number("count").unwrap_or_default();
            book.count(Some(source), Verdict::Duplicate, n);
            book.counted.push(counted(Some(&name), None, n, Verdict::Duplicate, instant(record, "last_at")));
        }
        Kind::Attempt => {
            let ended_at = Timestamp::from_micros(entering.number("ended_at").unwrap_or_default());
            money.add_attempt(&book.source_of(record), &attempt(&entering).report, ended_at);
        }
        Kind::EffectRecord => {
            let recorded = recorded(record);
            let model = recorded.evidence.model.clone().unwrap_or_default();
            money.add(recorded.day, &book.source_of(record), &model, Sums::of_record(&recorded));
        }
        Kind::EffectTry => {
            if let (Some(reserved), Some(day)) = (entering.number("reserved_micros"), entering.number("reserved_day")) {
                let sums = Sums { reserved, ..Sums::default() };
                money.add(UtcDay(day), &book.source_of(record), "", sums);
            }
        }
        _ => {}
    }
    book.insert(entering);
}

impl Memory {
    /// Everything else from the book.
    fn rebuild(&mut self) {
        self.last_number = self.last_number.max(self.book.highest());
        self.received.append(&mut self.book.counted);
        let mut later: BTreeMap<EventNumber, Vec<DeliveryView>> = BTreeMap::new();
        for record in self.book.of_kind(Kind::Delivery) {
            if let Some(event) = record.event() {
                later.entry(event).or_default().push(delivery(record));
            }
        }
        let rebuilt = |record: &Record| {
            let later = record.event().and_then(|event| later.remove(&event)).unwrap_or_default();
            self.book.event(record, later)
        };
        self.events = self.book.of_kind(Kind::Event).map(rebuilt).collect();
        self.has_erased = self.events.values().any(|event| event.job.erased_at.is_some());
        self.refusals = self.book.of_kind(Kind::Delivery).filter_map(refusal).collect();
        self.log = self.book.of_kind(Kind::Event).map(|record| self.book.told(record)).collect();
        self.log.extend(self.book.of_kind(Kind::Delivery).map(|record| self.book.told(record)));
        self.log.sort_by_key(|told| told.number);
    }

    /// Writes down what became of an event.
    pub(super) fn write_down(&mut self, event: EventNumber) {
        if let Some(event) = self.events.values().find(|known| known.job.event == event) {
            self.book.write_down(event);
        }
    }
}

impl Book {
    /// What the list of deliveries tells.
    fn told(&self, record: &Record) -> DeliverySummary {
        let is_event = record.kind() == Kind::Event;
        let owned = |field: &str| record.text(field).map(str::to_owned);
        let event = record.event().and_then(|event| self.records.get(&(Kind::Event, vec![number(event.0)])));
        let of_delivery = |field: &str| if is_event { None } else { record.number(field) };
        DeliverySummary {
            number: DeliveryNumber(record.number("number").unwrap_or_default()),
            verdict: if is_event { Verdict::New } else { verdict(record) },
            received_at: instant(record, "received_at"),
            event: record.event(),
            source: record.text("source").map(|name| Source::new(name).expect("a source")),
            id: event.and_then(|event| event.text("id")).map(str::to_owned),
            event_type: event_type(record),
            time: record.number("time").map(Timestamp::from_micros),
            conflict: of_delivery("conflict").map(|conflict| conflict as u32),
            code: if is_event { None } else { owned("code").and_then(|code| RefusalCode::from_word(&code)) },
            detail: if is_event { None } else { owned("detail") },
            origin: if is_event { None } else { owned("origin") },
            count: of_delivery("count").unwrap_or(1) as u64,
            replayed: of_delivery("replayed") == Some(1),
        }
    }

    fn of_event(&self, kind: Kind, event: i64) -> impl Iterator<Item = &Record> {
        let first = (kind, vec![Value::Number(event)]);
        let records = self.records.range(first..).map(|(_, record)| record);
        records.take_while(move |record| record.kind() == kind && record.event() == Some(EventNumber(event)))
    }

    /// Of a kind whose key is not its event.
    fn of_event_by_scan(&self, kind: Kind, event: i64) -> impl Iterator<Item = &Record> {
        self.of_kind(kind).filter(move |record| record.event() == Some(EventNumber(event)))
    }

    fn event(&self, record: &Record, later: Vec<DeliveryView>) -> (Identity, Event) {
        let number = record.number("number").unwrap_or_default();
        let source = Source::new(record.text("source").unwrap_or_default()).expect("a source");
        let id = record.text("id").unwrap_or_default();
        let job = &self.records[&(Kind::Job, vec![Value::Number(number)])];
        let small = |field: &str| job.number(field).unwrap_or_default() as u32;
        let state = JobState::from_word(job.text("state").unwrap_or_default()).expect("a state");
        let summary = JobSummary {
            event: EventNumber(number),
            source: source.clone(),
            id: id.to_owned(),
            erased_at: record.number("erased_at").map(Timestamp::from_micros),
            event_type: event_type(record),
            state,
            reason: job.text("reason").unwrap_or_default().to_owned(),
            run: small("run"),
            attempts: small("attempts"),
            resource_id: job.text("resource_id").map(str::to_owned),
            time: record.number("time").map(Timestamp::from_micros),
            received_at: instant(record, "received_at"),
            due_at: job.number("due_at").filter(|_| state == JobState::Pending).map(Timestamp::from_micros),
            lease_until: lease_of(job).map(|lease| lease.until),
        };
        let entered = RevisionView {
            number: 1,
            fingerprint: fingerprint(record),
            accepted_at: summary.received_at,
            conflict: None,
            text: record.text("text").map(str::to_owned),
        };
        let optional = |field: &str| job.text(field).map(str::to_owned);
        let machine = Job {
            state,
            run: summary.run,
            attempts: summary.attempts,
            crashes: small("crashes"),
            due_at: summary.due_at,
            lease: lease_of(job),
            reason: summary.reason.clone().into(),
        };
        let identity = if record.is_erased() { format!("\0{id}") } else { id.to_owned() };
        let event = Event {
            job: summary,
            machine,
            attempts: self.of_event_by_scan(Kind::Attempt, number).map(attempt).collect(),
            effects: self.of_event_by_scan(Kind::Effect, number).map(|record| self.kept(record)).collect(),
            leases: small("leases"),
            worker: optional("worker"),
            result: optional("result"),
            changed_at: job.number("changed_at").map(Timestamp::from_micros),
            revisions: std::iter::once(entered).chain(self.of_event(Kind::Revision, number).map(revision)).collect(),
            conflicts: self.of_event(Kind::Conflict, number).map(|record| self.conflict(&source, record)).collect(),
            later,
            pruned: self.of_event(Kind::Pruned, number).next().map(|record| PrunedDeliveries {
                count: record.number("count").unwrap_or_default() as u64,
                first_at: instant(record, "first_at"),
                last_at: instant(record, "last_at"),
            }),
            pruned_at: record.number("pruned_at").map(Timestamp::from_micros),
        };
        ((source, identity), event)
    }

    /// The source of the event that something belongs to, an effect's try too.
    fn source_of(&self, record: &Record) -> Source {
        let effect = || self.records.get(&(Kind::Effect, vec![record.get("effect").clone()]));
        let event = record.event().or_else(|| effect().and_then(Record::event)).expect("it belongs to an event");
        let event = &self.records[&(Kind::Event, vec![number(event.0)])];
        Source::new(event.text("source").unwrap_or_default()).expect("a source")
    }

    /// An effect with its tries and what it made.
    fn kept(&self, record: &Record) -> Kept {
        let row = record.number("effect").unwrap_or_default();
        let of_it = |kind| {
            let first = (kind, vec![Value::Number(row)]);
            let records = self.records.range(first..).map(|(_, record)| record);
            records.take_while(move |record| record.kind() == kind && record.number("effect") == Some(row))
        };
        let mut kept = kept(record);
        kept.effect.tries = of_it(Kind::EffectTry)
            .map(|record| {
                let attempt = self.records.get(&(Kind::Attempt, vec![record.get("attempt").clone()]));
                one_try(record, attempt)
            })
            .collect();
        kept.effect.records = of_it(Kind::EffectRecord).map(recorded).collect();
        kept
    }

    fn conflict(&self, source: &Source, record: &Record) -> Conflict {
        let own = record.number("number");
        let of_it = |decision: &&Record| decision.number("conflict") == own;
        let made = self.of_event(Kind::Decision, record.number("event").unwrap_or_default()).filter(of_it);
        let text = record.text("text").map(str::to_owned);
        // Its id is another one if it ever enters.
        let delivery = Delivery {
            source: source.clone(),
            id: EventId::new("conflict").expect("an id"),
            content: Content::new(text.clone().unwrap_or_else(|| "gone".into()), usize::MAX).expect("a text"),
            event_type: event_type(record),
            time: record.number("time").map(Timestamp::from_micros),
            origin: Origin { input: Arc::from("export"), line: 0 },
            body: None,
        };
        let view = ConflictView {
            number: own.unwrap_or_default() as u32,
            fingerprint: fingerprint(record),
            text,
            count: record.number("count").unwrap_or_default() as u64,
            first_at: instant(record, "first_at"),
            last_at: instant(record, "last_at"),
            decisions: made.map(decision).collect(),
        };
        Conflict { view, delivery }
    }
}

fn money_record(day: UtcDay, source: &Source, model: &str, sums: &Sums) -> Record {
    let Sums { costs, spent, reserved: _, tokens_in, tokens_out, replays, replayed } = *sums;
    let sums = [costs, spent, tokens_in, tokens_out, replays, replayed].map(Value::Number);
    record(Kind::Money, [vec![Value::Number(day.0), text(source.as_str()), text(model)], sums.into()].concat())
}

fn span(span: Duration) -> Value {
    Value::Number(i64::try_from(span.as_micros()).unwrap_or(i64::MAX))
}

fn micros(amount: Option<Micros>) -> Value {
    maybe(amount.map(|amount| Value::Number(amount.get())))
}

/// An effect's record, those of its tries, and those of what it made.
fn effect_records(event: &Value, kept: &Kept, attempts: &[Attempt]) -> Vec<Record> {
    let Kept { row, key, changed_at, note, replays, replayed_to, effect } = kept;
    let own = number(*row);
    let policy = &effect.policy;
    let mut records = vec![record(
        Kind::Effect,
        [
            own.clone(),
            event.clone(),
            number(effect.run),
            text(effect.name.as_str()),
            text(key),
            text(effect.state.as_str()),
            optional(effect.reason.map(Reason::as_str)),
            maybe(policy.key_ttl.map(span)),
            number(policy.lookup),
            span(policy.settle),
            text(policy.otherwise.as_str()),
            micros(policy.retry_below),
            at(effect.begun_at),
            at(*changed_at),
            number(effect.look_first),
            optional(effect.alarm.map(Alarm::as_str)),
            optional(note.as_deref()),
            number(*replays),
            maybe(replayed_to.clone().map(Value::Bytes)),
        ],
    )];
    for (one, place) in effect.tries.iter().zip(1..) {
        let of_it = |attempt: &&Attempt| one.lease.is_some_and(|lease| attempt.lease == lease.0);
        records.push(record(
            Kind::EffectTry,
            [
                own.clone(),
                Value::Number(place),
                maybe(one.begin_id.map(|id| Value::Bytes(id.0.to_vec()))),
                maybe(attempts.iter().find(of_it).map(|attempt| number(attempt.row))),
                maybe(one.request.map(|hash| Value::Bytes(hash.to_vec()))),
                at(one.begun_at),
                at(one.send_before),
                at(one.deadline),
                maybe(one.key_until.map(at)),
                optional(one.outcome.map(TryOutcome::as_str)),
                micros(one.expected),
                micros(one.reserved.map(|held| held.amount)),
                maybe(one.reserved.map(|held| Value::Number(held.day.0))),
            ],
        ));
    }
    for (made, place) in effect.records.iter().zip(1..) {
        let evidence = &made.evidence;
        records.push(record(
            Kind::EffectRecord,
            [
                own.clone(),
                Value::Number(place),
                maybe(made.number.map(number)),
                at(made.at),
                text(made.witness.as_str()),
                optional(evidence.resource_id.as_deref()),
                optional(evidence.result.as_deref()),
                micros(evidence.cost),
                maybe(evidence.tokens_in.map(number)),
                maybe(evidence.tokens_out.map(number)),
                optional(evidence.model.as_deref()),
                micros(Some(made.charged)),
                Value::Number(made.day.0),
            ],
        ));
    }
    records
}

fn amount(record: &Record, field: &str) -> Option<Micros> {
    record.number(field).map(|amount| Micros::new(amount).expect("an amount"))
}

fn fixed<const N: usize>(record: &Record, field: &str) -> Option<[u8; N]> {
    match record.get(field) {
        Value::Bytes(bytes) => bytes.as_slice().try_into().ok(),
        _ => None,
    }
}

/// An effect without its tries and what it made.
fn kept(record: &Record) -> Kept {
    let word = |field: &str| record.text(field).unwrap_or_default();
    let length = |field: &str| record.number(field).map(|micros| Duration::from_micros(micros.unsigned_abs()));
    let policy = Policy {
        key_ttl: length("key_ttl"),
        lookup: record.number("lookup") == Some(1),
        settle: length("settle").unwrap_or_default(),
        otherwise: Otherwise::from_word(word("otherwise")).expect("a word"),
        retry_below: amount(record, "retry_below"),
    };
    let effect = Effect {
        run: record.number("run").unwrap_or_default() as u32,
        name: EffectName::new(word("name")).expect("a name"),
        policy,
        state: EffectState::from_word(word("state")).expect("a state"),
        reason: record.text("reason").and_then(Reason::from_word),
        begun_at: instant(record, "begun_at"),
        tries: Vec::new(),
        records: Vec::new(),
        look_first: record.number("look_first") == Some(1),
        alarm: record.text("alarm").and_then(Alarm::from_word),
    };
    Kept {
        row: record.number("effect").unwrap_or_default(),
        key: word("key").to_owned(),
        changed_at: instant(record, "changed_at"),
        note: record.text("note").map(str::to_owned),
        replays: record.number("replays").unwrap_or_default() as u32,
        replayed_to: match record.get("replayed_to") {
            Value::Bytes(lease) => Some(lease.clone()),
            _ => None,
        },
        effect,
    }
}

fn one_try(record: &Record, attempt: Option<&Record>) -> Try {
    let reserved = amount(record, "reserved_micros").zip(record.number("reserved_day"));
    Try {
        begin_id: fixed(record, "begin_id").map(BeginId),
        lease: attempt.and_then(|attempt| fixed(attempt, "lease")).map(LeaseToken),
        request: fixed(record, "request"),
        begun_at: instant(record, "begun_at"),
        send_before: instant(record, "send_before"),
        deadline: instant(record, "deadline"),
        key_until: record.number("key_until").map(Timestamp::from_micros),
        expected: amount(record, "expected_micros"),
        reserved: reserved.map(|(amount, day)| Reservation { amount, day: UtcDay(day) }),
        outcome: record.text("outcome").and_then(TryOutcome::from_word),
    }
}

fn recorded(record: &Record) -> Recorded {
    let owned = |field: &str| record.text(field).map(str::to_owned);
    let evidence = Evidence {
        resource_id: owned("resource_id"),
        result: owned("result"),
        cost: amount(record, "cost_micros"),
        tokens_in: record.number("tokens_in"),
        tokens_out: record.number("tokens_out"),
        model: owned("model"),
    };
    Recorded {
        evidence,
        number: record.number("try").map(|number| number as u32),
        at: instant(record, "at"),
        witness: Witness::from_word(record.text("witness").unwrap_or_default()).expect("a word"),
        charged: amount(record, "charged_micros").unwrap_or_default(),
        day: UtcDay(record.number("day").unwrap_or_default()),
    }
}

fn attempt_record(event: &Value, attempt: &Attempt) -> Record {
    let Report {
        exit_code, signal, error_class, error, cost_micros, tokens_in, tokens_out, model, stdout, stderr, ..
    } = &attempt.report;
    let output = |bytes: &Vec<u8>| if bytes.is_empty() { Value::Null } else { Value::Bytes(bytes.clone()) };
    let values = [
        number(attempt.row),
        event.clone(),
        number(attempt.run),
        number(attempt.number),
        Value::Bytes(attempt.lease.clone()),
        text(&attempt.worker),
        at(attempt.started_at),
        maybe(attempt.ended_at.map(at)),
        optional(attempt.outcome.map(JobOutcome::as_str)),
        maybe(exit_code.map(number)),
        maybe(signal.map(number)),
        optional(error_class.as_deref()),
        optional(error.as_deref()),
        maybe(cost_micros.map(number)),
        maybe(tokens_in.map(number)),
        maybe(tokens_out.map(number)),
        optional(model.as_deref()),
        optional(attempt.late.as_deref()),
        output(stdout),
        output(stderr),
        optional(attempt.to.map(|to| to.state.as_str())),
        maybe(attempt.to.and_then(|to| to.due_at).map(at)),
    ];
    record(Kind::Attempt, values)
}

fn attempt(record: &Record) -> Attempt {
    let time = |field: &str| record.number(field).map(Timestamp::from_micros);
    let small = |field: &str| record.number(field).and_then(|number| i32::try_from(number).ok());
    let owned = |field: &str| record.text(field).map(str::to_owned);
    let bytes = |field: &str| match record.get(field) {
        Value::Bytes(bytes) => bytes.clone(),
        _ => Vec::new(),
    };
    Attempt {
        row: record.number("attempt").unwrap_or_default(),
        lease: bytes("lease"),
        run: record.number("run").unwrap_or_default() as u32,
        number: record.number("number").unwrap_or_default() as u32,
        worker: owned("worker").unwrap_or_default(),
        started_at: instant(record, "started_at"),
        ended_at: time("ended_at"),
        outcome: record.text("outcome").and_then(JobOutcome::from_word),
        to: record.text("to_state").and_then(JobState::from_word).map(|state| Ended { state, due_at: time("to_due") }),
        report: Report {
            exit_code: small("exit_code"),
            signal: small("signal"),
            error_class: owned("error_class"),
            error: owned("error"),
            cost_micros: record.number("cost_micros"),
            tokens_in: record.number("tokens_in"),
            tokens_out: record.number("tokens_out"),
            model: owned("model"),
            stdout: bytes("stdout"),
            stderr: bytes("stderr"),
            ..Report::default()
        },
        late: owned("late"),
    }
}

fn lease_of(job: &Record) -> Option<Lease> {
    let Value::Bytes(token) = job.get("lease") else { return None };
    let token = LeaseToken(token.as_slice().try_into().ok()?);
    Some(Lease { token, until: Timestamp::from_micros(job.number("lease_until")?) })
}

fn revision(record: &Record) -> RevisionView {
    RevisionView {
        number: record.number("number").unwrap_or_default() as u32,
        fingerprint: fingerprint(record),
        accepted_at: instant(record, "accepted_at"),
        conflict: record.number("conflict").map(|conflict| conflict as u32),
        text: record.text("text").map(str::to_owned),
    }
}

fn decision(record: &Record) -> DecisionView {
    DecisionView {
        kind: DecisionKind::from_word(record.text("decision").unwrap_or_default()).expect("a decision"),
        decided_at: instant(record, "decided_at"),
        note: record.text("note").map(str::to_owned),
        entered: record.number("entered").map(EventNumber),
    }
}

fn event_type(record: &Record) -> Option<EventType> {
    record.text("type").and_then(|name| EventType::new(name).ok())
}

fn verdict(record: &Record) -> Verdict {
    Verdict::from_word(record.text("verdict").unwrap_or_default()).expect("a verdict")
}

fn instant(record: &Record, field: &str) -> Timestamp {
    Timestamp::from_micros(record.number(field).unwrap_or_default())
}

fn fingerprint(record: &Record) -> Fingerprint {
    match record.get("fingerprint") {
        Value::Bytes(bytes) => Fingerprint(bytes.as_slice().try_into().expect("32 bytes")),
        other => panic!("a fingerprint is {other:?}"),
    }
}

fn delivery(record: &Record) -> DeliveryView {
    DeliveryView {
        number: DeliveryNumber(record.number("number").unwrap_or_default()),
        verdict: verdict(record),
        received_at: instant(record, "received_at"),
        time: record.number("time").map(Timestamp::from_micros),
        conflict: record.number("conflict").map(|number| number as u32),
        origin: record.text("origin").map(str::to_owned),
        replayed: record.number("replayed") == Some(1),
    }
}

fn refusal(record: &Record) -> Option<RecordedRefusal> {
    let word = |field: &str| record.text(field).unwrap_or_default().to_owned();
    (word("verdict") == "invalid").then(|| RecordedRefusal {
        number: DeliveryNumber(record.number("number").unwrap_or_default()),
        received_at: instant(record, "received_at"),
        code: RefusalCode::from_word(&word("code")).expect("a code"),
        detail: word("detail"),
        origin: word("origin"),
        count: record.number("count").unwrap_or_default() as u64,
    })
}
