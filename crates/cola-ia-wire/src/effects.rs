//! Effects: what is recorded of them, and what is asked and answered about them, with `--json` and on a job's socket.

use std::borrow::Cow;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{
    BeginAnswer, Decision, EffectName, Evidence, Go, Micros, Otherwise, Reason, Recorded, Refused, ReportAnswer,
    SettleAnswer, Try, TryOutcome, UtcDay, Witness,
};
use cola_ia_core::event::Source;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::JobState;
use cola_ia_core::store::{EffectBegun, EffectSummary, EffectView};
use serde::{Deserialize, Serialize};

use crate::VERSION;

/// One named external action of a job's run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect<'a> {
    /// The job's run.
    pub run: u32,
    /// Its name.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// The key that is sent to the destination.
    #[serde(borrow)]
    pub key: Cow<'a, str>,
    /// `intended`, `done`, `failed`, `unknown`, `held` or `abandoned`.
    #[serde(borrow)]
    pub state: Cow<'a, str>,
    /// Why it stands where it stands, a stable code.
    #[serde(borrow)]
    pub reason: Option<Cow<'a, str>>,
    /// `late_evidence`: it happened after it had been recorded as `failed` or `abandoned`; `double_effect`: it made two things.
    #[serde(borrow, default)]
    pub alarm: Option<Cow<'a, str>>,
    /// Permissions to send that were given.
    pub tries: u32,
    /// When it was begun first.
    pub begun_at: String,
    /// When its state changed last.
    pub changed_at: String,
    /// The resource that it made; the first one where it made more.
    #[serde(borrow)]
    pub resource_id: Option<Cow<'a, str>>,
    /// What it was counted as, in millionths of the currency's unit; `null`: it is not known to have happened.
    pub cost_micros: Option<i64>,
    /// What its open tries hold of the budget, in millionths: it may have been paid.
    #[serde(default)]
    pub reserved_micros: i64,
    /// How often its recorded result was given to a later attempt, which then did not pay again.
    #[serde(default)]
    pub replays: u32,
    /// What was said of it last, by a sender or a person.
    #[serde(borrow, default)]
    pub note: Option<Cow<'a, str>>,
    /// From when on a lookup that finds nothing counts; `null` where no try is open.
    #[serde(default)]
    pub settled_at: Option<String>,
    /// What may be done where the outcome is unknown, as it was said at the first `begin`.
    #[serde(default)]
    pub policy: EffectPolicy,
    /// The permissions to send, the first one first.
    #[serde(default)]
    pub try_log: Vec<EffectTry>,
    /// Each thing that it made. One is as it should be.
    #[serde(borrow, default)]
    pub records: Vec<EffectRecord<'a>>,
}

impl<'a> Effect<'a> {
    /// The effect as it is shown.
    pub fn new(view: &'a EffectView) -> Self {
        let effect = &view.effect;
        Self {
            run: effect.run,
            name: Cow::Borrowed(effect.name.as_str()),
            key: Cow::Borrowed(&view.key),
            state: Cow::Borrowed(effect.state.as_str()),
            reason: effect.reason.map(|reason| Cow::Borrowed(reason.as_str())),
            alarm: effect.alarm.map(|alarm| Cow::Borrowed(alarm.as_str())),
            tries: effect.newest(),
            begun_at: effect.begun_at.to_rfc3339(),
            changed_at: view.changed_at.to_rfc3339(),
            resource_id: view.resource_id().map(Cow::Borrowed),
            cost_micros: view.charged(),
            reserved_micros: effect.at_risk(),
            replays: view.replays,
            note: view.note.as_deref().map(Cow::Borrowed),
            settled_at: effect.settled_at().map(Timestamp::to_rfc3339),
            policy: EffectPolicy {
                key_ttl_ms: effect.policy.key_ttl.map(|ttl| ttl.as_millis() as u64),
                lookup: effect.policy.lookup,
                settle_ms: effect.policy.settle.as_millis() as u64,
                otherwise: effect.policy.otherwise.as_str().to_owned(),
                retry_below_micros: effect.policy.retry_below.map(Micros::get),
            },
            try_log: effect.tries.iter().zip(1..).map(|(one, number)| EffectTry::new(one, number)).collect(),
            records: effect.records.iter().map(EffectRecord::new).collect(),
        }
    }
}

/// What may be done about an effect whose outcome is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectPolicy {
    /// How long the destination honours the key; `null`: it knows no keys.
    pub key_ttl_ms: Option<u64>,
    /// Whether the destination can be asked what it has under the key.
    pub lookup: bool,
    /// How long after the last deadline a lookup may still miss what happened.
    pub settle_ms: u64,
    /// `hold`: a person decides; `retry`: it is tried again.
    pub otherwise: String,
    /// Tries that cost less are repeated.
    pub retry_below_micros: Option<i64>,
}

