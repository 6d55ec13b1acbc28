//! Leases of a server's jobs.

use cola_ia_wire::v1::Carry as _;
use cola_ia_wire::v1::lease::{
    ClaimAsk, Claimed, EndAsk, EndIn, ExtendAsk, LeaseAnswers, LeaseSaid, RecoverAsk, Recovered as RecoveredShape,
    Retry,
};
use cola_ia_wire::v1::values::{LeaseHex, SourceName};

use super::{
    Arc, Ask, Claim, ClaimRequest, Duration, End, EndRefused, Ended, LeaseLost, LeaseToken, OpId, Recovered,
    RemoteStore, RetryPolicy, StoreError, Timestamp, each,
};

/// What one request says of leases, in bytes of texts; the others go with the next one.
const END_MAX_BYTES: usize = 4 << 20;

/// See [`Store::claim`](cola_ia_core::store::Store::claim).
pub(super) async fn claim(store: &RemoteStore, op: OpId, request: ClaimRequest) -> Result<Claim, StoreError> {
    claim_within(store, op, request, Duration::ZERO).await
}

/// A claim that waits so long for something to be due.
pub(super) async fn claim_within(
    store: &RemoteStore,
    op: OpId,
    request: ClaimRequest,
    wait: Duration,
) -> Result<Claim, StoreError> {
    let ask = ClaimAsk {
        worker: Some(request.worker),
        lease_micros: Some(request.lease.carry()),
        limit: Some(request.limit),
        source: request.source.map(SourceName),
        wait_ms: Some(wait.as_millis() as u64).filter(|wait| *wait > 0),
    };
    let claimed: Claimed = store.ask(Ask::post("/leases/claim", &ask).as_op(op).waiting(wait)).await?;
    Ok(claimed.into())
}

/// See [`Store::extend`](cola_ia_core::store::Store::extend).
pub(super) async fn extend(
    store: &RemoteStore,
    leases: Vec<LeaseToken>,
    length: Duration,
) -> Result<Vec<Result<Timestamp, LeaseLost>>, StoreError> {
    let asked = leases.len();
    let leases = leases.into_iter().map(LeaseHex).collect();
    let ask = ExtendAsk { leases, lease_micros: Some(length.carry()) };
    let answers: LeaseAnswers = store.ask(Ask::post("/leases/extend", &ask)).await?;
    let read = answers.leases.into_iter().map(LeaseSaid::into_extended).collect();
    each(store, asked, read)
}

/// See [`Store::end`](cola_ia_core::store::Store::end). Each lease is answered for itself, so that many long reports may go in several requests.
pub(super) async fn end(
    store: &RemoteStore,
    ends: Arc<Vec<End>>,
    policy: RetryPolicy,
) -> Result<Vec<Result<Ended, EndRefused>>, StoreError> {
    let mut answers = Vec::with_capacity(ends.len());
    let mut rest = &ends[..];
    loop {
        let mut bytes = 0;
        let fits = |end: &&End| {
            let is_first = bytes == 0;
            bytes += weight(end);
            is_first || bytes <= END_MAX_BYTES
        };
        let (now, later) = rest.split_at(rest.iter().take_while(fits).count());
        let ask = EndAsk { ends: now.iter().map(EndIn::from).collect(), retry: Some(Retry::from(policy)) };
        let said: LeaseAnswers = store.ask(Ask::post("/leases/end", &ask)).await?;
        let read = said.leases.into_iter().map(LeaseSaid::into_ended).collect();
        answers.extend(each(store, now.len(), read)?);
        rest = later;
        if rest.is_empty() {
            return Ok(answers);
        }
    }
}

/// About what an end is in a request; never nothing.
fn weight(end: &End) -> usize {
    let report = &end.report;
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let texts = text(&report.error) + text(&report.result) + text(&report.resource_id) + text(&report.model);
    64 + texts + report.stdout.len() + report.stderr.len()
}

/// See [`Store::recover`](cola_ia_core::store::Store::recover).
pub(super) async fn recover(
    store: &RemoteStore,
    policy: RetryPolicy,
    limit: u32,
    dry_run: bool,
) -> Result<Recovered, StoreError> {
    let ask = RecoverAsk { limit: Some(limit), dry_run, retry: Some(policy.into()) };
    let recovered: RecoveredShape = store.ask(Ask::post("/leases/recover", &ask)).await?;
    Ok(recovered.into())
}
