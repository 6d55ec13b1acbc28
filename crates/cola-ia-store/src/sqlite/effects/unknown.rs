//! Its sender does not know.

use cola_ia_core::effect::{Ledger, ReportAnswer};
use cola_ia_core::job::RetryPolicy;
use cola_ia_core::store::{EffectRef, StoreError};

use super::super::writer::Scope;
use super::told;

/// See [`Store::effect_unknown`](cola_ia_core::store::Store::effect_unknown).
pub(in super::super) fn unknown(
    scope: &Scope<'_>,
    of: &EffectRef,
    note: Option<&str>,
    policy: &RetryPolicy,
) -> Result<ReportAnswer, StoreError> {
    told::word(scope, of, note, policy, "effect_unknown", Ledger::unknown)
}
