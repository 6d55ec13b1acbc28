//! What a person decides about conflicts.

use std::sync::Arc;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::OrderDenied;
use cola_ia_core::event::{Content, Delivery, EventId, EventType, Origin, Source};
use cola_ia_core::intake::{EventNumber, Intake};
use cola_ia_core::job::{JobState, Outcome, RetryPolicy};
use cola_ia_core::store::{
    Decision, DecisionKind, ErrorKind, NOTE_MAX_BYTES, OpId, RESOLVE_MAX, ResolveRequest, Resolved, StoreError,
};
use cola_ia_core::verdict::Verdict;
use rusqlite::{OptionalExtension as _, params};

use super::accept::{self, Prepared};
use super::effects::case::Cases;
use super::job_row::{JobRow, Moves};
use super::ops::Call;
use super::row;
use super::writer::Scope;
use crate::common::resolved::{answer_from, answer_of, digest_of};

/// See [`Store::resolve`](cola_ia_core::store::Store::resolve).
pub(super) fn resolve(scope: &Scope<'_>, op: OpId, request: &ResolveRequest) -> Result<Resolved, StoreError> {
    let call = Call { op, verb: "resolve", request: digest_of(request) };
    if let Some(first) = call.first_answer(scope)? {
        let answer = answer_from(&first.rest());
        return answer.ok_or_else(|| scope.error(&row::unexpected("answer", "not of a decision")));
    }
    let numbers = named(scope, request)?;
    let at = scope.clock.now();
    let (mut entered, mut rerun) = (None, false);
    for number in &numbers {
        let conflict = Conflict::read(scope, request.event.0, *number)?;
        match &request.decision {
            Decision::Keep => {}
            Decision::Accept { .. } => conflict.accept(scope, at)?,
            Decision::As(id) => entered = Some(conflict.enter(scope, id)?),
        }
        conflict.record(scope, at, request, entered.map(|(_, event)| event))?;
    }
    if let Decision::Accept { run: true } = request.decision {
        rerun = run_again(scope, request.event.0, at)?;
    }
    let resolved = now_stands(scope, request.event.0)
        .map(|(revision, state, run)| Resolved {
            decided_at: at,
            conflicts: numbers,
            revision,
            state,
            run,
            rerun,
            entered,
        })
        .map_err(|cause| scope.error(&cause))?;
    call.record(scope, at, &answer_of(&resolved))?;
    Ok(resolved)
}

/// The conflicts that the request is about.
fn named(scope: &Scope<'_>, request: &ResolveRequest) -> Result<Vec<u32>, StoreError> {
    let refused = |code| StoreError::new(ErrorKind::Invalid, code);
    if request.note.as_ref().is_some_and(|note| note.len() > NOTE_MAX_BYTES) {
        return Err(refused("note_too_long").with("limit", NOTE_MAX_BYTES));
    }
    let mut numbers: Vec<u32> = Vec::new();
    for number in &request.conflicts {
        if !numbers.contains(number) {
            numbers.push(*number);
        }
        if numbers.len() > RESOLVE_MAX {
            return Err(refused("resolve_too_many").with("limit", RESOLVE_MAX));
        }
    }
    let looked = scope
        .connection
        .prepare_cached("SELECT 1 FROM jobs WHERE event = ?1")
        .and_then(|mut select| select.exists([request.event.0]))
        .map_err(|cause| scope.error(&cause))?;
    if !looked {
        return Err(refused("event_unknown").with("event", request.event.0));
    }
    if numbers.is_empty() {
        numbers = scope
            .connection
            .prepare_cached(
                "SELECT number FROM conflicts WHERE event = ?1 AND decision IS NULL ORDER BY number LIMIT 2",
            )
            .and_then(|mut select| select.query_map([request.event.0], |row| row.get(0))?.collect())
            .map_err(|cause| scope.error(&cause))?;
        if numbers.len() != 1 {
            return Err(refused("conflict_not_named"));
        }
    }
    if numbers.len() > 1 && request.decision.kind() == DecisionKind::As {
        return Err(refused("resolve_too_many").with("limit", 1));
    }
    Ok(numbers)
}

/// A conflict that may be decided.
struct Conflict {
    event: i64,
    number: u32,
    fingerprint: [u8; 32],
    time: Option<i64>,
    event_type: Option<String>,
    text: Option<String>,
}

impl Conflict {
    fn read(scope: &Scope<'_>, event: i64, number: u32) -> Result<Self, StoreError> {
        let found = scope
            .connection
            .prepare_cached(
                "SELECT fingerprint, time, type, text, decision FROM conflicts WHERE event = ?1 AND number = ?2",
            )
            .and_then(|mut select| {
                select
                    .query_row(params![event, number], |row| {
                        let conflict = Self {
                            event,
                            number,
                            fingerprint: row.get(0)?,
                            time: row.get(1)?,
                            event_type: row.get(2)?,
                            text: row.get(3)?,
                        };
                        Ok((conflict, row.get::<_, Option<String>>(4)?))
                    })
                    .optional()
            })
            .map_err(|cause| scope.error(&cause))?;
        match found {
            None => Err(StoreError::new(ErrorKind::Invalid, "conflict_unknown").with("conflict", number)),
            Some((conflict, None)) => Ok(conflict),
            Some((conflict, Some(word))) if word == DecisionKind::Keep.as_str() => Ok(conflict),
            Some((_, Some(word))) => Err(StoreError::new(ErrorKind::Conflict, "conflict_decided")
                .with("conflict", number)
                .with("decision", word)),
        }
    }

