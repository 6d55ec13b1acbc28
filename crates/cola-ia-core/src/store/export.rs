//! What an export holds: the shape of every kind of record, in one place.
//!
//! An export is a series of records, each a row of what a store keeps, in words that no engine owns. The shapes below are
//! the only list: the JSON of `docs/EXPORT.md`, the columns that a store reads and writes, and how a record that comes is
//! compared with one that is there all follow from them. A column of a store that is in no shape fails a test.

use crate::effect::{COST_MAX_MICROS, EffectName};
use crate::event::{EventId, EventType, Source};
use crate::intake::EventNumber;

/// The version of the shapes. A program reads this one and older ones, and refuses newer ones before anything enters.
pub const EXPORT_VERSION: u32 = 1;

/// What a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A sender.
    Source,
    /// An identity with the content that entered.
    Event,
    /// The job that was born with the event.
    Job,
    /// A further content that a person accepted.
    Revision,
    /// One lease of the job by one worker.
    Attempt,
    /// One named external action of a run.
    Effect,
    /// One permission to send.
    EffectTry,
    /// What an effect made.
    EffectRecord,
    /// What a person decided about a conflict, each time.
    Decision,
    /// How many repeated deliveries were pruned.
    Pruned,
    /// Signed bytes that it came in, by which a replay under another id is known.
    SignedBody,
    /// Another content under the identity.
    Conflict,
    /// A handing-over that made no event.
    Delivery,
    /// The most that may be spent on a source's jobs in a day.
    Budget,
    /// How many there have been, those included that are no longer kept.
    Counter,
    /// Money and tokens of a day, a source and a model. What is at risk is not among them: it follows from the tries.
    Money,
}

impl Kind {
    /// All kinds, in the order of an export: sources, then each event with what belongs to it in this order, then refused
    /// deliveries, then budgets, counters and money.
    pub const ALL: [Self; 16] = [
        Self::Source,
        Self::Event,
        Self::Job,
        Self::Revision,
        Self::Attempt,
        Self::Effect,
        Self::EffectTry,
        Self::EffectRecord,
        Self::Decision,
        Self::Pruned,
        Self::SignedBody,
        Self::Conflict,
        Self::Delivery,
        Self::Budget,
        Self::Counter,
        Self::Money,
    ];

    /// The word in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Event => "event",
            Self::Job => "job",
            Self::Revision => "revision",
            Self::Attempt => "attempt",
            Self::Effect => "effect",
            Self::EffectTry => "effect_try",
            Self::EffectRecord => "effect_record",
            Self::Decision => "decision",
            Self::Pruned => "pruned",
            Self::SignedBody => "signed_body",
            Self::Conflict => "conflict",
            Self::Delivery => "delivery",
            Self::Budget => "budget",
            Self::Counter => "counter",
            Self::Money => "money",
        }
    }

    /// The kind that [`as_str`](Self::as_str) gives this word for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Its fields, in the order in which they are written.
    pub const fn fields(self) -> &'static [Field] {
        match self {
            Self::Source => SOURCE,
            Self::Event => EVENT,
            Self::Job => JOB,
            Self::Revision => REVISION,
            Self::Attempt => ATTEMPT,
            Self::Effect => EFFECT,
            Self::EffectTry => EFFECT_TRY,
            Self::EffectRecord => EFFECT_RECORD,
            Self::Decision => DECISION,
            Self::Pruned => PRUNED,
            Self::SignedBody => SIGNED_BODY,
            Self::Conflict => CONFLICT,
            Self::Delivery => DELIVERY,
            Self::Budget => BUDGET,
            Self::Counter => COUNTER,
            Self::Money => MONEY,
        }
    }
}

