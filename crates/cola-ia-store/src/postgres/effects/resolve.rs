//! What a worker's lookup brought.

use cola_ia_core::effect::{Ledger, ReportAnswer};
use cola_ia_core::job::RetryPolicy;
use cola_ia_core::store::{EffectRef, Looked};

use super::super::error::Fault;
use super::super::tx::Tx;
use super::told;

/// See [`Store::effect_resolve`](cola_ia_core::store::Store::effect_resolve).
pub(in super::super) async fn resolve(
    tx: &Tx,
    of: &EffectRef,
    looked: &Looked,
    policy: &RetryPolicy,
) -> Result<ReportAnswer, Fault> {
    match looked {
        Looked::Found(evidence) => told::evidence(tx, of, evidence, policy, Ledger::found).await,
        Looked::Absent => told::word(tx, of, None, policy, "effect_absent", Ledger::absent).await,
    }
}
