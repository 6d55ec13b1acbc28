//! What the gate answers.

/// The gate's answer to one delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The identity was not known: the event enters and becomes one job.
    New,
    /// Same identity, same content: nothing enters, the delivery is counted.
    Duplicate,
    /// Same identity, other content: nothing enters, the other content is kept and shown.
    Conflict,
    /// Refused before the identity could be checked.
    Invalid,
}

impl Verdict {
    /// All verdicts, in the order in which people read them.
    pub const ALL: [Self; 4] = [Self::New, Self::Duplicate, Self::Conflict, Self::Invalid];

    /// The word in code, JSON, SQL and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Duplicate => "duplicate",
            Self::Conflict => "conflict",
            Self::Invalid => "invalid",
        }
    }

    /// The word that people read and write in Spanish: what the article's script prints, a contract with scripts.
    pub const fn in_spanish(self) -> &'static str {
        match self {
            Self::New => "nuevo",
            Self::Duplicate => "repetido",
            Self::Conflict => "conflicto",
            Self::Invalid => "inválido",
        }
    }

    /// The verdict that [`as_str`](Self::as_str) gives this word for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.as_str() == word)
    }
}