/// One field of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name in JSON.
    pub name: &'static str,
    /// What it holds.
    pub shape: Shape,
    /// Whether it may be `null`.
    pub nullable: bool,
    /// What it means when the record is there already.
    pub role: Role,
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A whole number.
    Number,
    /// A whole number from 0 to this one.
    UpTo(i64),
    /// `true` or `false`.
    Flag,
    /// Microseconds since 1970 in UTC.
    Instant,
    /// Days of UTC since 1970-01-01.
    Day,
    /// Text.
    Text,
    /// The id of an event.
    Id,
    /// The type of an event.
    Type,
    /// The text of an event: no U+0000.
    Content,
    /// The name of an effect.
    EffectName,
    /// One of these words.
    Word(&'static [&'static str]),
    /// The name of a source.
    Source,
    /// Bytes of this length, or of any: 0.
    Bytes(usize),
    /// Bytes that most often are text: what a program printed.
    Output,
}

/// What a field means when a record of this key is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A part of the key.
    Key,
    /// Never changes: two values contradict each other.
    Fixed,
    /// Changes while a store works: what is there stays.
    Changing,
    /// Changes too, and tells which of two records is the later one.
    Clock,
}

/// The highest number in a key: a store goes on counting above it.
pub const NUMBER_MAX: i64 = 1 << 62;

const STATES: &[&str] = &["pending", "running", "done", "failed", "held", "cancelled"];
const OUTCOMES: &[&str] = &["done", "error", "crashed", "timed_out", "released", "lease_lost"];
const DECISIONS: &[&str] = &["keep", "accept", "as"];
const EFFECT_STATES: &[&str] = &["intended", "done", "failed", "unknown", "held", "abandoned"];
const EFFECT_REASONS: &[&str] =
    &["reported", "lease_ended", "begun_again", "other_try_open", "restored", "nobody_can_tell", "job_ends"];
const ALARMS: &[&str] = &["late_evidence", "double_effect"];
const TRY_OUTCOMES: &[&str] = &["done", "rejected", "not_sent", "absent"];
const WITNESSES: &[&str] = &["sender", "lookup", "person"];

/// An amount of money, in millionths.
const MICROS: Shape = Shape::UpTo(COST_MAX_MICROS);
/// What is added up, or a duration.
const SUM: Shape = Shape::UpTo(i64::MAX);

const fn field(name: &'static str, shape: Shape, role: Role) -> Field {
    Field { name, shape, nullable: false, role }
}

const fn maybe(name: &'static str, shape: Shape, role: Role) -> Field {
    Field { name, shape, nullable: true, role }
}

use Role::{Changing, Clock, Fixed, Key};

const SOURCE: &[Field] = &[field("name", Shape::Source, Key)];

const EVENT: &[Field] = &[
    field("number", Shape::Number, Key),
    field("source", Shape::Source, Fixed),
    field("id", Shape::Id, Fixed),
    field("fingerprint", Shape::Bytes(32), Fixed),
    field("received_at", Shape::Instant, Fixed),
    maybe("time", Shape::Instant, Fixed),
    maybe("type", Shape::Type, Changing),
    maybe("erased_at", Shape::Instant, Clock),
    maybe("pruned_at", Shape::Instant, Changing),
    maybe("text", Shape::Content, Changing),
];

const JOB: &[Field] = &[
    field("event", Shape::Number, Key),
    field("state", Shape::Word(STATES), Changing),
    maybe("due_at", Shape::Instant, Changing),
    field("run", Shape::Number, Changing),
    field("attempts", Shape::Number, Changing),
    field("crashes", Shape::Number, Changing),
    field("reason", Shape::Text, Changing),
    maybe("lease", Shape::Bytes(0), Changing),
    maybe("lease_until", Shape::Instant, Changing),
    maybe("worker", Shape::Text, Changing),
    maybe("changed_at", Shape::Instant, Clock),
    maybe("resource_id", Shape::Text, Changing),
    maybe("result", Shape::Text, Changing),
    field("leases", Shape::Number, Changing),
];

const REVISION: &[Field] = &[
    field("event", Shape::Number, Key),
    field("number", Shape::Number, Key),
    field("fingerprint", Shape::Bytes(32), Fixed),
    field("accepted_at", Shape::Instant, Fixed),
    field("conflict", Shape::Number, Fixed),
    maybe("text", Shape::Content, Changing),
];

