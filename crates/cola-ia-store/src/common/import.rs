//! What becomes of the records of an export in a store that may know some of them: one by one, in their order. What is asked of
//! the store, and what is done to it, is [`Here`].

use std::collections::{BTreeMap, HashMap};
use std::hash::Hasher as _;
use std::sync::Arc;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{EffectState, Micros, Reason, UtcDay};
use cola_ia_core::job::JobState;
use cola_ia_core::store::export::{Contradiction, IMPORT_MAX_RECORDS, ImportBatch, Kind, Outcome, Record, Value};
use cola_ia_core::store::{ErrorKind, StoreError};
use cola_ia_core::verdict::Verdict;
use siphasher::sip::SipHasher13;

use super::counters::Tally;
use super::money::MoneySums;

/// A batch and its digest.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) batch: Arc<ImportBatch>,
    pub(crate) request: i64,
}

impl Prepared {
    /// # Errors
    /// `batch_too_long`.
    pub(crate) fn new(batch: Arc<ImportBatch>) -> Result<Self, StoreError> {
        if batch.records.len() > IMPORT_MAX_RECORDS {
            return Err(StoreError::new(ErrorKind::Invalid, "batch_too_long").with("limit", IMPORT_MAX_RECORDS));
        }
        let request = digest(&batch);
        Ok(Self { batch, request })
    }

