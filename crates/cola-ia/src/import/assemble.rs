//! Records into batches: an event with what belongs to it stays together.

use std::collections::BTreeSet;

use cola_ia_core::store::export::{Kind, Record};

/// Records and weight after which a batch goes.
const BATCH_RECORDS: usize = 5_000;
const BATCH_BYTES: usize = 8 << 20;

/// A record of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// Its line.
    pub(super) line: u64,
    pub(super) record: Record,
    /// It stands here again because more of what belongs to it follows.
    pub(super) is_repeated: bool,
}

/// An event with what belongs to it, as far as it was read.
#[derive(Debug)]
struct Group {
    event: Member,
    /// What was pruned of it says how its deliveries are to be taken.
    pruned: Option<Member>,
    number: i64,
    /// All but the event; its first part may have gone already.
    members: Vec<Member>,
    weight: usize,
    has_job: bool,
    effects: BTreeSet<i64>,
    /// A part of it has gone.
    is_begun: bool,
    /// A line of it may be lost.
    is_spoilt: bool,
}

/// Takes records one by one and gives batches.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    ready: Vec<Member>,
    weight: usize,
    group: Option<Group>,
}

/// A line that is refused, and why.
type Refused = (u64, &'static str);

impl Assembler {
    /// Takes a record. Answers the lines that are refused because of it.
    pub(super) fn take(&mut self, line: u64, record: Record) -> Vec<Refused> {
        let member = Member { line, record, is_repeated: false };
        let kind = member.record.kind();
        match (kind, member.record.event()) {
            (Kind::Event, Some(number)) => {
                let refused = self.close();
                self.group = Some(Group {
                    number: number.0,
                    weight: member.record.weight(),
                    event: member,
                    pruned: None,
                    members: Vec::new(),
                    has_job: false,
                    effects: BTreeSet::new(),
                    is_begun: false,
                    is_spoilt: false,
                });
                refused
            }
            (Kind::Source | Kind::Budget | Kind::Counter | Kind::Money, _) | (Kind::Delivery, None) => {
                let refused = self.close();
                self.push(member);
                refused
            }
            _ => self.add(member).map_or_else(Vec::new, |refused| vec![refused]),
        }
    }

    /// Adds what belongs to the event that is open.
    fn add(&mut self, member: Member) -> Option<Refused> {
        let refused = Some((member.line, "export_order"));
        let Some(group) = &mut self.group else { return refused };
        let record = &member.record;
        let effect = matches!(record.kind(), Kind::Effect | Kind::EffectTry | Kind::EffectRecord);
        let effect = effect.then(|| record.number("effect").unwrap_or_default());
        let belongs = match record.kind() {
            Kind::EffectTry | Kind::EffectRecord => effect.is_some_and(|effect| group.effects.contains(&effect)),
            _ => record.event().is_some_and(|event| event.0 == group.number),
        };
        // The job stands right behind its event.
        if !belongs || (record.kind() == Kind::Job) == group.has_job {
            group.is_spoilt = true;
            return refused;
        }
        group.has_job = true;
        group.effects.extend(effect);
        group.weight += record.weight();
        if record.kind() == Kind::Pruned {
            group.pruned = Some(member.clone());
        }
        let is_many = matches!(record.kind(), Kind::Conflict | Kind::Delivery);
        group.members.push(member);
        // What its senders made many is let go in parts; all else came before.
        if is_many && !group.is_spoilt && (group.members.len() >= BATCH_RECORDS || group.weight >= BATCH_BYTES) {
            self.let_go();
        }
        None
    }

    /// Nothing more belongs to the event that is open. Answers the lines that are refused with it.
    pub(super) fn close(&mut self) -> Vec<Refused> {
        let Some(group) = &self.group else { return Vec::new() };
        if !group.is_begun && (group.is_spoilt || !group.has_job) {
            let line = group.event.line;
            self.group = None;
            return vec![(line, "export_incomplete")];
        }
        self.let_go();
        self.group = None;
        Vec::new()
    }

    /// A line was lost that may have belonged to the event that is open.
    pub(super) fn spoil(&mut self) {
        if let Some(group) = &mut self.group {
            group.is_spoilt = true;
        }
    }

    /// Makes what is there of the open event ready.
    fn let_go(&mut self) {
        let Some(group) = &mut self.group else { return };
        let event = Member { is_repeated: group.is_begun, ..group.event.clone() };
        let pruned = group.pruned.clone().filter(|_| group.is_begun);
        let members = std::mem::take(&mut group.members);
        group.is_begun = true;
        group.weight = 0;
        self.push(event);
        if let Some(pruned) = pruned {
            self.push(Member { is_repeated: true, ..pruned });
        }
        for member in members {
            self.push(member);
        }
    }

    fn push(&mut self, member: Member) {
        self.weight += member.record.weight();
        self.ready.push(member);
    }

    /// Whether a batch is full.
    pub(super) fn is_due(&self) -> bool {
        self.ready.len() >= BATCH_RECORDS || self.weight >= BATCH_BYTES
    }

    /// The batch, given away.
    pub(super) fn ready(&mut self) -> Vec<Member> {
        self.weight = 0;
        std::mem::take(&mut self.ready)
    }
}

#[cfg(test)]
mod tests {
    use cola_ia_core::store::export::Value;

    use super::*;

    /// A record of this kind with this in its number fields, and as little as can be else.
    fn record(kind: Kind, event: i64, number: i64) -> Record {
        use cola_ia_core::store::export::Shape;
        let values = kind.fields().iter().map(|field| match (field.name, field.shape) {
            ("event", _) => Value::Number(event),
            ("number", _) if kind == Kind::Event => Value::Number(event),
            ("number" | "effect" | "attempt", _) => Value::Number(number),
            _ if field.nullable => Value::Null,
            (_, Shape::Number | Shape::UpTo(_) | Shape::Flag | Shape::Instant | Shape::Day) => Value::Number(1),
            (_, Shape::Text | Shape::EffectName | Shape::Id | Shape::Type | Shape::Content | Shape::Source) => {
                Value::Text("a".into())
            }
            (_, Shape::Word(words)) => Value::Text(words[0].into()),
            (_, Shape::Bytes(length)) => Value::Bytes(vec![0; length]),
            (_, Shape::Output) => Value::Bytes(Vec::new()),
        });
        Record::new(kind, values.collect()).unwrap()
    }

    struct Taking {
        assembler: Assembler,
        line: u64,
        refused: Vec<Refused>,
    }

    impl Taking {
        fn new() -> Self {
            Self { assembler: Assembler::default(), line: 0, refused: Vec::new() }
        }

        fn take(&mut self, kind: Kind, event: i64, number: i64) -> &mut Self {
            self.line += 1;
            let refused = self.assembler.take(self.line, record(kind, event, number));
            self.refused.extend(refused);
            self
        }

        fn ready(&mut self) -> Vec<u64> {
            self.assembler.ready().iter().map(|member| member.line).collect()
        }
    }

    #[test]
    fn an_event_is_held_until_something_else_follows() {
        let mut taking = Taking::new();
        taking.take(Kind::Source, 0, 0).take(Kind::Event, 1, 0).take(Kind::Job, 1, 0).take(Kind::Conflict, 1, 1);
        assert_eq!(taking.ready(), [1]);
        taking.take(Kind::Event, 2, 0);
        assert_eq!(taking.ready(), [2, 3, 4]);
        taking.take(Kind::Job, 2, 0);
        assert_eq!(taking.ready(), [0_u64; 0]);
        assert_eq!(taking.assembler.close(), []);
        assert_eq!((taking.ready(), taking.refused), (vec![5, 6], vec![]));
    }

    #[test]
    fn an_event_with_a_lost_line_stays_out_whole() {
        let mut taking = Taking::new();
        taking.take(Kind::Event, 1, 0).take(Kind::Job, 1, 0);
        taking.assembler.spoil();
        taking.take(Kind::Delivery, 1, 9).take(Kind::Event, 2, 0).take(Kind::Job, 2, 0).take(Kind::Counter, 0, 0);
        assert_eq!(taking.refused, [(1, "export_incomplete")]);
        assert_eq!(taking.ready(), [4, 5, 6]);
    }

    #[test]
    fn what_belongs_to_nothing_is_refused() {
        for lines in [
            vec![(Kind::Job, 1, 0)],
            vec![(Kind::Event, 1, 0), (Kind::Conflict, 1, 1)],
            vec![(Kind::Event, 1, 0), (Kind::Job, 1, 0), (Kind::Job, 1, 0)],
            vec![(Kind::Event, 1, 0), (Kind::Job, 1, 0), (Kind::Conflict, 2, 1)],
            vec![(Kind::Event, 1, 0), (Kind::Job, 1, 0), (Kind::EffectTry, 0, 1)],
            vec![(Kind::Event, 1, 0), (Kind::Job, 1, 0), (Kind::EffectRecord, 0, 1)],
        ] {
            let mut taking = Taking::new();
            for (kind, event, number) in &lines {
                taking.take(*kind, *event, *number);
            }
            taking.take(Kind::Counter, 0, 0);
            assert_eq!(taking.refused[0], (lines.len() as u64, "export_order"), "{lines:?}");
            assert_eq!(taking.ready(), [lines.len() as u64 + 1], "{lines:?}");
        }
    }

    #[test]
    fn tries_and_records_belong_to_any_effect_of_their_event() {
        let mut taking = Taking::new();
        taking.take(Kind::Event, 1, 0).take(Kind::Job, 1, 0).take(Kind::Effect, 1, 7).take(Kind::Effect, 1, 8);
        taking.take(Kind::EffectTry, 0, 7).take(Kind::EffectTry, 0, 8).take(Kind::EffectRecord, 0, 7).take(
            Kind::Counter,
            0,
            0,
        );
        assert_eq!((taking.ready().len(), taking.refused), (8, vec![]));
    }

    #[test]
    fn what_belongs_to_one_event_goes_in_parts_behind_its_event() {
        let mut taking = Taking::new();
        taking.take(Kind::Event, 1, 0).take(Kind::Job, 1, 0);
        for number in 0..BATCH_RECORDS as i64 + 10 {
            taking.take(Kind::Delivery, 1, 10 + number);
        }
        assert!(taking.assembler.is_due());
        let first = taking.assembler.ready();
        assert_eq!(first.len(), BATCH_RECORDS + 1);
        assert!(first.iter().all(|member| !member.is_repeated));
        taking.take(Kind::Counter, 0, 0);
        let rest = taking.assembler.ready();
        assert_eq!((rest[0].line, rest[0].is_repeated, rest.len()), (1, true, 13));
        assert!(rest[1..].iter().all(|member| !member.is_repeated));
    }
}
