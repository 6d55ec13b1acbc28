//! What a person says about the other contents under an identity.

use cola_ia_core::intake::EventNumber;
use cola_ia_core::store;
use cola_ia_core::store::{Decision, ResolveRequest};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::intake::IdText;
use super::values::{DecisionWord, Instant, StateWord, VerdictWord};

/// What is to become of conflicts of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResolveAsk {
    /// The event's number.
    pub event: i64,
    /// Which of its conflicts, by number; none: the one that is undecided, which must be exactly one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<u32>,
    /// `keep`: it stays a conflict, and is no alarm any more; `accept`: its content becomes a revision of the event; `as`: it
    /// enters as an event of its own.
    pub decision: DecisionWord,
    /// For `accept`: where the job is no longer pending, give it a new run.
    #[serde(default)]
    pub run: bool,
    /// For `as`: the id under which it enters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<IdText>,
    /// Why, in a person's words; at most 4,096 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl From<ResolveRequest> for ResolveAsk {
    fn from(request: ResolveRequest) -> Self {
        let decision = DecisionWord(request.decision.kind());
        let (run, id) = match request.decision {
            Decision::Keep => (false, None),
            Decision::Accept { run } => (run, None),
            Decision::As(id) => (false, Some(IdText(id))),
        };
        Self { event: request.event.0, conflicts: request.conflicts, decision, run, id, note: request.note }
    }
}

impl ResolveAsk {
    /// The request; `None`: `as` without an id.
    pub fn read(self) -> Option<ResolveRequest> {
        let decision = match self.decision.0 {
            store::DecisionKind::Keep => Decision::Keep,
            store::DecisionKind::Accept => Decision::Accept { run: self.run },
            store::DecisionKind::As => Decision::As(self.id?.0),
        };
        Some(ResolveRequest { event: EventNumber(self.event), conflicts: self.conflicts, decision, note: self.note })
    }
}

/// What became of conflicts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Resolved {
    /// When it was decided.
    pub decided_at: Instant,
    /// The conflicts that were decided.
    pub conflicts: Vec<u32>,
    /// The event's newest revision now; 1 is the content that entered.
    pub revision: u32,
    /// Where the event's job stands now.
    pub state: StateWord,
    /// Its run now.
    pub run: u32,
    /// Whether this gave it a new run.
    pub rerun: bool,
    /// What the gate said to the content under its new id; only for `as`.
    pub entered: Option<EnteredAs>,
}

/// What the gate said to a content under its new id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EnteredAs {
    /// `new` or `duplicate`.
    pub verdict: VerdictWord,
    /// The event there.
    pub event: i64,
}

impl From<store::Resolved> for Resolved {
    fn from(resolved: store::Resolved) -> Self {
        let entered = |(verdict, event): (_, EventNumber)| EnteredAs { verdict: VerdictWord(verdict), event: event.0 };
        Self {
            decided_at: Instant(resolved.decided_at),
            conflicts: resolved.conflicts,
            revision: resolved.revision,
            state: StateWord(resolved.state),
            run: resolved.run,
            rerun: resolved.rerun,
            entered: resolved.entered.map(entered),
        }
    }
}

impl From<Resolved> for store::Resolved {
    fn from(resolved: Resolved) -> Self {
        Self {
            decided_at: resolved.decided_at.0,
            conflicts: resolved.conflicts,
            revision: resolved.revision,
            state: resolved.state.0,
            run: resolved.run,
            rerun: resolved.rerun,
            entered: resolved.entered.map(|entered| (entered.verdict.0, EventNumber(entered.event))),
        }
    }
}

#[cfg(test)]
mod tests {
    use cola_ia_core::clock::Timestamp;
    use cola_ia_core::event::EventId;
    use cola_ia_core::job::JobState;
    use cola_ia_core::verdict::Verdict;

    use super::*;

    #[test]
    fn requests_and_answers_are_read_as_they_were_written() {
        let decisions = [
            Decision::Keep,
            Decision::Accept { run: false },
            Decision::Accept { run: true },
            Decision::As(EventId::new("b").unwrap()),
        ];
        for decision in decisions {
            let request = ResolveRequest {
                event: EventNumber(4),
                conflicts: vec![2, 1],
                decision,
                note: Some("porque sí".to_owned()),
            };
            let json = serde_json::to_string(&ResolveAsk::from(request.clone())).unwrap();
            assert_eq!(serde_json::from_str::<ResolveAsk>(&json).unwrap().read(), Some(request), "{json}");
        }
        for entered in [None, Some((Verdict::Duplicate, EventNumber(9)))] {
            let resolved = store::Resolved {
                decided_at: Timestamp::from_micros(5),
                conflicts: vec![1],
                revision: 2,
                state: JobState::Pending,
                run: 3,
                rerun: true,
                entered,
            };
            let json = serde_json::to_string(&Resolved::from(resolved.clone())).unwrap();
            assert_eq!(store::Resolved::from(serde_json::from_str::<Resolved>(&json).unwrap()), resolved);
        }
        let unnamed: ResolveAsk = serde_json::from_str(r#"{"event":1,"decision":"as"}"#).unwrap();
        assert_eq!(unnamed.read(), None);
    }
}