const ATTEMPT: &[Field] = &[
    field("attempt", Shape::Number, Key),
    field("event", Shape::Number, Fixed),
    field("run", Shape::Number, Fixed),
    field("number", Shape::Number, Fixed),
    field("lease", Shape::Bytes(0), Fixed),
    field("worker", Shape::Text, Fixed),
    field("started_at", Shape::Instant, Fixed),
    maybe("ended_at", Shape::Instant, Clock),
    maybe("outcome", Shape::Word(OUTCOMES), Changing),
    maybe("exit_code", Shape::Number, Changing),
    maybe("signal", Shape::Number, Changing),
    maybe("error_class", Shape::Text, Changing),
    maybe("error", Shape::Text, Changing),
    maybe("cost_micros", Shape::Number, Changing),
    maybe("tokens_in", Shape::Number, Changing),
    maybe("tokens_out", Shape::Number, Changing),
    maybe("model", Shape::Text, Changing),
    maybe("late", Shape::Text, Changing),
    maybe("stdout", Shape::Output, Changing),
    maybe("stderr", Shape::Output, Changing),
    maybe("to_state", Shape::Word(STATES), Changing),
    maybe("to_due", Shape::Instant, Changing),
];

const EFFECT: &[Field] = &[
    field("effect", Shape::Number, Key),
    field("event", Shape::Number, Fixed),
    field("run", Shape::Number, Fixed),
    field("name", Shape::EffectName, Fixed),
    field("key", Shape::Text, Fixed),
    field("state", Shape::Word(EFFECT_STATES), Changing),
    maybe("reason", Shape::Word(EFFECT_REASONS), Changing),
    maybe("key_ttl", SUM, Fixed),
    field("lookup", Shape::Flag, Fixed),
    field("settle", SUM, Fixed),
    field("otherwise", Shape::Word(&["hold", "retry"]), Fixed),
    maybe("retry_below", MICROS, Fixed),
    field("begun_at", Shape::Instant, Fixed),
    field("changed_at", Shape::Instant, Clock),
    field("look_first", Shape::Flag, Changing),
    maybe("alarm", Shape::Word(ALARMS), Changing),
    maybe("note", Shape::Text, Changing),
    field("replays", Shape::UpTo(u32::MAX as i64), Changing),
    maybe("replayed_to", Shape::Bytes(18), Changing),
];

const EFFECT_TRY: &[Field] = &[
    field("effect", Shape::Number, Key),
    field("number", Shape::Number, Key),
    maybe("begin_id", Shape::Bytes(16), Fixed),
    maybe("attempt", Shape::Number, Fixed),
    maybe("request", Shape::Bytes(32), Fixed),
    field("begun_at", Shape::Instant, Fixed),
    field("send_before", Shape::Instant, Fixed),
    field("deadline", Shape::Instant, Fixed),
    maybe("key_until", Shape::Instant, Fixed),
    maybe("outcome", Shape::Word(TRY_OUTCOMES), Changing),
    maybe("expected_micros", MICROS, Fixed),
    maybe("reserved_micros", MICROS, Changing),
    maybe("reserved_day", Shape::Day, Changing),
];

const EFFECT_RECORD: &[Field] = &[
    field("effect", Shape::Number, Key),
    field("number", Shape::Number, Key),
    maybe("try", Shape::Number, Fixed),
    field("at", Shape::Instant, Fixed),
    field("witness", Shape::Word(WITNESSES), Fixed),
    maybe("resource_id", Shape::Text, Changing),
    maybe("result", Shape::Text, Changing),
    maybe("cost_micros", MICROS, Fixed),
    maybe("tokens_in", Shape::Number, Fixed),
    maybe("tokens_out", Shape::Number, Fixed),
    maybe("model", Shape::Text, Fixed),
    field("charged_micros", MICROS, Fixed),
    field("day", Shape::Day, Fixed),
];

const DECISION: &[Field] = &[
    field("event", Shape::Number, Key),
    field("conflict", Shape::Number, Key),
    field("number", Shape::Number, Key),
    field("decision", Shape::Word(DECISIONS), Fixed),
    field("decided_at", Shape::Instant, Fixed),
    maybe("entered", Shape::Number, Fixed),
    maybe("note", Shape::Text, Changing),
];

