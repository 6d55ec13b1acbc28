//! Asked of a server.

use super::*;

/// See [`Store::claim`].
pub(super) async fn claim(_store: &RemoteStore, _op: OpId, _request: ClaimRequest) -> Result<Claim, StoreError> {
    todo!()
}

/// See [`Store::extend`].
pub(super) async fn extend(
    _store: &RemoteStore,
    _leases: Vec<LeaseToken>,
    _length: Duration,
) -> Result<Vec<Result<Timestamp, LeaseLost>>, StoreError> {
    todo!()
}

/// See [`Store::end`].
pub(super) async fn end(
    _store: &RemoteStore,
    _ends: Arc<Vec<End>>,
    _policy: RetryPolicy,
) -> Result<Vec<Result<Ended, EndRefused>>, StoreError> {
    todo!()
}

/// See [`Store::recover`].
pub(super) async fn recover(
    _store: &RemoteStore,
    _policy: RetryPolicy,
    _limit: u32,
    _dry_run: bool,
) -> Result<Recovered, StoreError> {
    todo!()
}