impl Default for EffectPolicy {
    fn default() -> Self {
        Self {
            key_ttl_ms: None,
            lookup: false,
            settle_ms: 0,
            otherwise: Otherwise::Hold.as_str().to_owned(),
            retry_below_micros: None,
        }
    }
}

/// One permission to send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectTry {
    /// Its number, from 1.
    pub number: u32,
    /// `done`, `rejected`, `not_sent` or `absent`; `null`: its outcome is open.
    pub outcome: Option<String>,
    /// It stands for what may have been sent by whoever went on with the store before it was restored.
    pub restored: bool,
    /// When it was given.
    pub begun_at: String,
    /// It may be sent before this instant.
    pub send_before: String,
    /// Until then what was sent takes effect, or never.
    pub deadline: String,
    /// Until when the destination knows the key.
    pub key_until: Option<String>,
    /// The most that it may cost, as was said, in millionths.
    pub expected_micros: Option<i64>,
    /// What it holds of the budget, in millionths.
    pub reserved_micros: Option<i64>,
}

impl EffectTry {
    fn new(one: &Try, number: u32) -> Self {
        Self {
            number,
            outcome: one.outcome.map(TryOutcome::as_str).map(str::to_owned),
            restored: one.is_of_restore(),
            begun_at: one.begun_at.to_rfc3339(),
            send_before: one.send_before.to_rfc3339(),
            deadline: one.deadline.to_rfc3339(),
            key_until: one.key_until.map(Timestamp::to_rfc3339),
            expected_micros: one.expected.map(Micros::get),
            reserved_micros: one.reserved.map(|held| held.amount.get()),
        }
    }
}

/// A thing that an effect made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectRecord<'a> {
    /// When it was told first.
    pub at: String,
    /// The try that it was told of; `null`: of none in particular.
    pub r#try: Option<u32>,
    /// Who told it: `sender`, `lookup` or `person`.
    #[serde(borrow)]
    pub witness: Cow<'a, str>,
    /// Its id at the destination.
    #[serde(borrow)]
    pub resource_id: Option<Cow<'a, str>>,
    /// Its result, JSON as text.
    #[serde(borrow)]
    pub result: Option<Cow<'a, str>>,
    /// What it cost, as was told, in millionths.
    pub cost_micros: Option<i64>,
    /// What it was counted as: that, or else the most that was expected.
    pub charged_micros: i64,
    /// Tokens that went in.
    pub tokens_in: Option<i64>,
    /// Tokens that came out.
    pub tokens_out: Option<i64>,
    /// The model.
    #[serde(borrow)]
    pub model: Option<Cow<'a, str>>,
}

impl<'a> EffectRecord<'a> {
    /// The record as it is shown.
    pub fn new(recorded: &'a Recorded) -> Self {
        let evidence = &recorded.evidence;
        let text = |text: &'a Option<String>| text.as_deref().map(Cow::Borrowed);
        Self {
            at: recorded.at.to_rfc3339(),
            r#try: recorded.number,
            witness: Cow::Borrowed(recorded.witness.as_str()),
            resource_id: text(&evidence.resource_id),
            result: text(&evidence.result),
            cost_micros: evidence.cost.map(Micros::get),
            charged_micros: recorded.charged.get(),
            tokens_in: evidence.tokens_in,
            tokens_out: evidence.tokens_out,
            model: text(&evidence.model),
        }
    }

    /// What was recorded; `None` where it is not understood.
    pub fn recorded(&self) -> Option<Recorded> {
        let text = |text: &Option<Cow<'_, str>>| text.as_deref().map(str::to_owned);
        let at = Timestamp::parse_rfc3339(&self.at)?;
        Some(Recorded {
            evidence: Evidence {
                resource_id: text(&self.resource_id),
                result: text(&self.result),
                cost: self.cost_micros.map(Micros::new).map_or(Some(None), |cost| cost.map(Some))?,
                tokens_in: self.tokens_in,
                tokens_out: self.tokens_out,
                model: text(&self.model),
            },
            number: self.r#try,
            at,
            witness: Witness::from_word(&self.witness)?,
            charged: Micros::new(self.charged_micros)?,
            day: UtcDay::of(at),
        })
    }
}

/// An effect and the event that it is of: a line of `effect list --json` and `effect find --json`. It has the fields of
/// [`Effect`] and these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectLine<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// The event's number; the job has the same.
    pub event: i64,
    /// The event's source.
    #[serde(borrow)]
    pub source: Cow<'a, str>,
    /// The event's id.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// The effect.
    #[serde(flatten, borrow)]
    pub effect: Effect<'a>,
}

