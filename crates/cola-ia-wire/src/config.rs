//! One line for each setting that `config show` prints.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// A setting and where its value came from.
///
/// The value is a string, a whole number (sizes, in bytes) or `true`/`false`, as in `cola-ia.toml`. Secrets are `***`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingLine<'a, V> {
    /// [`VERSION`](crate::VERSION).
    pub v: u32,
    /// Its key in `cola-ia.toml`.
    #[serde(borrow)]
    pub setting: Cow<'a, str>,
    /// The value in force.
    pub value: V,
    /// `flag`, `environment`, `file` or `default`.
    #[serde(borrow)]
    pub origin: Cow<'a, str>,
    /// The flag, the variable, or the file; `null` for a default.
    #[serde(borrow)]
    pub place: Option<Cow<'a, str>>,
    /// The line of the file, from 1; `null` for everything else.
    pub line: Option<u64>,
}