    pub(crate) fn len(&self) -> usize {
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

/// How many outcomes in a row are alike: nearly always all of them. A byte for the outcome and four for the count.
pub(crate) fn packed(outcomes: &[Outcome]) -> Vec<u8> {
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

pub(crate) fn unpacked(bytes: &[u8]) -> Option<Vec<Outcome>> {
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

/// An identity that is to be an event.
pub(crate) struct Identified<'a> {
    /// The row of its source.
    pub(crate) source: i64,
    /// The name of its source.
    pub(crate) name: &'a str,
    /// Its id, or what stands for it once erased.
    pub(crate) id: &'a str,
    /// Whether it is what stands for an id that was erased.
    pub(crate) erased: bool,
    /// The event, whose row is inserted next.
    pub(crate) event: i64,
}

/// How many there have been, by the row of the source and the counter's word.
pub(crate) type Counts = BTreeMap<(Option<i64>, String), i64>;

/// The store that records enter, in the one transaction of their batch: what it holds, what entered before them included.
pub(crate) trait Here {
    /// Why the batch fails.
    type Error;

    /// The row of a source, and whether it is made by this.
    fn source(&mut self, name: &str) -> Result<(i64, bool), Self::Error>;

    /// The record with the key of this one.
    fn by_key(&mut self, record: &Record) -> Result<Option<Record>, Self::Error>;

    /// Whether an event, or a delivery, has this number.
    fn has_number(&mut self, kind: Kind, number: i64) -> Result<bool, Self::Error>;

    /// The event that has the identity from now on: this one, or another that had it before.
    fn identify(&mut self, identified: &Identified<'_>) -> Result<i64, Self::Error>;

    /// Inserts it, with the row of its source; `false` where its key, or another one that only one may have, is taken.
    fn insert(&mut self, record: &Record, source: i64) -> Result<bool, Self::Error>;

    /// Notes what stands for the id of an event that was erased in another store.
    fn remember_erased(&mut self, event: i64) -> Result<(), Self::Error>;

    /// Whether deliveries of this event that came about this instant were pruned.
    fn was_pruned(&mut self, event: i64, at: i64) -> Result<bool, Self::Error>;

    /// The budget that a source has, or `None` where it has this one from now on.
    fn budget(&mut self, source: i64, limit: i64) -> Result<Option<i64>, Self::Error>;

    /// The sums of a day, a source and a model.
    fn money(&mut self, day: UtcDay, source: i64, model: &str) -> Result<MoneySums, Self::Error>;

    /// Adds to them.
    fn add_money(&mut self, day: UtcDay, source: i64, model: &str, more: MoneySums) -> Result<(), Self::Error>;

    /// What is counted.
    fn counts(&mut self) -> Result<Counts, Self::Error>;

    /// Counts what came at an instant.
    fn count(&mut self, at: Timestamp, tally: &Tally) -> Result<(), Self::Error>;

    /// Counts deliveries of which no number is known. `source`: 0 for none.
    fn count_gone(&mut self, at: Timestamp, source: i64, verdict: Verdict, n: i64) -> Result<(), Self::Error>;
}

/// Why a batch is not imported.
pub(crate) enum Stopped<E> {
    /// The store failed.
    Failed(E),
    /// A record stands without what it belongs to, or tells what no store keeps.
    OutOfOrder,
}

impl<E> From<E> for Stopped<E> {
    fn from(failed: E) -> Self {
        Self::Failed(failed)
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

/// A batch on its way into a store.
pub(crate) struct Entering<H: Here> {
    here: H,
    now: Timestamp,
    event: Option<Parent>,
    /// The effects of this event in this batch, by number; those that contradict have no source.
    effects: HashMap<i64, Parent>,
    /// What entered, for the counters: by the instant at which it was received.
    tallies: BTreeMap<i64, Tally>,
    /// What is counted here, if a counter was compared.
    counts: Option<Counts>,
    an_event_entered: bool,
}

impl<H: Here> Entering<H> {
    pub(crate) fn new(here: H, now: Timestamp) -> Self {
        Self {
            here,
            now,
            event: None,
            effects: HashMap::new(),
            tallies: BTreeMap::new(),
            counts: None,
            an_event_entered: false,
        }
    }

    /// The outcomes of all records; or the place of the one at which it stops.
    pub(crate) fn records(&mut self, records: &[Record]) -> Result<Vec<Outcome>, (usize, Stopped<H::Error>)> {
        let outcomes = records.iter().enumerate();
        outcomes
            .map(|(place, record)| self.record(record, records.get(place + 1)).map_err(|stopped| (place, stopped)))
            .collect()
    }

    /// After the last record: the store, and whether an event entered. Until a person says otherwise, what was done elsewhere
    /// after the export is not known here: the store is marked then.
    pub(crate) fn finish(mut self) -> Result<(H, bool), H::Error> {
        self.write_tallies()?;
        Ok((self.here, self.an_event_entered))
    }

    fn record(&mut self, record: &Record, next: Option<&Record>) -> Result<Outcome, Stopped<H::Error>> {
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

    fn child(&mut self, record: &Record, parent: Option<Parent>) -> Result<Outcome, Stopped<H::Error>> {
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
    fn stays_out(&mut self, record: &Record, parent: Parent) -> Result<Option<Outcome>, H::Error> {
        let Parent { entered, went_on, erased_here, .. } = parent;
        let of_old = matches!(record.kind(), Kind::Decision | Kind::Pruned) || went_on;
        if entered || !(erased_here || of_old) || self.here.by_key(record)?.is_some() {
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

    fn count_child(&mut self, record: &Record, source: i64) -> Result<(), H::Error> {
        match record.kind() {
            Kind::Job => {
                // A record holds no other word.
                let state = settled(record, self.now).text("state").and_then(JobState::from_word);
                let state = state.unwrap_or(JobState::Pending);
                self.tallies.entry(self.now.as_micros()).or_default().job_moves(source, JobState::Pending, state);
            }
            Kind::Pruned => {
                let last_at = Timestamp::from_micros(record.number("last_at").unwrap_or_default());
                let n = record.number("count").unwrap_or_default();
                self.here.count_gone(last_at, source, Verdict::Duplicate, n)?;
                self.counts = None;
            }
            Kind::Attempt => {
                let settled = settled(record, self.now);
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
                let settled = settled(record, self.now);
                if let (Some(reserved), Some(day)) = (settled.number("reserved_micros"), settled.number("reserved_day"))
                {
                    let sums = MoneySums { reserved, ..MoneySums::default() };
                    self.here.add_money(UtcDay(day), source, "", sums)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// What an attempt or an effect cost, from a record that has `tokens_in`, `tokens_out` and `model`.
    fn count_cost(&mut self, day: UtcDay, source: i64, of: &Record, cost: Option<Micros>) -> Result<(), H::Error> {
        let sums = MoneySums::of_cost(cost, of.number("tokens_in"), of.number("tokens_out"));
        self.here.add_money(day, source, of.text("model").unwrap_or_default(), sums)
    }

    /// What is here stays, and is no contradiction: a person may have set it to anything.
    fn budget(&mut self, record: &Record) -> Result<Outcome, H::Error> {
        let limit = record.number("limit_micros").unwrap_or_default();
        let source = self.source_row(record)?.unwrap_or_default();
        Ok(match self.here.budget(source, limit)? {
            None => Outcome::Entered,
            Some(here) if here == limit => Outcome::Same,
            Some(_) => Outcome::Kept,
        })
    }

    /// Each sum stands at least where the export says: it knows of what left no row that enters, as results that were used again.
    fn money(&mut self, record: &Record) -> Result<Outcome, H::Error> {
        let number = |name| record.number(name).unwrap_or_default();
        let source = self.source_row(record)?.unwrap_or_default();
        let (day, model) = (UtcDay(number("day")), record.text("model").unwrap_or_default());
        let here = self.here.money(day, source, model)?;
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
        self.here.add_money(day, source, model, missing)?;
        Ok(match missing == MoneySums::default() {
            false => Outcome::Entered,
            true if told == here => Outcome::Same,
            true => Outcome::Kept,
        })
    }

    fn source(&mut self, record: &Record) -> Result<Outcome, H::Error> {
        let (_, entered) = self.here.source(record.text("name").unwrap_or_default())?;
        Ok(if entered { Outcome::Entered } else { Outcome::Same })
    }

    /// The row of the source that a record names, if it names one.
    fn source_row(&mut self, record: &Record) -> Result<Option<i64>, H::Error> {
        let Some(name) = record.text("source") else { return Ok(None) };
        self.here.source(name).map(|(row, _)| Some(row))
    }

    fn event(&mut self, record: &Record, next: Option<&Record>) -> Result<Outcome, Stopped<H::Error>> {
        let (Some(number), Some(name), Some(id)) = (record.number("number"), record.text("source"), record.text("id"))
        else {
            return Err(Stopped::OutOfOrder);
        };
        let (source, _) = self.here.source(name)?;
        self.effects.clear();
        let there = self.here.by_key(record)?;
        let erased_here = !record.is_erased() && there.as_ref().is_some_and(Record::is_erased);
        let outcome = if let Some(there) = there {
            record.against(&there)
        } else if self.here.has_number(Kind::Delivery, number)? {
            Outcome::Contradicts(Contradiction::NumberTaken)
        } else {
            // An event and its job are born together.
            if next.is_none_or(|next| next.kind() != Kind::Job || next.number("event") != Some(number)) {
                return Err(Stopped::OutOfOrder);
            }
            let erased = record.is_erased();
            let identified = Identified { source, name, id, erased, event: number };
            if self.here.identify(&identified)? == number {
                self.an_event_entered = true;
                self.count(source, Verdict::New, record, 1);
                let outcome = self.put(record, source)?;
                if erased {
                    self.here.remember_erased(number)?;
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

    fn delivery(&mut self, record: &Record) -> Result<Outcome, Stopped<H::Error>> {
        if self.here.has_number(Kind::Event, record.number("number").unwrap_or_default())? {
            return Ok(Outcome::Contradicts(Contradiction::NumberTaken));
        }
        if let Some(event) = self.event.filter(|event| record.event().is_some_and(|of| of.0 == event.number))
            && (event.erased_here || !event.pruned_alike && self.was_pruned(record)?)
            && self.here.by_key(record)?.is_none()
        {
            return Ok(Outcome::Kept);
        }
        let source = self.source_row(record)?.unwrap_or_default();
        let outcome = self.put(record, source)?;
        if outcome == Outcome::Entered {
            // A record holds no other word.
            let verdict = record.text("verdict").and_then(Verdict::from_word).unwrap_or(Verdict::Invalid);
            self.count(source, verdict, record, record.number("count").unwrap_or_default());
        }
        Ok(outcome)
    }

    /// Whether a repeated delivery came in the time of those that were pruned here.
    fn was_pruned(&mut self, record: &Record) -> Result<bool, H::Error> {
        let (Some(event), Some(at)) = (record.number("event"), record.number("received_at")) else { return Ok(false) };
        let repeated = record.text("verdict") == Some(Verdict::Duplicate.as_str());
        Ok(repeated && self.here.was_pruned(event, at)?)
    }

    /// Inserts it, or compares it with the one that is there. The unique keys decide.
    fn put(&mut self, record: &Record, source: i64) -> Result<Outcome, H::Error> {
        if self.here.insert(&settled(record, self.now), source)? {
            return Ok(Outcome::Entered);
        }
        // Whoever brought the same bytes here stays the first.
        if record.kind() == Kind::SignedBody {
            return Ok(self.here.by_key(record)?.map_or(Outcome::Kept, |there| record.against(&there)));
        }
        // Another key that only one may have (a lease, a key of an effect) is taken where it is not this one.
        let taken = Outcome::Contradicts(Contradiction::NumberTaken);
        Ok(self.here.by_key(record)?.map_or(taken, |there| record.against(&there)))
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
    fn counter(&mut self, record: &Record) -> Result<Outcome, H::Error> {
        self.write_tallies()?;
        let source = self.source_row(record)?;
        let (counter, n) = (record.text("counter").unwrap_or_default(), record.number("n").unwrap_or_default());
        let Some(verdict) = Verdict::from_word(counter) else {
            return Ok(Outcome::Contradicts(Contradiction::Differs));
        };
        if self.counts.is_none() {
            self.counts = Some(self.here.counts()?);
        }
        let sums = self.counts.get_or_insert_default();
        let here = sums.entry((source, counter.to_owned())).or_default();
        let outcome = match n.cmp(here) {
            std::cmp::Ordering::Greater => Outcome::Entered,
            std::cmp::Ordering::Equal => Outcome::Same,
            std::cmp::Ordering::Less => Outcome::Kept,
        };
        if n > *here {
            // Of the instants nothing is known.
            let at = Timestamp::from_micros(0);
            self.here.count_gone(at, source.unwrap_or_default(), verdict, n - *here)?;
            *here = n;
        }
        Ok(outcome)
    }

    fn write_tallies(&mut self) -> Result<(), H::Error> {
        for (at, tally) in std::mem::take(&mut self.tallies) {
            self.here.count(Timestamp::from_micros(at), &tally)?;
            self.counts = None;
        }
        Ok(())
    }
}

/// The record as it enters at this instant: what runs elsewhere does not run here.
fn settled(record: &Record, now: Timestamp) -> Record {
    let later = |since: &str| Value::Number(record.number(since).unwrap_or(i64::MIN).max(now.as_micros()));
    let word = |word: &str| Value::Text(word.to_owned());
    match record.kind() {
        Kind::Job if record.text("state") == Some("running") => record
            .clone()
            .with("state", word("pending"))
            .with("due_at", Value::Number(now.as_micros()))
            .with("lease", Value::Null)
            .with("lease_until", Value::Null)
            .with("worker", Value::Null)
            // Losing it is no fault of the job: it has its attempt back, as after a restore.
            .with("attempts", Value::Number((record.number("attempts").unwrap_or_default() - 1).max(0)))
            .with("reason", word(""))
            .with("changed_at", later("changed_at")),
        Kind::Attempt if record.number("ended_at").is_none() => {
            let ended = record.clone().with("ended_at", later("started_at")).with("outcome", word("lease_lost"));
            ended.with("to_state", word("pending")).with("to_due", Value::Number(now.as_micros()))
        }
        // As `Ledger::void_lease` does: nobody may send any more, and what was sent may happen. Its tries stay open.
        Kind::Effect if record.text("state") == Some(EffectState::Intended.as_str()) => record
            .clone()
            .with("state", word(EffectState::Unknown.as_str()))
            .with("reason", word(Reason::LeaseEnded.as_str()))
            .with("changed_at", later("changed_at")),
        // Money is held by open tries, of some day.
        Kind::EffectTry if record.number("reserved_day").is_none() || record.text("outcome").is_some() => {
            record.clone().with("reserved_micros", Value::Null).with("reserved_day", Value::Null)
        }
        _ => record.clone(),
    }
}
