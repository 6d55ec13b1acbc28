//! May an effect be sent?

use cola_ia_core::effect::{Begin, BeginAnswer, Refused, UtcDay};
use cola_ia_core::job::{Outcome, RetryPolicy};
use cola_ia_core::store::{EffectBegun, StoreError};

use super::super::job_row::Moves;
use super::super::lease::Find;
use super::super::sums;
use super::super::writer::Scope;
use super::case::{Cases, ReadCase, Records};
use crate::common::effect::kept_policy;

/// See [`Store::effect_begin`](cola_ia_core::store::Store::effect_begin).
pub(in super::super) fn begin(
    scope: &Scope<'_>,
    begin: &Begin,
    policy: &RetryPolicy,
) -> Result<EffectBegun, StoreError> {
    begun(scope, begin, policy).map_err(|cause| scope.error(&cause))
}

fn begun(scope: &Scope<'_>, begin: &Begin, policy: &RetryPolicy) -> rusqlite::Result<EffectBegun> {
    let at = scope.clock.now();
    let connection = scope.connection;
    let lost = || EffectBegun { at, key: String::new(), answer: BeginAnswer::Refused(Refused::LeaseLost) };
    let Some(attempt) = Find::new(connection)?.attempt(begin.lease)? else { return Ok(lost()) };
    let (row, source) = (attempt.row, attempt.job.source);
    let begin = &Begin { policy: kept_policy(&begin.policy), ..begin.clone() };
    let mut cases = Cases::new(connection);
    let mut read = cases.of_run(attempt.job, Records::Of(&begin.name))?;
    let budget = sums::budget(connection, source, UtcDay::of(at))?;
    let answer = cases.ledger(at, policy)?.begin(&mut read.case, begin, budget.as_ref());
    if answer == BeginAnswer::Refused(Refused::LeaseLost) {
        return Ok(lost());
    }
    let mut moves = Moves::new(scope, at)?;
    // An attempt that is answered `held` has given its job back.
    read.write(&mut moves, Some((begin.lease, row)), Outcome::Released)?;
    if let BeginAnswer::Done(_) = answer {
        count_replay(&mut read, begin, &mut moves)?;
    }
    moves.count(policy.pause_after)?;
    let key = read.key(read.case.job.run, &begin.name)?;
    Ok(EffectBegun { at, key, answer })
}

/// A recorded result goes to an attempt that neither sent anything itself nor has had it before: it does not pay again.
fn count_replay(read: &mut ReadCase<'_>, begin: &Begin, moves: &mut Moves<'_>) -> rusqlite::Result<()> {
    let Some(place) = read.place(read.case.job.run, &begin.name) else { return Ok(()) };
    let effect = &read.case.effects[place];
    let sent_it = effect.tries.iter().any(|one| one.lease == Some(begin.lease));
    if sent_it || read.kept[place].replayed_to == Some(begin.lease) {
        return Ok(());
    }
    if let Some(record) = effect.records.first() {
        moves.sums.replay(moves.at, read.row.source, record);
    }
    read.count_replay(place, begin.lease)
}
