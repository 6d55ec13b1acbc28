//! Leasing jobs that are due.
//!
//! Claims of a process that wait together and want jobs of the same source take them in one stretch, in the order in which the
//! jobs are due, and share them out. What another one is about to lease is passed over and not waited for.

use std::collections::HashMap;
use std::sync::Arc;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{EventType, Source};
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::{JobState, LeaseToken};
use cola_ia_core::store::{
    Claim, ClaimRequest, EffectView, JobSummary, LEASES_MAX, Leased, OpId, StoreError, WORKER_NAME_MAX_BYTES, fitting,
};
use tokio_postgres::Row;

use super::due;
use super::effects::case::{Records, read_cases};
use super::error::Fault;
use super::job_row::{self, JobRow, Moves};
use super::lane::Grouped;
use super::row::{Columns as _, unexpected};
use super::shared::Work;
use super::sql::params;
use super::tx::Tx;

/// Texts and results of one answer: a claim takes no more jobs once it has so many bytes.
const ANSWER_MAX_BYTES: usize = 16 * 1024 * 1024;

/// Bytes of a text that is read with its job. Longer ones are read once it is known which claim takes them.
const SHORT_TEXT_MAX_BYTES: i64 = 16 * 1024;

/// What is read of `jobs j` and its event besides [`job_row::COLUMNS`].
pub(super) const EVENT_COLUMNS: &str = "j.resource_id, (SELECT s.name FROM sources s WHERE s.source = e.source), e.id, e.type, e.time, \
     e.received_at, e.erased_at, octet_length(e.text)::bigint, CASE WHEN octet_length(e.text) <= 16384 THEN e.text END";

/// What is joined to `jobs j` for [`EVENT_COLUMNS`]. An outer join: where damage took an event, its job is an error and not left
/// out. The text is the content that was accepted last, else the one that entered.
pub(super) const EVENT_JOINS: &str = "LEFT JOIN LATERAL (SELECT e.source, e.id, e.type, e.time, e.received_at, e.erased_at, \
         coalesce((SELECT r.text FROM revisions r WHERE r.event = e.seq ORDER BY r.number DESC LIMIT 1), e.text) AS text \
     FROM events e WHERE e.seq = j.event OFFSET 0) e ON true";

/// A call of [`Store::claim`](cola_ia_core::store::Store::claim).
type Call = (OpId, ClaimRequest);

/// Calls that run together.
pub(super) struct Claims;

impl Grouped for Claims {
    type Request = Call;
    type Answer = Claim;

    fn weight((_, request): &Call) -> usize {
        wanted(request)
    }

    fn run<'a>(tx: &'a Tx, calls: &'a [Arc<Call>]) -> Work<'a, Vec<Result<Claim, StoreError>>> {
        Box::pin(async move { Ok(claim(tx, calls).await?.into_iter().map(Ok).collect()) })
    }
}

fn wanted(request: &ClaimRequest) -> usize {
    (request.limit as usize).clamp(1, LEASES_MAX)
}

async fn claim(tx: &Tx, calls: &[Arc<Call>]) -> Result<Vec<Claim>, Fault> {
    // A call that was repeated before it was answered is answered once.
    let mut of_op: HashMap<OpId, Claim> = HashMap::with_capacity(calls.len());
    let mut alike: Vec<(Option<&Source>, Vec<&Call>)> = Vec::new();
    for call in calls {
        let (op, request) = &**call;
        if calls.iter().find(|one| one.0 == *op).is_some_and(|first| !Arc::ptr_eq(first, call)) {
            continue;
        }
        match alike.iter_mut().find(|(source, _)| *source == request.source.as_ref()) {
            Some((_, calls)) => calls.push(call),
            None => alike.push((request.source.as_ref(), vec![call])),
        }
    }
    for (source, calls) in alike {
        claim_alike(tx, source, &calls, &mut of_op).await?;
    }
    let answer = |call: &Arc<Call>| of_op.get(&call.0).cloned().ok_or_else(|| unexpected("claim", "no answer"));
    calls.iter().map(answer).collect()
}

/// Answers calls that want jobs of the same source, or of any.
async fn claim_alike(
    tx: &Tx,
    source: Option<&Source>,
    calls: &[&Call],
    answers: &mut HashMap<OpId, Claim>,
) -> Result<(), Fault> {
    let limit = calls.iter().map(|(_, request)| wanted(request)).sum();
    // What a repeated call would have taken is let go again with the transaction's locks.
    let (gave, found) = tokio::try_join!(claimed_before(tx, calls), due::find(tx, source, limit))?;
    let new = calls.iter().copied().filter(|(op, _)| !gave.contains_key(op)).collect();
    for (op, leases) in give(tx, new, found.jobs).await? {
        let next_due = found.next.filter(|_| leases.is_empty());
        answers.insert(op, Claim { at: tx.now, leases, next_due });
    }
    answers.extend(gave.into_iter().map(|(op, leases)| (op, Claim { at: tx.now, leases, next_due: None })));
    Ok(())
}

