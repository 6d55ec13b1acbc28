//! What became of an effect, as sentences.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{EffectName, Evidence, Reason, Refused};

use super::super::jobs::to_the_second;
use super::super::{Exit, Problem};
use crate::effect::{Later, Outcome, Sent};
use crate::lang::Message;

fn about(key: &'static str, name: &EffectName) -> Message {
    Message::new(key).with("name", name)
}

/// It had happened before.
pub(crate) fn replayed(name: &EffectName, evidence: &Evidence) -> Message {
    match &evidence.resource_id {
        Some(id) => about("effect-replayed-resource", name).with("resource", id),
        None => about("effect-replayed", name),
    }
}

/// It is to be tried later.
pub(crate) fn later(name: &EffectName, later: &Later) -> Message {
    match later {
        Later::Wait(until) => wait(name, *until),
        Later::Budget(until) => about("effect-budget", name).with("until", to_the_second(*until)),
        Later::CouldNotTell(why) => about("effect-could-not-tell", name).with("why", why),
        Later::NotSent(why, _) => about("effect-not-sent", name).with("why", why),
    }
}

/// What may have been sent cannot be seen yet.
pub(super) fn wait(name: &EffectName, until: Timestamp) -> Message {
    about("effect-wait", name).with("until", to_the_second(until))
}

/// It happened, and the lease was lost meanwhile.
pub(crate) fn late(name: &EffectName) -> Problem {
    Problem::new(Exit::LeaseLost, about("effect-late", name)).hint(Message::new("lease-lost-hint"))
}

/// The job is held.
pub(super) fn held(name: &EffectName, reason: Reason) -> Problem {
    let message = about("effect-held", name).message("reason", why(reason));
    Problem::new(Exit::EffectRefused, message).hint(about("effect-held-hint", name))
}

/// Why an effect is unknown or held.
pub(crate) fn why(reason: Reason) -> Message {
    Message::new(format!("effect-reason-{}", reason.as_str().replace('_', "-")))
}

/// It is not to be sent.
pub(super) fn refused(name: &EffectName, refused: Refused) -> Problem {
    let problem = |key: &'static str| Problem::new(Exit::EffectRefused, about(key, name));
    match refused {
        Refused::LeaseLost => lease_lost(name),
        Refused::Budget { resets_at } => Problem::new(Exit::Later, later(name, &Later::Budget(resets_at))),
        Refused::CostRequired => problem("effect-cost-required").hint(Message::new("effect-cost-required-hint")),
        Refused::OtherRequest => problem("effect-mismatch").hint(Message::new("effect-mismatch-hint")),
        Refused::OtherPolicy => problem("effect-other-policy").hint(Message::new("effect-other-policy-hint")),
        Refused::Abandoned => problem("effect-abandoned").hint(Message::new("order-replay-hint")),
        Refused::TooMany => problem("effect-too-many"),
    }
}

/// A word for the kind of refusal, with the attempt.
pub(crate) const fn refused_class(refused: Refused) -> &'static str {
    match refused {
        Refused::LeaseLost => "effect_lease_lost",
        Refused::Budget { .. } => "effect_budget",
        Refused::CostRequired => "effect_cost_required",
        Refused::OtherRequest => "effect_mismatch",
        Refused::OtherPolicy => "effect_other_policy",
        Refused::Abandoned => "effect_abandoned",
        Refused::TooMany => "effect_too_many",
    }
}

/// The lease is not the caller's any more.
pub(super) fn lease_lost(name: &EffectName) -> Problem {
    Problem::new(Exit::LeaseLost, about("effect-lease-lost", name)).hint(Message::new("lease-lost-hint"))
}

/// What keeps a command from ending well.
pub(crate) fn problem(name: &EffectName, outcome: Outcome) -> Problem {
    match outcome {
        Outcome::Rejected(why) => Problem::new(Exit::Rejected, about("effect-rejected", name).with("why", why)),
        Outcome::Unknown(why) => Problem::new(Exit::EffectUnknown, about("effect-unknown", name).with("why", why))
            .hint(Message::new("effect-unknown-hint")),
        Outcome::Held(reason) => held(name, reason),
        Outcome::Refused(why) => refused(name, why),
        Outcome::LeaseLost { .. } => lease_lost(name),
        Outcome::NotBegun(problem) => {
            Problem::new(Exit::Later, about("effect-not-begun", name).message("problem", problem.message().clone()))
        }
        Outcome::NotRecorded { sent, problem } => {
            let key = match sent {
                Sent::Done(_) => "effect-not-recorded-done",
                _ => "effect-not-recorded",
            };
            let resource = match sent {
                Sent::Done(Evidence { resource_id: Some(id), .. }) => id,
                _ => "?".to_owned(),
            };
            let message = about(key, name).with("resource", resource).message("problem", problem.message().clone());
            Problem::new(Exit::EffectUnknown, message).hint(Message::new("effect-unknown-hint"))
        }
        // These end well, or later.
        Outcome::Done { .. } => Problem::new(Exit::Done, about("effect-replayed", name)),
        Outcome::Later(why) => Problem::new(Exit::Later, later(name, &why)),
    }
}
