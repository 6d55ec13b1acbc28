//! Where an effect stands, and why.

/// Where an effect stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectState {
    /// Somebody who holds the job's lease may send.
    Intended,
    /// It happened.
    Done,
    /// It did not happen, and nothing that was sent still can make it happen.
    Failed,
    /// It may have happened.
    Unknown,
    /// It may have happened, and a person has to say.
    Held,
    /// Nobody will find out, said a person.
    Abandoned,
}

impl EffectState {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Intended, Self::Done, Self::Failed, Self::Unknown, Self::Held, Self::Abandoned];

    /// Every change there is; `None` is an effect that was not begun. The tests find each one made, and no other.
    pub const MOVES: [(Option<Self>, Self, &'static str); 16] = [
        (None, Self::Intended, "begin: the first try"),
        (Some(Self::Failed), Self::Intended, "begin: a further try, nothing having happened"),
        (Some(Self::Unknown), Self::Intended, "begin: the same key inside its ttl, or retry"),
        (Some(Self::Intended), Self::Done, "done"),
        (Some(Self::Intended), Self::Failed, "failed, no other try open"),
        (Some(Self::Intended), Self::Unknown, "unknown; failed beside an open try; begin by another; end of the lease"),
        (Some(Self::Unknown), Self::Done, "found; a late done"),
        (Some(Self::Unknown), Self::Failed, "absent; failed of the last open try"),
        (Some(Self::Unknown), Self::Held, "begin, when only a person can tell; the job's end with the effect open"),
        (Some(Self::Held), Self::Done, "a person or a check command found it; a late done"),
        (Some(Self::Held), Self::Failed, "a person or a check command proved it absent"),
        (Some(Self::Held), Self::Abandoned, "a person gives up finding out"),
        (Some(Self::Failed), Self::Done, "late evidence against a `failed` that was wrong: alarm"),
        (Some(Self::Abandoned), Self::Done, "late evidence: alarm"),
        (None, Self::Unknown, "a restored store: it may have been begun"),
        (Some(Self::Failed), Self::Unknown, "a restored store: it may have been begun again"),
    ];

    /// Whether its outcome is not known. A job does not end for good with such an effect.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Intended | Self::Unknown | Self::Held)
    }

    /// The word in code, JSON, SQL and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Intended => "intended",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::Held => "held",
            Self::Abandoned => "abandoned",
        }
    }

    /// The word that people read and write in Spanish.
    pub const fn in_spanish(self) -> &'static str {
        match self {
            Self::Intended => "intentado",
            Self::Done => "hecho",
            Self::Failed => "no_hecho",
            Self::Unknown => "incierto",
            Self::Held => "retenido",
            Self::Abandoned => "abandonado",
        }
    }

    /// The state that [`as_str`](Self::as_str) gives this word for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

/// Why an effect is `unknown` or `held`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Its sender does not know.
    Reported,
    /// The lease under which it was begun has ended.
    LeaseEnded,
    /// Another process began it, while the first one's outcome was open.
    BegunAgain,
    /// One try did not happen, and another one's outcome is open.
    OtherTryOpen,
    /// The store was restored from an older state.
    Restored,
    /// Neither key nor lookup can tell.
    NobodyCanTell,
    /// Its job was to end.
    JobEnds,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Reported,
        Self::LeaseEnded,
        Self::BegunAgain,
        Self::OtherTryOpen,
        Self::Restored,
        Self::NobodyCanTell,
        Self::JobEnds,
    ];

    /// The word in code, JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reported => "reported",
            Self::LeaseEnded => "lease_ended",
            Self::BegunAgain => "begun_again",
            Self::OtherTryOpen => "other_try_open",
            Self::Restored => "restored",
            Self::NobodyCanTell => "nobody_can_tell",
            Self::JobEnds => "job_ends",
        }
    }

    /// The one that [`as_str`](Self::as_str) gives this word for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are_written() {
        for state in EffectState::ALL {
            assert_eq!(EffectState::from_word(state.as_str()), Some(state));
        }
        for reason in Reason::ALL {
            assert_eq!(Reason::from_word(reason.as_str()), Some(reason));
        }
    }
}
