//! What a person decides about conflicts.

use std::sync::Arc;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{Content, Delivery, EventId, EventType, Origin, Source};
use cola_ia_core::intake::{EventNumber, Intake};
use cola_ia_core::job::{JobState, Outcome, RetryPolicy};
use cola_ia_core::store::{
    Decision, DecisionKind, ErrorKind, NOTE_MAX_BYTES, OpId, RESOLVE_MAX, ResolveRequest, Resolved, StoreError,
};
use cola_ia_core::verdict::Verdict;

use super::accept;
use super::effects::case::{ledger_of, of_all_runs};
use super::error::Fault;
use super::job_row::{self, Moves};
use super::ops::Call;
use super::row::{Columns as _, unexpected};
use super::sql::params;
use super::tx::Tx;
use crate::common::resolved::{answer_from, answer_of, digest_of};

/// See [`Store::resolve`](cola_ia_core::store::Store::resolve).
pub(super) async fn resolve(tx: &Tx, op: OpId, request: &ResolveRequest) -> Result<Resolved, Fault> {
    let call = Call { op, verb: "resolve", request: digest_of(request) };
    if let Some(first) = call.first_answer(tx).await? {
        return answer_from(&first.rest()).ok_or_else(|| unexpected("answer", "not of a decision"));
    }
    let numbers = named(tx, request).await?;
    let (mut entered, mut rerun) = (None, false);
    for number in &numbers {
        let conflict = Conflict::read(tx, request.event.0, *number).await?;
        match &request.decision {
            Decision::Keep => {}
            Decision::Accept { .. } => conflict.accept(tx).await?,
            Decision::As(id) => entered = Some(conflict.enter(tx, id).await?),
        }
        conflict.record(tx, request, entered.map(|(_, event)| event)).await?;
    }
    if let Decision::Accept { run: true } = request.decision {
        rerun = run_again(tx, request.event.0).await?;
    }
    let (revision, state, run) = now_stands(tx, request.event.0).await?;
    let resolved = Resolved { decided_at: tx.now, conflicts: numbers, revision, state, run, rerun, entered };
    call.record(tx, &answer_of(&resolved)).await?;
    Ok(resolved)
}

/// The conflicts that the request is about.
async fn named(tx: &Tx, request: &ResolveRequest) -> Result<Vec<u32>, Fault> {
    let refused = |code| StoreError::new(ErrorKind::Invalid, code);
    if request.note.as_ref().is_some_and(|note| note.len() > NOTE_MAX_BYTES) {
        return Err(refused("note_too_long").with("limit", NOTE_MAX_BYTES).into());
    }
    let mut numbers: Vec<u32> = Vec::new();
    for number in &request.conflicts {
        if !numbers.contains(number) {
            numbers.push(*number);
        }
        if numbers.len() > RESOLVE_MAX {
            return Err(refused("resolve_too_many").with("limit", RESOLVE_MAX).into());
        }
    }
    if tx.maybe("SELECT 1 FROM jobs WHERE event = $1", params![request.event.0]).await?.is_none() {
        return Err(refused("event_unknown").with("event", request.event.0).into());
    }
    if numbers.is_empty() {
        let rows = tx
            .query(
                "SELECT number FROM conflicts WHERE event = $1 AND decision IS NULL ORDER BY number LIMIT 2",
                params![request.event.0],
            )
            .await?;
        numbers = rows.iter().map(|row| row.count(0)).collect::<Result<_, _>>()?;
        if numbers.len() != 1 {
            return Err(refused("conflict_not_named").into());
        }
    }
    if numbers.len() > 1 && request.decision.kind() == DecisionKind::As {
        return Err(refused("resolve_too_many").with("limit", 1).into());
    }
    Ok(numbers)
}

/// A conflict that may be decided.
struct Conflict {
    event: i64,
    number: u32,
    fingerprint: Vec<u8>,
    time: Option<i64>,
    event_type: Option<String>,
    text: Option<String>,
}

impl Conflict {
    async fn read(tx: &Tx, event: i64, number: u32) -> Result<Self, Fault> {
        let sql = "SELECT fingerprint, time, type, text, decision FROM conflicts WHERE event = $1 AND number = $2";
        let Some(row) = tx.maybe(sql, params![event, i64::from(number)]).await? else {
            return Err(StoreError::new(ErrorKind::Invalid, "conflict_unknown").with("conflict", number).into());
        };
        match row.read::<Option<&str>>(4)? {
            Some(word) if word != DecisionKind::Keep.as_str() => {
                let decided = StoreError::new(ErrorKind::Conflict, "conflict_decided");
                Err(decided.with("conflict", number).with("decision", word).into())
            }
            _ => Ok(Self {
                event,
                number,
                fingerprint: row.read(0)?,
                time: row.read(1)?,
                event_type: row.read(2)?,
                text: row.read(3)?,
            }),
        }
    }

