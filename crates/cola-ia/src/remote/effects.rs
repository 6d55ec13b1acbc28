//! Asked of a server.

use super::*;

/// See [`Store::effect_begin`].
pub(super) async fn begin(
    _store: &RemoteStore,
    _begin: Begin,
    _policy: RetryPolicy,
) -> Result<EffectBegun, StoreError> {
    todo!()
}

/// See [`Store::effect_done`].
pub(super) async fn done(
    _store: &RemoteStore,
    _of: EffectRef,
    _evidence: Evidence,
    _policy: RetryPolicy,
) -> Result<ReportAnswer, StoreError> {
    todo!()
}

/// See [`Store::effect_failed`].
pub(super) async fn failed(
    _store: &RemoteStore,
    _of: EffectRef,
    _failure: Failure,
    _note: Option<String>,
    _policy: RetryPolicy,
) -> Result<ReportAnswer, StoreError> {
    todo!()
}

/// See [`Store::effect_unknown`].
pub(super) async fn unknown(
    _store: &RemoteStore,
    _of: EffectRef,
    _note: Option<String>,
    _policy: RetryPolicy,
) -> Result<ReportAnswer, StoreError> {
    todo!()
}

/// See [`Store::effect_resolve`].
pub(super) async fn resolve(
    _store: &RemoteStore,
    _of: EffectRef,
    _looked: Looked,
    _policy: RetryPolicy,
) -> Result<ReportAnswer, StoreError> {
    todo!()
}

/// See [`Store::effect_decide`].
pub(super) async fn decide(
    _store: &RemoteStore,
    _op: OpId,
    _decision: EffectDecision,
    _policy: RetryPolicy,
) -> Result<Option<SettleAnswer>, StoreError> {
    todo!()
}

/// See [`Store::effect_list`].
pub(super) async fn list(_store: &RemoteStore, _request: EffectListRequest) -> Result<Page<EffectSummary>, StoreError> {
    todo!()
}
