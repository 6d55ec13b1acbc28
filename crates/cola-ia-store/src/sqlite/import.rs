//! Records of an export into this store: what is not there enters, what is there stays.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hasher as _;
use std::sync::Arc;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{EffectState, Micros, Reason, UtcDay};
use cola_ia_core::job::JobState;
use cola_ia_core::store::export::{
    Contradiction, IMPORT_MAX_RECORDS, ImportBatch, Imported, Kind, Outcome, Record, Role, Shape, Value,
};
use cola_ia_core::store::{ErrorKind, OpId, StoreError};
use cola_ia_core::verdict::Verdict;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension as _, ToSql, params};
use siphasher::sip::SipHasher13;

use super::accept::source_row;
use super::counters::{Tally, count_gone};
use super::export::counters;
use super::identify::{Identified, identify};
use super::identities::Packing;
use super::money::MoneySums;
use super::records::{Column, Names, column, columns, read, table};
use super::slot::Slots;
use super::writer::Scope;
use super::{accept, currency, erase, money, row};

/// A batch and its digest.
#[derive(Debug)]
pub(super) struct Prepared {
    batch: Arc<ImportBatch>,
    request: i64,
}

impl Prepared {
    /// # Errors
    /// `batch_too_long`.
    pub(super) fn new(batch: Arc<ImportBatch>) -> Result<Self, StoreError> {
        if batch.records.len() > IMPORT_MAX_RECORDS {
            return Err(StoreError::new(ErrorKind::Invalid, "batch_too_long").with("limit", IMPORT_MAX_RECORDS));
        }
        let request = digest(&batch);
        Ok(Self { batch, request })
    }

    pub(super) fn len(&self) -> usize {
        self.batch.records.len()
    }
}

/// Tells one batch from another, so that an op that is used again for something else is noticed. It is stored, so what goes
/// into it is spelled out here.
fn digest(batch: &ImportBatch) -> i64 {
    let mut hasher = SipHasher13::new();
    hasher.write(&batch.namespace);
    if let Some(currency) = &batch.currency {
        hasher.write(currency.as_bytes());
    }
    for record in &batch.records {
        hasher.write(record.kind().as_str().as_bytes());
        for value in record.values() {
            match value {
                Value::Null => hasher.write_u8(0),
                Value::Number(number) => {
                    hasher.write_u8(1);
                    hasher.write(&number.to_le_bytes());
                }
                Value::Text(text) => {
                    hasher.write_u8(2);
                    hasher.write(&(text.len() as u64).to_le_bytes());
                    hasher.write(text.as_bytes());
                }
                Value::Bytes(bytes) => {
                    hasher.write_u8(3);
                    hasher.write(&(bytes.len() as u64).to_le_bytes());
                    hasher.write(bytes);
                }
            }
        }
    }
    hasher.finish() as i64
}

/// See [`Store::import`](cola_ia_core::store::Store::import).
pub(super) fn import(scope: &Scope<'_>, op: OpId, prepared: &Prepared) -> Result<Imported, StoreError> {
    let sqlite = |cause: rusqlite::Error| scope.error(&cause);
    if let Some(first_answer) = repeated(scope.connection, op, prepared.request).map_err(sqlite)? {
        return first_answer;
    }
    settle_namespace(scope, prepared.batch.namespace)?;
    if let Some(currency) = &prepared.batch.currency {
        currency::set_currency(scope, currency)?;
    }
    let mut entering = Entering::new(scope);
    let outcomes = prepared.batch.records.iter().enumerate().map(|(index, record)| {
        let next = prepared.batch.records.get(index + 1);
        entering.record(record, next).map_err(|stopped| match stopped {
            Stopped::Sqlite(cause) => scope.error(&cause),
            Stopped::OutOfOrder => StoreError::new(ErrorKind::Invalid, "import_out_of_order").with("record", index),
        })
    });
    let outcomes: Vec<Outcome> = outcomes.collect::<Result<_, _>>()?;
    entering.finish().map_err(sqlite)?;
    scope
        .connection
        .prepare_cached("INSERT INTO ops (op, verb, request, at, count, answer) VALUES (?1, 'import', ?2, ?3, ?4, ?5)")
        .and_then(|mut insert| {
            let at = scope.clock.now().as_micros();
            insert.execute(params![op.0, prepared.request, at, outcomes.len() as i64, packed(&outcomes)])
        })
        .map_err(sqlite)?;
    Ok(Imported { outcomes })
}

