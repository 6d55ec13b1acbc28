//! The protocol of one effect, for whoever sends it.
//!
//! Nothing here starts a process or opens a store: a [`Keeper`] has the ledger, a [`Sender`] sends and looks.

use std::time::{Duration, Instant};

use cola_ia_core::clock::{Clock, Entropy, Timestamp};
use cola_ia_core::effect::{
    BeginAnswer, BeginId, EffectName, Evidence, Go, Micros, Policy, Reason, Refused, ReportAnswer, RequestHash,
};
use cola_ia_core::store::{EffectBegun, Failure, Looked};

use super::sent::{Judged, Sent};
use crate::cli::Problem;

/// How long an effect may be begun again within one call: each round is a lookup that found nothing, or a begin id that was
/// used. More of them are somebody else's doing, and the next attempt goes on.
const ROUNDS_MAX: u32 = 5;
/// First wait before somebody who gave no answer is asked again, and the longest.
const FIRST_WAIT: Duration = Duration::from_millis(200);
const MAX_WAIT: Duration = Duration::from_secs(5);

/// What is to be sent, and what may be done where nobody knows whether it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) name: EffectName,
    pub(crate) policy: Policy,
    pub(crate) request: Option<RequestHash>,
    pub(crate) expected: Option<Micros>,
    pub(crate) send_within: Duration,
    /// The longest time from the last instant at which it may be sent until it has taken effect, or never will.
    pub(crate) call_time: Duration,
}

/// What is said of a try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Word {
    /// With the currency of its cost, where one was told.
    Done(Evidence, Option<String>),
    Failed(Failure, Option<String>),
    Unknown(Option<String>),
    Looked(Looked),
}

/// Why there was no answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Unheard {
    /// Asking again may help. It is not known whether it was heard.
    Again(Problem),
    /// There will never be one.
    Never(Problem),
}

/// Who keeps the ledger.
pub(crate) trait Keeper {
    async fn begin(&self, plan: &Plan, id: BeginId) -> Result<EffectBegun, Unheard>;
    async fn report(&self, name: &EffectName, number: u32, word: &Word) -> Result<ReportAnswer, Unheard>;
    /// Waits before it is asked again, after having waited for so long; `false`: it is not worth it any more.
    async fn pause(&self, wait: Duration, waited: Duration) -> bool;
}

/// A permission to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Permission {
    pub(crate) key: String,
    pub(crate) go: Go,
}

/// What is to be looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) key: String,
    /// When it can have been sent first.
    pub(crate) begun_at: Option<Timestamp>,
}

/// What a lookup saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    Found(Evidence),
    Absent,
    /// It could not tell, and why not.
    Nothing(String),
}

/// Who sends and looks.
pub(crate) trait Sender {
    /// Sends it now.
    async fn send(&mut self, permission: &Permission) -> Judged;
    /// Looks whether it is there.
    async fn look(&mut self, check: &Check) -> Seen;
}

/// Why it is to be tried later. None of it is a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Later {
    /// What may have been sent could not be seen yet.
    Wait(Timestamp),
    /// The budget of the day is used up until then.
    Budget(Timestamp),
    /// The lookup could not tell, and why not.
    CouldNotTell(String),
    /// Nothing was sent, and why not; not before the instant, where one was named.
    NotSent(String, Option<Timestamp>),
}

/// What became of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// It has happened. `replayed`: before this call, and nothing was sent now.
    Done {
        evidence: Evidence,
        replayed: bool,
    },
    /// The destination refused it for good.
    Rejected(String),
    /// It was sent, and nobody knows whether it happened.
    Unknown(String),
    Later(Later),
    /// The job is held: only a person can tell.
    Held(Reason),
    Refused(Refused),
    /// The lease is lost. What is known of what happened was recorded all the same.
    LeaseLost {
        done: Option<Evidence>,
    },
    /// Nobody answered the question whether it may be sent, and nothing was sent.
    NotBegun(Problem),
    /// What happened could not be recorded: for the ledger it is unknown.
    NotRecorded {
        sent: Sent,
        problem: Problem,
    },
}

