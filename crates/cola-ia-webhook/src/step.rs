//! How a request was judged, step by step, for `source check`.

/// One step. Codes and the names of facts are stable, their sentences are of the command line.
///
/// | code | facts |
/// | --- | --- |
/// | `method` | `method` |
/// | `url` | `url` (as it was signed, the values of its query hidden) |
/// | `body` | `bytes`, `limit` |
/// | `header` | `name`, `state`: `found`, `missing` or `twice` |
/// | `signature_form` | `found`: how many of the wanted form; `items`: how many there were |
/// | `timestamp` | `sent`, `now`, `difference_s`, `tolerance_s`, as far as known |
/// | `signature` | `secrets`: how many were tried; `matched`: which of them, from 1 |
/// | `content_type` | `type` |
/// | `handshake` | `kind` |
/// | `events` | `count` |
/// | `id`, `type`, `time`, `text` | `event`: its place, from 1; `place`; `value` or `bytes` |
/// | `refused` | `code`, `detail`, `status` |
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What was looked at.
    pub code: &'static str,
    /// Whether the request passes here.
    pub passed: bool,
    /// What was found, as (name, value): never a secret, never an expected signature.
    pub facts: Vec<(&'static str, String)>,
}

/// Takes steps down, or drops them where nobody asked.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    steps: Option<Vec<Step>>,
}

impl Trace {
    pub(crate) fn kept() -> Self {
        Self { steps: Some(Vec::new()) }
    }

    pub(crate) fn add(
        &mut self,
        code: &'static str,
        passed: bool,
        facts: impl FnOnce() -> Vec<(&'static str, String)>,
    ) {
        if let Some(steps) = &mut self.steps {
            steps.push(Step { code, passed, facts: facts() });
        }
    }

    pub(crate) fn into_steps(self) -> Vec<Step> {
        self.steps.unwrap_or_default()
    }
}
