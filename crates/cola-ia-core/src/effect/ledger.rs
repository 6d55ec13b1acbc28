//! The circumstances under which a verb is decided, and what verbs are made of.

use super::rules::{Rule, Rules};
use super::{Begin, Case, Effect, EffectState, Policy, Reason, Try};
use crate::clock::Timestamp;
use crate::job::{JobState, LeaseToken, RetryPolicy};

/// The ledger at one instant: what its verbs know besides the [`Case`].
#[derive(Debug, Clone, Copy)]
pub struct Ledger {
    pub(super) now: Timestamp,
    pub(super) restored_at: Option<Timestamp>,
    pub(super) retry: RetryPolicy,
    pub(super) tries_max: usize,
    rules: Rules,
}

impl Ledger {
    /// Now by the store's clock, the mark of a restored store, and how often jobs are tried again.
    pub fn new(now: Timestamp, restored_at: Option<Timestamp>, retry: RetryPolicy) -> Self {
        Self { now, restored_at, retry, tries_max: super::TRIES_MAX, rules: Rules::ALL }
    }

    /// Without this rule: for tests that expect a mistake to be found.
    #[cfg(any(test, feature = "removable-rules"))]
    #[must_use]
    pub fn without(self, rule: Rule) -> Self {
        Self { rules: self.rules.without(rule), ..self }
    }

    pub(super) const fn has(&self, rule: Rule) -> bool {
        self.rules.has(rule)
    }

    /// What a restored store shows of a job's effects: as every verb sees them. For views; verbs do this themselves.
    pub fn seen(&self, case: &mut Case) {
        self.recall(case, None);
    }

    /// What the store was restored over counts as begun just then. A real store does this when it is asked, for it does not know
    /// the names that it lost: so does this function, at the start of each verb.
    ///
    /// Effects of a job that has ended wait until it is tried again; `done` and `abandoned` ones stay what they are, and one that
    /// was begun by the lease that still holds waits for its outcome.
    pub(super) fn recall(&self, case: &mut Case, begin: Option<&Begin>) {
        let Some(restored_at) = self.restored_at.filter(|_| self.has(Rule::RestoreUnknown)) else { return };
        if matches!(case.job.state, JobState::Done | JobState::Failed | JobState::Cancelled) {
            return;
        }
        for effect in case.of_run_mut() {
            if Self::is_recalled(effect, restored_at) {
                continue;
            }
            if effect.state == EffectState::Failed {
                effect.becomes(EffectState::Unknown, Some(Reason::Restored));
            }
            effect.look_first = false;
            let lost = Self::lost_try(effect, restored_at, begin);
            effect.tries.push(lost);
        }
        if let Some(begin) = begin
            && case.find(case.job.run, &begin.name).is_none()
            && case.of_run().count() < super::EFFECTS_MAX
        {
            let (run, name, policy) = (case.job.run, begin.name.clone(), begin.policy.clone());
            let mut effect = Effect::new(run, name, policy, self.now, EffectState::Unknown);
            effect.reason = Some(Reason::Restored);
            let lost = Self::lost_try(&effect, restored_at, Some(begin));
            effect.tries.push(lost);
            case.effects.push(effect);
        }
    }

    fn is_recalled(effect: &Effect, restored_at: Timestamp) -> bool {
        matches!(effect.state, EffectState::Done | EffectState::Abandoned | EffectState::Intended)
            || effect.tries.iter().any(|one| one.is_of_restore() && one.begun_at >= restored_at)
    }

    /// What may have been begun until the store was restored. How long it may take nobody knows: as long as any try that is
    /// known of.
    fn lost_try(effect: &Effect, restored_at: Timestamp, begin: Option<&Begin>) -> Try {
        let (mut send_within, mut call_time) = effect.spans();
        if let Some(begin) = begin.filter(|begin| begin.name == effect.name) {
            send_within = send_within.max(begin.send_within);
            call_time = call_time.max(begin.call_time);
        }
        let send_before = restored_at.after(send_within);
        Try {
            begin_id: None,
            lease: None,
            request: None,
            begun_at: restored_at,
            send_before,
            deadline: send_before.after(call_time),
            key_until: None,
            expected: None,
            reserved: None,
            outcome: None,
        }
    }

    /// The effect's newest try may have been sent, and nobody who is known to know will say.
    pub(super) fn becomes_unknown(&self, effect: &mut Effect, reason: Reason) {
        effect.becomes(EffectState::Unknown, Some(reason));
        if !self.has(Rule::SettleFromDeadline)
            && let Some(newest) = effect.tries.last_mut()
        {
            newest.deadline = newest.deadline.min(self.now);
        }
    }

    /// Every end of a lease: nobody may send any more, and what was sent may happen.
    pub(super) fn lease_ends(&self, case: &mut Case, lost: bool) {
        if !lost && !self.has(Rule::AnyEnd) {
            return;
        }
        for effect in case.of_run_mut().filter(|effect| effect.state == EffectState::Intended) {
            self.becomes_unknown(effect, Reason::LeaseEnded);
        }
    }

    /// Whether this is the lease under which the job runs.
    pub(super) fn holds(case: &Case, lease: LeaseToken) -> bool {
        case.job.is_held_by(lease)
    }

    /// What is recorded of an effect that nobody began here. Its policy is the strictest.
    pub(super) fn unheard_of(&self, run: u32, name: &super::EffectName) -> Effect {
        Effect::new(run, name.clone(), Policy::default(), self.now, EffectState::Unknown)
    }
}
