//! Leasing jobs that are due.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::job::{JobState, LeaseToken};
use cola_ia_core::store::{
    Claim, ClaimRequest, EffectView, LEASES_MAX, Leased, OpId, StoreError, WORKER_NAME_MAX_BYTES, fitting,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::effects::case::{Cases, Records};
use super::job_row::{self, JobRow, Moves};
use super::row;
use super::rows::Rows;
use super::writer::Scope;

/// Texts and results of one answer: a claim takes no more jobs once it has so many bytes.
const ANSWER_MAX_BYTES: usize = 16 * 1024 * 1024;

/// Of `sources s`.
const NOT_PAUSED: &str =
    "NOT EXISTS (SELECT 1 FROM source_streaks k WHERE k.source = s.source AND k.paused_at IS NOT NULL)";

/// What a worker gets of `events e`: the content that was accepted last, else the one that entered.
const TEXT: &str =
    "coalesce((SELECT r.text FROM revisions r WHERE r.event = e.seq ORDER BY r.number DESC LIMIT 1), e.text)";

/// See [`Store::claim`](cola_ia_core::store::Store::claim).
pub(super) fn claim(scope: &Scope<'_>, op: OpId, request: &ClaimRequest) -> Result<Claim, StoreError> {
    let at = scope.clock.now();
    let connection = scope.connection;
    let claimed = || -> rusqlite::Result<Claim> {
        if let Some(leases) = claimed_before(connection, op)? {
            return Ok(Claim { at, leases, next_due: None });
        }
        let sources = sources(connection, request)?;
        let limit = (request.limit as usize).clamp(1, LEASES_MAX);
        let due = due(connection, &sources, at, limit)?;
        if due.is_empty() {
            return Ok(Claim { at, leases: Vec::new(), next_due: next_due(connection, &sources)? });
        }
        Ok(Claim { at, leases: lease(scope, op, &due, at, request)?, next_due: None })
    };
    claimed().map_err(|cause| scope.error(&cause))
}

/// What this claim gave, as far as its leases still hold; `None`: it gave nothing.
fn claimed_before(connection: &Connection, op: OpId) -> rusqlite::Result<Option<Vec<Leased>>> {
    let (first, last) = (LeaseToken::new(op.0, 0), LeaseToken::new(op.0, u16::MAX));
    let gave: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM attempts WHERE lease BETWEEN ?1 AND ?2)")?
        .query_row(params![first.0, last.0], |row| row.get(0))?;
    if !gave {
        return Ok(None);
    }
    let sql = format!(
        "SELECT {}, {TEXT}, a.lease, j.lease_until, a.number, j.crashes
         FROM attempts a JOIN jobs j ON j.event = a.event AND j.lease = a.lease
         {} WHERE a.lease BETWEEN ?1 AND ?2 ORDER BY a.lease",
        row::JOB_COLUMNS,
        row::JOB_JOINS,
    );
    let mut leases: Vec<Leased> = connection
        .prepare_cached(&sql)?
        .query_map(params![first.0, last.0], |row| {
            let column = row::JOB_COLUMNS_LEN;
            Ok(Leased {
                token: LeaseToken(row.get(column + 1)?),
                until: row::time(row, column + 2)?,
                attempt: row.get(column + 3)?,
                crashes: row.get(column + 4)?,
                text: text(row, column)?,
                effects: Vec::new(),
                job: row::job(row)?,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let mut cases = Cases::new(connection);
    for leased in &mut leases {
        if let Some(row) = JobRow::find(connection, leased.job.event.0)? {
            leased.effects = cases.of_run(row, Records::Bring)?.into_views(connection)?;
        }
    }
    Ok(Some(leases))
}

fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    row.get::<_, Option<String>>(column).map(Option::unwrap_or_default)
}

fn weight(view: &EffectView) -> usize {
    view.effect.records.iter().filter_map(|record| record.evidence.result.as_ref()).map(String::len).sum()
}

fn sources(connection: &Connection, request: &ClaimRequest) -> rusqlite::Result<Vec<i64>> {
    match &request.source {
        Some(source) => Ok(connection
            .prepare_cached(&format!("SELECT source FROM sources s WHERE name = ?1 AND {NOT_PAUSED}"))?
            .query_row([source.as_str()], |row| row.get(0))
            .optional()?
            .into_iter()
            .collect()),
        None => connection
            .prepare_cached(&format!("SELECT source FROM sources s WHERE {NOT_PAUSED}"))?
            .query_map([], |row| row.get(0))?
            .collect(),
    }
}

/// The events of the jobs that have been due longest. Each source has its stretch of the index, in the order in which they
/// are due.
fn due(connection: &Connection, sources: &[i64], now: Timestamp, limit: usize) -> rusqlite::Result<Vec<i64>> {
    let mut select = connection.prepare_cached(
        "SELECT due_at, event FROM jobs WHERE state = 'pending' AND source = ?1 AND due_at <= ?2
         ORDER BY due_at, event LIMIT ?3",
    )?;
    let mut due: Vec<(i64, i64)> = Vec::new();
    for source in sources {
        let rows = select.query_map((source, now.as_micros(), limit as i64), |row| Ok((row.get(0)?, row.get(1)?)))?;
        for row in rows {
            due.push(row?);
        }
    }
    due.sort_unstable();
    due.truncate(limit);
    Ok(due.into_iter().map(|(_, event)| event).collect())
}

fn next_due(connection: &Connection, sources: &[i64]) -> rusqlite::Result<Option<Timestamp>> {
    let mut select = connection
        .prepare_cached("SELECT due_at FROM jobs WHERE state = 'pending' AND source = ?1 ORDER BY due_at LIMIT 1")?;
    let mut next: Option<Timestamp> = None;
    for source in sources {
        let due = select.query_row([source], |row| row.get(0)).optional()?.map(Timestamp::from_micros);
        next = next.into_iter().chain(due).min();
    }
    Ok(next)
}

/// Leases these jobs, or as many of them as fit an answer.
fn lease(
    scope: &Scope<'_>,
    op: OpId,
    due: &[i64],
    at: Timestamp,
    request: &ClaimRequest,
) -> rusqlite::Result<Vec<Leased>> {
    let connection = scope.connection;
    let worker = fitting(&request.worker, WORKER_NAME_MAX_BYTES);
    let mut bytes = 0;
    let mut given: Vec<Leased> = Vec::with_capacity(due.len());
    let mut moves = Moves::new(scope, at)?;
    let columns = row::JOB_COLUMNS_LEN;
    let sql = format!(
        "SELECT {}, {TEXT}, {} FROM jobs j {} WHERE j.event = ?1",
        row::JOB_COLUMNS,
        job_row::COLUMNS,
        row::JOB_JOINS
    );
    let mut select = connection.prepare_cached(&sql)?;
    let mut cases = Cases::new(connection);
    for event in due {
        let (from, mut summary, text) = select
            .query_row([event], |row| Ok((JobRow::of(row, columns + 1)?, row::job(row)?, text(row, columns)?)))?;
        let token = LeaseToken::new(op.0, given.len() as u16);
        let job = from
            .job
            .claim(at, token, request.lease)
            .map_err(|_| row::unexpected("job", "due in the index, and not in its row"))?;
        let until = job.lease.map_or(at, |lease| lease.until);
        summary.state = JobState::Running;
        summary.reason = String::new();
        summary.attempts = job.attempts;
        summary.due_at = None;
        summary.lease_until = Some(until);
        let (attempt, crashes) = (from.leases + 1, job.crashes);
        let to = JobRow { job, leases: attempt, ..from };
        moves.job(JobState::Pending, &to, Some(&worker), None)?;
        let effects = cases.of_run(to, Records::Bring)?.into_views(connection)?;
        bytes += text.len() + effects.iter().map(weight).sum::<usize>();
        given.push(Leased { token, until, attempt, crashes, job: summary, text, effects });
        if bytes > ANSWER_MAX_BYTES {
            break;
        }
    }
    moves.count(None)?;
    let head = "INSERT OR FAIL INTO attempts (event, run, number, lease, worker, started_at) VALUES ";
    let mut insert = Rows::new(connection, head, "(?, ?, ?, ?, ?, ?)", "");
    insert.execute(&given, |row, leased| {
        row.bind(leased.job.event.0)?;
        row.bind(leased.job.run)?;
        row.bind(leased.attempt)?;
        row.bind(leased.token.0)?;
        row.bind(&*worker)?;
        row.bind(at.as_micros())
    })?;
    Ok(given)
}