impl<'a> EffectLine<'a> {
    /// The line for an effect.
    pub fn new(summary: &'a EffectSummary) -> Self {
        Self {
            v: VERSION,
            event: summary.event.0,
            source: Cow::Borrowed(summary.source.as_str()),
            id: Cow::Borrowed(&summary.id),
            effect: Effect::new(&summary.view),
        }
    }
}

/// What a command says about the effects of its job, on the socket `COLA_IA_SOCKET`. What is left out is not said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EffectRequest<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// `effect_begin`, `effect_done`, `effect_failed`, `effect_unknown`, `effect_resolve` or `effect_list`.
    #[serde(borrow)]
    pub verb: Cow<'a, str>,
    /// The effect's name; not for `effect_list`.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// For `effect_begin`: 32 hexadecimal digits, drawn anew by each process that will send, the same for repetitions of one call.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub begin_id: Option<Cow<'a, str>>,
    /// For `effect_begin`: how long the destination honours the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_ttl_ms: Option<u64>,
    /// For `effect_begin`: the destination can be asked.
    #[serde(skip_serializing_if = "is_false")]
    pub lookup: bool,
    /// For `effect_begin`: how long a lookup may miss what happened; 60 seconds where it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settle_ms: Option<u64>,
    /// For `effect_begin`: `hold` (also where it is not said) or `retry`.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Cow<'a, str>>,
    /// For `effect_begin`: tries that cost less are repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_below_micros: Option<i64>,
    /// For `effect_begin`: the most it may cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_micros: Option<i64>,
    /// For `effect_begin`: SHA-256 of what will be sent, in hexadecimal digits.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub request_hash: Option<Cow<'a, str>>,
    /// For `effect_begin`: how long from now it may still be sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_within_ms: Option<u64>,
    /// For `effect_begin`: the longest time that the call may take after that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_time_ms: Option<u64>,
    /// For `effect_done`, `effect_failed` and `effect_unknown`: the try, as `go` had it. For `effect_resolve`: the ticket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#try: Option<u32>,
    /// For `effect_failed`: `rejected` or `not_sent`. For `effect_resolve`: `found` or `absent`.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Cow<'a, str>>,
    /// For `effect_failed` and `effect_unknown`: why, for people.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub note: Option<Cow<'a, str>>,
    /// For `effect_done` and what was found: the resource that it made.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub resource_id: Option<Cow<'a, str>>,
    /// The result, JSON as text, at most 64 KiB.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub result: Option<Cow<'a, str>>,
    /// What it cost, in millionths of the currency's unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<i64>,
    /// For `effect_done`: the currency of what it cost; without it the store's.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub currency: Option<Cow<'a, str>>,
    /// Tokens that went in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_in: Option<i64>,
    /// Tokens that came out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<i64>,
    /// The model that was used.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub model: Option<Cow<'a, str>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// The answer to a worker's word about an effect: a line of `effect begin`, `done`, `failed`, `unknown` and `resolve` with
/// `--json`, and what a job's socket answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EffectAnswer<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// The answer. To `effect_begin`: `go`, `done`, `check`, `wait`, `held`, `used` or `refused`. To what is reported: `recorded`,
    /// `lease_lost`, `wait`, `void` or `missing`. To `effect_list`: `ok`. On the socket also `invalid` (not understood) and
    /// `unavailable` (the store cannot be used now: say it again).
    #[serde(borrow)]
    pub result: Cow<'a, str>,
    /// The effect's name.
    #[serde(borrow)]
    pub name: Option<Cow<'a, str>>,
    /// The effect's key.
    #[serde(borrow)]
    pub key: Option<Cow<'a, str>>,
    /// The store's clock.
    pub at: Option<String>,
    /// `go`: the try's number, for the report.
    pub r#try: Option<u32>,
    /// `go`: send nothing from then on.
    pub send_before: Option<String>,
    /// `go`: when the call must have ended.
    pub deadline: Option<String>,
    /// `go`: until when the destination knows the key.
    pub key_until: Option<String>,
    /// `check`: to resolve with.
    pub ticket: Option<u32>,
    /// `check`: when it can have been sent first; `null`: earlier than the restored store knows.
    pub begun_at: Option<String>,
    /// `wait`: not before. `refused` for `budget`: when it resets.
    pub until: Option<String>,
    /// `held` and `refused`: why, a stable code.
    #[serde(borrow)]
    pub reason: Option<Cow<'a, str>>,
    /// `done`: what is recorded.
    #[serde(borrow)]
    pub record: Option<EffectRecord<'a>>,
    /// `effect_list`: the effects of the job's run.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub effects: Option<Vec<Effect<'a>>>,
    /// `invalid` and `unavailable`: what is wrong, a stable code.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub code: Option<Cow<'a, str>>,
}

