//! What a store is asked about effects, and what it shows of them and of money.

use super::lists::ListRequest;
use crate::clock::Timestamp;
use crate::effect::{BeginAnswer, Decision, Effect, EffectName, EffectState, Evidence, Micros, UtcDay};
use crate::event::Source;
use crate::intake::EventNumber;
use crate::job::LeaseToken;

/// Bytes of what is kept of a note to an effect.
pub const EFFECT_NOTE_MAX_BYTES: usize = 4 * 1024;

/// Which try of which effect a worker speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectRef {
    /// The worker's lease.
    pub lease: LeaseToken,
    /// The effect's name within the run.
    pub name: EffectName,
    /// The try's number, as in `go`; for what a lookup found or did not find, the ticket of `check`.
    pub number: u32,
    /// The job that the lease was of, as its worker knows it. A store that was restored may not know the lease, and yet is told
    /// what happened.
    pub job: Option<JobRun>,
}

/// A run of a job, by what every store knows it by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRun {
    /// The event's source.
    pub source: Source,
    /// The event's id.
    pub id: String,
    /// The run, from 1.
    pub run: u32,
}

/// The answer to [`Store::effect_begin`](super::Store::effect_begin).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectBegun {
    /// The store's clock: instants of the answer are by it.
    pub at: Timestamp,
    /// The effect's key; empty where the lease was lost.
    pub key: String,
    /// May it be sent?
    pub answer: BeginAnswer,
}

/// Why an effect did not happen, as its sender knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    /// The destination refused it for good.
    Rejected,
    /// Nothing was sent.
    NotSent,
}

/// What a worker's lookup brought. One that could not tell is not told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Looked {
    /// It happened: this is there.
    Found(Evidence),
    /// Nothing is there.
    Absent,
}

/// What a person says of an effect that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectDecision {
    /// The job.
    pub event: EventNumber,
    /// The effect's name; of the job's present run.
    pub name: EffectName,
    /// The newest try when the person looked.
    pub number: u32,
    /// What was found.
    pub decision: Decision,
    /// Why, for the record. Cut to [`EFFECT_NOTE_MAX_BYTES`].
    pub note: Option<String>,
}

/// An effect as it is shown: what a restored store does not know counts as begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectView {
    /// The key that is sent to the destination.
    pub key: String,
    /// When its state changed last.
    pub changed_at: Timestamp,
    /// What was said last of it, by a sender or a person.
    pub note: Option<String>,
    /// How often its recorded result was given to a later attempt, which then did not pay again.
    pub replays: u32,
    /// All that is recorded of it.
    pub effect: Effect,
}

impl EffectView {
    /// The resource that it made; the first one where it made more.
    pub fn resource_id(&self) -> Option<&str> {
        self.effect.records.iter().find_map(|record| record.evidence.resource_id.as_deref())
    }

    /// What it was counted as, all that it made together, in millionths; `None`: it is not known to have happened.
    pub fn charged(&self) -> Option<i64> {
        let each = self.effect.records.iter().map(|record| record.charged.get());
        (!self.effect.records.is_empty()).then(|| each.fold(0, i64::saturating_add))
    }
}

/// An effect and the job that it is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectSummary {
    /// The job's event.
    pub event: EventNumber,
    /// The event's source.
    pub source: Source,
    /// The event's id.
    pub id: String,
    /// The effect.
    pub view: EffectView,
}

/// Which effects a list is asked for. A field that is empty leaves nothing out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EffectFilter {
    /// Of one of these sources.
    pub sources: Vec<Source>,
    /// In one of these states.
    pub states: Vec<EffectState>,
    /// That made this resource, or one of which the job says that it made it.
    pub resource_id: Option<String>,
    /// Only those that carry an alarm.
    pub alarmed: bool,
}

/// Which page of effects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EffectListRequest {
    /// Which.
    pub filter: EffectFilter,
    /// Which page.
    pub page: ListRequest,
}

/// The most that may be spent on a source's jobs in one day of UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetView {
    /// The source.
    pub source: Source,
    /// The limit.
    pub limit: Micros,
    /// Today by the store's clock.
    pub day: UtcDay,
    /// Spent today, in millionths.
    pub spent: i64,
    /// Reserved today by tries whose outcome is open, in millionths.
    pub reserved: i64,
}

/// How costs are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CostsBy {
    /// One line a source.
    Source,
    /// One line a model; what was reported without one has a line of its own.
    Model,
    /// One line a day of UTC.
    Day,
}

/// Which costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostsRequest {
    /// How they are put together.
    pub by: CostsBy,
    /// Of one of these sources; empty: of all.
    pub sources: Vec<Source>,
    /// From this day of UTC on.
    pub since: Option<UtcDay>,
    /// Before this day of UTC.
    pub until: Option<UtcDay>,
}

/// Money of one line, in millionths of the store's currency. Sums that do not fit are the largest number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CostSums {
    /// Costs that were counted: attempts and effects for which a cost was told or expected. 0: nothing is known of money here.
    pub count: u64,
    /// Spent.
    pub spent: i64,
    /// Reserved by tries whose outcome is open: it may have been paid.
    pub at_risk: i64,
    /// Tokens that went into models.
    pub tokens_in: i64,
    /// Tokens that came out of them.
    pub tokens_out: i64,
    /// Results that were used again instead of paid again.
    pub replays: u64,
    /// What those had cost.
    pub replayed: i64,
    /// Events that entered.
    pub new: u64,
    /// Deliveries that were repetitions and made no job.
    pub repeated: u64,
}

impl CostSums {
    /// What was not paid a second time, an estimate: what the results that were used again had cost, and for each repeated
    /// delivery what an event of this line cost on average (spent / events that entered). `None` where no cost was told.
    pub fn avoided(&self) -> Option<i64> {
        if self.count == 0 {
            return None;
        }
        let repeated = match self.new {
            0 => 0,
            new => i128::from(self.spent) * i128::from(self.repeated) / i128::from(new),
        };
        Some(i64::try_from(i128::from(self.replayed) + repeated).unwrap_or(i64::MAX))
    }
}

/// A line of costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostLine {
    /// The source, the model (empty: without one) or the day as `2026-11-30`.
    pub name: String,
    /// Its sums. By model, events and deliveries are not told apart: `new` and `repeated` are 0.
    pub sums: CostSums,
}

/// What was spent, is at risk and was avoided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Costs {
    /// The store's currency, as it was set or first told.
    pub currency: Option<String>,
    /// The lines, sorted by name.
    pub lines: Vec<CostLine>,
    /// All of them together.
    pub total: CostSums,
}

/// Whether this names a currency as ISO 4217 does: three capital letters.
pub fn names_currency(text: &str) -> bool {
    text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase())
}