/// The answer that this op was given before.
fn repeated(connection: &Connection, op: OpId, request: i64) -> rusqlite::Result<Option<Result<Imported, StoreError>>> {
    let recorded = connection
        .prepare_cached("SELECT verb, request, answer FROM ops WHERE op = ?1")?
        .query_row([op.0], |row| {
            let same = row.get_ref(0)?.as_str()? == "import" && row.get::<_, i64>(1)? == request;
            Ok((same, row.get::<_, Option<Vec<u8>>>(2)?))
        })
        .optional()?;
    let Some((same, answer)) = recorded else { return Ok(None) };
    Ok(Some(match answer.as_deref().map(unpacked) {
        Some(Some(outcomes)) if same => Ok(Imported { outcomes }),
        _ => Err(StoreError::new(ErrorKind::Conflict, "op_reused")),
    }))
}

/// How many outcomes in a row are alike: nearly always all of them. A byte for the outcome and four for the count.
fn packed(outcomes: &[Outcome]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for run in outcomes.chunk_by(PartialEq::eq) {
        bytes.push(match run[0] {
            Outcome::Entered => 0,
            Outcome::Same => 1,
            Outcome::Kept => 2,
            Outcome::Contradicts(how) => 3 + how as u8,
        });
        bytes.extend((run.len() as u32).to_le_bytes());
    }
    bytes
}

fn unpacked(bytes: &[u8]) -> Option<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    for run in bytes.chunks(5) {
        let [outcome, count @ ..] = *<&[u8; 5]>::try_from(run).ok()?;
        let outcome = match outcome {
            0 => Outcome::Entered,
            1 => Outcome::Same,
            2 => Outcome::Kept,
            how => Outcome::Contradicts(*Contradiction::ALL.get(usize::from(how) - 3)?),
        };
        outcomes.extend(std::iter::repeat_n(outcome, u32::from_le_bytes(count) as usize));
    }
    Some(outcomes)
}

/// An empty store takes the namespace over, so that the keys of effects stay what they were.
fn settle_namespace(scope: &Scope<'_>, namespace: [u8; 16]) -> Result<(), StoreError> {
    let sqlite = |cause: rusqlite::Error| scope.error(&cause);
    let (here, is_empty): ([u8; 16], bool) = scope
        .connection
        .query_row(
            "SELECT namespace, NOT EXISTS (SELECT 1 FROM events) AND NOT EXISTS (SELECT 1 FROM deliveries) FROM store",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .map_err(sqlite)?;
    if here == namespace {
        return Ok(());
    }
    if !is_empty {
        return Err(super::error::at(scope.path, ErrorKind::Conflict, "import_other_namespace"));
    }
    scope.connection.execute("UPDATE store SET namespace = ?1", [namespace]).map(drop).map_err(sqlite)
}

/// Why a batch is not imported.
enum Stopped {
    Sqlite(rusqlite::Error),
    OutOfOrder,
}

impl From<rusqlite::Error> for Stopped {
    fn from(cause: rusqlite::Error) -> Self {
        Self::Sqlite(cause)
    }
}

/// What the following records may belong to.
#[derive(Clone, Copy)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact for itself")]
struct Parent {
    number: i64,
    /// The row of its source; `None` where the parent contradicts, and so does what belongs to it.
    source: Option<i64>,
    /// It entered with this batch, so nothing of it was here before.
    entered: bool,
    /// An effect that was here already and has gone on since: the export may know of what is not known here.
    went_on: bool,
    /// It was erased here and is whole in the export: nothing of it enters.
    erased_here: bool,
    /// What was pruned of it here is what the export says.
    pruned_alike: bool,
}

/// What belongs to a parent that contradicts.
const fn none_of(number: i64) -> Parent {
    Parent { number, source: None, entered: false, went_on: false, erased_here: false, pruned_alike: false }
}

struct Entering<'c> {
    connection: &'c Connection,
    slots: Slots,
    packing: Packing,
    now: Timestamp,
    names: Names<'c>,
    statements: HashMap<Kind, Statements>,
    event: Option<Parent>,
    /// The effects of this event in this batch, by number; those that contradict have no source.
    effects: HashMap<i64, Parent>,
    /// What entered, for the counters: by the instant at which it was received.
    tallies: BTreeMap<i64, Tally>,
    /// What is counted here, if a counter was compared.
    counters: Option<BTreeMap<(Option<i64>, String), i64>>,
    fold_after: u32,
    an_event_entered: bool,
}

