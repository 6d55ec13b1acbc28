//! What workers and people say of effects, and what they are answered.

use std::time::Duration;

use cola_ia_core::effect::{self, Begin, BeginAnswer, BeginId, Go, Policy, Refused, ReportAnswer, SettleAnswer};
use cola_ia_core::intake::EventNumber;
use cola_ia_core::store;
use cola_ia_core::store::{EffectBegun, Failure, Looked};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Carry;
use super::effect::{EffectEvidence, EffectPolicy, EffectRecord};
use super::lease::Retry;
use super::shape::shape;
use super::values::{Amount, EffectNameText, Hex, Instant, LeaseHex, ReasonWord, SourceName, Span};

/// A question for permission to send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BeginAsk {
    /// The lease of the job.
    pub lease: LeaseHex,
    /// The effect's name within the run.
    pub name: EffectNameText,
    /// The same for repetitions of one call, and for nothing else: drawn anew by each process that will send. The
    /// `Idempotency-Key` where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin_id: Option<Hex<16>>,
    /// What may be done where the outcome is unknown; nothing but to ask a person, where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<EffectPolicy>,
    /// SHA-256 of what will be sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Hex<32>>,
    /// The most it may cost. Needed where the source has a budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_micros: Option<Amount>,
    /// How long from now it may still be sent, in microseconds; 30 seconds where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_within_micros: Option<Span>,
    /// The longest time that the call may take after that, in microseconds; 5 minutes where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_time_micros: Option<Span>,
    /// Where a job goes that this ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
}

/// How long an effect may still be sent, where nothing is said.
pub const SEND_WITHIN_DEFAULT: Duration = Duration::from_secs(30);
/// How long a call may take, where nothing is said.
pub const CALL_TIME_DEFAULT: Duration = Duration::from_mins(5);

impl From<Begin> for BeginAsk {
    fn from(begin: Begin) -> Self {
        Self {
            lease: LeaseHex(begin.lease),
            name: EffectNameText(begin.name),
            begin_id: Some(Hex(begin.begin_id.0)),
            policy: Some(begin.policy.into()),
            request: begin.request.carry(),
            expected_micros: begin.expected.carry(),
            send_within_micros: Some(begin.send_within.carry()),
            call_time_micros: Some(begin.call_time.carry()),
            retry: None,
        }
    }
}

impl BeginAsk {
    /// The question; `key` is the call's own.
    pub fn read(self, key: [u8; 16]) -> Begin {
        Begin {
            lease: self.lease.0,
            name: self.name.0,
            begin_id: BeginId(self.begin_id.map_or(key, |Hex(id)| id)),
            policy: self.policy.map_or_else(Policy::default, Policy::from),
            request: self.request.carry(),
            expected: self.expected_micros.carry(),
            send_within: self.send_within_micros.map_or(SEND_WITHIN_DEFAULT, Carry::carry),
            call_time: self.call_time_micros.map_or(CALL_TIME_DEFAULT, Carry::carry),
        }
    }
}

/// May it be sent?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BeginSaid {
    /// `go`: send it before `send_before`, with the key; then report. `done`: it has happened, use `record`. `check`: ask the
    /// destination what it has under the key, then resolve. `wait`: come back `until`. `held`: a person decides; the lease has
    /// ended. `used`: this begin id has made its try. `refused`: send nothing.
    pub result: String,
    /// The store's clock.
    pub at: Instant,
    /// The effect's key; empty where the lease was lost.
    pub key: String,
    /// `go`: the try's number, for the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#try: Option<u32>,
    /// `go`: send nothing from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_before: Option<Instant>,
    /// `go`: when the call must have ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Instant>,
    /// `go`: until when the destination knows the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_until: Option<Instant>,
    /// `check`: to resolve with, as the `try`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<u32>,
    /// `check`: when it can have been sent first; not there: earlier than the restored store knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun_at: Option<Instant>,
    /// `wait`: not before. `refused` for `budget`: when it resets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Instant>,
    /// `held`: why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<ReasonWord>,
    /// `refused`: why: `lease_lost`, `budget`, `cost_required`, `mismatch`, `other_policy`, `abandoned` or `too_many`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// `done`: what is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<EffectRecord>,
}