/// What these claims gave, as far as their leases still hold. Those that gave nothing are left out.
async fn claimed_before(tx: &Tx, calls: &[&Call]) -> Result<HashMap<OpId, Vec<Leased>>, Fault> {
    let leases = |place| calls.iter().map(|(op, _)| LeaseToken::new(op.0, place).0.to_vec()).collect::<Vec<_>>();
    let gave = tx
        .query(
            "SELECT u.op, u.first, u.last FROM unnest($1, $2, $3) AS u (op, first, last)
             WHERE (SELECT a.lease FROM attempts a WHERE a.lease >= u.first ORDER BY a.lease LIMIT 1) <= u.last",
            params![calls.iter().map(|(op, _)| &op.0[..]).collect::<Vec<_>>(), leases(0), leases(u16::MAX)],
        )
        .await?;
    let sql = format!(
        "SELECT {}, {EVENT_COLUMNS} FROM attempts a JOIN jobs j ON j.event = a.event AND j.lease = a.lease
         {EVENT_JOINS} WHERE a.lease BETWEEN $1 AND $2 ORDER BY a.lease",
        job_row::COLUMNS
    );
    let mut given = HashMap::with_capacity(gave.len());
    for row in gave {
        let (first, last): (&[u8], &[u8]) = (row.read(1)?, row.read(2)?);
        let rows = tx.query(&sql, params![first, last]).await?;
        let mut jobs = rows.iter().map(Due::of).collect::<Result<Vec<_>, _>>()?;
        read_effects(tx, &mut jobs).await?;
        read_texts(tx, &mut jobs).await?;
        let leases = jobs.into_iter().map(Due::leased).collect::<Result<_, _>>()?;
        given.insert(OpId(row.bytes(0)?), leases);
    }
    Ok(given)
}

/// Leases these jobs to these calls, each as many as it wants and as fit its answer.
async fn give(tx: &Tx, calls: Vec<&Call>, mut due: Vec<Due>) -> Result<Vec<(OpId, Vec<Leased>)>, Fault> {
    read_effects(tx, &mut due).await?;
    let (mut moves, mut attempts) = (Moves::new(tx.now), Attempts::default());
    let mut due = due.into_iter();
    let mut given = Vec::with_capacity(calls.len());
    for (op, request) in calls {
        let worker = fitting(&request.worker, WORKER_NAME_MAX_BYTES);
        let mut jobs = Vec::new();
        let mut bytes = 0;
        for mut one in due.by_ref().take(wanted(request)) {
            let token = LeaseToken::new(op.0, jobs.len() as u16);
            one.row.job = one
                .row
                .job
                .claim(tx.now, token, request.lease)
                .map_err(|_| unexpected("job", "due in the index, and not in its row"))?;
            one.row.leases += 1;
            moves.job(JobState::Pending, &one.row, Some(&worker), None);
            attempts.push(&one.row, token, &worker);
            bytes += one.weight();
            jobs.push(one);
            if bytes > ANSWER_MAX_BYTES {
                break;
            }
        }
        read_texts(tx, &mut jobs).await?;
        given.push((*op, jobs.into_iter().map(Due::leased).collect::<Result<_, _>>()?));
    }
    tokio::try_join!(attempts.write(tx), moves.write(tx, None))?;
    Ok(given)
}

/// Attempts that begin.
#[derive(Default)]
struct Attempts {
    events: Vec<i64>,
    runs: Vec<i64>,
    numbers: Vec<i64>,
    leases: Vec<Vec<u8>>,
    workers: Vec<String>,
}

impl Attempts {
    fn push(&mut self, row: &JobRow, token: LeaseToken, worker: &str) {
        self.events.push(row.event);
        self.runs.push(row.job.run.into());
        self.numbers.push(row.leases.into());
        self.leases.push(token.0.to_vec());
        self.workers.push(worker.to_owned());
    }

    async fn write(&self, tx: &Tx) -> Result<(), Fault> {
        if self.events.is_empty() {
            return Ok(());
        }
        let written = tx
            .execute(
                "INSERT INTO attempts (started_at, event, run, number, lease, worker)
                 SELECT $1, * FROM unnest($2, $3, $4, $5, $6) ON CONFLICT (lease) DO NOTHING",
                params![tx.now.as_micros(), self.events, self.runs, self.numbers, self.leases, self.workers],
            )
            .await?;
        // The same call was repeated while it ran, on another connection, and that one was the first: its leases are the answer.
        if written == self.events.len() as u64 { Ok(()) } else { Err(Fault::Overtaken) }
    }
}