    fn content(&self) -> Result<&str, StoreError> {
        let gone = || StoreError::new(ErrorKind::Conflict, "content_gone").with("conflict", self.number);
        self.text.as_deref().ok_or_else(gone)
    }

    /// Becomes the newest revision.
    fn accept(&self, scope: &Scope<'_>, at: Timestamp) -> Result<(), StoreError> {
        let text = self.content()?;
        scope
            .connection
            .prepare_cached(
                "INSERT INTO revisions (event, number, fingerprint, accepted_at, conflict, text)
                 VALUES (?1, (SELECT coalesce(max(number), 1) + 1 FROM revisions WHERE event = ?1), ?2, ?3, ?4, ?5)",
            )
            .and_then(|mut insert| {
                insert.execute(params![self.event, self.fingerprint, at.as_micros(), self.number, text])
            })
            .map(|_| ())
            .map_err(|cause| scope.error(&cause))
    }

    /// Goes through the gate under another id. It is a delivery like any other: counted where it is a repeated one.
    fn enter(&self, scope: &Scope<'_>, id: &EventId) -> Result<(Verdict, EventNumber), StoreError> {
        let sqlite = |cause: rusqlite::Error| scope.error(&cause);
        let text = self.content()?.to_owned();
        let source: String = scope
            .connection
            .prepare_cached("SELECT name FROM sources WHERE source = (SELECT source FROM events WHERE seq = ?1)")
            .and_then(|mut select| select.query_row([self.event], |row| row.get(0)))
            .map_err(sqlite)?;
        let delivery = Delivery {
            source: Source::new(&source).map_err(|_| sqlite(row::unexpected("source", &source)))?,
            id: id.clone(),
            // It is here already: the bound of the configuration is about what comes in.
            content: Content::new(text, usize::MAX).map_err(|code| sqlite(row::unexpected("text", code.as_str())))?,
            event_type: self.event_type.clone().and_then(|name| EventType::new(name).ok()),
            time: self.time.map(Timestamp::from_micros),
            origin: Origin { input: Arc::from("resolve"), line: self.event as u64 },
            body: None,
        };
        let prepared = Prepared::new(Arc::new(vec![Intake::Delivery(delivery)]), scope.slots)?;
        let receipts = accept::enter(scope, &prepared)?;
        match receipts.first().map(|receipt| (receipt.verdict, receipt.event)) {
            Some((verdict @ (Verdict::New | Verdict::Duplicate), Some(event))) => Ok((verdict, event)),
            // The transaction is rolled back: nothing of it stays.
            _ => Err(StoreError::new(ErrorKind::Conflict, "id_taken").with("source", source).with("id", id)),
        }
    }

    fn record(
        &self,
        scope: &Scope<'_>,
        at: Timestamp,
        request: &ResolveRequest,
        entered: Option<EventNumber>,
    ) -> Result<(), StoreError> {
        let word = request.decision.kind().as_str();
        let write = || {
            scope
                .connection
                .prepare_cached(
                    "INSERT INTO decisions (event, conflict, number, decision, decided_at, entered, note)
                     VALUES (?1, ?2, (SELECT count(*) + 1 FROM decisions WHERE event = ?1 AND conflict = ?2), ?3, ?4, ?5, ?6)",
                )?
                .execute(params![
                    self.event,
                    self.number,
                    word,
                    at.as_micros(),
                    entered.map(|event| event.0),
                    request.note
                ])?;
            scope
                .connection
                .prepare_cached(
                    "UPDATE conflicts SET decision = ?3, decided_at = ?4, note = ?5 WHERE event = ?1 AND number = ?2",
                )?
                .execute(params![self.event, self.number, word, at.as_micros(), request.note])?;
            // What this leaves behind is pruned in its turn.
            scope
                .connection
                .prepare_cached("UPDATE events SET pruned_at = NULL WHERE seq = ?1 AND pruned_at IS NOT NULL")?
                .execute([self.event])
        };
        write().map(|_| ()).map_err(|cause| scope.error(&cause))
    }
}

/// Gives the job a new run, unless it waits anyway. A worker that has it loses its lease.
fn run_again(scope: &Scope<'_>, event: i64, at: Timestamp) -> Result<bool, StoreError> {
    let sqlite = |cause: rusqlite::Error| scope.error(&cause);
    let rerun = || -> rusqlite::Result<Result<bool, OrderDenied>> {
        let job = JobRow::find(scope.connection, event)?.filter(|row| row.job.state != JobState::Pending);
        let Some(row) = job else { return Ok(Ok(false)) };
        let mut cases = Cases::new(scope.connection);
        let mut read = cases.of_all_runs(row)?;
        if let Err(denied) = cases.ledger_of(&read, at, &RetryPolicy::default())?.rerun(&mut read.case) {
            return Ok(Err(denied));
        }
        let mut moves = Moves::new(scope, at)?;
        read.write(&mut moves, None, Outcome::LeaseLost)?;
        moves.count(None)?;
        Ok(Ok(true))
    };
    rerun().map_err(sqlite)?.map_err(|_| StoreError::new(ErrorKind::Conflict, "effects_open"))
}

/// Newest revision, state and run.
fn now_stands(scope: &Scope<'_>, event: i64) -> rusqlite::Result<(u32, JobState, u32)> {
    scope
        .connection
        .prepare_cached(
            "SELECT (SELECT coalesce(max(number), 1) FROM revisions WHERE event = ?1), state, run FROM jobs WHERE event = ?1",
        )?
        .query_row([event], |row| {
            let state: String = row.get(1)?;
            let state = JobState::from_word(&state).ok_or_else(|| row::unexpected("state", &state))?;
            Ok((row.get(0)?, state, row.get(2)?))
        })
}
