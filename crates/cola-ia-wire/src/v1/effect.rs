//! Effects as they are looked at.

use cola_ia_core::effect;
use cola_ia_core::effect::{BeginId, RequestHash};
use cola_ia_core::store::{EffectSummary, EffectView};

use super::Carry;
use super::shape::shape;
use super::values::{
    AlarmWord, Amount, DayText, EffectNameText, EffectStateWord, Hex, Instant, LeaseHex, OtherwiseWord, ReasonWord,
    SourceName, Span, TryOutcomeWord, WitnessWord,
};

impl Carry<Hex<16>> for BeginId {
    fn carry(self) -> Hex<16> {
        Hex(self.0)
    }
}

impl Carry<BeginId> for Hex<16> {
    fn carry(self) -> BeginId {
        BeginId(self.0)
    }
}

const _: fn(RequestHash) -> [u8; 32] = |hash| hash;

shape! {
    /// An effect as it is shown: what a restored store does not know counts as begun.
    pub struct Effect of EffectView {
        /// The key that is sent to the destination.
        key: String,
        /// When its state changed last.
        changed_at: Instant,
        /// What was said last of it, by a sender or a person.
        note: Option<String>,
        /// How often its recorded result was given to a later attempt, which then did not pay again.
        replays: u32,
        /// All that is recorded of it.
        #[serde(flatten)]
        effect: RecordedEffect,
    }
}

shape! {
    /// What is recorded of an effect.
    pub struct RecordedEffect of effect::Effect {
        /// The run of its job.
        run: u32,
        /// Its name within the run.
        name: EffectNameText,
        /// What may be done where its outcome is unknown, as was said at the first `begin`.
        policy: EffectPolicy,
        /// Where it stands.
        state: EffectStateWord,
        /// Why its outcome is open.
        reason: Option<ReasonWord>,
        /// When it was begun first.
        begun_at: Instant,
        /// The permissions to send, the first one first.
        try_log = tries: Vec<EffectTry>,
        /// Each thing that it made. One is as it should be.
        records: Vec<EffectRecord>,
        /// Somebody must look before it is sent again.
        look_first: bool,
        /// What a person must look at.
        alarm: Option<AlarmWord>,
    }
}

shape! {
    /// What may be done about an effect whose outcome is unknown.
    pub struct EffectPolicy of effect::Policy {
        /// How long the destination honours the key, in microseconds; `null`: it knows no keys.
        key_ttl_micros = key_ttl: Option<Span>,
        /// Whether the destination can be asked what it has under the key.
        lookup: bool,
        /// How long after the last deadline a lookup may still miss what happened, in microseconds.
        settle_micros = settle: Span,
        /// What happens where nothing else helps.
        otherwise: OtherwiseWord,
        /// Tries that cost less are repeated.
        retry_below_micros = retry_below: Option<Amount>,
    }
}

shape! {
    /// One permission to send.
    pub struct EffectTry of effect::Try {
        /// The call of `begin` that it answered; `null`: it stands for what may have been sent by whoever went on with the store
        /// before it was restored.
        begin_id: Option<Hex<16>>,
        /// Whose it is; only who may work is told.
        lease: Option<LeaseHex>,
        /// SHA-256 of what is sent.
        request: Option<Hex<32>>,
        /// When it was given.
        begun_at: Instant,
        /// It may be sent before this instant.
        send_before: Instant,
        /// Until then what was sent takes effect, or never.
        deadline: Instant,
        /// Until when the destination knows the key.
        key_until: Option<Instant>,
        /// The most that it may cost, as was said.
        expected_micros = expected: Option<Amount>,
        /// What it holds of the budget.
        reserved: Option<Reserved>,
        /// How it ended; `null`: its outcome is open.
        outcome: Option<TryOutcomeWord>,
    }
}

shape! {
    /// Money that a try holds until its outcome is known.
    pub struct Reserved of effect::Reservation {
        /// How much.
        micros = amount: Amount,
        /// The day whose budget it was taken from.
        day: DayText,
    }
}

shape! {
    /// A thing that an effect made.
    pub struct EffectRecord of effect::Recorded {
        /// What it is and what it cost.
        #[serde(flatten)]
        evidence: EffectEvidence,
        /// The try that it was told of; `null`: of none in particular.
        r#try = number: Option<u32>,
        /// When it was told first.
        at: Instant,
        /// Who told it.
        witness: WitnessWord,
        /// What it was counted as: what it cost, or else the most that was expected.
        charged_micros = charged: Amount,
        /// The day in which it was counted.
        day: DayText,
    }
}

shape! {
    /// What proves that an effect happened.
    pub struct EffectEvidence of effect::Evidence {
        /// Its id at the destination.
        resource_id: Option<String>,
        /// Its result, JSON as text.
        result: Option<String>,
        /// What it cost, as was told.
        cost_micros = cost: Option<Amount>,
        /// Tokens that went into a model.
        tokens_in: Option<i64>,
        /// Tokens that came out of it.
        tokens_out: Option<i64>,
        /// The model.
        model: Option<String>,
    }
}

shape! {
    /// An effect and the event that it is of.
    pub struct EffectItem of EffectSummary {
        /// The event's number; the job has the same.
        event: i64,
        /// The event's source.
        source: SourceName,
        /// The event's id.
        id: String,
        /// The effect.
        #[serde(flatten)]
        effect = view: Effect,
    }
}
