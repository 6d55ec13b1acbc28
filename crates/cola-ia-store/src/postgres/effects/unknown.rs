//! Its sender does not know.

use cola_ia_core::effect::{Ledger, ReportAnswer};
use cola_ia_core::job::RetryPolicy;
use cola_ia_core::store::EffectRef;

use super::super::error::Fault;
use super::super::tx::Tx;
use super::told;

/// See [`Store::effect_unknown`](cola_ia_core::store::Store::effect_unknown).
pub(in super::super) async fn unknown(
    tx: &Tx,
    of: &EffectRef,
    note: Option<&str>,
    policy: &RetryPolicy,
) -> Result<ReportAnswer, Fault> {
    told::word(tx, of, note, policy, "effect_unknown", Ledger::unknown).await
}
