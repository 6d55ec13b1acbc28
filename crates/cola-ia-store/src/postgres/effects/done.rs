//! It happened.

use cola_ia_core::effect::{Evidence, Ledger, ReportAnswer};
use cola_ia_core::job::RetryPolicy;
use cola_ia_core::store::EffectRef;

use super::super::error::Fault;
use super::super::tx::Tx;
use super::told;

/// See [`Store::effect_done`](cola_ia_core::store::Store::effect_done).
pub(in super::super) async fn done(
    tx: &Tx,
    of: &EffectRef,
    evidence: &Evidence,
    policy: &RetryPolicy,
) -> Result<ReportAnswer, Fault> {
    told::evidence(tx, of, evidence, policy, Ledger::done).await
}
