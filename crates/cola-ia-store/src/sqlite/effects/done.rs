//! It happened.

use cola_ia_core::effect::{Evidence, Ledger, ReportAnswer};
use cola_ia_core::job::RetryPolicy;
use cola_ia_core::store::{EffectRef, StoreError};

use super::super::writer::Scope;
use super::told;

/// See [`Store::effect_done`](cola_ia_core::store::Store::effect_done).
pub(in super::super) fn done(
    scope: &Scope<'_>,
    of: &EffectRef,
    evidence: &Evidence,
    policy: &RetryPolicy,
) -> Result<ReportAnswer, StoreError> {
    told::evidence(scope, of, evidence, policy, Ledger::done)
}