impl From<EffectBegun> for BeginSaid {
    fn from(begun: EffectBegun) -> Self {
        let said = |result: &str| Self {
            result: result.to_owned(),
            at: Instant(begun.at),
            key: begun.key.clone(),
            r#try: None,
            send_before: None,
            deadline: None,
            key_until: None,
            ticket: None,
            begun_at: None,
            until: None,
            reason: None,
            refused: None,
            record: None,
        };
        match begun.answer {
            BeginAnswer::Go(go) => Self {
                r#try: Some(go.number),
                send_before: Some(Instant(go.send_before)),
                deadline: Some(Instant(go.deadline)),
                key_until: go.key_until.map(Instant),
                ..said("go")
            },
            BeginAnswer::Done(recorded) => Self { record: Some((*recorded).into()), ..said("done") },
            BeginAnswer::Check { ticket, begun_at } => {
                Self { ticket: Some(ticket), begun_at: begun_at.map(Instant), ..said("check") }
            }
            BeginAnswer::Wait { until } => Self { until: Some(Instant(until)), ..said("wait") },
            BeginAnswer::Held(reason) => Self { reason: Some(ReasonWord(reason)), ..said("held") },
            BeginAnswer::Used => said("used"),
            BeginAnswer::Refused(refused) => {
                let until = match refused {
                    Refused::Budget { resets_at } => Some(Instant(resets_at)),
                    _ => None,
                };
                Self { refused: Some(refused_word(refused).to_owned()), until, ..said("refused") }
            }
        }
    }
}

const fn refused_word(refused: Refused) -> &'static str {
    match refused {
        Refused::LeaseLost => "lease_lost",
        Refused::Budget { .. } => "budget",
        Refused::CostRequired => "cost_required",
        Refused::OtherRequest => "mismatch",
        Refused::OtherPolicy => "other_policy",
        Refused::Abandoned => "abandoned",
        Refused::TooMany => "too_many",
    }
}

impl BeginSaid {
    /// The answer as it was given; `None` where it is none.
    pub fn read(self) -> Option<EffectBegun> {
        let answer = match &*self.result {
            "go" => BeginAnswer::Go(Go {
                number: self.r#try?,
                send_before: self.send_before?.0,
                deadline: self.deadline?.0,
                key_until: self.key_until.carry(),
            }),
            "done" => BeginAnswer::Done(Box::new(self.record?.into())),
            "check" => BeginAnswer::Check { ticket: self.ticket?, begun_at: self.begun_at.carry() },
            "wait" => BeginAnswer::Wait { until: self.until?.0 },
            "held" => BeginAnswer::Held(self.reason?.0),
            "used" => BeginAnswer::Used,
            "refused" => BeginAnswer::Refused(match self.refused.as_deref()? {
                "lease_lost" => Refused::LeaseLost,
                "budget" => Refused::Budget { resets_at: self.until?.0 },
                "cost_required" => Refused::CostRequired,
                "mismatch" => Refused::OtherRequest,
                "other_policy" => Refused::OtherPolicy,
                "abandoned" => Refused::Abandoned,
                "too_many" => Refused::TooMany,
                _ => return None,
            }),
            _ => return None,
        };
        Some(EffectBegun { at: self.at.0, key: self.key, answer })
    }
}

shape! {
    /// Which try of which effect a worker speaks of.
    pub struct EffectOf of store::EffectRef {
        /// The worker's lease.
        lease: LeaseHex,
        /// The effect's name within the run.
        name: EffectNameText,
        /// The try's number, as in `go`; for what a lookup found or did not find, the ticket of `check`.
        r#try = number: u32,
        /// The job that the lease was of. A store that was restored may not know the lease, and yet is told what happened.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        job: Option<RunOf>,
    }
}

shape! {
    /// A run of a job, by what every store knows it by.
    pub struct RunOf of store::JobRun {
        /// The event's source.
        source: SourceName,
        /// The event's id.
        id: String,
        /// The run, from 1.
        run: u32,
    }
}