/// Whether its table has the source's row too, which its record does not tell: it follows from the event.
fn has_row_of_source(kind: Kind) -> bool {
    matches!(kind, Kind::Job | Kind::SignedBody)
}

struct Statements {
    insert: String,
    by_key: String,
}

impl Statements {
    fn of(kind: Kind) -> Self {
        let table = table(kind).unwrap_or_default();
        let mut names: Vec<_> = kind.fields().iter().map(|field| column(kind, field)).collect();
        if has_row_of_source(kind) {
            names.push("source");
        }
        let places: Vec<_> = (1..=names.len()).map(|place| format!("?{place}")).collect();
        let keys = kind.fields().iter().filter(|field| field.role == Role::Key);
        let key: Vec<_> =
            keys.enumerate().map(|(place, field)| format!("t.{} = ?{}", column(kind, field), place + 1)).collect();
        Self {
            insert: format!(
                "INSERT INTO {table} ({}) VALUES ({}) ON CONFLICT DO NOTHING",
                names.join(", "),
                places.join(", ")
            ),
            by_key: format!("SELECT {} FROM {table} t WHERE {}", columns(kind), key.join(" AND ")),
        }
    }
}

impl<'c> Entering<'c> {
    fn new(scope: &Scope<'c>) -> Self {
        let connection = scope.connection;
        let tables = Kind::ALL.into_iter().filter(|kind| table(*kind).is_some());
        Self {
            connection,
            slots: scope.slots,
            packing: scope.packing,
            now: scope.clock.now(),
            names: Names::new(connection),
            statements: tables.map(|kind| (kind, Statements::of(kind))).collect(),
            event: None,
            effects: HashMap::new(),
            tallies: BTreeMap::new(),
            counters: None,
            fold_after: scope.fold_after,
            an_event_entered: false,
        }
    }

    fn record(&mut self, record: &Record, next: Option<&Record>) -> Result<Outcome, Stopped> {
        match record.kind() {
            Kind::Source => Ok(self.source(record)?),
            Kind::Event => self.event(record, next),
            Kind::Counter => Ok(self.counter(record)?),
            Kind::Budget => Ok(self.budget(record)?),
            Kind::Money => Ok(self.money(record)?),
            Kind::EffectTry | Kind::EffectRecord => {
                let effect = record.number("effect").unwrap_or_default();
                let parent = self.effects.get(&effect).copied();
                self.child(record, parent)
            }
            Kind::Delivery if record.event().is_none() => self.delivery(record),
            kind => {
                let parent = self.event.filter(|event| record.event().is_some_and(|of| of.0 == event.number));
                let outcome = match kind {
                    Kind::Delivery if parent.is_some_and(|parent| parent.source.is_some()) => self.delivery(record)?,
                    _ => self.child(record, parent)?,
                };
                let contradicts = matches!(outcome, Outcome::Contradicts(_));
                if let (Kind::Effect, Some(parent)) = (kind, parent) {
                    let number = record.number("effect").unwrap_or_default();
                    let went_on = outcome == Outcome::Kept;
                    let effect = if contradicts { none_of(number) } else { Parent { number, went_on, ..parent } };
                    self.effects.insert(number, effect);
                }
                if let (Kind::Pruned, Some(event)) = (kind, &mut self.event) {
                    event.pruned_alike = matches!(outcome, Outcome::Entered | Outcome::Same);
                }
                Ok(outcome)
            }
        }
    }