impl<'a> EffectAnswer<'a> {
    /// Only the word.
    pub fn of(result: &'a str) -> Self {
        Self { v: VERSION, result: Cow::Borrowed(result), ..Self::default() }
    }

    /// The answer to a report.
    pub fn reported(name: &'a EffectName, answer: ReportAnswer) -> Self {
        let until = match answer {
            ReportAnswer::Wait { until } => Some(until.to_rfc3339()),
            _ => None,
        };
        Self { name: Some(Cow::Borrowed(name.as_str())), until, ..Self::of(report_word(answer)) }
    }

    /// The report's answer; `None` where it is none.
    pub fn report(&self) -> Option<ReportAnswer> {
        Some(match &*self.result {
            "recorded" => ReportAnswer::Recorded,
            "lease_lost" => ReportAnswer::LeaseLost,
            "wait" => ReportAnswer::Wait { until: instant(self.until.as_ref())? },
            "void" => ReportAnswer::Void,
            "missing" => ReportAnswer::Missing,
            _ => return None,
        })
    }

    /// The answer to `begin`.
    pub fn begun(name: &'a EffectName, begun: &'a EffectBegun) -> Self {
        let said = |result: &'a str| Self {
            name: Some(Cow::Borrowed(name.as_str())),
            key: (!begun.key.is_empty()).then_some(Cow::Borrowed(&begun.key)),
            at: Some(begun.at.to_rfc3339()),
            ..Self::of(result)
        };
        match &begun.answer {
            BeginAnswer::Go(go) => Self {
                r#try: Some(go.number),
                send_before: Some(go.send_before.to_rfc3339()),
                deadline: Some(go.deadline.to_rfc3339()),
                key_until: go.key_until.map(Timestamp::to_rfc3339),
                ..said("go")
            },
            BeginAnswer::Done(recorded) => Self { record: Some(EffectRecord::new(recorded)), ..said("done") },
            BeginAnswer::Check { ticket, begun_at } => {
                Self { ticket: Some(*ticket), begun_at: begun_at.map(Timestamp::to_rfc3339), ..said("check") }
            }
            BeginAnswer::Wait { until } => Self { until: Some(until.to_rfc3339()), ..said("wait") },
            BeginAnswer::Held(reason) => Self { reason: Some(Cow::Borrowed(reason.as_str())), ..said("held") },
            BeginAnswer::Used => said("used"),
            BeginAnswer::Refused(refused) => {
                let until = match refused {
                    Refused::Budget { resets_at } => Some(resets_at.to_rfc3339()),
                    _ => None,
                };
                Self { reason: Some(Cow::Borrowed(refused_word(*refused))), until, ..said("refused") }
            }
        }
    }

    /// The answer to `begin` as it was given; `None` where it is none.
    pub fn begin(&self) -> Option<EffectBegun> {
        let answer = match &*self.result {
            "go" => BeginAnswer::Go(Go {
                number: self.r#try?,
                send_before: instant(self.send_before.as_ref())?,
                deadline: instant(self.deadline.as_ref())?,
                key_until: self
                    .key_until
                    .as_ref()
                    .map(|until| instant(Some(until)))
                    .map_or(Some(None), |it| it.map(Some))?,
            }),
            "done" => BeginAnswer::Done(Box::new(self.record.as_ref()?.recorded()?)),
            "check" => BeginAnswer::Check {
                ticket: self.ticket?,
                begun_at: self.begun_at.as_ref().and_then(|at| instant(Some(at))),
            },
            "wait" => BeginAnswer::Wait { until: instant(self.until.as_ref())? },
            "held" => BeginAnswer::Held(Reason::from_word(self.reason.as_deref()?)?),
            "used" => BeginAnswer::Used,
            "refused" => BeginAnswer::Refused(match self.reason.as_deref()? {
                "lease_lost" => Refused::LeaseLost,
                "budget" => Refused::Budget { resets_at: instant(self.until.as_ref())? },
                "cost_required" => Refused::CostRequired,
                "mismatch" => Refused::OtherRequest,
                "other_policy" => Refused::OtherPolicy,
                "abandoned" => Refused::Abandoned,
                "too_many" => Refused::TooMany,
                _ => return None,
            }),
            _ => return None,
        };
        Some(EffectBegun {
            at: instant(self.at.as_ref())?,
            key: self.key.as_deref().unwrap_or_default().to_owned(),
            answer,
        })
    }
}