/// It happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DoneAsk {
    /// Which try.
    #[serde(flatten)]
    pub of: EffectOf,
    /// What proves it.
    #[serde(flatten)]
    pub evidence: EffectEvidence,
    /// Where a job goes that this ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
}

/// It did not happen by this try.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FailedAsk {
    /// Which try.
    #[serde(flatten)]
    pub of: EffectOf,
    /// Why.
    pub failure: FailureWord,
    /// Why, for people; at most 4 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Where a job goes that this ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
}

/// Why an effect did not happen, as its sender knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureWord {
    /// The destination refused it for good.
    Rejected,
    /// Nothing was sent.
    NotSent,
}

impl From<Failure> for FailureWord {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Rejected => Self::Rejected,
            Failure::NotSent => Self::NotSent,
        }
    }
}

impl From<FailureWord> for Failure {
    fn from(failure: FailureWord) -> Self {
        match failure {
            FailureWord::Rejected => Self::Rejected,
            FailureWord::NotSent => Self::NotSent,
        }
    }
}

/// Its sender does not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UnknownAsk {
    /// Which try.
    #[serde(flatten)]
    pub of: EffectOf,
    /// Why, for people; at most 4 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Where a job goes that this ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
}

/// What a lookup brought that was started after a `check` answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LookedAsk {
    /// Which effect, with the ticket as the try.
    #[serde(flatten)]
    pub of: EffectOf,
    /// What is there; `null`: nothing is.
    pub found: Option<EffectEvidence>,
    /// Where a job goes that this ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
}

impl LookedAsk {
    /// What is said of a lookup.
    pub fn new(of: store::EffectRef, looked: Looked, retry: Retry) -> Self {
        let found = match looked {
            Looked::Found(evidence) => Some(evidence.into()),
            Looked::Absent => None,
        };
        Self { of: of.into(), found, retry: Some(retry) }
    }
}

/// The answer to a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReportSaid {
    /// `recorded`; `lease_lost`: evidence that it happened was recorded all the same; `wait`: an absence counts from `until` on;
    /// `void`: it speaks of what is over; `missing`: there is no such effect or try.
    pub result: String,
    /// Not before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Instant>,
}

impl From<ReportAnswer> for ReportSaid {
    fn from(answer: ReportAnswer) -> Self {
        let (result, until) = match answer {
            ReportAnswer::Recorded => ("recorded", None),
            ReportAnswer::LeaseLost => ("lease_lost", None),
            ReportAnswer::Wait { until } => ("wait", Some(Instant(until))),
            ReportAnswer::Void => ("void", None),
            ReportAnswer::Missing => ("missing", None),
        };
        Self { result: result.to_owned(), until }
    }
}

impl ReportSaid {
    /// The answer as it was given; `None` where it is none.
    pub fn read(&self) -> Option<ReportAnswer> {
        Some(match &*self.result {
            "recorded" => ReportAnswer::Recorded,
            "lease_lost" => ReportAnswer::LeaseLost,
            "wait" => ReportAnswer::Wait { until: self.until?.0 },
            "void" => ReportAnswer::Void,
            "missing" => ReportAnswer::Missing,
            _ => return None,
        })
    }
}

/// What a person says of an effect that is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DecideAsk {
    /// The job, by its event's number.
    pub event: i64,
    /// The effect's name; of the job's present run.
    pub name: EffectNameText,
    /// The newest try when the person looked.
    pub r#try: u32,
    /// What was found.
    pub decision: DecidedWord,
    /// For `happened`: what is there, one for each thing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<EffectEvidence>,
    /// Why, for the record; at most 4 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Where a job goes that this ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
}

/// What a person found of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecidedWord {
    /// It happened.
    Happened,
    /// It did not happen.
    DidNotHappen,
    /// Nobody will find out.
    Abandon,
}

