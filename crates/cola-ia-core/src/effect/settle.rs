//! What a person says of an effect that is held.

use super::rules::Rule;
use super::{Case, EffectName, EffectState, Evidence, Ledger, TryOutcome, Witness};
use crate::clock::Timestamp;

/// A person's word, or that of a check command that acts for one, after looking at the destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It happened: what is there now. More than one is a double effect; none is no evidence.
    Found(Vec<Evidence>),
    /// It did not happen.
    Absent,
    /// Nobody will find out. Its money stays at risk, and the job fails.
    Abandon,
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SettleAnswer {
    /// It counts. Where it was the last held effect, its job goes on or ends as it was to end.
    Recorded,
    /// Something that was sent may still happen: look again from this instant on.
    Wait {
        /// Not before.
        until: Timestamp,
    },
    /// The effect is not held, or another try was made since it was looked at.
    Void,
    /// There is no such effect.
    Missing,
}

impl Ledger {
    /// Settles a held effect of the job's present run. `number` is the newest try when the person looked. Said again it is
    /// [`Void`](SettleAnswer::Void).
    pub fn settle(&self, case: &mut Case, name: &EffectName, number: u32, decision: &Decision) -> SettleAnswer {
        let Some(at) = case.find(case.job.run, name) else { return SettleAnswer::Missing };
        self.recall(case, None);
        let effect = &case.effects[at];
        if effect.state != EffectState::Held || (number != effect.newest() && self.has(Rule::PersonTry)) {
            return SettleAnswer::Void;
        }
        let open = effect.open_tries().count();
        let cannot_change = match decision {
            Decision::Found(found) if found.is_empty() => return SettleAnswer::Void,
            // There is nothing else that it could become: one try, or one key that the destination never forgot between two.
            Decision::Found(_) => open == 1 || (effect.policy.key_ttl.is_some() && !effect.policy.may_double()),
            Decision::Absent => false,
            Decision::Abandon => true,
        };
        if self.has(Rule::PersonWaits)
            && !cannot_change
            && let Some(until) = effect.settled_at().filter(|until| self.now < *until)
        {
            return SettleAnswer::Wait { until };
        }
        match decision {
            Decision::Found(found) => {
                let all: Vec<usize> = (0..effect.tries.len()).collect();
                // Each is one try's, in their order, as far as there are tries.
                let number_of = |place: usize| {
                    let open = effect.tries.iter().enumerate().filter(|(_, one)| one.is_open());
                    open.map(|(index, _)| index as u32 + 1).nth(place).filter(|_| found.len() > 1)
                };
                let told: Vec<_> =
                    found.iter().enumerate().map(|(place, one)| (one.clone(), number_of(place))).collect();
                self.record(case, at, &told, Witness::Person, &all);
            }
            Decision::Absent => {
                case.close_all(at, TryOutcome::Absent);
                case.effects[at].becomes(EffectState::Failed, None);
            }
            Decision::Abandon => {
                case.effects[at].becomes(EffectState::Abandoned, None);
                if self.has(Rule::AbandonEnds) {
                    case.job = case.job.doomed();
                }
            }
        }
        self.wake(case);
        SettleAnswer::Recorded
    }
}