/// Sends an effect as its ledger allows, and says what happened.
pub(crate) async fn guard(
    keeper: &impl Keeper,
    sender: &mut impl Sender,
    plan: &Plan,
    (clock, entropy): (&dyn Clock, &dyn Entropy),
) -> Outcome {
    for _ in 0..ROUNDS_MAX {
        // Another process that asks has another one, so that it can never be taken for us.
        let id = BeginId::draw(entropy);
        let mut last_asked = Instant::now();
        let answer = persist(keeper, || {
            last_asked = Instant::now();
            keeper.begin(plan, id)
        });
        let begun = match answer.await {
            Ok(begun) => begun,
            Err(problem) => return Outcome::NotBegun(problem),
        };
        match begun.answer {
            BeginAnswer::Go(go) => {
                let permission = Permission { key: begun.key, go };
                let may_send = go.may_send(clock.now()) && last_asked.elapsed() < between(begun.at, go.send_before);
                return send(keeper, sender, plan, &permission, may_send).await;
            }
            BeginAnswer::Done(recorded) => return Outcome::Done { evidence: recorded.evidence, replayed: true },
            BeginAnswer::Check { ticket, begun_at } => {
                let check = Check { key: begun.key, begun_at };
                if let Some(outcome) = look(keeper, sender, plan, ticket, &check).await {
                    return outcome;
                }
            }
            BeginAnswer::Wait { until } => return Outcome::Later(Later::Wait(until)),
            BeginAnswer::Held(reason) => return Outcome::Held(reason),
            BeginAnswer::Used => {}
            BeginAnswer::Refused(Refused::LeaseLost) => return Outcome::LeaseLost { done: None },
            BeginAnswer::Refused(Refused::Budget { resets_at }) => return Outcome::Later(Later::Budget(resets_at)),
            BeginAnswer::Refused(refused) => return Outcome::Refused(refused),
        }
    }
    Outcome::Later(Later::NotSent("others began it meanwhile".to_owned(), None))
}

/// The time between two instants of one clock; none where the later one comes first.
fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::from_micros(to.as_micros().saturating_sub(from.as_micros()).max(0) as u64)
}

async fn send(
    keeper: &impl Keeper,
    sender: &mut impl Sender,
    plan: &Plan,
    permission: &Permission,
    may_send: bool,
) -> Outcome {
    let judged = if may_send {
        sender.send(permission).await
    } else {
        Judged::of(Sent::NotSent("the time in which it may be sent was over".to_owned()))
    };
    let word = judged.word();
    let answer = persist(keeper, || keeper.report(&plan.name, permission.go.number, &word)).await;
    match (answer, judged.sent) {
        (Err(problem), sent) => Outcome::NotRecorded { sent, problem },
        (Ok(ReportAnswer::LeaseLost), Sent::Done(evidence)) => Outcome::LeaseLost { done: Some(evidence) },
        (Ok(ReportAnswer::LeaseLost), _) => Outcome::LeaseLost { done: None },
        (Ok(_), Sent::Done(evidence)) => Outcome::Done { evidence, replayed: false },
        (Ok(_), Sent::Rejected(why)) => Outcome::Rejected(why),
        (Ok(_), Sent::NotSent(why)) => Outcome::Later(Later::NotSent(why, judged.retry_after)),
        (Ok(_), Sent::Unknown(why)) => Outcome::Unknown(why),
    }
}

/// `None`: nothing is there, and it is to be begun again.
async fn look(
    keeper: &impl Keeper,
    sender: &mut impl Sender,
    plan: &Plan,
    ticket: u32,
    check: &Check,
) -> Option<Outcome> {
    let looked = match sender.look(check).await {
        Seen::Found(evidence) => Looked::Found(evidence),
        Seen::Absent => Looked::Absent,
        Seen::Nothing(why) => return Some(Outcome::Later(Later::CouldNotTell(why))),
    };
    let found = match &looked {
        Looked::Found(evidence) => Some(evidence.clone()),
        Looked::Absent => None,
    };
    let word = Word::Looked(looked);
    match (persist(keeper, || keeper.report(&plan.name, ticket, &word)).await, found) {
        (Err(problem), Some(evidence)) => Some(Outcome::NotRecorded { sent: Sent::Done(evidence), problem }),
        (Err(problem), None) => Some(Outcome::NotBegun(problem)),
        (Ok(ReportAnswer::LeaseLost), done) => Some(Outcome::LeaseLost { done }),
        (Ok(ReportAnswer::Wait { until }), _) => Some(Outcome::Later(Later::Wait(until))),
        (Ok(_), Some(evidence)) => Some(Outcome::Done { evidence, replayed: true }),
        (Ok(_), None) => None,
    }
}

/// Asks until there is an answer, the same again: an answer may have been lost on its way.
async fn persist<T, F: Future<Output = Result<T, Unheard>>>(
    keeper: &impl Keeper,
    mut ask: impl FnMut() -> F,
) -> Result<T, Problem> {
    let begun = Instant::now();
    let mut wait = FIRST_WAIT;
    loop {
        match ask().await {
            Ok(answer) => return Ok(answer),
            Err(Unheard::Never(problem)) => return Err(problem),
            Err(Unheard::Again(problem)) => {
                if !keeper.pause(wait, begun.elapsed()).await {
                    return Err(problem);
                }
                wait = (wait * 2).min(MAX_WAIT);
            }
        }
    }
}

#[cfg(test)]
mod tests;