fn instant(text: Option<&String>) -> Option<Timestamp> {
    Timestamp::parse_rfc3339(text?)
}

const fn report_word(answer: ReportAnswer) -> &'static str {
    match answer {
        ReportAnswer::Recorded => "recorded",
        ReportAnswer::LeaseLost => "lease_lost",
        ReportAnswer::Wait { .. } => "wait",
        ReportAnswer::Void => "void",
        ReportAnswer::Missing => "missing",
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

/// What a person said of an effect that is held: the line of `effect resolve ID NAME --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectDecided<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// `recorded`; `wait`: something that was sent may still happen, look again `until`; `void`: it is not held, or was tried
    /// again since it was looked at; `missing`: there is no such effect.
    #[serde(borrow)]
    pub result: Cow<'a, str>,
    /// The event's number.
    pub event: i64,
    /// The event's source.
    #[serde(borrow)]
    pub source: Cow<'a, str>,
    /// The event's id.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// The effect's name.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// The newest try when it was looked at.
    pub r#try: u32,
    /// What was said: `happened`, `did_not_happen` or `abandon`.
    #[serde(borrow)]
    pub decision: Cow<'a, str>,
    /// Not before.
    pub until: Option<String>,
    /// The job's state from then on; `null` where nothing was changed.
    #[serde(borrow)]
    pub state: Option<Cow<'a, str>>,
}

impl<'a> EffectDecided<'a> {
    /// The line for what was decided of an effect, and the job's state after that.
    pub fn new(
        (event, source, id, name): (EventNumber, &'a Source, &'a str, &'a EffectName),
        number: u32,
        decision: &Decision,
        answer: SettleAnswer,
        state: Option<JobState>,
    ) -> Self {
        let (result, until) = match answer {
            SettleAnswer::Recorded => ("recorded", None),
            SettleAnswer::Wait { until } => ("wait", Some(until.to_rfc3339())),
            SettleAnswer::Void => ("void", None),
            SettleAnswer::Missing => ("missing", None),
        };
        let decision = match decision {
            Decision::Found(_) => "happened",
            Decision::Absent => "did_not_happen",
            Decision::Abandon => "abandon",
        };
        Self {
            v: VERSION,
            result: Cow::Borrowed(result),
            event: event.0,
            source: Cow::Borrowed(source.as_str()),
            id: Cow::Borrowed(id),
            name: Cow::Borrowed(name.as_str()),
            r#try: number,
            decision: Cow::Borrowed(decision),
            until,
            state: state.map(|state| Cow::Borrowed(state.as_str())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::from_micros(1_700_000_000_123_456);

    #[test]
    fn every_answer_is_read_as_it_was_written() {
        let name = EffectName::new("publish").unwrap();
        let evidence = Evidence {
            resource_id: Some("post \"9\"".to_owned()),
            result: Some("{\"a\":1}".to_owned()),
            cost: Micros::new(12),
            tokens_in: Some(3),
            tokens_out: None,
            model: Some("m".to_owned()),
        };
        let charged = Micros::new(12).unwrap();
        let recorded =
            Recorded { evidence, number: Some(2), at: AT, witness: Witness::Sender, charged, day: UtcDay::of(AT) };
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
            let line = serde_json::to_string(&EffectAnswer::begun(&name, &begun)).unwrap();
            let read: EffectAnswer<'_> = serde_json::from_str(&line).unwrap();
            assert_eq!(read.begin(), Some(begun), "{line}");
            assert_eq!(read.report(), matches!(&*read.result, "wait").then_some(ReportAnswer::Wait { until: AT }));
        }
        let words = [
            ReportAnswer::Recorded,
            ReportAnswer::LeaseLost,
            ReportAnswer::Wait { until: AT },
            ReportAnswer::Void,
            ReportAnswer::Missing,
        ];
        for answer in words {
            let line = serde_json::to_string(&EffectAnswer::reported(&name, answer)).unwrap();
            let read: EffectAnswer<'_> = serde_json::from_str(&line).unwrap();
            assert_eq!(read.report(), Some(answer), "{line}");
        }
    }

    #[test]
    fn an_answer_that_makes_no_sense_is_none() {
        for line in ["{}", r#"{"result":"go"}"#, r#"{"result":"held","reason":"x","at":"1970-01-01T00:00:00Z"}"#] {
            let read: EffectAnswer<'_> = serde_json::from_str(line).unwrap();
            assert_eq!((read.begin(), read.report()), (None, None), "{line}");
        }
    }
}