impl From<store::EffectDecision> for DecideAsk {
    fn from(said: store::EffectDecision) -> Self {
        let (decision, found) = match said.decision {
            effect::Decision::Found(found) => (DecidedWord::Happened, found),
            effect::Decision::Absent => (DecidedWord::DidNotHappen, Vec::new()),
            effect::Decision::Abandon => (DecidedWord::Abandon, Vec::new()),
        };
        Self {
            event: said.event.0,
            name: EffectNameText(said.name),
            r#try: said.number,
            decision,
            found: found.carry(),
            note: said.note,
            retry: None,
        }
    }
}

impl From<DecideAsk> for store::EffectDecision {
    fn from(said: DecideAsk) -> Self {
        let decision = match said.decision {
            DecidedWord::Happened => effect::Decision::Found(said.found.carry()),
            DecidedWord::DidNotHappen => effect::Decision::Absent,
            DecidedWord::Abandon => effect::Decision::Abandon,
        };
        Self { event: EventNumber(said.event), name: said.name.0, number: said.r#try, decision, note: said.note }
    }
}

/// What became of a person's word about an effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DecideSaid {
    /// `recorded`; `wait`: something that was sent may still happen, look again `until`; `void`: it is not held, or was tried
    /// again since it was looked at; `missing`: there is no such effect; `job_unknown`: there is no such job.
    pub result: String,
    /// Not before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Instant>,
}

impl From<Option<SettleAnswer>> for DecideSaid {
    fn from(answer: Option<SettleAnswer>) -> Self {
        let (result, until) = match answer {
            None => ("job_unknown", None),
            Some(SettleAnswer::Recorded) => ("recorded", None),
            Some(SettleAnswer::Wait { until }) => ("wait", Some(Instant(until))),
            Some(SettleAnswer::Void) => ("void", None),
            Some(SettleAnswer::Missing) => ("missing", None),
        };
        Self { result: result.to_owned(), until }
    }
}

