//! It did not happen by this try.

use cola_ia_core::effect::ReportAnswer;
use cola_ia_core::job::RetryPolicy;
use cola_ia_core::store::{EffectRef, Failure, StoreError};

use super::super::writer::Scope;
use super::told;

/// See [`Store::effect_failed`](cola_ia_core::store::Store::effect_failed).
pub(in super::super) fn failed(
    scope: &Scope<'_>,
    of: &EffectRef,
    failure: Failure,
    note: Option<&str>,
    policy: &RetryPolicy,
) -> Result<ReportAnswer, StoreError> {
    told::word(scope, of, note, policy, "effect_failed", |ledger, case, one| {
        ledger.failed(case, one, failure == Failure::Rejected)
    })
}