    fn child(&mut self, record: &Record, parent: Option<Parent>) -> Result<Outcome, Stopped> {
        match parent {
            None => Err(Stopped::OutOfOrder),
            Some(Parent { source: None, .. }) => Ok(Outcome::Contradicts(Contradiction::Belongs)),
            Some(parent @ Parent { source: Some(source), .. }) => {
                if let Some(outcome) = self.stays_out(record, parent)? {
                    return Ok(outcome);
                }
                let outcome = self.put(record, source)?;
                if outcome == Outcome::Entered {
                    self.count_child(record, source)?;
                }
                Ok(outcome)
            }
        }
    }

    /// What does not enter though it is not here.
    fn stays_out(&mut self, record: &Record, parent: Parent) -> rusqlite::Result<Option<Outcome>> {
        let Parent { entered, went_on, erased_here, .. } = parent;
        let of_old = matches!(record.kind(), Kind::Decision | Kind::Pruned) || went_on;
        if entered || !(erased_here || of_old) || self.by_key(record)?.is_some() {
            return Ok(None);
        }
        Ok(Some(match record.kind() {
            // The export knows of a decision that was made later, or of something of an effect that was tried or has happened
            // elsewhere. It cannot stand under what was found out here without it: a person has to see it.
            Kind::Decision | Kind::EffectTry | Kind::EffectRecord if !erased_here => {
                Outcome::Contradicts(Contradiction::Older)
            }
            // What was pruned there is here still.
            _ => Outcome::Kept,
        }))
    }