/// A job that is leased, with what its worker gets.
pub(super) struct Due {
    row: JobRow,
    resource_id: Option<String>,
    source: Source,
    id: String,
    event_type: Option<EventType>,
    time: Option<Timestamp>,
    received_at: Timestamp,
    erased_at: Option<Timestamp>,
    text_bytes: i64,
    /// `None`: there is none, or it is long and not read yet.
    text: Option<String>,
    effects: Vec<EffectView>,
}

impl Due {
    /// From [`job_row::COLUMNS`] and [`EVENT_COLUMNS`].
    pub(super) fn of(row: &Row) -> Result<Self, Fault> {
        let column = job_row::COLUMNS_LEN;
        Ok(Self {
            row: JobRow::of(row, 0)?,
            resource_id: row.read(column)?,
            source: row.source(column + 1)?,
            id: row.read(column + 2)?,
            event_type: row.read::<Option<&str>>(column + 3)?.and_then(|name| EventType::new(name).ok()),
            time: row.maybe_time(column + 4)?,
            received_at: row.time(column + 5)?,
            erased_at: row.maybe_time(column + 6)?,
            text_bytes: row.read::<Option<i64>>(column + 7)?.unwrap_or(0),
            text: row.read(column + 8)?,
            effects: Vec::new(),
        })
    }

    pub(super) fn event(&self) -> i64 {
        self.row.event
    }

    /// Its place among those that are due.
    pub(super) fn place(&self) -> (Option<Timestamp>, i64) {
        (self.row.job.due_at, self.row.event)
    }

    /// Bytes that it brings to an answer.
    fn weight(&self) -> usize {
        let records = self.effects.iter().flat_map(|view| &view.effect.records);
        let results = records.filter_map(|record| record.evidence.result.as_ref()).map(String::len);
        self.text_bytes as usize + results.sum::<usize>()
    }

    fn leased(self) -> Result<Leased, Fault> {
        let JobRow { event, job, leases, .. } = self.row;
        let lease = job.lease.ok_or_else(|| unexpected("lease", "none"))?;
        Ok(Leased {
            token: lease.token,
            until: lease.until,
            attempt: leases,
            crashes: job.crashes,
            job: JobSummary {
                event: EventNumber(event),
                source: self.source,
                id: self.id,
                erased_at: self.erased_at,
                event_type: self.event_type,
                state: job.state,
                reason: job.reason.into_owned(),
                run: job.run,
                attempts: job.attempts,
                resource_id: self.resource_id,
                time: self.time,
                received_at: self.received_at,
                due_at: job.due_at,
                lease_until: Some(lease.until),
            },
            text: self.text.unwrap_or_default(),
            effects: self.effects,
        })
    }
}

/// Reads the texts that are long.
async fn read_texts(tx: &Tx, jobs: &mut [Due]) -> Result<(), Fault> {
    let long = |job: &&mut Due| job.text_bytes > SHORT_TEXT_MAX_BYTES;
    let events: Vec<i64> = jobs.iter_mut().filter(long).map(|job| job.row.event).collect();
    if events.is_empty() {
        return Ok(());
    }
    let sql = format!("SELECT j.event, e.text FROM jobs j {EVENT_JOINS} WHERE j.event = ANY($1)");
    let mut texts = HashMap::with_capacity(events.len());
    for row in tx.query(&sql, params![events]).await? {
        texts.insert(row.read::<i64>(0)?, row.read(1)?);
    }
    for job in jobs.iter_mut().filter(long) {
        job.text = texts.remove(&job.row.event).ok_or_else(|| unexpected("text", "none"))?;
    }
    Ok(())
}

/// Reads the effects of these jobs. A job that was leased before is asked in any case: it may have begun one while the statement
/// waited that found it.
async fn read_effects(tx: &Tx, jobs: &mut [Due]) -> Result<(), Fault> {
    let asked = |job: &&mut Due| job.row.has_effects || job.row.leases > 0;
    let rows = jobs.iter_mut().filter(asked).map(|job| JobRow { has_effects: true, ..job.row.clone() }).collect();
    let cases = read_cases(tx, rows, Records::Bring).await?;
    for (job, read) in jobs.iter_mut().filter(asked).zip(cases) {
        job.effects = read.into_views(tx).await?;
    }
    Ok(())
}
