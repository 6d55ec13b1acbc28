//! What a look at a store tells: findings, each a code with facts. What is looked at is each engine's own.

use cola_ia_core::store::StoreError;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// As it should be.
    Ok,
    /// Worth knowing; nothing to do.
    Note,
    /// Somebody should look at it.
    Warning,
    /// The store cannot be used, or not be trusted.
    Error,
}

impl Severity {
    /// The word in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A value of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A count, a size in bytes, an instant in microseconds.
    Number(i64),
    /// Anything else.
    Text(String),
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was found, stable.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// With which values, by name. Names that end in `_at` are instants, those that end in `bytes` sizes.
    pub facts: Vec<(&'static str, Fact)>,
}

impl Finding {
    pub(crate) const fn new(severity: Severity, code: &'static str) -> Self {
        Self { code, severity, facts: Vec::new() }
    }

    pub(crate) fn number(mut self, name: &'static str, value: impl TryInto<i64>) -> Self {
        self.facts.push((name, Fact::Number(value.try_into().unwrap_or(i64::MAX))));
        self
    }

    #[expect(clippy::needless_pass_by_value, reason = "what is shown is mostly made for this call")]
    pub(crate) fn text(mut self, name: &'static str, value: impl ToString) -> Self {
        self.facts.push((name, Fact::Text(value.to_string())));
        self
    }

    /// Why the store could not do something.
    pub(crate) fn failed(severity: Severity, failed: &StoreError) -> Self {
        let facts = failed.facts.iter().map(|(name, value)| (*name, Fact::Text(value.clone()))).collect();
        Self { code: failed.code, severity, facts }
    }

    /// The fact of this name.
    pub fn fact(&self, name: &str) -> Option<&Fact> {
        self.facts.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

/// What is being looked at, for whoever shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Pages, by SQLite.
    Pages,
    /// Rows against each other.
    Tables {
        /// So many were looked at.
        rows: u64,
    },
}

/// A job that waits longer than this is stuck: nobody works, or not enough.
pub(crate) const WAITING_LONG_MICROS: i64 = 24 * 3_600 * 1_000_000;
/// So long an alarm of an effect is something to look at; from then on it is history.
pub(crate) const ALARM_MICROS: i64 = 30 * 24 * 3_600 * 1_000_000;
/// Counting ends here, so that nothing is read for long.
pub(crate) const COUNTED_MAX: i64 = 100_000;

/// That so many are so, since or until when; nothing where there are none.
pub(crate) fn counted(
    severity: Severity,
    code: &'static str,
    count: i64,
    at: Option<(&'static str, Option<i64>)>,
) -> Option<Finding> {
    let finding = Finding::new(severity, code).number("count", count);
    let finding = match at {
        Some((name, Some(at))) => finding.number(name, at),
        _ => finding,
    };
    (count > 0).then_some(finding)
}

/// Sources of which something is so since some instant: how many, since when, and the first of them by name.
pub(crate) fn sources(code: &'static str, found: &[(String, i64)]) -> Option<Finding> {
    /// So many are named.
    const NAMED_MAX: usize = 10;
    let oldest = found.iter().map(|(_, since)| *since).min()?;
    let mut names = found.iter().take(NAMED_MAX).map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    if found.len() > NAMED_MAX {
        names.push_str(", …");
    }
    let finding = Finding::new(Severity::Warning, code).number("count", found.len() as i64);
    Some(finding.number("oldest_at", oldest).text("sources", names))
}