const PRUNED: &[Field] = &[
    field("event", Shape::Number, Key),
    field("count", Shape::Number, Changing),
    field("first_at", Shape::Instant, Changing),
    field("last_at", Shape::Instant, Changing),
];

const SIGNED_BODY: &[Field] = &[field("event", Shape::Number, Key), field("body", Shape::Bytes(32), Key)];

const CONFLICT: &[Field] = &[
    field("event", Shape::Number, Key),
    field("number", Shape::Number, Key),
    field("fingerprint", Shape::Bytes(32), Fixed),
    field("first_at", Shape::Instant, Fixed),
    field("last_at", Shape::Instant, Clock),
    field("count", Shape::Number, Changing),
    maybe("time", Shape::Instant, Fixed),
    maybe("type", Shape::Type, Changing),
    maybe("decision", Shape::Word(DECISIONS), Changing),
    maybe("decided_at", Shape::Instant, Clock),
    maybe("note", Shape::Text, Changing),
    maybe("text", Shape::Content, Changing),
];

const DELIVERY: &[Field] = &[
    field("number", Shape::Number, Key),
    maybe("event", Shape::Number, Fixed),
    maybe("source", Shape::Source, Fixed),
    field("verdict", Shape::Word(&["duplicate", "conflict", "invalid"]), Fixed),
    field("received_at", Shape::Instant, Fixed),
    maybe("time", Shape::Instant, Fixed),
    maybe("type", Shape::Type, Changing),
    maybe("conflict", Shape::Number, Fixed),
    maybe("code", Shape::Text, Fixed),
    maybe("detail", Shape::Text, Changing),
    maybe("origin", Shape::Text, Changing),
    maybe("decided", Shape::Flag, Fixed),
    maybe("replayed", Shape::Flag, Fixed),
    field("count", Shape::Number, Fixed),
];

const COUNTER: &[Field] =
    &[maybe("source", Shape::Source, Key), field("counter", Shape::Text, Key), field("n", Shape::Number, Changing)];

const BUDGET: &[Field] = &[field("source", Shape::Source, Key), field("limit_micros", MICROS, Changing)];

const MONEY: &[Field] = &[
    field("day", Shape::Day, Key),
    field("source", Shape::Source, Key),
    field("model", Shape::Text, Key),
    field("costs", SUM, Changing),
    field("spent", SUM, Changing),
    field("tokens_in", SUM, Changing),
    field("tokens_out", SUM, Changing),
    field("replays", SUM, Changing),
    field("replayed", SUM, Changing),
];

/// What a field of a record holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// Nothing.
    Null,
    /// A number, an instant in microseconds, a day, or a flag: 0 or 1.
    Number(i64),
    /// Text, a word, or the name of a source.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Value {
    /// What it weighs in memory, about.
    pub const fn weight(&self) -> usize {
        match self {
            Self::Null | Self::Number(_) => 8,
            Self::Text(text) => 8 + text.len(),
            Self::Bytes(bytes) => 8 + bytes.len(),
        }
    }
}

impl Field {
    /// Whether this value may stand here.
    pub fn takes(&self, value: &Value) -> bool {
        match (self.shape, value) {
            (_, Value::Null) => self.nullable,
            (Shape::Number, Value::Number(number)) => self.role != Key || (1..=NUMBER_MAX).contains(number),
            (Shape::UpTo(most), Value::Number(number)) => (0..=most).contains(number),
            (Shape::Instant | Shape::Day, Value::Number(_))
            | (Shape::Text, Value::Text(_))
            | (Shape::Output, Value::Bytes(_)) => true,
            (Shape::Flag, Value::Number(number)) => matches!(number, 0 | 1),
            (Shape::Id, Value::Text(id)) => EventId::new(id.as_str()).is_ok(),
            (Shape::Type, Value::Text(name)) => EventType::new(name.as_str()).is_ok(),
            (Shape::Content, Value::Text(text)) => !text.as_bytes().contains(&0),
            (Shape::EffectName, Value::Text(name)) => EffectName::new(name).is_some(),
            (Shape::Word(words), Value::Text(text)) => words.contains(&text.as_str()),
            (Shape::Source, Value::Text(text)) => Source::new(text).is_ok(),
            (Shape::Bytes(length), Value::Bytes(bytes)) => length == 0 || bytes.len() == length,
            _ => false,
        }
    }
}