    fn count_child(&mut self, record: &Record, source: i64) -> rusqlite::Result<()> {
        match record.kind() {
            Kind::Job => {
                let settled = self.settled(record);
                let state = settled.text("state").unwrap_or_default();
                let state = JobState::from_word(state).ok_or_else(|| row::unexpected("state", state))?;
                self.tallies.entry(self.now.as_micros()).or_default().job_moves(source, JobState::Pending, state);
            }
            Kind::Pruned => {
                let last_at = Timestamp::from_micros(record.number("last_at").unwrap_or_default());
                let n = record.number("count").unwrap_or_default();
                count_gone(self.connection, last_at, source, Verdict::Duplicate, n)?;
                self.counters = None;
            }
            Kind::Attempt => {
                let settled = self.settled(record);
                let day = UtcDay::of(Timestamp::from_micros(settled.number("ended_at").unwrap_or_default()));
                let cost = settled.number("cost_micros").and_then(Micros::new);
                self.count_cost(day, source, &settled, cost)?;
            }
            Kind::EffectRecord => {
                let day = UtcDay(record.number("day").unwrap_or_default());
                let charged = record.number("charged_micros").and_then(Micros::new);
                // Where nobody said what it costs, nothing was charged, and it is not counted.
                let cost = charged.filter(|charged| *charged > Micros::ZERO || record.number("cost_micros").is_some());
                self.count_cost(day, source, record, cost)?;
            }
            Kind::EffectTry => {
                let settled = self.settled(record);
                if let (Some(reserved), Some(day)) = (settled.number("reserved_micros"), settled.number("reserved_day"))
                {
                    let sums = MoneySums { reserved, ..MoneySums::default() };
                    money::add(self.connection, UtcDay(day), source, "", sums)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// What an attempt or an effect cost, from a record that has `tokens_in`, `tokens_out` and `model`.
    fn count_cost(&self, day: UtcDay, source: i64, of: &Record, cost: Option<Micros>) -> rusqlite::Result<()> {
        let sums = MoneySums::of_cost(cost, of.number("tokens_in"), of.number("tokens_out"));
        money::add(self.connection, day, source, of.text("model").unwrap_or_default(), sums)
    }

    /// What is here stays, and is no contradiction: a person may have set it to anything.
    fn budget(&self, record: &Record) -> rusqlite::Result<Outcome> {
        let limit = record.number("limit_micros").unwrap_or_default();
        let source = source_row(self.connection, record.text("source").unwrap_or_default())?;
        let mut insert = self
            .connection
            .prepare_cached("INSERT INTO budgets (source, limit_micros) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
        if insert.execute([source, limit])? == 1 {
            return Ok(Outcome::Entered);
        }
        let here: i64 = self
            .connection
            .prepare_cached("SELECT limit_micros FROM budgets WHERE source = ?1")?
            .query_row([source], |row| row.get(0))?;
        Ok(if here == limit { Outcome::Same } else { Outcome::Kept })
    }

    /// Each sum stands at least where the export says: it knows of what left no row that enters, as results that were used again.
    fn money(&self, record: &Record) -> rusqlite::Result<Outcome> {
        let number = |name| record.number(name).unwrap_or_default();
        let source = source_row(self.connection, record.text("source").unwrap_or_default())?;
        let (day, model) = (UtcDay(number("day")), record.text("model").unwrap_or_default());
        let here = money::sums(self.connection, day, source, model)?;
        let told = MoneySums {
            costs: number("costs"),
            spent: number("spent"),
            reserved: here.reserved,
            tokens_in: number("tokens_in"),
            tokens_out: number("tokens_out"),
            replays: number("replays"),
            replayed: number("replayed"),
        };
        let missing = told.beyond(here);
        money::add(self.connection, day, source, model, missing)?;
        Ok(match missing == MoneySums::default() {
            false => Outcome::Entered,
            true if told == here => Outcome::Same,
            true => Outcome::Kept,
        })
    }

    fn source(&self, record: &Record) -> rusqlite::Result<Outcome> {
        let statements = &self.statements[&Kind::Source];
        let entered = self.connection.prepare_cached(&statements.insert)?.execute([record.text("name")])?;
        Ok(if entered == 1 { Outcome::Entered } else { Outcome::Same })
    }

    fn event(&mut self, record: &Record, next: Option<&Record>) -> Result<Outcome, Stopped> {
        let (Some(number), Some(name), Some(id)) = (record.number("number"), record.text("source"), record.text("id"))
        else {
            return Err(Stopped::OutOfOrder);
        };
        let source = source_row(self.connection, name)?;
        self.effects.clear();
        let there = self.by_key(record)?;
        let erased_here = !record.is_erased() && there.as_ref().is_some_and(Record::is_erased);
        let outcome = if let Some(there) = there {
            record.against(&there)
        } else if self.is_number_of("deliveries", number)? {
            Outcome::Contradicts(Contradiction::NumberTaken)
        } else {
            // An event and its job are born together.
            if next.is_none_or(|next| next.kind() != Kind::Job || next.number("event") != Some(number)) {
                return Err(Stopped::OutOfOrder);
            }
            let erased = record.is_erased();
            let identified = Identified { source, name, id, erased, event: number };
            if identify(self.connection, self.slots, self.packing, &identified)? == number {
                self.an_event_entered = true;
                self.count(source, Verdict::New, record, 1);
                let outcome = self.put(record, source)?;
                if erased {
                    erase::remember(self.connection, number, true)?;
                }
                outcome
            } else {
                Outcome::Contradicts(Contradiction::IdentityTaken)
            }
        };
        self.event = Some(if matches!(outcome, Outcome::Contradicts(_)) {
            none_of(number)
        } else {
            let entered = outcome == Outcome::Entered;
            Parent { number, source: Some(source), entered, went_on: false, erased_here, pruned_alike: entered }
        });
        Ok(outcome)
    }

    fn delivery(&mut self, record: &Record) -> Result<Outcome, Stopped> {
        if self.is_number_of("events", record.number("number").unwrap_or_default())? {
            return Ok(Outcome::Contradicts(Contradiction::NumberTaken));
        }
        if let Some(event) = self.event.filter(|event| record.event().is_some_and(|of| of.0 == event.number))
            && (event.erased_here || !event.pruned_alike && self.was_pruned(record)?)
            && self.by_key(record)?.is_none()
        {
            return Ok(Outcome::Kept);
        }
        let source = record.text("source").map(|name| source_row(self.connection, name)).transpose()?;
        let source = source.unwrap_or_default();
        let outcome = self.put(record, source)?;
        if outcome == Outcome::Entered {
            let verdict = accept::verdict_of(record.text("verdict").unwrap_or_default())?;
            self.count(source, verdict, record, record.number("count").unwrap_or_default());
        }
        Ok(outcome)
    }

    /// Whether a repeated delivery came in the time of those that were pruned here.
    fn was_pruned(&self, record: &Record) -> rusqlite::Result<bool> {
        if record.text("verdict") != Some(Verdict::Duplicate.as_str()) {
            return Ok(false);
        }
        self.connection
            .prepare_cached("SELECT 1 FROM pruned_deliveries WHERE event = ?1 AND ?2 BETWEEN first_at AND last_at")?
            .exists((record.number("event"), record.number("received_at")))
    }

    /// Events and deliveries draw their numbers from one series.
    fn is_number_of(&self, table: &str, number: i64) -> rusqlite::Result<bool> {
        self.connection
            .prepare_cached(&format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE seq = ?1)"))?
            .query_row([number], |row| row.get(0))
    }

    fn by_key(&mut self, record: &Record) -> rusqlite::Result<Option<Record>> {
        let mut select = self.connection.prepare_cached(&self.statements[&record.kind()].by_key)?;
        let mut rows = select.query(rusqlite::params_from_iter(record.key().into_iter().map(Column)))?;
        rows.next()?.map(|row| read(record.kind(), row, &mut self.names)).transpose()
    }

    /// Inserts it, or compares it with the one that is there. The unique keys decide.
    fn put(&mut self, record: &Record, source: i64) -> rusqlite::Result<Outcome> {
        let kind = record.kind();
        let settled = self.settled(record);
        {
            let mut insert = self.connection.prepare_cached(&self.statements[&kind].insert)?;
            let row = Sql::Integer(source);
            let mut values: Vec<&dyn ToSql> = Vec::with_capacity(settled.values().len() + 1);
            let columns: Vec<Column<'_>> = settled.values().iter().map(Column).collect();
            for (field, column) in kind.fields().iter().zip(&columns) {
                let is_row = field.shape == Shape::Source && *column.0 != Value::Null;
                values.push(if is_row { &row } else { column });
            }
            if has_row_of_source(kind) {
                values.push(&row);
            }
            if insert.execute(values.as_slice())? == 1 {
                return Ok(Outcome::Entered);
            }
        }
        // Whoever brought the same bytes here stays the first.
        if kind == Kind::SignedBody {
            return Ok(self.by_key(record)?.map_or(Outcome::Kept, |there| record.against(&there)));
        }
        // Another key that only one may have (a lease, a key of an effect) is taken where it is not this one.
        let taken = Outcome::Contradicts(Contradiction::NumberTaken);
        Ok(self.by_key(record)?.map_or(taken, |there| record.against(&there)))
    }

    /// The record as it enters: what runs elsewhere does not run here.
    fn settled(&self, record: &Record) -> Record {
        let now = |since: &str| Value::Number(record.number(since).unwrap_or(i64::MIN).max(self.now.as_micros()));
        let word = |word: &str| Value::Text(word.to_owned());
        match record.kind() {
            Kind::Job if record.text("state") == Some("running") => record
                .clone()
                .with("state", word("pending"))
                .with("due_at", Value::Number(self.now.as_micros()))
                .with("lease", Value::Null)
                .with("lease_until", Value::Null)
                .with("worker", Value::Null)
                // Losing it is no fault of the job: it has its attempt back, as after a restore.
                .with("attempts", Value::Number((record.number("attempts").unwrap_or_default() - 1).max(0)))
                .with("reason", word(""))
                .with("changed_at", now("changed_at")),
            Kind::Attempt if record.number("ended_at").is_none() => {
                let ended = record.clone().with("ended_at", now("started_at")).with("outcome", word("lease_lost"));
                ended.with("to_state", word("pending")).with("to_due", Value::Number(self.now.as_micros()))
            }
            // As `Ledger::void_lease` does: nobody may send any more, and what was sent may happen. Its tries stay open.
            Kind::Effect if record.text("state") == Some(EffectState::Intended.as_str()) => record
                .clone()
                .with("state", word(EffectState::Unknown.as_str()))
                .with("reason", word(Reason::LeaseEnded.as_str()))
                .with("changed_at", now("changed_at")),
            // Money is held by open tries, of some day.
            Kind::EffectTry if record.number("reserved_day").is_none() || record.text("outcome").is_some() => {
                record.clone().with("reserved_micros", Value::Null).with("reserved_day", Value::Null)
            }
            _ => record.clone(),
        }
    }

    /// Counts what entered, at the time at which it was received: by that it is found again.
    fn count(&mut self, source: i64, verdict: Verdict, record: &Record, n: i64) {
        let at = record.number("received_at").unwrap_or_default();
        let tally = self.tallies.entry(at).or_default();
        let sum = tally.delivery(source, verdict, n, record.number("number").unwrap_or_default());
        if let Some(time) = record.number("time") {
            sum.late.add(Timestamp::from_micros(at), Timestamp::from_micros(time));
        }
    }

    /// A counter stands at least where the export says: it knows of what was pruned before.
    fn counter(&mut self, record: &Record) -> rusqlite::Result<Outcome> {
        self.write_tallies()?;
        let source = record.text("source").map(|name| source_row(self.connection, name)).transpose()?;
        let (counter, n) = (record.text("counter").unwrap_or_default(), record.number("n").unwrap_or_default());
        let Some(verdict) = Verdict::from_word(counter) else {
            return Ok(Outcome::Contradicts(Contradiction::Differs));
        };
        if self.counters.is_none() {
            self.counters = Some(counters(self.connection)?);
        }
        let sums = self.counters.get_or_insert_default();
        let here = sums.entry((source, counter.to_owned())).or_default();
        let outcome = match n.cmp(here) {
            std::cmp::Ordering::Greater => Outcome::Entered,
            std::cmp::Ordering::Equal => Outcome::Same,
            std::cmp::Ordering::Less => Outcome::Kept,
        };
        if n > *here {
            // Of the instants nothing is known.
            let at = Timestamp::from_micros(0);
            count_gone(self.connection, at, source.unwrap_or_default(), verdict, n - *here)?;
            *here = n;
        }
        Ok(outcome)
    }

    fn write_tallies(&mut self) -> rusqlite::Result<()> {
        for (at, tally) in std::mem::take(&mut self.tallies) {
            tally.write(self.connection, Timestamp::from_micros(at), self.fold_after)?;
            self.counters = None;
        }
        Ok(())
    }

    /// Until a person says otherwise, what was done elsewhere after the export is not known here. Of two marks the later one
    /// counts, as after a restore.
    fn finish(&mut self) -> rusqlite::Result<()> {
        self.write_tallies()?;
        if self.an_event_entered {
            self.connection
                .execute("UPDATE store SET restored_at = max(coalesce(restored_at, ?1), ?1)", [self.now.as_micros()])?;
        }
        Ok(())
    }
}
