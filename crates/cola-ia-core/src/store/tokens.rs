//! Tokens: who may do what over the network.

use std::fmt;

use crate::clock::Timestamp;
use crate::event::Source;

use super::{ErrorKind, StoreError};

/// Bytes of a token's name.
pub const TOKEN_NAME_MAX_BYTES: usize = 128;

/// SHA-256 of a token. The token itself is kept by its bearer alone.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash(pub [u8; 32]);

/// Not worth anything to who reads it, and all the same no text for a log.
impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(..)")
    }
}

/// What a token allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenScope {
    /// Hand events over; where the token names sources, only theirs.
    Ingest,
    /// Claim jobs and say what became of them and of their effects.
    Work,
    /// Look at everything but tokens.
    Read,
    /// Decide: resolve conflicts and effects, retry, cancel, replay, resume, budgets.
    Operate,
    /// Everything.
    Admin,
}

impl TokenScope {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Ingest, Self::Work, Self::Read, Self::Operate, Self::Admin];

    /// The word in commands, JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ingest => "ingest",
            Self::Work => "work",
            Self::Read => "read",
            Self::Operate => "operate",
            Self::Admin => "admin",
        }
    }

    /// The scope of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == word)
    }
}

/// A token to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRequest {
    /// For people: not blank, at most [`TOKEN_NAME_MAX_BYTES`], no control characters. Unique in a store, for good.
    pub name: String,
    /// Its hash.
    pub hash: TokenHash,
    /// What it allows; at least one.
    pub scopes: Vec<TokenScope>,
    /// For [`TokenScope::Ingest`]: only of these sources; empty: of all.
    pub sources: Vec<Source>,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
}

impl TokenRequest {
    /// The request as it is kept: scopes and sources sorted, each once.
    ///
    /// # Errors
    /// `token_malformed`, with what is wrong as the fact `reason`: `name`, `scopes` or `sources`.
    pub fn checked(&self) -> Result<Self, StoreError> {
        let malformed = |reason| Err(token_malformed(reason));
        let name = &self.name;
        if name.trim().is_empty() || name.len() > TOKEN_NAME_MAX_BYTES || name.chars().any(char::is_control) {
            return malformed("name");
        }
        if self.scopes.is_empty() {
            return malformed("scopes");
        }
        if !self.sources.is_empty() && !self.scopes.contains(&TokenScope::Ingest) {
            return malformed("sources");
        }
        let (mut scopes, mut sources) = (self.scopes.clone(), self.sources.clone());
        scopes.sort_unstable();
        scopes.dedup();
        sources.sort_unstable();
        sources.dedup();
        Ok(Self { scopes, sources, ..self.clone() })
    }
}

/// A request that is refused for what it says: `name`, `scopes`, `sources`, or `hash`, which another token has.
pub fn token_malformed(reason: &'static str) -> StoreError {
    StoreError::new(ErrorKind::Invalid, "token_malformed").with("reason", reason)
}

/// A token as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenView {
    /// Its name.
    pub name: String,
    /// What it allows, sorted, each once.
    pub scopes: Vec<TokenScope>,
    /// For [`TokenScope::Ingest`]: only of these sources, sorted; empty: of all.
    pub sources: Vec<Source>,
    /// When it was made, by the store's clock.
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

impl TokenView {
    /// Whether it is good for anything at this instant.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }

    /// Whether it allows this. [`TokenScope::Admin`] allows everything.
    pub fn allows(&self, scope: TokenScope) -> bool {
        self.scopes.contains(&scope) || self.scopes.contains(&TokenScope::Admin)
    }

    /// Whether it may hand over events of this source.
    pub fn may_ingest(&self, source: &Source) -> bool {
        self.scopes.contains(&TokenScope::Admin)
            || (self.scopes.contains(&TokenScope::Ingest) && (self.sources.is_empty() || self.sources.contains(source)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_of_one_source_is_not_one_of_another() {
        let view = TokenView {
            name: "form".to_owned(),
            scopes: vec![TokenScope::Ingest],
            sources: vec![Source::new("form").unwrap()],
            created_at: Timestamp::from_micros(0),
            expires_at: Some(Timestamp::from_micros(10)),
            revoked_at: None,
        };
        assert!(view.may_ingest(&Source::new("form").unwrap()));
        assert!(!view.may_ingest(&Source::new("other").unwrap()));
        assert!(!view.allows(TokenScope::Read));
        assert!(view.is_live(Timestamp::from_micros(9)) && !view.is_live(Timestamp::from_micros(10)));
    }

    #[test]
    fn every_scope_has_its_word() {
        for scope in TokenScope::ALL {
            assert_eq!(TokenScope::from_word(scope.as_str()), Some(scope));
        }
    }
}