/// One record: a value for each field of its kind, each of the field's shape.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Record {
    kind: Kind,
    values: Vec<Value>,
}

impl Record {
    /// A record of these values, in the order of the kind's fields.
    ///
    /// # Errors
    /// The name of the first field that has not its shape; empty where there are too many values or too few.
    pub fn new(kind: Kind, values: Vec<Value>) -> Result<Self, &'static str> {
        if values.len() != kind.fields().len() {
            return Err("");
        }
        match kind.fields().iter().zip(&values).find(|(field, value)| !field.takes(value)) {
            Some((field, _)) => Err(field.name),
            None => Ok(Self { kind, values }),
        }
    }

    /// What it is about.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Its values, in the order of the kind's fields.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The value of this field.
    ///
    /// # Panics
    /// Where the kind has no such field: a mistake of the program.
    pub fn get(&self, name: &str) -> &Value {
        let place = self.kind.fields().iter().position(|field| field.name == name);
        &self.values[place.expect("the kind has this field")]
    }

    /// With another value in this field.
    ///
    /// # Panics
    /// Where the kind has no such field, or it does not take the value: a mistake of the program.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Self {
        let place = self.kind.fields().iter().position(|field| field.name == name).expect("the kind has this field");
        assert!(self.kind.fields()[place].takes(&value), "{name} takes {value:?}");
        self.values[place] = value;
        self
    }

    /// The number in this field; `None` where it is null.
    ///
    /// # Panics
    /// Where the field holds no numbers: a mistake of the program.
    pub fn number(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Value::Number(number) => Some(*number),
            Value::Null => None,
            other => panic!("{name} is {other:?}, not a number"),
        }
    }

    /// The text in this field; `None` where it is null.
    ///
    /// # Panics
    /// Where the field holds no text: a mistake of the program.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Value::Text(text) => Some(text),
            Value::Null => None,
            other => panic!("{name} is {other:?}, not text"),
        }
    }

    /// The values of its key.
    pub fn key(&self) -> Vec<&Value> {
        self.with_role(Key).map(|(_, value)| value).collect()
    }

    fn with_role(&self, role: Role) -> impl Iterator<Item = (&'static Field, &Value)> {
        self.kind.fields().iter().zip(&self.values).filter(move |(field, _)| field.role == role)
    }

    /// The event that it belongs to or is; `None` for sources, tries and records (which belong to an effect), refused
    /// deliveries, budgets, counters and money.
    pub fn event(&self) -> Option<EventNumber> {
        let name = match self.kind {
            Kind::Event => "number",
            Kind::Job
            | Kind::Revision
            | Kind::Attempt
            | Kind::Effect
            | Kind::Decision
            | Kind::Pruned
            | Kind::SignedBody
            | Kind::Conflict
            | Kind::Delivery => "event",
            Kind::Source | Kind::EffectTry | Kind::EffectRecord | Kind::Budget | Kind::Counter | Kind::Money => {
                return None;
            }
        };
        self.number(name).map(EventNumber)
    }

    /// Whether it is an event that was erased.
    pub fn is_erased(&self) -> bool {
        self.kind == Kind::Event && *self.get("erased_at") != Value::Null
    }

    /// What it weighs in memory, about.
    pub fn weight(&self) -> usize {
        16 + self.values.iter().map(Value::weight).sum::<usize>()
    }

    /// What becomes of this record where `there`, with the same key, is kept already. Nothing of it is overwritten.
    pub fn against(&self, there: &Self) -> Outcome {
        if self.values == there.values {
            return Outcome::Same;
        }
        // Erasing takes the id away: it says nothing of whether the two are the same.
        let by_id = self.is_erased() == there.is_erased();
        let fixed = |record: &Self| {
            let fixed = record.with_role(Fixed).filter(|(field, _)| by_id || field.shape != Shape::Id);
            fixed.map(|(_, value)| value.clone()).collect::<Vec<_>>()
        };
        if fixed(self) != fixed(there) {
            return Outcome::Contradicts(Contradiction::Differs);
        }
        // Null stands before every instant.
        let clock = |record: &Self| record.with_role(Clock).map(|(_, value)| value.clone()).max();
        if clock(self) > clock(there) {
            return Outcome::Contradicts(Contradiction::Older);
        }
        Outcome::Kept
    }
}

