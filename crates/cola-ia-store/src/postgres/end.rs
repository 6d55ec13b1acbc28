//! What holders of leases say: longer, and the ends.
//!
//! Calls that wait together lock all their jobs first, then are decided one after the other, each on what the ones before it
//! left, and all that they changed is written at once.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{self, EndAnswer, Ledger};
use cola_ia_core::job::{Ending, JobState, LeaseToken, RetryPolicy, Sign};
use cola_ia_core::store::{End, EndRefused, Ended, LeaseLost, Report, StoreError};

use super::effects::case::{ReadCase, Records, ledger_of, read_cases, write_effects};
use super::error::Fault;
use super::job_row::{self, EndedAttempt, JobRow, Moves};
use super::lane::Grouped;
use super::lease::{self, Held, UNKNOWN};
use super::row::unexpected;
use super::shared::Work;
use super::sql::params;
use super::tx::Tx;

/// Calls of [`Store::extend`](cola_ia_core::store::Store::extend) that run together.
pub(super) struct Extends;

impl Grouped for Extends {
    type Request = (Vec<LeaseToken>, Duration);
    type Answer = Vec<Result<Timestamp, LeaseLost>>;

    fn weight((leases, _): &Self::Request) -> usize {
        leases.len()
    }

    fn run<'a>(tx: &'a Tx, calls: &'a [Arc<Self::Request>]) -> Work<'a, Vec<Result<Self::Answer, StoreError>>> {
        Box::pin(async move { Ok(extend(tx, calls).await?.into_iter().map(Ok).collect()) })
    }
}

async fn extend(
    tx: &Tx,
    calls: &[Arc<(Vec<LeaseToken>, Duration)>],
) -> Result<Vec<Vec<Result<Timestamp, LeaseLost>>>, Fault> {
    let leases: Vec<LeaseToken> = calls.iter().flat_map(|call| call.0.iter().copied()).collect();
    let mut held = lease::find(tx, &leases).await?;
    let mut until: BTreeMap<i64, i64> = BTreeMap::new();
    let mut answers = Vec::with_capacity(calls.len());
    for call in calls {
        let (leases, length) = &**call;
        let mut of_call = Vec::with_capacity(leases.len());
        for token in leases {
            let Some((attempt, row)) = held.attempt(*token)? else {
                of_call.push(Err(UNKNOWN));
                continue;
            };
            let event = attempt.event;
            let Ok(job) = row.job.extend(tx.now, *token, *length) else {
                of_call.push(Err(held.late(*token, "extend")));
                continue;
            };
            let lease = job.lease.ok_or_else(|| unexpected("lease", "none"))?;
            until.insert(event, lease.until.as_micros());
            held.jobs.entry(event).and_modify(|row| row.job = job);
            of_call.push(Ok(lease.until));
        }
        answers.push(of_call);
    }
    tokio::try_join!(write_until(tx, &until), held.write(tx))?;
    Ok(answers)
}

async fn write_until(tx: &Tx, until: &BTreeMap<i64, i64>) -> Result<(), Fault> {
    if until.is_empty() {
        return Ok(());
    }
    let (events, until): (Vec<i64>, Vec<i64>) = until.iter().unzip();
    tx.execute(
        "UPDATE jobs SET lease_until = u.lease_until FROM unnest($1, $2) AS u (event, lease_until)
         WHERE jobs.event = u.event",
        params![events, until],
    )
    .await
    .map(drop)
}

/// Calls of [`Store::end`](cola_ia_core::store::Store::end) that run together.
pub(super) struct Ends;

type Call = (Arc<Vec<End>>, RetryPolicy);
type Answers = Vec<Result<Ended, EndRefused>>;

impl Grouped for Ends {
    type Request = Call;
    type Answer = Answers;

    fn weight((ends, _): &Call) -> usize {
        ends.len()
    }

    fn run<'a>(tx: &'a Tx, calls: &'a [Arc<Call>]) -> Work<'a, Vec<Result<Answers, StoreError>>> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(calls.len());
            // One policy decides all that is written together; a process has one.
            for alike in calls.chunk_by(|one, other| one.1 == other.1) {
                answers.extend(end(tx, alike).await?.into_iter().map(Ok));
            }
            Ok(answers)
        })
    }
}