    fn content(&self) -> Result<&str, StoreError> {
        let gone = || StoreError::new(ErrorKind::Conflict, "content_gone").with("conflict", self.number);
        self.text.as_deref().ok_or_else(gone)
    }

    /// Becomes the newest revision.
    async fn accept(&self, tx: &Tx) -> Result<(), Fault> {
        let text = self.content()?;
        tx.execute(
            "INSERT INTO revisions (event, number, fingerprint, accepted_at, conflict, text)
             VALUES ($1, (SELECT coalesce(max(number), 1) + 1 FROM revisions WHERE event = $1), $2, $3, $4, $5)",
            params![self.event, self.fingerprint, tx.now.as_micros(), i64::from(self.number), text],
        )
        .await
        .map(drop)
    }

    /// Goes through the gate under another id. It is a delivery like any other: counted where it is a repeated one.
    async fn enter(&self, tx: &Tx, id: &EventId) -> Result<(Verdict, EventNumber), Fault> {
        let text = self.content()?.to_owned();
        let source: Source = tx
            .one(
                "SELECT name FROM sources WHERE source = (SELECT source FROM events WHERE seq = $1)",
                params![self.event],
            )
            .await?
            .source(0)?;
        let delivery = Delivery {
            source: source.clone(),
            id: id.clone(),
            // It is here already: the bound of the configuration is about what comes in.
            content: Content::new(text, usize::MAX).map_err(|code| unexpected("text", code.as_str()))?,
            event_type: self.event_type.clone().and_then(|name| EventType::new(name).ok()),
            time: self.time.map(Timestamp::from_micros),
            origin: Origin { input: Arc::from("resolve"), line: self.event as u64 },
            body: None,
        };
        let receipts = accept::enter(tx, &[Intake::Delivery(delivery)]).await?;
        match receipts.first().map(|receipt| (receipt.verdict, receipt.event)) {
            Some((verdict @ (Verdict::New | Verdict::Duplicate), Some(event))) => Ok((verdict, event)),
            // The transaction is rolled back: nothing of it stays.
            _ => {
                let taken = StoreError::new(ErrorKind::Conflict, "id_taken");
                Err(taken.with("source", source).with("id", id).into())
            }
        }
    }

    async fn record(&self, tx: &Tx, request: &ResolveRequest, entered: Option<EventNumber>) -> Result<(), Fault> {
        let (word, number) = (request.decision.kind().as_str(), i64::from(self.number));
        tx.execute(
            "INSERT INTO decisions (event, conflict, number, decision, decided_at, entered, note)
             VALUES ($1, $2, (SELECT count(*) + 1 FROM decisions WHERE event = $1 AND conflict = $2), $3, $4, $5, $6)",
            params![
                self.event,
                number,
                word,
                tx.now.as_micros(),
                entered.map(|event| event.0),
                request.note.as_deref()
            ],
        )
        .await?;
        tx.execute(
            "UPDATE conflicts SET decision = $3, decided_at = $4, note = $5 WHERE event = $1 AND number = $2",
            params![self.event, number, word, tx.now.as_micros(), request.note.as_deref()],
        )
        .await?;
        // What this leaves behind is pruned in its turn.
        let unprune = "UPDATE events SET pruned_at = NULL WHERE seq = $1 AND pruned_at IS NOT NULL";
        tx.execute(unprune, params![self.event]).await.map(drop)
    }
}

/// Gives the job a new run, unless it waits anyway. A worker that has it loses its lease.
async fn run_again(tx: &Tx, event: i64) -> Result<bool, Fault> {
    let job = job_row::find(tx, event).await?.filter(|row| row.job.state != JobState::Pending);
    let Some(row) = job else { return Ok(false) };
    let mut cases = of_all_runs(tx, vec![row]).await?;
    let ledger = ledger_of(tx, &cases, tx.now, &RetryPolicy::default()).await?;
    let Some(read) = cases.first_mut() else { return Ok(false) };
    if ledger.rerun(&mut read.case).is_err() {
        return Err(StoreError::new(ErrorKind::Conflict, "effects_open").into());
    }
    let mut moves = Moves::new(tx.now);
    read.write(tx, &mut moves, None, Outcome::LeaseLost).await?;
    moves.write(tx, None).await?;
    Ok(true)
}

/// Newest revision, state and run.
async fn now_stands(tx: &Tx, event: i64) -> Result<(u32, JobState, u32), Fault> {
    let row = tx
        .one(
            "SELECT (SELECT coalesce(max(number), 1) FROM revisions WHERE event = $1), state, run FROM jobs WHERE event = $1",
            params![event],
        )
        .await?;
    let word: &str = row.read(1)?;
    let state = JobState::from_word(word).ok_or_else(|| unexpected("state", word))?;
    Ok((row.count(0)?, state, row.count(2)?))
}
