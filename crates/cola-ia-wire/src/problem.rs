//! Errors over HTTP.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// An error as RFC 9457 has it, `application/problem+json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Problem {
    /// `urn:cola-ia:problem:` and the code.
    pub r#type: String,
    /// The status in words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What happened, a stable code: `docs/ERRORS.md` explains it.
    pub code: String,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Of an error of the store: `invalid`, `conflict`, `lease_lost`, `unavailable` or `corrupt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// With which values, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, String>,
}

impl Problem {
    /// An error without particulars.
    pub fn new(status: u16, title: &str, code: &str) -> Self {
        Self {
            r#type: format!("urn:cola-ia:problem:{code}"),
            title: title.to_owned(),
            status,
            code: code.to_owned(),
            detail: None,
            kind: None,
            facts: BTreeMap::new(),
        }
    }
}
