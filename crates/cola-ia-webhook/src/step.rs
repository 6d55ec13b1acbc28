//! How a request was judged, step by step, for `source check`.

/// One step. Codes and the names of facts are stable, their sentences are of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What was looked at: `method`, `url`, `content_type`, `header`, `timestamp`, `signature`, `id`, ….
    pub code: &'static str,
    /// Whether the request passes here.
    pub passed: bool,
    /// What was found, as (name, value): never a secret, never an expected signature.
    pub facts: Vec<(&'static str, String)>,
}
