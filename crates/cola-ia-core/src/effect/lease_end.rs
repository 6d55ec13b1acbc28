//! How the end of a lease, and what people order of a job, go together with its effects.
//!
//! Each function is the job's own move and the moves of its effects, as one: a store that ends a lease or moves a job in any
//! other way than by these leaves effects behind that nobody looks after.

use super::rules::Rule;
use super::{Case, EffectState, Ledger, Reason};
use crate::job::{Denied, Draw, Ending, Job, JobState, LeaseToken, Outcome};

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndAnswer {
    /// As said just now. Where it left the job stands in the case.
    Now(Outcome),
    /// As said before: nothing changed, and the answer is what is recorded with the attempt.
    Before,
}

/// Why an attempt does not end so. Nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndRefused {
    /// The lease is not, or no longer, the job's.
    LeaseLost,
    /// The job is not done while the outcome of an effect is open: [`Case::open`] has them.
    Unresolved,
}

/// Why an order is not followed. Nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OrderDenied {
    /// A job in this state does not take it.
    State(JobState),
    /// The outcome of an effect is open.
    EffectsOpen,
    /// An effect was given up: such a job is never done. A new run can be.
    Abandoned,
}

impl Ledger {
    /// Ends the lease as its holder says: [`Job::end`], and every intended effect becomes `unknown`. A job that would end `failed`
    /// with an effect open is held instead, and ends when that is settled.
    ///
    /// `before` is how the attempt of this lease ended, if it has: the same word again gets the same answer again.
    ///
    /// # Errors
    /// `LeaseLost`, `Unresolved`.
    pub fn end(
        &self,
        case: &mut Case,
        lease: LeaseToken,
        ending: Ending,
        before: Option<Outcome>,
    ) -> Result<EndAnswer, EndRefused> {
        if before == Some(ending.outcome()) && self.has(Rule::CompleteRepeat) {
            return Ok(EndAnswer::Before);
        }
        if !Self::holds(case, lease) {
            return Err(EndRefused::LeaseLost);
        }
        self.recall(case, None);
        if ending == Ending::Done && self.has(Rule::CompleteSettled) && case.open().next().is_some() {
            return Err(EndRefused::Unresolved);
        }
        let moved = case.job.end(self.now, lease, ending, &self.retry, Draw::of(lease));
        let (job, outcome) = moved.map_err(|_| EndRefused::LeaseLost)?;
        self.lease_ends(case, false);
        self.comes_to_rest(case, job);
        Ok(EndAnswer::Now(outcome))
    }

    /// Ends a lease that ran out: [`Job::expire`], and as [`end`](Self::end). The attempt has
    /// [`Crashed`](Outcome::Crashed).
    ///
    /// # Errors
    /// It has not run out, or there is none.
    pub fn expire(&self, case: &mut Case) -> Result<(), Denied> {
        let draw = case.job.lease.map_or(Draw(0), |lease| Draw::of(lease.token));
        let job = case.job.expire(self.now, &self.retry, draw)?;
        self.recall(case, None);
        self.lease_ends(case, true);
        self.comes_to_rest(case, job);
        Ok(())
    }

    /// Stops a job for good: [`Job::cancel`]. With an effect open it is held instead, and cancelled when that is settled.
    ///
    /// # Errors
    /// It has ended.
    pub fn cancel(&self, case: &mut Case) -> Result<(), OrderDenied> {
        let job = case.job.cancel().map_err(state)?;
        self.recall(case, None);
        self.lease_ends(case, false);
        self.comes_to_rest(case, job);
        Ok(())
    }

    /// Tries a job again: [`Job::retry`]. Effects stay as they are, and the next `begin` answers by them.
    ///
    /// # Errors
    /// It runs or it is done; an effect waits for a person; an effect was given up.
    pub fn retry(&self, case: &mut Case) -> Result<(), OrderDenied> {
        let job = case.job.retry(self.now).map_err(state)?;
        if case.waits_for_a_person() {
            return Err(OrderDenied::EffectsOpen);
        }
        if self.has(Rule::AbandonEnds) && case.of_run().any(|effect| effect.state == EffectState::Abandoned) {
            return Err(OrderDenied::Abandoned);
        }
        case.job = job;
        Ok(())
    }

    /// Works once more on what has ended: [`Job::replay`]. The effects of the new run have other keys. The case has the effects
    /// of all runs, or at least those that are open.
    ///
    /// # Errors
    /// It has not ended; the outcome of an effect is open.
    pub fn replay(&self, case: &mut Case) -> Result<(), OrderDenied> {
        if !self.has(Rule::ReplaySettled) && case.job.state == JobState::Held {
            case.job = case.job.rerun(self.now);
            return Ok(());
        }
        let job = case.job.replay(self.now).map_err(state)?;
        self.new_run(case, job)
    }

    /// A new run, whatever the state: [`Job::rerun`]. The case as for [`replay`](Self::replay).
    ///
    /// # Errors
    /// The outcome of an effect is open.
    pub fn rerun(&self, case: &mut Case) -> Result<(), OrderDenied> {
        let job = case.job.rerun(self.now);
        self.recall(case, None);
        self.new_run(case, job)
    }

    fn new_run(&self, case: &mut Case, job: Job) -> Result<(), OrderDenied> {
        if self.has(Rule::ReplaySettled) && case.effects.iter().any(|effect| effect.state.is_open()) {
            return Err(OrderDenied::EffectsOpen);
        }
        case.job = job;
        Ok(())
    }

    /// A restored store: who held the lease has lost it, and has its attempt back. [`Outcome::LeaseLost`].
    pub fn void_lease(&self, case: &mut Case) {
        if case.job.state == JobState::Running {
            self.lease_ends(case, true);
            case.job = case.job.given_back(self.now);
        }
    }

    /// A held job goes on, when no effect of it is held any more.
    pub(super) fn wake(&self, case: &mut Case) {
        if case.job.state == JobState::Held && !case.waits_for_a_person() {
            let job = case.job.settled(self.now, &self.retry, self.has(Rule::HeldFree));
            self.comes_to_rest(case, job);
        }
    }

    /// Where a job goes when its lease has ended: not to its end while an effect is open.
    fn comes_to_rest(&self, case: &mut Case, job: Job) {
        let ends = matches!(job.state, JobState::Failed | JobState::Cancelled);
        if ends && self.has(Rule::EndHeld) && case.open().next().is_some() {
            for effect in case.of_run_mut().filter(|effect| effect.state == EffectState::Unknown) {
                effect.becomes(EffectState::Held, Some(Reason::JobEnds));
            }
            case.job = job.held_until_settled();
        } else {
            case.job = job;
        }
    }
}

fn state(denied: Denied) -> OrderDenied {
    match denied {
        Denied::State(state) => OrderDenied::State(state),
        // No order carries a lease.
        Denied::LeaseLost => OrderDenied::State(JobState::Running),
    }
}