async fn end(tx: &Tx, calls: &[Arc<Call>]) -> Result<Vec<Answers>, Fault> {
    let Some(policy) = calls.first().map(|call| call.1) else { return Ok(Vec::new()) };
    let leases: Vec<LeaseToken> = calls.iter().flat_map(|call| call.0.iter().map(|end| end.token)).collect();
    let held = lease::find(tx, &leases).await?;
    let cases = read_cases(tx, held.jobs.values().cloned().collect(), Records::Leave).await?;
    let ledger = ledger_of(tx, &cases, tx.now, &policy).await?;
    let places = cases.iter().enumerate().map(|(place, read)| (read.row.event, place)).collect();
    let mut group = Group { held, places, cases, ledger, moves: Moves::new(tx.now) };
    let mut answers = Vec::with_capacity(calls.len());
    for call in calls {
        answers.push(call.0.iter().map(|end| group.end(end)).collect::<Result<_, _>>()?);
    }
    let Group { held, mut cases, mut moves, .. } = group;
    write_effects(tx, &mut cases, tx.now, &mut moves.sums, None).await?;
    tokio::try_join!(moves.write(tx, policy.pause_after), held.write(tx))?;
    Ok(answers)
}

/// Ends that are decided in one transaction.
struct Group<'a> {
    held: Held,
    /// By the events of their jobs, as the ends before left them.
    places: HashMap<i64, usize>,
    cases: Vec<ReadCase>,
    ledger: Ledger,
    moves: Moves<'a>,
}

impl<'a> Group<'a> {
    fn end(&mut self, end: &'a End) -> Result<Result<Ended, EndRefused>, Fault> {
        let End { token, ending, report } = end;
        let Some((attempt, row)) = self.held.attempt(*token)? else { return Ok(Err(EndRefused::LeaseLost(UNKNOWN))) };
        let (event, source, before) = (attempt.event, row.source, attempt.ended);
        if before.is_none_or(|(outcome, _)| outcome != ending.outcome()) && !row.job.is_held_by(*token) {
            let lost = self.held.late(*token, word(*ending));
            self.count_late(*token, source, report);
            return Ok(Err(EndRefused::LeaseLost(lost)));
        }
        let (attempt, row) = (attempt.row, row.clone());
        let place = *self.places.get(&event).ok_or_else(|| unexpected("case", "none"))?;
        let case = &mut self.cases[place].case;
        let answer = self.ledger.end(case, *token, *ending, before.map(|(outcome, _)| outcome));
        let outcome = match (answer, before) {
            (Ok(EndAnswer::Now(outcome)), _) => outcome,
            (Ok(EndAnswer::Before), Some((_, ended))) => {
                // The ledger ends an attempt that it holds: what it cost is told afterwards.
                self.count_late(*token, source, report);
                return Ok(Ok(ended));
            }
            (Ok(EndAnswer::Before) | Err(effect::EndRefused::LeaseLost), _) => {
                return Ok(Err(EndRefused::LeaseLost(UNKNOWN)));
            }
            (Err(effect::EndRefused::Unresolved), _) => {
                return Ok(Err(EndRefused::Unresolved(case.open().map(|effect| effect.name.clone()).collect())));
            }
        };
        let to = JobRow { job: case.job.clone(), ..row };
        let (ended, moves) = (job_row::ended(&to.job), &mut self.moves);
        moves.signs.hear(source, event, Sign::of(*ending, report.error_class.as_deref()));
        moves.job(JobState::Running, &to, None, Some(report));
        moves.sums.attempt(moves.at, source, report);
        moves.attempt(EndedAttempt { attempt, outcome, ended, report: Some(report) });
        self.held.end(*token, moves.at, outcome, to, report);
        Ok(Ok(ended))
    }

    /// Counts what an attempt that has ended before cost: it was paid all the same. In the day of its end, as any other.
    fn count_late(&mut self, token: LeaseToken, source: i64, report: &Report) {
        if let Some((late, ended_at)) = self.held.cost_told_late(token, report) {
            self.moves.sums.attempt(ended_at.unwrap_or(self.moves.at), source, &late);
        }
    }
}

/// What it tried to say, for the record.
fn word(ending: Ending) -> &'static str {
    match ending {
        Ending::Done => "complete",
        Ending::Failed { .. } => "fail",
        Ending::Later { .. } | Ending::Released => "release",
    }
}
