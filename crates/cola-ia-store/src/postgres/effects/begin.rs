//! May an effect be sent?

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{Begin, BeginAnswer, Ledger, Refused, UtcDay};
use cola_ia_core::job::{Outcome, RetryPolicy};
use cola_ia_core::store::EffectBegun;

use super::super::error::Fault;
use super::super::job_row::Moves;
use super::super::row::{Columns as _, unexpected};
use super::super::sql::params;
use super::super::sums;
use super::super::tx::Tx;
use super::case::{self, Identity, ReadCase, Records};
use super::holder;
use crate::common::effect::kept_policy;

/// See [`Store::effect_begin`](cola_ia_core::store::Store::effect_begin).
pub(in super::super) async fn begin(tx: &Tx, begin: &Begin, policy: &RetryPolicy) -> Result<EffectBegun, Fault> {
    let at = tx.now;
    let lost = || EffectBegun { at, key: String::new(), answer: BeginAnswer::Refused(Refused::LeaseLost) };
    let Some(holder) = holder::lock(tx, begin.lease).await? else { return Ok(lost()) };
    if !holder.job.job.is_held_by(begin.lease) {
        return Ok(lost());
    }
    let source = holder.job.source;
    let begin = &Begin { policy: kept_policy(&begin.policy), ..begin.clone() };
    let run = holder.job.job.run;
    let (mut read, known) = tokio::try_join!(
        case::of_run_and(tx, holder.job.clone(), run, Records::Of(&begin.name)),
        known(tx, holder.job.event),
    )?;
    read.identity = Some(known.identity);
    let budget =
        if known.budgeted { sums::budget(tx, source, UtcDay::of(at), begin.expected.is_some()).await? } else { None };
    let answer = Ledger::new(at, known.restored_at, *policy).begin(&mut read.case, begin, budget.as_ref());
    let mut moves = Moves::new(at);
    // An attempt that is answered `held` has given its job back.
    read.write(tx, &mut moves, Some((begin.lease, holder.attempt)), Outcome::Released).await?;
    if let BeginAnswer::Done(_) = answer {
        count_replay(tx, &mut read, begin, &mut moves).await?;
    }
    moves.write(tx, policy.pause_after).await?;
    let key = read.key(read.case.job.run, &begin.name)?;
    Ok(EffectBegun { at, key, answer })
}

/// What a begin needs to know besides its job and the effects.
struct Known {
    identity: Identity,
    restored_at: Option<Timestamp>,
    /// Whether the source has a budget. Nobody sets one while this runs.
    budgeted: bool,
}

async fn known(tx: &Tx, event: i64) -> Result<Known, Fault> {
    let row = tx
        .maybe(
            "SELECT st.namespace, s.name, e.id, st.restored_at,
                    EXISTS (SELECT 1 FROM budgets b WHERE b.source = e.source)
             FROM store st, events e JOIN sources s ON s.source = e.source WHERE e.seq = $1",
            params![event],
        )
        .await?
        .ok_or_else(|| unexpected("event", &event.to_string()))?;
    let identity = Identity { namespace: row.bytes(0)?, source: row.source(1)?, id: row.read(2)? };
    Ok(Known { identity, restored_at: row.maybe_time(3)?, budgeted: row.read(4)? })
}

/// A recorded result goes to an attempt that neither sent anything itself nor has had it before: it does not pay again.
async fn count_replay(tx: &Tx, read: &mut ReadCase, begin: &Begin, moves: &mut Moves<'_>) -> Result<(), Fault> {
    let Some(place) = read.place(read.case.job.run, &begin.name) else { return Ok(()) };
    let effect = &read.case.effects[place];
    let sent_it = effect.tries.iter().any(|one| one.lease == Some(begin.lease));
    if sent_it || read.kept[place].replayed_to == Some(begin.lease) {
        return Ok(());
    }
    if let Some(record) = effect.records.first() {
        moves.sums.replay(moves.at, read.row.source, record);
    }
    read.count_replay(tx, place, begin.lease).await
}
