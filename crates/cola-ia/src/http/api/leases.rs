//! Claiming jobs and saying what became of them.

use std::sync::Arc;
use std::time::Duration;

use cola_ia_core::job::Ending;
use cola_ia_core::store::{Claim, ClaimRequest, End, OpId, Report, StoreError, TokenScope};
use cola_ia_wire::v1::Carry;
use cola_ia_wire::v1::lease::{
    ClaimAsk, Claimed, EndAsk, EndIn, ExtendAsk, LeaseAnswers, LeaseSaid, RecoverAsk, Recovered,
};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::call::{json, store_error, unprocessable};
use super::{Access, Answer, Body, Call, Doc, Endpoint, Said, Verb, schema};
use crate::http::{App, Problem};

/// The longest that a claim waits for something to be due.
const WAIT_MAX: Duration = Duration::from_secs(30);
/// Bytes of the body of a claim, of an extension and of a recovery.
const ASK_MAX_BYTES: usize = 1 << 20;
/// Bytes of the body that ends leases.
pub(crate) const END_MAX_BYTES: usize = 32 << 20;
/// Most jobs that are recovered, where nothing is said.
const RECOVER_LIMIT: u32 = 1_000;

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Post,
        path: "/leases/claim",
        access: Access::Scoped(&[TokenScope::Work], |call| Box::pin(claim(call))),
        doc: Doc {
            group: "leases",
            id: "claim",
            summary: "Lease jobs that are due",
            text: "The oldest due first. Where nothing is due, it waits for `wait_ms` for something. The lease's token is made of the \
                   `Idempotency-Key`, which must therefore be drawn at random; the same one again gives the leases that it \
                   gave before, as far as they still hold.",
            params: &[],
            op: true,
            bodies: &[Body::json(schema::<ClaimAsk>)],
            answers: &[Said {
                status: 200,
                text: "The jobs; none where nothing is due.",
                body: Some(Body::json(schema::<Claimed>)),
            }],
            problems: &[],
        },
    },
    Endpoint {
        verb: Verb::Post,
        path: "/leases/extend",
        access: Access::Scoped(&[TokenScope::Work], |call| Box::pin(extend(call))),
        doc: Doc {
            group: "leases",
            id: "extend",
            summary: "Make leases last longer",
            text: "Counted from now on; a lease is never shortened. Saying it twice is saying it once.",
            params: &[],
            op: false,
            bodies: &[Body::json(schema::<ExtendAsk>)],
            answers: &[Said {
                status: 200,
                text: "An answer for each lease: `ok` or `lease_lost`.",
                body: Some(Body::json(schema::<LeaseAnswers>)),
            }],
            problems: &[(422, "too_many_leases")],
        },
    },
    Endpoint {
        verb: Verb::Post,
        path: "/leases/end",
        access: Access::Scoped(&[TokenScope::Work], |call| Box::pin(end(call))),
        doc: Doc {
            group: "leases",
            id: "end",
            summary: "End leases: done, failed, later, given back",
            text: "Each is answered for itself. The same said again gets the same answer again; anything else from a lease that has \
                   ended changes nothing.",
            params: &[],
            op: false,
            bodies: &[Body::json(schema::<EndAsk>)],
            answers: &[Said {
                status: 200,
                text: "An answer for each lease: `ok`, `lease_lost` or `effects_unresolved`.",
                body: Some(Body::json(schema::<LeaseAnswers>)),
            }],
            problems: &[(422, "too_many_leases"), (422, "end_malformed")],
        },
    },
    Endpoint {
        verb: Verb::Post,
        path: "/leases/recover",
        access: Access::Scoped(&[TokenScope::Operate], |call| Box::pin(recover(call))),
        doc: Doc {
            group: "leases",
            id: "recover",
            summary: "End leases that have run out",
            text: "Their workers are lost. The server does it by itself, too.",
            params: &[],
            op: false,
            bodies: &[Body::json(schema::<RecoverAsk>)],
            answers: &[Said {
                status: 200,
                text: "The jobs, and where each is now.",
                body: Some(Body::json(schema::<Recovered>)),
            }],
            problems: &[],
        },
    },
];

