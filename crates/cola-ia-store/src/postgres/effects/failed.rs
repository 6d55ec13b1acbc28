//! It did not happen by this try.

use cola_ia_core::effect::ReportAnswer;
use cola_ia_core::job::RetryPolicy;
use cola_ia_core::store::{EffectRef, Failure};

use super::super::error::Fault;
use super::super::tx::Tx;
use super::told;

/// See [`Store::effect_failed`](cola_ia_core::store::Store::effect_failed).
pub(in super::super) async fn failed(
    tx: &Tx,
    of: &EffectRef,
    failure: Failure,
    note: Option<&str>,
    policy: &RetryPolicy,
) -> Result<ReportAnswer, Fault> {
    told::word(tx, of, note, policy, "effect_failed", |ledger, case, one| {
        ledger.failed(case, one, failure == Failure::Rejected)
    })
    .await
}
