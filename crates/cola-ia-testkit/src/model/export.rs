//! What the model exports: a book of records beside its own memory, in which each answer of the gate is noted.

use std::collections::{BTreeMap, BTreeSet};

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{Delivery, EventId, EventType, Fingerprint, Source};
use cola_ia_core::intake::{DeliveryNumber, EventNumber, Intake, RefusalCode};
use cola_ia_core::job::JobState;
use cola_ia_core::store::export::{
    Contradiction, ExportCursor, ExportHead, ExportPage, ExportStage, IMPORT_MAX_RECORDS, ImportBatch, Imported, Kind,
    Outcome, Record, Value,
};
use cola_ia_core::store::{ConflictView, DeliveryView, ErrorKind, JobSummary, OpId, Receipt, StoreError};
use cola_ia_core::verdict::Verdict;

use super::{Event, Memory};
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
    pub(super) ops: BTreeMap<OpId, (ImportBatch, Imported)>,
}

/// A record and where it stands among those of its event.
type Placed<'r> = (Kind, Vec<Value>, &'r Record);

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn maybe(value: Option<Value>) -> Value {
    value.unwrap_or(Value::Null)
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
    pub(super) fn note(&mut self, member: &Intake, receipt: &Receipt, received_at: Timestamp) {
        let own = number(receipt.number.0);
        let now = at(received_at);
        match (member, receipt.event) {
            (Intake::Refusal(refusal), _) => {
                self.count(None, Verdict::Invalid, refusal.count as i64);
                self.insert(record(
                    Kind::Delivery,
                    [
                        own,
                        Value::Null,
                        Value::Null,
                        text("invalid"),
                        now,
                        Value::Null,
                        Value::Null,
                        Value::Null,
                        text(refusal.code.as_str()),
                        text(&refusal.detail),
                        text(&refusal.origin.to_string()),
                        number(refusal.count as i64),
                    ],
                ));
            }
            (Intake::Delivery(delivery), Some(event)) => {
                let source = self.source(delivery.source.as_str());
                self.count(Some(source), receipt.verdict, 1);
                match receipt.verdict {
                    Verdict::New => self.note_new(delivery, own, now),
                    _ => self.note_again(delivery, receipt, event, &now),
                }
            }
            (Intake::Delivery(_), None) => {}
        }
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
                text(delivery.content.text()),
            ],
        ));
        self.insert(record(Kind::Job, job));
    }

    fn note_again(&mut self, delivery: &Delivery, receipt: &Receipt, event: EventNumber, now: &Value) {
        let (time, event_type) = said(delivery);
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
                        text(delivery.content.text()),
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
                maybe(receipt.conflict.map(|_| text(&delivery.origin.to_string()))),
                number(1),
            ],
        ));
    }

    fn insert(&mut self, record: Record) {
        self.records.insert(key(&record), record);
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
        self.records.values().filter(move |record| record.kind() == kind)
    }

    fn highest(&self) -> i64 {
        let numbers = self.of_kind(Kind::Event).chain(self.of_kind(Kind::Delivery));
        numbers.filter_map(|record| record.number("number")).max().unwrap_or_default()
    }

    /// All records in the order of an export, up to this number, in groups that no page divides. With each, the place in the
    /// export at which it is the next one.
    fn groups(&self, upto: i64) -> Vec<(ExportStage, Vec<Record>)> {
        let mut of_event: BTreeMap<i64, Vec<Placed<'_>>> = BTreeMap::new();
        let mut refused: Vec<Record> = Vec::new();
        for record in self.records.values() {
            let event = match record.kind() {
                Kind::EffectTry => {
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
        groups.push((ExportStage::Counters, counters.collect()));
        groups
    }

    /// Where it stands among the records of its kind and event.
    fn place(&self, record: &Record) -> Vec<Value> {
        let values = |record: &Record, names: &[&str]| names.iter().map(|name| record.get(name).clone()).collect();
        match record.kind() {
            Kind::Attempt => values(record, &["run", "number", "attempt"]),
            Kind::Effect => values(record, &["run", "name"]),
            Kind::EffectTry => {
                let effect = &self.records[&(Kind::Effect, vec![record.get("effect").clone()])];
                let mut place: Vec<Value> = values(effect, &["run", "name"]);
                place.push(record.get("number").clone());
                place
            }
            _ => record.key().into_iter().cloned().collect(),
        }
    }

    /// Whole groups, until there are as many records as asked for.
    pub(super) fn page(&self, cursor: Option<ExportCursor>, limit: u32) -> ExportPage {
        let start = ExportCursor { upto: self.highest(), next: ExportStage::Sources(0) };
        let cursor = cursor.unwrap_or(start);
        let groups = self.groups(cursor.upto);
        let mut left = groups.into_iter().skip_while(|(stage, _)| order(*stage) < order(cursor.next)).peekable();
        let mut records = Vec::new();
        while records.len() < limit.max(1) as usize
            && let Some((_, mut group)) = left.next()
        {
            records.append(&mut group);
        }
        let next = left.peek().map(|(stage, _)| ExportCursor { next: *stage, ..cursor });
        let head = ExportHead { namespace: self.namespace, schema: 0 };
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
            Kind::EffectTry => &[&["begin_id"]],
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
    }
}

/// See [`Store::import`](cola_ia_core::store::Store::import).
pub(super) fn import(
    memory: &mut Memory,
    now: Timestamp,
    op: OpId,
    batch: &ImportBatch,
) -> Result<Imported, StoreError> {
    if batch.records.len() > IMPORT_MAX_RECORDS {
        return Err(StoreError::new(ErrorKind::Invalid, "batch_too_long"));
    }
    match memory.book.ops.get(&op) {
        Some((same, imported)) if same == batch => return Ok(imported.clone()),
        Some(_) => return Err(StoreError::new(ErrorKind::Conflict, "op_reused")),
        None if memory.ops.contains_key(&op) => return Err(StoreError::new(ErrorKind::Conflict, "op_reused")),
        None => {}
    }
    if memory.book.namespace != batch.namespace && !memory.book.is_empty() {
        return Err(StoreError::new(ErrorKind::Conflict, "import_other_namespace"));
    }
    check_order(&memory.book, &batch.records)?;
    memory.book.namespace = batch.namespace;
    let mut contradicted: BTreeSet<(Kind, Option<i64>)> = BTreeSet::new();
    let mut outcomes = Vec::new();
    for record in &batch.records {
        let outcome = if belongs_to(record).is_some_and(|parent| contradicted.contains(&parent)) {
            Outcome::Contradicts(Contradiction::Belongs)
        } else {
            one(&mut memory.book, record, now)
        };
        if matches!(outcome, Outcome::Contradicts(_)) {
            match record.kind() {
                Kind::Event => drop(contradicted.insert((Kind::Event, record.number("number")))),
                Kind::Effect => drop(contradicted.insert((Kind::Effect, record.number("effect")))),
                _ => {}
            }
        }
        outcomes.push(outcome);
    }
    memory.rebuild();
    let imported = Imported { outcomes };
    memory.book.ops.insert(op, (batch.clone(), imported.clone()));
    Ok(imported)
}

fn belongs_to(record: &Record) -> Option<(Kind, Option<i64>)> {
    match record.kind() {
        Kind::Source | Kind::Event | Kind::Counter => None,
        Kind::EffectTry => Some((Kind::Effect, record.number("effect"))),
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

fn one(book: &mut Book, record: &Record, now: Timestamp) -> Outcome {
    match record.kind() {
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
            *here = n.max(*here);
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
            if book.is_taken(record) || twin.is_some_and(|twin| book.records.contains_key(&(twin, key(record).1))) {
                return Outcome::Contradicts(Contradiction::NumberTaken);
            }
            let identity = |record: &Record| (record.get("source").clone(), record.get("id").clone());
            if kind == Kind::Event && book.of_kind(kind).any(|known| identity(known) == identity(record)) {
                return Outcome::Contradicts(Contradiction::IdentityTaken);
            }
            enter(book, record, now);
            Outcome::Entered
        }
    }
}

fn enter(book: &mut Book, record: &Record, now: Timestamp) {
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
            record.clone().with("ended_at", later("started_at")).with("outcome", text("lease_lost"))
        }
        Kind::Effect if word("state") == "intended" => {
            record.clone().with("state", text("unknown")).with("changed_at", later("changed_at"))
        }
        _ => record.clone(),
    };
    match record.kind() {
        Kind::Event => {
            let source = book.source(&word("source"));
            book.count(Some(source), Verdict::New, 1);
        }
        Kind::Delivery => {
            let source = record.text("source").map(|name| book.source(name));
            let verdict = Verdict::from_word(&word("verdict")).expect("a verdict");
            book.count(source, verdict, record.number("count").unwrap_or_default());
        }
        _ => {}
    }
    book.insert(entering);
}

impl Memory {
    /// Everything else from the book.
    fn rebuild(&mut self) {
        self.last_number = self.last_number.max(self.book.highest());
        self.events = self.book.of_kind(Kind::Event).map(|event| self.rebuilt(event)).collect();
        self.refusals = self.book.of_kind(Kind::Delivery).filter_map(refusal).collect();
    }

    fn rebuilt(&self, record: &Record) -> ((Source, EventId), Event) {
        let number = record.number("number").unwrap_or_default();
        let source = Source::new(record.text("source").unwrap_or_default()).expect("a source");
        let id = record.text("id").unwrap_or_default();
        let job = &self.book.records[&(Kind::Job, vec![Value::Number(number)])];
        let small = |field: &str| job.number(field).unwrap_or_default() as u32;
        let state = JobState::from_word(job.text("state").unwrap_or_default()).expect("a state");
        let summary = JobSummary {
            event: EventNumber(number),
            source: source.clone(),
            id: id.to_owned(),
            event_type: record.text("type").and_then(|name| EventType::new(name).ok()),
            state,
            reason: job.text("reason").unwrap_or_default().to_owned(),
            run: small("run"),
            attempts: small("attempts"),
            resource_id: job.text("resource_id").map(str::to_owned),
            time: record.number("time").map(Timestamp::from_micros),
            received_at: instant(record, "received_at"),
            due_at: job.number("due_at").filter(|_| state == JobState::Pending).map(Timestamp::from_micros),
        };
        let of_this = |record: &&Record| record.event() == Some(EventNumber(number));
        let event = Event {
            job: summary,
            fingerprint: fingerprint(record),
            text: record.text("text").map(str::to_owned),
            conflicts: self.book.of_kind(Kind::Conflict).filter(of_this).map(conflict).collect(),
            later: self.book.of_kind(Kind::Delivery).filter(of_this).map(delivery).collect(),
        };
        ((source, EventId::new(id).expect("an id")), event)
    }
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

fn conflict(record: &Record) -> ConflictView {
    ConflictView {
        number: record.number("number").unwrap_or_default() as u32,
        fingerprint: fingerprint(record),
        text: record.text("text").map(str::to_owned),
        count: record.number("count").unwrap_or_default() as u64,
        first_at: instant(record, "first_at"),
        last_at: instant(record, "last_at"),
    }
}

fn delivery(record: &Record) -> DeliveryView {
    DeliveryView {
        number: DeliveryNumber(record.number("number").unwrap_or_default()),
        verdict: Verdict::from_word(record.text("verdict").unwrap_or_default()).expect("a verdict"),
        received_at: instant(record, "received_at"),
        time: record.number("time").map(Timestamp::from_micros),
        conflict: record.number("conflict").map(|number| number as u32),
        origin: record.text("origin").map(str::to_owned),
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
