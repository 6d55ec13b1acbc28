//! Marking a store as restored: what it does not know may have happened.

use cola_ia_core::clock::{Entropy as _, SystemEntropy, Timestamp};
use cola_ia_core::effect::Ledger;
use cola_ia_core::job::{Outcome, RetryPolicy};
use cola_ia_core::store::{ErrorKind, OpId, Restored, RestoredMark, StoreError};

use super::effects::case::{self, Records};
use super::error::Fault;
use super::job_row::{self, Moves};
use super::ops::{Call, Numbers};
use super::row::Columns as _;
use super::sql::params;
use super::tx::Tx;
use crate::common::digest::digest;

/// See [`Store::restored`](cola_ia_core::store::Store::restored).
pub(super) async fn restored(tx: &Tx, op: OpId, mark: RestoredMark) -> Result<Restored, Fault> {
    let request = match mark {
        RestoredMark::At(at) => digest(&[b"at", &at.as_micros().to_le_bytes()]),
        RestoredMark::Cleared => digest(&[b"cleared"]),
    };
    let call = Call { op, verb: "restored", request };
    if let Some(first) = call.first_answer(tx).await? {
        return unpacked(first);
    }
    let now = tx.now;
    let answer = match mark {
        RestoredMark::At(at) if at > now => {
            let future = StoreError::new(ErrorKind::Invalid, "restored_in_future");
            return Err(future.with("at", at).with("now", now).into());
        }
        RestoredMark::At(at) => set(tx, at).await?,
        RestoredMark::Cleared => clear(tx).await?,
    };
    call.record(tx, &packed(answer)).await?;
    Ok(answer)
}

/// Marks the store and voids all leases. Of two marks the later one counts: until then somebody may have gone on with what
/// the store does not know.
pub(super) async fn set(tx: &Tx, at: Timestamp) -> Result<Restored, Fault> {
    let leases_voided = void_leases(tx).await?;
    // Who follows has seen what is no longer here: its place is none of this store's.
    let mut incarnation = [0_u8; 16];
    SystemEntropy.fill(&mut incarnation);
    let restored_at = tx
        .one(
            "UPDATE store SET restored_at = greatest($1, restored_at, backed_up_at), incarnation = $2
             RETURNING restored_at",
            params![at.as_micros(), &incarnation[..]],
        )
        .await?
        .time(0)?;
    Ok(Restored { restored_at: Some(restored_at), leases_voided })
}

/// The store knows again all that happened, says a person. It is no longer a backup either.
async fn clear(tx: &Tx) -> Result<Restored, Fault> {
    tx.execute("UPDATE store SET restored_at = NULL, backed_up_at = NULL", params![]).await?;
    Ok(Restored { restored_at: None, leases_voided: 0 })
}

/// When the store was restored, until a person clears it.
pub(super) async fn restored_at(tx: &Tx) -> Result<Option<Timestamp>, Fault> {
    tx.one("SELECT restored_at FROM store", params![]).await?.maybe_time(0)
}

/// Who held a lease when the backup was made has lost it: the job waits again and has its attempt back, and of what it had
/// begun nobody knows the outcome. There are as many as workers had in hand.
async fn void_leases(tx: &Tx) -> Result<u64, Fault> {
    // The words of the partial index stand there too, or it is not used.
    let running = tx
        .query("SELECT event FROM jobs WHERE state = 'running' AND state NOT IN ('pending', 'done')", params![])
        .await?;
    let running = running.iter().map(|row| row.read(0)).collect::<Result<Vec<i64>, Fault>>()?;
    let mut jobs: Vec<_> = job_row::find_many(tx, &running).await?.into_values().collect();
    jobs.sort_unstable_by_key(|job| job.event);
    let mut read = case::read_cases(tx, jobs, Records::Leave).await?;
    let ledger = Ledger::new(tx.now, None, RetryPolicy::default());
    let mut moves = Moves::new(tx.now);
    for read in &mut read {
        ledger.void_lease(&mut read.case);
    }
    case::write(tx, &mut read, &mut moves, None, Outcome::LeaseLost).await?;
    moves.write(tx, None).await?;
    Ok(running.len() as u64)
}

/// No mark is the least number, which is no instant of any clock.
fn packed(answer: Restored) -> [i64; 2] {
    [answer.restored_at.map_or(i64::MIN, Timestamp::as_micros), answer.leases_voided as i64]
}

fn unpacked(mut numbers: Numbers) -> Result<Restored, Fault> {
    let at = numbers.take()?;
    let leases_voided = numbers.take()? as u64;
    Ok(Restored { restored_at: (at != i64::MIN).then_some(Timestamp::from_micros(at)), leases_voided })
}