async fn claim(mut call: Call) -> Answer {
    let op = call.op()?;
    let ask: ClaimAsk = call.json(ASK_MAX_BYTES).await?;
    let app = Arc::clone(&call.app);
    let request = ClaimRequest {
        worker: ask.worker.unwrap_or_else(|| call.caller.name().to_owned()),
        lease: ask.lease_micros.map_or(app.settings.lease, Carry::carry),
        limit: ask.limit.unwrap_or(1),
        source: ask.source.carry(),
    };
    let until = Instant::now() + Duration::from_millis(ask.wait_ms.unwrap_or(0)).min(WAIT_MAX);
    let claim = wait_and_claim(&app, op, &request, until).await.map_err(|error| store_error(&error))?;
    json(&Claimed::from(claim))
}

/// Claims until there is something, the time is over or the server is to stop. Whoever goes away ends it.
async fn wait_and_claim(app: &App, op: OpId, request: &ClaimRequest, until: Instant) -> Result<Claim, StoreError> {
    let mut stopping = app.stopping.clone();
    let mut wake = None;
    loop {
        let claim = claim_once(app, op, request.clone()).await?;
        let left = until.saturating_duration_since(Instant::now());
        if !claim.leases.is_empty() || left.is_zero() || app.is_stopping() {
            return Ok(claim);
        }
        // Who listens from the first claim on misses nothing: the first that is heard is that something may have changed.
        let wake = wake.get_or_insert_with(|| app.wakes.listen());
        let due = claim.next_due.map_or(left, |due| {
            Duration::from_micros(due.as_micros().saturating_sub(claim.at.as_micros()).max(1) as u64)
        });
        tokio::select! {
            () = wake.next() => {}
            () = tokio::time::sleep(left.min(due)) => {}
            () = async { drop(stopping.wait_for(|stop| *stop).await) } => {}
        }
    }
}

/// Claims once. Where the caller has gone meanwhile, the jobs are given back at once.
async fn claim_once(app: &App, op: OpId, request: ClaimRequest) -> Result<Claim, StoreError> {
    let (answer, answered) = oneshot::channel();
    let (store, policy) = (Arc::clone(&app.store), app.settings.retry);
    tokio::spawn(async move {
        let claimed = store.claim(op, request).await;
        if let Err(Ok(claim)) = answer.send(claimed)
            && !claim.leases.is_empty()
        {
            let end = |token| End { token, ending: Ending::Released, report: Report::default() };
            let ends: Vec<End> = claim.leases.iter().map(|leased| end(leased.token)).collect();
            if let Err(error) = store.end(Arc::new(ends), policy).await {
                // They wait for their leases to run out.
                tracing::warn!(code = error.code, "leases of a caller that has gone could not be given back");
            }
        }
    });
    answered.await.unwrap_or_else(|_| Err(StoreError::new(cola_ia_core::store::ErrorKind::Unavailable, "store_closed")))
}

async fn extend(mut call: Call) -> Answer {
    let ask: ExtendAsk = call.json(ASK_MAX_BYTES).await?;
    let length = ask.lease_micros.map_or(call.app.settings.lease, Carry::carry);
    let leases = ask.leases.into_iter().map(|lease| lease.0).collect();
    let answers = call.app.store.extend(leases, length).await.map_err(|error| store_error(&error))?;
    json(&LeaseAnswers { leases: answers.into_iter().map(LeaseSaid::extended).collect() })
}

async fn end(mut call: Call) -> Answer {
    let ask: EndAsk = call.json(END_MAX_BYTES).await?;
    let policy = ask.retry.unwrap_or_default().or(call.app.settings.retry);
    let ends: Result<Vec<End>, Problem> = ask
        .ends
        .into_iter()
        .map(|end| EndIn::read(end).map_err(|what| unprocessable("end_malformed", &what)))
        .collect();
    let ends = Arc::new(ends?);
    let answers = call.app.store.end(Arc::clone(&ends), policy).await.map_err(|error| store_error(&error))?;
    for (end, answer) in ends.iter().zip(&answers) {
        if answer.is_ok() {
            call.app.metrics.attempt(end.ending.outcome());
        }
    }
    json(&LeaseAnswers { leases: answers.into_iter().map(LeaseSaid::ended).collect() })
}

async fn recover(mut call: Call) -> Answer {
    let ask: RecoverAsk = call.json(ASK_MAX_BYTES).await?;
    let policy = ask.retry.unwrap_or_default().or(call.app.settings.retry);
    let limit = ask.limit.unwrap_or(RECOVER_LIMIT);
    let recovered = call.app.store.recover(policy, limit, ask.dry_run).await.map_err(|error| store_error(&error))?;
    json(&Recovered::from(recovered))
}
