//! What a worker's lookup brought.

use cola_ia_core::effect::{Ledger, ReportAnswer};
use cola_ia_core::job::RetryPolicy;
use cola_ia_core::store::{EffectRef, Looked, StoreError};

use super::super::writer::Scope;
use super::told;

/// See [`Store::effect_resolve`](cola_ia_core::store::Store::effect_resolve).
pub(in super::super) fn resolve(
    scope: &Scope<'_>,
    of: &EffectRef,
    looked: &Looked,
    policy: &RetryPolicy,
) -> Result<ReportAnswer, StoreError> {
    match looked {
        Looked::Found(evidence) => told::evidence(scope, of, evidence, policy, Ledger::found),
        Looked::Absent => told::word(scope, of, None, policy, "effect_absent", Ledger::absent),
    }
}
