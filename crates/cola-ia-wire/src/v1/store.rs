//! What a store is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::stats::SourceStanding;
use super::values::Hex;

/// What tells a store's events apart from those of any other, in the keys of effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Namespace {
    /// 16 bytes.
    pub namespace: Hex<16>,
}

/// Whether something was committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Changes {
    /// Another number after something was committed. It says nothing of what changed.
    pub changes: u64,
}

/// How sources stand with those who work on their jobs, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Sources {
    /// The sources.
    pub sources: Vec<SourceStanding>,
}

/// What became of a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Resumed {
    /// `false`: the source was not paused.
    pub resumed: bool,
}

/// What `doctor` found, in the order in which it looked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Findings {
    /// The findings.
    pub findings: Vec<Finding>,
}

/// One thing that `doctor` looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Finding {
    /// `ok`, `note`, `warning` or `error`.
    pub severity: String,
    /// What was found, stable.
    pub code: String,
    /// With which values, by name. Names that end in `_at` are instants, those that end in `bytes` sizes.
    pub facts: BTreeMap<String, FindingFact>,
}

/// A value of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum FindingFact {
    /// A count or a size.
    Number(i64),
    /// Anything else; instants in RFC 3339.
    Text(String),
}
