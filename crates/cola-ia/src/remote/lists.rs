//! Asked of a server.

use super::*;

/// See [`Store::jobs`].
pub(super) async fn jobs(_store: &RemoteStore, _filter: Filter, _page: PageRequest) -> Result<JobPage, StoreError> {
    todo!()
}

/// See [`Store::deliveries`].
pub(super) async fn deliveries(
    _store: &RemoteStore,
    _filter: Filter,
    _request: ListRequest,
) -> Result<Page<DeliverySummary>, StoreError> {
    todo!()
}

/// See [`Store::conflicts`].
pub(super) async fn conflicts(
    _store: &RemoteStore,
    _filter: Filter,
    _request: ListRequest,
    _texts: Texts,
) -> Result<Page<ConflictSummary>, StoreError> {
    todo!()
}

/// See [`Store::attempts`].
pub(super) async fn attempts(
    _store: &RemoteStore,
    _filter: Filter,
    _request: ListRequest,
) -> Result<Page<AttemptView>, StoreError> {
    todo!()
}

/// See [`Store::follow`].
pub(super) async fn follow(_store: &RemoteStore, _filter: Filter, _from: FollowFrom) -> Result<Followed, StoreError> {
    todo!()
}
