//! What is said of effects to a server.

use cola_ia_wire::v1::told::{
    BeginAsk, BeginSaid, DecideAsk, DecideSaid, DoneAsk, FailedAsk, LookedAsk, ReportSaid, UnknownAsk,
};

use super::{
    Ask, Begin, EffectBegun, EffectDecision, EffectRef, Evidence, Failure, Looked, OpId, RemoteStore, ReportAnswer,
    RetryPolicy, SettleAnswer, StoreError,
};

/// See [`Store::effect_begin`](cola_ia_core::store::Store::effect_begin).
pub(super) async fn begin(store: &RemoteStore, begin: Begin, policy: RetryPolicy) -> Result<EffectBegun, StoreError> {
    let ask = BeginAsk { retry: Some(policy.into()), ..BeginAsk::from(begin) };
    let said: BeginSaid = store.ask(Ask::post("/effects/begin", &ask)).await?;
    said.read().ok_or_else(|| store.nonsense("effects/begin"))
}

/// See [`Store::effect_done`](cola_ia_core::store::Store::effect_done).
pub(super) async fn done(
    store: &RemoteStore,
    of: EffectRef,
    evidence: Evidence,
    policy: RetryPolicy,
) -> Result<ReportAnswer, StoreError> {
    let ask = DoneAsk { of: of.into(), evidence: evidence.into(), retry: Some(policy.into()) };
    report(store, Ask::post("/effects/done", &ask)).await
}

/// See [`Store::effect_failed`](cola_ia_core::store::Store::effect_failed).
pub(super) async fn failed(
    store: &RemoteStore,
    of: EffectRef,
    failure: Failure,
    note: Option<String>,
    policy: RetryPolicy,
) -> Result<ReportAnswer, StoreError> {
    let ask = FailedAsk { of: of.into(), failure: failure.into(), note, retry: Some(policy.into()) };
    report(store, Ask::post("/effects/failed", &ask)).await
}

/// See [`Store::effect_unknown`](cola_ia_core::store::Store::effect_unknown).
pub(super) async fn unknown(
    store: &RemoteStore,
    of: EffectRef,
    note: Option<String>,
    policy: RetryPolicy,
) -> Result<ReportAnswer, StoreError> {
    let ask = UnknownAsk { of: of.into(), note, retry: Some(policy.into()) };
    report(store, Ask::post("/effects/unknown", &ask)).await
}

/// See [`Store::effect_resolve`](cola_ia_core::store::Store::effect_resolve).
pub(super) async fn resolve(
    store: &RemoteStore,
    of: EffectRef,
    looked: Looked,
    policy: RetryPolicy,
) -> Result<ReportAnswer, StoreError> {
    report(store, Ask::post("/effects/resolve", &LookedAsk::new(of, looked, policy.into()))).await
}

async fn report(store: &RemoteStore, ask: Ask) -> Result<ReportAnswer, StoreError> {
    let said: ReportSaid = store.ask(ask).await?;
    said.read().ok_or_else(|| store.nonsense("effects"))
}

/// See [`Store::effect_decide`](cola_ia_core::store::Store::effect_decide).
pub(super) async fn decide(
    store: &RemoteStore,
    op: OpId,
    decision: EffectDecision,
    policy: RetryPolicy,
) -> Result<Option<SettleAnswer>, StoreError> {
    let ask = DecideAsk { retry: Some(policy.into()), ..DecideAsk::from(decision) };
    let said: DecideSaid = store.ask(Ask::post("/effects/decide", &ask).as_op(op)).await?;
    said.read().ok_or_else(|| store.nonsense("effects/decide"))
}
