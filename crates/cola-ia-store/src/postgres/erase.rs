//! A person's right to be forgotten: what an event said goes, that it was there stays.
//!
//! Whether no byte of it is left is not for this program to say: the server keeps earlier versions of rows until it vacuums, and
//! its log for as long as it was told to. The answer is never `gone`; `docs/OPERATIONS.md` says what to do.

use cola_ia_core::intake::{DeliveryNumber, EventNumber};
use cola_ia_core::job::{JobState, Outcome, RetryPolicy};
use cola_ia_core::store::{EraseRequest, Erased, ErrorKind, OpId, StoreError, erased_id, names};

use super::effects::case::{Records, ledger_of, read_cases};
use super::error::Fault;
use super::job_row::{self, JobRow, Moves};
use super::ops::Call;
use super::row::{Columns as _, unexpected};
use super::sql::params;
use super::tx::Tx;
use super::{erased, preview};
use crate::common::digest::digest;
use crate::common::erased::{answer_from, answer_of};

/// Deliveries that one step goes through.
const STEP: i64 = 20_000;

/// The reason of a job that was cancelled because its event was erased.
const REASON: &str = "erased";

/// See [`Store::erase`](cola_ia_core::store::Store::erase).
pub(super) async fn erase(tx: &Tx, op: OpId, request: &EraseRequest) -> Result<Option<Erased>, Fault> {
    let parts: [&[u8]; 3] = [
        request.source.as_str().as_bytes(),
        request.id.as_bytes(),
        &request.after.map_or(-1, |number| number.0).to_le_bytes(),
    ];
    let call = Call { op, verb: "erase", request: digest(&parts) };
    if let Some(first) = call.first_answer(tx).await? {
        return answer_from(&first.rest()).ok_or_else(|| unexpected("answer", "not of an erasure")).map(Some);
    }
    let Some(event) = preview::find(tx, request.source.as_str(), &request.id).await? else { return Ok(None) };
    let mut cancelled = false;
    if request.after.is_none() {
        let unfinished = unfinished(tx, event).await?;
        forget(tx, event, request).await?;
        if let Some(row) = unfinished {
            cancelled = cancel(tx, row).await?;
        }
    }
    let next = forget_deliveries(tx, event, request).await?;
    let erased_at = tx.one("SELECT erased_at FROM events WHERE seq = $1", params![event]).await?.time(0)?;
    let erased = Erased { event: EventNumber(event), erased_at, cancelled, gone: false, next };
    call.record(tx, &answer_of(&erased)).await?;
    Ok(Some(erased))
}

/// The job, where it is to be cancelled. A worker that has it, with a lease that still holds, may be about to write what is
/// to go.
async fn unfinished(tx: &Tx, event: i64) -> Result<Option<JobRow>, Fault> {
    let Some(row) = job_row::find(tx, event).await? else { return Ok(None) };
    if row.job.state == JobState::Running && !row.job.is_expired(tx.now) {
        return Err(StoreError::new(ErrorKind::Conflict, "job_running").with("event", event).into());
    }
    Ok(Some(row).filter(|row| !matches!(row.job.state, JobState::Done | JobState::Cancelled)))
}

/// What goes with the text. The rows stay, with fingerprints, times, costs and outcomes.
const CONTENT: [&str; 7] = [
    "UPDATE conflicts SET text = NULL, type = NULL, note = NULL WHERE event = $1",
    "UPDATE revisions SET text = NULL WHERE event = $1",
    "UPDATE decisions SET note = NULL WHERE event = $1",
    "UPDATE attempts SET stdout = NULL, stderr = NULL, late = NULL, error = NULL WHERE event = $1",
    "UPDATE effects SET note = NULL WHERE event = $1",
    "UPDATE effect_records SET result = NULL, resource_id = NULL
     WHERE effect IN (SELECT effect FROM effects WHERE event = $1)",
    "UPDATE jobs SET result = NULL, resource_id = NULL WHERE event = $1",
];

/// Takes what an event says, but for its id.
pub(super) async fn forget_content(tx: &Tx, event: i64) -> Result<(), Fault> {
    for sql in CONTENT {
        tx.execute(sql, params![event]).await?;
    }
    Ok(())
}

async fn forget(tx: &Tx, event: i64, request: &EraseRequest) -> Result<(), Fault> {
    let namespace: Vec<u8> = tx.one("SELECT namespace FROM store", params![]).await?.read(0)?;
    let hash = erased_id(&namespace, request.source.as_str(), &request.id);
    tx.execute(
        "UPDATE events SET id = $2, text = NULL, type = NULL, erased_at = coalesce(erased_at, $3) WHERE seq = $1",
        params![event, hash, tx.now.as_micros()],
    )
    .await?;
    erased::remember(tx, event).await?;
    forget_content(tx, event).await
}

/// Cancels the job; whether it is so now. With the outcome of an effect open it is held until that is settled: what may have
/// been paid or published, and its money, is still there for a person to see.
async fn cancel(tx: &Tx, row: JobRow) -> Result<bool, Fault> {
    let mut cases = read_cases(tx, vec![row], Records::Leave).await?;
    let ledger = ledger_of(tx, &cases, tx.now, &RetryPolicy::default()).await?;
    let Some(read) = cases.first_mut() else { return Ok(false) };
    if ledger.cancel(&mut read.case).is_err() {
        return Ok(false);
    }
    let cancelled = read.case.job.state == JobState::Cancelled;
    if cancelled {
        read.case.job.reason = REASON.into();
    }
    let mut moves = Moves::new(tx.now);
    read.write(tx, &mut moves, None, Outcome::Crashed).await?;
    moves.write(tx, None).await?;
    Ok(cancelled)
}

/// Goes through deliveries from where the last step ended: those of the event lose what they say, and refused ones their
/// detail where it names the id. Answers where the next step goes on.
async fn forget_deliveries(tx: &Tx, event: i64, request: &EraseRequest) -> Result<Option<DeliveryNumber>, Fault> {
    let rows = tx
        .query(
            "SELECT seq, event IS NOT DISTINCT FROM $3, CASE WHEN verdict = 'invalid' THEN detail END FROM deliveries
             WHERE seq > $1 ORDER BY seq LIMIT $2",
            params![request.after.map_or(0, |number| number.0), STEP, event],
        )
        .await?;
    let (mut last, mut own, mut naming) = (0, Vec::new(), Vec::new());
    for row in &rows {
        last = row.read::<i64>(0)?;
        if row.read(1)? {
            own.push(last);
        } else if row.read::<Option<&str>>(2)?.is_some_and(|detail| names(detail, &request.id)) {
            naming.push(last);
        }
    }
    tx.execute(
        "UPDATE deliveries SET type = NULL, origin = NULL
         WHERE seq = ANY($1) AND (type IS NOT NULL OR origin IS NOT NULL)",
        params![own],
    )
    .await?;
    tx.execute("UPDATE deliveries SET detail = '' WHERE seq = ANY($1)", params![naming]).await?;
    Ok((rows.len() as i64 == STEP).then_some(DeliveryNumber(last)))
}
