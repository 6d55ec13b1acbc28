//! What may be done about an effect whose outcome is unknown.

use std::time::Duration;

use super::Micros;

/// How long a lookup may miss what happened, where nobody says: counted from the last deadline.
pub const SETTLE_DEFAULT: Duration = Duration::from_mins(1);

/// How an effect of unknown outcome is treated. Fixed at the first `begin` and kept; the parts combine, and are asked in this
/// order: a resend with the same key, a lookup, a further try that may be a second effect, a person.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Policy {
    /// The destination answers a repeated key with its first answer for so long. `None`: it knows no keys.
    pub key_ttl: Option<Duration>,
    /// The destination can be asked what it has under the key.
    pub lookup: bool,
    /// How long after the last deadline a lookup may still miss what happened.
    pub settle: Duration,
    /// What to do where neither key nor lookup can help.
    pub otherwise: Otherwise,
    /// Open tries that cost less than this are repeated, whatever `otherwise` says. What a restored store does not know of is
    /// not: nobody knows what it may have cost.
    pub retry_below: Option<Micros>,
}

impl Policy {
    /// Whether it may be sent again where neither key nor lookup can help: it may happen twice, and that was asked for.
    pub fn may_double(&self) -> bool {
        self.otherwise == Otherwise::Retry || self.retry_below.is_some()
    }
}

impl Default for Policy {
    /// No key, no lookup: a person decides.
    fn default() -> Self {
        Self { key_ttl: None, lookup: false, settle: SETTLE_DEFAULT, otherwise: Otherwise::Hold, retry_below: None }
    }
}

/// What becomes of an effect of which nobody but a person can tell whether it happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Otherwise {
    /// A person decides: at most once.
    Hold,
    /// It is tried again: at least once.
    Retry,
}

impl Otherwise {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Hold, Self::Retry];

    /// The word in code, JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hold => "hold",
            Self::Retry => "retry",
        }
    }

    /// The one that [`as_str`](Self::as_str) gives this word for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|otherwise| otherwise.as_str() == word)
    }
}
