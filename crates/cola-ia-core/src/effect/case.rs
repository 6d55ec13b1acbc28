//! What one verb reads and writes.

use super::money::Money;
use super::{Effect, EffectName, EffectState, MoneyMove, TryOutcome};
use crate::job::Job;

/// A job with its effects, read in one transaction, changed by a [`Ledger`](super::Ledger), and written back in the same one.
///
/// A store keeps the case that it read, and writes what is different afterwards: the job, effects and tries by their places
/// (nothing is removed and nothing changes its place; new ones stand at the end), and [`money`](Self::money). Where nothing is
/// different nothing has to be written. A verb that is refused may have changed the case all the same: write what is different
/// whatever the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The job.
    pub job: Job,
    /// The effects of its present run; those of earlier ones only where a verb names them.
    pub effects: Vec<Effect>,
    pub(super) money: Money,
}

impl Case {
    /// What was read.
    pub fn new(job: Job, effects: Vec<Effect>) -> Self {
        Self { job, effects, money: Money::default() }
    }

    /// What is to be added to the sums of the job's source, one a day.
    pub fn money(&self) -> impl Iterator<Item = MoneyMove> + '_ {
        self.money.moves()
    }

    /// The effect of this name in this run.
    pub fn effect(&self, run: u32, name: &EffectName) -> Option<&Effect> {
        self.find(run, name).map(|at| &self.effects[at])
    }

    /// Effects of the present run whose outcome is open.
    pub fn open(&self) -> impl Iterator<Item = &Effect> {
        self.of_run().filter(|effect| effect.state.is_open())
    }

    pub(super) fn of_run(&self) -> impl Iterator<Item = &Effect> {
        self.effects.iter().filter(|effect| effect.run == self.job.run)
    }

    pub(super) fn of_run_mut(&mut self) -> impl Iterator<Item = &mut Effect> {
        let run = self.job.run;
        self.effects.iter_mut().filter(move |effect| effect.run == run)
    }

    pub(super) fn find(&self, run: u32, name: &EffectName) -> Option<usize> {
        self.effects.iter().position(|effect| effect.run == run && effect.name == *name)
    }

    /// Whether an effect of the present run waits for a person.
    pub(super) fn waits_for_a_person(&self) -> bool {
        self.of_run().any(|effect| effect.state == EffectState::Held)
    }

    /// The try's outcome is known: its money goes with it.
    pub(super) fn close(&mut self, at: usize, index: usize, outcome: TryOutcome) {
        let closed = &mut self.effects[at].tries[index];
        if let Some(reservation) = closed.reserved.take() {
            self.money.release(reservation);
        }
        closed.outcome.get_or_insert(outcome);
    }

    pub(super) fn close_all(&mut self, at: usize, outcome: TryOutcome) {
        for index in 0..self.effects[at].tries.len() {
            self.close(at, index, outcome);
        }
    }
}