impl DecideSaid {
    /// The answer as it was given; the outer `None` where it is none.
    pub fn read(&self) -> Option<Option<SettleAnswer>> {
        Some(match &*self.result {
            "job_unknown" => None,
            "recorded" => Some(SettleAnswer::Recorded),
            "wait" => Some(SettleAnswer::Wait { until: self.until?.0 }),
            "void" => Some(SettleAnswer::Void),
            "missing" => Some(SettleAnswer::Missing),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use cola_ia_core::clock::Timestamp;
    use cola_ia_core::effect::{EffectName, Evidence, Micros, Otherwise, Reason, Recorded, UtcDay, Witness};
    use cola_ia_core::event::Source;
    use cola_ia_core::job::LeaseToken;
    use cola_ia_core::store::{EffectDecision, EffectRef, JobRun};
    use serde::de::DeserializeOwned;

    use super::*;

    const AT: Timestamp = Timestamp::from_micros(1_700_000_000_123_456);

    fn same<T: Serialize + DeserializeOwned>(value: &T) -> T {
        let json = serde_json::to_string(value).unwrap();
        serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"))
    }

    fn name() -> EffectName {
        EffectName::new("publish").unwrap()
    }

    fn evidence() -> Evidence {
        Evidence {
            resource_id: Some("post \"9\"".to_owned()),
            result: Some("{\"a\":1}".to_owned()),
            cost: Micros::new(12),
            tokens_in: Some(3),
            tokens_out: None,
            model: Some("m".to_owned()),
        }
    }

    #[test]
    fn a_begin_is_read_as_it_was_written() {
        let begin = Begin {
            lease: LeaseToken::new([1; 16], 2),
            name: name(),
            begin_id: BeginId([9; 16]),
            policy: Policy {
                key_ttl: Some(Duration::from_hours(24)),
                lookup: true,
                settle: Duration::from_micros(3),
                otherwise: Otherwise::Retry,
                retry_below: Micros::new(5),
            },
            request: Some([3; 32]),
            expected: Micros::new(7),
            send_within: Duration::from_micros(11),
            call_time: Duration::from_secs(12),
        };
        assert_eq!(same(&BeginAsk::from(begin.clone())).read([0; 16]), begin);
        let least = format!(r#"{{"lease":"{}","name":"publish"}}"#, begin.lease);
        let read = serde_json::from_str::<BeginAsk>(&least).unwrap().read([4; 16]);
        assert_eq!(
            (read.begin_id, read.policy, read.call_time),
            (BeginId([4; 16]), Policy::default(), CALL_TIME_DEFAULT)
        );
    }

    #[test]
    fn every_answer_to_begin_is_read_as_it_was_written() {
        let charged = Micros::new(12).unwrap();
        let recorded = Recorded {
            evidence: evidence(),
            number: Some(2),
            at: AT,
            witness: Witness::Sender,
            charged,
            day: UtcDay(UtcDay::of(AT).0 - 1),
        };
        let answers = [
            BeginAnswer::Go(Go { number: 1, send_before: AT, deadline: AT, key_until: None }),
            BeginAnswer::Go(Go { number: 7, send_before: AT, deadline: AT, key_until: Some(AT) }),
            BeginAnswer::Done(Box::new(recorded)),
            BeginAnswer::Check { ticket: 3, begun_at: Some(AT) },
            BeginAnswer::Check { ticket: 3, begun_at: None },
            BeginAnswer::Wait { until: AT },
            BeginAnswer::Held(Reason::Restored),
            BeginAnswer::Used,
            BeginAnswer::Refused(Refused::LeaseLost),
            BeginAnswer::Refused(Refused::Budget { resets_at: AT }),
            BeginAnswer::Refused(Refused::CostRequired),
            BeginAnswer::Refused(Refused::OtherRequest),
            BeginAnswer::Refused(Refused::OtherPolicy),
            BeginAnswer::Refused(Refused::Abandoned),
            BeginAnswer::Refused(Refused::TooMany),
        ];
        for answer in answers {
            let begun = EffectBegun { at: AT, key: "k".to_owned(), answer };
            assert_eq!(same(&BeginSaid::from(begun.clone())).read(), Some(begun));
        }
    }

    #[test]
    fn what_is_reported_is_read_as_it_was_written() {
        for job in [None, Some(JobRun { source: Source::default(), id: "a".to_owned(), run: 2 })] {
            let of = EffectRef { lease: LeaseToken::new([1; 16], 2), name: name(), number: 3, job };
            let done = DoneAsk { of: of.clone().into(), evidence: evidence().into(), retry: None };
            let read = same(&done);
            assert_eq!((EffectRef::from(read.of), Evidence::from(read.evidence)), (of.clone(), evidence()));
            for looked in [Looked::Absent, Looked::Found(Evidence::default()), Looked::Found(evidence())] {
                let ask = LookedAsk::new(of.clone(), looked, Retry::default());
                assert_eq!(same(&ask), ask);
            }
            let failed = FailedAsk { of: of.into(), failure: FailureWord::NotSent, note: None, retry: None };
            assert_eq!(same(&failed), failed);
        }
        let words = [
            ReportAnswer::Recorded,
            ReportAnswer::LeaseLost,
            ReportAnswer::Wait { until: AT },
            ReportAnswer::Void,
            ReportAnswer::Missing,
        ];
        for answer in words {
            assert_eq!(same(&ReportSaid::from(answer)).read(), Some(answer));
        }
    }

    #[test]
    fn what_a_person_decides_is_read_as_it_was_written() {
        let decisions = [
            effect::Decision::Found(vec![evidence(), Evidence::default()]),
            effect::Decision::Found(Vec::new()),
            effect::Decision::Absent,
            effect::Decision::Abandon,
        ];
        for decision in decisions {
            let said = EffectDecision { event: EventNumber(4), name: name(), number: 1, decision, note: None };
            assert_eq!(EffectDecision::from(same(&DecideAsk::from(said.clone()))), said);
        }
        let answers = [
            None,
            Some(SettleAnswer::Recorded),
            Some(SettleAnswer::Wait { until: AT }),
            Some(SettleAnswer::Void),
            Some(SettleAnswer::Missing),
        ];
        for answer in answers {
            assert_eq!(same(&DecideSaid::from(answer)).read(), Some(answer));
        }
    }
}