/// What became of a record that was imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It was not there and is now.
    Entered,
    /// It was there just so.
    Same,
    /// It was there and has gone on since: what is there stays.
    Kept,
    /// It contradicts what is there, which stays.
    Contradicts(Contradiction),
}

/// How a record contradicts what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Contradiction {
    /// What never changes is different.
    Differs,
    /// What is there is older: the record knows of a later change.
    Older,
    /// Its number, or a key that only one may have, belongs to something else.
    NumberTaken,
    /// The identity is known as an event of another number.
    IdentityTaken,
    /// It belongs to an event or an effect that contradicts.
    Belongs,
}

impl Contradiction {
    /// All.
    pub const ALL: [Self; 5] = [Self::Differs, Self::Older, Self::NumberTaken, Self::IdentityTaken, Self::Belongs];

    /// The code in JSON and documentation, stable.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Differs => "import_differs",
            Self::Older => "import_older_here",
            Self::NumberTaken => "import_number_taken",
            Self::IdentityTaken => "import_identity_taken",
            Self::Belongs => "import_belongs",
        }
    }
}

/// What stands at the start of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportHead {
    /// The store's 16 bytes that are part of every effect's key.
    pub namespace: [u8; 16],
    /// The version of the store's schema. For people.
    pub schema: u32,
    /// The currency of all amounts, if the store has one.
    pub currency: Option<String>,
}

/// Where an export goes on. It belongs to the store that gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportCursor {
    /// Events and refused deliveries up to this number are exported.
    pub upto: i64,
    /// What comes next.
    pub next: ExportStage,
}

/// A place in an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportStage {
    /// Sources that the store numbers above this.
    Sources(i64),
    /// The event with the first number above this, with all that belongs to it.
    Events(i64),
    /// Conflicts of this event above this number, and its deliveries.
    Conflicts(i64, i64),
    /// Deliveries of this event above this number.
    Deliveries(i64, i64),
    /// Deliveries that were refused, above this number.
    Refused(i64),
    /// Budgets and counters.
    Counters,
    /// Money of days after this one, a day whole.
    Money(i64),
}

/// Most records of a page that is asked for. A page ends with an event; an event that has more than the page has left is in it
/// all the same, up to [`EXPORT_EVENT_MAX_RECORDS`].
pub const EXPORT_PAGE_MAX_RECORDS: u32 = 10_000;
/// Weight after which a page ends with the event that it is at.
pub const EXPORT_PAGE_MAX_BYTES: usize = 4 << 20;
/// Conflicts and deliveries of an event, together, of one page; what is more comes with the next one.
pub const EXPORT_EVENT_MAX_RECORDS: usize = 20_000;
/// Weight of the conflicts and deliveries of an event in one page.
pub const EXPORT_EVENT_MAX_BYTES: usize = 16 << 20;

/// One page of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportPage {
    /// What the store is.
    pub head: ExportHead,
    /// The records. May be empty though more follows.
    pub records: Vec<Record>,
    /// Where it goes on; `None` where it is over.
    pub next: Option<ExportCursor>,
}

/// Records to import, from an export of this namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportBatch {
    /// The namespace of the export.
    pub namespace: [u8; 16],
    /// The currency of its amounts.
    pub currency: Option<String>,
    /// At most [`IMPORT_MAX_RECORDS`], in the order of the export.
    pub records: Vec<Record>,
}

/// Most records of one import.
pub const IMPORT_MAX_RECORDS: usize = 50_000;

