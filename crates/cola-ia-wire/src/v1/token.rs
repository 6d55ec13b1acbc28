//! Tokens: who may do what over the network.

use cola_ia_core::store::{TokenRequest, TokenView};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Carry;
use super::shape::shape;
use super::values::{Instant, ScopeWord, SourceName, TokenHashHex};

shape! {
    /// A token as it is kept.
    pub struct Token of TokenView {
        /// Its name.
        name: String,
        /// What it allows, sorted.
        scopes: Vec<ScopeWord>,
        /// For `ingest`: only of these sources, sorted; empty: of all.
        sources: Vec<SourceName>,
        /// When it was made.
        created_at: Instant,
        /// When it ends by itself.
        expires_at: Option<Instant>,
        /// When it was revoked.
        revoked_at: Option<Instant>,
    }
}

/// A token to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenWanted {
    /// Its name: a name that was given once is never given again.
    pub name: String,
    /// SHA-256 of a token that the caller has drawn; left out: the server draws one and tells it once.
    pub hash: Option<TokenHashHex>,
    /// What it allows.
    pub scopes: Vec<ScopeWord>,
    /// For `ingest`: only of these sources; empty: of all.
    #[serde(default)]
    pub sources: Vec<SourceName>,
    /// When it ends by itself; `null`: never.
    pub expires_at: Option<Instant>,
}

impl From<TokenRequest> for TokenWanted {
    fn from(request: TokenRequest) -> Self {
        Self {
            name: request.name,
            hash: Some(request.hash.carry()),
            scopes: request.scopes.carry(),
            sources: request.sources.carry(),
            expires_at: request.expires_at.carry(),
        }
    }
}

/// A token that was made.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenMade {
    /// As it is kept.
    #[serde(flatten)]
    pub token: Token,
    /// The token itself, where the server drew it: it is told this once and kept by nobody but its bearer.
    pub secret: Option<String>,
}

/// A secret is no text for a log.
impl std::fmt::Debug for TokenMade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenMade").field("token", &self.token).finish_non_exhaustive()
    }
}

/// All tokens, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Tokens {
    /// The tokens.
    pub tokens: Vec<Token>,
}

/// A token to be revoked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenNamed {
    /// Its name.
    pub name: String,
}

/// Whether a token was revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenRevoked {
    /// `false`: there is no such token, or it was revoked before.
    pub revoked: bool,
}