/// The answer to an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// What became of each record, in its order.
    pub outcomes: Vec<Outcome>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conflict() -> Record {
        let (at, null) = (Value::Number(5), Value::Null);
        let fingerprint = Value::Bytes(vec![0; 32]);
        let one = Value::Number(1);
        let values = vec![
            one.clone(),
            one.clone(),
            fingerprint,
            at.clone(),
            at,
            one,
            null.clone(),
            null.clone(),
            null.clone(),
            null.clone(),
            null,
            Value::Text("x".into()),
        ];
        Record::new(Kind::Conflict, values).unwrap()
    }

    #[test]
    fn every_kind_is_told_apart_and_has_a_key() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_word(kind.as_str()), Some(kind));
            assert!(kind.fields().iter().any(|field| field.role == Role::Key), "{kind:?}");
        }
    }

    #[test]
    fn words_are_those_of_the_ledger() {
        use crate::effect::{Alarm, EffectState, Reason, TryOutcome, Witness};
        assert_eq!(EFFECT_STATES, EffectState::ALL.map(EffectState::as_str));
        assert_eq!(EFFECT_REASONS, Reason::ALL.map(Reason::as_str));
        assert_eq!(ALARMS, Alarm::ALL.map(Alarm::as_str));
        assert_eq!(TRY_OUTCOMES, TryOutcome::ALL.map(TryOutcome::as_str));
        assert_eq!(WITNESSES, Witness::ALL.map(Witness::as_str));
    }

    #[test]
    fn what_the_ledger_could_not_read_is_no_value() {
        let field = |kind: Kind, name| *kind.fields().iter().find(|field| field.name == name).unwrap();
        let micros = field(Kind::EffectTry, "reserved_micros");
        for (number, takes) in [(0, true), (COST_MAX_MICROS, true), (-1, false), (COST_MAX_MICROS + 1, false)] {
            assert_eq!(micros.takes(&Value::Number(number)), takes, "{number}");
        }
        let name = field(Kind::Effect, "name");
        assert!(name.takes(&Value::Text("publish".into())) && !name.takes(&Value::Text("Publish".into())));
    }

    #[test]
    fn a_value_of_another_shape_is_named() {
        let values = |name: &str| vec![Value::Text(name.to_owned())];
        assert!(Record::new(Kind::Source, values("web")).is_ok());
        assert_eq!(Record::new(Kind::Source, values("Web")), Err("name"));
        assert_eq!(Record::new(Kind::Source, vec![Value::Null]), Err("name"));
        assert_eq!(Record::new(Kind::Source, vec![]), Err(""));
    }

    #[test]
    fn an_event_that_was_erased_here_stays_erased() {
        let text = |text: &str| Value::Text(text.to_owned());
        let fingerprint = Value::Bytes(vec![0; 32]);
        let values = vec![
            Value::Number(1),
            text("web"),
            text("a"),
            fingerprint,
            Value::Number(5),
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            text("x"),
        ];
        let whole = Record::new(Kind::Event, values).unwrap();
        let erased =
            whole.clone().with("id", text("hash")).with("text", Value::Null).with("erased_at", Value::Number(7));
        assert_eq!(whole.against(&erased), Outcome::Kept);
        assert_eq!(erased.against(&whole), Outcome::Contradicts(Contradiction::Older));
        let another = erased.clone().with("id", text("another"));
        assert_eq!(another.against(&erased), Outcome::Contradicts(Contradiction::Differs));
        let earlier = whole.with("received_at", Value::Number(4));
        assert_eq!(earlier.against(&erased), Outcome::Contradicts(Contradiction::Differs));
    }

    #[test]
    fn what_is_there_stays_and_what_never_changes_contradicts() {
        let there = conflict();
        assert_eq!(conflict().against(&there), Outcome::Same);
        assert_eq!(conflict().with("text", Value::Null).against(&there), Outcome::Kept);
        assert_eq!(conflict().with("last_at", Value::Number(4)).against(&there), Outcome::Kept);
        let older = Outcome::Contradicts(Contradiction::Older);
        assert_eq!(conflict().with("last_at", Value::Number(6)).against(&there), older);
        assert_eq!(conflict().with("decided_at", Value::Number(6)).against(&there), older);
        let differs = Outcome::Contradicts(Contradiction::Differs);
        assert_eq!(conflict().with("fingerprint", Value::Bytes(vec![1; 32])).against(&there), differs);
        assert_eq!(conflict().with("time", Value::Number(1)).against(&there), differs);
    }
}
